//! Text with one entry a line, `row column value`: the body of Matrix Market coordinate files and of
//! bags of words.
//!
//! The text is read in large blocks. Each is cut into pieces where lines end, the pieces are parsed
//! on all threads and handed on in their order, so that the result does not depend on the number of
//! threads. A piece that fails only says in which line; that line is parsed again, now that its
//! number is known, for the message.

use crate::error::Fault;
use crate::scan::{Line, Lines, plain_triplet, quick_triplet};
use rayon::prelude::*;
use std::io::Read;
use std::ops::Range;

/// Bytes read at a time, and parsed by one thread at a time.
const BLOCK: usize = 1 << 22;
const PIECE: usize = 1 << 17;

/// What the first lines of a file say about the others.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// Largest first and second index of a line.
    pub sizes: [u64; 2],
    /// What the three words of a line are called.
    pub what: [&'static str; 3],
    /// The line that states these sizes.
    pub shape_at: u64,
    /// Number of entries, and the line that states it.
    pub count: u64,
    pub at: u64,
    /// Lines hold no value; every entry is 1.
    pub pattern: bool,
    /// Every entry stands for its mirror image as well.
    pub symmetric: bool,
    /// The first index is the column, the second the row.
    pub swapped: bool,
    /// Lines that begin with this are skipped.
    pub comment: Option<u8>,
    /// Bytes that a line may have.
    pub longest: usize,
}

impl Layout {
    /// The same entries for the transpose.
    pub fn transposed(self, transpose: bool) -> Layout {
        Layout { swapped: self.swapped != transpose, ..self }
    }

    /// Rows and columns of the matrix.
    pub fn shape(&self) -> (u64, u64) {
        let [first, second] = self.sizes;
        if self.swapped { (second, first) } else { (first, second) }
    }

    /// Entries that the matrix has at most.
    pub fn most(&self) -> u64 {
        self.count.saturating_mul(if self.symmetric { 2 } else { 1 })
    }

    /// One line, as an entry counted from 0, with a message for whatever is wrong.
    fn entry(&self, line: Line<'_>) -> Result<(u32, u32, f64), Fault> {
        if let Some((i, j, value)) = plain_triplet(line.bytes).filter(|_| !self.pattern)
            && let Some(entry) = self.checked(i, j, value)
        {
            return Ok(entry);
        }
        let [first, second, third] = self.what;
        let should = if self.pattern {
            format!("{first} and {second}")
        } else {
            format!("{first}, {second} and {third}")
        };
        let mut words = line.words();
        let i = index(line, words.expect(&should)?, self.sizes[0], first)?;
        let j = index(line, words.expect(&should)?, self.sizes[1], second)?;
        let value = if self.pattern { 1.0 } else { line.entry(words.expect(&should)?)? };
        words.expect_end(&should)?;
        Ok((i, j, value))
    }

    /// An entry counted from 0, unless something is wrong with it.
    #[inline]
    fn checked(&self, i: u64, j: u64, value: f64) -> Option<(u32, u32, f64)> {
        // The caller has checked that the sizes fit 32 bits; 0 becomes larger than all of them.
        let inside = i.wrapping_sub(1) < self.sizes[0] && j.wrapping_sub(1) < self.sizes[1];
        let sound = inside && (0.0..f64::INFINITY).contains(&value);
        sound.then(|| ((i - 1) as u32, (j - 1) as u32, value))
    }

    /// Whether a line holds an entry: it is not blank and no comment.
    fn is_full(&self, line: &[u8]) -> bool {
        let first = line.iter().find(|b| !b.is_ascii_whitespace());
        first.is_some() && first.copied() != self.comment
    }
}

/// An index from 1 to `size`, as one from 0; the caller has checked that `size` fits 32 bits.
fn index(line: Line<'_>, word: &[u8], size: u64, what: &str) -> Result<u32, Fault> {
    let index = line.whole(word)?;
    if index == 0 || index > size {
        let what = format!("{what} {index} does not exist");
        return Err(line.fault(what, format!("give a number from 1 to {size}")));
    }
    Ok((index - 1) as u32)
}

/// An entry of the matrix.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub row: u32,
    pub column: u32,
    pub value: f64,
}

/// A part of the text.
#[derive(Default)]
struct Piece {
    /// The entries, mirror images included.
    entries: Vec<Entry>,
    /// Lines before the first that is wrong, and those of them with an entry.
    lines: u64,
    full: u64,
    failed: bool,
}

impl Piece {
    fn parse(&mut self, text: &[u8], layout: &Layout) {
        self.entries.clear();
        (self.lines, self.full, self.failed) = (0, 0, false);
        let mut rest = text;
        while !rest.is_empty() {
            let quick = if layout.pattern { None } else { quick_triplet(rest) };
            if let Some((i, j, value, length)) = quick
                && let Some(entry) = layout.checked(i, j, value)
            {
                self.push(entry, layout);
                rest = &rest[length..];
            } else {
                let (line, next) = split_line(rest);
                if layout.is_full(line) {
                    match layout.entry(Line { number: 0, bytes: line }) {
                        Ok(entry) => self.push(entry, layout),
                        Err(_) => {
                            self.failed = true;
                            return;
                        }
                    }
                }
                rest = next;
            }
            self.lines += 1;
        }
    }

    #[inline]
    fn push(&mut self, (i, j, value): (u32, u32, f64), layout: &Layout) {
        self.full += 1;
        let (row, column) = if layout.swapped { (j, i) } else { (i, j) };
        self.entries.push(Entry { row, column, value });
        if layout.symmetric && row != column {
            self.entries.push(Entry { row: column, column: row, value });
        }
    }
}

/// The first line without its end, and what follows it.
fn split_line(text: &[u8]) -> (&[u8], &[u8]) {
    let (line, rest) = match text.iter().position(|b| *b == b'\n') {
        Some(k) => (&text[..k], &text[k + 1..]),
        None => (text, &text[text.len()..]),
    };
    (line.strip_suffix(b"\r").unwrap_or(line), rest)
}

/// Reads all entries behind the first lines and hands them on in their order, with the number of the
/// last line of each piece.
pub(crate) fn each_piece<R: Read>(
    lines: Lines<R>,
    layout: &Layout,
    mut take: impl FnMut(&[Entry], u64) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let (mut blocks, mut number) = Blocks::new(lines, layout.longest);
    let mut pieces = Vec::new();
    let mut found = 0u64;
    while let Some(block) = blocks.next(number)? {
        let spans = cut(block);
        if pieces.len() < spans.len() {
            pieces.resize_with(spans.len(), Piece::default);
        }
        let parse = |(piece, span): (&mut Piece, &Range<usize>)| {
            piece.parse(&block[span.clone()], layout);
        };
        if let [only] = &spans[..] {
            parse((&mut pieces[0], only));
        } else {
            pieces.par_iter_mut().zip(spans.par_iter()).for_each(parse);
        }
        for (piece, span) in pieces.iter().zip(&spans) {
            let text = &block[span.clone()];
            let allowed = layout.count - found;
            if piece.full > allowed || (piece.failed && piece.full == allowed) {
                let line = number + 1 + lines_before(text, layout, allowed);
                let (count, at) = (layout.count, layout.at);
                let what = format!("there are more than the {count} entries of line {at}");
                return Err(Fault::line(line, what, "correct the number of entries"));
            }
            if piece.failed {
                return Err(fault_in(text, layout, piece.lines, number));
            }
            found += piece.full;
            number += piece.lines;
            take(&piece.entries, number)?;
        }
    }
    if found < layout.count {
        return Err(truncated(found, layout.count));
    }
    Ok(())
}

/// Fewer entries than promised.
pub(crate) fn truncated(found: u64, count: u64) -> Fault {
    Fault::file(
        format!("the file is truncated, {found} entries found of {count}"),
        "copy or download the file again",
    )
}

/// Lines before the entry with this number, from 0.
fn lines_before(mut text: &[u8], layout: &Layout, entry: u64) -> u64 {
    let (mut lines, mut entries) = (0, 0);
    while !text.is_empty() {
        let (line, rest) = split_line(text);
        if layout.is_full(line) {
            if entries == entry {
                break;
            }
            entries += 1;
        }
        lines += 1;
        text = rest;
    }
    lines
}

/// What is wrong with the line after the first `before`.
fn fault_in(mut text: &[u8], layout: &Layout, before: u64, number: u64) -> Fault {
    for _ in 0..before {
        text = split_line(text).1;
    }
    let line = Line { number: number + before + 1, bytes: split_line(text).0 };
    match layout.entry(line) {
        Err(fault) => fault,
        Ok(_) => line.fault("the line cannot be read", "correct the line"),
    }
}

/// Where to cut a block of whole lines.
fn cut(block: &[u8]) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut begin = 0;
    while begin < block.len() {
        let aim = (begin + PIECE).min(block.len());
        let more = block[aim..].iter().position(|b| *b == b'\n');
        let end =
            if block[aim - 1] == b'\n' { aim } else { more.map_or(block.len(), |k| aim + k + 1) };
        spans.push(begin..end);
        begin = end;
    }
    spans
}

/// The text behind the first lines, in blocks of whole lines.
struct Blocks<R> {
    reader: R,
    buffer: Vec<u8>,
    /// The buffer holds `begin..end`; the block handed out last is before `begin`.
    begin: usize,
    end: usize,
    longest: usize,
    finished: bool,
}

impl<R: Read> Blocks<R> {
    /// Goes on where the lines stand; also gives the number of the last line read.
    fn new(lines: Lines<R>, longest: usize) -> (Self, u64) {
        let (reader, buffer, finished, number) = lines.into_rest();
        let end = buffer.len();
        (Blocks { reader, buffer, begin: 0, end, longest, finished }, number)
    }

    fn next(&mut self, number: u64) -> Result<Option<&[u8]>, Fault> {
        self.buffer.copy_within(self.begin..self.end, 0);
        self.end -= self.begin;
        self.begin = 0;
        let mut searched = 0;
        loop {
            self.fill()?;
            let new = &self.buffer[searched..self.end];
            let block = match new.iter().rposition(|b| *b == b'\n') {
                _ if self.finished => self.end,
                Some(k) => searched + k + 1,
                None if self.end > self.longest => {
                    return Err(Fault::line(
                        number + 1,
                        format!("the line is longer than {} bytes", self.longest),
                        "check that this is a text file with line ends",
                    ));
                }
                None => {
                    searched = self.end;
                    continue;
                }
            };
            self.begin = block;
            return Ok((block > 0).then(|| &self.buffer[..block]));
        }
    }

    /// Reads until the buffer is full or the stream ends. The buffer grows from block to block, so
    /// that little text takes little memory, and whenever it is full.
    fn fill(&mut self) -> Result<(), Fault> {
        let length = self.buffer.len();
        if length < BLOCK {
            self.buffer.resize((2 * length).clamp(PIECE, BLOCK), 0);
        } else if self.end == length {
            self.buffer.resize(2 * length, 0);
        }
        if !self.finished {
            let wanted = self.buffer.len() - self.end;
            let found = crate::npy::fill(&mut self.reader, &mut self.buffer[self.end..])?;
            self.end += found;
            self.finished = found < wanted;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(count: u64) -> Layout {
        Layout {
            sizes: [9, 9],
            what: ["row", "column", "value"],
            shape_at: 1,
            count,
            at: 1,
            pattern: false,
            symmetric: false,
            swapped: false,
            comment: Some(b'%'),
            longest: 1 << 20,
        }
    }

    /// All values, or the message.
    fn values(text: &str, count: u64) -> Result<Vec<f64>, String> {
        let mut lines = Lines::new(text.as_bytes(), 1 << 20);
        lines.next().unwrap();
        let mut out = Vec::new();
        each_piece(lines, &layout(count), |entries, _| {
            out.extend(entries.iter().map(|entry| entry.value));
            Ok(())
        })
        .map(|()| out)
        .map_err(|fault| fault.in_file("x").to_string())
    }

    #[test]
    fn many_blocks_come_in_order_and_know_their_lines() {
        let count = 3 * BLOCK / 8;
        let mut text = String::from("first\n");
        for k in 0..count {
            // Blank lines, comments and returns are lines as well.
            text += ["1 2 ", "1\t2\t", " 3 4  ", "\n1 2 ", "%\n9 9 "][k % 5];
            text += &k.to_string();
            text += if k % 7 == 0 { "\r\n" } else { "\n" };
        }
        let want: Vec<f64> = (0..count).map(|k| k as f64).collect();
        assert_eq!(values(&text, count as u64).unwrap(), want);
        assert_eq!(values(text.trim_end(), count as u64).unwrap(), want);
        let last = text.lines().count();
        let excess = values(&text, count as u64 - 1).unwrap_err();
        assert!(excess.starts_with(&format!("x, line {last}: there are more than")), "{excess}");
        let short = values(&text, count as u64 + 1).unwrap_err();
        assert!(short.contains("truncated"), "{short}");
        let bad = values(&(text.clone() + "1 0 1\n1 1 x\n"), count as u64 + 2).unwrap_err();
        assert_eq!(
            bad,
            format!("x, line {}: column 0 does not exist: give a number from 1 to 9", last + 1)
        );
        // A bad line that is one too many is one too many first.
        let both = values(&(text + "1 0 1\n"), count as u64).unwrap_err();
        assert!(both.starts_with(&format!("x, line {}: there are more", last + 1)), "{both}");
    }

    #[test]
    fn a_line_without_end_is_noticed() {
        let text = format!("first\n{}", "1".repeat(3 * BLOCK));
        let message = values(&text, 1).unwrap_err();
        assert!(message.starts_with("x, line 2: the line is longer than 1048576"), "{message}");
        let short = format!("first\n1 1 {}1\n", " ".repeat(BLOCK + BLOCK / 2));
        assert!(values(&short, 1).is_err());
    }
}

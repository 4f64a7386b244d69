//! Text with one entry per line, `row column value`: the body of Matrix Market coordinate files and
//! of bags of words.
//!
//! The text is read in large blocks. Each is cut into pieces where lines end, the pieces are parsed
//! on all threads and handed on in their order, so that the result does not depend on the number of
//! threads. A piece that fails only says in which line; that line is parsed again, now that its
//! number is known, for the message.

mod blocks;
mod layout;

pub(crate) use layout::Layout;

use crate::error::Fault;
use crate::scan::{Line, Lines, quick_triplet};
use blocks::{Blocks, cut};
use rayon::prelude::*;
use std::io::Read;
use std::ops::Range;

/// An entry of the matrix.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MatrixEntry {
    pub row: u32,
    pub column: u32,
    pub value: f64,
}

/// A part of the text.
#[derive(Default)]
struct Piece {
    /// The entries, mirror images included.
    entries: Vec<MatrixEntry>,
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
        self.entries.push(MatrixEntry { row, column, value });
        if layout.symmetric && row != column {
            self.entries.push(MatrixEntry { row: column, column: row, value });
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
    mut take: impl FnMut(&[MatrixEntry], u64) -> Result<(), Fault>,
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

#[cfg(test)]
mod tests {
    use super::blocks::BLOCK;
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

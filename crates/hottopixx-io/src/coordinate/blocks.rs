//! The text of a coordinate file in blocks of whole lines, and where to cut them into pieces.

use crate::error::Fault;
use crate::scan::Lines;
use std::io::Read;
use std::ops::Range;

/// Bytes read at a time, and parsed by one thread at a time; few of them in fuzzing, as for lines.
pub(super) const BLOCK: usize = if cfg!(fuzzing) { 1 << 12 } else { 1 << 22 };
const PIECE: usize = if cfg!(fuzzing) { 1 << 10 } else { 1 << 17 };

/// Where to cut a block of whole lines.
pub(super) fn cut(block: &[u8]) -> Vec<Range<usize>> {
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
pub(super) struct Blocks<R> {
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
    pub(super) fn new(lines: Lines<R>, longest: usize) -> (Self, u64) {
        let (reader, buffer, finished, number) = lines.into_rest();
        let end = buffer.len();
        (Blocks { reader, buffer, begin: 0, end, longest, finished }, number)
    }

    pub(super) fn next(&mut self, number: u64) -> Result<Option<&[u8]>, Fault> {
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
    pub(super) fn fill(&mut self) -> Result<(), Fault> {
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

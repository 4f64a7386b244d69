//! The first lines of a table, from which its layout is told: what stands between cells and before
//! decimals.

use super::cells::{Class, class, is_ambiguous};
use super::options::{Decimal, Delimiter};
use super::records::{Record, Records};
use crate::budget::Budget;
use crate::error::{Fault, quote};
use std::io::Read;

/// Bytes that are looked at, where they hold some lines.
const SAMPLE: u64 = 256 << 10;

/// Lines that a sample has, however long they are, unless memory ends first.
const LINES: usize = 8;

/// What may stand between cells, beside blanks and what the format promises.
pub(crate) const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The first bytes of a table.
pub(crate) struct Sample {
    pub bytes: Vec<u8>,
    /// Whether these are all bytes there are.
    pub whole: bool,
}

/// A record and its line.
pub(crate) type Numbered = (Record, u64);

impl Sample {
    /// Takes the first bytes of a stream; more of them where lines are long, as far as the memory allows.
    pub fn take(reader: &mut impl Read, budget: Budget) -> Result<Sample, Fault> {
        let limit = budget.longest_line();
        let mut sample = Sample { bytes: Vec::new(), whole: false };
        let mut target = SAMPLE;
        loop {
            let more = target - sample.bytes.len() as u64;
            let found = reader.take(more).read_to_end(&mut sample.bytes)? as u64;
            sample.whole = found < more;
            // Before more is taken of what may be no text and have no end.
            sample.check_encoding()?;
            let lines = sample.bytes.iter().filter(|b| matches!(b, b'\n' | b'\r')).count();
            if sample.whole || lines >= LINES {
                break;
            }
            if target >= limit {
                // Whatever follows, the first line is too long.
                if lines == 0 {
                    return Err(budget.too_long(1));
                }
                break;
            }
            target = (2 * target).min(limit);
        }
        Ok(sample)
    }

    fn check_encoding(&self) -> Result<(), Fault> {
        let head = &self.bytes[..self.bytes.len().min(4096)];
        let zeros = head.iter().filter(|b| **b == 0).count();
        let marked = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
        // Latin text in UTF-16 has a zero in every second byte.
        if marked || (head.len() >= 4 && zeros * 3 >= head.len()) {
            let what = "the file is in UTF-16, or not text";
            return Err(Fault::file(what, "save it as text in UTF-8"));
        }
        Ok(())
    }

    /// The records, without one that the end of the sample cuts.
    pub fn records(&self, delimiter: Delimiter) -> Result<Vec<Numbered>, Fault> {
        let mut records = Records::new(&self.bytes[..], delimiter, Budget::unlimited());
        let mut out = Vec::new();
        while let Some((record, line)) = records.next()? {
            out.push((record.clone(), line));
        }
        if !self.whole && out.len() > 1 {
            out.pop();
        }
        Ok(out)
    }

    /// What Excel writes before a table to say what stands between its cells: `sep=;`.
    pub fn declared(&self) -> Option<Delimiter> {
        let bytes = self.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.bytes);
        match bytes.strip_prefix(b"sep=") {
            Some([byte, b'\n' | b'\r', ..]) => Some(Delimiter::Byte(*byte)),
            _ => None,
        }
    }

    /// Whether this stands anywhere. Otherwise it makes one cell of every line, which is no table.
    pub fn has(&self, delimiter: Delimiter) -> bool {
        self.bytes.iter().any(|byte| delimiter.is(*byte))
    }

    /// What stands between cells. Each possibility is judged by the cells it makes: records must
    /// have the same number of them, and the share of numbers among them decides. `own` is what the
    /// format promises and wins unless another one is clearly better.
    pub fn delimiter(&self, own: Delimiter) -> Result<Delimiter, Fault> {
        if let Some(declared) = self.declared() {
            return Ok(declared);
        }
        let others = SEPARATORS.map(Delimiter::Byte);
        let others = others.into_iter().chain([Delimiter::Blanks]).filter(|d| *d != own);
        let (mut best, mut least) = (own, f64::NEG_INFINITY);
        for delimiter in std::iter::once(own).chain(others) {
            if !self.has(delimiter) {
                continue;
            }
            let Some(share) = share_of_numbers(&self.records(delimiter)?) else { continue };
            if share > least + 0.05 {
                (best, least) = (delimiter, share);
            }
        }
        Ok(best)
    }
}

/// The number of cells that most records have, the earliest of equals; comments do not count.
pub(super) fn usual_width(records: &[Numbered]) -> usize {
    let mut widths: Vec<(usize, usize)> = Vec::new();
    for (record, _) in records.iter().filter(|(record, _)| !is_comment(record)) {
        match widths.iter_mut().find(|(width, _)| *width == record.len()) {
            Some((_, count)) => *count += 1,
            None => widths.push((record.len(), 1)),
        }
    }
    let most = widths.iter().map(|(_, count)| *count).max().unwrap_or(0);
    widths.iter().find(|(_, count)| *count == most).map_or(0, |(width, _)| *width)
}

/// A line that begins like a comment; whether it is one depends on the number of its cells, since
/// a row may be named `#1`.
pub(super) fn is_comment(record: &Record) -> bool {
    record.get(0).is_some_and(|cell| cell.starts_with(b"#") || cell.starts_with(b"%"))
}

/// The share of numbers among the cells, where nearly all records have as many of these; cells that
/// hold what usually separates cells count against it.
fn share_of_numbers(records: &[Numbered]) -> Option<f64> {
    let width = usual_width(records);
    // Titles, and the header that R writes, are shorter.
    let body = records.iter().position(|(r, _)| r.len() == width)?;
    let body = records[body..].iter().filter(|(r, _)| !is_comment(r)).collect::<Vec<_>>();
    let same = body.iter().filter(|(r, _)| r.len() == width).count();
    if width < 2 || same * 10 < body.len() * 9 {
        return None;
    }
    let mut score = 0.0;
    for cell in body.iter().flat_map(|(record, _)| record.iter()) {
        let is_number = |decimal| matches!(class(cell, decimal), Class::Number);
        if is_number(Decimal::Point) || is_number(Decimal::Comma) {
            score += 1.0;
        } else if cell.iter().any(|b| b";\t|".contains(b)) {
            score -= 1.0;
        }
    }
    Some(score / (body.len() * width) as f64)
}

/// What stands before decimals: a comma when there are numbers with commas and none with points.
///
/// # Errors
/// Where every number with a comma could be one with a separator between thousands.
pub(super) fn decimal(records: &[Numbered]) -> Result<Decimal, Fault> {
    let (mut points, mut commas, mut sure) = (0usize, 0usize, false);
    let mut doubtful: Option<(u64, &[u8])> = None;
    for (record, line) in records {
        for cell in record.iter().filter(|cell| cell.iter().any(|b| b".,".contains(b))) {
            points += usize::from(class(cell, Decimal::Point) == Class::Number);
            if class(cell, Decimal::Comma) == Class::Number {
                commas += 1;
                sure |= !is_ambiguous(cell);
                doubtful = doubtful.or(Some((*line, cell)));
            }
        }
    }
    match doubtful {
        Some((line, cell)) if points == 0 && commas > 0 && !sure => Err(Fault::line(
            line,
            format!("{} may be one number or a thousand times it", quote(cell)),
            "say --decimal , for the smaller one, or write numbers without separators between \
             thousands",
        )),
        _ if points == 0 && commas > 0 => Ok(Decimal::Comma),
        _ => Ok(Decimal::Point),
    }
}

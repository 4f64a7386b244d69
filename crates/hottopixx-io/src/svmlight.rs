//! SVMlight / LIBSVM text: one sample per line, `label index:value index:value … # comment`.
//!
//! Reference: the file format of SVM-light (Joachims 1999). Rows are samples. Indices count from 1;
//! when any index is 0, the file counts from 0 instead. `qid:N` is skipped. Labels do not take part
//! in a factorization: they are kept when each line has one number as its label.

use crate::budget::Budget;
use crate::error::{Fault, FileLocation, quote};
use crate::load::Parsed;
use crate::scan::{Line, Lines, number};
use crate::triplets::Triplets;
use std::io::Read;

/// What has been seen so far.
struct State {
    budget: Budget,
    triplets: Triplets,
    labels: Option<Vec<f64>>,
    samples: u32,
    largest: u32,
    from_zero: bool,
}

/// Reads one file as samples x features.
pub(crate) fn read(reader: impl Read, budget: Budget) -> Result<Parsed, Fault> {
    let mut lines = Lines::new(reader, budget.longest_line());
    let mut state = State {
        budget,
        triplets: Triplets::new(budget),
        labels: Some(Vec::new()),
        samples: 0,
        largest: 0,
        from_zero: false,
    };
    while let Some(line) = lines.next_full(Some(b'#'))? {
        state.sample(line)?;
    }
    let State { mut triplets, labels, samples, largest, from_zero, .. } = state;
    let cols = if from_zero { u64::from(largest) + 1 } else { u64::from(largest) };
    let (rows, cols) = budget.sparse(u64::from(samples), cols, FileLocation::File)?;
    if !from_zero {
        triplets.count_columns_from_one();
    }
    let mut parsed = Parsed::new(triplets.into_sparse(rows, cols)?);
    parsed.labels = labels;
    Ok(parsed)
}

impl State {
    fn sample(&mut self, line: Line<'_>) -> Result<(), Fault> {
        let row = self.samples;
        let Some(next) = row.checked_add(1) else {
            return Err(line.fault("there are more than 2^32 samples", "split the file"));
        };
        self.samples = next;
        if row.is_multiple_of(4096) {
            self.budget.sparse(
                u64::from(row),
                u64::from(self.largest),
                FileLocation::Line(line.number),
            )?;
        }
        let mut label = None;
        let length = line.bytes.iter().position(|b| *b == b'#').unwrap_or(line.bytes.len());
        let line = Line { bytes: &line.bytes[..length], ..line };
        for (k, word) in line.words().enumerate() {
            let Some(colon) = word.iter().position(|b| *b == b':') else {
                if k == 0 {
                    label = number(word);
                    continue;
                }
                let what = format!("{} is not of the form index:value", quote(word));
                return Err(line.fault(what, "correct the line"));
            };
            let (index, value) = (&word[..colon], &word[colon + 1..]);
            if index != b"qid" {
                self.entry(line, row, index, value)?;
            }
        }
        match (&mut self.labels, label) {
            (Some(labels), Some(label)) => labels.push(label),
            _ => self.labels = None,
        }
        Ok(())
    }

    fn entry(&mut self, line: Line<'_>, row: u32, index: &[u8], value: &[u8]) -> Result<(), Fault> {
        let wide = line.whole(index)?;
        // The largest index plus one must still be a number of columns.
        let Some(index) = u32::try_from(wide).ok().filter(|i| *i < u32::MAX) else {
            let what = format!("index {wide} is too large");
            return Err(line.fault(what, format!("give indices below {}", u32::MAX)));
        };
        let value = line.entry(value)?;
        self.largest = self.largest.max(index);
        self.from_zero |= index == 0;
        self.triplets.push(row, index, value, line.number)
    }
}

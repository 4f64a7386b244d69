//! Matrix Market: `array` (dense, by columns) and `coordinate` (sparse) files.
//!
//! Reference: Boisvert, Pozo, Remington, *The Matrix Market Exchange Formats: Initial Design*,
//! NISTIR 5935 (1996). Fields `real`, `integer` and `pattern` (every entry is 1) are read, `general`
//! and `symmetric` (expanded) too; `complex`, `skew-symmetric` and `hermitian` cannot be nonnegative
//! matrices and are refused.

use crate::buckets;
use crate::budget::Budget;
use crate::coordinate::{Layout, truncated};
use crate::error::{Fault, FileLocation, quote};
use crate::load::Parsed;
use crate::scan::{Line, Lines};
use hottopixx::matrix::Dense;
use std::io::Read;

/// Comments may be long, but nothing in the format is this long.
const LONGEST_LINE: u64 = 1 << 20;

/// First bytes of every Matrix Market file.
pub(crate) const MAGIC: &[u8] = b"%%MatrixMarket";

/// What the first line says.
#[derive(Clone, Copy)]
pub(crate) struct Banner {
    coordinate: bool,
    pattern: bool,
    symmetric: bool,
}

/// A file of which the first line has been read, with what follows it.
pub(crate) enum Opened<R> {
    /// An array: the sizes are still to come.
    Array(Lines<R>, Banner),
    /// Coordinates: the entries are to come.
    Coordinate(Lines<R>, Layout),
}

impl<R> Opened<R> {
    /// The entries of a coordinate file.
    pub fn coordinate(self) -> Option<(Lines<R>, Layout)> {
        match self {
            Opened::Coordinate(lines, layout) => Some((lines, layout)),
            Opened::Array(..) => None,
        }
    }
}

/// Reads the first lines.
pub(crate) fn open<R: Read>(reader: R) -> Result<Opened<R>, Fault> {
    let mut lines = Lines::new(reader, LONGEST_LINE);
    let kind = match lines.next()? {
        Some(line) => banner(line)?,
        None => return Err(no_banner(1)),
    };
    if !kind.coordinate {
        return Ok(Opened::Array(lines, kind));
    }
    let ([rows, cols, count], at) = sizes(&mut lines, "rows, columns and number of entries")?;
    check_square(kind, rows, cols, at)?;
    let layout = Layout {
        sizes: [rows, cols],
        what: ["row", "column", "value"],
        shape_at: at,
        count,
        at,
        pattern: kind.pattern,
        symmetric: kind.symmetric,
        swapped: false,
        comment: Some(b'%'),
        longest: LONGEST_LINE as usize,
    };
    Ok(Opened::Coordinate(lines, layout))
}

/// Reads one file; coordinates as they are needed in the end.
pub(crate) fn read(reader: impl Read, transpose: bool, budget: Budget) -> Result<Parsed, Fault> {
    match open(reader)? {
        Opened::Array(lines, kind) => array(lines, kind, budget),
        Opened::Coordinate(lines, layout) => {
            let parsed = buckets::read(lines, &layout.transposed(transpose), budget)?;
            Ok(if transpose { parsed.transposed() } else { parsed })
        }
    }
}

/// Rows and columns of a dense file.
pub(crate) fn array_shape<R: Read>(lines: &mut Lines<R>) -> Result<(u64, u64), Fault> {
    let ([rows, cols], _) = sizes(lines, "the number of rows and of columns")?;
    Ok((rows, cols))
}

fn no_banner(line: u64) -> Fault {
    let remedy = "begin the file with \"%%MatrixMarket matrix coordinate real general\"";
    Fault::line(line, "this is not the first line of a Matrix Market file", remedy)
}

/// The line `%%MatrixMarket matrix FORMAT FIELD SYMMETRY`, in any case.
fn banner(line: Line<'_>) -> Result<Banner, Fault> {
    let text = line.bytes.to_ascii_lowercase();
    let words: Vec<&[u8]> = Line { bytes: &text, ..line }.words().collect();
    let [b"%%matrixmarket", object, format, field, symmetry] = words[..] else {
        return Err(no_banner(line.number));
    };
    let refuse = |what: &[u8], remedy: &str| -> Result<Banner, Fault> {
        Err(line.fault(format!("{} is not supported", quote(what)), remedy))
    };
    if object != b"matrix" {
        return refuse(object, "only \"matrix\" can be read");
    }
    let coordinate = match format {
        b"coordinate" => true,
        b"array" => false,
        other => return refuse(other, "write it as \"coordinate\" or \"array\""),
    };
    let pattern = match field {
        b"real" | b"double" | b"integer" | b"unsigned-integer" => false,
        b"pattern" if coordinate => true,
        other => return refuse(other, "write it as \"real\" or \"integer\""),
    };
    let symmetric = match symmetry {
        b"general" => false,
        b"symmetric" => true,
        other => return refuse(other, "write all entries as \"general\"; none may be negative"),
    };
    Ok(Banner { coordinate, pattern, symmetric })
}

/// The line of sizes behind the comments: `N` whole numbers.
fn sizes<R: Read, const N: usize>(
    lines: &mut Lines<R>,
    should: &str,
) -> Result<([u64; N], u64), Fault> {
    let Some(line) = lines.next_full(Some(b'%'))? else {
        return Err(Fault::file("the line with the sizes is missing", format!("give {should}")));
    };
    let mut words = line.words();
    let mut out = [0; N];
    for size in &mut out {
        *size = line.whole(words.expect(should)?)?;
    }
    words.expect_end(should)?;
    Ok((out, line.number))
}

fn check_square(kind: Banner, rows: u64, cols: u64, line: u64) -> Result<(), Fault> {
    if kind.symmetric && rows != cols {
        let what = format!("a symmetric matrix cannot be {rows} x {cols}");
        return Err(Fault::line(line, what, "correct the sizes or write it as \"general\""));
    }
    Ok(())
}

/// A dense file lists columns one after the other: read as rows, it is the transpose.
fn array<R: Read>(mut lines: Lines<R>, kind: Banner, budget: Budget) -> Result<Parsed, Fault> {
    let ([rows, cols], at) = sizes(&mut lines, "the number of rows and of columns")?;
    check_square(kind, rows, cols, at)?;
    let (rows, cols) = budget.dense(rows, cols, FileLocation::Line(at))?;
    let count = if kind.symmetric { rows * (rows + 1) / 2 } else { rows * cols };
    let mut values = Vec::new();
    while let Some(line) = lines.next_full(Some(b'%'))? {
        for word in line.words() {
            if values.len() == count {
                let what = format!("there are more than {count} values");
                return Err(line.fault(what, format!("correct the sizes in line {at}")));
            }
            values.push(line.entry(word)?);
        }
    }
    if values.len() < count {
        return Err(truncated(values.len() as u64, count as u64));
    }
    if kind.symmetric {
        return Ok(Parsed::new(expand(rows, &values)?));
    }
    Ok(Parsed::new(Dense::new(cols, rows, values)?).transposed())
}

/// The full matrix from its lower triangle by columns.
fn expand(size: usize, lower: &[f64]) -> Result<Dense, Fault> {
    let mut full = Dense::zeros(size, size);
    let mut next = lower.iter();
    for j in 0..size {
        for (i, v) in (j..size).zip(&mut next) {
            full.row_mut(i)[j] = *v;
            full.row_mut(j)[i] = *v;
        }
    }
    Ok(full)
}

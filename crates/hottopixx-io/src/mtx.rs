//! Matrix Market: `array` (dense, by columns) and `coordinate` (sparse) files.
//!
//! Reference: Boisvert, Pozo, Remington, *The Matrix Market Exchange Formats: Initial Design*,
//! NISTIR 5935 (1996). Fields `real`, `integer` and `pattern` (every entry is 1) are read, `general`
//! and `symmetric` (expanded) too; `complex`, `skew-symmetric` and `hermitian` cannot be nonnegative
//! matrices and are refused.

use crate::budget::Budget;
use crate::error::{Fault, Place, quote};
use crate::load::Parsed;
use crate::scan::{Line, Lines, plain_triplet};
use crate::triplets::Triplets;
use hottopixx::matrix::Dense;
use std::io::Read;

/// Comments may be long, but nothing in the format is this long.
const LONGEST_LINE: u64 = 1 << 20;

/// First bytes of every Matrix Market file.
pub(crate) const MAGIC: &[u8] = b"%%MatrixMarket";

/// What the first line says.
#[derive(Clone, Copy)]
struct Kind {
    coordinate: bool,
    pattern: bool,
    symmetric: bool,
}

/// Reads one file.
pub(crate) fn read(reader: impl Read, budget: Budget) -> Result<Parsed, Fault> {
    let mut lines = Lines::new(reader, LONGEST_LINE);
    let kind = match lines.next()? {
        Some(line) => banner(line)?,
        None => return Err(no_banner(1)),
    };
    if kind.coordinate { coordinate(lines, kind, budget) } else { array(lines, kind, budget) }
}

fn no_banner(line: u64) -> Fault {
    let remedy = "begin the file with \"%%MatrixMarket matrix coordinate real general\"";
    Fault::line(line, "this is not the first line of a Matrix Market file", remedy)
}

/// The line `%%MatrixMarket matrix FORMAT FIELD SYMMETRY`, in any case.
fn banner(line: Line<'_>) -> Result<Kind, Fault> {
    let text = line.bytes.to_ascii_lowercase();
    let words: Vec<&[u8]> = Line { bytes: &text, ..line }.words().collect();
    let [b"%%matrixmarket", object, format, field, symmetry] = words[..] else {
        return Err(no_banner(line.number));
    };
    let refuse = |what: &[u8], remedy: &str| -> Result<Kind, Fault> {
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
    Ok(Kind { coordinate, pattern, symmetric })
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

fn check_square(kind: Kind, rows: u64, cols: u64, line: u64) -> Result<(), Fault> {
    if kind.symmetric && rows != cols {
        let what = format!("a symmetric matrix cannot be {rows} x {cols}");
        return Err(Fault::line(line, what, "correct the sizes or write it as \"general\""));
    }
    Ok(())
}

fn coordinate<R: Read>(mut lines: Lines<R>, kind: Kind, budget: Budget) -> Result<Parsed, Fault> {
    let ([rows, cols, count], at) = sizes(&mut lines, "rows, columns and number of entries")?;
    check_square(kind, rows, cols, at)?;
    let shape = budget.sparse(rows, cols, Place::Line(at))?;
    budget.entries(count, Place::Line(at))?;
    let mut triplets = Triplets::new(budget);
    let mut found = 0u64;
    while let Some(line) = lines.next_full(Some(b'%'))? {
        if found == count {
            let what = format!("there are more than the {count} entries of line {at}");
            return Err(line.fault(what, "correct the number of entries"));
        }
        let (row, col, value) = entry(line, kind.pattern, rows, cols)?;
        let number = line.number;
        triplets.push(row, col, value, number)?;
        if kind.symmetric && row != col {
            triplets.push(col, row, value, number)?;
        }
        found += 1;
    }
    if found < count {
        return Err(truncated(found, count));
    }
    Ok(Parsed::new(triplets.into_sparse(shape.0, shape.1)?))
}

/// One line of a coordinate file, as an entry counted from 0.
fn entry(line: Line<'_>, pattern: bool, rows: u64, cols: u64) -> Result<(u32, u32, f64), Fault> {
    if pattern {
        let should = "row and column";
        let mut words = line.words();
        let row = index(line, words.expect(should)?, rows, "row")?;
        let col = index(line, words.expect(should)?, cols, "column")?;
        words.expect_end(should)?;
        return Ok((row, col, 1.0));
    }
    triplet(line, ["row", "column", "value"], [rows, cols])
}

/// A line of two indices from 1 and a value; `what` names the three, `sizes` are the two largest
/// indices. The caller has checked that these fit 32 bits.
#[inline]
pub(crate) fn triplet(
    line: Line<'_>,
    what: [&str; 3],
    sizes: [u64; 2],
) -> Result<(u32, u32, f64), Fault> {
    let inside = |k: u64, size: u64| k.wrapping_sub(1) < size;
    match plain_triplet(line.bytes) {
        Some((i, j, value))
            if inside(i, sizes[0])
                && inside(j, sizes[1])
                && (0.0..f64::INFINITY).contains(&value) =>
        {
            Ok(((i - 1) as u32, (j - 1) as u32, value))
        }
        _ => careful_triplet(line, what, sizes),
    }
}

/// The same word by word, with a message for whatever is wrong.
#[cold]
fn careful_triplet(
    line: Line<'_>,
    what: [&str; 3],
    sizes: [u64; 2],
) -> Result<(u32, u32, f64), Fault> {
    let should = format!("{}, {} and {}", what[0], what[1], what[2]);
    let mut words = line.words();
    let i = index(line, words.expect(&should)?, sizes[0], what[0])?;
    let j = index(line, words.expect(&should)?, sizes[1], what[1])?;
    let value = line.entry(words.expect(&should)?)?;
    words.expect_end(&should)?;
    Ok((i, j, value))
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

pub(crate) fn truncated(found: u64, count: u64) -> Fault {
    Fault::file(
        format!("the file is truncated, {found} entries found of {count}"),
        "copy or download the file again",
    )
}

/// A dense file lists columns one after the other: read as rows, it is the transpose.
fn array<R: Read>(mut lines: Lines<R>, kind: Kind, budget: Budget) -> Result<Parsed, Fault> {
    let ([rows, cols], at) = sizes(&mut lines, "the number of rows and of columns")?;
    check_square(kind, rows, cols, at)?;
    let (rows, cols) = budget.dense(rows, cols, Place::Line(at))?;
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

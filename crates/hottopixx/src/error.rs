//! What can be wrong with the data or the settings.

/// Every way in which a call of this crate can fail. The message names the place and the remedy.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No rows or no columns.
    #[error(
        "the matrix is empty ({rows} rows, {cols} columns): give at least one row and one column"
    )]
    Empty {
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        cols: usize,
    },
    /// Only zeros.
    #[error("all {rows} rows of the matrix are zero: there is nothing to factor")]
    AllZero {
        /// Rows of the matrix.
        rows: usize,
    },
    /// A negative entry.
    #[error(
        "row {row}, column {col} is {value}: entries must not be negative; shift or clip the data first"
    )]
    Negative {
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        col: usize,
        /// The entry.
        value: f64,
    },
    /// Pixels of a scene with values below zero, which were to be refused.
    #[error(
        "{count} of {values} values are below zero, the first {value} (pixel {pixel}, band {band}): choose clip to \
         count them as zero, or mend the calibration"
    )]
    NegativePixels {
        /// How many values are.
        count: usize,
        /// Of how many.
        values: usize,
        /// The first: its pixel, from 0.
        pixel: usize,
        /// Its band, from 0.
        band: usize,
        /// What it is.
        value: f64,
    },
    /// NaN or infinite.
    #[error(
        "row {row}, column {col} is {value}: entries must be finite numbers; fill or drop missing values, or say missing = observed"
    )]
    NotFinite {
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        col: usize,
        /// The entry.
        value: f64,
    },
    /// The entries of a row are finite but their sum is not.
    #[error("the sum of row {row} overflows: divide the data by a large constant first")]
    Overflow {
        /// Row, from 0.
        row: usize,
    },
    /// A weight of F in the units of the input is too large, or too small, for a number of 64 bits.
    #[error(
        "the weight of row {row} in hott row {hott} is beyond what a number can hold, their sums being so \
         far apart: bring the rows to similar scales first"
    )]
    Unrepresentable {
        /// The row, from 0.
        row: usize,
        /// The hott row, from 0.
        hott: usize,
    },
    /// Entries in a mapped file, or in memory that the caller shares, were written to during the run.
    #[error(
        "row {row} was changed while it was being read: run again when nothing writes to the matrix"
    )]
    Changed {
        /// The first row that is another now, from 0.
        row: usize,
    },
    /// The number of values does not fit the shape.
    #[error("{found} values do not make a matrix of {rows} x {cols}")]
    Shape {
        /// Rows asked for.
        rows: usize,
        /// Columns asked for.
        cols: usize,
        /// Values found.
        found: usize,
    },
    /// An index outside the matrix.
    #[error(
        "index (row {row}, column {col}) is outside a matrix of {rows} x {cols} (counting from 0)"
    )]
    IndexOutOfRange {
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        col: usize,
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        cols: usize,
    },
    /// A row whose columns were promised to increase and do not.
    #[error("the columns of row {row} do not increase: sort each row and merge repeated places")]
    Order {
        /// Row, from 0.
        row: usize,
    },
    /// A rank of zero, or above the number of rows that can be hott.
    #[error("rank {rank} is not possible: choose between 1 and {available}, the number of {what}")]
    Rank {
        /// The rank asked for.
        rank: usize,
        /// The largest possible rank.
        available: usize,
        /// What `available` counts.
        what: &'static str,
    },
    /// A row named as hott that is not one of the matrix, is zero, or is named twice.
    #[error("row {row} cannot be a hott row: {reason}")]
    HottRow {
        /// The row, from 0.
        row: usize,
        /// Why not.
        reason: String,
    },
    /// A row of a constraint that is not one of the matrix, is zero, or cannot be what is asked of it.
    #[error("row {row} {reason}")]
    Ruled {
        /// The row, from 0.
        row: usize,
        /// What cannot be.
        reason: String,
    },
    /// Constraints that no choice of rows obeys.
    #[error("the constraints cannot be met: {what}")]
    Constraint {
        /// Which of them, and why.
        what: String,
    },
    /// A setting outside its range.
    #[error("{name} = {value} is not possible: {remedy}")]
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// Its value, as text.
        value: String,
        /// What to give instead.
        remedy: String,
    },
    /// A vector that must have one entry per row or column, and has not.
    #[error("{name} has {found} entries, but there are {expected} {what}")]
    Length {
        /// Name of the vector.
        name: &'static str,
        /// Its length.
        found: usize,
        /// The length it must have.
        expected: usize,
        /// What it must have one entry for.
        what: &'static str,
    },
    /// No localising matrix explains every row within tau: proven, and no fault of the data.
    #[error("{}", infeasible(*tau, *bound, *enough, *must))]
    Infeasible {
        /// The l1 error that every row was allowed.
        tau: f64,
        /// No tau below this is feasible.
        bound: f64,
        /// A tau that is feasible; infinite where none was found.
        enough: f64,
        /// How many rows must be in every choice that this is about.
        must: usize,
    },
    /// The state of an earlier run cannot be taken up.
    #[error("the checkpoint cannot be used ({reason}): remove it and start anew")]
    Checkpoint {
        /// Why not.
        reason: String,
    },
    /// A temporary file of a caller's failed.
    #[error(
        "the temporary file of words failed ({reason}): allow more memory, or make room where temporary \
         files are (TMPDIR)"
    )]
    Scratch {
        /// Why.
        reason: String,
    },
    /// A linear program with tau that ended with neither a point nor a proof that there is none.
    #[error("{}", undecided(*.tau, *.bound, *.reached))]
    Undecided {
        /// The largest error that a row was to have.
        tau: f64,
        /// No tau below this is feasible.
        bound: f64,
        /// This one is; infinite where none is known.
        reached: f64,
    },
    /// Stopped, by the caller or by the clock, before there was any answer.
    #[error("{0} before there was any answer: allow more time")]
    NoAnswer(crate::control::Stop),
}

/// The value of this name among a few.
pub(crate) fn one_of<T: Copy, const N: usize>(
    what: &'static str,
    given: &str,
    all: [T; N],
    name: impl Fn(T) -> &'static str,
) -> Result<T, Error> {
    all.into_iter().find(|value| name(*value) == given).ok_or_else(|| {
        let names = all.map(name).join(", ");
        Error::Setting {
            name: what,
            value: given.to_string(),
            remedy: format!("choose one of {names}"),
        }
    })
}

fn undecided(tau: f64, bound: f64, reached: f64) -> String {
    let reached =
        if reached.is_finite() { format!(", and {reached} was reached") } else { String::new() };
    format!(
        "whether all rows can be explained within tau = {tau} was not decided: no tau below {bound} \
         can be{reached}; ask for another tau"
    )
}

/// Bounds are rounded to the safe side.
fn infeasible(tau: f64, bound: f64, enough: f64, must: usize) -> String {
    let choice = match must {
        0 => "no choice".to_string(),
        1 => "no choice with the row that must be in it".to_string(),
        must => format!("no choice with the {must} rows that must be in it"),
    };
    let mut sentence = format!(
        "{choice} explains every row within tau = {tau}; the smallest tau that can be feasible \
         is at least {}",
        six_digits(bound, f64::floor)
    );
    if enough.is_finite() {
        sentence += &format!(", and {} is enough", six_digits(enough, f64::ceil));
    }
    sentence
}

/// Six significant digits, rounded as asked.
fn six_digits(value: f64, round: fn(f64) -> f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let scale = 10f64.powi(5 - value.abs().log10().floor() as i32);
    round(value * scale) / scale
}

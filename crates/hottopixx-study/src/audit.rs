//! An auditor of answers: reads what the program has written, and the data, and computes everything that is
//! said about the errors again, with plain loops that share nothing with the library but its loaders.

use anyhow::{Context, Result, bail, ensure};
use hottopixx::matrix::Matrix;
use hottopixx_io::write::FileRecord;
use hottopixx_io::{LoadOptions, Source, load};
use serde_json::Value;
use std::path::Path;

/// How far a figure that is said may be from the one that is found.
pub const AGREEMENT: f64 = 1e-8;

/// What a folder turned out to be.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// No answer at all.
    Nothing,
    /// Files that are not those of one run, as their main file shows: noticed, and no answer.
    Mixed(String),
    /// An answer whose figures are true, and why it ended.
    Answer {
        /// `finished`, `time_limit` or `interrupted`.
        stop: String,
    },
}

/// Judges the answer in a folder against the matrix that it is about.
///
/// # Errors
/// When something that is said is not so.
pub fn audit(folder: &Path, x: &Matrix) -> Result<Found> {
    let main = folder.join("summary.json");
    if !main.exists() {
        return Ok(Found::Nothing);
    }
    let bytes = std::fs::read(&main)?;
    let said: Value = serde_json::from_slice(&bytes).context("summary.json is not whole")?;
    let files = said["files"].as_object().context("summary.json lists no files")?;
    for (name, listed) in files {
        let Ok(found) = FileRecord::of(folder, name) else {
            return Ok(Found::Mixed(format!("{name} is not there")));
        };
        if listed["sha256"] != found.sha256.as_str() || listed["bytes"] != found.bytes {
            return Ok(Found::Mixed(format!("{name} is of another run")));
        }
    }
    let factor = |stem: &str| -> Result<Matrix> {
        let mut names = ["npy", "npz"].map(|kind| format!("{stem}.{kind}")).into_iter();
        let name = names.find(|name| files.contains_key(name)).context("a factor is not listed")?;
        Ok(load(&Source::path(folder.join(name)), &LoadOptions::default())?.matrix)
    };
    figures(&said, x, &factor("F")?, &factor("W")?)?;
    let stop = said["stop"].as_str().context("it does not say why it ended")?.to_owned();
    Ok(Found::Answer { stop })
}

/// Compares what is said of the errors with what F, W and X make of them.
fn figures(said: &Value, x: &Matrix, f: &Matrix, w: &Matrix) -> Result<()> {
    ensure!((f.rows(), w.cols(), f.cols()) == (x.rows(), x.cols(), w.rows()), "shapes do not fit");
    let hott = said["hott"].as_array().context("no hott rows")?;
    ensure!(hott.len() == w.rows(), "{} hott rows for {} of W", hott.len(), w.rows());
    for (k, row) in hott.iter().enumerate() {
        let row = row["row"].as_u64().context("a hott row without number")? as usize;
        ensure!(
            row < x.rows() && dense(x, row) == dense(w, k),
            "row {k} of W is not row {row} of X"
        );
    }
    for (name, found) in errors(x, f, w) {
        let Some(stated) = said["error"][name].as_f64() else { bail!("{name} is no number") };
        ensure!((stated - found).abs() <= AGREEMENT, "{name} is {found}, and {stated} is said");
    }
    Ok(())
}

/// The errors of F W by their names in answers: mean and largest l1 error of a row, and the root of the mean square, rows
/// divided by their sums, rows of zeros left out.
pub fn errors(x: &Matrix, f: &Matrix, w: &Matrix) -> [(&'static str, f64); 3] {
    let (mut sum, mut largest, mut squares, mut rows) = (0.0, 0.0f64, 0.0, 0.0);
    for i in (0..x.rows()).filter(|&i| x.row(i).sum() > 0.0) {
        let residual = residual(x, f, w, i);
        let l1: f64 = residual.iter().map(|e| e.abs()).sum();
        (sum, largest, rows) = (sum + l1, largest.max(l1), rows + 1.0);
        squares += residual.iter().map(|e| e * e).sum::<f64>();
    }
    [
        ("mean_l1", sum / rows),
        ("inf1", largest),
        ("rmse", (squares / (rows * x.cols() as f64)).sqrt()),
    ]
}

/// `x_i - f_i W` over the sum of `x_i`. Sums may be anything from 1e-300 to 1e300, so that every row is
/// divided by its own, and weights are multiplied through their logarithms.
fn residual(x: &Matrix, f: &Matrix, w: &Matrix, i: usize) -> Vec<f64> {
    let own = x.row(i).sum();
    let mut out: Vec<f64> = dense(x, i).into_iter().map(|v| v / own).collect();
    for (k, weight) in f.row(i).nonzeros() {
        let its = w.row(k).sum();
        let weight = (weight.log2() + its.log2() - own.log2()).exp2();
        for (column, value) in w.row(k).nonzeros() {
            out[column] -= weight * (value / its);
        }
    }
    out
}

fn dense(matrix: &Matrix, i: usize) -> Vec<f64> {
    let mut out = vec![0.0; matrix.cols()];
    matrix.row(i).nonzeros().for_each(|(k, value)| out[k] = value);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use hottopixx::matrix::Dense;
    use serde_json::json;

    /// A true answer passes; every false figure and factor is noticed.
    #[test]
    fn lies_are_noticed() {
        let matrix = |rows: &[[f64; 2]]| Matrix::from(Dense::from_rows(rows).unwrap());
        for scale in [1.0, 1e300, 1e-300] {
            let x = matrix(&[[scale, 0.0], [0.0, 2.0], [3.0, 1.0]]);
            let w = matrix(&[[scale, 0.0], [0.0, 2.0]]);
            let f = matrix(&[[1.0, 0.0], [0.0, 1.0], [3.0 / scale, 0.25]]);
            let error = 0.125;
            let said = |mean: f64, rows: [u64; 2]| {
                let hott = rows.map(|row| json!({"row": row}));
                let rmse = (error * error / 6.0f64).sqrt();
                json!({"hott": hott, "error": {"mean_l1": mean, "inf1": error, "rmse": rmse}})
            };
            let good = said(error / 3.0, [0, 1]);
            figures(&good, &x, &f, &w).unwrap();
            assert!(figures(&said(0.0, [0, 1]), &x, &f, &w).is_err());
            assert!(figures(&said(error / 3.0, [1, 0]), &x, &f, &w).is_err());
            let other = matrix(&[[1.0, 0.0], [0.0, 1.0], [3.0 / scale, 0.5]]);
            assert!(figures(&good, &x, &other, &w).is_err());
        }
    }
}

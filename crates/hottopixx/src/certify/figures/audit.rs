//! Figures by row that pin X, C and Y down.

use super::RefusingWatch;
use super::dual::DualFigures;
use super::point::PointFigures;
use super::rows::{Rows, stored};
use crate::certify::certificate::Certificate;
use crate::certify::refusal::Refusal;
use crate::certify::rounding::{dot, sum};
use crate::control::Control;
use crate::kernels::parallel::*;
use crate::matrix::Entries;

/// Figures by row that a verifier recomputes and compares. They pin X, C and Y down: an entry
/// that was changed is noticed even where every inequality would still hold.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Audit {
    /// `e_i = ||x_i - c_i X||_1` for each row of X, rounded up.
    pub errors: Vec<f64>,
    /// The sum of row i of C.
    pub weights: Vec<f64>,
    /// The sum of the squares of `x_i`.
    pub squares: Vec<f64>,
    /// `sum_k x_ik (k + 1) / n`: where the row has its weight. Squares alone overlook a change of
    /// an entry that is about as large as the sum of squares, and columns that changed places.
    pub centres: Vec<f64>,
    /// The rows of Y, in the order of [`Certificate::dual`].
    pub dual: Vec<DualAudit>,
}

/// The figures of one row of Y.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct DualAudit {
    /// i.
    pub row: usize,
    /// `<Y_i, x_i>`, rounded down.
    pub product: f64,
    /// The sum of `Y_i`.
    pub sum: f64,
    /// `||Y_i||_inf`.
    pub norm: f64,
}

/// The figures that pin X, C and Y down. O(nonzeros of X + dual rows * n), parallel over rows.
pub(in crate::certify) fn audit(
    rows: &Rows,
    certificate: &Certificate,
    point: &PointFigures,
    dual: &DualFigures,
    control: &Control,
) -> Result<Audit, Refusal> {
    let watch = || RefusingWatch::new(control);
    let moments = (0..rows.x.features()).into_par_iter().map_init(watch, |watch, i| {
        watch.spend(stored(rows.x, i).len())?;
        Ok(moments(rows, i))
    });
    let moments: Vec<(f64, f64)> = moments.collect::<Result<_, Refusal>>()?;
    let (squares, centres) = moments.into_iter().unzip();
    let figures =
        certificate.dual.par_iter().enumerate().map_init(watch, |watch, (k, (row, y))| {
            watch.spend(y.len())?;
            let (product, norm) = (dual.products[k], dual.norms[k]);
            Ok(DualAudit { row: *row, product, sum: sum(y), norm })
        });
    Ok(Audit {
        errors: point.errors.clone(),
        weights: point.weights.clone(),
        squares,
        centres,
        dual: figures.collect::<Result<_, Refusal>>()?,
    })
}

/// The sum of the squares of `x_i`, and where it has its weight.
fn moments(rows: &Rows, i: usize) -> (f64, f64) {
    let (values, factor) = (stored(rows.x, i), rows.factors[i]);
    let centre: f64 = match rows.x.row(i).entries() {
        Entries::Dense(_) => values.iter().enumerate().map(|(k, v)| v * (k + 1) as f64).sum(),
        Entries::Sparse(columns, _) => {
            values.iter().zip(columns).map(|(v, &k)| v * (f64::from(k) + 1.0)).sum()
        }
    };
    (dot(values, values) * factor * factor, centre * factor / rows.x.examples() as f64)
}

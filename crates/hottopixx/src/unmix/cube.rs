//! The pixels, checked, with what every step needs of them.

use super::{Negative, Unmix};
use crate::Error;
use crate::control::Control;
use crate::kernels::parallel::*;
use crate::kernels::{View, ViewMut, multiply};
use crate::matrix::Dense;
use std::borrow::Cow;

/// Parts in which sums over pixels are taken, whatever the number of threads.
const PARTS: usize = 16;
/// Pixels that are copied and multiplied at a time.
const BLOCK: usize = 256;

/// Pixels x bands, finite and not negative.
pub(super) struct Cube<'a> {
    pub pixels: Cow<'a, Dense>,
    /// Makes the largest value 1, so that no square overflows or vanishes.
    pub scale: f64,
    /// Pixels that are not zero, increasing.
    pub lit: Vec<usize>,
    /// Values below zero that were counted as zero.
    pub clipped: usize,
}

impl<'a> Cube<'a> {
    /// Checks the input against the settings.
    pub fn new(settings: &Unmix, pixels: &'a Dense) -> Result<Self, Error> {
        let (rows, cols) = (pixels.rows(), pixels.cols());
        if rows == 0 || cols == 0 {
            return Err(Error::Empty { rows, cols });
        }
        if let Some((height, width)) = settings.shape
            && height.checked_mul(width) != Some(rows)
        {
            let value = format!("{height}x{width}");
            let remedy = format!("height times width must be the number of pixels, {rows}");
            return Err(Error::Setting { name: "shape", value, remedy });
        }
        let values = pixels.values();
        if let Some(at) = values.iter().position(|v| !v.is_finite()) {
            let (row, col) = (at / cols, at % cols);
            return Err(Error::NotFinite { row, col, value: values[at] });
        }
        let (pixels, clipped) = without_negative(pixels, settings.negative)?;
        let largest = pixels.values().iter().copied().fold(0.0, f64::max);
        let lit: Vec<usize> =
            (0..rows).filter(|&i| pixels.row(i).iter().any(|v| *v > 0.0)).collect();
        if lit.is_empty() {
            return Err(Error::AllZero { rows });
        }
        if settings.rank == 0 || settings.rank > lit.len() {
            let (rank, available) = (settings.rank, lit.len());
            return Err(Error::Rank { rank, available, what: "pixels that are not zero" });
        }
        // A denormal largest value has no reciprocal.
        let scale = (1.0 / largest).min(f64::MAX);
        Ok(Cube { pixels, scale, lit, clipped })
    }

    pub fn bands(&self) -> usize {
        self.pixels.cols()
    }

    /// The given pixels with band b times `weights[b]`, and the whole row times its factor.
    pub fn weighed(
        &self,
        rows: &[usize],
        weights: &[f64],
        factor: impl Fn(usize) -> f64,
    ) -> Vec<f64> {
        let mut out = Vec::with_capacity(rows.len() * self.bands());
        for &i in rows {
            let factor = factor(i);
            let row = self.pixels.row(i).iter().zip(weights);
            out.extend(row.map(|(x, w)| x * self.scale * w * factor));
        }
        out
    }

    /// Does `work` for blocks of the lit pixels, in parallel; what it gives comes in their order. `None` when there
    /// was no time for all.
    pub fn by_blocks<T: Send>(
        &self,
        control: &Control,
        work: impl Fn(&[usize]) -> T + Sync,
    ) -> Option<Vec<T>> {
        let blocks = self.lit.par_chunks(BLOCK);
        blocks.map(|block| control.goes_on().then(|| work(block))).collect()
    }

    /// `sum over lit pixels i of y_i^T y_i`, bands x bands, with `y_i = factor(i) x_i weights`. Costs
    /// `2 x pixels x bands^2` flops; added up in a fixed order.
    pub fn gram(
        &self,
        weights: &[f64],
        factor: impl Fn(usize) -> f64 + Sync,
        control: &Control,
    ) -> Option<Vec<f64>> {
        let bands = self.bands();
        let part = self.lit.len().div_ceil(PARTS).max(BLOCK);
        let sums: Option<Vec<Vec<f64>>> = self
            .lit
            .par_chunks(part)
            .map(|part| {
                let mut sum = vec![0.0; bands * bands];
                for rows in part.chunks(BLOCK) {
                    if !control.goes_on() {
                        return None;
                    }
                    let block = self.weighed(rows, weights, &factor);
                    let y = View::by_rows(&block, rows.len(), bands, bands);
                    let to = ViewMut::by_rows(&mut sum, bands, bands, bands);
                    multiply(1.0, y.transposed(), y, 1.0, to);
                }
                Some(sum)
            })
            .collect();
        let mut sums = sums?.into_iter();
        let mut total = sums.next()?;
        for sum in sums {
            total.iter_mut().zip(&sum).for_each(|(t, s)| *t += s);
        }
        Some(total)
    }
}

/// The pixels without negative values, and how many there were.
fn without_negative(pixels: &Dense, how: Negative) -> Result<(Cow<'_, Dense>, usize), Error> {
    let values = pixels.values();
    let negative = values.iter().filter(|v| **v < 0.0).count();
    if negative == 0 {
        return Ok((Cow::Borrowed(pixels), 0));
    }
    if how == Negative::Refuse {
        let at = values.iter().position(|v| *v < 0.0).unwrap_or(0);
        return Err(Error::NegativePixels {
            count: negative,
            values: values.len(),
            pixel: at / pixels.cols(),
            band: at % pixels.cols(),
            value: values[at],
        });
    }
    let clipped = values.iter().map(|v| v.max(0.0)).collect();
    Ok((Cow::Owned(Dense::new(pixels.rows(), pixels.cols(), clipped)?), negative))
}

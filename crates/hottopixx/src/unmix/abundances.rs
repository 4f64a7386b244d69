//! Shares of materials in every pixel, by nonnegative least squares on bands divided by their noise.
//!
//! `min over a >= 0 of ||(x - a E) w||`: where noise is what it was found to be, the likeliest shares. With
//! `E w` (rank x bands) the problem of a pixel is rank x rank, `E w^2 E^T`; the products take
//! `2 pixels x bands x rank` flops. The errors that are reported are l1 errors, measured on what was fitted.

use super::cube::Cube;
use super::{Abundances, Material};
use crate::control::Control;
use crate::kernels::parallel::*;
use crate::kernels::{axpy, dot};
use crate::squares::{Domain, Nnls};

/// What came of fitting all pixels.
pub(super) struct Fitted {
    /// Pixels x rank.
    pub abundances: Vec<f64>,
    pub errors: Vec<f64>,
    pub unfitted: usize,
}

/// Fits every pixel on the spectra.
pub(super) fn fit_all(
    cube: &Cube<'_>,
    weights: &[f64],
    spectra: &[Vec<f64>],
    how: Abundances,
    control: &Control,
) -> Fitted {
    let (pixels, rank) = (cube.pixels.rows(), spectra.len());
    let scaled = |s: &Vec<f64>| s.iter().map(|x| x * cube.scale).collect::<Vec<f64>>();
    let spectra: Vec<Vec<f64>> = spectra.iter().map(scaled).collect();
    let weighed: Vec<Vec<f64>> =
        spectra.iter().map(|s| s.iter().zip(weights).map(|(x, w)| x * w).collect()).collect();
    let gram: Vec<f64> =
        (0..rank * rank).map(|at| dot(&weighed[at / rank], &weighed[at % rank])).collect();
    let one = |solver: &mut Nnls, i: usize| -> Option<(Vec<f64>, f64)> {
        if !control.goes_on() {
            return None;
        }
        let mut x: Vec<f64> = cube.pixels.row(i).iter().map(|v| v * cube.scale).collect();
        let total: f64 = x.iter().sum();
        let mut a = vec![0.0; rank];
        if total == 0.0 {
            return Some((a, 0.0));
        }
        let y: Vec<f64> = x.iter().zip(weights).map(|(x, w)| x * w).collect();
        let b: Vec<f64> = weighed.iter().map(|s| dot(s, &y)).collect();
        solver.solve(&gram, &b, &mut a, Domain::Cone);
        spectra.iter().zip(&a).for_each(|(s, a)| axpy(-a, s, &mut x));
        let error = x.iter().map(|v| v.abs()).sum::<f64>() / total;
        let sum: f64 = a.iter().sum();
        if how == Abundances::SumToOne && sum > 0.0 {
            a.iter_mut().for_each(|a| *a /= sum);
        }
        Some((a, error))
    };
    let fits: Vec<Option<(Vec<f64>, f64)>> =
        (0..pixels).into_par_iter().map_init(Nnls::default, one).collect();
    let unfitted = fits.iter().filter(|fit| fit.is_none()).count();
    let (mut abundances, mut errors) = (Vec::with_capacity(pixels * rank), Vec::new());
    for fit in fits {
        let (a, error) = fit.unwrap_or_else(|| (vec![0.0; rank], 1.0));
        abundances.extend(a);
        errors.push(error);
    }
    Fitted { abundances, errors, unfitted }
}

/// The share of every material in the pixels that count, and the mean error weighed by shares.
pub(super) fn summarise(fitted: &Fitted, counting: &[usize], materials: &mut [Material]) {
    let rank = materials.len();
    let mut shares = vec![0.0; rank];
    let mut errors = vec![0.0; rank];
    for &i in counting {
        let a = &fitted.abundances[i * rank..(i + 1) * rank];
        let sum = a.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        for (k, a) in a.iter().enumerate() {
            shares[k] += a / sum;
            errors[k] += a / sum * fitted.errors[i];
        }
    }
    for (k, material) in materials.iter_mut().enumerate() {
        material.share = shares[k] / counting.len().max(1) as f64;
        material.error = errors[k] / shares[k].max(f64::MIN_POSITIVE);
    }
}

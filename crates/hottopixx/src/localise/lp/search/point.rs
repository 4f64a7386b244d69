//! A diagonal with weights that keep to it, and mixtures of two.

use super::FEASIBLE;
use crate::localise::lp::oracle::Oracle;

/// A diagonal with weights that keep to it.
#[derive(Debug, Clone)]
pub(super) struct Point {
    pub d: Vec<f64>,
    /// By row of X: (column in play, weight).
    pub weights: Vec<Vec<(u32, f64)>>,
    /// What each row misses at most.
    pub values: Vec<f64>,
}

impl Point {
    /// The oracle's weights, cut down to d.
    pub(super) fn new(oracle: &Oracle<'_>, d: Vec<f64>) -> Self {
        let rows = oracle.rows();
        let clipped = |i: usize| {
            let weights = oracle.row(i).weights.iter().map(|&(j, c)| (j, c.min(d[j as usize])));
            weights.filter(|w| w.1 > 0.0).collect()
        };
        Point {
            weights: (0..rows).map(clipped).collect(),
            values: (0..rows).map(|i| oracle.ceiling(i, &d)).collect(),
            d,
        }
    }

    pub(super) fn worst(&self) -> f64 {
        self.values.iter().copied().fold(0.0, f64::max)
    }

    /// `(1 - s) self + s other`: by convexity it misses no more than the mixture of what both miss.
    pub(super) fn mix(&self, other: &Point, s: f64) -> Point {
        let mixed = |a: &[f64], b: &[f64]| -> Vec<f64> {
            a.iter().zip(b).map(|(a, b)| (1.0 - s) * a + s * b).collect()
        };
        let merge = |a: &Vec<(u32, f64)>, b: &Vec<(u32, f64)>| {
            let mut sum = std::collections::BTreeMap::new();
            a.iter().for_each(|&(j, c)| *sum.entry(j).or_insert(0.0) += (1.0 - s) * c);
            b.iter().for_each(|&(j, c)| *sum.entry(j).or_insert(0.0) += s * c);
            sum.into_iter().collect()
        };
        Point {
            d: mixed(&self.d, &other.d),
            weights: self.weights.iter().zip(&other.weights).map(|(a, b)| merge(a, b)).collect(),
            values: mixed(&self.values, &other.values),
        }
    }
}

/// `share * inside + (1 - share) * outside`.
pub(super) fn between(inside: &[f64], outside: &[f64], share: f64) -> Vec<f64> {
    inside.iter().zip(outside).map(|(i, o)| share * i + (1.0 - share) * o).collect()
}

/// The largest s for which `(1 - s) anchor + s point` surely misses no more than tau in any row; a
/// row where the anchor itself has no room may miss it by rounding.
pub(super) fn share(anchor: &Point, point: &Point, tau: f64) -> f64 {
    let mut s: f64 = 1.0;
    for (&from, &value) in anchor.values.iter().zip(&point.values) {
        let most = if tau - from > FEASIBLE { tau } else { tau + FEASIBLE };
        if value > most {
            s = s.min(((most - from) / (value - from)).max(0.0));
        }
    }
    s
}

//! What a dual proves about the mean error of every choice of rows, whatever their weights.
//!
//! For a choice S of r rows that may be hott and any Y with `|Y| <= 1`,
//!
//! ```text
//! sum_i e_i(S) >= <Y, X> - (sum of the r largest s_j),   s_j = y_j.x_j + sum_{i != j} u_ij (y_i.x_j)_+
//! ```
//!
//! with `u_ij` the largest weight that a fit of `x_i` needs on `x_j` (`l1/caps.rs`): a chosen row explains
//! itself with weight one, all others weigh it by at most their caps. Smaller products `<y_i, x_i>` and
//! larger `s_j` prove less, so the former are rounded down and the latter up.
//!
//! Products are taken by blocks in double precision; whatever the order of additions and however they
//! are fused, a sum of n products of which no term is rounded more than n + 1 times is off by
//! at most `gamma(n + 1)` times the sizes of its terms. Caps are dear, `O(n)` each: they are found only
//! for columns that could be among the r largest with the caps that hold everywhere, two.

use super::rows::{Rows, stored};
use super::{RefusingWatch, UNDERFLOW, or};
use crate::certify::refusal::Refusal;
use crate::certify::rounding::{Sum, add_down, add_up, div_down, div_up, gamma, mul_down, mul_up};
use crate::control::Control;
use crate::kernels::{gemm, mass_above};
use crate::matrix::Entries;
use crate::normalise::UnitRows;
use rayon::prelude::*;

/// Rows and columns of one block of products.
const BLOCK: usize = 128;
/// Columns whose caps are found together.
const BATCH: usize = 32;
/// No cap is larger.
const LARGEST: f64 = 2.0;
/// Halvings of [0, 2] in search of a cap.
const HALVINGS: usize = 9;

/// The bound on the *mean* error of all choices of `rank` rows among the `allowed` ones that Y, f x n and
/// row-major, proves about `x` in exact arithmetic. At least 0, which needs no Y.
///
/// `2 f m n` flops for m rows that may be hott and up to `O(f m n)` for caps, parallel; `4 f m` bytes.
///
/// # Errors
/// [`Refusal::Shape`] where sizes do not fit, [`Refusal::NotFinite`] or [`Refusal::Range`] for entries that
/// are no numbers in [-1, 1], [`Refusal::Stopped`] when `control` stops it.
pub fn prove_mean(
    x: &UnitRows,
    rank: usize,
    allowed: &[bool],
    dual: &[f32],
    control: &Control,
) -> Result<f64, Refusal> {
    let (f, n) = (x.features(), x.examples());
    if dual.len() != f * n {
        return Err(Refusal::Shape { what: "the dual", found: dual.len(), expected: f * n });
    }
    if allowed.len() != f {
        let what = "the list of rows that may be hott";
        return Err(Refusal::Shape { what, found: allowed.len(), expected: f });
    }
    if !dual.iter().all(|y| y.abs() <= 1.0) {
        return Err(Refusal::Range { what: "the dual" });
    }
    let proof = MeanProof { rows: Rows::new(x, control)?, dual, n, control };
    let columns: Vec<usize> = (0..f).filter(|&j| allowed[j]).collect();
    let most = proof.most_saved(rank, &columns)?;
    let bound = div_down(add_down(proof.product()?, -most), f as f64);
    Ok(if bound > 0.0 { bound } else { 0.0 })
}

struct MeanProof<'a> {
    rows: Rows<'a>,
    dual: &'a [f32],
    n: usize,
    control: &'a Control,
}

impl MeanProof<'_> {
    fn y(&self, i: usize) -> Vec<f64> {
        self.dual[i * self.n..][..self.n].iter().map(|v| f64::from(*v)).collect()
    }

    /// `<Y, X>`, rounded down.
    fn product(&self) -> Result<f64, Refusal> {
        let products: Vec<f64> = (0..self.rows.x.features())
            .into_par_iter()
            .map_init(
                || RefusingWatch::new(self.control),
                |watch, i| watch.spend(self.n).map(|()| self.rows.bounds(i, &self.y(i)).low),
            )
            .collect::<Result<_, Refusal>>()?;
        Ok(products.into_iter().collect::<Sum>().lower())
    }

    /// The sum of the r largest `s_j`, rounded up.
    fn most_saved(&self, rank: usize, columns: &[usize]) -> Result<f64, Refusal> {
        // (s_j with caps of two, the column, its products), largest first.
        let mut open: Vec<(f64, usize, Vec<f32>)> = self.products(columns)?;
        open.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut found: Vec<f64> = Vec::new();
        for batch in open.chunks(BATCH) {
            let threshold = found.get(rank.wrapping_sub(1)).copied();
            if threshold.is_some_and(|least| batch[0].0 <= least) {
                break;
            }
            let capped: Vec<f64> = batch
                .par_iter()
                .map(|(_, j, products)| self.saved(*j, products))
                .collect::<Result<_, Refusal>>()?;
            found.extend(capped);
            found.sort_by(|a, b| b.total_cmp(a));
        }
        Ok(found.into_iter().take(rank).collect::<Sum>().upper())
    }

    /// For each of the columns `s_j` with caps of two, and `y_i.x_j` of all rows, rounded up (below zero:
    /// zero, but for the own row).
    fn products(&self, columns: &[usize]) -> Result<Vec<(f64, usize, Vec<f32>)>, Refusal> {
        let (f, n) = (self.rows.x.features(), self.n);
        let blocks: Vec<Vec<(f64, usize, Vec<f32>)>> = columns
            .par_chunks(BLOCK)
            .map(|columns| {
                let m = columns.len();
                let atoms: Vec<f64> = columns.iter().flat_map(|&j| self.rows.given(j)).collect();
                let mut all = vec![Vec::with_capacity(f); m];
                for first in (0..f).step_by(BLOCK) {
                    if let Some(stop) = self.control.stopped() {
                        return Err(Refusal::Stopped(stop));
                    }
                    let rows = BLOCK.min(f - first);
                    let y: Vec<f64> = (first..first + rows).flat_map(|i| self.y(i)).collect();
                    let mut g = vec![0.0; rows * m];
                    gemm(rows, n, m, 1.0, &y, &atoms, true, 0.0, &mut g);
                    for (at, g) in g.chunks_exact(m).enumerate() {
                        for (q, (&j, &g)) in columns.iter().zip(g).enumerate() {
                            let price = self.price(j, g);
                            let kept = if first + at == j { price } else { price.max(0.0) };
                            all[q].push(single_up(kept));
                        }
                    }
                }
                let total = |(&j, products): (&usize, Vec<f32>)| {
                    let others: Sum = (0..f)
                        .filter(|i| *i != j)
                        .map(|i| LARGEST * f64::from(products[i]))
                        .collect();
                    (add_up(others.upper(), f64::from(products[j])), j, products)
                };
                Ok(columns.iter().zip(all).map(total).collect())
            })
            .collect::<Result<_, Refusal>>()?;
        Ok(blocks.into_iter().flatten().collect())
    }

    /// At least `y.x_j`, given the computed product of y with row j as it was given.
    fn price(&self, j: usize, computed: f64) -> f64 {
        let sums = &self.rows.sums[j];
        let relative = mul_up(gamma(self.n + 1), sums.high);
        let error = add_up(relative, mul_up(add_up(sums.high, 1.0), self.n as f64 * UNDERFLOW));
        let high = add_up(computed, error);
        let unit = div_up(high, if high > 0.0 { sums.low } else { sums.high });
        or(unit, f64::INFINITY)
    }

    /// `s_j`, rounded up.
    fn saved(&self, j: usize, products: &[f32]) -> Result<f64, Refusal> {
        let mut watch = RefusingWatch::new(self.control);
        let given = self.rows.given(j);
        let mut sum = Sum::default();
        sum.add(f64::from(products[j]));
        for (i, &product) in products.iter().enumerate() {
            if i != j && product > 0.0 {
                watch.spend(HALVINGS * stored(self.rows.x, i).len())?;
                sum.add(mul_up(self.cap(i, j, &given), f64::from(product)));
            }
        }
        Ok(sum.upper())
    }

    /// At least `u_ij`, less than 2 / 2^9 too large but for rounding. `given` is row j as it was given.
    ///
    /// With `v_i, v_j` the rows as given and `s_i, s_j` their sums, `u_ij <= rho s_j / s_i` if the mass of
    /// `v_j` where `v_ik > rho v_jk` is at most half of `s_j`. Testing with a slightly smaller rho only adds to
    /// that mass.
    fn cap(&self, i: usize, j: usize, given: &[f64]) -> f64 {
        let (own, other) = (&self.rows.sums[i], &self.rows.sums[j]);
        let units = div_up(other.high, own.low);
        let most = mul_down(mul_down(0.5, other.low), add_down(1.0, -gamma(self.n + 8)));
        let above = |rho: f64| {
            let rho = rho * (1.0 - 1e-15);
            match self.rows.x.row(i).entries() {
                Entries::Dense(values) => mass_above(values, given, rho),
                Entries::Sparse(columns, values) => {
                    let mass = |(k, v): (&u32, &f64)| {
                        let other = given[*k as usize];
                        if *v > rho * other { other } else { 0.0 }
                    };
                    columns.iter().zip(values).map(mass).sum()
                }
            }
        };
        let (mut low, mut high) = (0.0, LARGEST);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if above(middle / units) <= most {
                high = middle;
            } else {
                low = middle;
            }
        }
        // middle / units * units, rounded up.
        if high < LARGEST { high * (1.0 + 1e-14) } else { LARGEST }
    }
}

/// The least number in single precision that is not below.
fn single_up(value: f64) -> f32 {
    let near = value as f32;
    if f64::from(near) < value { near.next_up() } else { near }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::localise::first_order::{FirstOrderSettings, Weights, first_order};
    use crate::localise::instances::{as_sparse, paper, unit_rows};
    use crate::{Objective, clean::FittedChoice};

    fn noise(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*state >> 33) as f64 / (1u64 << 31) as f64
    }

    /// Caps are those that sorting finds, up to the width of a halving.
    #[test]
    fn caps_agree_with_sorting() {
        let mut state = 3;
        let rows: Vec<Vec<f64>> = (0..12)
            .map(|_| (0..9).map(|_| (noise(&mut state) - 0.4).max(0.0) + 0.01).collect())
            .collect();
        let dense = unit_rows(&rows);
        let control = Control::default();
        for x in [dense.clone(), as_sparse(&dense)] {
            let dual = vec![0.0f32; 12 * 9];
            let rows = Rows::new(&x, &control).unwrap();
            let proof = MeanProof { rows, dual: &dual, n: 9, control: &control };
            for i in 0..12 {
                let given_i = proof.rows.given(i);
                for j in (0..12).filter(|j| *j != i) {
                    let sorted = proof.rows.cap(i, &given_i, j);
                    let halved = proof.cap(i, j, &proof.rows.given(j));
                    assert!(halved >= sorted * (1.0 - 1e-12), "{halved} {sorted}");
                    assert!(halved <= sorted + 2.0 / 512.0 + 1e-9, "{halved} {sorted}");
                }
            }
        }
    }

    /// Whatever Y is, no choice of rows is below its bound.
    #[test]
    fn no_choice_is_below_the_bound_of_any_dual() {
        let control = Control::default();
        let mut state = 11;
        let mut largest: f64 = 0.0;
        for seed in 1..6 {
            let instance = paper((9, 14, 2, 1), 4.0, seed);
            let f = instance.x.features();
            let mut best = f64::INFINITY;
            for a in 0..f {
                for b in 0..a {
                    let choice =
                        FittedChoice::new(&instance.x, vec![a, b], Objective::Mean, None, &control);
                    best = best.min(choice.score);
                }
            }
            let (weights, work) = (Weights::Free, f64::INFINITY);
            let settings = FirstOrderSettings { weights, gap: 0.01, steps: 400, work };
            let allowed = vec![true; f];
            let good = first_order(&instance.x, 2, &allowed, &settings, &control).unwrap();
            let good = good.unwrap().dual;
            for x in [instance.x.clone(), as_sparse(&instance.x)] {
                for trial in 0..20 {
                    let spoil = f64::from(trial) / 40.0;
                    let spoiled = |y: &f32| y * (1.0 - spoil * noise(&mut state)) as f32;
                    let dual: Vec<f32> = good.iter().map(spoiled).collect();
                    let bound = prove_mean(&x, 2, &allowed, &dual, &control).unwrap();
                    assert!(bound <= best, "{bound} {best}");
                    largest = largest.max(bound / best);
                }
            }
        }
        assert!(largest > 0.5, "the best proves much: {largest}");
    }

    #[test]
    fn what_is_no_dual_is_refused() {
        let x = unit_rows(&[vec![1.0, 2.0], vec![3.0, 1.0], vec![1.0, 1.0]]);
        let prove = |dual: &[f32]| prove_mean(&x, 1, &[true; 3], dual, &Control::default());
        assert!(matches!(prove(&[0.0; 5]), Err(Refusal::Shape { .. })));
        for wrong in [1.5, -1.01, f32::NAN, f32::INFINITY] {
            let mut dual = [0.5f32; 6];
            dual[4] = wrong;
            assert!(matches!(prove(&dual), Err(Refusal::Range { .. })));
        }
        assert_eq!(prove(&[0.0; 6]), Ok(0.0));
    }
}

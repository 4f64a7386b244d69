//! What a dual proves about the errors of every choice of rows where entries were not observed.
//!
//! Let `v_i` be the rows as given, completed, `O_i` the columns in which row i was observed and `V_i` the sum of `v_i`
//! there. What a choice S leaves of row i is `e_i(S) = min ||(v_i - c v_S)_{O_i}||_1 / V_i` over `c >= 0`, and 0 for the
//! rows of S themselves. For any y with `|y_i| <= 1` in `O_i` and zero elsewhere, and numbers `0 <= l_i <= w_i / V_i`,
//!
//! ```text
//! sum_i w_i e_i(S) >= sum_i l_i y_i.v_i - (sum of the r largest s_j),
//!     s_j = l_j y_j.v_j + sum_{i != j} l_i u_ij (y_i.v_j)_+
//! ```
//!
//! with `u_ij` the largest weight that a fit of row i needs on row j, both as far as row i was observed: `u <= rho` if
//! the mass of `v_j` in `O_i` where `v_i > rho v_j` is at most half of all its mass in `O_i` (`l1/caps.rs`, whose
//! proof holds on any set of columns), and always `u <= 2 V_i / (mass of v_j in O_i)`, since that half of the mass would
//! hold more than `V_i` otherwise.
//!
//! Plain loops over the rows as they were given; sums of n terms are off by at most `gamma(n)` of the sum of the
//! sizes of the terms, whatever their order.

use super::RefusingWatch;
use crate::certify::refusal::Refusal;
use crate::certify::rounding::{Sum, add_down, add_up, div_down, div_up, gamma, mul_down, mul_up};
use crate::control::Control;
use crate::kernels::mass_above;
use crate::kernels::parallel::*;
use crate::l1::near_cap;
use crate::normalise::UnitRows;

/// Columns whose caps are found together.
const BATCH: usize = 32;
/// No weight is above this times `V_i` over the mass of the other row, a margin for rounding included.
const LARGEST: f64 = 2.0 * (1.0 + 1e-9);

/// The bounds on the mean error (rows counting as much as they weigh) of all choices of 1, 2, ... `most` rows among
/// the `allowed` ones that Y, f x n and row-major, proves. What Y has in columns that were not observed does not count.
///
/// `O(f m n)` for m rows that may be hott, some times over for caps; parallel; `8 f (m + n)` bytes.
///
/// # Errors
/// [`Refusal::Shape`] where sizes do not fit, [`Refusal::Range`] for entries that are no numbers in [-1, 1],
/// [`Refusal::Stopped`] when `control` stops it.
pub(crate) fn prove_means_observed(
    x: &UnitRows,
    most: usize,
    allowed: &[bool],
    dual: &[f32],
    control: &Control,
) -> Result<Vec<f64>, Refusal> {
    super::free::check_single(x, allowed, dual)?;
    let rows = ObservedRows::new(x, dual);
    let columns: Vec<usize> = (0..allowed.len()).filter(|&j| allowed[j]).collect();
    let saved = rows.most_saved(most, &columns, control)?;
    let product = rows.own.iter().map(|own| own.0).collect::<Sum>().lower();
    let mut sum = Sum::default();
    let bounds = (0..most).map(|k| {
        saved.get(k).into_iter().for_each(|saved| sum.add(*saved));
        let proven = add_down(product, -sum.upper());
        if proven > 0.0 { div_down(proven, rows.total) } else { 0.0 }
    });
    Ok(bounds.collect())
}

struct ObservedRows<'a> {
    x: &'a UnitRows,
    n: usize,
    /// Rows of Y, zero where nothing was observed.
    dual: Vec<f64>,
    /// `l_i`, rounded down, and `V_i`, rounded up.
    lambdas: Vec<f64>,
    sums: Vec<f64>,
    /// `l_i y_i.v_i`, rounded down and up.
    own: Vec<(f64, f64)>,
    /// The sum of all `w_i`, rounded up.
    total: f64,
}

/// A row that may be hott.
struct Column {
    j: usize,
    /// `s_j` with the caps that always hold, rounded up.
    most: f64,
    /// (i, `l_i (y_i.v_j)_+` rounded up, mass of `v_j` in `O_i` rounded down), without its own row.
    others: Vec<(usize, f64, f64)>,
}

impl<'a> ObservedRows<'a> {
    fn new(x: &'a UnitRows, dual: &[f32]) -> Self {
        let (f, n) = (x.features(), x.examples());
        let off = gamma(n + 8);
        let mut masked: Vec<f64> = dual.iter().map(|y| f64::from(*y)).collect();
        for (i, y) in masked.chunks_exact_mut(n.max(1)).enumerate() {
            x.gaps(i).iter().for_each(|&k| y[k as usize] = 0.0);
        }
        let mut rows = ObservedRows {
            x,
            n,
            dual: masked,
            lambdas: Vec::with_capacity(f),
            sums: Vec::with_capacity(f),
            own: Vec::with_capacity(f),
            total: (0..f).map(|i| x.weight(i)).collect::<Sum>().upper(),
        };
        for i in 0..f {
            let observed = rows.observed(i);
            let sum: f64 = observed.iter().filter(|v| **v > 0.0).sum();
            let high = mul_up(sum, add_up(1.0, off));
            let lambda = div_down(x.weight(i), high);
            let product: f64 = x.row(i).unscaled().dot(rows.y(i));
            let error = mul_up(off, high);
            let low = add_down(product, -error);
            let low = if low < 0.0 { -mul_up(lambda, -low) } else { mul_down(lambda, low) };
            let most = add_up(product, error);
            let most = if most > 0.0 { mul_up(lambda, most) } else { -mul_down(lambda, -most) };
            rows.lambdas.push(lambda);
            rows.sums.push(high);
            rows.own.push((low, most));
        }
        rows
    }

    fn y(&self, i: usize) -> &[f64] {
        &self.dual[i * self.n..(i + 1) * self.n]
    }

    /// Row i as given, below zero where it was not observed.
    fn observed(&self, i: usize) -> Vec<f64> {
        let mut row = vec![0.0; self.n];
        self.x.row(i).unscaled().add_to(1.0, &mut row);
        self.x.gaps(i).iter().for_each(|&k| row[k as usize] = -1.0);
        row
    }

    /// The r largest `s_j`, rounded up, largest first.
    fn most_saved(
        &self,
        rank: usize,
        columns: &[usize],
        control: &Control,
    ) -> Result<Vec<f64>, Refusal> {
        let open = columns.par_iter().map(|&j| self.column(j, control));
        let mut open = open.collect::<Result<Vec<Column>, Refusal>>()?;
        open.sort_unstable_by(|a, b| b.most.total_cmp(&a.most).then(a.j.cmp(&b.j)));
        let mut found: Vec<f64> = Vec::new();
        for batch in open.chunks(BATCH) {
            let least = found.get(rank.wrapping_sub(1)).copied();
            if least.is_some_and(|least| batch[0].most <= least) {
                break;
            }
            let capped = batch.par_iter().map(|column| self.capped(column, control));
            found.extend(capped.collect::<Result<Vec<f64>, Refusal>>()?);
            found.sort_unstable_by(|a, b| b.total_cmp(a));
        }
        found.truncate(rank);
        Ok(found)
    }

    fn column(&self, j: usize, control: &Control) -> Result<Column, Refusal> {
        let (off, mut watch) = (gamma(self.n + 8), RefusingWatch::new(control));
        let mut given = vec![0.0; self.n];
        self.x.row(j).unscaled().add_to(1.0, &mut given);
        let mut most = Sum::default();
        most.add(self.own[j].1);
        let mut others = Vec::new();
        for i in (0..self.x.features()).filter(|&i| i != j) {
            watch.spend(2 * self.n)?;
            let (mut product, mut mass) = (0.0, 0.0);
            let mut gaps = self.x.gaps(i).iter().peekable();
            for (k, (y, v)) in self.y(i).iter().zip(&given).enumerate() {
                let observed = gaps.next_if(|gap| **gap as usize == k).is_none();
                product += y * v;
                mass += if observed { *v } else { 0.0 };
            }
            let price = add_up(product, mul_up(off, mass * (1.0 + 1e-9)));
            let mass = mul_down(mass, add_down(1.0, -off));
            if price > 0.0 && mass > 0.0 {
                let price = mul_up(self.lambdas[i], price);
                most.add(mul_up(price, self.always(i, mass)));
                others.push((i, price, mass));
            }
        }
        Ok(Column { j, most: most.upper(), others })
    }

    /// The cap that always holds, rounded up.
    fn always(&self, i: usize, mass: f64) -> f64 {
        mul_up(LARGEST, div_up(self.sums[i], mass))
    }

    /// `s_j`, rounded up.
    fn capped(&self, column: &Column, control: &Control) -> Result<f64, Refusal> {
        let mut watch = RefusingWatch::new(control);
        let mut given = vec![0.0; self.n];
        self.x.row(column.j).unscaled().add_to(1.0, &mut given);
        let half = |mass: f64| mul_down(mul_down(0.5, mass), add_down(1.0, -gamma(self.n + 8)));
        let mut sum = Sum::default();
        sum.add(self.own[column.j].1);
        for &(i, price, mass) in &column.others {
            let observed = self.observed(i);
            // Weights in units of `V_i / mass`, at most two: rho = cap / units.
            let units = div_up(mass, self.sums[i]);
            let mut looks = 0;
            let cap = near_cap(half(mass), |cap| {
                looks += 1;
                mass_above(&observed, &given, cap / units * (1.0 - 1e-15))
            });
            watch.spend((looks + 1) * self.n)?;
            let cap = match cap < 2.0 {
                true => mul_up(div_up(cap, units), 1.0 + 1e-14),
                false => self.always(i, mass),
            };
            sum.add(mul_up(price, cap));
        }
        Ok(sum.upper())
    }
}

//! How much weight a row can use of another, nearly.
//!
//! Let `u_ij` be the least v for which x_i is below `v x_j` on at least half of the mass of x_j: the
//! median of the ratios `x_ik / x_jk` under the weights `x_jk`. Among the weights that explain x_i
//! best by any rows there are some with `c_j <= u_ij` for all j at once. For take those of the least
//! sum: if `c_j` were larger, the mixture would exceed x_i on at least half of the mass of x_j,
//! whatever the others add, so lowering `c_j` would not raise the error. By Markov's inequality
//! `u_ij <= 2`; on real data most are below 1, and 0 where x_i vanishes on half of x_j.
//!
//! Here caps only guide the iteration to a Y: what is proven with it, the verifier computes with caps of
//! its own, from all columns. So they are taken from a sample of the columns where there are many, drawn in
//! proportion to their mass in the mean row. A median of so many ratios is off by a few hundredths of the
//! mass, to either side; over the thousands of rows behind a price it evens out.

use crate::control::Control;
use crate::kernels::mass_below;
use crate::kernels::parallel::*;
use crate::l1::near_cap;

/// What single precision may take from a mass near one half.
const ROUNDING: f32 = 1e-5;
/// No cap is larger.
const MOST: f32 = 2.0;
/// Columns that are sampled, and how many times more there must be for it to pay.
const SAMPLED: usize = 384;
const PAYS: usize = 2;
/// Entries that a row must have in the sample on average: sparse rows are looked at on all columns.
const LEAST_MET: usize = 64;

/// The rows of X on the columns that caps are taken from.
pub(super) struct CapGuide {
    /// f x n', each column multiplied by what it stands for; all of X where n' = n.
    values: Vec<f32>,
    width: usize,
    /// The mass of each row in it.
    masses: Vec<f32>,
}

impl CapGuide {
    /// For X, f x n with rows of unit sum.
    pub fn new(x: &[f32], n: usize) -> Self {
        let sample = sample(x, n);
        let met = |row: &[f32]| sample.iter().filter(|(k, _)| row[*k] > 0.0).count();
        let met: usize = x.par_chunks(n).map(met).sum();
        let columns = match met >= LEAST_MET * (x.len() / n) {
            true => sample,
            false => (0..n).map(|k| (k, 1.0)).collect(),
        };
        let width = columns.len();
        let mut values = vec![0.0f32; x.len() / n * width];
        values.par_chunks_mut(width.max(1)).zip(x.par_chunks(n)).for_each(|(out, row)| {
            out.iter_mut().zip(&columns).for_each(|(out, (k, stands))| *out = row[*k] * stands);
        });
        let masses = values.chunks_exact(width.max(1)).map(|row| row.iter().sum()).collect();
        CapGuide { values, width, masses }
    }

    /// About `u_iq` for the given rows (by number) and atoms, row-major; one where a row is the atom.
    /// O(rows atoms n'). `None` when stopped.
    pub fn caps(
        &self,
        rows: impl Parallel<Item = usize>,
        atoms: &[usize],
        control: &Control,
    ) -> Option<Vec<f32>> {
        let caps = rows.map(|i| {
            let cap = |&j: &usize| if i == j { 1.0 } else { self.cap(i, j) };
            control.goes_on().then(|| atoms.iter().map(cap).collect::<Vec<f32>>())
        });
        Some(caps.collect::<Option<Vec<Vec<f32>>>>()?.concat())
    }

    fn cap(&self, i: usize, j: usize) -> f32 {
        let row = |i: usize| &self.values[i * self.width..][..self.width];
        let all = self.masses[j];
        if all <= 0.0 {
            return MOST; // the sample has nothing of it
        }
        let above = |v: f64| f64::from(all - mass_below(row(i), row(j), v as f32) + ROUNDING * all);
        near_cap(0.5 * f64::from(all), above) as f32
    }
}

/// The columns of the sample and how many each of them stands for: those with a large share of the mass
/// stand for themselves, the others are drawn at even steps along the mass. All of them where they are few.
fn sample(x: &[f32], n: usize) -> Vec<(usize, f32)> {
    if n <= PAYS * SAMPLED {
        return (0..n).map(|k| (k, 1.0)).collect();
    }
    let mut mass = vec![0.0f64; n];
    for row in x.chunks_exact(n) {
        mass.iter_mut().zip(row).for_each(|(mass, v)| *mass += f64::from(*v));
    }
    let step = mass.iter().sum::<f64>() / SAMPLED as f64;
    let (mut columns, mut passed, mut next) = (Vec::new(), 0.0, 0.5 * step);
    for (k, &mass) in mass.iter().enumerate() {
        if mass >= step {
            columns.push((k, 1.0));
            continue;
        }
        passed += mass;
        if passed > next {
            columns.push((k, (step / mass) as f32));
            next += step;
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caps(x: &[f32], n: usize) -> Vec<f32> {
        let guide = CapGuide::new(x, n);
        guide.caps((0..1).into_par_iter(), &[1], &Control::default()).unwrap()
    }

    #[test]
    fn a_cap_is_the_weighted_median_of_the_ratios() {
        // Ratios 0, 1, 3 with weights .3, .5, .2: the median is 1.
        let cap = caps(&[0.0, 0.5, 0.6, 0.3, 0.5, 0.2], 3)[0];
        assert!((1.0..1.01).contains(&cap), "{cap}");
        // Nothing on half of the mass.
        assert!(caps(&[0.0, 1.0, 0.6, 0.4], 2)[0] < 0.01);
        // All of the mass of x_j is less than half of x_i: at most 2.
        assert!((1.99..=2.0).contains(&caps(&[1.0, 0.0, 0.5, 0.5], 2)[0]));
    }

    /// Many columns are sampled, the heavy one is not missed, and the cap is near that of all columns.
    #[test]
    fn a_sample_of_the_columns_tells_the_cap_nearly() {
        let n = 4000;
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f32 / (1u64 << 31) as f32
        };
        let mut x: Vec<f32> = (0..2 * n).map(|_| next().powi(3)).collect();
        x[17] = 40.0;
        x[n + 17] = 60.0;
        for row in x.chunks_exact_mut(n) {
            let sum: f32 = row.iter().sum();
            row.iter_mut().for_each(|v| *v /= sum);
        }
        let guide = CapGuide::new(&x, n);
        assert!(guide.width < 2 * SAMPLED && sample(&x, n).contains(&(17, 1.0)));
        let sampled = guide.cap(0, 1);
        let mut ratios: Vec<(f32, f32)> = (0..n).map(|k| (x[k] / x[n + k], x[n + k])).collect();
        ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
        let quantile = |share: f32| {
            let mut passed = 0.0;
            ratios
                .iter()
                .find(|r| {
                    passed += r.1;
                    passed >= share
                })
                .unwrap()
                .0
        };
        assert!(quantile(0.42) < sampled && sampled < quantile(0.58), "{sampled}");
    }
}

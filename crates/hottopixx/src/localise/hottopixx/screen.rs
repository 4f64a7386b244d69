//! Which rows of a large sparse X are worth a column of C.
//!
//! Row j, used for row i with weight c, takes
//!
//! ```text
//! g_ij(c) = ||x_i||_1 - ||x_i - c x_j||_1 = 2 sum_k min(x_ik, c x_jk) - c
//! ```
//!
//! off its error (rows of X sum to one). The price of a row is what it takes off all errors at
//! `C = 0`, weights chosen for each row from `c = 1, 1/2, 1/4, 1/8`:
//!
//! ```text
//! g_j = sum_i max(0, max_c g_ij(c))
//! ```
//!
//! The derivative of `g_ij` at zero, `2 sum_{k in supp(x_i)} x_jk - 1`, is the cut coefficient
//! `X_j . y` of the linear programs at the dual point y that is 1 on the support of `x_i` and -1
//! off it. It is *not* a good price: a word of a single document has derivative 1 for every word in
//! that document, but can take no more than `x_ik` off them. Whole steps tell such words from those
//! that explain something. Prices of near-duplicates are alike, and each is kept or left out for
//! itself; that is why several times more columns are kept than hott rows are wanted.
//!
//! The gains of a row with many documents are measured on 512 of them, the first in the random
//! order of [`Lists`], with `x_i` scaled to unit sum there. O(sum over documents of the squared
//! number of words in them) at worst, and 16 bytes per row and thread. Partial sums of fixed blocks
//! of rows are added in a fixed order: prices do not depend on the number of threads.

use super::lists::Lists;
use crate::control::{Control, Stop};
use crate::kernels::parallel::*;
use crate::order::largest_first;

/// The weights that are tried.
const WEIGHTS: [f32; 4] = [1.0, 0.5, 0.25, 0.125];
/// Documents of a row that its gains are measured on, at most.
const SAMPLE: usize = 512;
/// Blocks of rows with a sum each.
pub(super) const BLOCKS: usize = 64;

/// The `most` candidates with the highest prices, ties to the lower row, increasing.
pub(super) fn screen(
    rows: &Lists,
    candidates: &[usize],
    documents: usize,
    most: usize,
    control: &Control,
) -> Result<Vec<usize>, Stop> {
    let prices = prices(rows, candidates, documents, control)?;
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    largest_first(&mut order, |i| prices[i]);
    let mut kept = without_copies(rows, candidates, &prices, order, most, control)?;
    kept.sort_unstable();
    Ok(kept.into_iter().map(|q| candidates[q]).collect())
}

/// Rows whose l1 distance is below this are copies: only the first of them is kept, so that they do
/// not take each other's share of the diagonal, nor the places of others.
const COPY: f32 = 0.02;
/// Copies have prices that differ by less than this, relatively.
const ALIKE: f64 = 0.05;

/// The first `most` of the candidates in `order` that are no copies of an earlier one, filled up with
/// copies where there are not as many.
fn without_copies(
    rows: &Lists,
    candidates: &[usize],
    prices: &[f64],
    order: Vec<usize>,
    most: usize,
    control: &Control,
) -> Result<Vec<usize>, Stop> {
    let (mut kept, mut copies): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for q in order {
        if kept.len() == most {
            break;
        }
        if let Some(stop) = control.stopped() {
            return Err(stop);
        }
        let list = rows.list(candidates[q]);
        let alike = |p: &usize| prices[*p] * (1.0 - ALIKE) <= prices[q];
        let copy = kept.iter().rev().take_while(|p| alike(p));
        let is_copy = copy.into_iter().any(|&p| distance(rows.list(candidates[p]), list) < COPY);
        if is_copy { copies.push(q) } else { kept.push(q) }
    }
    let missing = most.saturating_sub(kept.len());
    kept.extend(copies.into_iter().take(missing));
    Ok(kept)
}

/// The l1 distance of two rows, as far as it is below [`COPY`]: beyond, it may be anything above.
fn distance(a: &[(u32, f32)], b: &[(u32, f32)]) -> f32 {
    let (mut p, mut q, mut sum) = (0, 0, 0.0);
    while sum < COPY && (p < a.len() || q < b.len()) {
        let next = |list: &[(u32, f32)], at: usize| list.get(at).map_or(u32::MAX, |e| e.0);
        let (one, other) = (next(a, p), next(b, q));
        if one == other {
            sum += (a[p].1 - b[q].1).abs();
            (p, q) = (p + 1, q + 1);
        } else if one < other {
            sum += a[p].1;
            p += 1;
        } else {
            sum += b[q].1;
            q += 1;
        }
    }
    sum
}

/// `g_j` for each candidate.
fn prices(
    rows: &Lists,
    candidates: &[usize],
    documents: usize,
    control: &Control,
) -> Result<Vec<f64>, Stop> {
    let Some(documents) = rows.turned(candidates, documents, control) else {
        return Err(control.cut_short().unwrap_or(Stop::Interrupted));
    };
    let ends = rows.blocks(BLOCKS, 1);
    let sums: Vec<Result<Vec<f64>, Stop>> = (0..ends.len())
        .into_par_iter()
        .with_max_len(1)
        .map(|b| {
            let mut sums = vec![0.0; candidates.len()];
            let mut scratch = Scratch::new(candidates.len());
            for i in if b == 0 { 0 } else { ends[b - 1] }..ends[b] {
                if let Some(stop) = control.stopped() {
                    return Err(stop);
                }
                scratch.add_gains(rows.list(i), &documents, &mut sums);
            }
            Ok(sums)
        })
        .collect();
    let mut prices = vec![0.0; candidates.len()];
    for sum in sums {
        prices.iter_mut().zip(sum?).for_each(|(price, part)| *price += part);
    }
    Ok(prices)
}

/// `sum_k min(x_ik, c x_jk)` for the present row i, all candidates j and all weights c.
struct Scratch {
    shared: Vec<[f32; 4]>,
    /// The candidates for which that is not zero.
    touched: Vec<u32>,
}

impl Scratch {
    fn new(candidates: usize) -> Self {
        Scratch { shared: vec![[0.0; 4]; candidates], touched: Vec::new() }
    }

    /// Adds the gains `g_ij` of a row to the sums of the candidates.
    fn add_gains(&mut self, row: &[(u32, f32)], documents: &Lists, sums: &mut [f64]) {
        let sample = &row[..row.len().min(SAMPLE)];
        let mass: f32 = sample.iter().map(|entry| entry.1).sum();
        documents.visit(sample.iter(), |x, members| {
            for &(j, value) in members {
                let shared = &mut self.shared[j as usize];
                if shared[0] == 0.0 {
                    self.touched.push(j);
                }
                for (sum, c) in shared.iter_mut().zip(WEIGHTS) {
                    let used = c * value;
                    *sum += if used < x { used } else { x };
                }
            }
        });
        // An entry that underflowed may be here twice: the second time there is nothing left.
        for j in self.touched.drain(..) {
            let shared = std::mem::take(&mut self.shared[j as usize]);
            let gains = shared.iter().zip(WEIGHTS).map(|(s, c)| 2.0 * s / mass - c);
            sums[j as usize] += f64::from(gains.fold(0.0, f32::max));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalise::UnitRows;
    use crate::synth::{Family, Recipe};

    fn instance(rank: usize, seed: u64) -> (UnitRows, Vec<usize>) {
        let recipe = Recipe::new(Family::Documents, rank).size(600, 500).tokens(30).seed(seed);
        let instance = recipe.generate().unwrap();
        let x = UnitRows::new(&instance.matrix).unwrap();
        let hott = instance.truth.hott.iter().map(|&h| x.unit_row(h).unwrap()).collect();
        (x, hott)
    }

    /// `sum_i max_c (||x_i||_1 - ||x_i - c x_j||_1)_+`, straight from the definition.
    fn by_definition(x: &UnitRows, j: usize) -> f64 {
        let gain = |i: usize, c: f32| {
            let mut rest = x.dense_row(i);
            x.row(j).add_to(-f64::from(c), &mut rest);
            1.0 - rest.iter().map(|e| e.abs()).sum::<f64>()
        };
        let best = |i: usize| WEIGHTS.iter().map(|&c| gain(i, c)).fold(0.0, f64::max);
        (0..x.features()).map(best).sum()
    }

    #[test]
    fn prices_are_what_rows_take_off_the_errors() {
        let (x, _) = instance(4, 1);
        let rows = Lists::rows(&x, 3, &Control::default()).unwrap();
        let candidates: Vec<usize> = (0..x.features()).step_by(2).collect();
        let prices = prices(&rows, &candidates, x.examples(), &Control::default()).unwrap();
        for (q, &j) in candidates.iter().enumerate().step_by(17) {
            let direct = by_definition(&x, j);
            assert!((prices[q] - direct).abs() < 1e-4 * direct, "{} {direct}", prices[q]);
        }
    }

    /// Of rows and their copies the rows are kept, whatever the copies' prices.
    #[test]
    fn copies_are_screened_out() {
        let (x, _) = instance(4, 1);
        let rows = Lists::rows(&x, 3, &Control::default()).unwrap();
        let twice: Vec<usize> = (0..60).flat_map(|i| [i, i]).collect();
        let found = screen(&rows, &twice, x.examples(), 30, &Control::default()).unwrap();
        assert_eq!(found.len(), 30);
        assert!(found.windows(2).all(|pair| pair[0] != pair[1]), "{found:?}");
        // Where there is nothing else, copies fill the places.
        let same = [7; 8];
        let found = screen(&rows, &same, x.examples(), 5, &Control::default()).unwrap();
        assert_eq!(found, [7; 5]);
    }

    #[test]
    fn keeps_the_anchors_whatever_the_number_of_threads() {
        let (x, hott) = instance(6, 2);
        let rows = Lists::rows(&x, 0, &Control::default()).unwrap();
        let all: Vec<usize> = (0..x.features()).collect();
        let kept = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| screen(&rows, &all, x.examples(), 30, &Control::default()).unwrap())
        };
        let one = kept(1);
        assert!(one.len() == 30 && one.is_sorted());
        assert!(hott.iter().all(|h| one.contains(h)), "{hott:?} {one:?}");
        assert_eq!(one, kept(3));
        let now = Control::default().with_deadline(std::time::Instant::now());
        assert_eq!(screen(&rows, &all, x.examples(), 30, &now), Err(Stop::TimeLimit));
    }

    /// A word of a single document has the steepest derivative for all words in it, and explains
    /// next to nothing.
    #[test]
    fn words_of_one_document_do_not_price_in() {
        let triplets: Vec<(usize, usize, f64)> = (0..20)
            .flat_map(|i| (0..40).map(move |k| (i, k, 1.0 + ((7 * i + (i + 3) * k) % 23) as f64)))
            .chain((20..24).map(|i| (i, i, 1.0)))
            .collect();
        let matrix = crate::matrix::Sparse::from_triplets(24, 40, &triplets).unwrap();
        let x = UnitRows::new(&matrix.into()).unwrap();
        let rows = Lists::rows(&x, 0, &Control::default()).unwrap();
        let all: Vec<usize> = (0..24).collect();
        let kept = screen(&rows, &all, 40, 20, &Control::default()).unwrap();
        assert_eq!(kept, (0..20).collect::<Vec<_>>());
    }
}

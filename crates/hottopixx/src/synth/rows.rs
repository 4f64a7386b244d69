//! From hott rows W and a list of row kinds to a shuffled matrix: what the dense families share.

use super::draw::{l1, permutation, perturb, simplex, stream, to_unit_sum};
use super::{Instance, Recipe, Truth, setting};
use crate::Error;
use crate::kernels::parallel::*;
use crate::matrix::Dense;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// What a row is before noise.
#[derive(Debug, Clone, Copy)]
pub(super) enum RowKind {
    /// Hott row k, or a duplicate of it; the first copy is the one that the truth names.
    Copy(usize),
    /// `(1 - t) w_k + t y`, with y a uniform mixture of all hott rows and t uniform in (0, most].
    Near { topic: usize, most: f64 },
    /// A convex combination of the hott rows, uniform among all.
    Mix,
    /// `m + push (m - mean of W)` for a point m between two hott rows, `share` of the first.
    Between { pair: (usize, usize), share: f64, push: f64 },
    /// A point uniform on the face of a random tenth of the examples: no topic explains it.
    Outlier,
}

/// Streams of the seed: one for the order of rows, one for W, then one for each row.
const ORDER: u64 = 0;
pub(super) const TOPICS: u64 = 1;
const FIRST_ROW: u64 = 16;

/// r points uniform on the unit simplex in R^n.
pub(super) fn random_topics(rng: &mut ChaCha8Rng, rank: usize, examples: usize) -> Dense {
    let mut w = Dense::zeros(rank, examples);
    (0..rank).for_each(|k| simplex(rng, w.row_mut(k)));
    w
}

/// Above this r^2 n, alpha takes a while and is found only where the noise depends on it.
const EASY_ALPHA: usize = 100_000_000;

/// alpha of the paper's section 2: the least l1 distance of a row of W from the convex hull of
/// the others; `None` for a single row, and for a large W where it is not `needed`.
pub(super) fn alpha(w: &Dense, needed: bool) -> Option<f64> {
    let size = w.rows().saturating_mul(w.rows()).saturating_mul(w.cols());
    if w.rows() == 1 || (size > EASY_ALPHA && !needed) {
        return None;
    }
    Some(crate::l1::alpha(w))
}

/// The bound of section 5 on the noise of each row, `eta * alpha^2 / (20 + 13 alpha)`. A single
/// topic counts as alpha = 2, the largest distance there is.
pub(super) fn noise_bound(eta: f64, alpha: Option<f64>) -> f64 {
    let alpha = alpha.unwrap_or(2.0);
    eta * alpha * alpha / (20.0 + 13.0 * alpha)
}

/// r hott rows with d duplicates each, mixtures for the rest.
pub(super) fn separable_kinds(recipe: &Recipe) -> Vec<RowKind> {
    let copies = (0..=recipe.duplicates).flat_map(|_| (0..recipe.rank).map(RowKind::Copy));
    copies.chain(std::iter::repeat(RowKind::Mix)).take(recipe.features).collect()
}

/// Fills a matrix with one row for each kind, each moved by at most `bound`, in random order.
/// Parallel over rows, O(f n r).
pub(super) fn assemble(
    recipe: &Recipe,
    w: &Dense,
    kinds: &[RowKind],
    alpha: Option<f64>,
    bound: f64,
) -> Result<Instance, Error> {
    let (features, examples) = (kinds.len(), w.cols());
    // kinds[order[i]] is what stands in row i.
    let order = permutation(&mut stream(recipe.seed, ORDER), features);
    let mut values: Vec<f64> = Vec::new();
    let size = features * examples; // checked by the recipe
    values.try_reserve_exact(size).map_err(|_| {
        let remedy = format!("{size} entries do not fit into memory: generate less");
        setting("features", features, remedy)
    })?;
    values.resize(size, 0.0);
    let mean = mean_row(w);
    let epsilons: Vec<f64> = values
        .par_chunks_mut(examples)
        .zip(&order)
        .map(|(row, &k)| {
            let mut rng = stream(recipe.seed, FIRST_ROW + k as u64);
            fill(&mut rng, w, &mean, kinds[k], bound, row)
        })
        .collect();
    let epsilon = epsilons.into_iter().fold(0.0, f64::max);
    let matrix = Dense::new(features, examples, values)?.into();
    let truth = truth(recipe, kinds, &order, epsilon, alpha);
    Ok(Instance { matrix, truth })
}

/// Writes one row and returns its l1 distance from what it is without noise.
fn fill(
    rng: &mut ChaCha8Rng,
    w: &Dense,
    mean: &[f64],
    kind: RowKind,
    bound: f64,
    row: &mut [f64],
) -> f64 {
    match kind {
        RowKind::Copy(topic) => row.copy_from_slice(w.row(topic)),
        RowKind::Mix => mixture(rng, w, row),
        RowKind::Near { topic, most } => {
            mixture(rng, w, row);
            let t = most * (1.0 - rng.random::<f64>());
            row.iter_mut().zip(w.row(topic)).for_each(|(v, x)| *v = (1.0 - t) * x + t * *v);
        }
        RowKind::Between { pair, share, push } => {
            let (a, b) = (w.row(pair.0), w.row(pair.1));
            let middle: Vec<f64> =
                a.iter().zip(b).map(|(x, y)| share * x + (1.0 - share) * y).collect();
            for ((v, m), centre) in row.iter_mut().zip(&middle).zip(mean) {
                *v = (m + push * (m - centre)).max(0.0);
            }
            to_unit_sum(row);
            return l1(row, &middle);
        }
        RowKind::Outlier => {
            let support = row.len().div_ceil(10);
            let mut values = vec![0.0; support];
            simplex(rng, &mut values);
            for (k, v) in permutation(rng, row.len()).into_iter().zip(values) {
                row[k] = v;
            }
            return 0.0;
        }
    }
    perturb(rng, row, bound)
}

/// A convex combination of the rows of W, its weights uniform on the simplex.
pub(super) fn mixture(rng: &mut ChaCha8Rng, w: &Dense, row: &mut [f64]) {
    let mut weights = vec![0.0; w.rows()];
    simplex(rng, &mut weights);
    row.fill(0.0);
    for (k, weight) in weights.into_iter().enumerate() {
        crate::kernels::axpy(weight, w.row(k), row);
    }
    to_unit_sum(row);
}

fn mean_row(w: &Dense) -> Vec<f64> {
    let mut mean = vec![0.0; w.cols()];
    (0..w.rows()).for_each(|k| crate::kernels::axpy(1.0 / w.rows() as f64, w.row(k), &mut mean));
    mean
}

fn truth(
    recipe: &Recipe,
    kinds: &[RowKind],
    order: &[usize],
    epsilon: f64,
    alpha: Option<f64>,
) -> Truth {
    let mut hott = vec![usize::MAX; recipe.rank];
    let mut groups = vec![Vec::new(); recipe.rank];
    let mut outliers = Vec::new();
    for (row, &k) in order.iter().enumerate() {
        match kinds[k] {
            RowKind::Copy(topic) => {
                // The first r kinds are the originals, in order of topic.
                if k < recipe.rank {
                    hott[topic] = row;
                }
                groups[topic].push(row);
            }
            RowKind::Near { topic, .. } => groups[topic].push(row),
            RowKind::Outlier => outliers.push(row),
            RowKind::Mix | RowKind::Between { .. } => {}
        }
    }
    Truth {
        family: recipe.family.name().to_owned(),
        seed: recipe.seed,
        features: kinds.len(),
        examples: recipe.examples,
        hott,
        groups,
        outliers,
        epsilon: Some(epsilon),
        alpha,
        shape: None,
        spectra: None,
    }
}

//! From anchors to p(word | topic).
//!
//! Row i of the co-occurrence matrix, scaled to sum one, is the distribution of the words beside word i:
//! a mixture of the anchors' rows with the weights `c_ik = p(topic k | word i)`. Once these are fitted, row by
//! row, Bayes' rule gives `p(i | k)` in proportion to `c_ik p(i)`, with p(i) the row's sum (Arora et al., *A practical
//! algorithm for topic modeling with provable guarantees*, 2013). What "fitted" means is the caller's choice.

use super::shares::maximise;
use crate::clean::{RowFit, exact};
use crate::control::Control;
use crate::kernels::parallel::*;
use crate::matrix::{Dense, Matrix, Row};
use crate::normalise::UnitRows;
use crate::squares::{Domain, Nnls};
use crate::{Error, kernels};

/// What is made small when a word's row is written as a mixture of the anchors' rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recovery {
    /// The l1 distance, exactly: the error that is reported, and the paper's. Slow beyond some thousand
    /// words.
    L1,
    /// The squared distance, exactly, on the simplex.
    #[default]
    L2,
    /// The Kullback-Leibler divergence of the mixture from the row, by EM.
    Kl,
}

impl Recovery {
    /// Every recovery, in the order in which they are listed to users.
    pub const ALL: [Recovery; 3] = [Recovery::L1, Recovery::L2, Recovery::Kl];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Recovery::L1 => "l1",
            Recovery::L2 => "l2",
            Recovery::Kl => "kl",
        }
    }
}

impl std::str::FromStr for Recovery {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        crate::error::one_of("recovery", name, Recovery::ALL, Recovery::name)
    }
}

/// Steps of the fits by EM.
const KL_STEPS: usize = 100;
/// They end when they move less than this.
const KL_STILL: f64 = 1e-4;

/// Every word as a mixture of the anchors.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Recovered {
    /// p(topic | word), words x topics; rows of zeros for words without a row.
    pub given_word: Dense,
    /// The l1 error of every word's row; 0 where there is none.
    pub errors: Vec<f64>,
}

impl Recovered {
    /// p(word | topic), topics x words, by Bayes' rule with the words' probabilities.
    pub fn topics(&self, probability: &[f64]) -> Dense {
        let (words, rank) = (self.given_word.rows(), self.given_word.cols());
        let mut topics = Dense::zeros(rank, words);
        for k in 0..rank {
            let joint: Vec<f64> =
                (0..words).map(|i| self.given_word.row(i)[k] * probability[i]).collect();
            let total: f64 = joint.iter().sum();
            if total > 0.0 {
                topics.row_mut(k).iter_mut().zip(&joint).for_each(|(t, j)| *t = j / total);
            }
        }
        topics
    }
}

/// The rows of anchors: each the mean of the unit rows of its words. Anchors x words.
pub(super) fn anchor_rows(x: &UnitRows, anchors: &[Vec<usize>]) -> Dense {
    let mut rows = Dense::zeros(anchors.len(), x.examples());
    for (k, words) in anchors.iter().enumerate() {
        let known: Vec<usize> = words.iter().filter_map(|&word| x.unit_row(word)).collect();
        for &i in &known {
            x.row(i).add_to(1.0 / known.len() as f64, rows.row_mut(k));
        }
    }
    rows
}

/// Writes every word as a mixture of the anchors, given by their words. Parallel over words. Words that
/// `control` leaves no time for are fitted by least squares.
///
/// O(words * (nonzeros of a row * topics + topics^3)) for l2, some dozen times as much for the others.
pub(super) fn recover(
    x: &UnitRows,
    anchors: &[Vec<usize>],
    recovery: Recovery,
    control: &Control,
) -> Recovered {
    let rows = anchor_rows(x, anchors);
    let fits = match recovery {
        Recovery::L1 => l1(x, anchors, &rows, control),
        Recovery::L2 | Recovery::Kl => on_simplex(x, &rows, recovery, control),
    };
    let mut given_word = Dense::zeros(x.input_rows(), anchors.len());
    let mut errors = vec![0.0; x.input_rows()];
    for (i, (weights, error)) in fits.into_iter().enumerate() {
        given_word.row_mut(x.input_row(i)).copy_from_slice(&weights);
        errors[x.input_row(i)] = error;
    }
    Recovered { given_word, errors }
}

/// Weights on the anchors and the l1 error, for every row of X.
type Fits = Vec<(Vec<f64>, f64)>;

/// Least squares on the simplex; from there, where it is asked for, the least divergence.
fn on_simplex(x: &UnitRows, anchors: &Dense, recovery: Recovery, control: &Control) -> Fits {
    let (rank, by_column) = (anchors.rows(), anchors.transpose());
    let mut gram = vec![0.0; rank * rank];
    let rows = anchors.values();
    kernels::gemm(rank, x.examples(), rank, 1.0, rows, rows, true, 0.0, &mut gram);
    let fit = |nnls: &mut Nnls, i: usize| {
        let row = x.row(i);
        let products: Vec<f64> = (0..rank).map(|k| row.dot(anchors.row(k))).collect();
        // From the nearest anchor: few have weight in the end, and from all of them each of the others would have to go.
        let nearer = |k: &usize| products[*k] - 0.5 * gram[k * rank + k];
        let nearest = (0..rank).max_by(|a, b| nearer(a).total_cmp(&nearer(b)));
        let mut weights = vec![0.0; rank];
        nearest.into_iter().for_each(|k| weights[k] = 1.0);
        nnls.solve(&gram, &products, &mut weights, Domain::Simplex);
        if recovery == Recovery::Kl && control.goes_on() {
            kl(row, &by_column, &mut weights);
        }
        let error = distance(row, anchors, &weights);
        (weights, error)
    };
    (0..x.features()).into_par_iter().map_init(Nnls::default, fit).collect()
}

/// `sum over j of x_j ln(mixture_j)` made large by EM, from weights that may be zero nowhere.
fn kl(row: Row<'_>, by_column: &Dense, weights: &mut [f64]) {
    let rank = weights.len();
    weights.iter_mut().for_each(|w| *w = 0.9 * *w + 0.1 / rank as f64);
    let mut next = vec![0.0; rank];
    for _ in 0..KL_STEPS {
        next.fill(0.0);
        for (j, value) in row.nonzeros() {
            let anchors = by_column.row(j);
            let p = kernels::dot(weights, anchors);
            if p > 0.0 {
                kernels::axpy(value / p, anchors, &mut next);
            }
        }
        if maximise(weights, &mut next, 0.0) < KL_STILL {
            break;
        }
    }
}

/// The least l1 error with weights that are free, as everywhere else in this crate, then scaled to sum
/// one. An anchor of several words is a row of its own, put below the others.
fn l1(x: &UnitRows, anchors: &[Vec<usize>], rows: &Dense, control: &Control) -> Fits {
    let single = anchors.iter().all(|words| words.len() == 1);
    let hott: Option<Vec<usize>> = anchors.iter().map(|words| x.unit_row(words[0])).collect();
    let fits = match hott {
        Some(hott) if single => exact(x, &hott, control),
        _ => {
            let (f, n) = (x.features(), x.examples());
            let mut values = Vec::with_capacity((f + rows.rows()) * n);
            (0..f).for_each(|i| values.extend(x.dense_row(i)));
            values.extend_from_slice(rows.values());
            let below = Dense::new(f + rows.rows(), n, values).map(Matrix::from);
            let below = below.and_then(|below| UnitRows::new(&below)).expect("rows of sum one");
            let hott: Vec<usize> = (f..f + rows.rows()).collect();
            let mut fits = exact(&below, &hott, control);
            fits.truncate(f);
            fits
        }
    };
    let dense = |fit: RowFit| {
        let mut weights = vec![0.0; anchors.len()];
        let total: f64 = fit.weights.iter().map(|w| w.1).sum();
        if total > 0.0 {
            fit.weights.iter().for_each(|&(k, w)| weights[k as usize] = w / total);
        } else {
            weights.fill(1.0 / anchors.len() as f64);
        }
        (weights, fit.error)
    };
    fits.into_iter().map(dense).collect()
}

/// The l1 distance of a row from a mixture of the anchors.
fn distance(row: Row<'_>, anchors: &Dense, weights: &[f64]) -> f64 {
    let mut left = vec![0.0; anchors.cols()];
    row.write_to(1.0, &mut left);
    for (k, &w) in weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
        kernels::axpy(-w, anchors.row(k), &mut left);
    }
    left.iter().map(|v| v.abs()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The co-occurrence of topics that are exactly separable, and p(word | topic): word k is the anchor of
    /// topic k.
    fn planted() -> (UnitRows, Dense, Vec<f64>) {
        let topics = Dense::from_rows(&[
            [0.2, 0.0, 0.0, 0.3, 0.1, 0.4],
            [0.0, 0.1, 0.0, 0.4, 0.5, 0.0],
            [0.0, 0.0, 0.3, 0.1, 0.3, 0.3],
        ])
        .unwrap();
        // p(k, l): two tokens of one document come from topics k and l.
        let pairs = [[0.3, 0.05, 0.05], [0.05, 0.2, 0.05], [0.05, 0.05, 0.2]];
        let mut q = Dense::zeros(6, 6);
        for (k, row) in pairs.iter().enumerate() {
            for (l, p) in row.iter().enumerate() {
                for i in 0..6 {
                    for j in 0..6 {
                        q.row_mut(i)[j] += p * topics.row(k)[i] * topics.row(l)[j];
                    }
                }
            }
        }
        let probability: Vec<f64> = (0..6).map(|i| q.row(i).iter().sum()).collect();
        (UnitRows::new(&q.into()).unwrap(), topics, probability)
    }

    #[test]
    fn planted_topics_are_recovered_by_all() {
        let (x, topics, probability) = planted();
        let anchors: Vec<Vec<usize>> = (0..3).map(|k| vec![k]).collect();
        for (recovery, tolerance) in
            [(Recovery::L1, 1e-9), (Recovery::L2, 1e-9), (Recovery::Kl, 0.02)]
        {
            let recovered = recover(&x, &anchors, recovery, &Control::default());
            let found = recovered.topics(&probability);
            for k in 0..3 {
                for (a, b) in found.row(k).iter().zip(topics.row(k)) {
                    assert!((a - b).abs() < tolerance, "{recovery:?} topic {k}: {a} {b}");
                }
            }
            assert!(recovered.errors.iter().all(|e| *e < 2.0 * tolerance), "{recovery:?}");
        }
    }

    #[test]
    fn an_anchor_of_several_words_is_their_mean() {
        let (x, _, _) = planted();
        let anchors = vec![vec![0], vec![1, 4], vec![2]];
        for recovery in Recovery::ALL {
            let recovered = recover(&x, &anchors, recovery, &Control::default());
            // What is the mean of its rows belongs to the anchor alone.
            let rows = anchor_rows(&x, &anchors);
            assert!((rows.row(1).iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(recovered.given_word.row(1)[1] > 0.5, "{recovery:?}");
            assert!(recovered.errors[0] < 0.05 && recovered.errors[1] > 0.0, "{recovery:?}");
        }
    }

    #[test]
    fn names_are_those_of_the_command_line() {
        for recovery in Recovery::ALL {
            assert_eq!(recovery.name().parse(), Ok(recovery));
        }
        assert!("l3".parse::<Recovery>().is_err());
    }
}

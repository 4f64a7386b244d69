//! From a factorization of words to topics of documents.

use crate::Error;
use crate::kernels::parallel::*;
use crate::matrix::{Dense, Matrix};

/// `p(topic k | word w)`, words x topics, from `X ~ F W` in any units: `F_wk * sum of row k of W`,
/// rows scaled to unit sum. Words that no topic explains keep a row of zeros.
///
/// # Errors
/// [`Error::Length`] when W has not one row for each column of F.
pub fn topic_given_word(f: &Matrix, w: &Matrix) -> Result<Matrix, Error> {
    let (found, expected) = (w.rows(), f.cols());
    if found != expected {
        return Err(Error::Length { name: "W", found, expected, what: "columns of F" });
    }
    // F in the units of unit rows is D_X^-1 F D_W, with D the row sums; D_X goes with the scaling.
    let sums: Vec<f64> = (0..found).map(|k| w.row(k).sum()).collect();
    let mut out = f.clone();
    match &mut out {
        Matrix::Dense(m) => {
            for i in 0..m.rows() {
                m.row_mut(i).iter_mut().zip(&sums).for_each(|(v, s)| *v *= s);
            }
        }
        Matrix::Sparse(m) => {
            let columns = m.columns().to_vec();
            let scaled = m.values_mut().iter_mut().zip(columns);
            scaled.for_each(|(v, k)| *v *= sums[k as usize]);
        }
    }
    let factors: Vec<f64> = (0..out.rows())
        .map(|i| out.row(i).sum())
        .map(|sum| if sum > 0.0 { 1.0 / sum } else { 0.0 })
        .collect();
    out.scale_rows(&factors);
    Ok(out)
}

/// Topic shares of documents, documents x topics: `theta_dk = (1 / L) sum_w h_wd p(k | w)` for counts
/// h (words x documents) of length L, and `p(k | w)` as [`topic_given_word`] gives it.
///
/// Rows sum to one where every word of the document has topics; documents without words are
/// rows of zeros. Parallel over documents, O(nonzeros of the counts * topics).
///
/// # Errors
/// [`Error::Length`] when the two matrices do not have the same words.
pub fn document_topics(counts: &Matrix, topic_given_word: &Matrix) -> Result<Matrix, Error> {
    let (found, expected) = (topic_given_word.rows(), counts.rows());
    if found != expected {
        return Err(Error::Length { name: "topic weights", found, expected, what: "words" });
    }
    let rank = topic_given_word.cols();
    let documents = counts.transpose();
    let mut theta = Dense::zeros(documents.rows(), rank);
    theta.values_mut().par_chunks_mut(rank.max(1)).enumerate().for_each(|(d, shares)| {
        let length = documents.row(d).sum();
        for (word, h) in documents.row(d).nonzeros() {
            topic_given_word.row(word).add_to(h / length, shares);
        }
    });
    Ok(theta.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_means_over_tokens() {
        let counts =
            Dense::from_rows(&[[2.0, 0.0, 0.0], [1.0, 3.0, 0.0], [1.0, 1.0, 0.0]]).unwrap();
        let given = Dense::from_rows(&[[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]).unwrap();
        let theta = document_topics(&counts.clone().into(), &given.into()).unwrap();
        let expect = [[0.625, 0.375], [0.125, 0.875], [0.0, 0.0]];
        assert_eq!(theta, Dense::from_rows(&expect).unwrap().into());
        let wrong = Dense::zeros(2, 2).into();
        assert!(matches!(document_topics(&counts.into(), &wrong), Err(Error::Length { .. })));
    }

    #[test]
    fn units_of_the_factors_do_not_matter() {
        // X = F W with unit rows, then rows of X and of W in other units.
        let unit = [[1.0, 0.0], [0.0, 1.0], [0.25, 0.75], [0.0, 0.0]];
        let (x_units, w_units) = ([2.0, 10.0, 6.0, 1.0], [2.0, 10.0]);
        let f: Vec<Vec<f64>> = (0..4)
            .map(|i| (0..2).map(|k| x_units[i] * unit[i][k] / w_units[k]).collect())
            .collect();
        let w = Dense::from_rows(&[[2.0, 0.0], [4.0, 6.0]]).unwrap().into();
        let f: Matrix = Dense::from_rows(&f).unwrap().into();
        let given = topic_given_word(&f, &w).unwrap();
        for (i, row) in unit.iter().enumerate() {
            for (v, u) in given.row(i).values().zip(row) {
                assert!((v - u).abs() < 1e-15);
            }
        }
        assert!(topic_given_word(&f, &Dense::zeros(3, 2).into()).is_err());
    }
}

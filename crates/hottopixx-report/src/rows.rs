//! Every row with its error and the topic it leans on most.

use crate::RowValue;
use crate::summary::largest_first;
use hottopixx::matrix::Matrix;

/// A row of the input as the factorization explains it.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplainedRow {
    /// The row, and its l1 error against unit sum.
    pub error: RowValue,
    /// Its place in the list of topics, from 0, and the share of its mass there; none where it is
    /// explained by nothing.
    pub leans_on: Option<(usize, f64)>,
}

/// The `most` rows explained worst, worst first and ties by row, without those `set_aside` (by
/// increasing row). Mass and share are those of [`strongest`](crate::summary::strongest).
pub(crate) fn explained_rows(
    f: &Matrix,
    w: &Matrix,
    per_row: &[f64],
    set_aside: &[usize],
    names: Option<&[String]>,
    most: usize,
) -> Vec<ExplainedRow> {
    let sums: Vec<f64> = (0..w.rows()).map(|k| w.row(k).sum()).collect();
    let counts = |row: usize| set_aside.binary_search(&row).is_err();
    let explained = |error: RowValue| {
        let row = error.row;
        let mass = || f.row(row).nonzeros().map(|(k, value)| (k, value * sums[k]));
        let total: f64 = mass().map(|(_, mass)| mass).sum();
        let largest = mass().reduce(|best, next| if next.1 > best.1 { next } else { best });
        let leans_on = largest.filter(|_| total > 0.0).map(|(k, mass)| (k, mass / total));
        ExplainedRow { error, leans_on }
    };
    largest_first(per_row, counts, most, names).into_iter().map(explained).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hottopixx::matrix::Dense;

    #[test]
    fn rows_lean_on_the_topic_with_most_of_their_mass() {
        let rows = [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [1.0, 0.5], [0.0, 0.0]];
        let f = Matrix::from(Dense::from_rows(&rows).unwrap());
        // The second topic is four times as large: half a weight there is twice a weight here.
        let w = Matrix::from(Dense::from_rows(&[[1.0, 0.0], [0.0, 4.0]]).unwrap());
        let errors = [0.0, 0.0, 0.0, 0.25, 1.0];
        let rows = explained_rows(&f, &w, &errors, &[2], None, 9);
        let seen: Vec<_> = rows.iter().map(|row| (row.error.row, row.leans_on)).collect();
        let share = 2.0 / 3.0;
        assert_eq!(
            seen,
            [(4, None), (3, Some((1, share))), (0, Some((0, 1.0))), (1, Some((1, 1.0)))]
        );
        assert_eq!(explained_rows(&f, &w, &errors, &[2], None, 1).len(), 1);
    }
}

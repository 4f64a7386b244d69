//! Every row with its error and the topic it leans on most.

use hottopixx::matrix::Matrix;

/// A row of the input as the factorization explains it.
#[derive(Debug, Clone, PartialEq)]
pub struct RowFit {
    /// Row of the input, from 0.
    pub row: usize,
    /// Its name, where names are known.
    pub name: Option<String>,
    /// Its l1 error, against unit sum.
    pub error: f64,
    /// Its place in the list of topics, from 0, and the share of its mass there; none where it is
    /// explained by nothing.
    pub leans_on: Option<(usize, f64)>,
}

/// The `most` rows explained worst, worst first and ties by row, without those `set_aside` (by
/// increasing row). Mass and share are those of [`strongest`](crate::strongest).
pub fn row_fits(
    f: &Matrix,
    w: &Matrix,
    per_row: &[f64],
    set_aside: &[usize],
    names: Option<&[String]>,
    most: usize,
) -> Vec<RowFit> {
    let sums: Vec<f64> = (0..w.rows()).map(|k| w.row(k).sum()).collect();
    let mut rows: Vec<usize> =
        (0..per_row.len()).filter(|row| set_aside.binary_search(row).is_err()).collect();
    rows.sort_by(|&a, &b| per_row[b].total_cmp(&per_row[a]).then(a.cmp(&b)));
    rows.truncate(most);
    let fit = |row: usize| {
        let mass = || f.row(row).nonzeros().map(|(k, value)| (k, value * sums[k]));
        let total: f64 = mass().map(|(_, mass)| mass).sum();
        let largest = mass().reduce(|best, next| if next.1 > best.1 { next } else { best });
        RowFit {
            row,
            name: names.and_then(|names| names.get(row).cloned()),
            error: per_row[row],
            leans_on: largest.filter(|_| total > 0.0).map(|(k, mass)| (k, mass / total)),
        }
    };
    rows.into_iter().map(fit).collect()
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
        let fits = row_fits(&f, &w, &errors, &[2], None, 9);
        let seen: Vec<_> = fits.iter().map(|fit| (fit.row, fit.leans_on)).collect();
        let share = 2.0 / 3.0;
        assert_eq!(
            seen,
            [(4, None), (3, Some((1, share))), (0, Some((0, 1.0))), (1, Some((1, 1.0)))]
        );
        assert_eq!(row_fits(&f, &w, &errors, &[2], None, 1).len(), 1);
    }
}

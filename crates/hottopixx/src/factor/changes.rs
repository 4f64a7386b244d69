//! What became of the hott rows of an earlier answer.

use super::Factorization;
use crate::matrix::Matrix;

/// A topic that is told by another row than before.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Moved {
    /// The row of the input that was hott.
    pub from: usize,
    /// The row that is hott now.
    pub to: usize,
    /// How much of the explanation of the former the latter is now, at least a half.
    pub share: f64,
}

/// The hott rows of an answer beside those of an earlier one, in rows of the input.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct Changes {
    /// Rows that were hott and are. In the order of the answer.
    pub stayed: Vec<usize>,
    /// Topics that are told by another row.
    pub moved: Vec<Moved>,
    /// Other rows that are hott now. In the order of the answer.
    pub came: Vec<usize>,
    /// Other rows that were hott. In the order of the earlier answer.
    pub went: Vec<usize>,
}

/// A row that was hott belongs to the topic that makes up at least this much of its explanation.
const MOSTLY: f64 = 0.5;

impl Changes {
    /// What became of the rows `before`, with F, W and the hott rows of the answer now. A topic moved where a row that is
    /// hott no longer is explained by a new one for the most part: `F_ik w_k / sum over k of F_ik w_k` with `w_k` the sum
    /// of hott row k, the weights of rows that sum to one. Of several such rows the one that is explained most counts.
    pub fn between(f: &Matrix, w: &Matrix, now: &[usize], before: &[usize]) -> Self {
        let sums: Vec<f64> = (0..w.rows()).map(|k| w.row(k).sum()).collect();
        let mut moved: Vec<Moved> = Vec::new();
        for &from in before.iter().filter(|row| !now.contains(row) && **row < f.rows()) {
            let weights = f.row(from).nonzeros().filter(|(k, _)| *k < now.len().min(sums.len()));
            let parts: Vec<(usize, f64)> =
                weights.map(|(k, weight)| (k, weight * sums[k])).collect();
            let total: f64 = parts.iter().map(|part| part.1).sum();
            let new = parts.iter().filter(|(k, _)| !before.contains(&now[*k]));
            let most = new.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
            if let Some(&(k, part)) =
                most.filter(|(_, part)| total > 0.0 && *part >= MOSTLY * total)
            {
                moved.push(Moved { from, to: now[k], share: part / total });
            }
        }
        moved.sort_unstable_by(|a, b| b.share.total_cmp(&a.share).then(a.from.cmp(&b.from)));
        let mut taken: Vec<usize> = Vec::new();
        moved.retain(|one| {
            let first = !taken.contains(&one.to);
            taken.push(one.to);
            first
        });
        let old = |row: &usize| before.contains(row);
        let goes = |row: &usize| !now.contains(row) && !moved.iter().any(|one| one.from == *row);
        Changes {
            stayed: now.iter().copied().filter(old).collect(),
            came: now.iter().copied().filter(|row| !old(row) && !taken.contains(row)).collect(),
            went: before.iter().copied().filter(goes).collect(),
            moved,
        }
    }
}

impl Factorization {
    /// What became of the hott rows of an earlier answer for the same rows: see [`Changes::between`].
    pub fn changes_since(&self, before: &[usize]) -> Changes {
        let now: Vec<usize> = self.hott.iter().map(|hott| hott.row).collect();
        Changes::between(&self.f, &self.w, &now, before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Dense;

    #[test]
    fn a_topic_moves_where_the_old_row_leans_on_the_new_one() {
        // Rows 0 and 1 stay; 2 is mostly explained by 5, 3 as well but less, 4 by nothing that is new.
        let f = Dense::from_rows(&[
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0],
            [0.1, 0.0, 0.9, 0.0],
            [0.4, 0.0, 0.6, 0.0],
            [0.5, 0.3, 0.1, 0.1],
            [0.0, 0.0, 1.0, 0.0],
            [0.0, 0.0, 0.0, 1.0],
        ])
        .unwrap()
        .into();
        let w = Dense::from_rows(&[[1.0, 1.0]; 4]).unwrap().into();
        let found = Changes::between(&f, &w, &[0, 1, 5, 6], &[4, 3, 2, 1, 0]);
        assert_eq!(
            (&found.stayed[..], &found.came[..], &found.went[..]),
            (&[0, 1][..], &[6][..], &[4, 3][..])
        );
        let [moved] = found.moved[..] else { panic!("{found:?}") };
        assert_eq!((moved.from, moved.to), (2, 5));
        assert!((moved.share - 0.9).abs() < 1e-12);
        // A row of zeros, and rows that are not there, have gone.
        let none = Dense::zeros(7, 4).into();
        assert_eq!(Changes::between(&none, &w, &[0, 1, 5, 6], &[2, 99]).went, [2, 99]);
    }
}

//! Reading hott rows off the diagonal of a localising matrix.

use crate::control::Control;
use crate::kernels::parallel::*;
use crate::normalise::UnitRows;
use crate::order::largest_first;

/// The `rank` largest entries of the diagonal, largest first; ties go to the lower row.
/// Only rows with `allowed` set are taken. Duplicates of one hott row are *not* told apart.
pub fn top(diagonal: &[f64], rank: usize, allowed: &[bool]) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..diagonal.len()).filter(|&i| allowed[i]).collect();
    largest_first(&mut rows, |i| diagonal[i]);
    rows.truncate(rank);
    rows
}

/// At most this many rows, those with the largest diagonals, are clustered.
const CLUSTERED: usize = 400;
/// Number of radii tried.
const RADII: usize = 40;

/// Pools the diagonal over l1 balls, so that near-duplicates that share a weight count as one.
///
/// For each of some radii, `rank` times: take the row whose ball holds most of the weight not yet
/// taken, and take that weight. The radius whose last pool is largest wins; its balls are
/// represented by their heaviest rows. O(m^2 n) for the distances of the m heaviest rows. Filled up
/// from [`top`] when fewer than `rank` rows have any weight. `None` when `control` stopped it.
pub fn cluster(
    x: &UnitRows,
    diagonal: &[f64],
    rank: usize,
    allowed: &[bool],
    control: &Control,
) -> Option<Vec<usize>> {
    let heaviest = top(diagonal, x.features(), allowed);
    let least = 1e-6 * heaviest.first().map_or(0.0, |&i| diagonal[i]);
    let rows: Vec<usize> = heaviest
        .iter()
        .copied()
        .take(CLUSTERED.max(4 * rank))
        .filter(|&i| diagonal[i] > least)
        .collect();
    let m = rows.len();
    let distances: Option<Vec<Vec<f64>>> = (0..m)
        .into_par_iter()
        .map(|a| {
            let mut watch = control.watch();
            let distance = |b: usize| {
                let (a, b) = (x.row(rows[a]), x.row(rows[b]));
                let stop = watch.spend(a.stored() + b.stored());
                stop.is_none().then(|| a.l1_distance(b))
            };
            control.goes_on().then(|| (0..m).map(distance).collect())?
        })
        .collect();
    let distances = distances?;
    let weights: Vec<f64> = rows.iter().map(|&i| diagonal[i]).collect();
    let mut best: Option<(f64, Vec<usize>)> = None;
    for radius in radii(&distances) {
        if !control.goes_on() {
            return None;
        }
        let (last, chosen) = pools(&distances, &weights, radius, rank);
        if best.as_ref().is_none_or(|b| last > b.0) {
            best = Some((last, chosen));
        }
    }
    let mut chosen: Vec<usize> =
        best.map_or(Vec::new(), |b| b.1.into_iter().map(|a| rows[a]).collect());
    for i in heaviest {
        if chosen.len() >= rank {
            break;
        }
        if !chosen.contains(&i) {
            chosen.push(i);
        }
    }
    Some(chosen)
}

/// Zero and quantiles of the distances, denser among the small ones.
fn radii(distances: &[Vec<f64>]) -> Vec<f64> {
    let mut all: Vec<f64> =
        distances.iter().enumerate().flat_map(|(a, row)| row[..a].iter().copied()).collect();
    all.sort_unstable_by(f64::total_cmp);
    let mut radii = vec![0.0];
    for q in 0..RADII {
        let share = (q as f64 / RADII as f64).powi(2);
        if let Some(d) = all.get((share * all.len() as f64) as usize) {
            radii.push(*d);
        }
    }
    radii.dedup();
    radii
}

/// Greedy pools for one radius: the weight of the last, and the heaviest row of each.
fn pools(distances: &[Vec<f64>], weights: &[f64], radius: f64, rank: usize) -> (f64, Vec<usize>) {
    let mut left = weights.to_vec();
    let (mut last, mut chosen) = (0.0, Vec::new());
    for _ in 0..rank {
        let pool = |a: usize| -> f64 {
            left.iter().zip(&distances[a]).filter(|(_, d)| **d <= radius).map(|(w, _)| *w).sum()
        };
        let (mut best, mut centre) = (0.0, None);
        for a in 0..left.len() {
            let weight = pool(a);
            if weight > best {
                (best, centre) = (weight, Some(a));
            }
        }
        let Some(centre) = centre else { return (0.0, chosen) };
        last = best;
        let ball = (0..left.len()).filter(|&b| distances[centre][b] <= radius && left[b] > 0.0);
        let (mut heaviest, mut weight) = (centre, 0.0);
        for b in ball.collect::<Vec<_>>() {
            if left[b] > weight {
                (heaviest, weight) = (b, left[b]);
            }
            left[b] = 0.0;
        }
        chosen.push(heaviest);
    }
    (last, chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Dense, Matrix};

    #[test]
    fn pools_duplicates_that_share_a_weight() {
        // Three topics with two rows each; top takes both rows of the first.
        let rows = [
            [0.90, 0.10, 0.0],
            [0.89, 0.11, 0.0],
            [0.0, 0.2, 0.8],
            [0.0, 0.21, 0.79],
            [0.0, 0.9, 0.1],
            [0.01, 0.9, 0.09],
            [0.45, 0.15, 0.4],
        ];
        let x = UnitRows::new(&Matrix::from(Dense::from_rows(&rows).unwrap())).unwrap();
        let diagonal = [0.53, 0.52, 0.51, 0.45, 0.4, 0.55, 0.1];
        let allowed = [true; 7];
        assert_eq!(top(&diagonal, 3, &allowed), [5, 0, 1]);
        let mut chosen = cluster(&x, &diagonal, 3, &allowed, &Control::default()).unwrap();
        chosen.sort_unstable();
        assert_eq!(chosen, [0, 2, 5]);
    }

    #[test]
    fn never_returns_fewer_rows_than_asked() {
        let rows = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.4, 0.6]];
        let x = UnitRows::new(&Matrix::from(Dense::from_rows(&rows).unwrap())).unwrap();
        let run = |control: &Control| {
            cluster(&x, &[0.0, 1.0, 0.0, 0.0], 3, &[true, true, false, true], control)
        };
        assert_eq!(run(&Control::default()), Some(vec![1, 0, 3]));
        let late = Control::default().with_deadline(std::time::Instant::now());
        assert_eq!(run(&late), None);
    }
}

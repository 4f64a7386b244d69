//! The figures of the theorem on small matrices, and what rounding does to them.

use super::*;
use crate::matrix::Sparse;

fn unit(rows: &[[f64; 4]]) -> UnitRows {
    UnitRows::new(&Dense::from_rows(rows).unwrap().into()).unwrap()
}

fn found(rows: &[[f64; 4]], hott: &[usize]) -> Theory {
    let x = unit(rows);
    let found = theory(&x, hott, &Control::default()).unwrap();
    let triplets: Vec<_> = (0..rows.len())
        .flat_map(|i| x.row(i).nonzeros().map(move |(k, v)| (i, k, v)).collect::<Vec<_>>())
        .collect();
    let sparse = Sparse::from_triplets(rows.len(), 4, &triplets).unwrap();
    let again = theory(&UnitRows::new(&sparse.into()).unwrap(), hott, &Control::default()).unwrap();
    assert_eq!(found.duplicates, again.duplicates);
    assert!((found.epsilon - again.epsilon).abs() < 1e-12);
    assert!((found.threshold - again.threshold).abs() < 1e-12);
    found
}

const CORNERS: [[f64; 4]; 3] = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];

#[test]
fn holds_near_a_separable_matrix() {
    let [a, b, c] = CORNERS;
    let theory = found(&[a, b, c, [0.49, 0.5, 0.0, 0.01], [0.3, 0.3, 0.4, 0.0]], &[0, 1, 2]);
    // The fourth row is 0.02 from the hull; the nearest points are 0.98 to 1 from a corner.
    assert!(theory.rank() == 3 && (theory.alpha - 2.0).abs() < 1e-12);
    assert!((theory.epsilon - 0.02).abs() < 1e-12, "{theory:?}");
    let margin = theory.margin.unwrap();
    assert!((0.98 - 1e-12..=1.0).contains(&margin), "{theory:?}");
    assert!((theory.threshold - 2.0 * margin / 36.0).abs() < 1e-9);
    assert!(theory.holds && theory.duplicates.iter().all(Vec::is_empty));
    let sentence = theory.sentence();
    assert!(sentence.contains("2.000e-2") && sentence.contains("4.000e-2"), "{sentence}");
}

#[test]
fn says_by_how_much_noise_is_too_large() {
    let [a, b, c] = CORNERS;
    let theory = found(&[a, b, c, [0.3, 0.3, 0.2, 0.2]], &[0, 1, 2]);
    assert!((theory.epsilon - 0.4).abs() < 1e-12 && !theory.holds);
    let sentence = theory.sentence();
    assert!(sentence.contains("alpha d0") && sentence.contains("times as far"), "{sentence}");
}

#[test]
fn rows_next_to_a_hott_row_count_as_duplicates() {
    let [a, b, c] = CORNERS;
    let rows = [a, b, c, [0.999, 0.0, 0.0, 0.001], [0.5, 0.0, 0.5, 0.0], b];
    let theory = found(&rows, &[0, 1, 2]);
    assert_eq!(theory.duplicates, [vec![3], vec![5], vec![]]);
    assert!((theory.epsilon - 0.002).abs() < 1e-12 && theory.holds);
    assert!((theory.threshold - 2.0 / 44.0).abs() < 1e-9);
    assert!(theory.sentence().contains("2 rows that count as their duplicates"));
    // One topic: all other rows must be its duplicates.
    let theory = found(&[a, [0.99, 0.01, 0.0, 0.0]], &[0]);
    assert!(theory.holds && theory.margin.is_none() && theory.duplicates == [vec![1]]);
}

#[test]
fn all_rows_hott_and_hott_rows_that_are_mixtures() {
    let [a, b, c] = CORNERS;
    let theory = found(&[a, b, c], &[2, 0, 1]);
    assert!(theory.holds && theory.margin.is_none() && theory.epsilon == 0.0);
    let theory = found(&[a, b, [0.5, 0.5, 0.0, 0.0], c], &[0, 1, 2]);
    assert!(!theory.holds && theory.sentence().contains("alpha = 0"), "{theory:?}");
}

/// Rows of integers around 2^27: sums are exact, unit rows are not, and the third row is the mean
/// of the first two, of which fits are left with some rounding.
fn mean_of_two(seed: u64, change: f64) -> [[f64; 4]; 3] {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (1u64 << 27) as f64 + (state >> 38) as f64
    };
    let (a, mut b) = ([0; 4].map(|_| next()), [0; 4].map(|_| next()));
    // Rows of equal sums, so that the mean of the rows is the mean of the unit rows.
    let sum = |row: &[f64; 4]| row.iter().sum::<f64>();
    b[3] += sum(&a) - sum(&b);
    let mut mean = [0.0; 4];
    (0..4).for_each(|k| mean[k] = (a[k] + b[k]) / 2.0);
    mean[0] += change;
    [a, b, mean]
}

#[test]
fn alpha_of_a_mixture_is_zero_whatever_rounding_leaves() {
    for seed in 0..200 {
        let [a, b, mean] = mean_of_two(seed, 0.0);
        let theory = found(&[a, b, mean, a, b], &[0, 1, 2]);
        assert_eq!((theory.alpha, theory.threshold), (0.0, 0.0), "{seed}: {theory:?}");
        assert!(!theory.holds && theory.sentence().contains("alpha = 0"), "{theory:?}");
    }
    // A change that makes it a vertex: at most twice its share of the row.
    for seed in 0..20 {
        let [a, b, mean] = mean_of_two(seed, 1024.0);
        let theory = found(&[a, b, mean], &[0, 1, 2]);
        let most = 2.0 * 1024.0 / mean.iter().sum::<f64>();
        assert!(theory.alpha <= most, "{seed}: {theory:?}");
    }
}

#[test]
fn names_rows_that_cannot_be_hott_and_stops_when_told() {
    let x = unit(&CORNERS);
    let free = Control::default();
    assert!(matches!(theory(&x, &[], &free), Err(Error::Rank { .. })));
    assert!(matches!(theory(&x, &[0, 3], &free), Err(Error::HottRow { row: 3, .. })));
    assert!(matches!(theory(&x, &[1, 0, 1], &free), Err(Error::HottRow { row: 1, .. })));
    let late = Control::default().with_deadline(std::time::Instant::now());
    assert_eq!(theory(&x, &[0], &late), Err(Error::NoAnswer(Stop::TimeLimit)));
}

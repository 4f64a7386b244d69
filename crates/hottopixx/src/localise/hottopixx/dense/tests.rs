//! Panels against the method as it is written, windows, and the sizes of blocks.

use super::block::WHOLE;
use super::*;
use crate::kernels::{axpy, dot};
use crate::localise::instances::{Instance, paper};
use crate::project::project_phi0;

fn epoch(number: usize, step: f64, pull: &[f64]) -> Epoch<'_> {
    Epoch { number, last: false, column_walk: (0, true), step, pull }
}

/// C by rows, rows in the order of the panels.
fn by_rows(iterate: &DenseIterate<'_>) -> Vec<f64> {
    let (f, m) = (iterate.x.features(), iterate.candidates);
    let entry = |i: usize, q: usize| {
        let block = iterate.blocks.iter().rfind(|b| b.first <= i).unwrap();
        f64::from(block.c[q * block.rows + i - block.first])
    };
    (0..f * m).map(|at| entry(at / m, at % m)).collect()
}

/// Panels give the iterates of Algorithm 4 as it is written, column by column.
#[test]
fn panels_are_the_method_one_column_at_a_time() {
    let Instance { x, .. } = paper((20, 70, 3, 0), 4.0, 5);
    let candidates = [0, 2, 3, 5, 6, 7, 8, 9, 10, 11];
    let (f, m, n) = (20, candidates.len(), 70);
    let pull: Vec<f64> = (0..m).map(|q| 0.3 - 0.05 * q as f64).collect();
    let mut panelled = DenseIterate::new(&x, &candidates, 1, &DenseSettings::default());
    let mut c = vec![0.0; f * m];
    for t in 0..3 {
        assert_eq!(panelled.epoch(&epoch(t, 0.1, &pull), &Control::default()), None);
        let (panels, step) = (&panelled.panels, panelled.panels.step());
        for p in panels.visits(t).remove(0).1 {
            let panel = panels.panel(p as usize);
            for column in panel.values.chunks_exact(step).take(panel.columns) {
                let column: Vec<f64> = column[..f].iter().map(|v| f64::from(*v)).collect();
                for (i, c) in c.chunks_exact_mut(m).enumerate() {
                    let error = column[i] - dot(c, &column[..m]);
                    let sign = f64::from(i8::from(error > 0.0) - i8::from(error < 0.0));
                    axpy(0.1 * sign, &column[..m], c);
                    if i < m {
                        c[i] -= 0.1 / n as f64 * pull[i];
                    }
                }
            }
            project_phi0(&mut c, &(0..m).collect::<Vec<_>>());
        }
        let found = by_rows(&panelled);
        let gap = c.iter().zip(&found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(gap < 1e-5, "epoch {t}: {gap}");
    }
    let direct: f64 = (0..f)
        .map(|i| {
            let (row, mut fit) = (x.dense_row(panelled.panels.row(i)), vec![0.0; n]);
            for (q, &own) in candidates.iter().enumerate() {
                axpy(c[i * m + q], &x.dense_row(own), &mut fit);
            }
            row.iter().zip(&fit).map(|(x, y)| (x - y).abs()).sum::<f64>()
        })
        .sum();
    assert!(
        (panelled.loss(&Control::default()).unwrap() - direct).abs() < 1e-3 * direct,
        "{direct}"
    );
}

/// Windows change the order of the columns and nothing else; one window is no window.
#[test]
fn windows_find_the_same_rows() {
    let instance = paper((40, 700, 4, 0), 0.95, 3);
    let candidates: Vec<usize> = (0..40).collect();
    let run = |window_bytes| {
        let settings = DenseSettings { window_bytes };
        let mut iterate = DenseIterate::new(&instance.x, &candidates, 2, &settings);
        for t in 0..6 {
            iterate.epoch(&epoch(t, 0.5, &[0.05; 40]), &Control::default());
        }
        let loss = iterate.loss(&Control::default()).unwrap();
        (by_rows(&iterate), iterate.diagonal(), loss, iterate.panels.windows())
    };
    let (whole, one, four) = (run(None), run(Some(1 << 30)), run(Some(60_000)));
    assert_eq!((whole.3, one.3, four.3), (1, 1, 4));
    assert_eq!(whole, one);
    assert_ne!(whole.0, four.0);
    assert!(instance.pools_lead(&whole.1) && instance.pools_lead(&four.1));
    assert!((whole.2 / four.2 - 1.0).abs() < 0.2, "{} {}", whole.2, four.2);
}

/// The next epoch depends on C alone, not on what was done to reach it.
#[test]
fn nothing_but_c_goes_from_one_epoch_to_the_next() {
    let x = paper((40, 300, 4, 0), 0.95, 3).x;
    let candidates: Vec<usize> = (0..40).collect();
    let new = || DenseIterate::new(&x, &candidates, 2, &DenseSettings::default());
    let (mut one, mut other) = (new(), new());
    for t in 0..3 {
        one.epoch(&epoch(t, 0.5, &[0.05; 40]), &Control::default());
    }
    for (block, from) in other.blocks.iter_mut().zip(&one.blocks) {
        block.c.clone_from(&from.c);
    }
    for iterate in [&mut one, &mut other] {
        iterate.epoch(&epoch(3, 0.2, &[0.1; 40]), &Control::default());
    }
    assert_eq!(by_rows(&one), by_rows(&other));
}

#[test]
fn blocks_cover_the_rows_in_even_shares() {
    for f in [1, 16, 40, 127, 128, 300, 1600, 5000] {
        let sizes: Vec<usize> = block_sizes(f).collect();
        assert_eq!(sizes.iter().sum::<usize>(), f.next_multiple_of(LANES));
        assert!(sizes.iter().all(|s| s.is_multiple_of(LANES) && *s > 0));
        let (one, other) = sizes.split_at(sizes.len() / 2);
        if let Some((_, whole)) = one.split_last() {
            let (one, other) = (one.iter().sum::<usize>(), other.iter().sum::<usize>());
            assert!(one.abs_diff(other) <= LANES, "{sizes:?}");
            assert!(whole.iter().all(|s| s.is_multiple_of(WHOLE * LANES)), "{sizes:?}");
        }
    }
}

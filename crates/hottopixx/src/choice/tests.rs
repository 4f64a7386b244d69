//! Bounds, ranks and searches against all choices, one by one.

use super::*;
use crate::Error;
use crate::certify::{Refusal, verify_choice};
use crate::clean::exact;
use crate::control::Control;
use crate::localise::Question;
use crate::localise::instances::{SIX_ROWS, as_sparse, random, unit_rows};
use crate::normalise::UnitRows;
use rand::RngExt;

/// The smallest largest error of `rank` of the allowed rows, by looking at all choices.
fn best_of_all(x: &UnitRows, allowed: &[bool], rank: usize) -> f64 {
    let columns: Vec<usize> = (0..x.features()).filter(|&j| allowed[j]).collect();
    let mut best = f64::INFINITY;
    let mut choice: Vec<usize> = (0..rank).collect();
    loop {
        let rows: Vec<usize> = choice.iter().map(|&at| columns[at]).collect();
        let fits = exact(x, &rows, &Control::default());
        best = fits.iter().map(|fit| fit.error).fold(0.0, f64::max).min(best);
        let Some(at) = (0..rank).rev().find(|&at| choice[at] + rank - at < columns.len()) else {
            return best;
        };
        choice[at] += 1;
        (at + 1..rank).for_each(|next| choice[next] = choice[next - 1] + 1);
    }
}

/// Rows of few tokens on few columns: duplicates, ties, zeros; or mixtures of some of them.
fn instance(seed: u64) -> UnitRows {
    let mut random = random(seed);
    let (f, n) = (random.random_range(5..9), random.random_range(3..8));
    let tokens = random.random_range(2..30);
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for i in 0..f {
        let mut row = vec![0.0; n];
        if i > 2 && random.random::<f64>() < 0.5 {
            let share = random.random::<f64>();
            for k in 0..n {
                row[k] = share * rows[i - 2][k] + (1.0 - share) * rows[i - 1][k];
            }
        } else {
            (0..tokens).for_each(|_| row[random.random_range(0..n)] += 1.0);
        }
        rows.push(row);
    }
    let x = unit_rows(&rows);
    if seed.is_multiple_of(3) { as_sparse(&x) } else { x }
}

fn question<'a>(
    x: &'a UnitRows,
    rank: usize,
    allowed: &'a [bool],
    control: &'a Control,
) -> Question<'a> {
    Question::new(x, rank, allowed, control)
}

#[test]
fn bounds_and_searches_agree_with_enumeration() {
    let control = Control::default();
    let (mut gaps, mut errors) = (0.0, 0.0);
    for seed in 0..80 {
        let x = instance(seed);
        let mut allowed = vec![true; x.features()];
        allowed[0] = seed % 5 != 0;
        let rank = 1 + seed as usize % 3;
        let best = best_of_all(&x, &allowed, rank);
        let q = question(&x, rank, &allowed, &control);
        let found = bound(&q, &[]).unwrap();
        assert!(found.bound <= best && found.error >= best - 1e-9, "seed {seed}: {found:?} {best}");
        if let Some(certificate) = &found.certificate {
            verify_choice(&x, certificate, &control).unwrap();
            assert_eq!(certificate.threshold, found.bound);
        }
        let exact = search(&q, &[], &SearchSettings::default()).unwrap();
        assert!(exact.tree.optimal, "seed {seed}: {exact:?}");
        assert!((exact.root.error - best).abs() <= 2e-5 * best + 2e-6, "seed {seed}: {best}");
        assert!(exact.tree.bound <= best + 1e-12);
        gaps += best - found.bound;
        errors += best;
    }
    assert!(gaps < 0.25 * errors, "bounds are loose: {gaps} of {errors}");
}

#[test]
fn the_rank_that_is_needed_lies_in_its_bracket() {
    let control = Control::default();
    let mut closed = 0;
    for seed in 0..60 {
        let x = instance(seed);
        let allowed = vec![true; x.features()];
        for tau in [0.05, 0.2, 0.5] {
            let needed = (1..=x.features()).find(|&r| best_of_all(&x, &allowed, r) <= tau).unwrap();
            let bracket = rank_needed(&x, &allowed, tau, &control).unwrap();
            let upper = bracket.rows.len();
            assert!(bracket.lower <= needed && needed <= upper, "seed {seed}, {tau}: {bracket:?}");
            assert!(bracket.certified <= bracket.lower && bracket.error <= tau);
            if let Some(certificate) = &bracket.certificate {
                verify_choice(&x, certificate, &control).unwrap();
                assert_eq!((certificate.rank + 1, certificate.threshold), (bracket.certified, tau));
            }
            closed += usize::from(bracket.lower == upper);
        }
    }
    assert!(closed >= 175, "{closed} of 180 brackets are closed");
}

#[test]
fn six_rows_need_three() {
    let x = unit_rows(&SIX_ROWS.map(|row| row.to_vec()));
    let (allowed, control) = ([true; 6], Control::default());
    let exact = search(&question(&x, 3, &allowed, &control), &[], &SearchSettings::default());
    let exact = exact.unwrap();
    assert!(exact.tree.optimal && (exact.root.error - best_of_all(&x, &allowed, 3)).abs() < 1e-9);
    let bracket = rank_needed(&x, &allowed, 0.11, &control).unwrap();
    assert_eq!((bracket.lower, bracket.rows.len()), (3, 3));
    assert!(matches!(rank_needed(&x, &allowed, -0.1, &control), Err(Error::Setting { .. })));
    let only = [true, true, false, false, false, false];
    assert!(matches!(rank_needed(&x, &only, 0.1, &control), Err(Error::Infeasible { .. })));
    let none = question(&x, 0, &allowed, &control);
    assert!(matches!(bound(&none, &[]), Err(Error::Rank { .. })));
}

/// Every way to claim more than is proven.
#[test]
fn altered_proofs_are_refused() {
    let x = instance(7);
    let (allowed, control) = (vec![true; x.features()], Control::default());
    let found = bound(&question(&x, 2, &allowed, &control), &[]).unwrap();
    let good = found.certificate.expect("a bound above zero");
    let refusal = |change: &dyn Fn(&mut crate::certify::ChoiceCertificate)| {
        let mut bad = good.clone();
        change(&mut bad);
        verify_choice(&x, &bad, &control).unwrap_err()
    };
    let above = best_of_all(&x, &allowed, 2);
    assert!(matches!(refusal(&|c| c.threshold = above), Refusal::Covered { .. }));
    assert!(matches!(refusal(&|c| c.threshold = f64::NAN), Refusal::NotFinite { .. }));
    assert!(matches!(refusal(&|c| c.rank = allowed.len()), Refusal::Covered { .. }));
    assert!(matches!(refusal(&|c| c.cuts.clear()), Refusal::Covered { .. }));
    assert!(matches!(refusal(&|c| c.cuts[0].row = 99), Refusal::DualRow { .. }));
    assert!(matches!(refusal(&|c| c.cuts[0].multiplier = -1.0), Refusal::Cut { .. }));
    assert!(matches!(refusal(&|c| c.cuts[0].y[0] = 1.5), Refusal::Cut { .. }));
    assert!(matches!(refusal(&|c| c.cuts[0].y[0] = f64::INFINITY), Refusal::NotFinite { .. }));
    assert!(matches!(refusal(&|c| c.cuts[0].y.truncate(1)), Refusal::Shape { .. }));
    assert!(matches!(refusal(&|c| c.allowed.truncate(1)), Refusal::Shape { .. }));
    // The proof is about these data.
    let others = instance(8);
    let refused =
        others.features() != x.features() || verify_choice(&others, &good, &control).is_err();
    assert!(refused);
    let late = Control::default().with_deadline(std::time::Instant::now());
    assert!(matches!(verify_choice(&x, &good, &late), Err(Refusal::Stopped(_))));
}

#[test]
fn stopped_it_still_tells_the_truth() {
    let x = instance(7);
    let allowed = vec![true; x.features()];
    let late = Control::default().with_deadline(std::time::Instant::now());
    let q = question(&x, 2, &allowed, &late);
    assert!(matches!(bound(&q, &[]), Err(Error::NoAnswer(_))));
    let found = bound(&q, &[0, 1]).unwrap();
    assert!(found.bound <= best_of_all(&x, &allowed, 2));
    assert_ne!(found.stop, crate::control::Stop::Finished);
    assert!(!search(&q, &[0, 1], &SearchSettings::default()).unwrap().tree.optimal);
}

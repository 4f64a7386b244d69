//! `auto` from an answer that was found before.

use hottopixx::synth::{Family, Recipe};
use hottopixx::{Constraints, Error, Factor, Factorization, Matrix, Method};

fn sized(features: usize, examples: usize, seed: u64) -> Matrix {
    let recipe = Recipe::new(Family::Paper, 5).size(features, examples);
    Recipe { noise: 2.0, seed, ..recipe }.generate().unwrap().matrix
}

fn instance(seed: u64) -> Matrix {
    sized(60, 80, seed)
}

fn rows(answer: &Factorization) -> Vec<usize> {
    answer.hott.iter().map(|hott| hott.row).collect()
}

/// From any rows no worse than these, with a bound that holds, and the same on any number of threads.
#[test]
fn what_is_found_is_no_worse_than_the_rows_it_began_with() {
    for x in [instance(0), sized(310, 25, 1)] {
        let best = Factor::new(5).run(&x).unwrap();
        for start in [rows(&best), vec![0, 13, 26, 39, 52], vec![3]] {
            let factor = Factor::new(5).start(start.clone());
            let found = factor.clone().threads(1).run(&x).unwrap();
            let again = factor.threads(3).run(&x).unwrap();
            assert_eq!((rows(&found), &found.errors), (rows(&again), &again.errors));
            if start.len() == 5 {
                let given = Factor::new(5).evaluate(&x, &start).unwrap();
                assert!(found.errors.mean_l1 <= given.errors.mean_l1 + 1e-9);
            }
            let bound = found.bounds.as_ref().unwrap().lower_bound;
            assert!(bound > 0.0 && bound <= best.errors.mean_l1.min(found.errors.mean_l1) + 1e-9);
            let changes = found.changes_since(&start);
            assert_eq!(changes.stayed.len() + changes.moved.len() + changes.came.len(), 5);
        }
    }
}

/// Few rows are looked at as if nothing were known: what was chosen before never leads to more than a run from nothing.
#[test]
fn on_few_rows_an_update_is_no_worse_than_a_run_from_nothing() {
    for seed in 0..2 {
        let x = instance(seed);
        let best = Factor::new(5).run(&x).unwrap();
        let found = Factor::new(5).start(vec![0, 1, 2, 3, 4]).run(&x).unwrap();
        assert!(found.errors.mean_l1 <= best.errors.mean_l1 + 1e-9);
    }
}

#[test]
fn constraints_hold_and_what_cannot_be_hott_is_replaced() {
    let x = instance(7);
    let constraints = Constraints::default().must([11]).never([0, 1]);
    let factor = Factor::new(5).constraints(constraints).start(vec![0, 1, 2, 3, 4]);
    let found = rows(&factor.run(&x).unwrap());
    assert!(found.contains(&11) && !found.contains(&0) && !found.contains(&1), "{found:?}");
    let mut candidates = vec![true; 60];
    candidates[..20].fill(false);
    let found = Factor::new(5).candidates(candidates).start(vec![0, 1, 2, 3, 4]).run(&x).unwrap();
    assert!(rows(&found).iter().all(|row| *row >= 20));
}

#[test]
fn rows_that_there_are_not_and_other_methods_are_refused() {
    let x = instance(1);
    let error = Factor::new(5).start(vec![60]).run(&x).unwrap_err();
    assert!(matches!(error, Error::Setting { name: "start", .. }), "{error}");
    let error = Factor::new(5).start(vec![1]).method(Method::Spa).run(&x).unwrap_err();
    assert!(matches!(error, Error::Setting { name: "start", .. }), "{error}");
    let plain = Factor::new(5);
    assert_ne!(plain.fingerprint(&x), plain.clone().start(vec![1]).fingerprint(&x));
    assert_eq!(
        plain.clone().method(Method::Spa).fingerprint(&x),
        plain.start(vec![1]).method(Method::Spa).only_used().fingerprint(&x)
    );
}

/// What is proven from the dual of an answer holds, is near what it proved, and is passed on.
#[test]
fn the_dual_of_an_answer_proves_the_bound_of_the_next() {
    let x = sized(320, 60, 3);
    let factor = Factor::new(5).keep_dual(true);
    let first = factor.clone().run(&x).unwrap();
    let dual = first.dual.clone().unwrap();
    let lower = |answer: &Factorization| answer.bounds.as_ref().unwrap().lower_bound;
    let start = factor.start(rows(&first));
    let again = start.clone().start_dual(dual.clone()).run(&x).unwrap();
    assert!((lower(&again) - lower(&first)).abs() < 0.01 * lower(&first));
    assert!(lower(&again) <= again.errors.mean_l1 + 1e-9);
    assert_eq!(again.bounds.as_ref().unwrap().rounds, 0, "no dual was made");
    assert_eq!(again.dual, Some(dual.clone()));
    // One that is about another matrix proves nothing and is made anew; without being asked nothing is kept.
    let other = sized(320, 50, 3);
    let found = start.clone().start_dual(dual.clone()).run(&other).unwrap();
    assert!(found.bounds.as_ref().unwrap().rounds > 0 && found.dual != Some(dual.clone()));
    assert_eq!(Factor::new(5).run(&x).unwrap().dual, None);
    assert_ne!(start.fingerprint(&x), start.clone().start_dual(dual).fingerprint(&x));
}

/// Fits of an update begin from nothing in the order of the answer: whoever fits the rows later finds the same numbers.
#[test]
fn applied_to_its_own_data_an_update_gives_its_own_fits() {
    for (seed, size) in [(1, (60, 80)), (2, (400, 120))] {
        let x = sized(size.0, size.1, seed);
        let found = Factor::new(5).start(vec![0, 1, 2, 3, 4]).run(&x).unwrap();
        let given = Factor::new(5).evaluate(&x, &rows(&found)).unwrap();
        assert_eq!((&given.f, &given.errors), (&found.f, &found.errors));
    }
}

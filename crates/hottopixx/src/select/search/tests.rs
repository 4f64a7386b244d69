use super::field::{Exchange, Field};
use super::*;
use crate::clean::{FittedChoice, exact};
use crate::control::Control;
use crate::localise::instances::{as_sparse, paper};
use std::time::Instant;

fn question<'a>(x: &'a UnitRows, allowed: &'a [bool], control: &'a Control) -> Question<'a> {
    Question::new(x, 4, allowed, control)
}

/// The best of what a search finds, by cleaning.
fn best(x: &UnitRows, found: &Found, objective: Objective) -> FittedChoice {
    let cleaned =
        |set: &Vec<usize>| FittedChoice::new(x, set.clone(), objective, None, &Control::default());
    let mut sets: Vec<FittedChoice> = found.sets.iter().map(cleaned).collect();
    sets.sort_by(|a, b| a.score.total_cmp(&b.score));
    sets.swap_remove(0)
}

#[test]
fn a_planted_exchange_is_found_by_either_objective() {
    let instance = paper((40, 90, 4, 0), 0.3, 3);
    let control = Control::default();
    let forms: [(UnitRows, &[Effort]); 2] =
        [(instance.x.clone(), &Effort::ALL), (as_sparse(&instance.x), &[Effort::Normal])];
    for (x, efforts) in forms {
        for objective in [Objective::Mean, Objective::Max] {
            // All topics but the last, in whose place stands some mixture.
            let mut hott: Vec<usize> = instance.topics.iter().map(|topic| topic[0]).collect();
            let truth = FittedChoice::new(&x, hott.clone(), objective, None, &control);
            hott[3] = (0..40).find(|i| !hott.contains(i)).unwrap();
            let start = FittedChoice::new(&x, hott.clone(), objective, None, &control);
            assert!(start.score > 2.0 * truth.score, "{} {}", start.score, truth.score);
            for &effort in efforts {
                let question = question(&x, &[true; 40], &control);
                let found = search(&question, objective, effort, (&[hott.clone()], 1.0), &[]);
                let reached = best(&x, &found, objective);
                assert!(instance.recovered(&reached.hott), "{effort}: {:?}", reached.hott);
                assert!(found.exchanges >= 1 && reached.score <= truth.score * (1.0 + 1e-12));
            }
        }
    }
}

#[test]
fn rows_that_may_not_be_hott_never_enter_and_a_stop_changes_nothing() {
    let instance = paper((40, 90, 4, 0), 0.3, 3);
    let x = &instance.x;
    let mut hott: Vec<usize> = instance.topics.iter().map(|topic| topic[0]).collect();
    let mut allowed = [true; 40];
    allowed[hott[3]] = false;
    hott[3] = (0..40).find(|i| !hott.contains(i)).unwrap();
    let run = |control: &Control| {
        let question = question(x, &allowed, control);
        search(&question, Objective::Mean, Effort::Normal, (&[hott.clone()], 1.0), &[])
    };
    let found = run(&Control::default());
    assert!(!found.sets.is_empty());
    assert!(found.sets.concat().iter().all(|&h| allowed[h]), "{:?}", found.sets);
    let late = Control::default().with_deadline(Instant::now());
    let found = run(&late);
    assert!(found.sets.is_empty() && found.exchanges == 0 && late.cut_short().is_some());
}

/// Also where only some positions may leave and exchanges are scored on a part of the rows first.
#[test]
fn scores_are_those_of_cleaning_again() {
    let x = paper((300, 40, 12, 1), 20.0, 5).x;
    let control = Control::default();
    let hott: Vec<usize> = (0..12).map(|k| 7 * k + 1).collect();
    for x in [x.clone(), as_sparse(&x)] {
        for (objective, tolerance) in [(Objective::Mean, 1e-5), (Objective::Max, 1e-4)] {
            let field = Field {
                x: Cow::Borrowed(&x),
                rows: (0..300).collect(),
                objective,
                control: &control,
                rules: crate::rules::Rules::free(),
                work: AtomicU64::new(0),
            };
            let place = field.place(hott.clone(), None).unwrap();
            let score = |hott: &[usize]| {
                let fits = exact(&x, hott, &control);
                objective.score(fits.iter().map(|fit| fit.error))
            };
            assert!((place.score - score(&hott)).abs() < tolerance);
            assert!(place.leaving.len() >= 5);
            let entering = [0, 50, 100, 200];
            let exchanges: Vec<Exchange> = (place.leaving.iter().zip(entering))
                .map(|(&leave, enter)| Exchange { leave, enter })
                .collect();
            let scores = field.after(&place, &exchanges).unwrap();
            let mut compared = 0;
            for (exchange, found) in exchanges.iter().zip(scores) {
                let mut changed = hott.clone();
                changed[exchange.leave as usize] = exchange.enter;
                let expected = score(&changed);
                if found.is_finite() {
                    assert!((found - expected).abs() < tolerance, "{found} {expected}");
                    compared += 1;
                    // From place to place, the fits that are kept are those of fitting anew.
                    let next = field.place(changed, Some((&place, exchange.leave))).unwrap();
                    assert!((next.score - expected).abs() < tolerance);
                }
            }
            assert!(compared > 0, "all were given up");
        }
    }
    let work = |effort, best| Plan::of(effort, Objective::Mean, (1000, best)).work.0;
    assert!(work(Effort::Quick, 0.5) < work(Effort::Normal, 0.5));
    assert!(work(Effort::Normal, 0.5) < work(Effort::Normal, 0.95));
    assert!(work(Effort::Normal, 0.95) < work(Effort::Thorough, 0.5));
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_threads() {
    let x = paper((260, 60, 4, 1), 30.0, 7).x;
    let control = Control::default();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let question = question(&x, &[true; 260], &control);
            let found = search(
                &question,
                Objective::Mean,
                Effort::Normal,
                (&[vec![9, 30, 77, 200]], 1.0),
                &[],
            );
            (found.sets, found.exchanges, found.work)
        })
    };
    let one = run(1);
    assert!(one.1 > 0);
    assert_eq!(one, run(3));
}

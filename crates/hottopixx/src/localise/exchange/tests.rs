use super::*;
use crate::kernels::{ENTERING_BLOCK, Support, roots_after_entering};
use crate::localise::instances::{as_sparse, paper};
use crate::normalise::UnitRows;
use crate::rules::Rules;
use std::time::Instant;

const SETTINGS: ExchangeSettings =
    ExchangeSettings { power: 0.5, cosines: 1e12, work: 1e12, kicks: 2, nearby: false };

fn cosines<'a>(x: &'a UnitRows, control: &Control) -> Cosines<'a> {
    let all: Vec<usize> = (0..x.features()).collect();
    Cosines::new((x, Rules::free()), all.clone(), all, 0.5, control).unwrap()
}

/// `u_i` as the module defines it, straight from the formula.
fn unit(x: &UnitRows, i: usize, power: f64) -> Vec<f64> {
    let f = x.features();
    let mut mean = vec![0.0; x.examples()];
    (0..f).for_each(|i| x.row(i).add_to(1.0 / f as f64, &mut mean));
    let weighed: Vec<f64> =
        x.dense_row(i).iter().zip(&mean).map(|(v, m)| v / m.powf(power / 2.0)).collect();
    let length = weighed.iter().map(|v| v * v).sum::<f64>().sqrt();
    weighed.into_iter().map(|v| v / length).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn planted_rows_are_found_from_any_start_in_both_forms() {
    for seed in 0..5 {
        let instance = paper((60, 40, 5, 0), 1.0, seed);
        let mut truth: Vec<usize> = instance.topics.iter().map(|topic| topic[0]).collect();
        truth.sort_unstable();
        let mixtures: Vec<usize> = (0..60).filter(|i| !truth.contains(i)).take(5).collect();
        for x in [&instance.x, &as_sparse(&instance.x)] {
            let control = Control::default();
            let found = exchange(
                &Question::new(x, 5, &[true; 60], &control),
                std::slice::from_ref(&mixtures),
                &SETTINGS,
            );
            let mut best = found.sets[0].clone();
            best.sort_unstable();
            assert_eq!(best, truth, "seed {seed}");
            assert!(found.exchanges >= 5 && found.left < 0.2, "{found:?}");
        }
    }
}

#[test]
fn only_allowed_rows_are_chosen() {
    let instance = paper((60, 40, 5, 0), 1.0, 1);
    let truth: Vec<usize> = instance.topics.iter().map(|topic| topic[0]).collect();
    let mut allowed = vec![true; 60];
    allowed[truth[0]] = false;
    let start: Vec<usize> = (0..60).filter(|i| !truth.contains(i)).take(5).collect();
    let found = exchange(
        &Question::new(&instance.x, 5, &allowed, &Control::default()),
        &[start],
        &SETTINGS,
    );
    assert!(found.sets.iter().flatten().all(|&j| allowed[j]));
    assert!(truth[1..].iter().all(|j| found.sets[0].contains(j)), "{found:?}");
}

#[test]
fn cosines_are_those_of_the_formula_in_both_forms() {
    let dense = paper((30, 50, 4, 0), 2.0, 3).x;
    let control = Control::default();
    for x in [&dense, &as_sparse(&dense)] {
        let all: Vec<usize> = (0..30).collect();
        for power in [0.0, 0.5, 1.0] {
            let some = vec![2, 7, 29];
            let by_panels =
                Cosines::new((x, Rules::free()), some.clone(), all.clone(), power, &control)
                    .unwrap();
            let by_entries = by_panels.by_entries(&control).unwrap();
            for (at, &i) in some.iter().enumerate() {
                let u = unit(x, i, power);
                for j in 0..30 {
                    let expected = dot(&u, &unit(x, j, power));
                    let found = [by_panels.line(at)[j], by_entries[at * 30 + j]];
                    for found in found {
                        assert!((f64::from(found) - expected).abs() < 1e-5, "{found} {expected}");
                    }
                }
                // Rows that are not explained are computed apart.
                let asked = [11, 7, 20];
                let lines = by_panels.of_pool(&asked, &control).unwrap();
                for (row, line) in asked.iter().zip(&lines) {
                    let expected = dot(&unit(x, *row, power), &unit(x, i, power));
                    assert!((f64::from(line[i]) - expected).abs() < 1e-5);
                }
            }
        }
    }
}

#[test]
fn an_exchange_gives_the_fits_of_a_fresh_start() {
    let x = paper((50, 40, 4, 0), 5.0, 2).x;
    let control = Control::default();
    let cosines = cosines(&x, &control);
    let place = cosines.place_of(&[0, 9, 21, 33], &control).unwrap();
    for exchange in [Exchange { leave: 1, enter: 40 }, Exchange { leave: 3, enter: 5 }] {
        let after = cosines.exchanged(&place, exchange, &control).unwrap();
        let fresh = cosines.place_of(&cosines.rows_of(&after.hott), &control).unwrap();
        assert!((after.score - fresh.score).abs() < 1e-5, "{} {}", after.score, fresh.score);
        let leaders = leaders(&[exchange], &after);
        let among = cosines.among(&leaders);
        let narrow = among.narrowed(&cosines, &after);
        assert_eq!(among.rows_of(&narrow.hott), cosines.rows_of(&after.hott));
        let wide = cosines.widened(&among, narrow, &control).unwrap();
        assert_eq!((wide.hott, wide.lines), (after.hott, after.lines));
    }
}

/// The first of the promised exchanges is nearly the best of all.
#[test]
fn promises_lead_to_the_best_exchange() {
    for seed in 0..4 {
        let x = paper((40, 30, 4, 0), 5.0, seed).x;
        let control = Control::default();
        let cosines = cosines(&x, &control);
        let place = cosines.place_of(&[1, 8, 15, 30], &control).unwrap();
        let after = |exchange| cosines.exchanged(&place, exchange, &control).unwrap().score;
        let every = (0..4).flat_map(|leave| (0..40).map(move |enter| Exchange { leave, enter }));
        let fresh = |e: &Exchange| !place.hott.contains(&e.enter);
        let best = every.filter(fresh).map(after).fold(f64::INFINITY, f64::min);
        let promised = cosines.promising(&place, VAIN, &control).unwrap();
        let kept = promised.iter().map(|e| after(*e)).fold(f64::INFINITY, f64::min);
        assert!(kept <= best + 0.02 * (place.score - best), "{kept} {best} {}", place.score);
    }
}

/// One row entering on a support of two, against the projections written out.
#[test]
fn the_root_after_entering_is_that_of_the_larger_projection() {
    let x = paper((20, 30, 3, 0), 3.0, 1).x;
    let u: Vec<Vec<f64>> = (0..20).map(|i| unit(&x, i, 0.5)).collect();
    let cosine = |a: usize, b: usize| dot(&u[a], &u[b]) as f32;
    let (a, b, row) = (3, 12, 7);
    let line = |i: usize| (0..20).map(|j| cosine(i, j)).collect::<Vec<f32>>();
    let l10 = cosine(b, a);
    let l11 = (1.0 - l10 * l10).sqrt();
    let w0 = cosine(row, a);
    let w1 = (cosine(row, b) - l10 * w0) / l11;
    let support = Support { factor: vec![1.0, 0.0, l10, 1.0 / l11], target: vec![w0, w1] };
    let q = 1.0 - w0 * w0 - w1 * w1;
    let (lines, mut out) = ([line(a), line(b)], vec![0.0; 20]);
    let lines: Vec<&[f32]> = lines.iter().map(|line| &line[..]).collect();
    let mut room = vec![0.0; 2 * ENTERING_BLOCK];
    roots_after_entering(&lines, &support, &line(row), q, &mut room, &mut out);
    for j in (0..20).filter(|j| ![a, b, row].contains(j)) {
        // Gram and Schmidt: what is left of row and of j beside a and b.
        let left = |i: usize| -> Vec<f64> {
            let mut v = u[i].clone();
            let first = dot(&v, &u[a]);
            v.iter_mut().zip(&u[a]).for_each(|(v, a)| *v -= first * a);
            let mut other = u[b].clone();
            let along = dot(&other, &u[a]);
            other.iter_mut().zip(&u[a]).for_each(|(v, a)| *v -= along * a);
            let second = dot(&v, &other) / dot(&other, &other);
            v.iter_mut().zip(&other).for_each(|(v, o)| *v -= second * o);
            v
        };
        let (r, e) = (left(row), left(j));
        let g = dot(&r, &e).max(0.0);
        let expected = (dot(&r, &r) - g * g / dot(&e, &e).max(1e-3)).max(0.0).sqrt();
        assert!((f64::from(out[j]) - expected).abs() < 1e-3, "{j}: {} {expected}", out[j]);
    }
    assert!(out[row] < 1e-2, "the row itself explains all of it: {}", out[row]);
}

#[test]
fn stopped_it_gives_what_it_has() {
    let x = paper((60, 40, 5, 0), 1.0, 1).x;
    let late = Control::default().with_deadline(Instant::now());
    let found =
        exchange(&Question::new(&x, 5, &[true; 60], &late), &[vec![0, 1, 2, 3, 4]], &SETTINGS);
    assert!(found.sets.is_empty() && late.cut_short().is_some());
}

#[test]
fn work_is_capped() {
    let x = paper((300, 40, 6, 0), 3.0, 4).x;
    let start = vec![0, 100, 200, 250, 280, 290];
    let run = |work| {
        let settings = ExchangeSettings { work, ..SETTINGS };
        let question = (vec![true; 300], Control::default());
        let question = Question::new(&x, 6, &question.0, &question.1);
        exchange(&question, std::slice::from_ref(&start), &settings)
    };
    let (none, some, all) = (run(1.0), run(2e7), run(1e12));
    assert_eq!((none.exchanges, &none.sets), (0, &vec![start.clone()]));
    assert!(some.exchanges < all.exchanges && some.left >= all.left, "{some:?} {all:?}");
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_threads() {
    let x = paper((700, 40, 6, 0), 3.0, 4).x;
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let start = vec![0, 100, 200, 300, 400, 500];
            let question = (vec![true; 700], Control::default());
            exchange(&Question::new(&x, 6, &question.0, &question.1), &[start], &SETTINGS)
        })
    };
    let (one, two) = (run(1), run(2));
    assert_eq!((one.sets, one.left), (two.sets, two.left));
}

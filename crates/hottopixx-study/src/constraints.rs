//! Constraints on choices of rows: are they obeyed, how near is the answer to the best choice that obeys them,
//! and does the bound hold?
//!
//! Small instances with constraints drawn at random, of all kinds at once, are compared with all choices, one by
//! one; of the mean errors every other one is weighted by row. What is obeyed is judged here, from what was drawn, and not by the library.

use crate::{StudyReport, parallel};
use anyhow::Result;
use hottopixx::clean::exact;
use hottopixx::control::Control;
use hottopixx::normalise::UnitRows;
use hottopixx::{Bounded, Constraints, Dense, Factor, Matrix, Method, Objective};
use hottopixx_report::table::Table;
use std::fmt::Write as _;

/// How far the error of an answer may be above that of the best choice, in proportion.
const NEAR: f64 = 1.01;
/// How far enumerated errors, sums in floating point, may be off.
const ROUNDING: f64 = 1e-9;

/// What to run.
#[derive(Debug, Clone, clap::Args)]
pub struct ConstraintSettings {
    /// A tenth of the instances
    #[arg(long)]
    quick: bool,
    /// Instances
    #[arg(long, default_value_t = 200)]
    instances: u64,
    /// Fixes the instances
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// Runs all of it.
///
/// # Errors
/// None so far.
pub fn run(settings: &ConstraintSettings) -> Result<StudyReport> {
    let count = if settings.quick { settings.instances / 10 } else { settings.instances };
    let indices: Vec<u64> = (0..count).collect();
    let judged = parallel(&indices, |&index| judge(settings.seed, index));
    let mut report = StudyReport::default();
    let mut table = Table::of_numbers(&[
        "objective",
        "instances",
        "best",
        "ratio",
        "largest",
        "bound",
        "wrong",
    ]);
    for objective in Objective::ALL {
        let of: Vec<&Judged> = judged.iter().filter(|j| j.objective == objective).collect();
        let ratio = |j: &&Judged| j.error / j.best.max(ROUNDING);
        let mean = of.iter().map(ratio).sum::<f64>() / of.len().max(1) as f64;
        let largest = of.iter().map(ratio).fold(0.0, f64::max);
        let found = of.iter().filter(|j| j.error <= j.best + ROUNDING).count();
        let gap = of.iter().map(|j| j.bound / j.best.max(ROUNDING)).sum::<f64>();
        table.row(vec![
            objective.name().to_owned(),
            of.len().to_string(),
            found.to_string(),
            format!("{mean:.4}"),
            format!("{largest:.4}"),
            format!("{:.3}", gap / of.len().max(1) as f64),
            of.iter().map(|j| j.failures.len()).sum::<usize>().to_string(),
        ]);
    }
    let about = "best: answers of auto that no choice beats; ratio, largest: their errors over those of the best\n\
                 choice that obeys, mean and largest; bound: over the best, mean; wrong: broken constraints of any\n\
                 method, bounds above the best, errors above 1.01 of it";
    let _ = writeln!(report.text, "{table}{about}\n");
    report.failures = judged.into_iter().flat_map(|judged| judged.failures).collect();
    Ok(report)
}

/// What one instance came to.
struct Judged {
    objective: Objective,
    best: f64,
    error: f64,
    bound: f64,
    failures: Vec<String>,
}

/// Numbers that a seed fixes.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % end
    }

    fn unit(&mut self) -> f64 {
        self.below(1 << 20) as f64 / f64::from(1 << 20)
    }
}

/// Constraints as they were drawn.
#[derive(Debug, Clone)]
struct Drawn {
    must: Vec<usize>,
    never: Vec<usize>,
    /// By row, one of two groups or none; at least and at most.
    group: Vec<Option<usize>>,
    limits: [(usize, usize); 2],
    prices: Vec<f64>,
    budget: f64,
}

impl Drawn {
    fn new(draw: &mut Draw, rows: usize, rank: usize) -> Self {
        let some = |draw: &mut Draw, most: usize| -> Vec<usize> {
            (0..draw.below(most + 1)).map(|_| draw.below(rows)).collect()
        };
        let must = some(draw, rank - 1);
        let mut never = some(draw, 2);
        never.retain(|i| !must.contains(i));
        let group = (0..rows).map(|_| Some(draw.below(3)).filter(|g| *g < 2)).collect();
        let limits = [0, 1].map(|_| {
            let least = draw.below(2);
            (least, (least + draw.below(3)).max(1))
        });
        let prices = (0..rows).map(|_| (1 + draw.below(8)) as f64).collect();
        let budget = (3 * rank + draw.below(6 * rank)) as f64;
        Drawn { must, never, group, limits, prices, budget }
    }

    fn rows_of(&self, g: usize) -> impl Iterator<Item = usize> {
        (0..self.group.len()).filter(move |&i| self.group[i] == Some(g))
    }

    fn asked(&self) -> Constraints {
        let asked = Constraints::default().must(self.must.clone()).never(self.never.clone());
        let asked = asked.budget(self.prices.clone(), self.budget);
        let group = |asked: Constraints, g: usize| {
            let (least, most) = self.limits[g];
            asked.group(format!("group {g}"), self.rows_of(g), least, most)
        };
        group(group(asked, 0), 1)
    }

    fn obeyed_by(&self, set: &[usize]) -> bool {
        let within = |g: usize| {
            let count = self.rows_of(g).filter(|i| set.contains(i)).count();
            (self.limits[g].0..=self.limits[g].1).contains(&count)
        };
        self.must.iter().all(|i| set.contains(i))
            && self.never.iter().all(|i| !set.contains(i))
            && within(0)
            && within(1)
            && set.iter().map(|&i| self.prices[i]).sum::<f64>() <= self.budget
    }
}

/// Rows with zeros and noise, some of them mixtures of others.
fn matrix(draw: &mut Draw, rows: usize, cols: usize) -> Matrix {
    let mut x = Dense::zeros(rows, cols);
    for i in 0..rows {
        for k in 0..cols {
            let value = draw.unit();
            x.row_mut(i)[k] = if draw.below(3) == 0 { 0.0 } else { value * value };
        }
        if i > 2 && draw.below(2) == 0 {
            let (a, b, share) = (draw.below(i), draw.below(i), draw.unit());
            let mixed: Vec<f64> = (0..cols)
                .map(|k| share * x.row(a)[k] + (1.0 - share) * x.row(b)[k] + 0.1 * draw.unit())
                .collect();
            x.row_mut(i).copy_from_slice(&mixed);
        }
        x.row_mut(i)[i % cols] += 0.01;
    }
    x.into()
}

fn judge(seed: u64, index: u64) -> Judged {
    let mut draw = Draw(seed.wrapping_mul(1_000_003).wrapping_add(index).wrapping_mul(97) + 1);
    let (rows, cols, rank) = (8 + draw.below(5), 5 + draw.below(12), 2 + draw.below(3));
    let x = matrix(&mut draw, rows, cols);
    let unit = UnitRows::new(&x).expect("no row is zero");
    let sets: Vec<Vec<usize>> = (0..1usize << rows)
        .filter(|set| set.count_ones() as usize == rank)
        .map(|set| (0..rows).filter(|i| set >> i & 1 == 1).collect())
        .collect();
    let drawn = loop {
        let drawn = Drawn::new(&mut draw, rows, rank);
        if sets.iter().any(|set| drawn.obeyed_by(set)) {
            break drawn;
        }
        // What no choice obeys must be refused.
        assert!(
            Factor::new(rank).constraints(drawn.asked()).run(&x).is_err(),
            "{index}: no choice obeys {drawn:?}, which was accepted"
        );
    };
    let objective = Objective::ALL[(index % 2) as usize];
    // Of the means, every other one is weighted.
    let weights: Vec<f64> = match index % 4 {
        0 => (0..rows).map(|_| draw.below(6) as f64 + 0.5).collect(),
        _ => vec![1.0; rows],
    };
    let mean_weight = weights.iter().sum::<f64>() / rows as f64;
    let score = |set: &Vec<usize>| {
        let fits = exact(&unit, set, &Control::default());
        let weight = |i: usize| match objective {
            Objective::Mean => weights[i] / mean_weight,
            Objective::Max => 1.0,
        };
        objective.score(fits.iter().enumerate().map(|(i, fit)| weight(i) * fit.error))
    };
    let obeying = sets.iter().filter(|set| drawn.obeyed_by(set));
    let best = obeying.map(score).fold(f64::INFINITY, f64::min);
    let mut judged = Judged { objective, best, error: 0.0, bound: 0.0, failures: Vec::new() };
    let wrong = |what: String| format!("constraints, seed {seed}, instance {index}: {what}");
    for method in Method::ALL {
        let mut factor = Factor::new(rank).method(method).objective(objective);
        factor = match method {
            Method::Lp => factor.tau(1.99),
            Method::Agkm => factor.epsilon(0.01).alpha(0.5),
            _ => factor,
        };
        let answer =
            match factor.constraints(drawn.asked()).weights(weights.clone()).threads(1).run(&x) {
                Ok(answer) => answer,
                Err(error) => {
                    judged.failures.push(wrong(format!("{method}: {error}")));
                    continue;
                }
            };
        let rows: Vec<usize> = answer.hott.iter().map(|hott| hott.row).collect();
        if rows.len() != rank || !drawn.obeyed_by(&rows) {
            judged.failures.push(wrong(format!("{method} chose {rows:?}, against {drawn:?}")));
        }
        let error = match objective {
            Objective::Mean => answer.errors.mean_l1,
            Objective::Max => answer.errors.inf1,
        };
        let about_errors = |goal| matches!(goal, Bounded::Mean | Bounded::Max);
        let bound = answer.bounds.filter(|bounds| about_errors(bounds.goal));
        let bound = bound.map_or(0.0, |bounds| bounds.lower_bound);
        if bound > best + ROUNDING {
            judged.failures.push(wrong(format!("{method}: bound {bound} above the best, {best}")));
        }
        if method == Method::Auto {
            (judged.error, judged.bound) = (error, bound);
            if error > NEAR * best + ROUNDING {
                judged.failures.push(wrong(format!("error {error}, the best is {best}")));
            }
        }
    }
    judged
}

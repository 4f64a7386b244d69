//! Rows that no choice of others explains, named and set aside.
//!
//! A row that is like no other is at its own expense: chosen, it explains itself and nobody else; not chosen, its error
//! is what it is, whatever the choice. Among r rows it takes the place of one that explains many, and under
//! `--objective max` it is all that counts. So rows are chosen for the mean error, which one such row hardly moves, and every row is
//! scored by the error that the *others* leave of it:
//!
//! - a row that is not chosen by its error on the chosen ones;
//! - a chosen row that nobody else needs (without it the others lose less, all together, than it does itself) by its
//!   error without it; one that is needed is no outlier.
//!
//! The rows with the largest scores are set aside, all rows are chosen anew without them, and so on until the same rows
//! are named again. [`Outliers::Auto`] names those that stand out of the errors of all rows, unless they have company: rows
//! that explain each other are a topic that was not chosen.

use super::pipeline::Prepared;
use super::{Factor, Factorization, Method};
use crate::clean::{Cleaner, Cleaning, FittedChoice, Starts, least_squares, refit};
use crate::control::{Control, Stop};
use crate::matrix::Matrix;
use crate::normalise::UnitRows;
use crate::order::largest_first;
use crate::{Effort, Error, Objective};

/// Which rows are set aside before rows are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outliers {
    /// So many: those that the others explain worst.
    Count(usize),
    /// Those that stand out, at most a tenth of the rows; none where errors are all alike.
    Auto,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Aside {
    /// Rows of the input, increasing.
    pub rows: Vec<usize>,
    /// Whether there was too little time.
    pub stopped: bool,
}

impl std::str::FromStr for Outliers {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match (text, text.parse()) {
            ("auto", _) => Ok(Outliers::Auto),
            (_, Ok(count)) => Ok(Outliers::Count(count)),
            _ => Err(Error::Setting {
                name: "outliers",
                value: text.to_string(),
                remedy: "give a number, or auto".to_string(),
            }),
        }
    }
}

/// The share of a time limit that it may take.
const SHARE: f64 = 0.3;
/// Rounds at most: each names rows anew.
const ROUNDS: usize = 6;
/// The share of the rows that may stand out by themselves.
const MOST: f64 = 0.1;
/// Rows stand out whose score is above the median by this many times the distance of the upper quartile from it, and
/// by this much at least.
const SPREADS: f64 = 6.0;
const LEAST: f64 = 0.2;
/// A row whose error falls below this share once others that stand out may explain it has company.
const COMPANY: f64 = 0.5;

impl Factor {
    /// The rows of the input that are set aside; none unless [`Factor::outliers`] asks for it.
    pub(super) fn rows_set_aside(&self, matrix: &Matrix, x: &UnitRows) -> Result<Aside, Error> {
        let Some(asked) = self.outliers else { return Ok(Aside::default()) };
        let control = self.control.for_share(SHARE);
        Factor { control, ..self.clone() }.named(asked, matrix, x)
    }

    fn named(&self, asked: Outliers, matrix: &Matrix, x: &UnitRows) -> Result<Aside, Error> {
        let most = match asked {
            Outliers::Count(count) => count,
            Outliers::Auto => (MOST * x.features() as f64).ceil() as usize,
        };
        if most == 0 {
            return Ok(Aside::default());
        }
        if most + self.rank > x.features() {
            let remedy = format!(
                "there are {} rows that are not zero, and {} are to be chosen",
                x.features(),
                self.rank
            );
            return Err(Error::Setting { name: "outliers", value: most.to_string(), remedy });
        }
        let mut aside = Aside::default();
        for _ in 0..ROUNDS {
            let hott = match self.chosen_of(matrix, x.without(&aside.rows)) {
                Ok(hott) => hott,
                Err(Error::NoAnswer(_)) => return Ok(Aside { stopped: true, ..aside }),
                Err(error) => return Err(error),
            };
            let Some(scores) = self.scores(x, &hott) else {
                return Ok(Aside { stopped: true, ..aside });
            };
            let mut found = match asked {
                Outliers::Count(_) => largest(&scores, most),
                Outliers::Auto => {
                    alone(x, &hott, standing_out(&scores, most), &scores, &self.control)
                }
            };
            found.retain(|&i| !self.constraints.asks_for(x.input_row(i)));
            let mut rows: Vec<usize> = found.iter().map(|&i| x.input_row(i)).collect();
            rows.sort_unstable();
            if rows == aside.rows {
                break;
            }
            aside.rows = rows;
        }
        Ok(aside)
    }

    /// The answer with the rows that were set aside: fitted on its hott rows, and their errors told beside the others'.
    pub(super) fn with_outliers(
        &self,
        mut answer: Factorization,
        matrix: &Matrix,
        Aside { rows: aside, stopped }: Aside,
    ) -> Result<Factorization, Error> {
        if stopped {
            let note = "There was not enough time to name outliers with certainty; those named so far were set aside.";
            answer.notes.push(note.to_string());
        }
        if aside.is_empty() {
            return Ok(answer);
        }
        let factor = Factor { cleaning: answer.cleaning, ..self.clone() };
        let applied = factor.apply(&answer.w, &matrix.select_rows(&aside))?;
        let mut order: Vec<usize> = (0..matrix.rows()).collect();
        for (k, &row) in aside.iter().enumerate() {
            order[row] = matrix.rows() + k;
            answer.errors.per_row[row] = applied.errors.per_row[k];
        }
        answer.f = answer.f.above(&applied.f)?.select_rows(&order);
        answer.zero_rows.retain(|row| aside.binary_search(row).is_err());
        if applied.stop != Stop::Finished {
            answer.stop = applied.stop;
        }
        answer.outliers = aside;
        Ok(answer)
    }

    /// Rows chosen for the mean error with little effort, as rows of the input.
    fn chosen_of(&self, matrix: &Matrix, x: UnitRows) -> Result<Vec<usize>, Error> {
        let settings = Factor {
            method: Method::Auto,
            objective: Objective::Mean,
            effort: Effort::Quick,
            groups: false,
            outliers: None,
            constraints: self.constraints.of_parts(),
            ..self.clone()
        };
        let settings = settings.only_used();
        let prepared = Prepared::with_x(&settings, matrix, x)?;
        prepared.chosen(settings.method_with_settings()?.as_ref())
    }

    /// What the others leave of every row of X; `None` when stopped.
    fn scores(&self, x: &UnitRows, hott: &[usize]) -> Option<Vec<f64>> {
        let control = &self.control;
        let hott: Vec<usize> = hott.iter().filter_map(|&row| x.unit_row(row)).collect();
        let exactly = crate::clean::is_affordable(x.shape(), hott.len());
        let cleaning = if exactly { Cleaning::Exact } else { Cleaning::LeastSquares };
        let cleaner = Cleaner { x, cleaning, objective: Objective::Mean, seed: 0, control };
        let with = cleaner.clean(hott.clone());
        let mut scores: Vec<f64> = with.fits.iter().map(|fit| fit.error).collect();
        for (at, &h) in hott.iter().enumerate() {
            scores[h] = if hott.len() > 1 { own_loss(x, &with, at, exactly, control) } else { 0.0 };
        }
        control.goes_on().then_some(scores)
    }
}

/// The error of a chosen row without it, where the others lose less together; zero where it is needed.
fn own_loss(x: &UnitRows, with: &FittedChoice, at: usize, exactly: bool, control: &Control) -> f64 {
    let hott = &with.hott;
    let others: Vec<usize> = hott.iter().copied().filter(|&h| h != hott[at]).collect();
    let leans = |i: &usize| with.fits[*i].weights.iter().any(|w| w.0 as usize == at);
    // Whoever does not use it loses nothing.
    let rows: Vec<usize> = (0..x.features()).filter(leans).collect();
    let fits = match exactly {
        true => refit(x, &others, &rows, Starts::Cold, control),
        false => least_squares(x, &others, &rows, control),
    };
    let (mut own, mut lost) = (0.0, 0.0);
    for (&i, fit) in rows.iter().zip(&fits) {
        match i == hott[at] {
            true => own = fit.error,
            false => lost += (fit.error - with.fits[i].error).max(0.0),
        }
    }
    if lost < own { own } else { 0.0 }
}

/// The rows with the largest scores, largest first; ties go to the lower row.
fn largest(scores: &[f64], most: usize) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..scores.len()).collect();
    largest_first(&mut rows, |i| scores[i]);
    rows.truncate(most);
    rows
}

/// The rows whose scores stand out of all.
fn standing_out(scores: &[f64], most: usize) -> Vec<usize> {
    let mut sorted = scores.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
    let (median, upper) = (at(0.5), at(0.75));
    let least = median + LEAST.max(SPREADS * (upper - median));
    let mut rows = largest(scores, most + 1);
    rows.retain(|&i| scores[i] > least);
    // More than a tenth: then they are no exception.
    if rows.len() > most { Vec::new() } else { rows }
}

/// Those of some rows that no other of them explains, beside the chosen rows.
fn alone(
    x: &UnitRows,
    hott: &[usize],
    rows: Vec<usize>,
    scores: &[f64],
    control: &Control,
) -> Vec<usize> {
    let hott: Vec<usize> = hott.iter().filter_map(|&row| x.unit_row(row)).collect();
    let has_company = |&i: &usize| {
        let chosen = hott.iter().copied().filter(|h| !rows.contains(h));
        let others: Vec<usize> = chosen.chain(rows.iter().copied().filter(|&j| j != i)).collect();
        if others.is_empty() {
            return false;
        }
        let fit = refit(x, &others, &[i], Starts::Cold, control);
        fit[0].error < COMPANY * scores[i]
    };
    rows.iter().copied().filter(|i| !has_company(i)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::{Family, Recipe};

    /// Named without being counted: all of them and nobody else, and the hott rows are found as without them, also
    /// where the largest error is made small, which outliers would decide.
    #[test]
    fn planted_outliers_are_named_and_hott_rows_found() {
        for seed in 0..4 {
            let recipe = Recipe { seed, ..Recipe::new(Family::Outliers, 4).size(60, 100) };
            let instance = recipe.generate().unwrap();
            let truth = &instance.truth;
            for (objective, asked) in [
                (Objective::Mean, Outliers::Auto),
                (Objective::Max, Outliers::Auto),
                (Objective::Max, Outliers::Count(truth.outliers.len())),
            ] {
                let factor = Factor::new(4).objective(objective).effort(Effort::Quick);
                let answer = factor.outliers(asked).run(&instance.matrix).unwrap();
                assert_eq!(answer.outliers, truth.outliers, "{seed} {objective} {asked:?}");
                let rows: Vec<usize> = answer.hott.iter().map(|hott| hott.row).collect();
                assert_eq!(truth.recovered(&rows), 4, "{seed} {objective} {asked:?}");
                // They are fitted and their errors told, but do not count.
                let worst = truth.outliers.iter().map(|&i| answer.errors.per_row[i]);
                assert!(worst.fold(f64::INFINITY, f64::min) > 5.0 * answer.errors.inf1);
                assert!(answer.zero_rows.is_empty());
            }
        }
    }

    #[test]
    fn nothing_stands_out_of_rows_that_are_alike() {
        let recipe = Recipe { noise: 8.0, ..Recipe::new(Family::Paper, 4).size(60, 100) };
        let instance = recipe.generate().unwrap();
        let factor = Factor::new(4).method(Method::Spa).outliers(Outliers::Auto);
        let answer = factor.run(&instance.matrix).unwrap();
        assert_eq!(answer.outliers, Vec::<usize>::new());
        let too_many = Factor::new(4).outliers(Outliers::Count(57)).run(&instance.matrix);
        assert!(too_many.unwrap_err().to_string().contains("outliers = 57 is not possible"));
        assert_eq!("3".parse::<Outliers>().unwrap(), Outliers::Count(3));
        assert!("few".parse::<Outliers>().is_err());
    }
}

//! The steps of a factorization on one screen: *normalise → localise → select → clean → report*.
//!
//! Each arrow is one owned type: [`Prepared`] (X and checked settings), [`Localised`] (candidate sets
//! of rows), [`Choice`] (one set), [`Cleaned`] (all rows fitted on it), [`Factorization`]. Every step is
//! announced and timed by [`Clock::time`], and asks the control of the run; the status of the answer is
//! read last, from what was left undone.

use super::settings::Checked;
use super::{Errors, Factor, Factorization, HottRow, Method, Seconds};
use crate::Error;
use crate::clean::{Cleaner, Cleaning, RowFit, Selection, measure, row_operations};
use crate::control::{Control, Progress, Stage, Stop};
use crate::localise::spa_controlled;
use crate::matrix::{Dense, Matrix, Sparse};
use crate::methods::{Localised, Localiser, Question, Solved};
use crate::normalise::UnitRows;
use crate::select::exchange::{ExchangeSettings, refine};
use crate::select::groups::groups;
use crate::select::portfolio::{Candidate, Judged, Verdict, judge};
use std::time::Instant;

/// Factors the matrix; the linear program behind the answer comes along where the method has one.
pub(super) fn run(
    settings: &Factor,
    matrix: &Matrix,
) -> Result<(Factorization, Option<Solved>), Error> {
    let method = settings.method_with_settings()?;
    let mut clock = Clock::new(&settings.control);
    let prepared = clock.time(Stage::Normalise, || Prepared::new(settings, matrix))?;
    prepared.run(method.as_ref(), clock)
}

impl Prepared<'_> {
    /// The rest of the way, from X to the answer.
    pub fn run(
        &self,
        method: &dyn Localiser,
        mut clock: Clock<'_>,
    ) -> Result<(Factorization, Option<Solved>), Error> {
        let found = clock.time(Stage::Localise, || self.localise(method))?;
        let choice = clock.time(Stage::Select, || self.select(&found))?;
        let cleaned = clock.time(Stage::Clean, || self.clean(choice));
        Ok(self.report(found, cleaned, clock.seconds))
    }
}

/// X and settings that make sense for it.
#[derive(Debug, Clone)]
pub(super) struct Prepared<'a> {
    pub matrix: &'a Matrix,
    pub x: UnitRows,
    pub settings: Checked,
}

/// The hott rows.
pub(super) struct Choice {
    hott: Vec<usize>,
    /// All rows fitted on them, where choosing took that.
    selection: Option<Selection>,
    /// Whether the method chose them in a telling order.
    ordered: bool,
    judged: Vec<Judged>,
    exchanges: usize,
}

/// The hott rows with all rows fitted on them, and the rows that could stand in their place.
pub(super) struct Cleaned {
    selection: Selection,
    groups: Vec<Vec<usize>>,
    judged: Vec<Judged>,
    exchanges: usize,
}

/// Of the time that is left, finding rows leaves at least and at most this share for choosing among
/// them and cleaning, in between about this many times as long as exact cleaning takes.
const LEFT_TO_CLEAN: (f64, f64) = (0.05, 0.3);
const CLEANINGS: f64 = 3.0;
/// Operations of exact cleaning in a second of one thread, roughly.
const OPERATIONS_A_SECOND: f64 = 1e9;

/// Said where [`Cleaning::Auto`] came to least squares.
const TOO_LARGE: &str = "The exact fit of all rows would take very long at this size, so F was \
    fitted by least squares; exact cleaning may be asked for.";

impl<'a> Prepared<'a> {
    /// Rows to unit sum, rows of zeros set aside, settings checked against them.
    pub fn new(settings: &Factor, matrix: &'a Matrix) -> Result<Self, Error> {
        let x = UnitRows::new(matrix)?;
        Self::of(settings, matrix, x)
    }

    /// The same for a matrix that was normalised before.
    pub fn of(settings: &Factor, matrix: &'a Matrix, x: UnitRows) -> Result<Self, Error> {
        let settings = Checked::new(settings, &x)?;
        Ok(Prepared { matrix, x, settings })
    }

    /// What methods are asked.
    pub fn question(&self) -> Question<'_> {
        let Checked { rank, allowed, cost, control, .. } = &self.settings;
        Question { x: &self.x, rank: *rank, allowed, cost: cost.as_deref(), control }
    }

    fn cleaner(&self) -> Cleaner<'_> {
        let Checked { cleaning, objective, seed, ref control, .. } = self.settings;
        Cleaner { x: &self.x, cleaning, objective, seed, control }
    }

    // --- localise ---------------------------------------------------------------------------

    /// Asks the method, leaving some of the time for the rest. A method that is stopped before it
    /// has rows of its own gives way to successive projection, and a note says so.
    fn localise(&self, method: &dyn Localiser) -> Result<Localised, Error> {
        let reserve = self.reserve();
        let control = self.leaving_time_to_clean();
        let complete = |set: &Candidate| set.rows.len() == self.settings.rank;
        let found = match method.localise(&self.question().under(&control)) {
            Ok(found) if !found.candidates.iter().any(complete) => Err(self.no_answer()),
            found => found,
        };
        match found {
            Err(Error::NoAnswer(stop)) => self.instead(reserve, stop),
            found => found,
        }
    }

    /// The control with less time, if there is a limit at all, so that what is found can be cleaned
    /// as well.
    fn leaving_time_to_clean(&self) -> Control {
        let control = &self.settings.control;
        let Some(left) = control.remaining() else { return control.clone() };
        let rows = self.x.features() as f64;
        let operations = rows * row_operations(self.x.shape(), self.settings.rank);
        let threads = rayon::current_num_threads() as f64;
        let cleaning = CLEANINGS * operations / OPERATIONS_A_SECOND / threads;
        let (least, most) = LEFT_TO_CLEAN;
        let share = (cleaning / left.as_secs_f64().max(1e-3)).clamp(least, most);
        control.for_share(1.0 - share)
    }

    /// The rows of successive projection, in case the method is stopped before it has any: taken
    /// first, since after a stop there is no time for anything. `None` where the method itself
    /// begins with them, and where nothing can stop it.
    fn reserve(&self) -> Option<Vec<usize>> {
        let begins_with_them = matches!(self.settings.method, Method::Spa | Method::Auto);
        let control = &self.settings.control;
        if begins_with_them || !control.can_stop() {
            return None;
        }
        self.spa_rows(control)
    }

    /// The rows of successive projection, unless it was stopped before there were enough.
    fn spa_rows(&self, control: &Control) -> Option<Vec<usize>> {
        let Checked { rank, allowed, .. } = &self.settings;
        let rows = spa_controlled(&self.x, None, *rank, allowed, control).rows;
        (rows.len() == *rank).then_some(rows)
    }

    /// What is left when the method was stopped before it had rows of its own.
    fn instead(&self, reserve: Option<Vec<usize>>, stop: Stop) -> Result<Localised, Error> {
        let control = &self.settings.control;
        let Some(why) = control.cut_short() else { return Err(Error::NoAnswer(stop)) };
        let rows = reserve
            .or_else(|| self.spa_rows(control))
            .or_else(|| self.spa_rows(&control.to_finish()))
            .ok_or(Error::NoAnswer(stop))?;
        let found = Localised::rows("spa", rows);
        if self.settings.method == Method::Spa {
            return Ok(found);
        }
        let why = match why {
            Stop::TimeLimit => "The time limit was reached",
            _ => "It was interrupted",
        };
        Ok(found.note(format!(
            "{why} before the method {} had rows of its own: these are those of successive projection.",
            self.settings.method
        )))
    }

    fn no_answer(&self) -> Error {
        Error::NoAnswer(self.settings.control.cut_short().unwrap_or(Stop::Interrupted))
    }

    // --- select -----------------------------------------------------------------------------

    /// One set of rows: the only one, or the candidate with the least cleaned error, which `auto`
    /// improves by exchanges.
    fn select(&self, found: &Localised) -> Result<Choice, Error> {
        let rank = self.settings.rank;
        if let [only] = &found.candidates[..]
            && only.rows.len() == rank
        {
            let judged = vec![Judged { origin: only.origin.clone(), score: f64::NAN }];
            let hott = only.rows.clone();
            return Ok(Choice { hott, selection: None, ordered: true, judged, exchanges: 0 });
        }
        // Least squares stand in where exact fits are not affordable, here as well.
        let squares = self.settings.cleaning == Cleaning::LeastSquares;
        let cleaning = if squares { Cleaning::LeastSquares } else { Cleaning::Exact };
        let cleaner = Cleaner { cleaning, ..self.cleaner() };
        let verdict = judge(&cleaner, rank, &found.candidates).ok_or_else(|| self.no_answer())?;
        let Verdict { hott, selection, judged } = verdict;
        let mut choice = Choice { hott, selection, ordered: false, judged, exchanges: 0 };
        // Exchanges need exact fits of all rows.
        if self.settings.method == Method::Auto && !squares {
            let start = choice.selection.take().unwrap_or_else(|| cleaner.clean(choice.hott));
            let (settings, objective) = (ExchangeSettings::default(), self.settings.objective);
            let (best, exchanges) =
                refine(&self.question(), objective, &settings, start, &found.hints);
            choice.hott = best.hott.clone();
            (choice.selection, choice.exchanges) = (Some(best), exchanges);
        }
        Ok(choice)
    }

    // --- clean ------------------------------------------------------------------------------

    /// All rows fitted on the chosen ones, which are put in a telling order, and their groups.
    fn clean(&self, choice: Choice) -> Cleaned {
        let Choice { hott, selection, ordered, mut judged, exchanges } = choice;
        let cleaner = self.cleaner();
        let mut selection = if ordered {
            cleaner.clean(hott)
        } else {
            let squares = cleaner.cleaning == Cleaning::LeastSquares;
            let cleaning = if squares { Cleaning::LeastSquares } else { Cleaning::Exact };
            let judging = Cleaner { cleaning, ..cleaner };
            let mut selection = selection.unwrap_or_else(|| judging.clean(hott));
            selection.most_distinctive_first(&self.x);
            match cleaner.cleaning {
                Cleaning::Incremental => cleaner.clean(selection.hott),
                _ => selection,
            }
        };
        if let [only] = &mut judged[..]
            && only.score.is_nan()
        {
            only.score = selection.score;
        }
        let groups = self.groups(&mut selection);
        Cleaned { selection, groups, judged, exchanges }
    }

    fn groups(&self, selection: &mut Selection) -> Vec<Vec<usize>> {
        match self.settings.cleaning {
            Cleaning::Auto | Cleaning::Exact if self.settings.groups => {
                groups(&self.question(), self.settings.objective, selection)
            }
            // Exchanges are judged by exact fits, which may not be wanted.
            _ => selection.hott.iter().map(|&h| vec![h]).collect(),
        }
    }

    // --- report -----------------------------------------------------------------------------

    /// F, W, errors and groups in the caller's rows and units.
    fn report(
        &self,
        found: Localised,
        cleaned: Cleaned,
        seconds: Seconds,
    ) -> (Factorization, Option<Solved>) {
        let Localised { diagonal, bounds, program, notes: more, .. } = found;
        let Cleaned { selection: Selection { hott, fits, .. }, groups, judged, exchanges } =
            cleaned;
        let (x, settings) = (&self.x, &self.settings);
        let measured = measure(x, &hott, &fits);
        let inexact = fits.iter().filter(|fit| !fit.optimal).count();
        let input = |i: &usize| x.input_row(*i);
        let mut per_row = vec![0.0; x.input_rows()];
        (0..x.features()).for_each(|i| per_row[input(&i)] = measured.l1[i]);
        let weight = |group: &[usize]| match &diagonal {
            Some(d) if settings.method != Method::Auto => {
                group.iter().map(|i| d[*i]).sum::<f64>().min(1.0)
            }
            _ => 1.0,
        };
        let mut notes: Vec<String> = Vec::new();
        notes.extend(settings.too_large.then(|| TOO_LARGE.to_string()));
        notes.extend(more);
        let winner = judged.iter().min_by(|a, b| a.score.total_cmp(&b.score));
        let answer = Factorization {
            method: settings.method,
            chosen_from: winner.map(|winner| winner.origin.clone()),
            judged,
            exchanges,
            hott: hott
                .iter()
                .zip(&groups)
                .map(|(h, group)| HottRow {
                    row: input(h),
                    weight: weight(group),
                    group: group.iter().map(input).collect(),
                })
                .collect(),
            f: weights_in_units(x, &hott, &fits, matches!(self.matrix, Matrix::Dense(_))),
            w: self.matrix.select_rows(&hott.iter().map(input).collect::<Vec<_>>()),
            errors: Errors {
                inf1: measured.inf1,
                mean_l1: measured.mean_l1,
                rmse: measured.rmse,
                per_row,
            },
            certificate: bounds,
            notes,
            diagonal: diagonal.map(|d| {
                let mut all = vec![0.0; x.input_rows()];
                (0..x.features()).for_each(|i| all[input(&i)] = d[i]);
                all
            }),
            cleaning: settings.cleaning,
            inexact_rows: if settings.cleaning == Cleaning::Exact { inexact } else { 0 },
            zero_rows: (0..x.input_rows()).filter(|&i| x.unit_row(i).is_none()).collect(),
            // Read last: whatever was left undone above has said so.
            stop: settings.control.cut_short().unwrap_or(Stop::Finished),
            seconds,
        };
        (answer, program)
    }

    /// The answer for rows of X that the caller chose.
    pub fn evaluate(&self, rows: Vec<usize>, mut clock: Clock<'_>) -> Factorization {
        let cleaned = clock.time(Stage::Clean, || {
            let mut selection = self.cleaner().clean(rows);
            let groups = self.groups(&mut selection);
            Cleaned { selection, groups, judged: Vec::new(), exchanges: 0 }
        });
        self.report(Localised::default(), cleaned, clock.seconds).0
    }

    /// Rows of X for the caller's hott rows.
    pub fn unit_rows(&self, hott: &[usize]) -> Result<Vec<usize>, Error> {
        let refuse = |row, reason: String| Err(Error::HottRow { row, reason });
        let mut rows = Vec::with_capacity(hott.len());
        for (k, &row) in hott.iter().enumerate() {
            if row >= self.x.input_rows() {
                let last = self.x.input_rows() - 1;
                return refuse(row, format!("the last row is {last}, counting from 0"));
            }
            if hott[..k].contains(&row) {
                return refuse(row, "it is named twice".to_string());
            }
            match self.x.unit_row(row) {
                Some(i) => rows.push(i),
                None => return refuse(row, "all its entries are zero".to_string()),
            }
        }
        Ok(rows)
    }
}

/// F in the units of the input: with D the row sums, `D X = (D F D_hott^-1) (D_hott W)`.
fn weights_in_units(x: &UnitRows, hott: &[usize], fits: &[RowFit], dense: bool) -> Matrix {
    let mut triplets = Vec::new();
    for (i, fit) in fits.iter().enumerate() {
        for &(k, w) in &fit.weights {
            let w = w * (x.sums()[i] / x.sums()[hott[k as usize]]);
            triplets.push((x.input_row(i), k as usize, w));
        }
    }
    if dense {
        let mut f = Dense::zeros(x.input_rows(), hott.len());
        triplets.into_iter().for_each(|(i, k, w)| f.row_mut(i)[k] = w);
        f.into()
    } else {
        Sparse::from_triplets(x.input_rows(), hott.len(), &triplets)
            .expect("rows and columns are in range")
            .into()
    }
}

/// Announces the steps and takes their time.
pub(super) struct Clock<'a> {
    control: &'a Control,
    pub seconds: Seconds,
}

impl<'a> Clock<'a> {
    pub fn new(control: &'a Control) -> Self {
        Clock { control, seconds: Seconds::default() }
    }

    pub fn time<T>(&mut self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let task = match stage {
            Stage::Normalise => "rows to unit sum",
            Stage::Localise => "looking for rows",
            Stage::Select => "choosing rows",
            Stage::Clean => "fitting all rows",
        };
        self.control.report(&Progress {
            stage,
            task,
            done: 0,
            total: None,
            figure: None,
            bound: None,
        });
        let begun = Instant::now();
        let made = work();
        *match stage {
            Stage::Normalise | Stage::Localise => &mut self.seconds.localize,
            Stage::Select => &mut self.seconds.select,
            Stage::Clean => &mut self.seconds.clean,
        } += begun.elapsed().as_secs_f64();
        made
    }
}

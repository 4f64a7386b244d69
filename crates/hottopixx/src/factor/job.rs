//! A factorization under way: normalise, localise, select, clean.

use super::programs::Solved;
use super::{Bounds, Cleaning, Errors, Factor, Factorization, HottRow, Method, Seconds};
use crate::Error;
use crate::clean::{
    IncrementalSettings, RowFit, incremental, is_affordable, least_squares, measure, row_operations,
};
use crate::control::{Control, Stop};
use crate::localise::frobenius::frobenius;
use crate::localise::hottopixx::Effect;
use crate::localise::{
    FrobeniusSettings, Greedy, HottopixxSettings, Localisation, hottopixx, snpa, spa_controlled,
    xray,
};
use crate::matrix::{Dense, Matrix, Sparse};
use crate::normalise::UnitRows;
use crate::select::exchange::{ExchangeSettings, Selection, refine};
use crate::select::groups::groups;
use crate::select::portfolio::{Candidate, Judged, judge, readings};
use crate::select::top;
use std::borrow::Cow;

/// Rows that the Frobenius form may choose from within `auto`, and on its own.
pub(super) const AUTO_SCREENED: usize = 150;
pub(super) const GRADIENT_SCREENED: usize = 500;

/// Of the time that is left, finding rows leaves at least and at most this share for choosing among
/// them and cleaning, in between about so many times as long as exact cleaning takes.
const LEFT_TO_CLEAN: (f64, f64) = (0.05, 0.3);
const CLEANINGS: f64 = 3.0;
/// Operations of exact cleaning in a second of one thread, roughly.
const OPERATIONS_A_SECOND: f64 = 1e9;

/// Said where [`Cleaning::Auto`] came to least squares.
const TOO_LARGE: &str = "The exact fit of all rows would take very long at this size, so F was \
    fitted by least squares; exact cleaning may be asked for.";

/// What localising found.
#[derive(Default)]
pub(super) struct Localised {
    /// Sets of rows that might be the hott ones.
    pub candidates: Vec<Candidate>,
    /// The diagonal of the method, where it has one.
    pub diagonal: Option<Vec<f64>>,
    /// Rows worth trying in exchanges.
    pub hints: Vec<usize>,
    /// What a linear program proves about every choice of rows.
    pub bounds: Option<Bounds>,
    /// The answer of that program, where it is the method's own.
    pub program: Option<Solved>,
    /// What the caller should know.
    pub notes: Vec<String>,
}

impl Localised {
    /// One set, from a method that chooses outright.
    pub fn one(origin: &str, rows: Vec<usize>) -> Self {
        let candidates = vec![Candidate { origin: origin.to_string(), rows }];
        Localised { candidates, ..Default::default() }
    }
}

/// A factorization under way: checked settings and normalised data.
#[derive(Clone)]
pub(super) struct Job<'a> {
    /// With a control of this run alone: what it was told is why the run was cut short.
    pub(super) settings: Cow<'a, Factor>,
    pub(super) x: UnitRows,
    /// Which rows of X may be hott.
    pub(super) allowed: Vec<bool>,
    /// The cost p by row of X.
    pub(super) cost: Option<Vec<f64>>,
    /// How rows are fitted; not [`Cleaning::Auto`].
    pub(super) cleaning: Cleaning,
}

impl<'a> Job<'a> {
    pub(super) fn new(settings: &'a Factor, matrix: &Matrix) -> Result<Self, Error> {
        let x = UnitRows::new(matrix)?;
        let kept = || (0..x.features()).map(|i| x.input_row(i));
        let per_row = |name, found: usize| {
            let expected = matrix.rows();
            if found == expected {
                Ok(())
            } else {
                Err(Error::Length { name, found, expected, what: "rows of the matrix" })
            }
        };
        let allowed: Vec<bool> = match &settings.candidates {
            Some(mask) => {
                per_row("candidates", mask.len())?;
                kept().map(|i| mask[i]).collect()
            }
            None => vec![true; x.features()],
        };
        let cost = match &settings.cost {
            Some(cost) => {
                per_row("cost", cost.len())?;
                if let Some(row) = cost.iter().position(|p| !p.is_finite()) {
                    let remedy = format!("entry {row} must be a finite number");
                    return Err(Error::Setting {
                        name: "cost",
                        value: cost[row].to_string(),
                        remedy,
                    });
                }
                Some(kept().map(|i| cost[i]).collect())
            }
            None => None,
        };
        let available = allowed.iter().filter(|a| **a).count();
        let what = if settings.candidates.is_some() {
            "rows that may be hott"
        } else {
            "rows that are not zero"
        };
        if settings.rank == 0 || settings.rank > available {
            return Err(Error::Rank { rank: settings.rank, available, what });
        }
        let cleaning = match settings.cleaning {
            Cleaning::Auto if is_affordable(x.shape(), settings.rank) => Cleaning::Exact,
            Cleaning::Auto => Cleaning::LeastSquares,
            told => told,
        };
        let control = settings.control.for_new_run();
        let settings = Cow::Owned(Factor { control, ..settings.clone() });
        Ok(Job { settings, x, allowed, cost, cleaning })
    }

    /// Why some part of the run was left undone, which has just been found out.
    pub(super) fn why(&self) -> Stop {
        self.settings.control.cut_short().unwrap_or(Stop::Interrupted)
    }

    /// The same job with less time, if there is a limit at all, so that what is found can be
    /// cleaned as well.
    pub(super) fn leaving_time_to_clean(&self) -> Self {
        let control = &self.settings.control;
        let Some(left) = control.remaining() else { return self.clone() };
        let rows = self.x.features() as f64;
        let operations = rows * row_operations(self.x.shape(), self.settings.rank);
        let threads = rayon::current_num_threads() as f64;
        let cleaning = CLEANINGS * operations / OPERATIONS_A_SECOND / threads;
        let (least, most) = LEFT_TO_CLEAN;
        let share = (cleaning / left.as_secs_f64().max(1e-3)).clamp(least, most);
        let control = control.for_share(1.0 - share);
        let settings = Cow::Owned(Factor { control, ..self.settings.as_ref().clone() });
        Job { settings, ..self.clone() }
    }

    /// The rows of successive projection, in case the method is stopped before it has any: taken
    /// first, since after a stop there is no time for anything. `None` where the method itself
    /// begins with them, and where nothing can stop it.
    pub(super) fn reserve(&self) -> Option<Vec<usize>> {
        let begins_with_them = matches!(self.settings.method, Method::Spa | Method::Auto);
        let control = &self.settings.control;
        if begins_with_them || !control.can_stop() {
            return None;
        }
        self.spa_rows(control)
    }

    /// The rows of successive projection, unless it was stopped before there were enough.
    fn spa_rows(&self, control: &Control) -> Option<Vec<usize>> {
        let rank = self.settings.rank;
        let rows = spa_controlled(&self.x, None, rank, &self.allowed, control).rows;
        (rows.len() == rank).then_some(rows)
    }

    /// Looks for rows, leaving some of the time for the rest; an error unless there is a complete
    /// set of them.
    pub(super) fn find(&self) -> Result<Localised, Error> {
        let found = self.leaving_time_to_clean().localise()?;
        let complete = |set: &Candidate| set.rows.len() == self.settings.rank;
        if found.candidates.iter().any(complete) { Ok(found) } else { Err(self.no_answer()) }
    }

    /// What is left when the method was stopped before it had rows of its own.
    pub(super) fn instead(
        &self,
        reserve: Option<Vec<usize>>,
        stop: Stop,
    ) -> Result<Localised, Error> {
        let control = &self.settings.control;
        if control.cut_short().is_none() {
            return Err(Error::NoAnswer(stop));
        }
        let rows = reserve
            .or_else(|| self.spa_rows(control))
            .or_else(|| self.spa_rows(&control.to_finish()))
            .ok_or(Error::NoAnswer(stop))?;
        let mut found = Localised::one("spa", rows);
        if self.settings.method != Method::Spa {
            let why = match self.why() {
                Stop::TimeLimit => "The time limit was reached",
                _ => "It was interrupted",
            };
            let name = self.settings.method.name();
            found.notes.push(format!(
                "{why} before the method {name} had rows of its own: these are those of \
                 successive projection."
            ));
        }
        Ok(found)
    }

    /// Rows of X for the caller's hott rows.
    pub(super) fn unit_rows(&self, hott: &[usize]) -> Result<Vec<usize>, Error> {
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

    fn localise(&self) -> Result<Localised, Error> {
        let (x, rank, allowed) = (&self.x, self.settings.rank, &self.allowed);
        let control = &self.settings.control;
        Ok(match self.settings.method {
            Method::Spa => {
                Localised::one("spa", spa_controlled(x, None, rank, allowed, control).rows)
            }
            Method::Snpa => Localised::one("snpa", snpa(x, rank, allowed, control).rows),
            Method::Xray => Localised::one("xray", xray(x, rank, allowed, control).rows),
            Method::Agkm => self.agkm()?,
            Method::Lp | Method::Minimax | Method::Total => self.program()?,
            Method::Gradient => {
                let screened =
                    self.screen_whole(GRADIENT_SCREENED).ok_or_else(|| self.no_answer())?;
                let found = self.gradient(&screened)?;
                if found.iterations == 0 {
                    return Err(self.no_answer());
                }
                self.convex("gradient", found.diagonal)
            }
            Method::Hottopixx => {
                let found = self.hottopixx()?;
                if found.iterations == 0 {
                    return Err(self.no_answer());
                }
                let mut localised = self.convex("hottopixx", found.diagonal);
                localised.notes.extend(self.memory_note());
                localised.notes.extend(found.screened.map(|(kept, of)| {
                    format!("Only the {kept} rows of {of} that explain most by themselves could be hott.")
                }));
                localised
            }
            Method::Auto => self.portfolio()?,
        })
    }

    /// What the memory allowed has changed about Algorithm 4.
    fn memory_note(&self) -> Option<String> {
        let (shape, rank) = (self.x.shape(), self.settings.rank);
        let allowed = self.allowed.iter().filter(|a| **a).count();
        let settings = self.settings.hottopixx_settings(shape);
        let what = match settings.effect(shape, rank, allowed) {
            Effect::None => return None,
            Effect::Windows(windows) => {
                format!("went through the examples in {windows} windows instead of all at once")
            }
            Effect::Columns { kept, usual } => {
                format!("let only {kept} rows be hott instead of {usual}")
            }
        };
        let mib = self.settings.budget() as f64 / f64::from(1 << 20);
        Some(format!(
            "To keep to {mib:.0} MiB of memory, the method {what}; another limit gives another answer."
        ))
    }

    fn no_answer(&self) -> Error {
        Error::NoAnswer(self.why())
    }

    pub(super) fn convex(&self, name: &str, diagonal: Vec<f64>) -> Localised {
        let (rank, control) = (self.settings.rank, &self.settings.control);
        let candidates = readings(&self.x, name, &diagonal, rank, &self.allowed, control);
        Localised { candidates, diagonal: Some(diagonal), ..Default::default() }
    }

    fn gradient(&self, allowed: &[bool]) -> Result<Localisation, Error> {
        // With the trace fixed the error alone should decide, unless the caller has other wishes.
        let mu = if self.cost.is_some() { 0.05 } else { 0.0 };
        let settings = FrobeniusSettings { mu, cost: self.cost.clone(), ..Default::default() };
        frobenius(&self.x, self.settings.rank, allowed, &settings, &self.settings.control)
    }

    fn hottopixx(&self) -> Result<Localisation, Error> {
        let usual = self.settings.hottopixx_settings(self.x.shape());
        let settings = HottopixxSettings { cost: self.cost.clone(), ..usual };
        let (x, rank) = (&self.x, self.settings.rank);
        hottopixx::unmeasured(x, rank, &self.allowed, &settings, &self.settings.control)
    }

    /// The candidates of `auto`: the greedy methods, and the Frobenius form and, where it is
    /// affordable, the minimax program in all their readings.
    fn portfolio(&self) -> Result<Localised, Error> {
        let (x, rank, control) = (&self.x, self.settings.rank, &self.settings.control);
        let available = self.allowed.iter().filter(|a| **a).count();
        // SPA goes on beyond the rank: its next rows are worth trying in exchanges.
        let long = (3 * rank + 60).min(available);
        let spa = spa_controlled(x, None, long, &self.allowed, control).rows;
        let first = spa[..rank.min(spa.len())].to_vec();
        let mut sets = vec![Candidate { origin: "spa".to_string(), rows: first }];
        let mut hints = spa;
        let mut diagonal = None;
        type Greedily = fn(&UnitRows, usize, &[bool], &Control) -> Greedy;
        for (origin, method) in [("snpa", snpa as Greedily), ("xray", xray as Greedily)] {
            if control.stopped().is_none() {
                let rows = method(x, rank, &self.allowed, control).rows;
                hints.extend_from_slice(&rows);
                sets.push(Candidate { origin: origin.to_string(), rows });
            }
        }
        if let Some(screened) = self.screen_whole(AUTO_SCREENED) {
            let found = self.gradient(&screened)?;
            if found.iterations > 0 {
                let found = found.diagonal;
                sets.extend(readings(x, "gradient", &found, rank, &screened, control));
                hints.extend(top(&found, rank + 25, &screened));
                diagonal = Some(found);
            }
        }
        let mut bounds = None;
        if control.stopped().is_none()
            && let Some(found) = self.minimax_within_auto()?
        {
            sets.extend(found.candidates);
            hints.extend(found.hints);
            bounds = found.bounds;
        }
        hints.reverse(); // the convex methods' rows first, then the greedy ones
        let mut seen = std::collections::HashSet::new();
        hints.retain(|j| seen.insert(*j));
        Ok(Localised { candidates: sets, diagonal, hints, bounds, ..Default::default() })
    }

    /// How many rows are left by [`Job::screen`] at most.
    pub(super) fn screened(&self, most: usize) -> usize {
        most.max(3 * self.settings.rank)
    }

    /// Rows that the Frobenius form may choose from: all allowed ones when they are no more than
    /// `most`, otherwise the first that SPA comes across. Its cost grows with their square. `None`
    /// when stopped.
    fn screen_whole(&self, most: usize) -> Option<Vec<bool>> {
        let most = self.screened(most);
        if self.allowed.iter().filter(|a| **a).count() <= most {
            return Some(self.allowed.clone());
        }
        let mut mask = vec![false; self.allowed.len()];
        let control = &self.settings.control;
        let first = spa_controlled(&self.x, None, most, &self.allowed, control);
        first.rows.iter().for_each(|&i| mask[i] = true);
        (first.stop == Stop::Finished).then_some(mask)
    }

    /// As [`Job::screen_whole`]; stopped, as many rows as the rank, whichever they are: there will be
    /// no time to choose from them.
    pub(super) fn screen(&self, most: usize) -> Vec<bool> {
        self.screen_whole(most).unwrap_or_else(|| {
            let mut wanted = self.settings.rank;
            let mut take = |allowed: &bool| {
                let taken = *allowed && wanted > 0;
                wanted -= usize::from(taken);
                taken
            };
            self.allowed.iter().map(&mut take).collect()
        })
    }

    pub(super) fn select(
        &self,
        candidates: &[Candidate],
        hints: &[usize],
    ) -> Result<(Selection, Vec<Judged>, usize), Error> {
        let (rank, objective) = (self.settings.rank, self.settings.objective);
        let control = &self.settings.control;
        if let [only] = candidates
            && only.rows.len() == rank
        {
            let selection = self.clean(only.rows.clone());
            let judged = Judged { origin: only.origin.clone(), score: selection.score };
            return Ok((selection, vec![judged], 0));
        }
        // Least squares stands in where exact fits are not affordable, here as well.
        let squares = self.cleaning == Cleaning::LeastSquares;
        let clean = |hott| {
            if squares {
                self.clean(hott)
            } else {
                Selection::new(&self.x, hott, objective, None, control)
            }
        };
        let judged = judge(&self.x, candidates, rank, objective, control, squares, clean);
        let Some((mut selection, judged)) = judged else {
            return Err(self.no_answer());
        };
        let mut exchanges = 0;
        // Exchanges need exact fits of all rows.
        if self.settings.method == Method::Auto && !squares {
            let settings = ExchangeSettings::default();
            (selection, exchanges) =
                refine(&self.x, selection, hints, &self.allowed, objective, &settings, control);
        }
        // Greedy methods choose in a telling order; the others do not.
        selection.most_distinctive_first(&self.x);
        if self.cleaning == Cleaning::Incremental {
            selection = self.clean(selection.hott);
        }
        Ok((selection, judged, exchanges))
    }

    /// The given rows of X, with all rows fitted on them as the settings say.
    pub(super) fn clean(&self, hott: Vec<usize>) -> Selection {
        let objective = self.settings.objective;
        let fits = match self.cleaning {
            Cleaning::Auto | Cleaning::Exact => {
                return Selection::new(&self.x, hott, objective, None, &self.settings.control);
            }
            Cleaning::LeastSquares => {
                let all: Vec<usize> = (0..self.x.features()).collect();
                least_squares(&self.x, &hott, &all, &self.settings.control)
            }
            Cleaning::Incremental => {
                let settings =
                    IncrementalSettings { seed: self.settings.seed, ..Default::default() };
                incremental(&self.x, &hott, &settings, &self.settings.control)
            }
        };
        let score = objective.score(fits.iter().map(|fit| fit.error));
        Selection { hott, fits, score }
    }

    /// F, W, errors and groups in the caller's rows and units.
    pub(super) fn finish(
        &self,
        matrix: &Matrix,
        selection: Selection,
        diagonal: Option<Vec<f64>>,
    ) -> Factorization {
        let (x, settings) = (&self.x, self.settings.as_ref());
        let groups = match self.cleaning {
            Cleaning::Auto | Cleaning::Exact if settings.groups => {
                groups(x, &selection, &self.allowed, settings.objective, &settings.control)
            }
            // Exchanges are judged by exact fits, which may not be wanted.
            _ => selection.hott.iter().map(|&h| vec![h]).collect(),
        };
        let Selection { hott, fits, .. } = selection;
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
        Factorization {
            method: settings.method,
            chosen_from: None,
            judged: Vec::new(),
            exchanges: 0,
            hott: hott
                .iter()
                .zip(&groups)
                .map(|(h, group)| HottRow {
                    row: input(h),
                    weight: weight(group),
                    group: group.iter().map(input).collect(),
                })
                .collect(),
            f: weights_in_units(x, &hott, &fits, matches!(matrix, Matrix::Dense(_))),
            w: matrix.select_rows(&hott.iter().map(input).collect::<Vec<_>>()),
            errors: Errors {
                inf1: measured.inf1,
                mean_l1: measured.mean_l1,
                rmse: measured.rmse,
                per_row,
            },
            certificate: None,
            notes: if self.cleaning == settings.cleaning || self.cleaning == Cleaning::Exact {
                Vec::new()
            } else {
                vec![TOO_LARGE.to_string()]
            },
            diagonal: diagonal.map(|d| {
                let mut all = vec![0.0; x.input_rows()];
                (0..x.features()).for_each(|i| all[input(&i)] = d[i]);
                all
            }),
            cleaning: self.cleaning,
            inexact_rows: if self.cleaning == Cleaning::Exact { inexact } else { 0 },
            zero_rows: (0..x.input_rows()).filter(|&i| x.unit_row(i).is_none()).collect(),
            // Read last: whatever was left undone above has said so.
            stop: settings.control.cut_short().unwrap_or(Stop::Finished),
            seconds: Seconds::default(),
        }
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

//! The steps of a factorization: *normalise → localise → select → clean → report*. `run` and
//! `Prepared::factor` show them on one screen; the rest of the file is what each of them does.
//!
//! Each arrow is one type: [`Prepared`] (X and checked settings), [`Localised`] (candidate sets of
//! rows), [`Choice`] (one set), [`Cleaned`] (all rows fitted on it), [`Factorization`]. A `Clock`
//! announces and times the steps. All of them look at the run's [`Control`], whose copies share one record
//! of whether anything was left undone, and why: `Factorization::stop` is read from it at the very end.

use super::checked::Checked;
use super::clock::Clock;
use super::{Factor, Factorization, Method};
use crate::Error;
use crate::clean::{Cleaner, Cleaning, Distances, FittedChoice, row_operations};
use crate::control::{Control, Stage, Stop};
use crate::localise::{Question, spa_ruled};
use crate::matrix::Matrix;
use crate::methods::{Localised, Localiser, Solved, effort_nearby, search_pays_nearby};
use crate::normalise::UnitRows;
use crate::select::groups::groups;
use crate::select::portfolio::{Candidate, Judged, Verdict, judge, judge_nearby};
use crate::select::search::search;

/// Factors the matrix.
pub(super) fn run(settings: &Factor, given: &Matrix) -> Result<Factorization, Error> {
    let method = settings.method_with_settings()?;
    let mut clock = Clock::new(&settings.control);
    // The matrix itself, unless entries are missing that are to be left out (`factor/missing`).
    let completed = clock.time(Stage::Normalise, || settings.completed(given))?;
    let (matrix, x) = (&completed.matrix, completed.unit_rows()?);
    let aside = clock.time(Stage::Localise, || settings.rows_set_aside(matrix, &x))?;
    let x = if aside.rows.is_empty() { x } else { x.without(&aside.rows) };
    let prepared = Prepared::with_x(settings, matrix, x)?;
    let answer = prepared.factor(method.as_ref(), clock)?.0;
    let answer = settings.with_outliers(answer, given, aside)?;
    Ok(completed.told_with(answer))
}

/// X and settings that make sense for it.
#[derive(Debug, Clone)]
pub(super) struct Prepared<'a> {
    /// As the caller gave it.
    pub matrix: &'a Matrix,
    /// Its rows scaled to sum one, without those of zeros.
    pub x: UnitRows,
    pub settings: Checked,
}

impl Prepared<'_> {
    /// From X to the answer. The linear program that the method has solved, if it has, comes along for
    /// `certify`.
    pub fn factor(
        &self,
        method: &dyn Localiser,
        mut clock: Clock<'_>,
    ) -> Result<(Factorization, Option<Solved>), Error> {
        let mut found = clock.time(Stage::Localise, || self.localise(method))?;
        let choice = clock.time(Stage::Select, || self.select(&found))?;
        let cleaned = clock.time(Stage::Clean, || self.clean(choice));
        let linear_program = found.program.take();
        // `report` is in `factor/report`: rows, units and errors as the caller knows them, with the bound
        // that localising has proven.
        Ok((self.report(found, cleaned, clock.seconds)?, linear_program))
    }
}

impl Prepared<'_> {
    /// The rows of the input that are chosen, in any order, without fits and report.
    pub fn chosen(&self, method: &dyn Localiser) -> Result<Vec<usize>, Error> {
        let found = self.localise(method)?;
        let rows = match self.select(&found)? {
            Choice::Only { hott, .. } => hott,
            Choice::Best { verdict, .. } => verdict.fitted.hott,
        };
        Ok(rows.into_iter().map(|i| self.x.input_row(i)).collect())
    }
}

/// The hott rows.
enum Choice {
    /// There was one set; its order is the method's, and nothing was fitted yet.
    Only { origin: String, hott: Vec<usize> },
    /// The best of several sets with the fits of all rows; in no particular order unless it is `in_order`, the fits
    /// then being final.
    Best { verdict: Verdict, exchanges: usize, in_order: bool },
}

/// The hott rows with all rows fitted on them, and the rows that could stand in their place.
pub(super) struct Cleaned {
    pub fitted: FittedChoice,
    pub groups: Vec<Vec<usize>>,
    /// The candidates' scores, and which of them was the best before `auto` searched on.
    pub judged: Vec<Judged>,
    pub best: Option<usize>,
    pub exchanges: usize,
}

/// Of a time limit, what this many exact cleanings take is kept for choosing among sets and cleaning, but no
/// less and no more than these shares.
const CLEANINGS: f64 = 3.0;
const LEFT_TO_CLEAN: (f64, f64) = (0.05, 0.3);
/// Operations of exact cleaning in a second of one thread, roughly.
const OPERATIONS_PER_SECOND: f64 = 1e9;

impl<'a> Prepared<'a> {
    /// Rows to unit sum, rows of zeros set aside, settings checked against them.
    pub fn new(settings: &Factor, matrix: &'a Matrix) -> Result<Self, Error> {
        settings.refuse_missing(matrix)?;
        Self::with_x(settings, matrix, UnitRows::new(matrix)?)
    }

    /// The same for a matrix that was normalised before.
    pub fn with_x(settings: &Factor, matrix: &'a Matrix, x: UnitRows) -> Result<Self, Error> {
        let x = match &settings.weights {
            Some(weights) => x.weighed(weights)?,
            None => x,
        };
        let checked = Checked::new(settings, &x)?;
        let x = match &settings.example_weights {
            Some(weights) => x.with_example_weights(weights),
            None => x,
        };
        Ok(Prepared { matrix, x, settings: checked })
    }

    /// What methods are asked.
    pub fn question(&self) -> Question<'_> {
        let Checked { rank, allowed, cost, control, rules, .. } = &self.settings;
        Question { x: &self.x, rank: *rank, allowed, cost: cost.as_deref(), control, rules }
    }

    /// How rows are fitted in the answer.
    pub fn cleaner(&self) -> Cleaner<'_> {
        let Checked { cleaning, objective, seed, ref control, .. } = self.settings;
        Cleaner { x: &self.x, cleaning, objective, seed, control }
    }

    /// How rows are fitted to judge candidates: exactly, or by least squares if [`Checked`] has found exact fits
    /// too slow or the caller asks for least squares. Never incrementally.
    fn judging_cleaner(&self) -> Cleaner<'_> {
        match self.settings.cleaning {
            Cleaning::LeastSquares => self.cleaner(),
            _ => Cleaner { cleaning: Cleaning::Exact, ..self.cleaner() },
        }
    }

    // --- localise ---------------------------------------------------------------------------

    /// Asks the method, leaving some of the time for the rest. A method that is stopped before it
    /// has rows of its own gives way to successive projection, and a note says so.
    fn localise(&self, method: &dyn Localiser) -> Result<Localised, Error> {
        let spare = self.spare_rows();
        let control = self.leaving_time_to_clean();
        let complete = |set: &Candidate| set.rows.len() == self.settings.rank;
        match method.localise(&self.question().under(&control)) {
            Ok(found) if found.candidates.iter().any(complete) => Ok(self.obeying(found)),
            Ok(_) => self.fall_back_to_spa(spare, self.why()),
            Err(Error::NoAnswer(stop)) => self.fall_back_to_spa(spare, stop),
            Err(error) => Err(error),
        }
    }

    /// What was found, with every complete set mended that does not obey the rules: as many of its rows as can be, in
    /// their order, and others by successive projection. What the bound is about is said.
    fn obeying(&self, mut found: Localised) -> Localised {
        let question = self.question();
        let Question { rank, allowed, rules, .. } = question;
        if rules.is_free() {
            return found;
        }
        let mut others: Option<Vec<usize>> = None;
        for set in found.candidates.iter_mut().filter(|set| set.rows.len() == rank) {
            if !rules.obeyed_by(&set.rows) {
                let others = others.get_or_insert_with(|| spa_ruled(&question, None).rows);
                set.rows = rules.choose(&[&set.rows[..], others].concat(), rank, allowed);
            }
        }
        let unheeded = self.unheeded(&found);
        if unheeded.is_empty() {
            return found;
        }
        found.note(format!(
            "The bound holds for more choices than those that obey the constraints: it does not heed {}.",
            unheeded.join(", ")
        ))
    }

    /// The constraints that the bound is not about, where there is one. Rows that must not be chosen always are heeded.
    fn unheeded(&self, found: &Localised) -> Vec<&'static str> {
        let (rank, rules) = (self.settings.rank, &self.settings.rules);
        let program = found.program.as_ref().map(|solved| &solved.settings.must[..]);
        let (must, most) = match (&found.error_bound, &found.bounds) {
            (Some(_), _) => (!self.x.has_gaps(), !self.x.has_gaps()),
            (None, Some(_)) => (program == Some(rules.must()), false),
            (None, None) => return Vec::new(),
        };
        let kinds = [
            (!must && !rules.must().is_empty(), "rows that must be chosen"),
            (!most && rules.has_most(rank), "the most of a group"),
            (rules.has_least(), "the least of a group"),
            (rules.has_budget(), "the budget"),
        ];
        kinds.into_iter().filter(|kind| kind.0).map(|kind| kind.1).collect()
    }

    /// The control with less time, if there is a limit at all, so that what is found can be cleaned
    /// as well.
    fn leaving_time_to_clean(&self) -> Control {
        let control = &self.settings.control;
        let Some(left) = control.remaining() else { return control.clone() };
        let rows = self.x.features() as f64;
        let operations = rows * row_operations(self.x.shape(), self.settings.rank);
        let threads = rayon::current_num_threads() as f64;
        let cleaning = CLEANINGS * operations / OPERATIONS_PER_SECOND / threads;
        let (least, most) = LEFT_TO_CLEAN;
        let share = (cleaning / left.as_secs_f64().max(1e-3)).clamp(least, most);
        control.for_share(1.0 - share)
    }

    /// The rows of successive projection, in case the method is stopped before it has any: taken
    /// first, since after a stop there is no time for anything. `None` where the method itself
    /// begins with them, and where nothing can stop it.
    fn spare_rows(&self) -> Option<Vec<usize>> {
        let begins_with_them = matches!(self.settings.method, Method::Spa | Method::Auto);
        let control = &self.settings.control;
        if begins_with_them || !control.can_stop() {
            return None;
        }
        self.spa_rows(control)
    }

    /// The rows of successive projection, unless it was stopped before there were enough.
    fn spa_rows(&self, control: &Control) -> Option<Vec<usize>> {
        let unweighted = None;
        let rows = spa_ruled(&self.question().under(control), unweighted).rows;
        (rows.len() == self.settings.rank).then_some(rows)
    }

    /// For a method that was stopped before it had rows of its own: the rows of successive projection that were
    /// taken beforehand, else those found in the remaining time, else in a short extension of it.
    fn fall_back_to_spa(&self, spare: Option<Vec<usize>>, stop: Stop) -> Result<Localised, Error> {
        let control = &self.settings.control;
        let Some(why) = control.cut_short() else { return Err(Error::NoAnswer(stop)) };
        let rows = spare
            .or_else(|| self.spa_rows(control))
            .or_else(|| self.spa_rows(&control.to_finish()))
            .ok_or(Error::NoAnswer(stop))?;
        let found = Localised::rows("spa", rows);
        if self.settings.method == Method::Spa {
            return Ok(found);
        }
        let why = match why {
            Stop::TimeLimit => "The time limit was reached",
            _ => "The run was interrupted",
        };
        Ok(found.note(format!(
            "{why} before the method {} had found its rows; the rows shown are those of successive projection.",
            self.settings.method
        )))
    }

    /// Why a step came to too little: [`Checked`] guarantees enough rows that may be hott, so it was stopped.
    fn why(&self) -> Stop {
        self.settings.control.cut_short().unwrap_or(Stop::Interrupted)
    }

    // --- select -----------------------------------------------------------------------------

    /// One set of rows: the only one, or the candidate with the least cleaned error, which `auto`
    /// improves by exchanges where exact fits are affordable.
    fn select(&self, found: &Localised) -> Result<Choice, Error> {
        let rank = self.settings.rank;
        if let [only] = &found.candidates[..]
            && only.rows.len() == rank
        {
            let (origin, hott) = (only.origin.clone(), only.rows.clone());
            return Ok(Choice::Only { origin, hott });
        }
        let cleaner = self.judging_cleaner();
        if self.settings.nearby && cleaner.cleaning == Cleaning::Exact {
            return self.select_nearby(found);
        }
        let searches = self.settings.method == Method::Auto && cleaner.cleaning == Cleaning::Exact;
        let beside = if searches { &[][..] } else { &found.beside };
        let verdict = judge(&cleaner, rank, &[&found.candidates, beside].concat(), None);
        let verdict = verdict.ok_or_else(|| Error::NoAnswer(self.why()))?;
        if searches {
            return Ok(self.improve(verdict, found, false));
        }
        Ok(Choice::Best { verdict, exchanges: 0, in_order: false })
    }

    /// The same near an earlier answer. A fit of all rows is most of what an update costs: each set is in the order of the
    /// answer before anything is fitted, and what judging computes for the winner is not computed again.
    fn select_nearby(&self, found: &Localised) -> Result<Choice, Error> {
        let Checked { rank, objective, effort, cleaning, .. } = self.settings;
        let distances = Distances::new(&self.x);
        let in_order = |set: &Candidate| Candidate {
            origin: set.origin.clone(),
            rows: distances.most_distinctive_first(&set.rows),
        };
        let candidates: Vec<Candidate> = found.candidates.iter().map(in_order).collect();
        let verdict = judge_nearby(&self.judging_cleaner(), rank, &candidates);
        let verdict = verdict.ok_or_else(|| Error::NoAnswer(self.why()))?;
        let in_order = cleaning == Cleaning::Exact;
        if search_pays_nearby(effort, objective, verdict.fitted.score) {
            return Ok(self.improve(verdict, found, in_order));
        }
        Ok(Choice::Best { verdict, exchanges: 0, in_order })
    }

    /// Searches for a better choice, starting from the best candidates; the hints are rows that it tries first:
    /// those of all methods. What is found is judged on all rows beside the best candidate: `sets` has the best
    /// first, while `best` is its place in `judged`. Its fits are final where it is `in_order`; those of others are not.
    fn improve(&self, verdict: Verdict, found: &Localised, in_order: bool) -> Choice {
        let Checked { rank, objective, effort, nearby, .. } = self.settings;
        let effort = if nearby { effort_nearby(effort) } else { effort };
        let starts = (&verdict.sets[..], verdict.fitted.score);
        let searched = search(&self.question(), objective, effort, starts, &found.hints);
        let Verdict { fitted, judged, best, sets } = verdict;
        let as_candidate =
            |rows: &Vec<usize>| Candidate { origin: "search".to_string(), rows: rows.clone() };
        let beside = found.beside.iter().map(|set| &set.rows);
        let sets_to_judge = sets[..1].iter().chain(&searched.sets).chain(beside);
        let candidates: Vec<Candidate> = sets_to_judge.map(as_candidate).collect();
        let again = judge(&self.judging_cleaner(), rank, &candidates, Some(fitted));
        let again = again.expect("the first of them is complete");
        let of_search = (1..=searched.sets.len()).contains(&again.best);
        let exchanges = if of_search { searched.exchanges } else { 0 };
        // The rows and their fits may be those of the search; scores stay those of the methods' candidates.
        let verdict = Verdict { fitted: again.fitted, judged, best, sets };
        Choice::Best { verdict, exchanges, in_order: in_order && again.best == 0 }
    }

    // --- clean ------------------------------------------------------------------------------

    /// All rows fitted on the chosen ones, which judging has done already where there were several sets.
    /// A set chosen among several has no order of its own: the rows farthest from the mean row come first.
    fn clean(&self, choice: Choice) -> Cleaned {
        match choice {
            Choice::Only { origin, hott } => {
                let cleaned = Cleaned::of_given(self, hott);
                let judged = vec![Judged { origin, score: cleaned.fitted.score }];
                Cleaned { judged, best: Some(0), ..cleaned }
            }
            Choice::Best { verdict, exchanges, in_order } => {
                let Verdict { mut fitted, judged, best, .. } = verdict;
                if !in_order {
                    fitted.most_distinctive_first(&self.x);
                    fitted = self.fit_from_nothing(fitted);
                }
                let groups = self.groups(&fitted);
                Cleaned { fitted, groups, judged, best: Some(best), exchanges }
            }
        }
    }

    /// The same choice, every row fitted once more and from nothing. While sets are judged, fits begin where
    /// those of other sets ended, and the last bits of a fit (of several best ones, the fit itself) depend on
    /// that. Fitted like this they follow from the row and the hott rows in their order: whoever fits the
    /// row on them later, alone ([`Factor::apply`]) or with others ([`Factor::evaluate`]), finds the same numbers. Some
    /// hundredths of the time of `auto`; left out when the time is over.
    fn fit_from_nothing(&self, fitted: FittedChoice) -> FittedChoice {
        let control = &self.settings.control;
        let incremental = self.settings.cleaning == Cleaning::Incremental;
        if control.cut_short().is_some() && !incremental {
            return fitted;
        }
        let again = self.cleaner().clean(fitted.hott.clone());
        if control.cut_short().is_some() && !incremental { fitted } else { again }
    }

    fn groups(&self, fitted: &FittedChoice) -> Vec<Vec<usize>> {
        if self.settings.cleaning == Cleaning::Exact && self.settings.groups {
            groups(&self.question(), self.settings.objective, fitted)
        } else {
            // Groups take exact fits. Without these, or unless groups are wanted, each row is alone.
            fitted.hott.iter().map(|&h| vec![h]).collect()
        }
    }
}

impl Cleaned {
    /// All rows fitted on the given ones, in their order.
    pub fn of_given(prepared: &Prepared<'_>, hott: Vec<usize>) -> Self {
        let fitted = prepared.cleaner().clean(hott);
        let groups = prepared.groups(&fitted);
        Cleaned { fitted, groups, judged: Vec::new(), best: None, exchanges: 0 }
    }
}

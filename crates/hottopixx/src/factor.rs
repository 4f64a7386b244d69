//! The whole pipeline behind one builder: settings in, factorization out.

use crate::Error;
use crate::clean::{IncrementalSettings, RowFit, incremental, measure};
use crate::control::{Control, Stop};
use crate::localise::frobenius::frobenius;
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
use std::time::Instant;

/// How the hott rows are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Several methods, judged by their exact cleaned error, then refined by exchanges.
    #[default]
    Auto,
    /// The paper's incremental gradient method (Algorithm 4, corrected).
    Hottopixx,
    /// The Frobenius form, by accelerated projected gradients on the Gram matrix.
    Gradient,
    /// Successive projection.
    Spa,
    /// Successive nonnegative projection.
    Snpa,
    /// XRAY (Kumar, Sindhwani, Kambadur).
    Xray,
}

impl Method {
    /// Every method, in the order in which they are listed to users.
    pub const ALL: [Method; 6] = [
        Method::Auto,
        Method::Hottopixx,
        Method::Gradient,
        Method::Spa,
        Method::Snpa,
        Method::Xray,
    ];

    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Method::Auto => "auto",
            Method::Hottopixx => "hottopixx",
            Method::Gradient => "gradient",
            Method::Spa => "spa",
            Method::Snpa => "snpa",
            Method::Xray => "xray",
        }
    }
}

/// Which cleaned error is made small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Objective {
    /// The mean over rows of the l1 error.
    #[default]
    Mean,
    /// The largest l1 error of a row: the paper's (inf,1) norm.
    Max,
}

/// How the other rows are fitted on the hott rows, equation (2) of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cleaning {
    /// The exact minimum for every row.
    #[default]
    Exact,
    /// Incremental gradient epochs, as in the paper's experiments: fast, and only approximate.
    Incremental,
}

/// A hott row of the answer.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct HottRow {
    /// Row of the input, from 0.
    pub row: usize,
    /// Its weight on the diagonal of the localising matrix, pooled over the group; 1 for methods
    /// that choose rows outright.
    pub weight: f64,
    /// All rows of the input, this one included, that could stand in its place with nearly the
    /// same error. Increasing.
    pub group: Vec<usize>,
}

/// Errors of a factorization, against X with unit row sums; rows of zeros do not count.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Errors {
    /// The largest l1 error of a row: the paper's (inf,1) norm of X - FW.
    pub inf1: f64,
    /// The mean over rows of the l1 error.
    pub mean_l1: f64,
    /// Root of the mean squared error over all entries.
    pub rmse: f64,
    /// The l1 error of each row of the input.
    #[serde(skip)]
    pub per_row: Vec<f64>,
}

/// Wall-clock seconds of each step.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct Seconds {
    /// Normalising and finding where hott rows are.
    pub localize: f64,
    /// Choosing among candidates and exchanging.
    pub select: f64,
    /// Fitting all rows on the hott rows.
    pub clean: f64,
}

/// The answer: `X ~ F W`, in the units of the input.
#[derive(Debug, Clone, PartialEq)]
pub struct Factorization {
    /// The method that was asked for.
    pub method: Method,
    /// Where the chosen rows come from, such as `gradient, cluster`, before any exchanges.
    pub chosen_from: Option<String>,
    /// The candidates that were judged, with their cleaned errors.
    pub judged: Vec<Judged>,
    /// Exchanges that refined the choice.
    pub exchanges: usize,
    /// The hott rows, one for each row of W and column of F.
    pub hott: Vec<HottRow>,
    /// F, features x rank: dense for dense input, sparse for sparse input.
    pub f: Matrix,
    /// W, rank x examples: the hott rows of the input.
    pub w: Matrix,
    /// How well F W explains X.
    pub errors: Errors,
    /// The diagonal of the localising matrix by row of the input, where the method has one.
    pub diagonal: Option<Vec<f64>>,
    /// How F was fitted.
    pub cleaning: Cleaning,
    /// Rows of zeros in the input, explained by nothing.
    pub zero_rows: Vec<usize>,
    /// Why the computation ended.
    pub stop: Stop,
    /// Time spent.
    pub seconds: Seconds,
}

/// Settings of a factorization; [`Factor::run`] carries it out.
#[derive(Debug, Clone)]
pub struct Factor {
    pub(crate) rank: usize,
    pub(crate) method: Method,
    pub(crate) objective: Objective,
    pub(crate) cleaning: Cleaning,
    pub(crate) seed: u64,
    pub(crate) threads: usize,
    pub(crate) epochs: usize,
    pub(crate) cost: Option<Vec<f64>>,
    pub(crate) candidates: Option<Vec<bool>>,
    pub(crate) control: Control,
}

impl Factor {
    /// Asks for `rank` hott rows, everything else at its default.
    pub fn new(rank: usize) -> Self {
        Factor {
            rank,
            method: Method::Auto,
            objective: Objective::Mean,
            cleaning: Cleaning::Exact,
            seed: 0,
            threads: 0,
            epochs: 50,
            cost: None,
            candidates: None,
            control: Control::default(),
        }
    }

    /// How the hott rows are found (default [`Method::Auto`]).
    pub fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    /// Which cleaned error is made small (default [`Objective::Mean`]).
    pub fn objective(mut self, objective: Objective) -> Self {
        self.objective = objective;
        self
    }

    /// How F is fitted (default [`Cleaning::Exact`]).
    pub fn cleaning(mut self, cleaning: Cleaning) -> Self {
        self.cleaning = cleaning;
        self
    }

    /// Fixes everything random (default 0).
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Number of threads; 0, the default, for all the machine has. The answer does not depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Epochs of [`Method::Hottopixx`] (default 50, as in the paper).
    pub fn epochs(mut self, epochs: usize) -> Self {
        self.epochs = epochs;
        self
    }

    /// The cost vector p, one entry for each row of the input (default `p_j = -||x_j||_2^2`).
    pub fn cost(mut self, cost: Vec<f64>) -> Self {
        self.cost = Some(cost);
        self
    }

    /// Which rows of the input may be hott (default: all that are not zero).
    pub fn candidates(mut self, candidates: Vec<bool>) -> Self {
        self.candidates = Some(candidates);
        self
    }

    /// Deadline, stop flag and observer.
    pub fn control(mut self, control: Control) -> Self {
        self.control = control;
        self
    }

    /// Factors the matrix.
    ///
    /// # Errors
    /// When the matrix or a setting is not usable, or when the computation was stopped before
    /// there was any answer; see [`Error`].
    pub fn run(&self, matrix: &Matrix) -> Result<Factorization, Error> {
        self.in_pool(|| {
            let clock = Instant::now();
            let job = Job::new(self, matrix)?;
            let (candidates, diagonal, hints) = job.localise()?;
            let localize = clock.elapsed().as_secs_f64();
            let (selection, judged, exchanges) = job.select(&candidates, &hints)?;
            let select = clock.elapsed().as_secs_f64() - localize;
            let winner = judged.iter().min_by(|a, b| a.score.total_cmp(&b.score));
            let chosen_from = winner.map(|w| w.origin.clone());
            let mut result = job.finish(matrix, selection, diagonal);
            result.chosen_from = chosen_from;
            result.judged = judged;
            result.exchanges = exchanges;
            let clean = clock.elapsed().as_secs_f64() - localize - select;
            result.seconds = Seconds { localize, select, clean };
            Ok(result)
        })
    }

    /// Cleans a given choice of rows of the input and measures it: the errors of any answer.
    /// The rank of the settings does not matter.
    ///
    /// # Errors
    /// As [`Factor::run`], and [`Error::HottRow`] for rows that cannot be hott.
    pub fn evaluate(&self, matrix: &Matrix, hott: &[usize]) -> Result<Factorization, Error> {
        self.in_pool(|| {
            let clock = Instant::now();
            let settings = Factor { rank: hott.len(), ..self.clone() };
            let job = Job::new(&settings, matrix)?;
            let rows = job.unit_rows(hott)?;
            let selection = Selection::new(&job.x, rows, self.objective, None);
            let mut result = job.finish(matrix, selection, None);
            result.seconds.clean = clock.elapsed().as_secs_f64();
            Ok(result)
        })
    }

    /// Runs `work` on the number of threads asked for.
    fn in_pool<T: Send>(&self, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build();
        let pool = pool.map_err(|e| Error::Setting {
            name: "threads",
            value: self.threads.to_string(),
            remedy: format!("the system refused them ({e}); ask for fewer"),
        })?;
        pool.install(work)
    }
}

/// Candidate sets, the diagonal of the method where it has one, and rows worth trying in exchanges.
type Localised = (Vec<Candidate>, Option<Vec<f64>>, Vec<usize>);

/// A factorization under way: checked settings and normalised data.
struct Job<'a> {
    settings: &'a Factor,
    x: UnitRows,
    /// Which rows of X may be hott.
    allowed: Vec<bool>,
    /// The cost p by row of X.
    cost: Option<Vec<f64>>,
}

impl<'a> Job<'a> {
    fn new(settings: &'a Factor, matrix: &Matrix) -> Result<Self, Error> {
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
        Ok(Job { settings, x, allowed, cost })
    }

    /// Rows of X for the caller's hott rows.
    fn unit_rows(&self, hott: &[usize]) -> Result<Vec<usize>, Error> {
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
        let greedy = |origin: &str, rows| vec![Candidate { origin: origin.to_string(), rows }];
        Ok(match self.settings.method {
            Method::Spa => {
                (greedy("spa", spa_controlled(x, None, rank, allowed, control).rows), None, vec![])
            }
            Method::Snpa => (greedy("snpa", snpa(x, rank, allowed, control).rows), None, vec![]),
            Method::Xray => (greedy("xray", xray(x, rank, allowed, control).rows), None, vec![]),
            Method::Gradient => self.convex("gradient", self.gradient(allowed)?.diagonal),
            Method::Hottopixx => self.convex("hottopixx", self.hottopixx()?.diagonal),
            Method::Auto => self.portfolio()?,
        })
    }

    fn convex(&self, name: &str, diagonal: Vec<f64>) -> Localised {
        let (rank, control) = (self.settings.rank, &self.settings.control);
        let sets = readings(&self.x, name, &diagonal, rank, &self.allowed, control);
        (sets, Some(diagonal), Vec::new())
    }

    fn gradient(&self, allowed: &[bool]) -> Result<Localisation, Error> {
        let settings = FrobeniusSettings { cost: self.cost.clone(), ..Default::default() };
        frobenius(&self.x, self.settings.rank, allowed, &settings, &self.settings.control)
    }

    fn hottopixx(&self) -> Result<Localisation, Error> {
        let settings = HottopixxSettings {
            epochs: self.settings.epochs,
            seed: self.settings.seed,
            cost: self.cost.clone(),
            ..Default::default()
        };
        hottopixx(&self.x, self.settings.rank, &self.allowed, &settings, &self.settings.control)
    }

    /// The candidates of `auto`: the greedy methods, and the Frobenius form in all its readings.
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
        if control.stopped().is_none() {
            let screened = self.screen(&hints);
            let found = self.gradient(&screened)?.diagonal;
            sets.extend(readings(x, "gradient", &found, rank, &screened, control));
            hints.extend(top(&found, rank + 25, &screened));
            diagonal = Some(found);
        }
        hints.reverse(); // the convex method's rows first, then the greedy ones
        let mut seen = std::collections::HashSet::new();
        hints.retain(|j| seen.insert(*j));
        Ok((sets, diagonal, hints))
    }

    /// Rows that the convex method of `auto` may choose from: all allowed ones when they are few,
    /// otherwise those that the greedy methods came across. Its cost grows with their square.
    fn screen(&self, greedy: &[usize]) -> Vec<bool> {
        const FEW: usize = 250;
        if self.allowed.iter().filter(|a| **a).count() <= FEW.max(3 * self.settings.rank) {
            return self.allowed.clone();
        }
        let mut mask = vec![false; self.allowed.len()];
        greedy.iter().for_each(|&i| mask[i] = true);
        mask
    }

    fn select(
        &self,
        candidates: &[Candidate],
        hints: &[usize],
    ) -> Result<(Selection, Vec<Judged>, usize), Error> {
        let (objective, control) = (self.settings.objective, &self.settings.control);
        let judged = judge(&self.x, candidates, self.settings.rank, objective, control);
        let Some((selection, judged)) = judged else {
            return Err(Error::NoAnswer(control.stopped().unwrap_or(Stop::Interrupted)));
        };
        if self.settings.method != Method::Auto {
            return Ok((selection, judged, 0));
        }
        let settings = ExchangeSettings::default();
        let (selection, exchanges) =
            refine(&self.x, selection, hints, &self.allowed, objective, &settings, control);
        Ok((selection, judged, exchanges))
    }

    /// F, W, errors and groups in the caller's rows and units.
    fn finish(
        &self,
        matrix: &Matrix,
        selection: Selection,
        diagonal: Option<Vec<f64>>,
    ) -> Factorization {
        let (x, settings) = (&self.x, self.settings);
        let stop = settings.control.stopped().unwrap_or(Stop::Finished);
        let groups = groups(x, &selection, &self.allowed, settings.objective, &settings.control);
        let Selection { hott, fits, .. } = selection;
        let fits = match settings.cleaning {
            Cleaning::Exact => fits,
            Cleaning::Incremental => {
                let seed = settings.seed;
                incremental(x, &hott, &IncrementalSettings { seed, ..Default::default() })
            }
        };
        let measured = measure(x, &hott, &fits);
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
            diagonal: diagonal.map(|d| {
                let mut all = vec![0.0; x.input_rows()];
                (0..x.features()).for_each(|i| all[input(&i)] = d[i]);
                all
            }),
            cleaning: settings.cleaning,
            zero_rows: (0..x.input_rows()).filter(|&i| x.unit_row(i).is_none()).collect(),
            stop,
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

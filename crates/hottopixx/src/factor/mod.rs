//! The whole pipeline behind one builder: settings in, factorization out.

mod certified;
mod compare;
mod job;
mod memory;
mod path;
mod programs;

pub use certified::Certified;
pub use compare::{Compared, Comparison, Skipped};
pub use memory::{Footprint, USUAL_BUDGET};
pub use path::{RankPath, RankPoint};
pub use programs::Bounds;

use crate::checkpoint::Keeper;
use crate::control::{Control, Stop};
use crate::matrix::{Matrix, fingerprint};
use crate::select::portfolio::Judged;
use crate::{Error, Objective};
use job::{Job, Localised};
use std::sync::Arc;
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
    /// The paper's linear program with the error that every row may have, tau (Algorithm 3; 2 with
    /// tau = 0), solved exactly.
    Lp,
    /// The linear program that makes the largest error of a row small; needs no tau.
    Minimax,
    /// The linear program that makes the sum of all errors small.
    Total,
    /// The Frobenius form, by accelerated projected gradients on the Gram matrix.
    Gradient,
    /// The algorithm of Arora, Ge, Kannan and Moitra (Algorithm 1), which must be told epsilon and
    /// alpha.
    Agkm,
    /// Successive projection.
    Spa,
    /// Successive nonnegative projection.
    Snpa,
    /// XRAY (Kumar, Sindhwani, Kambadur).
    Xray,
}

impl Method {
    /// Every method, in the order in which they are listed to users.
    pub const ALL: [Method; 10] = [
        Method::Auto,
        Method::Hottopixx,
        Method::Lp,
        Method::Minimax,
        Method::Total,
        Method::Gradient,
        Method::Agkm,
        Method::Spa,
        Method::Snpa,
        Method::Xray,
    ];

    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Method::Auto => "auto",
            Method::Hottopixx => "hottopixx",
            Method::Lp => "lp",
            Method::Minimax => "minimax",
            Method::Total => "total",
            Method::Gradient => "gradient",
            Method::Agkm => "agkm",
            Method::Spa => "spa",
            Method::Snpa => "snpa",
            Method::Xray => "xray",
        }
    }

    /// Names of the settings without which it cannot run; only the caller knows their values.
    pub fn must_be_told(self) -> &'static [&'static str] {
        match self {
            Method::Lp => &["tau"],
            Method::Agkm => &["epsilon", "alpha"],
            _ => &[],
        }
    }

    /// Whether it solves one of the linear programs of [`localise::lp`](crate::localise::lp).
    pub fn is_program(self) -> bool {
        matches!(self, Method::Lp | Method::Minimax | Method::Total)
    }
}

/// How the other rows are fitted on the hott rows, equation (2) of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cleaning {
    /// [`Cleaning::Exact`] where the shape of the matrix makes it affordable
    /// ([`is_affordable`](crate::clean::is_affordable)), otherwise [`Cleaning::LeastSquares`]. Results
    /// name the one that was used, never this.
    #[default]
    Auto,
    /// The exact minimum for every row.
    Exact,
    /// Nonnegative least squares: fast at any size; the l1 errors are near the smallest, not at it.
    LeastSquares,
    /// Incremental gradient epochs, as in the paper's experiments: only approximate.
    Incremental,
}

impl Cleaning {
    /// All of them, in the order in which they are listed to users.
    pub const ALL: [Cleaning; 4] =
        [Cleaning::Auto, Cleaning::Exact, Cleaning::LeastSquares, Cleaning::Incremental];

    /// The name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Cleaning::Auto => "auto",
            Cleaning::Exact => "exact",
            Cleaning::LeastSquares => "least-squares",
            Cleaning::Incremental => "incremental",
        }
    }
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
    /// The hott rows, one for each row of W and column of F: in the order of choice for greedy
    /// methods, otherwise the most distinctive (farthest from the mean row) first.
    pub hott: Vec<HottRow>,
    /// F, features x rank: dense for dense input, sparse for sparse input.
    pub f: Matrix,
    /// W, rank x examples: the hott rows of the input.
    pub w: Matrix,
    /// How well F W explains X.
    pub errors: Errors,
    /// The bounds of the linear program that was solved: the method's own or, for
    /// [`Method::Auto`], that of minimax where it ranged over all rows that may be hott.
    pub certificate: Option<Bounds>,
    /// What the caller should know about how the rows were chosen, in whole sentences.
    pub notes: Vec<String>,
    /// The diagonal of the localising matrix by row of the input, where the method has one.
    pub diagonal: Option<Vec<f64>>,
    /// How F was fitted; never [`Cleaning::Auto`].
    pub cleaning: Cleaning,
    /// Rows whose exact fit could not be proven optimal (rounding got in the way); their measured
    /// errors hold all the same. Always 0 unless cleaning was exact: the others prove nothing.
    pub inexact_rows: usize,
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
    pub(crate) epochs: Option<usize>,
    pub(crate) cost: Option<Vec<f64>>,
    pub(crate) tau: Option<f64>,
    pub(crate) gap: Option<f64>,
    pub(crate) trace: bool,
    pub(crate) epsilon: Option<f64>,
    pub(crate) alpha: Option<f64>,
    pub(crate) candidates: Option<Vec<bool>>,
    pub(crate) groups: bool,
    pub(crate) memory: Option<u64>,
    pub(crate) control: Control,
}

impl Factor {
    /// Asks for `rank` hott rows, everything else at its default.
    pub fn new(rank: usize) -> Self {
        Factor {
            rank,
            method: Method::Auto,
            objective: Objective::Mean,
            cleaning: Cleaning::Auto,
            seed: 0,
            threads: 0,
            epochs: None,
            cost: None,
            tau: None,
            gap: None,
            trace: true,
            epsilon: None,
            alpha: None,
            candidates: None,
            groups: true,
            memory: None,
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

    /// How F is fitted (default [`Cleaning::Auto`]).
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

    /// Epochs of [`Method::Hottopixx`] (default 50, as in the paper, and fewer for more than 12,800
    /// examples, see [`usual_epochs`](crate::localise::hottopixx::usual_epochs)).
    pub fn epochs(mut self, epochs: usize) -> Self {
        self.epochs = Some(epochs);
        self
    }

    /// The cost vector p, one entry for each row of the input (default `p_j = -||x_j||_2^2`).
    pub fn cost(mut self, cost: Vec<f64>) -> Self {
        self.cost = Some(cost);
        self
    }

    /// The l1 error that every row may have, rows summing to one, for [`Method::Lp`], which
    /// cannot do without; 2 epsilon in the paper's theorem.
    pub fn tau(mut self, tau: f64) -> Self {
        self.tau = Some(tau);
        self
    }

    /// Relative gap between objective and bound at which a linear program is solved (default 1e-6
    /// for [`Method::Lp`], 1e-4 for [`Method::Minimax`] and [`Method::Total`]).
    pub fn gap(mut self, gap: f64) -> Self {
        self.gap = Some(gap);
        self
    }

    /// Whether the diagonal of [`Method::Lp`] must sum to the rank (default true).
    pub fn trace(mut self, trace: bool) -> Self {
        self.trace = trace;
        self
    }

    /// For [`Method::Agkm`], which cannot do without: no row, summing to one, is farther in l1
    /// from what it is without noise.
    pub fn epsilon(mut self, epsilon: f64) -> Self {
        self.epsilon = Some(epsilon);
        self
    }

    /// For [`Method::Agkm`], which cannot do without: the least l1 distance of a hott row from the
    /// convex hull of the others.
    pub fn alpha(mut self, alpha: f64) -> Self {
        self.alpha = Some(alpha);
        self
    }

    /// Which rows of the input may be hott (default: all that are not zero).
    pub fn candidates(mut self, candidates: Vec<bool>) -> Self {
        self.candidates = Some(candidates);
        self
    }

    /// Whether to look for the rows that could stand in the place of each hott row (default true):
    /// for small matrices that takes longer than a greedy method. Without, every group is its hott
    /// row alone, which is then all that its weight counts.
    pub fn groups(mut self, groups: bool) -> Self {
        self.groups = groups;
        self
    }

    /// Bytes that the computation may take beside the matrix (default [`USUAL_BUDGET`], on any
    /// machine). [`Method::Hottopixx`] keeps to it where it can; where that changes its answer, a note
    /// says so. The others take what [`Factor::footprint`] says.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Deadline, stop flag and observer.
    pub fn control(mut self, control: Control) -> Self {
        self.control = control;
        self
    }

    /// Keeps the state of the run, in addition to what [`Factor::control`] says.
    pub fn keeper(mut self, keeper: Arc<dyn Keeper>) -> Self {
        self.control = self.control.with_keeper(keeper);
        self
    }

    /// Factors the matrix. A method that is stopped before it has rows of its own gives those of
    /// successive projection, and a note says so.
    ///
    /// # Errors
    /// When the matrix or a setting is not usable, or when the computation was stopped before
    /// there was any answer; see [`Error`].
    pub fn run(&self, matrix: &Matrix) -> Result<Factorization, Error> {
        self.in_pool(|| {
            let clock = Instant::now();
            let job = Job::new(self, matrix)?;
            let reserve = job.reserve();
            let found = match job.find() {
                Err(Error::NoAnswer(stop)) => job.instead(reserve, stop)?,
                found => found?,
            };
            Ok(conclude(&job, matrix, found, clock)?.0)
        })
    }

    /// A number that differs, as good as surely, for runs on other data or with other settings:
    /// what a checkpoint belongs to. Threads and limits do not matter. O(nonzeros).
    pub fn fingerprint(&self, matrix: &Matrix) -> u64 {
        let Factor { rank, method, objective, cleaning, seed, epochs, cost, .. } = self;
        let Factor { tau, gap, trace, epsilon, alpha, candidates, groups, memory, .. } = self;
        let version = env!("CARGO_PKG_VERSION");
        let settings = format!(
            "{version} {rank} {method:?} {objective:?} {cleaning:?} {seed} {epochs:?} {cost:?} {tau:?} \
             {gap:?} {trace} {epsilon:?} {alpha:?} {candidates:?} {groups} {memory:?}"
        );
        fingerprint(matrix, &settings)
    }

    /// The factorization, and the linear program behind it where the method has one.
    fn carry_out(
        &self,
        job: &Job<'_>,
        matrix: &Matrix,
    ) -> Result<(Factorization, Option<programs::Solved>), Error> {
        let clock = Instant::now();
        conclude(job, matrix, job.find()?, clock)
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
            let mut result = job.finish(matrix, job.clean(rows), None);
            result.seconds.clean = clock.elapsed().as_secs_f64();
            Ok(result)
        })
    }

    /// The number of threads asked for.
    fn thread_count(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }

    /// Runs `work` on the number of threads asked for: in the caller's pool where it has as many, so
    /// that the caller can tell what his threads have done.
    fn in_pool<T: Send>(&self, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        if rayon::current_thread_index().is_some() && rayon::current_num_threads() == self.threads {
            return work();
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build();
        let pool = pool.map_err(|e| Error::Setting {
            name: "threads",
            value: self.threads.to_string(),
            remedy: format!("the system refused them ({e}); ask for fewer"),
        })?;
        pool.install(work)
    }
}

/// From candidates to the factorization; `clock` tells when looking for them began.
fn conclude(
    job: &Job<'_>,
    matrix: &Matrix,
    found: Localised,
    clock: Instant,
) -> Result<(Factorization, Option<programs::Solved>), Error> {
    let localize = clock.elapsed().as_secs_f64();
    let (selection, judged, exchanges) = job.select(&found.candidates, &found.hints)?;
    let select = clock.elapsed().as_secs_f64() - localize;
    let winner = judged.iter().min_by(|a, b| a.score.total_cmp(&b.score));
    let chosen_from = winner.map(|w| w.origin.clone());
    let mut result = job.finish(matrix, selection, found.diagonal);
    result.chosen_from = chosen_from;
    result.judged = judged;
    result.exchanges = exchanges;
    result.certificate = found.bounds;
    result.notes.extend(found.notes);
    let clean = clock.elapsed().as_secs_f64() - localize - select;
    result.seconds = Seconds { localize, select, clean };
    Ok((result, found.program))
}

//! What a caller may ask for; [`Checked`](super::checked::Checked) says what of it makes sense.

use super::{Method, Missing, Outliers};
use crate::checkpoint::Keeper;
use crate::clean::Cleaning;
use crate::control::Control;
use crate::localise::hottopixx::Effect;
use crate::matrix::{Matrix, Shape, fingerprint};
use crate::methods::{
    Agkm, Auto, Gradient, Hottopixx, KeptDual, Localiser, Nearby, Program, Snpa, Spa, USUAL_BUDGET,
    Xray,
};
use crate::{Constraints, Effort, Error, Goal, Objective};
use std::sync::Arc;

/// Settings of a factorization; [`Factor::run`] carries it out.
#[derive(Debug, Clone)]
pub struct Factor {
    pub(super) rank: usize,
    pub(super) method: Method,
    /// The caller's own, with [`Method::Custom`].
    pub(super) localiser: Option<Arc<dyn Localiser>>,
    pub(super) objective: Objective,
    pub(super) effort: Effort,
    pub(super) cleaning: Cleaning,
    pub(super) seed: u64,
    pub(super) threads: usize,
    pub(super) epochs: Option<usize>,
    pub(super) cost: Option<Vec<f64>>,
    pub(super) tau: Option<f64>,
    pub(super) gap: Option<f64>,
    pub(super) trace: bool,
    pub(super) epsilon: Option<f64>,
    pub(super) alpha: Option<f64>,
    pub(super) candidates: Option<Vec<bool>>,
    pub(super) constraints: Constraints,
    pub(super) start: Option<Vec<usize>>,
    pub(super) start_dual: Option<Arc<KeptDual>>,
    pub(super) keep_dual: bool,
    pub(super) outliers: Option<Outliers>,
    pub(super) missing: Missing,
    pub(super) weights: Option<Vec<f64>>,
    pub(super) groups: bool,
    pub(super) example_weights: Option<Vec<f64>>,
    pub(super) memory: Option<u64>,
    pub(super) control: Control,
}

impl Factor {
    /// Asks for `rank` hott rows, everything else at its default.
    pub fn new(rank: usize) -> Self {
        Factor {
            rank,
            method: Method::Auto,
            localiser: None,
            objective: Objective::Mean,
            effort: Effort::Normal,
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
            constraints: Constraints::default(),
            start: None,
            start_dual: None,
            keep_dual: false,
            outliers: None,
            missing: Missing::Refuse,
            weights: None,
            groups: true,
            example_weights: None,
            memory: None,
            control: Control::default(),
        }
    }

    /// How the hott rows are found (default [`Method::Auto`]).
    pub fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    /// Finds the hott rows with a method of the caller's own; results name it [`Method::Custom`].
    pub fn localiser(mut self, localiser: impl Localiser + 'static) -> Self {
        self.method = Method::Custom;
        self.localiser = Some(Arc::new(localiser));
        self
    }

    /// Which cleaned error is made small (default [`Objective::Mean`]).
    pub fn objective(mut self, objective: Objective) -> Self {
        self.objective = objective;
        self
    }

    /// How long [`Method::Auto`] looks for a better answer (default [`Effort::Normal`]); the others do
    /// what they do.
    pub fn effort(mut self, effort: Effort) -> Self {
        self.effort = effort;
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

    /// What the choice must obey (default: nothing): rows that must be in it, groups, a budget. Every method obeys;
    /// how far a bound heeds it is said in a note.
    pub fn constraints(mut self, constraints: Constraints) -> Self {
        self.constraints = constraints;
        self
    }

    /// Rows of the input at which [`Method::Auto`] begins (default: none): those of an answer that was found before, on
    /// nearly the same data. Then it only looks for something better near them, which takes a small part of the time; the
    /// other methods refuse it. Rows that cannot be hott any more are replaced; what became of them is told by
    /// [`Factorization::changes_since`](super::Factorization::changes_since).
    pub fn start(mut self, rows: Vec<usize>) -> Self {
        self.start = Some(rows);
        self
    }

    /// The dual of the answer whose rows are given to [`Factor::start`] (default: none): [`Factorization::dual`] of a run
    /// with [`Factor::keep_dual`]. Any dual proves a bound, that of nearly the same data one that is nearly as good, and what
    /// is left to do is to verify it. One that is about other rows or columns, or proves much less than it did, is not used.
    ///
    /// [`Factorization::dual`]: super::Factorization::dual
    pub fn start_dual(mut self, dual: Arc<KeptDual>) -> Self {
        self.start_dual = Some(dual);
        self
    }

    /// Whether [`Method::Auto`] keeps the dual behind its bound on the mean error with the answer (default false): a byte
    /// for each entry of the matrix, or fewer.
    pub fn keep_dual(mut self, keep: bool) -> Self {
        self.keep_dual = keep;
        self
    }

    /// How much each row of the input counts in the mean error (default: all the same), such as how often a word occurs: in
    /// the judging of choices, exchanges, bounds on the mean and reports. Numbers that are not negative; only their
    /// proportions matter. Algorithms 3 and 4, minimax and [`Objective::Max`] do not know of them.
    pub fn weights(mut self, weights: Vec<f64>) -> Self {
        self.weights = Some(weights);
        self
    }

    /// Which rows are named as outliers and set aside (default: none): they cannot be hott and do not count for the
    /// errors, but are fitted on the hott rows in the end. Choosing them takes some runs with little effort. Rows that
    /// must be chosen are never set aside. Only [`Factor::run`] heeds it.
    pub fn outliers(mut self, outliers: Outliers) -> Self {
        self.outliers = Some(outliers);
        self
    }

    /// What becomes of entries that are NaN (default [`Missing::Refuse`]). With [`Missing::Observed`] they were not
    /// observed: an error is that of the observed entries of a row in shares of their sum, and hott rows are
    /// completed first. [`Method::Lp`], [`Method::Minimax`], [`Method::Total`] and [`Method::Agkm`] are about all
    /// entries and refuse it, as do incremental cleaning and weights of examples. [`Factor::run`],
    /// [`Factor::evaluate`], [`Factor::path`] and [`Factor::apply`] heed it.
    pub fn missing(mut self, missing: Missing) -> Self {
        self.missing = missing;
        self
    }

    /// Whether to look for the rows that could stand in the place of each hott row (default true):
    /// for small matrices that takes longer than a greedy method. Without, every group is its hott
    /// row alone, which is then all that its weight counts.
    pub fn groups(mut self, groups: bool) -> Self {
        self.groups = groups;
        self
    }

    /// What each column of the matrix has been multiplied with (default: nothing): column k then stands for `w_k`
    /// copies of an example. l1 errors are those of the copies without being told; where squares decide
    /// ([`Method::Spa`], [`Method::Snpa`], [`Method::Xray`], [`Method::Gradient`]), a copy of the matrix is taken in which
    /// their sums are those of the copies as well.
    pub fn example_weights(mut self, weights: Vec<f64>) -> Self {
        self.example_weights = Some(weights);
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

    /// A number that differs, as good as surely, for runs on other data or with other settings:
    /// what a checkpoint belongs to. Threads and limits do not matter, nor does the memory but for what it
    /// changes in the answer. O(nonzeros).
    pub fn fingerprint(&self, matrix: &Matrix) -> u64 {
        let Factor { rank, method, objective, effort, cleaning, seed, epochs, cost, .. } = self;
        let Factor { tau, gap, trace, epsilon, alpha, candidates, groups, .. } = self;
        let Factor { constraints, start, outliers, weights, example_weights, missing, .. } = self;
        let memory = self.effect_of_memory(matrix);
        let dual = self.start_dual.as_ref().map_or_else(String::new, |dual| format!(" {dual:?}"));
        let version = env!("CARGO_PKG_VERSION");
        let settings = format!(
            "{version} {rank} {method:?} {objective:?} {effort:?} {cleaning:?} {seed} {epochs:?} {cost:?} {tau:?} \
             {gap:?} {trace} {epsilon:?} {alpha:?} {candidates:?} {constraints:?} {start:?} {outliers:?} {weights:?} \
             {example_weights:?} {groups} {memory:?} {missing:?}{dual}"
        );
        fingerprint(matrix, &settings)
    }

    /// What the limit on memory changes for this matrix.
    fn effect_of_memory(&self, matrix: &Matrix) -> Effect {
        let sums = matrix.scan().sums();
        let may = |i: usize| self.candidates.as_ref().is_none_or(|c| c.get(i) == Some(&true));
        let full = || (0..matrix.rows()).filter(|&i| sums[i] != 0.0);
        let (rows, candidates) = (full().count(), full().filter(|&i| may(i)).count());
        let shape = Shape::from(matrix);
        let entries = if shape.dense { rows * shape.cols } else { shape.entries };
        let shape = Shape { rows, entries, ..shape };
        self.hottopixx().effect(shape, self.rank.min(rows), candidates)
    }

    fn hottopixx(&self) -> Hottopixx {
        let budget = self.memory.unwrap_or(USUAL_BUDGET);
        Hottopixx { epochs: self.epochs, seed: self.seed, budget }
    }

    /// Without the settings that the method does not use: for running several methods with the
    /// settings of all.
    pub fn only_used(mut self) -> Self {
        let uses = self.method.uses();
        let unused = |name: &str| !uses.contains(&name);
        self.epochs = self.epochs.filter(|_| !unused("epochs"));
        self.cost = self.cost.filter(|_| !unused("cost"));
        self.tau = self.tau.filter(|_| !unused("tau"));
        self.gap = self.gap.filter(|_| !unused("gap"));
        self.trace |= unused("trace");
        self.epsilon = self.epsilon.filter(|_| !unused("epsilon"));
        self.alpha = self.alpha.filter(|_| !unused("alpha"));
        self.start = self.start.filter(|_| !unused("start"));
        self.start_dual = self.start_dual.filter(|_| !unused("start"));
        self
    }

    /// The settings that only some methods use, where they were given: name and value.
    pub(super) fn given(&self) -> Vec<(&'static str, String)> {
        let number = |name, value: Option<f64>| value.map(|value| (name, value.to_string()));
        let trace = (!self.trace).then(|| ("trace", "false".to_string()));
        let list = |name, length: usize| (name, format!("a list of {length}"));
        let cost = self.cost.as_ref().map(|cost| list("cost", cost.len()));
        let start = self.start.as_ref().map(|rows| list("start", rows.len()));
        [
            self.epochs.map(|epochs| ("epochs", epochs.to_string())),
            cost,
            start,
            number("tau", self.tau),
            number("gap", self.gap),
            trace,
            number("epsilon", self.epsilon),
            number("alpha", self.alpha),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// The method with its settings, all of which it requires or uses.
    pub(super) fn method_with_settings(&self) -> Result<Arc<dyn Localiser>, Error> {
        if let Some((name, value)) =
            self.given().into_iter().find(|(name, _)| !self.method.uses().contains(name))
        {
            let users = Method::ALL.iter().filter(|method| method.uses().contains(&name));
            let users: Vec<&str> = users.map(|method| method.name()).collect();
            let remedy = format!(
                "the method {} does not use it: leave it out, or choose {}",
                self.method,
                users.join(" or ")
            );
            return Err(Error::Setting { name, value, remedy });
        }
        Ok(match self.method {
            Method::Auto => {
                let auto = Auto {
                    gap: self.gap,
                    seed: self.seed,
                    budget: self.memory.unwrap_or(USUAL_BUDGET),
                    effort: self.effort,
                    objective: self.objective,
                    keep: self.keep_dual,
                };
                match &self.start {
                    Some(rows) => {
                        let (rows, dual) = (rows.clone(), self.start_dual.clone());
                        Arc::new(Nearby { auto, rows, dual })
                    }
                    None => Arc::new(auto),
                }
            }
            Method::Hottopixx => Arc::new(self.hottopixx()),
            Method::Lp | Method::Minimax | Method::Total => Arc::new(self.program()?),
            Method::Gradient => Arc::new(Gradient::default()),
            Method::Agkm => Arc::new(Agkm {
                epsilon: required(
                    "epsilon",
                    self.epsilon,
                    "give the largest l1 norm of a row of the noise, rows summing to one; no \
                     other method requires it",
                )?,
                alpha: required(
                    "alpha",
                    self.alpha,
                    "give the least l1 distance of a hott row from the hull of the others, above \
                     0 and at most 2; no other method requires it",
                )?,
            }),
            Method::Spa => Arc::new(Spa),
            Method::Snpa => Arc::new(Snpa),
            Method::Xray => Arc::new(Xray),
            Method::Custom => self.localiser.clone().ok_or_else(|| Error::Setting {
                name: "method",
                value: "custom".to_string(),
                remedy: "give it with Factor::localiser".to_string(),
            })?,
        })
    }

    /// The linear program of the method, where it is one.
    pub(super) fn program(&self) -> Result<Program, Error> {
        let goal = match self.method {
            Method::Lp => Goal::Cost {
                tau: required(
                    "tau",
                    self.tau,
                    "give the l1 error that every row may have, rows summing to one, such as 0.1; \
                     the method minimax needs none",
                )?,
            },
            Method::Minimax => Goal::Minimax,
            Method::Total => Goal::Total,
            other => {
                return Err(Error::Setting {
                    name: "method",
                    value: other.name().to_string(),
                    remedy: "it proves no bounds; choose minimax, total or lp".to_string(),
                });
            }
        };
        Ok(Program { goal, trace: self.trace, gap: self.gap })
    }

    /// The number of threads asked for.
    pub(super) fn thread_count(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }

    /// Runs `work` on the number of threads asked for.
    pub(super) fn in_pool<T: Send>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send,
    ) -> Result<T, Error> {
        in_pool(self.threads, work)
    }
}

/// Runs `work` on this many threads, 0 for all there are: in the caller's pool where it has as many, so
/// that the caller can tell what its threads have done.
pub(crate) fn in_pool<T: Send>(
    threads: usize,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> Result<T, Error> {
    // Where there are no threads (WebAssembly), rayon's global pool is the one thread that asks.
    let alone = cfg!(target_family = "wasm");
    let inside = rayon::current_thread_index().is_some();
    if alone || inside && rayon::current_num_threads() == threads {
        return work();
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|e| Error::Setting {
        name: "threads",
        value: threads.to_string(),
        remedy: format!("the system refused them ({e}); ask for fewer"),
    })?;
    pool.install(work)
}

fn required(name: &'static str, value: Option<f64>, remedy: &str) -> Result<f64, Error> {
    let missing =
        || Error::Setting { name, value: "nothing".to_string(), remedy: remedy.to_string() };
    value.ok_or_else(missing)
}

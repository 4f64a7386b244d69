//! From flags to checked settings: what every command needs before it calls the library.

use crate::args::{ConstraintArgs, InputArgs, MethodArgs, ProgramArgs, RunArgs, TextArgs};
use crate::constraints::Asked;
use crate::control::Interrupt;
use crate::failure::Failure;
use crate::log::Log;
use crate::memory::Planner;
use crate::problem::{Problem, Raw};
use crate::progress::{Bar, Lines};
use hottopixx::control::Observer;
use hottopixx::{Factor, Factorization, Method};
use hottopixx_io::machine;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// More threads than this help nobody and can exhaust a machine.
const MOST_THREADS: usize = 1024;
/// Threads for each processor, at most.
const THREADS_EACH: usize = 4;

/// One run of the program: clock, threads, Ctrl-C and progress bar.
pub struct Session {
    /// When the program started.
    pub started: Instant,
    /// Threads in use, at least 1.
    pub threads: usize,
    /// Ctrl-C.
    pub interrupt: Interrupt,
    /// The progress bar, if there is one.
    pub bar: Option<Arc<Bar>>,
    lines: Option<Arc<Lines>>,
    /// The log in its place, if it is wanted.
    log: Option<Arc<Log>>,
    run: RunArgs,
    quiet: bool,
}

impl Session {
    /// Checks the run's flags, fixes the number of threads and starts the progress bar.
    pub fn start(run: &RunArgs, quiet: bool, started: Instant) -> Result<Self, Failure> {
        if run.threads > MOST_THREADS {
            return Err(Failure::Wrong(format!(
                "--threads {} is not possible: choose at most {MOST_THREADS}, or 0 for all",
                run.threads
            )));
        }
        if let Some(seconds) = run.max_seconds {
            crate::values::duration(seconds).map_err(Failure::Wrong)?;
        }
        // More than some for each processor only wait for each other.
        let threads = machine::threads(run.threads).min(THREADS_EACH * machine::threads(0).max(4));
        // Fails only when a pool exists already, which then serves as well.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
        let session = Session {
            started,
            threads,
            interrupt: Interrupt::install(),
            bar: Bar::start(quiet || run.log),
            lines: Lines::start(quiet || run.log),
            log: run.log.then(|| Arc::new(Log::start(started, threads, run.seed))),
            run: run.clone(),
            quiet,
        };
        session.note("loading");
        Ok(session)
    }

    /// Says on the progress bar what is under way.
    pub fn note(&self, what: &str) {
        if let Some(bar) = &self.bar {
            bar.note(what);
        }
    }

    /// As [`Session::note`]; where there is no bar, as a line on standard error.
    pub fn announce(&self, what: &str) {
        match &self.bar {
            Some(bar) => bar.note(what),
            None => self.remark(what),
        }
    }

    /// Reads the input and prepares it as asked; what `planner` foresees not to fit, for the settings of
    /// `sketch`, is refused first.
    pub fn load(
        &self,
        input: &InputArgs,
        text: &TextArgs,
        planner: &Planner,
        sketch: &Factor,
    ) -> Result<Problem, Failure> {
        planner.foresee(&sketch.clone().threads(self.threads), input, text)?;
        Problem::prepare(self.read(input)?, text, input.memory)
    }

    /// Reads the input as it is.
    pub fn read(&self, input: &InputArgs) -> Result<Raw, Failure> {
        Raw::load(input, |sentence| self.remark(sentence))
    }

    /// Says a sentence on standard error, unless the user wants quiet.
    fn remark(&self, sentence: &str) {
        match &self.bar {
            _ if self.quiet => {}
            Some(bar) => bar.aside(|| crate::failure::say(sentence)),
            None => crate::failure::say(sentence),
        }
    }

    /// Takes the progress bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish();
        }
    }

    /// Writes the answer to the log, if there is one.
    pub fn log_answer(&self, answer: &Factorization) {
        if let Some(log) = &self.log {
            log.answer(answer);
        }
    }

    /// Who is told of progress.
    pub fn observer(&self) -> Option<Arc<dyn Observer>> {
        match (&self.log, &self.bar, &self.lines) {
            (Some(log), _, _) => Some(log.clone()),
            (None, Some(bar), _) => Some(bar.clone()),
            (None, None, Some(lines)) => Some(lines.clone()),
            (None, None, None) => None,
        }
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.run.seed
    }

    /// Seconds since the program started.
    pub fn elapsed(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// The library's settings for one factorization of `problem`. The clock of `--max-seconds`
    /// starts here.
    pub fn factor(
        &self,
        problem: &Problem,
        rank: usize,
        method: Method,
        settings: &MethodArgs,
        beside: &Beside,
    ) -> Result<Factor, Failure> {
        let mut factor = self
            .plain(problem, rank)?
            .method(method)
            .objective(settings.objective)
            .effort(settings.effort)
            .cleaning(settings.cleaning);
        if let Some(epochs) = settings.epochs {
            factor = factor.epochs(epochs);
        }
        factor = programmed(factor, &settings.program);
        if let Some(epsilon) = settings.epsilon {
            factor = factor.epsilon(epsilon);
        }
        if let Some(alpha) = settings.alpha {
            factor = factor.alpha(alpha);
        }
        if let Some(cost) = &beside.cost {
            factor = factor.cost(problem.keep(cost));
        }
        if let Some(weights) = &beside.weights {
            factor = factor.weights(problem.keep(weights));
        }
        Ok(factor.constraints(beside.asked.constraints(problem)))
    }

    /// Rank, candidates and what the run's flags say; everything else at its default.
    pub fn plain(&self, problem: &Problem, rank: usize) -> Result<Factor, Failure> {
        self.interrupt.computing();
        if let Some(log) = &self.log {
            log.model(problem, rank);
        }
        let control = self.interrupt.control(self.run.max_seconds, self.observer())?;
        let factor = Factor::new(rank).seed(self.run.seed).threads(self.threads).control(control);
        let factor = factor.missing(problem.missing);
        Ok(match &problem.candidates {
            Some(candidates) => factor.candidates(candidates.clone()),
            None => factor,
        })
    }
}

/// What files beside the matrix say about its rows.
pub struct Beside {
    /// The vector p.
    pub cost: Option<Vec<f64>>,
    /// How much rows count.
    pub weights: Option<Vec<f64>>,
    /// What the choice must obey.
    pub asked: Asked,
}

impl Beside {
    /// Reads the files that the flags name.
    pub fn read(
        settings: &MethodArgs,
        constraints: &ConstraintArgs,
        problem: &Problem,
    ) -> Result<Self, Failure> {
        Ok(Beside {
            cost: numbers(settings.cost.as_deref(), problem, "costs")?,
            weights: numbers(settings.weights.as_deref(), problem, "weights")?,
            asked: Asked::read(constraints, problem)?,
        })
    }
}

/// With the flags of the linear programs.
pub fn programmed(mut factor: Factor, program: &ProgramArgs) -> Factor {
    if let Some(tau) = program.tau {
        factor = factor.tau(tau);
    }
    if let Some(gap) = program.gap {
        factor = factor.gap(gap);
    }
    factor.trace(!program.no_trace)
}

/// The numbers of a file, one for each row of the input: `what` they are.
pub fn numbers(
    path: Option<&Path>,
    problem: &Problem,
    what: &str,
) -> Result<Option<Vec<f64>>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let numbers = hottopixx_io::read_numbers(path, problem.memory)?;
    if numbers.len() != problem.features() {
        return Err(Failure::Wrong(format!(
            "{}: {} numbers, but {} has {} rows: give one number per line",
            path.display(),
            numbers.len(),
            problem.label,
            problem.features()
        )));
    }
    if let Some(k) = numbers.iter().position(|value| !value.is_finite()) {
        return Err(Failure::Wrong(format!(
            "{}: line {} is {}: {what} must be finite numbers",
            path.display(),
            k + 1,
            numbers[k]
        )));
    }
    Ok(Some(numbers))
}

//! How a caller watches and stops a long computation: a deadline, a stop flag, an observer, a
//! keeper of its state.

use crate::checkpoint::Keeper;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Why a computation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It ran to its end.
    Finished,
    /// The deadline passed; the answer is the best found by then.
    TimeLimit,
    /// The stop flag was raised; the answer is the best found by then.
    Interrupted,
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Stop::Finished => "finished",
            Stop::TimeLimit => "the time limit was reached",
            Stop::Interrupted => "interrupted",
        })
    }
}

/// The steps of a factorization, in order; the folders of this crate bear the same names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Rows to unit sum, zero rows set aside.
    Normalise,
    /// Finding where the hott rows are.
    Localise,
    /// From diagonals and greedy answers to one set of hott rows.
    Select,
    /// Fitting every row on the hott rows.
    Clean,
}

/// One report of progress.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// The step under way.
    pub stage: Stage,
    /// What the step is doing, in a word or two, such as `spa` or `exchange`.
    pub task: &'a str,
    /// How much of the task is done.
    pub done: usize,
    /// Of how much, where that is known.
    pub total: Option<usize>,
    /// A telling figure and what it is, such as `best` for the best objective so far.
    pub figure: Option<(&'a str, f64)>,
}

/// Receives progress, from any thread.
pub trait Observer: Send + Sync {
    /// Called now and then; must be quick.
    fn progress(&self, progress: &Progress<'_>);
}

/// Deadline, stop flag, observer and keeper of one computation. The default never stops, says
/// nothing and keeps nothing.
#[derive(Clone, Default)]
pub struct Control {
    deadline: Option<Instant>,
    stop: Option<Arc<AtomicBool>>,
    observer: Option<Arc<dyn Observer>>,
    keeper: Option<Arc<dyn Keeper>>,
}

impl Control {
    /// Stops at `deadline` with the best answer so far. Results then depend on the machine's speed.
    pub fn with_deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Stops soon after `flag` becomes true, with the best answer so far.
    pub fn with_stop_flag(mut self, flag: Arc<AtomicBool>) -> Self {
        self.stop = Some(flag);
        self
    }

    /// Sends progress to `observer`.
    pub fn with_observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Keeps the state of methods that work in epochs, and goes on from the state it has.
    pub fn with_keeper(mut self, keeper: Arc<dyn Keeper>) -> Self {
        self.keeper = Some(keeper);
        self
    }

    /// Who keeps the state, if anyone does.
    pub fn keeper(&self) -> Option<&dyn Keeper> {
        self.keeper.as_deref()
    }

    /// The same with the deadline moved to where `share` of the time that is left will be gone.
    /// Without a deadline nothing changes.
    pub fn for_share(&self, share: f64) -> Self {
        let now = Instant::now();
        let sooner =
            |deadline: Instant| now + deadline.saturating_duration_since(now).mul_f64(share);
        Control { deadline: self.deadline.map(sooner), ..self.clone() }
    }

    /// The same without a deadline, for steps that no answer can do without.
    pub fn without_deadline(&self) -> Self {
        Control { deadline: None, ..self.clone() }
    }

    /// Time until the deadline; `None` without one.
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Whether to stop now, and why. One atomic read and one look at the clock.
    pub fn stopped(&self) -> Option<Stop> {
        if self.stop.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            Some(Stop::Interrupted)
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            Some(Stop::TimeLimit)
        } else {
            None
        }
    }

    /// Tells the observer, if there is one.
    pub fn report(&self, progress: &Progress<'_>) {
        if let Some(observer) = &self.observer {
            observer.progress(progress);
        }
    }
}

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control")
            .field("deadline", &self.deadline)
            .field("stop", &self.stop)
            .field("observer", &self.observer.is_some())
            .field("keeper", &self.keeper.is_some())
            .finish()
    }
}

//! How a caller watches and stops a long computation: a deadline, a stop flag, an observer, a
//! keeper of its state.

use crate::checkpoint::Keeper;
use crate::clock::Instant;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;

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

impl Stage {
    /// The name that progress is reported under.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Normalise => "normalise",
            Stage::Localise => "localise",
            Stage::Select => "select",
            Stage::Clean => "clean",
        }
    }
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
    /// What is proven: the figure cannot fall below it.
    pub bound: Option<f64>,
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
    /// What [`Control::stopped`] has said to anybody, 0 for nothing: see [`Control::cut_short`].
    told: Arc<AtomicU8>,
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

    /// The same for a part of a run, whose state nobody keeps.
    pub fn without_keeper(&self) -> Self {
        Control { keeper: None, ..self.clone() }
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

    /// Time until the deadline; `None` without one.
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Whether to stop now, and why. One atomic read and one look at the clock. Ask only where a
    /// yes leaves something undone: it is remembered, see [`Control::cut_short`].
    pub fn stopped(&self) -> Option<Stop> {
        let stop = self.now();
        match stop {
            Some(Stop::Interrupted) => self.told.fetch_or(INTERRUPTED, Ordering::Relaxed),
            Some(_) => self.told.fetch_or(LATE, Ordering::Relaxed),
            None => 0,
        };
        stop
    }

    /// What flag and clock say, remembered by nobody.
    fn now(&self) -> Option<Stop> {
        if self.stop.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            Some(Stop::Interrupted)
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            Some(Stop::TimeLimit)
        } else {
            None
        }
    }

    /// For the steps that turn what was found into an answer, such as measuring it or proving its
    /// bound: the same, but once it has stopped, for some hundredths of a second from now, whatever
    /// was said.
    pub fn to_finish(&self) -> Self {
        match self.now() {
            None => self.clone(),
            Some(_) => {
                Control { deadline: Some(Instant::now() + GRACE), stop: None, ..self.clone() }
            }
        }
    }

    /// Whether it can ever say stop.
    pub fn can_stop(&self) -> bool {
        self.deadline.is_some() || self.stop.is_some()
    }

    /// Whether to go on: [`Control::stopped`] for loops that do not ask why.
    pub fn goes_on(&self) -> bool {
        self.stopped().is_none()
    }

    /// Why some part of the computation was left undone, if any was: what [`Control::stopped`] of
    /// this control, or of one made from it by [`Control::for_share`], has answered so far. The
    /// status of a whole run is read from here, last.
    pub fn cut_short(&self) -> Option<Stop> {
        match self.told.load(Ordering::Relaxed) {
            0 => None,
            told if told & INTERRUPTED != 0 => Some(Stop::Interrupted),
            _ => Some(Stop::TimeLimit),
        }
    }

    /// The same for a run of its own, which has not been told to stop yet.
    pub fn for_new_run(&self) -> Self {
        Control { told: Arc::default(), ..self.clone() }
    }

    /// Begins to count work; see [`Watch`].
    pub(crate) fn watch(&self) -> Watch<'_> {
        Watch { control: self, work: 0, stop: None }
    }

    /// Tells the observer, if there is one.
    pub fn report(&self, progress: &Progress<'_>) {
        if let Some(observer) = &self.observer {
            observer.progress(progress);
        }
    }
}

/// See [`Control::to_finish`].
const GRACE: Duration = Duration::from_millis(60);

/// Bits of [`Control::told`].
const INTERRUPTED: u8 = 1;
const LATE: u8 = 2;

/// Operations between two looks at the clock: a few milliseconds' worth.
const LOOK_EVERY: usize = 4_000_000;

/// Looks at a [`Control`] after every few million operations, so that inner loops may ask as often
/// as they like.
#[derive(Debug)]
pub(crate) struct Watch<'a> {
    control: &'a Control,
    work: usize,
    stop: Option<Stop>,
}

impl Watch<'_> {
    /// Counts about this many operations (multiplications, comparisons) and says whether to stop.
    /// Once it has said so it keeps saying it.
    pub fn spend(&mut self, operations: usize) -> Option<Stop> {
        self.work = self.work.saturating_add(operations);
        if self.work >= LOOK_EVERY && self.stop.is_none() {
            self.work = 0;
            self.stop = self.control.stopped();
        }
        self.stop
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_is_remembered_and_shared() {
        let free = Control::default();
        assert_eq!((free.stopped(), free.cut_short()), (None, None));
        let late = Control::default().with_deadline(Instant::now() + Duration::from_secs(3600));
        let part = late.for_share(0.0);
        assert_eq!((part.stopped(), late.stopped()), (Some(Stop::TimeLimit), None));
        assert_eq!(late.cut_short(), Some(Stop::TimeLimit));
        assert_eq!(late.for_new_run().cut_short(), None);
        let flag = Arc::new(AtomicBool::new(true));
        let both = part.with_stop_flag(flag);
        assert_eq!(
            (both.stopped(), late.cut_short()),
            (Some(Stop::Interrupted), Some(Stop::Interrupted))
        );
    }

    #[test]
    fn a_moment_to_finish_is_granted_after_any_stop() {
        let raised = Control::default().with_stop_flag(Arc::new(AtomicBool::new(true)));
        let finish = raised.to_finish();
        assert_eq!(raised.cut_short(), None, "nobody has stopped for it yet");
        assert!(raised.can_stop() && !raised.goes_on() && finish.can_stop());
        assert!(finish.remaining().is_some_and(|left| left <= GRACE));
        let ahead = Control::default().with_deadline(Instant::now() + Duration::from_secs(3600));
        assert!(ahead.to_finish().remaining().is_some_and(|left| left > GRACE));
        assert!(!Control::default().to_finish().can_stop() && Control::default().goes_on());
    }

    #[test]
    fn a_watch_looks_after_some_work() {
        let late = Control::default().with_deadline(Instant::now());
        let mut watch = late.watch();
        assert_eq!(watch.spend(LOOK_EVERY / 2), None);
        assert_eq!(watch.spend(LOOK_EVERY), Some(Stop::TimeLimit));
        assert_eq!(watch.spend(0), Some(Stop::TimeLimit));
    }
}

//! The steps of a run, announced and timed.

use super::Seconds;
use crate::clock::Instant;
use crate::control::{Control, Progress, Stage};

/// Announces the steps and takes their time.
pub(super) struct Clock<'a> {
    control: &'a Control,
    pub seconds: Seconds,
}

impl<'a> Clock<'a> {
    pub fn new(control: &'a Control) -> Self {
        Clock { control, seconds: Seconds::default() }
    }

    /// Tells the observer that a step begins, does it, and adds its seconds.
    pub fn time<T>(&mut self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let (task, seconds) = match stage {
            Stage::Normalise => ("rows to unit sum", &mut self.seconds.localize),
            Stage::Localise => ("looking for rows", &mut self.seconds.localize),
            Stage::Select => ("choosing rows", &mut self.seconds.select),
            Stage::Clean => ("fitting all rows", &mut self.seconds.clean),
        };
        let (done, total, figure, bound) = (0, None, None, None);
        self.control.report(&Progress { stage, task, done, total, figure, bound });
        let begun = Instant::now();
        let made = work();
        *seconds += begun.elapsed().as_secs_f64();
        made
    }
}

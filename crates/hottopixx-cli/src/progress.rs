//! What is under way, on standard error while the library works: one line that changes on a terminal,
//! and lines at growing intervals elsewhere.

use crate::failure::say;
use hottopixx::control::{Observer, Progress};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::IsTerminal as _;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Shows progress on a terminal.
pub struct Bar {
    bar: ProgressBar,
    started: Instant,
    /// What is under way: the time left is estimated afresh for every task.
    task: Mutex<Task>,
}

/// A task and the best error known, which outlasts it.
#[derive(Debug, Default)]
struct Task {
    name: String,
    began: Option<Instant>,
    /// What was done when it began, and what is done.
    first: usize,
    done: usize,
    best: Option<f64>,
}

impl Task {
    /// Turns to this task, and says whether it is another than last time: one of the same name of which less is done has
    /// begun again.
    fn turns_to(&mut self, name: &str, done: usize) -> bool {
        let other = self.name != name || done < self.done;
        if other {
            name.clone_into(&mut self.name);
            self.began = Some(Instant::now());
            self.first = done;
        }
        self.done = done;
        other
    }

    /// As [`Task::turns_to`], for what the library reports.
    fn follows(&mut self, progress: &Progress<'_>) -> bool {
        self.turns_to(&format!("{} {}", progress.stage.name(), progress.task), progress.done)
    }

    /// Stage, task, best error so far: of every stage the same words.
    fn described(&mut self, progress: &Progress<'_>) -> String {
        let mut text = format!("{}: {}", progress.stage.name(), progress.task);
        match progress.figure {
            Some(("best", value)) => self.best = Some(value),
            Some((name, value)) => text += &format!(", {name} {value:.5}"),
            None => {}
        }
        if let Some(best) = self.best {
            text += &format!(", best error {best:.5}");
        }
        text
    }

    /// Seconds that the task will still take if it goes on as it has.
    fn left(&self, progress: &Progress<'_>) -> Option<f64> {
        let (total, began) = (progress.total?, self.began?);
        let (done, left) = (progress.done - self.first, total.saturating_sub(progress.done));
        (done > 0 && left > 0).then(|| began.elapsed().as_secs_f64() * left as f64 / done as f64)
    }
}

impl Bar {
    /// A bar, unless the user wants quiet or nobody is watching.
    pub fn start(quiet: bool) -> Option<Arc<Self>> {
        if quiet || !std::io::stderr().is_terminal() {
            return None;
        }
        let (bar, started) = (ProgressBar::new_spinner(), Instant::now());
        bar.set_style(spinner(started));
        bar.enable_steady_tick(Duration::from_millis(120));
        Some(Arc::new(Bar { bar, started, task: Mutex::default() }))
    }

    /// Says what is under way outside the library.
    pub fn note(&self, what: &str) {
        self.bar.set_message(what.to_owned());
    }

    /// Shows how many of a known number of things are done.
    pub fn count(&self, what: &str, done: usize, total: usize) {
        if self.task.lock().is_ok_and(|mut task| task.turns_to(what, done)) {
            self.bar.reset();
            self.bar.set_style(counted(self.started));
        }
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
        self.bar.set_message(what.to_owned());
    }

    /// Lets `print` write to the terminal without the bar in between.
    pub fn aside(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    /// Takes the bar off the screen, so that the answer stands alone.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Bar {
    fn progress(&self, progress: &Progress<'_>) {
        let Ok(mut task) = self.task.lock() else { return };
        if task.follows(progress) {
            self.bar.reset();
            let style = if progress.total.is_some() { counted } else { spinner };
            self.bar.set_style(style(self.started));
        }
        if let Some(total) = progress.total {
            self.bar.set_length(total as u64);
            self.bar.set_position(progress.done as u64);
        }
        self.bar.set_message(task.described(progress));
    }
}

/// Says now and then in a line what is under way.
pub struct Lines {
    started: Instant,
    state: Mutex<(Task, Duration)>,
}

/// When the first line is due, and how much later, relatively, each of the next.
const FIRST_LINE: Duration = Duration::from_secs(5);
const GROWTH: f64 = 1.6;

impl Lines {
    /// Lines, unless the user wants quiet.
    pub fn start(quiet: bool) -> Option<Arc<Self>> {
        let state = Mutex::new((Task::default(), FIRST_LINE));
        (!quiet).then(|| Arc::new(Lines { started: Instant::now(), state }))
    }

    /// The line that is due by now, if one is.
    fn line(&self, progress: &Progress<'_>, elapsed: Duration) -> Option<String> {
        let mut state = self.state.lock().ok()?;
        let (task, due) = &mut *state;
        task.follows(progress);
        let mut text = task.described(progress);
        if elapsed < *due {
            return None;
        }
        *due = elapsed.mul_f64(GROWTH);
        if let Some(total) = progress.total {
            text += &format!(", {} of {total}", progress.done);
        }
        if let Some(left) = task.left(progress) {
            text += &format!(", about {left:.0} s left of this");
        }
        Some(format!("{:.0} s: {text}", elapsed.as_secs_f64()))
    }
}

impl Observer for Lines {
    fn progress(&self, progress: &Progress<'_>) {
        if let Some(line) = self.line(progress, self.started.elapsed()) {
            say(&line);
        }
    }
}

fn spinner(started: Instant) -> ProgressStyle {
    style("{spinner} {clock}, {msg}", started)
}

fn counted(started: Instant) -> ProgressStyle {
    style("{spinner} {bar:16} {pos}/{len}, {eta} left, {clock}, {msg}", started)
}

/// A style with a clock that goes on however long a step takes that says nothing.
fn style(template: &str, started: Instant) -> ProgressStyle {
    let clock = move |_: &ProgressState, out: &mut dyn Write| {
        let _ = write!(out, "{} s", started.elapsed().as_secs());
    };
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("clock", clock)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hottopixx::control::Stage;

    fn report<'a>(task: &'a str, figure: Option<(&'a str, f64)>) -> Progress<'a> {
        Progress { stage: Stage::Select, task, done: 3, total: Some(12), figure, bound: None }
    }

    #[test]
    fn lines_come_at_growing_intervals_and_keep_the_best_error() {
        let lines = Lines::start(false).unwrap();
        let at =
            |seconds, progress: &Progress<'_>| lines.line(progress, Duration::from_secs(seconds));
        assert_eq!(at(1, &report("judge", Some(("best", 0.25)))), None);
        let line = at(5, &report("search", None)).unwrap();
        assert!(line.starts_with("5 s: select: search, best error 0.25000, 3 of 12"), "{line}");
        assert_eq!(at(7, &report("search", None)), None);
        assert!(at(8, &report("search", None)).is_some());
        assert_eq!(at(12, &report("search", None)), None);
        assert!(at(13, &report("search", None)).is_some());
        assert!(Lines::start(true).is_none());
    }

    #[test]
    fn time_left_is_that_of_the_task_that_goes_on() {
        let mut task = Task::default();
        let at = |done: usize| Progress { done, ..report("polish", None) };
        assert!(task.follows(&at(1)) && task.left(&at(1)).is_none());
        assert!(!task.follows(&at(5)) && task.left(&at(5)).is_some());
        // The next one of this name has done one step: what came before it says nothing.
        assert!(task.follows(&at(1)) && task.left(&at(1)).is_none());
        assert!(!task.follows(&at(12)) && task.left(&at(12)).is_none());
    }
}

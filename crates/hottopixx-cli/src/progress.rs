//! The progress bar: one line on standard error while the library works.

use hottopixx::control::{Observer, Progress};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Shows progress on a terminal.
pub struct Bar {
    bar: ProgressBar,
    /// What is under way: the time left is estimated afresh for every task.
    task: Mutex<String>,
}

impl Bar {
    /// A bar, unless the user wants quiet or nobody is watching.
    pub fn start(quiet: bool) -> Option<Arc<Self>> {
        if quiet || !std::io::stderr().is_terminal() {
            return None;
        }
        let bar = ProgressBar::new_spinner();
        bar.set_style(spinner());
        bar.enable_steady_tick(Duration::from_millis(120));
        Some(Arc::new(Bar { bar, task: Mutex::default() }))
    }

    /// Says what is under way outside the library.
    pub fn note(&self, what: &str) {
        self.bar.set_message(what.to_owned());
    }

    /// Shows how many of a known number of things are done.
    pub fn count(&self, what: &str, done: usize, total: usize) {
        if self.turns_to(what) {
            self.bar.reset();
            self.bar.set_style(counted());
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

    /// Whether this is another task than last time.
    fn turns_to(&self, task: &str) -> bool {
        self.task.lock().is_ok_and(|mut last| {
            let other = *last != task;
            if other {
                task.clone_into(&mut last);
            }
            other
        })
    }
}

impl Observer for Bar {
    fn progress(&self, progress: &Progress<'_>) {
        let step = progress.stage.name();
        let task = format!("{step}: {}", progress.task);
        if self.turns_to(&task) {
            self.bar.reset();
            self.bar.set_style(if progress.total.is_some() { counted() } else { spinner() });
        }
        if let Some(total) = progress.total {
            self.bar.set_length(total as u64);
            self.bar.set_position(progress.done as u64);
        }
        let figure = progress.figure.map(|(name, value)| format!(", {name} {value:.5}"));
        self.bar.set_message(task + &figure.unwrap_or_default());
    }
}

fn spinner() -> ProgressStyle {
    ProgressStyle::default_spinner()
}

fn counted() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {bar:16} {pos}/{len}, {eta} left, {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}

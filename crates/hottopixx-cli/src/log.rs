//! `--log`: what a run did, in lines that can be pasted into a bug report.

use crate::failure::say_line;
use crate::problem::Problem;
use hottopixx::control::{Observer, Progress};
use hottopixx::{Factorization, Stop};
use hottopixx_report::text::grouped;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Reports of a task that follow each other faster than this are left out, unless they bring a bound.
const LEAST: Duration = Duration::from_millis(100);

/// Writes to standard error, each line with the seconds since the program started.
pub struct Log {
    started: Instant,
    /// The task of the last line, and when it was written.
    last: Mutex<Option<(String, Instant)>>,
}

impl Log {
    /// Begins with the program.
    pub fn start(started: Instant, threads: usize, seed: u64) -> Self {
        let log = Log { started, last: Mutex::default() };
        let version = env!("CARGO_PKG_VERSION");
        let (system, machine) = (std::env::consts::OS, std::env::consts::ARCH);
        log.line(&format!(
            "hottopixx {version}, {system} {machine}, threads {threads}, seed {seed}"
        ));
        log
    }

    /// The size of the model.
    pub fn model(&self, problem: &Problem, rank: usize) {
        let candidates = problem.candidates.as_ref();
        let candidates = candidates.map(|mask| mask.iter().filter(|may| **may).count());
        self.line(&format!(
            "{}: {} features x {} examples, {} nonzeros, rank {rank}{}",
            hottopixx_report::table::plain(&problem.label),
            grouped(problem.features()),
            grouped(problem.examples()),
            grouped(problem.nonzeros),
            candidates.map_or_else(String::new, |n| format!(", {} candidates", grouped(n)))
        ));
    }

    /// The end: status, errors, bound, and where the time went.
    pub fn answer(&self, answer: &Factorization) {
        let errors = &answer.errors;
        self.line(&format!(
            "{}, method {}: mean error {:.6}, largest {:.6}, {} exchanges, {} rows not proven optimal",
            if answer.stop == Stop::Finished { "finished" } else { "cut short" },
            answer.method,
            errors.mean_l1,
            errors.inf1,
            answer.exchanges,
            answer.inexact_rows
        ));
        if let Some(bounds) = &answer.bounds {
            self.line(&format!(
                "program {}: value {:.6e}, bound {:.6e}, gap {:.1e}, {} rounds, {} cuts",
                bounds.status.name(),
                bounds.objective,
                bounds.lower_bound,
                bounds.gap,
                bounds.rounds,
                bounds.cuts
            ));
        }
        let seconds = &answer.seconds;
        self.line(&format!(
            "seconds: localise {:.3}, select {:.3}, clean {:.3}",
            seconds.localize, seconds.select, seconds.clean
        ));
    }

    fn line(&self, text: &str) {
        say_line(&format!("{:9.3} s  {text}", self.started.elapsed().as_secs_f64()));
    }

    /// Whether a report is worth a line.
    fn is_due(&self, task: &str, has_bound: bool) -> bool {
        let Ok(mut last) = self.last.lock() else { return false };
        let again = last.as_ref().is_some_and(|(same, at)| same == task && at.elapsed() < LEAST);
        if again && !has_bound {
            return false;
        }
        *last = Some((task.to_owned(), Instant::now()));
        true
    }
}

impl Observer for Log {
    fn progress(&self, progress: &Progress<'_>) {
        if self.is_due(progress.task, progress.bound.is_some()) {
            self.line(&described(progress));
        }
    }
}

/// Step, task, how much of it is done, and the figures that came with it.
fn described(progress: &Progress<'_>) -> String {
    let mut text = format!("{:9}  {:16}", progress.stage.name(), progress.task);
    match progress.total {
        Some(total) => text += &format!("  {:>5}/{total}", progress.done),
        None if progress.done > 0 => text += &format!("  {:>5}", progress.done),
        None => {}
    }
    if let Some((name, value)) = progress.figure {
        text += &format!("  {name} {value:.6e}");
        if let Some(bound) = progress.bound {
            let gap = (value - bound) / value.abs().max(f64::MIN_POSITIVE);
            text += &format!("  bound {bound:.6e}  gap {gap:.1e}");
        }
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hottopixx::control::Stage;

    #[test]
    fn a_line_has_the_bound_and_the_gap() {
        let progress = Progress {
            stage: Stage::Localise,
            task: "minimax",
            done: 3,
            total: None,
            figure: Some(("best", 0.5)),
            bound: Some(0.45),
        };
        assert_eq!(
            described(&progress),
            "localise   minimax               3  best 5.000000e-1  bound 4.500000e-1  gap 1.0e-1"
        );
    }

    #[test]
    fn rounds_with_a_bound_are_never_left_out() {
        let log = Log { started: Instant::now(), last: Mutex::default() };
        assert!(log.is_due("spa", false) && !log.is_due("spa", false));
        assert!(log.is_due("minimax", true) && log.is_due("minimax", true));
    }
}

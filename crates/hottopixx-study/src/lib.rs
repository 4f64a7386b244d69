//! Measurements in release mode, as tables: how often the hott rows of instances with known
//! answers are found, where methods fail, and how the methods do on real data.
//!
//! `hottopixx-study recovery` walks the grid of the paper's section 5 and fails (exit code 1) below
//! the rates that we promise; `hard` compares all methods on the families where greedy ones break;
//! `real` needs a folder of data sets and skips what is not there. `lp` puts the linear programs to
//! the test; two of its parts need HiGHS, an optional feature. `campaign` draws thousands of small
//! adversarial instances and judges every claim about them in exact arithmetic. `limits` runs the
//! program itself under time limits and Ctrl-C, and fails when it is not back in time with an answer.
//! `auto` holds the method of that name to its promise, never to be worse than another.
//! `choice` compares bounds for choices of rows with all choices, one by one, and measures them on words.
//! `total` measures the bound of the program of that name at the sizes of corpora.
//! `update` adds documents to answers and compares that with runs from nothing.
//! `scenes` compares `unmix` with the usual ways to find pure pixels on scenes with known materials.
//! `bench` measures speed and memory, up to the sizes of the paper's table and beyond.
//!
//! What is part of the paper is also a [`Section`](hottopixx_report::page::Section) of the page that
//! `hottopixx reproduce` writes: [`profiles`], [`large`], [`rmse`], [`svm`] and [`hard`].

pub mod audit;
pub mod auto;
pub mod bench;
pub mod campaign;
pub mod choice;
pub mod clock;
pub mod constraints;
pub mod folder;
pub mod footprint;
pub mod hard;
pub mod large;
pub mod limits;
pub mod lp;
pub mod missing;
pub mod outliers;
pub mod paper;
pub mod profiles;
pub mod real;
pub mod recovery;
pub mod rmse;
pub mod scenes;
pub mod soak;
pub mod svm;
pub mod total;
pub mod update;
mod words;

use std::sync::atomic::{AtomicUsize, Ordering};

/// What a study prints, and what it found wanting.
#[derive(Debug, Clone, Default)]
pub struct StudyReport {
    /// Tables and remarks.
    pub text: String,
    /// One sentence for each promise that was not kept.
    pub failures: Vec<String>,
}

/// Is told how many of how many things are done, and says whether to go on.
pub type ProgressWatch<'a> = Box<dyn Fn(usize, usize) -> bool + Sync + 'a>;

/// As [`parallel`], telling `watch` after every item; `None` when it said to stop.
pub fn watched<T: Sync, R: Send>(
    items: &[T],
    watch: &ProgressWatch<'_>,
    work: impl Fn(&T) -> R + Sync,
) -> Option<Vec<R>> {
    let state = std::sync::Mutex::new((0, true));
    let stopped = || state.lock().is_ok_and(|state| !state.1);
    let results = parallel(items, |item| {
        if stopped() {
            return None;
        }
        let result = work(item);
        if let Ok(mut state) = state.lock() {
            state.0 += 1;
            state.1 &= watch(state.0, items.len());
        }
        Some(result)
    });
    if stopped() { None } else { results.into_iter().collect() }
}

/// Applies `work` to all items, on all processors, results in the order of the items.
///
/// Plain threads, not a work-stealing pool: a worker that waits inside one item must not start
/// another, or the seconds of the first would include those of the second.
pub fn parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let workers = hottopixx_io::machine::threads(0).min(items.len());
    let next = AtomicUsize::new(0);
    let one_worker = || {
        let mut done = Vec::new();
        loop {
            let k = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(k) else { return done };
            done.push((k, work(item)));
        }
    };
    let mut all: Vec<(usize, R)> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..workers).map(|_| scope.spawn(one_worker)).collect();
        let joined = handles.into_iter().map(|handle| handle.join());
        joined
            .flat_map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    all.sort_by_key(|done| done.0);
    all.into_iter().map(|done| done.1).collect()
}

#[cfg(test)]
mod tests {
    use super::ProgressWatch;

    #[test]
    fn parallel_keeps_the_order() {
        let items: Vec<usize> = (0..100).collect();
        assert_eq!(super::parallel(&items, |i| i * i)[99], 99 * 99);
        assert!(super::parallel(&[] as &[usize], |i| *i).is_empty());
    }

    #[test]
    fn a_watcher_stops_the_work() {
        let items: Vec<usize> = (0..100).collect();
        let (all, ten): (ProgressWatch<'_>, ProgressWatch<'_>) =
            (Box::new(|_, _| true), Box::new(|done, _| done < 10));
        assert_eq!(super::watched(&items, &all, |i| *i), Some(items.clone()));
        assert!(super::watched(&items, &ten, |i| *i).is_none());
    }
}

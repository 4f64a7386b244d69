//! CPU seconds, which other programs on the same machine do not disturb.

use anyhow::{Context, Result};

/// CPU seconds that all threads of this process have used so far.
#[cfg(unix)]
pub fn process() -> f64 {
    seconds(rustix::time::ClockId::ProcessCPUTime)
}

/// CPU seconds that the calling thread has used so far.
#[cfg(unix)]
pub fn thread() -> f64 {
    seconds(rustix::time::ClockId::ThreadCPUTime)
}

#[cfg(unix)]
fn seconds(clock: rustix::time::ClockId) -> f64 {
    let time = rustix::time::clock_gettime(clock);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

/// CPU seconds of all processes that this one has started and that have ended; on systems that do not
/// tell, seconds on the wall.
pub fn children() -> f64 {
    // Linux counts them in hundredths of a second, as the 13th and 14th number after the name.
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = text.rsplit(')').next().unwrap_or_default();
    let numbers: Vec<f64> = after.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match numbers.get(12..14) {
        Some(times) => times.iter().sum::<f64>() / 100.0,
        None => process(),
    }
}

/// Seconds on the wall since the first call: there is no portable CPU clock here.
#[cfg(not(unix))]
pub fn process() -> f64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
}

/// Seconds on the wall since the first call: there is no portable CPU clock here.
#[cfg(not(unix))]
pub fn thread() -> f64 {
    process()
}

/// Runs `work` in a pool of this many threads.
///
/// # Errors
/// When the threads cannot be started.
pub fn on_threads<R: Send>(count: usize, work: impl FnOnce() -> R + Send) -> Result<R> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
    Ok(pool.with_context(|| format!("cannot start {count} threads"))?.install(work))
}

/// Runs `work` in a pool of one thread. Returns its result and that thread's CPU seconds.
///
/// # Errors
/// When the thread cannot be started.
pub fn on_one_thread<R: Send>(work: impl FnOnce() -> R + Send) -> Result<(R, f64)> {
    on_threads(1, || {
        let start = thread();
        let result = work();
        (result, thread() - start)
    })
}

/// The middle value, or the mean of the two; NaN when there are none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match (sorted.len(), sorted.len() / 2) {
        (0, _) => f64::NAN,
        (odd, k) if odd % 2 == 1 => sorted[k],
        (_, k) => 0.5 * (sorted[k - 1] + sorted[k]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_values() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn clocks_advance_with_work_on_the_one_thread() {
        let start = process();
        let (threads, seconds) = on_one_thread(|| {
            let begin = thread();
            while thread() - begin < 1e-3 {}
            rayon::current_num_threads()
        })
        .unwrap();
        assert_eq!(threads, 1);
        assert!(seconds >= 1e-3 && process() >= start + 1e-3);
    }
}

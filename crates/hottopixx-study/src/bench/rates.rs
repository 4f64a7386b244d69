//! How fast epochs are, against what the machine reaches in a plain product and a plain scan.
//!
//! Everything is measured in one run and on the same number of threads, so that the ratios mean
//! something on a machine that is not quiet: the yardstick is measured after every epoch, numbers
//! of threads take turns, and medians count.

use crate::clock::{median, on_threads};
use anyhow::{Result, anyhow};
use hottopixx::control::{Control, Observer, Progress};
use hottopixx::kernels::{View, ViewMut, multiply};
use hottopixx::localise::{self, HottopixxSettings};
use hottopixx::matrix::Matrix;
use hottopixx::normalise::UnitRows;
use hottopixx::synth::{Family, Recipe};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Seconds that a yardstick is measured for.
const LONG_ENOUGH: f64 = 1.0;
/// Epochs of one run; the first does not count.
const EPOCHS: usize = 4;
/// Times that every number of threads has its turn.
const ROUNDS: usize = 3;

/// Rates on one number of threads.
#[derive(Debug, Clone, Serialize)]
pub struct Rates {
    /// Threads.
    pub threads: usize,
    /// Single-precision products of the shapes of an epoch, in GFLOP/s.
    pub gemm: f64,
    /// The same in epochs of the dense method, `4 f m n` flops each.
    pub dense: f64,
    /// Adding up a gigabyte, in GB/s.
    pub scan: f64,
    /// Seconds of an epoch of the sparse method.
    pub sparse_seconds: f64,
    /// The same in GB/s of X, 8 bytes for each nonzero, which it visits once for every candidate of
    /// the nonzero's document.
    pub sparse: f64,
}

/// Rates on 1 thread, 2 threads and so on up to `threads`, doubling.
pub fn rates(threads: usize, quick: bool) -> Result<Vec<Rates>> {
    let small = if quick { 8 } else { 1 };
    let dense = (1600 / small, 64_000 / small);
    let sparse = (20_000 / small, 160_000 / small);
    let recipe = Recipe::new(Family::Paper, 20).size(dense.0, dense.1).noise(0.0);
    let dense = recipe.generate()?.matrix;
    let recipe = Recipe::new(Family::Documents, 50).size(sparse.0, sparse.1).tokens(60);
    let sparse = recipe.generate()?.matrix;
    let counts: Vec<usize> =
        std::iter::successors(Some(1), |c| Some(2 * c)).take_while(|c| *c <= threads).collect();
    let mut samples = vec![Samples::default(); counts.len()];
    for _ in 0..ROUNDS {
        for (&count, samples) in counts.iter().zip(&mut samples) {
            on_threads(count, || samples.measure(&dense, &sparse))??;
        }
    }
    let bytes = 8.0 * sparse.nonzeros() as f64;
    let flops = 4.0 * (dense.rows() * dense.rows()) as f64 * dense.cols() as f64;
    let rates = counts.into_iter().zip(samples).map(|(threads, samples)| {
        let sparse_seconds = median(&samples.sparse.seconds);
        Rates {
            threads,
            gemm: median(&samples.dense.yardstick),
            dense: flops / median(&samples.dense.seconds) / 1e9,
            scan: median(&samples.sparse.yardstick),
            sparse_seconds,
            sparse: bytes / sparse_seconds / 1e9,
        }
    });
    Ok(rates.collect())
}

/// What was measured on one number of threads.
#[derive(Clone, Default)]
struct Samples {
    dense: EpochTimes,
    sparse: EpochTimes,
}

impl Samples {
    fn measure(&mut self, dense: &Matrix, sparse: &Matrix) -> Result<()> {
        let size = dense.rows();
        let (a, b) = (vec![0.5; size * size], vec![0.5; size * size]);
        let mut c = vec![0.0; size * size];
        self.dense.add(epochs(dense, 20, move || product_rate(size, &a, &b, &mut c))?);
        let numbers = vec![1.0f64; 1 << 27];
        self.sparse.add(epochs(sparse, 50, move || scan_rate(&numbers))?);
        Ok(())
    }
}

/// Seconds of an epoch by the clock.
pub fn epoch_seconds(matrix: &Matrix, rank: usize) -> Result<f64> {
    Ok(median(&epochs(matrix, rank, || 0.0)?.seconds))
}

/// Seconds of some epochs after the first, which prepares the data; and what a yardstick gives
/// that is measured between them.
fn epochs(
    matrix: &Matrix,
    rank: usize,
    yardstick: impl FnMut() -> f64 + Send + 'static,
) -> Result<EpochTimes> {
    let x = UnitRows::new(matrix)?;
    let clock =
        EpochClock { begun: None, times: EpochTimes::default(), yardstick: Box::new(yardstick) };
    let watch = Arc::new(EpochWatch(Mutex::new(clock)));
    let control = Control::default().with_observer(watch.clone());
    let settings = HottopixxSettings { epochs: EPOCHS, ..Default::default() };
    localise::hottopixx(&x, rank, &vec![true; x.features()], &settings, &control)?;
    let clock = watch.0.lock().map_err(|_| anyhow!("the clock stopped"))?;
    Ok(clock.times.clone())
}

/// How long epochs took, and a yardstick after each.
#[derive(Clone, Default)]
struct EpochTimes {
    seconds: Vec<f64>,
    yardstick: Vec<f64>,
}

impl EpochTimes {
    fn add(&mut self, other: EpochTimes) {
        self.seconds.extend(other.seconds);
        self.yardstick.extend(other.yardstick);
    }
}

/// Looks at the time after every epoch, and measures the yardstick before the next one begins: the
/// run is to wait for it.
struct EpochWatch(Mutex<EpochClock>);

struct EpochClock {
    begun: Option<Instant>,
    times: EpochTimes,
    yardstick: Box<dyn FnMut() -> f64 + Send>,
}

impl Observer for EpochWatch {
    fn progress(&self, _: &Progress<'_>) {
        if let Ok(mut clock) = self.0.lock() {
            if let Some(begun) = clock.begun {
                clock.times.seconds.push(begun.elapsed().as_secs_f64());
                let rate = (clock.yardstick)();
                clock.times.yardstick.push(rate);
            }
            clock.begun = Some(Instant::now());
        }
    }
}

/// GFLOP/s of a plain product of two square matrices, a share of its columns on each thread.
fn product_rate(size: usize, a: &[f32], b: &[f32], c: &mut [f32]) -> f64 {
    let share = size.div_ceil(rayon::current_num_threads()) * size;
    let seconds = seconds_each(|| {
        c.par_chunks_mut(share).zip(b.par_chunks(share)).for_each(|(c, b)| {
            let columns = c.len() / size;
            let a = View::by_rows(a, size, size, size).transposed();
            let b = View::by_rows(b, columns, size, size).transposed();
            multiply(1.0, a, b, 0.0, ViewMut::by_rows(c, columns, size, size).transposed());
        });
    });
    2.0 * (size as f64).powi(3) / seconds / 1e9
}

/// GB/s of adding up numbers that do not fit into any cache.
fn scan_rate(numbers: &[f64]) -> f64 {
    let mut total = 0.0;
    let seconds = seconds_each(|| {
        let parts: Vec<f64> = numbers.par_chunks(1 << 20).map(|part| part.iter().sum()).collect();
        total += parts.iter().sum::<f64>();
    });
    std::hint::black_box(total);
    (8 * numbers.len()) as f64 / seconds / 1e9
}

/// Seconds of a call, over as many as it takes to be sure.
fn seconds_each(mut work: impl FnMut()) -> f64 {
    let (started, mut calls) = (Instant::now(), 0);
    loop {
        work();
        calls += 1;
        let seconds = started.elapsed().as_secs_f64();
        if seconds > LONG_ENOUGH {
            return seconds / f64::from(calls);
        }
    }
}

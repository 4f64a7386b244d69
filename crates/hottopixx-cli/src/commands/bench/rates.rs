//! How fast epochs are, against what the machine reaches in a plain product and a plain scan.
//!
//! Everything is measured in one run and on the same number of threads, so that the ratios mean
//! something on a machine that is not quiet: the yardstick is measured before and after, and the
//! better of the two counts.

use crate::failure::Failure;
use hottopixx::Error;
use hottopixx::control::{Control, Observer, Progress};
use hottopixx::kernels;
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
/// Epochs that are run; the first, which prepares the data, does not count.
const EPOCHS: usize = 3;

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
}

/// Rates on 1 thread, 2 threads and so on up to `threads`, doubling.
pub fn rates(threads: usize, quick: bool) -> Result<Vec<Rates>, Failure> {
    let small = if quick { 8 } else { 1 };
    let dense = (1600 / small, 64_000 / small);
    let sparse = (20_000 / small, 160_000 / small);
    let library = |error: Error| Failure::Wrong(error.to_string());
    let recipe = Recipe::new(Family::Paper, 20).size(dense.0, dense.1).noise(0.0);
    let dense = recipe.generate().map_err(library)?.matrix;
    let recipe = Recipe::new(Family::Documents, 50).size(sparse.0, sparse.1).tokens(60);
    let sparse = recipe.generate().map_err(library)?.matrix;
    let mut table = Vec::new();
    let mut count = 1;
    while count <= threads {
        table.push(on_threads(count, || measure(count, &dense, &sparse))??);
        count *= 2;
    }
    Ok(table)
}

/// Runs `work` in a pool of so many threads.
pub fn on_threads<T: Send>(count: usize, work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
    let pool = pool.map_err(|error| Failure::Wrong(format!("{count} threads: {error}")))?;
    Ok(pool.install(work))
}

fn measure(threads: usize, dense: &Matrix, sparse: &Matrix) -> Result<Rates, Failure> {
    let size = dense.rows();
    let (gemm, scan) = (plain_products(size), plain_scan());
    let flops = 4.0 * (size * size) as f64 * dense.cols() as f64;
    let dense = flops / epoch_seconds(dense, 20)? / 1e9;
    let sparse_seconds = epoch_seconds(sparse, 50)?;
    let (gemm, scan) = (gemm.max(plain_products(size)), scan.max(plain_scan()));
    Ok(Rates { threads, gemm, dense, scan, sparse_seconds })
}

/// The quickest epoch after the first, by the clock.
pub fn epoch_seconds(matrix: &Matrix, rank: usize) -> Result<f64, Failure> {
    let library = |error: Error| Failure::Wrong(error.to_string());
    let x = UnitRows::new(matrix).map_err(library)?;
    let clock = Arc::new(Clock::default());
    let control = Control::default().with_observer(clock.clone());
    let settings = HottopixxSettings { epochs: EPOCHS, ..Default::default() };
    localise::hottopixx(&x, rank, &vec![true; x.features()], &settings, &control)
        .map_err(library)?;
    let times = clock.0.lock().map_err(|_| Failure::Wrong("the clock stopped".to_owned()))?;
    let epochs = times.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64());
    Ok(epochs.fold(f64::INFINITY, f64::min))
}

/// When each epoch ended.
#[derive(Default)]
struct Clock(Mutex<Vec<Instant>>);

impl Observer for Clock {
    fn progress(&self, _: &Progress<'_>) {
        if let Ok(mut times) = self.0.lock() {
            times.push(Instant::now());
        }
    }
}

/// GFLOP/s of `C X_K` and `Sigma X_K^T` by themselves, f = m = `size`, for the best of three K.
fn plain_products(size: usize) -> f64 {
    let rate = |panel: usize| {
        let (c, x) = (vec![0.5f32; size * size], vec![0.5f32; size * panel]);
        let (mut d, mut update) = (vec![0.0f32; size * panel], vec![0.0f32; size * size]);
        let mut pair = || {
            kernels::gemm(size, size, panel, 1.0, &c, &x, false, 0.0, &mut d);
            kernels::gemm(size, panel, size, 1.0, &d, &x, true, 1.0, &mut update);
        };
        4.0 * (size * size * panel) as f64 / quickest(&mut pair) / 1e9
    };
    [128, 192, 256].map(rate).into_iter().fold(0.0, f64::max)
}

/// GB/s of adding up numbers that do not fit into any cache.
fn plain_scan() -> f64 {
    let numbers = vec![1.0f64; 1 << 27];
    let mut total = 0.0;
    let mut sum = || {
        let parts: Vec<f64> = numbers.par_chunks(1 << 20).map(|part| part.iter().sum()).collect();
        total += parts.iter().sum::<f64>();
    };
    let rate = (8 * numbers.len()) as f64 / quickest(&mut sum) / 1e9;
    std::hint::black_box(total);
    rate
}

/// Seconds of the quickest of several calls.
fn quickest(work: &mut dyn FnMut()) -> f64 {
    let started = Instant::now();
    let mut least = f64::INFINITY;
    while least.is_infinite() || started.elapsed().as_secs_f64() < LONG_ENOUGH {
        let begun = Instant::now();
        work();
        least = least.min(begun.elapsed().as_secs_f64());
    }
    least
}

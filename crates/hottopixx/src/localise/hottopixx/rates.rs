//! How fast the dense method runs on this machine.

use super::dense::{DenseIterate, DenseSettings, panel_width};
use super::{Epoch, HottopixxSettings, Iterate, dense_memory, descend};
use crate::Error;
use crate::control::{Control, Stop};
use crate::localise::candidate_rows;
use crate::normalise::UnitRows;
use std::time::Instant;

/// What epochs of the dense method cost, see [`dense_rates`].
///
/// To compare with plain matrix products of the same shapes, time [`gemm`](crate::kernels::gemm)
/// in `f32` for `C X_K`, `rows x candidates` times `candidates x panel`, and for `Sigma X_K^T`,
/// `rows x panel` times the transpose of `candidates x panel`: a pair has
/// `4 * rows * candidates * panel` flops, an epoch is [`flops`](Self::flops).
#[derive(Debug, Clone, PartialEq)]
pub struct DenseRates {
    /// f, the rows of X and of C.
    pub rows: usize,
    /// m, the columns of C.
    pub candidates: usize,
    /// K, the columns of X that are taken at a time.
    pub panel: usize,
    /// The flops of an epoch that are counted: `4 f m n`, those of the two products. What else an
    /// epoch does, steps within panels and projections, counts as time only.
    pub flops: f64,
    /// The most bytes that the method takes beside X.
    pub bytes: u64,
    /// Seconds of each epoch, by the clock. The first includes gathering the columns.
    pub seconds: Vec<f64>,
}

/// Runs `settings.epochs` epochs of the dense method, as [`hottopixx`](super::hottopixx()) does, and
/// says how long each took. The answer is not kept. Sparse X is treated as dense.
///
/// # Errors
/// As [`hottopixx`](super::hottopixx()).
pub fn dense_rates(
    x: &UnitRows,
    rank: usize,
    allowed: &[bool],
    settings: &HottopixxSettings,
    control: &Control,
) -> Result<DenseRates, Error> {
    settings.check(x.features())?;
    let candidates = candidate_rows(allowed, rank)?;
    let p = settings.costs(x);
    let p: Vec<f64> = candidates.iter().map(|&i| p[i]).collect();
    let iterate = DenseIterate::new(x, &candidates, settings.seed, &DenseSettings::default());
    let mut timed = Timed { iterate, seconds: Vec::new() };
    descend(&mut timed, x.examples(), rank, &p, settings, control);
    let (rows, m) = (x.features(), candidates.len());
    Ok(DenseRates {
        rows,
        candidates: m,
        panel: panel_width(m),
        flops: 4.0 * rows as f64 * m as f64 * x.examples() as f64,
        bytes: dense_memory(rows, x.examples(), m, None),
        seconds: timed.seconds,
    })
}

/// An iterate with a clock.
struct Timed<'a> {
    iterate: DenseIterate<'a>,
    seconds: Vec<f64>,
}

impl Iterate for Timed<'_> {
    fn epoch(&mut self, epoch: &Epoch<'_>, control: &Control) -> Option<Stop> {
        let start = Instant::now();
        let stop = self.iterate.epoch(epoch, control);
        self.seconds.push(start.elapsed().as_secs_f64());
        stop
    }

    fn diagonal(&self) -> Vec<f64> {
        self.iterate.diagonal()
    }

    fn loss(&mut self) -> f64 {
        self.iterate.loss()
    }
}

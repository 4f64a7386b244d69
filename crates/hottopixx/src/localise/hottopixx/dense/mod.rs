//! The incremental gradient on dense X, K columns at a time, at the speed of matrix products.
//!
//! With `X_K` the next K columns (a *panel*), `D = C X_K` holds all products the K steps need, as of
//! the beginning of the panel, and `G = X_K^T X_K` tells how a step changes the later ones: step k of
//! row i adds `sigma_k = s sign(x_ik - D_ik)` times `X_.k` to `c_i`, hence `sigma_k G_kl` to
//! `D_il`, and lowers `C_ii` by `delta_i = s (beta + p_i) / n`, hence `D_il` by
//! `delta_i x_il`. After the panel, `C += Sigma X_K^T`. These are the iterates of the one-at-a-time
//! method up to rounding (tested), with `4 f m K` of the `4 f m K + f K^2` flops in `gemm`.
//!
//! The paper projects "every n iterations or so". Here C is projected after every panel as long as
//! there are few candidates: entries that stray below zero or above their diagonal in the course
//! of an epoch slow the method down. On an instance of the paper's kind (f = 40, n = 400, r = 5,
//! constant steps) the objective after 50 epochs fell from 2.0 to 0.7 at eta = 0.25, and from 5.2
//! to 4.8 at eta = 4, where noise dominates. With many candidates that is not needed, and
//! projecting, which reads and writes all of C, would take a fifth of the time: C is then projected
//! about twice in m columns, and in the last epoch after every panel. After 12 epochs the objective
//! was 6.25 instead of 6.13 (f = 800, n = 8000, r = 50, eta = 0.25) and 39.31 instead of 39.50
//! (f = 1600, n = 6400, eta = 0.95), the diagonal the same to within 0.002.
//!
//! *Memory.* Everything is in single precision: steps are rough, see [`panels`](super::panels). C
//! is cut into blocks of rows, whose sizes follow from f alone, and a block holds its rows of C
//! column after column, as the columns of panels are: so both products read their right factors
//! in the order in which they lie, and a vector holds the same entry of neighbouring rows.
//!
//! *Threads.* A panel takes up to three parallel regions. The first turns the panel to rows, for the
//! second product. In the next every block is clipped to the levels of the last projection,
//! multiplied, stepped and updated, while it is in the cache. The last finds the levels of the
//! projection, for which it reads C once by columns. No sum is shared between threads: the bytes do not
//! depend on their number.

mod block;

use super::panels::{self, Panel, Panels};
use super::{Epoch, Iterate, check_weights};
use crate::checkpoint::{get_words, put_words};
use crate::control::{Control, Stop};
use crate::kernels::LANES;
use crate::kernels::parallel::*;
use crate::normalise::UnitRows;
use crate::project::single_level;
use block::{RowBlock, block_sizes, diagonal};
use std::io::{self, Read, Write};

/// How the work is cut up.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct DenseSettings {
    /// At most about this many bytes of X are kept as panels; all of X when `None`.
    pub window_bytes: Option<usize>,
}

/// Columns in a panel for m candidates: the steps cost K / (4 m) of the products, so a panel much
/// wider than m does not pay.
pub(super) fn panel_width(m: usize) -> usize {
    m.next_multiple_of(16).clamp(16, WIDEST_PANEL)
}

/// Wider panels have fewer projections per epoch, but more of the time goes into the steps.
const WIDEST_PANEL: usize = 192;

/// Columns of C that one task projects.
const TILE: usize = 16;

/// C, f x m, in blocks of rows; rows in the order of the panels, so that row q < m is candidate
/// q's own.
pub(super) struct DenseIterate<'a> {
    x: &'a UnitRows,
    candidates: usize,
    panels: Panels,
    blocks: Vec<RowBlock>,
    /// The diagonal of the last projection in this epoch, zeros before the first.
    levels: Vec<f32>,
    /// Whether C has yet to be clipped to these levels.
    unclipped: bool,
    /// The candidates' rows of the panel in use, by rows.
    turned: Vec<f32>,
}

impl<'a> DenseIterate<'a> {
    pub(super) fn new(
        x: &'a UnitRows,
        candidates: &[usize],
        seed: u64,
        settings: &DenseSettings,
    ) -> Self {
        let m = candidates.len();
        let width = panel_width(m);
        let panels = Panels::new(x, candidates, width, settings.window_bytes, seed);
        let mut first = 0;
        let blocks = block_sizes(x.features()).map(|rows| {
            first += rows;
            RowBlock::new(first - rows, rows, m, width)
        });
        let blocks = blocks.collect();
        DenseIterate {
            x,
            candidates: m,
            panels,
            blocks,
            levels: vec![0.0; m],
            unclipped: false,
            turned: vec![0.0; m * width],
        }
    }

    /// K steps for every row.
    fn advance(&mut self, panel: usize, length: f32) {
        let (panel, step) = (self.panels.panel(panel), self.panels.step());
        let turned = &mut self.turned[..self.candidates * panel.width];
        turned.par_chunks_mut(TILE * panel.width).enumerate().for_each(|(tile, turned)| {
            turn(panel, step, tile * TILE, turned);
        });
        let levels = self.unclipped.then_some(&self.levels);
        self.blocks.par_iter_mut().for_each(|block| {
            if let Some(levels) = levels {
                block.clip(levels);
            }
            block.advance(panel, step, turned, length);
        });
        self.unclipped = false;
    }

    /// After how many panels C is projected: about twice in m columns, after every panel if there
    /// are few candidates.
    fn panels_a_projection(&self) -> usize {
        (self.candidates / (2 * self.panels.width())).max(1)
    }

    /// The levels of the projection onto `Phi_0`, to which C is clipped before it is used again.
    fn project(&mut self) {
        let blocks = &self.blocks;
        self.levels.par_chunks_mut(TILE).enumerate().for_each(|(tile, levels)| {
            for (q, level) in (tile * TILE..).zip(levels) {
                let parts = blocks.iter().map(|b| &b.c[q * b.rows..][..b.rows]);
                *level = single_level(diagonal(blocks, q), parts, *level);
            }
        });
        self.unclipped = true;
    }

    /// Clips C to the last projection.
    fn settle(&mut self) {
        if self.unclipped {
            self.blocks.par_iter_mut().for_each(|block| block.clip(&self.levels));
            self.unclipped = false;
        }
        self.levels.fill(0.0);
    }
}

/// Rows of a panel from `first` on, row after row, as many as `out` holds.
fn turn(panel: Panel<'_>, step: usize, first: usize, out: &mut [f32]) {
    for (k, column) in panel.values.chunks_exact(step).enumerate() {
        for (out, value) in out.chunks_exact_mut(panel.width).zip(&column[first..]) {
            out[k] = *value;
        }
    }
}

impl Iterate for DenseIterate<'_> {
    fn epoch(&mut self, epoch: &Epoch<'_>, control: &Control) -> Option<Stop> {
        let per_step = epoch.step / self.x.examples() as f64;
        for block in &mut self.blocks {
            for q in block.own(self.candidates) {
                block.delta[q - block.first] = (per_step * epoch.pull[q]) as f32;
            }
        }
        let every = if epoch.last { 1 } else { self.panels_a_projection() };
        let mut stopped = None;
        'epoch: for (window, order) in self.panels.visits(epoch.number) {
            stopped = self.panels.load(self.x, window, control).err();
            if stopped.is_some() {
                break 'epoch;
            }
            for (at, &panel) in order.iter().enumerate() {
                stopped = control.stopped();
                if stopped.is_some() {
                    break 'epoch;
                }
                self.advance(panel as usize, epoch.step as f32);
                if (at + 1).is_multiple_of(every) || at + 1 == order.len() {
                    self.project();
                }
            }
        }
        self.settle();
        stopped
    }

    fn diagonal(&self) -> Vec<f64> {
        (0..self.candidates).map(|q| f64::from(diagonal(&self.blocks, q))).collect()
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.blocks.iter().try_for_each(|block| put_words(out, block.c.iter().map(|v| v.to_bits())))
    }

    fn read(&mut self, input: &mut dyn Read) -> io::Result<()> {
        self.blocks.iter_mut().try_for_each(|block| {
            let mut entries = block.c.iter_mut();
            get_words(input, entries.len(), |word| {
                entries.by_ref().take(1).for_each(|v| *v = f32::from_bits(word));
            })?;
            check_weights(block.c.iter())
        })
    }

    fn loss(&mut self, control: &Control) -> Option<f64> {
        let mut total = 0.0;
        for window in 0..self.panels.windows() {
            self.panels.load(self.x, window, control).ok()?;
            let (panels, m) = (&self.panels, self.candidates);
            let losses: Option<Vec<f64>> = (self.blocks.par_iter_mut())
                .map(|block| {
                    let each = (0..panels.panels(window)).map(|p| {
                        block.multiply(panels.panel(p), panels.step(), m);
                        let distance = block.distance(panels.panel(p), panels.step());
                        control.goes_on().then_some(distance)
                    });
                    each.sum()
                })
                .collect();
            total += losses?.iter().sum::<f64>();
        }
        Some(total)
    }
}

/// In how many windows X is gone through.
pub(super) fn windows(f: usize, n: usize, m: usize, settings: &DenseSettings) -> usize {
    panels::window_count(f, n, panel_width(m), settings.window_bytes)
}

/// The most bytes that f rows, n columns and m candidates take beside X itself.
pub(super) fn memory(f: usize, n: usize, m: usize, settings: &DenseSettings) -> u64 {
    let width = panel_width(m);
    let rows = f.next_multiple_of(LANES);
    let numbers = rows * (m + width + 1) + m * (width + 1) + width * width;
    (numbers * size_of::<f32>()) as u64 + panels::memory(f, n, width, settings.window_bytes)
}

#[cfg(test)]
mod tests;

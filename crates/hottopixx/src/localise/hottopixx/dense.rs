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
//! multiplied, walked and updated, while it is in the cache. The last finds the levels of the
//! projection, for which it reads C once by columns. No sum is shared between threads: the bytes do not
//! depend on their number.

use super::panels::{self, Panel, Panels};
use super::{Epoch, Iterate};
use crate::checkpoint::{get_words, put_words};
use crate::control::{Control, Stop};
use crate::kernels::{LANES, View, ViewMut, Walk, clip, l1_distance, multiply, walk};
use crate::normalise::UnitRows;
use crate::project::single_level;
use rayon::prelude::*;
use std::io::{self, Read, Write};

/// How the work is cut up.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct DenseSettings {
    /// At most about so many bytes of X are kept as panels; all of X when `None`.
    pub window_bytes: Option<usize>,
}

/// Columns in a panel for m candidates: the walk costs K / (4 m) of the products, so a panel much
/// wider than m does not pay.
pub(super) fn panel_width(m: usize) -> usize {
    m.next_multiple_of(16).clamp(16, WIDEST_PANEL)
}

/// Wider panels have fewer projections an epoch, but more of the time goes into the walk.
const WIDEST_PANEL: usize = 192;

/// Columns of C that one task projects.
const TILE: usize = 16;

/// C, f x m, in blocks of rows; rows in the order of the panels, so that row q < m is candidate
/// q's own.
pub(super) struct DenseIterate<'a> {
    x: &'a UnitRows,
    candidates: usize,
    panels: Panels,
    blocks: Vec<Block>,
    /// The diagonal of the last projection in this epoch, zeros before the first.
    levels: Vec<f32>,
    /// Whether C has yet to be clipped to these levels.
    unclipped: bool,
    /// The candidates' rows of the panel in use, by rows.
    turned: Vec<f32>,
}

/// Some rows of C, a multiple of [`LANES`]; those beyond the rows of X are zero.
struct Block {
    /// The first row.
    first: usize,
    rows: usize,
    /// `C_iq` at `c[q * rows + i - first]`.
    c: Vec<f32>,
    /// D, then Sigma, in the same order.
    d: Vec<f32>,
    /// By how much a step lowers the diagonal entry of each row.
    delta: Vec<f32>,
}

/// The blocks' numbers of rows: so many that there is something to share, so large that the
/// products run at full speed. Products take [`WHOLE`] vectors of rows at a time and lose speed on
/// what remains, so that there are remainders only in the middle and at the end: two threads have
/// equal shares.
fn block_sizes(f: usize) -> impl Iterator<Item = usize> {
    let vectors = f.div_ceil(LANES);
    let most = (vectors / 12).max(8);
    let count = match (vectors / WHOLE).clamp(1, most) {
        1 => 1,
        count => count & !1,
    };
    let end = move |blocks: usize| match blocks * vectors / count {
        end if 2 * blocks == count || blocks == count => end,
        end => end / WHOLE * WHOLE,
    };
    (0..count).map(move |b| (end(b + 1) - end(b)) * LANES)
}

/// Vectors of rows that a product takes together.
const WHOLE: usize = 4;

impl Block {
    fn new(first: usize, rows: usize, m: usize, width: usize) -> Self {
        let (c, d) = (vec![0.0; m * rows], vec![0.0; width * rows]);
        Block { first, rows, c, d, delta: vec![0.0; rows] }
    }

    /// The candidates whose own rows are here.
    fn own(&self, m: usize) -> std::ops::Range<usize> {
        self.first.min(m)..(self.first + self.rows).min(m)
    }

    /// Where candidate q's diagonal entry is; q's row must be here.
    fn diagonal_at(&self, q: usize) -> usize {
        q * self.rows + q - self.first
    }

    /// `C_iq = clip(C_iq, 0, m_q)` and `C_qq = m_q`.
    fn clip(&mut self, levels: &[f32]) {
        for (column, level) in self.c.chunks_exact_mut(self.rows).zip(levels) {
            clip(column, *level);
        }
        for q in self.own(levels.len()) {
            let at = self.diagonal_at(q);
            self.c[at] = levels[q];
        }
    }

    /// `D = C X_K`.
    fn multiply(&mut self, panel: Panel<'_>, step: usize, m: usize) {
        let (rows, width) = (self.rows, panel.width);
        multiply(
            1.0,
            View::by_rows(&self.c, m, rows, rows).transposed(),
            View::by_rows(panel.values, width, m, step).transposed(),
            0.0,
            ViewMut::by_rows(&mut self.d, width, rows, rows).transposed(),
        );
    }

    /// The K steps of every row. `turned` holds the candidates' rows of the panel.
    fn advance(&mut self, panel: Panel<'_>, step: usize, turned: &[f32], length: f32) {
        let (rows, width) = (self.rows, panel.width);
        let m = self.c.len() / rows;
        self.multiply(panel, step, m);
        let x = &panel.values[self.first..];
        let of = Walk { x, x_step: step, gram: panel.gram, step: length, delta: &self.delta };
        walk(of, &mut self.d[..width * rows]);
        multiply(
            1.0,
            View::by_rows(&self.d, width, rows, rows).transposed(),
            View::by_rows(turned, m, width, width).transposed(),
            1.0,
            ViewMut::by_rows(&mut self.c, m, rows, rows).transposed(),
        );
        for q in self.own(m) {
            let at = self.diagonal_at(q);
            self.c[at] -= panel.columns as f32 * self.delta[q - self.first];
        }
    }

    /// `||X_K - D||_1` over these rows.
    fn distance(&self, panel: Panel<'_>, step: usize) -> f64 {
        let columns = panel.values.chunks_exact(step).map(|c| &c[self.first..][..self.rows]);
        let products = self.d.chunks_exact(self.rows);
        columns.zip(products).map(|(x, d)| l1_distance(x, d)).sum()
    }
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
            Block::new(first - rows, rows, m, width)
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

/// `C_qq`.
fn diagonal(blocks: &[Block], q: usize) -> f32 {
    let block = &blocks[blocks.partition_point(|b| b.first + b.rows <= q)];
    block.c[block.diagonal_at(q)]
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
            })
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
    panels::windows(f, n, panel_width(m), settings.window_bytes).len()
}

/// The most bytes that f rows, n columns and m candidates take beside X itself.
pub(super) fn memory(f: usize, n: usize, m: usize, settings: &DenseSettings) -> u64 {
    let width = panel_width(m);
    let rows = f.next_multiple_of(LANES);
    let numbers = rows * (m + width + 1) + m * (width + 1) + width * width;
    (numbers * size_of::<f32>()) as u64 + panels::memory(f, n, width, settings.window_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{axpy, dot};
    use crate::localise::instances::{Instance, paper};
    use crate::project::project_phi0;

    fn epoch(number: usize, step: f64, pull: &[f64]) -> Epoch<'_> {
        Epoch { number, last: false, walk: (0, true), step, pull }
    }

    /// C by rows, rows in the order of the panels.
    fn by_rows(iterate: &DenseIterate<'_>) -> Vec<f64> {
        let (f, m) = (iterate.x.features(), iterate.candidates);
        let entry = |i: usize, q: usize| {
            let block = iterate.blocks.iter().rfind(|b| b.first <= i).unwrap();
            f64::from(block.c[q * block.rows + i - block.first])
        };
        (0..f * m).map(|at| entry(at / m, at % m)).collect()
    }

    /// Panels give the iterates of Algorithm 4 as it is written, column by column.
    #[test]
    fn panels_are_the_method_one_column_at_a_time() {
        let Instance { x, .. } = paper((20, 70, 3, 0), 4.0, 5);
        let candidates = [0, 2, 3, 5, 6, 7, 8, 9, 10, 11];
        let (f, m, n) = (20, candidates.len(), 70);
        let pull: Vec<f64> = (0..m).map(|q| 0.3 - 0.05 * q as f64).collect();
        let mut panelled = DenseIterate::new(&x, &candidates, 1, &DenseSettings::default());
        let mut c = vec![0.0; f * m];
        for t in 0..3 {
            assert_eq!(panelled.epoch(&epoch(t, 0.1, &pull), &Control::default()), None);
            let (panels, step) = (&panelled.panels, panelled.panels.step());
            for p in panels.visits(t).remove(0).1 {
                let panel = panels.panel(p as usize);
                for column in panel.values.chunks_exact(step).take(panel.columns) {
                    let column: Vec<f64> = column[..f].iter().map(|v| f64::from(*v)).collect();
                    for (i, c) in c.chunks_exact_mut(m).enumerate() {
                        let error = column[i] - dot(c, &column[..m]);
                        let sign = f64::from(i8::from(error > 0.0) - i8::from(error < 0.0));
                        axpy(0.1 * sign, &column[..m], c);
                        if i < m {
                            c[i] -= 0.1 / n as f64 * pull[i];
                        }
                    }
                }
                project_phi0(&mut c, &(0..m).collect::<Vec<_>>());
            }
            let found = by_rows(&panelled);
            let gap = c.iter().zip(&found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(gap < 1e-5, "epoch {t}: {gap}");
        }
        let direct: f64 = (0..f)
            .map(|i| {
                let (row, mut fit) = (x.dense_row(panelled.panels.row(i)), vec![0.0; n]);
                for (q, &own) in candidates.iter().enumerate() {
                    axpy(c[i * m + q], &x.dense_row(own), &mut fit);
                }
                row.iter().zip(&fit).map(|(x, y)| (x - y).abs()).sum::<f64>()
            })
            .sum();
        assert!(
            (panelled.loss(&Control::default()).unwrap() - direct).abs() < 1e-3 * direct,
            "{direct}"
        );
    }

    /// Windows change the order of the columns and nothing else; one window is no window.
    #[test]
    fn windows_find_the_same_rows() {
        let instance = paper((40, 700, 4, 0), 0.95, 3);
        let candidates: Vec<usize> = (0..40).collect();
        let run = |window_bytes| {
            let settings = DenseSettings { window_bytes };
            let mut iterate = DenseIterate::new(&instance.x, &candidates, 2, &settings);
            for t in 0..6 {
                iterate.epoch(&epoch(t, 0.5, &[0.05; 40]), &Control::default());
            }
            let loss = iterate.loss(&Control::default()).unwrap();
            (by_rows(&iterate), iterate.diagonal(), loss, iterate.panels.windows())
        };
        let (whole, one, four) = (run(None), run(Some(1 << 30)), run(Some(60_000)));
        assert_eq!((whole.3, one.3, four.3), (1, 1, 4));
        assert_eq!(whole, one);
        assert_ne!(whole.0, four.0);
        assert!(instance.pools_lead(&whole.1) && instance.pools_lead(&four.1));
        assert!((whole.2 / four.2 - 1.0).abs() < 0.2, "{} {}", whole.2, four.2);
    }

    /// The next epoch depends on C alone, not on what was done to reach it.
    #[test]
    fn nothing_but_c_goes_from_one_epoch_to_the_next() {
        let x = paper((40, 300, 4, 0), 0.95, 3).x;
        let candidates: Vec<usize> = (0..40).collect();
        let new = || DenseIterate::new(&x, &candidates, 2, &DenseSettings::default());
        let (mut one, mut other) = (new(), new());
        for t in 0..3 {
            one.epoch(&epoch(t, 0.5, &[0.05; 40]), &Control::default());
        }
        for (block, from) in other.blocks.iter_mut().zip(&one.blocks) {
            block.c.clone_from(&from.c);
        }
        for iterate in [&mut one, &mut other] {
            iterate.epoch(&epoch(3, 0.2, &[0.1; 40]), &Control::default());
        }
        assert_eq!(by_rows(&one), by_rows(&other));
    }

    #[test]
    fn blocks_cover_the_rows_in_even_shares() {
        for f in [1, 16, 40, 127, 128, 300, 1600, 5000] {
            let sizes: Vec<usize> = block_sizes(f).collect();
            assert_eq!(sizes.iter().sum::<usize>(), f.next_multiple_of(LANES));
            assert!(sizes.iter().all(|s| s.is_multiple_of(LANES) && *s > 0));
            let (one, other) = sizes.split_at(sizes.len() / 2);
            if let Some((_, whole)) = one.split_last() {
                let (one, other) = (one.iter().sum::<usize>(), other.iter().sum::<usize>());
                assert!(one.abs_diff(other) <= LANES, "{sizes:?}");
                assert!(whole.iter().all(|s| s.is_multiple_of(WHOLE * LANES)), "{sizes:?}");
            }
        }
    }
}

//! Blocks of rows of C, which threads share out among themselves: products, steps and clipping.

use crate::kernels::{LANES, PanelSteps, View, ViewMut, clip, l1_distance, multiply, take_steps};
use crate::localise::hottopixx::panels::Panel;

/// Some rows of C, a multiple of [`LANES`]; those beyond the rows of X are zero.
pub(super) struct RowBlock {
    /// The first row.
    pub first: usize,
    pub rows: usize,
    /// `C_iq` at `c[q * rows + i - first]`.
    pub c: Vec<f32>,
    /// D, then Sigma, in the same order.
    d: Vec<f32>,
    /// By how much a step lowers the diagonal entry of each row.
    pub delta: Vec<f32>,
}

/// The blocks' numbers of rows: enough of them that there is something to share, large enough that
/// the products run at full speed. Products take [`WHOLE`] vectors of rows at a time and lose speed
/// on what remains, so that there are remainders only in the middle and at the end: two threads
/// have equal shares.
pub(super) fn block_sizes(f: usize) -> impl Iterator<Item = usize> {
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
pub(super) const WHOLE: usize = 4;

impl RowBlock {
    pub(super) fn new(first: usize, rows: usize, m: usize, width: usize) -> Self {
        let (c, d) = (vec![0.0; m * rows], vec![0.0; width * rows]);
        RowBlock { first, rows, c, d, delta: vec![0.0; rows] }
    }

    /// The candidates whose own rows are here.
    pub(super) fn own(&self, m: usize) -> std::ops::Range<usize> {
        self.first.min(m)..(self.first + self.rows).min(m)
    }

    /// Where candidate q's diagonal entry is; q's row must be here.
    pub(super) fn diagonal_at(&self, q: usize) -> usize {
        q * self.rows + q - self.first
    }

    /// `C_iq = clip(C_iq, 0, m_q)` and `C_qq = m_q`.
    pub(super) fn clip(&mut self, levels: &[f32]) {
        for (column, level) in self.c.chunks_exact_mut(self.rows).zip(levels) {
            clip(column, *level);
        }
        for q in self.own(levels.len()) {
            let at = self.diagonal_at(q);
            self.c[at] = levels[q];
        }
    }

    /// `D = C X_K`.
    pub(super) fn multiply(&mut self, panel: Panel<'_>, step: usize, m: usize) {
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
    pub(super) fn advance(&mut self, panel: Panel<'_>, step: usize, turned: &[f32], length: f32) {
        let (rows, width) = (self.rows, panel.width);
        let m = self.c.len() / rows;
        self.multiply(panel, step, m);
        let x = &panel.values[self.first..];
        let of = PanelSteps { x, x_step: step, gram: panel.gram, step: length, delta: &self.delta };
        take_steps(of, &mut self.d[..width * rows]);
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
    pub(super) fn distance(&self, panel: Panel<'_>, step: usize) -> f64 {
        let columns = panel.values.chunks_exact(step).map(|c| &c[self.first..][..self.rows]);
        let products = self.d.chunks_exact(self.rows);
        columns.zip(products).map(|(x, d)| l1_distance(x, d)).sum()
    }
}

/// `C_qq`.
pub(super) fn diagonal(blocks: &[RowBlock], q: usize) -> f32 {
    let block = &blocks[blocks.partition_point(|b| b.first + b.rows <= q)];
    block.c[block.diagonal_at(q)]
}

//! X by *panels*: K columns together, in single precision, in the order of their visits.
//!
//! The incremental gradient reads X by columns in random order, many times; X is stored by rows.
//! So the columns are gathered once, in one random order that depends on the seed, K to a panel,
//! and epochs visit the panels in an order of their own. With a panel goes the Gram matrix of its
//! columns, `G = X_K^T X_K` over the candidate rows. Where all panels would take too much memory
//! they are made one *window* at a time: a window is a range of columns that stand together in X,
//! so that gathering it reads long pieces of every row, and only the order within windows and of
//! windows is random.
//!
//! Single precision is enough here: entries of X enter as factors of steps that are themselves
//! rough (their sign matters, their length is s), and rounding changes a sign only where the
//! error is a millionth of the entry.

use super::{shuffled, stream};
use crate::control::{Control, Stop};
use crate::kernels::parallel::*;
use crate::kernels::{LANES, QUAD, View, ViewMut, multiply, pack_gram, packed_gram_len};
use crate::matrix::Entries;
use crate::normalise::UnitRows;
use rand::Rng;
use std::ops::Range;

/// The columns of X that are in memory, panel by panel.
pub(super) struct Panels {
    /// The rows of X in the order in which panels hold them: candidates first.
    rows: Vec<usize>,
    candidates: usize,
    /// Columns in a full panel.
    width: usize,
    /// The columns of each window.
    windows: Vec<Range<usize>>,
    seed: u64,
    /// The window in memory.
    loaded: Option<usize>,
    /// Column after column, each of `self.step()` values; panels begin every `width` columns.
    values: Vec<f32>,
    /// The packed Gram matrices.
    grams: Vec<f32>,
}

/// K columns of X: column k is `values[k * step..][..step]`, zeros after the rows of X.
#[derive(Clone, Copy)]
pub(super) struct Panel<'a> {
    pub values: &'a [f32],
    /// Columns, with zero columns at the end that make them a multiple of [`QUAD`].
    pub width: usize,
    /// Columns of X among them.
    pub columns: usize,
    /// `X_K^T X_K` over the candidates, packed.
    pub gram: &'a [f32],
}

impl Panels {
    /// Panels of `width` columns, a multiple of [`QUAD`], in windows of at most about
    /// `window_bytes`; nothing is gathered yet.
    pub fn new(
        x: &UnitRows,
        candidates: &[usize],
        width: usize,
        window_bytes: Option<usize>,
        seed: u64,
    ) -> Self {
        let mut rows = candidates.to_vec();
        let mut others = vec![true; x.features()];
        candidates.iter().for_each(|&i| others[i] = false);
        rows.extend((0..x.features()).filter(|&i| others[i]));
        let windows = windows(x.features(), x.examples(), width, window_bytes);
        let candidates = candidates.len();
        let (values, grams) = (Vec::new(), Vec::new());
        Panels { rows, candidates, width, windows, seed, loaded: None, values, grams }
    }

    /// The row of X that panels hold at `place`.
    #[cfg(test)]
    pub fn row(&self, place: usize) -> usize {
        self.rows[place]
    }

    /// From the beginning of a column to the beginning of the next.
    pub fn step(&self) -> usize {
        column_step(self.rows.len())
    }

    /// Columns in a full panel.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of windows.
    pub fn windows(&self) -> usize {
        self.windows.len()
    }

    /// Number of panels in a window.
    pub fn panels(&self, window: usize) -> usize {
        self.windows[window].len().div_ceil(self.width)
    }

    /// A panel of the window in memory.
    pub fn panel(&self, number: usize) -> Panel<'_> {
        let window = &self.windows[self.loaded.expect("a window is in memory")];
        let columns = self.width.min(window.len() - number * self.width);
        let width = columns.next_multiple_of(QUAD);
        let values = &self.values[number * self.width * self.step()..][..width * self.step()];
        let gram = &self.grams[number * packed_gram_len(self.width)..][..packed_gram_len(width)];
        Panel { values, width, columns, gram }
    }

    /// The order of this epoch's visits: windows, and the panels in each.
    pub fn visits(&self, epoch: usize) -> Vec<(usize, Vec<u32>)> {
        let mut random = stream(self.seed, epoch as u64);
        let windows = shuffled(self.windows(), &mut random);
        let panels = |w: u32| (w as usize, shuffled(self.panels(w as usize), &mut random));
        windows.into_iter().map(panels).collect()
    }

    /// Puts a window into memory, unless it is there; why not, when stopped.
    pub fn load(&mut self, x: &UnitRows, window: usize, control: &Control) -> Result<(), Stop> {
        if self.loaded == Some(window) {
            return Ok(());
        }
        self.loaded = None;
        let columns = self.windows[window].clone();
        // The streams from 0 on belong to the epochs, the last one to the cost vector.
        let mut random = stream(self.seed, u64::MAX - 1 - window as u64);
        self.gather(x, columns, &mut random, control)?;
        self.multiply(window, control)?;
        self.loaded = Some(window);
        Ok(())
    }

    /// Reads the columns, [`LANES`] rows of X at a time: each row once and from left to right, into
    /// a buffer from which all panels take their columns.
    fn gather(
        &mut self,
        x: &UnitRows,
        columns: Range<usize>,
        random: &mut impl Rng,
        control: &Control,
    ) -> Result<(), Stop> {
        let (step, n) = (self.step(), columns.len());
        let order = shuffled(n, random);
        let largest = self.windows.iter().map(|w| w.len().next_multiple_of(QUAD)).max();
        self.values.resize(largest.unwrap_or(0) * step, 0.0);
        let whole = n.next_multiple_of(QUAD) * step;
        self.values[n * step..whole].fill(0.0);
        let mut buffer = vec![0.0f32; LANES * n];
        for first in (0..self.rows.len()).step_by(LANES) {
            if let Some(stop) = control.stopped() {
                return Err(stop);
            }
            let rows = &self.rows[first..self.rows.len().min(first + LANES)];
            buffer.par_chunks_mut(n).zip(rows).for_each(|(out, &i)| {
                read_row(x, i, columns.clone(), out);
            });
            let panels = self.values[..n * step].par_chunks_mut(self.width * step);
            panels.zip(order.par_chunks(self.width)).for_each(|(panel, order)| {
                for (column, &k) in panel.chunks_exact_mut(step).zip(order) {
                    let from = buffer[k as usize..].iter().step_by(n);
                    column[first..]
                        .iter_mut()
                        .zip(from)
                        .take(rows.len())
                        .for_each(|(o, v)| *o = *v);
                }
            });
        }
        Ok(())
    }

    /// The Gram matrix of each panel.
    fn multiply(&mut self, window: usize, control: &Control) -> Result<(), Stop> {
        let (step, full, m) = (self.step(), packed_gram_len(self.width), self.candidates);
        let panels = self.panels(window);
        self.grams.resize(self.grams.len().max(panels * full), 0.0);
        let values = self.values.par_chunks(self.width * step);
        let products = self.grams[..panels * full].par_chunks_mut(full).zip(values).map_init(
            || vec![0.0; self.width * self.width],
            |gram, (packed, values)| {
                if let Some(stop) = control.stopped() {
                    return Err(stop);
                }
                let width = values.len() / step;
                let columns = View::by_rows(values, width, m, step);
                let out = ViewMut::by_rows(gram, width, width, width);
                multiply(1.0, columns, columns.transposed(), 0.0, out);
                pack_gram(gram, width, &mut packed[..packed_gram_len(width)]);
                Ok(())
            },
        );
        products.collect::<Result<Vec<()>, Stop>>().map(drop)
    }
}

/// Part of row i of X in single precision: the only place that looks into a row.
fn read_row(x: &UnitRows, i: usize, columns: Range<usize>, out: &mut [f32]) {
    let row = x.row(i);
    match row.entries() {
        Entries::Dense(values) => {
            let factor = row.factor();
            out.iter_mut().zip(&values[columns]).for_each(|(o, v)| *o = (v * factor) as f32);
        }
        Entries::Sparse(..) => {
            out.fill(0.0);
            row.nonzeros().filter(|(k, _)| columns.contains(k)).for_each(|(k, v)| {
                out[k - columns.start] = v as f32;
            });
        }
    }
}

/// Values from one column of a panel to the next: f, and zeros up to whole vectors.
fn column_step(f: usize) -> usize {
    f.next_multiple_of(LANES)
}

/// Bytes that `columns` columns take, a multiple of [`QUAD`] and less than a panel or in panels.
fn bytes(f: usize, columns: usize, width: usize) -> usize {
    let grams = columns.div_ceil(width) * packed_gram_len(width);
    (columns.next_multiple_of(QUAD) * column_step(f) + grams) * size_of::<f32>()
}

/// Columns of a window: as many as the memory allows in windows of equal size, never less than a panel.
fn window_size(f: usize, n: usize, width: usize, bytes_allowed: Option<usize>) -> usize {
    let panels = n.div_ceil(width).max(1);
    let allowed = bytes_allowed.map_or(panels, |b| (b / bytes(f, width, width)).clamp(1, panels));
    panels.div_ceil(panels.div_ceil(allowed)) * width
}

/// How many windows there are, none where there are no columns. Arithmetic alone: n may be what a file
/// claims.
pub(super) fn window_count(
    f: usize,
    n: usize,
    width: usize,
    bytes_allowed: Option<usize>,
) -> usize {
    n.div_ceil(window_size(f, n, width, bytes_allowed))
}

/// The windows: as few as the memory allows, of equal size but for the last, never less than a
/// panel; none where there are no columns.
fn windows(f: usize, n: usize, width: usize, bytes_allowed: Option<usize>) -> Vec<Range<usize>> {
    let size = window_size(f, n, width, bytes_allowed);
    (0..n).step_by(size).map(|first| first..n.min(first + size)).collect()
}

/// The most bytes that panels take, with the buffer in which they are gathered.
pub(super) fn memory(f: usize, n: usize, width: usize, window_bytes: Option<usize>) -> u64 {
    let largest = n.min(window_size(f, n, width, window_bytes));
    let buffer = LANES * largest * size_of::<f32>();
    (bytes(f, largest, width) + buffer) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::dot;
    use crate::localise::instances::paper;

    /// Every column is in exactly one panel, whatever the windows, with its Gram matrix.
    #[test]
    fn panels_hold_every_column_once_and_their_products() {
        let (f, n) = (18, 70);
        let x = paper((f, n, 3, 0), 0.5, 2).x;
        let candidates = [1, 4, 5, 6, 9, 17];
        for window_bytes in [None, Some(1), Some(4000)] {
            let mut panels = Panels::new(&x, &candidates, 8, window_bytes, 3);
            assert_eq!(panels.rows[..6], candidates);
            assert_eq!(
                panels.windows(),
                match window_bytes {
                    None => 1,
                    Some(1) => 9,
                    _ => 3,
                }
            );
            let mut seen = Vec::new();
            for (window, order) in panels.visits(4) {
                panels.load(&x, window, &Control::default()).unwrap();
                for p in order {
                    let panel = panels.panel(p as usize);
                    seen.extend(check(&x, &panels, panel, &panels.windows[window]));
                }
            }
            seen.sort_unstable();
            assert_eq!(seen, (0..n).collect::<Vec<_>>());
        }
    }

    /// The columns of X that a panel holds, after looking at its zeros and products.
    fn check(x: &UnitRows, panels: &Panels, panel: Panel<'_>, window: &Range<usize>) -> Vec<usize> {
        let (f, step, m) = (x.features(), panels.step(), panels.candidates);
        let columns: Vec<&[f32]> = panel.values.chunks_exact(step).collect();
        assert_eq!(columns.len(), panel.width);
        assert!(columns.iter().all(|c| c[f..].iter().all(|v| *v == 0.0)));
        assert!(columns[panel.columns..].iter().all(|c| c.iter().all(|v| *v == 0.0)));
        let wide = |c: &[f32]| c[..m].iter().map(|v| f64::from(*v)).collect::<Vec<_>>();
        let mut packed = panel.gram.iter();
        for first in (0..panel.width).step_by(QUAD) {
            for row in 0..first + QUAD {
                for col in first..first + QUAD {
                    let product = dot(&wide(columns[row]), &wide(columns[col]));
                    assert!((product - f64::from(*packed.next().unwrap())).abs() < 1e-6);
                }
            }
        }
        assert!(packed.next().is_none());
        let rows: Vec<Vec<f64>> = panels.rows.iter().map(|&i| x.dense_row(i)).collect();
        let is = |k: usize, c: &[f32]| rows.iter().zip(c).all(|(row, v)| row[k] as f32 == *v);
        let find = |c: &&[f32]| window.clone().find(|&k| is(k, c)).expect("a column of the window");
        columns[..panel.columns].iter().map(find).collect()
    }

    /// A file may claim rows without columns: its memory is planned before that is refused.
    #[test]
    fn no_columns_take_no_windows() {
        for bytes_allowed in [None, Some(1)] {
            assert!(windows(3, 0, 8, bytes_allowed).is_empty());
            assert_eq!(memory(3, 0, 8, bytes_allowed), 0);
        }
    }

    #[test]
    fn windows_fit_the_memory_allowed() {
        for (f, n, width) in [(40, 1000, 128), (1600, 64000, 128), (7, 3, 8), (5, 500, 4)] {
            let all = memory(f, n, width, None);
            for part in [2, 3, 10] {
                let allowed = bytes(f, n, width) / part;
                let made = windows(f, n, width, Some(allowed));
                assert_eq!((made[0].start, made.last().unwrap().end), (0, n));
                assert!(
                    made.windows(2).all(|w| w[0].end == w[1].start && w[0].len() == made[0].len())
                );
                let least = bytes(f, width.min(n.next_multiple_of(QUAD)), width);
                assert!(bytes(f, made[0].len(), width) <= allowed.max(least));
                assert!(memory(f, n, width, Some(allowed)) <= all);
            }
        }
    }
}

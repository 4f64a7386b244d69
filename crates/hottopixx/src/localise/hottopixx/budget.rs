//! How much memory the method takes beside X, and how it keeps to what it is given.
//!
//! Dense X costs a copy in single precision, or a window of it at a time. For sparse X the number
//! of columns of C decides. Both follow from the shape of X, the rank and the settings, never from
//! the number of threads, so that the answer does not depend on it either.

use super::dense::{self, DenseSettings};
use super::{HottopixxSettings, sparse};
use crate::matrix::Shape;

/// Columns of C for sparse X: at least this many, and this many per hott row.
const COLUMNS: (usize, usize) = (200, 10);
/// With little memory, columns of C for sparse X are not fewer than this many per hott row.
const FEWEST: usize = 3;

/// What too little memory changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// There is enough.
    None,
    /// Dense X is gone through in this many windows: its columns come in another order.
    Windows(usize),
    /// C has fewer columns than usual for sparse X.
    Columns { kept: usize, usual: usize },
}

impl HottopixxSettings {
    /// Columns of C for `allowed` rows that may be hott.
    pub(super) fn column_count(&self, shape: Shape, rank: usize, allowed: usize) -> usize {
        if shape.dense {
            return allowed;
        }
        let usual = self.columns.unwrap_or(COLUMNS.0.max(COLUMNS.1 * rank));
        let usual = usual.max(rank).min(allowed);
        let Some(limit) = self.memory else { return usual };
        let fits = |m: usize| sparse::memory(shape, m) <= limit;
        let (mut few, mut many) = ((FEWEST * rank).min(usual), usual);
        if fits(many) {
            return many;
        }
        while many - few > 1 {
            let middle = few.midpoint(many);
            if fits(middle) { few = middle } else { many = middle }
        }
        few
    }

    /// Operations of all epochs, roughly, counting a product of single precision as an eighth.
    pub(crate) fn operations(&self, shape: Shape, rank: usize, allowed: usize) -> f64 {
        let m = self.column_count(shape, rank, allowed) as f64;
        let epoch = if shape.dense {
            4.0 * m * shape.rows as f64 * shape.cols as f64 / 16.0
        } else {
            // Candidates are the fuller rows: twice as full, say.
            let fill = shape.entries as f64 / (shape.rows as f64 * shape.cols as f64);
            let visits = shape.entries as f64 * (2.0 * fill).min(1.0) * m;
            2.0 * visits.min(sparse::EPOCH_VISITS)
        };
        self.epochs as f64 * epoch
    }

    /// How dense X is cut up with m columns of C.
    pub(super) fn dense(&self, shape: Shape, m: usize) -> DenseSettings {
        let least =
            dense::memory(shape.rows, shape.cols, m, &DenseSettings { window_bytes: Some(0) });
        let window = self.memory.map(|limit| usize::try_from(limit.saturating_sub(least)));
        DenseSettings { window_bytes: window.map(|bytes| bytes.unwrap_or(usize::MAX)) }
    }

    /// What [`HottopixxSettings::memory`] changes for X of this shape and `allowed` rows that may be
    /// hott: nothing, or the answer.
    pub(crate) fn effect(&self, shape: Shape, rank: usize, allowed: usize) -> Effect {
        let m = self.column_count(shape, rank, allowed);
        if shape.dense {
            return match dense::windows(shape.rows, shape.cols, m, &self.dense(shape, m)) {
                1 => Effect::None,
                windows => Effect::Windows(windows),
            };
        }
        let free = HottopixxSettings { memory: None, ..self.clone() };
        match free.column_count(shape, rank, allowed) {
            usual if usual > m => Effect::Columns { kept: m, usual },
            _ => Effect::None,
        }
    }

    /// The most bytes that [`hottopixx`](super::hottopixx()) takes beside X itself, for X of this
    /// shape and `allowed` rows that may be hott. More than [`HottopixxSettings::memory`] only when
    /// there is no way to do with that.
    pub fn bytes(&self, shape: Shape, rank: usize, allowed: usize) -> u64 {
        let m = self.column_count(shape, rank, allowed);
        if shape.dense {
            dense::memory(shape.rows, shape.cols, m, &self.dense(shape, m))
        } else {
            // Screening looks at all rows that are allowed.
            sparse::memory(shape, m)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(memory: Option<u64>) -> HottopixxSettings {
        HottopixxSettings { memory, ..Default::default() }
    }

    #[test]
    fn what_memory_changes_is_known() {
        let dense = Shape { rows: 1600, cols: 64_000, entries: 1600 * 64_000, dense: true };
        assert_eq!(with(None).effect(dense, 100, 1600), Effect::None);
        assert_eq!(with(Some(8 << 30)).effect(dense, 100, 1600), Effect::None);
        assert_eq!(with(Some(250_000_000)).effect(dense, 100, 1600), Effect::Windows(2));
        let sparse = Shape { rows: 44_739, cols: 351_849, entries: 19_400_000, dense: false };
        assert_eq!(with(Some(8 << 30)).effect(sparse, 100, 44_739), Effect::None);
        let fewest = Effect::Columns { kept: 300, usual: 1000 };
        assert_eq!(with(Some(0)).effect(sparse, 100, 44_739), fewest);
    }

    /// What a jumbo takes: X in single precision and little else, or a window of it.
    #[test]
    fn dense_x_is_taken_whole_or_in_windows() {
        let shape = Shape { rows: 1600, cols: 64_000, entries: 1600 * 64_000, dense: true };
        let single = 4 * shape.entries as u64;
        let all = with(None).bytes(shape, 100, 1600);
        assert!(all > single && all < single + 50_000_000, "{all}");
        for limit in [100_000_000, 250_000_000, 10 * single] {
            let part = with(Some(limit)).bytes(shape, 100, 1600);
            assert!(part <= limit && part > limit.min(single) / 2, "{part} of {limit}");
        }
    }

    #[test]
    fn sparse_x_has_as_many_columns_as_fit() {
        let shape = Shape { rows: 44_739, cols: 351_849, entries: 19_400_000, dense: false };
        let usual = with(None).bytes(shape, 100, shape.rows);
        assert_eq!(with(None).column_count(shape, 100, shape.rows), 1000);
        assert_eq!(with(Some(usual)).column_count(shape, 100, shape.rows), 1000);
        let limit = usual * 2 / 3;
        let fewer = with(Some(limit));
        let m = fewer.column_count(shape, 100, shape.rows);
        assert!((300..1000).contains(&m), "{m}");
        assert!(fewer.bytes(shape, 100, shape.rows) <= limit);
        assert!(sparse::memory(shape, m + 1) > limit);
        assert_eq!(with(Some(0)).column_count(shape, 100, shape.rows), 300);
        for (rows, cols, entries, gib) in [
            (44_739, 351_849, 19_400_000, 1.5),
            (47_153, 781_265, 59_200_000, 2.0),
            (100_000, 1_000_000, 50_000_000, 3.0),
        ] {
            let shape = Shape { rows, cols, entries, dense: false };
            let bytes = with(None).bytes(shape, 100, rows) as f64;
            assert!(bytes < gib * f64::from(1 << 30), "{bytes}");
        }
    }
}

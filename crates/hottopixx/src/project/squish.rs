//! One column: Algorithm 5 by filtering instead of sorting.

use crate::kernels::{Above, add_above};

/// Projects one column onto `{ x : 0 <= x_i <= x_d <= 1 }`, d the place of the diagonal entry.
///
/// Allocates scratch; use a [`Squisher`] for many columns.
///
/// ```
/// let mut column = [0.2, 0.8, 0.5, 0.1];
/// hottopixx::project::squish(&mut column, 0);
/// assert_eq!(column, [0.5, 0.5, 0.5, 0.1]);
/// ```
pub fn squish(column: &mut [f64], diagonal: usize) {
    Squisher::default().squish(column, diagonal);
}

/// Scratch for projecting many columns without allocating.
#[derive(Debug, Clone, Default)]
pub struct Squisher {
    above: Vec<f64>,
}

impl Squisher {
    /// Projects a dense column in place; `diagonal` is the place of its diagonal entry.
    /// O(f) and a few passes over the entries above the diagonal.
    pub fn squish(&mut self, column: &mut [f64], diagonal: usize) {
        let own = column[diagonal];
        let others =
            column.iter().enumerate().filter(|(i, _)| *i != diagonal).map(|(_, &value)| value);
        let level = self.level(own, others);
        for value in column.iter_mut() {
            *value = value.min(level).max(0.0);
        }
        column[diagonal] = level;
    }

    /// Projects a column of a sparse matrix: its diagonal entry apart, its other stored entries as
    /// (row, value). Entries that become zero are removed. O(stored entries).
    pub fn squish_sparse(&mut self, diagonal: &mut f64, entries: &mut Vec<(u32, f64)>) {
        let level = self.level(*diagonal, entries.iter().map(|e| e.1));
        *diagonal = level;
        entries.retain_mut(|(_, value)| {
            *value = value.min(level);
            *value > 0.0
        });
    }

    /// The projected diagonal entry m of a column with this diagonal entry and these others, in
    /// any order; the others then become `clip(z_i, 0, m)`. Others that are not above the diagonal
    /// entry have no influence and may be left out.
    pub fn level(&mut self, diagonal: f64, others: impl Iterator<Item = f64>) -> f64 {
        let floor = diagonal.max(0.0);
        self.above.clear();
        self.above.extend(others.filter(|value| *value > floor));
        level_of(diagonal, &mut self.above)
    }
}

/// The level from the diagonal entry and the entries above it, which are consumed.
///
/// The mean of the diagonal and *any* superset of the entries above m is at most m, since the
/// surplus entries are below m; so whatever is not above that mean can be discarded, and the mean
/// taken again, until nothing is discarded (Michelot's argument for the simplex). Each mean is
/// summed afresh, hence no error builds up. A pass is
/// linear in what is left; values close together are done in few passes.
pub(super) fn level_of(diagonal: f64, above: &mut Vec<f64>) -> f64 {
    loop {
        let mean = (diagonal + above.iter().sum::<f64>()) / (above.len() + 1) as f64;
        if mean >= 1.0 {
            return 1.0;
        }
        let before = above.len();
        above.retain(|value| *value > mean);
        if above.len() == before {
            return mean.max(0.0);
        }
    }
}

/// The level of one column in single precision, whose entries come in parts, with or without the
/// diagonal entry itself: the means of [`level_of`], but the column is read again instead of
/// filtered, which for a few thousand entries costs less.
///
/// `guess` may be anything, such as the level of a similar column: the means are Newton's method
/// for the root of a convex decreasing function, so that from either side the first of them is
/// below the level, and the others rise to it.
pub(crate) fn single_level<'a>(
    diagonal: f32,
    parts: impl Iterator<Item = &'a [f32]> + Clone,
    guess: f32,
) -> f32 {
    let own = f64::from(diagonal);
    let least = diagonal.max(0.0);
    let mut floor = guess.max(least);
    // How many entries were above a floor that is not above the level.
    let mut before = None;
    loop {
        let mut above = Above::default();
        parts.clone().for_each(|part| add_above(part, floor, &mut above));
        let count = above.count();
        let mean = ((own + above.sum()) / (count + 1) as f64) as f32;
        if mean >= 1.0 {
            return 1.0;
        }
        let too_high = before.is_none() && mean < floor && floor > least;
        if !too_high && (before == Some(count) || mean <= floor) {
            return mean.max(0.0);
        }
        before = Some(if too_high { usize::MAX } else { count });
        floor = mean.max(least);
    }
}

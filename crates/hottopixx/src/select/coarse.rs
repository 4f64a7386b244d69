//! Fewer columns, for scoring exchanges: columns that look alike to the hott rows are merged.
//!
//! Merging columns gives a relaxation (see [`UnitRows::merge_columns`]) whose fits cost as much less
//! as there are fewer columns. It ranks exchanges nearly as all columns do, and what it proposes is
//! checked on all columns before it is carried out.

use crate::control::Control;
use crate::normalise::UnitRows;
use crate::order::largest_first;

/// Of the columns that are left, this share are columns of X.
const KEPT: f64 = 0.75;

/// X with at most about `buckets` columns. The heaviest columns stay as they are: what rows differ by
/// there is for the most part noise, and choices are better or worse by how much of it they bring,
/// which merging would hide. The others are put in order of the hott row that is largest there and of
/// its share, and neighbours are merged up to an equal part of their mass. `None` when `control`
/// stopped it.
pub(crate) fn coarse(
    x: &UnitRows,
    hott: &[usize],
    buckets: usize,
    control: &Control,
) -> Option<UnitRows> {
    let (bucket, count) = merging(x, hott, buckets, control)?;
    x.merge_columns_under(&bucket, count, control)
}

/// The column of [`coarse`] that each column of X is in, and how many these are.
pub(crate) fn merging(
    x: &UnitRows,
    hott: &[usize],
    buckets: usize,
    control: &Control,
) -> Option<(Vec<u32>, usize)> {
    let n = x.examples();
    let mut mass = vec![0.0; n];
    let mut watch = control.watch();
    for i in 0..x.features() {
        if watch.spend(x.row(i).stored()).is_some() {
            return None;
        }
        x.row(i).add_to(1.0, &mut mass);
    }
    // For each column: the largest entry of a hott row, whose it is, and the sum of them all.
    let mut leading: Vec<(usize, f64, f64)> = vec![(hott.len(), 0.0, 0.0); n];
    for (position, &h) in hott.iter().enumerate() {
        for (k, value) in x.row(h).nonzeros() {
            let (leader, largest, sum) = &mut leading[k];
            *sum += value;
            if value > *largest {
                (*leader, *largest) = (position, value);
            }
        }
    }
    let share = |k: usize| leading[k].1 / leading[k].2.max(f64::MIN_POSITIVE);
    let kept = ((KEPT * buckets as f64) as usize).min(n);
    let mut order: Vec<usize> = (0..n).collect();
    largest_first(&mut order, |i| mass[i]);
    let mut bucket = vec![0u32; n];
    order[..kept].iter().zip(0..).for_each(|(&k, own)| bucket[k] = own);
    let mut order = order.split_off(kept);
    order.sort_unstable_by(|&a, &b| {
        leading[a].0.cmp(&leading[b].0).then(share(b).total_cmp(&share(a))).then(a.cmp(&b))
    });
    let left: f64 = order.iter().map(|&k| mass[k]).sum();
    let part = left / (buckets - kept).max(1) as f64;
    let (mut current, mut held) = (kept as u32, 0.0);
    for &k in &order {
        if held > 0.0 && held + mass[k] > part {
            (current, held) = (current + 1, 0.0);
        }
        bucket[k] = current;
        held += mass[k];
    }
    Some((bucket, current as usize + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::exact;
    use crate::localise::instances::{as_sparse, paper};

    /// Merging is a relaxation: no row is harder to explain, so bounds never rise.
    #[test]
    fn merged_columns_never_raise_an_error() {
        let instance = paper((25, 300, 4, 0), 3.0, 2);
        let control = Control::default();
        for x in [instance.x.clone(), as_sparse(&instance.x)] {
            let hott: Vec<usize> = instance.topics.iter().map(|topic| topic[0]).collect();
            let all = exact(&x, &hott, &control);
            for buckets in [5, 20, 100] {
                let merged = coarse(&x, &hott, buckets, &control).unwrap();
                assert!(merged.examples() <= 2 * buckets, "{} columns", merged.examples());
                for (few, all) in exact(&merged, &hott, &control).iter().zip(&all) {
                    assert!(few.error <= all.error + 1e-12, "{} {}", few.error, all.error);
                }
            }
        }
    }
}

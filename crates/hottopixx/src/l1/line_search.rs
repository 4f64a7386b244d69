//! Exact line search on a convex piecewise linear function: a weighted median by quickselect.

/// A place where the slope along the direction grows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Breakpoint {
    /// Step length at which it is met, at least 0.
    pub step: f64,
    /// By how much the slope grows there, above 0.
    pub jump: f64,
    /// The data point whose residual is zero there.
    pub point: u32,
}

/// Where the slope, negative at first, stops being negative.
pub(super) struct Crossing {
    /// Index into the (reordered) breakpoints of one at which it happens.
    pub at: usize,
    /// All breakpoints before this index are met strictly earlier.
    pub passed: usize,
}

/// Finds the smallest step at which the jumps met so far reach `need`, reordering `points`.
/// `None` when all jumps together stay below `need`. Expected O(points), no sorting.
pub(super) fn find_crossing(points: &mut [Breakpoint], need: f64) -> Option<Crossing> {
    let (mut low, mut high) = (0, points.len());
    let mut met = 0.0;
    while low < high {
        let pivot = median_of_three(&points[low..high]);
        let (less, tied) = partition(&mut points[low..high], pivot);
        let (less, tied) = (low + less, low + tied);
        let before: f64 = points[low..less].iter().map(|b| b.jump).sum();
        if met + before >= need && less > low {
            high = less;
            continue;
        }
        let here: f64 = points[less..tied].iter().map(|b| b.jump).sum();
        if met + before + here >= need {
            // Among ties the largest jump is the safest pivot.
            let at = (less..tied)
                .max_by(|&a, &b| {
                    let (a, b) = (points[a], points[b]);
                    a.jump.total_cmp(&b.jump).then(b.point.cmp(&a.point))
                })
                .expect("the pivot is in its own tie");
            return Some(Crossing { at, passed: less });
        }
        met += before + here;
        low = tied;
    }
    None
}

fn median_of_three(points: &[Breakpoint]) -> f64 {
    let (a, b, c) = (points[0].step, points[points.len() / 2].step, points[points.len() - 1].step);
    a.min(b).max(a.max(b).min(c))
}

/// Three-way partition by step: `[..less]` below the pivot, `[less..tied]` equal, the rest above.
fn partition(points: &mut [Breakpoint], pivot: f64) -> (usize, usize) {
    let (mut less, mut next, mut above) = (0, 0, points.len());
    while next < above {
        let step = points[next].step;
        if step < pivot {
            points.swap(less, next);
            less += 1;
            next += 1;
        } else if step > pivot {
            above -= 1;
            points.swap(next, above);
        } else {
            next += 1;
        }
    }
    (less, above)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_sorting(
            raw in prop::collection::vec((0u8..9, 1u8..5), 0..40),
            need in 1u8..60,
        ) {
            let mut points: Vec<Breakpoint> = raw.iter().enumerate().map(|(k, &(s, j))| Breakpoint {
                step: f64::from(s), jump: f64::from(j), point: k as u32,
            }).collect();
            let mut sorted = raw.clone();
            sorted.sort_unstable();
            let mut sum = 0.0;
            let expected = sorted.iter().find(|(_, j)| {
                sum += f64::from(*j);
                sum >= f64::from(need)
            });
            match find_crossing(&mut points, f64::from(need)) {
                None => prop_assert!(expected.is_none()),
                Some(c) => {
                    let step = points[c.at].step;
                    prop_assert_eq!(step, f64::from(expected.unwrap().0));
                    prop_assert!(points[..c.passed].iter().all(|b| b.step < step));
                    prop_assert!(points[c.passed..].iter().all(|b| b.step >= step));
                }
            }
        }
    }
}

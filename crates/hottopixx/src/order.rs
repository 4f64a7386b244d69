//! Indices in the order of the values that belong to them.
//!
//! The sorts of the standard library are compiled anew for every closure that they are given, which was a seventh of all
//! code of this crate. Here every value is looked up once, and one sort serves all callers.

use std::cmp::Ordering;

/// Sorts indices by value, the largest first; of equal values (`f64::total_cmp`) the smallest index first.
pub(crate) fn largest_first(indices: &mut [usize], value: impl Fn(usize) -> f64) {
    sort(indices, &value, |a, b| b.total_cmp(a));
}

/// Sorts indices by value, the smallest first; of equal values (`f64::total_cmp`) the smallest index first.
pub(crate) fn smallest_first(indices: &mut [usize], value: impl Fn(usize) -> f64) {
    sort(indices, &value, f64::total_cmp);
}

/// Not for each closure: see above.
fn sort(indices: &mut [usize], value: &dyn Fn(usize) -> f64, compare: fn(&f64, &f64) -> Ordering) {
    let mut valued: Vec<(f64, usize)> = indices.iter().map(|&i| (value(i), i)).collect();
    valued.sort_unstable_by(|a, b| compare(&a.0, &b.0).then(a.1.cmp(&b.1)));
    indices.iter_mut().zip(valued).for_each(|(to, (_, i))| *to = i);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_in_the_order_of_their_indices() {
        let values = [2.0, 3.0, 2.0, f64::NAN, -0.0, 0.0, 3.0];
        let mut indices = [6, 5, 4, 3, 2, 1, 0];
        largest_first(&mut indices, |i| values[i]);
        assert_eq!(indices, [3, 1, 6, 0, 2, 5, 4]);
        smallest_first(&mut indices, |i| values[i]);
        assert_eq!(indices, [4, 5, 0, 2, 1, 6, 3]);
        smallest_first(&mut indices[..2], |i| -values[i]);
        assert_eq!(indices[..3], [5, 4, 0]);
    }
}

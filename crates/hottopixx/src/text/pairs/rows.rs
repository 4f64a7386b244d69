//! Sparse rows of a result: adding them up in an order that nothing changes, and making a matrix of
//! them.

use crate::Error;
use crate::kernels::parallel::*;
use crate::matrix::{Dense, Matrix, Sparse};

/// Columns, increasing, and values.
pub type SparseRow = (Vec<u32>, Vec<f64>);

/// What is not zero, and zeros again.
pub(super) fn drain(sums: &mut [f64]) -> SparseRow {
    let stored = sums.iter().filter(|v| **v != 0.0).count();
    let (mut columns, mut values) = (Vec::with_capacity(stored), Vec::with_capacity(stored));
    for (j, sum) in sums.iter_mut().enumerate() {
        if *sum != 0.0 {
            columns.push(j as u32);
            values.push(*sum);
            *sum = 0.0;
        }
    }
    (columns, values)
}

/// The sum of two rows.
pub(in crate::text) fn add_rows(a: SparseRow, b: SparseRow) -> SparseRow {
    if a.0.is_empty() || b.0.is_empty() {
        return if a.0.is_empty() { b } else { a };
    }
    let (mut columns, mut values) =
        (Vec::with_capacity(a.0.len() + b.0.len()), Vec::with_capacity(a.0.len() + b.0.len()));
    let (mut left, mut right) = (0, 0);
    while left < a.0.len() || right < b.0.len() {
        let (l, r) = (a.0.get(left), b.0.get(right));
        let take_left = r.is_none_or(|r| l.is_some_and(|l| l <= r));
        let take_right = l.is_none_or(|l| r.is_some_and(|r| r <= l));
        columns.push(if take_left { a.0[left] } else { b.0[right] });
        values.push(match (take_left, take_right) {
            (true, true) => a.1[left] + b.1[right],
            (true, false) => a.1[left],
            _ => b.1[right],
        });
        left += usize::from(take_left);
        right += usize::from(take_right);
    }
    (columns, values)
}

/// Adds things up in the order of a binary counter: two neighbours that are sums of as many are
/// added as soon as they are there, and what is left in the end from the last to the first. The
/// order depends on their number alone. At most log2 of them are held at a time.
pub fn add_blocks<T>(blocks: impl Iterator<Item = T>, add: impl Fn(T, T) -> T) -> Option<T> {
    let mut held: Vec<(u32, T)> = Vec::new();
    for block in blocks {
        let mut sum = (0, block);
        while let Some((level, before)) = held.pop_if(|(level, _)| *level == sum.0) {
            sum = (level + 1, add(before, sum.1));
        }
        held.push(sum);
    }
    let mut total = held.pop()?.1;
    while let Some((_, before)) = held.pop() {
        total = add(before, total);
    }
    Some(total)
}

/// One matrix from its rows, giving each row's memory back as it goes.
pub(in crate::text) fn collect(
    rows: Vec<SparseRow>,
    width: usize,
    dense: bool,
) -> Result<Matrix, Error> {
    let count = rows.len();
    if dense {
        let mut out = Dense::zeros(count, width);
        rows.into_iter().enumerate().for_each(|(i, row)| write(&[row], i, &mut out));
        return Ok(out.into());
    }
    let mut starts = vec![0];
    starts.extend(rows.iter().scan(0, |end, row| {
        *end += row.0.len();
        Some(*end)
    }));
    let pairs = starts[count];
    let (mut columns, mut values) = (vec![0u32; pairs], vec![0.0; pairs]);
    // In parallel: most of the time goes into memory that is touched for the first time.
    let mut places = Vec::with_capacity(count);
    let (mut free_columns, mut free_values) = (&mut columns[..], &mut values[..]);
    for row in rows {
        let (some_columns, some_values);
        (some_columns, free_columns) = free_columns.split_at_mut(row.0.len());
        (some_values, free_values) = free_values.split_at_mut(row.0.len());
        places.push((row, some_columns, some_values));
    }
    places.into_par_iter().for_each(|(row, columns, values)| {
        columns.copy_from_slice(&row.0);
        values.copy_from_slice(&row.1);
    });
    Ok(Sparse::new(count, width, starts, columns, values)?.into())
}

/// Writes rows into a matrix of zeros, from row `first` on.
pub(in crate::text) fn write(rows: &[SparseRow], first: usize, out: &mut Dense) {
    for (i, (columns, values)) in rows.iter().enumerate() {
        let target = out.row_mut(first + i);
        columns.iter().zip(values).for_each(|(j, v)| target[*j as usize] = *v);
    }
}

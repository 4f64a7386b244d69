//! The explicit inverse of a small basis matrix, changed by one rank per pivot.
//!
//! At a vertex of a bounded linear program some variables are *free* (strictly between their
//! bounds) and equally many constraints are *active* (held with equality). The square matrix
//! `M[f][a] = A[free_f, active_a]` is small where solutions have few free variables, so its
//! inverse is kept explicitly and changed in O(k^2), in the four ways a pivot can change it. Each
//! change divides by one number; when that number is tiny the caller rebuilds the inverse. Both
//! simplex methods of this crate stand on it: the l1 fit, whose constraints are points, and the
//! master program on the diagonal, whose constraints are cuts.

/// A pivot element below this (relative to the row it stands in) calls for a fresh inverse.
const TINY: f64 = 1e-9;

/// Corrections of a solution, and the residual, relative to the right side, that needs none.
const CORRECTIONS: usize = 3;
const ROUNDED: f64 = 4e-16;

/// The inverse of M, `inverse[a * k + f]`.
#[derive(Debug, Default)]
pub(crate) struct Inverse {
    size: usize,
    values: Vec<f64>,
    spare: Vec<f64>,
    column: Vec<f64>,
}

/// The change was numerically unsafe: rebuild the inverse from M.
#[derive(Debug, PartialEq)]
pub(crate) struct Unstable;

impl Inverse {
    pub fn clear(&mut self) {
        self.size = 0;
        self.values.clear();
    }

    /// Row `a`: how the free variables answer to a change of active constraint a.
    pub fn row(&self, a: usize) -> &[f64] {
        &self.values[a * self.size..(a + 1) * self.size]
    }

    /// `M^{-1} v`, v indexed by free variables, the result by active constraints.
    pub fn times(&self, v: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend((0..self.size).map(|a| super::dot(self.row(a), v)));
    }

    /// `v M^{-1}`, v indexed by active constraints, the result by free variables.
    pub fn left_times(&self, v: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.size, 0.0);
        for (a, factor) in v.iter().enumerate() {
            super::axpy(*factor, self.row(a), out);
        }
    }

    /// `v M^{-1}` as [`Inverse::left_times`], corrected until `out M = v` holds to rounding. `times_m`
    /// gives `z M` for a z. Returns what is left, the largest `|v - out M|`. A product with an explicit
    /// inverse has the error `cond(M) eps` in this residual; each correction divides it by
    /// `1 / (cond(M) eps)`, so two of them bring it to rounding for any M that is kept.
    /// O(k^2) and one product with M a correction.
    pub fn left_solve(
        &self,
        v: &[f64],
        times_m: impl Fn(&[f64], &mut Vec<f64>),
        out: &mut Vec<f64>,
    ) -> f64 {
        self.left_times(v, out);
        let (mut product, mut correction) = (Vec::new(), Vec::new());
        let mut left = f64::INFINITY;
        for _ in 0..CORRECTIONS {
            times_m(out, &mut product);
            product.iter_mut().zip(v).for_each(|(p, v)| *p = v - *p);
            let now = super::max_abs(&product);
            if now <= ROUNDED * super::max_abs(v) || now >= 0.5 * left {
                return now;
            }
            left = now;
            self.left_times(&product, &mut correction);
            super::axpy(1.0, &correction, out);
        }
        times_m(out, &mut product);
        product.iter().zip(v).fold(0.0, |m: f64, (p, v)| m.max((v - p).abs()))
    }

    /// Active point `a` is replaced; `new` is the new column of M (by free variables).
    pub fn replace_active(&mut self, a: usize, new: &[f64]) -> Result<(), Unstable> {
        let mut w = std::mem::take(&mut self.column);
        self.times(new, &mut w);
        let largest = w.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        let safe = w[a].abs() > TINY * largest;
        if safe {
            let k = self.size;
            let scale = 1.0 / w[a];
            self.values[a * k..(a + 1) * k].iter_mut().for_each(|v| *v *= scale);
            self.spare.clear();
            self.spare.extend_from_slice(&self.values[a * k..(a + 1) * k]);
            for (b, factor) in w.iter().enumerate() {
                if b != a {
                    super::axpy(-factor, &self.spare, &mut self.values[b * k..(b + 1) * k]);
                }
            }
        }
        self.column = w;
        if safe { Ok(()) } else { Err(Unstable) }
    }

    /// Free weight `f` is replaced; `new` is the new row of M (by active constraints).
    pub fn replace_free(&mut self, f: usize, new: &[f64]) -> Result<(), Unstable> {
        let mut w = std::mem::take(&mut self.column);
        self.left_times(new, &mut w);
        let largest = w.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        let safe = w[f].abs() > TINY * largest;
        if safe {
            let scale = 1.0 / w[f];
            for row in self.values.chunks_exact_mut(self.size) {
                let lead = row[f] * scale;
                for (value, factor) in row.iter_mut().zip(&w) {
                    *value -= lead * factor;
                }
                row[f] = lead;
            }
        }
        self.column = w;
        if safe { Ok(()) } else { Err(Unstable) }
    }

    /// One more free variable and active constraint, both last: `new_row` is the weight's row of M over
    /// the old active constraints, `new_column` the point's column over the old free variables, `corner`
    /// where they meet. Bordered inverse with the Schur complement `corner - row M^{-1} column`.
    pub fn grow(
        &mut self,
        new_row: &[f64],
        new_column: &[f64],
        corner: f64,
    ) -> Result<(), Unstable> {
        let k = self.size;
        let (mut u, mut w) = (Vec::new(), Vec::new());
        self.times(new_column, &mut u);
        self.left_times(new_row, &mut w);
        let bent = super::dot(new_row, &u);
        let schur = corner - bent;
        if schur.abs() <= TINY * (corner.abs() + bent.abs()) || schur == 0.0 {
            return Err(Unstable);
        }
        let scale = 1.0 / schur;
        self.spare.clear();
        for (row, u) in self.values.chunks_exact(k.max(1)).zip(&u) {
            let lead = u * scale;
            self.spare.extend(row.iter().zip(&w).map(|(v, w)| v + lead * w));
            self.spare.push(-lead);
        }
        self.spare.extend(w.iter().map(|w| -w * scale));
        self.spare.push(scale);
        std::mem::swap(&mut self.values, &mut self.spare);
        self.size += 1;
        Ok(())
    }

    /// Active point `a` and free variable `f` leave; the last of each takes the place (as
    /// `Vec::swap_remove` does on the caller's lists).
    pub fn shrink(&mut self, a: usize, f: usize) -> Result<(), Unstable> {
        let k = self.size;
        let pivot = self.values[a * k + f];
        let largest = self.row(a).iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        if pivot.abs() <= TINY * largest || pivot == 0.0 {
            return Err(Unstable);
        }
        let scale = 1.0 / pivot;
        self.spare.clear();
        for row in 0..k - 1 {
            let from = if row == a { k - 1 } else { row };
            let lead = self.values[from * k + f] * scale;
            for col in 0..k - 1 {
                let take = if col == f { k - 1 } else { col };
                self.spare.push(self.values[from * k + take] - lead * self.values[a * k + take]);
            }
        }
        std::mem::swap(&mut self.values, &mut self.spare);
        self.size -= 1;
        Ok(())
    }

    /// Inverts `m` (k x k, rows by free variables) from scratch, Gauss-Jordan with partial pivoting.
    pub fn rebuild(&mut self, m: &mut [f64], k: usize) -> Result<(), Unstable> {
        // Eliminates on [M | I]; the right half becomes M^{-1} with rows by active constraints.
        self.size = k;
        self.values.clear();
        self.values.resize(k * k, 0.0);
        for i in 0..k {
            self.values[i * k + i] = 1.0;
        }
        let scale = m.iter().fold(0.0, |s: f64, v| s.max(v.abs()));
        for col in 0..k {
            let best = (col..k)
                .max_by(|&a, &b| m[a * k + col].abs().total_cmp(&m[b * k + col].abs()))
                .expect("col < k");
            if m[best * k + col].abs() <= 1e-13 * scale {
                return Err(Unstable);
            }
            if best != col {
                for j in 0..k {
                    m.swap(best * k + j, col * k + j);
                    self.values.swap(best * k + j, col * k + j);
                }
            }
            let inv = 1.0 / m[col * k + col];
            for j in 0..k {
                m[col * k + j] *= inv;
                self.values[col * k + j] *= inv;
            }
            for i in 0..k {
                let factor = m[i * k + col];
                if i != col && factor != 0.0 {
                    for j in 0..k {
                        m[i * k + j] -= factor * m[col * k + j];
                        self.values[i * k + j] -= factor * self.values[col * k + j];
                    }
                }
            }
        }
        Ok(())
    }
}

/// Rows and columns of the `rows x cols` matrix `m` that make a well-conditioned square block:
/// Gaussian elimination with complete pivoting, stopped where the pivots become tiny.
pub(crate) fn independent_block(
    m: &mut [f64],
    rows: usize,
    cols: usize,
) -> (Vec<usize>, Vec<usize>) {
    let (mut row_of, mut col_of): (Vec<usize>, Vec<usize>) =
        ((0..rows).collect(), (0..cols).collect());
    let largest = m.iter().fold(0.0, |s: f64, v| s.max(v.abs()));
    let mut rank = 0;
    while rank < rows.min(cols) {
        let (mut best, mut at) = (0.0, (rank, rank));
        for &i in &row_of[rank..] {
            for &j in &col_of[rank..] {
                if m[i * cols + j].abs() > best {
                    best = m[i * cols + j].abs();
                    at = (i, j);
                }
            }
        }
        if best <= 1e-11 * largest {
            break;
        }
        let (i, j) = at;
        let place = row_of.iter().position(|r| *r == i).expect("a row");
        row_of.swap(rank, place);
        let place = col_of.iter().position(|c| *c == j).expect("a column");
        col_of.swap(rank, place);
        rank += 1;
        let pivot = m[i * cols + j];
        for &other in &row_of[rank..] {
            let factor = m[other * cols + j] / pivot;
            for &c in &col_of[rank..] {
                m[other * cols + c] -= factor * m[i * cols + c];
            }
        }
    }
    row_of.truncate(rank);
    col_of.truncate(rank);
    (row_of, col_of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn inverse_of(m: &[f64], k: usize) -> Inverse {
        let mut inverse = Inverse::default();
        inverse.rebuild(&mut m.to_vec(), k).unwrap();
        inverse
    }

    fn assert_inverts(inverse: &Inverse, m: &[f64], k: usize) {
        assert_eq!(inverse.size, k);
        for f in 0..k {
            for g in 0..k {
                let product: f64 = (0..k).map(|a| m[f * k + a] * inverse.values[a * k + g]).sum();
                let expected = if f == g { 1.0 } else { 0.0 };
                assert!((product - expected).abs() < 1e-9, "{f} {g}: {product}");
            }
        }
    }

    /// Random entries plus a strong diagonal, so that every minor used below is regular.
    fn matrix(k: usize) -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(-1.0..1.0f64, k * k).prop_map(move |mut m| {
            (0..k).for_each(|i| m[i * k + i] += 4.0);
            m
        })
    }

    proptest! {
        #[test]
        fn every_update_inverts_the_changed_matrix(
            m in matrix(5), row in prop::collection::vec(-1.0..1.0f64, 5),
            col in prop::collection::vec(-1.0..1.0f64, 5), at in 0usize..5,
        ) {
            let k = 5;
            let mut changed = m.clone();
            let (mut new_row, mut new_col) = (row.clone(), col.clone());
            new_row[at] += 4.0;
            new_col[at] += 4.0;

            let mut inverse = inverse_of(&m, k);
            inverse.replace_active(at, &new_col).unwrap();
            (0..k).for_each(|f| changed[f * k + at] = new_col[f]);
            assert_inverts(&inverse, &changed, k);

            let mut inverse = inverse_of(&m, k);
            inverse.replace_free(at, &new_row).unwrap();
            changed.clone_from(&m);
            changed[at * k..(at + 1) * k].copy_from_slice(&new_row);
            assert_inverts(&inverse, &changed, k);

            let mut inverse = inverse_of(&m, k);
            inverse.grow(&row, &col, 5.0).unwrap();
            let mut larger = Vec::new();
            for f in 0..k {
                larger.extend_from_slice(&m[f * k..(f + 1) * k]);
                larger.push(col[f]);
            }
            larger.extend_from_slice(&row);
            larger.push(5.0);
            assert_inverts(&inverse, &larger, k + 1);
            inverse.shrink(k, k).unwrap();
            assert_inverts(&inverse, &m, k);

            let mut inverse = inverse_of(&m, k);
            inverse.shrink(at, at).unwrap();
            let keep: Vec<usize> = (0..k - 1).map(|i| if i == at { k - 1 } else { i }).collect();
            let smaller: Vec<f64> =
                keep.iter().flat_map(|&f| keep.iter().map(move |&a| (f, a))).map(|(f, a)| m[f * k + a]).collect();
            assert_inverts(&inverse, &smaller, k - 1);
        }
    }

    #[test]
    fn independent_block_finds_the_rank() {
        // Row 2 is the sum of rows 0 and 1.
        let m = [1.0, 2.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 3.0, 1.0, 1.0];
        let (rows, cols) = independent_block(&mut m.to_vec(), 3, 4);
        assert_eq!((rows.len(), cols.len()), (2, 2));
    }
}

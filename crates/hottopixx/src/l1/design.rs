//! The atoms of an l1 fit, laid out for the walk: by atom and by point.

use crate::control::Control;
use crate::kernels::transpose_while;
use crate::matrix::{Dense, Entries, Matrix, Row};
use crate::normalise::UnitRows;

/// Slopes of the loss on the two sides of zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// `|e|`: slope 1 on both sides. For atoms and targets of any sign.
    Absolute,
    /// `2 (e)_+`, with the sum of the atom added to the objective and the sum of the target taken
    /// away. For nonnegative data this *is* the l1 norm (`algorithms`, "exact sparse loss"):
    ///
    /// `||x - cA||_1 = 2 sum_{k in supp(x)} (x_k - (cA)_k)_+ + c.(A 1) - x.1`
    ///
    /// so only points where x is not zero are ever looked at, and the start `c = 0` is not
    /// degenerate.
    Hinge,
}

impl Loss {
    /// Slope for residuals above zero.
    pub(super) fn up(self) -> f64 {
        match self {
            Loss::Absolute => 1.0,
            Loss::Hinge => 2.0,
        }
    }

    /// Minus the slope for residuals below zero.
    pub(super) fn down(self) -> f64 {
        match self {
            Loss::Absolute => 1.0,
            Loss::Hinge => 0.0,
        }
    }
}

/// `A`, atoms x points, in both layouts, with the linear term q of the objective.
#[derive(Debug, Clone)]
pub struct Design {
    pub(super) atoms: usize,
    pub(super) points: usize,
    pub(super) by_atom: Vec<f64>,
    pub(super) by_point: Vec<f64>,
    pub(super) linear: Vec<f64>,
    pub(super) loss: Loss,
    /// Whether the objective is an l1 norm, and so never below zero; otherwise it is a part of one,
    /// see [`super::near`].
    pub(super) whole: bool,
}

impl Design {
    /// A design with the given loss over all columns of `atoms`. With [`Loss::Hinge`] the atoms
    /// must not be negative anywhere.
    pub fn new(atoms: &Dense, loss: Loss) -> Self {
        Self::under(atoms, loss, &Control::default()).expect("nothing stops it")
    }

    /// The same; `None` when stopped.
    fn under(atoms: &Dense, loss: Loss, control: &Control) -> Option<Self> {
        let (m, n) = (atoms.rows(), atoms.cols());
        let mut watch = control.watch();
        let (mut by_atom, mut linear) = (Vec::with_capacity(m * n), Vec::with_capacity(m));
        for j in 0..m {
            if watch.spend(2 * n).is_some() {
                return None;
            }
            by_atom.extend_from_slice(atoms.row(j));
            linear.push(match loss {
                Loss::Absolute => 0.0,
                Loss::Hinge => atoms.row(j).iter().sum(),
            });
        }
        let mut by_point = vec![0.0; m * n];
        let go_on = |entries| watch.spend(entries).is_none();
        transpose_while(go_on, m, n, &by_atom, &mut by_point).then_some(Design {
            atoms: m,
            points: n,
            by_atom,
            by_point,
            linear,
            loss,
            whole: true,
        })
    }

    /// The design with some of its atoms only. O(atoms * points).
    pub fn with_atoms(&self, atoms: &[u32]) -> Self {
        let by_atom: Vec<f64> =
            atoms.iter().flat_map(|&j| self.atom(j as usize)).copied().collect();
        let mut by_point = vec![0.0; by_atom.len()];
        crate::kernels::transpose(atoms.len(), self.points, &by_atom, &mut by_point);
        let linear = atoms.iter().map(|&j| self.linear[j as usize]).collect();
        Design { atoms: atoms.len(), by_atom, by_point, linear, ..*self }
    }

    /// Atoms x points, row-major.
    pub fn values(&self) -> &[f64] {
        &self.by_atom
    }

    pub(super) fn empty() -> Self {
        Design {
            atoms: 0,
            points: 0,
            by_atom: Vec::new(),
            by_point: Vec::new(),
            linear: Vec::new(),
            loss: Loss::Hinge,
            whole: true,
        }
    }

    /// Number of atoms.
    pub fn atoms(&self) -> usize {
        self.atoms
    }

    /// Number of points.
    pub fn points(&self) -> usize {
        self.points
    }

    /// What atom j earns at a dual of this design beside what it costs, `A_j.y / (A_j 1)` in hinge form: above 1 it would
    /// have weight.
    pub fn relative_price(&self, atom: usize, dual: &[f64]) -> f64 {
        let cost = self.linear[atom];
        if cost > 0.0 { self.price(atom, dual) / cost } else { 0.0 }
    }

    /// `A_j.y`, what atom j earns at a dual of this design.
    pub fn price(&self, atom: usize, dual: &[f64]) -> f64 {
        crate::kernels::dot(self.atom(atom), dual)
    }

    pub(super) fn atom(&self, j: usize) -> &[f64] {
        &self.by_atom[j * self.points..(j + 1) * self.points]
    }

    pub(super) fn point(&self, k: usize) -> &[f64] {
        &self.by_point[k * self.atoms..(k + 1) * self.atoms]
    }

    pub(super) fn entry(&self, atom: usize, point: usize) -> f64 {
        self.by_point[point * self.atoms + atom]
    }
}

/// An atom with a smaller share of its mass in the columns where a row was observed is not used for it.
const HARDLY_THERE: f64 = 1e-9;

/// Rows of a unit-row matrix that serve as atoms for many targets.
///
/// A target is only fitted on its own support. Targets that fill most columns of a dense matrix
/// share one design; for the others the needed columns are gathered into a buffer, which costs as
/// much as one or two pivots.
#[derive(Debug)]
pub struct Atoms {
    rows: usize,
    cols: usize,
    columns: Columns,
    sums: Vec<f64>,
}

/// The atoms by column.
#[derive(Debug)]
enum Columns {
    /// All of them, for dense matrices.
    Dense(Design),
    /// cols x rows: column k of the atoms is contiguous.
    Sparse(Matrix),
}

/// A target on the points where it is to be fitted, with the atoms there.
pub struct Target<'a> {
    /// The atoms on those points.
    pub design: &'a Design,
    /// The target on those points.
    pub x: &'a [f64],
}

/// Buffers for [`Atoms::restrict`], one for each thread.
#[derive(Debug)]
pub struct Gathered {
    design: Design,
    x: Vec<f64>,
}

impl Default for Gathered {
    fn default() -> Self {
        Gathered { design: Design::empty(), x: Vec::new() }
    }
}

impl Atoms {
    /// Takes the rows of `atoms`, all nonnegative.
    pub fn new(atoms: &Matrix) -> Self {
        Self::under(atoms, &Control::default()).expect("nothing stops it")
    }

    /// The same for many of them: laying out a gigabyte takes seconds. `None` when stopped.
    pub fn under(atoms: &Matrix, control: &Control) -> Option<Self> {
        let columns = match atoms {
            Matrix::Dense(dense) => Columns::Dense(Design::under(dense, Loss::Hinge, control)?),
            Matrix::Sparse(_) => Columns::Sparse(atoms.transpose()),
        };
        let sums = match &columns {
            Columns::Dense(design) => design.linear.clone(),
            Columns::Sparse(_) => (0..atoms.rows()).map(|j| atoms.row(j).sum()).collect(),
        };
        Some(Atoms { rows: atoms.rows(), cols: atoms.cols(), columns, sums })
    }

    /// The atoms on all points, where rows that fill most of them share one design.
    pub fn shared(&self) -> Option<&Design> {
        match &self.columns {
            Columns::Dense(design) => Some(design),
            Columns::Sparse(_) => None,
        }
    }

    /// Sum of the entries of an atom.
    pub fn sum(&self, atom: usize) -> f64 {
        self.sums[atom]
    }

    /// The atoms on the support of row `i` of X, as far as it was observed, and the row there, with sum one: all that is
    /// missed elsewhere is what atoms have in columns that were observed. O(atoms * support).
    pub fn restrict_row<'a>(
        &'a self,
        x: &'a UnitRows,
        i: usize,
        buffer: &'a mut Gathered,
    ) -> Target<'a> {
        let gaps = x.gaps(i);
        if gaps.is_empty() {
            return self.restrict(x.row(i), buffer);
        }
        let row = x.row(i).scaled(1.0 / x.share(i));
        let (m, mut missing) = (self.rows, gaps.iter().peekable());
        let observed = row.nonzeros().filter(|(k, _)| {
            while missing.next_if(|gap| (**gap as usize) < *k).is_some() {}
            missing.peek().is_none_or(|gap| **gap as usize != *k)
        });
        self.gather(observed, buffer);
        let Gathered { design, x } = buffer;
        for &k in gaps {
            match &self.columns {
                Columns::Dense(shared) => {
                    let point = shared.point(k as usize);
                    design.linear.iter_mut().zip(point).for_each(|(sum, a)| *sum -= a);
                }
                Columns::Sparse(columns) => {
                    columns.row(k as usize).add_to(-1.0, &mut design.linear)
                }
            }
        }
        // Of an atom that is hardly there where the row was observed nothing but rounding is left: it cannot be used.
        for j in 0..m {
            if design.linear[j] < HARDLY_THERE * self.sums[j] {
                design.linear[j] = self.sums[j];
                design.by_atom[j * design.points..(j + 1) * design.points].fill(0.0);
                (0..design.points).for_each(|k| design.by_point[k * m + j] = 0.0);
            }
        }
        Target { design, x }
    }

    /// The atoms on the support of `target`. O(atoms * support) unless the design is shared.
    pub fn restrict<'a>(&'a self, target: Row<'a>, buffer: &'a mut Gathered) -> Target<'a> {
        if let (Columns::Dense(design), Entries::Dense(x)) = (&self.columns, target.entries())
            && 2 * x.iter().filter(|v| **v > 0.0).count() >= self.cols
        {
            if target.factor() == 1.0 {
                return Target { design, x };
            }
            buffer.x.clear();
            buffer.x.extend(target.values());
            return Target { design, x: &buffer.x };
        }
        self.gather(target.nonzeros(), buffer);
        Target { design: &buffer.design, x: &buffer.x }
    }

    /// The atoms at these points, and the values there.
    fn gather(&self, points: impl Iterator<Item = (usize, f64)>, buffer: &mut Gathered) {
        let m = self.rows;
        let design = &mut buffer.design;
        buffer.x.clear();
        design.by_point.clear();
        for (k, value) in points {
            buffer.x.push(value);
            match &self.columns {
                Columns::Dense(shared) => design.by_point.extend_from_slice(shared.point(k)),
                Columns::Sparse(columns) => {
                    let start = design.by_point.len();
                    design.by_point.resize(start + m, 0.0);
                    columns.row(k).add_to(1.0, &mut design.by_point[start..]);
                }
            }
        }
        let n = buffer.x.len();
        design.atoms = m;
        design.points = n;
        design.linear.clone_from(&self.sums);
        design.by_atom.resize(m * n, 0.0);
        crate::kernels::transpose(n, m, &design.by_point, &mut design.by_atom);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    /// Algorithm 1 lays out all candidates at once: at 2000 x 20,000 Ctrl-C waited for over a second.
    #[test]
    fn laying_out_many_atoms_can_be_stopped() {
        let atoms: Matrix = Dense::zeros(2000, 1000).into();
        let late = Control::default().with_deadline(Instant::now());
        assert!(Atoms::under(&atoms, &late).is_none());
        assert!(Atoms::under(&atoms, &Control::default()).is_some());
    }
}

//! What the fits of many rows at one diagonal have in common: the columns that may have weight, the
//! atoms on them alone, and their Gram matrix.
//!
//! Of hundreds of columns in play some dozens have weight. A fit that picks its atoms from among all
//! columns reads a line of memory for each number; picked once, they are read as they are needed.

use super::oracle::Oracle;
use crate::kernels::axpy;
use crate::l1::{Basis, Design, Problem, Target};
use crate::squares::descend;

/// Sweeps of the least squares that fits start from.
const SWEEPS: usize = 80;
/// This many fits are worth a copy of the atoms.
const SHARED: usize = 8;

/// The columns that may have weight, and how much.
pub(super) struct Ground<'a> {
    /// Columns in play, increasing.
    pub usable: &'a [u32],
    /// By column in play.
    d: &'a [f64],
    /// The rows of X that they are, and the number of columns in play.
    rows: Vec<usize>,
    stride: usize,
    /// Their atoms alone.
    compact: Option<Compact<'a>>,
    /// Whether cuts get their columns later, all in one.
    pub priced_later: bool,
}

struct Compact<'a> {
    /// What it is made from.
    whole: &'a Design,
    design: Design,
    /// All its atoms, and their bounds.
    all: Vec<u32>,
    upper: Vec<f64>,
}

impl<'a> Ground<'a> {
    /// For one fit.
    pub fn of_one(oracle: &'a Oracle<'_>, usable: &'a [u32], d: &'a [f64]) -> Self {
        let rows = usable.iter().map(|&j| oracle.columns[j as usize]).collect();
        let stride = oracle.columns.len();
        Ground { usable, d, rows, stride, compact: None, priced_later: false }
    }

    /// For this many fits.
    pub fn shared(oracle: &'a Oracle<'_>, usable: &'a [u32], d: &'a [f64], fits: usize) -> Self {
        let whole = oracle.atoms.shared();
        let compact = whole.filter(|_| fits >= SHARED && 2 * usable.len() <= d.len());
        let compact = compact.map(|whole| Compact {
            whole,
            design: whole.with_atoms(usable),
            all: (0..usable.len() as u32).collect(),
            upper: usable.iter().map(|&j| d[j as usize]).collect(),
        });
        Ground { compact, priced_later: whole.is_some(), ..Ground::of_one(oracle, usable, d) }
    }

    /// The fit of a target; its atoms are numbered as [`Ground::inwards`] says.
    pub fn problem<'p>(&'p self, target: &Target<'p>) -> Problem<'p> {
        match &self.compact {
            Some(Compact { whole, design, all, upper }) if std::ptr::eq(*whole, target.design) => {
                Problem { design, x: target.x, usable: all, upper: Some(upper) }
            }
            _ => Problem {
                design: target.design,
                x: target.x,
                usable: self.usable,
                upper: Some(self.d),
            },
        }
    }

    /// Whether a problem is on the atoms alone.
    fn is_compact(&self, problem: &Problem<'_>) -> bool {
        self.compact.as_ref().is_some_and(|compact| std::ptr::eq(&compact.design, problem.design))
    }

    /// The number of a column as an atom of a problem; `None` where it is not among them.
    pub fn inwards(&self, problem: &Problem<'_>, column: u32) -> Option<u32> {
        if self.is_compact(problem) {
            self.usable.binary_search(&column).ok().map(|at| at as u32)
        } else {
            Some(column)
        }
    }

    /// A vertex in columns as one of a problem's atoms.
    pub fn basis_inwards(&self, problem: &Problem<'_>, basis: &Basis) -> Basis {
        basis.renamed(|column| self.inwards(problem, column))
    }

    /// A vertex of a problem's atoms in columns.
    pub fn basis_outwards(&self, problem: &Problem<'_>, basis: &Basis) -> Basis {
        let compact = self.is_compact(problem);
        basis.renamed(|atom| Some(if compact { self.usable[atom as usize] } else { atom }))
    }

    /// `min ||x_i - cX||_2` over `0 <= c <= d`, nearly: coordinate descent on the Gram matrix `gram` of
    /// all rows and the columns in play, from the row's weights. A good place to start the l1 fit
    /// from when d has moved far, at a cost that does not depend on n.
    pub fn least_squares(&self, gram: &[f64], i: usize, weights: &[(u32, f64)]) -> Vec<f64> {
        let inner = |row: usize, j: u32| gram[row * self.stride + j as usize];
        let block: Vec<f64> = (self.rows.iter())
            .flat_map(|&row| self.usable.iter().map(move |&j| inner(row, j)))
            .collect();
        let u = self.usable.len();
        let mut c = vec![0.0; u];
        for &(j, weight) in weights {
            if let Ok(at) = self.usable.binary_search(&j) {
                c[at] = weight.min(self.d[j as usize]);
            }
        }
        // gap_j = x_j.(x_i - cX), minus the gradient.
        let mut gap: Vec<f64> = self.usable.iter().map(|&j| inner(i, j)).collect();
        for (at, &c) in c.iter().enumerate() {
            axpy(-c, &block[at * u..(at + 1) * u], &mut gap);
        }
        let upper: Vec<f64> = self.usable.iter().map(|&j| self.d[j as usize]).collect();
        descend(&block, &mut gap, &mut c, Some(&upper), SWEEPS, 1e-5);
        c
    }
}

//! Fits on many sparse atoms, of which few get weight.
//!
//! A vertex of the l1 fit has no more free weights than the target has entries, usually far fewer
//! than there are atoms. So the walk is given the atoms that a dual finds too cheap, a batch at a time
//! (column generation): the fit on the atoms in play has a dual y, every other atom is priced with it, and when
//! none has `A_j.y > q_j` the fit is that on all of them. A round costs one product with all atoms, and memory
//! goes with the atoms in play, not with all of them.

use super::bound::{ROUNDING, prove};
use super::design::Design;
use super::solver::{Improved, Problem, Solver};
use super::{Basis, Summary};
use crate::control::Control;
use crate::matrix::{Matrix, Row};

/// Entries (atoms in play times points) that a thread gathers at most.
pub(crate) const MOST_GATHERED: usize = 1 << 25;
/// Atoms that enter together at first; later half of those in play.
const BATCH: usize = 32;
/// Atoms that may be in play whatever the size of the target.
const LEAST_ROOM: usize = 2;
/// Rounds after which the fit is left as it is.
const ROUNDS: usize = 1000;
/// An atom that earns more than this beyond its cost enters. The loss of the bound from those that do not is
/// of this size, far below what a fit may be apart from its bound.
const TOO_CHEAP: f64 = 1e-11;
/// That a point is not in the support of the target.
const NOWHERE: u32 = u32::MAX;

/// Many sparse, nonnegative rows as atoms.
#[derive(Debug)]
pub(crate) struct ManyAtoms<'a> {
    rows: &'a Matrix,
    /// The sum of each: q of the hinge form.
    sums: Vec<f64>,
}

impl<'a> ManyAtoms<'a> {
    /// The rows of a matrix, none of them negative anywhere.
    pub fn new(rows: &'a Matrix) -> Self {
        ManyAtoms { rows, sums: (0..rows.rows()).map(|j| rows.row(j).sum()).collect() }
    }
}

/// Fits targets on [`ManyAtoms`], with its workspace; one for each thread.
#[derive(Debug)]
pub(crate) struct ManySolver {
    solver: Solver,
    control: Control,
    /// Entries that may be in play: [`MOST_GATHERED`].
    most: usize,
    play: InPlay,
    /// Where a column is in the support.
    position: Vec<u32>,
    /// The dual on all columns, zero off the support.
    dual: Vec<f64>,
    is_in_play: Vec<bool>,
}

/// The target on its support, and the atoms in play there.
#[derive(Debug)]
struct InPlay {
    x: Vec<f64>,
    design: Design,
    /// The atoms by their place in the design.
    atoms: Vec<u32>,
    /// Those places: 0, 1, ...
    places: Vec<u32>,
}

impl InPlay {
    fn nothing() -> Self {
        let (x, atoms, places) = (Vec::new(), Vec::new(), Vec::new());
        InPlay { x, design: Design::empty(), atoms, places }
    }

    /// The fit on these atoms.
    fn problem(&self) -> Problem<'_> {
        Problem { design: &self.design, x: &self.x, usable: &self.places, upper: None }
    }

    /// The rest of the design from its atoms. O(atoms * points).
    fn lay_out(&mut self) {
        let (m, n, design) = (self.atoms.len(), self.x.len(), &mut self.design);
        self.places.clear();
        self.places.extend(0..m as u32);
        (design.atoms, design.points) = (m, n);
        design.by_point.clear();
        design.by_point.reserve_exact(m * n);
        design.by_point.resize(m * n, 0.0);
        crate::kernels::transpose(m, n, &design.by_atom, &mut design.by_point);
    }
}

impl ManySolver {
    /// A solver whose fits `control` can stop.
    pub fn under(control: &Control) -> Self {
        ManySolver {
            solver: Solver::under(control),
            control: control.clone(),
            most: MOST_GATHERED,
            play: InPlay::nothing(),
            position: Vec::new(),
            dual: Vec::new(),
            is_in_play: Vec::new(),
        }
    }

    /// `min ||x - cA||_1` over `c >= 0`, with weight on `usable` atoms only. Inexact, with what is
    /// proven, where more than [`MOST_GATHERED`] entries would be in play at a vertex.
    pub fn fit(&mut self, atoms: &ManyAtoms<'_>, target: Row<'_>, usable: &[u32]) -> Summary {
        self.start(atoms, target);
        let room = (self.most / self.play.x.len().max(1)).max(LEAST_ROOM);
        // With no weight the error is the target, and every point is above the fit.
        let mut best = Improved { value: self.play.x.iter().sum(), pivots: 0, stopped: false };
        let (mut vertex, mut duals) = (Basis::default(), vec![2.0; self.play.x.len()]);
        for _ in 0..ROUNDS {
            self.spread(target, &duals);
            let cheap = match self.control.stopped() {
                None => self.too_cheap(atoms, usable),
                Some(_) => None,
            };
            let Some(mut cheap) = cheap else {
                best.stopped = true;
                break;
            };
            let batch = cheap.len().min(BATCH.max(self.play.atoms.len() / 2));
            if self.play.atoms.len() + batch > room {
                self.keep(&mut vertex);
            }
            cheap.truncate(batch.min(room.saturating_sub(self.play.atoms.len())));
            if cheap.is_empty() {
                break;
            }
            self.add(atoms, &cheap);
            let walked = self.solver.improve(&self.play.problem(), Some(&vertex));
            best = Improved { pivots: best.pivots + walked.pivots, ..walked };
            vertex = self.solver.basis();
            duals.copy_from_slice(self.solver.dual());
            if walked.stopped {
                break;
            }
        }
        self.prove(atoms, target, usable, best, duals)
    }

    /// What the dual proves: atoms out of play are held to it here, those in play by [`prove`].
    fn prove(
        &mut self,
        atoms: &ManyAtoms<'_>,
        target: Row<'_>,
        usable: &[u32],
        best: Improved,
        mut duals: Vec<f64>,
    ) -> Summary {
        self.spread(target, &duals);
        let needed = |j: &u32| {
            let (j, dual) = (*j as usize, &self.dual);
            atoms.rows.row(j).dot(dual) / atoms.sums[j]
        };
        let open = |j: &&u32| !self.is_in_play[**j as usize];
        let dearest = match best.stopped {
            // A bound of zero needs no proof.
            true => f64::INFINITY,
            false => usable.iter().filter(open).map(needed).fold(1.0, f64::max),
        };
        if dearest > 1.0 {
            duals.iter_mut().for_each(|y| *y *= (1.0 - ROUNDING) / dearest);
        }
        let problem = self.play.problem();
        let lower_bound = prove(&problem, &mut duals, best.value);
        best.with_bound(&problem, lower_bound)
    }

    /// The support of the target, with no atom in play.
    fn start(&mut self, atoms: &ManyAtoms<'_>, target: Row<'_>) {
        let (m, n) = (atoms.rows.rows(), atoms.rows.cols());
        self.position.clear();
        self.position.resize(n, NOWHERE);
        self.dual.clear();
        self.dual.resize(n, 0.0);
        self.play.x.clear();
        for (k, value) in target.nonzeros() {
            self.position[k] = self.play.x.len() as u32;
            self.play.x.push(value);
        }
        self.play.atoms.clear();
        self.is_in_play.clear();
        self.is_in_play.resize(m, false);
        self.play.design.by_atom.clear();
        self.play.design.linear.clear();
        self.play.lay_out();
    }

    /// A dual of the support onto all columns.
    fn spread(&mut self, target: Row<'_>, duals: &[f64]) {
        target.nonzeros().zip(duals).for_each(|((k, _), y)| self.dual[k] = *y);
    }

    /// Usable atoms out of play that earn more than they cost, the best first, with what they earn;
    /// `None` when stopped. O(entries of all atoms).
    fn too_cheap(&self, atoms: &ManyAtoms<'_>, usable: &[u32]) -> Option<Vec<(f64, u32)>> {
        let mut watch = self.control.watch();
        let mut cheap = Vec::new();
        for &j in usable.iter().filter(|&&j| !self.is_in_play[j as usize]) {
            let row = atoms.rows.row(j as usize);
            if watch.spend(row.stored()).is_some() {
                return None;
            }
            let earns = row.dot(&self.dual) - atoms.sums[j as usize];
            if earns > TOO_CHEAP {
                cheap.push((earns, j));
            }
        }
        cheap.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        Some(cheap)
    }

    /// Brings atoms into play. O(atoms in play * points).
    fn add(&mut self, atoms: &ManyAtoms<'_>, new: &[(f64, u32)]) {
        let n = self.play.x.len();
        let InPlay { design, atoms: in_play, .. } = &mut self.play;
        design.by_atom.reserve_exact(new.len() * n);
        for &(_, j) in new {
            let start = design.by_atom.len();
            design.by_atom.resize(start + n, 0.0);
            for (k, value) in atoms.rows.row(j as usize).nonzeros() {
                if self.position[k] != NOWHERE {
                    design.by_atom[start + self.position[k] as usize] = value;
                }
            }
            design.linear.push(atoms.sums[j as usize]);
            in_play.push(j);
            self.is_in_play[j as usize] = true;
        }
        self.play.lay_out();
    }

    /// Takes all atoms out of play that the vertex does not use, and renames those of the vertex.
    fn keep(&mut self, vertex: &mut Basis) {
        let (n, mut kept) = (self.play.x.len(), vertex.free.clone());
        kept.sort_unstable();
        for (to, from) in kept.iter().map(|j| *j as usize).enumerate() {
            self.play.design.by_atom.copy_within(from * n..(from + 1) * n, to * n);
            self.play.design.linear[to] = self.play.design.linear[from];
        }
        self.play.design.by_atom.truncate(kept.len() * n);
        self.play.design.linear.truncate(kept.len());
        self.play.atoms.iter().for_each(|&j| self.is_in_play[j as usize] = false);
        self.play.atoms = kept.iter().map(|&j| self.play.atoms[j as usize]).collect();
        self.play.atoms.iter().for_each(|&j| self.is_in_play[j as usize] = true);
        self.play.lay_out();
        *vertex = vertex.renamed(|j| kept.binary_search(&j).ok().map(|place| place as u32));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::l1::{Atoms, Gathered, Status};
    use crate::matrix::Sparse;
    use rand::{RngExt, SeedableRng, rngs::SmallRng};
    use std::time::Instant;

    /// Rows of unit sum with some entries each, the later ones mixtures of three of the first 40 with noise.
    fn mixtures(rows: usize, columns: usize, seed: u64) -> Matrix {
        let mut random = SmallRng::seed_from_u64(seed);
        let mut dense: Vec<Vec<f64>> = Vec::new();
        for i in 0..rows {
            let mut row = vec![0.0; columns];
            for _ in 0..3 {
                let share: f64 = random.random();
                match i {
                    0..40 => (0..9).for_each(|_| row[random.random_range(0..columns)] += share),
                    _ => {
                        let from = &dense[random.random_range(0..40)];
                        row.iter_mut().zip(from).for_each(|(r, v)| *r += share * v);
                    }
                }
            }
            row[random.random_range(0..columns)] += 0.05;
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|v| *v /= sum);
            dense.push(row);
        }
        sparse(&dense)
    }

    fn sparse<R: AsRef<[f64]>>(rows: &[R]) -> Matrix {
        let entries = |(i, row): (usize, &R)| -> Vec<(usize, usize, f64)> {
            row.as_ref().iter().enumerate().map(|(k, v)| (i, k, *v)).filter(|t| t.2 > 0.0).collect()
        };
        let triplets: Vec<_> = rows.iter().enumerate().flat_map(entries).collect();
        Sparse::from_triplets(rows.len(), rows[0].as_ref().len(), &triplets).unwrap().into()
    }

    /// All rows but `i` explain row `i`.
    fn others(rows: usize, i: usize) -> Vec<u32> {
        (0..rows as u32).filter(|&j| j as usize != i).collect()
    }

    #[test]
    fn the_fit_is_that_on_all_atoms() {
        for seed in 0..3 {
            let x = mixtures(300, 120, seed);
            let (many, atoms) = (ManyAtoms::new(&x), Atoms::new(&x));
            let mut solver = ManySolver::under(&Control::default());
            for i in (0..300).step_by(23) {
                let usable = others(300, i);
                let fit = solver.fit(&many, x.row(i), &usable);
                let mut gathered = Gathered::default();
                let target = atoms.restrict(x.row(i), &mut gathered);
                let (design, x) = (target.design, target.x);
                let problem = Problem { design, x, usable: &usable, upper: None };
                let expected = Solver::new().fit(&problem, None);
                assert_eq!(fit.status, Status::Optimal);
                assert!((fit.value - expected.value).abs() < 1e-11, "{fit:?} {expected:?}");
                assert!(fit.lower_bound <= expected.value + 1e-13, "{fit:?} {expected:?}");
            }
        }
    }

    /// With too little room for a vertex the value is achieved, the bound holds, and the status says
    /// that they are apart.
    #[test]
    fn without_room_the_bound_still_holds() {
        let x = mixtures(600, 400, 7);
        let many = ManyAtoms::new(&x);
        let mut inexact = 0;
        for i in (40..600).step_by(31) {
            let usable = others(600, i);
            let best = ManySolver::under(&Control::default()).fit(&many, x.row(i), &usable);
            let mut cramped = ManySolver::under(&Control::default());
            cramped.most = 0;
            let fit = cramped.fit(&many, x.row(i), &usable);
            assert!(cramped.play.atoms.len() <= LEAST_ROOM);
            assert!(fit.value >= best.value - 1e-12 && fit.lower_bound <= best.value + 1e-12);
            inexact += usize::from(fit.status == Status::Inexact);
        }
        assert!(inexact > 10, "{inexact} inexact");
    }

    #[test]
    fn nothing_in_common_is_no_fit() {
        let x = sparse(&[[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]]);
        let fit = ManySolver::under(&Control::default()).fit(&ManyAtoms::new(&x), x.row(0), &[1]);
        assert_eq!((fit.value, fit.lower_bound, fit.status), (1.0, 1.0, Status::Optimal));
    }

    #[test]
    fn a_deadline_stops_it() {
        let x = mixtures(300, 60, 1);
        let late = Control::default().with_deadline(Instant::now());
        let usable = others(300, 100);
        let fit = ManySolver::under(&late).fit(&ManyAtoms::new(&x), x.row(100), &usable);
        assert!(fit.status == Status::Stopped && fit.lower_bound == 0.0, "{fit:?}");
    }
}

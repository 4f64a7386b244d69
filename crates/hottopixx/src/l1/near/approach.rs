//! Fits that end when they are good enough: no vertex is walked to.
//!
//! The l1 dual of a smoothed fit is within [-1, 1] as it stands, so it proves a bound, and the smoothed
//! weights have an error. Where the two are close enough for the purpose nothing remains to be done.
//! With relative residuals of spread d the rounded corners cost about `(gamma / d)^2 / 6` of the error: one part in
//! a thousand leaves one point in sixteen close, enough for Newton's method to go by as long as
//! there are more of them than free weights.

use super::{BELIEVED, NearSolver, WIDE};
use crate::l1::smooth::Enough;
use crate::l1::solver::Problem;

/// Points for each usable atom from which on Newton's method has enough to go by.
const POINTS_PER_ATOM: usize = 4;
/// Atoms are left out at first where those with weight are less than one in this many, and taken in at
/// most this often; of the gap that is asked for this share is for the fit on those taken.
const FEW: usize = 2;
const EXTENSIONS: usize = 4;
const WITHIN: f64 = 0.6;
/// Choices of near points after which it gives up.
const TRIES: usize = 5;

impl NearSolver {
    /// Whether problems of this shape may be good enough without a vertex.
    pub fn can_approach(points: usize, usable: usize) -> bool {
        points >= WIDE.max(POINTS_PER_ATOM * usable)
    }

    /// Improves the best of the weights `start` (atom, weight) and `other` (by position in `usable`)
    /// until they are good enough; the error, or `None` when they did not become so. Then
    /// [`NearSolver::weights`] are the best found, to start an exact fit from. The dual proves what
    /// `enough.gap` says, unless the error is at most `enough.value`: then it is of no use.
    ///
    /// Where few of many atoms have weight in the two starts, it begins with these and takes in those that the dual
    /// prices in: the others could lower the error by no more than `sum u_j (A_j.y - q_j)_+` over them, which
    /// is part of the gap. So they cost one product in place of one per step, and with fewer atoms
    /// fewer points are in doubt.
    pub fn approach(
        &mut self,
        p: &Problem<'_>,
        start: &[(u32, f64)],
        other: &[f64],
        enough: Enough,
    ) -> Option<f64> {
        let mut taken: Vec<bool> = other.iter().map(|c| *c > 0.0).collect();
        for at in start.iter().filter_map(|(j, _)| p.usable.binary_search(j).ok()) {
            taken[at] = true;
        }
        let (mut start, mut weights) = (start, other.to_vec());
        for _ in 0..EXTENSIONS {
            let (within, outside): (Vec<usize>, Vec<usize>) =
                (0..taken.len()).partition(|&at| taken[at]);
            if within.is_empty() || FEW * within.len() > taken.len() {
                break;
            }
            let usable: Vec<u32> = within.iter().map(|&at| p.usable[at]).collect();
            let inner = Problem { usable: &usable, ..*p };
            let part: Vec<f64> = within.iter().map(|&at| weights[at]).collect();
            let asked = Enough { gap: WITHIN * enough.gap, ..enough };
            let reached = self.approach_on(&inner, start, &part, asked);
            weights.fill(0.0);
            within.iter().zip(&self.weights).for_each(|(&at, &c)| weights[at] = c);
            if reached.is_none() && self.control.stopped().is_none() {
                break;
            }
            self.set_bounds(p);
            let mut missed = 0.0;
            if reached.is_some_and(|value| value > enough.value) {
                for at in outside {
                    let j = p.usable[at] as usize;
                    let gain = p.design.price(j, &self.dual) - p.design.linear[j];
                    taken[at] = gain > 0.0;
                    missed += self.upper[at] * gain.max(0.0);
                }
            }
            if missed <= (1.0 - WITHIN) * enough.gap {
                self.weights = weights;
                return reached;
            }
            start = &[];
        }
        self.approach_on(p, start, &weights, enough)
    }

    /// As [`NearSolver::approach`], with all atoms from the beginning.
    fn approach_on(
        &mut self,
        p: &Problem<'_>,
        start: &[(u32, f64)],
        other: &[f64],
        enough: Enough,
    ) -> Option<f64> {
        self.set_bounds(p);
        self.choose_start(p, start, None, other);
        let mut value = self.value(p);
        if value <= enough.value {
            return Some(value);
        }
        let control = self.control.clone();
        let mut watch = control.watch();
        self.choose_near(p, 1);
        self.near.gather(p, &self.far);
        for attempt in 1..=TRIES {
            let near = (&self.near.design, &self.near.x[..]);
            let gap = self.smooth.approach(near, &self.upper, &self.weights, value, enough);
            std::mem::swap(&mut self.weights, &mut self.old_weights);
            std::mem::swap(&mut self.residual, &mut self.old_residual);
            self.weights.clone_from(&self.smooth.weights);
            self.form_residual(p);
            let turned = self.turned(p);
            // Far points count with the slopes of the side they were on.
            let wrong: f64 = turned.iter().map(|&k| self.residual[k as usize].abs()).sum();
            let reached = self.value(p);
            if reached <= enough.value || gap + 2.0 * wrong <= enough.gap {
                self.dual.clone_from(&self.far);
                for (&k, &y) in self.near.points.iter().zip(&self.smooth.slopes) {
                    self.dual[k as usize] = y;
                }
                return Some(reached);
            }
            if watch.spend(6 * p.usable.len() * p.x.len()).is_some() {
                break;
            }
            if turned.len() * BELIEVED > self.near.points.len() || reached > value {
                self.step_back(p);
                value = self.value(p);
                self.choose_near(p, attempt + 1);
                self.near.gather(p, &self.far);
            } else if turned.is_empty() {
                break;
            } else {
                value = reached;
                self.take_in(p, &turned);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::l1::bound::prove;
    use crate::l1::{Design, Loss};
    use crate::matrix::Dense;

    /// Whatever gap is asked for: the dual proves it, from the data alone, and no vertex was needed.
    #[test]
    fn what_is_good_enough_is_proven() {
        let mut state = 9u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1u64 << 31) as f64
        };
        let (m, n) = (10, 3000);
        let atoms = Dense::new(m, n, (0..m * n).map(|_| next() / n as f64).collect()).unwrap();
        let mut x: Vec<f64> = (0..n).map(|_| 0.2 * next() / n as f64).collect();
        for j in 0..5 {
            x.iter_mut().zip(atoms.row(j)).for_each(|(x, a)| *x += 0.2 * a);
        }
        let design = Design::new(&atoms, Loss::Hinge);
        let usable: Vec<u32> = (0..m as u32).collect();
        // Bounds that keep some weights from what they would be.
        let upper: Vec<f64> = (0..m).map(|j| if j < 3 { 0.1 } else { 0.5 }).collect();
        let p = Problem { design: &design, x: &x, usable: &usable, upper: Some(&upper) };
        let mut solver = NearSolver::default();
        let exact = solver.fit(&p, &[], None, &vec![0.0; m]).value;
        for gap in [0.1, 0.01, 0.002].map(|share| share * exact) {
            let enough = Enough { value: 0.0, gap };
            let value = solver.approach(&p, &[], &vec![0.1; m], enough).expect("good enough");
            let mut dual = solver.dual().to_vec();
            assert!(dual.iter().all(|y| (0.0..=2.0).contains(y)));
            let bound = prove(&p, &mut dual, value);
            assert!(value - bound <= gap * (1.0 + 1e-9) && bound <= exact + 1e-12);
            assert!(solver.weights().iter().zip(&upper).all(|(c, u)| (0.0..=*u).contains(c)));
        }
        // Starts with weight on few atoms: what the others could do is part of what is proven.
        let few: Vec<f64> = (0..m).map(|j| if j < 2 { 0.1 } else { 0.0 }).collect();
        for gap in [0.1, 0.01, 0.002].map(|share| share * exact) {
            let enough = Enough { value: 0.0, gap };
            let value = solver.approach(&p, &[], &few, enough).expect("good enough");
            let mut dual = solver.dual().to_vec();
            let bound = prove(&p, &mut dual, value);
            assert!(value - bound <= gap * (1.0 + 1e-9) && bound <= exact + 1e-12);
            assert_eq!(solver.weights().len(), m);
        }
        // An error that is allowed is not improved any further.
        let enough = Enough { value: 1.05 * exact, gap: 1e-12 };
        let value = solver.approach(&p, &[], &vec![0.1; m], enough).expect("allowed");
        assert!(value <= 1.05 * exact && value > exact * (1.0 + 1e-9));
    }
}

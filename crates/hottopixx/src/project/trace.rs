//! The projection with a fixed trace: one multiplier for the whole matrix.

use super::{Columns, clip_to_levels, squish::level_of};
use crate::kernels::parallel::*;

/// How far the trace may be from the one asked for, relative to the number of columns.
const TOLERANCE: f64 = 1e-13;
/// Newton steps and bisections allowed; each halves the bracket at worst.
const LIMIT: usize = 200;

/// Projects the `f x m` matrix `c` onto `{ C in Phi_0 : trace(C) = trace }`, in place, and returns
/// the multiplier b of the trace.
///
/// The Lagrangian of the trace constraint only shifts diagonals: the answer is the projection
/// onto `Phi_0` after b has been subtracted from every diagonal entry. The trace is a decreasing
/// piecewise linear function of b with slope `-sum_j 1 / (1 + number of entries cut in column j)`
/// over the columns whose level is inside (0, 1), so Newton's method inside a bracket ends after a
/// few steps; `guess` is where it starts, such as the b of an earlier, similar projection.
/// O(f m) for the first look and less afterwards: entries that can no longer be cut are dropped.
/// The trace asked for is limited to what is possible, 0 to m.
pub fn project_phi0_trace(c: &mut [f64], candidates: &[usize], trace: f64, guess: f64) -> f64 {
    let mut columns = Columns::positive(c, candidates);
    let trace = trace.clamp(0.0, candidates.len() as f64);
    let (b, levels) = columns.solve(trace, guess);
    clip_to_levels(c, candidates, &levels);
    b
}

/// The multiplier and the diagonal of the projection onto `{ C in Phi_0 : trace(C) = trace }` of a matrix given by
/// columns: its diagonal, and each column's other entries above zero, in any order.
pub(crate) fn trace_levels(
    diagonals: Vec<f64>,
    above: Vec<Vec<f64>>,
    trace: f64,
) -> (f64, Vec<f64>) {
    let trace = trace.clamp(0.0, diagonals.len() as f64);
    Columns { diagonals, above }.solve(trace, 0.0)
}

/// The projected diagonals for one b, their sum, and minus the derivative of the sum.
struct Cut {
    levels: Vec<f64>,
    trace: f64,
    slope: f64,
}

impl Columns {
    fn solve(&mut self, trace: f64, guess: f64) -> (f64, Vec<f64>) {
        let (mut low, mut high) = self.bracket();
        let tolerance = TOLERANCE * self.diagonals.len().max(1) as f64;
        let mut b = guess.clamp(low, high);
        let mut best = self.cut(b);
        for _ in 0..LIMIT {
            let excess = best.trace - trace;
            if excess.abs() <= tolerance || high <= low {
                break;
            }
            if excess > 0.0 {
                low = b;
            } else {
                high = b;
                self.drop_below(&best.levels);
            }
            let newton = b + excess / best.slope; // infinite on a flat piece: then bisect
            let inside = newton > low && newton < high;
            let next = if inside { newton } else { 0.5 * (low + high) };
            if next == b {
                break;
            }
            b = next;
            best = self.cut(b);
        }
        (b, best.levels)
    }

    /// All levels are 1 at the first b and 0 at the second: `g(1) >= 0` and `g(0) <= 0`.
    fn bracket(&self) -> (f64, f64) {
        let ends: Vec<(f64, f64)> = (self.diagonals.par_iter().zip(&self.above))
            .map(|(diagonal, above)| {
                let over_one: f64 = above.iter().map(|z| (z - 1.0).max(0.0)).sum();
                let over_zero: f64 = above.iter().sum();
                (diagonal - 1.0 + over_one, diagonal + over_zero)
            })
            .collect();
        let low = ends.iter().map(|e| e.0).fold(f64::INFINITY, f64::min);
        let high = ends.iter().map(|e| e.1).fold(f64::NEG_INFINITY, f64::max);
        if low <= high { (low, high) } else { (0.0, 0.0) }
    }

    fn cut(&self, b: f64) -> Cut {
        let cuts: Vec<(f64, f64)> = (self.diagonals.par_iter().zip(&self.above))
            .map_init(Vec::new, |scratch, (diagonal, above)| {
                let own = diagonal - b;
                scratch.clear();
                scratch.extend(above.iter().copied().filter(|z| *z > own.max(0.0)));
                let level = level_of(own, scratch);
                let inside = level > 0.0 && level < 1.0;
                (level, if inside { 1.0 / (scratch.len() + 1) as f64 } else { 0.0 })
            })
            .collect();
        let trace = cuts.iter().map(|c| c.0).sum();
        let slope = cuts.iter().map(|c| c.1).sum();
        Cut { levels: cuts.into_iter().map(|c| c.0).collect(), trace, slope }
    }

    /// The root lies at a smaller b, where all levels are at least these: entries below will not
    /// be cut.
    fn drop_below(&mut self, levels: &[f64]) {
        self.above
            .par_iter_mut()
            .zip(levels)
            .for_each(|(above, level)| above.retain(|z| z > level));
    }
}

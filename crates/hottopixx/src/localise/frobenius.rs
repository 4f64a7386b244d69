//! The localising matrix in the Frobenius norm, by accelerated projected gradients.
//!
//! ```text
//! min 1/2 ||X - C X_S||_F^2 + mu p . diag(C)   over C in Phi_0, with or without trace(C) = r
//! ```
//!
//! with S the candidate rows, C f x |S|. Expanding the square, X enters through the Gram matrix
//! `G = X X^T` alone: the gradient is `C G_SS - G_.S + mu diag(p)`, the constant
//! `1/2 trace(G)`. So n disappears after one product, and an iteration costs `2 f |S|^2` flops in
//! one matrix product, plus a projection (see [`project`](crate::project)). Nesterov's
//! acceleration is restarted whenever it points uphill (O'Donoghue and Candès, 2015), which makes
//! it fast without knowing the strong convexity.
//!
//! Unlike SPA it is not fooled by rows that are extreme but not hott, since a row is chosen for
//! what it explains.

use super::{Localisation, candidate_rows, check_cost, spread};
use crate::Error;
use crate::control::{Control, Progress, Stage, Stop};
use crate::kernels::{axpy, dot, gemm_while};
use crate::normalise::UnitRows;
use crate::project::{project_phi0, project_phi0_trace};

/// Settings of the Frobenius form.
#[derive(Debug, Clone, PartialEq)]
pub struct FrobeniusSettings {
    /// Weight of the cost vector, as a share of the mean squared row norm, so that it does not
    /// depend on n. With the trace fixed, 0 (the default) lets the error alone decide; 0.1 with
    /// `p_j = -||x_j||^2` recovered fewer midpoint instances. Without the trace it must be
    /// positive, such as 0.05, or C = I is optimal.
    pub mu: f64,
    /// Whether `trace(C) = rank` is a constraint (true).
    pub trace: bool,
    /// The cost vector p, one entry for each row of X (default all ones). Only used with mu > 0.
    pub cost: Option<Vec<f64>>,
    /// Iterations at most (500).
    pub iterations: usize,
    /// Stops when an iteration changes C by less than this, relative to C in the Frobenius norm
    /// (1e-4). With 1e-5 the weights are a little sharper, and the rows recovered were the
    /// same, in twice the iterations.
    pub tolerance: f64,
}

impl Default for FrobeniusSettings {
    fn default() -> Self {
        FrobeniusSettings { mu: 0.0, trace: true, cost: None, iterations: 500, tolerance: 1e-4 }
    }
}

impl FrobeniusSettings {
    fn check(&self, features: usize) -> Result<(), Error> {
        let setting = |name, value: String, remedy: &str| {
            Err(Error::Setting { name, value, remedy: remedy.into() })
        };
        if !(self.mu >= 0.0 && self.mu.is_finite()) {
            return setting("mu", self.mu.to_string(), "give a number that is not negative");
        }
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            let value = self.tolerance.to_string();
            return setting("tolerance", value, "give a number that is not negative");
        }
        if self.iterations == 0 {
            return setting("iterations", "0".into(), "allow at least one iteration");
        }
        check_cost(self.cost.as_deref(), features)
    }
}

/// Solves the Frobenius form for `rank` hott rows among the rows where `allowed` is true.
///
/// For m candidates `2 f m n` flops for their columns of the Gram matrix, `2 f m^2` an iteration, and
/// `m^2 + 5 f m` numbers of memory.
///
/// # Errors
/// [`Error::Setting`], [`Error::Length`], or [`Error::Rank`] when fewer than `rank` rows are
/// allowed.
pub fn frobenius(
    x: &UnitRows,
    rank: usize,
    allowed: &[bool],
    settings: &FrobeniusSettings,
    control: &Control,
) -> Result<Localisation, Error> {
    settings.check(x.features())?;
    let candidates = candidate_rows(allowed, rank)?;
    let trace = settings.trace.then_some(rank as f64);
    let Some(program) = Program::new(x.squares(), &candidates, trace, settings, control) else {
        let stop = control.cut_short().unwrap_or(Stop::Interrupted);
        return Ok(Localisation::nothing(x.features(), stop));
    };
    let end = program.descend(settings, control);
    let diagonal: Vec<f64> = program.diagonal(&end.c);
    let stopped = end.stop != Stop::Finished;
    Ok(Localisation {
        diagonal: spread(&candidates, &diagonal, x.features()),
        iterations: end.iterations,
        objective: if stopped { f64::NAN } else { program.objective(&end.c) },
        converged: end.converged,
        stop: end.stop,
        screened: None,
    })
}

/// The program: everything is known from the Gram matrix.
struct Program<'a> {
    candidates: &'a [usize],
    /// `G_SS`, m x m.
    square: Vec<f64>,
    /// `G_.S`, f x m.
    tall: Vec<f64>,
    /// `mu p` for each candidate.
    cost: Vec<f64>,
    trace: Option<f64>,
    /// `trace(G)`, the sum of the squared row norms.
    energy: f64,
}

/// Where the descent ended.
struct End {
    c: Vec<f64>,
    iterations: usize,
    converged: bool,
    stop: Stop,
}

impl<'a> Program<'a> {
    /// `None` when stopped.
    fn new(
        x: &UnitRows,
        candidates: &'a [usize],
        trace: Option<f64>,
        settings: &FrobeniusSettings,
        control: &Control,
    ) -> Option<Self> {
        let m = candidates.len();
        let tall = x.gram_columns_under(candidates, control)?;
        let square = candidates.iter().flat_map(|&i| &tall[i * m..(i + 1) * m]).copied().collect();
        let energy: f64 = (0..x.features()).map(|i| x.row(i).squared_norm()).sum();
        let mu = settings.mu * energy / x.features() as f64;
        let p = |&i: &usize| settings.cost.as_ref().map_or(1.0, |p| p[i]);
        let cost = candidates.iter().map(|i| mu * p(i)).collect();
        Some(Program { candidates, square, tall, cost, trace, energy })
    }

    fn shape(&self) -> (usize, usize) {
        let m = self.candidates.len();
        (self.tall.len() / m, m)
    }

    fn diagonal(&self, c: &[f64]) -> Vec<f64> {
        let m = self.candidates.len();
        self.candidates.iter().enumerate().map(|(q, i)| c[i * m + q]).collect()
    }

    /// The gradient at `c`, into `out`; why not, when stopped.
    fn gradient(&self, c: &[f64], out: &mut [f64], control: &Control) -> Result<(), Stop> {
        let (f, m) = self.shape();
        out.copy_from_slice(&self.tall);
        let goes_on = || control.goes_on();
        if !gemm_while(goes_on, f, m, m, 1.0, c, &self.square, false, -1.0, out) {
            return Err(control.cut_short().unwrap_or(Stop::Interrupted));
        }
        for (q, &i) in self.candidates.iter().enumerate() {
            out[i * m + q] += self.cost[q];
        }
        Ok(())
    }

    /// `1/2 (trace(G) - <C, G_.S> + <C, C G_SS - G_.S>) + mu p . diag(C)`.
    fn objective(&self, c: &[f64]) -> f64 {
        let mut gradient = vec![0.0; c.len()];
        if self.gradient(c, &mut gradient, &Control::default()).is_err() {
            return f64::NAN;
        }
        let linear: f64 = self.diagonal(c).iter().zip(&self.cost).map(|(d, p)| d * p).sum();
        0.5 * (self.energy - dot(c, &self.tall) + dot(c, &gradient) + linear)
    }

    /// Projects in place; `b`, the multiplier of the trace, is where the next search starts.
    fn project(&self, c: &mut [f64], b: &mut f64) {
        match self.trace {
            Some(trace) => *b = project_phi0_trace(c, self.candidates, trace, *b),
            None => project_phi0(c, self.candidates),
        }
    }

    /// The largest eigenvalue of `G_SS`, the Lipschitz constant of the gradient, from below by
    /// power iteration (G is nonnegative: the start has a part of the leading vector), then 1 %
    /// added. Too small a value is noticed by the restarts.
    fn lipschitz(&self) -> f64 {
        let m = self.candidates.len();
        let mut v = vec![1.0 / (m as f64).sqrt(); m];
        let mut value = 0.0;
        for _ in 0..100 {
            let next: Vec<f64> = self.square.chunks_exact(m).map(|row| dot(row, &v)).collect();
            let norm = dot(&next, &next).sqrt();
            let settled = (norm - value).abs() <= 1e-4 * norm;
            value = norm;
            v = next.into_iter().map(|x| x / norm).collect();
            if settled {
                break;
            }
        }
        1.01 * value
    }

    /// Accelerated projected gradient from C = 0 projected.
    fn descend(&self, settings: &FrobeniusSettings, control: &Control) -> End {
        let size = self.tall.len();
        let step = 1.0 / self.lipschitz();
        let (mut c, mut b) = (vec![0.0; size], 0.0);
        self.project(&mut c, &mut b);
        let (mut ahead, mut next, mut gradient) = (c.clone(), vec![0.0; size], vec![0.0; size]);
        let mut momentum = 1.0f64;
        for t in 0..settings.iterations {
            if let Err(stop) = self.gradient(&ahead, &mut gradient, control) {
                return End { c, iterations: t, converged: false, stop };
            }
            next.copy_from_slice(&ahead);
            axpy(-step, &gradient, &mut next);
            self.project(&mut next, &mut b);
            let (uphill, change, scale) = compare(&ahead, &next, &c);
            let following = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
            let factor = if uphill { 0.0 } else { (momentum - 1.0) / following };
            momentum = if uphill { 1.0 } else { following };
            for ((a, n), c) in ahead.iter_mut().zip(&next).zip(&c) {
                *a = n + factor * (n - c);
            }
            std::mem::swap(&mut c, &mut next);
            if t % 10 == 0 {
                report(control, t, settings.iterations, change / scale);
            }
            if change <= settings.tolerance * scale {
                return End { c, iterations: t + 1, converged: true, stop: Stop::Finished };
            }
        }
        End { c, iterations: settings.iterations, converged: false, stop: Stop::Finished }
    }
}

/// Whether `<ahead - next, next - now> > 0`, that is, momentum points against the step; and the
/// norms of `next - now` and `next`.
fn compare(ahead: &[f64], next: &[f64], now: &[f64]) -> (bool, f64, f64) {
    let (mut inner, mut change, mut scale) = (0.0, 0.0, 0.0);
    for ((a, n), c) in ahead.iter().zip(next).zip(now) {
        inner += (a - n) * (n - c);
        change += (n - c) * (n - c);
        scale += n * n;
    }
    (inner > 0.0, change.sqrt(), scale.sqrt())
}

fn report(control: &Control, done: usize, total: usize, change: f64) {
    control.report(&Progress {
        stage: Stage::Localise,
        task: "frobenius",
        done,
        total: Some(total),
        figure: Some(("change", change)),
        bound: None,
    });
}

#[cfg(test)]
mod tests;

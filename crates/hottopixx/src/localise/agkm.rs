//! The algorithm of Arora, Ge, Kannan and Moitra (Algorithm 1 and Theorem 2.1 of the paper).
//!
//! A row is taken for hott when it is far from the convex hull of all rows that are not near it.
//! With epsilon, the (inf,1) norm of the noise, and alpha, the robustness of the hott rows
//! ([`l1::alpha`](crate::l1::alpha)):
//!
//! 1. `N_k`, the rows at least `5 epsilon / alpha + 2 epsilon` in l1 from row k;
//! 2. `delta_k`, the l1 distance of row k from `conv(N_k)`;
//! 3. R, the rows with `delta_k > 2 epsilon`;
//! 4. clusters of R, with j and k together if they are at most `10 epsilon / alpha + 6 epsilon`
//!    apart; one row of each cluster goes into W.
//!
//! If `epsilon <= alpha^2 / (20 + 13 alpha)` there are r clusters, one for each hott topic, and W
//! explains every row to `10 epsilon / alpha + 7 epsilon`. Both numbers have to be known, and r
//! comes out: whoever asks for another r has to decide what to do.
//!
//! What the paper leaves open, and what is done here:
//! - With epsilon = 0 every row is at least 0 from itself, so as printed all `delta_k` are 0 and R
//!   is empty. Rows within 1e-8 of row k, row k first of all, are never in `N_k`; distances from
//!   the hull up to that count as 0; rows that close share a cluster. With thresholds above 1e-8
//!   the algorithm is the printed one.
//! - Where `N_k` is empty there is no hull to be near to: k is in R whatever epsilon is, and
//!   `delta_k` is given as 2, the largest distance of unit rows, as
//!   [`l1::hull_distance`](crate::l1::hull_distance) has it.
//! - Being close is no equivalence unless the theorem applies: clusters are the connected
//!   components (single linkage).
//! - The row that stands for a cluster is the one with the largest `delta_k`, the lowest of equals.
//! - With fewer candidates than rows, the algorithm runs on the matrix of the candidates: `N_k` too
//!   has candidates only, since a row that cannot be chosen cannot explain a candidate. The theorem
//!   holds if every hott topic has a candidate.
//!
//! F, the last line of Algorithm 1, is [`clean`](crate::clean)'s business.

use crate::Error;
use crate::control::{Control, Progress, Stage, Stop};
use crate::kernels::parallel::*;
use crate::l1::{Atoms, Gathered, ManyAtoms, ManySolver, Problem, Solver, Status, Summary};
use crate::matrix::{Dense, Matrix, Row, Sparse};
use crate::normalise::UnitRows;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Distances up to this count as zero; a solved hull distance is within 3e-9 of its bound.
const ROUNDING: f64 = 1e-8;
/// The largest l1 distance of unit rows, and the distance from the hull of nothing.
const FARTHEST: f64 = 2.0;
/// Weight of the column that holds the sum of the coefficients at one: an exact penalty, since for
/// unit rows mending the sum costs at most as much as it is wrong.
const PENALTY: f64 = 2.0;

/// What Algorithm 1 needs to know about the data. There are no defaults: nobody else knows.
#[derive(Debug, Clone, PartialEq)]
pub struct AgkmSettings {
    /// No row is farther than this, in l1, from what it is without noise; 0 or more.
    pub epsilon: f64,
    /// No hott row, without noise, is closer to the convex hull of the others; above 0, at most 2.
    pub alpha: f64,
}

impl AgkmSettings {
    fn check(&self) -> Result<(), Error> {
        let setting = |name, value: f64, remedy: &str| {
            Err(Error::Setting { name, value: value.to_string(), remedy: remedy.into() })
        };
        if !(self.epsilon >= 0.0 && self.epsilon.is_finite()) {
            let remedy = "give the largest l1 norm of a row of the noise, 0 or more";
            return setting("epsilon", self.epsilon, remedy);
        }
        // An alpha that was measured may be above 2 by rounding.
        if !(self.alpha > 0.0 && self.alpha <= FARTHEST + ROUNDING) {
            let remedy = "give the least l1 distance of a hott row from the hull of the others, \
                          above 0 and at most 2";
            return setting("alpha", self.alpha, remedy);
        }
        Ok(())
    }

    /// Rows at least this far from row k are in `N_k`.
    fn far(&self) -> f64 {
        5.0 * self.epsilon / self.alpha + 2.0 * self.epsilon
    }

    /// Rows farther than this from the hull are in R.
    fn outside(&self) -> f64 {
        (2.0 * self.epsilon).max(ROUNDING)
    }

    /// Rows of R at most this far from each other share a cluster.
    fn reach(&self) -> f64 {
        (10.0 * self.epsilon / self.alpha + 6.0 * self.epsilon).max(ROUNDING)
    }

    /// The hypothesis of Theorem 2.1 on the two numbers.
    fn hypothesis(&self) -> bool {
        self.epsilon <= self.alpha * self.alpha / (20.0 + 13.0 * self.alpha)
    }
}

/// What Algorithm 1 found.
#[derive(Debug, Clone, PartialEq)]
pub struct Agkm {
    /// W: one row for each cluster, by falling distance from the hull, the lowest of equals first.
    pub rows: Vec<usize>,
    /// The clusters of R, in the order of `rows`; the rows of each increasing.
    pub clusters: Vec<Vec<usize>>,
    /// `delta_k` for each row of X, in [0, 2]; 0 for rows that are no candidates and for rows that
    /// were not reached.
    pub distances: Vec<f64>,
    /// The largest difference between a distance and the bound that its dual proves, about 1e-12
    /// unless rounding got in the way of a solve, or a sparse row has too many others in its fit.
    pub gap: f64,
    /// Whether `epsilon <= alpha^2 / (20 + 13 alpha)`, as the theorem demands. That the numbers are
    /// true of the data it demands as well, and nothing here can tell.
    pub hypothesis: bool,
    /// Why it ended; unless [`Stop::Finished`], some rows were not looked at, and there are no
    /// clusters.
    pub stop: Stop,
}

/// Algorithm 1 among the rows where `allowed` is true.
///
/// With m candidates, `O(m^2 n)` for the distances, which are computed again for the clusters
/// rather than kept (m x m), and an l1 fit of each candidate on the others, which takes most of the
/// time: hundreds of pivots for a noisy mixture, a few for a hott row. Dense X is kept
/// about four times over; of sparse X, each thread gathers the rows that get weight, at the columns
/// where its own row is not zero.
///
/// ```
/// use hottopixx::control::Control;
/// use hottopixx::localise::{AgkmSettings, agkm};
/// use hottopixx::matrix::{Dense, Matrix};
/// use hottopixx::normalise::UnitRows;
///
/// let rows = [[1., 0., 0.], [0., 1., 0.], [0.5, 0.5, 0.], [0., 0., 1.], [0., 3., 0.]];
/// let x = UnitRows::new(&Matrix::from(Dense::from_rows(&rows)?))?;
/// let settings = AgkmSettings { epsilon: 0.0, alpha: 2.0 };
/// let found = agkm(&x, &[true; 5], &settings, &Control::default())?;
/// assert_eq!(found.clusters, [vec![3], vec![0], vec![1, 4]]);
/// # Ok::<(), hottopixx::Error>(())
/// ```
///
/// # Errors
/// [`Error::Setting`] for numbers outside their range, [`Error::Length`] unless `allowed` has one
/// entry for each row of X.
pub fn agkm(
    x: &UnitRows,
    allowed: &[bool],
    settings: &AgkmSettings,
    control: &Control,
) -> Result<Agkm, Error> {
    settings.check()?;
    if allowed.len() != x.features() {
        let (found, expected) = (allowed.len(), x.features());
        return Err(Error::Length { name: "allowed", found, expected, what: "rows of X" });
    }
    let candidates: Vec<usize> = (0..allowed.len()).filter(|&i| allowed[i]).collect();
    let mut distances = vec![0.0; x.features()];
    let hypothesis = settings.hypothesis();
    let Some(measured) = measure(x, &candidates, settings.far(), control)? else {
        let stop = control.cut_short().unwrap_or(Stop::Interrupted);
        let (rows, clusters) = (Vec::new(), Vec::new());
        return Ok(Agkm { rows, clusters, distances, gap: 0.0, hypothesis, stop });
    };

    let mut stop = Stop::Finished;
    let (mut outside, mut gap) = (Vec::new(), 0.0f64);
    for (&row, hull) in candidates.iter().zip(measured) {
        match hull {
            Ok(hull) => {
                distances[row] = hull.distance;
                gap = gap.max(hull.distance - hull.lower_bound);
                if hull.empty || hull.distance > settings.outside() {
                    outside.push(row);
                }
            }
            Err(reason) => stop = reason,
        }
    }
    let clusters = match stop {
        Stop::Finished => components(x, outside, settings.reach(), control),
        stop => Err(stop),
    };
    let clusters = clusters.unwrap_or_else(|reason| {
        stop = reason;
        Vec::new()
    });
    let (rows, clusters) = representatives(clusters, &distances);
    Ok(Agkm { rows, clusters, distances, gap, hypothesis, stop })
}

/// Where a row is with respect to the hull of the rows far from it.
struct Hull {
    distance: f64,
    lower_bound: f64,
    /// Whether no row is far from it.
    empty: bool,
}

/// The candidates with the penalty as one more column; `None` when stopped.
fn with_penalty(
    x: &UnitRows,
    candidates: &[usize],
    control: &Control,
) -> Result<Option<Matrix>, Error> {
    let (m, n) = (candidates.len(), x.examples());
    let mut watch = control.watch();
    if x.is_dense() {
        let mut points = Dense::zeros(m, n + 1);
        for (p, &i) in candidates.iter().enumerate() {
            if watch.spend(n).is_some() {
                return Ok(None);
            }
            x.row(i).write_to(1.0, &mut points.row_mut(p)[..n]);
            points.row_mut(p)[n] = PENALTY;
        }
        return Ok(Some(points.into()));
    }
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for &i in candidates {
        if watch.spend(x.row(i).stored()).is_some() {
            return Ok(None);
        }
        for (k, value) in x.row(i).nonzeros().chain([(n, PENALTY)]) {
            columns.push(k as u32);
            values.push(value);
        }
        starts.push(values.len());
    }
    Ok(Some(Sparse::new(m, n + 1, starts, columns, values)?.into()))
}

/// The candidates with the penalty as atoms of fits.
enum Others<'a> {
    /// Dense rows share what is laid out once.
    Dense(Atoms),
    /// Of sparse rows only those that get weight are laid out.
    Sparse(ManyAtoms<'a>),
}

impl<'a> Others<'a> {
    /// `None` when stopped.
    fn of(points: &'a Matrix, control: &Control) -> Option<Self> {
        match points {
            Matrix::Dense(_) => Atoms::under(points, control).map(Others::Dense),
            Matrix::Sparse(_) => Some(Others::Sparse(ManyAtoms::new(points))),
        }
    }
}

/// What a thread needs for hull distances.
struct Work {
    solver: Solver,
    gathered: Gathered,
    many: ManySolver,
    /// `N_k` of its row.
    far: Vec<u32>,
}

impl Work {
    fn under(control: &Control) -> Self {
        let (solver, many) = (Solver::under(control), ManySolver::under(control));
        Work { solver, gathered: Gathered::default(), many, far: Vec::new() }
    }

    /// The fit of a point on `N_k`. Every fit starts from nothing, so that none depends on which
    /// thread did which before.
    fn fit(&mut self, others: &Others<'_>, point: Row<'_>) -> Summary {
        match others {
            Others::Dense(atoms) => {
                let target = atoms.restrict(point, &mut self.gathered);
                let (design, x, usable) = (target.design, target.x, &self.far[..]);
                self.solver.fit(&Problem { design, x, usable, upper: None }, None)
            }
            Others::Sparse(atoms) => self.many.fit(atoms, point, &self.far),
        }
    }
}

/// Step 2 for every candidate; the reason for rows that came after a stop, `None` when that was
/// before all of them.
fn measure(
    x: &UnitRows,
    candidates: &[usize],
    far: f64,
    control: &Control,
) -> Result<Option<Vec<Result<Hull, Stop>>>, Error> {
    let Some(points) = with_penalty(x, candidates, control)? else { return Ok(None) };
    let Some(others) = Others::of(&points, control) else { return Ok(None) };
    let m = points.rows();
    let done = AtomicUsize::new(0);
    let hulls = (0..m)
        .into_par_iter()
        .map_init(
            || Work::under(control),
            |work, k| {
                if let Some(reason) = control.stopped() {
                    return Err(reason);
                }
                let x = points.row(k);
                let mut watch = control.watch();
                work.far.clear();
                for j in 0..m as u32 {
                    let other = points.row(j as usize);
                    if let Some(reason) = watch.spend(x.stored() + other.stored()) {
                        return Err(reason);
                    }
                    let distance = x.l1_distance(other);
                    if distance >= far && distance > ROUNDING {
                        work.far.push(j);
                    }
                }
                let hull = if work.far.is_empty() {
                    Hull { distance: FARTHEST, lower_bound: FARTHEST, empty: true }
                } else {
                    let fit = work.fit(&others, x);
                    if fit.status == Status::Stopped {
                        return Err(control.cut_short().unwrap_or(Stop::Interrupted));
                    }
                    let distance = fit.value.min(FARTHEST);
                    Hull { distance, lower_bound: fit.lower_bound.min(distance), empty: false }
                };
                let done = 1 + done.fetch_add(1, Ordering::Relaxed);
                let (stage, task, total) = (Stage::Localise, "agkm", Some(m));
                control.report(&Progress { stage, task, done, total, figure: None, bound: None });
                Ok(hull)
            },
        )
        .collect();
    Ok(Some(hulls))
}

/// The connected components of the rows, two of them joined when at most `reach` apart; the rows of
/// each increasing. Why not, when stopped.
fn components(
    x: &UnitRows,
    mut open: Vec<usize>,
    reach: f64,
    control: &Control,
) -> Result<Vec<Vec<usize>>, Stop> {
    let mut clusters = Vec::new();
    while let Some(seed) = open.pop() {
        let mut cluster = vec![seed];
        let mut next = 0;
        while next < cluster.len() {
            // The last row has nobody left to be near to.
            if !open.is_empty()
                && let Some(stop) = control.stopped()
            {
                return Err(stop);
            }
            let from = x.row(cluster[next]);
            let near: Vec<bool> =
                open.par_iter().map(|&j| from.l1_distance(x.row(j)) <= reach).collect();
            let mut near = near.into_iter();
            cluster.extend(open.extract_if(.., |_| near.next() == Some(true)));
            next += 1;
        }
        cluster.sort_unstable();
        clusters.push(cluster);
    }
    Ok(clusters)
}

/// The row of each cluster that is farthest from its hull, and the clusters, by falling distance.
fn representatives(clusters: Vec<Vec<usize>>, distances: &[f64]) -> (Vec<usize>, Vec<Vec<usize>>) {
    let by_distance = |a: &usize, b: &usize| distances[*b].total_cmp(&distances[*a]).then(a.cmp(b));
    let farthest = |cluster: Vec<usize>| {
        let row = cluster.iter().copied().min_by(by_distance).expect("no cluster is empty");
        (row, cluster)
    };
    let mut chosen: Vec<(usize, Vec<usize>)> = clusters.into_iter().map(farthest).collect();
    chosen.sort_unstable_by(|a, b| by_distance(&a.0, &b.0));
    chosen.into_iter().unzip()
}

#[cfg(test)]
mod tests;

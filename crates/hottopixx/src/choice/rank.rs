//! How many rows it takes: the fewest with which every row is explained within tau.
//!
//! From below: the covering program at T = tau, whose multipliers prove that k rows are too few, and then
//! trees that look for a choice of as many rows as are not ruled out. From above: greedy rows until all
//! are within tau, less those that are not needed, exchanged until one fewer does it, and what the
//! fractional answer is rounded to. Choices are judged by exact cleaning.

use super::bound::{Root, proven};
use super::cover::Cover;
use super::covering::{Covering, Effort, Verdict};
use super::incumbent::{Incumbent, largest_error, refined, rounded};
use super::search::{End, SearchSettings, Tree};
use crate::certify::ChoiceCertificate;
use crate::clean::FittedChoice;
use crate::control::{Control, Progress, Stage, Stop};
use crate::localise::{Question, spa_controlled};
use crate::normalise::UnitRows;
use crate::{Error, Objective};

/// How far the rounds of the bound go.
const EFFORT: Effort = Effort { rounds: 150, thorough: true, least_gain: 2e-3 };
/// Work (entries of X x candidates) above which only the rows that do it are looked for: the cuts alone
/// would take too much time and memory.
const BOUNDED: f64 = 1e10;
/// Nodes that a tree for one number of rows may have.
const NODES: usize = 400;

/// The fewest rows that explain every row within tau, as far as it is known.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RankBracket {
    /// No choice of fewer rows stays within tau.
    pub lower: usize,
    /// What of it the certificate proves: `lower` may be larger, by a tree whose nodes are ended by weak
    /// duality with a margin for rounding.
    pub certified: usize,
    /// Rows of X, increasing, that explain every row within tau.
    pub rows: Vec<usize>,
    /// Their largest error, by exact cleaning.
    pub error: f64,
    /// The proof for `certified - 1` rows; `None` where that is 0.
    pub certificate: Option<ChoiceCertificate>,
    /// Nodes of all trees.
    pub nodes: usize,
    /// Why it ended.
    pub stop: Stop,
}

/// Brackets the number of rows, out of those `allowed`, that it takes to explain every row of X with an
/// l1 error of at most tau. Stopped, it gives the bracket so far. For data of more than 1e10 entries times
/// candidates the lower end is 1.
///
/// # Errors
/// [`Error::Setting`] for a tau that is negative or no number, [`Error::Infeasible`] when all candidates
/// together leave a row with a larger error, [`Error::NoAnswer`] when it was stopped before it had any rows.
pub fn rank_needed(
    x: &UnitRows,
    allowed: &[bool],
    tau: f64,
    control: &Control,
) -> Result<RankBracket, Error> {
    if !(tau >= 0.0 && tau.is_finite()) {
        let remedy = "give the l1 error that every row may have, 0 or more".to_string();
        return Err(Error::Setting { name: "tau", value: tau.to_string(), remedy });
    }
    let mut upper = Upper::greedy(x, allowed, tau, control)?;
    upper.drop_needless();
    upper.exchange();
    let stop = || control.cut_short().unwrap_or(Stop::Finished);
    let candidates = allowed.iter().filter(|allowed| **allowed).count();
    if x.shape().entries as f64 * candidates as f64 > BOUNDED {
        let (rows, error, certificate) = (upper.rows, upper.error, None);
        return Ok(RankBracket {
            lower: 1,
            certified: 1,
            rows,
            error,
            certificate,
            nodes: 0,
            stop: stop(),
        });
    }
    let mut lower = Lower { cover: Cover::new(x, allowed, control), proven: 0, proof: Vec::new() };
    lower.raise(&mut upper);
    let certificate = proven(&lower.cover, lower.proven, allowed, tau, &lower.proof, control);
    let certified = certificate.as_ref().map_or(1, |proof| proof.rank + 1);
    let (by_trees, nodes) = close(lower.cover, certified, &mut upper);
    Ok(RankBracket {
        lower: by_trees,
        certified,
        rows: upper.rows,
        error: upper.error,
        certificate,
        nodes,
        stop: stop(),
    })
}

/// The best choice within tau so far.
struct Upper<'a> {
    x: &'a UnitRows,
    allowed: &'a [bool],
    tau: f64,
    control: &'a Control,
    rows: Vec<usize>,
    error: f64,
}

impl<'a> Upper<'a> {
    /// The first greedy rows that do it: their number is doubled, then bisected, for errors fall with it.
    fn greedy(
        x: &'a UnitRows,
        allowed: &'a [bool],
        tau: f64,
        control: &'a Control,
    ) -> Result<Self, Error> {
        let candidates: Vec<usize> = (0..x.features()).filter(|&j| allowed[j]).collect();
        let stopped = || Error::NoAnswer(control.cut_short().unwrap_or(Stop::TimeLimit));
        let (mut too_few, mut count) = (0, 1);
        let mut order = Vec::new();
        let first = loop {
            count = count.min(candidates.len());
            if count == candidates.len() {
                order.extend(
                    candidates.iter().filter(|j| !order.contains(*j)).copied().collect::<Vec<_>>(),
                );
            } else {
                order = spa_controlled(x, None, count, allowed, control).rows;
            }
            if order.len() < count {
                return Err(stopped());
            }
            let error = largest_error(x, &order[..count], control);
            match error {
                Some(error) if error <= tau => break error,
                None if control.cut_short().is_some() => return Err(stopped()),
                error if count == candidates.len() => {
                    let enough = error.unwrap_or(f64::INFINITY);
                    return Err(Error::Infeasible { tau, bound: enough, enough, must: 0 });
                }
                _ => (too_few, count) = (count, 2 * count),
            }
        };
        let mut upper = Upper { x, allowed, tau, control, rows: order.clone(), error: first };
        upper.rows.truncate(count);
        while count - too_few > 1 {
            let middle = too_few + (count - too_few) / 2;
            if upper.offer(order[..middle].to_vec()) {
                count = middle;
            } else {
                too_few = middle;
            }
        }
        upper.rows.sort_unstable();
        Ok(upper)
    }

    /// Takes a smaller choice if it is within tau; whether it was.
    fn offer(&mut self, mut rows: Vec<usize>) -> bool {
        if rows.len() >= self.rows.len() || rows.is_empty() {
            return false;
        }
        rows.sort_unstable();
        match largest_error(self.x, &rows, self.control) {
            Some(error) if error <= self.tau => {
                (self.rows, self.error) = (rows, error);
                true
            }
            _ => false,
        }
    }

    /// Leaves out rows, one after the other, without which the others still do.
    fn drop_needless(&mut self) {
        let mut at = 0;
        while at < self.rows.len() && self.control.goes_on() {
            let mut rows = self.rows.clone();
            rows.remove(at);
            if !self.offer(rows) {
                at += 1;
            }
        }
    }

    fn question(&self, rank: usize) -> Question<'a> {
        Question::new(self.x, rank, self.allowed, self.control)
    }

    /// Exchanges rows of one fewer for as long as that brings them within tau.
    fn exchange(&mut self) {
        while self.rows.len() > 1 && self.control.goes_on() {
            let rank = self.rows.len() - 1;
            let greedy = spa_controlled(self.x, None, rank, self.allowed, self.control).rows;
            let mut starts = vec![self.rows[1..].to_vec()];
            if greedy.len() == rank {
                starts.push(greedy);
            }
            let fewer = starts.into_iter().any(|start| {
                let start = FittedChoice::new(self.x, start, Objective::Max, None, self.control);
                self.offer(refined(&self.question(rank), start).hott)
            });
            if !fewer {
                return;
            }
        }
    }
}

/// What the covering program proves.
struct Lower<'a> {
    cover: Cover<'a>,
    /// This many rows are too few.
    proven: usize,
    proof: Vec<(usize, f64)>,
}

impl Lower<'_> {
    /// Rounds at tau; the fractional answers are rounded to choices on the way.
    fn raise(&mut self, upper: &mut Upper<'_>) {
        loop {
            let rank = upper.rows.len() - 1;
            if rank == 0 || self.proven >= rank {
                return;
            }
            let mut covering = Covering::new(&self.cover, upper.tau, rank, &[]);
            let mut fewer = false;
            let verdict = covering.settle(&mut self.cover, EFFORT, |cover, d| {
                let sum: f64 = d.iter().sum();
                for count in [rank, sum.ceil() as usize] {
                    fewer |= upper.offer(rounded(cover, d, count));
                }
            });
            if let Some(proven) = covering.proven_rank(&self.cover)
                && proven > self.proven
            {
                (self.proven, self.proof) = (proven, covering.proof);
            }
            upper.control.report(&Progress {
                stage: Stage::Localise,
                task: "rank",
                done: self.cover.cuts.len(),
                total: None,
                figure: Some(("rows", upper.rows.len() as f64)),
                bound: Some((self.proven + 1) as f64),
            });
            if !fewer || verdict != Verdict::Open {
                return;
            }
        }
    }
}

/// Closes the bracket by trees: one row fewer than are known to do, as long as such a choice is found; then one
/// more than is proven too few, as long as that is proven. The lower end, and the nodes visited.
fn close<'a>(cover: Cover<'a>, mut lower: usize, upper: &mut Upper<'a>) -> (usize, usize) {
    let mut nodes = 0;
    let mut cover = Some(cover);
    let mut look = |rank: usize, upper: &mut Upper<'a>| -> Option<End> {
        let question = upper.question(rank);
        let incumbent = Incumbent::within(upper.tau);
        let mut root = Root::with(&question, cover.take()?, incumbent);
        let settings = SearchSettings { nodes: NODES, gap: 0.0 };
        let mut tree = Tree::new(&mut root, upper.tau, &settings, 0);
        tree.first_only = true;
        let end = tree.run();
        nodes += tree.nodes;
        let found = std::mem::take(&mut root.incumbent.rows);
        cover = Some(root.cover);
        if end == End::Found { upper.offer(found).then_some(end) } else { Some(end) }
    };
    while lower < upper.rows.len() && upper.control.goes_on() {
        match look(upper.rows.len() - 1, upper) {
            Some(End::Found) => {}
            Some(End::Closed) => return (upper.rows.len(), nodes),
            _ => break,
        }
    }
    while lower + 1 < upper.rows.len() && upper.control.goes_on() {
        match look(lower, upper) {
            Some(End::Closed) => lower += 1,
            _ => break,
        }
    }
    (lower, nodes)
}

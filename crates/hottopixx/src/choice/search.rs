//! The best choice of r rows, by branching on rows: an exact search that has a bound at every moment.
//!
//! Whether a choice has a largest error of at most T is decided by a tree: at each node some rows are in,
//! some are out, and the covering program of the others says whether the rows left to choose can be
//! enough ([`covering`](super::covering)). A node ends when they are proven too few; otherwise rows whose presence or
//! absence the multipliers rule out are fixed, and the row with the largest fraction is taken in, then
//! left out. Choices that come up are cleaned exactly, and a better one lowers T for the rest of the tree:
//! what was ended at a larger T stays so. T goes up from the root's bound in a few steps, each of which
//! raises what is proven, the last just below the best choice.

use super::bound::{ChoiceBound, EXPLAINED, Root, check_rank};
use super::covering::{Covering, Effort, Verdict};
use super::incumbent::{largest_error, rounded};
use crate::Error;
use crate::control::{Progress, Stage, Stop};
use crate::localise::Question;

/// The thresholds on the way from the root's bound (0) to the best choice (1).
const STEPS: [f64; 2] = [0.5, 1.0];
/// How far a node's rounds go.
const EFFORT: Effort = Effort { rounds: 12, thorough: true, least_gain: 0.03 };
/// Entries of d nearer to 0 or 1 are there.
const WHOLE: f64 = 1e-6;

/// When an exact search ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchSettings {
    /// Nodes after which it ends with what it has (default 50,000).
    pub nodes: usize,
    /// Relative difference of error and bound that counts as none (default 1e-5).
    pub gap: f64,
}

impl Default for SearchSettings {
    fn default() -> Self {
        SearchSettings { nodes: 50_000, gap: 1e-5 }
    }
}

/// What an exact search came to.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ExactChoice {
    /// The root's bound, which a certificate proves, and the best choice found.
    pub root: ChoiceBound,
    /// What the tree adds to it.
    pub tree: ChoiceSearch,
}

/// What the tree of an exact search proves.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct ChoiceSearch {
    /// Every choice has a largest error of at least this: what the tree proves, no less than the root.
    /// Its nodes are ended by weak duality with a margin for rounding, and not by the verifier.
    pub bound: f64,
    /// Whether no choice is better by more than the gap asked for.
    pub optimal: bool,
    /// Nodes visited.
    pub nodes: usize,
}

/// Looks for the choice of `question.rank` rows with the smallest largest error, from `start` (rows of X; the
/// greedy ones where there are none), until it is proven to be the best or a limit is met. Deterministic
/// for any number of threads unless `control` stops it.
///
/// # Errors
/// As [`bound`](super::bound()).
pub fn search(
    question: &Question<'_>,
    start: &[usize],
    settings: &SearchSettings,
) -> Result<ExactChoice, Error> {
    check_rank(question)?;
    let mut root = Root::new(question, start)?;
    root.bisect();
    let mut bound = root.low;
    let mut nodes = 0;
    let mut optimal = root.incumbent.error <= EXPLAINED;
    for step in STEPS {
        let goal = |error: f64| (1.0 - settings.gap) * (bound + step * (error - bound));
        let threshold = goal(root.incumbent.error);
        if optimal || threshold <= bound {
            optimal |= step == 1.0;
            continue;
        }
        let mut tree = Tree::new(&mut root, threshold, settings, nodes);
        let end = tree.run();
        nodes = tree.nodes;
        let reached = tree.covering.threshold;
        match end {
            End::Closed => bound = bound.max(reached),
            End::Found | End::Limit => break,
        }
        optimal = bound >= (1.0 - 2.0 * settings.gap) * root.incumbent.error;
    }
    let root = root.finish();
    let bound = bound.max(root.bound);
    Ok(ExactChoice { root, tree: ChoiceSearch { bound, optimal, nodes } })
}

/// How a tree ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// No choice within the threshold is left but those that were found.
    Closed,
    /// The first better choice was found, and no more is asked for.
    Found,
    /// Nodes or time ran out.
    Limit,
}

/// A tree over choices within a threshold.
pub(super) struct Tree<'t, 'a> {
    root: &'t mut Root<'a>,
    pub covering: Covering,
    gap: f64,
    most_nodes: usize,
    pub nodes: usize,
    /// Open nodes: columns that are in or out.
    open: Vec<Vec<(usize, bool)>>,
    /// Whether any choice within the threshold will do.
    pub first_only: bool,
    found: bool,
}

/// What a node came to.
enum Visited {
    Ended,
    Branched,
    Stopped,
}

impl<'t, 'a> Tree<'t, 'a> {
    pub fn new(
        root: &'t mut Root<'a>,
        threshold: f64,
        settings: &SearchSettings,
        nodes: usize,
    ) -> Self {
        let labels: Vec<usize> = root.proof.iter().map(|m| m.0).collect();
        let covering = Covering::new(&root.cover, threshold, root.question.rank, &labels);
        let (gap, most_nodes, open) = (settings.gap, settings.nodes, vec![Vec::new()]);
        Tree { root, covering, gap, most_nodes, nodes, open, first_only: false, found: false }
    }

    /// Visits nodes, the last found first, until none is open.
    pub fn run(&mut self) -> End {
        while let Some(node) = self.open.pop() {
            if self.nodes >= self.most_nodes {
                return End::Limit;
            }
            self.nodes += 1;
            if let Visited::Stopped = self.visit(node) {
                return End::Limit;
            }
            if self.found && self.first_only {
                return End::Found;
            }
            if self.nodes.is_multiple_of(50) {
                self.report();
            }
        }
        End::Closed
    }

    fn visit(&mut self, mut node: Vec<(usize, bool)>) -> Visited {
        let columns = self.root.cover.columns.len();
        let mut fixed = vec![None; columns];
        node.iter().for_each(|&(j, inside)| fixed[j] = Some(inside));
        for (j, fixed) in fixed.iter().enumerate() {
            if self.covering.fixed(j) != *fixed {
                self.covering.fix(j, *fixed);
            }
        }
        let root = &mut *self.root;
        let verdict = self.covering.settle(&mut root.cover, EFFORT, |_, _| {});
        match verdict {
            Verdict::Proven => return Visited::Ended,
            Verdict::Stopped => return Visited::Stopped,
            Verdict::Open => {}
        }
        let d = self.covering.diagonal();
        let rank = root.question.rank;
        let choice = rounded(&root.cover, &d, rank);
        let control = root.question.control;
        if root.incumbent.offer(root.question.x, choice, control) {
            self.lower();
        }
        for j in self.covering.fix_decided() {
            node.push((j, self.covering.fixed(j) == Some(true)));
        }
        self.branch(node, &d)
    }

    /// A better choice lowers the threshold: covering rows are clipped anew.
    fn lower(&mut self) {
        self.found = true;
        let threshold = (1.0 - self.gap) * self.root.incumbent.error;
        if threshold < self.covering.threshold {
            let (rank, proof) = (self.root.question.rank, &self.covering.proof);
            let labels: Vec<usize> = proof.iter().map(|m| m.0).collect();
            self.covering = Covering::new(&self.root.cover, threshold, rank, &labels);
        }
    }

    /// Opens the nodes with a row in and out, the one with it in to be visited first.
    fn branch(&mut self, node: Vec<(usize, bool)>, d: &[f64]) -> Visited {
        let rank = self.root.question.rank;
        let inside: Vec<usize> = node.iter().filter(|n| n.1).map(|n| n.0).collect();
        if inside.len() > rank {
            return Visited::Ended;
        }
        if inside.len() == rank {
            return self.judge(&inside);
        }
        let mut decided = vec![false; d.len()];
        node.iter().for_each(|n| decided[n.0] = true);
        let open = (0..d.len()).filter(|&j| !decided[j]);
        let prices = &self.covering.prices;
        // Of the rows in doubt the one most likely in; where d is whole, its rows, then the dearest.
        let key = |j: usize| (d[j] > WHOLE && d[j] < 1.0 - WHOLE, d[j], prices[j]);
        let best = open.max_by(|&a, &b| {
            let ((fa, da, pa), (fb, db, pb)) = (key(a), key(b));
            fa.cmp(&fb).then(da.total_cmp(&db)).then(pa.total_cmp(&pb)).then(b.cmp(&a))
        });
        let Some(j) = best else { return self.judge(&inside) };
        for side in [false, true] {
            let mut child = node.clone();
            child.push((j, side));
            self.open.push(child);
        }
        Visited::Branched
    }

    /// A node with a single choice left: its error decides.
    fn judge(&mut self, inside: &[usize]) -> Visited {
        let mut rows: Vec<usize> = inside.iter().map(|&j| self.root.cover.columns[j]).collect();
        rows.sort_unstable();
        let (x, control) = (self.root.question.x, self.root.question.control);
        let Some(error) = largest_error(x, &rows, control) else { return Visited::Stopped };
        if error <= self.covering.threshold && self.root.incumbent.offer(x, rows, control) {
            self.lower();
        }
        Visited::Ended
    }

    fn report(&self) {
        self.root.question.control.report(&Progress {
            stage: Stage::Localise,
            task: "nodes",
            done: self.nodes,
            total: None,
            figure: Some(("best", self.root.incumbent.error)),
            bound: Some(self.root.low),
        });
    }
}

impl ExactChoice {
    /// Why it ended.
    pub fn stop(&self) -> Stop {
        self.root.stop
    }
}

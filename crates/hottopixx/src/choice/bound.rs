//! The largest threshold that no choice of r rows stays within, as far as it can be proven.

use super::cover::Cover;
use super::covering::{Covering, Effort, Verdict};
use super::incumbent::{Incumbent, rounded};
use crate::Error;
use crate::certify::{ChoiceCertificate, Refusal, verify_choice};
use crate::control::{Control, Progress, Stage, Stop};
use crate::localise::Question;

/// The search ends when what is proven and what is known not to be provable differ by less than this
/// share of the best error.
const RESOLUTION: f64 = 0.004;
/// Thresholds that are tried at most.
const THRESHOLDS: usize = 24;
/// The first threshold, as a share of the best error.
const FIRST: f64 = 0.75;
/// Choices with errors up to this are taken for exact: nothing smaller is worth a proof.
pub(super) const EXPLAINED: f64 = 1e-6;
/// How far the rounds at a threshold go.
const EFFORT: Effort = Effort { rounds: 60, thorough: true, least_gain: 3e-3 };

/// A bound on the largest error of every choice of r rows, with weights as free as in the reported error.
///
/// It serialises without its proof and how it was found.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct ChoiceBound {
    /// Every choice of this many rows has a largest error above this (0: at least this). Verified.
    pub bound: f64,
    /// The proof; `None` where nothing above 0 is proven.
    #[serde(skip)]
    pub certificate: Option<ChoiceCertificate>,
    /// The best choice that was met on the way, as rows of X, increasing.
    #[serde(rename = "hott")]
    pub rows: Vec<usize>,
    /// Its largest error, by exact cleaning.
    pub error: f64,
    /// Thresholds that were tried.
    #[serde(skip)]
    pub thresholds: usize,
    /// Cuts found.
    #[serde(skip)]
    pub cuts: usize,
    /// Why it ended.
    #[serde(skip)]
    pub stop: Stop,
}

impl ChoiceBound {
    /// `(error - bound) / error`, 0 for errors that are rounding.
    pub fn gap(&self) -> f64 {
        if self.error <= EXPLAINED { 0.0 } else { (self.error - self.bound) / self.error }
    }
}

/// Bounds the largest error of all choices of `question.rank` rows from below, and looks for a choice near
/// the bound, from `start` (rows of X; the greedy ones where there are none).
///
/// Thresholds are tried by bisection between what is proven and the best choice; every proof is taken
/// as far as its multipliers go, and the last is verified by [`verify_choice`]. Deterministic for any
/// number of threads unless `control` stops it; the bound holds in any case.
///
/// # Errors
/// [`Error::Rank`] when there are fewer than `rank` candidates, [`Error::NoAnswer`] when it was stopped
/// before there were any rows.
pub fn bound(question: &Question<'_>, start: &[usize]) -> Result<ChoiceBound, Error> {
    check_rank(question)?;
    let mut root = Root::new(question, start)?;
    root.bisect();
    Ok(root.finish())
}

pub(super) fn check_rank(question: &Question<'_>) -> Result<(), Error> {
    let available = question.allowed.iter().filter(|allowed| **allowed).count();
    if question.rank == 0 || question.rank > available {
        let what = "rows that may be hott";
        return Err(Error::Rank { rank: question.rank, available, what });
    }
    Ok(())
}

/// The search for the bound, and what a search for the best choice goes on from.
pub(super) struct Root<'a> {
    pub question: Question<'a>,
    pub cover: Cover<'a>,
    pub incumbent: Incumbent,
    /// The largest threshold proven, and by which multipliers.
    pub low: f64,
    pub proof: Vec<(usize, f64)>,
    thresholds: usize,
}

impl<'a> Root<'a> {
    pub fn new(question: &Question<'a>, start: &[usize]) -> Result<Self, Error> {
        let incumbent = Incumbent::start(question, start)?;
        let cover = Cover::new(question.x, question.allowed, question.control);
        Ok(Root::with(question, cover, incumbent))
    }

    /// From cuts and a choice that are known.
    pub fn with(question: &Question<'a>, cover: Cover<'a>, incumbent: Incumbent) -> Self {
        let question = *question;
        Root { question, cover, incumbent, low: 0.0, proof: Vec::new(), thresholds: 0 }
    }

    /// Tries thresholds until nothing more can be proven without branching.
    pub fn bisect(&mut self) {
        if self.incumbent.error <= EXPLAINED {
            return;
        }
        let mut open = f64::INFINITY;
        let mut threshold = FIRST * self.incumbent.error;
        while self.thresholds < THRESHOLDS {
            self.thresholds += 1;
            match self.try_threshold(threshold) {
                Verdict::Proven => {}
                Verdict::Open => open = threshold,
                Verdict::Stopped => break,
            }
            self.report();
            let high = open.min(self.incumbent.error);
            if high - self.low <= RESOLUTION * self.incumbent.error {
                break;
            }
            threshold = 0.5 * (self.low + high);
        }
    }

    /// One threshold; a proof is taken as far as it goes.
    fn try_threshold(&mut self, threshold: f64) -> Verdict {
        let (rank, x) = (self.question.rank, self.question.x);
        let labels: Vec<usize> = self.proof.iter().map(|m| m.0).collect();
        let mut covering = Covering::new(&self.cover, threshold, rank, &labels);
        let incumbent = &mut self.incumbent;
        let verdict = covering.settle(&mut self.cover, EFFORT, |cover, d| {
            incumbent.offer(x, rounded(cover, d, rank), &cover.control);
        });
        if verdict == Verdict::Proven && threshold > self.low {
            let most = self.incumbent.error.max(threshold);
            self.low = self.cover.largest_threshold(&covering.proof, rank, threshold, most);
            self.proof = covering.proof;
        }
        verdict
    }

    fn report(&self) {
        self.question.control.report(&Progress {
            stage: Stage::Localise,
            task: "choices",
            done: self.thresholds,
            total: None,
            figure: Some(("best", self.incumbent.error)),
            bound: Some(self.low),
        });
    }

    pub fn finish(self) -> ChoiceBound {
        let Question { rank, allowed, control, .. } = self.question;
        let certificate = proven(&self.cover, rank, allowed, self.low, &self.proof, control);
        ChoiceBound {
            bound: certificate.as_ref().map_or(0.0, |proof| proof.threshold),
            certificate,
            rows: self.incumbent.rows,
            error: self.incumbent.error,
            thresholds: self.thresholds,
            cuts: self.cover.cuts.len(),
            stop: control.cut_short().unwrap_or(Stop::Finished),
        }
    }
}

/// The certificate of a proof that the verifier accepts, at a threshold that is lower by as little as its
/// rounding asks for; `None` where there is none.
pub(super) fn proven(
    cover: &Cover<'_>,
    rank: usize,
    allowed: &[bool],
    threshold: f64,
    proof: &[(usize, f64)],
    control: &Control,
) -> Option<ChoiceCertificate> {
    if proof.is_empty() || threshold <= 0.0 {
        return None;
    }
    let mut certificate = cover.certificate(rank, allowed, threshold, proof);
    for less in [0.0, 1e-12, 1e-9, 1e-6] {
        certificate.threshold = threshold * (1.0 - less);
        match verify_choice(cover.x, &certificate, &control.to_finish()) {
            Ok(()) => return Some(certificate),
            Err(Refusal::Covered { .. }) => {}
            Err(_) => return None,
        }
    }
    None
}

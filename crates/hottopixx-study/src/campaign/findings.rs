//! What the checks of one instance found.

use crate::clock;
use hottopixx::control::Control;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The promises that are checked, in the order of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// A fit's value is the error of its weights.
    FitValue,
    /// A fit's weights keep their bounds.
    FitWeights,
    /// A fit's lower bound is what its dual proves.
    FitBound,
    /// A fit that is called optimal is.
    FitStatus,
    /// No other solver finds better weights than an optimal fit's.
    FitReference,
    /// An instance that is in order is not refused.
    Refused,
    /// Without a limit, a program ends feasible or infeasible.
    Verdict,
    /// A program's point meets the constraints.
    Point,
    /// The objective is that of the point.
    Objective,
    /// The lower bound is what the dual proves.
    Bound,
    /// What is called optimal has the gap that was asked for.
    Gap,
    /// What is called infeasible is proven to be.
    Infeasible,
    /// No objective is below its bound.
    Crossing,
    /// The optimum is that of the reference.
    Reference,
    /// The verifier agrees with exact arithmetic.
    Verifier,
    /// The cleaned errors are those of F and W.
    Cleaned,
    /// No other solver cleans better.
    CleanedReference,
    /// alpha is not above a distance that is reached.
    Alpha,
    /// The theorem is said to hold only where it can.
    Theorem,
    /// A call takes less than a CPU second.
    Slow,
    /// Nothing panics.
    Panic,
}

impl Check {
    /// All of them.
    pub const ALL: [Check; 21] = [
        Check::FitValue,
        Check::FitWeights,
        Check::FitBound,
        Check::FitStatus,
        Check::FitReference,
        Check::Refused,
        Check::Verdict,
        Check::Point,
        Check::Objective,
        Check::Bound,
        Check::Gap,
        Check::Infeasible,
        Check::Crossing,
        Check::Reference,
        Check::Verifier,
        Check::Cleaned,
        Check::CleanedReference,
        Check::Alpha,
        Check::Theorem,
        Check::Slow,
        Check::Panic,
    ];

    /// Its name in tables and of files that are kept.
    pub fn name(self) -> &'static str {
        match self {
            Check::FitValue => "fit-value",
            Check::FitWeights => "fit-weights",
            Check::FitBound => "fit-bound",
            Check::FitStatus => "fit-status",
            Check::FitReference => "fit-reference",
            Check::Refused => "refused",
            Check::Verdict => "verdict",
            Check::Point => "point",
            Check::Objective => "objective",
            Check::Bound => "bound",
            Check::Gap => "gap",
            Check::Infeasible => "infeasible",
            Check::Crossing => "crossing",
            Check::Reference => "reference",
            Check::Verifier => "verifier",
            Check::Cleaned => "cleaned",
            Check::CleanedReference => "cleaned-reference",
            Check::Alpha => "alpha",
            Check::Theorem => "theorem",
            Check::Slow => "slow",
            Check::Panic => "panic",
        }
    }
}

/// A promise that was not kept.
#[derive(Debug, Clone)]
pub struct Mismatch {
    /// Which.
    pub check: Check,
    /// By how much, in the units of the check; NaN where there is no figure.
    pub size: f64,
    /// Where, and with which figures.
    pub text: String,
}

/// CPU seconds that one call may take: all instances are small.
const SECONDS: f64 = 1.0;

/// Seconds on the wall after which a call is told to stop, so that the campaign comes to its end.
const PATIENCE: Duration = Duration::from_secs(30);

/// What came of an instance.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// Calls of the library.
    pub calls: usize,
    /// Answers that the library itself does not call optimal: no mismatch, but none should be here.
    pub unproven: usize,
    /// Comparisons for which the reference had no answer.
    pub no_reference: usize,
    /// Bounds that are above what is proven by a rounding error.
    pub rounded_up: usize,
    /// Promises that were not kept.
    pub mismatches: Vec<Mismatch>,
    /// The call under way, for whoever waits.
    pub under_way: Arc<Mutex<String>>,
}

impl Findings {
    /// Notes a mismatch that has no size.
    pub fn add(&mut self, check: Check, text: impl Into<String>) {
        self.add_sized(check, f64::NAN, text);
    }

    /// Notes a mismatch by so much.
    pub fn add_sized(&mut self, check: Check, size: f64, text: impl Into<String>) {
        self.mismatches.push(Mismatch { check, size, text: text.into() });
    }

    /// Calls the library, on the calling thread's clock.
    pub fn call<R>(&mut self, what: &str, work: impl FnOnce(&Control) -> R) -> R {
        if let Ok(mut under_way) = self.under_way.lock() {
            what.clone_into(&mut under_way);
        }
        let control = Control::default().with_deadline(Instant::now() + PATIENCE);
        let start = clock::thread();
        let result = work(&control);
        let seconds = clock::thread() - start;
        self.calls += 1;
        if seconds > SECONDS {
            self.add_sized(Check::Slow, seconds, format!("{what}: {seconds:.2} CPU seconds"));
        }
        result
    }
}

//! What a linear program proved, in words.

use crate::summary::{six, six_down};
use crate::text::count;
use hottopixx::{Bounded, Bounds, Errors};

/// Value, bound and how they came about.
pub fn figures(bounds: &Bounds) -> String {
    let (status, bound) = (bounds.status.name(), six_down(bounds.lower_bound));
    format!("{status}: {}, at least {bound}, gap {:.1e}", six(bounds.objective), bounds.gap)
}

/// What may be chosen: so many rows, perhaps under constraints of the caller's.
pub fn chosen(rank: usize, constrained: bool) -> String {
    let within = if constrained { " within the constraints" } else { "" };
    format!("{}{within}", count(rank, "row"))
}

/// What the bound means for an answer of that rank, perhaps under constraints, with these errors over this many rows, in
/// at most 70 columns per line.
pub fn meaning(
    bounds: &Bounds,
    (rank, constrained): (usize, bool),
    rows: usize,
    error: &Errors,
) -> [String; 2] {
    let bound = six_down(bounds.lower_bound);
    let chosen = chosen(rank, constrained);
    let weighed = |what: &str, here: f64| {
        let (with, here) = (format!("with {chosen}, weights up to 1,"), six(here));
        match constrained {
            false => [format!("{with} {what} at least"), format!("{bound}; here it is {here}")],
            true => [with, format!("{what} at least {bound}; here it is {here}")],
        }
    };
    match bounds.goal {
        Bounded::Minimax => weighed("the largest error is", error.inf1),
        Bounded::Total => weighed("the errors sum to", error.mean_l1 * rows as f64),
        Bounded::Mean => [
            format!("no choice of {chosen} has a mean error below"),
            format!("{bound}; here it is {}", six(error.mean_l1)),
        ],
        Bounded::Max => [
            format!("no choice of {chosen} has a largest error below"),
            format!("{bound}; here it is {}", six(error.inf1)),
        ],
        Bounded::Cost { tau } => {
            let within = format!("every row within tau = {tau}");
            if (bounds.trace - rank as f64).abs() > 1e-6 {
                // Left open: its value is what was asked for.
                let sum = format!("at least {bound}; the diagonal sums to {}", six(bounds.trace));
                [format!("with {within} the cost p.d is"), sum]
            } else {
                let cost = format!("the cost p.d is at least {bound}");
                [format!("with {chosen} and {within}"), cost]
            }
        }
    }
}

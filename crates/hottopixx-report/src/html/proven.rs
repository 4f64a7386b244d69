//! What is proven about the answer, in words.

use crate::page::escape;
use crate::summary::six_down;
use crate::text::count;
use crate::{Summary, bounds, six};
use hottopixx::localise::lp::LpStatus;
use hottopixx::{Bounded, Bounds};
use std::fmt::Write as _;

/// What was proven and how far the answer is from it; nothing where nothing was.
pub(super) fn proven(out: &mut String, s: &Summary) {
    let Some(proven) = &s.bounds else { return };
    let name = proven.program();
    let which = if about_answer(proven) { "bound on the" } else { "linear program" };
    let _ = write!(
        out,
        "<h2>What is proven</h2>\n<p>{}</p>\n<p class=\"small\">The {which} {name} ended {}; \
         {}, {}.</p>\n",
        escape(&words(proven, s)),
        escape(&bounds::figures(proven)),
        count(proven.rounds, "round"),
        count(proven.cuts, "cut"),
    );
}

/// Whether it is about the error that is reported, whatever the weights, and not about a program.
fn about_answer(c: &Bounds) -> bool {
    matches!(c.goal, Bounded::Mean | Bounded::Max)
}

fn words(c: &Bounds, s: &Summary) -> String {
    let rows = s.features.saturating_sub(s.zero_rows);
    let chosen = bounds::chosen(s.rank, s.constraints.is_some());
    let every = format!("A linear program weighed all choices of {chosen} at once");
    let proven = match c.goal {
        Bounded::Minimax => format!(
            "{every} and proved that none of them, with weights of at most 1, can bring the largest \
             error of a row below {}. {}",
            six_down(c.lower_bound),
            distance("largest error", s.error.inf1, c)
        ),
        Bounded::Total => format!(
            "{every} and proved that with none of them, with weights of at most 1, the errors of \
             all {} can sum to less than {}. {}",
            count(rows, "row"),
            six_down(c.lower_bound),
            distance("sum of errors", s.error.mean_l1 * rows as f64, c)
        ),
        Bounded::Mean => format!(
            "It is proven that no choice of {chosen}, whatever the weights, has a mean error below {}. {}",
            six_down(c.lower_bound),
            distance("mean error", s.error.mean_l1, c)
        ),
        Bounded::Max => format!(
            "It is proven that no choice of {chosen}, whatever the weights, has a largest error below \
             {}. {}",
            six_down(c.lower_bound),
            distance("largest error", s.error.inf1, c)
        ),
        Bounded::Cost { .. } => {
            let meaning = bounds::meaning(c, (s.rank, s.constraints.is_some()), rows, &s.error);
            format!("A linear program proved: {}.", meaning.join(" "))
        }
    };
    format!("{proven} {}", ending(c))
}

/// How far the answer is from the bound.
fn distance(what: &str, here: f64, c: &Bounds) -> String {
    let (value, bound) = (six(here), c.lower_bound);
    if bound <= 1e-9 {
        return format!("Here the {what} is {value}; the bound says no more than that.");
    }
    let above = here / bound - 1.0;
    if above < 5e-4 {
        let larger = if above < -1e-6 {
            " It is below the bound because F may have weights above 1, which the program may not."
        } else {
            ""
        };
        return format!(
            "Here the {what} is {value}: within 0.1 % of the best that any choice can be.{larger}"
        );
    }
    let weights = if about_answer(c) { "" } else { "with such weights, " };
    format!(
        "Here the {what} is {value}, which is {} above that: {weights}another choice of rows could \
         lower it by {} at most.",
        per_cent(above),
        per_cent(1.0 - bound / here)
    )
}

fn per_cent(share: f64) -> String {
    match 100.0 * share {
        p if p < 10.0 => format!("{p:.1} %"),
        p if p < 1000.0 => format!("{p:.0} %"),
        _ => format!("{:.0} times", share),
    }
}

/// Whether the program was solved to its end.
fn ending(c: &Bounds) -> &'static str {
    match c.status {
        LpStatus::Optimal if about_answer(c) => "No choice is better.",
        LpStatus::Feasible if about_answer(c) => "More effort may raise the bound.",
        LpStatus::Optimal => {
            "The program was solved to its end: a longer run would hardly raise the bound."
        }
        LpStatus::Feasible => {
            "The program was stopped before its end: the bound holds, and a longer run may raise it."
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::example;

    fn shown(goal: Bounded, lower_bound: f64, status: LpStatus) -> String {
        let mut summary = example();
        summary.bounds = Some(Bounds {
            goal,
            objective: lower_bound,
            lower_bound,
            gap: 0.0,
            status,
            trace: 2.0,
            rounds: 3,
            cuts: 40,
        });
        let mut out = String::new();
        proven(&mut out, &summary);
        out
    }

    #[test]
    fn says_how_far_the_answer_is_from_the_bound() {
        let text = shown(Bounded::Minimax, 0.02, LpStatus::Optimal);
        for part in ["all choices of 2 rows", "below 0.0200000", "5.0 % above", "by 4.8 % at most"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.contains("minimax ended optimal") && text.contains("3 rounds, 40 cuts"));
        let text = shown(Bounded::Total, 0.4, LpStatus::Feasible);
        assert!(text.contains("27 % above") && text.contains("may raise it"), "{text}");
        assert!(
            shown(Bounded::Minimax, 0.021, LpStatus::Optimal).contains("within 0.1 % of the best")
        );
        assert!(shown(Bounded::Minimax, 0.022, LpStatus::Optimal).contains("weights above 1"));
        assert!(shown(Bounded::Minimax, 0.0, LpStatus::Feasible).contains("no more than that"));
        assert!(
            shown(Bounded::Cost { tau: 0.1 }, 2.0, LpStatus::Optimal)
                .contains("every row within tau = 0.1")
        );
        let text = shown(Bounded::Max, 0.02, LpStatus::Feasible);
        for part in ["whatever the weights, has a largest error below 0.0200000", "5.0 % above"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.contains("More effort") && !text.contains("program"), "{text}");
        let mut out = String::new();
        proven(&mut out, &example());
        assert!(out.is_empty());
    }
}

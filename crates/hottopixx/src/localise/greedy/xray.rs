//! XRAY (Kumar, Sindhwani, Kambadur, 2013): SPA with the cone in place of the span.
//!
//! Every row is projected onto the cone of the chosen rows. The next row is not the one with the
//! largest residual but the one farthest out in *its direction*: `argmax_j <e_i, x_j>`, with i
//! the row of largest residual `e_i` (the paper's rule "max"; rows of X have unit sums, so its
//! normalisation is done already). A maximum of a linear function over the rows is attained at an
//! extreme row, so without noise only hott rows are ever chosen.

use super::fits::{Fits, Pick};
use super::{Greedy, best};
use crate::control::Control;
use crate::localise::Question;
use crate::normalise::UnitRows;
use crate::squares::Domain;

/// XRAY: `rank` rows of X, or all allowed ones if these are fewer.
pub fn xray(x: &UnitRows, rank: usize, allowed: &[bool], control: &Control) -> Greedy {
    xray_ruled(&Question::new(x, rank, allowed, control))
}

/// As [`xray`] for a choice that obeys the rules of the question.
pub fn xray_ruled(question: &Question<'_>) -> Greedy {
    let ones = vec![1.0; question.x.features()];
    let pick: &Pick = &|fits, open, floor| {
        let everywhere = vec![true; fits.norms.len()];
        let exterior = best(&fits.norms, &everywhere, floor)?;
        // A positive product, or the row cannot reduce the residual at all.
        best(&fits.towards(exterior, open)?, open, 0.0)
    };
    Fits::new(question.x.squares(), &ones, Domain::Cone, question.control)
        .run("xray", pick, question)
}

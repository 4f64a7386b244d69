//! What every method is asked.

use crate::control::Control;
use crate::normalise::UnitRows;
use crate::rules::Rules;

/// Which `rank` of the `allowed` rows of X explain all of them?
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// X.
    pub x: &'a UnitRows,
    /// r, the number of hott rows to find.
    pub rank: usize,
    /// Whether a row of X may be hott: the candidates. All rows have to be explained.
    pub allowed: &'a [bool],
    /// The cost p, one entry per row of X; without, each method takes its usual one.
    pub cost: Option<&'a [f64]>,
    /// When to stop, and who is told of progress.
    pub control: &'a Control,
    /// What choices must obey. A method may look away from it: sets that do not obey are mended afterwards.
    pub(crate) rules: &'a Rules,
}

impl<'a> Question<'a> {
    /// Without a cost of the caller's, for choices that need not obey anything else.
    pub fn new(x: &'a UnitRows, rank: usize, allowed: &'a [bool], control: &'a Control) -> Self {
        Question { x, rank, allowed, cost: None, control, rules: Rules::free() }
    }

    /// How many rows may be hott.
    pub fn candidates(&self) -> usize {
        self.allowed.iter().filter(|allowed| **allowed).count()
    }

    /// The same with another control.
    pub fn under<'b>(&self, control: &'b Control) -> Question<'b>
    where
        'a: 'b,
    {
        Question { control, ..*self }
    }
}

//! Which error of a choice of rows is made small.

use crate::Error;
use crate::normalise::UnitRows;

/// Which cleaned error is made small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Objective {
    /// The mean over rows of the l1 error.
    #[default]
    Mean,
    /// The largest l1 error of a row: the paper's (inf,1) norm.
    Max,
}

impl Objective {
    /// Both, in the order in which they are listed to users.
    pub const ALL: [Objective; 2] = [Objective::Mean, Objective::Max];

    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Objective::Mean => "mean",
            Objective::Max => "max",
        }
    }

    /// What the error of row `i` of X counts: as much as the row weighs where the mean is made small.
    #[inline]
    pub(crate) fn counted(self, x: &UnitRows, i: usize, error: f64) -> f64 {
        match self {
            Objective::Mean => x.weight(i) * error,
            Objective::Max => error,
        }
    }

    /// What is made small, from the l1 errors of all rows of X.
    pub(crate) fn score_of(self, x: &UnitRows, errors: impl IntoIterator<Item = f64>) -> f64 {
        let errors = errors.into_iter().enumerate();
        self.score(errors.map(|(i, error)| self.counted(x, i, error)))
    }

    /// What is made small, from the l1 errors of the rows.
    pub fn score(self, errors: impl IntoIterator<Item = f64>) -> f64 {
        let (mut sum, mut max, mut count) = (0.0, 0.0f64, 0usize);
        for e in errors {
            sum += e;
            max = max.max(e);
            count += 1;
        }
        match self {
            Objective::Mean => sum / count.max(1) as f64,
            Objective::Max => max,
        }
    }
}

impl std::fmt::Display for Objective {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Objective {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        crate::error::one_of("objective", name, Objective::ALL, Objective::name)
    }
}

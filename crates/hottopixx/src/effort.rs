//! How long `auto` looks for a better answer.

use crate::Error;

/// How much work `auto` puts into its answer. The work is counted in operations, never in seconds, so
/// that the answer is the same on every machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// The greedy methods, the best of which is improved by a short search.
    Quick,
    /// All affordable methods, and a search that ends when it gains little more.
    #[default]
    Normal,
    /// More starts, more attempts to leave a local optimum, on more rows.
    Thorough,
}

impl Effort {
    /// All of them, in the order in which they are listed to users.
    pub const ALL: [Effort; 3] = [Effort::Quick, Effort::Normal, Effort::Thorough];

    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Effort::Quick => "quick",
            Effort::Normal => "normal",
            Effort::Thorough => "thorough",
        }
    }
}

impl std::fmt::Display for Effort {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Effort {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        crate::error::one_of("effort", name, Effort::ALL, Effort::name)
    }
}

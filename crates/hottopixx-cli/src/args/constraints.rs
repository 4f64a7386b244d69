//! What the choice must obey.

use clap::Args;
use std::path::PathBuf;

/// What the choice must obey.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Constraints (every method obeys them)")]
pub struct ConstraintArgs {
    /// Rows that must be chosen, by name or number, apart by commas; @FILE for one
    /// per line. They count for the rank
    #[arg(long, value_name = "ROWS")]
    pub must: Option<String>,
    /// Rows that must not be chosen, in the same way
    #[arg(long, value_name = "ROWS")]
    pub never: Option<String>,
    /// The group of rows, one line per row: its name or number, a comma or tab, the
    /// group. Other rows are in none
    #[arg(long, value_name = "FILE", requires = "quota")]
    pub groups: Option<PathBuf>,
    /// How many of each group, such as 'kinase=1..3, membrane=..2, other=4'; '*' for
    /// groups that are not named
    #[arg(long, value_name = "QUOTAS", requires = "groups")]
    pub quota: Option<String>,
    /// The price of every row, one number per line
    #[arg(long, value_name = "FILE", requires = "budget")]
    pub prices: Option<PathBuf>,
    /// What the chosen rows may cost together
    #[arg(long, value_name = "B", requires = "prices")]
    pub budget: Option<f64>,
}

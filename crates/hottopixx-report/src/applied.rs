//! What is reported of an answer on new rows.

use crate::summary::worst_rows;
use crate::text::{count, grouped, line};
use crate::{NamedHott, RowValue, RunFacts, six};
use hottopixx::control::Stop;
use hottopixx::{Applied, Cleaning, Errors};
use serde::Serialize;

/// New rows on the hott rows of an answer: what `apply --json` prints and its `summary.json` holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AppliedSummary {
    /// The rows as the user named them.
    pub input: String,
    /// The answer as the user named it.
    pub answer: String,
    /// New rows.
    pub features: usize,
    /// Their columns, and those of W.
    pub examples: usize,
    /// Number of hott rows.
    pub rank: usize,
    /// The hott rows of the answer, in the rows that it was found on.
    pub hott: Vec<NamedHott>,
    /// How rows were fitted.
    pub cleaning: Cleaning,
    /// Rows whose fit could not be proven optimal.
    pub inexact_rows: usize,
    /// Why the computation ended.
    pub stop: Stop,
    /// Errors, against rows of unit sum: as of a factorization.
    pub error: Errors,
    /// The rows explained worst, worst first.
    pub worst: Vec<RowValue>,
    /// Number of rows explained by nothing because they are zero or set aside.
    pub zero_rows: usize,
    /// What the reader should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What the run took, and what it ran with.
    #[serde(flatten)]
    pub run: RunFacts,
}

impl AppliedSummary {
    /// Everything there is to say; `names` are those of the new rows, where they are known.
    pub fn new(
        (input, answer): (String, String),
        hott: Vec<NamedHott>,
        applied: &Applied,
        names: Option<&[String]>,
        examples: usize,
        mut run: RunFacts,
    ) -> Self {
        const SHOWN: usize = 10;
        run.seconds.steps = Some(applied.seconds);
        AppliedSummary {
            input,
            answer,
            features: applied.f.rows(),
            examples,
            rank: hott.len(),
            hott,
            cleaning: applied.cleaning,
            inexact_rows: applied.inexact_rows,
            stop: applied.stop,
            error: applied.errors.clone(),
            worst: worst_rows(&applied.errors.per_row, SHOWN, names),
            zero_rows: applied.zero_rows.len(),
            notes: Vec::new(),
            run,
        }
    }

    /// Some lines for a terminal.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let (rows, columns) = (grouped(self.features), grouped(self.examples));
        line(
            &mut out,
            "input",
            &format!("{rows} rows x {columns} columns on {}", count(self.rank, "hott row")),
        );
        if self.zero_rows > 0 {
            line(
                &mut out,
                "set aside",
                &format!("{}: zero or too rare", count(self.zero_rows, "row")),
            );
        }
        let worst =
            self.worst.first().map_or_else(String::new, |row| format!(" ({})", row.label()));
        let (mean, largest) = (six(self.error.mean_l1), six(self.error.inf1));
        line(&mut out, "error", &format!("mean {mean}, largest {largest}{worst}"));
        self.notes.iter().for_each(|note| line(&mut out, "note", note));
        out
    }
}

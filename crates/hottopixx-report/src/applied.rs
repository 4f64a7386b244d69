//! What is reported of an answer on new rows.

use crate::summary::worst_rows;
use crate::text::{count, grouped, line};
use crate::{NamedHott, RowValue, RunFacts, six};
use hottopixx::control::Stop;
use hottopixx::{Applied, AppliedColumns, Cleaning, Errors};
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
    /// New documents, for an answer for co-occurrences of words: the rows are those of their words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents: Option<usize>,
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
            documents: None,
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

/// New columns on an answer: what `apply --json` prints and its `summary.json` holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AppliedColumnsSummary {
    /// The columns as the user named them.
    pub input: String,
    /// The answer as the user named it.
    pub answer: String,
    /// Rows, those of the answer.
    pub features: usize,
    /// New columns.
    pub columns: usize,
    /// Number of hott rows.
    pub rank: usize,
    /// The hott rows of the answer.
    pub hott: Vec<NamedHott>,
    /// Errors, against rows of unit sum in the new columns: as of a factorization.
    pub error: Errors,
    /// The mean over the new columns of their l1 errors, every column over its sum.
    pub mean_of_columns: f64,
    /// The columns explained worst, worst first.
    pub worst_columns: Vec<RowValue>,
    /// The rows explained worst, worst first.
    pub worst: Vec<RowValue>,
    /// Number of rows without an entry in the new columns.
    pub zero_rows: usize,
    /// Why the computation ended.
    pub stop: Stop,
    /// What the run took, and what it ran with.
    #[serde(flatten)]
    pub run: RunFacts,
}

impl AppliedColumnsSummary {
    /// Everything there is to say; `names` are those of the rows and of the new columns, where they are known.
    pub fn new(
        (input, answer): (String, String),
        hott: Vec<NamedHott>,
        applied: &AppliedColumns,
        names: [Option<&[String]>; 2],
        run: RunFacts,
    ) -> Self {
        const SHOWN: usize = 10;
        let per_column = &applied.per_column;
        AppliedColumnsSummary {
            input,
            answer,
            features: applied.errors.per_row.len(),
            columns: per_column.len(),
            rank: hott.len(),
            hott,
            error: applied.errors.clone(),
            mean_of_columns: per_column.iter().sum::<f64>() / per_column.len().max(1) as f64,
            worst_columns: worst_rows(per_column, SHOWN, names[1]),
            worst: worst_rows(&applied.errors.per_row, SHOWN, names[0]),
            zero_rows: applied.zero_rows.len(),
            stop: applied.stop,
            run,
        }
    }

    /// Some lines for a terminal.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let new = count(self.columns, "new column");
        let rows = grouped(self.features);
        let known = count(self.rank, "hott row");
        line(&mut out, "input", &format!("{new} of {rows} rows, told by {known}"));
        let worst = |rows: &[RowValue]| {
            rows.first().map_or_else(String::new, |row| format!(" ({})", row.label()))
        };
        let (mean, largest) = (six(self.error.mean_l1), six(self.error.inf1));
        line(
            &mut out,
            "rows",
            &format!("mean error {mean}, largest {largest}{}", worst(&self.worst)),
        );
        let (mean, largest) = (
            six(self.mean_of_columns),
            six(self.worst_columns.first().map_or(0.0, |column| column.value)),
        );
        let worst = worst(&self.worst_columns);
        line(&mut out, "columns", &format!("mean error {mean}, largest {largest}{worst}"));
        out
    }
}

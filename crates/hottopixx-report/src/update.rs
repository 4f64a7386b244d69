//! What became of an earlier answer, as it is reported.

use crate::named::label;
use crate::text::grouped;
use crate::{NamedRow, six};
use hottopixx::Changes;
use serde::Serialize;

/// A topic that is told by another row than before.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MovedTopic {
    /// The row that was hott.
    pub from: NamedRow,
    /// The row that is hott now.
    pub to: NamedRow,
    /// How much of the explanation of the former the latter is.
    pub share: f64,
}

/// An answer beside the earlier one that it began with.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UpdateFacts {
    /// The earlier answer as the user named it.
    pub answer: String,
    /// Documents that were added to those of the earlier answer, for co-occurrences of words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents_added: Option<usize>,
    /// The mean error of the earlier answer, on its own data.
    pub mean_l1_before: f64,
    /// Rows that were hott and are.
    pub stayed: Vec<NamedRow>,
    /// Topics that are told by another row.
    pub moved: Vec<MovedTopic>,
    /// Other rows that are hott now.
    pub came: Vec<NamedRow>,
    /// Other rows that were hott.
    pub went: Vec<NamedRow>,
}

impl UpdateFacts {
    /// What changed, in names where these are known.
    pub fn new(
        answer: String,
        changes: &Changes,
        names: Option<&[String]>,
        (documents_added, mean_l1_before): (Option<usize>, f64),
    ) -> Self {
        let named = |row: &usize| NamedRow::new(*row, names);
        UpdateFacts {
            answer,
            documents_added,
            mean_l1_before,
            stayed: changes.stayed.iter().map(named).collect(),
            moved: changes
                .moved
                .iter()
                .map(|one| MovedTopic {
                    from: named(&one.from),
                    to: named(&one.to),
                    share: one.share,
                })
                .collect(),
            came: changes.came.iter().map(named).collect(),
            went: changes.went.iter().map(named).collect(),
        }
    }

    /// In whole sentences.
    pub fn sentences(&self) -> Vec<String> {
        let added = self
            .documents_added
            .map_or_else(String::new, |added| format!(" with {} more documents", grouped(added)));
        let mut out = vec![format!(
            "{}{added}; its mean error was {}. {} of its topics stayed, {} moved, {} went, {} came.",
            self.answer,
            six(self.mean_l1_before),
            grouped(self.stayed.len()),
            grouped(self.moved.len()),
            grouped(self.went.len()),
            grouped(self.came.len())
        )];
        let name = |row: &NamedRow| label(row.row, row.name.as_deref());
        let list = |rows: &[NamedRow]| rows.iter().map(name).collect::<Vec<_>>().join(", ");
        if !self.moved.is_empty() {
            let moved = |one: &MovedTopic| format!("{} to {}", name(&one.from), name(&one.to));
            let moved: Vec<String> = self.moved.iter().map(moved).collect();
            out.push(format!("Moved: {}.", moved.join(", ")));
        }
        if !self.went.is_empty() {
            out.push(format!("Went: {}.", list(&self.went)));
        }
        if !self.came.is_empty() {
            out.push(format!("Came: {}.", list(&self.came)));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hottopixx::Moved;

    #[test]
    fn what_stayed_is_counted_and_what_did_not_is_named() {
        let changes = Changes {
            stayed: vec![0, 1],
            moved: vec![Moved { from: 2, to: 3, share: 0.75 }],
            came: vec![4],
            went: vec![5],
        };
        let names = ["a", "b", "oil", "crude", "web", "fax"].map(str::to_owned);
        let facts = UpdateFacts::new("old".into(), &changes, Some(&names), (Some(12), 0.25));
        assert_eq!(
            facts.sentences(),
            [
                "old with 12 more documents; its mean error was 0.250000. 2 of its topics stayed, 1 moved, 1 went, 1 came.",
                "Moved: oil to crude.",
                "Went: fax.",
                "Came: web.",
            ]
        );
    }
}

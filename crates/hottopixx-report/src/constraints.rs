//! What a choice had to obey, as it is reported.

use crate::text::count;
use serde::Serialize;

/// What the choice had to obey, and how it does.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ConstraintFacts {
    /// Rows that had to be chosen.
    pub must: Vec<usize>,
    /// How many rows must not be chosen.
    pub never: usize,
    /// Groups of rows.
    pub groups: Vec<QuotaFacts>,
    /// What the chosen rows cost, where they have prices.
    pub cost: Option<f64>,
    /// What they may cost.
    pub budget: Option<f64>,
}

/// A group of rows of which a number had to be chosen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuotaFacts {
    /// Its name.
    pub group: String,
    /// How many rows it has.
    pub rows: usize,
    /// At least this many.
    pub least: usize,
    /// At most this many; none where there is no limit.
    pub most: Option<usize>,
    /// How many were chosen.
    pub chosen: usize,
}

/// Groups that are named in text.
const SHOWN: usize = 4;

impl ConstraintFacts {
    /// In one line.
    pub fn text(&self) -> String {
        let mut parts = Vec::new();
        if !self.must.is_empty() {
            parts.push(format!("{} given", count(self.must.len(), "row")));
        }
        if self.never > 0 {
            parts.push(format!("{} left out", count(self.never, "row")));
        }
        for QuotaFacts { group, least, most, chosen, .. } in self.groups.iter().take(SHOWN) {
            let most = most.map_or_else(String::new, |most| most.to_string());
            parts.push(format!("{chosen} of {} ({least}..{most})", crate::table::plain(group)));
        }
        if self.groups.len() > SHOWN {
            parts.push(format!("{} more", count(self.groups.len() - SHOWN, "group")));
        }
        if let (Some(cost), Some(budget)) = (self.cost, self.budget) {
            parts.push(format!("cost {cost} of {budget}"));
        }
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_says_what_was_asked_and_what_came_of_it() {
        let quota = |group: &str, most| QuotaFacts {
            group: group.into(),
            rows: 9,
            least: 1,
            most,
            chosen: 2,
        };
        let facts = ConstraintFacts {
            must: vec![3, 7],
            never: 1,
            groups: vec![quota("a", Some(2)), quota("b", None)],
            cost: Some(7.5),
            budget: Some(8.0),
        };
        assert_eq!(
            facts.text(),
            "2 rows given, 1 row left out, 2 of a (1..2), 2 of b (1..), cost 7.5 of 8"
        );
    }
}

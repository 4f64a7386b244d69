//! What a choice of rows must obey beside its size: rows that must be in it or must not, how many of a group,
//! and what it may cost.
//!
//! [`Constraints`] is what a caller asks for, in rows of the input; [`Rules`] what every step relies on, in rows of X,
//! once it is known that some choice obeys them. Each row is in one group at most. Then the sets that obey everything
//! but the budget are the bases of a matroid: whether a set can be completed is a matter of counting, the
//! cheapest way to complete it is found by taking the cheapest row that may still be taken, one after the other,
//! and no set is cut off from another by exchanges of one row.

mod selection;

pub use selection::{Exchanges, Selection};

use crate::Error;
use crate::normalise::UnitRows;
use crate::order::smallest_first;

/// What a choice of rows must obey, in rows of the input.
///
/// ```
/// use hottopixx::{Constraints, Dense, Factor};
/// let rows = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.1, 0.9], [0.3, 0.3, 0.4]];
/// let x = Dense::from_rows(&rows)?.into();
/// let constraints = Constraints::default().must([3]).group("first two", [0, 1], 0, 1);
/// let answer = Factor::new(2).constraints(constraints).run(&x)?;
/// assert!(answer.hott.iter().any(|hott| hott.row == 3));
/// # Ok::<(), hottopixx::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Constraints {
    must: Vec<usize>,
    never: Vec<usize>,
    groups: Vec<Group>,
    prices: Option<(Vec<f64>, f64)>,
}

/// Some rows, and how many of them.
#[derive(Debug, Clone, PartialEq)]
struct Group {
    name: String,
    rows: Vec<usize>,
    least: usize,
    most: usize,
}

impl Constraints {
    /// These rows must be chosen too; they count for the rank.
    pub fn must(mut self, rows: impl IntoIterator<Item = usize>) -> Self {
        self.must.extend(rows);
        self
    }

    /// These rows must not be chosen.
    pub fn never(mut self, rows: impl IntoIterator<Item = usize>) -> Self {
        self.never.extend(rows);
        self
    }

    /// At least and at most this many of these rows are chosen. A row is in one group at most.
    pub fn group(
        mut self,
        name: impl Into<String>,
        rows: impl IntoIterator<Item = usize>,
        least: usize,
        most: usize,
    ) -> Self {
        let (name, rows) = (name.into(), rows.into_iter().collect());
        self.groups.push(Group { name, rows, least, most });
        self
    }

    /// The prices of the chosen rows, one per row of the input, sum to no more than the budget.
    pub fn budget(mut self, prices: Vec<f64>, budget: f64) -> Self {
        self.prices = Some((prices, budget));
        self
    }

    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        *self == Constraints::default()
    }

    /// Whether a row of the input must be chosen.
    pub(crate) fn asks_for(&self, row: usize) -> bool {
        self.must.contains(&row)
    }

    /// The rows that must not be chosen alone: what holds for every part of a choice.
    pub(crate) fn of_parts(&self) -> Self {
        Constraints { never: self.never.clone(), ..Constraints::default() }
    }
}

/// In no group.
const NONE: u32 = u32::MAX;

/// Constraints in rows of X that some choice of the rank obeys. By default there are none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rules {
    /// Rows that must be chosen, increasing.
    must: Vec<usize>,
    /// By row, its group; empty where there are no groups.
    group: Vec<u32>,
    /// Name, least, most.
    groups: Vec<(String, usize, usize)>,
    /// By row; empty where there is no budget.
    prices: Vec<f64>,
    budget: f64,
    /// Rows that may be chosen, the cheapest first.
    by_price: Vec<usize>,
}

/// No rules.
static FREE: Rules = Rules {
    must: Vec::new(),
    group: Vec::new(),
    groups: Vec::new(),
    prices: Vec::new(),
    budget: 0.0,
    by_price: Vec::new(),
};

/// What the sum of prices may exceed the budget by: rounding.
const ROUNDING: f64 = 1e-12;

impl Rules {
    /// What is asked for, checked against X, the rows that may be hott (of which those that must not are taken out)
    /// and the rank.
    ///
    /// # Errors
    /// [`Error::Ruled`] for a row and [`Error::Constraint`] for a group or the budget, each with what cannot be met.
    pub fn new(
        asked: &Constraints,
        x: &UnitRows,
        allowed: &mut [bool],
        rank: usize,
    ) -> Result<Self, Error> {
        let refuse =
            |row: usize, reason: &str| Err(Error::Ruled { row, reason: reason.to_string() });
        let last = x.input_rows() - 1;
        let unit = |row: usize| match row > last {
            true => {
                let reason = format!("is named by a constraint, but the last row is {last}");
                Err(Error::Ruled { row, reason })
            }
            false => Ok(x.unit_row(row)),
        };
        let candidates = allowed.to_vec();
        for &row in &asked.never {
            unit(row)?.into_iter().for_each(|i| allowed[i] = false);
        }
        let mut must = Vec::new();
        for &row in &asked.must {
            match unit(row)? {
                None => return refuse(row, "must be chosen, but all its entries are zero"),
                Some(i) if !candidates[i] => {
                    return refuse(
                        row,
                        "must be chosen, but is not among the rows that may be hott",
                    );
                }
                Some(i) if !allowed[i] => return refuse(row, "must be chosen and must not"),
                Some(i) => must.push(i),
            }
        }
        must.sort_unstable();
        must.dedup();
        let mut rules = Rules { must, ..Rules::default() };
        rules.take_groups(asked, x, &unit)?;
        rules.take_prices(asked, x, allowed)?;
        rules.check(rank, allowed)?;
        Ok(rules)
    }

    fn take_groups(
        &mut self,
        asked: &Constraints,
        x: &UnitRows,
        unit: &impl Fn(usize) -> Result<Option<usize>, Error>,
    ) -> Result<(), Error> {
        if asked.groups.is_empty() {
            return Ok(());
        }
        self.group = vec![NONE; x.features()];
        for (g, Group { name, rows, least, most }) in asked.groups.iter().enumerate() {
            for &row in rows {
                let Some(i) = unit(row)? else { continue };
                let known = self.group[i];
                if known != NONE && known != g as u32 {
                    let other = &self.groups[known as usize].0;
                    let reason = format!(
                        "is in the groups {other} and {name}: put each row in one group at most"
                    );
                    return Err(Error::Ruled { row, reason });
                }
                self.group[i] = g as u32;
            }
            self.groups.push((name.clone(), *least, *most));
        }
        Ok(())
    }

    fn take_prices(
        &mut self,
        asked: &Constraints,
        x: &UnitRows,
        allowed: &[bool],
    ) -> Result<(), Error> {
        let Some((prices, budget)) = &asked.prices else { return Ok(()) };
        let (found, expected) = (prices.len(), x.input_rows());
        if found != expected {
            let (name, what) = ("prices", "rows of the matrix");
            return Err(Error::Length { name, found, expected, what });
        }
        let usable = |price: &f64| price.is_finite() && *price >= 0.0;
        if let Some(row) = prices.iter().position(|price| !usable(price)) {
            let reason =
                format!("has the price {}: give numbers that are not negative", prices[row]);
            return Err(Error::Ruled { row, reason });
        }
        if !usable(budget) {
            let remedy = "give a number that is not negative".to_string();
            return Err(Error::Setting { name: "budget", value: budget.to_string(), remedy });
        }
        self.prices = (0..x.features()).map(|i| prices[x.input_row(i)]).collect();
        self.budget = *budget;
        self.by_price = (0..x.features()).filter(|&i| allowed[i]).collect();
        smallest_first(&mut self.by_price, |i| self.prices[i]);
        Ok(())
    }

    /// Whether some choice of `rank` rows obeys everything.
    fn check(&self, rank: usize, allowed: &[bool]) -> Result<(), Error> {
        let refuse = |what: String| Err(Error::Constraint { what });
        if self.must.len() > rank {
            let count = self.must.len();
            return refuse(format!(
                "{count} rows must be chosen, but the rank is {rank}: ask for more rows"
            ));
        }
        let mut set = Selection::new(self, rank, allowed);
        for (g, (name, least, most)) in self.groups.iter().enumerate() {
            if least > most {
                return refuse(format!("group {name}: at least {least} and at most {most} rows"));
            }
            if set.available[g] < *least {
                let found = set.available[g];
                return refuse(format!(
                    "group {name}: at least {least} rows, but only {found} of it may be chosen"
                ));
            }
            let inside = self.must.iter().filter(|i| self.group[**i] == g as u32).count();
            if inside > *most {
                return refuse(format!(
                    "group {name}: at most {most} rows, but {inside} of it must be chosen"
                ));
            }
        }
        self.must.iter().for_each(|&i| set.take(i));
        let (needed, room) = set.needed_and_room();
        if needed > set.left() {
            let all = needed + self.must.len();
            return refuse(format!(
                "what must be chosen and the least numbers of the groups are {all} rows together, but the rank is {rank}"
            ));
        }
        if room < set.left() {
            let all = room + self.must.len();
            return refuse(format!(
                "the groups leave at most {all} rows to choose, but the rank is {rank}"
            ));
        }
        let cheapest = set.spent + set.cheapest(None);
        if !self.prices.is_empty() && !self.is_within(cheapest) {
            return refuse(format!(
                "the cheapest choice of {rank} rows costs {cheapest}, but the budget is {}",
                self.budget
            ));
        }
        Ok(())
    }

    fn is_within(&self, cost: f64) -> bool {
        cost <= self.budget * (1.0 + ROUNDING)
    }

    /// None.
    pub fn free() -> &'static Self {
        &FREE
    }

    /// Whether every choice obeys them.
    pub fn is_free(&self) -> bool {
        self.must.is_empty() && self.groups.is_empty() && self.prices.is_empty()
    }

    /// Rows that must be chosen, increasing.
    pub fn must(&self) -> &[usize] {
        &self.must
    }

    /// Whether some group must have a row.
    pub fn has_least(&self) -> bool {
        self.groups.iter().any(|(_, least, _)| *least > 0)
    }

    /// Whether some group must not have all of this many rows.
    pub fn has_most(&self, rank: usize) -> bool {
        self.groups.iter().any(|(_, _, most)| *most < rank)
    }

    /// Whether rows have prices.
    pub fn has_budget(&self) -> bool {
        !self.prices.is_empty()
    }

    /// Whether a choice of as many different rows as are asked for, all of which may be hott, obeys them.
    pub fn obeyed_by(&self, rows: &[usize]) -> bool {
        let counts = self.counts(rows);
        let groups = self.groups.iter().zip(&counts);
        self.must.iter().all(|i| rows.contains(i))
            && groups.into_iter().all(|((_, least, most), count)| (least..=most).contains(&count))
            && (self.prices.is_empty() || self.is_within(self.cost(rows)))
    }

    fn counts(&self, rows: &[usize]) -> Vec<usize> {
        let mut counts = vec![0; self.groups.len()];
        for group in rows.iter().filter_map(|&i| self.group_of(i)) {
            counts[group] += 1;
        }
        counts
    }

    fn cost(&self, rows: &[usize]) -> f64 {
        rows.iter().map(|&i| self.price(i)).sum()
    }

    /// The group of a row, by number, where it has one.
    pub fn group_of(&self, i: usize) -> Option<usize> {
        self.group.get(i).filter(|g| **g != NONE).map(|g| *g as usize)
    }

    /// How many rows of a group may be chosen.
    pub fn most_of(&self, group: usize) -> usize {
        self.groups[group].2
    }

    fn price(&self, i: usize) -> f64 {
        self.prices.get(i).copied().unwrap_or(0.0)
    }

    /// A choice of `rank` rows that obeys them: those that must be in it, then the preferred ones in their order,
    /// then the others by index, each where it can still be completed.
    pub fn choose(&self, preferred: &[usize], rank: usize, allowed: &[bool]) -> Vec<usize> {
        let mut set = Selection::new(self, rank, allowed);
        self.must.iter().for_each(|&i| set.take(i));
        let mut rows = self.must.clone();
        for i in preferred.iter().copied().chain(0..allowed.len()) {
            if rows.len() < rank && set.admits(i) {
                set.take(i);
                rows.push(i);
            }
        }
        rows
    }

    /// What exchanges of one row a choice that obeys them allows.
    pub fn exchanges(&self, rows: &[usize]) -> Exchanges<'_> {
        Exchanges { rules: self, counts: self.counts(rows), spent: self.cost(rows) }
    }
}

#[cfg(test)]
mod tests;

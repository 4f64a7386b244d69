//! What a choice of rows must obey beside its size: rows that must be in it or must not, how many of a group,
//! and what it may cost.
//!
//! [`Constraints`] is what a caller asks for, in rows of the input; [`Rules`] what every step relies on, in rows of X,
//! once it is known that some choice obeys them. Each row is in one group at most. Then the sets that obey everything
//! but the budget are the bases of a matroid: whether a set can be completed is a matter of counting, the
//! cheapest way to complete it is found by taking the cheapest row that may still be taken, one after the other,
//! and no set is cut off from another by exchanges of one row.

use crate::Error;
use crate::normalise::UnitRows;

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
        self.by_price.sort_by(|&a, &b| self.prices[a].total_cmp(&self.prices[b]).then(a.cmp(&b)));
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

/// Exchanges of one row of a choice.
#[derive(Debug, Clone)]
pub struct Exchanges<'a> {
    rules: &'a Rules,
    counts: Vec<usize>,
    spent: f64,
}

impl Exchanges<'_> {
    /// Whether this row of the choice may leave for any other at all.
    pub fn may_leave(&self, leave: usize) -> bool {
        self.rules.must.binary_search(&leave).is_err()
    }

    /// Whether the choice obeys the rules with `enter` in the place of `leave`.
    pub fn allow(&self, leave: usize, enter: usize) -> bool {
        let rules = self.rules;
        if rules.is_free() {
            return true;
        }
        let (from, to) = (rules.group_of(leave), rules.group_of(enter));
        let counts = from == to
            || (from.is_none_or(|g| self.counts[g] > rules.groups[g].1)
                && to.is_none_or(|g| self.counts[g] < rules.groups[g].2));
        let cost = self.spent - rules.price(leave) + rules.price(enter);
        self.may_leave(leave) && counts && (rules.prices.is_empty() || rules.is_within(cost))
    }
}

/// A choice that grows: which rows may still be taken, so that it can be completed?
#[derive(Debug, Clone)]
pub struct Selection<'a> {
    rules: &'a Rules,
    rank: usize,
    /// Rows that may be hott and are not taken.
    open: Vec<bool>,
    taken: usize,
    /// By group: rows taken, and rows that are open; the latter at the end for rows of no group.
    counts: Vec<usize>,
    available: Vec<usize>,
    spent: f64,
}

impl<'a> Selection<'a> {
    /// Nothing taken yet.
    pub fn new(rules: &'a Rules, rank: usize, allowed: &[bool]) -> Self {
        let groups = rules.groups.len();
        let mut available = vec![0; groups + 1];
        for i in (0..allowed.len()).filter(|&i| allowed[i]) {
            available[rules.group_of(i).unwrap_or(groups)] += 1;
        }
        let (open, counts) = (allowed.to_vec(), vec![0; groups]);
        Selection { rules, rank, open, taken: 0, counts, available, spent: 0.0 }
    }

    /// Takes a row, admitted or not.
    pub fn take(&mut self, i: usize) {
        if !std::mem::replace(&mut self.open[i], false) {
            return;
        }
        self.taken += 1;
        self.spent += self.rules.price(i);
        let group = self.rules.group_of(i);
        self.available[group.unwrap_or(self.counts.len())] -= 1;
        group.into_iter().for_each(|g| self.counts[g] += 1);
    }

    /// Whether the row may be taken, and the rest still be found. Once it may not, it never may again.
    /// O(groups), and O(f) where there is a budget.
    pub fn admits(&self, i: usize) -> bool {
        if self.taken >= self.rank || !self.open[i] {
            return false;
        }
        if self.rules.is_free() {
            return true;
        }
        let group = self.rules.group_of(i);
        if group.is_some_and(|g| self.counts[g] >= self.rules.groups[g].2) {
            return false;
        }
        let (mut needed, mut room) = self.needed_and_room();
        // What the row itself takes of both.
        needed -= usize::from(group.is_some_and(|g| self.counts[g] < self.rules.groups[g].1));
        room -= 1;
        let left = self.left() - 1;
        let counted = needed <= left && left <= room;
        counted && (self.rules.prices.is_empty() || self.rules.is_within(self.cost_with(i)))
    }

    /// Rows that are still to be taken.
    fn left(&self) -> usize {
        self.rank - self.taken
    }

    /// Rows that groups are still short of, and rows that can be taken at all.
    fn needed_and_room(&self) -> (usize, usize) {
        let (mut needed, mut room) = (0, self.available[self.counts.len()]);
        for (g, (_, least, most)) in self.rules.groups.iter().enumerate() {
            needed += least.saturating_sub(self.counts[g]);
            room += self.available[g].min(most.saturating_sub(self.counts[g]));
        }
        (needed, room)
    }

    fn cost_with(&self, i: usize) -> f64 {
        self.spent + self.rules.price(i) + self.cheapest(Some(i))
    }

    /// What the rows cost at least that are still to be taken after `with`: in every group as many of the
    /// cheapest as it is short of, then the cheapest of all that may be taken.
    fn cheapest(&self, with: Option<usize>) -> f64 {
        let rules = self.rules;
        let mut counts = self.counts.clone();
        let mut left = self.left() - usize::from(with.is_some());
        with.and_then(|i| rules.group_of(i)).into_iter().for_each(|g| counts[g] += 1);
        let open = || rules.by_price.iter().copied().filter(|&j| self.open[j] && Some(j) != with);
        let mut cost = 0.0;
        let mut passed = vec![0; counts.len()];
        for j in open() {
            if let Some(g) = rules.group_of(j)
                && counts[g] < rules.groups[g].1
            {
                (counts[g], passed[g], left) = (counts[g] + 1, passed[g] + 1, left - 1);
                cost += rules.price(j);
            }
        }
        for j in open() {
            if left == 0 {
                break;
            }
            match rules.group_of(j) {
                Some(g) if passed[g] > 0 => passed[g] -= 1,
                Some(g) if counts[g] >= rules.groups[g].2 => {}
                group => {
                    group.into_iter().for_each(|g| counts[g] += 1);
                    left -= 1;
                    cost += rules.price(j);
                }
            }
        }
        cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::localise::instances::unit_rows;

    fn rules(asked: &Constraints, rows: usize, rank: usize) -> Result<(Rules, Vec<bool>), Error> {
        let x = unit_rows(&(0..rows).map(|i| vec![1.0, 1.0 + i as f64]).collect::<Vec<_>>());
        let mut allowed = vec![true; rows];
        Rules::new(asked, &x, &mut allowed, rank).map(|rules| (rules, allowed))
    }

    fn subsets(rows: usize, rank: usize) -> Vec<Vec<usize>> {
        let all = (0..1usize << rows).filter(|set| set.count_ones() as usize == rank);
        all.map(|set| (0..rows).filter(|i| set >> i & 1 == 1).collect()).collect()
    }

    /// Of random constraints on seven rows: what is refused no set obeys, what is not refused some set does,
    /// whoever is admitted can be completed and whoever is not cannot, and exchanges are judged as whole sets are.
    #[test]
    fn rules_say_what_looking_at_all_sets_says() {
        let mut state = 9u64;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        let (mut refused, mut met) = (0, 0);
        for _ in 0..400 {
            let (rows, rank) = (7, 1 + next(4));
            let mut asked = Constraints::default();
            let split = next(rows);
            if next(2) == 0 {
                asked = asked.must((0..next(3)).map(|_| next(rows)).collect::<Vec<_>>());
            }
            if next(2) == 0 {
                asked = asked.never([next(rows)]);
            }
            if next(3) > 0 {
                asked = asked.group("a", 0..split, next(3), 1 + next(3));
            }
            if next(3) > 0 {
                asked = asked.group("b", split..rows - 1, next(2), next(4));
            }
            if next(2) == 0 {
                let prices = (0..rows).map(|_| next(5) as f64).collect();
                asked = asked.budget(prices, next(12) as f64);
            }
            let obeys = |set: &Vec<usize>| {
                let within = |g: &Group| {
                    let count = set.iter().filter(|i| g.rows.contains(i)).count();
                    (g.least..=g.most).contains(&count)
                };
                asked.must.iter().all(|i| set.contains(i))
                    && !asked.never.iter().any(|i| set.contains(i))
                    && asked.groups.iter().all(within)
                    && asked.prices.as_ref().is_none_or(|(prices, budget)| {
                        set.iter().map(|&i| prices[i]).sum::<f64>() <= *budget
                    })
            };
            let all = subsets(rows, rank);
            let good: Vec<&Vec<usize>> = all.iter().filter(|set| obeys(set)).collect();
            let Ok((rules, allowed)) = rules(&asked, rows, rank) else {
                assert!(good.is_empty(), "{asked:?} {rank}: {good:?}");
                refused += 1;
                continue;
            };
            assert!(!good.is_empty(), "{asked:?} {rank}");
            met += 1;
            let open = |set: &[usize]| set.iter().all(|&i| allowed[i]);
            for set in all.iter().filter(|set| open(set)) {
                assert_eq!(rules.obeyed_by(set), obeys(set), "{asked:?} {set:?}");
            }
            let chosen = rules.choose(&[5, 2, 6], rank, &allowed);
            assert!(chosen.len() == rank && rules.obeyed_by(&chosen) && open(&chosen), "{asked:?}");
            let mut selection = Selection::new(&rules, rank, &allowed);
            let mut taken: Vec<usize> = rules.must().to_vec();
            taken.iter().for_each(|&i| selection.take(i));
            for i in 0..rows {
                let with =
                    |set: &&&Vec<usize>| set.contains(&i) && taken.iter().all(|t| set.contains(t));
                let possible = !taken.contains(&i) && good.iter().any(|set| with(&set));
                assert_eq!(selection.admits(i), possible, "{asked:?} {rank} {taken:?} {i}");
                if possible && next(2) == 0 {
                    selection.take(i);
                    taken.push(i);
                }
            }
            let set = good[0];
            let exchanges = rules.exchanges(set);
            for (at, enter) in (0..rank).flat_map(|at| (0..rows).map(move |j| (at, j))) {
                if set.contains(&enter) || !allowed[enter] {
                    continue;
                }
                let mut other = set.clone();
                other[at] = enter;
                assert_eq!(
                    exchanges.allow(set[at], enter),
                    obeys(&other),
                    "{asked:?} {set:?} {enter}"
                );
            }
        }
        assert!(refused > 40 && met > 100, "{refused} {met}");
    }

    #[test]
    fn what_cannot_be_met_is_named() {
        let said = |asked: Constraints| rules(&asked, 5, 2).unwrap_err().to_string();
        let none = Constraints::default;
        for (asked, expected) in [
            (none().must([7]), "row 7 is named by a constraint, but the last row is 4"),
            (none().must([1]).never([1]), "row 1 must be chosen and must not"),
            (none().must([0, 1, 2]), "3 rows must be chosen, but the rank is 2"),
            (
                none().group("a", [0, 1], 0, 1).group("b", [1], 0, 1),
                "row 1 is in the groups a and b",
            ),
            (none().group("a", [0, 1], 3, 1), "group a: at least 3 and at most 1 rows"),
            (none().group("a", [0, 1], 2, 2).never([0]), "group a: at least 2 rows, but only 1"),
            (none().group("a", 0..5, 0, 1), "the groups leave at most 1 rows to choose"),
            (none().group("a", [0, 1], 0, 1).must([0, 1]), "group a: at most 1 rows, but 2 of it"),
            (none().group("a", [0, 1], 2, 2).must([3]), "are 3 rows together, but the rank is 2"),
            (none().budget(vec![3.0; 5], 5.0), "the cheapest choice of 2 rows costs 6"),
            (none().budget(vec![3.0; 4], 5.0), "prices has 4 entries"),
            (none().budget(vec![-3.0; 5], 5.0), "row 0 has the price -3"),
        ] {
            let sentence = said(asked);
            assert!(sentence.contains(expected), "{sentence}");
        }
    }
}

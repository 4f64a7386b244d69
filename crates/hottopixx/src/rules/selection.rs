//! Choices that change by one row: exchanges, and a choice that grows.

use super::Rules;

/// Exchanges of one row of a choice.
#[derive(Debug, Clone)]
pub struct Exchanges<'a> {
    pub(super) rules: &'a Rules,
    pub(super) counts: Vec<usize>,
    pub(super) spent: f64,
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
    pub(super) available: Vec<usize>,
    pub(super) spent: f64,
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
    pub(super) fn left(&self) -> usize {
        self.rank - self.taken
    }

    /// Rows that groups are still short of, and rows that can be taken at all.
    pub(super) fn needed_and_room(&self) -> (usize, usize) {
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
    pub(super) fn cheapest(&self, with: Option<usize>) -> f64 {
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

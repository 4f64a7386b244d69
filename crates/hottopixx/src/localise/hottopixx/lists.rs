//! X as lists of (number, value) by rows and by documents, in 8 bytes per entry.
//!
//! Values are single precision: they only steer the iteration, whose steps are far coarser.
//! Documents are renumbered by a random permutation that the seed fixes. Going through a row in
//! the order of its list is then a random order of its documents, and the same for all rows,
//! while memory is read from front to back.

use super::stream;
use crate::control::Control;
use crate::kernels::parallel::*;
use crate::kernels::prefetch;
use crate::normalise::UnitRows;
use rand::seq::SliceRandom;

/// The stream of the permutation: epochs have small numbers, the cost the largest.
const PERMUTATION: u64 = u64::MAX - 1;

/// How many visits in advance lists are asked for, entries of a cache line, and entries of a list
/// at most: the processor itself sees to the rest of a long one.
const AHEAD: usize = 8;
const LINE: usize = 8;
const LONGEST: usize = 4 * LINE;

/// Lists of (number, value), one after the other.
pub(super) struct Lists {
    starts: Vec<usize>,
    entries: Vec<(u32, f32)>,
}

impl Lists {
    /// The rows of X, documents renumbered and increasing; `None` when stopped.
    pub(super) fn rows(x: &UnitRows, seed: u64, control: &Control) -> Option<Self> {
        let mut number: Vec<u32> = (0..x.examples() as u32).collect();
        number.shuffle(&mut stream(seed, PERMUTATION));
        let mut starts = vec![0usize; x.features() + 1];
        let mut watch = control.watch();
        for i in 0..x.features() {
            if watch.spend(x.row(i).stored()).is_some() {
                return None;
            }
            starts[i + 1] = starts[i] + x.row(i).nonzeros().count();
        }
        let mut lists = Lists { entries: vec![(0, 0.0); starts[x.features()]], starts };
        let all = lists.split().into_par_iter().enumerate().all(|(i, list)| {
            if !control.goes_on() {
                return false;
            }
            for (entry, (k, value)) in list.iter_mut().zip(x.row(i).nonzeros()) {
                *entry = (number[k], value as f32);
            }
            list.sort_unstable_by_key(|entry| entry.0);
            true
        });
        all.then_some(lists)
    }

    /// The given lists, turned: list k holds (position in `chosen`, value), positions increasing,
    /// for every entry with number k, of `numbers` in all. Counting sort; `None` when stopped.
    pub(super) fn turned(
        &self,
        chosen: &[usize],
        numbers: usize,
        control: &Control,
    ) -> Option<Lists> {
        let mut starts = vec![0usize; numbers + 1];
        let mut watch = control.watch();
        for &i in chosen {
            if watch.spend(self.list(i).len()).is_some() {
                return None;
            }
            self.list(i).iter().for_each(|entry| starts[entry.0 as usize + 1] += 1);
        }
        for k in 0..numbers {
            starts[k + 1] += starts[k];
        }
        let mut next = starts.clone();
        let mut entries = vec![(0u32, 0f32); starts[numbers]];
        for (position, &i) in chosen.iter().enumerate() {
            // An entry goes anywhere in memory, which takes as long as ten that are read in order.
            if watch.spend(10 * self.list(i).len()).is_some() {
                return None;
            }
            for &(k, value) in self.list(i) {
                let at = &mut next[k as usize];
                entries[*at] = (position as u32, value);
                *at += 1;
            }
        }
        Some(Lists { starts, entries })
    }

    /// Number of lists.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// List `i`.
    pub(super) fn list(&self, i: usize) -> &[(u32, f32)] {
        &self.entries[self.starts[i]..self.starts[i + 1]]
    }

    /// Calls `visit` for each entry of `order` with the list that it numbers. Lists further on are
    /// asked for in advance: they lie anywhere in memory, and waiting for them would take most of
    /// the time.
    pub(super) fn visit<'a>(
        &self,
        order: impl Iterator<Item = &'a (u32, f32)> + Clone,
        mut visit: impl FnMut(f32, &[(u32, f32)]),
    ) {
        let mut later = order.clone().skip(AHEAD);
        let mut much_later = order.clone().skip(2 * AHEAD);
        for &(k, value) in order {
            if let Some(entry) = much_later.next() {
                prefetch(&self.starts, entry.0 as usize);
            }
            if let Some(entry) = later.next() {
                let k = entry.0 as usize;
                let span = self.starts[k]..self.starts[k + 1].min(self.starts[k] + LONGEST);
                span.step_by(LINE).for_each(|at| prefetch(&self.entries, at));
            }
            visit(value, self.list(k as usize));
        }
    }

    /// All lists, to change.
    fn split(&mut self) -> Vec<&mut [(u32, f32)]> {
        let mut rest = &mut self.entries[..];
        let mut lists = Vec::with_capacity(self.starts.len() - 1);
        for pair in self.starts.windows(2) {
            let (list, after) = rest.split_at_mut(pair[1] - pair[0]);
            lists.push(list);
            rest = after;
        }
        lists
    }

    /// The ends of at most `blocks` runs of lists with about as many entries each, where every
    /// list counts as `extra` more. Depends on nothing else, such as the number of threads.
    pub(super) fn blocks(&self, blocks: usize, extra: usize) -> Vec<usize> {
        let cost = |i: usize| self.starts[i] + i * extra;
        let total = cost(self.len()).max(1);
        let (mut ends, mut done) = (Vec::new(), 0);
        for i in 1..=self.len() {
            let share = cost(i) * blocks / total;
            if share > done {
                ends.push(i);
                done = share;
            }
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Sparse;

    fn lists() -> (UnitRows, Lists) {
        let triplets: Vec<(usize, usize, f64)> = (0..9)
            .flat_map(|i| (0..30).map(move |k| (i, k, ((7 * i + 3 * k) % 11) as f64)))
            .filter(|t| t.2 > 3.0 && (t.0 < 7 || t.1 % 9 == 0))
            .collect();
        let x = UnitRows::new(&Sparse::from_triplets(9, 30, &triplets).unwrap().into()).unwrap();
        let lists = Lists::rows(&x, 5, &Control::default()).unwrap();
        (x, lists)
    }

    fn turned(lists: &Lists, chosen: &[usize], numbers: usize) -> Lists {
        lists.turned(chosen, numbers, &Control::default()).unwrap()
    }

    #[test]
    fn renumbering_keeps_the_rows_and_turning_twice_gives_them_back() {
        let (x, lists) = lists();
        for i in 0..x.features() {
            assert!(lists.list(i).is_sorted_by(|a, b| a.0 < b.0));
            let mut values: Vec<f32> = lists.list(i).iter().map(|e| e.1).collect();
            let mut expected: Vec<f32> = x.row(i).nonzeros().map(|e| e.1 as f32).collect();
            values.sort_by(f32::total_cmp);
            expected.sort_by(f32::total_cmp);
            assert_eq!(values, expected);
        }
        let all: Vec<usize> = (0..x.features()).collect();
        let turned = turned(&lists, &all, 30);
        let again = self::turned(&turned, &(0..30).collect::<Vec<_>>(), x.features());
        all.iter().for_each(|&i| assert_eq!(again.list(i), lists.list(i)));
        let some = self::turned(&lists, &[2, 5], 30);
        assert_eq!(some.entries.len(), lists.list(2).len() + lists.list(5).len());
    }

    #[test]
    fn every_list_is_visited_once_in_order_and_is_in_one_block() {
        let (x, lists) = lists();
        let all: Vec<usize> = (0..x.features()).collect();
        let turned = turned(&lists, &all, 30);
        let mut seen = Vec::new();
        turned.visit(lists.list(0).iter().rev(), |value, list| seen.push((value, list.to_vec())));
        let expected = lists.list(0).iter().rev();
        assert!(seen.iter().map(|s| s.0).eq(expected.clone().map(|e| e.1)));
        assert!(seen.iter().map(|s| &s.1[..]).eq(expected.map(|e| turned.list(e.0 as usize))));
        for blocks in [1, 2, 4, 100] {
            let ends = lists.blocks(blocks, 1);
            assert!(ends.len() <= blocks && ends.is_sorted_by(|a, b| a < b));
            assert_eq!(ends.last(), Some(&x.features()));
        }
    }
}

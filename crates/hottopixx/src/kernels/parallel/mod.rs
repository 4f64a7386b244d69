//! Loops that several threads share, under the names that rayon gives them.
//!
//! rayon compiles a loop anew for every closure: how it is split, joined, stolen and unwound, a dozen functions each time,
//! which were a third of this crate. Here a loop is a function of an index, and one [`shared`] among threads, compiled once,
//! calls it through a pointer for a run of indices at a time. Runs are cut by rayon's own rule. What is collected is in the
//! order of the indices; what a closure returns must not depend on the thread or the run that it is in, as with rayon.

#![allow(unsafe_code)]

mod adapters;
mod collected;
mod sources;

use adapters::{Enumerate, FlatMapped, Lengths, Map, MapInit, Zip};
use collected::Collected;
use rayon::iter::plumbing::{Consumer, Folder, Producer, Reducer, bridge_producer_consumer};
pub(crate) use sources::{ParallelSlice, ParallelSliceMut};
use std::iter::Sum;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Something for every index below [`Parallel::len`], found by any thread in any order.
pub(crate) trait Parallel: Sized + Sync {
    /// What there is for an index.
    type Item;
    /// What a thread keeps from one index to the next.
    type Scratch;

    /// How many indices there are.
    fn len(&self) -> usize;

    /// A new scratch: at the beginning of a run of indices.
    fn scratch(&self) -> Self::Scratch;

    /// What there is for index i.
    ///
    /// # Safety
    /// i is below the length, and nobody asks for the same index twice: it may be a mutable reference.
    unsafe fn item(&self, i: usize, scratch: &mut Self::Scratch) -> Self::Item;

    /// How many indices a run has at least, and at most unless that is less.
    fn lengths(&self) -> (usize, usize) {
        (1, usize::MAX)
    }

    fn map<T, F: Fn(Self::Item) -> T + Sync>(self, function: F) -> Map<Self, F> {
        Map { of: self, function }
    }

    /// As `map`, with something that is made once for each run of indices.
    fn map_init<S, T, I: Fn() -> S + Sync, F: Fn(&mut S, Self::Item) -> T + Sync>(
        self,
        init: I,
        function: F,
    ) -> MapInit<Self, I, F> {
        MapInit { of: self, init, function }
    }

    fn copied<'a, T: Copy + 'a>(self) -> Map<Self, fn(&'a T) -> T>
    where
        Self: Parallel<Item = &'a T>,
    {
        self.map(|item| *item)
    }

    fn enumerate(self) -> Enumerate<Self> {
        Enumerate(self)
    }

    /// Two at the same index; as many as the shorter one has.
    fn zip<B: IntoParallel>(self, other: B) -> Zip<Self, B::Loop> {
        Zip(self, other.into_par_iter())
    }

    fn with_min_len(self, least: usize) -> Lengths<Self> {
        let (_, most) = self.lengths();
        Lengths { of: self, least, most }
    }

    fn with_max_len(self, most: usize) -> Lengths<Self> {
        let (least, _) = self.lengths();
        Lengths { of: self, least, most }
    }

    fn for_each<F: Fn(Self::Item) + Sync>(self, function: F) {
        shared(self.len(), self.lengths(), &|run| {
            let mut scratch = self.scratch();
            // SAFETY: runs are disjoint and end at the length.
            run.for_each(|i| function(unsafe { self.item(i, &mut scratch) }));
        });
    }

    fn for_each_init<S, I: Fn() -> S + Sync, F: Fn(&mut S, Self::Item) + Sync>(
        self,
        init: I,
        function: F,
    ) {
        self.map_init(init, function).for_each(drop);
    }

    /// All items in order; of options or results all values, or else the error of the first index without one. Once there is
    /// one without, later ones are left out.
    fn collect<C: Collected<Self::Item>>(self) -> C {
        C::collected(self)
    }

    /// All that the iterators of all items give, in order.
    fn flat_map_iter<T: Send, J: IntoIterator<Item = T>, F: Fn(Self::Item) -> J + Sync>(
        self,
        function: F,
    ) -> FlatMapped<T> {
        FlatMapped(self.map(|item| function(item).into_iter().collect::<Vec<T>>()).collect())
    }

    /// The sum, always in the order of the indices.
    fn sum<S: Sum<Self::Item>>(self) -> S
    where
        Self::Item: Send,
    {
        self.collect::<Vec<_>>().into_iter().sum()
    }

    /// Whether it holds for all; once it does not for one, others are left out.
    fn all<F: Fn(Self::Item) -> bool + Sync>(self, function: F) -> bool {
        let holds = AtomicBool::new(true);
        self.for_each(|item| {
            if holds.load(Ordering::Relaxed) && !function(item) {
                holds.store(false, Ordering::Relaxed);
            }
        });
        holds.into_inner()
    }

    /// What the function gives for the first index for which it gives something; later ones may be left out.
    fn find_map_first<T: Send, F: Fn(Self::Item) -> Option<T> + Sync>(
        self,
        function: F,
    ) -> Option<T> {
        let found =
            self.map(|item| function(item).map_or(Ok(()), Err)).collect::<Result<Vec<()>, T>>();
        found.err()
    }
}

/// What can be asked for by index.
pub(crate) trait IntoParallel {
    type Loop: Parallel;

    fn into_par_iter(self) -> Self::Loop;
}

impl<P: Parallel> IntoParallel for P {
    type Loop = P;

    fn into_par_iter(self) -> P {
        self
    }
}

/// Calls `leaf` for disjoint runs of indices, together all below `count`, on the threads of the pool; runs have `least` to `most`
/// indices, and within these are as long as keeps all threads at work.
fn shared(count: usize, (least, most): (usize, usize), leaf: &(dyn Fn(Range<usize>) + Sync)) {
    let run = Run { indices: 0..count, least, most: most.max(1) };
    bridge_producer_consumer(count, run, Leaf(leaf));
}

/// A run of indices, for rayon to cut.
struct Run {
    indices: Range<usize>,
    least: usize,
    most: usize,
}

impl Producer for Run {
    type Item = Range<usize>;
    type IntoIter = std::iter::Once<Range<usize>>;

    fn into_iter(self) -> Self::IntoIter {
        std::iter::once(self.indices)
    }

    fn min_len(&self) -> usize {
        self.least
    }

    fn max_len(&self) -> usize {
        self.most
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        let Run { indices: Range { start, end }, least, most } = self;
        let part = |indices: Range<usize>| Run { indices, least, most };
        (part(start..start + at), part(start + at..end))
    }
}

/// What is called for each run.
#[derive(Clone, Copy)]
struct Leaf<'a>(&'a (dyn Fn(Range<usize>) + Sync));

impl Consumer<Range<usize>> for Leaf<'_> {
    type Folder = Self;
    type Reducer = Nothing;
    type Result = ();

    fn split_at(self, _: usize) -> (Self, Self, Nothing) {
        (self, self, Nothing)
    }

    fn into_folder(self) -> Self {
        self
    }

    fn full(&self) -> bool {
        false
    }
}

impl Folder<Range<usize>> for Leaf<'_> {
    type Result = ();

    fn consume(self, run: Range<usize>) -> Self {
        (self.0)(run);
        self
    }

    fn complete(self) {}

    fn full(&self) -> bool {
        false
    }
}

/// Nothing comes of two runs but what they did.
struct Nothing;

impl Reducer<()> for Nothing {
    fn reduce(self, (): (), (): ()) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn every_index_comes_once_and_in_its_place() {
        for count in [0, 1, 2, 7, 1000] {
            let squares: Vec<usize> = (0..count).into_par_iter().map(|i| i * i).collect();
            assert!(squares.into_iter().eq((0..count).map(|i| i * i)));
            let mut marks = vec![0; count];
            marks.par_iter_mut().enumerate().for_each(|(i, mark)| *mark += i);
            assert!(marks.into_iter().eq(0..count));
        }
        assert_eq!((3..9).into_par_iter().sum::<usize>(), 33);
    }

    #[test]
    fn chunks_are_those_of_slices() {
        let mut numbers: Vec<usize> = (0..103).collect();
        let sums: Vec<usize> = numbers.par_chunks(10).map(|chunk| chunk.iter().sum()).collect();
        assert!(sums.into_iter().eq(numbers.chunks(10).map(|chunk| chunk.iter().sum::<usize>())));
        let lengths: Vec<usize> = numbers.par_chunks_mut(10).map(|chunk| chunk.len()).collect();
        assert_eq!((lengths.len(), lengths[0], lengths[10]), (11, 10, 3));
        let firsts = [100; 11];
        numbers.par_chunks_mut(10).zip(firsts.par_iter()).for_each(|(chunk, add)| chunk[0] += add);
        assert_eq!((numbers[0], numbers[1], numbers[100], numbers[101]), (100, 1, 200, 101));
    }

    #[test]
    fn what_is_owned_is_given_or_dropped_once() {
        struct Counts<'a>(&'a AtomicUsize);
        impl Drop for Counts<'_> {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let dropped = AtomicUsize::new(0);
        let items = || (0..50).map(|_| Counts(&dropped)).collect::<Vec<_>>();
        items().into_par_iter().for_each(drop);
        assert_eq!(dropped.swap(0, Ordering::Relaxed), 50);
        drop(items().into_par_iter());
        assert_eq!(dropped.swap(0, Ordering::Relaxed), 50);
        let kept: Vec<Counts<'_>> = items().into_par_iter().map(|item| item).collect();
        assert_eq!((kept.len(), dropped.load(Ordering::Relaxed)), (50, 0));
        drop(kept);
        assert_eq!(dropped.swap(0, Ordering::Relaxed), 50);
        let some: Option<Vec<Counts<'_>>> = items()
            .into_par_iter()
            .enumerate()
            .map(|(i, item)| (i != 31).then_some(item))
            .collect();
        assert!(some.is_none());
        assert_eq!(dropped.load(Ordering::Relaxed), 50);
    }

    #[test]
    fn the_first_error_is_told_and_all_values_are_there_without_one() {
        let odd = |i: usize| if i % 2 == 1 { Err(i) } else { Ok(i) };
        for _ in 0..20 {
            let found: Result<Vec<usize>, usize> = (0..100).into_par_iter().map(odd).collect();
            assert_eq!(found, Err(1));
            let late = |i: usize| (i % 50 == 49).then_some(i);
            assert_eq!((0..1000).into_par_iter().find_map_first(late), Some(49));
        }
        assert_eq!((0..10).into_par_iter().find_map_first(|_| None::<usize>), None);
        let found: Result<Vec<usize>, usize> =
            (0..100).into_par_iter().map(|i| odd(2 * i)).collect();
        assert_eq!(found.map(|values| values[99]), Ok(198));
    }

    #[test]
    fn scratch_stays_within_a_run_and_runs_have_the_lengths_asked_for() {
        let places: Vec<usize> = (0..640)
            .into_par_iter()
            .with_max_len(10)
            .map_init(|| 0, |before, _| std::mem::replace(before, *before + 1))
            .collect();
        assert!(places.iter().all(|&place| place < 10) && places[0] == 0);
        assert!((0..9).into_par_iter().with_min_len(4).all(|i| i < 9));
        assert!(!(0..9).into_par_iter().all(|i| i < 8));
        let twice: Vec<usize> = (0..4).into_par_iter().flat_map_iter(|i| [i, i]).collect();
        assert_eq!(twice, [0, 0, 1, 1, 2, 2, 3, 3]);
    }

    #[test]
    #[should_panic(expected = "as asked")]
    fn panics_arrive() {
        let _: Vec<usize> =
            (0..99).into_par_iter().map(|i| if i == 57 { panic!("as asked") } else { i }).collect();
    }
}

//! What loops run over: ranges, slices, lists that are given away.

#![allow(unsafe_code)]

use super::{IntoParallel, Parallel};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Mutex;

/// The numbers of a range.
pub(crate) struct Numbers(Range<usize>);

impl Parallel for Numbers {
    type Item = usize;
    type Scratch = ();

    fn len(&self) -> usize {
        self.0.len()
    }

    fn scratch(&self) {}

    unsafe fn item(&self, i: usize, (): &mut ()) -> usize {
        self.0.start + i
    }
}

impl IntoParallel for Range<usize> {
    type Loop = Numbers;

    fn into_par_iter(self) -> Numbers {
        Numbers(self)
    }
}

/// Items that are given away, each to whoever asks for it.
pub(crate) struct Owned<T>(Vec<Mutex<Option<T>>>);

impl<T: Send> Parallel for Owned<T> {
    type Item = T;
    type Scratch = ();

    fn len(&self) -> usize {
        self.0.len()
    }

    fn scratch(&self) {}

    unsafe fn item(&self, i: usize, (): &mut ()) -> T {
        let taken = self.0[i].lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        taken.expect("an index is asked for once")
    }
}

impl<T: Send> IntoParallel for Vec<T> {
    type Loop = Owned<T>;

    fn into_par_iter(self) -> Owned<T> {
        Owned(self.into_iter().map(|item| Mutex::new(Some(item))).collect())
    }
}

/// Slices as loops.
pub(crate) trait ParallelSlice<T> {
    fn par_iter(&self) -> Items<'_, T>;
    fn par_chunks(&self, size: usize) -> Chunks<'_, T>;
}

impl<T: Sync> ParallelSlice<T> for [T] {
    fn par_iter(&self) -> Items<'_, T> {
        Items(self)
    }

    fn par_chunks(&self, size: usize) -> Chunks<'_, T> {
        assert!(size > 0, "chunks of nothing");
        Chunks { of: self, size }
    }
}

/// Slices as loops that change them.
pub(crate) trait ParallelSliceMut<T> {
    fn par_iter_mut(&mut self) -> ItemsMut<'_, T>;
    fn par_chunks_mut(&mut self, size: usize) -> ChunksMut<'_, T>;
}

impl<T: Send> ParallelSliceMut<T> for [T] {
    fn par_iter_mut(&mut self) -> ItemsMut<'_, T> {
        ItemsMut(ChunksMut::new(self, 1))
    }

    fn par_chunks_mut(&mut self, size: usize) -> ChunksMut<'_, T> {
        ChunksMut::new(self, size)
    }
}

impl<'a, T: Sync> IntoParallel for &'a [T] {
    type Loop = Items<'a, T>;

    fn into_par_iter(self) -> Items<'a, T> {
        Items(self)
    }
}

impl<'a, T: Sync> IntoParallel for &'a Vec<T> {
    type Loop = Items<'a, T>;

    fn into_par_iter(self) -> Items<'a, T> {
        Items(self)
    }
}

impl<'a, T: Send> IntoParallel for &'a mut Vec<T> {
    type Loop = ItemsMut<'a, T>;

    fn into_par_iter(self) -> ItemsMut<'a, T> {
        self.par_iter_mut()
    }
}

pub(crate) struct Items<'a, T>(&'a [T]);

impl<'a, T: Sync> Parallel for Items<'a, T> {
    type Item = &'a T;
    type Scratch = ();

    fn len(&self) -> usize {
        self.0.len()
    }

    fn scratch(&self) {}

    unsafe fn item(&self, i: usize, (): &mut ()) -> &'a T {
        &self.0[i]
    }
}

pub(crate) struct Chunks<'a, T> {
    of: &'a [T],
    size: usize,
}

impl<'a, T: Sync> Parallel for Chunks<'a, T> {
    type Item = &'a [T];
    type Scratch = ();

    fn len(&self) -> usize {
        self.of.len().div_ceil(self.size)
    }

    fn scratch(&self) {}

    unsafe fn item(&self, i: usize, (): &mut ()) -> &'a [T] {
        let start = i * self.size;
        &self.of[start..self.of.len().min(start + self.size)]
    }
}

pub(crate) struct ChunksMut<'a, T> {
    first: *mut T,
    count: usize,
    size: usize,
    of: PhantomData<&'a mut [T]>,
}

// SAFETY: it stands for a mutable borrow of a slice; each part of it is handed out once (`Parallel::item`), as a
// `&mut [T]` that another thread may have because T is `Send`.
unsafe impl<T: Send> Sync for ChunksMut<'_, T> {}

impl<'a, T> ChunksMut<'a, T> {
    fn new(of: &'a mut [T], size: usize) -> Self {
        assert!(size > 0, "chunks of nothing");
        ChunksMut { first: of.as_mut_ptr(), count: of.len(), size, of: PhantomData }
    }
}

impl<'a, T: Send> Parallel for ChunksMut<'a, T> {
    type Item = &'a mut [T];
    type Scratch = ();

    fn len(&self) -> usize {
        self.count.div_ceil(self.size)
    }

    fn scratch(&self) {}

    unsafe fn item(&self, i: usize, (): &mut ()) -> &'a mut [T] {
        let start = i * self.size;
        let count = self.size.min(self.count - start);
        // SAFETY: i is below the length, so this part lies in the slice that is borrowed for 'a; parts of different
        // indices are disjoint, and an index is asked for once.
        unsafe { std::slice::from_raw_parts_mut(self.first.add(start), count) }
    }
}

pub(crate) struct ItemsMut<'a, T>(ChunksMut<'a, T>);

impl<'a, T: Send> Parallel for ItemsMut<'a, T> {
    type Item = &'a mut T;
    type Scratch = ();

    fn len(&self) -> usize {
        self.0.len()
    }

    fn scratch(&self) {}

    unsafe fn item(&self, i: usize, (): &mut ()) -> &'a mut T {
        // SAFETY: as promised to this function.
        let [item] = (unsafe { self.0.item(i, &mut ()) }) else { unreachable!("chunks of one") };
        item
    }
}

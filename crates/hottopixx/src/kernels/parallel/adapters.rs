//! What is made of each item on the way.

#![allow(unsafe_code)]

use super::Parallel;

pub(crate) struct Map<P, F> {
    pub(super) of: P,
    pub(super) function: F,
}

impl<P: Parallel, T, F: Fn(P::Item) -> T + Sync> Parallel for Map<P, F> {
    type Item = T;
    type Scratch = P::Scratch;

    fn len(&self) -> usize {
        self.of.len()
    }

    fn scratch(&self) -> P::Scratch {
        self.of.scratch()
    }

    unsafe fn item(&self, i: usize, scratch: &mut P::Scratch) -> T {
        // SAFETY: as promised to this function.
        (self.function)(unsafe { self.of.item(i, scratch) })
    }

    fn lengths(&self) -> (usize, usize) {
        self.of.lengths()
    }
}

pub(crate) struct MapInit<P, I, F> {
    pub(super) of: P,
    pub(super) init: I,
    pub(super) function: F,
}

impl<P: Parallel, S, T, I: Fn() -> S + Sync, F: Fn(&mut S, P::Item) -> T + Sync> Parallel
    for MapInit<P, I, F>
{
    type Item = T;
    type Scratch = (P::Scratch, S);

    fn len(&self) -> usize {
        self.of.len()
    }

    fn scratch(&self) -> Self::Scratch {
        (self.of.scratch(), (self.init)())
    }

    unsafe fn item(&self, i: usize, (before, own): &mut Self::Scratch) -> T {
        // SAFETY: as promised to this function.
        (self.function)(own, unsafe { self.of.item(i, before) })
    }

    fn lengths(&self) -> (usize, usize) {
        self.of.lengths()
    }
}

pub(crate) struct Enumerate<P>(pub(super) P);

impl<P: Parallel> Parallel for Enumerate<P> {
    type Item = (usize, P::Item);
    type Scratch = P::Scratch;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn scratch(&self) -> P::Scratch {
        self.0.scratch()
    }

    unsafe fn item(&self, i: usize, scratch: &mut P::Scratch) -> Self::Item {
        // SAFETY: as promised to this function.
        (i, unsafe { self.0.item(i, scratch) })
    }

    fn lengths(&self) -> (usize, usize) {
        self.0.lengths()
    }
}

pub(crate) struct Zip<A, B>(pub(super) A, pub(super) B);

impl<A: Parallel, B: Parallel> Parallel for Zip<A, B> {
    type Item = (A::Item, B::Item);
    type Scratch = (A::Scratch, B::Scratch);

    fn len(&self) -> usize {
        self.0.len().min(self.1.len())
    }

    fn scratch(&self) -> Self::Scratch {
        (self.0.scratch(), self.1.scratch())
    }

    unsafe fn item(&self, i: usize, (a, b): &mut Self::Scratch) -> Self::Item {
        // SAFETY: as promised to this function, of an index below the lengths of both.
        unsafe { (self.0.item(i, a), self.1.item(i, b)) }
    }

    fn lengths(&self) -> (usize, usize) {
        let ((a, b), (c, d)) = (self.0.lengths(), self.1.lengths());
        (a.max(c), b.min(d))
    }
}

pub(crate) struct Lengths<P> {
    pub(super) of: P,
    pub(super) least: usize,
    pub(super) most: usize,
}

impl<P: Parallel> Parallel for Lengths<P> {
    type Item = P::Item;
    type Scratch = P::Scratch;

    fn len(&self) -> usize {
        self.of.len()
    }

    fn scratch(&self) -> P::Scratch {
        self.of.scratch()
    }

    unsafe fn item(&self, i: usize, scratch: &mut P::Scratch) -> P::Item {
        // SAFETY: as promised to this function.
        unsafe { self.of.item(i, scratch) }
    }

    fn lengths(&self) -> (usize, usize) {
        (self.least, self.most)
    }
}

/// What [`Parallel::flat_map_iter`] found, for each index.
pub(crate) struct FlatMapped<T>(pub(super) Vec<Vec<T>>);

impl<T> FlatMapped<T> {
    pub(crate) fn collect<C: FromIterator<T>>(self) -> C {
        self.0.into_iter().flatten().collect()
    }
}

//! What comes of all items together.

#![allow(unsafe_code)]

use super::{Parallel, shared};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a loop can be collected into.
pub(crate) trait Collected<T>: Sized {
    fn collected<P: Parallel<Item = T>>(items: P) -> Self;
}

impl<T: Send> Collected<T> for Vec<T> {
    fn collected<P: Parallel<Item = T>>(items: P) -> Self {
        /// Where items are written; for the closure to hold the whole of it.
        struct Places<T>(*mut MaybeUninit<T>);
        // SAFETY: every thread writes to places of its own, items that may be sent to this one.
        unsafe impl<T: Send> Sync for Places<T> {}

        let count = items.len();
        let mut all: Vec<MaybeUninit<T>> = Vec::with_capacity(count);
        let places = Places(all.as_mut_ptr());
        shared(count, items.lengths(), &|run| {
            let (places, mut scratch) = (&places, items.scratch());
            for i in run {
                // SAFETY: runs are disjoint and end at the length, which is the capacity. Nothing is dropped
                // by the write; should a closure panic, what was written leaks.
                unsafe { places.0.add(i).write(MaybeUninit::new(items.item(i, &mut scratch))) };
            }
        });
        let mut all = std::mem::ManuallyDrop::new(all);
        // SAFETY: `shared` has returned, so all places were written; `MaybeUninit<T>` has the layout of T, and what owned
        // the allocation is forgotten.
        unsafe { Vec::from_raw_parts(all.as_mut_ptr().cast::<T>(), count, all.capacity()) }
    }
}

impl<T: Send> Collected<Option<T>> for Option<Vec<T>> {
    fn collected<P: Parallel<Item = Option<T>>>(items: P) -> Self {
        Result::<Vec<T>, ()>::collected(items.map(|item| item.ok_or(()))).ok()
    }
}

impl<T: Send, E: Send> Collected<Result<T, E>> for Result<Vec<T>, E> {
    fn collected<P: Parallel<Item = Result<T, E>>>(items: P) -> Self {
        let first = AtomicUsize::new(usize::MAX);
        let found: Vec<Option<Result<T, E>>> =
            Vec::collected(UntilFirst { of: items, first: &first });
        found.into_iter().flatten().collect()
    }
}

/// Results up to the first error; of those behind it some.
struct UntilFirst<'a, P> {
    of: P,
    /// The smallest index of an error so far.
    first: &'a AtomicUsize,
}

impl<T, E, P: Parallel<Item = Result<T, E>>> Parallel for UntilFirst<'_, P> {
    type Item = Option<Result<T, E>>;
    type Scratch = P::Scratch;

    fn len(&self) -> usize {
        self.of.len()
    }

    fn scratch(&self) -> P::Scratch {
        self.of.scratch()
    }

    unsafe fn item(&self, i: usize, scratch: &mut P::Scratch) -> Self::Item {
        if self.first.load(Ordering::Relaxed) < i {
            return None;
        }
        // SAFETY: as promised to this function.
        let item = unsafe { self.of.item(i, scratch) };
        if item.is_err() {
            self.first.fetch_min(i, Ordering::Relaxed);
        }
        Some(item)
    }

    fn lengths(&self) -> (usize, usize) {
        self.of.lengths()
    }
}

//! The numbers of a matrix: owned, or in memory that something else holds.

use std::ops::Deref;
use std::sync::Arc;

/// A read-only slice that is cheap to clone: a vector of its own, or memory of another owner, such
/// as a mapped file or an array of another language.
pub struct Buffer<T> {
    holder: Holder<T>,
}

/// Memory of another owner. The slice must stay the same, in place and content, for as long as the
/// owner lives.
pub type Foreign<T> = Arc<dyn AsRef<[T]> + Send + Sync>;

enum Holder<T> {
    Own(Arc<Vec<T>>),
    Foreign(Foreign<T>),
}

impl<T> Buffer<T> {
    /// Memory of another owner, which is kept alive.
    pub fn foreign(owner: Foreign<T>) -> Self {
        Buffer { holder: Holder::Foreign(owner) }
    }

    /// Whether the numbers are in memory of another owner.
    pub fn is_foreign(&self) -> bool {
        matches!(self.holder, Holder::Foreign(_))
    }
}

impl<T: Clone> Buffer<T> {
    /// The numbers, to change: copied first unless this is the only holder of an own vector.
    pub fn make_mut(&mut self) -> &mut Vec<T> {
        if let Holder::Foreign(owner) = &self.holder {
            self.holder = Holder::Own(Arc::new(owner.as_ref().as_ref().to_vec()));
        }
        match &mut self.holder {
            Holder::Own(values) => Arc::make_mut(values),
            Holder::Foreign(_) => unreachable!("copied above"),
        }
    }

    /// The numbers as a vector; copied unless this is the only holder of an own one.
    pub fn into_vec(self) -> Vec<T> {
        match self.holder {
            Holder::Own(values) => Arc::try_unwrap(values).unwrap_or_else(|v| v.to_vec()),
            Holder::Foreign(owner) => owner.as_ref().as_ref().to_vec(),
        }
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.holder {
            Holder::Own(values) => values,
            Holder::Foreign(owner) => owner.as_ref().as_ref(),
        }
    }
}

impl<T> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        let holder = match &self.holder {
            Holder::Own(values) => Holder::Own(values.clone()),
            Holder::Foreign(owner) => Holder::Foreign(owner.clone()),
        };
        Buffer { holder }
    }
}

impl<T> From<Vec<T>> for Buffer<T> {
    fn from(values: Vec<T>) -> Self {
        Buffer { holder: Holder::Own(Arc::new(values)) }
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.deref().fmt(f)
    }
}

impl<T: PartialEq> PartialEq for Buffer<T> {
    fn eq(&self, other: &Self) -> bool {
        self.deref() == other.deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_only_when_changed() {
        let foreign: Foreign<u32> = Arc::new(vec![1, 2, 3]);
        for first in [Buffer::from(vec![1, 2, 3]), Buffer::foreign(foreign)] {
            let mut second = first.clone();
            assert_eq!(first.as_ptr(), second.as_ptr());
            second.make_mut()[0] = 9;
            assert_eq!((&first[..], &second[..]), (&[1, 2, 3][..], &[9, 2, 3][..]));
            assert!(!second.is_foreign());
            let place = second.as_ptr();
            let second = second.into_vec();
            assert_eq!(second.as_ptr(), place);
            assert_eq!(first.into_vec(), [1, 2, 3]);
        }
    }
}

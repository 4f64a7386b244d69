//! Lines, words and numbers of text formats.

mod lines;
mod numbers;

pub(crate) use lines::{Line, Lines};
pub(crate) use numbers::{number, plain_triplet, quick_triplet, whole};

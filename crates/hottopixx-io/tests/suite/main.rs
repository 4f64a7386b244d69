//! Files of every kind through the public interface, in one program, which is linked once.

mod big;
mod common;
mod counting;
mod cubes;
mod documents;
#[path = "../../../../fuzz/src/exercise/mod.rs"]
mod exercise;
mod files;
mod formats;
mod fuzz;
mod hostile;
mod refusals;
mod tables;

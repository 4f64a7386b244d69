//! Files of every kind through the public interface, in one program, which is linked once.

mod big;
mod common;
mod cubes;
mod documents;
mod files;
mod formats;
mod fuzz;
mod refusals;
mod tables;

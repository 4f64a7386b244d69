//! The quick forms of studies and benchmarks, in one program, which is linked once.

mod bench;
mod quick;

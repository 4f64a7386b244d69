//! The library through its public interface, in one program, which is linked once.

mod factor;
mod faults;
mod missing;
mod modules;
mod readme;
mod start;
mod weights;

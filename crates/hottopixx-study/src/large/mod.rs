//! The paper's large data sets: instances of their size with known answers ([`sets`]), runs on them
//! in processes of their own ([`process`]), and what is shown of them ([`sections`]).

pub mod process;
pub mod sections;
pub mod sets;

pub use process::{MeasuredRun, ProcessRunner, RunRequest};
pub use sections::{LargeSettings, speedup, table, whole_runs};
pub use sets::{LARGE_SETS, LargeRun, LargeSet};

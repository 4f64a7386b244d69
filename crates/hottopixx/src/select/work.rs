//! The buffers of row fits on given atoms, one for each thread.

use crate::control::Control;
use crate::l1::{Gathered, Solver};

/// Where a row is brought together with the atoms on its support, and the solver that fits it.
pub(super) struct Work {
    pub gathered: Gathered,
    pub solver: Solver,
}

impl Work {
    /// Empty buffers; `control` can stop the fits.
    pub fn under(control: &Control) -> Self {
        Work { gathered: Gathered::default(), solver: Solver::under(control) }
    }
}

//! Vertices of the l1 fit, to start from again.

/// A vertex to start from: which weights were free, which points active, which weights at their
/// upper bound. Remembering one costs a few dozen bytes and saves most of the pivots.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Basis {
    /// Atoms with free weights.
    pub free: Vec<u32>,
    /// Points with residual zero, as many as free atoms.
    pub active: Vec<u32>,
    /// Atoms at their upper bound.
    pub upper: Vec<u32>,
}

impl Basis {
    /// The same vertex where atoms have other numbers; those that have none are left out.
    pub(crate) fn renamed(&self, name: impl Fn(u32) -> Option<u32>) -> Basis {
        let atoms = |list: &[u32]| list.iter().filter_map(|&j| name(j)).collect();
        Basis { free: atoms(&self.free), active: self.active.clone(), upper: atoms(&self.upper) }
    }
}

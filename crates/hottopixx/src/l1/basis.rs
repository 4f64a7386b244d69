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

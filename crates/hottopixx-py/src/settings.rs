//! Settings of a factorization, from a dictionary that the package fills in completely.

use hottopixx::{Cleaning, Factor, Method, Objective};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// As [`Factor`]; what is `None` keeps its default there.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Settings {
    method: String,
    objective: String,
    cleaning: String,
    seed: u64,
    threads: usize,
    epochs: Option<usize>,
    cost: Option<Vec<f64>>,
    tau: Option<f64>,
    gap: Option<f64>,
    trace: bool,
    epsilon: Option<f64>,
    alpha: Option<f64>,
    candidates: Option<Vec<bool>>,
    groups: bool,
    memory: Option<u64>,
}

impl Settings {
    /// The library's settings.
    pub fn factor(self, rank: usize) -> PyResult<Factor> {
        let factor = Factor::new(rank)
            .method(one_of("method", &self.method, Method::ALL, Method::name)?)
            .objective(self.objective()?)
            .cleaning(one_of("cleaning", &self.cleaning, Cleaning::ALL, Cleaning::name)?)
            .seed(self.seed)
            .threads(self.threads)
            .trace(self.trace)
            .groups(self.groups);
        let factor = given(factor, self.epochs, Factor::epochs);
        let factor = given(factor, self.cost, Factor::cost);
        let factor = given(factor, self.tau, Factor::tau);
        let factor = given(factor, self.gap, Factor::gap);
        let factor = given(factor, self.epsilon, Factor::epsilon);
        let factor = given(factor, self.alpha, Factor::alpha);
        let factor = given(factor, self.candidates, Factor::candidates);
        Ok(given(factor, self.memory, Factor::memory))
    }

    /// Which error is made small.
    pub fn objective(&self) -> PyResult<Objective> {
        one_of("objective", &self.objective, Objective::ALL, Objective::name)
    }
}

/// With the value, if there is one.
fn given<T>(factor: Factor, value: Option<T>, with: impl FnOnce(Factor, T) -> Factor) -> Factor {
    match value {
        Some(value) => with(factor, value),
        None => factor,
    }
}

/// The value of that name.
pub fn one_of<T: Copy, const N: usize>(
    what: &str,
    given: &str,
    all: [T; N],
    name: impl Fn(T) -> &'static str,
) -> PyResult<T> {
    all.into_iter().find(|value| name(*value) == given).ok_or_else(|| {
        let names = all.map(|value| format!("'{}'", name(value))).join(", ");
        PyValueError::new_err(format!("{what} is '{given}': choose one of {names}"))
    })
}

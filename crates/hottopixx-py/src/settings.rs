//! Settings of a factorization, from a dictionary that the package fills in completely.

use crate::run;
use hottopixx::text::StopWords;
use hottopixx::topics::Recovery;
use hottopixx::unmix::{Abundances, Negative};
use hottopixx::{Cleaning, Constraints, Effort, Error, Factor, Method, Objective};
use pyo3::prelude::*;
use std::str::FromStr;

/// As [`Constraints`], with rows by number.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    must: Vec<usize>,
    never: Vec<usize>,
    /// Name, rows, least, most; `None` for no limit.
    groups: Vec<(String, Vec<usize>, usize, Option<usize>)>,
    prices: Option<Vec<f64>>,
    budget: f64,
}

impl Asked {
    fn constraints(self) -> Constraints {
        let mut asked = Constraints::default().must(self.must).never(self.never);
        for (name, rows, least, most) in self.groups {
            asked = asked.group(name, rows, least, most.unwrap_or(usize::MAX));
        }
        match self.prices {
            Some(prices) => asked.budget(prices, self.budget),
            None => asked,
        }
    }
}

/// As [`Factor`]; what is `None` keeps its default there.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Settings {
    method: String,
    objective: String,
    effort: String,
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
    constraints: Option<Asked>,
    start: Option<Vec<usize>>,
    /// A number, or "auto".
    outliers: Option<String>,
    missing: String,
    weights: Option<Vec<f64>>,
    groups: bool,
    example_weights: Option<Vec<f64>>,
    memory: Option<u64>,
}

impl Settings {
    /// The library's settings.
    pub fn factor(self, rank: usize) -> PyResult<Factor> {
        let factor = Factor::new(rank)
            .method(parsed(&self.method)?)
            .objective(self.objective()?)
            .effort(parsed(&self.effort)?)
            .cleaning(parsed(&self.cleaning)?)
            .missing(parsed(&self.missing)?)
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
        let factor = given(factor, self.example_weights, Factor::example_weights);
        let constraints = self.constraints.map(Asked::constraints);
        let factor = given(factor, constraints, Factor::constraints);
        let factor = given(factor, self.start, Factor::start);
        let factor = given(factor, self.weights, Factor::weights);
        let outliers = self.outliers.map(|text| parsed(&text)).transpose()?;
        let factor = given(factor, outliers, Factor::outliers);
        Ok(given(factor, self.memory, Factor::memory))
    }

    /// Which error is made small.
    pub fn objective(&self) -> PyResult<Objective> {
        parsed(&self.objective)
    }
}

/// Refuses settings whose names the library does not know.
#[pyfunction]
pub fn check_settings(settings: Settings) -> PyResult<()> {
    settings.factor(1).map(drop)
}

/// The names that the library knows.
pub fn add_names(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("METHODS", Method::ALL.map(Method::name))?;
    module.add("OBJECTIVES", Objective::ALL.map(Objective::name))?;
    module.add("EFFORTS", Effort::ALL.map(Effort::name))?;
    module.add("CLEANINGS", Cleaning::ALL.map(Cleaning::name))?;
    module.add("ABUNDANCES", Abundances::ALL.map(Abundances::name))?;
    module.add("NEGATIVES", Negative::ALL.map(Negative::name))?;
    module.add("RECOVERIES", Recovery::ALL.map(Recovery::name))?;
    module.add("STOP_WORD_LANGUAGES", StopWords::languages().collect::<Vec<_>>())
}

/// With the value, if there is one.
fn given<T>(factor: Factor, value: Option<T>, with: impl FnOnce(Factor, T) -> Factor) -> Factor {
    match value {
        Some(value) => with(factor, value),
        None => factor,
    }
}

/// The value of that name, or the library's sentence.
pub fn parsed<T: FromStr<Err = Error>>(name: &str) -> PyResult<T> {
    name.parse().map_err(run::to_python)
}

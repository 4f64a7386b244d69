//! What a run took, and what it ran with.

use hottopixx::Seconds;
use serde::{Deserialize, Serialize};

/// The end of what every command reports.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunFacts {
    /// Time of each step.
    pub seconds: StepSeconds,
    /// Largest resident memory of the process; null where the system does not tell.
    pub peak_memory_bytes: Option<u64>,
    /// What it could be at most, as known from the size of the input before the run began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted_memory_bytes: Option<u64>,
    /// Threads used.
    pub threads: usize,
    /// The seed, where anything is random.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Version of the program.
    pub version: String,
}

/// Wall-clock seconds of a run, step by step.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct StepSeconds {
    /// Reading and preparing the input.
    pub load: f64,
    /// The steps from there to the answer, where they were timed.
    #[serde(flatten)]
    pub steps: Option<Seconds>,
    /// From the start of the program until the answer.
    pub total: f64,
}

#[cfg(test)]
pub(crate) fn example() -> RunFacts {
    let steps = Some(Seconds { localize: 0.2, select: 0.1, clean: 0.05 });
    RunFacts {
        seconds: StepSeconds { load: 0.01, steps, total: 0.36 },
        peak_memory_bytes: Some(25_300_000),
        predicted_memory_bytes: None,
        threads: 2,
        seed: Some(0),
        version: "0.1.0".into(),
    }
}

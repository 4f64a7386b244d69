//! Running the instances into a file, so that a run of an hour survives whatever ends it.

use super::{Run, Runs, instances, key, lines, run_all};
use crate::{machine, parallel};
use anyhow::{Context, Result};
use hottopixx::synth::Recipe;
use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;

/// How far a collection is.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Instances done, those of earlier runs included.
    pub done: usize,
    /// Instances in all.
    pub total: usize,
}

/// Runs the instances that the file does not hold yet, adding each to it when it is done, and puts
/// the file in order at the end. `progress` is told after every instance and says whether to go
/// on; `None` is returned when it says no.
///
/// # Errors
/// When the file is no file of runs or cannot be written, or an instance fails.
pub fn collect(
    file: &Path,
    quick: bool,
    progress: &(dyn Fn(Progress) -> bool + Sync),
) -> Result<Option<Runs>> {
    let place = || file.display().to_string();
    let mut kept = match std::fs::read_to_string(file) {
        Ok(text) => Runs::from_csv(&text, true).with_context(place)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Runs::default(),
        Err(error) => return Err(error).with_context(place),
    };
    if kept.remarks.is_empty() {
        kept.remarks = vec![
            format!("hottopixx {}, section 5 of the paper", env!("CARGO_PKG_VERSION")),
            machine::description(),
            "seconds are CPU seconds of one thread; errors after exact cleaning".to_owned(),
        ];
    }
    let all = instances(quick);
    drop_unfinished(&mut kept);
    let done: std::collections::HashSet<String> =
        kept.runs.iter().map(|run| key(&run.recipe)).collect();
    let missing: Vec<Recipe> =
        all.iter().filter(|recipe| !done.contains(&key(recipe))).cloned().collect();
    std::fs::write(file, kept.to_csv()).with_context(place)?;
    let out = OpenOptions::new().append(true).open(file).with_context(place)?;
    let state = Mutex::new((out, all.len() - missing.len(), false));
    let results = parallel(&missing, |recipe| -> Result<Vec<Run>> {
        if state.lock().expect("no panic holds it").2 {
            return Ok(Vec::new());
        }
        let runs = run_all(recipe)?;
        let mut state = state.lock().expect("no panic holds it");
        state.0.write_all(lines(&runs).as_bytes()).with_context(place)?;
        state.1 += 1;
        state.2 |= !progress(Progress { done: state.1, total: all.len() });
        Ok(runs)
    });
    for runs in results {
        kept.runs.extend(runs?);
    }
    if state.into_inner().expect("no panic holds it").2 {
        return Ok(None);
    }
    kept.sort();
    std::fs::write(file, kept.to_csv()).with_context(place)?;
    Ok(Some(kept))
}

/// Drops instances of which not every contender's line was written.
fn drop_unfinished(runs: &mut Runs) {
    let mut lines: HashMap<String, usize> = HashMap::new();
    for run in &runs.runs {
        *lines.entry(key(&run.recipe)).or_default() += 1;
    }
    runs.runs.retain(|run| lines[&key(&run.recipe)] == super::Contender::ALL.len());
}

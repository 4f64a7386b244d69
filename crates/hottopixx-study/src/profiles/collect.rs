//! Running the instances into a file, so that a run of an hour survives whatever ends it.

use super::{Key, ProfileRun, ProfileRuns, instances, key, lines, run_all};
use crate::{ProgressWatch, watched};
use anyhow::{Context, Result};
use hottopixx::synth::Recipe;
use hottopixx_io::{machine, write};
use std::collections::{HashMap, HashSet};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;

/// Runs the instances that the file does not hold yet, adding each to it when it is done, and puts
/// the file in order at the end. `watch` is told after every instance; `None` is returned when it
/// says to stop.
///
/// # Errors
/// When the file is no file of runs or cannot be written, or an instance fails.
pub fn collect(file: &Path, quick: bool, watch: &ProgressWatch<'_>) -> Result<Option<ProfileRuns>> {
    let place = || file.display().to_string();
    let mut kept = match std::fs::read_to_string(file) {
        Ok(text) => ProfileRuns::from_csv(&text, true).with_context(place)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => ProfileRuns::default(),
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
    let done: HashSet<Key> = kept.runs.iter().map(|run| key(&run.recipe)).collect();
    let missing: Vec<Recipe> =
        all.iter().filter(|recipe| !done.contains(&key(recipe))).cloned().collect();
    // Whole or not at all: an hour of runs may be in it.
    write::bytes(file, kept.to_csv())?;
    let out = OpenOptions::new().append(true).open(file).with_context(place)?;
    let out = Mutex::new(out);
    let earlier = all.len() - missing.len();
    let watch: ProgressWatch<'_> = Box::new(|done, _| watch(earlier + done, all.len()));
    let results = watched(&missing, &watch, |recipe| -> Result<Vec<ProfileRun>> {
        let runs = run_all(recipe)?;
        let mut out = out.lock().expect("no panic holds it");
        out.write_all(lines(&runs).as_bytes()).with_context(place)?;
        Ok(runs)
    });
    let Some(results) = results else { return Ok(None) };
    for runs in results {
        kept.runs.extend(runs?);
    }
    kept.sort();
    write::bytes(file, kept.to_csv())?;
    Ok(Some(kept))
}

/// Drops instances of which not every contender's line was written.
fn drop_unfinished(runs: &mut ProfileRuns) {
    let mut lines: HashMap<Key, usize> = HashMap::new();
    for run in &runs.runs {
        *lines.entry(key(&run.recipe)).or_default() += 1;
    }
    runs.runs.retain(|run| lines[&key(&run.recipe)] == super::Contender::ALL.len());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profiles::{Contender, ProfileOutcome};

    fn run(seed: u64, contender: Contender) -> ProfileRun {
        let recipe = instances(true)[0].clone().seed(seed);
        let outcome = ProfileOutcome {
            found: 1,
            inf1: 0.5,
            mean_l1: 0.5,
            rmse: 0.5,
            seconds: 0.5,
            two_epochs: 0.5,
            diagonal: None,
        };
        ProfileRun { recipe, contender, outcome: Some(outcome) }
    }

    #[test]
    fn unfinished_instances_are_dropped() {
        let mut runs = ProfileRuns::default();
        runs.runs.extend(Contender::ALL.map(|contender| run(7, contender)));
        runs.runs.extend(Contender::ALL[..4].iter().map(|contender| run(8, *contender)));
        drop_unfinished(&mut runs);
        assert_eq!(runs.runs.len(), Contender::ALL.len());
        assert!(runs.runs.iter().all(|run| run.recipe.seed == 7));
    }
}

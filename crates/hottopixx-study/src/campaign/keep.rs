//! Instances that failed, as files for whoever mends it.

use super::table::Done;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Instances that are kept for each check.
const EACH: usize = 3;

/// Writes the first instances of every check that failed as `CHECK-SEED-INDEX.npy`, and the file
/// `HOW.txt`, which says what to ask of each and what came of it.
///
/// # Errors
/// When the folder cannot be written to.
pub fn keep(folder: &Path, done: &[Done]) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let mut kept: BTreeMap<&str, usize> = BTreeMap::new();
    let mut how = String::new();
    for one in done {
        let mut seen = Vec::new();
        for mismatch in &one.findings.mismatches {
            let name = mismatch.check.name();
            let count = kept.entry(name).or_default();
            if seen.contains(&name) || *count >= EACH {
                continue;
            }
            seen.push(name);
            *count += 1;
            let file = format!("{name}-{}.npy", one.instance.name.replace('/', "-"));
            hottopixx_io::write::npy(folder.join(&file), &one.instance.matrix)?;
            writeln!(how, "{file}: {}; {}", one.instance.description(), mismatch.text)?;
        }
    }
    hottopixx_io::write::bytes(folder.join("HOW.txt"), how)?;
    Ok(())
}

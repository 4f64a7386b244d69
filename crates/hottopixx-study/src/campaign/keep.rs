//! Instances that failed, as files for whoever mends it.

use super::findings::Check;
use super::table::{Done, worst};
use anyhow::{Context, Result};
use std::fmt::Write;
use std::path::Path;

/// Instances that are kept for each check.
const EACH: usize = 3;

/// Writes the worst instances of every check that failed as `CHECK-SEED-INDEX.npy`, and the file
/// `HOW.txt`, which says what to ask of each and what came of it.
///
/// # Errors
/// When the folder cannot be written to.
pub fn keep(folder: &Path, done: &[Done]) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let mut how = String::new();
    for check in Check::ALL {
        for (one, mismatch) in worst(done, check).into_iter().take(EACH) {
            let name = one.instance.name.replace(['/', ' '], "-");
            let file = format!("{}-{name}.npy", check.name());
            hottopixx_io::write::npy(folder.join(&file), &one.instance.matrix)?;
            writeln!(how, "{file}: {}; {}", one.instance.description(), mismatch.text)?;
        }
    }
    hottopixx_io::write::bytes(folder.join("HOW.txt"), how)?;
    Ok(())
}

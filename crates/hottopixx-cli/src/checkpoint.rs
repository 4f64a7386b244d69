//! `--checkpoint` and `--resume`: the state of a long run in a file.

use crate::args::CheckpointArgs;
use crate::failure::{Failure, say};
use hottopixx::Factor;
use hottopixx::control::Stop;
use hottopixx::matrix::Matrix;
use hottopixx_io::Checkpoint;
use std::sync::Arc;
use std::time::Duration;

/// Checks the flags before anything long begins: a state that is there already is not written over
/// unasked.
pub fn prepare(flags: &CheckpointArgs) -> Result<(), Failure> {
    let Some(path) = &flags.checkpoint else { return Ok(()) };
    interval(flags)?;
    // Reading a pipe would wait for a writer that never comes.
    if std::fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        return Err(Failure::Wrong(format!(
            "{} exists and is no file: give --checkpoint the name of a file",
            path.display()
        )));
    }
    if path.exists() && !flags.resume {
        return Err(Failure::Wrong(format!(
            "{} exists: add --resume to go on from it, or remove it to start anew",
            path.display()
        )));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => Err(Failure::Wrong(format!(
            "{}: the folder of --checkpoint does not exist: create it first",
            folder.display()
        ))),
        _ => Ok(()),
    }
}

/// The file for this run, with the state in it taken up as the flags say.
pub fn open(
    flags: &CheckpointArgs,
    factor: &Factor,
    matrix: &Matrix,
    quiet: bool,
) -> Result<Option<Arc<Checkpoint>>, Failure> {
    let Some(path) = &flags.checkpoint else { return Ok(None) };
    let mut file = Checkpoint::new(path, factor.fingerprint(matrix), interval(flags)?)
        .when_failing(|error| {
            say(&format!("no checkpoint could be written, and the run goes on without: {error}"));
        });
    if flags.resume && !file.take_up()? && !quiet {
        say(&format!("{} does not exist: starting from the beginning", path.display()));
    }
    Ok(Some(Arc::new(file)))
}

/// Tells of a failure to save; removes the file of a run that was not stopped.
pub fn close(file: Option<&Checkpoint>, stop: Stop) {
    let Some(file) = file else { return };
    if let Some(failure) = file.failure() {
        say(&format!("the last checkpoint was not written: {failure}"));
    }
    if stop == Stop::Finished {
        file.remove();
    }
}

fn interval(flags: &CheckpointArgs) -> Result<Duration, Failure> {
    let wrong = |_| {
        let seconds = flags.checkpoint_every;
        Failure::Wrong(format!(
            "--checkpoint-every {seconds} is not possible: give seconds, such as 120"
        ))
    };
    Duration::try_from_secs_f64(flags.checkpoint_every).map_err(wrong)
}

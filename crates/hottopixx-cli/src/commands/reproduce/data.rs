//! The data of `reproduce rmse` and `reproduce svm`: the user's file, known data sets, or made up.

use super::wrong;
use crate::args;
use crate::failure::Failure;
use hottopixx_io::{LoadOptions, Loaded, Source, load, read_numbers};
use hottopixx_study::rmse::{self, Named};
use hottopixx_study::svm::Labelled;
use std::path::Path;

/// The matrix of `rmse`.
pub fn matrix(args: &args::ReproduceArgs) -> Result<Named, Failure> {
    if let Some(file) = &args.input {
        return Ok((name(file), read(args, file)?.matrix));
    }
    let known = args.data.as_deref().map(rmse::from_folder).transpose().map_err(wrong)?.flatten();
    known.map_or_else(rmse::made_up, Ok).map_err(wrong)
}

/// The data sets of `svm`.
pub fn classes(args: &args::ReproduceArgs) -> Result<Vec<Labelled>, Failure> {
    if let Some(file) = &args.input {
        return Ok(vec![labelled(args, file)?]);
    }
    let known = args.data.as_deref().map(Labelled::from_folder).transpose().map_err(wrong)?;
    match known {
        Some(known) if !known.is_empty() => Ok(known),
        _ => Ok(vec![Labelled::made_up().map_err(wrong)?]),
    }
}

fn labelled(args: &args::ReproduceArgs, file: &Path) -> Result<Labelled, Failure> {
    let loaded = read(args, file)?;
    let labels = match (&args.labels, loaded.labels) {
        (Some(labels), _) => read_numbers(labels, None)?,
        (None, Some(labels)) => labels,
        (None, None) => {
            return Err(Failure::Wrong(format!(
                "{}: no classes: give --labels, one number per line",
                file.display()
            )));
        }
    };
    Labelled::new(&name(file), loaded.matrix, &labels, &args.positive, args.train).map_err(wrong)
}

fn read(args: &args::ReproduceArgs, file: &Path) -> Result<Loaded, Failure> {
    let options = LoadOptions { transpose: args.transpose, ..Default::default() };
    Ok(load(&Source::path(file), &options)?)
}

fn name(file: &Path) -> String {
    file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

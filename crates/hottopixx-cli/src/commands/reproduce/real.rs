//! `reproduce rmse` and `reproduce svm`: on the user's file, on known data sets, or made up.

use super::{Session, interrupted, wrong};
use crate::args;
use crate::failure::Failure;
use hottopixx_io::{LoadOptions, Loaded, Source, load, read_numbers};
use hottopixx_report::page::Section;
use hottopixx_study::svm::Labelled;
use hottopixx_study::{rmse, svm};
use std::path::Path;

/// RMSE against the number of topics.
pub fn rmse(args: &args::Reproduce, session: &Session) -> Result<Section, Failure> {
    let known = args.data.as_deref().map(rmse::from_folder).transpose().map_err(wrong)?.flatten();
    let set = match (&args.input, known) {
        (Some(file), _) => (name(file), read(args, file)?.matrix),
        (None, Some(known)) => known,
        (None, None) => rmse::made_up().map_err(wrong)?,
    };
    let made = rmse::section(&set, args.quick, &session.watch("numbers of topics"));
    made.map_err(wrong)?.ok_or_else(interrupted)
}

/// Test error against the number of features.
pub fn svm(args: &args::Reproduce, session: &Session) -> Result<Section, Failure> {
    let sets = match &args.input {
        Some(file) => vec![labelled(args, file)?],
        None => {
            let known = args.data.as_deref().map(Labelled::from_folder).transpose();
            match known.map_err(wrong)? {
                Some(known) if !known.is_empty() => known,
                _ => vec![Labelled::made_up().map_err(wrong)?],
            }
        }
    };
    let made = svm::section(sets, args.quick, &session.watch("numbers of features"));
    made.map_err(wrong)?.ok_or_else(interrupted)
}

fn labelled(args: &args::Reproduce, file: &Path) -> Result<Labelled, Failure> {
    let loaded = read(args, file)?;
    let labels = match (&args.labels, loaded.labels) {
        (Some(labels), _) => read_numbers(labels)?,
        (None, Some(labels)) => labels,
        (None, None) => {
            return Err(Failure::Wrong(format!(
                "{}: no classes: give --labels, one number a line",
                file.display()
            )));
        }
    };
    Labelled::new(&name(file), loaded.matrix, &labels, &args.positive, args.train).map_err(wrong)
}

fn read(args: &args::Reproduce, file: &Path) -> Result<Loaded, Failure> {
    let options = LoadOptions { transpose: args.transpose, ..Default::default() };
    Ok(load(&Source::path(file), &options)?)
}

fn name(file: &Path) -> String {
    file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

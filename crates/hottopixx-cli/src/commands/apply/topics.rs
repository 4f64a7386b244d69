//! The topics of new documents.

use crate::args;
use crate::documents::{Counts, Kind, kind, read_counts, read_text};
use crate::failure::{Failure, print, print_data_with, say};
use crate::job::Session;
use crate::json;
use crate::memory::check_shares;
use crate::output;
use crate::summarise::run_facts;
use hottopixx::control::Control;
use hottopixx::matrix::{Dense, Matrix, Sparse};
use hottopixx::topics::SavedTopics;
use hottopixx_io::{DocumentNames, Source, write};
use hottopixx_report::RunFacts;
use hottopixx_report::topics::documents_csv;
use serde::Serialize;
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// What `--json` prints.
#[derive(Serialize)]
struct Applied {
    input: String,
    topics: Vec<String>,
    documents: Vec<AppliedDocument>,
    #[serde(flatten)]
    facts: RunFacts,
}

#[derive(Serialize)]
struct AppliedDocument {
    title: String,
    shares: Vec<f64>,
}

/// Reads the model, fits every document, reports.
pub(super) fn run(args: &args::ApplyArgs, started: Instant) -> Result<(), Failure> {
    let session = Session::start(&args.run, args.print.quiet, started)?;
    let model = read_model(&args.answer)?;
    let file = "documents.csv".to_owned();
    let reads = [Some(args.input.path.as_path()), Some(args.answer.as_path())];
    output::prepare(args.out.as_deref(), &reads, std::slice::from_ref(&file))?;
    let load = session.elapsed();
    let control = session.interrupt.control(args.run.max_seconds, session.observer())?;
    let (names, shares, unknown) = shares(args, &model, &control)?;
    session.finish();
    if unknown > 0 && !args.print.quiet {
        say(&format!(
            "{unknown} of {} documents have no word of the model: they get the shares of the corpus",
            shares.rows()
        ));
    }
    let DocumentNames { titles, dates, .. } = &names;
    let table =
        |out: &mut dyn Write| documents_csv(out, &model.names, titles, dates.as_deref(), &shares);
    let printed = if args.print.json {
        let applied = Applied {
            input: Source::path(&args.input.path).name(),
            topics: model.names.clone(),
            documents: (0..shares.rows())
                .map(|d| AppliedDocument {
                    title: titles[d].clone(),
                    shares: shares.row(d).to_vec(),
                })
                .collect(),
            facts: run_facts(&session, load),
        };
        print(&output::json(&applied))
    } else if args.out.is_none() {
        print_data_with(table)
    } else {
        Ok(())
    };
    if let Some(folder) = &args.out {
        output::record(folder, std::slice::from_ref(&file))?;
        write::atomic(folder.join(&file), |out| table(out))?;
        if !args.print.json {
            print(&format!("written   {}: {file}\n", folder.display()))?;
        }
    }
    printed
}

/// The model of a folder, or of a file.
fn read_model(answer: &Path) -> Result<SavedTopics, Failure> {
    let whole = answer.is_dir();
    let path = if whole { answer.join("model.json") } else { answer.to_owned() };
    let wrong = |reason: String| {
        Failure::Wrong(format!(
            "{}: {reason}: give the folder that 'hottopixx topics --out' or 'hottopixx factor --out' wrote",
            path.display()
        ))
    };
    let model: SavedTopics = json::read(&path).map_err(wrong)?;
    model.check().map_err(|e| wrong(e.to_string()))?;
    if whole {
        output::check_files(answer, "summary.json", &["model.json"])?;
    }
    Ok(model)
}

/// Titles and shares of all documents, and how many have no word of the model.
fn shares(
    args: &args::ApplyArgs,
    model: &SavedTopics,
    control: &Control,
) -> Result<(DocumentNames, Dense, usize), Failure> {
    let label = Source::path(&args.input.path).name();
    let library = |error| Failure::from_library(&label, &error);
    match kind(&args.input)? {
        Kind::Text(format) => {
            let (mut values, mut unknown) = (Vec::new(), 0);
            let names = read_text(&args.input, format, &mut |block| {
                let counts = model.count(block)?;
                unknown += without_words(&counts);
                values.extend(model.transform(&counts, control)?.into_values());
                check_shares(values.len(), &args.input)
            })?;
            let shares = Dense::new(names.titles.len(), model.names.len(), values);
            Ok((names, shares.map_err(library)?, unknown))
        }
        Kind::Counts(format) => {
            let Counts { matrix, words, names } = read_counts(&args.input, format)?;
            let counts = aligned(&matrix, words.as_deref(), model).map_err(library)?;
            let shares = model.transform(&counts, control).map_err(library)?;
            Ok((names, shares, without_words(&counts)))
        }
    }
}

/// The rows that are empty.
fn without_words(counts: &Sparse) -> usize {
    (0..counts.rows()).filter(|&d| counts.row(d).0.is_empty()).count()
}

/// Counts with the words of the model as columns: by name, else by place.
fn aligned(
    matrix: &Matrix,
    words: Option<&[String]>,
    model: &SavedTopics,
) -> Result<Sparse, hottopixx::Error> {
    let places: HashMap<&str, usize> =
        model.words.iter().enumerate().map(|(i, word)| (word.as_str(), i)).collect();
    let place = |column: usize| match words {
        Some(words) => places.get(words[column].as_str()).copied(),
        // A model of counts without names calls words by their columns.
        None => places.get(column.to_string().as_str()).copied(),
    };
    let places: Vec<Option<usize>> = (0..matrix.cols()).map(place).collect();
    let mut triplets = Vec::new();
    for d in 0..matrix.rows() {
        let known = matrix.row(d).nonzeros().filter_map(|(c, v)| Some((d, places[c]?, v)));
        triplets.extend(known);
    }
    Sparse::from_triplets(matrix.rows(), model.words.len(), &triplets)
}

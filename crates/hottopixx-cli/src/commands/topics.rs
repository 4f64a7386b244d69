//! `hottopixx topics`: documents in, topics out.

use crate::args;
use crate::documents::{Documents, Kind};
use crate::failure::{Failure, print};
use crate::job::Session;
use crate::memory::plan_topics;
use crate::output;
use hottopixx::control::Stop;
use hottopixx::text::{Reading, StopWords, Tokeniser, VocabularyRules};
use hottopixx::topics::{SavedTopics, TopicModel, Topics};
use hottopixx_io::machine::peak_memory;
use hottopixx_io::write::FileSet;
use hottopixx_report::topics::{self as report, TopicsRun, TopicsSummary};
use hottopixx_report::topics_page;
use std::path::Path;
use std::time::Instant;

/// Reads, counts, finds topics, reports.
pub fn run(args: &args::TopicsArgs, started: Instant) -> Result<(), Failure> {
    let session = Session::start(&args.run, args.print.quiet, started)?;
    let reading = reading(args)?;
    let reads = [Some(args.input.path.as_path()), args.input.names.as_deref()];
    let rules = VocabularyRules {
        min_df: args.min_df,
        candidate_df: args.candidate_df,
        max_words: args.max_words,
    };
    let settings = Topics::new(args.rank)
        .vocabulary(rules)
        .anchors(anchors(&args.anchors, &reading.tokeniser))
        .recovery(args.recovery)
        .polish(args.polish)
        .threads(session.threads);
    let documents = Documents::load(&args.input, &reading, settings.rules())?;
    output::prepare(args.out.as_deref(), &reads, &output::topics_files())?;
    let predicted = plan_topics(&settings, &documents, &args.input, args.print.quiet)?;
    let load = session.elapsed();

    session.interrupt.computing();
    let control = session.interrupt.control(args.run.max_seconds, session.observer())?;
    let model = settings.control(control).fit(&documents.corpus);
    let mut model = model.map_err(|error| Failure::from_library(&documents.label, &error))?;
    session.finish();
    model.notes.splice(0..0, documents.names.notes.iter().cloned());

    let run = TopicsRun {
        input: documents.label.clone(),
        load,
        total: session.elapsed(),
        peak_memory_bytes: peak_memory(),
        predicted_memory_bytes: Some(predicted),
        threads: session.threads,
        seed: session.seed(),
    };
    let summary = TopicsSummary::new(&model, &documents.names.titles, run);
    let kept = matches!(documents.kind, Kind::Text(_)).then_some(&reading);
    let printed =
        print(&if args.print.json { output::json(&summary) } else { report::text(&summary) });
    if let Some(folder) = &args.out {
        let written = files(folder, &documents, &model, &summary, kept)?;
        output::tell_written(folder, &written, args.print.json)?;
    }
    printed?;
    match summary.stop {
        Stop::Interrupted => {
            Err(Failure::Interrupted("interrupted: this was the best answer so far".to_owned()))
        }
        _ => Ok(()),
    }
}

/// How the flags say documents are read.
fn reading(args: &args::TopicsArgs) -> Result<Reading, Failure> {
    let given = args.stop_words.as_str();
    let stop_words = match given {
        "auto" => StopWords::Auto,
        "none" => StopWords::None,
        other if StopWords::Language(other.to_owned()).check().is_ok() => {
            StopWords::Language(other.to_ascii_lowercase())
        }
        other => match other.parse::<f64>() {
            Ok(share) => StopWords::Share(share),
            Err(_) if Path::new(other).is_file() => {
                StopWords::List(hottopixx_io::read_names(other, args.input.memory)?)
            }
            Err(_) => {
                let languages: Vec<&str> = StopWords::languages().collect();
                return Err(Failure::Wrong(format!(
                    "--stop-words {other} is no file and no language: choose auto, none, a share such \
                     as 0.5, a file, or one of {}",
                    languages.join(", ")
                )));
            }
        },
    };
    stop_words.check().map_err(Failure::of_setting)?;
    let tokeniser = Tokeniser { min_length: args.min_length, numbers: args.numbers };
    Ok(Reading { tokeniser, stop_words, phrases: args.phrases })
}

/// The anchors of `oil+price, court`, in the form in which words are counted.
fn anchors(text: &str, tokeniser: &Tokeniser) -> Vec<Vec<String>> {
    let word = |word: &str| {
        let words = tokeniser.words(word);
        if words.is_empty() { word.trim().to_owned() } else { words.join(" ") }
    };
    let groups = text.split(',').filter(|group| !group.trim().is_empty());
    groups.map(|group| group.split('+').map(word).collect()).collect()
}

/// The files of `--out`, all of them or none. Gives their names.
fn files(
    folder: &Path,
    documents: &Documents,
    model: &TopicModel,
    summary: &TopicsSummary,
    reading: Option<&Reading>,
) -> Result<Vec<String>, Failure> {
    let mut set = FileSet::new(folder, &output::topics_files());
    let names: Vec<String> = model.anchors.iter().map(|anchor| anchor.name.clone()).collect();
    let (titles, dates) = (&documents.names.titles, documents.names.dates.as_deref());
    set.bytes("topics.csv", report::topics_csv(summary))?;
    set.write("documents.csv", |out| {
        report::documents_csv(out, &names, titles, dates, &model.shares)
    })?;
    set.bytes("words.csv", report::words_csv(model))?;
    let saved = SavedTopics::new(model, reading);
    set.bytes("model.json", serde_json::to_string(&saved).unwrap_or_default())?;
    set.bytes("report.html", topics_page::page(model, summary, dates, &output::command_line()))?;
    output::commit(folder, set, output::SUMMARY, summary, &output::topics_files())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_words_joined_by_plus() {
        let found = anchors("Oil+price, court,, prime minister", &Tokeniser::default());
        let expected = [vec!["oil", "price"], vec!["court"], vec!["prime minister"]];
        assert_eq!(found, expected);
        assert!(anchors(" ", &Tokeniser::default()).is_empty());
    }
}

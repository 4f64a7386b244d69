//! `hottopixx demo`: the topics of a news corpus that is part of the program.

use crate::args;
use crate::failure::Failure;
use crate::job::Session;
use crate::output;
use crate::problem::{Problem, Raw};
use crate::summarise::summary;
use hottopixx::{Method, Objective};
use hottopixx_io::{Format, LoadOptions};
use hottopixx_report::table::{WIDTH, join_fitting, plain};
use hottopixx_report::text::grouped;
use hottopixx_report::{RowValue, Summary};
use std::fmt::Write as _;
use std::io::Read as _;
use std::time::Instant;

/// Number of topics.
const RANK: usize = 10;
/// Words in fewer documents are left out: they are noise, and most of the time.
const MIN_DF: usize = 20;
/// Words in fewer documents cannot name a topic.
const CANDIDATE_DF: usize = 20;
/// Words shown with each topic.
const WORDS: usize = 8;

static DOCWORD: &[u8] = include_bytes!("../../assets/docword.reuters.txt.gz");
static VOCAB: &[u8] = include_bytes!("../../assets/vocab.reuters.txt.gz");

/// Factors the corpus and prints its topics.
pub fn run(args: &args::DemoArgs, started: Instant) -> Result<(), Failure> {
    let session = Session::start(&args.run, args.output.quiet, started)?;
    let text = args::TextArgs {
        cooccurrence: true,
        min_df: MIN_DF,
        candidate_df: CANDIDATE_DF,
        ..args::TextArgs::default()
    };
    let problem = Problem::prepare(corpus()?, &text, None)?;
    output::prepare(args.output.out.as_deref(), &[], &output::answer_files())?;
    let load_seconds = session.elapsed();

    let answer = session.plain(&problem, RANK)?.run(&problem.matrix);
    let answer = problem.restore(answer.map_err(|error| problem.failure(error))?);
    let spa = session.plain(&problem, RANK)?.method(Method::Spa).run(&problem.matrix).ok();
    session.finish();

    let summary = summary(&session, &problem, &answer, Objective::Mean, load_seconds);
    let text = human(&summary, spa.map(|spa| spa.errors.mean_l1));
    output::deliver(&args.output, &problem, &answer, &summary, &text)
}

/// The embedded corpus, words x documents.
fn corpus() -> Result<Raw, Failure> {
    let label = "the built-in news corpus";
    let options = LoadOptions { format: Some(Format::BagOfWords), ..LoadOptions::default() };
    let loaded = hottopixx_io::read(DOCWORD, label, &options)?;
    Ok(Raw {
        label: label.to_owned(),
        matrix: loaded.matrix,
        names: Some(unpacked(VOCAB)?.lines().map(str::to_owned).collect()),
        column_names: None,
        bag_of_words: true,
        table_columns: false,
        missing: hottopixx::Missing::Refuse,
    })
}

/// A word of a story, and how often it occurs in it.
pub(super) type CountedWord = (String, usize);

/// The words of each story, the most frequent first, then by the alphabet.
pub(super) fn stories() -> Result<Vec<Vec<CountedWord>>, Failure> {
    let corpus = corpus()?;
    let mut stories = vec![Vec::new(); corpus.matrix.cols()];
    for (i, word) in corpus.names.iter().flatten().enumerate() {
        for (story, count) in corpus.matrix.row(i).nonzeros() {
            stories[story].push((word.clone(), count as usize));
        }
    }
    for words in &mut stories {
        words.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    }
    Ok(stories)
}

/// An embedded compressed text.
fn unpacked(compressed: &[u8]) -> Result<String, Failure> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(compressed)
        .read_to_string(&mut text)
        .map_err(|error| Failure::Wrong(format!("the built-in corpus is damaged: {error}")))?;
    Ok(text)
}

fn human(summary: &Summary, spa: Option<f64>) -> String {
    let mut out = format!(
        "{} topics of {} news stories. Each is named by one word, the hott word, and\n\
         described by the words it explains best.\n\n",
        summary.rank,
        grouped(summary.documents.unwrap_or(0))
    );
    let widest = summary.hott.iter().map(|topic| topic.label().chars().count()).max().unwrap_or(0);
    for topic in &summary.hott {
        let words: Vec<String> = topic
            .members
            .iter()
            .take(WORDS)
            .map(RowValue::label)
            .map(|word| plain(&word))
            .collect();
        let name = topic.label();
        let pad = " ".repeat(widest.saturating_sub(name.chars().count()));
        let words = join_fitting(&words, " ", WIDTH.saturating_sub(widest + 4));
        let _ = writeln!(out, "  {name}{pad}  {words}");
    }
    let _ = writeln!(
        out,
        "\nThe {} words, written as mixtures of these {}, leave a mean l1 error of {:.3}",
        grouped(summary.features - summary.zero_rows),
        summary.rank,
        summary.error.mean_l1
    );
    if let Some(spa) = spa {
        let _ = writeln!(
            out,
            "(0 is perfect, 1 explains nothing); successive projection leaves {spa:.3}."
        );
    }
    let _ = write!(
        out,
        "It took {:.1} s.\n\n\
         Try next:\n  \
         hottopixx demo --out demo                 F, W and a report for your browser\n  \
         hottopixx factor X.npy --rank 10          your own matrix, rows are features\n  \
         hottopixx factor X.csv --transpose -r 10  rows are samples or documents\n  \
         hottopixx compare X.npy --rank 10         every method on your data\n  \
         hottopixx factor --help                   formats, text, limits\n",
        summary.run.seconds.total
    );
    out
}

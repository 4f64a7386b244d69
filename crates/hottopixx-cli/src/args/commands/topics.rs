//! The flags of `topics` and `apply`.

use crate::args::{DocumentArgs, PrintArgs, RunArgs};
use crate::values;
use clap::Args;
use hottopixx::topics::Recovery;
use std::path::PathBuf;

/// `topics`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hottopixx topics news/ --rank 10                 a folder of .txt files
  hottopixx topics abstracts.txt --rank 20         one document per line
  hottopixx topics papers.csv --column abstract --rank 20 --out answer
  hottopixx topics docword.nips.txt.gz --rank 20   counts of words
  hottopixx topics news.txt --rank 10 --anchors 'oil+price, court'
  hottopixx apply answer new.csv                   topics of other documents

A topic is named by its anchor, a word that belongs to it alone; the words
shown are those that tell it from the others. The anchors come from the
co-occurrence of words; EM steps on the counts (--polish) then make the
documents likely, and every document is fitted on its own. What was left
out, kept and chosen, and why, is said below the table.")]
pub struct TopicsArgs {
    #[command(flatten)]
    pub input: DocumentArgs,
    /// Number of topics
    #[arg(long, short, value_name = "R", value_parser = values::topics, help_heading = "Method")]
    pub rank: usize,
    /// Words to leave out: auto (by the language found), none, a language such as
    /// english, a share such as 0.5 (words in more of the documents), or a FILE with
    /// one word per line
    #[arg(long, value_name = "WHICH", default_value = "auto", help_heading = "Words")]
    pub stop_words: String,
    /// Join two words that stand side by side much more often than by chance
    #[arg(long, help_heading = "Words")]
    pub phrases: bool,
    /// Words of fewer characters do not count
    #[arg(long, value_name = "N", default_value_t = 2, help_heading = "Words")]
    pub min_length: usize,
    /// Words without a letter count too
    #[arg(long, help_heading = "Words")]
    pub numbers: bool,
    /// Set aside words in fewer than N documents (default: by the corpus)
    #[arg(long, value_name = "N", help_heading = "Words")]
    pub min_df: Option<usize>,
    /// Only words in at least N documents name a topic (default: by the corpus)
    #[arg(long, value_name = "N", help_heading = "Words")]
    pub candidate_df: Option<usize>,
    /// Keep at most N words, the most frequent ones (default 30000)
    #[arg(long, value_name = "N", help_heading = "Words")]
    pub max_words: Option<usize>,
    /// Words that name topics, apart by commas; + joins words that name one
    /// together. The others are found
    #[arg(long, value_name = "WORDS", default_value = "", help_heading = "Method")]
    pub anchors: String,
    /// How words are written as mixtures of the anchors: l1, l2 or kl
    #[arg(long, value_name = "HOW", default_value = "l2", value_parser = values::recovery(),
          hide_possible_values = true, help_heading = "Method")]
    pub recovery: Recovery,
    /// EM steps at most; 0 for what the anchors say alone
    #[arg(long, value_name = "STEPS", default_value_t = 50, help_heading = "Method")]
    pub polish: usize,
    #[command(flatten)]
    pub run: RunArgs,
    /// Write report.html, topics.csv, documents.csv, words.csv, summary.json and
    /// model.json to this folder
    #[arg(long, short, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub print: PrintArgs,
}

/// What of the input of `apply` is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum NewData {
    /// Rows, of the columns of X.
    Rows,
    /// Columns, of the rows of X.
    Columns,
}

/// `apply`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hottopixx topics news.txt --rank 10 --out answer
  hottopixx apply answer new.txt                  a table for spreadsheets
  hottopixx apply answer new.txt --out shares     in shares/documents.csv
  hottopixx factor X.npy --rank 10 --out answer
  hottopixx apply answer more.npy                 errors of other rows
  hottopixx apply answer more.npy --out applied   F, rows.csv, summary.json
  hottopixx apply answer later.npy --new columns  new examples, same rows

With an answer of 'factor', INPUT has the columns of X; its rows are
prepared and fitted as those of X were, and errors are in the same units: on
X itself they are those of the answer, to the last bit. INPUT with the rows
of X and other columns (--new columns where X has as many of both): the
entries of the hott rows tell the others, and the errors say how well. With
an answer of 'factor --cooccurrence', INPUT has counts of the same words in
new documents: shares of topics per document, and how well the hott words
explain the co-occurrence of words there.")]
pub struct ApplyArgs {
    /// The folder of 'topics --out' or 'factor --out', the model.json of the former,
    /// or a file that save() of the Python package wrote
    #[arg(value_name = "ANSWER")]
    pub answer: PathBuf,
    #[command(flatten)]
    pub input: DocumentArgs,
    /// With an answer of 'factor': what of INPUT is new, rows or columns (default: by
    /// its size)
    #[arg(long, value_name = "WHAT", value_enum, help_heading = "Input")]
    pub new: Option<NewData>,
    #[command(flatten)]
    pub run: RunArgs,
    /// Write documents.csv (for rows: F, rows.csv, summary.json) to this folder instead
    /// of a table on standard output
    #[arg(long, short, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub print: PrintArgs,
}

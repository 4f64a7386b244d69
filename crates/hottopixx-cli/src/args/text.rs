//! Flags for counts of words in documents.

use crate::values;
use clap::Args;
use hottopixx::text::Weight;
use hottopixx_report::Preparation;

/// For counts of words in documents.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Text (rows are words, columns documents)")]
pub struct TextArgs {
    /// Factor the co-occurrence of words instead of their counts in documents
    #[arg(long)]
    pub cooccurrence: bool,
    /// Set aside words that occur in fewer than N documents
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub min_df: usize,
    /// Only words in at least N documents may be hott
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub candidate_df: usize,
    /// Weight of the counts: none, tfidf or log
    #[arg(long, value_name = "WEIGHT", default_value = "none", value_parser = values::weight(),
          hide_possible_values = true)]
    pub weight: Weight,
}

impl TextArgs {
    /// What is done to the counts, if anything is.
    pub fn preparation(&self) -> Option<Preparation> {
        let TextArgs { cooccurrence, min_df, weight, candidate_df } = *self;
        let done = Preparation { cooccurrence, min_df, weight, candidate_df };
        (done != Preparation::default()).then_some(done)
    }
}

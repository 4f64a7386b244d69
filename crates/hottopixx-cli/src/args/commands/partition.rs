//! The flags of `partition`.

use crate::args::InputArgs;
use clap::Args;
use std::path::PathBuf;

/// `partition`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hottopixx partition docword.nytimes.txt.gz --out corpus
  hottopixx partition samples.csv --transpose --documents 20000 --out corpus
  hottopixx partition news.jsonl --columns text --out corpus     text: its words

then, in Python:
  hottopixx.ray.factor(\"corpus\", 20, matrix=\"cooccurrence\", min_df=50)

Every file holds some columns of INPUT (documents, examples) as rows:
scipy's .npz where INPUT is sparse, .npy where it is dense. vocabulary.txt
holds the names of the terms where they are known, partitions.json the list
of files. INPUT is turned by documents in memory, which takes its size once
more. Text (a folder, .txt, .jsonl, a table with a column of text) is
counted as by 'topics'.")]
pub struct PartitionArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// Documents in a file
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub documents: usize,
    /// Where to write the files: a folder
    #[arg(long, short, value_name = "DIR")]
    pub out: PathBuf,
    /// Say nothing
    #[arg(long, short)]
    pub quiet: bool,
}

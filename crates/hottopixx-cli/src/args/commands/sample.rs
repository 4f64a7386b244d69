//! The flags of `sample`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `sample`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hottopixx sample news && hottopixx topics news.csv --title story --rank 10
  hottopixx sample scene && hottopixx unmix scene.npy --rank 4 --out answer

For matrices whose answer is known, see 'hottopixx generate'.")]
pub struct SampleArgs {
    /// Which data
    #[arg(value_name = "NAME")]
    pub name: SampleName,
    /// Write to this folder
    #[arg(long, short, value_name = "DIR", default_value = ".")]
    pub out: PathBuf,
    /// Say nothing
    #[arg(long, short)]
    pub quiet: bool,
}

/// Data to try things with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SampleName {
    /// The words of the 395 news stories of 'hottopixx demo', one story per line: news.csv
    News,
    /// A made-up scene of 64 x 64 pixels and 100 bands, four materials: scene.npy
    Scene,
}

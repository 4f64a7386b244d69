//! The flags of `generate`.

use crate::values;
use clap::Args;
use std::path::PathBuf;

/// `generate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hottopixx generate paper --features 40 --examples 400 --rank 5 --noise 0.95 \\
      --seed 1 --out X.npy
  hottopixx generate multinomial --features 2000 --examples 5000 --rank 20 \\
      --tokens 100 --out X.npz
  hottopixx generate documents --features 44739 --examples 351849 --rank 100 \\
      --tokens 55 --out X.npz

  hottopixx generate scene --features 2304 --examples 100 --rank 5 --out S.npy
  hottopixx unmix S.npy --rank 5 --shape 48x48

What is left out takes the family's default: 40 x 400 with noise 0.95; all
midpoints with noise 0.6; 1000 x 2000 counts with 100 tokens; 1000 x 2000
words by documents with 50 words in each, or more of both for many topics;
48 x 48 pixels of 100 bands, with noise 1 times what the seed draws.
The truth is written beside the matrix: X.npy comes with X.truth.json, which
'hottopixx evaluate --truth' reads.")]
pub struct GenerateArgs {
    /// Which kind of instance
    #[arg(value_name = "FAMILY", value_parser = values::family())]
    pub family: hottopixx::synth::Family,
    /// Number of hott rows
    #[arg(long, short, value_name = "R")]
    pub rank: usize,
    /// Rows of the matrix
    #[arg(long, value_name = "F")]
    pub features: Option<usize>,
    /// Columns of the matrix
    #[arg(long, value_name = "N")]
    pub examples: Option<usize>,
    /// Further copies of every hott row
    #[arg(long, value_name = "D")]
    pub duplicates: Option<usize>,
    /// eta of the paper's section 5, delta of the midpoints, how far weights stray, or a factor on a scene's noise
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub noise: Option<f64>,
    /// Share of their mass that hott rows have in common, or of others in a scene's pixels, below 1
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub ill: Option<f64>,
    /// Tokens of each document of multinomial; different words in one of documents
    #[arg(long, value_name = "T")]
    pub tokens: Option<usize>,
    /// Fixes everything random
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// Where to write the matrix: .npy, .npz for a sparse one, or .hpx for either
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// Say nothing
    #[arg(long, short)]
    pub quiet: bool,
}

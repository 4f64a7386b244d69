//! The flags of `unmix`.

use crate::args::{PrintArgs, RunArgs};
use crate::values;
use clap::Args;
use hottopixx::unmix::{Abundances, Negative, Outliers};
use hottopixx_io::Format;
use std::path::PathBuf;

/// `unmix`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hottopixx unmix cube.npy --rank 4                  height x width x bands
  hottopixx unmix samson.mat --rank 3 --out answer
  hottopixx unmix pixels.csv --shape 95x95 --rank 3  pixels x bands
  hottopixx unmix bands.npy --transpose --shape 95x95 --rank 3
  hottopixx unmix cube.npy --rank 4 --negative clip --wavelengths nm.txt \\
      --out answer

Every material is named by a pure pixel; its spectrum is the mean of the
purest pixels. Bands are weighed by their noise; dark pixels, and pixels
that nothing else is like, name no material; neighbours that look the same
are averaged. Brightness plays no part in the choice. --out writes the maps
as abundances.npy and, to look at, as report.html.")]
pub struct UnmixArgs {
    /// The scene: .npy or .mat of height x width x bands, or a matrix of pixels x
    /// bands in any format; - for standard input
    #[arg(value_name = "CUBE", help_heading = "Arguments")]
    pub path: PathBuf,
    /// Number of materials
    #[arg(long, short, value_name = "R", value_parser = values::rank, help_heading = "Method")]
    pub rank: usize,
    /// Height and width of the scene, for files of pixels x bands (row by row)
    #[arg(long, value_name = "HxW", value_parser = values::shape, help_heading = "Input")]
    pub shape: Option<(usize, usize)>,
    /// Bands come first: bands x pixels, or bands x height x width
    #[arg(long, help_heading = "Input")]
    pub transpose: bool,
    /// Which array of a .mat or .npz file, when it holds several
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    pub key: Option<String>,
    /// npy, npz, mtx, csv or tsv, instead of by extension
    #[arg(long, value_name = "FORMAT", value_parser = values::format, help_heading = "Input")]
    pub format: Option<Format>,
    /// Wavelengths of the bands, one per line, for the page
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub wavelengths: Option<PathBuf>,
    /// Memory that the scene may take, such as 8GiB (default: three quarters of the
    /// machine's)
    #[arg(long, value_name = "SIZE", value_parser = values::bytes, help_heading = "Input")]
    pub memory: Option<u64>,
    /// Values below zero: refuse, or clip (count them as zero)
    #[arg(long, value_name = "HOW", default_value = "refuse", value_parser = values::negative(),
          hide_possible_values = true, help_heading = "Input")]
    pub negative: Negative,
    /// Shares of materials: free (in units of the spectra) or sum-to-one
    #[arg(long, value_name = "HOW", default_value = "free", value_parser = values::abundances(),
          hide_possible_values = true, help_heading = "Method")]
    pub abundances: Abundances,
    /// Pixels that may be set aside as like nothing else: auto, none, or at most N
    #[arg(long, value_name = "N", default_value = "auto", help_heading = "Method")]
    pub outliers: Outliers,
    #[command(flatten)]
    pub run: RunArgs,
    /// Write materials.csv, abundances.npy, spectra.npy, pixel_spectra.npy,
    /// errors.npy, summary.json and report.html to this folder
    #[arg(long, short, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub print: PrintArgs,
}

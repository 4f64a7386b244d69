//! The flags of `demo`.

use crate::args::{OutputArgs, RunArgs};
use clap::Args;

/// `demo`.
#[derive(Debug, Args)]
#[command(after_help = "\
The corpus: 395 news stories of 1996-97, part of the program. Words that
occur in at least 20 of them are factored through their co-occurrence.")]
pub struct DemoArgs {
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

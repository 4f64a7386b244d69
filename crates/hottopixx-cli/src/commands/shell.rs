//! `hottopixx completions`: made of the flags as they are declared.

use crate::args::{Cli, CompletionsArgs};
use crate::failure::{Failure, print_data};
use clap::CommandFactory as _;

/// What the shell runs to complete words of a command line.
pub fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "hottopixx", &mut script);
    print_data(&String::from_utf8_lossy(&script))
}

//! The `hottopixx` program: flags in, library calls, reports out.
//!
//! The program is glue. `args` declares the flags, `job` turns them into a checked problem and
//! settings, one file of `commands` per command carries it out, and `output` writes what came of
//! it. Exit codes are a contract, kept in `failure`. All of it is a library, so that the Python
//! package brings the same program along: [`main`] is what `main.rs` and the package call.

mod args;
mod checkpoint;
mod commands;
mod config;
mod constraints;
mod control;
mod documents;
mod earlier;
mod failure;
mod job;
mod json;
mod launch;
mod log;
mod memory;
mod output;
mod problem;
mod progress;
mod rows;
mod summarise;
mod values;
mod version;

pub use launch::Launch;

use clap::Parser as _;
use std::time::Instant;

/// Runs the program as it was launched, and gives its exit code: 0 done; 1 wrong data or options; 2
/// usage; 3 no answer; 130 interrupted. From then on Ctrl-C belongs to the program, so that a process
/// calls this once.
pub fn main(mut launch: Launch) -> u8 {
    let started = Instant::now();
    match config::applied(launch.words) {
        Ok(words) => launch.words = words,
        Err(failure) => return failure.report(),
    }
    let words = launch.set();
    let cli = match args::Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(said) => {
            // Help is no error. A closed standard output or error is no reason to fail.
            let _ = said.print();
            return said.exit_code().try_into().unwrap_or(2);
        }
    };
    match commands::run(&cli.command, started) {
        Ok(()) => 0,
        Err(failure) => failure.report(),
    }
}

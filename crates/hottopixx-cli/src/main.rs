//! The `hottopixx` program: flags in, library calls, reports out.
//!
//! The binary is glue. [`args`] declares the flags, [`job`] turns them into a checked problem and
//! settings, one file of [`commands`] per command carries it out, and [`output`] writes what came of
//! it. Exit codes are a contract, kept in [`failure`].

mod args;
mod checkpoint;
mod commands;
mod control;
mod documents;
mod failure;
mod job;
mod json;
mod log;
mod memory;
mod output;
mod problem;
mod progress;
mod rows;
mod summarise;
mod values;

use clap::Parser as _;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let started = Instant::now();
    let cli = args::Cli::parse();
    match commands::run(&cli.command, started) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

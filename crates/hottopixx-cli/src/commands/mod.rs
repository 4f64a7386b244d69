//! One file per command.

mod apply;
mod certify;
mod compare;
mod demo;
mod evaluate;
mod factor;
pub mod generate;
mod info;
mod manual;
mod partition;
mod rank;
pub mod reproduce;
mod sample;
mod self_test;
mod shell;
mod topics;
mod unmix;
mod verify;

use crate::args::Command;
use crate::failure::Failure;
use std::time::Instant;

/// Carries out a command; `started` is when the program began.
pub fn run(command: &Command, started: Instant) -> Result<(), Failure> {
    hottopixx_io::explain_lost_files();
    match command {
        Command::Demo(args) => demo::run(args, started),
        Command::Topics(args) => topics::run(args, started),
        Command::Unmix(args) => unmix::run(args, started),
        Command::Apply(args) => apply::run(args, started),
        Command::Factor(args) => factor::run(args, started),
        Command::Sample(args) => sample::run(args),
        Command::Generate(args) => generate::run(args),
        Command::Info(args) => info::run(args),
        Command::Evaluate(args) => evaluate::run(args, started),
        Command::Certify(args) => certify::run(args, started),
        Command::Rank(args) => rank::run(args, started),
        Command::Verify(args) => verify::run(args, started),
        Command::Compare(args) => compare::run(args, started),
        Command::Partition(args) => partition::run(args),
        Command::Reproduce(args) => reproduce::run(args, started),
        Command::SelfTest => self_test::run(started),
        Command::Completions(args) => shell::completions(args),
        Command::Man(args) => manual::run(args),
        Command::Bench { .. } => Err(Failure::Wrong(
            "bench is a command of the developers' program: run 'hottopixx-study bench'".to_owned(),
        )),
    }
}

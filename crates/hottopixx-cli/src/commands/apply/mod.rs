//! `hottopixx apply`: a saved answer on new data. What it does depends on the answer: topics of documents
//! (`topics`), or rows explained by the hott rows of a factorization (`rows`).

mod rows;
mod saved;
mod topics;

use crate::args;
use crate::failure::Failure;
use std::time::Instant;

/// Finds out what the answer is, and applies it.
pub fn run(args: &args::ApplyArgs, started: Instant) -> Result<(), Failure> {
    match saved::Factors::read(&args.answer, args.input.memory)? {
        Some(factors) => rows::run(args, factors, started),
        None => topics::run(args, started),
    }
}

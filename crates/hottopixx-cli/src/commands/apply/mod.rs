//! `hottopixx apply`: a saved answer on new data. What it does depends on the answer: topics of documents
//! (`topics`); for a factorization rows explained by its hott rows (`rows`), columns whose other entries are told by
//! those of the hott rows (`columns`), or for co-occurrences of words new documents (`documents`).

mod columns;
mod documents;
mod rows;
mod saved;
mod topics;

use crate::args;
use crate::failure::Failure;
use std::time::Instant;

/// Finds out what the answer is, and applies it.
pub fn run(args: &args::ApplyArgs, started: Instant) -> Result<(), Failure> {
    match saved::Factors::read(&args.answer, args.input.memory)? {
        Some(factors) if factors.prepared.cooccurrence => documents::run(args, factors, started),
        Some(factors) => rows::run(args, factors, started),
        None => topics::run(args, started),
    }
}

//! `--memory`: what a run will take is said before it starts, and what cannot fit is refused then.

use crate::args::{self, Input, Text};
use crate::failure::{Failure, say};
use crate::problem::Raw;
use hottopixx::matrix::Shape;
use hottopixx::{Factor, Footprint, Method};
use hottopixx_io::{Source, peek};
use hottopixx_report::text::size;

/// Runs that take less are not worth a line.
const WORTH_SAYING: u64 = 1 << 30;

/// Runs that take less than the program itself are never refused.
const SMALL: u64 = 64 << 20;

/// What a run may take, and what is known about it beforehand.
struct Plan {
    footprint: Footprint,
    limit: u64,
    mapped: bool,
}

impl Plan {
    /// Bytes of the limit that the matrix leaves; one in a mapped file leaves all.
    fn beside(limit: u64, shape: Shape, mapped: bool) -> u64 {
        if mapped { limit } else { limit.saturating_sub(shape.bytes()) }
    }

    fn new(factor: &Factor, shape: Shape, mapped: bool, limit: u64) -> Self {
        let factor = factor.clone().memory(Plan::beside(limit, shape, mapped));
        Plan { footprint: factor.footprint(shape), limit, mapped }
    }

    /// Bytes that count against the limit.
    fn needed(&self) -> u64 {
        let Footprint { matrix, .. } = self.footprint;
        self.footprint.data() - if self.mapped { matrix } else { 0 }
    }

    fn fits(&self) -> bool {
        self.needed() <= self.limit.max(SMALL)
    }
}

/// Refuses, from the header of the file alone, what cannot fit. Says nothing about text that is
/// turned into something else first, and about files whose size only reading tells.
pub fn foresee(args: &args::Factor, factor: &Factor) -> Result<(), Failure> {
    let Text { cooccurrence, min_df, .. } = args.text;
    if cooccurrence || min_df > 0 {
        return Ok(());
    }
    let source = Source::path(&args.input.path);
    let Some(header) = peek(&source, &Raw::options(&args.input)) else { return Ok(()) };
    let [rows, cols] = [header.rows, header.cols].map(|v| usize::try_from(v).unwrap_or(usize::MAX));
    let entries = header.nonzeros.map_or(rows.saturating_mul(cols), |n| n as usize);
    let shape = Shape { rows, cols, entries, dense: header.dense };
    if shape.entries > isize::MAX as usize / 64 {
        return Ok(()); // loading will say so
    }
    let plan = Plan::new(factor, shape, header.mapped, limit(&args.input));
    check(&source.name(), factor, shape, &plan)
}

/// Gives the factorization what the limit leaves, and what it will take at most; an error when that
/// is too much.
pub fn plan(
    factor: Factor,
    raw: (&str, Shape, bool),
    input: &Input,
    quiet: bool,
) -> Result<(Factor, u64), Failure> {
    let (label, shape, mapped) = raw;
    let limit = limit(input);
    let plan = Plan::new(&factor, shape, mapped, limit);
    check(label, &factor, shape, &plan)?;
    let predicted = plan.footprint.peak();
    if predicted >= WORTH_SAYING && !quiet {
        say(&format!("memory: at most {}, {} are allowed", size(predicted), size(limit)));
    }
    Ok((factor.memory(Plan::beside(limit, shape, mapped)), predicted))
}

fn limit(input: &Input) -> u64 {
    input.memory.unwrap_or_else(hottopixx_io::usual_memory)
}

fn check(label: &str, factor: &Factor, shape: Shape, plan: &Plan) -> Result<(), Failure> {
    if plan.fits() {
        return Ok(());
    }
    let others = Method::ALL.into_iter().filter(|method| method.must_be_told().is_empty());
    let mut others: Vec<(u64, Method)> = others
        .map(|method| {
            (Plan::new(&factor.clone().method(method), shape, plan.mapped, plan.limit), method)
        })
        .filter(|(plan, _)| plan.fits())
        .map(|(plan, method)| (plan.needed(), method))
        .collect();
    others.sort_by_key(|other| other.0);
    let remedy = match &others[..] {
        [] => "raise --memory, lower --rank, or give fewer rows or columns".to_owned(),
        [(needed, method), ..] => {
            format!(
                "raise --memory, or choose --method {}, which takes {}",
                method.name(),
                size(*needed)
            )
        }
    };
    Err(Failure::Wrong(format!(
        "{label}: this run would take {} of memory, but {} are allowed: {remedy}",
        size(plan.needed()),
        size(plan.limit)
    )))
}

//! `--memory`: what a run will take is said before it starts, and what cannot fit is refused then.

use crate::args::{DocumentArgs, FactorArgs, InputArgs, TextArgs};
use crate::documents::Documents;
use crate::failure::{Failure, say};
use crate::problem::Raw;
use hottopixx::matrix::Shape;
use hottopixx::topics::Topics;
use hottopixx::{Factor, Footprint, Method};
use hottopixx_io::{Source, machine, peek};
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

/// How much memory is allowed.
#[derive(Clone, Copy)]
struct Allowed {
    /// By `--memory`: runs keep to it, if need be with another answer.
    pinned: Option<u64>,
    /// By the machine: runs that need more are refused, and no answer depends on it.
    machine: u64,
}

impl Allowed {
    fn by(input: &InputArgs) -> Self {
        Allowed { pinned: input.memory, machine: machine::usual_memory() }
    }

    fn limit(self) -> u64 {
        self.pinned.unwrap_or(self.machine)
    }

    /// The factorization, told what `--memory` leaves beside the matrix; one in a mapped file leaves
    /// all.
    fn tell(self, factor: Factor, shape: Shape, mapped: bool) -> Factor {
        match self.pinned {
            Some(limit) if mapped => factor.memory(limit),
            Some(limit) => factor.memory(limit.saturating_sub(shape.bytes())),
            None => factor,
        }
    }
}

impl Plan {
    fn new(factor: &Factor, shape: Shape, mapped: bool, allowed: Allowed) -> Self {
        let factor = allowed.tell(factor.clone(), shape, mapped);
        Plan { footprint: factor.footprint(shape), limit: allowed.limit(), mapped }
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
pub fn foresee(args: &FactorArgs, factor: &Factor) -> Result<(), Failure> {
    let TextArgs { cooccurrence, min_df, .. } = args.text;
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
    let allowed = Allowed::by(&args.input);
    let plan = Plan::new(factor, shape, header.mapped, allowed);
    check(&source.name(), factor, shape, &plan, allowed)
}

/// What topics of these documents will take at most; an error when that is more than is allowed.
pub fn plan_topics(
    topics: &Topics,
    documents: &Documents,
    input: &DocumentArgs,
    quiet: bool,
) -> Result<u64, Failure> {
    let names = documents.names.titles.iter().chain(documents.names.dates.iter().flatten());
    // A name that was put together piece by piece may have room for twice its length.
    let names: u64 = names.map(|name| 40 + 2 * name.len() as u64).sum();
    let needed = topics.footprint(&documents.corpus) + names;
    let limit = input.memory.unwrap_or_else(machine::usual_memory);
    if needed > limit.max(SMALL) {
        return Err(Failure::Wrong(format!(
            "{}: this run would take {} of memory, but {} are allowed: raise --memory, keep fewer words \
             (--max-words, --min-df), ask for fewer topics or give fewer documents",
            documents.label,
            size(needed),
            size(limit)
        )));
    }
    let predicted = Footprint::PROGRAM + needed;
    if predicted >= WORTH_SAYING && !quiet {
        say(&format!("memory: at most {}, {} are allowed", size(predicted), size(limit)));
    }
    Ok(predicted)
}

/// Refuses shares of documents that take more than is allowed.
pub fn check_shares(numbers: usize, input: &DocumentArgs) -> Result<(), hottopixx::Error> {
    let limit = input.memory.unwrap_or_else(machine::usual_memory).max(SMALL);
    if 8 * numbers as u64 <= limit {
        return Ok(());
    }
    Err(hottopixx::Error::Setting {
        name: "memory",
        value: size(limit),
        remedy:
            "the shares of the documents take more: allow more, or give fewer documents at a time"
                .to_owned(),
    })
}

/// Gives the factorization what `--memory` leaves, and what it will take at most; an error when that
/// is more than is allowed.
pub fn plan(
    factor: Factor,
    raw: (&str, Shape, bool),
    input: &InputArgs,
    quiet: bool,
) -> Result<(Factor, u64), Failure> {
    let allowed = Allowed::by(input);
    let (factor, predicted) = plan_within(factor, raw, allowed)?;
    if predicted >= WORTH_SAYING && !quiet {
        let (most, limit) = (size(predicted), size(allowed.limit()));
        say(&format!("memory: at most {most}, {limit} are allowed"));
    }
    Ok((factor, predicted))
}

fn plan_within(
    factor: Factor,
    (label, shape, mapped): (&str, Shape, bool),
    allowed: Allowed,
) -> Result<(Factor, u64), Failure> {
    let plan = Plan::new(&factor, shape, mapped, allowed);
    check(label, &factor, shape, &plan, allowed)?;
    Ok((allowed.tell(factor, shape, mapped), plan.footprint.peak()))
}

fn check(
    label: &str,
    factor: &Factor,
    shape: Shape,
    plan: &Plan,
    allowed: Allowed,
) -> Result<(), Failure> {
    if plan.fits() {
        return Ok(());
    }
    Err(Failure::Wrong(format!(
        "{label}: this run would take {} of memory, but {} are allowed: {}",
        size(plan.needed()),
        size(plan.limit),
        remedy(factor, shape, plan.mapped, allowed)
    )))
}

/// What would fit.
fn remedy(factor: &Factor, shape: Shape, mapped: bool, allowed: Allowed) -> String {
    // Who says so may have less memory and another answer; nobody gets one without asking.
    let pinned = Allowed { pinned: Some(allowed.machine), ..allowed };
    if allowed.pinned.is_none() && Plan::new(factor, shape, mapped, pinned).fits() {
        let limit = size(allowed.machine);
        return format!(
            "give --memory {}, within which the method gives another answer",
            limit.replace(' ', "")
        );
    }
    let others = Method::ALL.into_iter().filter(|method| method.requires().is_empty());
    let mut others: Vec<(u64, Method)> = others
        .map(|method| (Plan::new(&factor.clone().method(method), shape, mapped, allowed), method))
        .filter(|(plan, _)| plan.fits())
        .map(|(plan, method)| (plan.needed(), method))
        .collect();
    others.sort_by_key(|other| other.0);
    match &others[..] {
        [] => "raise --memory, lower --rank, or give fewer rows or columns".to_owned(),
        [(needed, method), ..] => {
            let (name, needed) = (method.name(), size(*needed));
            format!("raise --memory, or choose --method {name}, which takes {needed}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hottopixx::matrix::{Dense, Matrix};

    const GIB: u64 = 1 << 30;

    fn sparse(rows: usize, cols: usize, entries: usize) -> Shape {
        Shape { rows, cols, entries, dense: false }
    }

    /// The same input and options are the same run on any machine that can carry it out at all.
    #[test]
    fn no_answer_depends_on_the_memory_of_the_machine() {
        let matrix = Matrix::from(Dense::from_rows(&[[1.0, 2.0], [3.0, 1.0]]).unwrap());
        let shape = sparse(100_000, 1_000_000, 50_000_000);
        for method in Method::ALL {
            let factor = || Factor::new(100).method(method).threads(2);
            let on = |machine: u64| {
                let allowed = Allowed { pinned: None, machine };
                let (told, predicted) = plan_within(factor(), ("x", shape, false), allowed)?;
                Ok((told.fingerprint(&matrix), predicted))
            };
            let plain = factor().fingerprint(&matrix);
            let found: Vec<Result<(u64, u64), Failure>> = [4, 64, 1024].map(|m| on(m * GIB)).into();
            assert!(found.iter().flatten().all(|run| run.0 == plain), "{}", method.name());
            let predictions: Vec<u64> = found.iter().flatten().map(|run| run.1).collect();
            assert!(predictions.windows(2).all(|pair| pair[0] == pair[1]));
            assert!(found[2].is_ok());
        }
    }

    #[test]
    fn a_limit_that_was_asked_for_is_kept_to_and_one_that_was_not_is_offered() {
        // In a mapped file, so that only the copy in single precision counts: whole or in windows.
        let shape = Shape { rows: 2000, cols: 200_000, entries: 400_000_000, dense: true };
        let factor = || Factor::new(100).method(Method::Hottopixx).threads(2);
        let run = |pinned: Option<u64>| {
            let allowed = Allowed { pinned, machine: 3 * GIB / 2 };
            plan_within(factor(), ("x", shape, true), allowed)
        };
        let Err(Failure::Wrong(sentence)) = run(None) else { panic!("not refused") };
        assert!(sentence.contains("give --memory 1.5GiB, within which"), "{sentence}");
        assert!(run(Some(3 * GIB / 2)).is_ok());
    }
}

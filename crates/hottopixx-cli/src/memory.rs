//! `--memory`: what a command will take is said before it starts, and what cannot fit is refused then.
//!
//! Every command asks before it takes memory: from the header of its file ([`Planner::foresee`],
//! [`foresee_copies`]), and again when the matrix is there ([`Planner::plan`]). Both are arithmetic,
//! whatever the header claims.

use crate::args::{DocumentArgs, InputArgs, TextArgs};
use crate::documents::Documents;
use crate::failure::{Failure, say};
use crate::problem::{Problem, Raw};
use hottopixx::matrix::Shape;
use hottopixx::topics::Topics;
use hottopixx::{Factor, Footprint, Method, Work};
use hottopixx_io::{FileHeader, LoadOptions, Source, machine, peek};
use hottopixx_report::text::size;

/// Runs that take less are not worth a line.
const WORTH_SAYING: u64 = 1 << 30;

/// Runs that take less than the program itself are never refused.
const SMALL: u64 = 64 << 20;

/// Bytes for each row and column of a matrix: where it begins, sums, counts, a name.
const PER_LINE: u64 = 32;

/// What a command will do, and within which limits.
#[derive(Clone, Copy)]
pub struct Planner {
    work: Work,
    allowed: Allowed,
}

impl Planner {
    /// For a command that does this with its input.
    pub fn new(work: Work, input: &InputArgs) -> Self {
        Planner { work, allowed: Allowed::by(input.memory) }
    }

    /// Refuses, from the header of the file alone, what cannot fit. Of text that is turned into something
    /// else first, and of files whose size only reading tells, it says what is certain.
    pub fn foresee(
        &self,
        factor: &Factor,
        input: &InputArgs,
        text: &TextArgs,
    ) -> Result<(), Failure> {
        let source = Source::path(&input.path);
        let Some(header) = peek(&source, &Raw::options(input)) else { return Ok(()) };
        if text.cooccurrence || text.min_df > 0 {
            return self.allowed.hold(&source.name(), &header, 1);
        }
        let sizes = [header.rows, header.cols];
        let [rows, cols] = sizes.map(|v| usize::try_from(v).unwrap_or(usize::MAX));
        let entries = header.nonzeros.map_or(rows.saturating_mul(cols), |n| n as usize);
        let shape = Shape { rows, cols, entries, dense: header.dense };
        self.check(&source.name(), factor, Data { shape, mapped: header.mapped, held: 0 })
    }

    /// Gives the factorization what `--memory` leaves, and what it will take at most; an error when that
    /// is more than is allowed.
    pub fn plan(
        &self,
        factor: Factor,
        problem: &Problem,
        quiet: bool,
    ) -> Result<(Factor, u64), Failure> {
        let (factor, predicted) = self.plan_for(factor, &problem.label, Data::of(problem))?;
        let predicted = predicted.max(problem.taken);
        self.allowed.announce(predicted, quiet);
        Ok((factor, predicted))
    }

    /// The factorization, told what `--memory` leaves beside the data.
    pub fn within(&self, factor: Factor, problem: &Problem) -> Factor {
        self.allowed.tell(factor, Data::of(problem))
    }

    fn plan_for(&self, factor: Factor, label: &str, data: Data) -> Result<(Factor, u64), Failure> {
        self.check(label, &factor, data)?;
        let told = self.allowed.tell(factor, data);
        let peak = told.footprint_of(self.work, data.shape).peak();
        Ok((told, peak.saturating_add(data.held)))
    }

    fn check(&self, label: &str, factor: &Factor, data: Data) -> Result<(), Failure> {
        let needed = self.needed(factor, data);
        if self.allowed.allows(needed) {
            return Ok(());
        }
        let remedy = self.remedy(factor, data);
        Err(self.allowed.refusal(label, "this run", needed, &remedy))
    }

    /// Bytes that count against the limit.
    fn needed(&self, factor: &Factor, data: Data) -> u64 {
        let footprint = self.allowed.tell(factor.clone(), data).footprint_of(self.work, data.shape);
        let own = if data.mapped { footprint.matrix } else { 0 };
        (footprint.data() - own).saturating_add(data.held)
    }

    /// What would fit.
    fn remedy(&self, factor: &Factor, data: Data) -> String {
        // Who says so may have less memory and another answer; nobody gets one without asking.
        let pinned = Allowed { pinned: Some(self.allowed.machine), ..self.allowed };
        let other = Planner { allowed: pinned, ..*self };
        if self.allowed.pinned.is_none() && pinned.allows(other.needed(factor, data)) {
            let limit = size(self.allowed.machine);
            return format!(
                "give --memory {}, within which the method gives another answer",
                limit.replace(' ', "")
            );
        }
        const FEWER: &str = "raise --memory, lower --rank, or give fewer rows or columns";
        if self.work != Work::Run {
            return FEWER.to_owned();
        }
        let others = Method::ALL.into_iter().filter(|method| method.requires().is_empty());
        let needed = |method| self.needed(&factor.clone().method(method).only_used(), data);
        let others = others.map(|method| (needed(method), method));
        match others.filter(|other| self.allowed.allows(other.0)).min_by_key(|other| other.0) {
            None => FEWER.to_owned(),
            Some((needed, method)) => {
                let (name, needed) = (method.name(), size(needed));
                format!("raise --memory, or choose --method {name}, which takes {needed}")
            }
        }
    }
}

/// Refuses, from the header of the file alone, a matrix that cannot be held `copies` times over.
pub fn foresee_copies(source: &Source, options: &LoadOptions, copies: u64) -> Result<(), Failure> {
    match peek(source, options) {
        Some(header) => Allowed::by(options.max_bytes).hold(&source.name(), &header, copies),
        None => Ok(()),
    }
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
    let needed = topics.footprint(&documents.corpus).saturating_add(names);
    let allowed = Allowed::by(input.memory);
    if !allowed.allows(needed) {
        let remedy = "raise --memory, keep fewer words (--max-words, --min-df), ask for fewer topics or give \
                      fewer documents";
        return Err(allowed.refusal(&documents.label, "this run", needed, remedy));
    }
    let predicted = Footprint::PROGRAM.saturating_add(needed);
    allowed.announce(predicted, quiet);
    Ok(predicted)
}

/// Refuses shares of documents that take more than is allowed.
pub fn check_shares(numbers: usize, input: &DocumentArgs) -> Result<(), hottopixx::Error> {
    let allowed = Allowed::by(input.memory);
    if allowed.allows(8 * numbers as u64) {
        return Ok(());
    }
    Err(hottopixx::Error::Setting {
        name: "memory",
        value: size(allowed.limit()),
        remedy:
            "the shares of the documents take more: allow more, or give fewer documents at a time"
                .to_owned(),
    })
}

/// What is known of the data of a run.
#[derive(Clone, Copy)]
struct Data {
    /// The matrix.
    shape: Shape,
    /// Whether it lies in a mapped file, and so takes no memory of its own.
    mapped: bool,
    /// Bytes of what is kept beside it.
    held: u64,
}

impl Data {
    fn of(problem: &Problem) -> Self {
        let (matrix, held) = (&problem.matrix, problem.held);
        Data { shape: Shape::from(matrix), mapped: matrix.is_foreign(), held }
    }
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
    fn by(memory: Option<u64>) -> Self {
        Allowed { pinned: memory, machine: machine::usual_memory() }
    }

    fn limit(self) -> u64 {
        self.pinned.unwrap_or(self.machine)
    }

    fn allows(self, needed: u64) -> bool {
        needed <= self.limit().max(SMALL)
    }

    /// Says what a run will take at most, where it is worth a line.
    fn announce(self, predicted: u64, quiet: bool) {
        if predicted >= WORTH_SAYING && !quiet {
            let (most, limit) = (size(predicted), size(self.limit()));
            say(&format!("memory: at most {most}, {limit} are allowed"));
        }
    }

    /// The factorization, told what `--memory` leaves beside the matrix; one in a mapped file leaves
    /// all.
    fn tell(self, factor: Factor, data: Data) -> Factor {
        let own = if data.mapped { 0 } else { data.shape.bytes() };
        match self.pinned {
            Some(limit) => factor.memory(limit.saturating_sub(own.saturating_add(data.held))),
            None => factor,
        }
    }

    /// Whether a matrix can be held this many times over, with some numbers per row and column.
    fn hold(self, label: &str, header: &FileHeader, copies: u64) -> Result<(), Failure> {
        let own = if header.mapped { copies - 1 } else { copies };
        let sizes = header.rows.saturating_add(header.cols).saturating_mul(PER_LINE);
        let needed = header.bytes.saturating_mul(own).saturating_add(sizes);
        if self.allows(needed) {
            return Ok(());
        }
        let what = format!("a matrix of {} x {}", header.rows, header.cols);
        let remedy = "raise --memory, or give fewer rows or columns";
        Err(self.refusal(label, &what, needed, remedy))
    }

    fn refusal(self, label: &str, what: &str, needed: u64, remedy: &str) -> Failure {
        let (needed, limit) = (size(needed), size(self.limit()));
        Failure::Wrong(format!(
            "{label}: {what} would take {needed} of memory, but {limit} are allowed: {remedy}"
        ))
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
                let planner =
                    Planner { work: Work::Run, allowed: Allowed { pinned: None, machine } };
                let data = Data { shape, mapped: false, held: 0 };
                let (told, predicted) = planner.plan_for(factor(), "x", data)?;
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
            let planner = Planner { work: Work::Run, allowed };
            planner.plan_for(factor(), "x", Data { shape, mapped: true, held: 0 })
        };
        let Err(Failure::Wrong(sentence)) = run(None) else { panic!("not refused") };
        assert!(sentence.contains("give --memory 1.5GiB, within which"), "{sentence}");
        assert!(run(Some(3 * GIB / 2)).is_ok());
    }
}

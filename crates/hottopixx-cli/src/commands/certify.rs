//! `hottopixx certify`: bounds for every choice of rows, verified, and the paper's theorem.

use crate::args;
use crate::failure::{Failure, print};
use crate::job::{self, Session};
use crate::memory::Planner;
use crate::output::{self, paragraph};
use crate::problem::Problem;
use crate::summarise::run_facts;
use hottopixx::Goal;
use hottopixx::certify::{Claims, Theory, Verified};
use hottopixx::choice::SearchSettings;
use hottopixx::control::Stop;
use hottopixx::matrix::{Dense, Matrix, Sparse};
use hottopixx::{Certified, Errors, Factor, Method, Work};
use hottopixx_io::write::FileSet;
use hottopixx_report::bounds;
use hottopixx_report::table::plain;
use hottopixx_report::text::{grouped, line};
use hottopixx_report::{
    ChoiceProof, NamedHott, Proof, RunFacts, Theorem, numbered, six, six_down, six_up,
};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Instant;

/// All there is to say, as `--json` prints it.
#[derive(Serialize)]
struct CertifyReport {
    input: String,
    features: usize,
    examples: usize,
    nonzeros: usize,
    rank: usize,
    method: &'static str,
    hott: Vec<NamedHott>,
    error: Errors,
    /// The largest error with weights of at most one, which the bound of minimax is about.
    bounded_inf1: f64,
    #[serde(rename = "certificate")]
    proof: Proof,
    /// Every choice of this many rows, with weights as free as in the error.
    choice: Option<ChoiceProof>,
    theorem: Option<Theorem>,
    zero_rows: usize,
    stop: Stop,
    #[serde(flatten)]
    run: RunFacts,
}

/// The part of certificate.json that `verify` reads.
#[derive(Debug, Serialize, Deserialize)]
pub struct Written {
    /// What was solved.
    pub program: WrittenProgram,
    /// How X was made of the input.
    pub prepared: Prepared,
    /// Row of the input for each row of X.
    pub rows: Vec<usize>,
    /// Whether a row of X may be hott.
    pub allowed: Vec<bool>,
    /// p by row of X.
    pub cost: Vec<f64>,
    /// What the verifier found; nothing where it refused.
    pub claims: Option<Claims>,
    /// The bound for choices of rows, whose cuts are in choice_Y; nothing where there is none.
    #[serde(default)]
    pub choice_certificate: Option<WrittenChoice>,
}

/// A certificate for choices of rows, without the duals of its cuts.
#[derive(Debug, Serialize, Deserialize)]
pub struct WrittenChoice {
    /// How many rows are chosen.
    pub rank: usize,
    /// Every choice has a largest error above this.
    pub threshold: f64,
    /// The row of X that each cut is of.
    pub rows: Vec<usize>,
    /// What each cut counts.
    pub multipliers: Vec<f64>,
}

/// A linear program.
#[derive(Debug, Serialize, Deserialize)]
pub struct WrittenProgram {
    /// What is made small.
    pub goal: Goal,
    /// The trace of C, where it is not free.
    pub trace: Option<usize>,
}

/// The flags that say what X is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prepared {
    /// `--transpose`.
    pub transpose: bool,
    /// `--key`.
    pub key: Option<String>,
    /// How a table was read.
    #[serde(default)]
    pub table: args::TableArgs,
    /// `--cooccurrence`.
    pub cooccurrence: bool,
    /// `--min-df`.
    pub min_df: usize,
    /// `--candidate-df`.
    pub candidate_df: usize,
    /// `--weight`.
    pub weight: String,
}

impl Prepared {
    /// What the flags say.
    pub fn new(file: &args::FileArgs, text: &args::TextArgs) -> Self {
        Prepared {
            transpose: file.transpose,
            key: file.key.clone(),
            table: file.table.clone(),
            cooccurrence: text.cooccurrence,
            min_df: text.min_df,
            candidate_df: text.candidate_df,
            weight: text.weight.name().to_owned(),
        }
    }

    /// The flags for text.
    ///
    /// # Errors
    /// The library's sentence for a weight that it does not know.
    pub fn text(&self) -> Result<args::TextArgs, hottopixx::Error> {
        let (min_df, candidate_df, weight) = (self.min_df, self.candidate_df, self.weight.parse()?);
        Ok(args::TextArgs { cooccurrence: self.cooccurrence, min_df, candidate_df, weight })
    }
}

/// The files of `--out`.
fn certificate_files() -> Vec<String> {
    let mut files = output::matrix_files(&output::CERTIFICATE);
    files.push("certificate.json".to_owned());
    files
}

/// Loads, solves, verifies, reports.
pub fn run(args: &args::CertifyArgs, started: Instant) -> Result<(), Failure> {
    let method: Method = args.method.parse().map_err(Failure::of_setting)?;
    let session = Session::start(&args.run, args.print.quiet, started)?;
    let planner = Planner::new(Work::Certify, &args.input);
    let named = args.hott.as_ref().map(|hott| hottopixx_io::list_items(hott).len());
    let sketch = Factor::new(named.or(args.rank).unwrap_or(1)).method(method);
    let problem = session.load(&args.input, &args.text, &planner, &sketch)?;
    let cost = job::numbers(args.cost.as_deref(), &problem, "costs")?;
    let reads =
        [Some(args.input.path.as_path()), args.input.names.as_deref(), args.cost.as_deref()];
    output::prepare(args.out.as_deref(), &reads, &certificate_files())?;
    let load = session.elapsed();

    let rows = args.hott.as_ref().map(|hott| problem.rows_named(hott)).transpose()?;
    let hott = rows.map(|rows| rows.iter().map(|&row| problem.row_of(row)).collect());
    let hott: Option<Vec<usize>> = hott.transpose()?;
    let rank = hott.as_ref().map_or(args.rank.unwrap_or(0), Vec::len);
    if args.rank.is_some_and(|asked| asked != rank) {
        return Err(Failure::Wrong(format!(
            "--hott names {rank} rows, but --rank is {}: leave one of them out",
            args.rank.unwrap_or(0)
        )));
    }
    let factor = session.plain(&problem, rank)?.method(method);
    let mut factor = job::programmed(factor, &args.program);
    if let Some(cost) = cost {
        factor = factor.cost(problem.keep(&cost));
    }
    let (factor, predicted) = planner.plan(factor, &problem, args.print.quiet)?;
    let certified = if args.exact {
        factor.certify_exactly(&problem.matrix, hott.as_deref(), &SearchSettings::default())
    } else {
        factor.certify(&problem.matrix, hott.as_deref())
    };
    let certified = certified.map_err(|error| problem.failure(error))?;
    session.finish();
    session.log_answer(&certified.answer);

    let mut report = report(&session, &problem, &certified, load);
    report.run.predicted_memory_bytes = Some(predicted);
    let printed = print(&if args.print.json { output::json(&report) } else { human(&report) });
    if let Some(folder) = &args.out {
        let prepared = Prepared::new(&args.input.file, &args.text);
        let written = files(folder, &problem, &certified, &report, prepared)?;
        output::tell_written(folder, &written, args.print.json)?;
    }
    printed?;
    match (report.stop, &report.proof.refusal) {
        (Stop::Interrupted, _) => {
            Err(Failure::Interrupted("interrupted: this was the best bound so far".to_owned()))
        }
        (_, Some(refusal)) => Err(Failure::NoAnswer(format!("not certified: {refusal}"))),
        _ => Ok(()),
    }
}

fn report(session: &Session, problem: &Problem, certified: &Certified, load: f64) -> CertifyReport {
    let answer = problem.restore(certified.answer.clone());
    let names = problem.names.as_deref();
    let hott = answer.hott.into_iter().map(|hott| NamedHott::new(hott, names));
    let hott: Vec<NamedHott> = hott.collect();
    CertifyReport {
        input: problem.label.clone(),
        features: problem.features(),
        examples: problem.examples(),
        nonzeros: problem.nonzeros,
        rank: hott.len(),
        method: answer.method.name(),
        hott,
        error: answer.errors,
        bounded_inf1: certified.bounded_inf1,
        proof: Proof::from(certified),
        choice: ChoiceProof::new(certified, |i| problem.input_row(i)),
        theorem: Theorem::new(certified, |i| problem.input_row(i)),
        zero_rows: answer.zero_rows.len(),
        stop: answer.stop,
        run: run_facts(session, load),
    }
}

/// Writes what it takes to check the bound without this program. Rows of all matrices are the rows
/// of X, which `rows` in certificate.json leads back to the input.
fn files(
    folder: &Path,
    problem: &Problem,
    certified: &Certified,
    report: &CertifyReport,
    prepared: Prepared,
) -> Result<Vec<String>, Failure> {
    #[derive(Serialize)]
    struct CertificateFile<'a> {
        #[serde(flatten)]
        report: &'a CertifyReport,
        #[serde(flatten)]
        written: Written,
    }
    let (x, certificate) = (&certified.x, &certified.certificate);
    let f = x.features();
    let mut set = FileSet::new(folder, &certificate_files());
    set.matrix("X", &x.to_matrix())?;
    set.matrix("C", &Matrix::from(certificate.localising.clone()))?;
    let mut d = Dense::zeros(f, 1);
    (0..f).for_each(|i| d.row_mut(i)[0] = certificate.diagonal[i]);
    set.matrix("d", &d.into())?;
    set.matrix("Y", &dual(certified, f).map_err(|e| problem.failure(e))?)?;
    let choice_certificate = choice_files(&mut set, certified)?;
    let whole = CertificateFile {
        report,
        written: Written {
            program: WrittenProgram { goal: certificate.goal, trace: certificate.rank },
            prepared,
            rows: (0..f).map(|i| problem.input_row(x.input_row(i))).collect(),
            allowed: certificate.allowed.clone(),
            cost: certificate.cost.clone(),
            claims: certificate.claims.clone().filter(|_| certified.verified.is_ok()),
            choice_certificate,
        },
    };
    output::commit(folder, set, "certificate.json", &whole, &certificate_files())
}

/// Y, row by row without what is zero.
fn dual(certified: &Certified, f: usize) -> Result<Matrix, hottopixx::Error> {
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut rows: Vec<&(usize, Vec<f64>)> = certified.certificate.dual.iter().collect();
    rows.sort_by_key(|row| row.0);
    for (i, y) in rows {
        starts.resize((*i).min(f) + 1, columns.len());
        for (k, value) in y.iter().enumerate().filter(|entry| *entry.1 != 0.0) {
            columns.push(k as u32);
            values.push(*value);
        }
    }
    starts.resize(f + 1, columns.len());
    Ok(Sparse::new(f, certified.x.examples(), starts, columns, values)?.into())
}

/// Adds the cuts behind the bound for choices; takes those of an earlier run away where there is none.
fn choice_files(
    set: &mut FileSet,
    certified: &Certified,
) -> Result<Option<WrittenChoice>, Failure> {
    let certificate = certified.choice.as_ref().and_then(|choice| choice.certificate.as_ref());
    let Some(certificate) = certificate else {
        output::matrix_files(&[output::CHOICE]).iter().for_each(|name| set.remove(name));
        return Ok(None);
    };
    let mut y = Dense::zeros(certificate.cuts.len(), certified.x.examples());
    for (at, cut) in certificate.cuts.iter().enumerate() {
        y.row_mut(at).copy_from_slice(&cut.y);
    }
    set.matrix(output::CHOICE, &y.into())?;
    Ok(Some(WrittenChoice {
        rank: certificate.rank,
        threshold: certificate.threshold,
        rows: certificate.cuts.iter().map(|cut| cut.row).collect(),
        multipliers: certificate.cuts.iter().map(|cut| cut.multiplier).collect(),
    }))
}

fn human(r: &CertifyReport) -> String {
    let mut out = format!("hottopixx {}\n", r.run.version);
    line(&mut out, "input", &plain(&r.input));
    let size = format!(
        "{} features x {} examples, {} nonzeros, rank {}",
        grouped(r.features),
        grouped(r.examples),
        grouped(r.nonzeros),
        r.rank
    );
    line(&mut out, "size", &size);
    out.push('\n');
    let label = |named: &NamedHott| numbered(named.hott.row, named.name.as_deref());
    let labels: Vec<String> = r.hott.iter().map(label).collect();
    paragraph(&mut out, "rows", &labels.join(", "));
    let error = &r.error;
    line(&mut out, "error", &format!("mean {}, largest {}", six(error.mean_l1), six(error.inf1)));
    line(&mut out, "", "l1 error of a row, rows sum to 1; 0 is perfect, 1 explains nothing");
    if r.bounded_inf1 > error.inf1 * (1.0 + 1e-5) + 1e-9 {
        line(&mut out, "", &format!("largest with weights up to 1: {}", six(r.bounded_inf1)));
    }
    out.push('\n');
    if let Some(claims) = &r.proof.claims {
        line(&mut out, "bound", &format!("{} {}", r.method, bounds::figures(claims)));
        for text in bounds::meaning(claims, (r.rank, false), r.features - r.zero_rows, error) {
            line(&mut out, "", &text);
        }
    }
    if let Some(choice) = &r.choice {
        paragraph(&mut out, "choices", &choice.sentence(r.rank));
    }
    match &r.proof.refusal {
        None => {
            let text = "every inequality checked from the data, rounding included";
            line(&mut out, "verified", text);
            if let Some(sentence) = r.proof.checked.and_then(crossing) {
                paragraph(&mut out, "", &sentence);
            }
        }
        Some(refusal) => paragraph(&mut out, "refused", refusal),
    }
    out.push('\n');
    match &r.theorem {
        Some(theorem) => describe(&mut out, theorem),
        None => line(&mut out, "theorem", "there was no time left to look at it"),
    }
    line(&mut out, "time", &format!("{:.2} s", r.run.seconds.total));
    if r.stop != Stop::Finished {
        line(&mut out, "stopped", &format!("{}: the bound holds all the same", r.stop));
    }
    out
}

/// The figures of Theorem 3.2.
fn describe(out: &mut String, theorem: &Theorem) {
    let Theory { alpha, margin, epsilon, threshold, .. } = &theorem.figures;
    let alpha = six_down(*alpha);
    line(out, "alpha", &format!("{alpha} at least, hott row from hull of the others"));
    let margin = margin.map_or_else(|| "none, no other rows".to_owned(), six_down);
    line(out, "margin", &format!("{margin} (d0, other rows from hott rows)"));
    let (epsilon, limit) = (six_up(*epsilon), six_down(*threshold));
    line(out, "epsilon", &format!("{epsilon} at most, from a separable matrix; limit {limit}"));
    paragraph(out, "theorem", &theorem.sentence);
}

/// Why a value may be below its bound.
pub fn crossing(found: Verified) -> Option<String> {
    let explained = "the value is below the bound because errors are above tau, by up to";
    (found.crossing() > 0.0).then(|| format!("{explained} {}", six_up(found.excess)))
}

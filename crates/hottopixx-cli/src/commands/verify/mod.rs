//! `hottopixx verify`: a certificate from a folder against the user's own data. Nothing is solved.

mod folder;

use crate::args;
use crate::commands::certify::{Prepared, Written, crossing};
use crate::failure::{Failure, print};
use crate::job::Session;
use crate::memory::Planner;
use crate::output::{self, paragraph};
use crate::problem::Problem;
use folder::{CertificateFolder, Stated};
use hottopixx::certify::{Refusal, Verified, verify, verify_choice};
use hottopixx::control::Stop;
use hottopixx::normalise::UnitRows;
use hottopixx::{Factor, Goal, Work};
use hottopixx_report::table::plain;
use hottopixx_report::text::{count, grouped, line};
use hottopixx_report::{six_down, six_up};
use serde::Serialize;
use std::time::Instant;

/// Where a certificate says what it is.
const JSON: &str = "certificate.json";

/// The files that it lists.
const FILES: [&str; 10] = [
    "X.npy",
    "X.npz",
    "C.npy",
    "C.npz",
    "d.npy",
    "d.npz",
    "Y.npy",
    "Y.npz",
    "choice_Y.npy",
    "choice_Y.npz",
];

/// What holds, as `--json` prints it.
#[derive(Serialize)]
struct VerifyReport {
    verified: bool,
    certificate: String,
    data: String,
    features: usize,
    examples: usize,
    zero_rows: usize,
    /// Rows that may be hott.
    candidates: usize,
    goal: Goal,
    /// The trace of C; null where it is free.
    rank: Option<usize>,
    #[serde(flatten)]
    figures: Verified,
    /// Every choice of this many rows has a largest error above this, whatever the weights; null where
    /// the certificate does not speak of it.
    choice_bound: Option<f64>,
    seconds: f64,
    version: &'static str,
}

/// Reads the folder, builds X from the data, checks, reports.
pub fn run(args: &args::VerifyArgs, started: Instant) -> Result<(), Failure> {
    check(args, started).map_err(|failure| match failure {
        // A proof stands for itself, whoever wrote its files; but this is why there may be none.
        Failure::Wrong(sentence) if output::check_files(&args.folder, JSON, &FILES).is_err() => {
            Failure::Wrong(format!("{sentence} (the files of the folder are not all of one run)"))
        }
        other => other,
    })
}

fn check(args: &args::VerifyArgs, started: Instant) -> Result<(), Failure> {
    let folder = CertificateFolder { path: &args.folder, memory: args.memory };
    let written: Written = folder.json()?;
    if written.claims.is_none() {
        return Err(folder.wrong(JSON, "nothing was certified here: run 'certify' again"));
    }
    let stated: Stated = folder.json()?;
    let text = prepared(args, &written.prepared)?;
    let run =
        args::RunArgs { seed: 0, threads: args.threads, max_seconds: args.max_seconds, log: false };
    let session = Session::start(&run, args.print.quiet, started)?;
    let input = args::InputArgs {
        path: args.data.clone(),
        file: args::FileArgs {
            format: args.file.format,
            key: args.file.key.clone().or_else(|| written.prepared.key.clone()),
            transpose: written.prepared.transpose,
            table: written.prepared.table.clone(),
        },
        names: None,
        memory: args.memory,
        cache: None,
        no_cache: true,
    };
    let planner = Planner::new(Work::Evaluate, &input);
    let problem = session.load(&input, &text, &planner, &Factor::new(1))?;
    session.interrupt.computing();
    let control = session.interrupt.control(args.max_seconds, session.observer())?;
    let x = UnitRows::new(&problem.matrix).map_err(|error| problem.failure(error))?;
    check_rows(args, &problem, &x, &written)?;
    folder.check_x(&x)?;
    let choice = folder.choice_certificate(&x, &written)?;
    let certificate = folder.certificate(&x, written)?;
    let figures = verify(&x, &certificate, &control)
        .map_err(|refusal| refused(args, &problem, &x, &refusal))?;
    folder.check_stated(&stated.certificate, &figures)?;
    if let Some(choice) = &choice {
        if certificate.rank != Some(choice.rank) {
            let what = "refused: choice_certificate is about another number of rows";
            return Err(folder.wrong(JSON, what));
        }
        verify_choice(&x, choice, &control)
            .map_err(|refusal| refused(args, &problem, &x, &refusal))?;
    }
    let choice_bound = choice.map(|choice| choice.threshold);
    folder.check_choice(stated.certificate.choice_bound, choice_bound)?;
    session.finish();
    let report = VerifyReport {
        verified: true,
        certificate: args.folder.display().to_string(),
        data: problem.label.clone(),
        features: problem.features(),
        examples: problem.examples(),
        zero_rows: problem.features() - x.features(),
        candidates: certificate.allowed.iter().filter(|allowed| **allowed).count(),
        goal: certificate.goal,
        rank: certificate.rank,
        figures,
        choice_bound,
        seconds: session.elapsed(),
        version: env!("CARGO_PKG_VERSION"),
    };
    print(&if args.print.json { output::json(&report) } else { human(&report) })
}

/// The flags for text as the certificate has them; those that are given again must be the same.
fn prepared(args: &args::VerifyArgs, written: &Prepared) -> Result<args::TextArgs, Failure> {
    let (none, given) = (args::TextArgs::default(), Prepared::new(&args.file, &args.text));
    let table = given.table.differing(&written.table);
    for (flag, differs) in [
        (table.unwrap_or_default(), table.is_some()),
        ("--transpose", given.transpose && !written.transpose),
        ("--key", given.key.is_some() && given.key != written.key),
        ("--cooccurrence", given.cooccurrence && !written.cooccurrence),
        ("--min-df", given.min_df != none.min_df && given.min_df != written.min_df),
        (
            "--candidate-df",
            given.candidate_df != none.candidate_df && given.candidate_df != written.candidate_df,
        ),
        ("--weight", given.weight != none.weight.name() && given.weight != written.weight),
    ] {
        if differs {
            return Err(Failure::Wrong(format!(
                "{}: certified with another {flag}: leave it out",
                args.folder.display()
            )));
        }
    }
    let wrong = |error: &dyn std::fmt::Display| {
        Failure::Wrong(format!("{}: {JSON}: {error}", args.folder.display()))
    };
    written.table.options().map_err(|error| wrong(&error))?;
    written.text().map_err(|error| wrong(&error))
}

/// Whether the certificate speaks of the rows that the data have, and of all that may be hott.
fn check_rows(
    args: &args::VerifyArgs,
    problem: &Problem,
    x: &UnitRows,
    written: &Written,
) -> Result<(), Failure> {
    let other = |what: &str| {
        Failure::Wrong(format!(
            "{}: refused: certificate.json {what} than {}: is this the data that was certified?",
            args.folder.display(),
            problem.label
        ))
    };
    let rows: Vec<usize> = (0..x.features()).map(|i| problem.input_row(x.input_row(i))).collect();
    if written.rows != rows {
        return Err(other("lists other rows that are not zero"));
    }
    let candidates: Vec<bool> = match &problem.candidates {
        Some(candidates) => (0..x.features()).map(|i| candidates[x.input_row(i)]).collect(),
        None => vec![true; x.features()],
    };
    if written.allowed != candidates {
        return Err(other("lets other rows be hott"));
    }
    Ok(())
}

/// A refusal in one sentence, with the row of the input where it names one of X.
fn refused(args: &args::VerifyArgs, problem: &Problem, x: &UnitRows, refusal: &Refusal) -> Failure {
    let folder = args.folder.display();
    match refusal {
        Refusal::Stopped(Stop::Interrupted) => {
            Failure::Interrupted(format!("{folder}: interrupted before all was checked"))
        }
        Refusal::Stopped(_) => {
            Failure::NoAnswer(format!("{folder}: {refusal}; raise --max-seconds"))
        }
        _ => {
            let row = refusal.row().filter(|row| *row < x.features());
            let place = row.map_or(String::new(), |row| {
                format!(" (row {} of {})", problem.input_row(x.input_row(row)), problem.label)
            });
            Failure::Wrong(format!("{folder}: refused: {refusal}{place}"))
        }
    }
}

/// What is proven, in sentences.
fn human(r: &VerifyReport) -> String {
    let mut out = format!("hottopixx {}\n", r.version);
    line(&mut out, "data", &plain(&r.data));
    let size = format!("{} features x {} examples", grouped(r.features), grouped(r.examples));
    line(&mut out, "size", &size);
    line(&mut out, "verified", "every inequality checked from the data, rounding included");
    out.push('\n');
    let all = r.features - r.zero_rows;
    let rows = match r.rank {
        Some(rank) => count(rank, "row"),
        None => "rows".to_owned(),
    };
    let from = if r.candidates == all {
        String::new()
    } else {
        format!(" out of {} that may be hott", grouped(r.candidates))
    };
    let (low, high) = (six_down(r.figures.lower_bound), six_up(r.figures.objective));
    let (no, some) = match r.goal {
        Goal::Minimax => (
            format!("the largest l1 error of a row is at least {low}"),
            format!("a largest error of at most {high}"),
        ),
        Goal::Total => (
            format!("the l1 errors of all rows sum to at least {low}"),
            format!("errors that sum to at most {high}"),
        ),
        Goal::Cost { tau } => (
            format!("and every l1 error within tau = {tau}, the cost p.d is at least {low}"),
            format!("a cost of at most {high}"),
        ),
    };
    paragraph(
        &mut out,
        "bound",
        &format!("For any choice of {rows}{from}, weights up to 1, {no}."),
    );
    paragraph(
        &mut out,
        "point",
        &format!("d and C of the certificate are feasible and have {some}."),
    );
    if let Some(sentence) = crossing(r.figures) {
        paragraph(&mut out, "", &sentence);
    }
    if let (Some(bound), Some(rank)) = (r.choice_bound, r.rank) {
        let (chosen, bound) = (count(rank, "row"), six_down(bound));
        let text = format!(
            "No choice of {chosen}{from} has a largest error below {bound}, whatever the weights."
        );
        paragraph(&mut out, "choices", &text);
    }
    let gap = format!("{:.1e}, relative to the value", r.figures.gap);
    line(&mut out, "gap", &gap);
    paragraph(
        &mut out,
        "holds for",
        "the numbers in the file, each row divided by its exact sum. Not checked: the hott rows, \
         their errors and the theorem, which 'certify' reports beside the certificate.",
    );
    line(&mut out, "time", &format!("{:.2} s", r.seconds));
    out
}

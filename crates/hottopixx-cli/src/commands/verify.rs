//! `hottopixx verify`: a certificate from a folder against the user's own data. Nothing is solved.

use crate::args;
use crate::commands::certify::{Prepared, Written, WrittenChoice, crossing, paragraph};
use crate::failure::{Failure, print};
use crate::job::Session;
use crate::output;
use crate::problem::Problem;
use hottopixx::Goal;
use hottopixx::certify::{
    Certificate, ChoiceCertificate, ChoiceCut, Refusal, Verified, verify, verify_choice,
};
use hottopixx::control::Stop;
use hottopixx::matrix::{Matrix, Sparse};
use hottopixx::normalise::UnitRows;
use hottopixx_io::{LoadOptions, Source, load_signed};
use hottopixx_report::table::plain;
use hottopixx_report::text::{count, grouped, line};
use hottopixx_report::{six_down, six_up};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Where a certificate says what it is.
const JSON: &str = "certificate.json";
/// How far X of the folder may be from the data: it was rounded once or twice.
const SAME: f64 = 1e-12;

/// How far a figure that is printed in certificate.json may be from what is found.
const AGREEMENT: f64 = 1e-9;

/// The figures that a reader of certificate.json sees first.
#[derive(Deserialize)]
struct Stated {
    certificate: Figures,
}

#[derive(Deserialize)]
struct Figures {
    objective: f64,
    lower_bound: f64,
    gap: f64,
    trace: f64,
    choice_bound: Option<f64>,
}

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
    let folder = CertificateFolder { path: &args.folder, memory: args.memory };
    let written: Written = folder.json()?;
    let stated: Stated = folder.json()?;
    if written.claims.is_none() {
        return Err(folder.wrong(JSON, "nothing was certified here: run 'certify' again"));
    }
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
    let problem = session.load(&input, &text)?;
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
    if let Err(error) = written.table.options() {
        let folder = args.folder.display();
        return Err(Failure::Wrong(format!("{folder}: certificate.json: {error}")));
    }
    written.text().ok_or_else(|| {
        Failure::Wrong(format!(
            "{}: certificate.json names the weight '{}', which there is not",
            args.folder.display(),
            plain(&written.weight)
        ))
    })
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

/// The folder of a certificate.
struct CertificateFolder<'a> {
    path: &'a Path,
    memory: Option<u64>,
}

impl CertificateFolder<'_> {
    fn wrong(&self, file: &str, what: impl std::fmt::Display) -> Failure {
        Failure::Wrong(format!("{}: {what}", self.path.join(file).display()))
    }

    /// A part of certificate.json.
    fn json<T: serde::de::DeserializeOwned>(&self) -> Result<T, Failure> {
        let remedy = "give the folder that 'hottopixx certify --out' wrote";
        let bytes = std::fs::read(self.path.join(JSON))
            .map_err(|error| self.wrong(JSON, format!("{error}: {remedy}")))?;
        serde_json::from_slice(&bytes)
            .map_err(|error| self.wrong(JSON, format!("{error}: {remedy}")))
    }

    /// Whether the figures that certificate.json prints are those found.
    fn check_stated(&self, stated: &Figures, found: &Verified) -> Result<(), Failure> {
        for (what, stated, found) in [
            ("the objective", stated.objective, found.objective),
            ("the lower bound", stated.lower_bound, found.lower_bound),
            ("the gap", stated.gap, found.gap),
            ("the trace", stated.trace, found.trace),
        ] {
            if (stated - found).abs() > AGREEMENT * found.abs().max(1.0) {
                let sentence = format!("refused: {what} is {found}, and the file says {stated}");
                return Err(self.wrong(JSON, sentence));
            }
        }
        Ok(())
    }

    /// The matrix of this name.
    fn matrix(&self, stem: &str) -> Result<Matrix, Failure> {
        let path = self.file(stem).ok_or_else(|| {
            self.wrong(&format!("{stem}.npz"), "the file is not there: run 'certify' again")
        })?;
        let options = LoadOptions { max_bytes: self.memory, ..LoadOptions::default() };
        Ok(load_signed(&Source::path(&path), &options)?)
    }

    fn file(&self, stem: &str) -> Option<PathBuf> {
        let names = output::matrix_files(&[stem]);
        names.iter().map(|name| self.path.join(name)).find(|path| path.exists())
    }

    /// Whether X of the folder, if there is one, is what the data give.
    fn check_x(&self, x: &UnitRows) -> Result<(), Failure> {
        let Some(path) = self.file("X") else { return Ok(()) };
        let found = self.matrix("X")?;
        let file = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let refuse = |what: String| {
            let sentence = "the data are not those that were certified, or the file was changed";
            self.wrong(&file, format!("refused: {what}: {sentence}"))
        };
        if (found.rows(), found.cols()) != (x.features(), x.examples()) {
            return Err(refuse(format!(
                "{} x {} numbers, but the data have {} x {}",
                found.rows(),
                found.cols(),
                x.features(),
                x.examples()
            )));
        }
        let mut difference = vec![0.0; x.examples()];
        for i in 0..x.features() {
            x.row(i).add_to(1.0, &mut difference);
            found.row(i).add_to(-1.0, &mut difference);
            if let Some(k) = difference.iter().position(|d| d.abs() > SAME) {
                return Err(refuse(format!("row {i}, column {k} differs")));
            }
            difference.fill(0.0);
        }
        Ok(())
    }

    /// d, C and Y, with shapes that fit X.
    fn certificate(&self, x: &UnitRows, written: Written) -> Result<Certificate, Failure> {
        let (f, n) = (x.features(), x.examples());
        let d = self.shaped("d", f, 1)?;
        let c = self.shaped("C", f, f)?;
        let y = self.shaped("Y", f, n)?;
        // Rows of Y take memory only where they have entries, and n is that of the data.
        let dual = (0..f).filter(|&i| y.row(i).nonzeros().next().is_some()).map(|i| {
            let mut row = vec![0.0; n];
            y.row(i).nonzeros().for_each(|(k, value)| row[k] = value);
            (i, row)
        });
        Ok(Certificate {
            goal: written.program.goal,
            rank: written.program.trace,
            cost: written.cost,
            allowed: written.allowed,
            diagonal: (0..f).map(|i| d.row(i).sum()).collect(),
            localising: sparse(&c).map_err(|error| self.wrong("C.npz", error))?,
            dual: dual.collect(),
            claims: written.claims,
        })
    }

    /// The certificate for choices, whose cuts stand in a file of their own.
    fn choice_certificate(
        &self,
        x: &UnitRows,
        written: &Written,
    ) -> Result<Option<ChoiceCertificate>, Failure> {
        let Some(choice) = &written.choice_certificate else { return Ok(None) };
        let WrittenChoice { rank, threshold, rows, multipliers } = choice;
        if rows.len() != multipliers.len() {
            let what = "refused: choice_certificate has not one multiplier for each row";
            return Err(self.wrong(JSON, what));
        }
        let y = self.shaped(output::CHOICE, rows.len(), x.examples())?;
        let cuts = rows.iter().zip(multipliers).enumerate().map(|(at, (&row, &multiplier))| {
            let mut cut = vec![0.0; x.examples()];
            y.row(at).write_to(1.0, &mut cut);
            ChoiceCut { row, y: cut, multiplier }
        });
        Ok(Some(ChoiceCertificate {
            rank: *rank,
            allowed: written.allowed.clone(),
            threshold: *threshold,
            cuts: cuts.collect(),
        }))
    }

    /// Whether the bound for choices that certificate.json prints is the one proven; none means 0.
    fn check_choice(&self, stated: Option<f64>, found: Option<f64>) -> Result<(), Failure> {
        let (stated, found) = (stated.unwrap_or(0.0), found.unwrap_or(0.0));
        if (stated - found).abs() <= AGREEMENT {
            return Ok(());
        }
        let sentence =
            format!("refused: the bound for choices is {found}, and the file says {stated}");
        Err(self.wrong(JSON, sentence))
    }

    fn shaped(&self, stem: &str, rows: usize, cols: usize) -> Result<Matrix, Failure> {
        let found = self.matrix(stem)?;
        if (found.rows(), found.cols()) == (rows, cols) {
            return Ok(found);
        }
        Err(Failure::Wrong(format!(
            "{}: refused: {stem} has {} x {} numbers, and the data ask for {rows} x {cols}",
            self.path.display(),
            found.rows(),
            found.cols()
        )))
    }
}

fn sparse(matrix: &Matrix) -> Result<Sparse, hottopixx::Error> {
    if let Matrix::Sparse(matrix) = matrix {
        return Ok(matrix.clone());
    }
    let entries = |i: usize| matrix.row(i).nonzeros().map(move |(j, value)| (i, j, value));
    let triplets: Vec<_> = (0..matrix.rows()).flat_map(entries).collect();
    Sparse::from_triplets(matrix.rows(), matrix.cols(), &triplets)
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

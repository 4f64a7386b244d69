//! The program `total` at the sizes of corpora: how near does its verified bound come, and what does it take?
//!
//! Every run goes from the matrix to the answer with its certificate, as `factor --method total --gap G` does. At
//! 200 words the cutting planes are asked for the same gap, which is as far as they go.

use crate::clock::process;
use crate::words::{corpus, demo, frequent};
use crate::{StudyReport, clock};
use anyhow::{Context, Result, ensure};
use hottopixx::control::Control;
use hottopixx::localise::lp::{LpSettings, lp};
use hottopixx::matrix::Matrix;
use hottopixx::normalise::UnitRows;
use hottopixx::{Bounds, Factor, Goal, Method};
use hottopixx_report::table::Table;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

/// What to run.
#[derive(Debug, Clone, clap::Args)]
pub struct TotalSettings {
    /// Some words of the demo's corpus only, and no promises about time
    #[arg(long)]
    quick: bool,
    /// Folder with corpora (NAME/X.npz, documents x words); what is not there is skipped
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Only matrices of this many words; may be repeated
    #[arg(long, value_name = "WORDS")]
    only: Vec<usize>,
}

/// One run and what is promised of it.
struct Case {
    corpus: &'static str,
    words: usize,
    rank: usize,
    gap: f64,
    /// CPU seconds.
    promised: f64,
    /// Whether the cutting planes are asked as well.
    compared: bool,
}

/// The corpus that the program carries.
const DEMO: &str = "demo";
/// What the first-order method may take of the cutting planes' time at 200 words.
const SHARE: f64 = 0.25;

const fn case(corpus: &'static str, words: usize, rank: usize, gap: f64, promised: f64) -> Case {
    Case { corpus, words, rank, gap, promised, compared: words == 200 }
}

/// Minutes are those of two processors.
const CASES: [Case; 9] = [
    case(DEMO, 200, 8, 1e-3, f64::INFINITY),
    case("bbc_news", 200, 8, 1e-3, f64::INFINITY),
    case("classic3", 200, 8, 1e-3, f64::INFINITY),
    case(DEMO, 805, 10, 0.01, 10.0),
    case("bbc_news", 2000, 10, 0.03, 120.0),
    case("classic3", 2000, 10, 0.03, 120.0),
    case("newsgroups20", 2000, 20, 0.03, 120.0),
    case("classic3", 4000, 10, 0.05, 360.0),
    case("newsgroups20", 6000, 20, 0.05, 360.0),
];

/// Words of the quick form: as few as the first-order method takes.
const QUICK: Case =
    Case { corpus: DEMO, words: 110, rank: 5, gap: 0.01, promised: f64::INFINITY, compared: true };

/// Runs all of it.
///
/// # Errors
/// When a corpus is there but cannot be read or factored.
pub fn run(settings: &TotalSettings) -> Result<StudyReport> {
    let mut report = StudyReport::default();
    let heads =
        ["words", "f", "r", "asked", "gap", "bound", "value", "CPU s", "wall s", "cuts, CPU s"];
    let mut table = Table::of_numbers(&heads);
    let cases = if settings.quick { std::slice::from_ref(&QUICK) } else { &CASES[..] };
    let chosen = |case: &Case| settings.only.is_empty() || settings.only.contains(&case.words);
    for case in cases.iter().filter(|case| chosen(case)) {
        let counts = match (case.corpus, &settings.data) {
            (DEMO, _) => demo()?,
            (_, None) => continue,
            (name, Some(folder)) => match corpus(folder, name)? {
                Ok(counts) => counts,
                Err(path) => {
                    let _ = writeln!(report.text, "skipped: there is no {}", path.display());
                    continue;
                }
            },
        };
        let row = case.row(&frequent(&counts, case.words)?, settings.quick, &mut report.failures);
        table.row(row.with_context(|| format!("{}, {} words", case.corpus, case.words))?);
    }
    let about = "asked: the gap at which it may end; gap, bound and value: sums of errors, as verified\n\
                 cuts: the cutting planes to the same gap";
    let _ = writeln!(report.text, "{table}{about}");
    Ok(report)
}

impl Case {
    fn row(&self, matrix: &Matrix, quick: bool, failures: &mut Vec<String>) -> Result<Vec<String>> {
        let Case { corpus, words, rank, gap, promised, compared } = *self;
        let name = format!("{corpus}, {words} words, r = {rank}");
        let factor = Factor::new(rank).method(Method::Total).gap(gap).groups(false);
        let (cpu, wall) = (process(), Instant::now());
        let answer = factor.run(matrix)?;
        let (cpu, wall) = (process() - cpu, wall.elapsed().as_secs_f64());
        let bounds = answer.bounds.with_context(|| answer.notes.join(" "))?;
        if bounds.gap > 1.01 * gap {
            failures.push(format!("{name}: a gap of {:.4}, promised {gap}", bounds.gap));
        }
        if cpu > promised {
            failures.push(format!("{name}: {cpu:.0} CPU seconds, promised {promised}"));
        }
        let cuts = if compared { Some(self.by_cuts(matrix, &bounds)?) } else { None };
        if let Some(cuts) = cuts.filter(|cuts| !quick && cpu > SHARE * cuts) {
            failures.push(format!(
                "{name}: {cpu:.1} CPU seconds, promised a quarter of {cuts:.1}, the cutting planes'"
            ));
        }
        Ok(vec![
            corpus.to_owned(),
            matrix.rows().to_string(),
            rank.to_string(),
            format!("{:.1} %", 100.0 * gap),
            format!("{:.2} %", 100.0 * bounds.gap),
            format!("{:.3}", bounds.lower_bound),
            format!("{:.3}", bounds.objective),
            format!("{cpu:.1}"),
            format!("{wall:.1}"),
            cuts.map_or_else(|| "-".to_owned(), |cuts| format!("{cuts:.1}")),
        ])
    }

    /// CPU seconds of the cutting planes, whose figures must not contradict these.
    fn by_cuts(&self, matrix: &Matrix, bounds: &Bounds) -> Result<f64> {
        let x = UnitRows::new(matrix)?;
        let settings = LpSettings { gap: Some(self.gap), ..LpSettings::new(Goal::Total) };
        let solve = || lp(&x, self.rank, &vec![true; x.features()], &settings, &Control::default());
        let (outcome, seconds) = clock::on_one_thread(solve)?;
        let outcome = outcome?;
        let overlap =
            bounds.lower_bound <= outcome.objective && outcome.lower_bound <= bounds.objective;
        ensure!(overlap, "the cutting planes found {outcome:?}, the first-order method {bounds:?}");
        Ok(seconds)
    }
}

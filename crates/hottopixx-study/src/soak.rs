//! Runs that are killed, interrupted, ended and limited at every moment, over an earlier answer: what is left
//! is an answer, whole and true, or nothing.

use crate::StudyReport;
use crate::audit::{Found, audit};
use crate::folder::Folder;
use anyhow::{Context, Result, ensure};
use hottopixx::Method;
use hottopixx::matrix::{Dense, Matrix};
use hottopixx::synth::{Family, Recipe};
use hottopixx_io::write;
use hottopixx_report::table::Table;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long and on what.
#[derive(Debug, Clone, clap::Args)]
pub struct SoakSettings {
    /// The program, built in release mode
    #[arg(long, value_name = "PATH")]
    pub program: PathBuf,
    /// Runs that are struck
    #[arg(long, default_value_t = 1000)]
    pub strikes: usize,
}

/// How a run is struck.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strike {
    /// SIGKILL: nothing can be done about it.
    Kill,
    /// Ctrl-C.
    Interrupt,
    /// What a system sends before it shuts down.
    Terminate,
    /// `--max-seconds`.
    Limit,
}

const STRIKES: [Strike; 4] = [Strike::Kill, Strike::Interrupt, Strike::Terminate, Strike::Limit];

/// A matrix in a file, and how its rows are scaled.
struct Case {
    name: String,
    path: PathBuf,
    matrix: Matrix,
    rank: usize,
}

/// An answer that nothing has struck: its bytes, or that there is none, and how long it takes.
struct Whole {
    files: Option<Vec<Vec<u8>>>,
    seconds: f64,
}

/// A run that is not back this long after it was asked to stop hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// Strikes, and tells what was left.
///
/// # Errors
/// When the program cannot be started or the instances cannot be made.
pub fn run(settings: &SoakSettings) -> Result<StudyReport> {
    let folder = Folder::temporary()?;
    let cases = cases(folder.path())?;
    let mut report = StudyReport::default();
    let mut whole: BTreeMap<(usize, usize), Whole> = BTreeMap::new();
    let mut outcomes: BTreeMap<(Strike, String), usize> = BTreeMap::new();
    let methods: Vec<Method> =
        Method::ALL.into_iter().filter(|method| method.requires().is_empty()).collect();
    for k in 0..settings.strikes {
        // Every way to strike, one after the other, and then the next case by the next method: an answer to
        // compare with takes as long as the runs themselves.
        let (pair, strike) = (k / STRIKES.len(), STRIKES[k % STRIKES.len()]);
        let c = pair % cases.len();
        let m = (c + pair / cases.len()) % methods.len();
        let (case, method) = (&cases[c], methods[m]);
        let out = folder.path().join(format!("{c}-{m}"));
        let undisturbed = match whole.entry((c, m)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(open) => open.insert(undisturbed(settings, case, method, &out)?),
        };
        // Moments over the length of a run and a little more, in no order (a Weyl sequence).
        let moment = undisturbed.seconds * 1.1 * (0.37 + 0.618_034 * k as f64).fract();
        let struck = one(settings, case, method, &out, strike, moment);
        match struck.and_then(|code| judge(case, undisturbed, &out, strike, code)) {
            Ok(outcome) => *outcomes.entry((strike, outcome)).or_default() += 1,
            Err(error) => report
                .failures
                .push(format!("{} {method} {strike:?} after {moment:.3} s: {error:#}", case.name)),
        }
    }
    let mut table = Table::of_numbers(&["strike", "what was left", "runs"]);
    for ((strike, outcome), count) in outcomes {
        table.row([format!("{strike:?}"), outcome, count.to_string()]);
    }
    let _ = write!(report.text, "{table}");
    let (struck, failed) = (settings.strikes, report.failures.len());
    let _ = writeln!(report.text, "{struck} runs struck, {failed} failures");
    Ok(report)
}

/// Small instances, dense and sparse, with rows as they are and with rows scaled by up to 1e+-300.
fn cases(folder: &Path) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for (family, features, examples, rank) in [
        (Family::Paper, 40, 300, 4),
        (Family::NearDuplicates, 60, 200, 5),
        (Family::Multinomial, 80, 250, 4),
    ] {
        let made = Recipe::new(family, rank).size(features, examples).generate()?.matrix;
        for power in [0, 100, 300] {
            let matrix = scaled(&made, power)?;
            let name = format!("{} 1e+-{power}", family.name());
            let path = folder.join(format!("{}-{power}.hpx", family.name()));
            write::hpx(&path, &matrix, None, None)?;
            cases.push(Case { name, path, matrix, rank });
        }
    }
    Ok(cases)
}

/// Rows times powers of ten from -power to power.
fn scaled(matrix: &Matrix, power: i32) -> Result<Matrix> {
    let mut out = Dense::zeros(matrix.rows(), matrix.cols());
    for i in 0..matrix.rows() {
        let exponent = f64::from(power) * (2.0 * (0.618_034 * i as f64).fract() - 1.0);
        let factor = 10f64.powf(exponent);
        matrix.row(i).nonzeros().for_each(|(k, value)| out.row_mut(i)[k] = value * factor);
    }
    if matches!(matrix, Matrix::Dense(_)) {
        return Ok(out.into());
    }
    let entries = |i: usize| matrix.row(i).nonzeros().map(move |(k, _)| (i, k));
    let places = (0..matrix.rows()).flat_map(entries);
    let triplets: Vec<_> = places.map(|(i, k)| (i, k, out.row(i)[k])).collect();
    let sparse = hottopixx::matrix::Sparse::from_triplets(matrix.rows(), matrix.cols(), &triplets)?;
    Ok(sparse.into())
}

fn command(settings: &SoakSettings, case: &Case, method: Method, out: &Path) -> Command {
    let mut command = Command::new(&settings.program);
    let rank = case.rank.to_string();
    command.arg("factor").arg(&case.path).args(["--rank", &rank, "--method", method.name()]);
    command.args(["--json", "--quiet", "--threads", "1", "--out"]).arg(out);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// A run to its end, audited; exit code 1 is an answer too, where F has no numbers.
fn undisturbed(settings: &SoakSettings, case: &Case, method: Method, out: &Path) -> Result<Whole> {
    let begun = Instant::now();
    let status = command(settings, case, method, out).status();
    let status = status.with_context(|| settings.program.display().to_string())?;
    let seconds = begun.elapsed().as_secs_f64();
    let label = format!("{} {method}", case.name);
    if status.code() == Some(1) && case.name.ends_with("300") {
        return Ok(Whole { files: None, seconds });
    }
    ensure!(status.success(), "{label}: {status}");
    let found = audit(out, &case.matrix).context(label)?;
    ensure!(found == Found::Answer { stop: "finished".to_owned() }, "{found:?}");
    Ok(Whole { files: Some(bytes(out)), seconds })
}

/// The files that must be the same for the same answer.
fn bytes(folder: &Path) -> Vec<Vec<u8>> {
    let names = ["hott.csv", "F.npy", "W.npy", "F.npz", "W.npz"];
    names.iter().filter_map(|name| std::fs::read(folder.join(name)).ok()).collect()
}

/// One run that is struck; its exit code, or none where it was killed.
fn one(
    settings: &SoakSettings,
    case: &Case,
    method: Method,
    out: &Path,
    strike: Strike,
    moment: f64,
) -> Result<Option<i32>> {
    let mut command = command(settings, case, method, out);
    if strike == Strike::Limit {
        command.args(["--max-seconds", &moment.to_string()]);
    }
    let mut child = command.spawn()?;
    if strike != Strike::Limit && !ended(&mut child, Duration::from_secs_f64(moment))? {
        match strike {
            Strike::Kill => child.kill()?,
            Strike::Interrupt => signal(&child, true)?,
            _ => signal(&child, false)?,
        }
    }
    if !ended(&mut child, PATIENCE)? {
        child.kill()?;
        child.wait()?;
        anyhow::bail!("it hangs");
    }
    Ok(child.wait()?.code())
}

/// Whether a process ends within this time.
fn ended(child: &mut Child, within: Duration) -> Result<bool> {
    let begun = Instant::now();
    loop {
        if child.try_wait()?.is_some() {
            return Ok(true);
        }
        if begun.elapsed() >= within {
            return Ok(false);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(unix)]
fn signal(child: &Child, interrupt: bool) -> Result<()> {
    use rustix::process::{Pid, Signal, kill_process};
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).context("no process")?;
    // A process that has just ended cannot be told anything.
    let _ = kill_process(pid, if interrupt { Signal::INT } else { Signal::TERM });
    Ok(())
}

#[cfg(not(unix))]
fn signal(child: &Child, _: bool) -> Result<()> {
    let _ = child;
    Ok(())
}

/// What was left, in words; an error where it is not what it says.
fn judge(
    case: &Case,
    whole: &Whole,
    out: &Path,
    strike: Strike,
    code: Option<i32>,
) -> Result<String> {
    let Some(files) = &whole.files else {
        let ended = strike != Strike::Limit && code.is_none();
        let refused = ended || matches!(code, Some(1 | 3 | 130));
        ensure!(refused, "exit code {code:?}, where F has no numbers");
        ensure!(audit(out, &case.matrix)? == Found::Nothing, "an answer that cannot be");
        return Ok("none, F has no numbers".to_owned());
    };
    let codes: &[i32] = match strike {
        Strike::Kill => &[0],
        Strike::Interrupt | Strike::Terminate => &[0, 130],
        Strike::Limit => &[0, 3],
    };
    // Before the program has taken signals over, they end it as they end any other.
    let killed = strike != Strike::Limit && code.is_none();
    ensure!(killed || code.is_some_and(|code| codes.contains(&code)), "exit code {code:?}");
    match audit(out, &case.matrix)? {
        Found::Nothing => anyhow::bail!("the earlier answer is gone"),
        Found::Mixed(what) if killed => Ok(format!("a mixture, noticed ({what})")),
        Found::Mixed(what) => anyhow::bail!("{what}"),
        Found::Answer { stop } if stop == "finished" => {
            ensure!(bytes(out) == *files, "finished, with other bytes than a run without limits");
            Ok("an answer, finished".to_owned())
        }
        Found::Answer { stop } => Ok(format!("an answer, {stop}")),
    }
}

//! A differential campaign: thousands of small adversarial instances, on which everything that the
//! library claims is judged in exact arithmetic and against another solver.
//!
//! Statuses, objectives, bounds, cleaned errors and alpha of every call are recomputed in rationals
//! ([`exact`], [`bound`]); other solvers ([`model`]) suggest better points, which count only for
//! what they are exactly worth once they are repaired ([`mod@reference`]). An instance follows from a
//! seed and an index ([`families`]), so that whatever fails can be run again alone.

pub mod bound;
pub mod checks;
pub mod exact;
pub mod families;
pub mod files;
pub mod findings;
pub mod instance;
pub mod keep;
mod matrices;
pub mod model;
pub mod reference;
pub mod table;

use crate::{StudyReport, clock, parallel};
use anyhow::Result;
use findings::{Check, Findings};
use instance::CampaignInstance;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use table::Done;

/// What to run.
#[derive(Debug, Clone, clap::Args)]
pub struct CampaignSettings {
    /// Instances to draw
    #[arg(long, value_name = "N", default_value_t = 3000)]
    pub instances: u64,
    /// Fixes all of them
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// 300 instances of the smallest sizes
    #[arg(long)]
    pub quick: bool,
    /// One instance of a campaign, as its report names it
    #[arg(long, value_name = "SEED/INDEX", value_parser = place)]
    pub replay: Option<(u64, u64)>,
    /// Folder whose .npy files are checked instead
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Folder for the worst instances of every check that fails
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
}

/// Instances of a quick run.
const QUICK: u64 = 300;

/// Seconds on the wall after which an instance is given up.
const GIVE_UP: Duration = Duration::from_secs(90);

/// Instances that are listed for each check.
const LISTED: usize = 3;

fn place(text: &str) -> Result<(u64, u64), String> {
    let parts = text.split_once('/').and_then(|(s, i)| Some((s.parse().ok()?, i.parse().ok()?)));
    parts.ok_or_else(|| "give a seed and an index, such as 0/17".to_string())
}

/// Runs the campaign, one instance of it, or the files of a folder.
///
/// # Errors
/// When files cannot be read or written.
pub fn run(settings: &CampaignSettings) -> Result<StudyReport> {
    let draw = |seed, index| families::draw(seed, index, settings.quick);
    let instances: Vec<CampaignInstance> = match (&settings.data, settings.replay) {
        (Some(folder), _) => files::instances(folder)?,
        (None, Some((seed, index))) => vec![draw(seed, index)],
        (None, None) => {
            let count = if settings.quick { QUICK } else { settings.instances };
            (0..count).map(|index| draw(settings.seed, index)).collect()
        }
    };
    let done = parallel(&instances, one).into_iter().collect::<Result<Vec<Done>>>()?;
    if let Some(folder) = &settings.keep {
        keep::keep(folder, &done)?;
    }
    Ok(report(settings, &done))
}

/// All checks of one instance, on one thread, whatever happens. A call that does not end is left to
/// itself until the campaign ends.
fn one(instance: &CampaignInstance) -> Result<Done> {
    let under_way = Arc::new(Mutex::new(String::new()));
    let (sender, receiver) = mpsc::channel();
    let (subject, label) = (instance.clone(), under_way.clone());
    std::thread::spawn(move || {
        let work = || catch_unwind(AssertUnwindSafe(|| checks::run(&subject, &label)));
        // Nobody listens any more once it has taken too long.
        let _ = sender.send(clock::on_one_thread(work));
    });
    let label = || under_way.lock().map_or(String::new(), |label| label.clone());
    let mut findings = Findings::default();
    let mut seconds = 0.0;
    match receiver.recv_timeout(GIVE_UP) {
        Ok(done) => match done? {
            (Ok(found), taken) => (findings, seconds) = (found, taken),
            (Err(panic), _) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("of some kind");
                findings.add(Check::Panic, format!("{}: panic: {text}", label()));
            }
        },
        Err(_) => {
            seconds = GIVE_UP.as_secs_f64();
            let text = format!("{}: no end within {seconds} seconds", label());
            findings.add_sized(Check::Slow, seconds, text);
        }
    }
    Ok(Done { instance: instance.clone(), findings, seconds })
}

fn report(settings: &CampaignSettings, done: &[Done]) -> StudyReport {
    let mut failures = Vec::new();
    for check in Check::ALL {
        for (one, mismatch) in table::worst(done, check).into_iter().take(LISTED) {
            failures.push(line(settings, &one.instance, check, &mismatch.text));
        }
    }
    if settings.replay.is_some() {
        let all = done.iter().flat_map(|d| d.findings.mismatches.iter().map(move |m| (d, m)));
        failures = all.map(|(d, m)| line(settings, &d.instance, m.check, &m.text)).collect();
    }
    StudyReport { text: table::tables(done), failures }
}

/// What failed, on what, and how to see it again.
fn line(
    settings: &CampaignSettings,
    instance: &CampaignInstance,
    check: Check,
    text: &str,
) -> String {
    let quick = if settings.quick { " --quick" } else { "" };
    let again = match &settings.data {
        Some(_) => instance.name.clone(),
        None => format!("campaign{quick} --replay {}", instance.name),
    };
    format!("{}: {text}\n  {} [{again}]", check.name(), instance.description())
}

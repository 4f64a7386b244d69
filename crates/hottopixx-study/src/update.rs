//! Documents that are added to an answer: what that takes beside a run on all documents from nothing, and how its error
//! compares.
//!
//! The last tenth of the documents of each corpus comes later. The words are those of the first documents; both runs are
//! about the co-occurrence of these words in all documents, and so about the same matrix but for rounding.

use crate::StudyReport;
use crate::clock::on_one_thread;
use crate::words::{CORPORA, corpus, demo};
use anyhow::{Context, Result};
use hottopixx::matrix::Matrix;
use hottopixx::{Factor, Factorization, text};
use hottopixx_report::table::Table;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What to run.
#[derive(Debug, Clone, clap::Args)]
pub struct UpdateSettings {
    /// Folder with corpora, NAME/X.npz of documents x words; what is not there is skipped
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Only the corpus that the program carries
    #[arg(long)]
    quick: bool,
    /// Only corpora whose names contain this; may be repeated
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// Words in fewer documents are left out
    #[arg(long, value_name = "N", default_value_t = 50)]
    min_df: usize,
    /// Number of hott words
    #[arg(long, value_name = "R", default_value_t = 10)]
    rank: usize,
    /// One document in this many comes later
    #[arg(long, value_name = "N", default_value_t = 11)]
    later: usize,
}

/// The share of a run from nothing that an update may take, and how much larger its error may be.
const MOST_TIME: f64 = 0.15;
const MOST_ERROR: f64 = 1.002;
/// On fewer words an update is a run from nothing, of a second or two.
const WORTH_TIMING: usize = 300;

/// Runs all of it.
///
/// # Errors
/// When a corpus is there but cannot be read or factored.
pub fn run(settings: &UpdateSettings) -> Result<StudyReport> {
    let mut report = StudyReport::default();
    let mut table = Table::of_numbers(&[
        "corpus",
        "words",
        "documents",
        "later",
        "fresh s",
        "update s",
        "share",
        "fresh error",
        "update",
        "ratio",
        "bound",
        "update",
        "stayed",
        "moved",
        "came",
    ]);
    let wanted = |name: &str| {
        settings.only.is_empty() || settings.only.iter().any(|text| name.contains(text.as_str()))
    };
    if settings.data.is_none() || settings.quick {
        judge("demo", &demo()?, settings, &mut table, &mut report)?;
    }
    let folder = settings.data.as_deref().filter(|_| !settings.quick);
    for name in CORPORA.iter().filter(|name| folder.is_some() && wanted(name)) {
        match corpus(folder.unwrap_or(Path::new("")), name)? {
            Ok(counts) => judge(name, &counts, settings, &mut table, &mut report)?,
            Err(path) => {
                let _ = writeln!(report.text, "skipped: there is no {}", path.display());
            }
        }
    }
    let about = "CPU seconds of one thread: fresh, the co-occurrence of all documents and a run from nothing; update, the\n\
                 co-occurrence of the later documents, added, and a run that begins with the answer of the others (on up to\n\
                 300 words one from nothing, whose time is not judged)";
    let _ = writeln!(report.text, "{table}{about}\n");
    Ok(report)
}

/// Every so-many-th document comes later, so that both parts are about the same things.
fn parts(counts: &Matrix, later: usize) -> [Matrix; 2] {
    let documents = counts.transpose();
    let is_later = |d: &usize| d % later == later - 1;
    let (last, first): (Vec<usize>, Vec<usize>) = (0..documents.rows()).partition(is_later);
    [first, last].map(|some| documents.select_rows(&some).transpose())
}

fn judge(
    name: &str,
    counts: &Matrix,
    settings: &UpdateSettings,
    table: &mut Table,
    report: &mut StudyReport,
) -> Result<()> {
    let [first, later] = parts(counts, settings.later.max(2));
    let frequency = text::document_frequency(&first);
    let kept: Vec<usize> =
        (0..counts.rows()).filter(|&i| frequency[i] >= settings.min_df).collect();
    let [all, first, later] = [counts, &first, &later].map(|some| some.select_rows(&kept));
    let factor = || Factor::new(settings.rank).threads(1);
    let hott = |answer: &Factorization| -> Vec<usize> {
        answer.hott.iter().map(|hott| hott.row).collect()
    };
    let before = text::cooccurrence(&first)?;
    // As the tool keeps it with an answer.
    let (earlier, _) = on_one_thread(|| factor().keep_dual(true).run(&before))?;
    let earlier = earlier?;
    let rows = hott(&earlier);
    let (fresh, fresh_seconds) = on_one_thread(|| factor().run(&text::cooccurrence(&all)?))?;
    let fresh = fresh.with_context(|| name.to_owned())?;
    let places: Vec<usize> = (0..kept.len()).collect();
    let (update, seconds) = on_one_thread(|| {
        let more = text::cooccurrence(&later)?;
        let sum = text::add_cooccurrence(before, &more, &places)?;
        let start = factor().keep_dual(true).start(rows.clone());
        match &earlier.dual {
            Some(dual) => start.start_dual(dual.clone()).run(&sum),
            None => start.run(&sum),
        }
    })?;
    let update = update.with_context(|| name.to_owned())?;
    let changes = update.changes_since(&rows);
    let (share, ratio) = (seconds / fresh_seconds, update.errors.mean_l1 / fresh.errors.mean_l1);
    let bound = |answer: &Factorization| {
        answer.bounds.as_ref().map_or_else(String::new, |b| format!("{:.4}", b.lower_bound))
    };
    let mut cells = vec![name.to_owned()];
    cells.extend([kept.len(), all.cols(), later.cols()].map(|n| n.to_string()));
    cells.extend([fresh_seconds, seconds].map(|s| format!("{s:.2}")));
    cells.push(format!("{:.1} %", 100.0 * share));
    cells.extend([&fresh, &update].map(|answer| format!("{:.5}", answer.errors.mean_l1)));
    cells.push(format!("{ratio:.4}"));
    cells.extend([bound(&fresh), bound(&update)]);
    cells.extend(
        [changes.stayed.len(), changes.moved.len(), changes.came.len()].map(|n| n.to_string()),
    );
    table.row(cells);
    if ratio > MOST_ERROR {
        report.failures.push(format!("update, {name}: {ratio:.4} of the error from nothing"));
    }
    if share > MOST_TIME && kept.len() > WORTH_TIMING {
        report.failures.push(format!("update, {name}: {share:.3} of the time from nothing"));
    }
    if update.bounds.as_ref().is_some_and(|b| b.lower_bound > update.errors.mean_l1 + 1e-9) {
        report.failures.push(format!("update, {name}: the bound is above the error"));
    }
    Ok(())
}

//! The same checks on matrices from files, such as those that broke something once.

use super::families::CampaignFamily;
use super::instance::{CampaignInstance, Taus};
use anyhow::{Context, Result};
use hottopixx::matrix::{Dense, Matrix};
use hottopixx_io::{LoadOptions, Source, load};
use std::path::{Path, PathBuf};

/// Rows times columns above which linear programs are left out, and above which a file is skipped.
const PROGRAMS: usize = 2_000;
const SMALL: usize = 60_000;

/// Every `.npy` file of the folder that is small enough, by name, each with a few ranks.
///
/// # Errors
/// When the folder or a file cannot be read.
pub fn instances(folder: &Path) -> Result<Vec<CampaignInstance>> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "npy"));
    paths.sort();
    let mut instances = Vec::new();
    for path in paths {
        let loaded = load(&Source::path(&path), &LoadOptions::default())?;
        let matrix = dense(&loaded.matrix);
        let name = path.file_stem().map_or(String::new(), |s| s.to_string_lossy().into_owned());
        let ranks = ranks(&matrix);
        instances.extend(ranks.into_iter().map(|rank| instance(&name, &matrix, rank)));
    }
    Ok(instances)
}

fn dense(matrix: &Matrix) -> Dense {
    let mut out = Dense::zeros(matrix.rows(), matrix.cols());
    (0..matrix.rows()).for_each(|i| matrix.row(i).add_to(1.0, out.row_mut(i)));
    out
}

/// Ranks 2, 3, half, all, and one less than the number of rows; for matrices with programs left out, as
/// many as leave rows to be fitted.
fn ranks(matrix: &Dense) -> Vec<usize> {
    let usable = (0..matrix.rows()).filter(|&i| matrix.row(i).iter().any(|v| *v > 0.0)).count();
    let size = matrix.rows() * matrix.cols();
    let mut ranks = if size > SMALL {
        Vec::new()
    } else if size > PROGRAMS {
        vec![usable * 5 / 6, usable * 2 / 3]
    } else {
        vec![2, 3, usable / 2, usable.saturating_sub(1), usable]
    };
    ranks.retain(|rank| *rank >= 1 && *rank <= usable);
    ranks.sort_unstable();
    ranks.dedup();
    ranks
}

/// The first rows hott, tau also 0.01.
fn instance(name: &str, matrix: &Dense, rank: usize) -> CampaignInstance {
    let positive = |i: &usize| matrix.row(*i).iter().any(|v| *v > 0.0);
    CampaignInstance {
        family: CampaignFamily::File,
        name: format!("{name} rank {rank}"),
        matrix: matrix.clone(),
        sparse: false,
        rank,
        allowed: vec![true; matrix.rows()],
        cost: None,
        trace: true,
        taus: Taus::Plain,
        also: vec![0.01],
        hott: (0..matrix.rows()).filter(positive).take(rank).collect(),
        programs: matrix.rows() * matrix.cols() <= PROGRAMS,
        seed: rank as u64,
    }
}

//! Algorithm 1 of the paper.

use super::{Localised, Localiser, Question, bytes};
use crate::Error;
use crate::control::Stop;
use crate::l1::MOST_GATHERED;
use crate::localise::{AgkmSettings, agkm, spa};
use crate::matrix::Shape;

/// The algorithm of Arora, Ge, Kannan and Moitra. Its number of clusters may be another than the rank:
/// too many are cut to those farthest out, too few are filled up, and a note says so.
#[derive(Debug, Clone, Copy)]
pub struct Agkm {
    /// No row, summing to one, is farther in l1 from what it is without noise.
    pub epsilon: f64,
    /// The least l1 distance of a hott row from the convex hull of the others.
    pub alpha: f64,
}

/// Distances that are farther than this from what is proven of them are not called exact.
const FAR_APART: f64 = 1e-6;

impl Localiser for Agkm {
    fn name(&self) -> &'static str {
        "agkm"
    }

    fn localise(&self, question: &Question<'_>) -> Result<Localised, Error> {
        let Agkm { epsilon, alpha } = *self;
        let Question { x, rank, allowed, control, .. } = *question;
        let found = agkm(x, allowed, &AgkmSettings { epsilon, alpha }, control)?;
        if found.stop != Stop::Finished {
            return Err(Error::NoAnswer(found.stop));
        }
        let mut notes = Vec::new();
        if !found.hypothesis {
            notes.push(
                "Theorem 2.1 promises nothing: epsilon is above alpha^2 / (20 + 13 alpha)."
                    .to_string(),
            );
        }
        if found.gap > FAR_APART {
            notes.push(format!(
                "Some distances from hulls are known to within {:.1e} only: fits with too many rows in play \
                 were ended early.",
                found.gap
            ));
        }
        let count = found.rows.len();
        let clusters = if count == 1 { "1 cluster" } else { &format!("{count} clusters") };
        let mut rows = found.rows;
        if count > rank {
            notes.push(format!(
                "Algorithm 1 found {clusters} for rank {rank}: the {rank} farthest from the hull \
                 of the others were taken."
            ));
            rows.truncate(rank);
        } else if count < rank {
            notes.push(format!(
                "Algorithm 1 found {clusters} for rank {rank}: the rest is from successive \
                 projection."
            ));
            fill_up(question, &mut rows, &found.clusters);
        }
        Ok(Localised { notes, ..Localised::rows(self.name(), rows) })
    }

    fn bytes(&self, shape: Shape, _rank: usize, threads: usize) -> u64 {
        let threads = threads as u64;
        let vectors = threads * 128 * (shape.n() + shape.f());
        let fits = match shape.dense {
            true => {
                let gathered = bytes::gathered(shape, shape.f(), threads);
                gathered.saturating_add(3 * shape.some_rows(shape.f()))
            }
            // Atoms in play by atom and by point, and what the walk makes of those at its vertex.
            false => {
                let entries = shape.f().saturating_mul(shape.longest_row());
                threads * 40 * entries.min(MOST_GATHERED as u64)
            }
        };
        fits.saturating_add(2 * shape.some_rows(shape.f()) + vectors)
    }
}

/// Fills the rows up to the rank with those of successive projection, rows of the clusters only where
/// there are no others.
fn fill_up(question: &Question<'_>, rows: &mut Vec<usize>, clusters: &[Vec<usize>]) {
    let Question { x, rank, allowed, .. } = *question;
    let mut open = allowed.to_vec();
    clusters.iter().flatten().for_each(|&i| open[i] = false);
    let some = |open: &[bool]| open.iter().filter(|o| **o).count();
    let wanted = (rank - rows.len()).min(some(&open));
    rows.extend(spa(x, wanted, &open));
    let rest = (0..allowed.len()).filter(|&i| allowed[i]);
    let rest: Vec<usize> = rest.filter(|i| !rows.contains(i)).collect();
    rows.extend(rest.into_iter().take(rank - rows.len()));
}

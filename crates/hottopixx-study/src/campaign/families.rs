//! The families: what each of them draws, and why it is hard.

use super::instance::{CampaignInstance, Taus};
use super::matrices::{log_uniform, values};
use hottopixx::matrix::Dense;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What an instance is meant to break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CampaignFamily {
    /// Nothing in particular.
    Dense,
    /// Entries 0 to 3: ties everywhere.
    Integers,
    /// Rows and columns of zeros.
    Zeros,
    /// Rows that are there twice or more, also in other units.
    Duplicates,
    /// As before, but for relative changes of 1e-16 to 1e-2.
    NearDuplicates,
    /// Means of other rows, but for changes of 1e-16 to 1e-6.
    Means,
    /// Rows in units of 1e-300 to 1e300.
    Scales,
    /// Products of small factors.
    LowRank,
    /// All rows hott, a single row, or a single column.
    Edges,
    /// Mostly rows with a single entry.
    SingleEntries,
    /// Exactly separable, without noise.
    Separable,
    /// Sparse, and handed over so.
    Sparse,
    /// Few rows, hundreds of columns, near-duplicates: another solver is in charge of the fits.
    Wide,
    /// tau within 1e-12 to 1e-6 of where programs become infeasible.
    Threshold,
    /// Costs of 1e-6 to 1e6.
    Costs,
    /// Only some rows may be hott.
    Restricted,
    /// The trace is free.
    Traceless,
    /// A file that was given.
    File,
}

impl CampaignFamily {
    /// All that are drawn, in the order of the table.
    pub const ALL: [CampaignFamily; 17] = [
        CampaignFamily::Dense,
        CampaignFamily::Integers,
        CampaignFamily::Zeros,
        CampaignFamily::Duplicates,
        CampaignFamily::NearDuplicates,
        CampaignFamily::Means,
        CampaignFamily::Scales,
        CampaignFamily::LowRank,
        CampaignFamily::Edges,
        CampaignFamily::SingleEntries,
        CampaignFamily::Separable,
        CampaignFamily::Sparse,
        CampaignFamily::Wide,
        CampaignFamily::Threshold,
        CampaignFamily::Costs,
        CampaignFamily::Restricted,
        CampaignFamily::Traceless,
    ];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            CampaignFamily::Dense => "dense",
            CampaignFamily::Integers => "integers",
            CampaignFamily::Zeros => "zeros",
            CampaignFamily::Duplicates => "duplicates",
            CampaignFamily::NearDuplicates => "near-duplicates",
            CampaignFamily::Means => "means",
            CampaignFamily::Scales => "scales",
            CampaignFamily::LowRank => "low rank",
            CampaignFamily::Edges => "edges",
            CampaignFamily::SingleEntries => "single entries",
            CampaignFamily::Separable => "separable",
            CampaignFamily::Sparse => "sparse",
            CampaignFamily::Wide => "wide",
            CampaignFamily::Threshold => "threshold",
            CampaignFamily::Costs => "costs",
            CampaignFamily::Restricted => "restricted",
            CampaignFamily::Traceless => "traceless",
            CampaignFamily::File => "file",
        }
    }
}

/// One in this many instances is wide: those take as long as a hundred others.
const WIDE_EVERY: u64 = 100;

/// Instance `index` of the campaign with this seed. `quick` keeps to the smallest sizes.
pub fn draw(seed: u64, index: u64, quick: bool) -> CampaignInstance {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(index);
    let others: Vec<CampaignFamily> =
        CampaignFamily::ALL.into_iter().filter(|f| *f != CampaignFamily::Wide).collect();
    let family = if index % WIDE_EVERY == WIDE_EVERY / 2 {
        CampaignFamily::Wide
    } else {
        others[index as usize % others.len()]
    };
    let (f, n) = size(&mut rng, family, quick);
    let mut matrix = values(&mut rng, family, f, n);
    // A matrix of zeros is refused, as it must be; that is tested elsewhere.
    if matrix.values().iter().all(|v| *v == 0.0) {
        matrix.values_mut()[0] = 1.0;
    }
    let mut instance = ask(&mut rng, family, matrix);
    instance.name = format!("{seed}/{index}");
    instance
}

/// Mostly tiny: there everything is degenerate, and the references are quick and surely right.
fn size(rng: &mut ChaCha8Rng, family: CampaignFamily, quick: bool) -> (usize, usize) {
    match family {
        CampaignFamily::Wide if quick => (rng.random_range(12..20), rng.random_range(400..450)),
        CampaignFamily::Wide => (rng.random_range(40..50), rng.random_range(500..700)),
        CampaignFamily::Edges => match rng.random_range(0..3) {
            0 => (1, rng.random_range(1..8)),
            1 => (rng.random_range(1..9), 1),
            _ => (rng.random_range(1..7), rng.random_range(1..9)),
        },
        _ if quick => (rng.random_range(1..=8), rng.random_range(1..=9)),
        _ if rng.random_range(0..50) == 0 => (rng.random_range(20..32), rng.random_range(30..60)),
        _ => (rng.random_range(1..=12), rng.random_range(1..=14)),
    }
}

/// The questions: rank, costs, candidates, trace, hott rows.
fn ask(rng: &mut ChaCha8Rng, family: CampaignFamily, matrix: Dense) -> CampaignInstance {
    let (f, n) = (matrix.rows(), matrix.cols());
    let positive = |i: &usize| matrix.row(*i).iter().any(|v| *v > 0.0);
    let mut usable: Vec<usize> = (0..f).filter(positive).collect();
    usable.shuffle(rng);
    let mut allowed = vec![true; f];
    if family == CampaignFamily::Restricted {
        let kept = rng.random_range(1..=usable.len());
        usable[kept..].iter().for_each(|&i| allowed[i] = false);
        usable.truncate(kept);
    }
    let rank = match family {
        CampaignFamily::Edges if rng.random_bool(0.5) => usable.len(),
        // Few rows are left to be fitted on most of the others.
        CampaignFamily::Wide => rng.random_range(usable.len() / 2..usable.len() - 2).min(n / 12),
        _ => rng.random_range(1..=usable.len().min(8)),
    };
    let cost = match family {
        CampaignFamily::Costs => {
            Some((0..f).map(|_| sign(rng) * log_uniform(rng, -6.0, 6.0)).collect())
        }
        CampaignFamily::Traceless if rng.random_bool(0.5) => {
            Some((0..f).map(|_| rng.random_range(0.5..1.5)).collect())
        }
        _ => None,
    };
    let mut hott = usable[..rank.min(usable.len())].to_vec();
    hott.sort_unstable();
    CampaignInstance {
        family,
        name: String::new(),
        sparse: family == CampaignFamily::Sparse
            || (family != CampaignFamily::Wide && rng.random_range(0..8) == 0),
        rank,
        allowed,
        cost,
        trace: family != CampaignFamily::Traceless,
        taus: if family == CampaignFamily::Threshold { Taus::AtThreshold } else { Taus::Plain },
        also: Vec::new(),
        hott,
        programs: family != CampaignFamily::Wide,
        seed: rng.random(),
        matrix,
    }
}

fn sign(rng: &mut ChaCha8Rng) -> f64 {
    if rng.random_bool(0.5) { 1.0 } else { -1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn instances_follow_from_seed_and_index() {
        let mut seen = BTreeSet::new();
        for index in 0..200 {
            let (a, b) = (draw(3, index, false), draw(3, index, false));
            assert_eq!(
                (&a.matrix, &a.cost, &a.hott, a.seed),
                (&b.matrix, &b.cost, &b.hott, b.seed)
            );
            assert!(a.matrix.values().iter().all(|v| v.is_finite() && *v >= 0.0), "{index}");
            assert!(a.rank >= 1 && a.rank <= a.allowed.iter().filter(|x| **x).count());
            assert!(!a.hott.is_empty());
            seen.insert(a.family);
        }
        assert_eq!(seen.len(), CampaignFamily::ALL.len());
        assert_ne!(draw(3, 0, false).matrix, draw(4, 0, false).matrix);
    }
}

//! The matrices of the families.

use super::families::CampaignFamily;
use hottopixx::matrix::Dense;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// The matrix of the family. Those that are about the question take any other's matrix.
pub(super) fn values(rng: &mut ChaCha8Rng, family: CampaignFamily, f: usize, n: usize) -> Dense {
    let mut matrix = match family {
        CampaignFamily::Integers => integers(rng, f, n),
        CampaignFamily::Duplicates => copies(rng, f, n, None),
        CampaignFamily::NearDuplicates => copies(rng, f, n, Some((-16.0, -2.0))),
        CampaignFamily::Wide => copies(rng, f, n, Some((-7.0, -3.0))),
        CampaignFamily::Means => means(rng, f, n),
        CampaignFamily::LowRank => low_rank(rng, f, n),
        CampaignFamily::SingleEntries => single_entries(rng, f, n),
        CampaignFamily::Separable => separable(rng, f, n),
        CampaignFamily::Sparse => sparse(rng, f, n),
        CampaignFamily::Threshold
        | CampaignFamily::Costs
        | CampaignFamily::Restricted
        | CampaignFamily::Traceless => {
            let from = [
                CampaignFamily::Dense,
                CampaignFamily::Integers,
                CampaignFamily::Duplicates,
                CampaignFamily::NearDuplicates,
                CampaignFamily::Means,
                CampaignFamily::Separable,
            ];
            let other = from[rng.random_range(0..from.len())];
            return values(rng, other, f, n);
        }
        _ => dense(rng, f, n),
    };
    match family {
        CampaignFamily::Zeros => blank(rng, &mut matrix),
        CampaignFamily::Scales => scale(rng, &mut matrix),
        _ => {}
    }
    matrix
}

/// `10^u`, u uniform.
pub(super) fn log_uniform(rng: &mut ChaCha8Rng, low: f64, high: f64) -> f64 {
    10f64.powf(rng.random_range(low..high))
}

fn filled(f: usize, n: usize, entry: impl FnMut() -> f64) -> Dense {
    let values = std::iter::repeat_with(entry).take(f * n).collect();
    Dense::new(f, n, values).expect("as many values as places")
}

/// Uniform entries or, as often, some much larger than others.
fn dense(rng: &mut ChaCha8Rng, f: usize, n: usize) -> Dense {
    let heavy = rng.random_bool(0.5);
    filled(f, n, || {
        let v: f64 = rng.random();
        if heavy { v.powi(6) } else { v }
    })
}

fn integers(rng: &mut ChaCha8Rng, f: usize, n: usize) -> Dense {
    let most = rng.random_range(1..=3);
    filled(f, n, || f64::from(rng.random_range(0..=most)))
}

fn sparse(rng: &mut ChaCha8Rng, f: usize, n: usize) -> Dense {
    let density = rng.random_range(0.1..0.5);
    filled(f, n, || if rng.random_bool(density) { rng.random() } else { 0.0 })
}

/// Some rows drawn, the others copies in units of a power of two, which are exact, or changed in
/// every entry by `10^low` to `10^high` of it.
fn copies(rng: &mut ChaCha8Rng, f: usize, n: usize, change: Option<(f64, f64)>) -> Dense {
    let mut matrix = if rng.random_bool(0.3) { integers(rng, f, n) } else { dense(rng, f, n) };
    let drawn = rng.random_range(1..=f.div_ceil(2));
    // One size for the instance, or one for each row.
    let fixed = change.map(|(low, high)| log_uniform(rng, low, high));
    let one_size = rng.random_bool(0.5);
    for i in drawn..f {
        let from = matrix.row(rng.random_range(0..i)).to_vec();
        let unit = 2f64.powi(rng.random_range(-2..=2));
        let size = match change {
            Some((low, high)) if !one_size => log_uniform(rng, low, high),
            _ => fixed.unwrap_or(0.0),
        };
        for (out, v) in matrix.row_mut(i).iter_mut().zip(from) {
            *out = unit * v * (1.0 + size * rng.random_range(-1.0..1.0));
        }
    }
    shuffled(rng, &matrix)
}

/// Rows that are means of two or three earlier ones in the same units, changed by 1e-16 to 1e-6.
fn means(rng: &mut ChaCha8Rng, f: usize, n: usize) -> Dense {
    let mut matrix = if rng.random_bool(0.3) { integers(rng, f, n) } else { dense(rng, f, n) };
    for i in 0..f {
        let sum: f64 = matrix.row(i).iter().sum();
        if sum > 0.0 {
            matrix.row_mut(i).iter_mut().for_each(|v| *v /= sum);
        }
    }
    let exact = rng.random_bool(0.3);
    for i in f.min(2)..f {
        if rng.random_bool(0.4) {
            continue;
        }
        let size = if exact { 0.0 } else { log_uniform(rng, -16.0, -6.0) };
        let count = rng.random_range(2..=3usize);
        let parents: Vec<usize> = (0..count).map(|_| rng.random_range(0..i)).collect();
        for k in 0..n {
            let sum: f64 = parents.iter().map(|&j| matrix.row(j)[k]).sum();
            let change = 1.0 + size * rng.random_range(-1.0..1.0);
            matrix.row_mut(i)[k] = sum / count as f64 * change;
        }
    }
    shuffled(rng, &matrix)
}

/// A product of factors of small rank, of whole numbers or not.
fn low_rank(rng: &mut ChaCha8Rng, f: usize, n: usize) -> Dense {
    let rank = rng.random_range(1..=f.min(n).min(4));
    let whole = rng.random_bool(0.5);
    let (left, right) = if whole {
        (integers(rng, f, rank), integers(rng, rank, n))
    } else {
        (dense(rng, f, rank), dense(rng, rank, n))
    };
    times(&left, &right)
}

fn times(left: &Dense, right: &Dense) -> Dense {
    let mut out = Dense::zeros(left.rows(), right.cols());
    for i in 0..left.rows() {
        for (j, &weight) in left.row(i).iter().enumerate() {
            let terms = right.row(j).iter().map(|v| weight * v);
            out.row_mut(i).iter_mut().zip(terms).for_each(|(o, v)| *o += v);
        }
    }
    out
}

fn single_entries(rng: &mut ChaCha8Rng, f: usize, n: usize) -> Dense {
    let mut matrix = Dense::zeros(f, n);
    for i in 0..f {
        let count = if rng.random_bool(0.7) { 1 } else { rng.random_range(1..=n) };
        for _ in 0..count {
            matrix.row_mut(i)[rng.random_range(0..n)] = log_uniform(rng, -3.0, 3.0);
        }
    }
    matrix
}

/// Hott rows first drawn, then mixtures of them; weights in sixteenths leave no rounding where the
/// hott rows are whole numbers.
fn separable(rng: &mut ChaCha8Rng, f: usize, n: usize) -> Dense {
    let rank = rng.random_range(1..=f.min(5));
    let whole = rng.random_bool(0.5);
    let hott = if whole { integers(rng, rank, n) } else { dense(rng, rank, n) };
    let mut weights = Dense::zeros(f, rank);
    for i in 0..f {
        if i < rank {
            weights.row_mut(i)[i] = 1.0;
            continue;
        }
        let row = weights.row_mut(i);
        row.iter_mut().for_each(|w| {
            let v = rng.random_range(0.0..1.0);
            *w = if whole { f64::floor(16.0 * v) / 16.0 } else { v };
        });
    }
    let matrix = times(&weights, &hott);
    shuffled(rng, &matrix)
}

/// Clears a row and a column, at times more.
fn blank(rng: &mut ChaCha8Rng, matrix: &mut Dense) {
    let (f, n) = (matrix.rows(), matrix.cols());
    for _ in 0..rng.random_range(1..=f.div_ceil(2)) {
        matrix.row_mut(rng.random_range(0..f)).fill(0.0);
    }
    for _ in 0..rng.random_range(1..=n.div_ceil(3)) {
        let k = rng.random_range(0..n);
        (0..f).for_each(|i| matrix.row_mut(i)[k] = 0.0);
    }
}

/// Units far apart. Mostly the quotients of two units are numbers themselves.
fn scale(rng: &mut ChaCha8Rng, matrix: &mut Dense) {
    let width = [10.0, 280.0, 600.0][rng.random_range(0..3)];
    let low = rng.random_range(-300.0..=300.0 - width);
    for i in 0..matrix.rows() {
        let unit = log_uniform(rng, low, low + width);
        matrix.row_mut(i).iter_mut().for_each(|v| *v *= unit);
    }
}

fn shuffled(rng: &mut ChaCha8Rng, matrix: &Dense) -> Dense {
    let mut order: Vec<usize> = (0..matrix.rows()).collect();
    order.shuffle(rng);
    matrix.select_rows(&order)
}

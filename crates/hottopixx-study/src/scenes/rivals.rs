//! The usual ways to find pure pixels, as their papers describe them.

use hottopixx::Dense;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn unit(v: &[f64]) -> Vec<f64> {
    let length = dot(v, v).sqrt().max(1e-300);
    v.iter().map(|x| x / length).collect()
}

/// Takes the part along each (orthonormal) direction away.
fn without(v: &[f64], directions: &[Vec<f64>]) -> Vec<f64> {
    let mut rest = v.to_vec();
    for direction in directions {
        let along = dot(&rest, direction);
        rest.iter_mut().zip(direction).for_each(|(r, d)| *r -= along * d);
    }
    rest
}

fn largest(values: impl Iterator<Item = f64>) -> usize {
    let best = values
        .enumerate()
        .fold((0, f64::NEG_INFINITY), |best, (i, v)| if v > best.1 { (i, v) } else { best });
    best.0
}

/// Rows divided by their sums.
fn normalised(pixels: &Dense) -> Vec<Vec<f64>> {
    let row = |i: usize| {
        let sum = pixels.row(i).iter().sum::<f64>();
        pixels.row(i).iter().map(|v| if sum > 0.0 { v / sum } else { 0.0 }).collect()
    };
    (0..pixels.rows()).map(row).collect()
}

/// Successive projection (Araújo et al. 2001) on rows of unit sum.
pub(super) fn spa(pixels: &Dense, rank: usize) -> Vec<Vec<f64>> {
    let mut rest = normalised(pixels);
    let mut chosen = Vec::new();
    for _ in 0..rank {
        let best = largest(rest.iter().map(|v| dot(v, v)));
        chosen.push(pixels.row(best).to_vec());
        let direction = [unit(&rest[best])];
        rest.iter_mut().for_each(|v| *v = without(v, &direction));
    }
    chosen
}

/// Smoothed successive projection (Nadisic, Gillis, Kervazo 2023): at each step the pixels that reach furthest along the
/// direction of the largest residual, a hundredth of all, and their median.
pub(super) fn sspa(pixels: &Dense, rank: usize) -> Vec<Vec<f64>> {
    let rows = normalised(pixels);
    let count = (rows.len() / 100).max(2).min(rows.len());
    let mut rest = rows.clone();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut found = Vec::new();
    for _ in 0..rank {
        let best = largest(rest.iter().map(|v| dot(v, v)));
        let direction = rest[best].clone();
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|&i, &j| dot(&rest[j], &direction).total_cmp(&dot(&rest[i], &direction)));
        let median = |b: usize| {
            let mut values: Vec<f64> = order[..count].iter().map(|&i| rows[i][b]).collect();
            values.sort_by(f64::total_cmp);
            (values[(count - 1) / 2] + values[count / 2]) / 2.0
        };
        let spectrum: Vec<f64> = (0..pixels.cols()).map(median).collect();
        basis.push(unit(&without(&spectrum, &basis)));
        found.push(spectrum);
        rest = rows.iter().map(|v| without(v, &basis)).collect();
    }
    found
}

/// Leading eigenvectors of the second moments of rows, by orthogonal iteration.
fn leading(rows: &[Vec<f64>], dims: usize) -> Vec<Vec<f64>> {
    let bands = rows.first().map_or(0, Vec::len);
    let mut moments = vec![vec![0.0; bands]; bands];
    for row in rows {
        for (line, a) in moments.iter_mut().zip(row) {
            line.iter_mut().zip(row).for_each(|(m, b)| *m += a * b);
        }
    }
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let mut basis: Vec<Vec<f64>> =
        (0..dims).map(|_| (0..bands).map(|_| random.random::<f64>() - 0.5).collect()).collect();
    for _ in 0..100 {
        let mut next: Vec<Vec<f64>> = Vec::new();
        for v in &basis {
            let image: Vec<f64> = moments.iter().map(|line| dot(line, v)).collect();
            let image = without(&without(&image, &next), &next);
            next.push(unit(&image));
        }
        basis = next;
    }
    basis
}

fn mean(rows: &[Vec<f64>]) -> Vec<f64> {
    let mut mean = vec![0.0; rows.first().map_or(0, Vec::len)];
    for row in rows {
        mean.iter_mut().zip(row).for_each(|(m, v)| *m += v / rows.len() as f64);
    }
    mean
}

fn raw(pixels: &Dense) -> Vec<Vec<f64>> {
    (0..pixels.rows()).map(|i| pixels.row(i).to_vec()).collect()
}

fn centred(rows: &[Vec<f64>], mean: &[f64]) -> Vec<Vec<f64>> {
    rows.iter().map(|row| row.iter().zip(mean).map(|(v, m)| v - m).collect()).collect()
}

fn coordinates(rows: &[Vec<f64>], basis: &[Vec<f64>]) -> Vec<Vec<f64>> {
    rows.iter().map(|row| basis.iter().map(|b| dot(row, b)).collect()).collect()
}

/// Vertex component analysis (Nascimento and Bioucas-Dias 2005): the most extreme pixel along random directions that are
/// orthogonal to those found; projective where the signal is strong, else in the affine hull. Spectra are the
/// projected ones.
pub(super) fn vca(pixels: &Dense, rank: usize, seed: u64) -> Vec<Vec<f64>> {
    let rows = raw(pixels);
    let (count, bands) = (rows.len() as f64, pixels.cols() as f64);
    let centre = mean(&rows);
    let around = centred(&rows, &centre);
    let basis = leading(&around, rank);
    let inside = coordinates(&around, &basis);
    let total = rows.iter().map(|v| dot(v, v)).sum::<f64>() / count;
    let kept = inside.iter().map(|v| dot(v, v)).sum::<f64>() / count + dot(&centre, &centre);
    let signal = ((kept - rank as f64 / bands * total) / (total - kept).max(1e-300)).max(1e-9);
    let strong = 10.0 * signal.log10() >= 15.0 + 10.0 * (rank as f64).log10();
    let (points, projected): (Vec<Vec<f64>>, Vec<Vec<f64>>) = if strong {
        let basis = leading(&rows, rank);
        let inside = coordinates(&rows, &basis);
        let middle = mean(&inside);
        let chart = |v: &Vec<f64>| {
            let scale = dot(v, &middle);
            let scale = if scale.abs() < 1e-12 { 1e-12 } else { scale };
            v.iter().map(|x| x / scale).collect()
        };
        (inside.iter().map(chart).collect(), back(&inside, &basis, None))
    } else {
        let basis = &basis[..rank - 1];
        let inside: Vec<Vec<f64>> = inside.iter().map(|v| v[..rank - 1].to_vec()).collect();
        let far = inside.iter().map(|v| dot(v, v)).fold(0.0, f64::max).sqrt();
        let lift = |v: &Vec<f64>| v.iter().copied().chain([far]).collect();
        (inside.iter().map(lift).collect(), back(&inside, basis, Some(&centre)))
    };
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut start = vec![0.0; rank];
    start[rank - 1] = 1.0;
    let mut found: Vec<usize> = Vec::new();
    for _ in 0..rank {
        let mut directions: Vec<Vec<f64>> = Vec::new();
        let chosen = found.iter().map(|&i| &points[i]);
        let given: Vec<&Vec<f64>> = if found.is_empty() { vec![&start] } else { chosen.collect() };
        for v in given {
            directions.push(unit(&without(v, &directions)));
        }
        let draw: Vec<f64> = (0..rank).map(|_| random.random::<f64>()).collect();
        let direction = unit(&without(&draw, &directions));
        found.push(largest(points.iter().map(|v| dot(v, &direction).abs())));
    }
    found.into_iter().map(|i| projected[i].clone()).collect()
}

/// Coordinates back to bands.
fn back(inside: &[Vec<f64>], basis: &[Vec<f64>], centre: Option<&[f64]>) -> Vec<Vec<f64>> {
    let one = |v: &Vec<f64>| {
        let bands = basis.first().map_or(0, Vec::len);
        let mut row = centre.map_or_else(|| vec![0.0; bands], <[f64]>::to_vec);
        for (c, b) in v.iter().zip(basis) {
            row.iter_mut().zip(b).for_each(|(r, b)| *r += c * b);
        }
        row
    };
    inside.iter().map(one).collect()
}

/// N-FINDR (Winter 1999): pixels are exchanged while the simplex of rank corners grows, in rank - 1 principal components.
pub(super) fn nfindr(pixels: &Dense, rank: usize, seed: u64) -> Vec<Vec<f64>> {
    let rows = raw(pixels);
    let around = centred(&rows, &mean(&rows));
    let basis = leading(&around, rank - 1);
    let lift = |v: Vec<f64>| [1.0].into_iter().chain(v).collect::<Vec<f64>>();
    let points: Vec<Vec<f64>> = coordinates(&around, &basis).into_iter().map(lift).collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut chosen: Vec<usize> = (0..rank).map(|_| random.random_range(0..rows.len())).collect();
    for _ in 0..3 * rank {
        let mut moved = false;
        for at in 0..rank {
            // The volume is linear in one corner: its coefficients are the volumes with unit corners.
            let with = |corner: Vec<f64>| {
                let corners = (0..rank).map(|k| match k == at {
                    true => corner.clone(),
                    false => points[chosen[k]].clone(),
                });
                determinant(corners.collect())
            };
            let axis = |c: usize| (0..rank).map(|k| f64::from(u8::from(k == c))).collect();
            let weights: Vec<f64> = (0..rank).map(|c| with(axis(c))).collect();
            let volume = |i: usize| dot(&points[i], &weights).abs();
            let best = largest((0..points.len()).map(volume));
            if volume(best) > volume(chosen[at]) * (1.0 + 1e-10) {
                chosen[at] = best;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    chosen.into_iter().map(|i| rows[i].clone()).collect()
}

/// By elimination with pivots.
fn determinant(mut a: Vec<Vec<f64>>) -> f64 {
    let mut product = 1.0;
    for k in 0..a.len() {
        let pivot = k + largest(a[k..].iter().map(|row| row[k].abs()));
        if a[pivot][k] == 0.0 {
            return 0.0;
        }
        if pivot != k {
            a.swap(pivot, k);
            product = -product;
        }
        product *= a[k][k];
        let (done, rest) = a.split_at_mut(k + 1);
        for row in rest {
            let factor = row[k] / done[k][k];
            row.iter_mut().zip(&done[k]).for_each(|(r, d)| *r -= factor * d);
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three corners, their mixtures, no noise: all find the corners.
    #[test]
    fn rivals_find_pure_pixels_without_noise() {
        let corners = [[5.0, 1.0, 1.0, 2.0], [1.0, 4.0, 1.0, 1.0], [1.0, 1.0, 6.0, 3.0]];
        let mut rows: Vec<Vec<f64>> = corners.iter().map(|c| c.to_vec()).collect();
        let mut random = ChaCha8Rng::seed_from_u64(3);
        for _ in 0..100 {
            let shares: Vec<f64> = (0..3).map(|_| 0.05 + random.random::<f64>()).collect();
            let sum: f64 = shares.iter().sum();
            let mixed = (0..4).map(|b| (0..3).map(|k| shares[k] / sum * corners[k][b]).sum());
            rows.push(mixed.collect());
        }
        let pixels = Dense::from_rows(&rows).unwrap();
        let truth: Vec<Vec<f64>> = corners.iter().map(|c| c.to_vec()).collect();
        for (name, found) in [
            ("spa", spa(&pixels, 3)),
            ("vca", vca(&pixels, 3, 1)),
            ("nfindr", nfindr(&pixels, 3, 1)),
        ] {
            let angle = super::super::mean_angle(&truth, &found);
            assert!(angle < 1e-3, "{name}: {angle}");
        }
        let smoothed = super::super::mean_angle(&truth, &sspa(&pixels, 3));
        assert!(smoothed < 15.0, "{smoothed}"); // two pixels each, one of which is mixed
        assert!((determinant(vec![vec![0.0, 2.0], vec![3.0, 1.0]]) + 6.0).abs() < 1e-12);
    }
}

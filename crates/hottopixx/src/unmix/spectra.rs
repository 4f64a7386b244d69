//! From chosen cells to spectra: the purest pixels of each material are averaged.
//!
//! Every usable pixel is fitted on the chosen directions. Of the pixels that are mostly of material k, the fifth with
//! the largest share of it (three at least; beyond what noise asks for, only such as are nearly as pure) are its
//! members; their mean, in the units of the input and with weights one over the squares of their noise, is its spectrum.
//! The directions of these spectra take the place of the cells, and the members are found once more.

use super::choose::fits;
use super::cube::Cube;
use super::noise::median;
use super::smooth::Smoothed;
use super::subspace::Projected;
use crate::order::largest_first;

/// How often members are found again.
const ROUNDS: usize = 2;
/// The part of the pixels that are mostly of a material, and the least number, that are its members.
const PUREST: f64 = 0.2;
const LEAST: usize = 3;
/// Members have at least this part of the largest share.
const NEARLY: f64 = 0.5;
/// So many pixels are enough, or as many as it takes for noise to turn their mean by at most this, in degrees: more
/// are members only with this part of the largest share. Averages of pixels that are less pure are no better for
/// being smooth.
const FEW: usize = 10;
const TURNED: f64 = 0.25;
const AS_PURE: f64 = 0.95;

/// Members of each material, with its spectrum.
pub(super) struct Purest {
    pub members: Vec<Vec<usize>>,
    pub spectra: Vec<Vec<f64>>,
    /// The member nearest to the spectrum.
    pub pixels: Vec<usize>,
}

/// Averages the purest pixels; `directions` are those of the chosen cells, rank x dims.
pub(super) fn purest(
    cube: &Cube<'_>,
    projected: &Projected,
    smoothed: &Smoothed,
    usable: &[usize],
    mut directions: Vec<f64>,
) -> Purest {
    let dims = projected.dims;
    let rank = directions.len() / dims;
    let mut found = Purest { members: Vec::new(), spectra: Vec::new(), pixels: Vec::new() };
    for _ in 0..ROUNDS {
        let shares: Vec<Vec<f64>> = fits(&directions, dims, &smoothed.directions, usable)
            .into_iter()
            .map(|(mut c, _)| {
                let sum: f64 = c.iter().sum();
                c.iter_mut().for_each(|c| *c /= sum.max(f64::MIN_POSITIVE));
                c
            })
            .collect();
        found.members = (0..rank).map(|k| members(&shares, usable, smoothed, k)).collect();
        found.spectra =
            found.members.iter().map(|members| mean(cube, projected, smoothed, members)).collect();
        directions = found.spectra.iter().flat_map(|s| projected.direction_of(cube, s)).collect();
    }
    found.pixels = (0..rank)
        .map(|k| {
            let z = &directions[k * dims..(k + 1) * dims];
            let near = |i: usize| crate::kernels::dot(projected.direction(i), z);
            let members = found.members[k].iter().copied();
            members.max_by(|&i, &j| near(i).total_cmp(&near(j))).unwrap_or(usable[0])
        })
        .collect();
    found
}

/// The pixels with the largest share of material k, increasing.
fn members(shares: &[Vec<f64>], usable: &[usize], smoothed: &Smoothed, k: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..usable.len()).collect();
    largest_first(&mut order, |i| shares[i][k]);
    let mostly = shares.iter().filter(|share| share[k] > 0.5).count();
    let most = ((mostly as f64 * PUREST).ceil() as usize).max(LEAST);
    let enough = enough(order.iter().map(|&at| smoothed.turned[usable[at]]));
    let largest = order.first().map_or(0.0, |&at| shares[at][k]);
    let fine = |(place, at): &(usize, usize)| {
        let least = if *place < enough { NEARLY } else { AS_PURE };
        shares[*at][k] >= least * largest
    };
    let first = order.into_iter().take(most).enumerate().take_while(fine);
    let mut members: Vec<usize> = first.map(|(_, at)| usable[at]).collect();
    members.sort_unstable();
    members
}

/// So many pixels that noise turns their mean by little.
fn enough(turned: impl Iterator<Item = f64>) -> usize {
    let usual = median(turned.take(FEW));
    ((usual / TURNED.to_radians()).powi(2).ceil() as usize).max(FEW)
}

/// The mean spectrum of some pixels, as bright as they are: directions are averaged with their weights, and
/// then brightness.
fn mean(
    cube: &Cube<'_>,
    projected: &Projected,
    smoothed: &Smoothed,
    members: &[usize],
) -> Vec<f64> {
    let mut sum = vec![0.0; cube.bands()];
    let (mut total, mut bright) = (0.0, 0.0);
    for &i in members {
        let weight = smoothed.spread[i].powi(-2);
        let length = projected.lengths[i].max(f64::MIN_POSITIVE);
        for (s, x) in sum.iter_mut().zip(cube.pixels.row(i)) {
            *s += weight / length * x;
        }
        total += weight;
        bright += weight * length;
    }
    sum.iter_mut().for_each(|s| *s *= bright / (total * total).max(f64::MIN_POSITIVE));
    sum
}

//! Small scenes with known materials.

use super::{Abundances, Negative, Outliers, Unmix, Unmixed, WhyOutlier};
use crate::Error;
use crate::control::{Control, Stop};
use crate::matrix::Dense;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use std::time::Instant;

const SIDE: usize = 20;
const BANDS: usize = 30;

/// Three bumps over the bands.
fn materials() -> Vec<Vec<f64>> {
    let bump = |centre: f64| {
        let value = |b: usize| 0.2 + (-((b as f64 - centre) / 6.0).powi(2)).exp();
        (0..BANDS).map(value).collect()
    };
    vec![bump(3.0), bump(14.0), bump(26.0)]
}

/// Three fields with soft borders, brightness from 0.6 to 1.4, white noise.
fn scene(noise: f64) -> Dense {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let spectra = materials();
    let mut values = Vec::new();
    for i in 0..SIDE * SIDE {
        let (y, x) = ((i / SIDE) as f64, (i % SIDE) as f64);
        let centres = [(3.0, 3.0), (4.0, 16.0), (16.0, 9.0)];
        let near = centres.map(|(cy, cx)| (-0.08 * ((y - cy).powi(2) + (x - cx).powi(2))).exp());
        let sum: f64 = near.iter().sum();
        let bright = 1.0 + 0.4 * (0.7 * x + 0.3 * y).sin();
        let mixed = |b: usize| (0..3).map(|k| near[k] / sum * spectra[k][b]).sum::<f64>();
        values.extend((0..BANDS).map(|b| {
            let draw: f64 = StandardNormal.sample(&mut random);
            (bright * mixed(b) + noise * draw).max(0.0)
        }));
    }
    Dense::new(SIDE * SIDE, BANDS, values).unwrap()
}

fn angle(a: &[f64], b: &[f64]) -> f64 {
    let dot = crate::kernels::dot;
    (dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()).clamp(-1.0, 1.0).acos().to_degrees()
}

/// The largest angle between a true spectrum and the nearest one that was found.
fn worst(scene: &Unmixed) -> f64 {
    let nearest = |truth: &Vec<f64>| {
        let angles = scene.materials.iter().map(|m| angle(truth, &m.spectrum));
        angles.fold(f64::INFINITY, f64::min)
    };
    materials().iter().map(nearest).fold(0.0, f64::max)
}

fn unmix() -> Unmix {
    Unmix::new(3).shape(SIDE, SIDE)
}

#[test]
fn materials_are_found_in_noise_with_and_without_a_shape() {
    let x = scene(0.03);
    for settings in [unmix(), Unmix::new(3)] {
        let found = settings.run(&x).unwrap();
        // A single pixel is off by about 0.03 sqrt(30) / ||x||, 3 degrees.
        assert!(worst(&found) < 1.5, "{}", worst(&found));
        assert_eq!((found.outliers.len(), found.dark.len(), found.stop), (0, 0, Stop::Finished));
        assert!(found.noise.iter().all(|n| (0.02..0.045).contains(n)), "{:?}", found.noise);
        let shares: f64 = found.materials.iter().map(|m| m.share).sum();
        assert!((shares - 1.0).abs() < 1e-9);
        for material in &found.materials {
            assert!(material.members.contains(&material.pixel));
            assert_eq!(material.pixel_spectrum, x.row(material.pixel));
        }
    }
}

#[test]
fn without_noise_errors_are_small() {
    let found = unmix().run(&scene(0.0)).unwrap();
    assert!(
        worst(&found) < 1.0 && found.mean_error < 0.02,
        "{} {}",
        worst(&found),
        found.mean_error
    );
}

#[test]
fn dead_and_saturated_pixels_are_named_and_not_chosen() {
    let mut x = scene(0.02);
    let mut random = ChaCha8Rng::seed_from_u64(1);
    x.row_mut(45)[7] = 9.0; // saturated
    x.row_mut(230).iter_mut().for_each(|v| *v = 2.0 * random.random::<f64>()); // garbage
    x.row_mut(301).fill(0.0); // dead
    let found = unmix().run(&x).unwrap();
    let mut named: Vec<usize> = found.outliers.iter().map(|o| o.pixel).collect();
    named.sort_unstable();
    assert_eq!((named, found.dark.clone()), (vec![45, 230], vec![301]));
    assert!(found.outliers.iter().all(|o| o.why == WhyOutlier::Unexplained && o.error > 0.05));
    assert!(worst(&found) < 1.5, "{}", worst(&found));
    assert!(found.abundances.row(301).iter().all(|a| *a == 0.0) && found.errors[301] == 0.0);
    // Asked to name none, it may choose them.
    assert!(unmix().outliers(Outliers::None).run(&x).unwrap().outliers.is_empty());
    let one = unmix().outliers(Outliers::AtMost(1)).run(&x).unwrap();
    assert_eq!(one.outliers.len(), 1);
}

#[test]
fn dark_pixels_name_no_material() {
    let mut x = scene(0.02);
    let shaded = [12, 99, 250, 333];
    for i in shaded {
        let mut random = ChaCha8Rng::seed_from_u64(i as u64);
        for v in x.row_mut(i) {
            let draw: f64 = StandardNormal.sample(&mut random);
            *v = (*v * 0.01 + 0.02 * draw).max(0.0);
        }
    }
    let found = Unmix::new(3).run(&x).unwrap();
    assert_eq!(found.dark, shaded);
    assert!(worst(&found) < 1.5, "{}", worst(&found));
    assert!(found.materials.iter().all(|m| m.members.iter().all(|i| !shaded.contains(i))));
}

#[test]
fn a_rare_material_is_kept() {
    let mut x = scene(0.01);
    // Two by two pixels and some mixtures around them.
    let rare: Vec<f64> = (0..BANDS).map(|b| if b % 2 == 0 { 1.2 } else { 0.2 }).collect();
    for (pixel, share) in [(8, 1.0), (9, 1.0), (28, 1.0), (29, 1.0), (7, 0.5), (10, 0.4), (48, 0.6)]
    {
        for (v, r) in x.row_mut(pixel).iter_mut().zip(&rare) {
            *v = (1.0 - share) * *v + share * r;
        }
    }
    let found = Unmix::new(4).shape(SIDE, SIDE).run(&x).unwrap();
    let nearest = found.materials.iter().map(|m| angle(&rare, &m.spectrum));
    assert!(nearest.fold(f64::INFINITY, f64::min) < 3.0, "{:?}", found.outliers);
    assert!(worst(&found) < 2.0, "{}", worst(&found));
}

#[test]
fn abundances_are_free_or_sum_to_one() {
    let x = scene(0.02);
    let free = unmix().run(&x).unwrap();
    let shares = unmix().abundances(Abundances::SumToOne).run(&x).unwrap();
    for i in 0..SIDE * SIDE {
        let (a, b) = (free.abundances.row(i), shares.abundances.row(i));
        assert!(a.iter().chain(b).all(|v| *v >= 0.0));
        assert!((b.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        // Errors are what they are said to be.
        let fit =
            |band: usize| -> f64 { (0..3).map(|k| a[k] * free.materials[k].spectrum[band]).sum() };
        let off: f64 = (0..BANDS).map(|band| (x.row(i)[band] - fit(band)).abs()).sum();
        let total: f64 = x.row(i).iter().sum();
        assert!((off / total - free.errors[i]).abs() < 1e-9);
    }
    assert_eq!(free.errors, shares.errors);
}

#[test]
fn units_and_threads_change_nothing() {
    let x = scene(0.03);
    let one = unmix().threads(1).run(&x).unwrap();
    let two = unmix().threads(2).run(&x).unwrap();
    assert_eq!((&one.materials, &one.abundances), (&two.materials, &two.abundances));
    for unit in [2f64.powi(-300), 2f64.powi(300)] {
        let scaled = x.values().iter().map(|v| v * unit).collect();
        let scaled = unmix().run(&Dense::new(SIDE * SIDE, BANDS, scaled).unwrap()).unwrap();
        assert!((worst(&scaled) - worst(&one)).abs() < 1e-9);
        let pixels = |found: &Unmixed| found.materials.iter().map(|m| m.pixel).collect::<Vec<_>>();
        assert_eq!(pixels(&scaled), pixels(&one));
    }
}

#[test]
fn wrong_input_is_named() {
    let x = scene(0.02);
    let sentence = |settings: Unmix, x: &Dense| settings.run(x).unwrap_err().to_string();
    assert!(sentence(Unmix::new(0), &x).contains("rank 0"));
    assert!(sentence(Unmix::new(401), &x).contains("400"));
    assert!(sentence(Unmix::new(2).shape(20, 21), &x).contains("20x21"));
    let mut negative = x.clone();
    negative.row_mut(3)[5] = -0.5;
    let said = sentence(Unmix::new(2), &negative);
    assert!(said.contains("pixel 3, band 5") && said.contains("clip"), "{said}");
    let clipped = unmix().negative(Negative::Clip).run(&negative).unwrap();
    assert_eq!(clipped.clipped, 1);
    negative.row_mut(3)[5] = f64::NAN;
    assert!(
        sentence(Unmix::new(2).negative(Negative::Clip), &negative).contains("row 3, column 5")
    );
    assert_eq!(Unmix::new(1).run(&Dense::zeros(2, 2)), Err(Error::AllZero { rows: 2 }));
    assert!(matches!(Unmix::new(1).run(&Dense::zeros(0, 2)), Err(Error::Empty { .. })));
    assert!("some".parse::<Outliers>().is_err() && "3".parse() == Ok(Outliers::AtMost(3)));
}

#[test]
fn tiny_scenes_have_an_answer() {
    for (rows, rank) in [
        (vec![vec![1.0]], 1),
        (vec![vec![1.0, 2.0]; 5], 3),
        (vec![vec![1.0, 0.0], vec![0.0, 1.0], vec![0.0, 0.0]], 2),
        (vec![vec![1.0, 0.0, 3.0, 4.0], vec![2.0, 2.0, 0.0, 1.0]], 1),
        ((0..40).map(|i| vec![i as f64 + 1.0, 40.0 - i as f64]).collect(), 3),
    ] {
        let x = Dense::from_rows(&rows).unwrap();
        let found = Unmix::new(rank).run(&x).unwrap();
        assert_eq!(found.rank(), rank);
        assert!(found.abundances.values().iter().chain(&found.errors).all(|v| v.is_finite()));
        let told = found.notes.iter().any(|note| note.contains("bands can tell apart"));
        assert_eq!(told, rank > x.cols(), "{:?}", found.notes);
    }
}

#[test]
fn a_stop_is_honest() {
    let late = Control::default().with_deadline(Instant::now());
    assert_eq!(unmix().control(late).run(&scene(0.02)), Err(Error::NoAnswer(Stop::TimeLimit)));
}

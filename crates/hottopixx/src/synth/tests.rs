//! Every family: shapes, sums, noise, truth, and the same bytes for the same seed.

use super::draw::l1;
use super::*;
use crate::matrix::Dense;

fn dense(instance: &Instance) -> &Dense {
    match &instance.matrix {
        Matrix::Dense(m) => m,
        Matrix::Sparse(_) => panic!("expected a dense matrix"),
    }
}

fn small(family: Family) -> Recipe {
    let recipe = Recipe::new(family, 4);
    if family.sparse() { recipe.size(120, 90).tokens(40) } else { recipe.size(48, 60) }
}

#[test]
fn every_family_keeps_its_promises() {
    for family in Family::ALL {
        assert_eq!(family.name().parse(), Ok(family));
        let instance = small(family).generate().unwrap();
        let (x, truth) = (&instance.matrix, &instance.truth);
        assert_eq!((x.rows(), x.cols()), (truth.features, truth.examples));
        x.check_nonnegative().unwrap();
        assert_eq!((truth.hott.len(), truth.groups.len()), (4, 4));
        let mut rows: Vec<usize> = truth.groups.iter().flatten().copied().collect();
        rows.sort_unstable();
        rows.dedup();
        assert_eq!(rows.len(), truth.groups.iter().map(Vec::len).sum::<usize>(), "{family}");
        for (hott, group) in truth.hott.iter().zip(&truth.groups) {
            assert!(group.contains(hott) && group.is_sorted(), "{family}");
            assert!(x.row(*hott).sum() > 0.0, "{family}: an empty hott row");
        }
        assert_eq!(truth.recall(truth.oracle()), 1.0);
        if !family.sparse() && family != Family::Scene {
            for i in 0..x.rows() {
                assert!((x.row(i).sum() - 1.0).abs() < 1e-12, "{family}: row {i}");
            }
            assert!(truth.alpha.is_some_and(|a| a > 0.0 && a <= 2.0));
        }
    }
    assert!("Paper".parse::<Family>().is_err());
}

#[test]
fn the_seed_fixes_every_byte() {
    for family in Family::ALL {
        let once = small(family).seed(3).generate().unwrap();
        assert_eq!(once, small(family).seed(3).generate().unwrap(), "{family}");
        let other = small(family).seed(4).generate().unwrap();
        assert_ne!(once.matrix, other.matrix, "{family}");
        assert_ne!(once.truth.hott, other.truth.hott, "{family}");
        let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let alone = one_thread.install(|| small(family).seed(3).generate().unwrap());
        assert_eq!(once, alone, "{family}");
    }
}

#[test]
fn noise_of_the_paper_is_measured_and_bounded() {
    for duplicates in [0, 2] {
        let recipe = Recipe::new(Family::Paper, 3).size(30, 80).duplicates(duplicates).seed(5);
        let clean = recipe.clone().noise(0.0).generate().unwrap();
        assert_eq!(clean.truth.epsilon, Some(0.0));
        for eta in [0.25, 4.0, 100.0] {
            let noisy = recipe.clone().noise(eta).generate().unwrap();
            assert_eq!(noisy.truth.groups, clean.truth.groups);
            let alpha = noisy.truth.alpha.unwrap();
            let bound = eta * alpha * alpha / (20.0 + 13.0 * alpha);
            let (a, b) = (dense(&noisy), dense(&clean));
            let moved = (0..30).map(|i| l1(a.row(i), b.row(i))).fold(0.0, f64::max);
            assert!(moved <= bound && (eta > 4.0 || moved > 0.8 * bound), "{moved} {bound}");
            assert_eq!(noisy.truth.epsilon, Some(moved));
        }
    }
}

#[test]
fn without_noise_the_rows_are_what_the_truth_says() {
    let recipe = Recipe::new(Family::Paper, 3).size(20, 50).duplicates(1).noise(0.0);
    let instance = recipe.generate().unwrap();
    let x = dense(&instance);
    for group in &instance.truth.groups {
        assert_eq!(group.len(), 2);
        assert_eq!(x.row(group[0]), x.row(group[1]));
    }
    // Distinct topics are far from each other, and no entry exceeds the largest of the hott rows.
    let hott = &instance.truth.hott;
    assert!(l1(x.row(hott[0]), x.row(hott[1])) > 0.5);
    for j in 0..50 {
        let most = hott.iter().map(|&h| x.row(h)[j]).fold(0.0, f64::max);
        assert!((0..20).all(|i| x.row(i)[j] <= most + 1e-12));
    }
}

#[test]
fn midpoints_are_pushed_outward() {
    let recipe = Recipe::new(Family::Midpoints, 4).noise(0.0);
    assert_eq!(recipe.features, 10);
    let instance = recipe.generate().unwrap();
    let (x, hott) = (dense(&instance), &instance.truth.hott);
    let middles: Vec<usize> = (0..10).filter(|i| !hott.contains(i)).collect();
    for (a, b) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
        let (a, b) = (x.row(hott[a]), x.row(hott[b]));
        let middle: Vec<f64> = a.iter().zip(b).map(|(x, y)| 0.5 * (x + y)).collect();
        let near = middles.iter().map(|&i| l1(x.row(i), &middle)).fold(f64::INFINITY, f64::min);
        assert!(near < 1e-12, "a midpoint is missing");
    }
    let pushed = recipe.clone().noise(0.6).generate().unwrap();
    assert_eq!(&pushed.truth.hott, hott);
    for &h in hott {
        assert_eq!(dense(&pushed).row(h), x.row(h));
    }
    assert!(pushed.truth.epsilon.unwrap() > 0.1);
    let twice = recipe.clone().duplicates(1).size(12, 60).generate().unwrap();
    assert!(twice.truth.groups.iter().all(|group| group.len() == 2));
    for features in [4, 7, 25] {
        let instance = recipe.clone().size(features, 60).generate().unwrap();
        assert_eq!(instance.matrix.rows(), features);
    }
}

#[test]
fn sharing_mass_brings_hott_rows_together() {
    let alpha = |family, ill| {
        let recipe = Recipe::new(family, 5).ill(ill);
        recipe.generate().unwrap().truth.alpha.unwrap()
    };
    assert!(alpha(Family::Midpoints, 0.8) < 0.5 * alpha(Family::Midpoints, 0.0));
    assert!(alpha(Family::IllConditioned, 0.99) < 0.5 * alpha(Family::IllConditioned, 0.5));
    assert_eq!(alpha(Family::IllConditioned, 0.0), alpha(Family::IllConditioned, 0.9));
}

#[test]
fn near_copies_and_outliers_are_told_apart() {
    let near = Recipe::new(Family::NearDuplicates, 4).noise(0.0).generate().unwrap();
    let x = dense(&near);
    for (hott, group) in near.truth.hott.iter().zip(&near.truth.groups) {
        assert_eq!(group.len(), 3);
        for i in group.iter().filter(|i| *i != hott) {
            let distance = l1(x.row(*hott), x.row(*i));
            assert!(distance > 0.0 && distance < 0.2, "{distance}");
        }
    }
    let out = Recipe::new(Family::Outliers, 4).size(60, 100).generate().unwrap();
    assert_eq!(out.truth.outliers.len(), 3);
    assert_eq!(out.truth.recovered(&out.truth.outliers), 0);
    for &i in &out.truth.outliers {
        assert_eq!(out.matrix.row(i).nonzeros().count(), 10);
    }
}

#[test]
fn documents_have_their_tokens_and_anchors_occur() {
    let instance = Recipe::new(Family::Multinomial, 3)
        .size(200, 150)
        .tokens(30)
        .duplicates(1)
        .generate()
        .unwrap();
    let documents = instance.matrix.transpose();
    assert!(matches!(instance.matrix, Matrix::Sparse(_)));
    for d in 0..150 {
        let length = documents.row(d).sum();
        assert!((30.0..=36.0).contains(&length), "{length}");
        assert!(documents.row(d).values().all(|v| v >= 1.0 && v.fract() == 0.0));
    }
    assert!(instance.truth.groups.iter().all(|g| g.len() == 2));
    // One token in one document: five of six anchors cannot be drawn and are written.
    let tiny = Recipe::new(Family::Multinomial, 1).size(6, 1).tokens(1).duplicates(5);
    let tiny = tiny.generate().unwrap();
    assert_eq!(tiny.matrix.nonzeros(), 6);
}

/// Nonzeros as asked for, anchors in a topic's share of the documents, no stop words, and more
/// taken off the errors by an anchor than by any other row.
#[test]
fn documents_are_what_they_promise() {
    for (rank, duplicates) in [(1, 0), (3, 0), (30, 1)] {
        let recipe = Recipe::new(Family::Documents, rank).duplicates(duplicates).seed(2);
        let Instance { matrix, truth } = recipe.generate().unwrap();
        let Matrix::Sparse(x) = &matrix else { panic!("expected a sparse matrix") };
        let (f, n) = (matrix.rows(), matrix.cols());
        let average = x.values().len() as f64 / n as f64;
        assert!((45.0..55.0).contains(&average), "{average}");
        let anchors: Vec<usize> = truth.groups.concat();
        let frequent = |i: &usize| x.row(*i).0.len() as f64 > 0.2 * n as f64;
        assert!(rank < 30 || !(0..f).any(|i| frequent(&i)));
        let unit = crate::normalise::UnitRows::new(&matrix).unwrap();
        let gain = |i: usize, j: usize| {
            let row = unit.dense_row(i);
            let shared =
                |c: f64| unit.row(j).nonzeros().map(|(k, v)| row[k].min(c * v)).sum::<f64>();
            [0.3, 0.6, 1.0].iter().map(|c| 2.0 * shared(*c) - c).fold(0.0, f64::max)
        };
        let total = |j: usize| (0..f).filter(|i| *i != j).map(|i| gain(i, j)).sum::<f64>();
        let others = (0..f).step_by(19).filter(|j| !anchors.contains(j)).map(total);
        let best = others.fold(0.0, f64::max);
        let least = truth.hott.iter().map(|&j| total(j)).fold(f64::INFINITY, f64::min);
        if rank > 1 {
            assert!(least > best, "{rank}: {least} {best}");
        }
    }
}

#[test]
fn documents_merge_blocks_into_sorted_rows() {
    let recipe = Recipe::new(Family::Documents, 2).size(40, 40_000).tokens(4);
    let instance = recipe.generate().unwrap();
    let Matrix::Sparse(x) = &instance.matrix else { panic!("expected a sparse matrix") };
    assert!((0..40).all(|i| x.row(i).0.is_sorted_by(|a, b| a < b)));
    assert!(x.row(0).0.last() > Some(&39_000));
}

#[test]
fn truth_counts_a_topic_once() {
    let mut truth = small(Family::Paper).generate().unwrap().truth;
    truth.groups = vec![vec![1, 2], vec![3], vec![7, 9]];
    assert_eq!(truth.recovered(&[1, 2, 9, 40]), 2);
    assert_eq!(truth.recovered(&[]), 0);
    assert!((truth.recall(&[3]) - 1.0 / 3.0).abs() < 1e-15);
}

#[test]
fn impossible_recipes_are_refused_by_name() {
    let base = Recipe::new(Family::Paper, 5);
    let name = |recipe: Recipe| match recipe.generate().unwrap_err() {
        Error::Setting { name, remedy, .. } => {
            assert!(!remedy.is_empty());
            name
        }
        other => panic!("{other}"),
    };
    assert_eq!(name(Recipe { rank: 0, ..base.clone() }), "rank");
    assert_eq!(name(Recipe { rank: 401, features: 1000, ..base.clone() }), "rank");
    assert_eq!(name(base.clone().duplicates(8)), "features");
    assert_eq!(name(base.clone().duplicates(usize::MAX)), "features");
    assert_eq!(name(base.clone().noise(f64::NAN)), "noise");
    assert_eq!(name(base.clone().noise(-1.0)), "noise");
    assert_eq!(name(base.clone().ill(0.5)), "ill");
    assert_eq!(name(Recipe::new(Family::Midpoints, 5).ill(1.0)), "ill");
    assert_eq!(name(base.clone().size(usize::MAX, usize::MAX)), "examples");
    assert_eq!(name(base.size(1 << 20, 1 << 20)), "examples");
    let text = Recipe::new(Family::Multinomial, 5);
    assert_eq!(name(text.clone().noise(1.0)), "noise");
    assert_eq!(name(text.clone().tokens(0)), "tokens");
    assert_eq!(name(text.clone().tokens(usize::MAX)), "examples");
    assert_eq!(name(text.size(usize::MAX, 2000)), "examples");
    let text = Recipe::new(Family::Documents, 5);
    assert_eq!(name(text.clone().noise(2.5)), "noise");
    assert_eq!(name(text.clone().tokens(0)), "tokens");
    assert_eq!(name(text.clone().tokens(usize::MAX)), "examples");
    assert_eq!(name(text.size(usize::MAX, 2000)), "examples");
    assert_eq!(name(Recipe::new(Family::Outliers, 5).size(5, 50)), "features");
    assert_eq!(name(Recipe::new(Family::NearDuplicates, 5).size(9, 50)), "features");
    for family in Family::ALL {
        let _ = Recipe::new(family, 1).size(2, 1).generate().unwrap();
    }
}

#[test]
fn scenes_have_pure_pixels_where_the_truth_says() {
    let recipe = Recipe::new(Family::Scene, 5);
    let Instance { matrix, truth } = recipe.clone().noise(0.0).seed(2).generate().unwrap();
    assert_eq!((truth.shape, matrix.rows()), (Some((48, 48)), 48 * 48));
    let spectra = truth.spectra.unwrap();
    let angle = |a: &[f64], b: &[f64]| {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        (dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()).clamp(-1.0, 1.0).acos().to_degrees()
    };
    for (k, &pixel) in truth.hott.iter().enumerate() {
        let Matrix::Dense(x) = &matrix else { panic!("expected a dense matrix") };
        let angles: Vec<f64> = spectra.iter().map(|s| angle(s, x.row(pixel))).collect();
        let least = angles.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(angles[k] == least && least < 5.0, "{k}: {angles:?}");
    }
    for (features, bands, rank) in [(7, 7, 7), (1, 1, 1), (30, 2, 2), (97, 5, 5)] {
        let small = Recipe::new(Family::Scene, rank).size(features, bands).generate().unwrap();
        let (height, width) = small.truth.shape.unwrap();
        assert_eq!(height * width, features);
        small.matrix.check_nonnegative().unwrap();
    }
    assert!(recipe.clone().duplicates(1).generate().is_err());
    // Pixels that are more mixed are further from the spectra.
    let mixed = recipe.noise(0.0).ill(0.4).seed(2).generate().unwrap();
    let Matrix::Dense(x) = &mixed.matrix else { panic!("expected a dense matrix") };
    let truth = mixed.truth;
    let of = |k: usize| angle(&truth.spectra.as_ref().unwrap()[k], x.row(truth.hott[k]));
    assert!((0..5).map(of).sum::<f64>() > 10.0);
}

//! Rows of sums over pairs of terms, however the work is divided.

use super::*;
use crate::synth::{Family, Recipe};
use crate::text::cooccurrence;

fn counts() -> Matrix {
    Recipe::new(Family::Multinomial, 3).size(300, 90).tokens(25).generate().unwrap().matrix
}

/// Documents x words in pieces of 1, 2, 3, ... documents.
fn pieces(counts: &Matrix) -> Vec<Matrix> {
    let documents = counts.transpose();
    let (mut pieces, mut first) = (Vec::new(), 0);
    while first < documents.rows() {
        let end = (first + pieces.len() + 1).min(documents.rows());
        pieces.push(documents.select_rows(&(first..end).collect::<Vec<_>>()));
        first = end;
    }
    pieces
}

fn rows(matrix: &Matrix) -> Vec<Vec<(usize, f64)>> {
    (0..matrix.rows()).map(|i| matrix.row(i).nonzeros().collect()).collect()
}

/// Rows computed apart, from documents in pieces and in blocks, are the bytes of the whole.
#[test]
fn no_division_of_the_work_changes_a_bit() {
    let counts = counts();
    let (whole, pieces) = (rows(&cooccurrence(&counts).unwrap()), pieces(&counts));
    let sums = PairSums::new(&pieces, PairKind::Cooccurrence);
    for cuts in [vec![0, 300], vec![0, 7, 150, 150, 299, 300]] {
        let apart: Vec<_> =
            cuts.windows(2).flat_map(|cut| rows(&sums.matrix(cut[0]..cut[1]).unwrap())).collect();
        assert_eq!(apart, whole);
    }
    // Blocks of 16 documents: together, and each alone and added by whoever has them.
    let documents = [counts.transpose()];
    let together = PairSums { block: 16, ..PairSums::new(&documents, PairKind::Cooccurrence) };
    let blocks: Vec<Matrix> = (0..90_usize)
        .step_by(16)
        .map(|d| documents[0].select_rows(&(d..(d + 16).min(90)).collect::<Vec<_>>()))
        .collect();
    let alone: Vec<Dense> = blocks
        .iter()
        .map(|block| {
            let block = std::slice::from_ref(block);
            let sums = PairSums::new(block, PairKind::Cooccurrence).matrix(0..300).unwrap();
            let all: Vec<_> = (0..300)
                .map(|i| sums.row(i).nonzeros().map(|(j, v)| (j as u32, v)).unzip())
                .collect();
            let mut out = Dense::zeros(300, 300);
            write(&all, 0, &mut out);
            out
        })
        .collect();
    let added = add_blocks(alone.into_iter(), |mut a, b| {
        a.values_mut().iter_mut().zip(b.values()).for_each(|(a, b)| *a += b);
        a
    })
    .unwrap();
    let blocked = rows(&together.matrix(0..300).unwrap());
    assert_eq!(rows(&added.into()), blocked);
    assert_ne!(blocked, whole, "blocks are added in another order than documents");
    for (a, b) in blocked.iter().flatten().zip(whole.iter().flatten()) {
        assert!(a.0 == b.0 && (a.1 - b.1).abs() <= 1e-14 * b.1.abs());
    }
}

#[test]
fn merged_columns_are_sums_of_columns() {
    let (counts, buckets) = (counts(), Buckets::random(300, 12, 5));
    let documents = [counts.transpose()];
    for kind in [PairKind::Cooccurrence, PairKind::Gram] {
        let all = PairSums::new(&documents, kind).matrix(0..300).unwrap();
        let merged = PairSums::new(&documents, kind).with_buckets(&buckets);
        assert_eq!(merged.width(), 12);
        let merged = merged.matrix(0..300).unwrap();
        for i in 0..300 {
            let mut expected = vec![0.0; 12];
            all.row(i).nonzeros().for_each(|(j, v)| expected[buckets.of[j] as usize] += v);
            let mut found = vec![0.0; 12];
            merged.row(i).add_to(1.0, &mut found);
            for (a, b) in found.iter().zip(&expected) {
                assert!((a - b).abs() <= 1e-13 * b.abs(), "{a} {b}");
            }
        }
    }
    let sizes = (0..12).map(|k| buckets.of.iter().filter(|b| **b == k).count());
    assert!(sizes.into_iter().all(|size| size == 25));
}

/// Dense and sparse Gram matrices agree, and tiles make no difference.
#[test]
fn gram_matrices_are_products() {
    let instance = Recipe::new(Family::Paper, 4).size(600, 50).generate().unwrap();
    let documents = instance.matrix.transpose();
    let Matrix::Dense(dense) = &documents else { panic!("the family is dense") };
    let whole = dense_gram(dense, 0..600);
    let apart: Vec<f64> =
        [0..256, 256..512, 512..600].map(|r| dense_gram(dense, r).into_values()).concat();
    assert_eq!(whole.values(), apart);
    let pieces = [documents.clone()];
    let same = PairSums::new(&pieces, PairKind::Gram).matrix(0..600).unwrap();
    assert!(matches!(same, Matrix::Dense(_)));
    for i in 0..600 {
        let row = instance.matrix.row(i);
        let mut x = vec![0.0; 50];
        row.add_to(1.0, &mut x);
        for j in [0, 300, 599] {
            let expected = instance.matrix.row(j).dot(&x);
            assert!((whole.row(i)[j] - expected).abs() <= 1e-12 * expected);
        }
        assert!(same.row(i).l1_distance(Row::dense(whole.row(i))) < 1e-9);
    }
}

#[test]
fn the_order_of_a_binary_counter() {
    let order = |n: usize| {
        let names = (0..n).map(|k| k.to_string());
        add_blocks(names, |a, b| format!("({a}{b})")).unwrap_or_default()
    };
    assert_eq!(order(0), "");
    assert_eq!(order(3), "((01)2)");
    assert_eq!(order(7), "(((01)(23))((45)6))");
}

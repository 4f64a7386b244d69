//! Scenes: arrays of three dimensions in `.npy` and `.mat`, matrices of pixels x bands, and damaged ones.

use crate::common::*;
use crate::fuzz::{apply, change};
use hottopixx_io::{CubeOptions, Error, Format, LoadedCube, read_cube};
use proptest::prelude::*;
use std::io::Write as _;

/// An element of a `.mat` file: tag, data, padding.
fn element(kind: u32, data: &[u8], big: bool) -> Vec<u8> {
    let word = |v: u32| if big { v.to_be_bytes() } else { v.to_le_bytes() };
    let mut out = [word(kind), word(data.len() as u32)].concat();
    out.extend(data);
    out.resize(out.len().next_multiple_of(8), 0);
    out
}

/// A matrix: class and flags, dimensions, name, numbers of some type.
fn matrix(class: u32, dims: &[i32], name: &str, kind: u32, numbers: &[u8], big: bool) -> Vec<u8> {
    let words = |values: &[i32]| -> Vec<u8> {
        values.iter().flat_map(|v| if big { v.to_be_bytes() } else { v.to_le_bytes() }).collect()
    };
    let parts = [
        element(6, &words(&[class as i32, 0]), big),
        element(5, &words(dims), big),
        element(1, name.as_bytes(), big),
        element(kind, numbers, big),
    ];
    element(14, &parts.concat(), big)
}

fn packed(matrix: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(matrix).unwrap();
    let data = out.finish().unwrap();
    let mut element = [15u32.to_le_bytes(), (data.len() as u32).to_le_bytes()].concat();
    element.extend(data);
    element
}

fn mat(parts: &[Vec<u8>], big: bool) -> Vec<u8> {
    let mut out = b"MATLAB 5.0 MAT-file, Platform: test".to_vec();
    out.resize(124, b' ');
    out.extend(if big { b"\x01\x00MI" } else { b"\x00\x01IM" });
    out.extend(parts.concat());
    out
}

/// 2 x 3 pixels of 2 bands: 100 row + 10 column + band, the first index fastest.
fn by_columns() -> Vec<f64> {
    let value = |at: usize| (100 * (at % 2) + 10 * (at / 2 % 3) + at / 6) as f64;
    (0..12).map(value).collect()
}

fn cube_of(bytes: &[u8], options: &CubeOptions) -> Result<LoadedCube, Error> {
    read_cube(bytes, "file", &CubeOptions { max_bytes: Some(MEMORY), ..options.clone() })
}

fn expected() -> Vec<f64> {
    vec![0.0, 1.0, 10.0, 11.0, 20.0, 21.0, 100.0, 101.0, 110.0, 111.0, 120.0, 121.0]
}

fn good_mats() -> Vec<Vec<u8>> {
    let cube = |kind: u32, class: u32, body: Vec<u8>, big| {
        matrix(class, &[2, 3, 2], "cube", kind, &body, big)
    };
    let f8s = f8(&by_columns());
    let big: Vec<u8> = by_columns().iter().flat_map(|v| v.to_be_bytes()).collect();
    let small: Vec<u8> = by_columns().iter().map(|v| *v as u8).collect();
    let text = matrix(4, &[1, 2], "note", 4, &[104, 0, 105, 0], false);
    vec![
        mat(&[cube(9, 6, f8s.clone(), false)], false),
        mat(&[text.clone(), packed(&cube(9, 6, f8s.clone(), false))], false),
        mat(&[cube(9, 6, big, true)], true),
        // Doubles that are stored in a byte each, as MATLAB does with whole numbers.
        mat(&[packed(&cube(2, 6, small, false)), text], false),
    ]
}

#[test]
fn mat_files_of_all_kinds_give_the_same_cube() {
    for bytes in good_mats() {
        let found = cube_of(&bytes, &CubeOptions::default()).unwrap();
        assert_eq!((found.shape, found.pixels.cols()), (Some((2, 3)), 2));
        assert_eq!(found.pixels.values(), expected());
    }
}

#[test]
fn npy_cubes_in_both_orders_and_with_bands_first() {
    let plain = CubeOptions::default();
    let by_rows = npy("'<f8'", false, "(2, 3, 2)", &f8(&expected()));
    let by_columns = npy("'<f8'", true, "(2, 3, 2)", &f8(&by_columns()));
    for bytes in [&by_rows, &by_columns] {
        let found = cube_of(bytes, &plain).unwrap();
        assert_eq!((found.pixels.values(), found.shape), (&expected()[..], Some((2, 3))));
    }
    // Bands x height x width.
    let value = |at: usize| (100 * (at / 3 % 2) + 10 * (at % 3) + at / 6) as f64;
    let first: Vec<f64> = (0..12).map(value).collect();
    let first = npy("'<f8'", false, "(2, 2, 3)", &f8(&first));
    let turned = CubeOptions { transpose: true, ..plain.clone() };
    let found = cube_of(&first, &turned).unwrap();
    assert_eq!((found.pixels.values(), found.shape), (&expected()[..], Some((2, 3))));
    // Values below zero are left to the caller.
    let negative = npy("'<f8'", false, "(1, 1, 2)", &f8(&[-1.0, 2.0]));
    assert_eq!(cube_of(&negative, &plain).unwrap().pixels.values(), [-1.0, 2.0]);
}

#[test]
fn matrices_of_pixels_need_a_shape_that_fits() {
    let flat = npy("'<f8'", false, "(6, 2)", &f8(&expected()));
    let shaped = |shape| CubeOptions { shape: Some(shape), ..Default::default() };
    let found = cube_of(&flat, &shaped((2, 3))).unwrap();
    assert_eq!((found.shape, found.pixels.values()), (Some((2, 3)), &expected()[..]));
    assert_eq!(cube_of(&flat, &CubeOptions::default()).unwrap().shape, None);
    let message = cube_of(&flat, &shaped((2, 4))).unwrap_err().to_string();
    assert!(message.contains("6 pixels of 2 bands, not 2 x 4"), "{message}");
    let table = CubeOptions { format: Some(Format::Csv), ..shaped((1, 2)) };
    assert_eq!(cube_of(b"1,2,3\n4,5,6\n", &table).unwrap().pixels.row(1), [4.0, 5.0, 6.0]);
}

/// As benchmarks are handed out: bands x pixels, pixels column by column, beside their height and width.
#[test]
fn mat_files_may_say_their_shape_beside_the_matrix() {
    let scalar = |name: &str, v: f64| matrix(6, &[1, 1], name, 9, &f8(&[v]), false);
    let pixels = (0..6).flat_map(|p| {
        let base = (100 * (p % 2) + 10 * (p / 2)) as f64;
        [base, base + 1.0]
    });
    let values: Vec<f64> = pixels.collect();
    let flat = matrix(6, &[2, 6], "Y", 9, &f8(&values), false);
    let parts = [flat.clone(), scalar("nRow", 2.0), scalar("nCol", 3.0)];
    let found = cube_of(&mat(&parts, false), &CubeOptions::default()).unwrap();
    assert_eq!((found.shape, found.pixels.values()), (Some((2, 3)), &expected()[..]));
    // Without them the matrix is taken as it is.
    let turned = CubeOptions { transpose: true, ..Default::default() };
    let found = cube_of(&mat(&[flat], false), &turned).unwrap();
    assert_eq!((found.shape, found.pixels.rows()), (None, 6));
}

#[test]
fn refusals_name_the_remedy() {
    let two = |a: &str, b: &str| {
        let one = |name| matrix(6, &[1, 1, 2], name, 9, &f8(&[1.0, 2.0]), false);
        mat(&[one(a), one(b)], false)
    };
    let few = matrix(6, &[2, 3, 2], "cube", 9, &f8(&[1.0]), false);
    let huge = matrix(6, &[100000, 100000, 200], "cube", 9, &f8(&[1.0]), false);
    let many = matrix(6, &[1, 1, 1, 2], "cube", 9, &f8(&[1.0, 2.0]), false);
    let structure = matrix(2, &[1, 1], "s", 9, &[], false);
    let mut version = mat(&[], false);
    version[..10].copy_from_slice(b"MATLAB 7.3");
    let cases = [
        (two("a", "b"), "choose one with --key: \"a\" (1 x 1 x 2), \"b\""),
        (mat(&[few], false), "not as many numbers as its dimensions say"),
        (mat(&[huge], false), "bytes of memory"),
        (mat(&[many], false), "there is no array"),
        (mat(&[structure], false), "not inside a structure"),
        (version, "save it with -v7"),
        (good_mats()[0][..200].to_vec(), "truncated"),
        (b"MATLAB".to_vec(), "ends early"),
        (npy("'<f8'", false, "(2, 2, 2, 2)", &[]), "4 dimensions"),
        (npy("'<f8'", false, "(99999, 99999, 99999)", &[]), "bytes of memory"),
    ];
    for (bytes, want) in cases {
        let message = cube_of(&bytes, &CubeOptions::default()).unwrap_err().to_string();
        assert!(message.contains(want) && message.starts_with("file"), "{message}");
    }
    let key = CubeOptions { key: Some("b".into()), ..Default::default() };
    assert_eq!(cube_of(&two("a", "b"), &key).unwrap().pixels.values(), [1.0, 2.0]);
    let key = CubeOptions { key: Some("c".into()), ..Default::default() };
    assert!(cube_of(&two("a", "b"), &key).unwrap_err().to_string().contains("choose one of"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damaged_scenes(which in 0..5usize, transpose in any::<bool>(), changes in prop::collection::vec(change(), 1..5)) {
        let npy = npy("'<f8'", false, "(2, 3, 2)", &f8(&expected()));
        let mut bytes = good_mats().get(which).cloned().unwrap_or(npy);
        changes.iter().for_each(|change| apply(&mut bytes, change));
        match cube_of(&bytes, &CubeOptions { transpose, ..Default::default() }) {
            Ok(found) => {
                let pixels = found.shape.map_or(found.pixels.rows(), |(h, w)| h * w);
                prop_assert_eq!(pixels, found.pixels.rows());
            }
            Err(e) => {
                let message = e.to_string();
                prop_assert!(!message.contains(['\n', '\r']) && message.len() < 600, "{:?}", message);
            }
        }
    }
}

//! Damaged and random bytes for every parser: never a panic, never memory out of proportion.
//!
//! The memory allowed is a few MiB, so that a size believed before it is checked fails the run. Most
//! inputs are good files with bytes changed, cut, repeated or put in, since these get further into a
//! parser than noise does.

use crate::common::*;
use hottopixx_io::{Format, LoadOptions, Source, load, peek};
use proptest::prelude::*;

/// One change to a file; positions are fractions of its length.
#[derive(Debug, Clone)]
pub enum Change {
    Set(f64, u8),
    Cut(f64),
    Drop(f64, usize),
    Put(f64, Vec<u8>),
    Repeat(f64, usize),
}

pub fn change() -> impl Strategy<Value = Change> {
    let at = 0.0..1.0f64;
    let pieces = prop::sample::select(vec![
        &b"-1"[..],
        b"nan",
        b"99999999999999999999",
        b"4294967296",
        b"18446744073709551615",
        b"1e999",
        b"0",
        b"\n",
        b" ",
        b",",
        b"\"",
        b":",
        b"\t",
        b"\xff\xff\xff\xff",
        b"\x00",
        b"#",
        b"%",
        b"\r\n",
        b"(",
        b"'",
        b"PK\x01\x02",
        b"PK\x05\x06",
        b"PK\x06\x06",
        b"\x1f\x8b",
    ]);
    prop_oneof![
        (at.clone(), any::<u8>()).prop_map(|(p, b)| Change::Set(p, b)),
        at.clone().prop_map(Change::Cut),
        (at.clone(), 1..9usize).prop_map(|(p, n)| Change::Drop(p, n)),
        (at.clone(), pieces).prop_map(|(p, b)| Change::Put(p, b.to_vec())),
        (at, 1..40usize).prop_map(|(p, n)| Change::Repeat(p, n)),
    ]
}

/// A number of 64 bits that a header or a list of starts might hold.
fn word() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..6u64,
        Just(u64::MAX),
        Just(1 << 32),
        Just(1 << 60),
        Just(f64::NAN.to_bits()),
        Just((-1f64).to_bits()),
        any::<u64>(),
    ]
}

pub fn apply(bytes: &mut Vec<u8>, change: &Change) {
    let index = |p: &f64| (p * bytes.len() as f64) as usize;
    match change {
        Change::Set(p, b) => {
            let k = index(p);
            if let Some(byte) = bytes.get_mut(k) {
                *byte = *b;
            }
        }
        Change::Cut(p) => bytes.truncate(index(p)),
        Change::Drop(p, n) => {
            let k = index(p);
            bytes.drain(k..(k + n).min(bytes.len()));
        }
        Change::Put(p, piece) => {
            let k = index(p);
            bytes.splice(k..k, piece.iter().copied());
        }
        Change::Repeat(p, n) => {
            let k = index(p);
            let piece = bytes[k..(k + n).min(bytes.len())].to_vec();
            bytes.splice(k..k, piece);
        }
    }
}

/// Reads in every way; what is accepted must be a matrix that later steps can rely on.
fn exercise(bytes: &[u8], format: Option<Format>) -> Result<(), TestCaseError> {
    for transpose in [false, true] {
        let options = LoadOptions { format, transpose, ..Default::default() };
        match parse_with(bytes, &options) {
            Ok(loaded) => {
                prop_assert!(loaded.matrix.check_nonnegative().is_ok());
                let rows = loaded.row_names.map_or(loaded.matrix.rows(), |n| n.len());
                let cols = loaded.col_names.map_or(loaded.matrix.cols(), |n| n.len());
                prop_assert_eq!((rows, cols), (loaded.matrix.rows(), loaded.matrix.cols()));
            }
            Err(e) => {
                let message = e.to_string();
                prop_assert!(!message.contains(['\n', '\r']), "{:?}", message);
                prop_assert!(message.len() < 600, "{}", message);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn damaged_files(which in any::<prop::sample::Index>(), changes in prop::collection::vec(change(), 1..5)) {
        let files = good_files();
        let (format, mut bytes) = files[which.index(files.len())].clone();
        for change in &changes {
            apply(&mut bytes, change);
        }
        exercise(&bytes, Some(format))?;
        exercise(&bytes, None)?;
    }

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200), which in any::<prop::sample::Index>()) {
        exercise(&bytes, Some(Format::ALL[which.index(Format::ALL.len())]))?;
        exercise(&bytes, None)?;
    }

    #[test]
    fn random_text(text in "[-0-9.,:#%eE\"\n\t a]{0,120}", which in any::<prop::sample::Index>()) {
        exercise(text.as_bytes(), Some(Format::ALL[which.index(Format::ALL.len())]))?;
    }

    #[test]
    fn forged_hpx_files(
        named in any::<bool>(),
        words in prop::collection::vec((0..70usize, word()), 0..3),
        changes in prop::collection::vec(change(), 0..2),
    ) {
        let mut bytes = if named { named_hpx() } else { plain_hpx() };
        for (k, word) in words {
            // Words of 8 bytes: sizes, places, starts, values.
            if let Some(place) = bytes.get_mut(8 * k..8 * k + 8) {
                place.copy_from_slice(&word.to_le_bytes());
            }
        }
        for change in &changes {
            apply(&mut bytes, change);
        }
        forge(&mut bytes);
        exercise(&bytes, Some(Format::Hpx))?;
        // The same as a file, which is mapped.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.hpx");
        std::fs::write(&path, &bytes).unwrap();
        let source = Source::path(&path);
        let options = LoadOptions { max_bytes: Some(MEMORY), ..Default::default() };
        let _ = peek(&source, &options);
        let read = parse(&bytes, Format::Hpx);
        match load(&source, &options) {
            Ok(loaded) => prop_assert_eq!(loaded, read.unwrap()),
            Err(e) => {
                prop_assert!(read.is_err(), "{}", e);
                prop_assert!(!e.to_string().contains(['\n', '\r']));
            }
        }
    }

    #[test]
    fn sparse_entries_come_back(
        entries in prop::collection::vec((1..9usize, 1..7usize, 0..1000u32), 0..40)
    ) {
        let triplets: Vec<_> =
            entries.iter().map(|(i, j, v)| (i - 1, j - 1, f64::from(*v) / 8.0)).collect();
        let want = sparse(8, 6, &triplets);
        let mut market = format!("%%MatrixMarket matrix coordinate real general\n8 6 {}\n", entries.len());
        let mut words = format!("6\n8\n{}\n", entries.len());
        for (i, j, v) in &entries {
            let v = f64::from(*v) / 8.0;
            market += &format!("{i} {j} {v}\n");
            words += &format!("{j} {i} {v}\n");
        }
        prop_assert_eq!(&parse(market.as_bytes(), Format::MatrixMarket).unwrap().matrix, &want);
        prop_assert_eq!(&parse(words.as_bytes(), Format::BagOfWords).unwrap().matrix, &want);
    }
}

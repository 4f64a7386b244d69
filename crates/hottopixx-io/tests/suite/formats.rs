//! Good files of every format, and what they must turn into.

use crate::common::*;
use hottopixx_io::{Format, LoadOptions};
use zip::CompressionMethod::{Deflated, Stored};

#[test]
fn npy_of_every_dtype_and_order() {
    let want = dense(&[&[1.0, 2.0], &[3.0, 4.0]]);
    macro_rules! bodies {
        ($($type:ty, $code:literal);*) => {
            vec![$(
                (concat!("'<", $code, "'"), [1, 2, 3, 4].map(|v| v as $type).iter()
                    .flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>()),
                (concat!("'>", $code, "'"), [1, 2, 3, 4].map(|v| v as $type).iter()
                    .flat_map(|v| v.to_be_bytes()).collect::<Vec<u8>>()),
            )*]
        };
    }
    let mut bodies = bodies!(u8, "u1"; u16, "u2"; u32, "u4"; u64, "u8"; i8, "i1"; i16, "i2";
        i32, "i4"; i64, "i8"; f32, "f4"; f64, "f8");
    bodies.push(("'<f2'", vec![0, 0x3c, 0, 0x40, 0, 0x42, 0, 0x44]));
    bodies.push(("'|u1'", vec![1, 2, 3, 4]));
    for (descr, body) in bodies {
        let loaded = parse(&npy(descr, false, "(2, 2)", &body), Format::Npy).unwrap();
        assert_eq!(loaded.matrix, want, "{descr}");
        let loaded = parse(&npy(descr, true, "(2, 2)", &body), Format::Npy).unwrap();
        assert_eq!(loaded.matrix, want.transpose(), "{descr} by columns");
    }
    let flags = parse(&npy("'|b1'", false, "(1, 3)", &[0, 1, 2]), Format::Npy).unwrap();
    assert_eq!(flags.matrix, dense(&[&[0.0, 1.0, 1.0]]));
}

#[test]
fn npy_versions_and_trailing_bytes() {
    let text = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }\n";
    for version in [2u8, 3] {
        let mut bytes = b"\x93NUMPY".to_vec();
        bytes.extend([version, 0]);
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text);
        bytes.extend(f8(&[2.5]));
        bytes.extend(b"more");
        let loaded = parse_with(&bytes, &LoadOptions::default()).unwrap();
        assert_eq!((loaded.matrix, loaded.format), (dense(&[&[2.5]]), Format::Npy));
    }
}

#[test]
fn npz_chooses_the_array_that_is_meant() {
    let matrix = |v: f64| npy("'<f8'", false, "(1, 1)", &f8(&[v]));
    let names = npy("'<U3'", false, "(2,)", &[0; 24]);
    let load = |members: &[(&str, Vec<u8>)], key: Option<&str>| {
        let options = LoadOptions { key: key.map(str::to_owned), ..Default::default() };
        parse_with(&npz(members, Deflated), &options).map(|l| l.matrix)
    };
    let one = |v: f64| dense(&[&[v]]);
    let (a, b) = (("a", matrix(1.0)), ("b", matrix(2.0)));
    let x = ("X", matrix(3.0));
    let arr = ("arr_0", matrix(4.0));
    let other = ("names", names);
    assert_eq!(load(std::slice::from_ref(&a), None).unwrap(), one(1.0));
    assert_eq!(load(&[a.clone(), x, b.clone()], None).unwrap(), one(3.0));
    assert_eq!(load(&[other.clone(), b.clone()], None).unwrap(), one(2.0));
    assert_eq!(load(&[b.clone(), arr], None).unwrap(), one(4.0));
    assert_eq!(load(&[a.clone(), b.clone()], Some("b")).unwrap(), one(2.0));
    let message = load(&[a.clone(), b], None).unwrap_err().to_string();
    assert!(message.contains("(\"a\", \"b\"): choose one with --key"), "{message}");
    let message = load(&[a, other], Some("z")).unwrap_err().to_string();
    assert!(message.contains("no array \"z\""), "{message}");
}

#[test]
fn scipy_csr_csc_coo_with_either_index() {
    let want = sparse(2, 3, &[(0, 1, 5.0), (1, 0, 7.0), (1, 2, 1.0)]);
    let narrow = |v: &[i32]| vector("<i4", &i4(v), 4);
    let wide =
        |v: &[i32]| vector("<i8", &i8(&v.iter().map(|i| i64::from(*i)).collect::<Vec<_>>()), 8);
    for index in [narrow, wide] as [fn(&[i32]) -> Vec<u8>; 2] {
        let csr = scipy(
            "csr",
            [2, 3],
            &[5.0, 1.0, 7.0],
            &[("indices", index(&[1, 2, 0])), ("indptr", index(&[0, 1, 3]))],
        );
        let csc = scipy(
            "csc",
            [2, 3],
            &[7.0, 5.0, 1.0],
            &[("indices", index(&[1, 0, 1])), ("indptr", index(&[0, 1, 2, 3]))],
        );
        let coo = scipy(
            "coo",
            [2, 3],
            &[1.0, 5.0, 3.0, 4.0],
            &[("row", index(&[1, 0, 1, 1])), ("col", index(&[2, 1, 0, 0]))],
        );
        for members in [csr, csc, coo] {
            for method in [Stored, Deflated] {
                let bytes = npz(&members, method);
                assert_eq!(parse(&bytes, Format::Npz).unwrap().matrix, want);
                let options = LoadOptions { transpose: true, ..Default::default() };
                assert_eq!(parse_with(&bytes, &options).unwrap().matrix, want.transpose());
            }
        }
    }
}

#[test]
fn matrix_market_of_every_kind() {
    let load = |text: &str| parse(text.as_bytes(), Format::MatrixMarket).unwrap().matrix;
    let symmetric = sparse(2, 2, &[(0, 0, 1.0), (0, 1, 2.0), (1, 0, 2.0)]);
    for (text, want) in [
        (
            "%%MatrixMarket matrix coordinate integer general\r\n% note\r\n\r\n2 3 2\r\n1 3 4\r\n2 1 5\r\n",
            sparse(2, 3, &[(0, 2, 4.0), (1, 0, 5.0)]),
        ),
        (
            "%%matrixmarket MATRIX Coordinate Pattern General\n2 2 3\n2 2\n1 1\n1 1",
            sparse(2, 2, &[(0, 0, 2.0), (1, 1, 1.0)]),
        ),
        ("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 1 2\n", symmetric),
        (
            "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n",
            dense(&[&[1.0, 3.0, 5.0], &[2.0, 4.0, 6.0]]),
        ),
        (
            "%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n",
            dense(&[&[1.0, 2.0, 3.0], &[2.0, 4.0, 5.0], &[3.0, 5.0, 6.0]]),
        ),
    ] {
        assert_eq!(load(text), want, "{text}");
    }
}

#[test]
fn tables_with_and_without_names() {
    let plain = dense(&[&[1.0, 2.0], &[3.0, 4.0]]);
    let (ab, xy) = (Some(["a", "b"]), Some(["x", "y"]));
    for (text, rows, cols) in [
        ("1,2\n3,4\n", None, None),
        ("1,2\r\n\r\n3,4", None, None),
        ("\u{feff}a,b\n1,2\n3,4\n", None, ab),
        ("x,1,2\ny,3,4\n", xy, None),
        ("word,a,b\nx,1,2\ny,3,4\n", xy, ab),
        (",a,b\nx,1,2\ny,3,4\n", xy, ab),
        ("a,b\nx,1,2\ny,3,4\n", xy, ab),
        ("\"a\",\"b\"\n\"1\", 2\n3 ,4\n", None, ab),
    ] {
        let loaded = parse(text.as_bytes(), Format::Csv).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(loaded.matrix, plain, "{text}");
        let owned = |names: Option<[&str; 2]>| names.map(|n| n.map(str::to_owned).to_vec());
        assert_eq!((loaded.row_names, loaded.col_names), (owned(rows), owned(cols)), "{text}");
        let tabs = text.replace(',', "\t");
        assert_eq!(parse(tabs.as_bytes(), Format::Tsv).unwrap().matrix, plain);
        let transpose =
            LoadOptions { format: Some(Format::Csv), transpose: true, ..Default::default() };
        let turned = parse_with(text.as_bytes(), &transpose).unwrap();
        assert_eq!(turned.matrix, plain.transpose());
        assert_eq!((turned.row_names, turned.col_names), (owned(cols), owned(rows)));
    }
}

#[test]
fn tables_whose_names_are_numbers() {
    // What pandas writes for a frame without names.
    let pandas = parse(b",0,1\n0,5,6\n1,7,8\n", Format::Csv).unwrap();
    assert_eq!(pandas.matrix, dense(&[&[5.0, 6.0], &[7.0, 8.0]]));
    assert_eq!(pandas.row_names, Some(vec!["0".to_owned(), "1".to_owned()]));
    // A vocabulary that begins with numbers and holds a word for a missing value.
    let words = parse(b"term,d1,d2\n007,1,2\nnan,3,4\noil,5,6\nzoo,7,8\n", Format::Csv).unwrap();
    assert_eq!((words.matrix.rows(), words.matrix.cols()), (4, 2));
    assert_eq!(words.row_names.unwrap()[..2], ["007", "nan"]);
    // One column cannot be names.
    assert_eq!(parse(b"a\n1\n2\n", Format::Csv).unwrap().matrix, dense(&[&[1.0], &[2.0]]));
}

#[test]
fn svmlight_counts_from_one_or_zero() {
    let one = parse(b"# head\n1 1:2 3:4#x\n\n-1 qid:7 2:1 # y\n", Format::SvmLight).unwrap();
    assert_eq!(one.matrix, sparse(2, 3, &[(0, 0, 2.0), (0, 2, 4.0), (1, 1, 1.0)]));
    assert_eq!(one.labels, Some(vec![1.0, -1.0]));
    let zero = parse(b"1,2 0:2\n3:1\n0\n", Format::SvmLight).unwrap();
    assert_eq!(zero.matrix, sparse(3, 4, &[(0, 0, 2.0), (1, 3, 1.0)]));
    assert_eq!(zero.labels, None);
}

#[test]
fn bag_of_words_has_words_as_rows() {
    let text = b"3\n2\n3\n1 2 7\n2 1 5\n3 2 1\n";
    let loaded = parse(text, Format::BagOfWords).unwrap();
    assert_eq!(loaded.matrix, sparse(2, 3, &[(1, 0, 7.0), (0, 1, 5.0), (1, 2, 1.0)]));
    let turned =
        LoadOptions { format: Some(Format::BagOfWords), transpose: true, ..Default::default() };
    assert_eq!(parse_with(text, &turned).unwrap().matrix, loaded.matrix.transpose());
}

#[test]
fn gzip_is_undone_for_every_format() {
    for (format, bytes) in good_files() {
        let plain = parse(&bytes, format).unwrap_or_else(|e| panic!("{e}"));
        let mut twice = gzip(&bytes[..bytes.len() / 2]);
        twice.extend(gzip(&bytes[bytes.len() / 2..]));
        if !bytes.starts_with(b"\x1f\x8b") {
            assert_eq!(parse(&twice, format).unwrap(), plain);
        }
    }
}

#[test]
fn names_of_formats() {
    for format in Format::ALL {
        assert_eq!(format.to_string().parse::<Format>(), Ok(format));
    }
    let message = "parquet".parse::<Format>().unwrap_err().to_string();
    assert!(message.contains("\"parquet\"") && message.contains("svmlight"), "{message}");
}

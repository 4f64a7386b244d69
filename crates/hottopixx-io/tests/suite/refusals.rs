//! Bad files of every format: each error is one sentence that names the place and the remedy.

use crate::common::*;
use hottopixx_io::{Error, Format, LoadOptions};
use zip::CompressionMethod::{Deflated, Stored};

/// The message for a file that must be refused; one line whatever the file holds.
fn refusal(bytes: &[u8], format: Format) -> String {
    let error = parse(bytes, format).expect_err("must be refused");
    let message = error.to_string();
    assert!(!message.contains(['\n', '\r', '\u{1b}']), "{message:?}");
    assert!(message.starts_with("file"), "{message}");
    message
}

fn check(format: Format, cases: &[(&str, &str)]) {
    for (text, want) in cases {
        let message = refusal(text.as_bytes(), format);
        assert!(message.contains(want), "{text:?}\n  gives {message}\n  not   {want}");
    }
}

#[test]
fn matrix_market() {
    const HEAD: &str = "%%MatrixMarket matrix coordinate real general\n";
    let with = |rest: &str| format!("{HEAD}{rest}");
    let cases = [
        (with("2 2 1\n1 1 -3\n"), "file, line 3: -3 is negative: "),
        (with("% c\n\n2 2 1\n1 1 nan\n"), "file, line 5: NaN is not finite: "),
        (with("2 2 1\n1 1 1e999\n"), "file, line 3: inf is not finite: "),
        (with("2 2 1\n1 1 x\u{1b}\n"), "line 3: \"x\\u{1b}\" is not a number"),
        (with("2 2 1\n3 1 1\n"), "line 3: row 3 does not exist: give a number from 1 to 2"),
        (with("2 2 1\n1 0 1\n"), "line 3: column 0 does not exist"),
        (with("2 2 1\n1 1\n"), "line 3: the line is too short: give row, column and value"),
        (with("2 2 1\n1 1 1 1\n"), "line 3: \"1\" is one word too many"),
        (with("2 2 2\n1 1 1\n"), "truncated, 1 entries found of 2"),
        (with("2 2 1\n1 1 1\n2 2 1\n"), "line 4: there are more than the 1 entries of line 2"),
        (with("2 2\n"), "line 2: the line is too short"),
        (with(""), "sizes is missing"),
        (with("0 0 0\n"), "the matrix is empty (0 rows, 0 columns)"),
        (with("1000000000000000000 1000000000000000000 0\n"), "line 2: a sparse matrix of"),
        (with("1 99999999999999999999 0\n"), "not a whole number below 2^64"),
        (with("2 2 999999999999\n"), "999999999999 nonzeros needs"),
        (HEAD.replace("real", "complex"), "\"complex\" is not supported"),
        (HEAD.replace("general", "skew-symmetric"), "none may be negative"),
        (HEAD.replace("coordinate real", "array pattern"), "\"pattern\" is not supported"),
        (HEAD.replace("general", "symmetric") + "2 3 0\n", "symmetric matrix cannot be 2 x 3"),
        ("1 1 1\n".to_owned(), "line 1: this is not the first line of a Matrix Market file"),
    ];
    for (text, want) in &cases {
        check(Format::MatrixMarket, &[(text, want)]);
    }
    const ARRAY: &str = "%%MatrixMarket matrix array real general\n";
    for (rest, want) in [
        ("2 1\n1\n-2\n", "line 4: -2 is negative"),
        ("2 1\n1\n", "truncated, 1 entries found of 2"),
        ("1 1\n1\n2\n", "line 4: there are more than 1 values: correct the sizes in line 2"),
        ("4000000000 4000000000\n", "line 2: a matrix of 4000000000 x 4000000000 needs"),
        ("2 0\n", "the matrix is empty (2 rows, 0 columns)"),
    ] {
        check(Format::MatrixMarket, &[(&format!("{ARRAY}{rest}"), want)]);
    }
}

#[test]
fn tables() {
    check(
        Format::Csv,
        &[
            ("1,2\n3,-4\n", "file, line 2, column 2: -4 is negative"),
            ("1,2\n3,nan\n", "line 2, column 2: \"nan\" is a missing value: fill it"),
            ("1,inf\n3,4\n", "line 1, column 2: inf is not finite"),
            ("a,b\n1,2\n3\n", "line 3: there are 1 cells where 2 belong"),
            ("a,b\n1,2\n\n3,4,5\n", "line 4: there are 3 cells where 2 belong"),
            ("1,2\r\n\r\n\r\n3,4\r\n5,-6", "line 5, column 2: -6 is negative"),
            ("1,2\r3,-4\r", "line 2, column 2: -4 is negative"),
            ("\"x\n\n\",2\n\ny,3\nz,-4\n", "line 6, column 2: -4 is negative"),
            ("1,2\n3,\n", "line 2, column 2: the cell is empty: fill it, say --missing"),
            ("a,b\n1,2\n3,x\ny\n", "line 3, column 2: \"x\" is not a number"),
            ("1,NA\n3,4\n", "line 1, column 2: \"NA\" is a missing value"),
            ("1,2,3.4.5\n3,4,5\n", "line 1, column 3: \"3.4.5\" is not a number: correct it or"),
            ("1,2\n3,4\n5.5.5,6\n7,8\n", "line 3, column 1: \"5.5.5\" is not a number"),
            ("1,2\n-3,4\n", "line 2, column 1: -3 is negative"),
            ("a,b\n", "there is a header but no row of numbers"),
            ("\n\n", "there is no line in it"),
            ("1,2\n3,4,5\n", "line 2: there are 3 cells where 2 belong"),
            ("x,1\n\"y,2\n", "line 2: there are 1 cells where 2 belong"),
        ],
    );
    check(Format::Tsv, &[("1\t2\n3\t-4\n", "file, line 2, column 2: -4 is negative")]);
}

#[test]
fn svmlight_and_bag_of_words() {
    check(
        Format::SvmLight,
        &[
            ("1 1:-2\n", "file, line 1: -2 is negative"),
            ("1 1:2\n1 2:nan\n", "line 2: NaN is not finite"),
            ("1 1:2 x\n", "line 1: \"x\" is not of the form index:value"),
            ("1 a:2\n", "\"a\" is not a whole number"),
            ("1 1:\n", "\"\" is not a number"),
            ("1 4294967295:1\n", "index 4294967295 is too large"),
            ("1 4294967290:1\n", "a sparse matrix of 1 x 4294967290 needs"),
            ("# nothing\n", "the matrix is empty (0 rows, 0 columns)"),
        ],
    );
    check(
        Format::BagOfWords,
        &[
            ("2\n2\n1\n1 1 -1\n", "file, line 4: -1 is negative"),
            ("2\n2\n1\n3 1 1\n", "line 4: document 3 does not exist: give a number from 1 to 2"),
            ("2\n2\n1\n1 0 1\n", "line 4: word 0 does not exist"),
            ("2\n2\n2\n1 1 1\n", "truncated, 1 entries found of 2"),
            ("2\n2\n1\n1 1 1\n1 2 1\n", "line 5: there are more than the 1 entries of line 3"),
            ("2\n2\n", "the number of entries is missing"),
            ("2 2\n", "line 1: \"2\" is one word too many"),
            ("1000000000000000000\n1000000000000000000\n0\n", "line 2: a sparse matrix of"),
            ("1\n1\n18446744073709551615\n", "line 3: a matrix of 18446744073709551615 nonzeros"),
        ],
    );
}

#[test]
fn npy_files() {
    let body = f8(&[1.0, 2.0, 3.0, -4.0]);
    let long = "9".repeat(18);
    for (descr, shape, body, want) in [
        ("'<f8'", "(2, 2)", &body[..], "row 1, column 1 of the file (counting from 0): -4 is neg"),
        ("'<f8'", "(2, 2)", &f8(&[1.0, 1.0, f64::NAN, 1.0]), "row 1, column 0 of the file"),
        ("'<f8'", "(2, 2)", &f8(&[1.0, f64::INFINITY, 1.0, 1.0]), "inf is not finite"),
        ("'<f8'", "(2, 2)", &body[..20], "truncated, 2 values found of 4"),
        ("'<f8'", "(4,)", &body, "has 1 dimension of 4 entries: give a matrix of two"),
        ("'<f8'", "()", &body, "has 0 dimensions: give a matrix of two"),
        ("'<f8'", "(2, 2, 1)", &body, "has 3 dimensions: give a matrix of two"),
        ("'<f8'", "(0, 2)", &[], "the matrix is empty (0 rows, 2 columns)"),
        ("'|O'", "(2, 2)", &body, "array of Python objects: save it with a numeric dtype"),
        ("'<c16'", "(1, 1)", &body, "complex"),
        ("'<U4'", "(1, 1)", &body, "array of text"),
        ("'<M8[ns]'", "(1, 1)", &body, "the dtype \"<M8[ns]\" cannot be read"),
        ("[('a', '<f8')]", "(2,)", &body, "array of records"),
        ("'<f8'", &format!("({long}, {long})"), &[], "needs"),
        ("'<f8'", "(4294967296, 0)", &[], "4294967296 x 0 is too large"),
        ("'<f8'", "(-1, 2)", &[], "instead of a size"),
    ] {
        let message = refusal(&npy(descr, false, shape, body), Format::Npy);
        assert!(message.contains(want), "{message}\n  not {want}");
    }
    for bytes in [&b"\x93NUMPY\x09\x00"[..], b"\x93NUM", b"\x93NUMPY\x02\x00\xff\xff\xff\xff", b"x"]
    {
        refusal(bytes, Format::Npy);
    }
}

#[test]
fn the_place_named_is_one_of_the_file() {
    let bytes = npy("'<f8'", true, "(2, 2)", &f8(&[1.0, 2.0, -3.0, 4.0]));
    for transpose in [false, true] {
        let options = LoadOptions { transpose, ..Default::default() };
        let message = parse_with(&bytes, &options).unwrap_err().to_string();
        assert!(message.contains("row 0, column 1 of the file"), "{message}");
    }
    // Of several, the first as the file stores them, whichever way the matrix is turned.
    let bytes = npy("'<f8'", true, "(2, 2)", &f8(&[1.0, -2.0, -3.0, 4.0]));
    for transpose in [false, true] {
        let options = LoadOptions { transpose, ..Default::default() };
        let message = parse_with(&bytes, &options).unwrap_err().to_string();
        assert!(message.contains("row 1, column 0 of the file"), "{message}");
    }
}

#[test]
fn npz_files() {
    let index = |v: &[i32]| vector("<i4", &i4(v), 4);
    let (three, starts) = ([5.0, 1.0, 7.0], [0, 1, 3]);
    let csr = |shape, indices: &[i32], starts: &[i32]| {
        scipy("csr", shape, &three, &[("indices", index(indices)), ("indptr", index(starts))])
    };
    let huge = 1_000_000_000_000_000_000;
    for (members, want) in [
        (csr([2, 3], &[1, 3, 0], &starts), "array \"indices\": index 3 is outside"),
        (csr([2, 3], &[1, -1, 0], &starts), "array \"indices\": it holds other things"),
        (csr([2, 3], &[1, 2], &starts), "array \"indices\": it has 2 entries but data has 3"),
        (csr([2, 3], &[1, 2, 0], &[0, 3, 1]), "array \"indptr\": it does not say"),
        (csr([2, 3], &[1, 2, 0], &[0, 3]), "array \"indptr\": it does not say"),
        (csr([2, 3], &[1, 2, 0], &[0, 1, 2, 3]), "array \"indptr\": it has 4 entries where 3"),
        (csr([huge, huge], &[1, 2, 0], &starts), "array \"shape\": a sparse matrix of"),
        (csr([-1, 3], &[1, 2, 0], &starts), "array \"shape\": it holds other things"),
        (scipy("bsr", [2, 3], &three, &[]), "format \"bsr\" cannot be read: convert it first"),
        (scipy("csr", [2, 3], &three, &[]), "array \"indptr\": it is missing"),
        (
            scipy("coo", [2, 3], &[-1.0], &[("row", index(&[1])), ("col", index(&[2]))]),
            "row 1, column 2 of the file (counting from 0): -1 is negative",
        ),
        (vec![("a", vector("<f8", &[], 8)), ("b", vector("<f8", &[], 8))], "(\"a\", \"b\") is a m"),
        (vec![("X", npy("'|O'", false, "(1, 1)", &[]))], "array \"X\": it is an array of Python"),
        (vec![("X", npy("'<f8'", false, "(1, 2)", &[0; 9]))], "array \"X\": the file is truncated"),
        (vec![], "there is no array in it"),
    ] {
        let message = refusal(&npz(&members, Deflated), Format::Npz);
        assert!(message.contains(want), "{message}\n  not {want}");
    }
}

#[test]
fn damaged_archives_and_bombs() {
    let mut bytes = npz(&[("X", npy("'<f8'", false, "(1, 2)", &f8(&[1.0, 2.0])))], Stored);
    let last = bytes.windows(8).rposition(|w| w == 2f64.to_le_bytes()).unwrap();
    bytes[last + 5] ^= 1;
    assert!(refusal(&bytes, Format::Npz).contains("archive is corrupt"));
    assert!(refusal(&bytes[..bytes.len() / 2], Format::Npz).contains("damaged"));
    assert!(refusal(b"PK\x03\x04", Format::Npz).contains("damaged"));
    let bomb = npy("'<f8'", false, "(1, 1)", &vec![0; 20 << 20]);
    let message = refusal(&npz(&[("X", bomb)], Deflated), Format::Npz);
    assert!(message.contains("longer than its header says"), "{message}");
    // An open quote, a line without end: both compress well.
    for (format, head) in
        [(Format::Csv, "a,\""), (Format::SvmLight, "1 "), (Format::BagOfWords, "")]
    {
        let mut text = head.as_bytes().to_vec();
        text.resize(20 << 20, b'7');
        refusal(&gzip(&text), format);
    }
    let mut lines = b"1\n".repeat(1 << 20);
    assert!(matches!(parse(&gzip(&lines), Format::SvmLight), Err(Error::TooLarge { .. })));
    assert!(matches!(parse(&gzip(&lines), Format::Csv), Err(Error::TooLarge { .. })));
    lines.splice(..0, *b"%%MatrixMarket matrix array real general\n1000 1000\n");
    refusal(&gzip(&lines), Format::MatrixMarket);
}

#[test]
fn damaged_gzip() {
    let text = "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 5\n";
    let good = gzip(text.as_bytes());
    let cut = refusal(&good[..good.len() - 9], Format::MatrixMarket);
    assert!(cut.contains("gzip data is truncated: copy or download"), "{cut}");
    let mut bad = good.clone();
    bad[20] ^= 0xff;
    let message = refusal(&bad, Format::Csv);
    assert!(message.contains("gzip data is"), "{message}");
    assert!(refusal(&gzip(b""), Format::Csv).contains("compressed file is empty"));
}

#[test]
fn empty_and_unknown_streams() {
    for format in Format::ALL {
        assert!(matches!(parse(b"", format), Err(Error::Empty { .. })));
    }
    let error = parse_with(b"1,2\n", &LoadOptions::default()).unwrap_err();
    assert!(matches!(error, Error::UnknownFormat { .. }));
    assert!(error.to_string().contains("--format"), "{error}");
}

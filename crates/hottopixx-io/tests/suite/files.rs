//! Files on disk: opening, extensions, vocabularies, lists, and the way back through the writers.

use crate::common::*;
use hottopixx::matrix::Matrix;
use hottopixx_io::{
    Error, Format, LoadOptions, Loaded, Source, load, read_names, read_numbers, write,
};
use std::fs;
use std::path::Path;

fn load_path(path: &Path) -> Result<Loaded, Error> {
    load(&Source::path(path), &LoadOptions::default())
}

fn message(path: &Path) -> String {
    let message = load_path(path).unwrap_err().to_string();
    assert!(!message.contains('\n'), "{message}");
    assert!(message.contains(path.file_name().unwrap().to_str().unwrap()), "{message}");
    message
}

#[test]
fn every_format_by_extension() {
    let folder = tempfile::tempdir().unwrap();
    for (k, (format, bytes)) in good_files().into_iter().enumerate() {
        let compressed = bytes.starts_with(b"\x1f\x8b");
        let name = match format {
            Format::BagOfWords => format!("docword.{k}.txt"),
            Format::SvmLight => format!("{k}.libsvm"),
            other => format!("{k}.{other}"),
        } + if compressed { ".gz" } else { "" };
        let path = folder.path().join(name);
        fs::write(&path, &bytes).unwrap();
        let loaded = load_path(&path).unwrap();
        assert_eq!(loaded.format, format);
        assert_eq!(loaded, parse(&bytes, format).unwrap());
    }
}

#[test]
fn files_that_cannot_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    assert!(message(&at("none.npy")).contains("does not exist"));
    assert!(message(folder.path()).contains("it is a folder"));
    fs::write(at("empty.csv"), "").unwrap();
    assert!(message(&at("empty.csv")).contains("the file is empty"));
    fs::write(at("data.parquet"), "PAR1").unwrap();
    let unknown = message(&at("data.parquet"));
    assert!(unknown.contains(".parquet files are read by the Python package"), "{unknown}");
    fs::write(at("plain.csv.gz"), "1,2\n").unwrap();
    assert!(message(&at("plain.csv.gz")).contains("not compressed"));
    fs::write(at("noextension"), "1,2\n").unwrap();
    assert!(message(&at("noextension")).contains("--format"));
    fs::write(at("recognised"), &good_files()[0].1).unwrap();
    assert_eq!(load_path(&at("recognised")).unwrap().format, Format::Npy);
    let named = LoadOptions { format: Some(Format::Csv), ..Default::default() };
    assert!(load(&Source::path(at("noextension")), &named).is_ok());
}

#[test]
fn a_vocabulary_beside_a_bag_of_words_names_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("docword.tiny.txt.gz");
    fs::write(&path, gzip(b"3\n2\n3\n1 2 7\n2 1 5\n3 2 1\n")).unwrap();
    assert_eq!(load_path(&path).unwrap().row_names, None);
    let vocabulary = folder.path().join("vocab.tiny.txt");
    fs::write(&vocabulary, "oil\r\nbank\r\n").unwrap();
    let names = Some(vec!["oil".to_owned(), "bank".to_owned()]);
    assert_eq!(load_path(&path).unwrap().row_names, names);
    let options = LoadOptions { transpose: true, ..Default::default() };
    let turned = load(&Source::path(&path), &options).unwrap();
    assert_eq!((turned.row_names, turned.col_names), (None, names));
    fs::write(&vocabulary, "oil\n").unwrap();
    let message = load_path(&path).unwrap_err().to_string();
    assert!(message.contains("vocab.tiny.txt: it has 1 lines"), "{message}");
}

#[test]
fn lists_of_names_and_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list.txt");
    fs::write(&path, "\u{feff}Öl\r\n\r\nbank account").unwrap();
    assert_eq!(read_names(&path, None).unwrap(), ["Öl", "", "bank account"]);
    fs::write(&path, b"a\n\xff\xfe\n").unwrap();
    assert!(read_names(&path, None).unwrap_err().to_string().contains("list.txt, line 2: "));
    fs::write(&path, "1\n -2.5e3 \n\n").unwrap();
    assert_eq!(read_numbers(&path, None).unwrap(), [1.0, -2500.0]);
    for (text, want) in
        [("1\nx\n", "line 2: \"x\""), ("1\n\n2\n", "line 2: "), ("nan\n", "line 1: ")]
    {
        fs::write(&path, text).unwrap();
        let message = read_numbers(&path, None).unwrap_err().to_string();
        assert!(message.contains(want), "{message}");
    }
    assert!(read_numbers(folder.path().join("none"), None).is_err());
}

#[test]
fn matrices_come_back_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let many: Vec<(usize, usize, f64)> =
        (0..20_000).map(|k| (k * 7 % 300, k * 13 % 500, k as f64 / 3.0 + 1e-300)).collect();
    for (k, matrix) in [
        dense(&[&[0.1, 2e-308, 3.0], &[f64::MAX, 0.0, 5e-324]]),
        sparse(3, 4, &[(2, 1, 0.1), (0, 3, 1e300)]),
        sparse(2, 2, &[]),
        sparse(300, 500, &many),
    ]
    .into_iter()
    .enumerate()
    {
        let path = write::matrix(folder.path(), &format!("m{k}"), &matrix).unwrap();
        assert_eq!(path.extension().unwrap(), if k == 0 { "npy" } else { "npz" });
        assert_eq!(load_path(&path).unwrap().matrix, matrix);
        // Writing again replaces the file.
        assert_eq!(write::matrix(folder.path(), &format!("m{k}"), &matrix).unwrap(), path);
    }
    let left: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 4, "temporary files are left: {left:?}");
}

#[test]
fn npy_header_is_aligned() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let Matrix::Dense(matrix) = dense(&[&[1.0, 2.0]]) else { unreachable!() };
    write::npy(&path, &matrix).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), 128 + 16);
}

#[test]
fn tables_are_quoted_and_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hott.csv");
    let rows = [["a,b", "1"], ["say \"hi\"\nthere", "2"]];
    write::csv(&path, &["name", "weight"], rows).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text, "name,weight\n\"a,b\",1\n\"say \"\"hi\"\"\nthere\",2\n");
    let loaded = load_path(&path).unwrap();
    assert_eq!(loaded.matrix, dense(&[&[1.0], &[2.0]]));
    assert_eq!(loaded.row_names.unwrap(), ["a,b", "say \"hi\"\nthere"]);
}

#[test]
fn a_failed_write_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    write::bytes(&path, "old").unwrap();
    let error = write::atomic(&path, |file| {
        std::io::Write::write_all(file, b"half")?;
        Err(std::io::Error::other("stopped"))
    });
    assert!(error.unwrap_err().to_string().contains("report.html: writing failed (stopped)"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(write::bytes(folder.path().join("no/such/folder"), "x").is_err());
    assert!(write::bytes(folder.path(), "x").is_err());
}

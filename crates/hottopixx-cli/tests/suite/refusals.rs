//! Whatever is wrong with the data or the options: exit code 1 (or 2 for usage), one line on
//! standard error that names the file and the remedy, nothing on standard output, no panic.

use crate::common::{Folder, error, npy, npy_with};
use std::io::Write as _;

/// A file, flags beside `factor FILE`, and words its sentence must contain.
struct Case {
    file: &'static str,
    bytes: Vec<u8>,
    flags: &'static [&'static str],
    words: &'static [&'static str],
}

fn case(file: &'static str, bytes: impl Into<Vec<u8>>, words: &'static [&'static str]) -> Case {
    Case { file, bytes: bytes.into(), flags: &["--rank", "1"], words }
}

fn cases() -> Vec<Case> {
    let gzipped = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let market =
        |entries: &str| format!("%%MatrixMarket matrix coordinate real general\n{entries}");
    let huge = "{'descr': '<f8', 'fortran_order': False, 'shape': (4000000000, 4000000000), }";
    let overflow =
        "{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999999999999999, 9), }";
    let object = "{'descr': '|O', 'fortran_order': False, 'shape': (2, 2), }";
    let flat = "{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }";
    let cube = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1, 2), }";
    let complex = "{'descr': '<c16', 'fortran_order': False, 'shape': (1, 2), }";
    let mut cut_gz = gzipped(&market("2 2 2\n1 1 1\n2 2 1\n"));
    cut_gz.truncate(cut_gz.len() - 9);
    let mut bad_gz = gzipped(&market("2 2 2\n1 1 1\n2 2 1\n"));
    let middle = bad_gz.len() / 2;
    bad_gz[middle] ^= 0xff;
    let mut cut_npy = npy(2, 2, &[1.0; 4]);
    cut_npy.truncate(cut_npy.len() - 5);
    vec![
        case("negative.npy", npy(2, 2, &[1.0, 2.0, -3.0, 4.0]), &["-3", "negative"]),
        case("nan.npy", npy(2, 2, &[1.0, f64::NAN, 3.0, 4.0]), &["NaN"]),
        case("infinite.npy", npy(2, 2, &[1.0, f64::INFINITY, 3.0, 4.0]), &["inf"]),
        case("negative.csv", "1,2\n3,-4\n", &["line 2", "negative"]),
        case("nan.csv", "1,2\n3,nan\n", &["line 2"]),
        case("word.csv", "1,2\n3,four\n", &["line 2", "four"]),
        case("ragged.csv", "1,2\n3,4\n5\n", &["line 3"]),
        case("ragged.tsv", "1\t2\n3\t4\n5\t6\t7\n", &["line 3"]),
        case("negative.mtx", market("2 2 1\n1 1 -1\n"), &["line 3", "negative"]),
        case("cut.mtx", market("2 2 3\n1 1 1\n"), &[]),
        case("range.mtx", market("2 2 1\n3 1 1\n"), &["line 3"]),
        case("zeroth.mtx", market("2 2 1\n0 1 1\n"), &["line 3"]),
        case("huge.mtx", market("4000000000 4000000000 4000000000000\n1 1 1\n"), &[]),
        case("header.mtx", "%%MatrixMarket matrix sideways\n", &[]),
        case("words.mtx", market("two 2 1\n"), &["line 2"]),
        case("cut.mtx.gz", cut_gz, &[]),
        case("bad.mtx.gz", bad_gz, &[]),
        case("range.svm", "1 0:x\n", &["line 1"]),
        case("negative.svm", "1 1:-2\n", &["line 1", "negative"]),
        case("docword.range.txt", "2\n2\n1\n3 1 1\n", &["line 4"]),
        case("docword.cut.txt", "2\n2\n5\n1 1 1\n", &[]),
        case("docword.huge.txt", "999999999999\n999999999999\n1\n1 1 1\n", &[]),
        case("cut.npy", cut_npy, &[]),
        case("short.npy", b"\x93NUMPY".to_vec(), &[]),
        case("magic.npy", "not numpy at all", &[]),
        case("huge.npy", npy_with(huge, &[0; 64]), &[]),
        case("overflow.npy", npy_with(overflow, &[0; 64]), &[]),
        case("object.npy", npy_with(object, &[0; 64]), &[]),
        case("flat.npy", npy_with(flat, &[0; 32]), &["dimension"]),
        case("cube.npy", npy_with(cube, &[0; 32]), &["dimension"]),
        case("complex.npy", npy_with(complex, &[0; 32]), &[]),
        case("corrupt.npz", "PK\x03\x04 and then nothing of an archive", &[]),
        case("notzip.npz", "plain text", &[]),
        case("empty.npy", "", &["empty"]),
        case("empty.csv", "", &["empty"]),
        case("rows.npy", npy(0, 3, &[]), &["empty"]),
        case("columns.npy", npy(3, 0, &[]), &["empty"]),
        case("zero.npy", npy(2, 2, &[0.0; 4]), &["zero"]),
        case("data.xyz", "1 2 3", &["--format"]),
        Case {
            flags: &["--rank", "0"],
            ..case("ranks.npy", npy(2, 2, &[1.0; 4]), &["between 1 and 2"])
        },
        Case {
            flags: &["--rank", "3"],
            ..case("ranks.npy", npy(2, 2, &[1.0; 4]), &["between 1 and 2"])
        },
        Case {
            flags: &["--rank", "1", "--memory", "100"],
            // Numbers of 32 bits cannot be mapped.
            ..case("large.npy", narrow(20, 20), &["memory"])
        },
        Case {
            flags: &["--rank", "1", "--min-df", "9"],
            ..case("rare.npy", npy(2, 2, &[1.0; 4]), &["--min-df", "at most 2"])
        },
        Case {
            flags: &["--rank", "1", "--candidate-df", "9"],
            ..case("rare.npy", npy(2, 2, &[1.0; 4]), &["--candidate-df", "at most 2"])
        },
    ]
}

/// An `.npy` file of zeros with 32 bits each.
fn narrow(rows: usize, cols: usize) -> Vec<u8> {
    let shape = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {cols}), }}");
    npy_with(&shape, &vec![0; 4 * rows * cols])
}

#[test]
fn bad_files_are_refused_in_one_sentence() {
    let mut failures = Vec::new();
    for Case { file, bytes, flags, words } in cases() {
        let folder = Folder::new();
        folder.write(file, bytes);
        let checked = std::panic::catch_unwind(|| {
            let line = folder.refusal(&[&["factor", file], flags].concat(), 1);
            for word in [&[file], words].concat() {
                assert!(line.contains(word), "no '{word}' in: {line}");
            }
        });
        if let Err(panic) = checked {
            let message = panic.downcast_ref::<String>().cloned().unwrap_or_default();
            failures.push(format!("{file} {flags:?}: {message}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn missing_files_and_folders() {
    let folder = Folder::with_instance();
    let line = folder.refusal(&["factor", "nowhere.npy", "--rank", "2"], 1);
    assert!(line.contains("nowhere.npy"), "{line}");
    let line = folder.refusal(&["factor", ".", "--rank", "2"], 1);
    assert!(line.contains('.'), "{line}");
    for flag in ["--names", "--cost"] {
        let line = folder.refusal(&["factor", "X.npy", "--rank", "2", flag, "nowhere.txt"], 1);
        assert!(line.contains("nowhere.txt"), "{line}");
    }
    let line = folder.refusal(&["factor", "X.npy", "--rank", "2", "--out", "X.npy"], 1);
    assert!(line.contains("X.npy is a file"), "{line}");
    let line = folder.refusal(&["factor", "X.npy", "--rank", "2", "--out", "X.npy/sub"], 1);
    assert!(line.contains("X.npy/sub"), "{line}");
    let line = folder.refusal(&["evaluate", "X.npy", "--hott", "1", "--truth", "X.npy"], 1);
    assert!(line.contains("X.npy"), "{line}");
}

#[test]
fn lists_of_the_wrong_length_name_both_lengths() {
    let folder = Folder::with_instance();
    folder.write("three.txt", "1\n2\n3\n");
    for flag in ["--names", "--cost"] {
        let line = folder.refusal(&["factor", "X.npy", "--rank", "2", flag, "three.txt"], 1);
        for word in ["three.txt", "3 n", "40 rows"] {
            assert!(line.contains(word), "no '{word}' in: {line}");
        }
    }
    folder.write("words.txt", "1\ntwo\n");
    let line = folder.refusal(&["factor", "X.npy", "--rank", "2", "--cost", "words.txt"], 1);
    assert!(line.contains("words.txt") && line.contains("line 2"), "{line}");
}

#[test]
fn a_limit_before_the_program_has_a_point_leaves_rows_and_claims_nothing() {
    let folder = Folder::with_instance();
    // Feasible, but not for the greedy rows that the program starts from: it would take rounds.
    let args = "factor X.npy --rank 3 --method lp --tau 0.4 --json --max-seconds 0";
    let words: Vec<&str> = args.split(' ').collect();
    let late = folder.text(&words);
    for claim in ["\"certificate\": null", "\"stop\": \"time_limit\"", "\"notes\": [\n"] {
        assert!(late.contains(claim), "{claim}: {late}");
    }
    let whole = folder.text(&words[..9]);
    assert!(whole.contains("\"status\": \"optimal\"") && whole.contains("\"stop\": \"finished\""));
}

#[test]
fn impossible_options() {
    let folder = Folder::with_instance();
    let factor = ["factor", "X.npy", "--rank", "2"];
    for (flags, words) in [
        (&["--method", "lp"][..], &["tau", "minimax needs none"][..]),
        (&["--method", "lp", "--tau", "-0.5"], &["tau = -0.5"]),
        (&["--method", "lp", "--tau", "nan"], &["tau"]),
        (&["--method", "minimax", "--gap", "0"], &["gap = 0"]),
        (&["--method", "minimax", "--gap", "-1"], &["gap = -1"]),
        (&["--method", "agkm"], &["epsilon"]),
        (&["--method", "agkm", "--epsilon", "0.1"], &["alpha"]),
        (&["--method", "agkm", "--epsilon", "0.1", "--alpha", "3"], &["alpha = 3"]),
        (&["--method", "agkm", "--epsilon", "-1", "--alpha", "1"], &["epsilon = -1"]),
        (&["--method", "magic"], &["magic", "xray"]),
        (&["--max-seconds", "-1"], &["--max-seconds -1"]),
        (&["--max-seconds", "nan"], &["--max-seconds"]),
        (&["--threads", "1000000"], &["--threads"]),
        (&["--cooccurrence", "--weight", "tfidf"], &["--weight"]),
    ] {
        let line = folder.refusal(&[&factor[..], flags].concat(), 1);
        for word in words {
            assert!(line.contains(word), "no '{word}' in: {line}");
        }
    }
    for hott in ["40", "1,1", "3,99999999999"] {
        let line = folder.refusal(&["evaluate", "X.npy", "--hott", hott], 1);
        assert!(line.contains("X.npy"), "{line}");
    }
    for args in [
        &["generate", "paper", "--rank", "0", "--out", "Y.npy"][..],
        &["generate", "paper", "--features", "3", "--rank", "9", "--out", "Y.npy"],
        &["generate", "paper", "--rank", "5", "--noise", "-1", "--out", "Y.npy"],
        &["generate", "paper", "--rank", "5", "--out", "Y.txt"],
        &["generate", "paper", "--rank", "5", "--out", "no/such/folder/Y.npy"],
        &["compare", "X.npy", "--rank", "0"],
        &["certify", "X.npy", "--rank", "0"],
        &["certify", "X.npy", "--rank", "5", "--method", "spa"],
        &["certify", "X.npy", "--rank", "5", "--method", "lp"],
        &["certify", "X.npy", "--hott", "1,1"],
        &["certify", "X.npy", "--hott", "1,2", "--rank", "3"],
    ] {
        folder.refusal(args, 1);
    }
    assert!(!folder.path("Y.npy").exists());
}

#[test]
fn wrong_usage_is_2() {
    let folder = Folder::with_instance();
    for args in [
        &[][..],
        &["frobnicate"],
        &["factor"],
        &["factor", "X.npy"],
        &["factor", "X.npy", "--rank", "two"],
        &["factor", "X.npy", "--rank", "-2"],
        &["factor", "X.npy", "--rank", "2", "--nonsense"],
        &["factor", "X.npy", "--rank", "2", "--objective", "median"],
        &["factor", "X.npy", "--rank", "2", "--memory", "much"],
        &["factor", "X.npy", "--rank", "2", "--format", "xls"],
        &["evaluate", "X.npy", "--hott", "1,two"],
        &["generate", "nonsense", "--rank", "2", "--out", "Y.npy"],
    ] {
        let output = folder.run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{args:?}");
    }
    for args in [&["--help"][..], &["--version"], &["factor", "--help"], &["demo", "-h"]] {
        let text = folder.text(args);
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{args:?}: {line}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let folder = Folder::with_instance();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = folder.command(&["factor", "X.npy", "--rank", "2"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(error(&output).contains("standard output"), "{}", error(&output));
}

/// `certify X.npy --out .` once replaced X.npy by its unit rows and removed X.npz.
#[test]
fn no_input_and_no_file_of_the_user_is_replaced() {
    let folder = Folder::with_instance();
    let before = folder.read("X.npy");
    let refused = |args: &[&str], reason: &str| {
        let line = folder.refusal(args, 1);
        assert!(line.contains(reason), "{line}");
        assert_eq!(folder.read("X.npy"), before);
    };
    let certify = ["certify", "X.npy", "--rank", "5", "--out", "."];
    refused(&certify, "X.npy is read by this command");
    assert!(!folder.path("C.npz").exists() && !folder.path("certificate.json").exists());
    // A file of the user under a name of ours, or of the kind that would be removed.
    std::fs::rename(folder.path("X.npy"), folder.path("data.npy")).unwrap();
    folder.write("X.npz", "mine");
    let certify = ["certify", "data.npy", "--rank", "5", "--out", "."];
    let line = folder.refusal(&certify, 1);
    assert!(line.contains("X.npz exists and was not written by hottopixx"), "{line}");
    assert_eq!(folder.read("X.npz"), b"mine");
    std::fs::rename(folder.path("data.npy"), folder.path("X.npy")).unwrap();
    std::fs::create_dir(folder.path("mine")).unwrap();
    folder.write("mine/F.npy", "mine");
    for command in [&["factor", "X.npy", "--rank", "5"][..], &["evaluate", "X.npy", "--hott", "1"]]
    {
        refused(&[command, &["--out", "mine"]].concat(), "F.npy exists");
    }
    folder.write("mine/part-00001.npy", "mine");
    let partition = ["partition", "X.npy", "--documents", "30", "--out", "mine"];
    refused(&partition, "part-00001.npy exists");
    // An answer is ours, also when it is the input of the next command.
    folder.text(&["factor", "X.npy", "--rank", "5", "--out", "answer"]);
    folder.text(&["certify", "X.npy", "--rank", "5", "--out", "answer"]);
    folder.text(&["factor", "X.npy", "--rank", "4", "--out", "answer"]);
    refused(&["factor", "answer/W.npy", "--rank", "2", "--out", "answer"], "W.npy is read by");
    refused(&["certify", "answer/X.npy", "--rank", "2", "--out", "answer"], "X.npy is read by");
    // What 'generate' has written it may write again.
    folder.text(&["generate", "paper", "--rank", "3", "--out", "G.npy"]);
    folder.text(&["generate", "paper", "--rank", "3", "--out", "G.npy"]);
    std::fs::remove_file(folder.path("G.truth.json")).unwrap();
    refused(&["generate", "paper", "--rank", "3", "--out", "G.npy"], "G.npy exists");
}

#[test]
fn a_command_that_has_moved_says_where_to() {
    let folder = Folder::new();
    for words in [&["bench"][..], &["bench", "jumbo", "--quick"], &["bench", "--help"]] {
        let line = folder.refusal(words, 1);
        assert!(line.contains("'hottopixx-study bench'"), "{line}");
    }
}

//! Files, names and disks that mean no good: every fault that was ever found stays here, with the
//! smallest input that shows it.

use crate::common::{Folder, error, npy, npy_with};
use hottopixx::matrix::{Matrix, Sparse};
use hottopixx_io::write;
use std::process::Stdio;

/// Some hundred bytes that claim 8 x 4294967293 numbers, of which two are there.
fn claims(folder: &Folder) {
    let matrix = Sparse::from_triplets(8, 4_294_967_293, &[(0, 0, 1.0), (7, 4_294_967_292, 2.0)]);
    write::hpx(folder.path("claims.hpx"), &Matrix::from(matrix.unwrap()), None, None).unwrap();
}

#[test]
fn every_command_plans_before_it_takes_memory() {
    let folder = Folder::new();
    claims(&folder);
    folder.write("array.mtx", "%%MatrixMarket matrix array real general\n2 100000000000000\n1\n");
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 10000000000), }";
    folder.write("array.npy", npy_with(header, &[0; 64]));
    for file in ["claims.hpx", "array.mtx", "array.npy"] {
        for command in [
            &["factor", file, "--rank", "1"][..],
            &["factor", file, "--rank", "1", "--method", "hottopixx"],
            &["factor", file, "--rank", "1", "--cooccurrence"],
            &["evaluate", file, "--hott", "0"],
            &["certify", file, "--rank", "1"],
            &["compare", file, "--rank", "1"],
            &["rank", file, "--tau", "0.1"],
            &["partition", file, "--out", "parts"],
            &["topics", file, "--rank", "2"],
            &["info", file, "--full"],
        ] {
            let command = [command, &["--memory", "8GiB"]].concat();
            let sentence = folder.refusal(&command, 1);
            let says = ["of memory, but", "bytes of memory but", "truncated"];
            assert!(says.iter().any(|part| sentence.contains(part)), "{command:?}: {sentence}");
        }
    }
    assert!(folder.text(&["info", "claims.hpx"]).contains("not read"));
    // Through a pipe there is no header to look at first.
    for command in [
        &["factor", "-", "--rank", "1"][..],
        &["partition", "-", "--out", "parts"],
        &["topics", "-", "--rank", "2"],
        &["info", "-"],
    ] {
        let command = [command, &["--format", "hpx", "--memory", "8GiB"]].concat();
        let file = std::fs::File::open(folder.path("claims.hpx")).unwrap();
        let output = folder.command(&command).stdin(file).output().unwrap();
        let sentence = error(&output);
        assert_eq!(output.status.code(), Some(1), "{command:?}: {sentence}");
        assert!(sentence.contains("of memory"), "{sentence}");
    }
}

/// One line without an end, in every format that has lines.
#[test]
fn a_line_that_never_ends_takes_no_memory() {
    let folder = Folder::new();
    folder.write("x.csv", vec![b'7'; 9 << 20]);
    for name in ["x.tsv", "x.svm", "x.txt", "x.jsonl", "docword.x.txt"] {
        std::fs::hard_link(folder.path("x.csv"), folder.path(name)).unwrap();
    }
    for file in ["x.csv", "x.tsv", "x.svm", "docword.x.txt"] {
        let command = ["factor", file, "--rank", "1", "--memory", "64MiB"];
        let sentence = folder.refusal(&command, 1);
        assert!(sentence.contains("longer than"), "{sentence}");
    }
    for file in ["x.txt", "x.jsonl", "x.csv"] {
        let sentence = folder.refusal(&["topics", file, "--rank", "2", "--memory", "64MiB"], 1);
        assert!(sentence.contains("longer than"), "{sentence}");
    }
    if cfg!(target_os = "linux") {
        folder.write("m.npy", npy(2, 2, &[1.0, 0.0, 0.0, 1.0]));
        let endless = ["evaluate", "m.npy", "--hott", "0,1", "--truth", "/dev/zero"];
        assert!(folder.refusal(&endless, 1).contains(".truth.json"));
    }
}

#[test]
fn weights_that_no_number_holds_are_no_perfect_answer() {
    let folder = Folder::new();
    for (hott, other) in [(1e-300, 1e300), (1e300, 1e-300)] {
        let values = [hott, 0.0, 0.0, hott, 0.5 * other, 0.5 * other];
        folder.write("m.npy", npy(3, 2, &values));
        for command in [
            &["evaluate", "m.npy", "--hott", "0,1"][..],
            &["factor", "m.npy", "--rank", "2", "--method", "spa", "--out", "out"],
        ] {
            let sentence = folder.refusal(command, 1);
            assert!(sentence.contains("the weight of row 2 in hott row 0"), "{sentence}");
        }
        assert!(std::fs::read_dir(folder.path("out")).unwrap().next().is_none());
    }
}

/// Names as an enemy would choose them, one per row.
const NAMES: [&str; 6] = ["=cmd|'/c calc'!A1", "a;b", "\u{202e}evil", "\u{9b}31mred", "@x", "-y"];

#[test]
fn names_act_on_nothing() {
    let folder = Folder::new();
    let values = [9.0, 1.0, 0.0, 0.0, 9.0, 1.0, 1.0, 0.0, 9.0];
    let rows = values.iter().chain(&[3.0, 3.0, 3.0, 5.0, 5.0, 1.0, 1.0, 5.0, 5.0]);
    folder.write("m.npy", npy(6, 3, &rows.copied().collect::<Vec<_>>()));
    folder.write("names.txt", NAMES.join("\n"));
    let out = "o\u{1b}[31mut";
    let command = ["factor", "m.npy", "--rank", "3", "--names", "names.txt", "--out", out];
    let shown = folder.text(&command);
    let odd = |c: char| c != '\n' && (c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c));
    assert!(!shown.contains(odd), "{shown:?}");
    assert!(shown.contains("written") && shown.contains("[31mut"), "{shown}");
    let json = folder.text(&[&command[..], &["--json"]].concat());
    assert!(!json.contains(odd) && json.contains("\\u009b") && json.contains("\\u202e"), "{json}");
    let parsed: serde_json::Value = serde_json::from_str(&json).unwrap();
    let said = |value: &serde_json::Value| value["name"].as_str().unwrap().to_owned();
    let hott: Vec<String> = parsed["hott"].as_array().unwrap().iter().map(said).collect();
    assert!(hott.iter().all(|name| NAMES.contains(&name.as_str())), "{hott:?}");
    let table = String::from_utf8(folder.read(&format!("{out}/hott.csv"))).unwrap();
    for cell in table.lines().skip(1).flat_map(|line| line.split([',', ';'])) {
        let formula = cell.trim_start_matches('"').starts_with(['=', '+', '-', '@', '\t']);
        assert!(!formula, "{table}");
    }
    assert!(table.contains("a\\;b") || table.contains(",a;b,"), "{table}");
    let page = String::from_utf8(folder.read(&format!("{out}/report.html"))).unwrap();
    assert!(page.contains("Content-Security-Policy") && page.contains("script-src 'sha256-"));
    assert!(!page.contains(|c| odd(c) && c != '\t'));
}

/// The program under a shell that sets limits first.
#[cfg(unix)]
fn limited(folder: &Folder, limits: &str, args: &str) -> std::process::Output {
    let program = env!("CARGO_BIN_EXE_hottopixx").to_owned();
    let script = format!("{limits}; exec {program} {args}");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script]).current_dir(folder.path("")).output().unwrap()
}

/// No file may be longer than some kilobytes: what a full disk does, without one.
#[cfg(unix)]
#[test]
fn a_full_disk_loses_no_answer() {
    let folder = Folder::with_instance();
    let run = "factor X.npy --rank 5 --method spa --json --quiet --out o";
    let first = limited(&folder, "true", &format!("{run} --seed 1"));
    assert_eq!(first.status.code(), Some(0), "{}", error(&first));
    let files = || -> Vec<(String, Vec<u8>)> {
        let names = std::fs::read_dir(folder.path("o")).unwrap();
        let names = names.map(|file| file.unwrap().file_name().to_string_lossy().into_owned());
        let mut all: Vec<_> = names.map(|n| (n.clone(), folder.read(&format!("o/{n}")))).collect();
        all.sort();
        all
    };
    let before = files();
    for blocks in 0..8 {
        let limits = format!("trap '' XFSZ; ulimit -f {blocks}");
        let full = limited(&folder, &limits, &format!("{run} --seed 2"));
        let sentence = error(&full);
        assert_eq!(full.status.code(), Some(1), "{blocks}: {sentence}");
        assert!(sentence.contains("writing failed"), "{sentence}");
        let answer: serde_json::Value = serde_json::from_slice(&full.stdout).unwrap();
        assert_eq!(answer["hott"].as_array().unwrap().len(), 5);
        assert!(files() == before, "{blocks}: the folder holds another answer, or parts of one");
    }
    // A terminal that takes nothing loses no files.
    if cfg!(target_os = "linux") {
        let deaf = limited(&folder, "exec > /dev/full", "factor X.npy --rank 5 --out p --quiet");
        assert_eq!(deaf.status.code(), Some(1), "{}", error(&deaf));
        assert!(error(&deaf).contains("standard output") && folder.path("p/summary.json").exists());
        let closed = limited(&folder, "exec >&-", "factor X.npy --rank 5 --out q --quiet");
        assert!(!error(&closed).contains("panicked") && folder.path("q/summary.json").exists());
    }
}

/// A folder in which two runs are mixed is noticed by whoever reads it.
#[test]
fn a_folder_of_two_runs_is_noticed() {
    let folder = Folder::new();
    let text: String = (0..40)
        .map(|k| ["oil price barrel\n", "court judge law\n", "goal match team\n"][k % 3])
        .collect();
    folder.write("docs.txt", &text);
    for (out, seed) in [("a", "1"), ("b", "2")] {
        let topics = ["topics", "docs.txt", "--rank", if out == "a" { "3" } else { "2" }];
        let more = ["--min-df", "1", "--candidate-df", "1", "--out", out, "--seed", seed];
        folder.text(&[&topics[..], &more].concat());
    }
    folder.text(&["apply", "a", "docs.txt", "--out", "shares"]);
    folder.json(&["apply", "a", "docs.txt", "--out", "again", "--json"]);
    assert!(folder.path("again/documents.csv").exists(), "--json writes the files as well");
    std::fs::copy(folder.path("b/model.json"), folder.path("a/model.json")).unwrap();
    let sentence = folder.refusal(&["apply", "a", "docs.txt"], 1);
    assert!(sentence.contains("model.json: it is not of the run that wrote"), "{sentence}");
    // Files left by a run that was killed go away with the next; others stay.
    let orphan = format!("b/.model.json.{}-0.tmp", u32::MAX);
    folder.write(&orphan, "part of a model");
    folder.write("b/.mine.tmp", "mine");
    folder.text(&["topics", "docs.txt", "--rank", "2", "--min-df", "1", "--out", "b"]);
    assert!(!folder.path(&orphan).exists() && folder.path("b/.mine.tmp").exists());
}

#[cfg(unix)]
#[test]
fn a_pipe_is_no_checkpoint() {
    let folder = Folder::with_instance();
    let made = std::process::Command::new("mkfifo").arg(folder.path("state")).status();
    if made.is_ok_and(|status| status.success()) {
        for resume in [&[][..], &["--resume"]] {
            let run = ["factor", "X.npy", "--rank", "5", "--checkpoint", "state"];
            let sentence = folder.refusal(&[&run[..], resume].concat(), 1);
            assert!(sentence.contains("is no file"), "{sentence}");
        }
    }
}

/// An input that is cut while it is read ends the program with a sentence, whenever it happens.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_becomes_shorter_is_told_in_a_sentence() {
    let folder = Folder::new();
    let size = ["--features", "100", "--examples", "4000", "--rank", "5", "--out", "X.npy"];
    folder.text(&[&["generate", "paper", "--quiet"], &size[..]].concat());
    let whole = folder.read("X.npy");
    for wait in [0, 150, 400] {
        folder.write("X.npy", &whole);
        let run = ["factor", "X.npy", "--rank", "5", "--method", "hottopixx", "--epochs", "3000"];
        let mut command = folder.command(&[&run[..], &["--max-seconds", "1", "--quiet"]].concat());
        let child = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(wait));
        std::fs::File::options()
            .write(true)
            .open(folder.path("X.npy"))
            .unwrap()
            .set_len(0)
            .unwrap();
        let output = child.wait_with_output().unwrap();
        let sentence = error(&output);
        assert_eq!(output.status.code(), Some(1), "{wait}: {sentence}");
        assert!(
            sentence.starts_with("hottopixx: ") && !sentence.contains("panicked"),
            "{sentence}"
        );
    }
}

#[test]
fn ranks_threads_and_folders_that_cannot_be() {
    let folder = Folder::with_instance();
    folder.write("zero.npy", npy(3, 2, &[0.0; 6]));
    folder.write("file", "mine");
    for (command, part) in [
        (&["factor", "X.npy", "--rank", "0"][..], "rank 0 is not possible"),
        (&["factor", "X.npy", "--rank", "41"], "choose between 1 and 40"),
        (&["factor", "X.npy", "--rank", "18446744073709551615"], "is not possible"),
        (&["factor", "zero.npy", "--rank", "1"], "all 3 rows of the matrix are zero"),
        (&["factor", "X.npy", "--rank", "2", "--threads", "1000000"], "--threads 1000000"),
        (&["factor", "X.npy", "--rank", "2", "--out", "file"], "is a file"),
        (&["factor", "X.npy", "--rank", "2", "--out", "file/below"], "choose another folder"),
        (&["certify", "X.npy", "--rank", "0"], "rank 0 is not possible"),
    ] {
        let sentence = folder.refusal(command, 1);
        assert!(sentence.contains(part), "{command:?}: {sentence}");
    }
    let all = ["factor", "X.npy", "--method", "spa", "--json", "--rank", "40"];
    for threads in ["0", "1", "64"] {
        let answer = folder.json(&[&all[..], &["--threads", threads]].concat());
        assert!(answer["error"]["inf1"].as_f64().unwrap() < 1e-12);
    }
}

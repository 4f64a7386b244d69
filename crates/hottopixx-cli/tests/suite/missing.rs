//! `--missing observed`.

use super::common::{Folder, npy};

/// Two topics and their mixtures, as a table with names; `NA` and empty cells were not observed.
const TABLE: &str = "name,a,b,c,d,e,f\n\
    one,4,2,1,0,0,0\n\
    two,0,0,0,3,1,2\n\
    mix,4,2,NA,3,1,2\n\
    more,8,,2,3,1,2\n\
    least,4,2,1,6,NA,4\n\
    copy,2,1,0.5,,0,0\n";

#[test]
fn cells_that_are_not_there_are_left_out() {
    let folder = Folder::new();
    folder.write("X.csv", TABLE);
    let line = folder.refusal(&["factor", "X.csv", "--rank", "2"], 1);
    assert!(line.contains("say --missing observed, zero"), "{line}");
    let base = ["factor", "X.csv", "--rank", "2", "--missing", "observed"];
    let answer = folder.json(&[&base[..], &["--path", "--out", "out", "--json"]].concat());
    assert_eq!(answer["missing"]["entries"], 4);
    assert_eq!(answer["missing"]["rows"], 4);
    assert!(answer["error"]["inf1"].as_f64().unwrap() < 1e-6, "{answer}");
    assert!(answer["notes"].to_string().contains("4 of 36 entries were not observed"));
    assert_eq!(answer["path"]["points"].as_array().unwrap().len(), 2);
    let page = String::from_utf8(folder.read("out/report.html")).unwrap();
    assert!(page.contains("4 of 36 entries were not observed"));
    // The guesses are what the two topics say.
    let completed = folder.read("out/completed.npy");
    let numbers: Vec<f64> = completed[completed.len() - 36 * 8..]
        .chunks_exact(8)
        .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    for (place, truth) in [(2 * 6 + 2, 1.0), (3 * 6 + 1, 4.0), (4 * 6 + 4, 2.0), (5 * 6 + 3, 0.0)] {
        assert!((numbers[place] - truth).abs() < 1e-2, "{place}: {}", numbers[place]);
    }
    // The answer on the same rows, and rows of one's own choice.
    let applied = folder.json(&["apply", "out", "X.csv", "--missing", "observed", "--json"]);
    assert!(applied["error"]["inf1"].as_f64().unwrap() < 1e-6, "{applied}");
    let given = ["evaluate", "X.csv", "--hott", "one,two", "--missing", "observed", "--json"];
    assert!(folder.json(&given)["error"]["inf1"].as_f64().unwrap() < 1e-6);
    // Without gaps no file of an earlier run stays behind.
    folder.text(&["factor", "X.csv", "--rank", "2", "--missing", "zero", "--out", "out"]);
    assert!(!folder.path("out/completed.npy").exists());
}

#[test]
fn arrays_may_have_gaps_and_who_needs_all_entries_says_so() {
    let folder = Folder::new();
    let nan = f64::NAN;
    folder.write("X.npy", npy(3, 3, &[1.0, 0.0, nan, 0.0, 1.0, 2.0, 1.0, 1.0, 2.0]));
    let line = folder.refusal(&["factor", "X.npy", "--rank", "2"], 1);
    assert!(line.contains("or say --missing observed"), "{line}");
    let observed = ["X.npy", "--rank", "2", "--missing", "observed"];
    let answer = folder.json(&[&["factor"], &observed[..], &["--json"]].concat());
    assert_eq!(answer["missing"]["entries"], 1);
    for (command, expected) in [
        (vec!["factor", "--method", "minimax"], "the method minimax is about all entries"),
        (vec!["certify"], "certificates, the rank needed and comparisons are about all entries"),
        (vec!["compare"], "certificates, the rank needed and comparisons are about all entries"),
        (vec!["factor", "--weight", "log"], "--cooccurrence and --weight are made of all of them"),
    ] {
        let line = folder.refusal(&[&command[..1], &observed, &command[1..]].concat(), 1);
        assert!(line.contains(expected), "{command:?}: {line}");
    }
    folder.write("X.txt", "oil price\ncourt judge\n");
    let line = folder.refusal(&["topics", "X.txt", "--rank", "2", "--missing", "observed"], 1);
    assert!(line.contains("--missing observed is for tables of numbers"), "{line}");
}

#[test]
fn entries_that_are_held_out_tell_the_rank() {
    let folder = Folder::new();
    let size = ["--features", "40", "--examples", "80", "--rank", "3", "--noise", "0.3"];
    folder.text(&[&["generate", "paper"], &size[..], &["--out", "X.npy"]].concat());
    let base = ["factor", "X.npy", "--rank", "6", "--effort", "quick"];
    let answer = folder.json(&[&base[..], &["--held-out", "--json", "--out", "out"]].concat());
    assert_eq!(answer["held_out"]["suggested"], 3, "{answer}");
    assert_eq!(answer["held_out"]["errors"].as_array().unwrap().len(), 6);
    let page = String::from_utf8(folder.read("out/report.html")).unwrap();
    assert!(page.contains("By entries that were held out: 3 hott rows."));
    let text = folder.text(&[&base[..], &["--held-out=0.2"]].concat());
    assert!(text.contains("held out  rank 3. Entries that were held out (20 %)"), "{text}");
    // The answer stands without it.
    let text = folder.text(&[&base[..], &["--held-out=0.7"]].concat());
    assert!(text.contains("held_out = 0.7 is not possible"), "{text}");
}

//! Every command does what it promises.

mod common;

use common::{Folder, npy};
use serde_json::{Value, json};

const TEXT: &str = "3\n4\n8\n1 1 2\n1 2 2\n2 2 1\n2 3 3\n3 3 1\n3 4 2\n3 1 1\n1 3 1\n";

#[test]
fn json_is_the_promised_object() {
    let folder = Folder::with_instance();
    let answer = folder.json(&["factor", "X.npy", "--rank", "5", "--json", "--seed", "3"]);
    assert_eq!(answer["features"], 40);
    assert_eq!(answer["examples"], 100);
    assert!((3000..=4000).contains(&answer["nonzeros"].as_u64().unwrap()));
    assert_eq!(answer["rank"], 5);
    assert_eq!(answer["method"], "auto");
    assert_eq!(answer["seed"], 3);
    assert_eq!(answer["stop"], "finished");
    assert_eq!(answer["cleaning"], "exact");
    assert!(answer["certificate"].is_null());
    assert!(answer["version"].is_string());
    assert!(answer["threads"].as_u64().unwrap() >= 1);
    for key in ["inf1", "mean_l1", "rmse"] {
        assert!(answer["error"][key].is_f64(), "{key}");
    }
    for key in ["load", "localize", "select", "clean", "total"] {
        assert!(answer["seconds"][key].is_f64(), "{key}");
    }
    if cfg!(target_os = "linux") {
        assert!(answer["peak_memory_bytes"].as_u64().unwrap() > 100_000);
    }
    let hott = answer["hott"].as_array().unwrap();
    assert_eq!(hott.len(), 5);
    for topic in hott {
        assert!(topic["name"].is_null());
        assert!(topic["weight"].is_f64());
        assert!(topic["group"].as_array().unwrap().contains(&topic["row"]));
    }
}

#[test]
fn every_method_runs_and_finds_the_easy_answer() {
    let folder = Folder::with_instance();
    let truth: Value = serde_json::from_slice(&folder.read("X.truth.json")).unwrap();
    let mut expected: Vec<u64> =
        truth["hott"].as_array().unwrap().iter().map(|row| row.as_u64().unwrap()).collect();
    expected.sort_unstable();
    for method in ["auto", "hottopixx", "gradient", "spa", "snpa", "xray"] {
        let answer = folder.json(&["factor", "X.npy", "-r", "5", "--json", "--method", method]);
        assert_eq!(answer["method"], method);
        let rows = answer["hott"].as_array().unwrap().iter().map(|t| t["row"].as_u64().unwrap());
        let mut rows: Vec<u64> = rows.collect();
        rows.sort_unstable();
        assert_eq!(rows, expected, "{method}");
    }
}

#[test]
fn text_output_fits_80_columns_and_states_units() {
    let folder = Folder::with_instance();
    let names: String = (0..40).map(|k| format!("a rather long name of feature {k}\n")).collect();
    folder.write("names.txt", names);
    let text = folder.text(&["factor", "X.npy", "--rank", "5", "--names", "names.txt"]);
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    for part in ["40 features x 100 examples", "strongest members", "rows sum to 1", "time "] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}

#[test]
fn out_writes_all_files_again_and_again() {
    let folder = Folder::with_instance();
    for _ in 0..2 {
        let text = folder.text(&["factor", "X.npy", "--rank", "5", "--out", "a/b"]);
        assert!(text.contains("written"), "{text}");
        let mut files: Vec<String> = std::fs::read_dir(folder.path("a/b"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        assert_eq!(files, ["F.npy", "W.npy", "hott.csv", "report.html", "summary.json"]);
    }
    let summary: Value = serde_json::from_slice(&folder.read("a/b/summary.json")).unwrap();
    assert_eq!(summary["rank"], 5);
    let table = String::from_utf8(folder.read("a/b/hott.csv")).unwrap();
    assert_eq!(table.lines().count(), 6);
    assert_eq!(table.lines().next(), Some("topic,row,name,weight,group,members"));
    let page = String::from_utf8(folder.read("a/b/report.html")).unwrap();
    assert!(page.contains("hottopixx factor X.npy --rank 5 --out a/b"));
    // The factors are matrices like any other: W has 5 rows of 100 examples.
    let again = folder.json(&["factor", "a/b/W.npy", "--rank", "5", "--json"]);
    assert_eq!((&again["features"], &again["examples"]), (&json!(5), &json!(100)));
    let again = folder.json(&["factor", "a/b/F.npy", "--rank", "1", "--json"]);
    assert_eq!((&again["features"], &again["examples"]), (&json!(40), &json!(5)));
}

#[test]
fn rows_are_those_of_the_input_also_beside_zero_rows() {
    let folder = Folder::new();
    folder.write("x.csv", "0,0,0\n1,0,0\n0,0,0\n1,1,0\n0,1,0\n0,0,2\n");
    let answer = folder.json(&["factor", "x.csv", "--rank", "3", "--json", "--out", "out"]);
    let mut rows: Vec<u64> =
        answer["hott"].as_array().unwrap().iter().map(|t| t["row"].as_u64().unwrap()).collect();
    rows.sort_unstable();
    assert_eq!(rows, [1, 4, 5]);
    assert_eq!((&answer["features"], &answer["zero_rows"]), (&json!(6), &json!(2)));
    assert!(answer["error"]["mean_l1"].as_f64().unwrap() < 1e-9);
    let transposed = folder.json(&["factor", "x.csv", "--rank", "2", "--json", "--transpose"]);
    assert_eq!((&transposed["features"], &transposed["examples"]), (&json!(3), &json!(6)));
}

#[test]
fn standard_input_and_names() {
    use std::io::Write as _;
    let folder = Folder::new();
    folder.write("names.txt", "oil\ngas\nwheat\n");
    let args = ["factor", "-", "--format", "csv", "--rank", "2", "--names", "names.txt", "--json"];
    let mut child = folder
        .command(&args)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"4,0\n2,2\n0,4\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut names: Vec<&str> =
        answer["hott"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["oil", "wheat"]);
}

#[test]
fn cooccurrence_answers_in_words_of_the_input() {
    let folder = Folder::new();
    folder.write("docword.tiny.txt", TEXT);
    folder.write("vocab.tiny.txt", "oil\ngas\nwheat\ncorn\n");
    let args = ["factor", "docword.tiny.txt", "--rank", "1", "--cooccurrence", "--min-df", "2"];
    let answer = folder.json(&[&args[..], &["--json", "--out", "out"]].concat());
    // corn occurs in one document only: set aside, but still a row of F and a column of W.
    assert_eq!((&answer["features"], &answer["examples"]), (&json!(4), &json!(4)));
    assert_eq!((&answer["documents"], &answer["zero_rows"]), (&json!(3), &json!(1)));
    assert_ne!(answer["hott"][0]["name"], "corn");
    let documents = String::from_utf8(folder.read("out/documents.csv")).unwrap();
    assert_eq!(documents.lines().count(), 4);
}

#[test]
fn counts_without_cooccurrence_get_a_hint() {
    let folder = Folder::new();
    folder.write("docword.tiny.txt", TEXT);
    let text = folder.text(&["factor", "docword.tiny.txt", "--rank", "2"]);
    assert!(text.contains("text? try --cooccurrence"), "{text}");
    let quiet = folder.text(&["factor", "docword.tiny.txt", "--rank", "2", "--quiet"]);
    assert!(!quiet.contains("try --cooccurrence"), "{quiet}");
}

#[test]
fn candidates_and_cost_are_heeded() {
    let folder = Folder::new();
    folder.write("x.csv", "9,0,0\n5,5,1\n0,9,0\n1,1,5\n");
    let answer = folder.json(&["factor", "x.csv", "--rank", "2", "--json", "--candidate-df", "2"]);
    let rows: Vec<&Value> = answer["hott"].as_array().unwrap().iter().map(|t| &t["row"]).collect();
    assert!(rows.contains(&&json!(1)) && rows.contains(&&json!(3)), "{rows:?}");
    folder.write("p.txt", "-1\n-2\n-3\n-4\n");
    folder.json(&["factor", "x.csv", "--rank", "2", "--json", "--cost", "p.txt"]);
}

#[test]
fn generate_is_reproducible_and_evaluate_knows_the_truth() {
    let folder = Folder::with_instance();
    let again = ["generate", "paper", "--features", "40", "--examples", "100", "--rank", "5"];
    folder.text(&[&again[..], &["--out", "Y.npy", "--quiet"]].concat());
    assert_eq!(folder.read("X.npy"), folder.read("Y.npy"));
    folder.text(&[&again[..], &["--seed", "1", "--out", "Z.npy"]].concat());
    assert_ne!(folder.read("X.npy"), folder.read("Z.npy"));

    let truth: Value = serde_json::from_slice(&folder.read("X.truth.json")).unwrap();
    let rows: Vec<String> =
        truth["hott"].as_array().unwrap().iter().map(Value::to_string).collect();
    let args = ["evaluate", "X.npy", "--hott", &rows.join(","), "--truth", "X.truth.json"];
    let answer = folder.json(&[&args[..], &["--json"]].concat());
    assert_eq!((&answer["recall"], &answer["method"]), (&json!(1.0), &json!("given")));
    assert!(folder.text(&args).contains("100.0 % of the true hott rows"));
    let fewer = folder.json(&["evaluate", "X.npy", "--hott", &rows[..2].join(","), "--json"]);
    assert!(fewer["error"]["mean_l1"].as_f64() > answer["error"]["mean_l1"].as_f64());
}

#[test]
fn every_family_can_be_generated_and_factored() {
    let folder = Folder::new();
    let families =
        ["paper", "midpoints", "ill-conditioned", "near-duplicates", "outliers", "multinomial"];
    for family in families {
        let size = ["--features", "60", "--examples", "80", "--rank", "4", "--out"];
        let name = format!("{family}.{}", if family == "multinomial" { "npz" } else { "npy" });
        folder.text(&[&["generate", family], &size[..], &[&name]].concat());
        let answer = folder.json(&["factor", &name, "--rank", "4", "--method", "spa", "--json"]);
        assert_eq!((&answer["features"], &answer["examples"]), (&json!(60), &json!(80)));
    }
}

#[test]
fn compare_lists_every_method() {
    let folder = Folder::with_instance();
    let text = folder.text(&["compare", "X.npy", "--rank", "5"]);
    let answer = folder.json(&["compare", "X.npy", "--rank", "5", "--json"]);
    let methods = answer["methods"].as_array().unwrap();
    assert_eq!(methods.len(), 6);
    for entry in methods {
        assert!(text.contains(entry["method"].as_str().unwrap()), "{text}");
        assert!(entry["ratio"].as_f64().unwrap() >= 1.0);
        assert!(entry["seconds"].is_f64() && entry["error"]["rmse"].is_f64());
    }
    assert_eq!(methods[0]["agreement"], 5);
}

#[test]
fn demo_prints_topics_people_can_read() {
    let folder = Folder::new();
    let text = folder.text(&["demo"]);
    for word in ["camilla", "teresa", "yeltsin", "Try next", "hottopixx factor"] {
        assert!(text.contains(word), "{word} is missing in {text}");
    }
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert_eq!(std::fs::read_dir(folder.path("")).unwrap().count(), 0);
}

#[test]
fn a_reader_that_goes_away_is_success() {
    let folder = Folder::with_instance();
    let mut child = folder
        .command(&["factor", "X.npy", "--rank", "5", "--json"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", common::error(&output));
    assert!(output.stderr.is_empty(), "{}", common::error(&output));
}

#[test]
fn time_limits() {
    let folder = Folder::with_instance();
    let line = folder.refusal(&["factor", "X.npy", "--rank", "5", "--max-seconds", "0"], 3);
    assert!(line.contains("--max-seconds"), "{line}");
    let slow = ["--method", "hottopixx", "--epochs", "1000000000", "--max-seconds", "0.5"];
    let answer = folder.json(&[&["factor", "X.npy", "--rank", "5", "--json"], &slow[..]].concat());
    assert_eq!(answer["stop"], "time_limit");
}

#[test]
fn same_bytes_for_any_number_of_threads() {
    let folder = Folder::with_instance();
    folder.write("wide.npy", npy(30, 50, &wavy(1500)));
    for (input, method) in
        [("X.npy", "auto"), ("X.npy", "hottopixx"), ("wide.npy", "auto"), ("wide.npy", "gradient")]
    {
        let mut answers = Vec::new();
        for threads in ["1", "2"] {
            let args = ["factor", input, "--rank", "4", "--method", method, "--seed", "7"];
            let out = ["--threads", threads, "--out", threads, "--json"];
            let mut answer = folder.json(&[&args[..], &out[..]].concat());
            for key in ["seconds", "threads", "peak_memory_bytes"] {
                answer.as_object_mut().unwrap().remove(key);
            }
            let factors =
                ["F.npy", "W.npy", "hott.csv"].map(|n| folder.read(&format!("{threads}/{n}")));
            answers.push((answer, factors));
        }
        assert_eq!(answers[0].0, answers[1].0, "{input} {method}");
        assert!(answers[0].1 == answers[1].1, "{input} {method}: the files differ");
    }
}

/// Numbers in (0, 1) without structure.
fn wavy(count: usize) -> Vec<f64> {
    (0..count).map(|k| ((k * k) as f64 * 0.618_033_988_7).fract().powi(3)).collect()
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_the_best_answer_so_far() {
    use std::time::{Duration, Instant};
    let folder = Folder::with_instance();
    let args = ["factor", "X.npy", "--rank", "5", "--method", "hottopixx", "--out", "out"];
    let child = folder
        .command(&[&args[..], &["--epochs", "1000000000"]].concat())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // The folder is made just before the computation starts.
    let begun = Instant::now();
    while !folder.path("out").exists() && begun.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(500));
    let sent = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", common::error(&output));
    let summary: Value = serde_json::from_slice(&folder.read("out/summary.json")).unwrap();
    assert_eq!(summary["stop"], "interrupted");
    assert_eq!(summary["hott"].as_array().unwrap().len(), 5);
    for file in ["hott.csv", "F.npy", "W.npy", "report.html"] {
        assert!(!folder.read(&format!("out/{file}")).is_empty());
    }
}

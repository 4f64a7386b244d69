//! Every command does what it promises.

use crate::common::{Folder, error, npy};
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
    // The bound of auto is one on the error that it makes small, whatever rows are chosen.
    assert_eq!(answer["certificate"]["goal"], "mean");
    assert_eq!(answer["certificate"]["objective"], answer["error"]["mean_l1"]);
    let bound = answer["certificate"]["lower_bound"].as_f64().unwrap();
    assert!(bound > 0.0 && bound <= answer["error"]["mean_l1"].as_f64().unwrap());
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
    let epsilon = truth["epsilon"].to_string();
    let alpha = truth["alpha"].to_string();
    for method in "auto hottopixx lp minimax total gradient agkm spa snpa xray".split_whitespace() {
        let mut args = vec!["factor", "X.npy", "-r", "5", "--json", "--method", method];
        match method {
            "lp" => args.extend(["--tau", "0.1"]),
            "agkm" => args.extend(["--epsilon", &epsilon, "--alpha", &alpha]),
            _ => {}
        }
        let answer = folder.json(&args);
        let bounded = ["auto", "lp", "minimax", "total"].contains(&method);
        assert_eq!(answer["certificate"].is_object(), bounded, "{method}");
        assert_eq!(answer["method"], method);
        let rows = answer["hott"].as_array().unwrap().iter().map(|t| t["row"].as_u64().unwrap());
        let mut rows: Vec<u64> = rows.collect();
        rows.sort_unstable();
        assert_eq!(rows, expected, "{method}");
    }
}

#[test]
fn lp_is_solved_to_its_gap_and_an_infeasible_tau_has_its_own_exit_code() {
    let folder = Folder::with_instance();
    let truth: Value = serde_json::from_slice(&folder.read("X.truth.json")).unwrap();
    let tau = 2.0 * truth["epsilon"].as_f64().unwrap();
    let lp = ["factor", "X.npy", "--rank", "5", "--method", "lp", "--tau"];
    let answer = folder.json(&[&lp[..], &[&tau.to_string(), "--json"]].concat());
    let certificate = &answer["certificate"];
    assert_eq!((&certificate["status"], &certificate["goal"]), (&json!("optimal"), &json!("cost")));
    assert_eq!(certificate["tau"], tau);
    let figure = |key: &str| certificate[key].as_f64().unwrap();
    assert!(figure("gap") <= 1e-6 && figure("lower_bound") <= figure("objective") + 1e-12);

    let line = folder.refusal(&[&lp[..], &["0.001"]].concat(), 3);
    assert!(line.contains("no choice explains every row within tau = 0.001; the"), "{line}");
    let number = |after: &str| -> f64 {
        let rest = line.split(after).nth(1).unwrap_or_else(|| panic!("no '{after}' in {line}"));
        rest.trim().split([',', ' ', '\n']).next().unwrap().parse().unwrap()
    };
    let (bound, enough) = (number("is at least "), number(", and "));
    assert!(0.001 < bound && bound <= enough, "{line}");
    folder.text(&[&lp[..], &[&enough.to_string()]].concat());
    folder.refusal(&[&lp[..], &[&(0.99 * bound).to_string()]].concat(), 3);

    // p decides between rows that serve equally well, and may be given.
    folder.write("p.txt", "1\n".repeat(40));
    let answer = folder.json(&[&lp[..], &["0.1", "--cost", "p.txt", "--json"]].concat());
    assert!((answer["certificate"]["objective"].as_f64().unwrap() - 5.0).abs() < 1e-6);
}

#[test]
fn bounds_are_in_every_form_of_the_answer() {
    let folder = Folder::with_instance();
    let args = ["factor", "X.npy", "--rank", "5", "--method", "total", "--out", "out"];
    let text = folder.text(&args);
    assert!(text.contains("bound     total optimal: "), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let summary: Value = serde_json::from_slice(&folder.read("out/summary.json")).unwrap();
    assert_eq!(summary["certificate"]["goal"], "total");
    let page = String::from_utf8(folder.read("out/report.html")).unwrap();
    assert!(page.contains("The linear program total ended optimal"));
    let args = ["factor", "X.npy", "-r", "6", "--method", "agkm", "--epsilon", "0.02"];
    let args = [&args[..], &["--alpha", "0.8"]].concat();
    assert!(folder.text(&args).contains("note      "));
    let answer = folder.json(&[&args[..], &["--json"]].concat());
    assert!(!answer["notes"].as_array().unwrap().is_empty());
}

/// Bounds about the reported error, the best choice, and the number of rows that tau asks for.
#[test]
fn choices_are_bounded_searched_and_counted() {
    let folder = Folder::with_instance();
    folder.write(
        "x.csv",
        "8,1,1,0,0\n0,8,1,1,0\n0,0,0,0,0\n0,0,1,1,8\n4,4.5,1,.5,0\n2.5,3,1.5,1,2\n",
    );
    let exact = folder.json(&["certify", "x.csv", "--rank", "2", "--exact", "--json"]);
    let choice = &exact["choice"];
    assert_eq!(
        (&choice["search"]["optimal"], &exact["certificate"]["verified"]),
        (&json!(true), &json!(true))
    );
    let (bound, error) = (choice["bound"].as_f64().unwrap(), choice["error"].as_f64().unwrap());
    assert_eq!(exact["certificate"]["choice_bound"].as_f64(), Some(bound));
    assert!(bound <= error && choice["search"]["bound"].as_f64().unwrap() <= error);
    // No pair of rows, as evaluate measures it, is better.
    let mut best = f64::INFINITY;
    for (a, b) in [(0, 1), (0, 3), (0, 4), (0, 5), (1, 3), (1, 4), (1, 5), (3, 4), (3, 5), (4, 5)] {
        let pair = format!("{a},{b}");
        let report = folder.json(&["evaluate", "x.csv", "--hott", &pair, "--json"]);
        best = report["error"]["inf1"].as_f64().unwrap().min(best);
    }
    assert!((error - best).abs() < 1e-5, "{error} {best}");
    let text = folder.text(&["certify", "x.csv", "--rank", "2", "--exact"]);
    assert!(text.contains("no choice of 2 rows is") && text.contains("weights free"), "{text}");

    let tau = (1.0001 * best).to_string();
    let rank = folder.json(&["rank", "x.csv", "--tau", &tau, "--json"]);
    assert_eq!(
        (&rank["lower"], &rank["upper"], &rank["closed"]),
        (&json!(2), &json!(2), &json!(true))
    );
    let less = (0.999 * best).to_string();
    let rank = folder.json(&["rank", "x.csv", "--tau", &less, "--json"]);
    assert!(rank["lower"].as_u64() >= Some(3) && rank["error"].as_f64().unwrap() <= 0.999 * best);
    let planted = folder.text(&["rank", "X.npy", "--tau", "0.3", "--max-seconds", "20"]);
    assert!(planted.contains("rank ") && planted.contains("verified"), "{planted}");
    assert!(folder.refusal(&["rank", "x.csv", "--tau", "-1"], 1).contains("tau"));
    let total = ["certify", "x.csv", "--rank", "2", "--exact", "--method", "total"];
    assert!(folder.refusal(&total, 1).contains("minimax"));
}

#[test]
fn certify_proves_verifies_and_checks_the_theorem() {
    let folder = Folder::with_instance();
    let best = folder.json(&["certify", "X.npy", "--rank", "5", "--json", "--out", "proof"]);
    for key in "features examples rank hott error certificate theorem seconds version".split(' ') {
        assert!(!best[key].is_null(), "{key}");
    }
    for key in "objective lower_bound gap status goal independent_bound verified".split(' ') {
        assert!(!best["certificate"][key].is_null(), "{key}");
    }
    for key in "alpha margin epsilon threshold holds sentence".split(' ') {
        assert!(!best["theorem"][key].is_null(), "{key}");
    }
    assert_eq!(best["certificate"]["verified"], true);
    assert_eq!(best["certificate"]["status"], "optimal");
    let bound = |report: &Value| report["certificate"]["independent_bound"].as_f64().unwrap();
    let claimed = best["certificate"]["lower_bound"].as_f64().unwrap();
    assert!((bound(&best) - claimed).abs() < 1e-9);
    for file in ["C.npz", "X.npy", "Y.npz", "certificate.json", "d.npy"] {
        assert!(folder.path(format!("proof/{file}")).exists(), "{file}");
    }
    let d = folder.json(&["factor", "proof/d.npy", "--rank", "1", "--json"]);
    assert_eq!((&d["features"], &d["examples"]), (&json!(40), &json!(1)));

    let given = folder.json(&["certify", "X.npy", "--hott", "0,1,2,3,4", "--json"]);
    assert_eq!(bound(&given), bound(&best));
    let rows: Vec<_> = given["hott"].as_array().unwrap().iter().map(|h| &h["row"]).collect();
    assert_eq!(rows, [0, 1, 2, 3, 4]);
    assert!(given["bounded_inf1"].as_f64().unwrap() >= bound(&given));

    for method in [&["minimax"][..], &["total"], &["lp", "--tau", "0.1"]] {
        let args = [&["certify", "X.npy", "--rank", "5", "--method"], method].concat();
        let text = folder.text(&args);
        assert!(text.contains("verified  every inequality checked"), "{text}");
        assert!(text.contains("Theorem 3.2"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
    let line = folder.refusal(&["certify", "X.npy", "-r", "5", "--method", "lp", "--tau", "0"], 3);
    assert!(line.contains("within tau = 0; "), "{line}");
}

#[test]
fn certificates_speak_of_rows_of_the_input() {
    let folder = Folder::new();
    folder.write("x.csv", "0,0,0\n1,0,0\n0,0,0\n1,1,0\n0,1,0\n0,0,2\n0,0,1\n");
    let report = folder.json(&["certify", "x.csv", "--hott", "1,4,5", "--json", "--out", "out"]);
    assert_eq!(report["theorem"]["holds"], true);
    assert_eq!(report["theorem"]["duplicates"], json!([[], [], [6]]));
    assert!(report["certificate"]["objective"].as_f64().unwrap() < 1e-9);
    let whole: Value = serde_json::from_slice(&folder.read("out/certificate.json")).unwrap();
    assert_eq!(whole["rows"], json!([1, 3, 4, 5, 6]));
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
        assert_eq!(
            files,
            ["F.npy", "W.npy", "hott.csv", "report.html", "rows.csv", "summary.json"]
        );
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
    assert!(text.contains("text? try 'hottopixx topics'"), "{text}");
    let quiet = folder.text(&["factor", "docword.tiny.txt", "--rank", "2", "--quiet"]);
    assert!(!quiet.contains("text? try"), "{quiet}");
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
fn partition_splits_documents_and_lists_the_files() {
    let folder = Folder::new();
    let size = ["--features", "60", "--examples", "50", "--rank", "3"];
    for (family, file, kind) in [("multinomial", "X.npz", "npz"), ("paper", "X.npy", "npy")] {
        folder.text(&[&["generate", family, "--out", file], &size[..]].concat());
        let all = folder.json(&["evaluate", file, "--hott", "0", "--json"]);
        let names: String = (0..60).map(|i| format!("word {i}\n")).collect();
        folder.write("names.txt", &names);
        let given = ["partition", file, "--names", "names.txt", "--documents", "20"];
        let said = folder.text(&[&given[..], &["--out", family]].concat());
        assert_eq!(said, format!("{family}: 50 documents of 60 terms in 3 files\n"));
        let listed: serde_json::Value =
            serde_json::from_slice(&folder.read(&format!("{family}/partitions.json"))).unwrap();
        let (mut documents, mut nonzeros) = (0, 0);
        for (k, name) in listed["partitions"].as_array().unwrap().iter().enumerate() {
            assert_eq!(name, &format!("part-{k:05}.{kind}"));
            let path = format!("{family}/{}", name.as_str().unwrap());
            let part = folder.json(&["factor", &path, "--transpose", "--rank", "1", "--json"]);
            assert_eq!(part["features"], 60);
            documents += part["examples"].as_u64().unwrap();
            nonzeros += part["nonzeros"].as_u64().unwrap();
        }
        assert_eq!((documents, nonzeros), (50, all["nonzeros"].as_u64().unwrap()));
        assert_eq!(folder.read(&format!("{family}/vocabulary.txt")), names.as_bytes());
    }
    // Text is counted.
    let kinds = ["oil price barrel", "court judge judge", "sun rain wind"];
    let lines: String = (0..30).map(|d| format!("{}\n", kinds[d % 3])).collect();
    let rows: String = (0..30).map(|d| format!("{d},{}\n", kinds[d % 3])).collect();
    folder.write("texts.txt", lines);
    folder.write("texts.csv", format!("id,text\n{rows}"));
    for (file, out) in [("texts.txt", "lines"), ("texts.csv", "column")] {
        folder.text(&["partition", file, "--documents", "20", "--out", out, "--quiet"]);
        let words = String::from_utf8(folder.read(&format!("{out}/vocabulary.txt"))).unwrap();
        assert_eq!(words, "barrel\ncourt\njudge\noil\nprice\nrain\nsun\nwind\n");
        let second = format!("{out}/part-00001.npz");
        let part = folder.json(&["factor", &second, "--transpose", "--rank", "1", "--json"]);
        // Seven documents of three words, three of two.
        let sizes = ["features", "examples", "nonzeros"].map(|key| part[key].as_u64());
        assert_eq!(sizes, [Some(8), Some(10), Some(27)]);
    }
    let refused = folder.refusal(&["partition", "X.npy", "--documents", "0", "--out", "o"], 1);
    assert!(refused.contains("--documents 0"), "{refused}");
}

#[test]
fn every_family_can_be_generated_and_factored() {
    let folder = Folder::new();
    let sparse = ["multinomial", "documents"];
    let dense = ["paper", "midpoints", "ill-conditioned", "near-duplicates", "outliers"];
    for family in dense.into_iter().chain(sparse) {
        let size = ["--features", "60", "--examples", "80", "--rank", "4", "--out"];
        let name = format!("{family}.{}", if sparse.contains(&family) { "npz" } else { "npy" });
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
    assert_eq!(methods.len(), 8);
    let skipped = answer["skipped"].as_array().unwrap();
    assert_eq!(skipped.iter().map(|s| &s["method"]).collect::<Vec<_>>(), ["lp", "agkm"]);
    assert!(text.contains("lp: needs --tau"), "{text}");
    for entry in methods {
        assert!(text.contains(entry["method"].as_str().unwrap()), "{text}");
        assert!(entry["ratio"].as_f64().unwrap() >= 1.0);
        assert!(entry["seconds"].is_f64() && entry["error"]["rmse"].is_f64());
    }
    assert_eq!(methods[0]["agreement"], 5);
    let told = "compare X.npy --rank 5 --tau 0.1 --epsilon 0.02 --alpha 0.8 --json";
    let answer = folder.json(&told.split(' ').collect::<Vec<_>>());
    assert_eq!(answer["methods"].as_array().unwrap().len(), 10);
    let infeasible = folder.text(&["compare", "X.npy", "--rank", "5", "--tau", "0.001"]);
    assert!(infeasible.contains("lp: no choice explains every row within tau = 0.001"));
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
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    assert!(output.stderr.is_empty(), "{}", error(&output));
}

#[test]
fn time_limits() {
    let folder = Folder::with_instance();
    // No time at all is time for successive projection.
    let answer = folder.json(&["factor", "X.npy", "--rank", "5", "--max-seconds", "0", "--json"]);
    assert_eq!((&answer["stop"], &answer["chosen_from"]), (&"time_limit".into(), &"spa".into()));
    let note = answer["notes"][0].as_str().unwrap();
    assert!(note.starts_with("The time limit was reached before the method auto"), "{note}");
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
            for key in ["seconds", "threads", "peak_memory_bytes", "predicted_memory_bytes"] {
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
    assert_eq!(output.status.code(), Some(130), "{}", error(&output));
    let summary: Value = serde_json::from_slice(&folder.read("out/summary.json")).unwrap();
    assert_eq!(summary["stop"], "interrupted");
    assert_eq!(summary["hott"].as_array().unwrap().len(), 5);
    for file in ["hott.csv", "F.npy", "W.npy", "report.html"] {
        assert!(!folder.read(&format!("out/{file}")).is_empty());
    }
}

/// Standard output stays the answer's; the log has size, bounds of every round, status and times.
#[test]
fn the_log_can_be_pasted_into_a_report() {
    let folder = Folder::with_instance();
    let args = ["factor", "X.npy", "--rank", "5", "--method", "minimax", "--json", "--log"];
    let out = folder.run(&args);
    assert!(serde_json::from_slice::<Value>(&out.stdout).is_ok());
    let log = String::from_utf8(out.stderr).unwrap();
    for expected in [
        "hottopixx 0.",
        "40 features x 100 examples",
        "localise   minimax",
        "  bound ",
        "  gap ",
        "finished, method minimax",
        "program optimal",
        "seconds: localise ",
    ] {
        assert!(log.contains(expected), "{expected} is missing:\n{log}");
    }
}

/// What `sample` writes can be used as it says, is the same every time, and replaces nothing else.
#[test]
fn samples_can_be_tried() {
    let folder = Folder::new();
    let said = folder.text(&["sample", "scene"]);
    assert!(said.contains("Try: hottopixx unmix scene.npy --rank 4 --out answer"), "{said}");
    let found = folder.text(&["unmix", "scene.npy", "--rank", "4"]);
    assert!(found.contains("outliers  10 pixels"), "{found}");

    let said = folder.text(&["sample", "news", "--out", "data"]);
    assert!(said.contains("hottopixx topics data/news.csv --title story"), "{said}");
    let first = folder.read("data/news.csv");
    assert_eq!(first.iter().filter(|byte| **byte == b'\n').count(), 396);
    folder.text(&["sample", "news", "--out", "data", "--quiet"]);
    assert_eq!(folder.read("data/news.csv"), first);
    folder.write("data/news.csv", "mine");
    let refused = folder.run(&["sample", "news", "--out", "data"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(error(&refused).contains("data/news.csv exists and holds something else"));
    assert_eq!(folder.read("data/news.csv"), b"mine");
}

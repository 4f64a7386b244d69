//! `reproduce` makes its figures and page, and refuses what does not belong together.

use crate::common::Folder;

/// Two contenders on two instances.
const RUNS: &str = "\
# hottopixx, a machine
features,examples,rank,duplicates,eta,seed,method,found,inf1,mean_l1,rmse,seconds,two_epochs,ones,last,top
40,400,3,0,0.25,0,hottopixx,3,0.02,0.01,1e-5,0.1,0.6,0,0.33,3
40,400,3,0,0.25,0,spa,3,0.01,0.01,1e-5,0.001,0.6,,,
40,400,3,0,10,0,hottopixx,3,0.2,0.1,1e-4,0.1,0.7,0,0.3,2
40,400,3,0,10,0,spa,2,0.4,0.2,2e-4,0.001,0.7,,,
";

#[test]
fn profiles_are_made_from_a_file_of_runs() {
    let folder = Folder::new();
    folder.write("runs.csv", RUNS);
    let said = folder.text(&["reproduce", "profiles", "--from", "runs.csv", "--out", "paper"]);
    assert!(said.contains("index.html"), "{said}");
    // SPA is best on one of two instances; Hottopixx is within a factor 2 on both.
    let curve = String::from_utf8(folder.read("paper/profile-b-inf1-all.csv")).unwrap();
    for (who, above, share) in [("SPA", 1.0, 1.0), ("Hottopixx", 1.0, 1.0), ("SPA", 0.0, 0.5)] {
        let found = curve.lines().any(|line| {
            let cells: Vec<&str> = line.trim_start_matches('"').split(',').collect();
            let number = |k: usize| cells[k].parse::<f64>().unwrap_or(f64::NAN);
            cells[0] == format!("{who}\"") && (number(1) - above).abs() < 1e-3 && number(2) == share
        });
        assert!(found, "{who} at {above} is not in {curve}");
    }
    let page = String::from_utf8(folder.read("paper/index.html")).unwrap();
    for part in ["(b) (∞,1) error", "a machine", "--from runs.csv", "Two cleaning epochs"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(folder.read("paper/profile-c-time.svg").starts_with(b"<svg"));
}

#[test]
fn rmse_of_a_file() {
    let folder = Folder::with_instance();
    folder.text(&["reproduce", "rmse", "--input", "X.npy", "--quick", "--quiet", "--out", "o"]);
    let curve = String::from_utf8(folder.read("o/rmse.csv")).unwrap();
    let point = |rank: &str| -> f64 {
        let line = curve.lines().find(|l| l.starts_with(&format!("\"Hottopixx\",{rank},")));
        line.unwrap().rsplit(',').next().unwrap().parse().unwrap()
    };
    assert!(point("5") < 0.1 * point("2"), "{curve}");
}

#[test]
fn svm_of_a_file_and_its_labels() {
    let folder = Folder::new();
    // Three kinds of documents; the first word alone tells the class.
    let mut text = String::new();
    let mut labels = String::new();
    for k in 0..60 {
        let class = k % 2;
        text += &format!("{},{},{},{},1\n", 3 * class, 3 - 3 * class, k % 5, (k / 5) % 3);
        labels += &format!("{class}\n");
    }
    folder.write("X.csv", text);
    folder.write("y.txt", labels);
    let args = ["reproduce", "svm", "--input", "X.csv", "--transpose", "--labels", "y.txt"];
    folder.text(&[&args[..], &["--quick", "--quiet", "--out", "o"]].concat());
    let curve = String::from_utf8(folder.read("o/svm-X-csv.csv")).unwrap();
    assert!(curve.contains("\"all 5 features\",,0\n"), "{curve}");
}

/// `table` and `speedup` run `factor` in processes of their own and read what it prints.
#[test]
fn factor_prints_what_large_runs_measure() {
    let folder = Folder::with_instance();
    let answer = folder.json(&["factor", "--json", "--quiet", "X.npy", "--rank", "5"]);
    let measured: hottopixx_study::large::MeasuredRun = serde_json::from_value(answer).unwrap();
    assert_eq!(measured.hott.len(), 5);
    assert!(measured.predicted_memory_bytes.is_some() && measured.error.inf1 >= 0.0);
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let folder = Folder::with_instance();
    let refused = |args: &[&str]| {
        folder.refusal(&[&["reproduce"], args, &["--out", "o", "--quiet"]].concat(), 1)
    };
    let line = refused(&["profiles", "--input", "X.npy"]);
    assert!(line.contains("--input is for rmse and svm"), "{line}");
    assert!(refused(&["hard", "--from", "runs.csv"]).contains("--from is for"));
    assert!(refused(&["profiles", "--from", "X.npy"]).contains("X.npy"));
    let line = refused(&["svm", "--input", "X.npy"]);
    assert!(line.contains("no classes: give --labels"), "{line}");
    folder.write("runs.csv", RUNS.replace("0.33", "much"));
    let line = refused(&["profiles", "--from", "runs.csv"]);
    assert!(line.contains("runs.csv: line 3") && line.contains("much"), "{line}");
    assert_eq!(folder.run(&["reproduce", "elephants", "--out", "o"]).status.code(), Some(2));
}

#[test]
fn a_path_of_ranks_suggests_the_planted_one() {
    let folder = Folder::with_instance();
    let args = ["factor", "X.npy", "--rank", "9", "--method", "spa", "--path", "--json"];
    let path = &folder.json(&args)["path"];
    assert_eq!(path["suggested"], 5, "{path}");
    let points = path["points"].as_array().unwrap();
    assert_eq!(points.len(), 9);
    let rows = points[4]["hott"].as_array().unwrap().iter().map(ToString::to_string);
    let hott = rows.collect::<Vec<_>>().join(",");
    let again = folder.json(&["evaluate", "X.npy", "--hott", &hott, "--json"]);
    let (one, other) = (&points[4]["error"]["mean_l1"], &again["error"]["mean_l1"]);
    assert!((one.as_f64().unwrap() - other.as_f64().unwrap()).abs() < 1e-9, "{one} {other}");
    for point in points {
        let (bound, error) = (&point["lower_bound"], &point["error"]["mean_l1"]);
        assert!(bound.as_f64().unwrap() <= error.as_f64().unwrap(), "{bound} {error}");
    }
    let text = folder.text(&["factor", "X.npy", "--rank", "9", "--method", "spa", "--path"]);
    assert!(text.contains("<- suggested") && text.contains("suggest   rank 5"), "{text}");
    assert!(text.contains(" (at least 0."), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn an_answer_is_not_lost_with_its_path() {
    let folder = Folder::with_instance();
    let args = ["factor", "X.npy", "--rank", "5", "--method", "spa", "--path", "--json"];
    let answer = folder.json(&[&args[..], &["--cleaning", "least-squares"]].concat());
    assert!(answer["path"].is_null() && answer["hott"].as_array().unwrap().len() == 5);
    let notes = answer["notes"].to_string();
    assert!(notes.contains("No errors against the rank"), "{notes}");
}

//! `factor --update`, and `apply` to what was not there: documents and columns.

use super::common::{Folder, npy};
use serde_json::{Value, json};

/// Words of three subjects and of none, in documents from `first` to before `last`, as a table of words x documents.
fn table(words: &[usize], documents: std::ops::Range<usize>) -> String {
    let mut text = String::from("word");
    documents.clone().for_each(|d| text += &format!(",d{d}"));
    for &w in words {
        text += &format!("\nw{w}");
        for d in documents.clone() {
            let own = usize::from(w < 21 && w % 3 == d % 3) * (4 + (w * d) % 3);
            text += &format!(",{}", own + usize::from((w * 5 + d * 7) % 11 < 2));
        }
    }
    text + "\n"
}

fn all() -> Vec<usize> {
    (0..24).collect()
}

/// A folder with all documents, the first, and the last of them.
fn corpus() -> Folder {
    let folder = Folder::new();
    folder.write("all.csv", table(&all(), 0..60));
    folder.write("first.csv", table(&all(), 0..54));
    folder.write("more.csv", table(&all(), 54..60));
    folder
}

const FACTOR: [&str; 6] = ["--rank", "3", "--cooccurrence", "--min-df", "2", "--json"];

fn rows(answer: &Value) -> Vec<u64> {
    let mut rows: Vec<u64> =
        answer["hott"].as_array().unwrap().iter().map(|h| h["row"].as_u64().unwrap()).collect();
    rows.sort_unstable();
    rows
}

#[test]
fn documents_are_added_to_an_answer() {
    let folder = corpus();
    let fresh = folder.json(&[&["factor", "all.csv", "--out", "fresh"], &FACTOR[..]].concat());
    let first = folder.json(&[&["factor", "first.csv", "--out", "answer"], &FACTOR[..]].concat());
    let update =
        folder.json(&["factor", "more.csv", "--update", "answer", "--out", "answer", "--json"]);
    assert_eq!((&update["documents"], &update["rank"]), (&json!(60), &json!(3)));
    let about = &update["update"];
    assert_eq!((&about["documents_added"], &about["answer"]), (&json!(6), &json!("answer")));
    assert_eq!(about["mean_l1_before"], first["error"]["mean_l1"]);
    let count = |key: &str| about[key].as_array().unwrap().len();
    assert_eq!(count("stayed") + count("moved") + count("came"), 3);
    assert_eq!(count("stayed") + count("moved") + count("went"), 3);
    // On the same matrix: what is promised beside a run from nothing, and rows have the errors that they have there.
    let error = |answer: &Value| answer["error"]["mean_l1"].as_f64().unwrap();
    assert!(error(&update) <= 1.002 * error(&fresh), "{} {}", error(&update), error(&fresh));
    let chosen: Vec<String> = rows(&update).iter().map(u64::to_string).collect();
    let evaluated = ["evaluate", "all.csv", "--hott", &chosen.join(","), "--json"];
    let evaluated = folder.json(&[&evaluated[..], &FACTOR[2..5]].concat());
    assert!((error(&evaluated) - error(&update)).abs() < 1e-9, "{evaluated}");
    let bound = update["certificate"]["lower_bound"].as_f64().unwrap();
    assert!(bound <= error(&update) + 1e-12, "{bound}");
    // What is kept is the sum, and shares are those of the new documents.
    let documents = String::from_utf8(folder.read("answer/documents.csv")).unwrap();
    assert_eq!(documents.lines().count(), 7);
    assert!(documents.contains("\nd54,"), "{documents}");
    let words: Value = serde_json::from_slice(&folder.read("answer/vocabulary.json")).unwrap();
    let of_all: Value = serde_json::from_slice(&folder.read("fresh/vocabulary.json")).unwrap();
    assert_eq!(words, of_all);
    // On so few words the bound is made anew; a dual that is not of the answer is refused, and without one there is a bound
    // as well. (That a dual proves the bound of the next answer is tested in the library, on more rows.)
    let dual = folder.read("answer/dual.bin");
    assert!(update["certificate"]["rounds"].as_u64().unwrap() > 0, "{update}");
    folder.write("answer/dual.bin", "other");
    let line = folder.refusal(&["factor", "more.csv", "--update", "answer", "--quiet"], 1);
    assert!(line.contains("dual.bin: it is not of the run"), "{line}");
    std::fs::remove_file(folder.path("answer/dual.bin")).unwrap();
    let without = folder.json(&["factor", "more.csv", "--update", "answer", "--json"]);
    assert!(without["certificate"]["rounds"].as_u64().unwrap() > 0, "{without}");
    folder.write("answer/dual.bin", dual);
    // Once more, from the sum.
    let text = folder.text(&["factor", "more.csv", "--update", "answer"]);
    assert!(text.contains("update    answer with 6 more documents"), "{text}");
    assert!(text.contains("co-occurrence of words in 66 documents"), "{text}");
}

#[test]
fn words_of_new_documents_are_found_by_name() {
    let folder = corpus();
    folder.json(&[&["factor", "first.csv", "--out", "answer"], &FACTOR[..]].concat());
    let same = folder.json(&["factor", "more.csv", "--update", "answer", "--json"]);
    let mut turned: Vec<usize> = all();
    turned.reverse();
    turned.push(99);
    folder.write("turned.csv", table(&turned, 54..60));
    let other = folder.json(&["factor", "turned.csv", "--update", "answer", "--json"]);
    assert_eq!((&other["error"], &other["features"]), (&same["error"], &json!(24)));
    let note = other["notes"].as_array().unwrap().last().unwrap().as_str().unwrap();
    assert!(note.starts_with("1 word of the new documents"), "{note}");
}

#[test]
fn updates_that_make_no_sense_are_refused() {
    let folder = corpus();
    folder.json(&[&["factor", "first.csv", "--out", "answer"], &FACTOR[..]].concat());
    let refused =
        |args: &[&str], code| folder.refusal(&[&["factor", "--quiet"], args].concat(), code);
    let line = refused(&["more.csv", "--update", "answer", "--rank", "4"], 1);
    assert!(line.contains("has 3 hott rows: leave --rank out"), "{line}");
    let line = refused(&["more.csv", "--update", "answer", "--method", "spa"], 1);
    assert!(line.contains("leave --method out"), "{line}");
    let line = refused(&["more.csv", "--update", "nowhere"], 1);
    assert!(line.contains("'hottopixx factor --out' wrote"), "{line}");
    folder.write("other.npy", npy(2, 3, &[1.0; 6]));
    let line = refused(&["other.npy", "--update", "answer"], 1);
    assert!(line.contains("2 rows, but the answer has 24 words"), "{line}");
    folder.write("half.csv", "word,d\nw1,0.5\n");
    let line = refused(&["half.csv", "--update", "answer"], 1);
    assert!(line.contains("whole"), "{line}");
    folder.write("answer/vocabulary.json", "{}");
    let line = refused(&["more.csv", "--update", "answer"], 1);
    assert!(line.contains("vocabulary.json missing field"), "{line}");
}

/// Any other matrix as it is now.
#[test]
fn a_matrix_that_has_changed_is_factored_from_the_rows_before() {
    let folder = Folder::with_instance();
    let first = folder.json(&["factor", "X.npy", "--rank", "5", "--out", "answer", "--json"]);
    let again = folder.json(&["factor", "X.npy", "--update", "answer", "--json"]);
    assert_eq!(rows(&again), rows(&first));
    assert_eq!(again["update"]["stayed"].as_array().unwrap().len(), 5);
    assert_eq!(again["update"].get("documents_added"), None);
    folder.write("other.npy", npy(2, 3, &[1.0; 6]));
    let line = folder.refusal(&["factor", "other.npy", "--update", "answer"], 1);
    assert!(line.contains("2 rows, but the matrix of answer had 40"), "{line}");
}

#[test]
fn answers_for_words_apply_to_documents() {
    let folder = corpus();
    folder.json(&[&["factor", "first.csv", "--out", "answer"], &FACTOR[..]].concat());
    let own = folder.json(&["apply", "answer", "first.csv", "--out", "own", "--json"]);
    let answer: Value = serde_json::from_slice(&folder.read("answer/summary.json")).unwrap();
    for key in ["error", "worst", "zero_rows", "cleaning", "features"] {
        assert_eq!(own[key], answer[key], "{key}");
    }
    let file = |folder_name: &str, stem: &str| {
        let names = [format!("{folder_name}/{stem}.npy"), format!("{folder_name}/{stem}.npz")];
        folder.read(names.iter().find(|name| folder.path(name).exists()).unwrap())
    };
    assert!(file("answer", "F") == file("own", "F"), "F differs");
    assert_eq!(folder.read("answer/documents.csv"), folder.read("own/documents.csv"));
    let table = folder.text(&["apply", "answer", "more.csv"]);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 7);
    let shares: Vec<f64> =
        lines[1].split(',').skip(1).map(|share| share.parse().unwrap()).collect();
    // d54 is about the subject of w0, w3, ...
    assert!(lines[1].starts_with("d54,") && shares.iter().copied().fold(0.0, f64::max) > 0.5);
}

#[test]
fn new_columns_are_told_by_the_hott_rows() {
    let folder = Folder::new();
    folder.write("x.csv", "name,a,b,c\noil,4,0,1\ngas,0,2,1\nmix,4,2,2\n");
    folder.text(&["factor", "x.csv", "--rank", "2", "--out", "answer", "--quiet"]);
    folder.write("new.csv", "name,p,q\noil,1,3\ngas,2,0\nmix,3,1\n");
    let table = folder.text(&["apply", "answer", "new.csv", "--quiet"]);
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("column,name,error,"), "{table}");
    assert!(lines[1].starts_with("0,p,0,"), "{table}");
    assert!(lines[2].starts_with("1,q,0.5,"), "{table}");
    let found = folder.json(&["apply", "answer", "new.csv", "--json", "--out", "applied"]);
    assert_eq!((&found["columns"], &found["worst_columns"][0]["name"]), (&json!(2), &json!("q")));
    assert!(folder.path("applied/W.npy").exists() && folder.path("applied/columns.csv").exists());
    // As many rows as columns: the user says which is new.
    let rows = folder.json(&["apply", "answer", "x.csv", "--json"]);
    assert_eq!(rows["features"], json!(3));
    let columns = folder.json(&["apply", "answer", "x.csv", "--new", "columns", "--json"]);
    assert!(columns["error"]["mean_l1"].as_f64().unwrap() < 1e-12, "{columns}");
}

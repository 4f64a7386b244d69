//! `apply` of answers of `factor`.

use super::common::{Folder, npy};
use serde_json::Value;

fn summary(folder: &Folder, name: &str) -> Value {
    serde_json::from_slice(&folder.read(&format!("{name}/summary.json"))).unwrap()
}

/// Dense and sparse, plain and prepared text: F byte for byte, errors digit for digit.
#[test]
fn on_its_own_rows_an_answer_is_the_same_to_the_last_bit() {
    let folder = Folder::with_instance();
    let counts = ["--features", "60", "--examples", "80", "--rank", "4", "--out", "counts.npz"];
    folder.text(&[&["generate", "multinomial", "--tokens", "30"], &counts[..]].concat());
    for (k, (input, more)) in [
        ("X.npy", &[][..]),
        ("X.npy", &["--method", "gradient"]),
        ("X.npy", &["--cleaning", "least-squares", "--objective", "max"]),
        ("counts.npz", &["--min-df", "5", "--weight", "log"]),
        ("counts.npz", &["--method", "spa", "--transpose"]),
    ]
    .into_iter()
    .enumerate()
    {
        let (answer, again) = (format!("answer{k}"), format!("again{k}"));
        folder.text(&[&["factor", input, "--rank", "4", "--out", &answer], more].concat());
        let turned = if more.contains(&"--transpose") { &["--transpose"][..] } else { &[] };
        let text = folder.text(&[&["apply", &answer, input, "--out", &again], turned].concat());
        assert!(text.contains("error ") && text.contains("written "), "{text}");
        let file = if input == "X.npy" { "F.npy" } else { "F.npz" };
        let [one, two] = [&answer, &again].map(|name| folder.read(&format!("{name}/{file}")));
        assert!(one == two, "F of {input} {more:?} differs");
        let (one, two) = (summary(&folder, &answer), summary(&folder, &again));
        for key in ["error", "worst", "zero_rows", "cleaning", "inexact_rows", "features"] {
            assert_eq!(one[key], two[key], "{key} of {input} {more:?}");
        }
        // The first columns of rows.csv are the same: row, name, error.
        let [one, two] = [&answer, &again].map(|name| {
            let text = String::from_utf8(folder.read(&format!("{name}/rows.csv"))).unwrap();
            let first = |line: &str| line.splitn(4, ',').take(3).collect::<Vec<_>>().join(",");
            text.lines().map(first).collect::<Vec<_>>()
        });
        assert_eq!(one, two);
    }
}

#[test]
fn other_rows_come_with_errors_and_weights() {
    let folder = Folder::new();
    folder.write("x.csv", "name,a,b,c\noil,4,0,0\ngas,0,2,0\nmix,4,2,0\n");
    folder.text(&["factor", "x.csv", "--rank", "2", "--out", "answer", "--quiet"]);
    folder.write("new.csv", "name,a,b,c\nboth,2,1,0\nnone,0,0,0\nother,0,0,7\n");
    let table = folder.text(&["apply", "answer", "new.csv", "--quiet"]);
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("row,name,error,"), "{table}");
    assert_eq!(lines[1], "0,both,0,0.5,0.5");
    assert_eq!((lines[2], lines[3]), ("1,none,,0,0", "2,other,1,0,0"));
    let json = folder.json(&["apply", "answer", "new.csv", "--json"]);
    assert_eq!(
        (&json["features"], &json["rank"], &json["zero_rows"]),
        (&3.into(), &2.into(), &1.into())
    );
    assert_eq!((&json["error"]["inf1"], &json["error"]["mean_l1"]), (&1.0.into(), &0.5.into()));
    assert_eq!(json["worst"][0]["name"], "other");
}

#[test]
fn answers_and_rows_that_do_not_fit_are_refused() {
    let folder = Folder::with_instance();
    folder.text(&["factor", "X.npy", "--rank", "3", "--method", "spa", "--out", "answer"]);
    folder.write("narrow.npy", npy(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let line = folder.refusal(&["apply", "answer", "narrow.npy"], 1);
    assert!(line.contains("a row has 3 entries, but there are 100 columns of W"), "{line}");
    folder.write("turned.npy", npy(100, 2, &[1.0; 200]));
    let line = folder.refusal(&["apply", "answer", "turned.npy"], 1);
    assert!(line.contains("rows have 2 entries, those of the answer 100"), "{line}");
    assert!(line.trim_end().ends_with("give --transpose"), "{line}");
    folder.text(&["apply", "answer", "turned.npy", "--transpose"]);
    let line = folder.refusal(&["apply", "answer", "X.npy", "--date", "day"], 1);
    assert!(line.contains("--date is for documents"), "{line}");
    // Its own folder is not replaced, nor is a file of others.
    let line = folder.refusal(&["apply", "answer", "answer/F.npy", "--out", "answer"], 1);
    assert!(line.contains("is read by this command"), "{line}");
    let mut w = folder.read("answer/W.npy");
    *w.last_mut().unwrap() ^= 1;
    folder.write("answer/W.npy", w);
    let line = folder.refusal(&["apply", "answer", "X.npy"], 1);
    assert!(line.contains("it is not of the run that wrote summary.json"), "{line}");
    folder.text(&["factor", "X.npy", "--rank", "3", "--method", "spa", "--out", "answer"]);
    let text = String::from_utf8(folder.read("answer/summary.json")).unwrap();
    let own = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(text.contains(&own));
    folder.write("answer/summary.json", text.replace(&own, "\"version\": \"99.0.0\""));
    let line = folder.refusal(&["apply", "answer", "X.npy"], 1);
    assert!(line.contains("written by version 99.0.0"), "{line}");
    folder.write("answer/summary.json", "{}");
    assert!(
        folder.refusal(&["apply", "answer", "X.npy"], 1).contains("summary.json missing field")
    );
    folder.write("no.hott", b"PK\x03\x04 and nothing else");
    assert!(
        folder.refusal(&["apply", "no.hott", "X.npy"], 1).contains("save() of the Python package")
    );
}

/// Topics, then materials, then rows in one folder: `apply` used the topics in the end, and `factor` was refused.
#[test]
fn an_answer_takes_the_place_of_an_earlier_one_of_another_command() {
    let folder = Folder::with_instance();
    let documents: String = (0..60)
        .map(|d| if d % 2 == 0 { "oil price barrel market\n" } else { "court judge trial law\n" })
        .collect();
    folder.write("texts.txt", documents);
    let to = |words: &[&str]| folder.text(&[words, &["--out", "answer", "--quiet"]].concat());
    let files = || {
        let names = std::fs::read_dir(folder.path("answer")).unwrap();
        let mut names: Vec<String> =
            names.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names.join(" ")
    };
    to(&["topics", "texts.txt", "--rank", "2", "--stop-words", "none"]);
    let topics = "documents.csv model.json report.html summary.json topics.csv words.csv";
    assert_eq!(files(), topics);
    folder.text(&["sample", "scene"]);
    to(&["unmix", "scene.npy", "--rank", "4"]);
    assert_eq!(
        files(),
        "abundances.npy errors.npy materials.csv pixel_spectra.npy report.html spectra.npy summary.json"
    );
    let line = folder.refusal(&["apply", "answer", "texts.txt"], 1);
    assert!(line.contains("'hottopixx unmix', which apply does not take"), "{line}");
    to(&["factor", "X.npy", "--rank", "3", "--method", "spa"]);
    assert_eq!(files(), "F.npy W.npy hott.csv report.html rows.csv summary.json");
    // What is not of an answer stays.
    folder.write("answer/notes.txt", "mine");
    to(&["topics", "texts.txt", "--rank", "2", "--stop-words", "none"]);
    assert_eq!(files(), topics.replace("report", "notes.txt report"));
}

#[test]
fn documents_without_a_known_word_are_counted() {
    let folder = Folder::new();
    let documents: String = (0..60)
        .map(|d| if d % 2 == 0 { "oil price barrel\n" } else { "court judge trial\n" })
        .collect();
    folder.write("texts.txt", documents);
    let model = ["--rank", "2", "--stop-words", "none", "--out", "answer", "--quiet"];
    folder.text(&[&["topics", "texts.txt"], &model[..]].concat());
    folder.write("new.txt", "the price of oil\nzzz qqq\n");
    let output = folder.run(&["apply", "answer", "new.txt"]);
    let said = super::common::error(&output);
    assert!(said.contains("1 of 2 documents have no word of the model"), "{said}");
}

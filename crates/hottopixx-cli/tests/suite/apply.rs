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

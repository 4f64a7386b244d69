//! `factor --outliers`.

use super::common::Folder;
use serde_json::Value;

#[test]
fn outliers_are_named_set_aside_and_told() {
    let folder = Folder::new();
    let size = ["--features", "60", "--examples", "100", "--rank", "4", "--out", "X.npy"];
    folder.text(&[&["generate", "outliers"], &size[..]].concat());
    let truth: Value = serde_json::from_slice(&folder.read("X.truth.json")).unwrap();
    let base = ["factor", "X.npy", "--rank", "4", "--objective", "max", "--effort", "quick"];
    for how in ["auto", "3"] {
        let more = ["--outliers", how, "--out", "out", "--json"];
        let answer = folder.json(&[&base[..], &more].concat());
        let outliers = answer["outliers"].as_array().unwrap();
        let mut rows: Vec<u64> = outliers.iter().map(|o| o["row"].as_u64().unwrap()).collect();
        rows.sort_unstable();
        assert_eq!(Value::from(rows.clone()), truth["outliers"], "{how}");
        assert_eq!(answer["zero_rows"], 0);
        let largest = answer["error"]["inf1"].as_f64().unwrap();
        assert!(outliers.iter().all(|o| o["value"].as_f64().unwrap() > largest), "{answer}");
        assert!(answer["worst"].as_array().unwrap().iter().all(|w| !outliers.contains(w)));
        let page = String::from_utf8(folder.read("out/report.html")).unwrap();
        assert!(page.contains("set aside as outliers"));
        // Their errors are in the table of rows.
        let table = String::from_utf8(folder.read("out/rows.csv")).unwrap();
        let error = |row: u64| {
            table.lines().nth(row as usize + 1).unwrap().split(',').nth(2).unwrap().to_owned()
        };
        assert!(rows.iter().all(|&row| error(row).parse::<f64>().unwrap() > largest));
    }
    let line = folder.run(&[&base[..], &["--outliers", "few"]].concat());
    assert_eq!(line.status.code(), Some(2));
    let line = folder.refusal(&[&base[..], &["--outliers", "57"]].concat(), 1);
    assert!(line.contains("outliers = 57 is not possible"), "{line}");
}

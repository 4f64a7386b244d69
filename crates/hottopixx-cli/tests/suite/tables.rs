//! Tables and what may be said about them, through every command that reads a file; `info`; rows
//! called by name.

use crate::common::{Folder, error};

/// Semicolons, decimal commas, a year, a text column: 6 x 3 data.
const PRICES: &str = "\
city;YEAR;kind;bread;milk;rent\n\
Graz;2001;a;1,5;0,5;9\n\
Linz;2001;b;3;1;18\n\
Wien;2001;a;0,5;2,5;1\n\
Ulm;2001;b;1;5;2\n\
Bonn;2001;a;2;3;10\n\
Kiel;2001;a;4;6;20\n";

#[test]
fn a_table_is_read_and_what_was_recognised_is_said() {
    let folder = Folder::new();
    folder.write("p.csv", PRICES);
    let run = folder.run(&["factor", "p.csv", "--rank", "2", "--json"]);
    let said = error(&run);
    let want = "hottopixx: read as: header yes, names from column \"city\", 3 columns of numbers, \
                delimiter ';', decimal comma\nhottopixx: set aside: \"YEAR\" (time), \"kind\" (text);";
    assert!(said.starts_with(want), "{said}");
    let answer: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((&answer["features"], &answer["examples"]), (&6.into(), &3.into()));
    assert!(answer["error"]["mean_l1"].as_f64().unwrap() < 1e-9, "{answer}");
    let quiet = folder.run(&["factor", "p.csv", "--rank", "2", "--json", "--quiet"]);
    assert_eq!(error(&quiet), "");
    folder.write("plain.csv", "1,2\n3,4\n5,1\n");
    assert_eq!(error(&folder.run(&["factor", "plain.csv", "--rank", "2", "--json"])), "");
    // Every flag reaches the reader, in every command.
    let flags = [
        "--header",
        "yes",
        "--index",
        "city",
        "--delimiter",
        ";",
        "--decimal",
        ",",
        "--columns",
        "bread-rent",
        "--drop",
        "rent",
        "--missing",
        "refuse",
    ];
    for command in [
        &["factor", "p.csv", "--rank", "2", "--json"][..],
        &["compare", "p.csv", "--rank", "2", "--json"],
        &["certify", "p.csv", "--rank", "2", "--json"],
        &["rank", "p.csv", "--tau", "0.1", "--json"],
        &["evaluate", "p.csv", "--hott", "0,2", "--json"],
    ] {
        let answer = folder.json(&[command, &flags].concat());
        assert_eq!(answer["examples"], 2, "{command:?}");
    }
    folder.text(&[&["partition", "p.csv", "--out", "parts"], &flags[..]].concat());
    let line = folder.refusal(&["factor", "p.csv", "--rank", "2", "--columns", "cheese"], 1);
    assert!(line.contains("p.csv: there is no column \"cheese\""), "{line}");
    for flags in [["--header", "maybe"], ["--missing", "guess"], ["--delimiter", "ab"]] {
        let output = folder.run(&[&["factor", "p.csv", "--rank", "2"], &flags[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
    }
}

#[test]
fn rows_are_called_by_name() {
    let folder = Folder::new();
    folder.write("p.csv", PRICES);
    let by_number = folder.json(&["evaluate", "p.csv", "--hott", "0,2", "--json", "-q"]);
    let by_name = folder.json(&["evaluate", "p.csv", "--hott", "Graz,Wien", "--json", "-q"]);
    let mixed = folder.json(&["evaluate", "p.csv", "--hott", "#0, Wien", "--json", "-q"]);
    for answer in [&by_name, &mixed] {
        assert_eq!(answer["error"], by_number["error"]);
        assert_eq!(answer["hott"], by_number["hott"]);
    }
    let certified = folder.json(&["certify", "p.csv", "--hott", "Graz,Wien", "--json", "-q"]);
    assert_eq!(certified["hott"][1]["row"], 2);
    let line = folder.refusal(&["evaluate", "p.csv", "--hott", "Graz,Rom", "-q"], 1);
    assert!(line.contains("p.csv: there is no row named Rom"), "{line}");
    folder.write("twice.csv", "name,a,b\nx,1,2\nx,2,1\n1,5,5\n");
    let line = folder.refusal(&["evaluate", "twice.csv", "--hott", "x", "-q"], 1);
    assert!(line.contains("2 rows are named x: give the number of one, such as #0"), "{line}");
    let line = folder.refusal(&["evaluate", "twice.csv", "--hott", "1", "-q"], 1);
    assert!(line.contains("1 is the name of row 2 and the number of another"), "{line}");
}

/// What was said about a table is part of what was certified.
#[test]
fn a_certificate_remembers_how_its_table_was_read() {
    let folder = Folder::new();
    folder.write("p.csv", PRICES);
    let certify = ["certify", "p.csv", "--rank", "2", "--columns", "YEAR,bread,milk"];
    folder.text(&[&certify[..], &["--out", "proof", "-q"]].concat());
    let verified = folder.json(&["verify", "proof", "--data", "p.csv", "--json", "-q"]);
    assert_eq!(verified["examples"], 3);
    let other = ["verify", "proof", "--data", "p.csv", "-q", "--columns", "bread"];
    let line = folder.refusal(&other, 1);
    assert!(line.contains("certified with another --columns: leave it out"), "{line}");
}

#[test]
fn info_tells_what_to_do() {
    let folder = Folder::with_instance();
    folder.write("p.csv", PRICES);
    let text = folder.text(&["info", "p.csv"]);
    for words in [
        "6 rows x 3 columns",
        "Graz, Linz, Wien",
        "bread, milk, rent",
        "header yes, names from column \"city\"",
        "\"YEAR\" (time)",
        "next      hottopixx factor p.csv",
    ] {
        assert!(text.contains(words), "no '{words}' in: {text}");
    }
    let info = folder.json(&["info", "p.csv", "--json"]);
    assert_eq!((&info["rows"], &info["columns"]), (&6.into(), &3.into()));
    assert_eq!(info["table"]["delimiter"], ";");
    assert_eq!(info["table"]["index"]["name"], "city");
    // What is refused elsewhere is counted here.
    folder.write("bad.csv", "a,b,c\n1,-2,3\n4,NA,6\n0,0,0\n");
    let info = folder.json(&["info", "bad.csv", "--json"]);
    let numbers = &info["numbers"];
    assert_eq!((&numbers["negative"], &numbers["missing"]), (&1.into(), &1.into()));
    assert_eq!(numbers["zero_rows"], 1);
    assert!(info["problems"].as_array().unwrap().len() == 2, "{info}");
    assert!(info["next"].as_array().unwrap().is_empty(), "no command takes them: {info}");
    // A command that is suggested works, whatever the format.
    let mut holed = folder.read("X.npy");
    let at = holed.len() - 8;
    holed[at..].copy_from_slice(&f64::NAN.to_le_bytes());
    folder.write("holed.npy", &holed);
    let info = folder.json(&["info", "holed.npy", "--json"]);
    let command = info["next"][0].as_str().unwrap().to_owned();
    assert!(command.contains("--missing observed"), "{info}");
    folder.text(&command.split(' ').skip(1).collect::<Vec<_>>());
    let info = folder.json(&["info", "X.npy", "--json"]);
    assert_eq!(
        (&info["rows"], &info["columns"], &info["mapped"]),
        (&40.into(), &100.into(), &true.into())
    );
    // svmlight holds one example per line.
    folder.write("s.svm", "1 1:2 3:4\n-1 2:1\n");
    let info = folder.json(&["info", "s.svm", "--json"]);
    assert_eq!(info["rows_look_like"], "examples");
    assert!(info["next"][0].as_str().unwrap().contains("--transpose"), "{info}");
    let turned = folder.json(&["info", "s.svm", "--transpose", "--json"]);
    assert_eq!(turned["rows_look_like"], "features");
    assert!(turned["next"][0].as_str().unwrap().contains("--transpose"), "{turned}");
    for file in ["p.csv", "bad.csv", "X.npy", "s.svm"] {
        for line in folder.text(&["info", file]).lines() {
            assert!(line.chars().count() <= 80, "{file}: {line}");
        }
    }
    let line = folder.refusal(&["info", "none.csv"], 1);
    assert!(line.contains("none.csv: cannot be opened"), "{line}");
}

/// The command that `info` suggests can be run.
#[test]
fn the_advice_of_info_runs() {
    let folder = Folder::with_instance();
    folder.write("p.csv", PRICES);
    folder.write("holes.csv", "name,a,b\nx,1,2\ny,,4\nz,5,6\nw,7,1\n");
    folder.write("samples.csv", "height,width,mass\n5.1,3.5,140\n4.9,3.0,150\n6.2,3.1,170\n");
    let counts =
        ["generate", "multinomial", "--features", "120", "--examples", "300", "--rank", "3"];
    folder.text(&[&counts[..], &["--tokens", "20", "--out", "counts.npz"]].concat());
    for file in ["p.csv", "holes.csv", "samples.csv", "X.npy", "counts.npz"] {
        let info = folder.json(&["info", file, "--json"]);
        let commands: Vec<&str> =
            info["next"].as_array().unwrap().iter().map(|c| c.as_str().unwrap()).collect();
        assert_eq!(commands[0].contains(" topics "), file == "counts.npz", "{commands:?}");
        for command in commands {
            let words: Vec<&str> = command.split(' ').skip(1).collect();
            folder.text(&words);
        }
    }
}

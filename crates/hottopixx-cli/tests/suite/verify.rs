//! `hottopixx verify`: certificates that hold, and every way in which they may not.

use crate::common::{Folder, npy_with};
use hottopixx::matrix::{Matrix, Sparse};
use hottopixx_io::{LoadOptions, Source, load_signed, write};
use serde_json::{Value, json};

const VERIFY: [&str; 4] = ["verify", "proof", "--data", "X.npy"];

fn matrix(folder: &Folder, name: &str) -> Matrix {
    load_signed(&Source::path(folder.path(name)), &LoadOptions::default()).unwrap()
}

/// Changes the entries of a matrix of the folder.
fn change(folder: &Folder, name: &str, change: impl Fn(&mut [f64])) {
    match matrix(folder, name) {
        Matrix::Dense(mut m) => {
            change(m.values_mut());
            write::npy(folder.path(name), &m).unwrap();
        }
        Matrix::Sparse(mut m) => {
            change(m.values_mut());
            write::npz(folder.path(name), &m).unwrap();
        }
    }
}

fn json(folder: &Folder) -> Value {
    serde_json::from_slice(&folder.read("proof/certificate.json")).unwrap()
}

#[test]
fn certificates_of_every_program_hold_for_dense_and_sparse_data_and_zero_rows() {
    let folder = Folder::with_instance();
    let sparse = ["--features", "30", "--examples", "60", "--rank", "3", "--tokens", "40"];
    folder.text(&[&["generate", "multinomial", "--out", "S.npz"], &sparse[..]].concat());
    folder.write("zero.csv", "0,0,0\n1,0,0\n0,0,0\n1,1,0\n0,1,0.5\n0,0,2\n0,0.3,1\n");
    for (data, rank) in [("X.npy", "5"), ("S.npz", "3"), ("zero.csv", "2")] {
        for method in [&["minimax"][..], &["total"], &["lp", "--tau", "0.9"]] {
            let made = ["certify", data, "--rank", rank, "--json", "--out", "proof", "--method"];
            let made = folder.json(&[&made[..], method].concat());
            let verify = ["verify", "proof", "--data", data];
            let found = folder.json(&[&verify[..], &["--json"]].concat());
            assert_eq!(found["verified"], true);
            assert_eq!(found["choice_bound"].is_null(), method[0] != "minimax");
            for figure in ["objective", "lower_bound", "gap"] {
                assert_eq!(found[figure], made["certificate"][figure], "{data} {method:?}");
            }
            let text = folder.text(&verify);
            assert!(text.contains("every inequality checked from the data"), "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        }
    }
    let free = ["--method", "lp", "--tau", "0.9", "--no-trace", "--out", "proof"];
    folder.text(&[&["certify", "X.npy", "--rank", "5"], &free[..]].concat());
    assert_eq!(folder.json(&[&VERIFY[..], &["--json"]].concat())["rank"], Value::Null);
}

#[test]
fn text_is_prepared_as_it_was_certified() {
    let folder = Folder::new();
    let size = ["--features", "40", "--examples", "80", "--rank", "3", "--tokens", "30"];
    folder.text(&[&["generate", "multinomial", "--out", "S.npz"], &size[..]].concat());
    let flags = ["--cooccurrence", "--min-df", "4", "--candidate-df", "30"];
    let certify = ["certify", "S.npz", "--rank", "3", "--out", "proof"];
    folder.text(&[&certify[..], &flags[..]].concat());
    let verify = ["verify", "proof", "--data", "S.npz"];
    let text = folder.text(&verify);
    assert!(text.contains("that may be hott"), "{text}");
    assert_eq!(
        folder.text(&[&verify[..], &flags[..]].concat()).lines().next(),
        text.lines().next()
    );
    let line = folder.refusal(&[&verify[..], &["--min-df", "5"]].concat(), 1);
    assert!(line.contains("another --min-df"), "{line}");
    let line = folder.refusal(&[&verify[..], &["--transpose"]].concat(), 1);
    assert!(line.contains("another --transpose"), "{line}");
}

#[test]
fn every_file_that_was_changed_is_refused() {
    let folder = Folder::with_instance();
    folder.text(&["certify", "X.npy", "--rank", "5", "--out", "proof"]);
    let files = std::fs::read_dir(folder.path("proof")).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let whole: Vec<_> = files.map(|file| (std::fs::read(&file).unwrap(), file)).collect();
    let begin = || whole.iter().for_each(|(bytes, file)| std::fs::write(file, bytes).unwrap());
    let refused = |reason: &str| {
        let line = folder.refusal(&VERIFY, 1);
        assert!(line.contains(reason), "{reason}: {line}");
    };
    folder.text(&VERIFY);
    change(&folder, "proof/X.npy", |x| x[7] += 1e-9);
    refused("column 7 differs");
    // X is not needed: the data are there.
    std::fs::remove_file(folder.path("proof/X.npy")).unwrap();
    folder.text(&VERIFY);
    change(&folder, "proof/d.npy", |d| d[3] *= 1.0 - 1e-12);
    refused("diagonal");
    begin();
    change(&folder, "proof/C.npz", |c| c[2] -= 1e-3);
    refused("refused");
    begin();
    change(&folder, "proof/C.npz", |c| c[2] = -1e-300);
    refused("C is -");
    begin();
    change(&folder, "proof/Y.npz", |y| y[5] += 1e-3);
    refused("dual");
    begin();
    change(&folder, "proof/Y.npz", |y| y.iter_mut().for_each(|y| *y *= 2.0));
    refused("dual");
    for (key, value) in [
        ("lower_bound", json!(0.5)),
        ("objective", json!(1e-3)),
        ("gap", json!(0.5)),
        ("trace", json!(4.0)),
    ] {
        begin();
        let mut whole = json(&folder);
        whole["certificate"][key] = value;
        folder.write("proof/certificate.json", whole.to_string());
        refused("the file says");
    }
    let alter = |reason: &str, change: &dyn Fn(&mut Value)| {
        begin();
        let mut whole = json(&folder);
        change(&mut whole);
        folder.write("proof/certificate.json", whole.to_string());
        refused(reason);
    };
    alter("not 0.9", &|w| w["claims"]["lower_bound"] = json!(0.9));
    alter("error of row 4", &|w| w["claims"]["audit"]["errors"][4] = json!(0.9));
    alter("sums to", &|w| w["program"]["trace"] = json!(4));
    alter("not", &|w| w["program"]["goal"] = json!("total"));
    alter("lets other rows be hott", &|w| w["allowed"][3] = json!(false));
    alter("lists other rows", &|w| w["rows"][0] = json!(1));
    alter("costs 1", &|w| w["cost"][2] = json!(1.0));
    alter("nothing was certified", &|w| w["claims"] = Value::Null);
    alter("lists other rows", &|w| w["prepared"]["transpose"] = json!(true));
    alter("weight = x is not possible: choose one of none, tfidf, log", &|w| {
        w["prepared"]["weight"] = json!("x")
    });
    alter("the file says", &|w| w["certificate"]["choice_bound"] = json!(0.5));
    alter("do not prove", &|w| w["choice_certificate"]["threshold"] = json!(0.5));
    alter("another number", &|w| w["choice_certificate"]["rank"] = json!(4));
    alter("multiplier", &|w| w["choice_certificate"]["multipliers"][0] = json!(-1.0));
    alter("multiplier", &|w| w["choice_certificate"]["multipliers"] = json!([]));
    alter("out of place", &|w| w["choice_certificate"]["rows"][0] = json!(40));
    alter("the file says", &|w| w["choice_certificate"] = Value::Null);
    begin();
    change(&folder, "proof/choice_Y.npy", |y| y[0] = 1.5);
    refused("at most 1");
    begin();
    change(&folder, "proof/choice_Y.npy", |y| y.iter_mut().for_each(|y| *y = -*y));
    refused("do not prove");
    alter("certify --out", &|w| *w = json!([1]));
}

#[test]
fn other_data_and_files_that_are_none_are_refused() {
    let folder = Folder::with_instance();
    folder.text(&["certify", "X.npy", "--rank", "5", "--out", "proof"]);
    let size = ["--features", "40", "--examples", "100", "--rank", "5", "--seed", "9"];
    folder.text(&[&["generate", "paper", "--out", "other.npy"], &size[..]].concat());
    let other = ["verify", "proof", "--data", "other.npy"];
    assert!(folder.refusal(&other, 1).contains("differs"));
    std::fs::remove_file(folder.path("proof/X.npy")).unwrap();
    assert!(folder.refusal(&other, 1).contains("refused"));
    let narrow = ["--features", "39", "--examples", "100", "--rank", "5"];
    folder.text(&[&["generate", "paper", "--out", "small.npy"], &narrow[..]].concat());
    folder.refusal(&["verify", "proof", "--data", "small.npy"], 1);
    folder.refusal(&["verify", "nowhere", "--data", "X.npy"], 1);
    folder.refusal(&["verify", "proof", "--data", "missing.npy"], 1);
    // Headers that claim more than there is, cut archives, and text.
    let huge =
        npy_with("{'descr': '<f8', 'fortran_order': False, 'shape': (40, 999999999999), }", b"");
    let whole = folder.read("proof/Y.npz");
    for name in ["d.npy", "C.npz", "Y.npz"] {
        let good = folder.read(&format!("proof/{name}"));
        for bad in [b"text".to_vec(), huge.clone(), vec![], whole[..whole.len() / 2].to_vec()] {
            folder.write(&format!("proof/{name}"), &bad);
            folder.refusal(&VERIFY, 1);
        }
        folder.write(&format!("proof/{name}"), good);
    }
    let wide = Sparse::from_triplets(40, 4_000_000_000, &[(0, 3_999_999_999, 1.0)]).unwrap();
    write::npz(folder.path("proof/Y.npz"), &wide).unwrap();
    let line = folder.refusal(&VERIFY, 1);
    assert!(line.contains("40 x 4000000000"), "{line}");
    std::fs::remove_file(folder.path("proof/Y.npz")).unwrap();
    assert!(folder.refusal(&VERIFY, 1).contains("not there"));
}

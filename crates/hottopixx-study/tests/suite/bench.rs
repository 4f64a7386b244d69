//! The benchmark at a size for tests: all planted rows are found, within the memory predicted.

use hottopixx_study::folder::Folder;
use serde_json::Value;
use std::process::{Command, Output};

fn bench(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hottopixx-study"));
    command.arg("bench").args(words).output().unwrap()
}

fn json(words: &[&str]) -> Value {
    let output = bench(words);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && complaint.is_empty(), "{words:?}: {complaint}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn whole_runs_find_the_answer_within_the_memory_predicted() {
    let folder = Folder::temporary().unwrap();
    let instances = folder.path().join("instances").display().to_string();
    let what = ["jumbo", "clueweb", "--quick", "--json", "--quiet", "--dir", &instances];
    let answer = json(&what);
    let shapes = answer["shapes"].as_array().unwrap();
    assert_eq!(shapes.len(), 2);
    for run in shapes {
        assert_eq!(run["found"], run["shape"]["rank"], "{run}");
        if let Some(peak) = run["peak"].as_u64() {
            assert!(peak <= run["predicted"].as_u64().unwrap(), "{run}");
        }
        assert!(run["seconds"].as_f64().unwrap() > 0.0);
    }
    // The instances are kept and used again.
    let again = json(&[&what[..1], &what[2..]].concat());
    assert_eq!(again["shapes"][0]["rows"], answer["shapes"][0]["rows"]);
}

#[test]
fn what_is_not_known_is_usage() {
    assert_eq!(bench(&["elephant"]).status.code(), Some(2));
}

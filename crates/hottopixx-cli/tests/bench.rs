//! The benchmark at a size for tests: all planted rows are found, within the memory predicted.

mod common;

use common::Folder;

#[test]
fn whole_runs_find_the_answer_within_the_memory_predicted() {
    let folder = Folder::with_instance();
    let what = ["bench", "jumbo", "clueweb", "--quick", "--json", "--quiet", "--dir", "instances"];
    let answer = folder.json(&what);
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
    let again = folder.json(&what);
    assert_eq!(again["shapes"][1]["rows"], answer["shapes"][1]["rows"]);
}

#[test]
fn what_is_not_known_is_usage() {
    let folder = Folder::with_instance();
    assert_eq!(folder.run(&["bench", "elephant"]).status.code(), Some(2));
}

//! Runs that are struck down at every moment, and predictions of memory: the studies' quick forms.

use hottopixx_study::{footprint, soak};

/// With the twenty of `resume`, sixty a run; `hottopixx-study soak` strikes a thousand.
const STRIKES: usize = 40;

#[cfg(unix)]
#[test]
fn what_is_left_of_a_run_that_was_struck_is_whole_and_true() {
    let program = env!("CARGO_BIN_EXE_hottopixx").into();
    let report = soak::run(&soak::SoakSettings { program, strikes: STRIKES }).unwrap();
    assert!(report.failures.is_empty(), "{}\n{:#?}", report.text, report.failures);
    assert!(report.text.contains("40 runs struck"), "{}", report.text);
}

#[cfg(target_os = "linux")]
#[test]
fn no_run_takes_more_than_was_predicted() {
    let program = env!("CARGO_BIN_EXE_hottopixx").into();
    let settings = footprint::FootprintSettings { program, quick: true };
    let report = footprint::run(&settings).unwrap();
    assert!(report.failures.is_empty(), "{}\n{:#?}", report.text, report.failures);
    assert!(report.text.contains("factor agkm"), "{}", report.text);
}

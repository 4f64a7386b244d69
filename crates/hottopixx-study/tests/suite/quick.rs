//! The studies at a size that takes seconds: a change that makes an algorithm worse fails here even
//! when every unit test passes. The program exits with 1 when a figure is not what it must be.

use std::process::Command;

fn passes(study: &[&str]) {
    let run = Command::new(env!("CARGO_BIN_EXE_hottopixx-study")).args(study).output().unwrap();
    let (table, complaint) = (&run.stdout, &run.stderr);
    let text = [table.as_slice(), complaint.as_slice()].map(String::from_utf8_lossy).concat();
    assert!(run.status.success(), "{study:?}\n{text}");
    assert!(table.iter().filter(|byte| **byte == b'\n').count() > 3, "no table:\n{text}");
}

/// Nine instances; one that is missed fails.
#[test]
fn planted_rows_are_recovered() {
    passes(&["recovery", "--quick", "--seeds", "1"]);
}

#[test]
fn hard_families_are_recovered() {
    passes(&["hard", "--quick", "--seeds", "2"]);
}

#[test]
fn auto_is_never_worse_than_another_method() {
    passes(&["auto", "--quick"]);
}

#[test]
fn linear_programs_reach_their_gaps() {
    passes(&["lp", "grid", "--quick"]);
}

/// No bound above the best of all choices, no rank outside its bracket.
#[test]
fn bounds_hold_for_all_choices() {
    passes(&["choice", "--quick"]);
}

/// Every method obeys, the answer is near the best choice that does, and no bound is above that.
#[test]
fn constraints_are_obeyed() {
    passes(&["constraints", "--quick"]);
}

/// Planted outliers are named, and the rows found as without them.
#[test]
fn outliers_are_named() {
    passes(&["outliers", "--quick"]);
}

/// The bound of total is verified, reaches its gap, and agrees with the cutting planes.
#[test]
fn total_reaches_its_gap() {
    passes(&["total", "--quick"]);
}

/// Status, objective, bound, error and alpha of every call, in exact arithmetic.
#[test]
fn every_claim_on_adversarial_instances_holds() {
    passes(&["campaign", "--quick"]);
}

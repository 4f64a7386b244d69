//! The modules of the crate depend on each other in one direction only.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Every module after all that it may use, as `docs/design.md` draws them.
const ORDER: [&str; 27] = [
    "kernels",
    "order",
    "clock",
    "checkpoint",
    "control",
    "error",
    "matrix",
    "normalise",
    "project",
    "squares",
    "l1",
    "effort",
    "goal",
    "objective",
    "rules",
    "localise",
    "certify",
    "complete",
    "clean",
    "select",
    "choice",
    "methods",
    "synth",
    "text",
    "factor",
    "topics",
    "unmix",
];

/// The module that an item at the root of the crate comes from.
fn home(item: &str) -> &str {
    match item {
        "Error" => "error",
        "Effort" => "effort",
        "Goal" => "goal",
        "Objective" => "objective",
        "Constraints" => "rules",
        other if other.starts_with(char::is_uppercase) => "factor",
        module => module,
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

/// What a file uses of the crate, tests and comments left out.
fn used(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
    let mut found = BTreeSet::new();
    for line in lines {
        for after in line.split("crate::").skip(1) {
            let names = match after.strip_prefix('{') {
                Some(list) => list.split('}').next().unwrap_or_default(),
                None => after,
            };
            let first = |name: &str| {
                let word = |c: char| !c.is_alphanumeric() && c != '_';
                name.trim().split(word).next().unwrap_or_default().to_owned()
            };
            let all: Vec<String> = match after.starts_with('{') {
                true => names.split(',').map(first).collect(),
                false => vec![first(names)],
            };
            found.extend(all.into_iter().filter(|name| !name.is_empty()));
        }
    }
    found
}

#[test]
fn modules_use_only_those_before_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let place = |module: &str| ORDER.iter().position(|known| *known == module);
    let mut wrong = Vec::new();
    for path in sources(&root) {
        let inside = path.strip_prefix(&root).unwrap();
        let top = inside.components().next().unwrap().as_os_str().to_str().unwrap();
        let module = top.trim_end_matches(".rs");
        let name = inside.file_stem().unwrap().to_str().unwrap();
        if module == "lib" || name == "tests" || name == "instances" {
            continue;
        }
        let own = place(module).unwrap_or_else(|| panic!("{module} has no place in the order"));
        for item in used(&fs::read_to_string(&path).unwrap()) {
            let other = place(home(&item));
            if other.is_none_or(|other| other > own) {
                wrong.push(format!("{} uses {item}", inside.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn uses_are_found() {
    let text = "use crate::{Error, Objective};\nuse crate::l1::{Atoms, Basis};\n// crate::no\n\
                let a = crate::matrix::Dense::zeros(1, 1);\n#[cfg(test)]\nuse crate::factor;";
    let found: Vec<String> = used(text).into_iter().collect();
    assert_eq!(found, ["Error", "Objective", "l1", "matrix"]);
}

//! The README's Rust is an example of this crate, so it compiles and runs.

#[test]
fn the_readme_shows_the_example() {
    let readme = include_str!("../../../../README.md");
    let example = include_str!("../../examples/readme.rs");
    let (_, code) = example.split_once("\n\n").expect("a line about it comes first");
    assert!(readme.contains(&format!("```rust\n{code}```\n")));
}

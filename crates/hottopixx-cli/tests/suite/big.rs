//! Caches and `.hpx` files, through the real binary.

use crate::common::{Folder, error};
use serde_json::Value;

const TABLE: &str = "w,a,b,c\noil,1,2,3\nbank,4,5,6\nloan,2,1,1\nrig,1,1,9\n";

/// What is the same for the same matrix.
fn answer(mut object: Value) -> Value {
    for key in ["input", "seconds", "peak_memory_bytes"] {
        object.as_object_mut().unwrap().remove(key);
    }
    object
}

/// What was said beside how the table is read.
fn notes(output: &std::process::Output) -> String {
    let said = error(output);
    let (read, notes): (Vec<&str>, Vec<&str>) =
        said.lines().partition(|line| line.starts_with("hottopixx: read as: header yes"));
    assert_eq!(read.len(), 1, "{said}");
    notes.join("\n")
}

#[test]
fn hpx_is_written_and_read() {
    let folder = Folder::new();
    for (family, size) in [("paper", 0), ("multinomial", 1)] {
        let sizes = ["--features", "40", "--examples", "90", "--rank", "3", "--seed", "2"];
        let other = ["X.npy", "X.npz"][size];
        for out in ["X.hpx", other] {
            folder.text(&[&["generate", family, "--out", out], &sizes[..]].concat());
        }
        let ask = |file: &str, flags: &[&str]| {
            let args = [&["factor", file, "--rank", "3", "--method", "spa", "--json"], flags];
            answer(folder.json(&args.concat()))
        };
        let want = ask(other, &[]);
        assert_eq!(ask("X.hpx", &[]), want, "{family}");
        assert_eq!(ask("X.hpx", &["--format", "hpx"]), want);
        assert_eq!(ask("X.hpx", &["--transpose"]), ask(other, &["--transpose"]));
        if cfg!(all(target_pointer_width = "64", target_endian = "little", unix)) {
            // A mapped matrix takes no memory of its own.
            assert_eq!(ask("X.hpx", &["--memory", "100"]), want);
        }
    }
    let refusal = folder.refusal(&["generate", "paper", "--rank", "3", "--out", "X.csv"], 1);
    assert!(refusal.contains(".hpx"), "{refusal}");
}

#[test]
fn a_cache_is_written_used_and_renewed() {
    let folder = Folder::new();
    folder.write("X.csv", TABLE);
    let args = ["factor", "X.csv", "--rank", "2", "--method", "spa", "--json", "--cache", "kept"];
    let kept = || {
        let files = std::fs::read_dir(folder.path("kept")).unwrap();
        let files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        (files[0].clone(), std::fs::metadata(&files[0]).unwrap().modified().unwrap())
    };
    let plain = folder.run(&args[..7]);
    assert_eq!(notes(&plain), "");
    let first = folder.run(&args);
    let note = notes(&first);
    assert!(note.contains("written") && note.lines().count() == 1, "{note}");
    let value = |bytes: &[u8]| answer(serde_json::from_slice(bytes).unwrap());
    let want = value(&plain.stdout);
    assert_eq!(value(&first.stdout), want);
    let (path, time) = kept();
    let again = folder.run(&args);
    assert_eq!(notes(&again), "");
    assert_eq!(value(&again.stdout), want);
    assert!(want["hott"][0]["name"].is_string());
    assert_eq!(kept(), (path.clone(), time));
    // Damage is noticed, and what is renewed is sound.
    for damage in [&b"nonsense"[..], b""] {
        std::fs::write(&path, damage).unwrap();
        assert_eq!(value(&folder.run(&args).stdout), want);
        assert!(std::fs::metadata(&path).unwrap().len() > 256);
    }
    // So is another file.
    folder.write("X.csv", TABLE.replace("9", "8"));
    let changed = answer(folder.json(&[&args[..], &["--quiet"]].concat()));
    assert_ne!(changed["error"], want["error"]);
    assert_eq!(value(&folder.run(&args).stdout), changed);
    folder.write("X.csv", "1,x\n");
    assert!(folder.refusal(&args, 1).contains("X.csv"));
}

#[test]
fn without_a_folder_for_it_the_answer_is_still_given() {
    let folder = Folder::new();
    folder.write("X.csv", TABLE);
    folder.write("taken", "a file");
    let args = ["factor", "X.csv", "--rank", "2", "--method", "spa", "--cache", "taken/here"];
    let output = folder.run(&args);
    assert_eq!(output.status.code(), Some(0));
    let note = notes(&output);
    assert!(note.contains("could not be written") && note.lines().count() == 1, "{note}");
    assert!(error(&folder.run(&[&args[..], &["--quiet"]].concat())).is_empty());
    let both = folder.run(&[&args[..], &["--no-cache"]].concat());
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn a_bag_of_words_larger_than_the_memory_is_built_on_disk() {
    let folder = Folder::new();
    let mut text = "30\n20\n300\n".to_owned();
    for k in 0..300 {
        text += &format!("{} {} {}\n", k / 10 + 1, (k * k + k / 7) % 20 + 1, k % 4 + 1);
    }
    folder.write("docword.x.txt", text);
    let args = ["factor", "docword.x.txt", "--rank", "2", "--method", "spa", "--json", "--quiet"];
    let want = answer(folder.json(&args));
    let small = [&args[..], &["--memory", "4KB"]].concat();
    let refusal = folder.refusal(&[&small[..], &["--no-cache"]].concat(), 1);
    assert!(refusal.contains("300 nonzeros needs 8400 bytes"), "{refusal}");
    if cfg!(all(target_pointer_width = "64", target_endian = "little", unix)) {
        assert_eq!(answer(folder.json(&small)), want);
        assert!(folder.path(".docword.x.txt.hpx").is_file());
        assert_eq!(answer(folder.json(&small)), want);
    }
}

//! Flags from a file, `--version`, `self-test`.

use crate::common::{Folder, error};

/// The file stands for flags, the command line wins, and what was read is said.
#[test]
fn flags_come_from_a_file_and_the_command_line_wins() {
    let folder = Folder::with_instance();
    folder.write(
        "hottopixx.toml",
        "seed = 7\nthreads = 1\n[factor]\nrank = 4\nmethod = 'spa'\npath = true\nquiet = false\n",
    );
    let ran = folder.run(&["factor", "X.npy"]);
    assert_eq!(ran.status.code(), Some(0), "{}", error(&ran));
    let said = "flags from hottopixx.toml: --seed=7 --threads=1 --rank=4 --method=spa --path";
    let mut words: Vec<&str> = said.split(' ').collect();
    let told = error(&ran);
    words.retain(|word| !told.contains(word));
    assert!(words.is_empty(), "{words:?} not in {told}");
    let text = String::from_utf8(ran.stdout).unwrap();
    assert!(text.contains("spa, rank 4") && text.contains("seed 7, 1 thread"), "{text}");

    let other = folder.run(&["factor", "X.npy", "-r", "5", "--method=xray", "--seed", "2", "-q"]);
    let text = String::from_utf8(other.stdout.clone()).unwrap();
    assert!(text.contains("xray, rank 5") && text.contains("seed 2"), "{text}");
    assert_eq!(error(&other), "");

    // Another command takes what is for all of those that have the flag, and nothing of others.
    let ran = folder.run(&["evaluate", "X.npy", "--hott", "0,1"]);
    assert_eq!(ran.status.code(), Some(0), "{}", error(&ran));
    assert!(!error(&ran).contains("rank"), "{}", error(&ran));

    let without = folder.run(&["factor", "X.npy", "--no-config"]);
    assert_eq!(without.status.code(), Some(2), "{}", error(&without));
}

/// A flag of the command line that excludes one of the file wins as well; the page says the whole command.
#[test]
fn a_named_file_is_read_instead_and_is_part_of_the_command() {
    let folder = Folder::with_instance();
    folder.write("hottopixx.toml", "nonsense = 1\n");
    folder.write("mine.toml", "[factor]\nrank = 3\ncache = 'kept'\nmethod = 'spa'\n");
    let words = ["--config", "mine.toml", "factor", "X.npy", "--no-cache", "--out", "answer"];
    let ran = folder.run(&words);
    assert_eq!(ran.status.code(), Some(0), "{}", error(&ran));
    assert!(!error(&ran).contains("--cache=kept"), "{}", error(&ran));
    let page = String::from_utf8(folder.read("answer/report.html")).unwrap();
    assert!(page.contains("--rank=3"), "the page says how it was made");
}

/// What the file may not say is refused by name.
#[test]
fn wrong_files_of_flags_are_refused_by_name() {
    let folder = Folder::with_instance();
    let cases = [
        ("ranks = 3", "no command has a flag --ranks"),
        ("config = 'other.toml'", "no command has a flag --config"),
        ("[factors]\nrank = 3", "[factors] is no command"),
        ("[factor]\ncolour = 3", "[factor] has no flag --colour"),
        ("[topics]\nmethod = 'spa'", "[topics] has no flag --method"),
        ("[factor]\npath = 'yes'", "path is a switch: write path = true, or false"),
        ("[factor]\neffort = ['quick']", "effort takes a number or a text in quotes"),
        ("seed = 1\nrank = ", "hottopixx.toml: line 2: "),
    ];
    for (text, sentence) in cases {
        folder.write("hottopixx.toml", text);
        let ran = folder.run(&["factor", "X.npy", "--rank", "3"]);
        assert_eq!(ran.status.code(), Some(1), "{text}: {}", error(&ran));
        assert!(error(&ran).contains(sentence), "{text}: {}", error(&ran));
    }
    folder.write("hottopixx.toml", "[factor]\nrank = -3");
    assert_eq!(folder.run(&["factor", "X.npy"]).status.code(), Some(2));
    let missing = folder.run(&["factor", "X.npy", "-r", "3", "--config", "nowhere.toml"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(error(&missing).contains("nowhere.toml"), "{}", error(&missing));
}

#[test]
fn versions_are_short_and_long() {
    let folder = Folder::new();
    let short = folder.text(&["-V"]);
    assert_eq!(short, format!("hottopixx {}\n", env!("CARGO_PKG_VERSION")));
    let long = folder.text(&["--version"]);
    assert!(long.starts_with(&short), "{long}");
    for word in ["built ", "processor ", " threads", "memory "] {
        assert!(long.contains(word), "{word}: {long}");
    }
}

/// Every method and every part has its line; what does not work is said, with exit code 1.
#[test]
fn self_test_tells_good_installations_from_bad_ones() {
    let folder = Folder::new();
    let text = folder.text(&["self-test"]);
    for method in "auto hottopixx lp minimax total gradient agkm spa snpa xray".split(' ') {
        assert!(text.contains(&format!("ok      method {method} ")), "{method}: {text}");
    }
    assert!(text.contains("All 17 checks passed"), "{text}");

    let mut command = folder.command(&["self-test"]);
    command.env("TMPDIR", folder.path("nowhere/at/all")).env("TMP", "").env("TEMP", "");
    folder.write("nowhere", "a file where a folder should be");
    let ran = command.output().unwrap();
    assert_eq!(ran.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&ran.stdout).contains("FAILED  files"));
    assert!(error(&ran).contains("1 of 17 checks failed (files)"), "{}", error(&ran));
}

//! `topics` and `apply` on a small corpus.

use crate::common::{Folder, error};
use serde_json::Value;

const OIL: [&str; 6] = ["oil", "price", "barrel", "crude", "opec", "tanker"];
const COURT: [&str; 6] = ["court", "judge", "trial", "verdict", "lawyer", "appeal"];
const GAME: [&str; 6] = ["game", "goal", "coach", "league", "striker", "cup"];

/// 240 documents about three things, in turn; the first words tell which.
fn documents() -> Vec<String> {
    let themes = [OIL, COURT, GAME];
    let document = |d: usize| {
        let theme = themes[d % 3];
        let other = themes[(d + 1) % 3];
        let mut words: Vec<&str> = (0..9).map(|k| theme[(d / 3 + 5 * k) % 6]).collect();
        words.push(other[d % 6]);
        format!("{} number {d}: the {} and the week", theme[0], words.join(" of the "))
    };
    (0..240).map(document).collect()
}

fn with_lines() -> Folder {
    let folder = Folder::new();
    folder.write("news.txt", documents().join("\n"));
    folder
}

/// The lines of a table of ours, cells apart; no cell has a comma.
fn table(folder: &Folder, name: &str) -> Vec<Vec<String>> {
    let text = String::from_utf8(folder.read(name)).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// Whether documents about the same thing, and only they, have the same strongest topic.
fn apart(rows: &[Vec<String>], column: usize) -> bool {
    let of = |d: usize| &rows[1 + d][column];
    (0..240).all(|d| of(d) == of(d % 3)) && of(0) != of(1) && of(1) != of(2) && of(0) != of(2)
}

#[test]
fn topics_of_lines_and_of_new_documents() {
    let folder = with_lines();
    let answer = folder.json(&["topics", "news.txt", "-r", "3", "--out", "answer", "--json"]);
    assert_eq!((&answer["documents"], &answer["rank"]), (&240.into(), &3.into()));
    assert!(answer["notes"][0].as_str().unwrap().contains("english"), "{}", answer["notes"]);
    let themes = [OIL, COURT, GAME];
    let mut seen = [false; 3];
    for topic in answer["topics"].as_array().unwrap() {
        let words: Vec<&str> = topic["words"]
            .as_array()
            .unwrap()
            .iter()
            .map(|w| w["word"].as_str().unwrap())
            .collect();
        let theme = themes.iter().position(|theme| theme.contains(&words[0])).unwrap();
        assert!(words[..5].iter().all(|word| themes[theme].contains(word)), "{words:?}");
        assert!(themes[theme].contains(&topic["name"].as_str().unwrap()), "{topic}");
        let title = topic["typical"][0]["title"].as_str().unwrap();
        assert!(title.starts_with(themes[theme][0]), "{title}");
        seen[theme] = true;
    }
    assert_eq!(seen, [true; 3]);
    let shares: f64 =
        answer["topics"].as_array().unwrap().iter().map(|t| t["share"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-9);
    let rows = table(&folder, "answer/documents.csv");
    assert!(rows.len() == 241 && apart(&rows, 2));
    assert_eq!(table(&folder, "answer/topics.csv").len(), 4);
    // The same again, and with other threads: the same bytes. The folder is ours.
    let before = folder.read("answer/documents.csv");
    folder.text(&["topics", "news.txt", "-r", "3", "--out", "answer", "--threads", "1"]);
    assert_eq!(folder.read("answer/documents.csv"), before);

    folder.write(
        "new.txt",
        "A judge in court, a verdict\nthe goal of the league cup\nunknown words\n",
    );
    let text = folder.text(&["apply", "answer", "new.txt", "--quiet"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4);
    let strongest = |line: &str| line.split(',').rev().nth(3).unwrap().to_owned();
    assert!(COURT.contains(&strongest(lines[2 - 1]).as_str()), "{}", lines[1]);
    assert!(GAME.contains(&strongest(lines[2]).as_str()), "{}", lines[2]);
    let json = folder.json(&["apply", "answer/model.json", "new.txt", "--json"]);
    assert_eq!(json["documents"].as_array().unwrap().len(), 3);
}

#[test]
fn the_terminal_shows_names_words_and_reasons() {
    let folder = with_lines();
    let text = folder.text(&["topics", "news.txt", "--rank", "3"]);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for part in
        ["240 documents", "coherence", "chosen", "Stop words: english", "Vocabulary:", "perplexity"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn columns_of_tables_and_folders() {
    let folder = Folder::new();
    let texts = documents();
    let mut csv = String::from("id,headline,body,day\n");
    let mut json = String::new();
    std::fs::create_dir_all(folder.path("news/more")).unwrap();
    for (d, text) in texts.iter().enumerate() {
        csv += &format!("{d},\"head, {d}\",\"{text}\nsecond line\",2001-01-{:02}\n", d % 28 + 1);
        json += &format!("{}\n", serde_json::json!({"id": d, "body": text, "headline": null}));
        let place = if d % 2 == 0 { "news" } else { "news/more" };
        folder.write(&format!("{place}/{d:03}.txt"), text);
    }
    folder.write("news.csv", csv.replace("2001-01-01\n", "2001-01-01\r\n"));
    folder.write("news.jsonl", json);
    let run = |args: &[&str]| {
        folder.text(&[&["topics", "-r", "3", "--out", "answer", "--quiet"], args].concat())
    };
    let text = run(&["news.csv"]);
    assert!(text.contains("Documents: column \"body\""), "{text}");
    run(&["news.csv", "--column", "3", "--title", "headline", "--date", "day"]);
    let documents = String::from_utf8(folder.read("answer/documents.csv")).unwrap();
    assert!(documents.contains("\n3,\"head, 2\",2001-01-03,"), "{documents}");
    run(&["news.jsonl", "--column", "body"]);
    assert!(apart(&table(&folder, "answer/documents.csv"), 2));
    run(&["news"]);
    let rows = table(&folder, "answer/documents.csv");
    assert_eq!(
        (rows.len(), rows[1][1].as_str(), rows[240][1].as_str()),
        (241, "000.txt", "more/239.txt")
    );

    let missing = folder.refusal(&["topics", "news.csv", "-r", "3", "--column", "text"], 1);
    assert!(
        missing.contains("no column \"text\"") && missing.contains("\"headline\""),
        "{missing}"
    );
    folder.write("bad.jsonl", "{\"a\": \"one two\"}\n{\"a\": 3}\n");
    let line = folder.refusal(&["topics", "bad.jsonl", "-r", "2", "--column", "a"], 1);
    assert!(line.contains("bad.jsonl, line 2"), "{line}");
}

#[test]
fn counts_with_and_without_names() {
    let folder = Folder::new();
    let mut words: Vec<&str> = [OIL, COURT, GAME].concat();
    words.sort_unstable();
    let texts = documents();
    let mut values = Vec::new();
    for text in &texts {
        values.extend(
            words.iter().map(|w| text.split_whitespace().filter(|t| t == w).count() as f64),
        );
    }
    folder.write("X.npy", crate::common::npy(240, 18, &values));
    folder.write("words.txt", words.join("\n"));
    let base = ["topics", "X.npy", "-r", "3", "--names", "words.txt", "--quiet"];
    folder.text(&[&base[..], &["--out", "answer"]].concat());
    let rows = table(&folder, "answer/documents.csv");
    assert!(apart(&rows, 2) && rows[1][1] == "document 1");
    // The same counts, applied to themselves.
    let again = folder.text(&["apply", "answer", "X.npy", "--names", "words.txt"]);
    assert_eq!(again.into_bytes(), folder.read("answer/documents.csv"));
    let turned = folder.refusal(&[&base[..], &["--transpose"]].concat(), 1);
    assert!(turned.contains("leave out --transpose"), "{turned}");
    let weights: Vec<f64> = values.iter().map(|v| v / 3.0).collect();
    folder.write("W.npy", crate::common::npy(240, 18, &weights));
    let refused = folder.refusal(&["topics", "W.npy", "-r", "3"], 1);
    assert!(refused.contains("tf-idf"), "{refused}");
    folder.json(&["topics", "X.npy", "-r", "3", "--json"]);
}

#[test]
fn anchors_and_words_are_the_callers() {
    let folder = with_lines();
    folder.write("stop.txt", "the\nand\nof\nweek\nnumber\n");
    let answer = folder.json(&[
        "topics",
        "news.txt",
        "-r",
        "3",
        "--anchors",
        "Oil+price, verdict",
        "--stop-words",
        "stop.txt",
        "--recovery",
        "l1",
        "--json",
    ]);
    let topics = answer["topics"].as_array().unwrap();
    let given: Vec<&str> =
        topics.iter().filter(|t| t["given"] == true).map(|t| t["name"].as_str().unwrap()).collect();
    assert!(
        given.len() == 2 && given.contains(&"oil+price") && given.contains(&"verdict"),
        "{given:?}"
    );
    let found = topics.iter().find(|t| t["given"] == false).unwrap();
    assert!(GAME.contains(&found["name"].as_str().unwrap()), "{found}");
    let unknown = folder.refusal(&["topics", "news.txt", "-r", "3", "--anchors", "unicorn"], 1);
    assert!(unknown.contains("unicorn") && unknown.contains("vocabulary"), "{unknown}");
    let language = folder.refusal(&["topics", "news.txt", "-r", "3", "--stop-words", "klingon"], 1);
    assert!(language.contains("english"), "{language}");
    let many = folder.refusal(&["topics", "news.txt", "-r", "300"], 1);
    assert!(many.contains("300"), "{many}");
    let pure = folder.json(&["topics", "news.txt", "-r", "3", "--polish", "0", "--json"]);
    assert_eq!((&pure["steps"], &pure["perplexity"]), (&0.into(), &pure["anchored_perplexity"]));
}

#[test]
fn few_documents_get_advice_and_faults_a_sentence() {
    let folder = Folder::new();
    folder.write("few.txt", documents()[..12].join("\n"));
    let answer: Value = folder.json(&["topics", "few.txt", "-r", "3", "--json"]);
    assert!(answer["advice"][0].as_str().unwrap().contains("12 documents"), "{}", answer["advice"]);
    folder.write("blank.txt", "\n \n");
    assert!(folder.refusal(&["topics", "blank.txt", "-r", "2"], 1).contains("no document"));
    std::fs::create_dir(folder.path("empty")).unwrap();
    assert!(folder.refusal(&["topics", "empty", "-r", "2"], 1).contains("no .txt file"));
    folder.write("one.txt", "oil price\n");
    let refusal = folder.refusal(&["topics", "one.txt", "-r", "2"], 1);
    assert!(refusal.contains("no word is left of 1 documents"), "{refusal}");
    let model = folder.refusal(&["apply", "empty", "few.txt"], 1);
    assert!(model.contains("hottopixx topics --out"), "{model}");
    let stopped = folder.run(&["topics", "few.txt", "-r", "3", "--max-seconds", "0"]);
    assert!(matches!(stopped.status.code(), Some(0 | 3)), "{}", error(&stopped));
}

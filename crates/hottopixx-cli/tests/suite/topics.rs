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
    folder.write("bad.jsonl", "{\"a\": \"one two\"}\n{\"a\": {\"b\": 3}}\n");
    let line = folder.refusal(&["topics", "bad.jsonl", "-r", "2", "--column", "a"], 1);
    assert!(line.contains("bad.jsonl, line 2"), "{line}");
}

#[test]
fn table_flags_are_for_text_and_for_counts() {
    let folder = Folder::new();
    let mut csv = String::from("nr;head;body\n");
    for (d, text) in documents().iter().enumerate() {
        csv += &format!("{d};head {d};{}\n", if d == 5 { "NA" } else { text });
    }
    folder.write("news.csv", csv);
    let base = ["topics", "news.csv", "-r", "3", "--quiet", "--out", "answer"];
    let run = |flags: &[&str]| folder.text(&[&base[..], flags].concat());
    let text =
        run(&["--delimiter", ";", "--header", "yes", "--columns", "head,body", "--index", "nr"]);
    let rows = table(&folder, "answer/documents.csv");
    assert!(rows.len() == 241 && rows[8][1] == "7" && text.contains("240 documents"), "{text}");
    let text = run(&["--column", "body", "--title", "head", "--missing", "drop-rows"]);
    assert!(text.contains("1 document is missing") && text.contains("239 documents"), "{text}");
    assert_eq!(table(&folder, "answer/documents.csv")[6][1], "head 6");
    folder.write("more.csv", "nr;head;body\n1;one;the judge of the court\n");
    let applied = folder.text(&["apply", "answer", "more.csv", "--column", "body", "--index", "1"]);
    assert!(applied.contains("\n1,1,"), "{applied}");

    let refused = |flags: &[&str], sentence: &str| {
        let found = folder.refusal(&[&base[..], flags].concat(), 1);
        assert!(found.contains(sentence), "{flags:?}: {found}");
    };
    refused(
        &["--missing", "refuse", "--column", "body"],
        "news.csv, line 7: the document is missing",
    );
    refused(&["--missing", "drop-columns"], "is for tables of numbers");
    refused(&["--decimal", ",", "--column", "body"], "--decimal is for tables of numbers");
    refused(&["--column", "text"], "there is no column \"text\"");
    refused(&["--columns", "body,text"], "there is no column \"text\"");
    refused(&["--index", "title", "--column", "body"], "there is no column \"title\"");
    folder.write("news.txt", documents().join("\n"));
    for (flag, word) in [("--header", "yes"), ("--missing", "zero"), ("--index", "1")] {
        let found = folder.refusal(&["topics", "news.txt", "-r", "3", flag, word], 1);
        assert!(found.contains(&format!("{flag} is for tables")), "{found}");
    }
    let dated = folder.refusal(&["topics", "news.txt", "-r", "3", "--date", "day"], 1);
    assert!(dated.contains("--date names a column"), "{dated}");

    // Counts: ids set aside or named, decimal commas, columns chosen.
    let mut counts = String::from("doc;long title;oil;court;game;week\n");
    for d in 0..240 {
        let at = |k: usize| if d % 3 == k { "3,0" } else { "0,0" };
        let week = d % 2;
        counts += &format!("{d};a title of words;{};{};{};{week}\n", at(0), at(1), at(2));
    }
    folder.write("counts.csv", counts);
    let flags =
        ["--columns", "oil-game", "--index", "doc", "--decimal", ",", "--stop-words", "none"];
    let answer = folder.json(
        &[&["topics", "counts.csv", "-r", "3", "--json", "--out", "answer"], &flags[..]].concat(),
    );
    assert_eq!((&answer["documents"], &answer["words"]), (&240.into(), &3.into()));
    assert_eq!(table(&folder, "answer/documents.csv")[3][1], "2");
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
    let twice = folder.refusal(&["topics", "news.txt", "-r", "3", "--anchors", "oil,oil"], 1);
    assert!(twice.contains("oil") && twice.contains("given twice"), "{twice}");
    let language = folder.refusal(&["topics", "news.txt", "-r", "3", "--stop-words", "klingon"], 1);
    assert!(language.contains("english"), "{language}");
    let many = folder.refusal(&["topics", "news.txt", "-r", "300"], 1);
    assert!(many.contains("300"), "{many}");
    let pure = folder.json(&["topics", "news.txt", "-r", "3", "--polish", "0", "--json"]);
    assert_eq!((&pure["steps"], &pure["perplexity"]), (&0.into(), &pure["anchored_perplexity"]));
}

#[test]
fn text_is_read_whatever_its_file_is_called() {
    let folder = Folder::new();
    folder.write("news.txt", documents().join("\n"));
    folder.write("news.dat", documents().join("\n"));
    let [known, other] = ["news.txt", "news.dat"]
        .map(|name| folder.json(&["topics", name, "-r", "3", "--json"])["topics"].clone());
    assert_eq!(known, other);
    // A command for matrices tells where text goes.
    let refused = folder.refusal(&["factor", "news.txt", "-r", "2"], 1);
    assert!(refused.ends_with("text is for 'hottopixx topics'\n"), "{refused}");
    folder.write("numbers.dat", "1 2 3\n4 5 6\n");
    let refused = folder.refusal(&["topics", "numbers.dat", "-r", "2"], 1);
    assert!(refused.contains("not a known format"), "{refused}");
    let usage = folder.run(&["topics", "news.txt", "-r", "auto"]);
    assert!(usage.status.code() == Some(2) && error(&usage).contains("is yours to say"));
    let info = folder.json(&["info", "numbers.dat", "--format", "csv", "--json"]);
    assert_eq!(info["rows"], 2);
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
    assert!(refusal.contains("documents = 1") && refusal.contains("give many"), "{refusal}");
    folder.write("stop.txt", "the and of\nit is\n");
    let refusal = folder.refusal(&["topics", "stop.txt", "-r", "2"], 1);
    assert!(refusal.contains("no word is left of 2 documents"), "{refusal}");
    let model = folder.refusal(&["apply", "empty", "few.txt"], 1);
    assert!(model.contains("hottopixx topics --out"), "{model}");
    let stopped = folder.run(&["topics", "few.txt", "-r", "3", "--max-seconds", "0"]);
    assert!(matches!(stopped.status.code(), Some(0 | 3)), "{}", error(&stopped));
}

#[test]
fn a_corpus_larger_than_memory_gives_the_same_bytes() {
    let folder = Folder::new();
    let long: Vec<String> = documents().iter().map(|text| [text.as_str(); 100].join(" ")).collect();
    folder.write("news.txt", long.join("\n"));
    let run = |memory: &str| {
        let flags = ["topics", "news.txt", "-r", "3", "--quiet", "--phrases", "--memory", memory];
        folder.text(&[&flags[..], &["--out", "answer"]].concat());
        ["documents.csv", "words.csv", "model.json"].map(|f| folder.read(&format!("answer/{f}")))
    };
    // 480,000 words take 1.9 MB.
    assert!(run("1GiB") == run("256KiB"));
    let refused = folder.refusal(&["topics", "news.txt", "-r", "3", "--memory", "8KiB"], 1);
    assert!(refused.contains("memory") && refused.contains("allow more"), "{refused}");
}

#[test]
fn bounds_hold_and_narrow_words_name_nothing() {
    let folder = Folder::new();
    // A signature of three words stands in every fifth document, whatever it is about.
    let sign = |(d, text): (usize, &String)| match d % 5 {
        0 => format!("{text} cramer optilink clayton"),
        _ => text.clone(),
    };
    let signed: Vec<String> = documents().iter().enumerate().map(sign).collect();
    folder.write("news.txt", signed.join("\n"));
    let answer = folder.json(&["topics", "news.txt", "-r", "3", "--json", "--out", "answer"]);
    let bound = &answer["bound"];
    let [words, left, least] =
        ["words", "mean_l1", "lower_bound"].map(|key| bound[key].as_f64().unwrap());
    assert!(words >= 18.0 && least <= left && left < 1.0, "{bound}");
    let notes = answer["notes"].to_string();
    assert!(notes.contains("Not as names of topics") && notes.contains("cramer"), "{notes}");
    for topic in answer["topics"].as_array().unwrap() {
        let name = topic["name"].as_str().unwrap();
        assert!(!["cramer", "optilink", "clayton"].contains(&name), "{name}");
    }
    let page = String::from_utf8(folder.read("answer/report.html")).unwrap();
    assert!(page.contains("which is proven"));
    let text = folder.text(&["topics", "news.txt", "-r", "3", "--quiet"]);
    assert!(text.contains("\nbound "), "{text}");
}

#[test]
fn info_tells_of_documents_and_its_advice_runs() {
    let folder = with_lines();
    let texts = documents();
    folder.write("prose.cor", texts.join("\n"));
    let csv: Vec<String> = texts.iter().map(|text| format!("{text};x")).collect();
    folder.write("news.csv", format!("body;kind\n{}\n", csv.join("\n")));
    let object = |text: &String| serde_json::json!({"id": 1, "text": text}).to_string();
    folder.write("news.jsonl", texts.iter().map(object).collect::<Vec<_>>().join("\n"));
    std::fs::create_dir(folder.path("news")).unwrap();
    texts.iter().enumerate().for_each(|(d, text)| folder.write(&format!("news/{d}.txt"), text));
    for (input, format) in [
        ("news.txt", "txt"),
        ("news.csv", "csv"),
        ("news.jsonl", "jsonl"),
        ("news", "folder"),
        ("prose.cor", "txt"),
    ] {
        let info = folder.json(&["info", input, "--json"]);
        assert_eq!((&info["documents"], &info["format"]), (&240.into(), &format.into()), "{info}");
        assert!(info["problems"].as_array().unwrap().is_empty(), "{info}");
        let text = folder.text(&["info", input]);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("240 documents") && text.contains("first     “"), "{text}");
        let command = info["next"][0].as_str().unwrap();
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        assert_eq!(words[0], "topics");
        folder.text(&[&words[..], &["--quiet"]].concat());
    }
    folder.write("few.txt", texts[..5].join("\n"));
    let info = folder.json(&["info", "few.txt", "--json"]);
    assert!(info["problems"][0].as_str().unwrap().starts_with("5 documents are few"), "{info}");
    folder.write("a.parquet", "PAR1");
    assert!(folder.refusal(&["info", "a.parquet"], 1).contains("Python package"));
    folder.write("numbers.dat", "1 2 3 4\n5 6 7 8\n");
    assert!(folder.refusal(&["info", "numbers.dat"], 1).contains("not a known format"));
    folder.write("words.txt", "oil\ncourt\ngame\noil\n");
    let alone = folder.refusal(&["topics", "words.txt", "-r", "2", "--stop-words", "none"], 1);
    assert!(alone.contains("stand together"), "{alone}");
}

#[test]
fn factor_gives_advice_about_counts() {
    let folder = Folder::new();
    // 60 documents of 12 words each, some of which are much more frequent than others.
    let mut values = vec![0.0; 60 * 40];
    for d in 0..60usize {
        for k in 0..12usize {
            let place = (d * 17 + k * 29) % 100;
            values[d * 40 + place * place * place * 40 / 1_000_000] += 1.0;
        }
    }
    folder.write("X.npy", crate::common::npy(60, 40, &values));
    let base = ["factor", "X.npy", "-r", "3", "--method", "spa", "--cooccurrence"];
    assert!(folder.text(&base).contains("differ in their totals as words do"));
    let turned = folder.text(&[&base[..], &["--transpose"]].concat());
    assert!(!turned.contains("differ in their totals"), "{turned}");
    let weights: Vec<f64> = values.iter().map(|v| v / 7.0).collect();
    folder.write("W.npy", crate::common::npy(60, 40, &weights));
    let refused = folder.refusal(&["factor", "W.npy", "-r", "3", "--cooccurrence"], 1);
    assert!(refused.contains("tf-idf") && refused.contains("row 0, column "), "{refused}");
    // Rows that have nothing in common.
    let apart: Vec<f64> = (0..900).map(|k| f64::from(u8::from(k / 30 == k % 30)) * 0.5).collect();
    folder.write("I.npy", crate::common::npy(30, 30, &apart));
    let text = folder.text(&["factor", "I.npy", "-r", "2", "--method", "spa"]);
    assert!(text.contains("next to nothing"), "{text}");
}

#[test]
fn memory_is_predicted_and_refused_before_the_fit() {
    let folder = Folder::new();
    // 4000 words, each in 45 of 3000 documents: their co-occurrence alone takes 122 MiB.
    let line =
        |d: usize| (0..60).map(|k| format!("w{}", (67 * k + 13 * d) % 4000)).collect::<Vec<_>>();
    let lines: Vec<String> = (0..3000).map(|d| line(d).join(" ")).collect();
    folder.write("many.txt", lines.join("\n"));
    let args = ["topics", "many.txt", "-r", "2", "--stop-words", "none", "--memory", "100MiB"];
    let sentence = folder.refusal(&args, 1);
    assert!(sentence.contains("would take") && sentence.contains("--max-words"), "{sentence}");
    let few = folder.text(&[&args[..], &["--max-words", "200", "--json", "--quiet"]].concat());
    let answer: serde_json::Value = serde_json::from_str(&few).unwrap();
    let bytes = |key: &str| answer[key].as_u64().unwrap();
    assert!(bytes("peak_memory_bytes") <= bytes("predicted_memory_bytes"), "{answer}");
}

//! `report.html` of `topics` in a real browser: choosing a topic by click, by keys and from the list shows
//! its words, orders and the slider are those of the model, and words with markup in them do nothing. Where no
//! browser is, the test says so and passes.

use crate::browser::{browser, nasty, visit};
use crate::common::Folder;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Uses the page as a reader would.
const AFTER: &str = "
const cards = () => shown().map((card) => card.id);
const links = [...document.querySelectorAll('.map a')];
const words = () => [...$('word-bars').rows].map((row) => row.cells[0].textContent);
const state = () => ({
  number: $('words-number').textContent,
  name: $('words-name').textContent,
  list: $('words-topic').value,
  current: links.flatMap((link, k) => link.hasAttribute('aria-current') ? [k] : []),
  words: words(),
});
const key = (link, name) => {
  link.focus();
  link.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true }));
  return [$('words-number').textContent, document.activeElement.dataset.topic];
};
outcome.hidden = $('topic-words').hidden;
outcome.start = state();
links[1].querySelector('circle').dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }));
outcome.clicked = state();
outcome.hash = location.hash;
outcome.keys = [key(links[1], 'ArrowRight'), key(links[2], 'ArrowDown'), key(links[2], 'ArrowLeft')];
outcome.before = $('words-order').value;
outcome.slid = ['0', '1'].map((value) => {
  type('relevance', value);
  return [$('relevance-value').textContent, words(), $('words-order').value];
});
$('words-topic').value = '2';
$('words-topic').dispatchEvent(new Event('change', { bubbles: true }));
outcome.chosen = state();
const bars = [...document.querySelectorAll('.bar')].map((bar) =>
  [bar.getBoundingClientRect().width, parseFloat(getComputedStyle(bar, '::after').width)]);
outcome.bars = bars.length > 0 && bars.every(([all, own]) => own >= 0 && own <= all + 0.5);
outcome.numbers = [...$('word-bars').rows].map((row) => [2, 3].map((k) => Number(row.cells[k].textContent)));
outcome.sorted = Object.fromEntries(['coherence', 'found'].map((o) => [o, sort(o)]));
type('topic-search', WANTED.toUpperCase());
outcome.found = [cards(), $('topic-count').textContent];
type('topic-search', 'no such thing');
outcome.none = cards();
";

/// 60 documents in three groups of five words each, as a matrix of counts.
fn counts() -> String {
    let mut entries = String::new();
    let mut number = 0;
    for d in 0..60usize {
        for w in 0..15usize {
            let own = w / 5 == (d % 4).min(2);
            let value = if own { 1 + (d + w) % 3 } else { usize::from((d * 7 + w) % 11 == 0) };
            if value > 0 {
                number += 1;
                let _ = writeln!(entries, "{} {} {value}", d + 1, w + 1);
            }
        }
    }
    format!("%%MatrixMarket matrix coordinate integer general\n60 15 {number}\n{entries}")
}

/// The words of a topic in `summary.json`.
fn words(topic: &Value, list: &str) -> Vec<Value> {
    topic[list].as_array().unwrap().iter().map(|entry| entry["word"].clone()).collect()
}

#[test]
fn the_page_of_topics_works_in_a_browser() {
    let Some(browser) = browser() else { return };
    let folder = Folder::new();
    let input = "<img src=x onerror=window.hacked=4>.mtx";
    folder.write(input, counts());
    folder.write("names.txt", (0..15).map(|k| nasty(k) + "\n").collect::<String>());
    let args = ["topics", input, "--rank", "3", "--names", "names.txt", "--stop-words", "none"];
    folder.text(&[&args[..], &["--out", "out"]].concat());
    let summary: Value = serde_json::from_slice(&folder.read("out/summary.json")).unwrap();
    let topics = summary["topics"].as_array().unwrap();

    let name = topics[1]["name"].as_str().unwrap();
    let word = name.split(' ').next_back().unwrap();
    let seen = visit(browser, &folder, &AFTER.replace("WANTED", &format!("'{word}'")));
    assert_eq!((&seen["controls"], &seen["hidden"]), (&json!([true, true]), &json!(false)));
    for (place, k) in [("start", 0), ("clicked", 1), ("chosen", 2)] {
        let (state, topic) = (&seen[place], &topics[k]);
        assert_eq!(
            (&state["number"], &state["name"]),
            (&json!((k + 1).to_string()), &topic["name"])
        );
        assert_eq!((&state["list"], &state["current"]), (&json!(k.to_string()), &json!([k])));
        // The order of all tables at first; in the end that of the slider, which stands at 1.
        let list = if place == "chosen" { "probable" } else { "words" };
        assert_eq!(state["words"], json!(words(topic, list)), "{place}");
    }
    assert_eq!(seen["hash"], "");
    assert_eq!(seen["keys"], json!([["3", "2"], ["3", "2"], ["2", "1"]]));
    assert_eq!((&seen["slid"][0][0], &seen["slid"][1][0]), (&json!("0.0"), &json!("1.0")));
    assert_eq!(seen["slid"][1][1], json!(words(&topics[1], "probable")));
    assert_eq!((&seen["before"], &seen["slid"][0][2]), (&json!("key"), &json!("relevance")));
    assert_ne!(seen["slid"][0][1], seen["slid"][1][1]);
    assert_eq!(seen["bars"], true);
    let number = |v: &Value| v.as_f64().unwrap();
    let numbers = seen["numbers"].as_array().unwrap();
    assert!(numbers.iter().all(|pair| number(&pair[0]) <= number(&pair[1])), "{numbers:?}");
    check_cards(&seen, topics, word);
}

fn check_cards(seen: &Value, topics: &[Value], word: &str) {
    let ids = |order: &[usize]| {
        json!(order.iter().map(|k| format!("topic-{}", k + 1)).collect::<Vec<_>>())
    };
    assert_eq!(seen["sorted"]["found"], ids(&[0, 1, 2]));
    let coherence = |k: &usize| topics[*k]["coherence"].as_f64().unwrap();
    let mut order = vec![0, 1, 2];
    order.sort_by(|a, b| coherence(b).total_cmp(&coherence(a)));
    assert_eq!(seen["sorted"]["coherence"], ids(&order));
    let with = |k: &usize| topics[*k].to_string().contains(word);
    let found: Vec<usize> = (0..3).filter(with).collect();
    assert!(found.contains(&1));
    assert_eq!(seen["found"], json!([ids(&found), format!("{} of 3 topics", found.len())]));
    assert_eq!(seen["none"], json!([]));
}

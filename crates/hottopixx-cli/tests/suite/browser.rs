//! `report.html` in a real browser: it opens without a complaint, searching and sorting work, and
//! names with markup in them do nothing. Where no browser is, the test says so and passes.

use crate::common::Folder;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Runs before anything of the page.
const BEFORE: &str = "<script>
window.problems = [];
addEventListener('error', (event) => problems.push(String(event.message)));
</script>";

/// What all visits of a page need.
const FIRST: &str = "
const $ = (id) => document.getElementById(id);
const seen = (element) => getComputedStyle(element).display !== 'none';
const type = (id, text) => {
  $(id).value = text;
  $(id).dispatchEvent(new Event('input', { bubbles: true }));
};
const shown = () => [...document.querySelectorAll('.topics > section')].filter(seen);
const sort = (order) => {
  $('topic-sort').value = order;
  $('topic-sort').dispatchEvent(new Event('change', { bubbles: true }));
  return cards();
};
const outcome = {};
outcome.controls = [...document.querySelectorAll('.controls')].map(seen);
";

/// Leaves what was seen in an element of its own.
const LAST: &str = "
outcome.strangers = document.querySelectorAll('main script:not(#topic-data), main img, main [onerror]').length;
document.body.style.width = '320px';
outcome.narrow = document.querySelector('main').scrollWidth;
outcome.hacked = window.hacked === undefined ? null : String(window.hacked);
outcome.problems = window.problems;
const pre = document.createElement('pre');
pre.id = 'outcome';
const plain = (c) => '\\\\u' + c.charCodeAt(0).toString(16).padStart(4, '0');
pre.textContent = JSON.stringify(outcome).replace(/[<>&]/g, plain);
document.body.append(pre);
";

/// Uses the page as a reader would.
const AFTER: &str = "
const cards = () => shown().map((card) => Number(card.dataset.row));
const lines = () => [...$('rows').tBodies[0].rows].filter(seen)
  .map((row) => Number(row.cells[0].textContent));
const head = (name) => [...$('rows').tHead.rows[0].cells].find((th) => th.textContent === name);
const click = (name) => {
  head(name).querySelector('button').click();
  return [head(name).getAttribute('aria-sort'), lines()];
};
outcome.all = [cards(), $('topic-count').textContent, $('row-count').textContent];
outcome.sorted = Object.fromEntries(['name', 'weight', 'row', 'found'].map((o) => [o, sort(o)]));
type('topic-search', WANTED.toUpperCase());
outcome.found = [cards(), $('topic-count').textContent];
type('topic-search', 'no such thing');
outcome.none = [cards(), $('topic-count').textContent];
outcome.start = [head('error').getAttribute('aria-sort'), lines()];
outcome.clicked = ['error', 'row', 'row', 'name', 'share'].map(click);
outcome.one_sorted = document.querySelectorAll('#rows [aria-sort]').length;
type('row-search', WANTED);
outcome.rows = [lines(), $('row-count').textContent];
type('row-search', '');
";

/// The first browser that answers; where there is none, says that a test is skipped.
pub fn browser() -> Option<&'static str> {
    let found = BROWSERS.into_iter().find(|name| {
        let asked = Command::new(name).arg("--version").output();
        asked.is_ok_and(|answer| answer.status.success())
    });
    if found.is_none() {
        println!("skipped: none of {} is on the path", BROWSERS.join(", "));
    }
    found
}

/// Opens the page and gives the document after its scripts ran, and what the browser logged.
fn open(browser: &str, folder: &Folder, page: &Path) -> (String, String) {
    let log = |name: &str| Stdio::from(File::create(folder.path(name)).unwrap());
    let mut child = Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"])
        .args(["--enable-logging=stderr", "--v=0", "--virtual-time-budget=2000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.path("profile").display()))
        .arg(page)
        .stdout(log("document"))
        .stderr(log("log"))
        .spawn()
        .unwrap();
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > Duration::from_secs(60) {
            let _ = child.kill();
            panic!("{browser} did not end within a minute");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let text = |name: &str| String::from_utf8_lossy(&folder.read(name)).into_owned();
    (text("document"), text("log"))
}

/// Opens `out/report.html` with a script that uses it after its own, checks what must hold on every page,
/// and gives what the script saw.
pub fn visit(browser: &str, folder: &Folder, script: &str) -> Value {
    let page = String::from_utf8(folder.read("out/report.html")).unwrap();
    let page = page.replacen("<head>", &format!("<head>{BEFORE}"), 1);
    // The page's policy allows its own script alone, by its hash; ours is let in beside it.
    assert!(page.contains("script-src 'sha256-"), "no policy");
    let page = page.replacen("script-src ", "script-src 'nonce-test' ", 1);
    let after = format!("<script nonce=\"test\">{FIRST}{script}{LAST}</script></body>");
    folder.write("page.html", page.replace("</body>", &after));
    let (document, log) = open(browser, folder, &folder.path("page.html"));
    assert!(!log.contains("CONSOLE"), "{log}");
    let outcome = document.split("<pre id=\"outcome\">").nth(1).expect(&log);
    let seen: Value = serde_json::from_str(outcome.split("</pre>").next().unwrap()).unwrap();
    assert_eq!(seen["problems"], json!([]));
    assert_eq!((&seen["hacked"], &seen["strangers"]), (&Value::Null, &json!(0)));
    assert!(seen["narrow"].as_u64().unwrap() <= 320, "{}", seen["narrow"]);
    seen
}

/// Row k's name: markup in front, and a word that no other name has.
pub fn nasty(k: usize) -> String {
    let attack =
        ["</td><script>window.hacked=1</script>", "\"><img src=x onerror=window.hacked=2>"];
    format!("{}' onerror='hacked=3 Item{:02}", attack[k % 2], (k * 7) % 40)
}

/// The rows whose names a topic's card is found by.
fn rows_of(topic: &Value) -> BTreeSet<u64> {
    let members = topic["members"].as_array().unwrap().iter().map(|member| &member["row"]);
    let group = topic["group"].as_array().unwrap().iter();
    members.chain(group).filter_map(Value::as_u64).collect()
}

#[test]
fn the_page_works_in_a_browser() {
    let Some(browser) = browser() else { return };
    let folder = Folder::with_instance();
    let input = "<img src=x onerror=window.hacked=4>.npy";
    std::fs::copy(folder.path("X.npy"), folder.path(input)).unwrap();
    folder.write("names.txt", (0..40).map(|k| nasty(k) + "\n").collect::<String>());
    let args = ["factor", input, "--rank", "5", "--method", "minimax", "--names", "names.txt"];
    folder.text(&[&args[..], &["--out", "out"]].concat());
    let summary: Value = serde_json::from_slice(&folder.read("out/summary.json")).unwrap();
    let topics = summary["hott"].as_array().unwrap();
    let wanted = topics[1]["members"][0]["row"].as_u64().unwrap();

    let word = nasty(wanted as usize).split(' ').next_back().unwrap().to_owned();
    let seen = visit(browser, &folder, &AFTER.replace("WANTED", &format!("'{word}'")));
    assert_eq!(seen["controls"], json!([true, true]));
    check_topics(&seen, topics, wanted);
    check_rows(&seen, topics, wanted);
}

fn check_topics(seen: &Value, topics: &[Value], wanted: u64) {
    let rows = |topics: &[&Value]| json!(topics.iter().map(|t| &t["row"]).collect::<Vec<_>>());
    let mut order: Vec<&Value> = topics.iter().collect();
    assert_eq!(seen["all"], json!([rows(&order), "5 of 5 topics", "40 of 40 rows"]));
    assert_eq!(seen["sorted"]["found"], rows(&order));
    let found: Vec<&Value> =
        order.iter().copied().filter(|topic| rows_of(topic).contains(&wanted)).collect();
    assert!(!found.is_empty());
    assert_eq!(seen["found"], json!([rows(&found), format!("{} of 5 topics", found.len())]));
    assert_eq!(seen["none"], json!([[], "0 of 5 topics"]));
    order.sort_by(|a, b| b["weight"].as_f64().unwrap().total_cmp(&a["weight"].as_f64().unwrap()));
    assert_eq!(seen["sorted"]["weight"], rows(&order));
    order.sort_by_key(|topic| topic["row"].as_u64());
    assert_eq!(seen["sorted"]["row"], rows(&order));
    // Names begin with one of two attacks, of which the browser puts " before <.
    let key = |topic: &&Value| {
        let row = topic["row"].as_u64().unwrap() as usize;
        (row.is_multiple_of(2), (row * 7) % 40)
    };
    order.sort_by_key(key);
    assert_eq!(seen["sorted"]["name"], rows(&order));
}

fn check_rows(seen: &Value, topics: &[Value], wanted: u64) {
    let clicked = seen["clicked"].as_array().unwrap();
    let lines = |place: &Value| -> Vec<u64> {
        place[1].as_array().unwrap().iter().filter_map(Value::as_u64).collect()
    };
    let (start, error) = (lines(&seen["start"]), lines(&clicked[0]));
    assert_eq!((&seen["start"][0], &clicked[0][0]), (&json!("descending"), &json!("ascending")));
    // Hott rows have no error: last at the start, first when turned round.
    let hott: BTreeSet<u64> = topics.iter().filter_map(|topic| topic["row"].as_u64()).collect();
    assert_eq!(start[35..].iter().copied().collect::<BTreeSet<_>>(), hott);
    assert_eq!(error[..5].iter().copied().collect::<BTreeSet<_>>(), hott);
    assert_eq!(error[39], start[0]);
    let rising: Vec<u64> = (0..40).collect();
    assert_eq!((&clicked[1][0], lines(&clicked[1])), (&json!("ascending"), rising.clone()));
    let falling: Vec<u64> = rising.iter().rev().copied().collect();
    assert_eq!((&clicked[2][0], lines(&clicked[2])), (&json!("descending"), falling));
    let mut by_name = rising;
    by_name.sort_by_key(|row| (row.is_multiple_of(2), (row * 7) % 40));
    assert_eq!((&clicked[3][0], lines(&clicked[3])), (&json!("ascending"), by_name));
    assert_eq!((&clicked[4][0], &seen["one_sorted"]), (&json!("descending"), &json!(1)));
    let found = seen["rows"][0].as_array().unwrap();
    assert!(found.contains(&json!(wanted)) && found.len() < 40, "{found:?}");
    assert_eq!(seen["rows"][1], format!("{} of 40 rows", found.len()));
}

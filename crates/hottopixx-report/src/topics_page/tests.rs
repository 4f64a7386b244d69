//! The page as a whole: complete, closed, escaped.

use super::page;
use crate::html::tests::{check_elements, check_self_contained};
use crate::topics::{TopicsRun, TopicsSummary};
use hottopixx::matrix::Dense;
use hottopixx::text::{Corpus, StopWords};
use hottopixx::topics::{TopicModel, Topics};

const NASTY: &str =
    "\"'></td></script><script>window.hacked=1</script><img src=x onerror=hack()>\u{202e}";

/// Three topics of five words, sixty documents; the first topic is twice as frequent.
fn model_of(names: &[String]) -> TopicModel {
    let topic = |d: usize| (d % 4).min(2);
    let rows: Vec<Vec<f64>> = (0..60)
        .map(|d| {
            let count = |w: usize| match w / 5 == topic(d) {
                true => (1 + (d + w) % 3) as f64,
                false => f64::from(u8::from((d * 7 + w).is_multiple_of(11))),
            };
            (0..15).map(count).collect()
        })
        .collect();
    let counts = Dense::from_rows(&rows).unwrap().into();
    let corpus = Corpus::from_counts(&counts, Some(names), &StopWords::None).unwrap();
    Topics::new(3).fit(&corpus).unwrap()
}

pub(crate) fn model() -> TopicModel {
    let names =
        "oil price barrel opec crude court judge trial verdict jury goal match team league cup";
    model_of(&names.split(' ').map(str::to_owned).collect::<Vec<_>>())
}

fn summary_of(model: &TopicModel, title: &str) -> TopicsSummary {
    let titles: Vec<String> = (0..60).map(|d| format!("{title} {d}")).collect();
    let run = TopicsRun {
        input: format!("{title}.csv"),
        load: 0.1,
        total: 1.0,
        peak_memory_bytes: Some(1 << 24),
        predicted_memory_bytes: None,
        threads: 2,
        seed: 0,
    };
    TopicsSummary::new(model, &titles, run)
}

pub(crate) fn summary() -> TopicsSummary {
    summary_of(&model(), "prices & news")
}

fn dates() -> Vec<String> {
    (0..60).map(|d| format!("{}-{:02}", 1999 + d / 30, 1 + d % 12)).collect()
}

#[test]
fn the_page_is_complete_and_asks_for_nothing() {
    let (model, dates) = (model(), dates());
    let mut summary = summary();
    summary.advice = vec!["Give <more> documents.".into()];
    let text = page(&model, &summary, Some(&dates), "hottopixx topics 'x & y' --rank 3");
    for part in [
        "3 topics of prices &amp; news.csv",
        "60 documents with",
        "Give &lt;more&gt; documents",
        "Map of topics",
        "Topics at a glance",
        "Topics over time",
        "class=\"spark\"",
        "How alike topics are",
        "Typical documents",
        "perplexity",
        "&#39;x &amp; y&#39; --rank 3",
    ] {
        assert!(text.contains(part), "{part}");
    }
    assert_eq!(text.matches("<circle").count(), 3);
    assert_eq!(text.matches("<section id=\"topic-").count(), 3);
    for word in ["oil", "verdict", "league"] {
        assert!(text.contains(&format!("<bdi>{word}</bdi>")), "{word}");
    }
    check_elements(&text);
    check_self_contained(&text);
    assert_eq!(text, page(&model, &summary, Some(&dates), "hottopixx topics 'x & y' --rank 3"));
}

#[test]
fn without_dates_there_is_no_time() {
    for dates in [None, Some(&["soon".to_owned()][..])] {
        let text = page(&model(), &summary(), dates, "x");
        assert!(!text.contains("over time") && !text.contains("class=\"spark\""));
    }
}

#[test]
fn names_with_markup_in_them_stay_text() {
    let names: Vec<String> = (0..15).map(|w| format!("{NASTY}{w}")).collect();
    let model = model_of(&names);
    let mut summary = summary_of(&model, NASTY);
    summary.notes = vec![NASTY.into()];
    summary.advice = vec![NASTY.into()];
    let harmless = page(&self::model(), &self::summary(), None, "x").matches("<script").count();
    let text = page(&model, &summary, Some(&dates()), NASTY);
    assert_eq!(text.matches("<script").count(), harmless);
    assert_eq!(text.matches("</script>").count(), harmless);
    assert!(!text.contains("<img") && text.matches("&lt;img").count() > 20);
    assert!(!text.contains('\u{202e}'));
    check_elements(&text);
}

#[test]
fn one_topic_is_a_page_too() {
    let names: Vec<String> = (0..15).map(|w| format!("w{w}")).collect();
    let rows: Vec<Vec<f64>> =
        (0..40).map(|d| (0..15).map(|w| ((d + w) % 3) as f64).collect()).collect();
    let counts = Dense::from_rows(&rows).unwrap().into();
    let corpus = Corpus::from_counts(&counts, Some(&names), &StopWords::None).unwrap();
    let model = Topics::new(1).fit(&corpus).unwrap();
    let text = page(&model, &summary_of(&model, "t"), None, "x");
    assert!(
        text.contains("1 topic of t.csv") && !text.contains("How alike") && !text.contains("NaN")
    );
    check_elements(&text);
}

//! `report.html` of `topics`: a topic model as one page. A single file that asks the network for nothing,
//! follows the reader's light or dark setting, prints well, and escapes every name that came from the data.
//! A small script lets the reader choose a topic on the map and see its words; without it the table of topics
//! and the cards say the same.

mod cards;
mod dates;
mod map;
mod periods;
mod scaling;
mod similar;
mod words;

use crate::page::{escape, facts, how_made, shell, stopped_early};
use crate::text::{count, grouped, size};
use crate::topics::{TopicsSeconds, TopicsSummary, WordShare};
use cards::More;
use hottopixx::topics::{Measure, TopicModel};
use periods::Periods;
use std::fmt::Write as _;

const SCRIPT: &str = concat!(include_str!("../report.js"), include_str!("topics.js"));
const STYLE: &str = include_str!("topics.css");
/// How much exclusive words count against frequent ones.
const FREX: f64 = 0.5;
/// Words that are frequent and exclusive.
const FREX_WORDS: usize = 10;

/// The page of a model and its summary. `dates`, one for each document and as they were written, make the
/// part on topics over time; `command` is the command line that made it.
pub fn page(
    model: &TopicModel,
    summary: &TopicsSummary,
    dates: Option<&[String]>,
    command: &str,
) -> String {
    let title = format!("{} of {}", count(summary.rank, "topic"), summary.input);
    let similarity = model.similarity();
    let periods = dates.and_then(|dates| Periods::new(dates, &model.shares));
    let frex = |k: usize| {
        let words = model.top_words(k, FREX_WORDS, Measure::Frex(FREX));
        let share = |(w, probability): (usize, f64)| WordShare {
            word: model.words[w].clone(),
            probability,
        };
        words.into_iter().map(share).collect()
    };
    let frex = (0..model.rank()).map(frex).collect();

    let mut body = format!("<h1>{}</h1>\n", escape(&title));
    lead(&mut body, summary);
    body.push_str("<h2 id=\"map\">Map of topics</h2>\n<div class=\"explore\">\n");
    map::map(&mut body, &summary.topics, &similarity);
    words::words(&mut body, model);
    body.push_str("</div>\n");
    cards::glance(&mut body, summary);
    if let Some(periods) = &periods {
        periods.chart(&mut body, summary);
    }
    cards::cards(
        &mut body,
        summary,
        &More { similarity: &similarity, frex, periods: periods.as_ref() },
    );
    similar::similar(&mut body, summary, &similarity);
    numbers(&mut body, summary);
    how(&mut body, summary, command);
    shell(&title, &body, STYLE, SCRIPT)
}

/// What was read and chosen, and what the reader may want to change.
fn lead(out: &mut String, s: &TopicsSummary) {
    let _ = writeln!(
        out,
        "<p class=\"lead\">{} with {} of {}.</p>",
        count(s.documents, "document"),
        count(s.tokens as usize, "occurrence"),
        count(s.words, "word")
    );
    stopped_early(out, s.stop);
    for advice in &s.advice {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", escape(advice));
    }
    if !s.notes.is_empty() {
        out.push_str("<ul class=\"chosen\">\n");
        for note in &s.notes {
            let _ = writeln!(out, "<li>{}</li>", escape(note));
        }
        out.push_str("</ul>\n");
    }
}

/// How good the model is, with what the numbers mean.
fn numbers(out: &mut String, s: &TopicsSummary) {
    out.push_str("<h2>How well the topics explain the documents</h2>\n<dl class=\"meant\">\n");
    let mut entry = |name: &str, value: String, meaning: &str| {
        let _ = writeln!(
            out,
            "<div><dt>{name}</dt><dd>{value} <span class=\"small\">{meaning}</span></dd></div>"
        );
    };
    entry(
        "perplexity",
        format!("{:.0}", s.perplexity),
        "the model is as unsure about a word of a document as about this many equally likely ones; less is \
         better, and only models of the same words compare",
    );
    entry(
        "by the anchors alone",
        format!("{:.0}", s.anchored_perplexity),
        &format!("before {}", count(s.steps, "EM step")),
    );
    entry(
        "error of the anchors",
        format!("{:.3}", s.error.weighted_l1),
        "how far words are from mixtures of the anchors, each counting as often as it occurs: 0 is perfect, 1 \
         explains nothing",
    );
    entry(
        "the same over words",
        format!("{:.3}", s.error.mean_l1),
        "rare words and their noise count as much as others",
    );
    if let Some(bound) = &s.bound {
        let meaning = format!(
            "over the {} most frequent words that may name a topic, by exact fits; no choice of {} among them \
             leaves less than {:.3}, which is proven",
            bound.words,
            count(s.rank, "word"),
            bound.lower_bound
        );
        entry("the same over frequent words", format!("{:.3}", bound.mean_l1), &meaning);
    }
    entry("documents left out", grouped(s.empty_documents), "they have no word of the vocabulary");
    out.push_str("</dl>\n");
}

fn how(out: &mut String, s: &TopicsSummary, command: &str) {
    how_made(out, command);
    let TopicsSeconds { load, steps, total } = &s.seconds;
    let time = format!(
        "{total:.2} s on {}: load {load:.2}, co-occurrence {:.2}, anchors {:.2}, polish {:.2}",
        count(s.threads, "thread"),
        steps.cooccurrence,
        steps.anchors,
        steps.polish
    );
    let entries = [
        ("words kept", format!("those in at least {}", count(s.min_df, "document"))),
        ("names of topics", format!("words in at least {}", count(s.candidate_df, "document"))),
        ("seed", s.seed.to_string()),
        ("time", time),
        ("peak memory", s.peak_memory_bytes.map_or_else(|| "unknown".to_owned(), size)),
        ("version", format!("hottopixx {}", s.version)),
    ];
    facts(out, &entries);
}

#[cfg(test)]
pub(crate) mod tests;

//! Topics of documents as they are reported: one object for JSON, text and tables.

use crate::csv::{list, push_line};
use crate::table::{WIDTH, cut, join_fitting, plain};
use crate::text::{ending, grouped, line, sentences, wrapped};
use hottopixx::control::Stop;
use hottopixx::matrix::Dense;
use hottopixx::topics::{AnchorBound, Measure, TopicErrors, TopicModel, TopicSeconds};
use serde::Serialize;
use std::io;

/// Words that a topic is shown with.
const WORDS: usize = 15;
/// Documents that a topic is shown with.
const TYPICAL: usize = 5;

/// A word and its p(word | topic).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WordShare {
    /// The word.
    pub word: String,
    /// p(word | topic).
    pub probability: f64,
}

/// A document that shows a topic.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TypicalDocument {
    /// Its number, from 0.
    pub document: usize,
    /// Its title.
    pub title: String,
    /// How much of it the topic is.
    pub share: f64,
}

/// One topic.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TopicSummary {
    /// What names it: its anchor.
    pub name: String,
    /// Whether the caller gave the anchor.
    pub given: bool,
    /// Words that could stand in the anchor's place.
    pub stand_ins: Vec<String>,
    /// Its share of all tokens.
    pub share: f64,
    /// NPMI of the ten words that it is shown with against the corpus.
    pub coherence: f64,
    /// The words that tell its documents from others, by their keyness.
    pub words: Vec<WordShare>,
    /// The most probable words.
    pub probable: Vec<WordShare>,
    /// Documents that show it best.
    pub typical: Vec<TypicalDocument>,
}

/// What is said about a topic model: the object of `--json` and `summary.json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TopicsSummary {
    /// The input as the user named it.
    pub input: String,
    /// Documents.
    pub documents: usize,
    /// Documents without a word of the vocabulary.
    pub empty_documents: usize,
    /// Words of the vocabulary.
    pub words: usize,
    /// Tokens of these words.
    pub tokens: f64,
    /// Number of topics.
    pub rank: usize,
    /// The topics, the most frequent first.
    pub topics: Vec<TopicSummary>,
    /// How well the anchors explain the words.
    pub error: TopicErrors,
    /// What the anchors leave of the most frequent words, and what any other choice does.
    pub bound: Option<AnchorBound>,
    /// Perplexity after the polish.
    pub perplexity: f64,
    /// Perplexity with the topics of the anchors.
    pub anchored_perplexity: f64,
    /// EM steps taken.
    pub steps: usize,
    /// Words in fewer documents were set aside.
    pub min_df: usize,
    /// Words in fewer documents name no topic.
    pub candidate_df: usize,
    /// What was chosen and why.
    pub notes: Vec<String>,
    /// What the user may want to change.
    pub advice: Vec<String>,
    /// Why the computation ended.
    pub stop: Stop,
    /// Time spent.
    pub seconds: TopicsSeconds,
    /// The most memory that was in use, where the system tells.
    pub peak_memory_bytes: Option<u64>,
    /// The most that it could be, worked out before.
    pub predicted_memory_bytes: Option<u64>,
    /// Threads in use.
    pub threads: usize,
    /// The seed.
    pub seed: u64,
    /// The version of the program.
    pub version: String,
}

/// Seconds of each step.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct TopicsSeconds {
    /// Reading and counting.
    pub load: f64,
    /// The steps of the model.
    #[serde(flatten)]
    pub steps: TopicSeconds,
    /// From the start of the program.
    pub total: f64,
}

/// What a summary says beside the model: the run.
#[derive(Debug, Clone, PartialEq)]
pub struct TopicsRun {
    /// The input as the user named it.
    pub input: String,
    /// Seconds of reading and counting.
    pub load: f64,
    /// Seconds from the start of the program.
    pub total: f64,
    /// The most memory that was in use.
    pub peak_memory_bytes: Option<u64>,
    /// The most that it could be, worked out before.
    pub predicted_memory_bytes: Option<u64>,
    /// Threads in use.
    pub threads: usize,
    /// The seed.
    pub seed: u64,
}

impl TopicsSummary {
    /// Puts a model in words; `titles` has one for each document.
    pub fn new(model: &TopicModel, titles: &[String], run: TopicsRun) -> Self {
        TopicsSummary {
            documents: model.shares.rows(),
            empty_documents: model.empty_documents,
            words: model.words.len(),
            tokens: model.tokens.iter().sum(),
            rank: model.rank(),
            topics: (0..model.rank()).map(|k| topic(model, k, titles)).collect(),
            error: model.errors,
            bound: model.bound,
            perplexity: model.perplexity,
            anchored_perplexity: model.anchored_perplexity,
            steps: model.steps,
            min_df: model.min_df,
            candidate_df: model.candidate_df,
            notes: model.notes.clone(),
            advice: model.advice.clone(),
            stop: model.stop,
            seconds: TopicsSeconds { load: run.load, steps: model.seconds, total: run.total },
            input: run.input,
            peak_memory_bytes: run.peak_memory_bytes,
            predicted_memory_bytes: run.predicted_memory_bytes,
            threads: run.threads,
            seed: run.seed,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

fn topic(model: &TopicModel, k: usize, titles: &[String]) -> TopicSummary {
    let words = |measure| -> Vec<WordShare> {
        let share = |(w, probability): (usize, f64)| WordShare {
            word: model.words[w].clone(),
            probability,
        };
        model.top_words(k, WORDS, measure).into_iter().map(share).collect()
    };
    let anchor = &model.anchors[k];
    TopicSummary {
        name: anchor.name.clone(),
        given: anchor.given,
        stand_ins: anchor.stand_ins.iter().map(|&w| model.words[w].clone()).collect(),
        share: model.proportions[k],
        coherence: model.coherence[k],
        words: words(Measure::Keyness),
        probable: words(Measure::Probability),
        typical: model.typical[k]
            .iter()
            .take(TYPICAL)
            .map(|&d| TypicalDocument {
                document: d,
                title: titles.get(d).cloned().unwrap_or_default(),
                share: model.shares.row(d)[k],
            })
            .collect(),
    }
}

/// The topics for a terminal of 80 columns: two lines each, then what was chosen and how it went.
pub fn text(summary: &TopicsSummary) -> String {
    let s = summary;
    let mut out = format!("hottopixx {}\n", s.version);
    line(&mut out, "input", &plain(&s.input));
    let size_line = format!(
        "{} documents, {} words, {} tokens",
        grouped(s.documents),
        grouped(s.words),
        grouped(s.tokens as usize)
    );
    line(&mut out, "size", &size_line);
    out.push('\n');
    let widest = s.topics.iter().map(|t| t.name.chars().count()).max().unwrap_or(0).clamp(5, 20);
    out.push_str(&format!(
        "{:>5}  {:<widest$}  share  coherence  words and a typical document\n",
        "topic", "name"
    ));
    let indent = 5 + 2 + widest + 2 + 5 + 2 + 9 + 2;
    for (k, topic) in s.topics.iter().enumerate() {
        let words: Vec<String> = topic.words.iter().map(|w| plain(&w.word)).collect();
        let name = cut(&plain(&topic.name), widest);
        let pad = " ".repeat(widest.saturating_sub(name.chars().count()));
        out.push_str(&format!(
            "{:>5}  {name}{pad}  {:>4.1}%  {:>9.3}  {}\n",
            k + 1,
            100.0 * topic.share,
            topic.coherence,
            join_fitting(&words, " ", WIDTH - indent)
        ));
        if let Some(document) = topic.typical.first().filter(|d| !d.title.is_empty()) {
            let title = cut(&plain(&document.title), WIDTH - indent - 2);
            out.push_str(&format!("{:indent$}“{title}”\n", ""));
        }
    }
    out.push('\n');
    out.push_str(&facts(s));
    out
}

/// What the anchors leave, and what no choice can do better than.
pub(crate) fn bound_sentence(bound: &AnchorBound, rank: usize) -> String {
    let words = match rank {
        1 => "no other word".to_owned(),
        n => format!("no {n} of them"),
    };
    format!(
        "the anchors leave a mean error of {:.3} of {} frequent words, {words} less than {:.3}",
        bound.mean_l1, bound.words, bound.lower_bound
    )
}

/// Errors, what was chosen, advice, time.
fn facts(s: &TopicsSummary) -> String {
    let mut out = String::new();
    let error = format!(
        "{:.3} weighted by frequency, {:.3} over words (l1, by the anchors)",
        s.error.weighted_l1, s.error.mean_l1
    );
    line(&mut out, "error", &error);
    if let Some(bound) = &s.bound {
        for (k, text) in wrapped(&bound_sentence(bound, s.rank), WIDTH - 10).iter().enumerate() {
            line(&mut out, if k == 0 { "bound" } else { "" }, text);
        }
    }
    let perplexity = format!(
        "{:.0}, by the anchors alone {:.0}; {} EM steps",
        s.perplexity, s.anchored_perplexity, s.steps
    );
    line(&mut out, "perplexity", &format!(" {perplexity}"));
    sentences(&mut out, "chosen", &s.notes);
    sentences(&mut out, "advice", &s.advice);
    let TopicsSeconds { load, steps, total } = &s.seconds;
    let time = format!(
        "{total:.2} s: load {load:.2}, co-occurrence {:.2}, anchors {:.2}, polish {:.2}",
        steps.cooccurrence, steps.anchors, steps.polish
    );
    line(&mut out, "time", &time);
    ending(&mut out, s.peak_memory_bytes, s.stop);
    out
}

/// `topics.csv`: header `topic,name,share,coherence,words,stand_ins,typical`; topics from 1, lists
/// separated by `;`.
pub fn topics_csv(summary: &TopicsSummary) -> String {
    let mut out = String::from("topic,name,share,coherence,words,stand_ins,typical\n");
    for (k, topic) in summary.topics.iter().enumerate() {
        let words: Vec<&str> = topic.words.iter().map(|w| w.word.as_str()).collect();
        let typical: Vec<&str> = topic.typical.iter().map(|d| d.title.as_str()).collect();
        let cells = [
            (k + 1).to_string(),
            topic.name.clone(),
            format!("{:.4}", topic.share),
            format!("{:.4}", topic.coherence),
            list(&words),
            list(&topic.stand_ins),
            list(&typical),
        ];
        push_line(&mut out, &cells);
    }
    out
}

/// `documents.csv`: number from 1, title, date where there are dates, the strongest topic, and the share
/// of every topic with four digits. Line by line: all of it can be larger than the shares.
///
/// # Errors
/// What `out` says.
pub fn documents_csv(
    out: &mut dyn io::Write,
    names: &[String],
    titles: &[String],
    dates: Option<&[String]>,
    shares: &Dense,
) -> io::Result<()> {
    let mut text = String::new();
    let mut header = vec!["document".to_owned(), "title".to_owned()];
    header.extend(dates.map(|_| "date".to_owned()));
    header.push("strongest".to_owned());
    header.extend_from_slice(names);
    push_line(&mut text, &header);
    out.write_all(text.as_bytes())?;
    for d in 0..shares.rows() {
        let row = shares.row(d);
        let best = (0..row.len()).fold(0, |best, k| if row[k] > row[best] { k } else { best });
        let mut cells = vec![(d + 1).to_string(), titles.get(d).cloned().unwrap_or_default()];
        cells.extend(dates.map(|dates| dates.get(d).cloned().unwrap_or_default()));
        cells.push(names.get(best).cloned().unwrap_or_default());
        cells.extend(row.iter().map(|v| format!("{v:.4}")));
        text.clear();
        push_line(&mut text, &cells);
        out.write_all(text.as_bytes())?;
    }
    Ok(())
}

/// Probabilities below are what steps of EM have not quite made zero.
const NOTHING: f64 = 1e-12;

/// `words.csv`: every word, how often it occurs and in how many documents, and p(word | topic) of every
/// topic.
pub fn words_csv(model: &TopicModel) -> String {
    let mut out = String::new();
    let mut header: Vec<String> = ["word", "tokens", "documents"].map(str::to_owned).to_vec();
    header.extend(model.anchors.iter().map(|anchor| anchor.name.clone()));
    push_line(&mut out, &header);
    for (w, word) in model.words.iter().enumerate() {
        let mut cells =
            vec![word.clone(), model.tokens[w].to_string(), model.documents[w].to_string()];
        cells.extend((0..model.rank()).map(|k| match model.topics.row(k)[w] {
            p if p < NOTHING => "0".to_owned(),
            p => format!("{p:.4e}"),
        }));
        push_line(&mut out, &cells);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use hottopixx::text::{Corpus, StopWords};
    use hottopixx::topics::Topics;
    use unicode_width::UnicodeWidthStr;

    fn model() -> TopicModel {
        let rows: Vec<Vec<f64>> = (0..60)
            .map(|d| {
                (0..8)
                    .map(|w| f64::from(u8::from((w < 4) == (d % 2 == 0)) * (1 + (d + w) as u8 % 3)))
                    .collect()
            })
            .collect();
        let counts = Dense::from_rows(&rows).unwrap().into();
        let names = ["oil", "price", "barrel", "opec", "court", "judge", "trial", "a \"law\""]
            .map(str::to_owned);
        let corpus = Corpus::from_counts(&counts, Some(&names), &StopWords::None).unwrap();
        Topics::new(2).fit(&corpus).unwrap()
    }

    fn summary() -> TopicsSummary {
        let titles: Vec<String> = (0..60).map(|d| format!("title, {d}")).collect();
        let run = TopicsRun {
            input: "news.csv".into(),
            load: 0.1,
            total: 1.0,
            peak_memory_bytes: Some(1 << 24),
            predicted_memory_bytes: Some(1 << 25),
            threads: 2,
            seed: 0,
        };
        TopicsSummary::new(&model(), &titles, run)
    }

    #[test]
    fn text_fits_the_terminal() {
        let mut summary = summary();
        summary.topics[0].name = "n".repeat(50);
        summary.topics[0].words[0].word = "w".repeat(90);
        summary.topics[0].typical[0].title = "日本".repeat(60);
        let text = text(&summary);
        assert!(text.lines().all(|line| line.width() <= WIDTH), "{text}");
        assert!(
            text.contains("60 documents, 8 words") && text.contains("weighted by frequency"),
            "{text}"
        );
        assert!(text.contains("“title, "), "{text}");
    }

    #[test]
    fn tables_have_a_line_for_each() {
        let (model, summary) = (model(), summary());
        assert_eq!(topics_csv(&summary).lines().count(), 3);
        assert!(words_csv(&model).contains("\n\"a \"\"law\"\"\","));
        let names: Vec<String> = summary.topics.iter().map(|t| t.name.clone()).collect();
        let csv = |titles: &[String], dates: Option<&[String]>| {
            let mut bytes = Vec::new();
            documents_csv(&mut bytes, &names, titles, dates, &model.shares).unwrap();
            String::from_utf8(bytes).unwrap()
        };
        let table = csv(&["x,y".to_owned()], None);
        let lines: Vec<&str> = table.lines().collect();
        let quoted = |name: &String| match name.contains('"') {
            true => format!("\"{}\"", name.replace('"', "\"\"")),
            false => name.clone(),
        };
        let heads: Vec<String> = names.iter().map(quoted).collect();
        assert_eq!(lines.len(), 61);
        assert_eq!(lines[0], format!("document,title,strongest,{}", heads.join(",")));
        assert!(lines[1].starts_with("1,\"x,y\","), "{}", lines[1]);
        let dated = csv(&[], Some(&["2001".to_owned()]));
        assert!(dated.starts_with("document,title,date,strongest") && dated.contains("\n1,,2001,"));
    }
}

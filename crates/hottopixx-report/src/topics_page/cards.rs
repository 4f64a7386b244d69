//! Topics in words: a table of all at a glance, and a card for each.

use super::periods::Periods;
use crate::page::{bar_table, escape};
use crate::text::percent;
use crate::topics::{TopicSummary, TopicsSummary, WordShare};
use hottopixx::matrix::Dense;
use std::fmt::Write as _;

/// Words in the table.
const GLANCE: usize = 8;
/// Words with bars in a card.
const BARS: usize = 10;
/// A topic is said to be like another from this on.
const ALIKE: f64 = 0.3;

/// Hidden until the script makes it work.
const CONTROLS: &str = "<p class=\"controls\" hidden>\n\
    <label>Search <input type=\"search\" id=\"topic-search\" autocomplete=\"off\" \
    placeholder=\"name, word or title\"></label>\n\
    <label>Sort by <select id=\"topic-sort\" autocomplete=\"off\"><option value=\"found\">share</option>\
    <option value=\"name\">name</option><option value=\"coherence\">coherence</option></select></label>\n\
    <output id=\"topic-count\"></output>\n</p>\n";

/// All topics, a line each.
pub(super) fn glance(out: &mut String, s: &TopicsSummary) {
    out.push_str(
        "<h2 id=\"glance\">Topics at a glance</h2>\n<div class=\"wide\">\n<table class=\"plain glance\">\n\
         <thead><tr><th class=\"number\" scope=\"col\">topic</th><th scope=\"col\">name</th>\
         <th class=\"number\" scope=\"col\">share</th><th class=\"number coherence\" scope=\"col\">coherence</th>\
         <th scope=\"col\">words that tell it from the others</th></tr></thead>\n<tbody>\n",
    );
    for (k, topic) in s.topics.iter().enumerate() {
        let number = k + 1;
        let _ = writeln!(
            out,
            "<tr><td class=\"number\">{number}</td><td class=\"words\"><a href=\"#topic-{number}\">{}</a></td>\
             <td class=\"number\">{} %</td><td class=\"number coherence\">{:.3}</td><td class=\"list\">{}</td></tr>",
            name(&topic.name),
            percent(topic.share),
            topic.coherence,
            list(&topic.words, GLANCE)
        );
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
}

/// What the cards show beside the summary.
pub(super) struct More<'a> {
    pub similarity: &'a Dense,
    /// The frequent and exclusive words of each topic.
    pub frex: Vec<Vec<WordShare>>,
    pub periods: Option<&'a Periods>,
}

/// A card for each topic.
pub(super) fn cards(out: &mut String, s: &TopicsSummary, more: &More<'_>) {
    let _ = write!(
        out,
        "<h2>Topics</h2>\n<p>A topic is named by its anchor, a word that belongs to it alone. Bars show the \
         words that tell it from the others, with their probability in the topic. <em>Coherence</em> says \
         how often its first ten words meet in documents (NPMI): 0 is chance, 1 always together, -1 \
         never; topics below 0 are rarely of use.</p>\n{CONTROLS}<div class=\"topics about\">\n"
    );
    (0..s.topics.len()).for_each(|k| card(out, s, k, more));
    out.push_str("</div>\n");
}

fn card(out: &mut String, s: &TopicsSummary, k: usize, more: &More<'_>) {
    let topic = &s.topics[k];
    let number = k + 1;
    let others: Vec<String> = topic.stand_ins.iter().map(|word| name(word)).collect();
    let also: Vec<String> = also(topic).map(escape).collect();
    let _ = write!(
        out,
        "<section id=\"topic-{number}\" data-name=\"{}\" data-coherence=\"{}\" data-also=\"{}\">\n\
         <h3><span>{number}</span> {}</h3>\n<p class=\"small\">{} % of the corpus, coherence {:.3}; anchor {}",
        escape(&topic.name),
        topic.coherence,
        also.join("\n"),
        name(&topic.name),
        percent(topic.share),
        topic.coherence,
        if topic.given { "given" } else { "found" },
    );
    if !others.is_empty() {
        let _ = write!(out, ", could as well be {}", others.join(", "));
    }
    out.push_str(".</p>\n");
    let bars = topic.words.iter().take(BARS).map(|w| (None, w.word.clone(), w.probability));
    bar_table(out, ["word", "probability"], bars);
    let _ = writeln!(
        out,
        "<p class=\"small\"><b>Most probable:</b> {}</p>\n<p class=\"small\"><b>Frequent and exclusive:</b> {}</p>",
        list(&topic.probable, BARS),
        list(&more.frex[k], BARS)
    );
    alike(out, s, k, more.similarity);
    if let Some(periods) = more.periods {
        periods.spark(out, k);
    }
    documents(out, topic);
    out.push_str("</section>\n");
}

/// What a search finds a card by beside its name and bars.
fn also(topic: &TopicSummary) -> impl Iterator<Item = &str> {
    let words = topic.probable.iter().map(|w| w.word.as_str());
    let titles = topic.typical.iter().map(|d| d.title.as_str());
    topic.stand_ins.iter().map(String::as_str).chain(words).chain(titles)
}

/// The topic that has most in common with this one, where that is much.
fn alike(out: &mut String, s: &TopicsSummary, k: usize, similarity: &Dense) {
    let row = similarity.row(k);
    let others = (0..row.len()).filter(|&l| l != k);
    let best = others.max_by(|&a, &b| row[a].total_cmp(&row[b]).then(b.cmp(&a)));
    if let Some(l) = best.filter(|&l| row[l] >= ALIKE) {
        let _ = writeln!(
            out,
            "<p class=\"small\"><b>Most like:</b> <a href=\"#topic-{}\">{} {}</a> ({:.2})</p>",
            l + 1,
            l + 1,
            name(&s.topics[l].name),
            row[l]
        );
    }
}

fn documents(out: &mut String, topic: &TopicSummary) {
    if topic.typical.is_empty() {
        return;
    }
    out.push_str("<h4>Typical documents</h4>\n<ol class=\"documents\">\n");
    for document in &topic.typical {
        let title = match document.title.trim() {
            "" => format!("document {}", document.document + 1),
            title => title.to_owned(),
        };
        let _ = writeln!(
            out,
            "<li value=\"{}\">{} <span class=\"number\">{:.0} %</span></li>",
            document.document + 1,
            name(&title),
            100.0 * document.share
        );
    }
    out.push_str("</ol>\n");
}

/// A name from the data, which must not turn round the text beside it.
fn name(text: &str) -> String {
    format!("<bdi>{}</bdi>", escape(text))
}

fn list(words: &[WordShare], most: usize) -> String {
    words.iter().take(most).map(|w| name(&w.word)).collect::<Vec<_>>().join(", ")
}

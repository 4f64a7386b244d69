//! Words of the chosen topic as bars: how often they occur in the corpus, and how many of these times the
//! topic accounts for.
//!
//! The script draws them; it reads the numbers and, for each stop of the slider, the order of the words from
//! a block of JSON, so that it ranks nothing itself. Without it this part stays hidden.

use crate::page::escape;
use crate::table::plain;
use hottopixx::topics::{Measure, TopicModel, USUAL_LAMBDA};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Bars that are shown.
const BARS: usize = 20;
/// The slider goes from 0 to 1 in this many steps.
const STEPS: usize = 10;

/// What the script reads.
#[derive(Serialize)]
struct Data {
    /// Words that any bar shows, with how often each occurs.
    words: Vec<(String, f64)>,
    /// How often all words of the vocabulary occur together.
    tokens: f64,
    topics: Vec<TopicData>,
}

#[derive(Serialize)]
struct TopicData {
    name: String,
    share: f64,
    /// Places in the list of words, with p(word | topic).
    words: Vec<(usize, f64)>,
    /// For each stop of the slider, places in the list above, the most relevant first; the last is the order
    /// without it, by keyness.
    orders: Vec<Vec<usize>>,
}

/// The part of the page, hidden until the script fills it, and the numbers.
pub(super) fn words(out: &mut String, model: &TopicModel) {
    let _ = write!(
        out,
        "<section class=\"words\" id=\"topic-words\" aria-live=\"polite\" hidden>\n\
         <h3><span id=\"words-number\"></span> <bdi id=\"words-name\"></bdi></h3>\n\
         <p class=\"small\"><span id=\"words-share\"></span> of the corpus · <a id=\"words-card\" href=\"#\">all about \
         this topic</a></p>\n\
         <p class=\"controls\"><label>Topic <select id=\"words-topic\">{}</select></label>\n\
         <label>Order <select id=\"words-order\" autocomplete=\"off\"><option value=\"key\">by documents</option>\
         <option value=\"relevance\">by relevance λ</option></select></label>\n\
         <label>λ <input type=\"range\" id=\"relevance\" min=\"0\" max=\"1\" step=\"{}\" \
         value=\"{USUAL_LAMBDA}\" autocomplete=\"off\"> <output id=\"relevance-value\" for=\"relevance\"></output>\
         </label></p>\n\
         <p class=\"small\"><span class=\"key\"></span> in the corpus \
         <span class=\"key own\"></span> of these, in this topic (estimated)</p>\n\
         <table class=\"pairs\">\n<thead><tr><th scope=\"col\">word</th><th scope=\"col\">occurrences</th>\
         <th scope=\"col\" class=\"number\">topic</th><th scope=\"col\" class=\"number\">corpus</th></tr></thead>\n\
         <tbody id=\"word-bars\"></tbody>\n</table>\n\
         <p class=\"small\">By documents, words come first that documents of this topic have much more often than \
         others; by relevance, λ = 1 ranks words by how often the topic uses them, λ = 0 by how much more often \
         than the corpus; {USUAL_LAMBDA} is easiest to read.</p>\n</section>\n\
         <script type=\"application/json\" id=\"topic-data\">{}</script>\n",
        options(model),
        1.0 / STEPS as f64,
        json(model)
    );
}

fn options(model: &TopicModel) -> String {
    let option = |(k, anchor): (usize, &hottopixx::topics::Anchor)| {
        format!("<option value=\"{k}\">{} {}</option>", k + 1, escape(&anchor.name))
    };
    model.anchors.iter().enumerate().map(option).collect()
}

/// The numbers as JSON in which nothing can end the element: `<`, `>` and `&` are written by their codes.
fn json(model: &TopicModel) -> String {
    let text = serde_json::to_string(&data(model)).expect("numbers and strings");
    text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

fn data(model: &TopicModel) -> Data {
    let orders: Vec<Vec<Vec<usize>>> = (0..model.rank()).map(|k| orders(model, k)).collect();
    // Words in the order of the vocabulary, numbered anew.
    let mut places: BTreeMap<usize, usize> =
        orders.iter().flatten().flatten().map(|&word| (word, 0)).collect();
    places.values_mut().enumerate().for_each(|(place, at)| *at = place);
    let words = places.keys().map(|&w| (plain(&model.words[w]), model.tokens[w])).collect();
    let topics = orders.iter().enumerate().map(|(k, orders)| topic(model, k, orders, &places));
    Data { words, tokens: model.tokens.iter().sum(), topics: topics.collect() }
}

/// What each order is by: relevance for every stop of the slider, then keyness.
fn measures() -> impl Iterator<Item = Measure> {
    (0..=STEPS).map(|step| Measure::Relevance(step as f64 / STEPS as f64)).chain([Measure::Keyness])
}

/// The first words of a topic in each order. O(steps words).
fn orders(model: &TopicModel, k: usize) -> Vec<Vec<usize>> {
    let order = |measure: Measure| {
        model.top_words(k, BARS, measure).into_iter().map(|(word, _)| word).collect()
    };
    measures().map(order).collect()
}

fn topic(
    model: &TopicModel,
    k: usize,
    orders: &[Vec<usize>],
    places: &BTreeMap<usize, usize>,
) -> TopicData {
    let mut own: Vec<usize> = orders.iter().flatten().copied().collect();
    own.sort_unstable();
    own.dedup();
    let place = |word: &usize| own.binary_search(word).unwrap_or(0);
    TopicData {
        name: plain(&model.anchors[k].name),
        share: five(model.proportions[k]),
        words: own.iter().map(|word| (places[word], five(model.topics.row(k)[*word]))).collect(),
        orders: orders.iter().map(|order| order.iter().map(place).collect()).collect(),
    }
}

/// Five significant digits: more would only make the page long.
fn five(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topics_page::tests::model;

    #[test]
    fn orders_are_those_of_the_model() {
        let model = model();
        let data = data(&model);
        for (k, topic) in data.topics.iter().enumerate() {
            assert_eq!(topic.orders.len(), STEPS + 2);
            for (measure, order) in measures().zip(&topic.orders) {
                let named: Vec<&str> =
                    order.iter().map(|&at| data.words[topic.words[at].0].0.as_str()).collect();
                let wanted = model.top_words(k, BARS, measure);
                let wanted: Vec<&str> =
                    wanted.iter().map(|(w, _)| model.words[*w].as_str()).collect();
                assert_eq!(named, wanted, "topic {k}, {measure:?}");
            }
        }
        assert_eq!(data.tokens, model.tokens.iter().sum::<f64>());
    }

    #[test]
    fn no_name_ends_the_block_of_numbers() {
        let mut model = model();
        model.words[0] = "</script><script>x\u{202e}&".into();
        let text = json(&model);
        assert!(!text.contains(['<', '>', '&', '\u{202e}']), "{text}");
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(read["words"].to_string().contains("</script><script>x\u{fffd}&"));
    }
}

//! The hott topics as cards.

use super::entries;
use crate::page::escape;
use crate::{Summary, Topic};
use std::fmt::Write as _;

/// Stand-ins that a card shows; searching finds the others too.
const STAND_INS: usize = 12;

/// Hidden until the script makes it work.
const CONTROLS: &str = "<p class=\"controls\" hidden>\n\
    <label>Search <input type=\"search\" id=\"topic-search\" autocomplete=\"off\" \
    placeholder=\"name or member\"></label>\n\
    <label>Sort by <select id=\"topic-sort\"><option value=\"found\">as found</option>\
    <option value=\"name\">name</option><option value=\"weight\">weight</option>\
    <option value=\"row\">row number</option></select></label>\n\
    <output id=\"topic-count\"></output>\n</p>\n";

pub(super) fn topics(out: &mut String, s: &Summary) {
    out.push_str("<h2>Topics</h2>\n<p>Each topic is a row of the data. Its members are the rows ");
    out.push_str("that lean on it most, with their weights in the units of the input.</p>\n");
    out.push_str(CONTROLS);
    out.push_str("<div class=\"topics\">\n");
    s.hott.iter().enumerate().for_each(|(k, topic)| card(out, k, topic));
    out.push_str("</div>\n");
}

fn card(out: &mut String, k: usize, topic: &Topic) {
    let name = escape(&topic.label());
    let others: Vec<String> = topic.stand_ins().iter().map(|name| escape(name)).collect();
    let number = k + 1;
    let _ = write!(
        out,
        "<section id=\"topic-{number}\" data-row=\"{row}\" data-weight=\"{weight}\" \
         data-name=\"{name}\" data-also=\"{}\">\n<h3><span>{number}</span> {title}</h3>\n\
         <p class=\"small\">row {row}, weight {weight:.3}",
        others.join("\n"),
        title = escape(&topic.title()),
        row = topic.named.hott.row,
        weight = topic.named.hott.weight,
    );
    if !others.is_empty() {
        let shown = others.iter().take(STAND_INS).cloned().collect::<Vec<_>>().join(", ");
        let more = if others.len() > STAND_INS { ", …" } else { "" };
        let _ = write!(out, "; could as well be {shown}{more}");
    }
    out.push_str("</p>\n");
    entries(out, &topic.members, "weight");
    out.push_str("</section>\n");
}

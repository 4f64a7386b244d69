//! What topics have in common, as a table in which more is darker.

use crate::page::escape;
use crate::topics::TopicsSummary;
use hottopixx::matrix::Dense;
use std::fmt::Write as _;

/// More topics than this make no table that one can read.
const MOST: usize = 40;
/// The darkest a cell may be for its number to be legible.
const DARKEST: f64 = 0.6;

/// The table; nothing for a single topic or a great many.
pub(super) fn similar(out: &mut String, s: &TopicsSummary, similarity: &Dense) {
    let rank = s.topics.len();
    if !(2..=MOST).contains(&rank) {
        return;
    }
    out.push_str(
        "<h2>How alike topics are</h2>\n<p>The sum over all words of √(p q), with p and q the word's \
         probabilities in the two topics: 0 for topics without a common word, 1 for equal ones. Two topics \
         that are very much alike may be one: ask for fewer.</p>\n\
         <div class=\"wide\">\n<table class=\"heat\">\n<thead><tr><td></td>",
    );
    for k in 1..=rank {
        let _ = write!(out, "<th scope=\"col\" class=\"number\">{k}</th>");
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for (k, topic) in s.topics.iter().enumerate() {
        let name = escape(&topic.name);
        let _ = write!(out, "<tr><th scope=\"row\"><span>{}</span> <bdi>{name}</bdi></th>", k + 1);
        for (l, &value) in similarity.row(k).iter().enumerate() {
            if l == k {
                out.push_str("<td class=\"number\">·</td>");
                continue;
            }
            let _ = write!(
                out,
                "<td class=\"number\" style=\"--heat:{:.3}\">{value:.2}</td>",
                (DARKEST * value).clamp(0.0, DARKEST)
            );
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
}

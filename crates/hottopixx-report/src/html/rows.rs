//! Errors row by row: their histogram, the worst, and a table of all.

use super::entries;
use crate::page::escape;
use crate::text::{count, grouped};
use crate::{ExplainedRow, Summary};
use std::fmt::Write as _;

/// Number of bars in the histogram of row errors.
const BINS: usize = 40;

/// How many rows have which error, which are explained worst, and all of them.
pub(super) fn rows(out: &mut String, s: &Summary) {
    histogram(out, &s.error.per_row, s.zero_rows);
    out.push_str("<h3>Rows explained worst</h3>\n<div class=\"narrow\">\n");
    entries(out, &s.worst, "error");
    out.push_str("</div>\n");
    every_row(out, s);
}

/// How many rows have which error, as an SVG; those set aside stand among the errors as zeros.
fn histogram(out: &mut String, per_row: &[f64], set_aside: usize) {
    let errors: Vec<f64> = per_row.iter().copied().filter(|e| e.is_finite()).collect();
    let top = errors.iter().copied().fold(0.0, f64::max);
    if errors.len() < 2 || top <= 0.0 {
        return;
    }
    let mut bins = [0usize; BINS];
    for error in &errors {
        bins[((error / top * BINS as f64) as usize).min(BINS - 1)] += 1;
    }
    bins[0] = bins[0].saturating_sub(set_aside);
    let most = bins.iter().copied().max().unwrap_or(1) as f64;
    out.push_str(
        "<figure>\n<svg class=\"strip\" viewBox=\"0 0 400 112\" role=\"img\" \
         aria-label=\"Histogram of row errors\">\n",
    );
    for (k, &rows) in bins.iter().enumerate().filter(|(_, rows)| **rows > 0) {
        let height = (90.0 * rows as f64 / most).max(1.0);
        let (low, high) = (top * k as f64 / BINS as f64, top * (k + 1) as f64 / BINS as f64);
        let _ = writeln!(
            out,
            "<rect x=\"{}\" y=\"{:.1}\" width=\"9\" height=\"{height:.1}\"><title>{}: error {low:.4} \
             to {high:.4}</title></rect>",
            k * 10,
            95.0 - height,
            count(rows, "row")
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"0\" y=\"109\">0</text><text x=\"400\" y=\"109\" text-anchor=\"end\">{top:.4}</text>\n\
         </svg>\n<figcaption>How many rows have which error; the tallest bar is {}.</figcaption>\n\
         </figure>",
        count(most as usize, "row")
    );
}

/// The rows with their errors and the topics they lean on, worst first.
fn every_row(out: &mut String, s: &Summary) {
    if s.rows.is_empty() {
        return;
    }
    let all = s.features.saturating_sub(s.zero_rows);
    let shown = if s.rows.len() < all {
        format!("the {} rows explained worst, of {}", grouped(s.rows.len()), grouped(all))
    } else {
        format!("all {}", count(all, "row"))
    };
    let aside = match s.zero_rows {
        0 => String::new(),
        n => format!(", without {} that {} set aside", count(n, "row"), was(n)),
    };
    let _ = write!(
        out,
        "<h3>Every row</h3>\n<p>These are {shown}{aside}. A row leans on the topic that most of \
         its mass is explained by; the share says how much.</p>\n\
         <p class=\"controls\" hidden>\n<label>Search <input type=\"search\" id=\"row-search\" \
         autocomplete=\"off\" placeholder=\"name or topic\"></label>\n\
         <output id=\"row-count\"></output>\n</p>\n\
         <div class=\"wide\">\n<table class=\"plain\" id=\"rows\">\n<thead><tr>"
    );
    let named = s.rows.iter().any(|row| row.error.name.is_some());
    heading(out, "row", "number", "ascending", "");
    if named {
        heading(out, "name", "words", "ascending", "");
    }
    heading(out, "error", "number", "descending", " aria-sort=\"descending\"");
    heading(out, "leans on", "words", "ascending", "");
    heading(out, "share", "number", "descending", "");
    out.push_str("</tr></thead>\n<tbody>\n");
    s.rows.iter().for_each(|explained| row(out, s, explained, named));
    out.push_str("</tbody>\n</table>\n</div>\n");
}

fn was(number: usize) -> &'static str {
    if number == 1 { "was" } else { "were" }
}

fn heading(out: &mut String, name: &str, class: &str, first: &str, sorted: &str) {
    let _ = write!(
        out,
        "<th scope=\"col\" class=\"{class}\" data-first=\"{first}\"{sorted}>{name}</th>"
    );
}

fn row(out: &mut String, s: &Summary, explained: &ExplainedRow, named: bool) {
    let ExplainedRow { error, leans_on } = explained;
    // Without names, the number of the row is what one searches for.
    let class = if named { "number" } else { "number words" };
    let _ = write!(out, "<tr><td class=\"{class}\" data-value=\"{0}\">{0}</td>", error.row);
    if named {
        let name = error.name.as_deref().map(escape).unwrap_or_default();
        let _ = write!(out, "<td class=\"words\">{name}</td>");
    }
    let _ = write!(out, "<td class=\"number\" data-value=\"{0}\">{0:.4}</td>", error.value);
    let topic = leans_on.and_then(|(k, share)| Some((k, s.hott.get(k)?, share)));
    match topic {
        Some((k, topic, share)) => {
            let _ = writeln!(
                out,
                "<td class=\"words\"><a href=\"#topic-{}\">{}</a></td>\
                 <td class=\"number\" data-value=\"{share:.4}\">{:.0} %</td></tr>",
                k + 1,
                escape(&topic.title()),
                100.0 * share
            );
        }
        None => out.push_str(
            "<td class=\"words\">nothing</td><td class=\"number\" data-value=\"0\">–</td></tr>\n",
        ),
    }
}

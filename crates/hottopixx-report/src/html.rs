//! `report.html`: the answer as one page. A single file that asks the network for nothing, follows
//! the reader's light or dark setting, prints well, and escapes every name that came from the data.

use crate::page::{escape, shell};
use crate::text::{count, grouped, seconds, size};
use crate::{Entry, Summary};
use hottopixx::control::Stop;
use hottopixx::{Cleaning, Objective};
use std::fmt::Write as _;

/// Number of bars in the histogram of row errors.
const BINS: usize = 40;

/// The page. `command` is the command line that made it; `summary.error.per_row` fills the
/// histogram of row errors where it is not empty.
pub fn page(summary: &Summary, command: &str) -> String {
    let title = format!("{} hott topics of {}", summary.rank, summary.input);
    let mut body = format!("<h1>{}</h1>\n", escape(&title));
    lead(&mut body, summary);
    topics(&mut body, summary);
    errors(&mut body, summary);
    how(&mut body, summary, command);
    shell(&title, &body, "")
}

fn lead(out: &mut String, s: &Summary) {
    let _ = write!(
        out,
        "<p class=\"lead\">{} features × {} examples, {} nonzero entries",
        grouped(s.features),
        grouped(s.examples),
        grouped(s.nonzeros)
    );
    if let Some(documents) = s.documents {
        let _ = write!(out, ": co-occurrence of words in {} documents", grouped(documents));
    }
    let _ = writeln!(
        out,
        ". {} of the rows explain the others with a mean error of <strong>{:.4}</strong>.</p>",
        grouped(s.rank),
        s.error.mean_l1
    );
    if s.stop != Stop::Finished {
        let _ = writeln!(
            out,
            "<p class=\"note\">Stopped early, {}: this is the best answer so far.</p>",
            escape(&s.stop.to_string())
        );
    }
}

fn topics(out: &mut String, s: &Summary) {
    out.push_str("<h2>Topics</h2>\n<p>Each topic is a row of the data. Its members are the rows ");
    out.push_str("that lean on it most, with their weights in the units of the input.</p>\n");
    out.push_str("<div class=\"topics\">\n");
    for (k, topic) in s.hott.iter().enumerate() {
        let _ = write!(
            out,
            "<section>\n<h3><span>{}</span> {}</h3>\n<p class=\"small\">row {}, weight {:.3}",
            k + 1,
            escape(&topic.label()),
            topic.row,
            topic.weight
        );
        let others: Vec<String> = topic.stand_ins().iter().map(|name| escape(name)).collect();
        if !others.is_empty() {
            let shown = others.iter().take(12).cloned().collect::<Vec<_>>().join(", ");
            let more = if others.len() > 12 { ", …" } else { "" };
            let _ = write!(out, "; could as well be {shown}{more}");
        }
        out.push_str("</p>\n");
        entries(out, &topic.members, "weight");
        out.push_str("</section>\n");
    }
    out.push_str("</div>\n");
}

/// Rows and their numbers, each over a bar in proportion to the first.
fn entries(out: &mut String, entries: &[Entry], heading: &str) {
    if entries.is_empty() {
        out.push_str("<p class=\"small\">no other rows</p>\n");
        return;
    }
    let largest = entries.iter().map(|e| e.value).fold(f64::MIN_POSITIVE, f64::max);
    let _ = writeln!(
        out,
        "<table>\n<thead><tr><th>row</th><th class=\"number\">{heading}</th></tr></thead>\n<tbody>"
    );
    for entry in entries {
        let share = (100.0 * entry.value / largest).clamp(0.0, 100.0);
        let _ = writeln!(
            out,
            "<tr style=\"--share:{share:.1}%\"><td title=\"row {}\">{}</td>\
             <td class=\"number\">{}</td></tr>",
            entry.row,
            escape(&entry.label()),
            short(entry.value)
        );
    }
    out.push_str("</tbody>\n</table>\n");
}

fn errors(out: &mut String, s: &Summary) {
    let _ = write!(
        out,
        "<h2>Errors</h2>\n<p>The l1 error of a row, after every row is divided by its sum: 0 is \
         perfect, 1 is no better than explaining nothing.{}</p>\n<dl>\n",
        match s.cleaning {
            Cleaning::Exact => "",
            _ => " F was fitted approximately: these are upper estimates.",
        }
    );
    for (name, value) in [
        ("mean over rows", format!("{:.6}", s.error.mean_l1)),
        ("largest of a row", format!("{:.6}", s.error.inf1)),
        ("root mean square over entries", format!("{:.4e}", s.error.rmse)),
        ("zero rows set aside", grouped(s.zero_rows)),
    ] {
        let _ = writeln!(out, "<div><dt>{name}</dt><dd>{value}</dd></div>");
    }
    out.push_str("</dl>\n");
    certificate(out, s);
    histogram(out, &s.error.per_row);
    out.push_str("<h3>Rows explained worst</h3>\n<div class=\"narrow\">\n");
    entries(out, &s.worst, "error");
    out.push_str("</div>\n");
}

/// What a linear program proved, and notes.
fn certificate(out: &mut String, s: &Summary) {
    if let Some(certificate) = &s.certificate {
        let name = if certificate.goal == "cost" { "lp" } else { certificate.goal };
        let meaning = certificate.meaning(s.rank, s.features - s.zero_rows, &s.error).join(" ");
        let _ = writeln!(
            out,
            "<p>The linear program {name} ended {}: {}.</p>",
            escape(&certificate.figures()),
            escape(&meaning)
        );
    }
    for note in &s.notes {
        let _ = writeln!(out, "<p>{}</p>", escape(note));
    }
}

/// How many rows have which error, as an SVG.
fn histogram(out: &mut String, per_row: &[f64]) {
    let errors: Vec<f64> = per_row.iter().copied().filter(|e| e.is_finite()).collect();
    let top = errors.iter().copied().fold(0.0, f64::max);
    if errors.len() < 2 || top <= 0.0 {
        return;
    }
    let mut bins = [0usize; BINS];
    for error in &errors {
        bins[((error / top * BINS as f64) as usize).min(BINS - 1)] += 1;
    }
    let most = bins.iter().copied().max().unwrap_or(1) as f64;
    let _ = writeln!(
        out,
        "<figure>\n<svg viewBox=\"0 0 400 112\" role=\"img\" aria-label=\"Histogram of row errors\">"
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

fn how(out: &mut String, s: &Summary, command: &str) {
    let _ = write!(
        out,
        "<h2>How this was made</h2>\n<pre><code>{}</code></pre>\n<dl>\n",
        escape(command)
    );
    let method = match &s.chosen_from {
        Some(from) if *from != s.method => format!("{}, from {from}", s.method),
        _ => s.method.clone(),
    };
    let objective = match s.objective {
        Objective::Mean => "mean error",
        Objective::Max => "largest error",
    };
    for (name, value) in [
        ("method", method),
        ("makes small", objective.to_owned()),
        ("cleaning", s.cleaning.name().to_owned()),
        ("seed", s.seed.to_string()),
        ("time", format!("{} on {}", seconds(&s.seconds), count(s.threads, "thread"))),
        ("peak memory", s.peak_memory_bytes.map_or_else(|| "unknown".to_owned(), size)),
        ("version", format!("hottopixx {}", s.version)),
    ] {
        let _ = writeln!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", escape(&value));
    }
    out.push_str("</dl>\n");
}

/// Three or four significant digits, in powers of ten only where they are needed.
fn short(value: f64) -> String {
    match value.abs() {
        a if a == 0.0 || (1e-3..1e6).contains(&a) => {
            let digits = (3 - a.max(1e-3).log10().floor() as i32).clamp(0, 5) as usize;
            format!("{value:.digits$}")
        }
        _ => format!("{value:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::example;

    #[test]
    fn is_self_contained_and_escaped() {
        let mut summary = example();
        summary.error.per_row = vec![0.0, 0.01, 0.02, 0.02];
        let page = page(&summary, "hottopixx factor 'prices & news.csv' --rank 2 <x>");
        assert!(page.contains("&lt;b&gt;wheat") && !page.contains("<b>wheat"));
        assert!(page.contains("prices &amp; news.csv") && page.contains("&lt;x&gt;"));
        assert!(page.contains("<svg") && page.contains("crude"));
        for outside in ["http:", "https:", "src=", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
        for element in ["section", "table", "dl", "div", "figure", "svg", "main", "pre", "p"] {
            let opened = page.matches(&format!("<{element}>")).count()
                + page.matches(&format!("<{element} ")).count();
            assert_eq!(opened, page.matches(&format!("</{element}>")).count(), "{element}");
        }
    }

    #[test]
    fn numbers_are_short() {
        let shown = [0.0, 0.91, 12.5, 1234.0, 1e-5, 3e9].map(short);
        assert_eq!(shown, ["0.00000", "0.9100", "12.50", "1234", "1.00e-5", "3.00e9"]);
    }
}

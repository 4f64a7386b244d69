//! `report.html`: the answer as one page. A single file that asks the network for nothing, follows
//! the reader's light or dark setting, prints well, and escapes every name that came from the data.
//! A small script makes topics and rows searchable and sortable; without it nothing is missing.

mod diagonal;
mod path;
mod proven;
mod rows;
mod topics;

pub(crate) use diagonal::diagonal_entries;

use crate::page::{bar_table, escape, facts, how_made, shell, stopped_early};
use crate::text::{count, grouped, seconds, size};
use crate::{RowValue, Summary};
use hottopixx::{Cleaning, Objective};
use std::fmt::Write as _;

const SCRIPT: &str = include_str!("report.js");

/// The page. `command` is the command line that made it; `summary.error.per_row` fills the
/// histogram of row errors, `summary.rows` the table of rows and `summary.diagonal` its chart, where
/// they are not empty.
pub fn page(summary: &Summary, command: &str) -> String {
    let title = format!("{} hott topics of {}", summary.rank, summary.input);
    let mut body = format!("<h1>{}</h1>\n", escape(&title));
    lead(&mut body, summary);
    topics::topics(&mut body, summary);
    path::path(&mut body, summary);
    diagonal::diagonal(&mut body, summary);
    proven::proven(&mut body, summary);
    errors(&mut body, summary);
    how(&mut body, summary, command);
    shell(&title, &body, "", SCRIPT)
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
    stopped_early(out, s.stop);
    for sentence in s.update.iter().flat_map(crate::UpdateFacts::sentences) {
        let _ = writeln!(out, "<p>{}</p>", escape(&sentence));
    }
    for note in &s.notes {
        let _ = writeln!(out, "<p>{}</p>", escape(note));
    }
}

/// Rows and their numbers, each over a bar in proportion to the first.
fn entries(out: &mut String, entries: &[RowValue], heading: &str) {
    if entries.is_empty() {
        out.push_str("<p class=\"small\">no other rows</p>\n");
        return;
    }
    let row = |entry: &RowValue| (Some(format!("row {}", entry.row)), entry.label(), entry.value);
    bar_table(out, ["row", heading], entries.iter().map(row));
}

fn errors(out: &mut String, s: &Summary) {
    let _ = write!(
        out,
        "<h2>Errors</h2>\n<p>The l1 error of a row, after every row is divided by its sum: 0 is \
         perfect, 1 is no better than explaining nothing.{}</p>\n",
        match s.cleaning {
            Cleaning::Exact => "",
            _ => " F was fitted approximately: these are upper estimates.",
        }
    );
    let entries = [
        ("mean over rows", format!("{:.6}", s.error.mean_l1)),
        ("largest of a row", format!("{:.6}", s.error.inf1)),
        ("root mean square over entries", format!("{:.4e}", s.error.rmse)),
        ("rows set aside, zero or too rare", grouped(s.zero_rows)),
    ];
    facts(out, &entries);
    if s.inexact_rows > 0 {
        let _ = writeln!(
            out,
            "<p>{} could not be proven to be fitted best: these errors are upper estimates.</p>",
            count(s.inexact_rows, "row")
        );
    }
    rows::rows(out, s);
}

fn how(out: &mut String, s: &Summary, command: &str) {
    how_made(out, command);
    let method = match &s.chosen_from {
        Some(from) if *from != s.method => format!("{}, from {from}", s.method),
        _ => s.method.clone(),
    };
    let objective = match s.objective {
        Objective::Mean => "mean error",
        Objective::Max => "largest error",
    };
    let entries = [
        ("method", method),
        ("makes small", objective.to_owned()),
        ("cleaning", s.cleaning.name().to_owned()),
        ("seed", s.run.seed.map_or_else(|| "none".to_owned(), |seed| seed.to_string())),
        ("time", format!("{} on {}", seconds(&s.run.seconds), count(s.run.threads, "thread"))),
        ("peak memory", s.run.peak_memory_bytes.map_or_else(|| "unknown".to_owned(), size)),
        ("version", format!("hottopixx {}", s.run.version)),
    ];
    facts(out, &entries);
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::ExplainedRow;
    use crate::summary::example;
    use hottopixx::{RankPath, RankPoint, Stop};

    /// The example with every part that a page can have.
    fn full() -> Summary {
        let mut summary = example();
        summary.error.per_row = vec![0.0, 0.01, 0.02, 0.02];
        let entry = |row| RowValue { row, name: Some(format!("n{row}")), value: 1.0 / row as f64 };
        summary.diagonal = Some((1..13).map(entry).collect());
        let fit = |row, leans_on| {
            let value = 0.5 / row as f64;
            ExplainedRow { error: RowValue { row, name: Some(format!("n{row}")), value }, leans_on }
        };
        summary.rows = vec![fit(1, Some((0, 0.75))), fit(2, None), fit(3, Some((1, 1.0)))];
        let point = |rank| {
            let (errors, lower_bound) = (summary.error.clone(), Some(0.01));
            RankPoint { rank, hott: vec![], errors, lower_bound }
        };
        let points = vec![point(1), point(2)];
        summary.path = Some(RankPath {
            points,
            suggested: 2,
            reason: "Two is enough.".into(),
            stop: Stop::Finished,
        });
        summary
    }

    /// Every element that was opened is closed.
    pub(crate) fn check_elements(page: &str) {
        let parts = "section table thead tbody tr td th dl div figure svg main pre p \
                     script style bdi ol ul li a details";
        for element in parts.split(' ') {
            let opened = page.matches(&format!("<{element}>")).count()
                + page.matches(&format!("<{element} ")).count();
            assert_eq!(opened, page.matches(&format!("</{element}>")).count(), "{element}");
        }
    }

    /// Nothing is asked of the network, and no script writes markup.
    pub(crate) fn check_self_contained(page: &str) {
        // The name of the SVG dialect is no address.
        let page = page.replace("http://www.w3.org/2000/svg", "");
        for outside in ["http:", "https:", "src=", "@import", "url(", "innerHTML", "onclick"] {
            assert!(!page.contains(outside), "{outside}");
        }
    }

    #[test]
    fn is_self_contained_and_escaped() {
        let page = page(&full(), "hottopixx factor 'prices & news.csv' --rank 2 <x>");
        assert!(page.contains("&lt;b&gt;wheat") && !page.contains("<b>wheat"));
        assert!(page.contains("prices &amp; news.csv") && page.contains("&lt;x&gt;"));
        assert!(page.contains("<svg") && page.contains("crude"));
        check_elements(&page);
        check_self_contained(&page);
    }

    #[test]
    fn names_with_markup_in_them_stay_text() {
        let nasty = "\"'></td></script><script>window.hacked=1</script><img src=x onerror=hack()>";
        let mut summary = full();
        let harmless = page(&summary, "x").matches("<script>").count();
        summary.input = nasty.into();
        summary.notes = vec![nasty.into()];
        for topic in &mut summary.hott {
            topic.named.name = Some(nasty.into());
            topic.group_names = Some(vec![nasty.into(); topic.named.hott.group.len()]);
            topic.members.iter_mut().for_each(|member| member.name = Some(nasty.into()));
        }
        summary.worst.iter_mut().for_each(|entry| entry.name = Some(nasty.into()));
        summary.rows.iter_mut().for_each(|row| row.error.name = Some(nasty.into()));
        let diagonal = summary.diagonal.iter_mut().flatten();
        diagonal.for_each(|entry| entry.name = Some(nasty.into()));
        if let Some(path) = &mut summary.path {
            path.reason = nasty.into();
        }
        let page = page(&summary, nasty);
        assert_eq!(page.matches("<script>").count(), harmless);
        assert!(!page.contains("<img") && page.matches("&lt;img").count() > 10);
        check_elements(&page);
    }

    #[test]
    fn says_how_many_rows_are_listed() {
        let mut summary = full();
        let text = page(&summary, "");
        assert!(
            text.contains("the 3 rows explained worst, of 39, without 1 row that was set aside")
        );
        summary.features = 4;
        assert!(page(&summary, "").contains("These are all 3 rows, without 1 row"));
        summary.rows.iter_mut().for_each(|row| row.error.name = None);
        assert!(!page(&summary, "").contains(">name</th>"));
    }
}

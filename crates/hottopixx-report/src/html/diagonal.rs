//! The diagonal of the localising matrix with its gap: how clearly the hott rows stand out.

use super::entries;
use crate::page::{escape, short};
use crate::text::count;
use crate::{RowValue, Summary};
use std::fmt::Write as _;

/// Entries of other rows that are named.
const OTHERS: usize = 10;

/// How many entries of the diagonal a page shows for this many hott rows: always some beyond the
/// gap.
pub(crate) fn diagonal_entries(rank: usize) -> usize {
    (2 * rank).min(60).max(rank + 10)
}

/// The largest entries in falling order, the gap after the r-th, and who comes next.
pub(super) fn diagonal(out: &mut String, s: &Summary) {
    let Some(largest) = &s.diagonal else { return };
    if largest.is_empty() || s.rank == 0 {
        return;
    }
    let value = |place: usize| largest.get(place).map_or(0.0, |entry| entry.value);
    let of =
        if s.method == "auto" { ", by the gradient method, one of those auto asks" } else { "" };
    let _ = write!(
        out,
        "<h2>Diagonal</h2>\n<p>The localising matrix gives every row a number from 0 to 1 on its \
         diagonal{of}: how much it is needed to explain the rows, itself included.</p>\n\
         <p>{} {}</p>\n",
        gap(s.rank, value(s.rank - 1), value(s.rank)),
        agreement(s, largest)
    );
    chart(out, s, largest);
    let others = largest.iter().filter(|entry| !is_hott(s, entry.row)).take(OTHERS);
    let others: Vec<RowValue> = others.cloned().collect();
    if !others.is_empty() {
        out.push_str("<h3>Next in line</h3>\n<div class=\"narrow\">\n");
        entries(out, &others, "diagonal");
        out.push_str("</div>\n");
    }
}

fn is_hott(s: &Summary, row: usize) -> bool {
    s.hott.iter().any(|topic| topic.named.hott.row == row)
}

/// The gap between the r-th largest entry and the next, and what it says.
fn gap(rank: usize, last: f64, next: f64) -> String {
    let gap = last - next;
    let figures = format!(
        "Entry {rank} in falling order is {}, the next is {}: a gap of <strong>{}</strong>.",
        short(last),
        short(next),
        short(gap)
    );
    let meaning = if gap >= 0.3 {
        "It is large: the choice is clear."
    } else if gap >= 0.1 {
        "It is moderate: most of the choice is clear, some other rows come near."
    } else {
        "It is small: other rows compete with the chosen ones, or near copies of a hott row share \
         its weight."
    };
    format!("{figures} {meaning}")
}

/// Whether the rows with the largest entries were chosen.
fn agreement(s: &Summary, largest: &[RowValue]) -> String {
    let agree = largest.iter().take(s.rank).filter(|entry| is_hott(s, entry.row)).count();
    if agree == s.rank {
        return "The hott rows are those with the largest entries.".to_owned();
    }
    format!(
        "Of the {} with the largest entries, {agree} became hott: rows that share weight count \
         together, and sets of rows are judged by their error.",
        count(s.rank, "row")
    )
}

/// One bar per entry, hott rows full, others empty, and a line where the gap is.
fn chart(out: &mut String, s: &Summary, largest: &[RowValue]) {
    let step = 400.0 / largest.len().max(s.rank + 1) as f64;
    let top = largest[0].value;
    out.push_str(
        "<figure>\n<svg class=\"strip\" viewBox=\"0 0 400 125\" role=\"img\" \
         aria-label=\"Largest entries of the diagonal in falling order\">\n",
    );
    for (k, entry) in largest.iter().enumerate() {
        let height = (90.0 * entry.value / top).max(0.8);
        let name = entry.name.as_ref().map_or_else(String::new, |name| format!(" {name}"));
        let _ = writeln!(
            out,
            "<rect{} x=\"{:.2}\" y=\"{:.1}\" width=\"{:.2}\" height=\"{height:.1}\">\
             <title>row {}{}: {}</title></rect>",
            if is_hott(s, entry.row) { "" } else { " class=\"other\"" },
            (k as f64 + 0.1) * step,
            108.0 - height,
            0.8 * step,
            entry.row,
            escape(&name),
            short(entry.value),
        );
    }
    let x = s.rank as f64 * step;
    let (anchor, beside) = if x > 300.0 { ("end", x - 4.0) } else { ("start", x + 4.0) };
    let _ = writeln!(
        out,
        "<line x1=\"{x:.2}\" x2=\"{x:.2}\" y1=\"2\" y2=\"108\"/>\n\
         <text x=\"{beside:.2}\" y=\"10\" text-anchor=\"{anchor}\">after the first {}</text>\n\
         <text x=\"0\" y=\"122\">largest: {}</text>\n</svg>\n\
         <figcaption>The {} in falling order. Full bars are hott rows, empty ones are not; the \
         dashed line is where the gap should be.</figcaption>\n</figure>",
        s.rank,
        short(top),
        match largest.len() {
            1 => "only positive entry".to_owned(),
            n => format!("{n} largest entries"),
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::example;

    fn shown(entries: &[(usize, &str, f64)]) -> String {
        let mut summary = example();
        summary.method = "hottopixx".into();
        let entry = |&(row, name, value): &(usize, &str, f64)| RowValue {
            row,
            name: Some(name.into()),
            value,
        };
        summary.diagonal = Some(entries.iter().map(entry).collect());
        let mut out = String::new();
        diagonal(&mut out, &summary);
        out
    }

    #[test]
    fn the_gap_is_named_and_hott_rows_are_marked() {
        let out =
            shown(&[(12, "oil", 1.0), (7, "<b>wheat", 0.9), (31, "crude", 0.25), (3, "opec", 0.1)]);
        assert!(out.contains("Entry 2 in falling order is 0.9000, the next is 0.2500"), "{out}");
        assert!(out.contains("the choice is clear"), "{out}");
        assert!(out.contains("hott rows are those with the largest entries"), "{out}");
        let bars = |mark: &str| out.matches(mark).count();
        assert_eq!((bars("<rect x="), bars("<rect class=\"other\"")), (2, 2));
        assert!(out.contains("row 7 &lt;b&gt;wheat: 0.9000"), "{out}");
    }

    #[test]
    fn few_entries_are_enough_and_none_say_nothing() {
        let out = shown(&[(3, "opec", 0.5)]);
        assert!(out.contains("is 0, the next is 0") && out.contains("It is small"), "{out}");
        assert!(out.contains("Of the 2 rows with the largest entries, 0 became hott"), "{out}");
        assert!(shown(&[]).is_empty());
        let mut out = String::new();
        diagonal(&mut out, &example());
        assert!(out.is_empty());
        assert_eq!([1, 5, 20, 100].map(diagonal_entries), [11, 15, 40, 110]);
    }
}

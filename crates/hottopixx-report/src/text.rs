//! The answer for a terminal of 80 columns.

use crate::bounds;
use crate::table::{Align, Table, WIDTH, cut, join_fitting, plain};
use crate::{RowValue, StepSeconds, Summary};
use hottopixx::control::Stop;
use hottopixx::{Cleaning, Objective, RankPath, Seconds};

/// What was factored and how: the first lines of every report.
pub fn banner(summary: &Summary) -> String {
    let s = summary;
    let mut out = format!("hottopixx {}\n", s.run.version);
    let shape = format!(
        "{} features x {} examples, {} nonzeros",
        grouped(s.features),
        grouped(s.examples),
        grouped(s.nonzeros)
    );
    line(&mut out, "input", &plain(&s.input));
    line(&mut out, "size", &shape);
    if let Some(documents) = s.documents {
        line(
            &mut out,
            "text",
            &format!("co-occurrence of words in {} documents", grouped(documents)),
        );
    }
    if s.zero_rows > 0 {
        line(&mut out, "set aside", &format!("{}: zero or too rare", count(s.zero_rows, "row")));
    }
    let from = match &s.chosen_from {
        Some(from) if *from != s.method => format!(" (from {from})"),
        _ => String::new(),
    };
    line(&mut out, "method", &format!("{}{from}, rank {}", s.method, s.rank));
    let goal = match s.objective {
        Objective::Mean => "mean",
        Objective::Max => "largest",
    };
    if let Some(constraints) = &s.constraints {
        let lines = wrapped(&constraints.text(), WIDTH - 10);
        lines.iter().enumerate().for_each(|(k, words)| {
            line(&mut out, if k == 0 { "obeys" } else { "" }, words);
        });
    }
    if let Some(update) = &s.update {
        sentences(&mut out, "update", &update.sentences());
    }
    let threads = count(s.run.threads, "thread");
    let seed = s.run.seed.map_or_else(String::new, |seed| format!(", seed {seed}"));
    let weighted = if s.weighted { ", rows weighted" } else { "" };
    line(&mut out, "settings", &format!("least {goal} error{weighted}{seed}, {threads}"));
    out
}

/// The hott topics as a table: row, name, weight, the rest of the group, strongest members.
pub fn topics(summary: &Summary) -> String {
    let named = summary.hott.iter().any(|topic| topic.named.name.is_some());
    let mut columns = vec![("topic", Align::Right), ("row", Align::Right)];
    if named {
        columns.push(("name", Align::Cut(12)));
    }
    columns.extend([("weight", Align::Right), ("or as well", Align::Cut(10))]);
    columns.push((if named { "strongest members" } else { "strongest rows" }, Align::Cut(20)));
    let mut table = Table::new(&columns);
    for (k, topic) in summary.hott.iter().enumerate() {
        let members: Vec<String> = topic.members.iter().map(RowValue::label).collect();
        let mut cells = vec![(k + 1).to_string(), topic.named.hott.row.to_string()];
        if named {
            cells.push(topic.label());
        }
        cells.push(format!("{:.3}", topic.named.hott.weight));
        cells.push(join_fitting(&topic.stand_ins(), " ", 16));
        cells.push(members.join(if named { " " } else { ", " }));
        table.row(cells);
    }
    table.render(WIDTH)
}

/// Errors with their units, time of each step, and how the computation ended.
pub fn facts(summary: &Summary) -> String {
    let s = summary;
    let mut out = String::new();
    let worst = s.worst.first().map_or_else(String::new, |worst| match &worst.name {
        Some(name) => format!(" (row {}, {})", worst.row, cut(&plain(name), 24)),
        None => format!(" (row {})", worst.row),
    });
    line(
        &mut out,
        "error",
        &format!("mean {:.4}, largest {:.4}{worst}", s.error.mean_l1, s.error.inf1),
    );
    line(&mut out, "", "l1 error of a row, rows sum to 1; 0 is perfect, 1 explains nothing");
    line(&mut out, "rmse", &format!("{:.3e} over all entries, rows sum to 1", s.error.rmse));
    if let Some(proven) = &s.bounds {
        let (name, figures) = (proven.program(), bounds::figures(proven));
        line(&mut out, "bound", &format!("{name} {figures}"));
        let of = (s.rank, s.constraints.is_some());
        for text in bounds::meaning(proven, of, s.features - s.zero_rows, &s.error) {
            line(&mut out, "", &text);
        }
    }
    for note in &s.notes {
        for (k, text) in wrapped(note, WIDTH - 10).iter().enumerate() {
            line(&mut out, if k == 0 { "note" } else { "" }, text);
        }
    }
    if s.cleaning != Cleaning::Exact {
        let text = format!("{}: F and these errors are upper estimates", s.cleaning.name());
        line(&mut out, "cleaning", &text);
    }
    if s.inexact_rows > 0 {
        let text =
            format!("{} rows not proven optimal: their errors are upper estimates", s.inexact_rows);
        line(&mut out, "cleaning", &text);
    }
    if let Some(path) = &s.path {
        ranks(&mut out, path);
    }
    if let Some(held_out) = &s.held_out {
        let sentence = format!("rank {}. {}", held_out.suggested, held_out.reason);
        for (k, words) in wrapped(&sentence, WIDTH - 10).iter().enumerate() {
            line(&mut out, if k == 0 { "held out" } else { "" }, words);
        }
    }
    line(&mut out, "time", &seconds(&s.run.seconds));
    if let Some(bytes) = s.run.peak_memory_bytes {
        let predicted = s.run.predicted_memory_bytes.filter(|bytes| *bytes >= WORTH_SAYING);
        let predicted =
            predicted.map_or_else(String::new, |bytes| format!(", {} predicted", size(bytes)));
        line(&mut out, "memory", &format!("{} at most{predicted}", size(bytes)));
    }
    if s.stop != Stop::Finished {
        line(&mut out, "stopped", &format!("{}: this is the best answer so far", s.stop));
    }
    out
}

/// Errors against the rank with the bounds on the mean, at most [`RANKS_SHOWN`] of them, and the
/// suggestion.
fn ranks(out: &mut String, path: &RankPath) {
    let step = path.points.len().div_ceil(RANKS_SHOWN).max(1);
    for (k, point) in path.points.iter().enumerate() {
        let last = k + 1 == path.points.len();
        if (k + 1) % step == 0 || k == 0 || last || point.rank == path.suggested {
            let mark = if point.rank == path.suggested { "  <- suggested" } else { "" };
            let (mean, largest) = (point.errors.mean_l1, point.errors.inf1);
            let bound = point.lower_bound.map_or_else(String::new, |bound| {
                format!(" (at least {:.4})", (1e4 * bound).floor() / 1e4)
            });
            let text =
                format!("{:>4}: mean {mean:.4}{bound}, largest {largest:.4}{mark}", point.rank);
            line(out, if k == 0 { "rank" } else { "" }, &text);
        }
    }
    let sentence = format!("rank {}. {}", path.suggested, path.reason);
    for (k, text) in wrapped(&sentence, WIDTH - 10).iter().enumerate() {
        line(out, if k == 0 { "suggest" } else { "" }, text);
    }
}

/// Ranks of a path that are shown on a terminal, about.
const RANKS_SHOWN: usize = 20;

/// Predictions below this are not worth their place.
const WORTH_SAYING: u64 = 1 << 30;

/// Time of each step and in all.
pub fn seconds(seconds: &StepSeconds) -> String {
    let StepSeconds { load, steps, total } = seconds;
    let steps = steps.map_or_else(String::new, |Seconds { localize, select, clean }| {
        format!(", localize {localize:.2}, select {select:.2}, clean {clean:.2}")
    });
    format!("{total:.2} s: load {load:.2}{steps}")
}

/// The text in lines of at most `width` characters, broken at blanks.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A labelled line: the label in ten columns, then the text.
pub fn line(out: &mut String, label: &str, text: &str) {
    out.push_str(format!("{label:<10}{text}").trim_end());
    out.push('\n');
}

/// A whole number with commas between thousands.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 thread`, `2 threads`.
pub fn count(number: usize, thing: &str) -> String {
    format!("{} {thing}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Whole sentences under a label, broken where the line ends.
pub(crate) fn sentences(out: &mut String, label: &str, sentences: &[String]) {
    for sentence in sentences {
        for (k, text) in wrapped(sentence, WIDTH - 10).iter().enumerate() {
            line(out, if k == 0 { label } else { "" }, &plain(text));
        }
    }
}

/// The last lines of a report: the memory that was taken, and that it was stopped.
pub(crate) fn ending(out: &mut String, peak_memory_bytes: Option<u64>, stop: Stop) {
    if let Some(bytes) = peak_memory_bytes {
        line(out, "memory", &format!("{} at most", size(bytes)));
    }
    if stop != Stop::Finished {
        line(out, "stopped", &format!("{stop}: this is the best answer so far"));
    }
}

/// A share as a percentage with one decimal.
pub fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// Bytes in the largest binary unit that leaves at least 1.
pub fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["bytes", "KiB", "MiB", "GiB"] {
        if value < 1024.0 {
            let digits = usize::from(unit != "bytes");
            return format!("{value:.digits$} {unit}");
        }
        value /= 1024.0;
    }
    format!("{value:.1} TiB")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::example;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn golden() {
        let summary = example();
        let text = format!("{}\n{}\n{}", banner(&summary), topics(&summary), facts(&summary));
        assert_eq!(
            text,
            "\
hottopixx 0.1.0
input     prices & news.csv
size      40 features x 400 examples, 16,000 nonzeros
set aside 1 row: zero or too rare
method    auto (from spa), rank 2
settings  least mean error, seed 0, 2 threads

topic  row  name      weight  or as well  strongest members
    1   12  oil        0.970  n31         crude opec
    2    7  <b>wheat   1.000              grain

error     mean 0.0130, largest 0.0210 (row 9, pope)
          l1 error of a row, rows sum to 1; 0 is perfect, 1 explains nothing
rmse      1.200e-5 over all entries, rows sum to 1
time      0.36 s: load 0.01, localize 0.20, select 0.10, clean 0.05
memory    24.1 MiB at most
"
        );
    }

    #[test]
    fn long_names_still_fit() {
        let mut summary = example();
        summary.hott[0].named.name = Some("n".repeat(200));
        summary.hott[0].named.hott.group = (1000..1100).collect();
        summary.hott[0].members[0].name = Some("m".repeat(200));
        for line in topics(&summary).lines() {
            assert!(line.width() <= WIDTH, "{line}");
        }
    }

    #[test]
    fn units() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(12), "12");
        assert_eq!(size(1023), "1023 bytes");
        assert_eq!(size(8 << 30), "8.0 GiB");
        assert_eq!(percent(0.1234), "12.3");
    }
}

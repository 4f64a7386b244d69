//! Text tables that fit a terminal: columns as wide as their cells, two spaces apart, and the
//! flexible ones cut short with an ellipsis when the line would be too long.

use crate::page::escape;
use std::fmt::Write as _;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The width every text of this crate is written for.
pub const WIDTH: usize = 80;

/// How a column is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
    /// Words that may be cut to at least this many characters when the line is too long.
    Cut(usize),
}

/// A table under construction.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings and alignments.
    pub fn new(columns: &[(&str, Align)]) -> Self {
        let columns = columns.iter().map(|&(name, align)| (name.to_owned(), align)).collect();
        Table { columns, rows: Vec::new() }
    }

    /// A table with these headings: words in the first column, numbers in all others.
    pub fn of_numbers<S: AsRef<str>>(headings: &[S]) -> Self {
        let align = |k: usize| if k == 0 { Align::Left } else { Align::Right };
        let columns = headings.iter().enumerate();
        let columns = columns.map(|(k, name)| (name.as_ref().to_owned(), align(k))).collect();
        Table { columns, rows: Vec::new() }
    }

    /// Adds a row; missing cells are empty, characters that move a cursor are replaced.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let mut cells: Vec<String> = cells.into_iter().map(|cell| plain(&cell)).collect();
        cells.resize(self.columns.len(), String::new());
        self.rows.push(cells);
    }

    /// The table as lines of at most `width` columns, unless fixed columns alone are wider.
    pub fn render(&self, width: usize) -> String {
        let widths = self.widths(width);
        let heading: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        let mut out = String::new();
        for row in std::iter::once(&heading).chain(&self.rows) {
            let mut line = String::new();
            for ((cell, (_, align)), &width) in row.iter().zip(&self.columns).zip(&widths) {
                let cell = cut(cell, width);
                let pad = " ".repeat(width - cell.width());
                match align {
                    Align::Right => line.extend([pad.as_str(), &cell, "  "]),
                    Align::Left | Align::Cut(_) => line.extend([cell.as_str(), &pad, "  "]),
                }
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }

    /// The table in Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: &mut dyn Iterator<Item = String>| {
            let cells: Vec<String> = cells.map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let mut out = line(&mut self.columns.iter().map(|(name, _)| name.clone()));
        out += &line(&mut self.columns.iter().map(|(_, align)| match align {
            Align::Right => "---:".to_owned(),
            Align::Left | Align::Cut(_) => "---".to_owned(),
        }));
        for row in &self.rows {
            out += &line(&mut row.iter().cloned());
        }
        out
    }

    /// Head and body of an HTML table, cells escaped.
    pub fn html(&self) -> String {
        let line = |tag: &str, cells: &[String]| {
            let cell = |(text, (_, align)): (&String, &(String, Align))| {
                let class = if *align == Align::Right { " class=\"number\"" } else { "" };
                format!("<{tag}{class}>{}</{tag}>", escape(text))
            };
            format!("<tr>{}</tr>\n", cells.iter().zip(&self.columns).map(cell).collect::<String>())
        };
        let names: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        let rows: String = self.rows.iter().map(|row| line("td", row)).collect();
        format!("<thead>\n{}</thead>\n<tbody>\n{rows}</tbody>\n", line("th", &names))
    }

    /// Natural widths, then the widest flexible column shrinks until the line fits.
    fn widths(&self, width: usize) -> Vec<usize> {
        let natural = |k: usize| {
            let cells = self.rows.iter().map(|row| row[k].width());
            cells.chain([self.columns[k].0.width()]).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..self.columns.len()).map(natural).collect();
        let room = width.saturating_sub(2 * widths.len().saturating_sub(1));
        while widths.iter().sum::<usize>() > room {
            let flexible = (0..widths.len()).filter(|&k| match self.columns[k].1 {
                Align::Cut(least) => widths[k] > least.max(self.columns[k].0.width()),
                Align::Left | Align::Right => false,
            });
            match flexible.max_by_key(|&k| widths[k]) {
                Some(k) => widths[k] -= 1,
                None => break,
            }
        }
        widths
    }
}

/// The whole table, however wide.
impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.render(usize::MAX))
    }
}

/// The text without control characters, which a file of names must not send to a terminal, and without
/// those that turn round the order of the text around them.
pub fn plain(text: &str) -> String {
    text.chars().map(visible).collect()
}

/// The same for a text of several lines.
pub fn plain_lines(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { c } else { visible(c) }).collect()
}

/// JSON in which such characters are written as `\u` and digits, which means the same to every reader.
pub fn plain_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match visible(c) {
            '\u{fffd}' if c != '\u{fffd}' && c != '\n' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out
}

/// The character, or U+FFFD in the place of one that acts on the text around it: controls, and embeddings,
/// overrides and isolates of writing direction.
pub(crate) fn visible(c: char) -> char {
    match c {
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

/// The text cut to `width` columns, the last of them an ellipsis where something was cut.
pub fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

/// Words joined by `separator`, as many whole ones as fit `width`; an ellipsis says there are more.
pub fn join_fitting(words: &[String], separator: &str, width: usize) -> String {
    let mut out = String::new();
    for (k, word) in words.iter().enumerate() {
        let more = if k + 1 < words.len() { separator.width() + 1 } else { 0 };
        let lead = if k == 0 { "" } else { separator };
        if k > 0 && out.width() + lead.width() + word.width() + more > width {
            out.push_str(separator);
            out.push('…');
            break;
        }
        out.push_str(lead);
        out.push_str(word);
    }
    cut(&out, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_long_cells_are_cut() {
        let mut table =
            Table::new(&[("row", Align::Right), ("name", Align::Cut(6)), ("x", Align::Left)]);
        table.row(["7".into(), "short".into(), "a".into()]);
        table.row(["123".into(), "a very long name\u{1b}[31m".into(), "b".into()]);
        assert_eq!(
            table.render(20),
            "row  name          x\n  7  short         a\n123  a very long…  b\n"
        );
        assert!(table.render(80).contains("a very long name\u{fffd}[31m"));
    }

    #[test]
    fn nothing_acts_on_the_terminal() {
        let odd = "a\u{9b}31m\u{7f}\u{202e}\u{1b}[0m\tb\nc";
        assert_eq!(plain_lines(odd), "a\u{fffd}31m\u{fffd}\u{fffd}\u{fffd}[0m\u{fffd}b\nc");
        let json = "{\n  \"a\u{9b}\u{202e}\": \"\u{7f}é\u{fffd}\"\n}\n";
        assert_eq!(plain_json(json), "{\n  \"a\\u009b\\u202e\": \"\\u007fé\u{fffd}\"\n}\n");
    }

    #[test]
    fn numbers_are_set_to_the_right() {
        let mut table = Table::of_numbers(&["eta", "found"]);
        table.row(["0.25".into(), "100.0".into()]);
        table.row(["4".into(), "7".into()]);
        assert_eq!(table.to_string(), "eta   found\n0.25  100.0\n4         7\n");
    }

    #[test]
    fn joins_whole_words() {
        let words = ["oil", "crude", "opec"].map(String::from);
        assert_eq!(join_fitting(&words, " ", 80), "oil crude opec");
        assert_eq!(join_fitting(&words, " ", 12), "oil crude …");
        assert_eq!(join_fitting(&words, " ", 2), "o…");
        assert_eq!(cut("日本語", 4), "日…");
    }
}

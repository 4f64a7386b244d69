//! HTML pages that are one file: style and drawings within, nothing asked of the network, light or
//! dark as the reader has it, every text from outside escaped.

use crate::plot::{Chart, ChartTarget};
use crate::table::{Table, visible};
use hottopixx::control::Stop;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

const STYLE: &str = include_str!("report.css");

/// The whole page around `body`, which must be safe already; `style` is added to that of all pages, and
/// it and `script` may be empty.
pub(crate) fn shell(title: &str, body: &str, style: &str, script: &str) -> String {
    let (rule, script) = match script {
        "" => (String::new(), String::new()),
        script => {
            let text = format!("\n{script}");
            (
                format!("; script-src 'sha256-{}'", digest(&text)),
                format!("<script>{text}</script>\n"),
            )
        }
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}{rule}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}{style}</style>\n</head>\n<body>\n<main>\n{body}</main>\n\
         {script}</body>\n</html>\n",
        escape(title)
    )
}

/// What a page may do: be styled, show drawings of its own, and run the one script that is part of it,
/// which is told by its hash. Whatever else might get into it does nothing, and asks nobody.
const POLICY: &str = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; \
    style-src 'unsafe-inline'";

/// SHA-256 of a text, in base 64.
fn digest(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let hash = Sha256::digest(text);
    let mut out = String::new();
    for three in hash.chunks(3) {
        let bits = three.iter().fold(0, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - three.len()));
        for k in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * k) & 63) as usize];
            out.push(if k <= three.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

/// A part of an article.
#[derive(Debug, Clone)]
pub enum Block {
    /// A heading within the section.
    Heading(String),
    /// A paragraph of plain text.
    Text(String),
    /// A remark that should not be missed.
    Note(String),
    /// A chart with a sentence on what to see in it; `name` is that of its file.
    Figure {
        /// Name of the file, without extension.
        name: String,
        /// The drawing.
        chart: Box<Chart>,
        /// What to see in it.
        caption: String,
    },
    /// A table with its caption.
    Table(String, Table),
}

/// A titled sequence of blocks.
#[derive(Debug, Clone)]
pub struct Section {
    /// Its name in links.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What it says.
    pub blocks: Vec<Block>,
}

impl Section {
    /// An empty section.
    pub fn new(id: &str, title: &str) -> Self {
        Section { id: id.to_owned(), title: title.to_owned(), blocks: Vec::new() }
    }

    /// Adds a heading.
    pub fn heading(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Heading(text.into()));
    }

    /// Adds a paragraph.
    pub fn text(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Text(text.into()));
    }

    /// Adds a remark.
    pub fn note(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Note(text.into()));
    }

    /// Adds a chart.
    pub fn figure(&mut self, name: &str, chart: Chart, caption: impl Into<String>) {
        let (name, caption) = (name.to_owned(), caption.into());
        self.blocks.push(Block::Figure { name, chart: Box::new(chart), caption });
    }

    /// Adds a table.
    pub fn table(&mut self, caption: impl Into<String>, table: Table) {
        self.blocks.push(Block::Table(caption.into(), table));
    }

    /// The charts, with the names of their files.
    pub fn charts(&self) -> impl Iterator<Item = (&str, &Chart)> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Figure { name, chart, .. } => Some((name.as_str(), chart.as_ref())),
            _ => None,
        })
    }
}

/// Sections under one title, as one page.
#[derive(Debug, Clone)]
pub struct Article {
    /// The title.
    pub title: String,
    /// What the reader should know first.
    pub lead: String,
    /// The sections.
    pub sections: Vec<Section>,
    /// The command that made it.
    pub command: String,
}

impl Article {
    /// The page.
    pub fn html(&self) -> String {
        let mut body = format!(
            "<h1>{}</h1>\n<p class=\"lead\">{}</p>\n",
            escape(&self.title),
            escape(&self.lead)
        );
        if self.sections.len() > 1 {
            body.push_str("<nav><ul>\n");
            for section in &self.sections {
                let (id, title) = (escape(&section.id), escape(&section.title));
                let _ = writeln!(body, "<li><a href=\"#{id}\">{title}</a></li>");
            }
            body.push_str("</ul></nav>\n");
        }
        for section in &self.sections {
            let (id, title) = (escape(&section.id), escape(&section.title));
            let _ = writeln!(body, "<h2 id=\"{id}\">{title}</h2>");
            section.blocks.iter().for_each(|block| body.push_str(&html(block)));
        }
        how_made(&mut body, &self.command);
        shell(&self.title, &body, "", "")
    }
}

impl Article {
    /// The same in Markdown, with the charts in files beside it.
    pub fn markdown(&self) -> String {
        let mut out = format!("# {}\n\n{}\n", self.title, self.lead);
        for section in &self.sections {
            let _ = write!(out, "\n## {}\n", section.title);
            for block in &section.blocks {
                let _ = match block {
                    Block::Heading(text) => write!(out, "\n### {text}\n"),
                    Block::Text(text) => write!(out, "\n{text}\n"),
                    Block::Note(text) => write!(out, "\n> {text}\n"),
                    Block::Figure { name, chart, caption } => {
                        write!(out, "\n![{}]({name}.svg)\n\n*{caption}*\n", chart.title)
                    }
                    Block::Table(caption, table) => {
                        write!(out, "\n{caption}:\n\n{}", table.markdown())
                    }
                };
            }
        }
        let _ = write!(out, "\n## How this was made\n\n    {}\n", self.command);
        out
    }
}

fn html(block: &Block) -> String {
    match block {
        Block::Heading(text) => format!("<h3>{}</h3>\n", escape(text)),
        Block::Text(text) => format!("<p>{}</p>\n", escape(text)),
        Block::Note(text) => format!("<p class=\"note\">{}</p>\n", escape(text)),
        Block::Figure { chart, caption, .. } => format!(
            "<figure>\n{}<figcaption>{}</figcaption>\n</figure>\n",
            chart.svg(ChartTarget::Page),
            escape(caption)
        ),
        Block::Table(caption, table) => format!(
            "<div class=\"wide\">\n<table class=\"plain\">\n<caption>{}</caption>\n{}</table>\n</div>\n",
            escape(caption),
            table.html()
        ),
    }
}

/// The command that made a page.
pub(crate) fn how_made(out: &mut String, command: &str) {
    let command = escape(command);
    let _ = writeln!(out, "<h2>How this was made</h2>\n<pre><code>{command}</code></pre>");
}

/// Facts with their names.
pub(crate) fn facts(out: &mut String, facts: &[(&str, String)]) {
    out.push_str("<dl>\n");
    for (name, value) in facts {
        let _ = writeln!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", escape(value));
    }
    out.push_str("</dl>\n");
}

/// That a computation did not come to its end; nothing when it did.
pub(crate) fn stopped_early(out: &mut String, stop: Stop) {
    if stop != Stop::Finished {
        let why = escape(&stop.to_string());
        let _ = writeln!(
            out,
            "<p class=\"note\">Stopped early, {why}: this is the best answer so far.</p>"
        );
    }
}

/// Names and their numbers, each over a bar in proportion to the largest: what is said when a pointer rests
/// on it, the name, the number.
pub(crate) fn bar_table(
    out: &mut String,
    headings: [&str; 2],
    rows: impl Iterator<Item = (Option<String>, String, f64)> + Clone,
) {
    let largest = rows.clone().map(|row| row.2).fold(f64::MIN_POSITIVE, f64::max);
    let _ = writeln!(
        out,
        "<table class=\"bars\">\n<thead><tr><th>{}</th><th class=\"number\">{}</th></tr></thead>\n<tbody>",
        headings[0], headings[1]
    );
    for (said, name, value) in rows {
        let share = (100.0 * value / largest).clamp(0.0, 100.0);
        let said = said.map_or_else(String::new, |said| format!(" title=\"{}\"", escape(&said)));
        let _ = writeln!(
            out,
            "<tr style=\"--share:{share:.1}%\"><td{said}><bdi>{}</bdi></td>\
             <td class=\"number\">{}</td></tr>",
            escape(&name),
            short(value)
        );
    }
    out.push_str("</tbody>\n</table>\n");
}

/// Three or four significant digits, in powers of ten only where they are needed.
pub(crate) fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        a if (1e-3..1e6).contains(&a) => {
            let digits = (3 - a.log10().floor() as i32).clamp(0, 5) as usize;
            format!("{value:.digits$}")
        }
        _ => format!("{value:.2e}"),
    }
}

/// Text that is safe inside elements and quoted attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c => out.push(visible(c)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Axis, Series};
    use crate::table::Align;

    #[test]
    fn an_article_is_one_file_with_all_its_parts() {
        let mut section = Section::new("one", "One & only");
        section.text("plain <text>");
        section.note("careful");
        let mut table = Table::new(&[("name", Align::Left), ("x", Align::Right)]);
        table.row(["<i>".into(), "1".into()]);
        section.table("a table", table);
        let chart = Chart {
            title: "t".into(),
            x: Axis::linear("x", 0.0, 1.0),
            y: Axis::linear("y", 0.0, 1.0),
            series: vec![Series::new("s", 0, vec![(0.0, 0.0), (1.0, 1.0)])],
            levels: vec![],
        };
        section.figure("figure", chart, "a chart");
        assert_eq!(section.charts().next().unwrap().0, "figure");
        let article = Article {
            title: "Title".into(),
            lead: "lead".into(),
            sections: vec![section.clone(), section],
            command: "hottopixx reproduce".into(),
        };
        let page = article.html();
        for part in ["One &amp; only", "plain &lt;text&gt;", "&lt;i&gt;", "<svg", "href=\"#one\""] {
            assert!(page.contains(part), "{part}");
        }
        let markdown = article.markdown();
        for part in ["# Title", "## One & only", "![t](figure.svg)", "| --- | ---: |"] {
            assert!(markdown.contains(part), "{part} is not in {markdown}");
        }
        // The name of the SVG dialect is no address.
        let page = page.replace("http://www.w3.org/2000/svg", "");
        for outside in ["http:", "https:", "src=", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
    }

    #[test]
    fn only_the_script_of_the_page_runs() {
        // As `printf abc | sha256sum | xxd -r -p | base64` has it.
        assert_eq!(digest("abc"), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
        let page = shell("t", "", "", "go();\n");
        let rule = format!("script-src 'sha256-{}'", digest("\ngo();\n"));
        assert!(page.contains(&rule) && page.contains("<script>\ngo();\n</script>"), "{page}");
        let still = shell("t", "", "", "");
        assert!(still.contains("default-src 'none'") && !still.contains("script-src"));
    }

    #[test]
    fn numbers_are_short() {
        let shown = [0.0, 0.91, 12.5, 1234.0, 1e-5, 3e9].map(short);
        assert_eq!(shown, ["0", "0.9100", "12.50", "1234", "1.00e-5", "3.00e9"]);
    }

    #[test]
    fn characters_that_act_on_others_are_shown() {
        assert_eq!(escape("a\u{202e}<\u{7}\u{2067}\n"), "a\u{fffd}&lt;\u{fffd}\u{fffd}\n");
        assert_eq!(escape("עברית \u{200f}"), "עברית \u{200f}");
    }
}

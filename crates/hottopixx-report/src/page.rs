//! HTML pages that are one file: style and drawings within, nothing asked of the network, light or
//! dark as the reader has it, every text from outside escaped.

use crate::plot::{Chart, ChartTarget};
use crate::table::Table;
use std::fmt::Write as _;

const STYLE: &str = include_str!("report.css");

/// The whole page around `body`, which must be safe already; `script` may be empty.
pub(crate) fn shell(title: &str, body: &str, script: &str) -> String {
    let script =
        if script.is_empty() { String::new() } else { format!("<script>\n{script}</script>\n") };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n\
         {script}</body>\n</html>\n",
        escape(title)
    )
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
        chart: Chart,
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
        self.blocks.push(Block::Figure { name, chart, caption });
    }

    /// Adds a table.
    pub fn table(&mut self, caption: impl Into<String>, table: Table) {
        self.blocks.push(Block::Table(caption.into(), table));
    }

    /// The charts, with the names of their files.
    pub fn charts(&self) -> impl Iterator<Item = (&str, &Chart)> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Figure { name, chart, .. } => Some((name.as_str(), chart)),
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
        let _ = write!(
            body,
            "<h2>How this was made</h2>\n<pre><code>{}</code></pre>\n",
            escape(&self.command)
        );
        shell(&self.title, &body, "")
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
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
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
}

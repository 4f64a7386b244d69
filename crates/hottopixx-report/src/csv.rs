//! `hott.csv`, one line per topic, `rows.csv` and `documents.csv`, for spreadsheets and scripts.
//!
//! Names come out of files of others, and programs for tables take a cell that begins with `=`, `+`, `-`, `@`
//! or a tab for a formula, which may call other programs: such a cell gets an apostrophe in front, unless
//! it is a number. In a list, `;` and `\` of a name stand behind a `\`.

use crate::named::name_of;
use crate::{NamedHott, RowValue, Summary};
use hottopixx::HottRow;
use hottopixx::matrix::Matrix;
use std::io::{self, Write};

/// Header `topic,row,name,weight,group,members`; topics from 1, rows from 0, lists separated by `;`.
pub fn hott(summary: &Summary) -> String {
    let mut out = String::from("topic,row,name,weight,group,members\n");
    for (k, topic) in summary.hott.iter().enumerate() {
        let NamedHott { hott: HottRow { row, weight, group }, name } = &topic.named;
        let group: Vec<String> = group.iter().map(usize::to_string).collect();
        let members: Vec<String> = topic.members.iter().map(RowValue::label).collect();
        let members = list(&members);
        let cells = [
            (k + 1).to_string(),
            row.to_string(),
            name.clone().unwrap_or_default(),
            weight.to_string(),
            group.join(";"),
            members,
        ];
        push_line(&mut out, &cells);
    }
    out
}

/// Topic shares of every document (`shares` is documents x topics): header `document` and the
/// topics' labels, then one line per document.
pub fn documents(labels: &[String], shares: &Matrix, names: Option<&[String]>) -> String {
    let mut out = String::new();
    push_line(&mut out, &[&["document".to_owned()], labels].concat());
    for d in 0..shares.rows() {
        let mut row = vec![0.0; shares.cols()];
        shares.row(d).add_to(1.0, &mut row);
        let name = names.and_then(|names| names.get(d).cloned()).unwrap_or_else(|| d.to_string());
        let cells = std::iter::once(name).chain(row.iter().map(f64::to_string));
        push_line(&mut out, &cells.collect::<Vec<_>>());
    }
    out
}

/// Every row of the input: header `row,name,error` and the names of more columns, whose values (rows x
/// columns) come behind the error. A row that was set aside (`without`, increasing) has no error.
///
/// # Errors
/// Those of `out`.
pub fn rows(
    out: &mut dyn Write,
    (per_row, without): (&[f64], &[usize]),
    names: Option<&[String]>,
    (more, values): (&[String], &Matrix),
) -> io::Result<()> {
    let mut text = String::new();
    let first = ["row", "name", "error"].map(str::to_owned);
    push_line(&mut text, &first.iter().chain(more).cloned().collect::<Vec<_>>());
    let mut row = vec![0.0; values.cols()];
    for (i, error) in per_row.iter().enumerate() {
        row.fill(0.0);
        values.row(i).add_to(1.0, &mut row);
        let aside = without.binary_search(&i).is_ok();
        let error = if aside { String::new() } else { error.to_string() };
        let first = [i.to_string(), name_of(i, names).unwrap_or_default(), error];
        let cells = first.into_iter().chain(row.iter().map(f64::to_string));
        push_line(&mut text, &cells.collect::<Vec<_>>());
        out.write_all(text.as_bytes())?;
        text.clear();
    }
    out.write_all(text.as_bytes())
}

/// Every new column: header `column,name,error` and the labels of the hott rows, whose entries (hott rows x
/// columns) come behind the error.
///
/// # Errors
/// Those of `out`.
pub fn columns(
    out: &mut dyn Write,
    per_column: &[f64],
    names: Option<&[String]>,
    (labels, w): (&[String], &Matrix),
) -> io::Result<()> {
    let mut text = String::new();
    let first = ["column", "name", "error"].map(str::to_owned);
    push_line(&mut text, &[&first[..], labels].concat());
    let by_column = w.transpose();
    let mut entries = vec![0.0; w.rows()];
    for (k, error) in per_column.iter().enumerate() {
        entries.fill(0.0);
        by_column.row(k).add_to(1.0, &mut entries);
        let first = [k.to_string(), name_of(k, names).unwrap_or_default(), error.to_string()];
        let cells = first.into_iter().chain(entries.iter().map(f64::to_string));
        push_line(&mut text, &cells.collect::<Vec<_>>());
        out.write_all(text.as_bytes())?;
        text.clear();
    }
    out.write_all(text.as_bytes())
}

/// Adds a line of cells, quoted where that is needed.
pub(crate) fn push_line(out: &mut String, cells: &[String]) {
    let quoted: Vec<String> = cells.iter().map(|cell| quote(cell)).collect();
    out.push_str(&quoted.join(","));
    out.push('\n');
}

/// Names in one cell, which can be taken apart again.
pub(crate) fn list<S: AsRef<str>>(names: &[S]) -> String {
    let escaped = |name: &S| harmless(&name.as_ref().replace('\\', "\\\\").replace(';', "\\;"));
    names.iter().map(escaped).collect::<Vec<_>>().join(";")
}

/// The cell as text, also to programs that look for formulas.
fn harmless(cell: &str) -> String {
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if formula && cell.parse::<f64>().is_err() { format!("'{cell}") } else { cell.to_owned() }
}

fn quote(cell: &str) -> String {
    let cell = &harmless(cell);
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::example;
    use hottopixx::matrix::Dense;

    #[test]
    fn quotes_only_where_needed() {
        let mut summary = example();
        summary.hott[1].named.name = Some("a,\"b\"".into());
        let text = hott(&summary);
        assert!(text.starts_with("topic,row,name,weight,group,members\n"), "{text}");
        assert!(text.contains("1,12,oil,0.97,12;31,crude;opec\n"), "{text}");
        assert!(text.contains("2,7,\"a,\"\"b\"\"\",1,7,grain\n"), "{text}");
    }

    #[test]
    fn names_are_no_formulas_and_lists_can_be_taken_apart() {
        let mut summary = example();
        for (name, cell) in [
            ("=cmd|'/c calc'!A1", "'=cmd|'/c calc'!A1"),
            ("+1+2", "'+1+2"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("-x", "'-x"),
            ("\t=1", "'\t=1"),
            ("-1.5e3", "-1.5e3"),
            ("a=b", "a=b"),
        ] {
            summary.hott[0].named.name = Some(name.into());
            let text = hott(&summary);
            assert!(text.contains(&format!("\n1,12,{cell},0.97,")), "{text}");
        }
        assert_eq!(list(&["a;b", "c\\", "=d", "e"]), "a\\;b;c\\\\;'=d;e");
    }

    #[test]
    fn one_line_per_row_and_no_error_where_there_is_none() {
        let values = Dense::from_rows(&[[0.5], [0.0], [1.0]]).unwrap().into();
        let names = ["a,b", "", "=c"].map(str::to_owned);
        let mut out = Vec::new();
        let errors = ([0.1 + 0.2, 0.0, 0.0], [1]);
        let more = (&["oil".to_owned()][..], &values);
        rows(&mut out, (&errors.0, &errors.1), Some(&names), more).unwrap();
        let text = String::from_utf8(out).unwrap();
        let expected = "row,name,error,oil\n0,\"a,b\",0.30000000000000004,0.5\n1,,,0\n2,'=c,0,1\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn one_line_per_document() {
        let shares = Dense::from_rows(&[[0.5, 0.5], [0.0, 1.0], [1.0, 0.0]]).unwrap().into();
        let labels = ["oil", "<b>wheat"].map(str::to_owned);
        let text = documents(&labels, &shares, None);
        assert_eq!(text, "document,oil,<b>wheat\n0,0.5,0.5\n1,0,1\n2,1,0\n");
    }
}

//! What becomes of an answer: JSON or text on standard output, files in a folder.

use crate::args::Output;
use crate::failure::{Failure, print};
use crate::problem::Problem;
use hottopixx::Factorization;
use hottopixx::control::Stop;
use hottopixx::matrix::Matrix;
use hottopixx::text;
use hottopixx_io::write;
use hottopixx_report::text::{banner, facts, line, topics};
use hottopixx_report::{Summary, csv, html};
use std::path::{Path, PathBuf};

/// Makes the folder of `--out` before anything long begins.
pub fn prepare(folder: Option<&Path>) -> Result<(), Failure> {
    let Some(folder) = folder else { return Ok(()) };
    if folder.exists() && !folder.is_dir() {
        return Err(Failure::Wrong(format!(
            "{} is a file: give --out the name of a folder",
            folder.display()
        )));
    }
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::Wrong(format!("{}: {error}: choose another folder for --out", folder.display()))
    })
}

/// Writes the files, then prints the answer: as JSON, or as `text` followed by where the files are.
pub fn deliver(
    output: &Output,
    problem: &Problem,
    answer: &Factorization,
    summary: &Summary,
    text: &str,
) -> Result<(), Failure> {
    let written = match &output.out {
        Some(folder) => files(folder, problem, answer, summary)?,
        None => Vec::new(),
    };
    if output.json {
        print(&json(summary))?;
    } else {
        let mut text = text.to_owned();
        if let Some(folder) = &output.out {
            line(&mut text, "written", &format!("{}: {}", folder.display(), written.join(", ")));
        }
        print(&text)?;
    }
    if summary.stop != Stop::Interrupted {
        return Ok(());
    }
    Err(Failure::Interrupted(match &output.out {
        Some(folder) => format!("interrupted: the best answer so far is in {}", folder.display()),
        None => "interrupted: this was the best answer so far".to_owned(),
    }))
}

/// An object as JSON over several lines.
pub fn json(value: &impl serde::Serialize) -> String {
    // Numbers, strings and lists only: this cannot fail.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

/// The files of `--out`, each complete or absent. Gives their names.
fn files(
    folder: &Path,
    problem: &Problem,
    answer: &Factorization,
    summary: &Summary,
) -> Result<Vec<String>, Failure> {
    let mut written = vec!["hott.csv".to_owned()];
    write::bytes(folder.join("hott.csv"), csv::hott(summary))?;
    for (name, factor) in [("F", &answer.f), ("W", &answer.w)] {
        written.push(file_name(&matrix(folder, name, factor)?));
    }
    if let Some(counts) = &problem.counts {
        let shares = document_topics(problem, answer, counts)?;
        let table = csv::documents(summary, &shares, problem.column_names.as_deref());
        write::bytes(folder.join("documents.csv"), table)?;
        written.push("documents.csv".to_owned());
    }
    write::bytes(folder.join("summary.json"), json(summary))?;
    let page = html::page(summary, &command_line());
    write::bytes(folder.join("report.html"), page)?;
    written.extend(["summary.json", "report.html"].map(String::from));
    Ok(written)
}

/// Documents x topics: how much of each document each topic is.
fn document_topics(
    problem: &Problem,
    answer: &Factorization,
    counts: &Matrix,
) -> Result<Matrix, Failure> {
    let f = problem.keep_rows(&answer.f);
    text::topic_given_word(&f, &answer.w)
        .and_then(|given| text::document_topics(counts, &given))
        .map_err(|error| problem.failure(error))
}

/// Writes a factor under its name and removes a leftover of the other kind.
pub fn matrix(folder: &Path, stem: &str, matrix: &Matrix) -> Result<PathBuf, Failure> {
    let path = write::matrix(folder, stem, matrix)?;
    let other = path.with_extension(match matrix {
        Matrix::Dense(_) => "npz",
        Matrix::Sparse(_) => "npy",
    });
    // A factor of an earlier run beside this one would be read as part of this answer.
    let _ = std::fs::remove_file(other);
    Ok(path)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The command line of this run as it can be typed again.
pub fn command_line() -> String {
    quoted(std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()))
}

fn quoted(args: impl IntoIterator<Item = String>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,=:@%+".contains(c);
    let words = args.into_iter().enumerate().map(|(k, arg)| {
        if k == 0 {
            "hottopixx".to_owned()
        } else if !arg.is_empty() && arg.chars().all(plain) {
            arg
        } else {
            format!("'{}'", arg.replace('\'', "'\\''"))
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Banner, topics and facts: the answer for a terminal.
pub fn human(summary: &Summary) -> String {
    format!("{}\n{}\n{}", banner(summary), topics(summary), facts(summary))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_can_be_typed_again() {
        let args = ["/usr/bin/hottopixx", "factor", "my file.csv", "--rank", "3", "it's"];
        assert_eq!(
            quoted(args.map(String::from)),
            "hottopixx factor 'my file.csv' --rank 3 'it'\\''s'"
        );
    }
}

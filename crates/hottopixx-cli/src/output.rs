//! What becomes of an answer: JSON or text on standard output, files in a folder.

use crate::args::OutputArgs;
use crate::earlier::{COOCCURRENCE, DUAL, VOCABULARY};
use crate::failure::{Failure, print};
use crate::launch;
use crate::problem::Problem;
use hottopixx::Factorization;
use hottopixx::control::Stop;
use hottopixx::matrix::{Dense, Matrix};
use hottopixx::text;
use hottopixx_io::write::{self, FileRecord, FileSet};
use hottopixx_report::table::{WIDTH, plain_json};
use hottopixx_report::text::{banner, facts, line, topics, wrapped};
use hottopixx_report::{Summary, Topic, csv, html};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;

/// The names of the files that are being written to a folder, one per line. It is there only until all
/// of them are: then the main file (summary.json and the like) tells whose they are.
const RECORD: &str = ".hottopixx-files";
/// The main file of answers, which replace each other in a folder whatever command they are of.
pub const SUMMARY: &str = "summary.json";
/// A file that is larger says nothing about who wrote a folder.
const LARGEST_JSON: u64 = 1 << 28;
/// The duals of the cuts behind a bound for choices, one per row.
pub const CHOICE: &str = "choice_Y";
/// The input with guesses where entries were missing.
const COMPLETED: &str = "completed";
/// The matrices of a certificate.
pub const CERTIFICATE: [&str; 5] = ["X", "C", "d", "Y", CHOICE];

/// What `--out` can hold after `factor`, `evaluate` or `demo`.
pub fn answer_files() -> Vec<String> {
    let names =
        ["hott.csv", "rows.csv", "documents.csv", VOCABULARY, DUAL, "summary.json", "report.html"];
    let matrices = matrix_files(&["F", "W", COMPLETED, COOCCURRENCE]);
    names.into_iter().map(str::to_owned).chain(matrices).collect()
}

/// What `--out` can hold after `apply` of an answer of `factor`.
pub fn applied_files() -> Vec<String> {
    let names = ["rows.csv", "columns.csv", "documents.csv", "summary.json"].map(str::to_owned);
    names.into_iter().chain(matrix_files(&["F", "W"])).collect()
}

/// What `--out` holds after `topics`.
pub fn topics_files() -> Vec<String> {
    ["topics.csv", "documents.csv", "words.csv", "model.json", "summary.json", "report.html"]
        .map(str::to_owned)
        .to_vec()
}

/// What `--out` holds after `unmix`.
pub fn unmix_files() -> Vec<String> {
    let matrices = ["abundances", "spectra", "pixel_spectra", "errors"];
    let names = ["materials.csv", "summary.json", "report.html"].map(str::to_owned);
    names.into_iter().chain(matrices.map(|stem| format!("{stem}.npy"))).collect()
}

/// The names that matrices with these stems can have.
pub fn matrix_files(stems: &[&str]) -> Vec<String> {
    stems.iter().flat_map(|stem| [format!("{stem}.npy"), format!("{stem}.npz")]).collect()
}

/// Makes the folder of `--out` before anything long begins, and refuses to go on where one of `files`
/// would replace a file that the run `reads` or that this program has not written.
pub fn prepare(
    folder: Option<&Path>,
    reads: &[Option<&Path>],
    files: &[String],
) -> Result<(), Failure> {
    let Some(folder) = folder else { return Ok(()) };
    if folder.exists() && !folder.is_dir() {
        return Err(Failure::Wrong(format!(
            "{} is a file: give --out the name of a folder",
            folder.display()
        )));
    }
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::Wrong(format!("{}: {error}: choose another folder for --out", folder.display()))
    })?;
    let mut ours = None;
    for file in files {
        let path = folder.join(file);
        if path.symlink_metadata().is_err() {
            continue;
        }
        if reads.iter().flatten().any(|read| is_same_file(read, &path)) {
            return Err(Failure::Wrong(format!(
                "{} is read by this command and would be replaced: give --out another folder",
                path.display()
            )));
        }
        if !ours.get_or_insert_with(|| written_before(folder)).contains(file) {
            return Err(Failure::Wrong(format!(
                "{} exists and was not written by hottopixx: give --out a new folder, or move the \
                 file away",
                path.display()
            )));
        }
    }
    Ok(())
}

/// Whether two names, through links or not, stand for one file.
fn is_same_file(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(a), Ok(b)) = (std::fs::metadata(a), std::fs::metadata(b)) {
        use std::os::unix::fs::MetadataExt as _;
        return (a.dev(), a.ino()) == (b.dev(), b.ino());
    }
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Notes, before they are written, that these files of a folder are ours: whatever ends the program
/// meanwhile, the next run may replace them.
pub fn record(folder: &Path, files: &[String]) -> Result<(), Failure> {
    let mut all = recorded(folder);
    all.extend(files.iter().cloned());
    let lines: String = all.iter().map(|file| format!("{file}\n")).collect();
    write::remove_orphans(folder.join(RECORD));
    Ok(write::bytes(folder.join(RECORD), lines)?)
}

/// All files are written, the main file among them: no note is needed any more.
pub fn settle(folder: &Path) {
    // A note that stays does no harm.
    let _ = std::fs::remove_file(folder.join(RECORD));
}

fn recorded(folder: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(folder.join(RECORD)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// The files of a folder that this program has written, as its main files tell or as noted by a run
/// that did not end.
pub fn written_before(folder: &Path) -> BTreeSet<String> {
    let mut ours = recorded(folder);
    ours.extend(earlier_answer(folder));
    let object = |name: &str| object(&folder.join(name));
    if object("certificate.json").is_some_and(|v| has(&v, &["certificate", "rows", "version"])) {
        ours.extend(matrix_files(&CERTIFICATE));
        ours.insert("certificate.json".to_owned());
    }
    if is_reproduced(folder) {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
        let kinds = [".svg", ".csv", "index.html", "index.md"];
        ours.extend(names.filter(|name| kinds.iter().any(|kind| name.ends_with(kind))));
    }
    if let Some(value) = object("partitions.json")
        && let Some(parts) = value["partitions"].as_array()
    {
        // Names only: a path would lead out of the folder.
        let names = parts.iter().filter_map(|part| part.as_str());
        let names = names.filter(|name| Path::new(name).file_name() == Some(OsStr::new(name)));
        ours.extend(names.map(str::to_owned));
        ours.extend(["partitions.json", "vocabulary.txt"].map(str::to_owned));
    }
    ours
}

/// What a JSON file holds; `None` for none, and for one that is larger than ours are.
fn object(path: &Path) -> Option<serde_json::Value> {
    let small = path.metadata().is_ok_and(|m| m.is_file() && m.len() <= LARGEST_JSON);
    serde_json::from_slice(&std::fs::read(path).ok().filter(|_| small)?).ok()
}

fn has(value: &serde_json::Value, keys: &[&str]) -> bool {
    keys.iter().all(|key| !value[*key].is_null())
}

/// The command whose answer a folder holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerKind {
    /// `factor`, and what gives answers of its kind.
    Factor,
    /// `topics`.
    Topics,
    /// `unmix`.
    Unmix,
}

/// Whose answer a folder holds, as its main file tells.
pub fn answer_kind(folder: &Path) -> Option<AnswerKind> {
    let summary = object(&folder.join(SUMMARY)).filter(|summary| has(summary, &["version"]))?;
    [
        (AnswerKind::Factor, ["hott", "error"]),
        (AnswerKind::Topics, ["topics", "perplexity"]),
        (AnswerKind::Unmix, ["materials", "mean_error"]),
    ]
    .into_iter()
    .find_map(|(kind, keys)| has(&summary, &keys).then_some(kind))
}

/// The files that the answer in a folder can have.
fn earlier_answer(folder: &Path) -> Vec<String> {
    match answer_kind(folder) {
        None => Vec::new(),
        Some(AnswerKind::Factor) => answer_files().into_iter().chain(applied_files()).collect(),
        Some(AnswerKind::Topics) => topics_files(),
        Some(AnswerKind::Unmix) => unmix_files(),
    }
}

/// Prints the answer, as JSON or as `text`, then writes the files and tells where they are: a disk that is
/// full must not lose what was found, nor must a terminal that is gone.
pub fn deliver(
    output: &OutputArgs,
    problem: &Problem,
    answer: &Factorization,
    summary: &Summary,
    text: &str,
) -> Result<(), Failure> {
    let printed = print(&if output.json { json(summary) } else { text.to_owned() });
    if let Some(folder) = &output.out {
        let written = files(folder, problem, answer, summary)?;
        tell_written(folder, &written, output.json)?;
    }
    printed?;
    if summary.stop != Stop::Interrupted {
        return Ok(());
    }
    Err(Failure::Interrupted(match &output.out {
        Some(folder) => format!("interrupted: the best answer so far is in {}", folder.display()),
        None => "interrupted: this was the best answer so far".to_owned(),
    }))
}

/// A sentence beside its label, over as many lines as it takes.
pub fn paragraph(out: &mut String, label: &str, text: &str) {
    for (k, text) in wrapped(text, WIDTH - 10).iter().enumerate() {
        line(out, if k == 0 { label } else { "" }, text);
    }
}

/// What ends an answer for people.
pub fn tell_written(folder: &Path, written: &[String], json: bool) -> Result<(), Failure> {
    if json {
        return Ok(());
    }
    let mut text = String::new();
    paragraph(&mut text, "written", &format!("{}: {}", folder.display(), written.join(", ")));
    print(&text)
}

/// An object as JSON over several lines, in which no character acts on a terminal.
pub fn json(value: &impl serde::Serialize) -> String {
    // Numbers, strings and lists only: this cannot fail.
    let mut text = plain_json(&serde_json::to_string_pretty(value).unwrap_or_default());
    text.push('\n');
    text
}

/// The files of `--out`, all of them or none. Gives their names.
fn files(
    folder: &Path,
    problem: &Problem,
    answer: &Factorization,
    summary: &Summary,
) -> Result<Vec<String>, Failure> {
    let mut set = FileSet::new(folder, &answer_files());
    set.bytes("hott.csv", csv::hott(summary))?;
    for (name, factor) in [("F", &answer.f), ("W", &answer.w)] {
        set.matrix(name, factor)?;
    }
    if let Some(completion) = &answer.completion {
        set.matrix(COMPLETED, &completion.matrix)?;
    }
    let diagonal = answer.diagonal.clone().unwrap_or_default();
    let more: &[String] = if diagonal.is_empty() { &[] } else { &["diagonal".to_owned()] };
    let diagonal = Dense::new(answer.errors.per_row.len(), more.len(), diagonal)
        .map_err(|error| problem.failure(error))?;
    let errors = (&answer.errors.per_row[..], &answer.zero_rows[..]);
    let names = problem.names.as_deref();
    set.write("rows.csv", |file| csv::rows(file, errors, names, (more, &diagonal.into())))?;
    if let Some(counts) = &problem.counts {
        let shares = document_topics(problem, (&answer.f, &answer.w), counts)?;
        let labels: Vec<String> = summary.hott.iter().map(Topic::label).collect();
        let table = csv::documents(&labels, &shares, problem.column_names.as_deref());
        set.bytes("documents.csv", table)?;
    }
    if let Some(words) = &problem.words {
        set.matrix(COOCCURRENCE, &problem.matrix)?;
        set.bytes(VOCABULARY, serde_json::to_string(words).unwrap_or_default())?;
        if let Some(dual) = &answer.dual {
            set.bytes(DUAL, dual.to_bytes())?;
        }
    }
    set.bytes("report.html", html::page(summary, &command_line()))?;
    commit(folder, set, SUMMARY, summary, &answer_files())
}

/// The main file of an answer: what it says, and which files belong to it.
#[derive(Serialize)]
struct MainFile<'a, T> {
    #[serde(flatten)]
    says: &'a T,
    files: BTreeMap<String, Contents>,
}

/// Size and hash of a file, as main files list them.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Contents {
    bytes: u64,
    sha256: String,
}

/// Adds the main file, which lists the others, and gives all of them their names. `ours` are the files of
/// the folder that this program may have written. What an earlier answer had and this one has not goes away: it would be
/// taken for a part of this one.
pub fn commit(
    folder: &Path,
    mut set: FileSet,
    main: &str,
    says: &impl Serialize,
    ours: &[String],
) -> Result<Vec<String>, Failure> {
    let listed = |FileRecord { name, bytes, sha256 }| (name, Contents { bytes, sha256 });
    let files = set.records()?.into_iter().map(listed).collect();
    set.bytes(main, json(&MainFile { says, files }))?;
    let names = set.names();
    if main == SUMMARY {
        let stale = earlier_answer(folder).into_iter().filter(|file| !names.contains(file));
        stale.for_each(|file| set.remove(&file));
    }
    record(folder, ours)?;
    set.commit()?;
    settle(folder);
    Ok(names)
}

/// Whether these files of a folder are those that its main file lists; of a main file that lists none,
/// nothing is asked.
pub fn check_files(folder: &Path, main: &str, files: &[&str]) -> Result<(), Failure> {
    #[derive(Deserialize)]
    struct Listed {
        #[serde(default)]
        files: BTreeMap<String, Contents>,
    }
    let path = folder.join(main);
    if !path.exists() {
        return Ok(());
    }
    let wrong = |file: &str, what: String| {
        Err(Failure::Wrong(format!(
            "{}: {what}: run the command again",
            folder.join(file).display()
        )))
    };
    let listed: Listed = match crate::json::read(&path) {
        Ok(listed) => listed,
        Err(what) => return wrong(main, what),
    };
    for file in files {
        let Some(expected) = listed.files.get(*file) else { continue };
        match FileRecord::of(folder, file) {
            Ok(found) if (found.bytes, &found.sha256) == (expected.bytes, &expected.sha256) => {}
            Ok(_) => return wrong(file, format!("it is not of the run that wrote {main}")),
            Err(error) => return wrong(file, format!("cannot be read ({error})")),
        }
    }
    Ok(())
}

/// Whether `reproduce` has written a page to this folder: its last lines name the command.
fn is_reproduced(folder: &Path) -> bool {
    let page = std::fs::read_to_string(folder.join("index.md")).unwrap_or_default();
    page.contains("hottopixx reproduce ")
}

/// Documents x topics: how much of each document each topic is.
pub fn document_topics(
    problem: &Problem,
    (f, w): (&Matrix, &Matrix),
    counts: &Matrix,
) -> Result<Matrix, Failure> {
    let f = problem.keep_rows(f);
    text::topic_given_word(&f, w)
        .and_then(|given| text::document_topics(counts, &given))
        .map_err(|error| problem.failure(error))
}

/// The command line of this run as it can be typed again.
pub fn command_line() -> String {
    quoted(launch::words().iter().map(|arg| arg.to_string_lossy().into_owned()))
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
    fn only_files_of_ours_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let files = matrix_files(&["X"]);
        let input = at("data.npy");
        std::fs::write(&input, "numbers").unwrap();
        let go = |files: &[String]| prepare(Some(folder.path()), &[Some(&input), None], files);
        let refused = |files: &[String]| match go(files) {
            Err(Failure::Wrong(sentence)) => sentence,
            other => panic!("{other:?}"),
        };
        assert_eq!(go(&files), Ok(()));
        // A file of the user, also one of the other kind that would be removed.
        for name in ["X.npy", "X.npz"] {
            std::fs::write(at(name), "mine").unwrap();
            let sentence = refused(&files);
            assert!(sentence.contains(name) && sentence.contains("not written by"), "{sentence}");
            std::fs::remove_file(at(name)).unwrap();
        }
        // Ours, once they are recorded; records add up.
        record(folder.path(), &files).unwrap();
        record(folder.path(), &["other".to_owned()]).unwrap();
        std::fs::write(at("X.npy"), "ours").unwrap();
        assert_eq!(go(&files), Ok(()));
        // The input, by name and through links, whoever wrote it.
        assert!(refused(&["data.npy".to_owned()]).contains("is read by this command"));
        std::fs::remove_file(at("X.npy")).unwrap();
        std::fs::hard_link(&input, at("X.npy")).unwrap();
        assert!(refused(&files).contains("is read by this command"));
        #[cfg(unix)]
        {
            std::fs::remove_file(at("X.npy")).unwrap();
            std::os::unix::fs::symlink(&input, at("X.npy")).unwrap();
            assert!(refused(&files).contains("is read by this command"));
        }
    }

    #[test]
    fn a_main_file_tells_whose_a_folder_is() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let go = |files: &[String]| prepare(Some(folder.path()), &[], files);
        std::fs::write(at("F.npy"), "").unwrap();
        for json in ["", "[]", "{\"hott\": []}", "3"] {
            std::fs::write(at("summary.json"), json).unwrap();
            assert!(go(&answer_files()).is_err(), "{json}");
        }
        let json = "{\"hott\": [], \"error\": {}, \"version\": \"0.1.0\"}";
        std::fs::write(at("summary.json"), json).unwrap();
        assert_eq!(go(&answer_files()), Ok(()));
        std::fs::write(at("X.npy"), "").unwrap();
        assert!(go(&matrix_files(&["X"])).is_err());
        let json = "{\"certificate\": {}, \"rows\": [0], \"version\": \"0.1.0\"}";
        std::fs::write(at("certificate.json"), json).unwrap();
        assert_eq!(go(&matrix_files(&["X"])), Ok(()));
    }

    #[test]
    fn the_command_line_can_be_typed_again() {
        let args = ["/usr/bin/hottopixx", "factor", "my file.csv", "--rank", "3", "it's"];
        assert_eq!(
            quoted(args.map(String::from)),
            "hottopixx factor 'my file.csv' --rank 3 'it'\\''s'"
        );
    }
}

//! What a file looks like, what is wrong with it, and what to run: guesses, and said to be such.
//!
//! Rows should be features. Of word counts, words are the side whose totals differ most (Zipf); of
//! other tables, features are the side whose sums are farther apart, since examples share the units
//! of their features.

use crate::args::InfoArgs;
use hottopixx_io::{Aside, Format, Numbers, Survey};
use hottopixx_report::text::grouped;
use std::path::Path;

/// What to tell.
pub struct Advice {
    /// What rows look like, where something tells.
    pub looks: Option<Looks>,
    /// What stands in the way of a factorization, with the remedy.
    pub problems: Vec<String>,
    /// Commands to run.
    pub next: Vec<String>,
}

/// What rows look like.
pub struct Looks {
    /// Whether they are features, as they should be.
    pub features: bool,
    /// What tells.
    pub why: String,
}

impl Looks {
    /// In a word.
    pub fn what(&self) -> &'static str {
        if self.features { "features" } else { "examples" }
    }
}

/// How much farther apart one side must be to tell.
const TELLING: f64 = 1.5;

/// How far apart they must be at all.
const LEAST: f64 = 0.5;

impl Advice {
    /// Looks at what was found.
    pub fn new(survey: &Survey, args: &InfoArgs) -> Self {
        let counts = survey.numbers.as_ref().is_some_and(|n| are_counts(survey, n));
        let looks = looks(survey, args.file.transpose, counts);
        let problems = problems(survey);
        let turn = looks.as_ref().is_some_and(|looks| !looks.features);
        // No command takes what no flag can mend.
        let next = if is_hopeless(survey) { Vec::new() } else { next(survey, args, counts, turn) };
        Advice { looks, problems, next }
    }
}

/// Counts of words in documents: sparse whole numbers.
fn are_counts(survey: &Survey, numbers: &Numbers) -> bool {
    let (rows, columns) = survey.shape.unwrap_or((0, 0));
    let entries = rows as f64 * columns as f64;
    numbers.whole
        && numbers.negative == 0
        && numbers.missing + numbers.infinite == 0
        && numbers.nonzeros as f64 <= 0.3 * entries
        && rows >= 10
        && columns >= 10
}

fn looks(survey: &Survey, transposed: bool, counts: bool) -> Option<Looks> {
    let found = |features, why: &str| Some(Looks { features, why: why.to_owned() });
    match survey.format {
        Format::BagOfWords => return found(!transposed, "a bag of words has a row for each word"),
        Format::SvmLight => return found(transposed, "svmlight files have one example per line"),
        _ => {}
    }
    if let Some(layout) = survey.table.as_ref().filter(|layout| layout.header) {
        let aside = layout.set_aside.iter().map(|(_, why)| *why).chain(layout.index_role);
        let kinds: Vec<Aside> = aside.collect();
        if kinds.contains(&Aside::Time) {
            return found(transposed, "the table has a time for each of its rows");
        }
        if layout.index_role.is_none_or(|role| role == Aside::Id) {
            return found(transposed, "the table names its columns and not its rows");
        }
    }
    let numbers = survey.numbers.as_ref()?;
    let (rows, columns) = if counts {
        (numbers.row_spread, numbers.col_spread)
    } else {
        (numbers.row_scale, numbers.col_scale)
    };
    if rows.max(columns) < LEAST || rows.max(columns) < TELLING * rows.min(columns) {
        return None;
    }
    let features = rows > columns;
    let (side, other) = if features { ("rows", "columns") } else { ("columns", "rows") };
    let why = if counts {
        format!("the {side} differ in their totals as words do")
    } else {
        format!("sums of {side} are farther apart than those of {other}")
    };
    Some(Looks { features, why })
}

/// Whether there are entries that every command refuses whatever its flags.
fn is_hopeless(survey: &Survey) -> bool {
    let hopeless = |n: &Numbers| n.negative > 0 || n.infinite > 0 || n.nonzeros == 0;
    survey.numbers.as_ref().is_some_and(hopeless)
}

fn entries_are(number: u64) -> String {
    if number == 1 {
        "1 entry is".to_owned()
    } else {
        format!("{} entries are", grouped(number as usize))
    }
}

fn problems(survey: &Survey) -> Vec<String> {
    let Some(numbers) = &survey.numbers else { return Vec::new() };
    let mut out = Vec::new();
    if numbers.negative > 0 {
        out.push(format!(
            "{} negative, which no factorization here can explain: shift or clip them, or leave \
             their columns out",
            entries_are(numbers.negative)
        ));
    }
    if numbers.missing > 0 {
        let remedy = if survey.table.is_some() {
            "say --missing observed, zero, drop-rows or drop-columns"
        } else {
            "say --missing observed, fill them, or drop their rows or columns"
        };
        out.push(format!("{} missing: {remedy}", entries_are(numbers.missing)));
    }
    if numbers.infinite > 0 {
        out.push(format!(
            "{} infinite: replace them, or leave their rows or columns out",
            entries_are(numbers.infinite)
        ));
    }
    if numbers.nonzeros == 0 {
        out.push("all entries are zero".to_owned());
    }
    out
}

/// The topics of counts, which 'topics' takes as documents x words; bags of words as they are.
fn topics(survey: &Survey, args: &InfoArgs, words_are_columns: bool) -> String {
    let mut words = vec!["hottopixx".to_owned(), "topics".to_owned(), quoted(&args.path)];
    if let Some(format) = args.file.format {
        words.extend(["--format".to_owned(), format.name().to_owned()]);
    }
    if let Some(key) = &args.file.key {
        words.extend(["--key".to_owned(), shell(key)]);
    }
    words.extend(args.file.table.flags().iter().map(|word| shell(word)));
    if !words_are_columns && survey.format != Format::BagOfWords {
        words.push("--transpose".to_owned());
    }
    words.extend(["--rank", "10"].map(str::to_owned));
    words.join(" ")
}

/// The commands to run, with the flags that were given and those that the guess asks for.
fn next(survey: &Survey, args: &InfoArgs, counts: bool, turn: bool) -> Vec<String> {
    let mut words = vec!["hottopixx".to_owned(), "factor".to_owned(), quoted(&args.path)];
    if let Some(format) = args.file.format {
        words.extend(["--format".to_owned(), format.name().to_owned()]);
    }
    if let Some(key) = &args.file.key {
        words.extend(["--key".to_owned(), shell(key)]);
    }
    let mut given = args.file.table.flags();
    given.iter_mut().for_each(|word| *word = shell(word));
    if let Some(numbers) = &survey.numbers
        && numbers.missing > 0
        && !given.iter().any(|word| word == "--missing")
    {
        // Rows and columns are left out of tables only.
        let policy = match survey.table {
            Some(_) => policy(survey, numbers, args.file.transpose),
            None => "observed",
        };
        given.extend(["--missing", policy].map(str::to_owned));
    }
    words.extend(given);
    if args.file.transpose != turn {
        words.push("--transpose".to_owned());
    }
    let features = survey.shape.map_or(0, |(rows, columns)| if turn { columns } else { rows });
    let examples = survey.shape.map_or(0, |(rows, columns)| if turn { rows } else { columns });
    if counts {
        words.push("--cooccurrence".to_owned());
        // Words in fewer than one document of five hundred say little about topics.
        let least = (examples / 500).clamp(2, 50);
        words.extend(["--min-df".to_owned(), least.to_string()]);
    }
    let rank = (features / 4).clamp(2.min(features.max(1)), 10);
    words.extend(["--rank".to_owned(), rank.to_string()]);
    let factor = words.join(" ");
    match counts {
        true => vec![topics(survey, args, turn), factor],
        false => vec![factor],
    }
}

/// What to do with missing values: leave rows or columns out, whichever leaves more, or the entries alone where neither
/// leaves half.
fn policy(survey: &Survey, numbers: &Numbers, transposed: bool) -> &'static str {
    let (rows, columns) = survey.shape.unwrap_or((1, 1));
    let share = |incomplete: usize, all: u64| incomplete as f64 / all.max(1) as f64;
    let rows = share(numbers.incomplete_rows, rows);
    let columns = share(numbers.incomplete_cols, columns);
    // Rows of the file are columns of a matrix that is turned.
    let (rows, columns) = if transposed { (columns, rows) } else { (rows, columns) };
    if rows.min(columns) > 0.5 {
        "observed"
    } else if rows <= columns {
        "drop-rows"
    } else {
        "drop-columns"
    }
}

pub fn quoted(path: &Path) -> String {
    shell(&path.display().to_string())
}

/// A word as a shell takes it.
pub fn shell(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./,:=#+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) && !word.starts_with('#') {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

//! The answer as it is reported, in names and rows of the input.

use crate::html::diagonal_entries;
use crate::named::{label, name_of};
use crate::rows::explained_rows;
use crate::{ConstraintFacts, ExplainedRow, NamedHott, RunFacts, UpdateFacts};
use hottopixx::control::Stop;
use hottopixx::matrix::Matrix;
use hottopixx::text::Weight;
use hottopixx::{Bounds, Cleaning, Errors, Factorization, HeldOut, HottRow, Objective, RankPath};
use serde::{Deserialize, Serialize};

/// A row of the input with a number: a strong member of a topic, or a badly explained row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RowValue {
    /// Row of the input, from 0.
    pub row: usize,
    /// Its name, where names are known.
    pub name: Option<String>,
    /// The number: an entry of F, or an l1 error.
    pub value: f64,
}

/// One hott topic.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Topic {
    /// The hott row, in the numbering of the input.
    #[serde(flatten)]
    pub named: NamedHott,
    /// Names of the rows of its group, where names are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_names: Option<Vec<String>>,
    /// The rows with the largest entries in this topic's column of F, strongest first.
    pub members: Vec<RowValue>,
}

/// Six significant digits.
pub fn six(value: f64) -> String {
    match value.abs() {
        a if a == 0.0 || (1e-4..1e6).contains(&a) => format!("{value:.*}", decimals(value)),
        _ => format!("{value:.5e}"),
    }
}

/// Six significant digits of a bound from below, which rounding must not raise.
pub fn six_down(value: f64) -> String {
    towards(value, -1.0)
}

/// Six significant digits of a bound from above, which rounding must not lower.
pub fn six_up(value: f64) -> String {
    towards(value, 1.0)
}

/// Six significant digits of a number that is not beyond the value in the direction of `step`, 1 or
/// -1: the text itself is compared, for it may be on the other side of what it was made from.
fn towards(value: f64, step: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return six(value);
    }
    if value.abs() < 1e-290 {
        return six(if value * step > 0.0 { step * 1e-290 } else { 0.0 });
    }
    let scale = 10f64.powi(5 - value.abs().log10().floor() as i32);
    let digits = if step < 0.0 { (value * scale).floor() } else { (value * scale).ceil() };
    let text = six(digits / scale);
    let read: f64 = text.parse().unwrap_or(value);
    let short = (read - value) * step < 0.0 || (read == value && excess(&text, value) * step < 0.0);
    if short { six((digits + step) / scale) } else { text }
}

/// The sign of the number in a text minus the value that it reads as: the nearest to it, not the same.
fn excess(text: &str, value: f64) -> f64 {
    // All digits of the value, and the text with as many: strings in the order of their sizes.
    let mut text = text.to_owned();
    if !text.contains('.') {
        text.push('.');
    }
    let exact = format!("{value:.400}");
    while text.len() < exact.len() {
        text.push('0');
    }
    match text.cmp(&exact) {
        std::cmp::Ordering::Equal => 0.0,
        std::cmp::Ordering::Greater => value.signum(),
        std::cmp::Ordering::Less => -value.signum(),
    }
}

fn decimals(value: f64) -> usize {
    if value == 0.0 { 1 } else { (5 - value.abs().log10().floor() as i32).clamp(0, 9) as usize }
}

/// The whole answer: what `--json` prints and `summary.json` holds, key by key.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The input as the user named it.
    pub input: String,
    /// Rows of the input.
    pub features: usize,
    /// Columns of the matrix that was factored, and of W.
    pub examples: usize,
    /// Entries of that matrix that are not zero.
    pub nonzeros: usize,
    /// Documents behind a co-occurrence matrix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents: Option<usize>,
    /// How the input was prepared, where it was not taken as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prepared: Option<Preparation>,
    /// What became of an earlier answer, where this one began with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update: Option<UpdateFacts>,
    /// What the choice had to obey.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraints: Option<ConstraintFacts>,
    /// Number of hott topics.
    pub rank: usize,
    /// The method asked for.
    pub method: String,
    /// For `auto`, the method whose candidate won.
    pub chosen_from: Option<String>,
    /// Which error was made small.
    pub objective: Objective,
    /// Whether rows count in the mean error as much as the user said.
    #[serde(skip_serializing_if = "is_false")]
    pub weighted: bool,
    /// How F was fitted; never `auto`.
    pub cleaning: Cleaning,
    /// Exchanges that refined the choice.
    pub exchanges: usize,
    /// Rows whose fit could not be proven optimal.
    pub inexact_rows: usize,
    /// Why the computation ended.
    pub stop: Stop,
    /// The hott topics.
    pub hott: Vec<Topic>,
    /// Errors, against rows of unit sum.
    pub error: Errors,
    /// Share of the true hott rows that were chosen, where the truth is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall: Option<f64>,
    /// The rows explained worst, worst first.
    pub worst: Vec<RowValue>,
    /// All rows but those set aside, or as many as a page holds, worst first.
    #[serde(skip)]
    pub rows: Vec<ExplainedRow>,
    /// The largest entries of the localising matrix's diagonal, falling, where the method has one.
    #[serde(skip)]
    pub diagonal: Option<Vec<RowValue>>,
    /// Rows that were set aside as outliers, with their errors, which do not count in `error`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outliers: Vec<RowValue>,
    /// What was not observed, where entries were missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingFacts>,
    /// What entries that were held out say about the rank, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_out: Option<HeldOut>,
    /// Number of rows explained by nothing because they are zero or set aside.
    pub zero_rows: usize,
    /// Proven bounds, where the method has them.
    #[serde(rename = "certificate")]
    pub bounds: Option<Bounds>,
    /// Errors for every rank up to this one, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<RankPath>,
    /// What the reader should know about how the rows were chosen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What the run took, and what it ran with.
    #[serde(flatten)]
    pub run: RunFacts,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// How counts of words were prepared before they were factored: `apply` does the same to new ones.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Preparation {
    /// Whether the co-occurrence of words was factored.
    pub cooccurrence: bool,
    /// Rows in fewer columns were set aside.
    pub min_df: usize,
    /// How counts were weighted.
    pub weight: Weight,
    /// Only rows in as many columns could be hott.
    #[serde(default)]
    pub candidate_df: usize,
}

/// What was not observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MissingFacts {
    /// Entries that were not.
    pub entries: usize,
    /// Rows that have such entries.
    pub rows: usize,
}

/// What a matrix is called and made of, as far as its factorization does not say it.
#[derive(Debug, Clone)]
pub struct Described<'a> {
    /// The input as the user named it.
    pub label: String,
    /// Names of its rows, where they are known.
    pub names: Option<&'a [String]>,
    /// Entries that are not zero.
    pub nonzeros: usize,
    /// Documents behind a co-occurrence matrix.
    pub documents: Option<usize>,
    /// Whether each row may have a unit of its own, as the columns of a table have: then no row says more than another
    /// because its numbers are larger.
    pub own_units: bool,
}

/// How many members a topic is shown with, and how many badly explained rows.
const SHOWN: usize = 10;

/// How many rows the page lists.
const LISTED: usize = 2000;

impl Summary {
    /// Everything there is to say about an answer that is in rows of the input.
    pub fn new(
        about: Described<'_>,
        answer: &Factorization,
        objective: Objective,
        mut run: RunFacts,
    ) -> Self {
        let (names, f, w) = (about.names, &answer.f, &answer.w);
        let rows: Vec<usize> = answer.hott.iter().map(|hott| hott.row).collect();
        let own_units = about.own_units.then_some(&answer.errors.per_row[..]);
        let named = |hott: &HottRow| {
            names.map(|names| hott.group.iter().map(|&row| names[row].clone()).collect())
        };
        let members = strongest(f, w, &rows, SHOWN, own_units, names);
        let topics = answer.hott.iter().zip(members).map(|(hott, members)| Topic {
            named: NamedHott::new(hott.clone(), names),
            group_names: named(hott),
            members,
        });
        run.seconds.steps = Some(answer.seconds);
        let errors = &answer.errors.per_row;
        let is_outlier = |row: usize| answer.outliers.binary_search(&row).is_ok();
        let mut aside = [&answer.zero_rows[..], &answer.outliers].concat();
        aside.sort_unstable();
        let outliers = largest_first(errors, is_outlier, usize::MAX, names);
        Summary {
            input: about.label,
            features: f.rows(),
            examples: w.cols(),
            nonzeros: about.nonzeros,
            documents: about.documents,
            prepared: None,
            update: None,
            constraints: None,
            rank: answer.hott.len(),
            method: answer.method.name().to_owned(),
            chosen_from: answer.chosen_from.clone(),
            objective,
            weighted: false,
            cleaning: answer.cleaning,
            exchanges: answer.exchanges,
            inexact_rows: answer.inexact_rows,
            stop: answer.stop,
            hott: topics.collect(),
            error: answer.errors.clone(),
            recall: None,
            worst: largest_first(errors, |row| errors[row] > 0.0 && !is_outlier(row), SHOWN, names),
            rows: explained_rows(f, w, errors, &aside, names, LISTED),
            outliers: outliers.clone(),
            diagonal: answer
                .diagonal
                .as_ref()
                .map(|diagonal| worst_rows(diagonal, diagonal_entries(rows.len()), names)),
            missing: answer.completion.as_ref().map(|completion| MissingFacts {
                entries: completion.entries,
                rows: completion.rows,
            }),
            held_out: None,
            zero_rows: answer.zero_rows.len(),
            bounds: answer.bounds.clone(),
            path: None,
            notes: answer.notes.iter().cloned().chain(about_outliers(&outliers)).collect(),
            run,
        }
    }
}

/// Outliers that are named in the sentence about them.
const NAMED_OUTLIERS: usize = 8;

/// What the reader should know about rows that were set aside.
fn about_outliers(outliers: &[RowValue]) -> Option<String> {
    let mut names: Vec<String> =
        outliers.iter().take(NAMED_OUTLIERS).map(RowValue::label).collect();
    match outliers.len() {
        0 => return None,
        all if all > names.len() => names.push(format!("and {} more", all - names.len())),
        _ => {}
    }
    let what = if outliers.len() == 1 { "row was" } else { "rows were" };
    Some(format!(
        "{} {what} set aside as outliers, which cannot be hott and do not count in the errors: {}.",
        outliers.len(),
        names.join(", ")
    ))
}

impl Topic {
    /// The hott row's name, or `row 7` where there are no names.
    pub fn title(&self) -> String {
        let NamedHott { hott, name } = &self.named;
        name.clone().unwrap_or_else(|| format!("row {}", hott.row))
    }

    /// The topic's name, or its row number where there are no names.
    pub fn label(&self) -> String {
        self.named.label()
    }

    /// Names, or row numbers, of the other rows of the group.
    pub fn stand_ins(&self) -> Vec<String> {
        let name = |k: usize| self.group_names.as_ref().and_then(|names| names.get(k));
        let HottRow { row: own, group, .. } = &self.named.hott;
        let others = group.iter().enumerate().filter(|(_, row)| *row != own);
        others.map(|(k, &row)| label(row, name(k).map(String::as_str))).collect()
    }
}

impl RowValue {
    /// The row's name, or its number where there are no names.
    pub fn label(&self) -> String {
        label(self.row, self.name.as_deref())
    }
}

/// The rows that lean on each topic most, `count` of them, the topic's own hott row left out.
///
/// With s_k the sum of row k of W, row i has the mass `m_ik = F_ik s_k` in topic k and the share
/// `m_ik / sum_l m_il` of its mass there. Rows are ranked by mass times share: large rows that are
/// spread over all topics describe none of them, and small ones matter to no one. Rows in units of their own cannot
/// be compared by mass: with their l1 errors `e_i` given, against unit sum, they are ranked by `1 - e_i / 2`, the part of the
/// row that is explained at all, times share. The value that stands with each is F_ik.
pub(crate) fn strongest(
    f: &Matrix,
    w: &Matrix,
    hott: &[usize],
    count: usize,
    own_units: Option<&[f64]>,
    names: Option<&[String]>,
) -> Vec<Vec<RowValue>> {
    let sums: Vec<f64> = (0..w.rows()).map(|k| w.row(k).sum()).collect();
    let mut topics: Vec<Vec<(usize, f64, f64)>> = vec![Vec::new(); hott.len()];
    for i in 0..f.rows() {
        let total: f64 = f.row(i).nonzeros().map(|(k, value)| value * sums[k]).sum();
        for (k, value) in f.row(i).nonzeros().filter(|(k, _)| hott[*k] != i) {
            let mass = value * sums[k];
            let size = own_units.map_or(mass, |errors| 1.0 - 0.5 * errors[i]);
            topics[k].push((i, value, size * (mass / total)));
        }
    }
    for rows in &mut topics {
        rows.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0)));
        rows.truncate(count);
    }
    let entry = |(row, value, _)| RowValue { row, name: name_of(row, names), value };
    topics.into_iter().map(|rows| rows.into_iter().map(entry).collect()).collect()
}

/// The `count` rows with the largest errors (or other numbers), largest first, ties by row.
pub(crate) fn worst_rows(per_row: &[f64], count: usize, names: Option<&[String]>) -> Vec<RowValue> {
    largest_first(per_row, |row| per_row[row] > 0.0, count, names)
}

/// Of the rows that count, the `most` with the largest values, largest first, ties by row.
pub(crate) fn largest_first(
    values: &[f64],
    counts: impl Fn(usize) -> bool,
    most: usize,
    names: Option<&[String]>,
) -> Vec<RowValue> {
    let mut rows: Vec<usize> = (0..values.len()).filter(|&row| counts(row)).collect();
    rows.sort_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
    rows.truncate(most);
    let entry = |row: usize| RowValue { row, name: name_of(row, names), value: values[row] };
    rows.into_iter().map(entry).collect()
}

#[cfg(test)]
pub(crate) fn example() -> Summary {
    let entry = |row, name: &str, value| RowValue { row, name: Some(name.to_owned()), value };
    let topic = |row, name: &str, weight, group: &[usize], members: Vec<RowValue>| Topic {
        named: NamedHott {
            hott: HottRow { row, weight, group: group.to_vec() },
            name: Some(name.to_owned()),
        },
        group_names: Some(group.iter().map(|row| format!("n{row}")).collect()),
        members,
    };
    Summary {
        input: "prices & news.csv".into(),
        features: 40,
        examples: 400,
        nonzeros: 16_000,
        documents: None,
        prepared: None,
        constraints: None,
        rank: 2,
        method: "auto".into(),
        chosen_from: Some("spa".into()),
        objective: Objective::Mean,
        weighted: false,
        cleaning: Cleaning::Exact,
        exchanges: 0,
        inexact_rows: 0,
        stop: Stop::Finished,
        hott: vec![
            topic(
                12,
                "oil",
                0.97,
                &[12, 31],
                vec![entry(31, "crude", 0.91), entry(3, "opec", 0.4)],
            ),
            topic(7, "<b>wheat", 1.0, &[7], vec![entry(8, "grain", 0.5)]),
        ],
        error: Errors { inf1: 0.021, mean_l1: 0.013, rmse: 1.2e-5, per_row: vec![] },
        recall: None,
        worst: vec![entry(9, "pope", 0.021)],
        rows: vec![],
        outliers: vec![],
        missing: None,
        held_out: None,
        diagonal: None,
        zero_rows: 1,
        bounds: None,
        path: None,
        update: None,
        notes: vec![],
        run: crate::run::example(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hottopixx::matrix::Dense;

    #[test]
    fn strongest_members_are_large_and_lean_on_the_topic() {
        // Row 4 is the largest but spread evenly; row 2 is small; row 3 leans on topic 0.
        let rows = [[1.0, 0.0], [0.0, 1.0], [0.1, 0.0], [3.0, 1.0], [3.0, 3.0]];
        let f = Matrix::from(Dense::from_rows(&rows).unwrap());
        let w = Matrix::from(Dense::from_rows(&[[0.5, 0.5], [1.0, 0.0]]).unwrap());
        let rows = |count, own_units| -> Vec<Vec<usize>> {
            let found = strongest(&f, &w, &[0, 1], count, own_units, None);
            found.iter().map(|topic| topic.iter().map(|e| e.row).collect()).collect()
        };
        assert_eq!(rows(8, None), [vec![3, 4, 2], vec![4, 3]]);
        assert_eq!(rows(1, None), [vec![3], vec![4]]);
        // In units of their own that row 2 is small says nothing, that it is hardly explained does.
        assert_eq!(rows(8, Some(&[0.0; 5])), [vec![2, 3, 4], vec![4, 3]]);
        let badly = [0.0, 0.0, 1.9, 0.0, 0.0];
        assert_eq!(rows(8, Some(&badly)), [vec![3, 4, 2], vec![4, 3]]);
    }

    #[test]
    fn digits() {
        assert_eq!(
            [0.0, 0.0203, -2.5, 1e-7].map(six),
            ["0.0", "0.0203000", "-2.50000", "1.00000e-7"]
        );
        assert_eq!([0.123456789, -0.123456111].map(six_down), ["0.123456", "-0.123457"]);
        assert_eq!([0.123456789, -0.123456111].map(six_up), ["0.123457", "-0.123456"]);
        // Exact numbers stay; the others are on their side even where six digits read the same.
        let exact = ["2.00000", "0.500000", "-3.00000", "250000"];
        assert_eq!([2.0, 0.5, -3.0, 250_000.0].map(six_down), exact);
        assert_eq!([2.0, 0.5, -3.0, 250_000.0].map(six_up), exact);
        // The nearest number to 0.1 is above it, the one to 0.3 below.
        assert_eq!((six_down(0.1), six_up(0.1)), ("0.100000".into(), "0.100001".into()));
        assert_eq!((six_down(0.3), six_up(0.3)), ("0.299999".into(), "0.300000".into()));
        assert_eq!(six_down(0.123456f64.next_down()), "0.123455");
        assert_eq!((six_down(3e-320), six_up(3e-320)), ("0.0".into(), "1.00000e-290".into()));
    }

    #[test]
    fn json_has_the_promised_keys() {
        let json = serde_json::to_value(example()).unwrap();
        let promised = "features examples nonzeros rank method hott error certificate seconds \
                        peak_memory_bytes threads seed version";
        for key in promised.split_whitespace() {
            assert!(json.get(key).is_some(), "{key} is missing");
        }
        assert!(json["certificate"].is_null());
        assert_eq!(json["hott"][0]["group"], serde_json::json!([12, 31]));
        assert_eq!(json["stop"], "finished");
    }
}

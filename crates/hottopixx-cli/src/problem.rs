//! From a file to the matrix that is factored, and from its answer back to the rows of the file.
//!
//! Preparing text can set rows aside and replace the matrix by the co-occurrence of its rows. Every
//! index the user sees is nevertheless a row of the input: [`Problem::restore`] puts it back.

use crate::args::{InputArgs, TextArgs};
use crate::documents::holds_prose;
use crate::earlier::{WordSums, placed};
use crate::failure::Failure;
use crate::rows;
use hottopixx::control::Control;
use hottopixx::matrix::{Dense, Matrix, Shape, Sparse};
use hottopixx::text::{self, Weight};
use hottopixx::{Applied, Error, Factorization, Footprint, Missing, RankPath};
use hottopixx_io::{Cache, Format, LoadOptions, Source, machine};
use std::path::Path;

/// A matrix ready to be factored.
pub struct Problem {
    /// The input as the user named it.
    pub label: String,
    /// The matrix to factor; one row for each of `kept`.
    pub matrix: Matrix,
    /// Names of the rows of the input.
    pub names: Option<Vec<String>>,
    /// Names of the columns of the input.
    pub column_names: Option<Vec<String>>,
    /// What becomes of entries that are NaN.
    pub missing: Missing,
    /// Which rows of `matrix` may be hott.
    pub candidates: Option<Vec<bool>>,
    /// Counts of the kept words in documents, behind a co-occurrence matrix.
    pub counts: Option<Matrix>,
    /// Entries of the matrix that are not zero: counted while loading, which no limit counts.
    pub nonzeros: usize,
    /// Whether the input looks like counts of words and was not treated so.
    pub looks_like_text: bool,
    /// Whether each row may have a unit of its own, as the columns of a table have.
    pub own_units: bool,
    /// Bytes of what is kept beside the matrix: counts behind co-occurrences, names.
    pub held: u64,
    /// Bytes that preparing the matrix took at most.
    pub taken: u64,
    /// What is kept of the documents behind a co-occurrence matrix, so that others can be added.
    pub words: Option<WordSums>,
    /// Bytes that a list beside the input may take.
    pub memory: Option<u64>,
    /// Row of the input for each row of `matrix`, increasing.
    pub(crate) kept: Vec<usize>,
    pub(crate) input_rows: usize,
}

/// A matrix and what its file said about it.
pub struct Raw {
    /// The input as the user named it.
    pub label: String,
    /// The matrix.
    pub matrix: Matrix,
    /// Names of its rows.
    pub names: Option<Vec<String>>,
    /// Names of its columns.
    pub column_names: Option<Vec<String>>,
    /// Whether the file is a bag of words.
    pub bag_of_words: bool,
    /// Whether its rows are the columns of a table.
    pub table_columns: bool,
    /// What becomes of entries that are NaN.
    pub missing: Missing,
}

impl Raw {
    /// How the flags say the input is to be read.
    pub fn options(input: &InputArgs) -> LoadOptions {
        LoadOptions {
            format: input.file.format,
            transpose: input.file.transpose,
            key: input.file.key.clone(),
            // Words of the command line were checked when they were parsed.
            table: input.file.table.options().unwrap_or_default(),
            max_bytes: input.memory,
            cache: match &input.cache {
                _ if input.no_cache => Cache::Off,
                Some(folder) => Cache::Folder(folder.clone()),
                None => Cache::Beside,
            },
        }
    }

    /// Reads the input and the names of its rows; `note` is told what the user may want to know.
    pub fn load(input: &InputArgs, note: impl Fn(&str)) -> Result<Self, Failure> {
        let source = Source::path(&input.path);
        let label = source.name();
        let loaded = hottopixx_io::load(&source, &Raw::options(input)).map_err(|error| {
            let unknown = matches!(error, hottopixx_io::Error::UnknownFormat { .. });
            match input.path.is_dir() || (unknown && holds_prose(&input.path)) {
                true => Failure::Wrong(format!("{error}; text is for 'hottopixx topics'")),
                false => error.into(),
            }
        })?;
        if let Some(sentence) = loaded.cache.note() {
            note(&sentence);
        }
        if let Some(layout) = loaded.table.as_ref().filter(|layout| !layout.is_plain()) {
            note(&layout.sentence());
            layout.omissions().iter().for_each(|sentence| note(sentence));
        }
        let rows = loaded.matrix.rows();
        let bag_of_words = loaded.format == Format::BagOfWords;
        let table_columns = loaded.table.is_some() && input.file.transpose;
        let names = match &input.names {
            Some(path) => Some(read_names(path, rows, &label, input.memory)?),
            None => loaded.row_names,
        };
        let column_names = loaded.col_names;
        let missing = match input.file.table.missing() {
            Some(hottopixx_io::Missing::Observed) => Missing::Observed,
            _ => Missing::Refuse,
        };
        let matrix = loaded.matrix;
        Ok(Raw { label, matrix, names, column_names, bag_of_words, table_columns, missing })
    }
}

/// Names from a file the user gave, one for each row.
fn read_names(
    path: &Path,
    rows: usize,
    label: &str,
    memory: Option<u64>,
) -> Result<Vec<String>, Failure> {
    let names = hottopixx_io::read_names(path, memory)?;
    if names.len() == rows {
        return Ok(names);
    }
    Err(Failure::Wrong(format!(
        "{}: {} names, but {label} has {rows} rows: give one name per line, \
         or --transpose if the names are those of the columns",
        path.display(),
        names.len()
    )))
}

impl Problem {
    /// Checks the matrix and prepares text as asked, within `memory` bytes or what the machine has.
    pub fn prepare(raw: Raw, text: &TextArgs, memory: Option<u64>) -> Result<Self, Failure> {
        let Raw { label, matrix, names, column_names, bag_of_words, table_columns, missing } = raw;
        let wrong = |sentence: String| Failure::Wrong(format!("{label}: {sentence}"));
        let library = |error: Error| Failure::from_library(&label, &error);
        let checked = matrix.check_nonnegative();
        if checked.is_err() && missing == Missing::Observed {
            matrix.check_observed().map_err(library)?;
            if text.cooccurrence || text.weight != Weight::None {
                return Err(wrong(
                    "some entries are missing, and --cooccurrence and --weight are made of all of them: leave these \
                     flags out, or say --missing zero"
                        .to_owned(),
                ));
            }
        } else {
            checked.map_err(library)?;
        }
        let input_rows = matrix.rows();
        let looks_like_text = !text.cooccurrence && (bag_of_words || few_small_counts(&matrix));

        let frequency = matrix.scan().nonzeros().to_vec();
        let kept: Vec<usize> = (0..input_rows).filter(|&i| frequency[i] >= text.min_df).collect();
        if kept.is_empty() {
            let most = frequency.iter().max().copied().unwrap_or(0);
            return Err(wrong(format!(
                "no row occurs in {} columns or more: lower --min-df to at most {most}",
                text.min_df
            )));
        }
        let names_held = bytes_of(names.as_deref()) + bytes_of(column_names.as_deref());
        let mut taken = own_bytes(&matrix);
        let counts = if kept.len() == input_rows {
            matrix
        } else {
            let some = matrix.select_rows(&kept);
            taken += own_bytes(&some);
            some
        };
        let candidates = (text.candidate_df > 0).then(|| {
            kept.iter().map(|&i| frequency[i] >= text.candidate_df).collect::<Vec<bool>>()
        });
        if candidates.as_ref().is_some_and(|candidates| !candidates.contains(&true)) {
            let most = kept.iter().map(|&i| frequency[i]).max().unwrap_or(0);
            return Err(wrong(format!(
                "no row occurs in {} columns or more: lower --candidate-df to at most {most}",
                text.candidate_df
            )));
        }
        let (matrix, counts) = if text.cooccurrence {
            if text.weight != Weight::None {
                return Err(Failure::Wrong(
                    "--cooccurrence needs plain counts: leave out --weight".to_owned(),
                ));
            }
            check_counts(&counts, &label, |row| kept[row])?;
            let held = own_bytes(&counts).saturating_add(names_held);
            let left = memory.unwrap_or_else(machine::usual_memory).saturating_sub(held);
            let pairs = text::cooccurrence_within(&counts, left, &Control::default());
            let pairs = pairs.map_err(library)?;
            let stored = Shape::from(&pairs).entries as u64;
            taken = taken.max(held + text::cooccurrence_bytes(Shape::from(&counts), stored));
            (pairs, Some(counts))
        } else {
            (text.weight.apply(&counts), None)
        };
        if text.weight != Weight::None {
            taken += own_bytes(&matrix);
        }
        let own_units = table_columns && counts.is_none() && !looks_like_text;
        let words = counts.as_ref().map(|counts| WordSums {
            documents: counts.cols(),
            frequencies: frequency,
            kept: kept.clone(),
            names: names.clone(),
        });
        Ok(Problem {
            label,
            words,
            held: names_held + counts.as_ref().map_or(0, own_bytes),
            taken: Footprint::default().peak() + names_held + taken,
            memory,
            nonzeros: matrix.nonzeros(),
            matrix,
            names,
            column_names,
            missing,
            candidates,
            counts,
            looks_like_text,
            own_units,
            kept,
            input_rows,
        })
    }

    /// Rows of the input.
    pub fn features(&self) -> usize {
        self.input_rows
    }

    /// Columns of W, which are the rows of the input again for a co-occurrence matrix.
    pub fn examples(&self) -> usize {
        if self.counts.is_some() { self.input_rows } else { self.matrix.cols() }
    }

    /// The entries of a vector over the rows of the input that belong to kept rows.
    pub fn keep<T: Clone>(&self, by_input_row: &[T]) -> Vec<T> {
        self.kept.iter().map(|&i| by_input_row[i].clone()).collect()
    }

    /// The kept rows of a matrix with one row for each row of the input.
    pub fn keep_rows(&self, by_input_row: &Matrix) -> Matrix {
        by_input_row.select_rows(&self.kept)
    }

    /// The rows of the input that a list of `--hott` names.
    pub fn rows_named(&self, list: &str) -> Result<Vec<usize>, Failure> {
        let items = hottopixx_io::list_items(list);
        if items.is_empty() {
            return Err(Failure::Usage("--hott names no row: give numbers or names".to_owned()));
        }
        self.find_rows(&items, "--hott")
    }

    /// The rows of the input that a flag names one by one.
    pub fn find_rows(&self, items: &[String], flag: &str) -> Result<Vec<usize>, Failure> {
        rows::find(items, self.names.as_deref(), self.input_rows, (&self.label, flag))
    }

    /// The row of `matrix` for a row of the input.
    pub fn row_of(&self, input_row: usize) -> Result<usize, Failure> {
        if input_row >= self.input_rows {
            return Err(Failure::Wrong(format!(
                "{}: there is no row {input_row}: rows are numbered from 0 to {}",
                self.label,
                self.input_rows - 1
            )));
        }
        self.kept.binary_search(&input_row).map_err(|_| {
            Failure::Wrong(format!(
                "{}: row {input_row} is set aside by --min-df: lower it or choose another row",
                self.label
            ))
        })
    }

    /// A failure of the library, with rows of the input and the input's name in its sentence.
    pub fn failure(&self, error: Error) -> Failure {
        let error = match error {
            Error::HottRow { row, reason } => Error::HottRow { row: self.input_row(row), reason },
            Error::Ruled { row, reason } => Error::Ruled { row: self.input_row(row), reason },
            Error::Overflow { row } => Error::Overflow { row: self.input_row(row) },
            Error::Changed { row } => Error::Changed { row: self.input_row(row) },
            Error::Unrepresentable { row, hott } => {
                Error::Unrepresentable { row: self.input_row(row), hott: self.input_row(hott) }
            }
            other => other,
        };
        Failure::from_library(&self.label, &error)
    }

    /// The row of the input for a row of `matrix`.
    pub fn input_row(&self, row: usize) -> usize {
        self.kept.get(row).copied().unwrap_or(row)
    }

    /// The answer in rows of the input: F has a row for each of them, zero where they were set
    /// aside, and W a column for each column of the input (or, for co-occurrence, for each row).
    pub fn restore(&self, mut answer: Factorization) -> Factorization {
        if self.kept.len() == self.input_rows {
            return answer;
        }
        for hott in &mut answer.hott {
            hott.row = self.kept[hott.row];
            hott.group.iter_mut().for_each(|row| *row = self.kept[*row]);
        }
        answer.f = self.spread_rows(&answer.f);
        if self.counts.is_some() {
            answer.w = self.spread_columns(&answer.w);
        }
        if let Some(completion) = &mut answer.completion {
            completion.matrix = self.spread_rows(&completion.matrix);
        }
        answer.errors.per_row = self.spread(&answer.errors.per_row);
        answer.diagonal = answer.diagonal.map(|diagonal| self.spread(&diagonal));
        answer.zero_rows = self.spread_aside(&answer.zero_rows);
        answer.outliers.iter_mut().for_each(|row| *row = self.kept[*row]);
        answer
    }

    /// The same for an answer that was applied to new rows.
    pub fn restore_applied(&self, mut applied: Applied) -> Applied {
        if self.kept.len() == self.input_rows {
            return applied;
        }
        applied.f = self.spread_rows(&applied.f);
        applied.errors.per_row = self.spread(&applied.errors.per_row);
        applied.zero_rows = self.spread_aside(&applied.zero_rows);
        applied
    }

    /// The path of an answer in rows of the input.
    pub fn restore_path(&self, mut path: RankPath) -> RankPath {
        for row in path.points.iter_mut().flat_map(|point| &mut point.hott) {
            *row = self.kept[*row];
        }
        path
    }

    /// Rows of the input that were set aside here, and those of `matrix` that the library has set aside.
    fn spread_aside(&self, zero_rows: &[usize]) -> Vec<usize> {
        let zero: Vec<usize> = zero_rows.iter().map(|&row| self.kept[row]).collect();
        let aside = |row: &usize| self.kept.binary_search(row).is_err();
        let is_zero = |row: &usize| zero.binary_search(row).is_ok();
        (0..self.input_rows).filter(|row| aside(row) || is_zero(row)).collect()
    }

    fn spread(&self, values: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.input_rows];
        for (&row, &value) in self.kept.iter().zip(values) {
            out[row] = value;
        }
        out
    }

    fn spread_rows(&self, f: &Matrix) -> Matrix {
        placed(f, &self.kept, self.input_rows)
    }

    fn spread_columns(&self, w: &Matrix) -> Matrix {
        let Matrix::Sparse(w) = w else {
            let mut out = Dense::zeros(w.rows(), self.input_rows);
            for k in 0..w.rows() {
                for (i, value) in w.row(k).nonzeros() {
                    out.row_mut(k)[self.kept[i]] = value;
                }
            }
            return out.into();
        };
        let columns = w.columns().iter().map(|&i| self.kept[i as usize] as u32).collect();
        let (starts, values) = (w.starts().to_vec(), w.values().to_vec());
        Sparse::new(w.rows(), self.input_rows, starts, columns, values)
            .expect("columns were only moved")
            .into()
    }
}

/// Bytes that a matrix takes of its own: none in a mapped file.
pub(crate) fn own_bytes(matrix: &Matrix) -> u64 {
    if matrix.is_foreign() { 0 } else { Shape::from(matrix).bytes() }
}

/// Bytes of names.
pub(crate) fn bytes_of(names: Option<&[String]>) -> u64 {
    let bytes = |name: &String| (size_of::<String>() + name.capacity()) as u64;
    names.unwrap_or_default().iter().map(bytes).sum()
}

/// An error where an entry is no whole number; `input_row` is the row that the user knows.
pub(crate) fn check_counts(
    counts: &Matrix,
    label: &str,
    input_row: impl Fn(usize) -> usize,
) -> Result<(), Failure> {
    fraction(counts).map_or(Ok(()), |(row, column, value)| {
        Err(Failure::Wrong(format!(
            "{label}: row {}, column {column} is {value}, but --cooccurrence is made of counts, whole \
             numbers: give how often each word occurs, not tf-idf or other weights",
            input_row(row)
        )))
    })
}

/// The first entry that is no whole number.
fn fraction(matrix: &Matrix) -> Option<(usize, usize, f64)> {
    (0..matrix.rows()).find_map(|i| {
        let found = matrix.row(i).nonzeros().find(|(_, value)| value.fract() != 0.0);
        found.map(|(column, value)| (i, column, value))
    })
}

/// Whether this is a sparse matrix of whole numbers, at most one entry in ten not zero.
fn few_small_counts(matrix: &Matrix) -> bool {
    let Matrix::Sparse(matrix) = matrix else { return false };
    let entries = matrix.rows() as f64 * matrix.cols() as f64;
    matrix.values().len() as f64 <= 0.1 * entries
        && matrix.values().iter().all(|value| value.fract() == 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(matrix: impl Into<Matrix>) -> Raw {
        Raw {
            label: "x".into(),
            matrix: matrix.into(),
            names: None,
            column_names: None,
            bag_of_words: false,
            table_columns: false,
            missing: Missing::Refuse,
        }
    }

    /// Row 1 occurs in one column only.
    fn counts() -> Dense {
        let rows = [[2.0, 1.0, 0.0, 3.0], [0.0, 4.0, 0.0, 0.0], [1.0, 2.0, 2.0, 0.0]];
        Dense::from_rows(&rows).unwrap()
    }

    #[test]
    fn answers_come_back_in_rows_of_the_input() {
        for sparse in [false, true] {
            let matrix = if sparse {
                let mut triplets = Vec::new();
                let dense = Matrix::from(counts());
                for i in 0..3 {
                    triplets.extend(dense.row(i).nonzeros().map(|(k, v)| (i, k, v)));
                }
                Matrix::from(Sparse::from_triplets(3, 4, &triplets).unwrap())
            } else {
                counts().into()
            };
            let text = TextArgs { min_df: 2, candidate_df: 3, ..TextArgs::default() };
            let problem = Problem::prepare(raw(matrix), &text, None).unwrap();
            assert_eq!((problem.matrix.rows(), problem.features(), problem.examples()), (2, 3, 4));
            assert_eq!(problem.candidates, Some(vec![true, true]));
            assert_eq!(problem.keep(&[7, 8, 9]), [7, 9]);
            assert_eq!(problem.row_of(2), Ok(1));
            assert!(problem.row_of(1).is_err() && problem.row_of(3).is_err());
            let f = problem.spread_rows(&problem.matrix);
            assert_eq!((f.rows(), f.row(1).sum(), f.row(2).sum()), (3, 0.0, 5.0));
            let w = problem.spread_columns(&problem.matrix.transpose());
            assert_eq!(w.row(1).nonzeros().collect::<Vec<_>>(), [(0, 1.0), (2, 2.0)]);
        }
    }

    #[test]
    fn impossible_thresholds_name_a_possible_one() {
        for text in [
            TextArgs { min_df: 9, ..TextArgs::default() },
            TextArgs { candidate_df: 9, ..TextArgs::default() },
        ] {
            let Err(Failure::Wrong(sentence)) = Problem::prepare(raw(counts()), &text, None) else {
                panic!("accepted")
            };
            assert!(sentence.ends_with("to at most 3"), "{sentence}");
        }
    }
}

//! Counts of words in documents: what topics are found in.

use super::StopWords;
use super::stop_words::Frequency;
use crate::Error;
use crate::matrix::{Matrix, Sparse};

/// Counts of words in documents.
#[derive(Debug, Clone, PartialEq)]
pub struct Corpus {
    /// Documents x words, whole numbers; documents without words are rows of zeros.
    counts: Sparse,
    /// The words, one for each column.
    words: Vec<String>,
    /// For each word, how often it occurs and in how many documents.
    tokens: Vec<f64>,
    documents: Vec<usize>,
    /// Different words that there were before some were set aside.
    distinct: usize,
    /// What was decided on the way, in whole sentences.
    notes: Vec<String>,
    /// Whether it is a table that somebody else made, which may be the wrong way round.
    table: bool,
}

impl Corpus {
    /// Counts, documents x words, and what is known of them.
    pub(super) fn new(
        counts: Sparse,
        words: Vec<String>,
        distinct: usize,
        notes: Vec<String>,
    ) -> Corpus {
        let (tokens, documents) = frequencies(&counts);
        Corpus { counts, words, tokens, documents, distinct, notes, table: false }
    }

    /// From counts, documents x words, with the words' names where they are known: those that
    /// `stop_words` says are left out. Without names words are called by their column, from 0.
    ///
    /// # Errors
    /// As [`Matrix::check_nonnegative`]; [`Error::Length`] when there are not as many names as
    /// columns; [`Error::Setting`] for counts that are not whole numbers.
    pub fn from_counts(
        counts: &Matrix,
        names: Option<&[String]>,
        stop_words: &StopWords,
    ) -> Result<Corpus, Error> {
        stop_words.check()?;
        counts.check_nonnegative()?;
        let counts = whole(counts)?;
        let found = names.map_or(counts.cols(), <[String]>::len);
        if found != counts.cols() {
            let expected = counts.cols();
            return Err(Error::Length { name: "names", found, expected, what: "words (columns)" });
        }
        let words: Vec<String> = match names {
            Some(names) => names.to_vec(),
            None => (0..found).map(|column| column.to_string()).collect(),
        };
        let mut corpus = Corpus::new(counts, words, found, Vec::new());
        let Corpus { words, tokens, documents, .. } = &corpus;
        let frequency = |i: usize| {
            let (tokens, documents) = (tokens[i] as u64, documents[i]);
            Frequency { word: &words[i], tokens, documents }
        };
        let all: Vec<Frequency<'_>> = (0..found).map(frequency).collect();
        // Numbers as names are no language.
        let stop_words = if names.is_some() { stop_words } else { &StopWords::None };
        let out = stop_words.of(&all, corpus.documents());
        let kept: Vec<usize> = (0..found).filter(|&i| !out.words[i] && tokens[i] > 0.0).collect();
        (corpus.distinct, corpus.table) = (kept.len(), true);
        corpus.notes.extend(Some(out.reason).filter(|reason| !reason.is_empty()));
        Ok(if kept.len() == found { corpus } else { corpus.select(&kept) })
    }

    /// Documents x words.
    pub fn counts(&self) -> &Sparse {
        &self.counts
    }

    /// The words.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Different words that there were, beside stop words, before some were set aside.
    pub fn distinct(&self) -> usize {
        self.distinct
    }

    /// Number of documents.
    pub fn documents(&self) -> usize {
        self.counts.rows()
    }

    /// What was decided while reading, in whole sentences.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether it was made from counts, not from text.
    pub(crate) fn is_table(&self) -> bool {
        self.table
    }

    /// For each word, how often it occurs and in how many documents.
    pub fn frequencies(&self) -> (Vec<f64>, Vec<usize>) {
        (self.tokens.clone(), self.documents.clone())
    }

    /// The same documents with these words alone, given by their increasing numbers.
    pub fn select(&self, kept: &[usize]) -> Corpus {
        let counts = select_columns(&self.counts, kept);
        Corpus {
            counts,
            words: kept.iter().map(|&i| self.words[i].clone()).collect(),
            tokens: kept.iter().map(|&i| self.tokens[i]).collect(),
            documents: kept.iter().map(|&i| self.documents[i]).collect(),
            distinct: self.distinct,
            notes: self.notes.clone(),
            table: self.table,
        }
    }
}

/// For each column, the sum and the number of its entries.
fn frequencies(counts: &Sparse) -> (Vec<f64>, Vec<usize>) {
    let (mut tokens, mut documents) = (vec![0.0; counts.cols()], vec![0; counts.cols()]);
    for (&column, &value) in counts.columns().iter().zip(counts.values()) {
        tokens[column as usize] += value;
        documents[column as usize] += usize::from(value > 0.0);
    }
    (tokens, documents)
}

/// Some columns, increasing, numbered anew.
pub(crate) fn select_columns(matrix: &Sparse, kept: &[usize]) -> Sparse {
    let mut place = vec![u32::MAX; matrix.cols()];
    kept.iter().enumerate().for_each(|(k, &column)| place[column] = k as u32);
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for d in 0..matrix.rows() {
        let (cs, vs) = matrix.row(d);
        for (&c, &v) in
            cs.iter().zip(vs).filter(|(c, v)| place[**c as usize] != u32::MAX && **v > 0.0)
        {
            columns.push(place[c as usize]);
            values.push(v);
        }
        starts.push(values.len());
    }
    Sparse::new(matrix.rows(), kept.len(), starts, columns, values)
        .expect("columns were renumbered")
}

/// The matrix in sparse form, if all its entries are whole numbers.
fn whole(counts: &Matrix) -> Result<Sparse, Error> {
    let mut triplets = Vec::new();
    for d in 0..counts.rows() {
        if let Some((word, value)) = counts.row(d).nonzeros().find(|(_, v)| v.fract() != 0.0) {
            return Err(Error::Setting {
                name: "counts",
                value: format!("{value} (document {d}, word {word})"),
                remedy: "counts are whole numbers: give how often each word occurs, not tf-idf or \
                         other weights"
                    .to_owned(),
            });
        }
        if matches!(counts, Matrix::Dense(_)) {
            triplets.extend(counts.row(d).nonzeros().map(|(word, value)| (d, word, value)));
        }
    }
    match counts {
        Matrix::Sparse(sparse) => Ok(sparse.clone()),
        Matrix::Dense(_) => Sparse::from_triplets(counts.rows(), counts.cols(), &triplets),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Dense;

    #[test]
    fn counts_are_whole_numbers_with_one_name_per_column() {
        let counts: Matrix = Dense::from_rows(&[[2.0, 0.0, 1.0], [0.0, 0.0, 3.0]]).unwrap().into();
        let names = ["the", "of", "oil"].map(str::to_owned);
        let corpus =
            Corpus::from_counts(&counts, Some(&names), &StopWords::Language("english".into()));
        assert_eq!(corpus.unwrap().words(), ["oil"]);
        let plain = Corpus::from_counts(&counts, None, &StopWords::Auto).unwrap();
        assert_eq!(plain.words(), ["0", "2"]);
        assert!(matches!(
            Corpus::from_counts(&counts, Some(&names[..2]), &StopWords::None),
            Err(Error::Length { found: 2, expected: 3, .. })
        ));
        let weights = Dense::from_rows(&[[0.5, 1.0]]).unwrap().into();
        let error = Corpus::from_counts(&weights, None, &StopWords::None).unwrap_err();
        assert!(error.to_string().contains("tf-idf"), "{error}");
    }
}

//! What is kept of a model for documents to come: it serialises to one object.

use super::TopicModel;
use super::model::transform;
use super::shares::ByWord;
use crate::Error;
use crate::control::Control;
use crate::kernels::parallel::*;
use crate::matrix::{Dense, Sparse};
use crate::order::largest_first;
use crate::text::{Reading, Tokeniser};
use std::collections::HashMap;

/// Documents that one thread counts at a time.
const PIECE: usize = 256;

/// A model without its documents.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SavedTopics {
    /// The version that wrote it.
    pub version: String,
    /// What counts as a word; `None` when the model was made of counts.
    pub tokeniser: Option<Tokeniser>,
    /// Names of the topics.
    pub names: Vec<String>,
    /// The share of each topic in the corpus: what a document without known words gets.
    pub proportions: Vec<f64>,
    /// Tokens that every topic is given of every document beforehand.
    pub prior: f64,
    /// The words.
    pub words: Vec<String>,
    /// What a token of each word counts for shares; without any, all count the same.
    #[serde(default)]
    pub evidence: Vec<f64>,
    /// p(word | topic), one list for each topic.
    pub topics: Vec<Vec<f64>>,
    /// What is shown of the topics.
    #[serde(flatten)]
    pub shown: ShownTopics,
}

/// What people look at, and new documents do not need; older files lack it.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ShownTopics {
    /// How often each word occurs.
    pub tokens: Vec<f64>,
    /// NPMI coherence of each topic.
    pub coherence: Vec<f64>,
    /// Words that could stand in the place of each anchor.
    pub stand_ins: Vec<Vec<String>>,
    /// The first words of each topic by [`TopicModel::keyness`]: their numbers, with it.
    pub keyness: Vec<Vec<(usize, f64)>>,
}

/// Words of a topic whose keyness is kept.
const SHOWN: usize = 50;

impl ShownTopics {
    fn new(model: &TopicModel) -> Self {
        let names = |stand_ins: &Vec<usize>| {
            stand_ins.iter().map(|&word| model.words[word].clone()).collect::<Vec<_>>()
        };
        let first = |k: usize| {
            let keyness = model.keyness.row(k);
            let mut words: Vec<usize> = (0..keyness.len()).collect();
            largest_first(&mut words, |i| keyness[i]);
            words.truncate(SHOWN);
            words.into_iter().map(|word| (word, keyness[word])).collect()
        };
        ShownTopics {
            tokens: model.tokens.clone(),
            coherence: model.coherence.clone(),
            stand_ins: model.anchors.iter().map(|anchor| names(&anchor.stand_ins)).collect(),
            keyness: (0..model.rank()).map(first).collect(),
        }
    }
}

impl SavedTopics {
    /// Of a model of text that was read so, or of counts.
    pub fn new(model: &TopicModel, reading: Option<&Reading>) -> Self {
        SavedTopics {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            tokeniser: reading.map(|reading| reading.tokeniser.clone()),
            names: model.anchors.iter().map(|anchor| anchor.name.clone()).collect(),
            proportions: model.proportions.clone(),
            prior: model.prior,
            words: model.words.clone(),
            evidence: model.evidence.clone(),
            topics: (0..model.rank()).map(|k| model.topics.row(k).to_vec()).collect(),
            shown: ShownTopics::new(model),
        }
    }

    /// Checks what a file may have got wrong: sizes, and probabilities that are none.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Setting`].
    pub fn check(&self) -> Result<(), Error> {
        let rank = self.topics.len();
        let lengths = [("names", self.names.len()), ("proportions", self.proportions.len())];
        if let Some((name, found)) = lengths.into_iter().find(|(_, found)| *found != rank) {
            return Err(Error::Length { name, found, expected: rank, what: "topics" });
        }
        let (expected, found) = (self.words.len(), self.evidence.len());
        if found != 0 && found != expected {
            return Err(Error::Length { name: "evidence", found, expected, what: "words" });
        }
        if let Some(topic) = self.topics.iter().find(|topic| topic.len() != expected) {
            return Err(Error::Length {
                name: "a topic",
                found: topic.len(),
                expected,
                what: "words",
            });
        }
        let fine = |v: &f64| *v >= 0.0 && v.is_finite();
        let shares = self.proportions.iter().chain(&self.evidence).all(fine) && fine(&self.prior);
        if rank == 0 || !shares || !self.topics.iter().flatten().all(fine) {
            return Err(Error::Setting {
                name: "model",
                value: "a number that is no probability".to_owned(),
                remedy: "write the model again".to_owned(),
            });
        }
        Ok(())
    }

    /// Counts the words of the model in documents: documents x words. Parallel over documents.
    ///
    /// # Errors
    /// [`Error::Setting`] for a model that was made of counts.
    pub fn count<D: AsRef<str> + Sync>(&self, documents: &[D]) -> Result<Sparse, Error> {
        let Some(tokeniser) = &self.tokeniser else {
            return Err(Error::Setting {
                name: "documents",
                value: "text".to_owned(),
                remedy: "the model was made of counts: give counts of the same words".to_owned(),
            });
        };
        let ids: HashMap<&str, u32> =
            self.words.iter().enumerate().map(|(i, word)| (word.as_str(), i as u32)).collect();
        let phrases = self.words.iter().any(|word| word.contains(' '));
        let pieces: Vec<Vec<Vec<u32>>> = documents
            .par_chunks(PIECE)
            .map(|some| some.iter().map(|d| known(d.as_ref(), tokeniser, &ids, phrases)).collect())
            .collect();
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for words in pieces.into_iter().flatten() {
            for same in words.chunk_by(|a, b| a == b) {
                columns.push(same[0]);
                values.push(same.len() as f64);
            }
            starts.push(values.len());
        }
        Sparse::new(documents.len(), self.words.len(), starts, columns, values)
    }

    /// Shares of topics in documents, given as documents x words of the model.
    ///
    /// # Errors
    /// As [`TopicModel::transform`].
    pub fn transform(&self, counts: &Sparse, control: &Control) -> Result<Dense, Error> {
        let evidence = match self.evidence.is_empty() {
            true => vec![1.0; self.words.len()],
            false => self.evidence.clone(),
        };
        let topics = ByWord::new(&Dense::from_rows(&self.topics)?, &evidence.into());
        transform(&topics, self.prior, &self.proportions, counts, control)
    }
}

/// The numbers of a document's known words, sorted; neighbours that are a phrase of the model count as
/// that.
fn known(text: &str, tokeniser: &Tokeniser, ids: &HashMap<&str, u32>, phrases: bool) -> Vec<u32> {
    let (mut found, mut before, mut pair) = (Vec::new(), None::<String>, String::new());
    tokeniser.each(text, |word| {
        if !phrases {
            found.extend(word.and_then(|word| ids.get(word)));
            return;
        }
        if let (Some(first), Some(second)) = (&before, word) {
            pair.clear();
            pair.extend([first, " ", second]);
            if let Some(id) = ids.get(pair.as_str()) {
                found.push(*id);
                before = None;
                return;
            }
        }
        let last = std::mem::replace(&mut before, word.map(str::to_owned));
        found.extend(last.and_then(|word| ids.get(word.as_str()).copied()));
    });
    found.extend(before.and_then(|word| ids.get(word.as_str()).copied()));
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved() -> SavedTopics {
        SavedTopics {
            version: String::new(),
            tokeniser: Some(Tokeniser::default()),
            names: vec!["oil".into(), "court".into()],
            proportions: vec![0.6, 0.4],
            prior: 0.0,
            words: ["court", "oil", "oil price", "price"].map(str::to_owned).to_vec(),
            evidence: Vec::new(),
            topics: vec![vec![0.0, 0.5, 0.3, 0.2], vec![0.9, 0.0, 0.0, 0.1]],
            shown: ShownTopics::default(),
        }
    }

    #[test]
    fn documents_to_come_are_counted_as_the_corpus_was() {
        let saved = saved();
        let counts =
            saved.count(&["Oil price! Court, court", "nothing", "price oil oil price"]).unwrap();
        assert_eq!(counts.row(0), (&[0, 2][..], &[2.0, 1.0][..]));
        assert!(counts.row(1).0.is_empty());
        assert_eq!(counts.row(2), (&[1, 2, 3][..], &[1.0, 1.0, 1.0][..]));
        let shares = saved.transform(&counts, &Control::default()).unwrap();
        assert_eq!(shares.row(1), [0.6, 0.4]);
        assert!(shares.row(2)[0] > 0.9 && (shares.row(0).iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn broken_models_are_refused() {
        assert_eq!(saved().check(), Ok(()));
        let counts = SavedTopics { tokeniser: None, ..saved() };
        assert!(counts.count(&["oil"]).unwrap_err().to_string().contains("made of counts"));
        assert!(SavedTopics { names: vec![], ..saved() }.check().is_err());
        assert!(SavedTopics { words: vec![], ..saved() }.check().is_err());
        assert!(SavedTopics { evidence: vec![1.0], ..saved() }.check().is_err());
        assert_eq!(SavedTopics { evidence: vec![1.0; 4], ..saved() }.check(), Ok(()));
        assert!(SavedTopics { proportions: vec![0.5, f64::NAN], ..saved() }.check().is_err());
        let wrong = Sparse::from_triplets(1, 2, &[]).unwrap();
        assert!(saved().transform(&wrong, &Control::default()).is_err());
    }
}

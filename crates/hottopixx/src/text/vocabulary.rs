//! Which words topics are made of, chosen from the corpus.
//!
//! Row i of the co-occurrence matrix is estimated from the N tokens that stand beside word i. Were they
//! drawn independently from the words' distribution p, its l1 error would be about
//!
//! ```text
//! sqrt(2 / (pi N)) * sum over j of sqrt(p_j)
//! ```
//!
//! (the mean absolute deviation of a Poisson count, summed): the *noise* of the word, the error that it
//! has however good the topics are. In a corpus of V words and documents of L of them it is below
//! `sqrt(2 V / (pi L df))`. Words with more noise than [`CANDIDATE_NOISE`] are too uncertain to name a
//! topic; words of very few documents cost time and say little.

use super::Corpus;
use crate::Error;
use crate::order::largest_first;

/// Words with more noise name no topic.
pub const CANDIDATE_NOISE: f64 = 0.7;

/// Words beyond this number are set aside, the rarest first.
pub const USUAL_WORDS: usize = 30_000;

/// Words whose co-occurrence is counted at most, the most frequent ones: anchors are among them. The
/// others get their topics from the documents.
pub const CORE_WORDS: usize = 5000;

/// What the caller wants of the vocabulary; `None` for what the corpus says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct VocabularyRules {
    /// Words in fewer documents are set aside.
    pub min_df: Option<usize>,
    /// Words in fewer documents name no topic.
    pub candidate_df: Option<usize>,
    /// Words that are kept at most, the most frequent ones (default [`USUAL_WORDS`]).
    pub max_words: Option<usize>,
}

/// The words that are kept, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Vocabulary {
    /// Their numbers in the corpus, increasing.
    pub kept: Vec<usize>,
    /// The number of documents with each of them.
    pub documents: Vec<usize>,
    /// The places in `kept`, increasing, of the words that topics are found with: at most
    /// [`CORE_WORDS`], the most frequent ones.
    pub core: Vec<usize>,
    /// Words in fewer documents were set aside.
    pub min_df: usize,
    /// Words in fewer documents name no topic.
    pub candidate_df: usize,
    /// What was chosen and why, in whole sentences.
    pub reason: String,
}

impl Vocabulary {
    /// Chooses the words for `rank` topics. O(words log words).
    ///
    /// # Errors
    /// [`Error::Setting`] when the rules leave fewer words, or fewer that may name a topic, than topics.
    pub fn choose(corpus: &Corpus, rules: VocabularyRules, rank: usize) -> Result<Self, Error> {
        let (tokens, documents) = corpus.frequencies();
        let n = corpus.documents();
        let KeptWords { kept, asked, most } = kept_words(&tokens, &documents, n, rules);
        let df: Vec<usize> = kept.iter().map(|&i| documents[i]).collect();
        let min_df = df.iter().min().copied().unwrap_or(asked);
        if kept.len() < rank {
            return Err(too_few("min df", asked, kept.len(), rank));
        }
        let mut core: Vec<usize> = (0..kept.len()).collect();
        most_frequent(&mut core, &df, CORE_WORDS);
        let core_tokens: Vec<f64> = core.iter().map(|&place| tokens[kept[place]]).collect();
        let core_df: Vec<usize> = core.iter().map(|&place| df[place]).collect();
        let noise = Noise::of(&core_tokens, n);
        let (candidate_df, quiet) = match rules.candidate_df {
            Some(asked) => (asked, true),
            None => noise.candidate_df(&core_df, rank),
        };
        let candidates = core_df.iter().filter(|df| **df >= candidate_df).count();
        if candidates < rank {
            return Err(too_few("candidate df", candidate_df, candidates, rank));
        }
        let mut reason = format!(
            "Vocabulary: {} of {} words, those in at least {min_df} of {n} documents{}.",
            kept.len(),
            corpus.distinct(),
            if kept.len() == most && corpus.distinct() > most {
                format!(" (the {most} most frequent)")
            } else {
                String::new()
            },
        );
        if core.len() < kept.len() {
            reason += &format!(" Anchors are chosen among the {} most frequent.", core.len());
        }
        reason += &match (rules.candidate_df, quiet) {
            (Some(_), _) => format!(" Words in {candidate_df} documents or more may name a topic."),
            (None, true) => format!(
                " Words in {candidate_df} documents or more may name a topic: those of fewer have rows \
                 that are noise by more than {:.2} of 2.",
                noise.at(candidate_df)
            ),
            (None, false) => format!(
                " Words in {candidate_df} documents or more may name a topic, though their rows are \
                 noise by up to {:.2} of 2: more documents would help.",
                noise.at(candidate_df)
            ),
        };
        Ok(Vocabulary { kept, documents: df, core, min_df, candidate_df, reason })
    }
}

/// The words that rules keep.
pub(crate) struct KeptWords {
    /// Their numbers, increasing.
    pub kept: Vec<usize>,
    /// The least number of documents that was asked for.
    asked: usize,
    /// The number of words that are kept at most.
    most: usize,
}

/// The words that rules keep of those of these frequencies in `n` documents.
pub(crate) fn kept_words(
    tokens: &[f64],
    documents: &[usize],
    n: usize,
    rules: VocabularyRules,
) -> KeptWords {
    let asked = rules.min_df.unwrap_or_else(|| usual_min_df(n)).max(1);
    let mut kept: Vec<usize> =
        (0..tokens.len()).filter(|&i| documents[i] >= asked && tokens[i] > 0.0).collect();
    let most = rules.max_words.unwrap_or(USUAL_WORDS);
    most_frequent(&mut kept, documents, most);
    KeptWords { kept, asked, most }
}

/// Leaves the most frequent words, in increasing order; ties by number, so that the choice is one.
fn most_frequent(words: &mut Vec<usize>, documents: &[usize], most: usize) {
    if words.len() > most {
        largest_first(words, |i| documents[i] as f64);
        words.truncate(most);
        words.sort_unstable();
    }
}

/// Five documents; in small corpora fewer, in large ones more.
fn usual_min_df(documents: usize) -> usize {
    match documents {
        0..50 => 1,
        50..300 => 2,
        300..1000 => 3,
        _ => (documents / 10_000).max(5),
    }
}

fn too_few(name: &'static str, value: usize, left: usize, rank: usize) -> Error {
    Error::Setting {
        name,
        value: value.to_string(),
        remedy: format!(
            "it leaves {left} words for {rank} topics: lower it, ask for fewer topics or give more \
             documents"
        ),
    }
}

/// How uncertain rows of the co-occurrence matrix are.
struct Noise {
    /// `sqrt(2 / pi) * sum of sqrt(p_j)`.
    spread: f64,
    /// Tokens beside one, in a document of mean length.
    beside: f64,
}

impl Noise {
    fn of(tokens: &[f64], documents: usize) -> Self {
        let all: f64 = tokens.iter().sum();
        let roots: f64 = tokens.iter().map(|t| (t / all).sqrt()).sum();
        let beside = (all / documents.max(1) as f64 - 1.0).max(1.0);
        Noise { spread: (2.0 / std::f64::consts::PI).sqrt() * roots, beside }
    }

    /// The noise of a word of this many documents.
    fn at(&self, df: usize) -> f64 {
        (self.spread / (df as f64 * self.beside).sqrt()).min(2.0)
    }

    /// The least number of documents with noise of at most [`CANDIDATE_NOISE`], and true; where that
    /// leaves fewer than ten words per topic, the number that leaves that many, and false.
    fn candidate_df(&self, df: &[usize], rank: usize) -> (usize, bool) {
        let least = (self.spread / CANDIDATE_NOISE).powi(2) / self.beside;
        let least = least.ceil() as usize;
        let mut sorted = df.to_vec();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        let enough = sorted[(10 * rank).min(sorted.len()) - 1];
        (least.min(enough).max(1), least <= enough)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Dense;
    use crate::text::StopWords;

    /// Word i occurs in every (i + 1)-th document.
    fn corpus(documents: usize, words: usize) -> Corpus {
        let rows: Vec<Vec<f64>> = (0..documents)
            .map(|d| (0..words).map(|i| f64::from(u8::from(d % (i + 1) == 0))).collect())
            .collect();
        let counts = Dense::from_rows(&rows).unwrap().into();
        Corpus::from_counts(&counts, None, &StopWords::None).unwrap()
    }

    #[test]
    fn rules_are_kept_and_gaps_filled() {
        let corpus = corpus(400, 60);
        let rules = VocabularyRules { min_df: Some(20), candidate_df: Some(40), max_words: None };
        let chosen = Vocabulary::choose(&corpus, rules, 3).unwrap();
        assert_eq!((chosen.min_df, chosen.candidate_df, chosen.kept.len()), (20, 40, 21));
        let few = VocabularyRules { max_words: Some(5), ..VocabularyRules::default() };
        let chosen = Vocabulary::choose(&corpus, few, 3).unwrap();
        assert_eq!((chosen.kept, chosen.min_df), (vec![0, 1, 2, 3, 4], 80));
        assert!(chosen.reason.contains("5 of 60 words"), "{}", chosen.reason);
        assert_eq!(chosen.core, [0, 1, 2, 3, 4]);
        let mut words = vec![0, 1, 2, 3];
        most_frequent(&mut words, &[5, 9, 5, 7], 3);
        assert_eq!(words, [0, 1, 3]);
        let error = Vocabulary::choose(&corpus, rules, 30).unwrap_err().to_string();
        assert!(error.contains("leaves 21 words for 30 topics"), "{error}");
    }

    #[test]
    fn the_noise_is_that_of_samples() {
        // 100 equally frequent words, documents of 51 tokens: sum of sqrt(p) is 10.
        let noise = Noise::of(&[51.0; 100], 100);
        assert!((noise.at(8) - (2.0f64 / std::f64::consts::PI).sqrt() * 10.0 / 20.0).abs() < 1e-12);
        let df = vec![1000; 100];
        let (candidate, quiet) = noise.candidate_df(&df, 2);
        assert!(quiet && noise.at(candidate) <= CANDIDATE_NOISE);
        assert!(noise.at(candidate - 1) > CANDIDATE_NOISE);
        assert_eq!(noise.candidate_df(&[2; 100], 2), (2, false));
    }
}

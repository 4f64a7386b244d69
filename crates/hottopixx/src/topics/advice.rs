//! Sentences about what the caller may want to change.

use super::TopicErrors;
use crate::text::{Corpus, words_are_columns};

/// Fewer documents a topic than this leave it to chance.
const FEW_A_TOPIC: usize = 20;
/// A weighted error from which on the anchors explain little, and a mean coherence below which topics
/// are not ones: rare words make the error large where topics are fine.
const NEAR_ONE: f64 = 0.85;
const INCOHERENT: f64 = 0.05;
/// A share of empty documents that is worth a word.
const MANY_EMPTY: f64 = 0.05;

/// What the numbers of a run give reason for. `lengths` are the documents' kept tokens.
pub(super) fn advice(
    corpus: &Corpus,
    coherence: &[f64],
    lengths: &[f64],
    errors: &TopicErrors,
) -> Vec<String> {
    let (n, rank) = (corpus.documents(), coherence.len());
    let coherent = coherence.iter().sum::<f64>() / rank.max(1) as f64;
    let mut advice = Vec::new();
    if n < FEW_A_TOPIC * rank {
        advice.push(format!(
            "There are {n} documents for {rank} topics: {} or more would say what is chance; split long \
             documents into paragraphs, or ask for fewer topics.",
            FEW_A_TOPIC * rank
        ));
    }
    if errors.weighted_l1 > NEAR_ONE && coherent < INCOHERENT {
        advice.push(format!(
            "The anchors explain little of the words (weighted error {:.2}, 1 is nothing): raise the \
             minimum document frequency, give more documents or ask for more topics.",
            errors.weighted_l1
        ));
    } else if coherent < 0.0 {
        advice.push(format!(
            "The words of the topics meet in the same documents no more often than by chance (mean coherence \
             {coherent:.2}): there may be no topics to find in these documents; longer ones, other stop words \
             or fewer topics may help."
        ));
    }
    let empty = lengths.iter().filter(|l| **l == 0.0).count();
    if empty as f64 > MANY_EMPTY * n as f64 {
        advice.push(format!(
            "{empty} of {n} documents have no word of the vocabulary: lower the minimum document \
             frequency or raise the number of words."
        ));
    }
    if looks_turned(corpus) {
        advice.push(format!(
            "Some of the {n} rows sum to much more than any of the {} columns, as words do: if rows are \
             words, transpose.",
            corpus.words().len()
        ));
    }
    advice
}

/// Whether the rows of a table look like words; rows of zeros say nothing.
fn looks_turned(corpus: &Corpus) -> bool {
    let counts = corpus.counts();
    let rows = (0..counts.rows()).map(|d| counts.row(d).1.iter().sum());
    let rows: Vec<f64> = rows.filter(|sum: &f64| *sum > 0.0).collect();
    corpus.is_table() && words_are_columns(&rows, &corpus.frequencies().0) == Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Dense;
    use crate::text::{Counter, Reading, StopWords};

    /// 40 documents of like length, words of frequencies 1, 1/2, 1/3, …
    fn corpus(turned: bool) -> Corpus {
        let rows: Vec<Vec<f64>> = (0..40)
            .map(|d| (0..60).map(|w| if (d * 7 + w) % (w + 1) == 0 { 3.0 } else { 0.0 }).collect())
            .collect();
        let counts = Dense::from_rows(&rows).unwrap();
        let counts = if turned { counts.transpose() } else { counts };
        Corpus::from_counts(&counts.into(), None, &StopWords::None).unwrap()
    }

    #[test]
    fn what_is_wrong_is_said() {
        let fine = TopicErrors { weighted_l1: 0.3, mean_l1: 0.4 };
        assert_eq!(advice(&corpus(false), &[0.2; 2], &[5.0; 40], &fine), Vec::<String>::new());
        let few = advice(&corpus(false), &[0.2; 5], &[5.0; 40], &fine);
        assert!(few.len() == 1 && few[0].starts_with("There are 40 documents for 5"), "{few:?}");
        let chance = advice(&corpus(false), &[0.1, -0.2], &[5.0; 40], &fine);
        assert!(chance.len() == 1 && chance[0].contains("coherence -0.05"), "{chance:?}");
        let near = TopicErrors { weighted_l1: 0.95, mean_l1: 0.97 };
        let lengths: Vec<f64> = (0..40).map(|d| f64::from(d % 4)).collect();
        let both = advice(&corpus(false), &[0.0; 2], &lengths, &near);
        assert!(both.len() == 2 && both[0].contains("0.95") && both[1].starts_with("10 of 40"));
        let turned = advice(&corpus(true), &[0.2; 2], &[5.0; 60], &fine);
        assert!(turned.len() == 1 && turned[0].ends_with("transpose."), "{turned:?}");
        // Text is never the wrong way round, however unlike in length documents are.
        let mut counter =
            Counter::new(Reading { stop_words: StopWords::None, ..Reading::default() }).unwrap();
        let long = |d: usize| {
            ["a", "b", "c"].map(|w| format!("{w}{w}{}", d % 20)).join(" ").repeat(1 + d * d % 97)
        };
        let texts: Vec<String> = (0..60).map(long).collect();
        counter.add(&texts).unwrap();
        let text = counter.finish().unwrap();
        assert_eq!(advice(&text, &[0.2; 2], &[5.0; 60], &fine), Vec::<String>::new());
    }
}

//! The way from a corpus to a [`TopicModel`], every step on one screen.

use super::anchors::{Field, JudgedAnchors, Start};
use super::bound::anchor_bound;
use super::core_words::Core;
use super::naming::{Fitted, Named};
use super::polish::{Polished, of_shares, polish, with_floor};
use super::recovery::{Recovered, recover};
use super::shares::{ByWord, fit_documents, likelihood};
use super::{TopicModel, TopicSeconds, Topics, figures};
use crate::Error;
use crate::clock::Instant;
use crate::control::{Control, Stop};
use crate::factor::in_pool;
use crate::matrix::{Dense, Matrix, Sparse};
use crate::normalise::UnitRows;
use crate::order::largest_first;
use crate::text::{Corpus, Vocabulary, cooccurrence_controlled};
use std::borrow::Cow;

/// The share of a time limit that anchors may take.
const ANCHOR_SHARE: f64 = 0.4;
/// The share of what is left of a time limit that the bound may take: little comes after it.
const BOUND_SHARE: f64 = 0.9;
/// Documents of a smaller part of the mean length are left out of the co-occurrence.
const SHORT: f64 = 1.0 / 3.0;
/// EM steps at most with the words that are not in the co-occurrence, after those without them.
const WIDE_STEPS: usize = 20;

impl Topics {
    /// Finds topics.
    ///
    /// # Errors
    /// When the corpus or a setting is not usable: too few words for this many topics, an anchor that is no word
    /// of the vocabulary; see [`Error`].
    pub fn fit(&self, corpus: &Corpus) -> Result<TopicModel, Error> {
        self.check()?;
        in_pool(self.threads, || self.find(corpus))
    }

    fn find(&self, corpus: &Corpus) -> Result<TopicModel, Error> {
        let (control, mut clock) = (self.control.for_new_run(), Clock::new());
        if corpus.documents() < 2 {
            return Err(Error::Setting {
                name: "documents",
                value: corpus.documents().to_string(),
                remedy: "topics are what tells documents apart: give many (a line, cell, file or string \
                         each), or split a long one into paragraphs"
                    .to_owned(),
            });
        }
        let (kept, vocabulary, core) = self.words_of(corpus)?;
        let q = cooccurrence(&core, &kept, &control)?;
        let x = UnitRows::new(&q).map_err(standing_alone)?;
        let sums: Vec<f64> = (0..q.rows()).map(|i| q.row(i).sum()).collect();
        let total: f64 = sums.iter().sum();
        let probability: Vec<f64> = sums.iter().map(|sum| sum / total).collect();
        let cooccurred = clock.lap();

        let search = control.for_share(ANCHOR_SHARE);
        let field = Field {
            counts: core.counts(&kept),
            x: &x,
            documents: &core.documents,
            candidates: &core.candidates,
            evidence: &core.evidence,
            probability: &probability,
            prior: self.prior,
            control: &search,
        };
        let (anchors, judged) = self.choose(&field, core.corpus(&kept))?;
        let recovered = recover(&x, &anchors, self.recovery, &search);
        let anchored = clock.lap();

        let mut fitted = self.fit_documents(&kept, &core, &recovered, &probability, &control);
        let mut named =
            Named { kept, core, vocabulary, anchors, given: self.anchors.len(), judged, moved: 0 };
        let recovered = match named.follow(&fitted) {
            false => recovered,
            true => {
                let again = recover(&x, &named.anchors, self.recovery, &control.to_finish());
                fitted.anchored = again.topics(&probability);
                again
            }
        };
        let proving = control.for_share(BOUND_SHARE);
        let bound = anchor_bound(
            &x,
            &named.anchors,
            &named.core.documents,
            &named.core.candidates,
            &proving,
        );
        let late = proving.remaining().is_some_and(|left| left.is_zero());
        let mut model = named.model(&recovered, fitted, &probability);
        if bound.is_none() && late {
            model.notes.push("No bound: the time limit left too little for it.".to_owned());
        }
        model.bound = bound;
        model.prior = self.prior;
        model.notes.splice(0..0, corpus.notes().iter().cloned());
        model.stop = control.cut_short().unwrap_or(Stop::Finished);
        model.seconds =
            TopicSeconds { cooccurrence: cooccurred, anchors: anchored, polish: clock.lap() };
        Ok(model)
    }

    /// The words that topics are found with, and how often any two of them stand together: the matrix whose rows
    /// the anchors explain. Words x words, the most frequent words of the corpus.
    ///
    /// # Errors
    /// As [`Topics::fit`].
    pub fn cooccurrence(&self, corpus: &Corpus) -> Result<(Vec<String>, Matrix), Error> {
        self.check()?;
        in_pool(self.threads, || {
            let (kept, _, core) = self.words_of(corpus)?;
            let q = cooccurrence(&core, &kept, &self.control.for_new_run())?;
            Ok((core.corpus(&kept).words().to_vec(), q))
        })
    }

    /// The words that are kept, how they were chosen, and those that topics are found with.
    fn words_of<'a>(
        &self,
        corpus: &'a Corpus,
    ) -> Result<(Cow<'a, Corpus>, Vocabulary, Core), Error> {
        let available = corpus.distinct();
        if self.rank == 0 || self.rank > available {
            return Err(Error::Rank { rank: self.rank, available, what: "words" });
        }
        let vocabulary = Vocabulary::choose(corpus, self.rules(), self.rank)?;
        let kept = match vocabulary.kept.len() == corpus.words().len() {
            true => Cow::Borrowed(corpus),
            false => Cow::Owned(corpus.select(&vocabulary.kept)),
        };
        let core = Core::of(&kept, &vocabulary, self.rank);
        Ok((kept, vocabulary, core))
    }

    /// The anchors, given ones first, and the choices that were judged.
    fn choose(
        &self,
        field: &Field<'_>,
        corpus: &Corpus,
    ) -> Result<(Vec<Vec<usize>>, Vec<JudgedAnchors>), Error> {
        let number = |word: &String| {
            let place = corpus.words().iter().position(|known| known == word);
            place.filter(|&i| field.x.unit_row(i).is_some()).ok_or_else(|| Error::Setting {
                name: "anchors",
                value: word.clone(),
                remedy:
                    "it is no word of the vocabulary, or stands alone in its documents: choose \
                         another, or keep more words"
                        .to_owned(),
            })
        };
        let mut anchors: Vec<Vec<usize>> = Vec::new();
        for words in &self.anchors {
            anchors.push(words.iter().map(number).collect::<Result<_, _>>()?);
        }
        if anchors.len() == self.rank {
            return Ok((anchors, Vec::new()));
        }
        let start = self.start_with(field, corpus, &anchors);
        let judged = field.judged(&anchors, start, self.rank);
        let best = judged.first().ok_or(Error::NoAnswer(Stop::TimeLimit))?;
        anchors.extend(best.words.iter().map(|&word| vec![word]));
        if anchors.len() < self.rank {
            if let Some(stop) = field.control.stopped() {
                return Err(Error::NoAnswer(stop));
            }
            let (rank, available) = (self.rank, anchors.len());
            return Err(Error::Rank { rank, available, what: "words with rows of their own" });
        }
        Ok((anchors, judged))
    }

    /// The words that an earlier model began with, where they may still be anchors and make the rank together
    /// with those that are given.
    fn start_with(
        &self,
        field: &Field<'_>,
        corpus: &Corpus,
        given: &[Vec<usize>],
    ) -> Option<Start> {
        if self.start.is_empty() || self.start.len() + given.len() != self.rank {
            return None;
        }
        let may = |&i: &usize| field.candidates[i] && field.x.unit_row(i).is_some();
        let number = |word: &String| corpus.words().iter().position(|known| known == word);
        let mut words: Vec<usize> = Vec::with_capacity(self.start.len());
        for word in &self.start {
            let word = number(word).filter(may)?;
            if words.contains(&word) || given.iter().any(|anchor| anchor.contains(&word)) {
                return None;
            }
            words.push(word);
        }
        Some(Start { words, everywhere: self.everywhere })
    }

    /// Documents fitted on the topics of the anchors, then EM steps: with the words of the co-occurrence,
    /// then with all.
    fn fit_documents(
        &self,
        kept: &Corpus,
        core: &Core,
        recovered: &Recovered,
        probability: &[f64],
        control: &Control,
    ) -> Fitted {
        let anchored = recovered.topics(probability);
        let start = with_floor(&anchored, probability, &core.evidence);
        let even = vec![1.0 / self.rank as f64; self.rank];
        let shares = fit_documents(core.counts(kept), &start, self.prior, &even, control);
        let (sum, tokens) = likelihood(core.counts(kept), &start, &shares);
        let before = (-sum / tokens.max(1.0)).exp();
        let mut polished =
            polish(core.counts(kept), start, shares, self.prior, self.polish, control);
        let counts = kept.counts();
        let evidence = match core.all_evidence(kept) {
            None => core.evidence.clone(),
            Some(evidence) => {
                let Polished { shares, steps, .. } = polished;
                let topics = of_shares(counts, &shares, &evidence);
                let most = self.polish.min(WIDE_STEPS);
                polished = polish(counts, topics, shares, self.prior, most, control);
                polished.steps += steps;
                evidence
            }
        };
        // The most frequent topic first, before the last fit: new documents are then fitted alike, to
        // the last bit.
        let lengths: Vec<f64> = (0..counts.rows()).map(|d| counts.row(d).1.iter().sum()).collect();
        let frequent = proportions(&polished.shares, &lengths);
        let mut order: Vec<usize> = (0..self.rank).collect();
        largest_first(&mut order, |i| frequent[i]);
        let topics = polished.topics.topics().select_rows(&order);
        let steps = polished.steps;
        drop(polished);
        let fallback: Vec<f64> = order.iter().map(|&k| frequent[k]).collect();
        // The last step moved the topics: documents get the shares that are best for where they are.
        let by_word = ByWord::new(&topics, &evidence);
        let shares = fit_documents(counts, &by_word, self.prior, &fallback, &control.to_finish());
        // Over the same words as before.
        let by_word = ByWord::new(&core.taken(&topics), &core.evidence);
        let (sum, tokens) = likelihood(core.counts(kept), &by_word, &shares);
        let after = (-sum / tokens.max(1.0)).exp();
        let words = counts.transpose();
        let keyness = figures::keyness(&topics, &shares, &words, &lengths);
        Fitted {
            coherence: figures::coherence(&keyness, &topics, &words),
            keyness,
            anchored,
            order,
            topics,
            lengths,
            proportions: fallback,
            shares,
            evidence: evidence.to_vec(),
            steps,
            before,
            after,
        }
    }
}

/// How often words stand together in documents that are long enough.
fn cooccurrence(core: &Core, kept: &Corpus, control: &Control) -> Result<Matrix, Error> {
    let telling = Matrix::from(telling(core.counts(kept)).transpose());
    cooccurrence_controlled(&telling, control)
}

/// The sentence where no two words stand together.
fn standing_alone(error: Error) -> Error {
    match error {
        Error::AllZero { .. } => Error::Setting {
            name: "words of a document",
            value: "1".to_owned(),
            remedy: "topics are made of words that stand together: give longer documents, or keep \
                     rarer words"
                .to_owned(),
        },
        other => other,
    }
}

/// Documents long enough for co-occurrence: in very short ones every word beside another counts much,
/// which makes rare words look extreme.
fn telling(counts: &Sparse) -> Sparse {
    let lengths: Vec<f64> = (0..counts.rows()).map(|d| counts.row(d).1.iter().sum()).collect();
    let mean = lengths.iter().sum::<f64>() / lengths.len().max(1) as f64;
    let long: Vec<usize> = (0..lengths.len()).filter(|&d| lengths[d] >= SHORT * mean).collect();
    counts.select_rows(&long)
}

/// The share of each topic in all tokens.
fn proportions(shares: &Dense, lengths: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; shares.cols()];
    for (d, length) in lengths.iter().enumerate() {
        sums.iter_mut().zip(shares.row(d)).for_each(|(s, v)| *s += length * v);
    }
    let total: f64 = sums.iter().sum();
    sums.iter().map(|s| s / total.max(f64::MIN_POSITIVE)).collect()
}

/// Seconds since it was last asked.
struct Clock(Instant);

impl Clock {
    fn new() -> Self {
        Clock(Instant::now())
    }

    fn lap(&mut self) -> f64 {
        let seconds = self.0.elapsed().as_secs_f64();
        self.0 = Instant::now();
        seconds
    }
}

#[cfg(test)]
mod tests {
    use super::super::anchors::EARLIER;
    use super::*;
    use crate::text::{Counter, Reading, StopWords};

    /// Documents of three topics, each a mixture of two.
    fn corpus(documents: usize) -> Corpus {
        let topics = [
            ["oil", "barrel", "price", "market"],
            ["court", "judge", "trial", "price"],
            ["match", "goal", "team", "judge"],
        ];
        let document = |d: usize| {
            let word = |w: usize| topics[(d + w / 9) % 3][(d * d + w * (w + d)) % 4];
            (0..12).map(word).collect::<Vec<_>>().join(" ")
        };
        let all: Vec<String> = (0..documents).map(document).collect();
        let reading = Reading { stop_words: StopWords::None, ..Reading::default() };
        let mut counter = Counter::new(reading).unwrap();
        counter.add(&all).unwrap();
        counter.finish().unwrap()
    }

    #[test]
    fn an_earlier_choice_stays_and_gives_the_model_of_a_fit_from_nothing() {
        let (fewer, all) = (corpus(240), corpus(264));
        let start = Topics::new(3).fit(&fewer).unwrap().start();
        assert_eq!(start.len(), 3);
        let whole = Topics::new(3).fit(&all).unwrap();
        for everywhere in [false, true] {
            let later = Topics::new(3).start(start.clone(), everywhere).fit(&all).unwrap();
            assert_eq!(later.judged[0].origin, EARLIER);
            assert!(everywhere || later.judged.len() <= 2, "{:?}", later.judged);
            assert!(later.notes.iter().any(|note| note.contains(EARLIER)), "{:?}", later.notes);
            assert!(later.perplexity <= 1.001 * whole.perplexity);
        }
        // The same words, the same model.
        let same = Topics::new(3).start(whole.start(), false).fit(&all).unwrap();
        assert_eq!((same.topics, same.shares), (whole.topics, whole.shares));
    }

    #[test]
    fn a_choice_to_begin_with_that_cannot_be_is_none() {
        let all = corpus(240);
        let whole = Topics::new(3).fit(&all).unwrap();
        let begun = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        for start in [&["oil", "court"][..], &["oil", "court", "pudding"], &["oil", "oil", "goal"]]
        {
            let later = Topics::new(3).start(begun(start), false).fit(&all).unwrap();
            assert_eq!(later.judged, whole.judged);
        }
        let given = Topics::new(3).anchors(vec![begun(&["goal"])]);
        let later = given.start(begun(&["oil", "court"]), false).fit(&all).unwrap();
        assert!(later.anchors.iter().any(|anchor| anchor.given && anchor.name == "goal"));
        assert!(later.judged.iter().any(|judged| judged.origin == EARLIER));
    }

    #[test]
    fn a_poor_choice_to_begin_with_goes() {
        let all = corpus(240);
        let words = ["price", "barrel", "market"].map(str::to_owned).to_vec();
        let later = Topics::new(3).start(words, true).fit(&all).unwrap();
        assert_ne!(later.judged[0].origin, EARLIER, "{:?}", later.judged);
        assert_eq!(later.judged[0].words, Topics::new(3).fit(&all).unwrap().judged[0].words);
    }
}

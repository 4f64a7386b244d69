//! The way from a corpus to a [`TopicModel`], every step on one screen.

use super::anchors::{Field, JudgedAnchors, stand_ins, weighted};
use super::polish::{polish, with_floor};
use super::recovery::{Recovered, recover};
use super::shares::{ByWord, fit_documents, likelihood};
use super::{Anchor, TopicErrors, TopicModel, TopicSeconds, Topics, advice, figures};
use crate::Error;
use crate::control::{Control, Stop};
use crate::matrix::{Dense, Matrix, Sparse};
use crate::normalise::UnitRows;
use crate::text::{Corpus, Vocabulary, cooccurrence};
use std::time::Instant;

/// The share of a time limit that anchors may take.
const ANCHOR_SHARE: f64 = 0.4;
/// Documents of a smaller part of the mean length are left out of the co-occurrence.
const SHORT: f64 = 1.0 / 3.0;
/// A word belongs to a topic with at least this share of it.
const BELONGS: f64 = 0.5;
/// What exclusiveness counts against frequency for the name of a topic.
const FREX: f64 = 0.5;
/// Stand-ins that are named.
const STAND_INS: usize = 5;

impl Topics {
    /// Finds topics.
    ///
    /// # Errors
    /// When the corpus or a setting is not usable: too few words for so many topics, an anchor that is no word
    /// of the vocabulary; see [`Error`].
    pub fn fit(&self, corpus: &Corpus) -> Result<TopicModel, Error> {
        self.check()?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build();
        let pool = pool.map_err(|e| Error::Setting {
            name: "threads",
            value: self.threads.to_string(),
            remedy: format!("the system refused them ({e}); ask for fewer"),
        })?;
        pool.install(|| self.find(corpus))
    }

    fn find(&self, corpus: &Corpus) -> Result<TopicModel, Error> {
        let (control, mut clock) = (self.control.for_new_run(), Clock::new());
        let available = corpus.words().len();
        if self.rank == 0 || self.rank > available {
            return Err(Error::Rank { rank: self.rank, available, what: "words" });
        }
        let vocabulary = Vocabulary::choose(corpus, self.rules, self.rank)?;
        let kept = corpus.select(&vocabulary.kept);
        let by_word = kept.counts().transpose();
        let q = cooccurrence(&Matrix::from(telling(kept.counts()).transpose()))?;
        let x = UnitRows::new(&q)?;
        let sums: Vec<f64> = (0..q.rows()).map(|i| q.row(i).sum()).collect();
        let total: f64 = sums.iter().sum();
        let probability: Vec<f64> = sums.iter().map(|sum| sum / total).collect();
        let cooccurred = clock.lap();

        let search = control.for_share(ANCHOR_SHARE);
        let field = Field {
            counts: kept.counts(),
            x: &x,
            vocabulary: &vocabulary,
            probability: &probability,
            prior: self.prior,
            control: &search,
        };
        let (anchors, judged) = self.choose(&field, &kept)?;
        let recovered = recover(&x, &anchors, self.recovery, &search);
        let anchored = clock.lap();

        let mut fitted = self.fit_documents(kept.counts(), &recovered, &probability, &control);
        let mut named =
            Named { kept, vocabulary, anchors, given: self.anchors.len(), judged, moved: 0 };
        let recovered = match named.follow(&fitted) {
            false => recovered,
            true => {
                let again = recover(&x, &named.anchors, self.recovery, &control.to_finish());
                fitted.anchored = again.topics(&probability);
                again
            }
        };
        let mut model = named.model(recovered, fitted, &probability, &by_word);
        model.prior = self.prior;
        model.notes.splice(0..0, corpus.notes().iter().cloned());
        model.stop = control.cut_short().unwrap_or(Stop::Finished);
        model.seconds =
            TopicSeconds { cooccurrence: cooccurred, anchors: anchored, polish: clock.lap() };
        Ok(model)
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
        let judged = field.judged(&anchors, self.rank);
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

    /// Documents fitted on the topics of the anchors, then EM steps.
    fn fit_documents(
        &self,
        counts: &Sparse,
        recovered: &Recovered,
        probability: &[f64],
        control: &Control,
    ) -> Fitted {
        let anchored = recovered.topics(probability);
        let start = with_floor(&anchored, probability);
        let even = vec![1.0 / self.rank as f64; self.rank];
        let shares = fit_documents(counts, &start, self.prior, &even, control);
        let (sum, tokens) = likelihood(counts, &start, &shares);
        let before = (-sum / tokens.max(1.0)).exp();
        let polished = polish(counts, start, shares, self.prior, self.polish, control);
        // The most frequent topic first, before the last fit: new documents are then fitted alike, to
        // the last bit.
        let frequent = proportions(&polished.shares, counts);
        let mut order: Vec<usize> = (0..self.rank).collect();
        order.sort_by(|&a, &b| frequent[b].total_cmp(&frequent[a]).then(a.cmp(&b)));
        let topics = polished.topics.topics().select_rows(&order);
        let fallback: Vec<f64> = order.iter().map(|&k| frequent[k]).collect();
        // The last step moved the topics: documents get the shares that are best for where they are.
        let by_word = ByWord::new(&topics);
        let shares = fit_documents(counts, &by_word, self.prior, &fallback, &control.to_finish());
        let (sum, tokens) = likelihood(counts, &by_word, &shares);
        let after = (-sum / tokens.max(1.0)).exp();
        Fitted {
            anchored,
            order,
            topics,
            proportions: fallback,
            shares,
            steps: polished.steps,
            before,
            after,
        }
    }
}

/// Topics and shares, before and after the polish.
struct Fitted {
    /// p(word | topic) by the anchors, in their order.
    anchored: Dense,
    /// The number of the anchor for each topic.
    order: Vec<usize>,
    topics: Dense,
    /// The share of each topic in the corpus: that of documents without words.
    proportions: Vec<f64>,
    shares: Dense,
    steps: usize,
    before: f64,
    after: f64,
}

/// Words, and which of them name topics.
struct Named {
    kept: Corpus,
    vocabulary: Vocabulary,
    anchors: Vec<Vec<usize>>,
    /// The first so many were given.
    given: usize,
    judged: Vec<JudgedAnchors>,
    /// Anchors that were replaced after the polish.
    moved: usize,
}

impl Named {
    /// Where the polish has led a topic away from its anchor, so that most of the word is in other topics,
    /// the topic takes the name of a word that is frequent in it and belongs to it (FREX). Says whether
    /// any has changed.
    fn follow(&mut self, fitted: &Fitted) -> bool {
        let Fitted { topics, proportions, order, .. } = fitted;
        let given_topic = figures::topic_given_word(topics, proportions);
        let least = self.vocabulary.candidate_df;
        let mut taken: Vec<usize> = self.anchors.concat();
        for (place, &k) in order.iter().enumerate() {
            let kept = self.anchors[k].iter().any(|&w| given_topic.row(w)[place] >= BELONGS);
            if k < self.given || kept {
                continue;
            }
            let scores = figures::frex(topics.row(place), &given_topic, place, FREX);
            let free = |w: &usize| self.vocabulary.documents[*w] >= least && !taken.contains(w);
            let best = (0..scores.len())
                .filter(free)
                .max_by(|&a, &b| scores[a].total_cmp(&scores[b]).then(b.cmp(&a)));
            if let Some(word) = best {
                taken.push(word);
                self.anchors[k] = vec![word];
                self.moved += 1;
            }
        }
        self.moved > 0
    }

    /// Everything together, the most frequent topic first.
    fn model(
        self,
        recovered: Recovered,
        fitted: Fitted,
        probability: &[f64],
        by_word: &Sparse,
    ) -> TopicModel {
        let counts = self.kept.counts();
        let lengths: Vec<f64> = (0..counts.rows()).map(|d| counts.row(d).1.iter().sum()).collect();
        let Fitted { order, topics, shares, .. } = fitted;
        let (tokens, documents) = self.kept.frequencies();
        let errors = TopicErrors {
            weighted_l1: weighted(&recovered.errors, probability),
            mean_l1: weighted(&recovered.errors, &vec![1.0; recovered.errors.len()]),
        };
        let least = self.vocabulary.candidate_df;
        let candidates: Vec<bool> = documents.iter().map(|df| *df >= least).collect();
        let mut notes = vec![self.vocabulary.reason.clone()];
        notes.extend(self.judged.first().map(|best| chosen(best, self.judged.len(), self.moved)));
        let coherence = figures::coherence(&topics, by_word);
        TopicModel {
            typical: figures::typical(&shares, &lengths),
            advice: advice::advice(&self.kept, &coherence, &lengths, &errors),
            coherence,
            anchors: self.named(&order, &recovered.given_word, &candidates),
            given_word: columns(&recovered.given_word, &order),
            anchored: fitted.anchored.select_rows(&order),
            proportions: fitted.proportions,
            empty_documents: lengths.iter().filter(|l| **l == 0.0).count(),
            words: self.kept.words().to_vec(),
            perplexity: fitted.after,
            anchored_perplexity: fitted.before,
            steps: fitted.steps,
            min_df: self.vocabulary.min_df,
            candidate_df: least,
            judged: self.judged,
            prior: 0.0,
            stop: Stop::Finished,
            seconds: TopicSeconds::default(),
            topics,
            shares,
            tokens,
            documents,
            errors,
            notes,
        }
    }

    fn named(&self, order: &[usize], given_word: &Dense, candidates: &[bool]) -> Vec<Anchor> {
        let others = stand_ins(given_word, &self.anchors, candidates, STAND_INS);
        let anchor = |&k: &usize| {
            let names: Vec<&str> =
                self.anchors[k].iter().map(|&i| self.kept.words()[i].as_str()).collect();
            Anchor {
                words: self.anchors[k].clone(),
                name: names.join("+"),
                stand_ins: others[k].clone(),
                given: k < self.given,
            }
        };
        order.iter().map(anchor).collect()
    }
}

fn chosen(best: &JudgedAnchors, count: usize, moved: usize) -> String {
    let mut sentence = format!(
        "Anchors: successive projection, {}, the best of {count} choices by the likelihood of held-out \
         halves of documents",
        best.origin
    );
    if moved > 0 {
        sentence += &format!(
            "; {moved} of them replaced, because the polish led their topics to other words"
        );
    }
    sentence + "."
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
fn proportions(shares: &Dense, counts: &Sparse) -> Vec<f64> {
    let mut sums = vec![0.0; shares.cols()];
    for d in 0..shares.rows() {
        let length: f64 = counts.row(d).1.iter().sum();
        sums.iter_mut().zip(shares.row(d)).for_each(|(s, v)| *s += length * v);
    }
    let total: f64 = sums.iter().sum();
    sums.iter().map(|s| s / total.max(f64::MIN_POSITIVE)).collect()
}

/// Some columns, in this order.
fn columns(matrix: &Dense, order: &[usize]) -> Dense {
    let mut out = Dense::zeros(matrix.rows(), order.len());
    for i in 0..matrix.rows() {
        let row = matrix.row(i);
        out.row_mut(i).iter_mut().zip(order).for_each(|(v, &k)| *v = row[k]);
    }
    out
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

//! The way from a corpus to a [`TopicModel`], every step on one screen.

use super::anchors::{Field, JudgedAnchors, stand_ins, weighted};
use super::core_words::Core;
use super::polish::{Polished, of_shares, polish, with_floor};
use super::recovery::{Recovered, recover};
use super::shares::{ByWord, fit_documents, likelihood};
use super::{Anchor, TopicErrors, TopicModel, TopicSeconds, Topics, advice, figures};
use crate::Error;
use crate::control::{Control, Stop};
use crate::factor::in_pool;
use crate::matrix::{Dense, Matrix, Sparse};
use crate::normalise::UnitRows;
use crate::text::{CORE_WORDS, Corpus, Vocabulary, cooccurrence_controlled};
use std::time::Instant;

/// The share of a time limit that anchors may take.
const ANCHOR_SHARE: f64 = 0.4;
/// Documents of a smaller part of the mean length are left out of the co-occurrence.
const SHORT: f64 = 1.0 / 3.0;
/// A word belongs to a topic with at least this share of it.
const BELONGS: f64 = 0.5;
/// EM steps at most with the words that are not in the co-occurrence, after those without them.
const WIDE_STEPS: usize = 20;
/// An anchor names its topic if it is among this many of its first words.
const NAMES: usize = 30;
/// What exclusiveness counts against frequency for the name of a topic.
const FREX: f64 = 0.5;
/// Stand-ins that are named.
const STAND_INS: usize = 5;

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
        let available = corpus.words().len();
        if self.rank == 0 || self.rank > available {
            return Err(Error::Rank { rank: self.rank, available, what: "words" });
        }
        let mut rules = self.rules;
        if self.polish == 0 {
            // The anchors alone say nothing of words that are not in the co-occurrence.
            rules.max_words = Some(rules.max_words.unwrap_or(CORE_WORDS).min(CORE_WORDS));
        }
        let vocabulary = Vocabulary::choose(corpus, rules, self.rank)?;
        let kept = corpus.select(&vocabulary.kept);
        let core = Core::of(&kept, &vocabulary);
        let telling = Matrix::from(telling(core.counts(&kept)).transpose());
        let q = cooccurrence_controlled(&telling, &control)?;
        let x = UnitRows::new(&q)?;
        let sums: Vec<f64> = (0..q.rows()).map(|i| q.row(i).sum()).collect();
        let total: f64 = sums.iter().sum();
        let probability: Vec<f64> = sums.iter().map(|sum| sum / total).collect();
        let cooccurred = clock.lap();

        let search = control.for_share(ANCHOR_SHARE);
        let field = Field {
            counts: core.counts(&kept),
            x: &x,
            documents: &core.documents,
            candidate_df: vocabulary.candidate_df,
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
        let mut model = named.model(&recovered, fitted, &probability);
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
        let frequent = proportions(&polished.shares, counts);
        let mut order: Vec<usize> = (0..self.rank).collect();
        order.sort_by(|&a, &b| frequent[b].total_cmp(&frequent[a]).then(a.cmp(&b)));
        let topics = polished.topics.topics().select_rows(&order);
        let fallback: Vec<f64> = order.iter().map(|&k| frequent[k]).collect();
        // The last step moved the topics: documents get the shares that are best for where they are.
        let by_word = ByWord::new(&topics, &evidence);
        let shares = fit_documents(counts, &by_word, self.prior, &fallback, &control.to_finish());
        // Over the same words as before.
        let by_word = ByWord::new(&core.taken(&topics), &core.evidence);
        let (sum, tokens) = likelihood(core.counts(kept), &by_word, &shares);
        let after = (-sum / tokens.max(1.0)).exp();
        Fitted {
            anchored,
            order,
            topics,
            proportions: fallback,
            shares,
            evidence: evidence.to_vec(),
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
    /// What a token of each word counts for shares.
    evidence: Vec<f64>,
    steps: usize,
    before: f64,
    after: f64,
}

/// Words, and which of them name topics.
struct Named {
    kept: Corpus,
    core: Core,
    vocabulary: Vocabulary,
    /// In the numbers of the core.
    anchors: Vec<Vec<usize>>,
    /// This many, the first ones, were given.
    given: usize,
    judged: Vec<JudgedAnchors>,
    /// Anchors that were replaced after the polish.
    moved: usize,
}

impl Named {
    /// Where the polish has led a topic away from its anchor, so that most of the word is in other topics or
    /// many words say more about this one, the topic takes the name of a word that belongs to it and has the highest term score; without such a
    /// word, that of a frequent and exclusive one (FREX). Says whether any has changed.
    fn follow(&mut self, fitted: &Fitted) -> bool {
        let Fitted { topics, proportions, order, .. } = fitted;
        let given_topic = figures::topic_given_word(topics, proportions);
        let least = self.vocabulary.candidate_df;
        let (tokens, _) = self.kept.frequencies();
        let mut taken: Vec<usize> = self.anchors.concat();
        for (place, &k) in order.iter().enumerate() {
            let own = figures::term_scores(topics, &tokens, place);
            let names = |&w: &usize| {
                let w = self.core.places[w];
                let before = own.iter().filter(|score| **score > own[w]).count();
                given_topic.row(w)[place] >= BELONGS && before < NAMES
            };
            if k < self.given || self.anchors[k].iter().any(names) {
                continue;
            }
            let frex = figures::frex(topics.row(place), &given_topic, place, FREX);
            let score = |w: usize| {
                let w = self.core.places[w];
                match given_topic.row(w)[place] >= BELONGS {
                    true => (1, own[w]),
                    false => (0, frex[w]),
                }
            };
            let free = |w: &usize| self.core.documents[*w] >= least && !taken.contains(w);
            let best = (0..self.core.places.len()).filter(free).max_by(|&a, &b| {
                let (a_score, b_score) = (score(a), score(b));
                let order = a_score.0.cmp(&b_score.0).then(a_score.1.total_cmp(&b_score.1));
                order.then(b.cmp(&a))
            });
            if let Some(word) = best {
                taken.push(word);
                self.anchors[k] = vec![word];
                self.moved += 1;
            }
        }
        self.moved > 0
    }

    /// Everything together, the most frequent topic first.
    fn model(mut self, recovered: &Recovered, fitted: Fitted, probability: &[f64]) -> TopicModel {
        let places = &self.core.places;
        self.anchors.iter_mut().flatten().for_each(|word| *word = places[*word]);
        for judged in &mut self.judged {
            judged.words.iter_mut().for_each(|word| *word = places[*word]);
        }
        let words = self.kept.words().len();
        let given_word = self.core.spread(&recovered.given_word.transpose(), words).transpose();
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
        let coherence = figures::coherence(&topics, &counts.transpose());
        TopicModel {
            typical: figures::typical(&shares, &lengths),
            advice: advice::advice(&self.kept, &coherence, &lengths, &errors),
            coherence,
            anchors: self.named(&order, &given_word, &candidates),
            given_word: columns(&given_word, &order),
            anchored: self.core.spread(&fitted.anchored.select_rows(&order), words),
            proportions: fitted.proportions,
            evidence: fitted.evidence,
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

//! What a caller may ask of topics.

use super::Recovery;
use crate::Error;
use crate::control::Control;
use crate::text::{CORE_WORDS, VocabularyRules};

/// EM steps at most, unless the caller says otherwise.
pub(super) const USUAL_POLISH: usize = 50;
/// The parameter of the Dirichlet prior of documents' shares.
pub(super) const USUAL_PRIOR: f64 = 0.1;

/// Settings of a topic model; [`Topics::fit`] finds it.
#[derive(Debug, Clone)]
pub struct Topics {
    pub(super) rank: usize,
    pub(super) rules: VocabularyRules,
    pub(super) anchors: Vec<Vec<String>>,
    pub(super) start: Vec<String>,
    pub(super) everywhere: bool,
    pub(super) recovery: Recovery,
    pub(super) polish: usize,
    pub(super) prior: f64,
    pub(super) threads: usize,
    pub(super) control: Control,
}

impl Topics {
    /// Asks for `rank` topics, everything else at its default.
    pub fn new(rank: usize) -> Self {
        Topics {
            rank,
            rules: VocabularyRules::default(),
            anchors: Vec::new(),
            start: Vec::new(),
            everywhere: false,
            recovery: Recovery::default(),
            polish: USUAL_POLISH,
            prior: USUAL_PRIOR,
            threads: 0,
            control: Control::default(),
        }
    }

    /// Which words are kept and may name a topic (default: what the corpus says).
    pub fn vocabulary(mut self, rules: VocabularyRules) -> Self {
        self.rules = rules;
        self
    }

    /// Anchors that are given, each a word or several that name a topic together; the others, up to the
    /// rank, are found (default: none is given).
    pub fn anchors(mut self, anchors: Vec<Vec<String>>) -> Self {
        self.anchors = anchors;
        self
    }

    /// The words that an earlier model began with, one of a part of these documents
    /// ([`TopicModel::start`](super::TopicModel::start)). They are the first of the choices that the documents judge, and stay
    /// unless another is clearly better. Where one of the choices made anew has most of these words, the others are judged
    /// only if it is clearly better, or when asked to look `everywhere`. Words that may be anchors no longer, or do not make
    /// the rank together with given anchors, are no choice (default: none).
    pub fn start(mut self, words: Vec<String>, everywhere: bool) -> Self {
        self.start = words;
        self.everywhere = everywhere;
        self
    }

    /// How p(word | topic) is found from the anchors (default [`Recovery::L2`]).
    pub fn recovery(mut self, recovery: Recovery) -> Self {
        self.recovery = recovery;
        self
    }

    /// EM steps at most (default 50); 0 for the topics of the anchors as they are.
    pub fn polish(mut self, steps: usize) -> Self {
        self.polish = steps;
        self
    }

    /// The parameter of the Dirichlet prior of documents' shares (default 0.1): tokens that every topic
    /// is given of every document beforehand, so that short documents are less sure of their topics; 0
    /// for none.
    pub fn prior(mut self, prior: f64) -> Self {
        self.prior = prior;
        self
    }

    /// Number of threads; 0, the default, for all the machine has. The answer does not depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Deadline, stop flag and observer.
    pub fn control(mut self, control: Control) -> Self {
        self.control = control;
        self
    }

    /// Which words are kept, as far as it is said: what [`Counter::finish_for`](crate::text::Counter::finish_for)
    /// takes.
    pub fn rules(&self) -> VocabularyRules {
        let mut rules = self.rules;
        if self.polish == 0 {
            // The anchors alone say nothing of words that are not in the co-occurrence.
            rules.max_words = Some(rules.max_words.unwrap_or(CORE_WORDS).min(CORE_WORDS));
        }
        rules
    }

    /// Checks what does not depend on the corpus.
    pub(super) fn check(&self) -> Result<(), Error> {
        if !(self.prior >= 0.0 && self.prior.is_finite()) {
            let remedy = "give a number of tokens that is not negative".to_owned();
            return Err(Error::Setting { name: "prior", value: self.prior.to_string(), remedy });
        }
        if self.anchors.len() > self.rank {
            let remedy =
                format!("there are {} anchors: raise the rank to that", self.anchors.len());
            return Err(Error::Setting { name: "rank", value: self.rank.to_string(), remedy });
        }
        for (k, anchor) in self.anchors.iter().enumerate() {
            if self.anchors[..k].contains(anchor) {
                let remedy = "it is given twice, and two topics cannot be told apart by one name: give each \
                              topic its own"
                    .to_owned();
                return Err(Error::Setting { name: "anchors", value: anchor.join("+"), remedy });
            }
        }
        Ok(())
    }
}

//! Topics of documents: from counts of words to topics with a name each, and back to documents.
//!
//! ```text
//! corpus → vocabulary → co-occurrence → anchors → recovery → shares of documents → polish
//! ```
//!
//! An *anchor* is a word that belongs to one topic alone; where every topic has one, the rows of the
//! co-occurrence matrix are mixtures of the anchors' rows, and topics are found without local optima (Arora et
//! al., *A practical algorithm for topic modeling with provable guarantees*, 2013). Real corpora are only near
//! it: so the anchors give the names and the start, and EM steps on the counts (probabilistic latent
//! semantic analysis) the likelihood. Both answers are kept apart in a [`TopicModel`]:
//! [`TopicModel::anchored`] is what the anchors say, [`TopicModel::topics`] what the polish made of it.
//!
//! ```
//! use hottopixx::text::{Counter, Reading};
//! use hottopixx::topics::Topics;
//!
//! let documents: Vec<String> = (0..200)
//!     .map(|d| match d % 2 {
//!         0 => format!("oil price barrel market week{}", d % 7),
//!         _ => format!("court judge trial verdict week{}", d % 5),
//!     })
//!     .collect();
//! let mut counter = Counter::new(Reading::default())?;
//! counter.add(&documents)?;
//! let model = Topics::new(2).fit(&counter.finish()?)?;
//! let shares = model.shares.row(0);
//! assert!(shares[0].max(shares[1]) > 0.9); // the first document is about one thing
//! # Ok::<(), hottopixx::Error>(())
//! ```

mod advice;
mod anchors;
mod bound;
mod company;
mod core_words;
mod figures;
mod fit;
mod memory;
mod model;
mod naming;
mod polish;
mod recovery;
mod saved;
mod settings;
mod shares;

pub use anchors::JudgedAnchors;
pub use bound::AnchorBound;
pub use figures::{Measure, USUAL_LAMBDA};
pub use model::{Anchor, TopicErrors, TopicModel, TopicSeconds};
pub use recovery::Recovery;
pub use saved::{SavedTopics, ShownTopics};
pub use settings::Topics;

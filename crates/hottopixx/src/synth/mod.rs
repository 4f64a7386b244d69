//! Instances with known answers: which rows are hott is decided first, the matrix follows.
//!
//! One file per family. [`Family::Paper`] is section 5 of the paper; the others are where greedy
//! methods fail, so that convex programs earn their keep (middle points after Gillis and Vavasis).
//! All families but `multinomial` and `documents`, which are sparse, and `scene` share one shape: r hott rows W with unit sums, every other row a
//! nonnegative combination of them that is then disturbed, rows in random order.
//!
//! Random numbers come from ChaCha8, one stream for each row (or block of documents): the same
//! recipe gives the same bytes, whatever the number of threads.
//!
//! ```
//! use hottopixx::synth::{Family, Recipe};
//!
//! let instance = Recipe::new(Family::Paper, 3).generate()?;
//! assert_eq!((instance.matrix.rows(), instance.truth.hott.len()), (40, 3));
//! assert_eq!(instance.truth.recall(&instance.truth.hott), 1.0);
//! # Ok::<(), hottopixx::Error>(())
//! ```

mod documents;
mod draw;
mod ill_conditioned;
mod midpoints;
mod multinomial;
mod near_duplicates;
mod outliers;
mod paper;
mod rows;
mod scene;
#[cfg(test)]
mod tests;
mod truth;

pub use truth::Truth;

use crate::Error;
use crate::matrix::Matrix;

/// The kinds of instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// Section 5 of the paper.
    Paper,
    /// Midpoints of all pairs of hott rows, pushed outward.
    Midpoints,
    /// Hott rows that are nearly dependent.
    IllConditioned,
    /// Hott rows with near copies beside them.
    NearDuplicates,
    /// A few rows that no topic explains.
    Outliers,
    /// Word counts of short documents.
    Multinomial,
    /// Sparse words by documents in which anchor words are hott, at any size.
    Documents,
    /// Pixels by bands of a hyperspectral scene.
    Scene,
}

impl Family {
    /// Every family, in the order in which they are listed to users.
    pub const ALL: [Family; 8] = [
        Family::Paper,
        Family::Midpoints,
        Family::IllConditioned,
        Family::NearDuplicates,
        Family::Outliers,
        Family::Multinomial,
        Family::Documents,
        Family::Scene,
    ];

    /// The name on the command line and in the truth file.
    pub fn name(self) -> &'static str {
        match self {
            Family::Paper => "paper",
            Family::Midpoints => "midpoints",
            Family::IllConditioned => "ill-conditioned",
            Family::NearDuplicates => "near-duplicates",
            Family::Outliers => "outliers",
            Family::Multinomial => "multinomial",
            Family::Documents => "documents",
            Family::Scene => "scene",
        }
    }

    /// What it is, in one line.
    pub fn describe(self) -> &'static str {
        match self {
            Family::Paper => {
                "section 5 of the paper: random hott rows, duplicates, mixtures, noise"
            }
            Family::Midpoints => "midpoints of pairs of hott rows, pushed away from the mean",
            Family::IllConditioned => "hott rows that share most of their mass, mixtures, noise",
            Family::NearDuplicates => "hott rows with near copies, mixtures, noise",
            Family::Outliers => "the paper's instances with a few unrelated, extreme rows",
            Family::Multinomial => "sparse word counts of documents drawn from topics with anchors",
            Family::Documents => "large sparse words by documents whose anchor words are hott",
            Family::Scene => "pixels by bands of a scene: materials, shadows, noise, dead pixels",
        }
    }

    /// Whether its matrices are sparse.
    pub fn sparse(self) -> bool {
        matches!(self, Family::Multinomial | Family::Documents)
    }
}

impl std::str::FromStr for Family {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        crate::error::one_of("family", name, Family::ALL, Family::name)
    }
}

impl std::fmt::Display for Family {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What to generate. [`Recipe::new`] gives each family's defaults; all fields may be changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    /// The kind of instance.
    pub family: Family,
    /// f, the number of rows.
    pub features: usize,
    /// n, the number of columns; for `multinomial` and `documents`, documents.
    pub examples: usize,
    /// r, the number of hott topics.
    pub rank: usize,
    /// d, further copies of each hott row. Near copies in `near-duplicates`, where 0 stands for 2;
    /// further anchor words in `multinomial` and `documents`.
    pub duplicates: usize,
    /// eta: every row is moved by at most `eta * alpha^2 / (20 + 13 alpha)` in l1. In `midpoints`,
    /// delta, how far midpoints are pushed; in `scene`, a factor on the noise that the seed draws; in `multinomial`, the share of tokens, less than 1, that
    /// belong to no topic; in `documents`, how far the logarithms of core words' weights stray.
    pub noise: f64,
    /// S in [0, 1), the share of their mass that hott rows have in common: `midpoints`, and
    /// `ill-conditioned`, where 0 stands for 0.9. In `scene`, if above 0, the share of other materials that every pixel
    /// has at least. Must be 0 in the other families.
    pub ill: f64,
    /// Tokens of each document in `multinomial`, its average number of different words in
    /// `documents` (fewer where words are few); ignored elsewhere.
    pub tokens: usize,
    /// Fixes everything random.
    pub seed: u64,
}

/// A matrix and what is true of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// X, features x examples: dense, but sparse for `multinomial` (counts) and `documents`. Rows
    /// of dense families sum to one, but for `scene`, which is in the units of a sensor.
    pub matrix: Matrix,
    /// Which rows are hott, and how large the noise is.
    pub truth: Truth,
}

/// The largest number of entries (dense) or tokens (sparse families) that is generated: 8 GiB.
pub const MAX_ENTRIES: usize = 1 << 30;

impl Recipe {
    /// The family's defaults for `rank` topics: 40 x 400 (or 8 r rows, where that is more) with
    /// eta = 0.95; all midpoints with delta = 0.6; 1000 words and 2000 documents of 100 tokens; for
    /// `documents` at least 1000 words and 2000 documents (40 r and 50 r, where that is more) of 50
    /// different words, with noise 0.3; for `scene` 48 x 48 pixels of 100 bands.
    pub fn new(family: Family, rank: usize) -> Self {
        let features = match family {
            Family::Midpoints => midpoints::natural_features(rank),
            Family::Multinomial => 1000,
            Family::Documents => rank.saturating_mul(40).max(1000),
            Family::Scene => 48 * 48,
            _ => rank.saturating_mul(8).max(40),
        };
        let noise = match family {
            Family::Midpoints => 0.6,
            Family::Multinomial => 0.0,
            Family::Documents => 0.3,
            Family::Scene => 1.0,
            _ => 0.95,
        };
        let (examples, tokens) = match family {
            Family::Multinomial => (2000, 100),
            Family::Documents => (rank.saturating_mul(50).max(2000), 50),
            Family::Scene => (100, 100),
            _ => (400, 100),
        };
        let (duplicates, ill, seed) = (0, 0.0, 0);
        Recipe { family, features, examples, rank, duplicates, noise, ill, tokens, seed }
    }

    /// Another seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Another size.
    pub fn size(mut self, features: usize, examples: usize) -> Self {
        (self.features, self.examples) = (features, examples);
        self
    }

    /// Another number of copies of each hott row.
    pub fn duplicates(mut self, duplicates: usize) -> Self {
        self.duplicates = duplicates;
        self
    }

    /// Another amount of noise: eta, or delta of the midpoints.
    pub fn noise(mut self, noise: f64) -> Self {
        self.noise = noise;
        self
    }

    /// Another share of mass that hott rows have in common.
    pub fn ill(mut self, ill: f64) -> Self {
        self.ill = ill;
        self
    }

    /// Another length of the documents.
    pub fn tokens(mut self, tokens: usize) -> Self {
        self.tokens = tokens;
        self
    }

    /// Generates the instance. O(f n r) for dense families, and r exact hull distances for alpha.
    ///
    /// # Errors
    /// [`Error::Setting`] for sizes that do not fit each other, noise or `ill` outside their range,
    /// and instances of more than [`MAX_ENTRIES`].
    pub fn generate(&self) -> Result<Instance, Error> {
        self.check()?;
        match self.family {
            Family::Paper => paper::generate(self),
            Family::Midpoints => midpoints::generate(self),
            Family::IllConditioned => ill_conditioned::generate(self),
            Family::NearDuplicates => near_duplicates::generate(self),
            Family::Outliers => outliers::generate(self),
            Family::Multinomial => multinomial::generate(self),
            Family::Documents => documents::generate(self),
            Family::Scene => scene::generate(self),
        }
    }

    /// What all families ask for; each adds its own.
    fn check(&self) -> Result<(), Error> {
        let Recipe { features, examples, rank, duplicates, noise, ill, tokens, .. } = *self;
        if rank == 0 {
            return Err(setting("rank", rank, "give at least 1"));
        }
        if rank > examples {
            let remedy = format!(
                "hott rows must be independent, so give at most {examples}, one for each example"
            );
            return Err(setting("rank", rank, remedy));
        }
        let hott = duplicates.checked_add(1).and_then(|copies| copies.checked_mul(rank));
        if hott.is_none_or(|hott| hott > features) {
            let remedy = match hott {
                Some(hott) => format!(
                    "{rank} hott rows with {duplicates} duplicates each need at least {hott}"
                ),
                None => "lower the rank or the duplicates".to_owned(),
            };
            return Err(setting("features", features, remedy));
        }
        if !(noise.is_finite() && noise >= 0.0) {
            return Err(setting("noise", noise, "give a finite number, 0 or more"));
        }
        if !(0.0..1.0).contains(&ill) {
            return Err(setting("ill", ill, "give a number from 0 up to, but not including, 1"));
        }
        let take_it = [Family::Midpoints, Family::IllConditioned, Family::Scene];
        if ill > 0.0 && !take_it.contains(&self.family) {
            let remedy = format!("{} does not take it: leave it out", self.family);
            return Err(setting("ill", ill, remedy));
        }
        let (size, what) = match self.family {
            Family::Multinomial | Family::Documents if tokens == 0 => {
                return Err(setting("tokens", tokens, "give at least 1"));
            }
            // The words have a few tables of length f.
            Family::Documents => {
                (tokens.checked_mul(examples).map(|size| size.max(features)), "tokens")
            }
            Family::Multinomial => {
                // Two tables of rank x features (topics) and rank x examples (shares) besides tokens.
                let size = tokens.max(rank).checked_mul(examples);
                (size.zip(features.checked_mul(rank)).map(|(a, b)| a.max(b)), "tokens")
            }
            _ => (features.checked_mul(examples), "entries"),
        };
        if size.is_none_or(|size| size > MAX_ENTRIES) {
            let remedy = format!("that makes more than {MAX_ENTRIES} {what}: generate less");
            return Err(setting("examples", examples, remedy));
        }
        Ok(())
    }
}

fn setting(name: &'static str, value: impl ToString, remedy: impl Into<String>) -> Error {
    Error::Setting { name, value: value.to_string(), remedy: remedy.into() }
}

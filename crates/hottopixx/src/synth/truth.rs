//! The answer that belongs to an instance, and how far a choice of rows meets it.

/// What is true of a generated matrix; stored beside it as JSON. Rows count from 0.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Truth {
    /// Name of the family.
    pub family: String,
    /// The seed it was generated with.
    pub seed: u64,
    /// Rows of the matrix.
    pub features: usize,
    /// Columns of the matrix.
    pub examples: usize,
    /// One hott row for each topic.
    pub hott: Vec<usize>,
    /// For each topic, all rows that stand for it: the hott row and its (near) duplicates.
    /// Increasing.
    pub groups: Vec<Vec<usize>>,
    /// Rows that no topic explains. Increasing; empty in all families but `outliers` and `scene`.
    #[serde(default)]
    pub outliers: Vec<usize>,
    /// The (inf,1) norm of the noise, measured: the largest l1 distance of a row, outliers left
    /// aside, from what it would be without noise. `None` for counts and scenes.
    pub epsilon: Option<f64>,
    /// The least l1 distance of a hott row, before noise, from the convex hull of the others.
    /// `None` for counts and scenes, for a single topic, and where it would take long and nothing depends on it
    /// (r^2 n above 10^8, no noise that is scaled by it).
    pub alpha: Option<f64>,
    /// Height and width of a `scene`, whose pixels are rows, line after line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<(usize, usize)>,
    /// The spectra of the materials of a `scene`, one for each of `hott`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spectra: Option<Vec<Vec<f64>>>,
}

impl Truth {
    /// How many topics the chosen rows hit; a topic that is hit twice counts once.
    pub fn recovered(&self, chosen: &[usize]) -> usize {
        let hit = |group: &&Vec<usize>| chosen.iter().any(|row| group.contains(row));
        self.groups.iter().filter(hit).count()
    }

    /// The share of the topics that the chosen rows hit, from 0 to 1.
    pub fn recall(&self, chosen: &[usize]) -> f64 {
        self.recovered(chosen) as f64 / self.groups.len().max(1) as f64
    }

    /// The choice of one who knows the answer.
    pub fn oracle(&self) -> &[usize] {
        &self.hott
    }
}

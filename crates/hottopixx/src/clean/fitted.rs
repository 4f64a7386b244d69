//! A choice of hott rows with all rows fitted on it.

use super::{IncrementalSettings, RowFit, Starts, incremental, least_squares, refit};
use crate::control::Control;
use crate::normalise::UnitRows;
use crate::{Error, Objective};

/// How the other rows are fitted on the hott rows, equation (2) of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cleaning {
    /// [`Cleaning::Exact`] where the shape of the matrix makes it affordable
    /// ([`is_affordable`](super::is_affordable)), otherwise [`Cleaning::LeastSquares`]. Results
    /// name the one that was used, never this.
    #[default]
    Auto,
    /// The exact minimum for every row.
    Exact,
    /// Nonnegative least squares: fast at any size; the l1 errors are near the smallest, not at it.
    #[serde(alias = "least_squares")]
    LeastSquares,
    /// Incremental gradient epochs, as in the paper's experiments: only approximate.
    Incremental,
}

impl Cleaning {
    /// All of them, in the order in which they are listed to users.
    pub const ALL: [Cleaning; 4] =
        [Cleaning::Auto, Cleaning::Exact, Cleaning::LeastSquares, Cleaning::Incremental];

    /// The name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Cleaning::Auto => "auto",
            Cleaning::Exact => "exact",
            Cleaning::LeastSquares => "least-squares",
            Cleaning::Incremental => "incremental",
        }
    }
}

impl std::fmt::Display for Cleaning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Cleaning {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        crate::error::one_of("cleaning", name, Cleaning::ALL, Cleaning::name)
    }
}

/// A set of hott rows with all rows fitted on it.
#[derive(Debug, Clone)]
pub struct FittedChoice {
    /// The hott rows, as rows of X.
    pub hott: Vec<usize>,
    /// Every row of X fitted on them.
    pub fits: Vec<RowFit>,
    /// The objective: mean or largest l1 error.
    pub score: f64,
}

/// How rows are fitted on a choice of hott rows, and what the choice is judged by.
#[derive(Debug, Clone, Copy)]
pub struct Cleaner<'a> {
    /// X.
    pub x: &'a UnitRows,
    /// How rows are fitted; [`Cleaning::Auto`] counts as exact.
    pub cleaning: Cleaning,
    /// What the choice is judged by.
    pub objective: Objective,
    /// Fixes what is random about [`Cleaning::Incremental`].
    pub seed: u64,
    /// When to stop: what is left then is fitted in a hurry.
    pub control: &'a Control,
}

impl Cleaner<'_> {
    /// All rows fitted on `hott`.
    pub fn clean(&self, hott: Vec<usize>) -> FittedChoice {
        let (x, control) = (self.x, self.control);
        let fits = match self.cleaning {
            Cleaning::Auto | Cleaning::Exact => {
                return FittedChoice::new(x, hott, self.objective, None, control);
            }
            Cleaning::LeastSquares => {
                least_squares(x, &hott, &(0..x.features()).collect::<Vec<_>>(), control)
            }
            Cleaning::Incremental => {
                let settings = IncrementalSettings { seed: self.seed, ..Default::default() };
                incremental(x, &hott, &settings, control)
            }
        };
        let score = self.objective.score_of(x, fits.iter().map(|fit| fit.error));
        FittedChoice { hott, fits, score }
    }
}

impl FittedChoice {
    /// Cleans the rows on `hott`, starting from earlier fits where there are any.
    pub fn new(
        x: &UnitRows,
        hott: Vec<usize>,
        objective: Objective,
        earlier: Option<&[RowFit]>,
        control: &Control,
    ) -> Self {
        let rows: Vec<usize> = (0..x.features()).collect();
        let starts = earlier.map_or(Starts::Cold, Starts::Vertices);
        let fits = refit(x, &hott, &rows, starts, control);
        let score = objective.score_of(x, fits.iter().map(|f| f.error));
        FittedChoice { hott, fits, score }
    }

    /// Puts the hott rows in order of their l1 distance from the mean row of X, the most
    /// distinctive first, ties by row. O(nonzeros).
    pub fn most_distinctive_first(&mut self, x: &UnitRows) {
        let order = Distances::new(x).order(&self.hott);
        let mut place = vec![0u32; order.len()];
        for (new, &old) in order.iter().enumerate() {
            place[old] = new as u32;
        }
        self.hott = order.iter().map(|&old| self.hott[old]).collect();
        for fit in &mut self.fits {
            fit.weights.iter_mut().for_each(|w| w.0 = place[w.0 as usize]);
            fit.weights.sort_by_key(|w| w.0);
            fit.basis.free.iter_mut().for_each(|j| *j = place[*j as usize]);
        }
    }
}

/// How far rows are from the mean row.
pub struct Distances<'a> {
    x: &'a UnitRows,
    mean: Vec<f64>,
}

impl<'a> Distances<'a> {
    /// From the mean row of X. O(nonzeros).
    pub fn new(x: &'a UnitRows) -> Self {
        let mut mean = vec![0.0; x.examples()];
        for i in 0..x.features() {
            x.row(i).add_to(1.0 / x.features() as f64, &mut mean);
        }
        Distances { x, mean }
    }

    fn of(&self, i: usize) -> f64 {
        let mut difference = self.mean.clone();
        self.x.row(i).add_to(-1.0, &mut difference);
        difference.iter().map(|e| e.abs()).sum()
    }

    /// The positions of some rows, the farthest first, ties by row.
    fn order(&self, rows: &[usize]) -> Vec<usize> {
        let distances: Vec<f64> = rows.iter().map(|&i| self.of(i)).collect();
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_unstable_by(|&a, &b| {
            distances[b].total_cmp(&distances[a]).then(rows[a].cmp(&rows[b]))
        });
        order
    }

    /// The same rows, the farthest first.
    pub fn most_distinctive_first(&self, rows: &[usize]) -> Vec<usize> {
        self.order(rows).into_iter().map(|at| rows[at]).collect()
    }
}

//! What of the settings makes sense for the matrix at hand.

use super::{Factor, Method};
use crate::clean::{Cleaning, is_affordable};
use crate::control::Control;
use crate::methods::nearby_pays;
use crate::normalise::UnitRows;
use crate::rules::Rules;
use crate::{Effort, Error, Objective};

/// Settings that make sense for the matrix at hand, in rows of X: every step relies on them.
#[derive(Debug, Clone)]
pub(super) struct Checked {
    pub rank: usize,
    pub method: Method,
    pub objective: Objective,
    pub effort: Effort,
    /// How rows are fitted; not [`Cleaning::Auto`].
    pub cleaning: Cleaning,
    /// Whether the size alone decided for another cleaning than exact.
    pub too_large: bool,
    pub seed: u64,
    pub groups: bool,
    /// Which rows of X may be hott.
    pub allowed: Vec<bool>,
    /// What choices must obey.
    pub rules: Rules,
    /// Whether the choice is looked for near an answer that was found before.
    pub nearby: bool,
    /// The cost p by row of X.
    pub cost: Option<Vec<f64>>,
    /// Of this run alone: what it was told is why the run was cut short.
    pub control: Control,
}

impl Checked {
    pub fn new(settings: &Factor, x: &UnitRows) -> Result<Self, Error> {
        let rank = settings.rank;
        let kept = || (0..x.features()).map(|i| x.input_row(i));
        let per_row = |name, found: usize| {
            let expected = x.input_rows();
            if found == expected {
                Ok(())
            } else {
                Err(Error::Length { name, found, expected, what: "rows of the matrix" })
            }
        };
        let mut allowed: Vec<bool> = match &settings.candidates {
            Some(mask) => {
                per_row("candidates", mask.len())?;
                kept().map(|i| mask[i]).collect()
            }
            None => vec![true; x.features()],
        };
        let cost = match &settings.cost {
            Some(cost) => {
                per_row("cost", cost.len())?;
                if let Some(row) = cost.iter().position(|p| !p.is_finite()) {
                    let remedy = format!("entry {row} must be a finite number");
                    let value = cost[row].to_string();
                    return Err(Error::Setting { name: "cost", value, remedy });
                }
                Some(kept().map(|i| cost[i]).collect())
            }
            None => None,
        };
        if let Some(weights) = &settings.example_weights {
            let (name, found, expected) = ("example_weights", weights.len(), x.examples());
            if found != expected {
                let what = "columns of the matrix";
                return Err(Error::Length { name, found, expected, what });
            }
            if let Some(at) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
                let remedy = format!("entry {at} must be a finite number, not below zero");
                return Err(Error::Setting { name, value: weights[at].to_string(), remedy });
            }
        }
        let start = settings.start.as_deref().unwrap_or_default();
        if let Some(row) = start.iter().find(|row| **row >= x.input_rows()) {
            let remedy = format!("there is no such row: the matrix has {}", x.input_rows());
            return Err(Error::Setting { name: "start", value: row.to_string(), remedy });
        }
        let rules = Rules::new(&settings.constraints, x, &mut allowed, rank);
        let available = allowed.iter().filter(|a| **a).count();
        if rank == 0 || rank > available {
            let what = match &settings.candidates {
                None if settings.constraints.is_empty() => "rows that are not zero",
                _ => "rows that may be hott",
            };
            return Err(Error::Rank { rank, available, what });
        }
        let rules = rules?;
        let cleaning = match settings.cleaning {
            Cleaning::Auto if is_affordable(x.shape(), rank) => Cleaning::Exact,
            Cleaning::Auto => Cleaning::LeastSquares,
            chosen => chosen,
        };
        Ok(Checked {
            rank,
            method: settings.method,
            objective: settings.objective,
            effort: settings.effort,
            cleaning,
            too_large: settings.cleaning == Cleaning::Auto && cleaning != Cleaning::Exact,
            seed: settings.seed,
            groups: settings.groups,
            allowed,
            rules,
            nearby: settings.start.is_some() && nearby_pays(x.features()),
            cost,
            control: settings.control.for_new_run(),
        })
    }
}

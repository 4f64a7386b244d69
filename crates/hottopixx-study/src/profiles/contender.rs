//! Who runs in the paper's comparison, and what each is told.

use hottopixx::synth::{Recipe, Truth};
use hottopixx::{Factor, Method};

/// A method with its settings. The first four and the linear program are the paper's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Contender {
    /// Algorithm 4, 50 epochs.
    Hottopixx,
    /// Algorithm 4, 4 epochs: `hott (fast)` in the paper.
    Fast,
    /// Algorithm 3 with tau = 2 epsilon and our cost, p_j = -||x_j||^2.
    Lp,
    /// Algorithm 3 with tau = 2 epsilon and random distinct costs, as the paper allows.
    LpAnyCost,
    /// Algorithm 1, told the true epsilon and alpha.
    Agkm,
    /// The linear program that makes the largest error small; told nothing.
    Minimax,
    /// The Frobenius form.
    Gradient,
    /// Successive projection.
    Spa,
    /// XRAY.
    Xray,
    /// What the program does by default.
    Auto,
}

impl Contender {
    /// All of them, in the order of tables and legends.
    pub const ALL: [Contender; 10] = [
        Contender::Hottopixx,
        Contender::Fast,
        Contender::Lp,
        Contender::LpAnyCost,
        Contender::Agkm,
        Contender::Minimax,
        Contender::Gradient,
        Contender::Spa,
        Contender::Xray,
        Contender::Auto,
    ];

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Contender::Hottopixx => "hottopixx",
            Contender::Fast => "hottopixx-fast",
            Contender::Lp => "lp",
            Contender::LpAnyCost => "lp-any-p",
            Contender::Agkm => "agkm",
            Contender::Minimax => "minimax",
            Contender::Gradient => "gradient",
            Contender::Spa => "spa",
            Contender::Xray => "xray",
            Contender::Auto => "auto",
        }
    }

    /// The name in figures.
    pub fn label(self) -> &'static str {
        match self {
            Contender::Hottopixx => "Hottopixx",
            Contender::Fast => "Hottopixx (fast)",
            Contender::Lp => "LP",
            Contender::LpAnyCost => "LP, any p",
            Contender::Agkm => "AGKM",
            Contender::Minimax => "LP minimax",
            Contender::Gradient => "Frobenius",
            Contender::Spa => "SPA",
            Contender::Xray => "XRAY",
            Contender::Auto => "auto",
        }
    }

    /// The contender of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Contender::ALL.into_iter().find(|contender| contender.name() == name)
    }

    /// Its settings for an instance, on one thread. Groups of interchangeable rows are no part of
    /// the paper's task and left out.
    pub fn settings(self, recipe: &Recipe, truth: &Truth) -> Factor {
        let factor = Factor::new(recipe.rank).seed(recipe.seed).threads(1).groups(false);
        let (epsilon, alpha) = (truth.epsilon.unwrap_or(0.0), truth.alpha.unwrap_or(0.0));
        let tau = 2.0 * epsilon;
        match self {
            Contender::Hottopixx => factor.method(Method::Hottopixx).epochs(50),
            Contender::Fast => factor.method(Method::Hottopixx).epochs(4),
            Contender::Lp => factor.method(Method::Lp).tau(tau),
            Contender::LpAnyCost => {
                let costs = (0..recipe.features as u64).map(|j| scatter(recipe.seed, j));
                factor.method(Method::Lp).tau(tau).cost(costs.collect())
            }
            Contender::Agkm => factor.method(Method::Agkm).epsilon(epsilon).alpha(alpha),
            Contender::Minimax => factor.method(Method::Minimax),
            Contender::Gradient => factor.method(Method::Gradient),
            Contender::Spa => factor.method(Method::Spa),
            Contender::Xray => factor.method(Method::Xray),
            Contender::Auto => factor.method(Method::Auto),
        }
    }
}

/// A number in (0, 1) that depends on both, as good as random: one round of SplitMix64.
fn scatter(seed: u64, j: u64) -> f64 {
    let mut z = (seed ^ j.wrapping_mul(0x2545_f491_4f6c_dd1d)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back() {
        for contender in Contender::ALL {
            assert_eq!(Contender::from_name(contender.name()), Some(contender));
        }
    }

    #[test]
    fn any_costs_are_distinct_and_spread() {
        let mut costs: Vec<f64> = (0..160).map(|j| scatter(3, j)).collect();
        costs.sort_by(f64::total_cmp);
        assert!(costs.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(costs[0] < 0.05 && costs[159] > 0.95 && (costs[80] - 0.5).abs() < 0.15);
    }
}

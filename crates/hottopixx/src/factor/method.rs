//! The methods by name, and what each requires and proves.

use crate::Error;

/// How the hott rows are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Method {
    /// Several methods, judged by their exact cleaned error, then refined by exchanges.
    #[default]
    Auto,
    /// The paper's incremental gradient method (Algorithm 4, corrected).
    Hottopixx,
    /// The paper's linear program with the error that every row may have, tau (Algorithm 3; 2 with
    /// tau = 0), solved exactly.
    Lp,
    /// The linear program that makes the largest error of a row small; needs no tau.
    Minimax,
    /// The linear program that makes the sum of all errors small.
    Total,
    /// The Frobenius form, by accelerated projected gradients on the Gram matrix.
    Gradient,
    /// The algorithm of Arora, Ge, Kannan and Moitra (Algorithm 1), which requires epsilon and alpha.
    Agkm,
    /// Successive projection.
    Spa,
    /// Successive nonnegative projection.
    Snpa,
    /// XRAY (Kumar, Sindhwani, Kambadur).
    Xray,
    /// The caller's own, see [`Factor::localiser`](super::Factor::localiser).
    Custom,
}

/// What is known of a method by its name.
struct About {
    name: &'static str,
    /// Settings without which it cannot run; only the caller knows their values.
    requires: &'static [&'static str],
    /// Settings that change what it does, of those that do not concern every method.
    uses: &'static [&'static str],
    /// Whether it solves a linear program, whose bounds hold for every choice of rows.
    proves_bound: bool,
}

impl Method {
    /// Every method that has a name to be called by, in the order in which they are listed to users.
    pub const ALL: [Method; 10] = [
        Method::Auto,
        Method::Hottopixx,
        Method::Lp,
        Method::Minimax,
        Method::Total,
        Method::Gradient,
        Method::Agkm,
        Method::Spa,
        Method::Snpa,
        Method::Xray,
    ];

    fn about(self) -> About {
        let plain = |name| About { name, requires: &[], uses: &[], proves_bound: false };
        let program = |name, uses| About { name, requires: &[], uses, proves_bound: true };
        match self {
            Method::Auto => About { uses: &["gap", "cost", "start"], ..plain("auto") },
            Method::Hottopixx => About { uses: &["epochs", "cost"], ..plain("hottopixx") },
            Method::Lp => {
                About { requires: &["tau"], ..program("lp", &["tau", "gap", "trace", "cost"]) }
            }
            Method::Minimax => program("minimax", &["gap"]),
            Method::Total => program("total", &["gap"]),
            Method::Gradient => About { uses: &["cost"], ..plain("gradient") },
            Method::Agkm => {
                let names = &["epsilon", "alpha"];
                About { requires: names, uses: names, ..plain("agkm") }
            }
            Method::Spa => plain("spa"),
            Method::Snpa => plain("snpa"),
            Method::Xray => plain("xray"),
            Method::Custom => About { uses: &["cost"], ..plain("custom") },
        }
    }

    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        self.about().name
    }

    /// Names of the settings without which it cannot run; only the caller knows their values.
    pub fn requires(self) -> &'static [&'static str] {
        self.about().requires
    }

    /// Names of the settings that change what it does, of those that do not concern every method
    /// (`epochs`, `cost`, `tau`, `gap`, `trace`, `epsilon`, `alpha`, `start`); others of these are refused.
    pub fn uses(self) -> &'static [&'static str] {
        self.about().uses
    }

    /// Whether it solves one of the linear programs of [`localise::lp`](crate::localise::lp), whose
    /// bounds hold for every choice of rows.
    pub fn proves_bound(self) -> bool {
        self.about().proves_bound
    }

    /// Whether it can leave entries out that were not observed, [`Missing::Observed`](super::Missing::Observed): the
    /// linear programs and Algorithm 1 make statements about all entries.
    pub fn leaves_entries_out(self) -> bool {
        !matches!(self, Method::Lp | Method::Minimax | Method::Total | Method::Agkm)
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Method {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        crate::error::one_of("method", name, Method::ALL, Method::name)
    }
}

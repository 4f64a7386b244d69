//! What a caller may ask of a scene.

use crate::Error;
use crate::control::Control;
use crate::error::one_of;

/// How shares of materials are fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Abundances {
    /// Not negative, in the units of the spectra: a pixel half as bright has half the sum.
    #[default]
    Free,
    /// Not negative and summing to one, the brightness of the pixel left free: the same fit, divided by its sum. A
    /// pixel of zeros has none.
    SumToOne,
}

impl Abundances {
    /// All of them, in the order in which they are listed to users.
    pub const ALL: [Abundances; 2] = [Abundances::Free, Abundances::SumToOne];

    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Abundances::Free => "free",
            Abundances::SumToOne => "sum-to-one",
        }
    }
}

impl std::str::FromStr for Abundances {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        one_of("abundances", name, Abundances::ALL, Abundances::name)
    }
}

/// What becomes of values below zero, which calibrated scenes often have where there is no light.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Negative {
    /// They are an error.
    #[default]
    Refuse,
    /// They count as zero.
    Clip,
}

impl Negative {
    /// All of them, in the order in which they are listed to users.
    pub const ALL: [Negative; 2] = [Negative::Refuse, Negative::Clip];

    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Negative::Refuse => "refuse",
            Negative::Clip => "clip",
        }
    }
}

impl std::str::FromStr for Negative {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        one_of("negative", name, Negative::ALL, Negative::name)
    }
}

/// How many pixels may be named as outliers, which then name no material.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Outliers {
    /// As many as stick out of the noise, and of what few other pixels share.
    #[default]
    Auto,
    /// The same, but at most this many, those that stick out most.
    AtMost(usize),
    /// None: every pixel may be chosen.
    None,
}

impl Outliers {
    /// The most that are allowed.
    pub(super) fn most(self) -> usize {
        match self {
            Outliers::Auto => usize::MAX,
            Outliers::AtMost(most) => most,
            Outliers::None => 0,
        }
    }
}

impl std::str::FromStr for Outliers {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match (text, text.parse()) {
            ("auto", _) => Ok(Outliers::Auto),
            ("none", _) => Ok(Outliers::None),
            (_, Ok(most)) => Ok(Outliers::AtMost(most)),
            (_, Err(_)) => Err(Error::Setting {
                name: "outliers",
                value: text.to_owned(),
                remedy: "choose auto, none or a number of pixels".to_owned(),
            }),
        }
    }
}

impl std::fmt::Display for Outliers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Outliers::Auto => f.write_str("auto"),
            Outliers::AtMost(most) => most.fmt(f),
            Outliers::None => f.write_str("none"),
        }
    }
}

/// Settings of an unmixing; [`Unmix::run`] carries it out.
#[derive(Debug, Clone)]
pub struct Unmix {
    pub(super) rank: usize,
    pub(super) shape: Option<(usize, usize)>,
    pub(super) abundances: Abundances,
    pub(super) outliers: Outliers,
    pub(super) negative: Negative,
    pub(super) threads: usize,
    pub(super) control: Control,
}

impl Unmix {
    /// Asks for `rank` materials, everything else at its default.
    pub fn new(rank: usize) -> Self {
        Unmix {
            rank,
            shape: None,
            abundances: Abundances::default(),
            outliers: Outliers::default(),
            negative: Negative::default(),
            threads: 0,
            control: Control::default(),
        }
    }

    /// The scene is `height x width` pixels, row after row: neighbours then help each other against noise
    /// (default: nothing is known of where pixels are).
    pub fn shape(mut self, height: usize, width: usize) -> Self {
        self.shape = Some((height, width));
        self
    }

    /// How shares are fitted (default [`Abundances::Free`]).
    pub fn abundances(mut self, abundances: Abundances) -> Self {
        self.abundances = abundances;
        self
    }

    /// How many pixels may be set aside as outliers (default [`Outliers::Auto`]).
    pub fn outliers(mut self, outliers: Outliers) -> Self {
        self.outliers = outliers;
        self
    }

    /// What becomes of values below zero (default [`Negative::Refuse`]).
    pub fn negative(mut self, negative: Negative) -> Self {
        self.negative = negative;
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
}

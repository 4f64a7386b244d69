//! Values of flags: sizes in bytes, seconds, names from short lists.

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use hottopixx::synth::Family;
use hottopixx::text::Weight;
use hottopixx::topics::Recovery;
use hottopixx::unmix::{Abundances, Negative};
use hottopixx::{Cleaning, Effort, Error, Objective, Outliers};
use hottopixx_io::{Format, UnknownFormatName};
use std::ffi::OsStr;
use std::marker::PhantomData;
use std::str::FromStr;
use std::time::Duration;

/// Bytes from `512MB`, `8GiB`, `8G`, `1.5 TiB` or a plain number. Powers of 1000 for `kB`, `MB`,
/// `GB`, `TB`; powers of 1024 for `KiB` and its relatives and for the bare letters.
pub fn bytes(text: &str) -> Result<u64, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = (text[..split].trim(), text[split..].to_ascii_lowercase());
    let scale: f64 = match unit.as_str() {
        "" | "b" => 1.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        "k" | "kib" => 1024.0,
        "m" | "mib" => 1024f64.powi(2),
        "g" | "gib" => 1024f64.powi(3),
        "t" | "tib" => 1024f64.powi(4),
        _ => return Err(format!("unknown unit '{unit}': write a size such as 8GiB or 500MB")),
    };
    match number.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok((value * scale) as u64),
        _ => Err("write a positive size such as 8GiB or 500MB".to_owned()),
    }
}

/// A time limit; `None` for one so far away that it never comes.
///
/// # Errors
/// A sentence for negative numbers and NaN.
pub fn duration(seconds: f64) -> Result<Option<Duration>, String> {
    if seconds.is_nan() || seconds < 0.0 {
        return Err(format!(
            "--max-seconds {seconds} is not possible: give a number of seconds that is not negative"
        ));
    }
    Ok(Duration::try_from_secs_f64(seconds).ok())
}

/// A value with a name: the library parses it, and its sentence lists the names there are.
#[derive(Clone)]
pub struct NamedParser<T> {
    names: Vec<PossibleValue>,
    value: PhantomData<T>,
}

impl<T> NamedParser<T> {
    /// The names are for the help; what is parsed is what the library takes.
    pub fn new(names: impl IntoIterator<Item = PossibleValue>) -> Self {
        NamedParser { names: names.into_iter().collect(), value: PhantomData }
    }
}

impl<T: FromStr<Err = Error> + Clone + Send + Sync + 'static> TypedValueParser for NamedParser<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        let parser = StringValueParser::new().try_map(|name| name.parse::<T>());
        parser.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.names.iter().cloned()))
    }
}

/// `mean` or `max`.
pub fn objective() -> NamedParser<Objective> {
    NamedParser::new(Objective::ALL.map(|objective| PossibleValue::new(objective.name())))
}

/// `quick`, `normal` or `thorough`.
pub fn effort() -> NamedParser<Effort> {
    NamedParser::new(Effort::ALL.map(|effort| PossibleValue::new(effort.name())))
}

/// `auto`, `exact`, `least-squares` or `incremental`.
pub fn cleaning() -> NamedParser<Cleaning> {
    NamedParser::new(Cleaning::ALL.map(|cleaning| PossibleValue::new(cleaning.name())))
}

/// `none`, `tfidf` or `log`.
pub fn weight() -> NamedParser<Weight> {
    NamedParser::new(Weight::ALL.map(|weight| PossibleValue::new(weight.name())))
}

/// `l1`, `l2` or `kl`.
pub fn recovery() -> NamedParser<Recovery> {
    NamedParser::new(Recovery::ALL.map(|recovery| PossibleValue::new(recovery.name())))
}

/// `free` or `sum-to-one`.
pub fn abundances() -> NamedParser<Abundances> {
    NamedParser::new(Abundances::ALL.map(|abundances| PossibleValue::new(abundances.name())))
}

/// `refuse` or `clip`.
pub fn negative() -> NamedParser<Negative> {
    NamedParser::new(Negative::ALL.map(|negative| PossibleValue::new(negative.name())))
}

/// How many topics.
pub fn topics(text: &str) -> Result<usize, String> {
    text.parse()
        .map_err(|_| "give a whole number, such as 10: how many topics is yours to say".to_owned())
}

/// How many rows or materials.
pub fn rank(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| match text {
        "auto" => "give a number; errors for every number up to one are shown by 'hottopixx factor --path' and by \
                   path() of the Python package, whose Hottopixx(\"auto\") and HottSamples(\"auto\") choose"
            .to_owned(),
        _ => "give a whole number".to_owned(),
    })
}

/// Height and width from `95x95`.
pub fn shape(text: &str) -> Result<(usize, usize), String> {
    let sides = text.split_once(['x', 'X', '×']);
    let numbers = sides.and_then(|(h, w)| h.trim().parse().ok().zip(w.trim().parse().ok()));
    match numbers {
        Some((height, width)) if height > 0 && width > 0 => Ok((height, width)),
        _ => Err("write height and width such as 95x95".to_owned()),
    }
}

/// The families of generated instances, with a line on each.
pub fn family() -> NamedParser<Family> {
    let name = |family: Family| PossibleValue::new(family.name()).help(family.describe());
    NamedParser::new(Family::ALL.map(name))
}

/// A word that can be parsed as a `T`, kept as it was typed.
pub fn word<T: FromStr>(word: &str) -> Result<String, T::Err> {
    word.parse::<T>().map(|_| word.to_owned())
}

/// The name of a file format.
pub fn format(name: &str) -> Result<Format, UnknownFormatName> {
    name.parse()
}

/// How many outliers.
pub fn outliers(text: &str) -> Result<Outliers, Error> {
    text.parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, expected) in [
            ("8GiB", 8 << 30),
            ("8g", 8 << 30),
            ("500MB", 500_000_000),
            ("1.5 KiB", 1536),
            ("1000", 1000),
            ("2TB", 2_000_000_000_000),
        ] {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        for text in ["", "GiB", "-1GiB", "0", "8XB", "nan", "8 8GiB", "1e400"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn shapes() {
        assert_eq!((shape("95x96"), shape("1 X 2")), (Ok((95, 96)), Ok((1, 2))));
        for text in ["", "95", "0x3", "x", "3x", "-1x3", "3x4x5"] {
            assert!(shape(text).is_err(), "{text}");
        }
    }

    #[test]
    fn limits() {
        assert_eq!(duration(1.5), Ok(Some(Duration::from_millis(1500))));
        assert_eq!(duration(1e300), Ok(None));
        assert!(duration(-1.0).is_err() && duration(f64::NAN).is_err());
    }
}

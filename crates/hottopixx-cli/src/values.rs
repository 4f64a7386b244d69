//! Values of flags: sizes in bytes, seconds, names from short lists.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use hottopixx::text::Weight;
use hottopixx::{Cleaning, Method, Objective};
use hottopixx_io::Format;
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

/// The method of this name.
///
/// # Errors
/// A sentence listing the methods of this version.
pub fn method(name: &str) -> Result<Method, String> {
    Method::ALL.into_iter().find(|method| method.name() == name).ok_or_else(|| {
        let names = Method::ALL.map(Method::name).join(", ");
        format!("--method {name} is not in this version: choose one of {names}")
    })
}

/// Parses one of a few names into the value that belongs to it.
pub fn one_of<T: Clone + Send + Sync + 'static>(
    choices: impl IntoIterator<Item = (PossibleValue, T)>,
) -> impl TypedValueParser<Value = T> {
    let choices: Vec<(PossibleValue, T)> = choices.into_iter().collect();
    let names: Vec<PossibleValue> = choices.iter().map(|(name, _)| name.clone()).collect();
    PossibleValuesParser::new(names).try_map(move |given| {
        let found = choices.iter().find(|(name, _)| name.get_name() == given);
        found.map(|(_, value)| value.clone()).ok_or("not in the list")
    })
}

/// `mean` or `max`.
pub fn objective() -> impl TypedValueParser<Value = Objective> {
    one_of(Objective::ALL.map(|objective| plain((objective.name(), objective))))
}

/// `auto`, `exact`, `least-squares` or `incremental`.
pub fn cleaning() -> impl TypedValueParser<Value = Cleaning> {
    one_of(Cleaning::ALL.map(|cleaning| plain((cleaning.name(), cleaning))))
}

/// `none`, `tfidf` or `log`.
pub fn weight() -> impl TypedValueParser<Value = Weight> {
    one_of(Weight::ALL.map(|weight| plain((weight.name(), weight))))
}

/// The name of a file format.
pub fn format(name: &str) -> Result<Format, String> {
    name.parse().map_err(|_| {
        let names = Format::ALL.map(Format::name).join(", ");
        format!("choose one of {names}")
    })
}

fn plain<T>((name, value): (&'static str, T)) -> (PossibleValue, T) {
    (PossibleValue::new(name), value)
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
    fn limits() {
        assert_eq!(duration(1.5), Ok(Some(Duration::from_millis(1500))));
        assert_eq!(duration(1e300), Ok(None));
        assert!(duration(-1.0).is_err() && duration(f64::NAN).is_err());
    }

    #[test]
    fn unknown_methods_are_answered_with_the_list() {
        assert_eq!(method("spa"), Ok(Method::Spa));
        assert_eq!(method("lp"), Ok(Method::Lp));
        let sentence = method("nmf").unwrap_err();
        assert!(sentence.contains("auto, hottopixx"), "{sentence}");
    }
}

//! What a cell can be taken for: a number, a missing value, a number with separators between
//! thousands, or a word.

use super::options::Decimal;
use crate::error::{Fault, FileLocation, quote};
use crate::scan::{number, whole};
use std::borrow::Cow;

/// What a cell can be taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Number,
    /// Empty, or one of the usual words for a missing value.
    Missing,
    /// Like `1,234.5`: not read, since `1,234` means two different numbers in different countries.
    Thousands,
    Word,
}

/// Words for a missing value, in lower case.
const MISSING: [&str; 15] = [
    "", "na", "n/a", "n.a.", "nan", "null", "none", "nil", "?", "-", "--", ".", "..", "#n/a",
    "<na>",
];

pub(super) fn class(cell: &[u8], decimal: Decimal) -> Class {
    let cell = cell.trim_ascii();
    match value(cell, decimal) {
        Some(value) if value.is_nan() => Class::Missing,
        Some(_) => Class::Number,
        None if is_missing(cell) => Class::Missing,
        None if is_grouped(cell) => Class::Thousands,
        None => Class::Word,
    }
}

/// Whether a trimmed cell is empty, or one of the usual words for a missing value.
pub(crate) fn is_missing(cell: &[u8]) -> bool {
    cell.len() <= 4 && MISSING.iter().any(|word| cell.eq_ignore_ascii_case(word.as_bytes()))
}

/// The number in a trimmed cell.
pub(super) fn value(cell: &[u8], decimal: Decimal) -> Option<f64> {
    match decimal {
        Decimal::Point => number(cell),
        Decimal::Comma if cell.contains(&b'.') => None,
        Decimal::Comma => match cell.iter().position(|b| *b == b',') {
            None => number(cell),
            // Longer ones are no numbers that anybody writes.
            Some(_) if cell.len() > LONGEST => None,
            // Digits on both sides, or else `1,` and `2` of `1, 2` would be numbers.
            Some(at) if !is_between_digits(cell, at) => None,
            Some(at) => {
                let mut text = [0; LONGEST];
                let text = &mut text[..cell.len()];
                text.copy_from_slice(cell);
                text[at] = b'.';
                number(text)
            }
        },
    }
}

const LONGEST: usize = 64;

fn is_between_digits(cell: &[u8], at: usize) -> bool {
    let digit = |k: usize| cell.get(k).is_some_and(u8::is_ascii_digit);
    at.checked_sub(1).is_some_and(digit) && digit(at + 1)
}

/// A whole number in a cell, written with or without decimals: `1959` or `1959.0`.
pub(super) fn whole_value(cell: &[u8], decimal: Decimal) -> Option<i64> {
    let value = value(cell.trim_ascii(), decimal)?;
    (value.fract() == 0.0 && value.abs() < 1e15).then_some(value as i64)
}

/// Groups of three digits behind one to three first ones: `1,234`, `1.234.567,8`, `12 345`.
fn is_grouped(cell: &[u8]) -> bool {
    let text = decoded(cell);
    let text = text.strip_prefix(['-', '+']).unwrap_or(&text);
    let Some(separator) = text.chars().find(|c| !c.is_ascii_digit()) else { return false };
    if !matches!(
        separator,
        ',' | '.' | '\'' | '\u{2019}' | ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}'
    ) {
        return false;
    }
    let digits = |part: &str, least: usize, most: usize| {
        (least..=most).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit())
    };
    // Decimals follow the other one of point and comma.
    let other = if separator == ',' { '.' } else { ',' };
    let (groups, decimals) = text.split_once(other).unwrap_or((text, "0"));
    let mut groups = groups.split(separator);
    let first = groups.next().is_some_and(|part| digits(part, 1, 3));
    let mut rest = groups.peekable();
    first && rest.peek().is_some() && rest.all(|part| digits(part, 3, 3)) && digits(decimals, 1, 20)
}

/// Whether a cell can be both `1234` and 1.234: one separator, three digits behind it, and no zero
/// before it.
pub(super) fn is_ambiguous(cell: &[u8]) -> bool {
    let cell = cell.trim_ascii();
    let cell = cell.strip_prefix(b"-").unwrap_or(cell);
    let mut parts = cell.split(|b| *b == b',');
    let (first, second) = (parts.next().unwrap_or(b""), parts.next().unwrap_or(b""));
    parts.next().is_none()
        && (1..=3).contains(&first.len())
        && !first.starts_with(b"0")
        && whole(first).is_some()
        && second.len() == 3
        && whole(second).is_some()
}

/// A name, as [`decoded`].
pub(crate) fn text(cell: &[u8]) -> String {
    decoded(cell.trim_ascii()).into_owned()
}

/// UTF-8, or Latin 1 where it is not: what spreadsheets of Western Europe write.
pub(crate) fn decoded(cell: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(cell) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => cell.iter().map(|byte| char::from(*byte)).collect(),
    }
}

/// Why a cell is not a number, and what to do.
pub(super) fn refusal(cell: &[u8], class: Class, place: FileLocation, column: &str) -> Fault {
    let cell = cell.trim_ascii();
    let drop = format!("leave the column out with --drop {column}");
    let (what, remedy) = match class {
        Class::Missing => (
            if cell.is_empty() {
                "the cell is empty".to_owned()
            } else {
                format!("{} is a missing value", quote(cell))
            },
            format!("fill it, say --missing observed, zero, drop-rows or drop-columns, or {drop}"),
        ),
        Class::Thousands => (
            format!("{} has separators between thousands", quote(cell)),
            "write such numbers without them, or name what stands before decimals with --decimal"
                .to_owned(),
        ),
        Class::Number | Class::Word => {
            (format!("{} is not a number", quote(cell)), format!("correct it or {drop}"))
        }
    };
    Fault::Malformed { place, what, remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_cells() {
        use Class::*;
        for (cell, point, comma) in [
            ("1.5", Number, Word),
            (" 7 ", Number, Number),
            ("-1e-3", Number, Number),
            ("1,5", Word, Number),
            ("-0,25", Word, Number),
            ("1,2e3", Word, Number),
            ("inf", Number, Number),
            ("NaN", Missing, Missing),
            ("", Missing, Missing),
            ("#N/A", Missing, Missing),
            ("..", Missing, Missing),
            ("1,234", Thousands, Number),
            ("1.234", Number, Thousands),
            ("1,234.5", Thousands, Thousands),
            ("1.234.567,8", Thousands, Thousands),
            ("12'345", Thousands, Thousands),
            ("12 345 678", Thousands, Thousands),
            ("1\u{a0}234,5", Thousands, Thousands),
            ("12.05.2001", Word, Word),
            ("1,23,456", Word, Word),
            ("1 2", Word, Word),
            ("12%", Word, Word),
            ("oil", Word, Word),
            ("5.5.5", Word, Word),
        ] {
            assert_eq!(class(cell.as_bytes(), Decimal::Point), point, "{cell}");
            assert_eq!(class(cell.as_bytes(), Decimal::Comma), comma, "{cell} with comma");
        }
        for (cell, want) in [("1,234", true), ("0,123", false), ("12,34", false), ("1,2345", false)]
        {
            assert_eq!(is_ambiguous(cell.as_bytes()), want, "{cell}");
        }
        assert_eq!(whole_value(b"1959.0", Decimal::Point), Some(1959));
        assert_eq!(whole_value(b"1959,0", Decimal::Comma), Some(1959));
        assert_eq!(whole_value(b"0.5", Decimal::Point), None);
    }
}

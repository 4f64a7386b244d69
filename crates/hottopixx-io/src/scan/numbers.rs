//! Numbers and triplets in text.
//!
//! Numbers of at most 15 digits with a small power of ten are exact in two floating-point operations
//! (Clinger 1990); everything else goes to the standard library, so every number is rounded
//! correctly.

/// A whole number without sign.
pub(crate) fn whole(word: &[u8]) -> Option<u64> {
    let (value, length) = leading_whole(word)?;
    let mut value = value;
    for b in &word[length..] {
        let digit = b.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

/// The first digits, at most 19 so that they cannot overflow, and how many there are.
fn leading_whole(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0u64;
    let mut length = 0;
    for b in bytes.iter().take(19) {
        let digit = b.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value * 10 + u64::from(digit);
        length += 1;
    }
    (length > 0).then_some((value, length))
}

/// `row column value`, one blank or tab apart: nearly every line of a coordinate file. `None` for
/// all others, which the caller reads word by word to find out what they are.
#[inline]
pub(crate) fn plain_triplet(line: &[u8]) -> Option<(u64, u64, f64)> {
    let (row, length) = leading_whole(line)?;
    let rest = skip_blank(&line[length..])?;
    let (column, length) = leading_whole(rest)?;
    let rest = skip_blank(&rest[length..])?;
    let value = match leading_whole(rest) {
        // Counts: few digits, exact.
        Some((value, length)) if length == rest.len() && length <= 15 => value as f64,
        _ => number(rest)?,
    };
    Some((row, column, value))
}

/// The same at the beginning of a text, with the end of the line: indices of at most 7 digits, a
/// value of at most 15 without exponent, and the length of it all. This is where the time of loading
/// goes, so digits are read eight at a time. `None` also near the end of the text.
#[inline]
pub(crate) fn quick_triplet(text: &[u8]) -> Option<(u64, u64, f64, usize)> {
    let index = |at: usize| {
        let (value, digits, next) = leading_digits(text, at)?;
        (digits > 0 && matches!(next, b' ' | b'\t')).then_some((value, at + digits + 1))
    };
    let (row, at) = index(0)?;
    let (column, at) = index(at)?;
    let (value, at) = match leading_digits(text, at) {
        Some((whole, digits, b'\n')) if digits > 0 => {
            return Some((row, column, whole as f64, at + digits + 1));
        }
        Some((whole, digits, b'.')) if digits > 0 => match leading_digits(text, at + digits + 1) {
            // At most 14 digits: exact, as is the power.
            Some((part, more, _)) => {
                let whole = (whole * 10u64.pow(more as u32) + part) as f64;
                (whole / POWERS[more], at + digits + 1 + more)
            }
            None => quick_number(text, at)?,
        },
        _ => quick_number(text, at)?,
    };
    match text.get(at..)? {
        [b'\n', ..] => Some((row, column, value, at + 1)),
        [b'\r', b'\n', ..] => Some((row, column, value, at + 2)),
        _ => None,
    }
}

/// The digits at a place, at most 7, how many there are and the byte behind them; `None` for more
/// and near the end of the text.
///
/// Eight bytes are looked at together (Lemire 2022): those that are no digits get their high bit
/// set, the digits are moved to the upper end and added up in pairs, fours and eights.
#[inline]
fn leading_digits(text: &[u8], at: usize) -> Option<(u64, usize, u8)> {
    let bytes = u64::from_le_bytes(*text.get(at..)?.first_chunk()?);
    let digits = bytes ^ 0x3030_3030_3030_3030;
    let above_nine = (digits & 0x7f7f_7f7f_7f7f_7f7f).wrapping_add(0x7676_7676_7676_7676);
    let others = (above_nine | digits) & 0x8080_8080_8080_8080;
    if others == 0 {
        return None;
    }
    let bits = others.trailing_zeros() & !7;
    let next = (bytes >> bits) as u8;
    // In two steps, since there may be no digit at all.
    let digits = digits << (56 - bits) << 8;
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let low = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(0x000f_4240_0000_0064);
    let high = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(0x0000_2710_0000_0001);
    Some((low.wrapping_add(high) >> 32, bits as usize / 8, next))
}

/// A number of at most 15 digits without exponent, digit by digit; where it ends.
fn quick_number(text: &[u8], begin: usize) -> Option<(f64, usize)> {
    let (mut at, mut digits, mut point) = (begin, 0u64, 0);
    loop {
        let byte = *text.get(at)?;
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            digits = digits.wrapping_mul(10).wrapping_add(u64::from(digit));
        } else if byte == b'.' && point == 0 {
            point = at + 1;
        } else {
            break;
        }
        at += 1;
    }
    let length = at - begin - usize::from(point > 0);
    if length == 0 || length > 15 {
        return None;
    }
    let power = if point == 0 { 0 } else { at - point };
    Some((digits as f64 / POWERS[power], at))
}

fn skip_blank(bytes: &[u8]) -> Option<&[u8]> {
    match bytes {
        [b' ' | b'\t', rest @ ..] => Some(rest),
        _ => None,
    }
}

/// A number as text, rounded correctly; `nan` and `inf` are numbers here.
pub(crate) fn number(word: &[u8]) -> Option<f64> {
    short_number(word).or_else(|| std::str::from_utf8(word).ok()?.parse().ok())
}

/// Powers of ten that are exact.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Numbers of at most 15 digits and a power of ten of at most 22: both are exact, so that one
/// division or product rounds once. `None` for all others, well formed or not.
fn short_number(word: &[u8]) -> Option<f64> {
    let mut digits = 0u64;
    let mut count = 0usize;
    let mut point: Option<usize> = None;
    let mut exponent = 0i32;
    for (k, b) in word.iter().enumerate() {
        match b {
            b'0'..=b'9' => {
                count += 1;
                if count > 15 {
                    return None;
                }
                digits = digits * 10 + u64::from(b - b'0');
            }
            b'.' if point.is_none() => point = Some(count),
            b'e' | b'E' => {
                let tail = &word[k + 1..];
                let (negative, tail) = match tail {
                    [b'-', rest @ ..] => (true, rest),
                    [b'+', rest @ ..] => (false, rest),
                    rest => (false, rest),
                };
                let size = whole(tail).filter(|e| *e <= 40)? as i32;
                exponent = if negative { -size } else { size };
                break;
            }
            _ => return None,
        }
    }
    if count == 0 {
        return None;
    }
    let power = exponent - point.map_or(0, |p| (count - p) as i32);
    let factor = *POWERS.get(power.unsigned_abs() as usize)?;
    let digits = digits as f64;
    Some(if power < 0 { digits / factor } else { digits * factor })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quick_triplets_of_every_length() {
        for (text, value) in [
            ("7", 7.0),
            ("1234567", 1234567.0),
            ("12345678", 12345678.0),
            ("0.5", 0.5),
            ("3.", 3.0),
            (".25", 0.25),
            ("1234567.1234567", 1234567.1234567),
            ("0.12345678901234", 0.12345678901234),
            ("123456789012345", 123456789012345.0),
        ] {
            for end in ["\n", "\r\n"] {
                let line = format!("1234567\t89 {text}{end}");
                let quick = quick_triplet(format!("{line}1 1 1\n1 1 1\n").as_bytes());
                assert_eq!(quick, Some((1234567, 89, value, line.len())), "{line}");
            }
        }
        for text in [
            "1 1 ",
            "1 1 x",
            "1 1 1 1",
            "1 1 1e5",
            " 1 1 1",
            "1  1 1",
            "1 1 1.2.3",
            "-1 1 1",
            "1 1 1\r1",
            "12345678 1 1",
            "1 1 1234567890123456",
            "\u{ff}1 1 1",
            "1 1 .",
        ] {
            assert_eq!(quick_triplet(format!("{text}\n1 1 1\n1 1 1\n").as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn numbers_at_the_edges() {
        for text in
            ["0", "-0", "1.", ".5", "1e22", "1e23", "123456789012345678", "1e-320", "2.5E+3"]
        {
            let want: f64 = text.parse().unwrap();
            assert_eq!(number(text.as_bytes()).map(f64::to_bits), Some(want.to_bits()), "{text}");
        }
        for text in ["", ".", "e5", "1e", "1.2.3", "--1", "1e+", "1,5", "0x10", "\u{ff11}"] {
            assert_eq!(number(text.as_bytes()), None, "{text}");
        }
        assert_eq!(whole(b"18446744073709551615"), Some(u64::MAX));
        for text in ["18446744073709551616", "", "-1", "+1", "1.0"] {
            assert_eq!(whole(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn quick_triplets_are_plain_ones(text in "[1-9][0-9]{0,20}[ \t]{1,2}[0-9]{1,3}[ \t][0-9]{0,9}[.]?[0-9]{0,9}[ e]?\r?\n?1 2 3 4\n") {
            let line = text.split('\n').next().unwrap();
            let line = line.strip_suffix('\r').unwrap_or(line);
            if let Some((i, j, value, length)) = quick_triplet(text.as_bytes()) {
                let plain = plain_triplet(line.as_bytes()).unwrap();
                prop_assert_eq!((i, j, value.to_bits()), (plain.0, plain.1, plain.2.to_bits()));
                prop_assert_eq!(length, text.find('\n').unwrap() + 1);
            }
        }

        #[test]
        fn numbers_agree_with_the_standard_library(text in "[0-9]{0,18}[.]?[0-9]{0,6}(e-?[0-9]{1,3})?") {
            let want = text.parse::<f64>().ok().map(f64::to_bits);
            prop_assert_eq!(number(text.as_bytes()).map(f64::to_bits), want);
        }
    }
}

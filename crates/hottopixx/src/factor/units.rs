//! F in the units of the input, as far as numbers of 64 bits reach.
//!
//! With D the row sums, `D X = (D F D_hott^-1) (D_hott W)`: a weight w of row i in hott row h becomes
//! `w s_i / s_h`. Sums may lie anywhere from 1e-323 to 1e308, so that the quotient can leave the range
//! in which numbers have all their digits, or the range of numbers at all. What then is lost of a row
//! is measured, and a row that would no longer be explained as its error says is refused.

use crate::Error;
use crate::clean::RowFit;
use crate::matrix::{Dense, Matrix, Sparse};
use crate::normalise::UnitRows;

/// What the weights of a row, which is explained in l1, may lose together: far below any error that
/// is reported, far above rounding.
const LOST: f64 = 1e-9;

/// F, `rows` x rank, for the fits on the rows `hott` of X of its rows that are among the first `rows` of the input.
///
/// # Errors
/// [`Error::Unrepresentable`] where F cannot be written down.
pub(super) fn weights_in_units(
    x: &UnitRows,
    hott: &[usize],
    fits: &[RowFit],
    (rows, dense): (usize, bool),
) -> Result<Matrix, Error> {
    let mut triplets = Vec::new();
    for (i, fit) in fits.iter().enumerate() {
        let mut lost = 0.0;
        for &(k, w) in &fit.weights {
            let h = hott[k as usize];
            let (own, its) = (x.sums()[i], x.sums()[h]);
            let weight = times_quotient(w, own, its);
            if !weight.is_normal() && w != 0.0 {
                lost += (times_quotient(weight, its, own) - w).abs();
            }
            // Not a number also: what changes under our hands is found out elsewhere.
            if lost.is_nan() || lost > LOST {
                let (row, hott) = (x.input_row(i), x.input_row(h));
                return Err(Error::Unrepresentable { row, hott });
            }
            triplets.push((x.input_row(i), k as usize, weight));
        }
    }
    Ok(if dense {
        let mut f = Dense::zeros(rows, hott.len());
        triplets.into_iter().for_each(|(i, k, w)| f.row_mut(i)[k] = w);
        f.into()
    } else {
        Sparse::from_triplets(rows, hott.len(), &triplets)
            .expect("rows and columns are in range")
            .into()
    })
}

/// `w a / b` for positive finite a and b, with no overflow or underflow that the result has not itself:
/// the quotient of the mantissas lies between 1/2 and 2, and the powers of two come last.
fn times_quotient(w: f64, a: f64, b: f64) -> f64 {
    let quotient = a / b;
    if quotient.is_normal() {
        return w * quotient;
    }
    let ((a, up), (b, down)) = (parts(a), parts(b));
    let (mut value, mut exponent) = (w * (a / b), up - down);
    while exponent != 0 {
        let step = exponent.clamp(-1000, 1000);
        value *= 2f64.powi(step);
        exponent -= step;
    }
    value
}

/// A positive number as a mantissa from 1 to 2 and a power of two.
fn parts(value: f64) -> (f64, i32) {
    const BITS: u32 = f64::MANTISSA_DIGITS - 1;
    const BIAS: i32 = f64::MAX_EXP - 1;
    if !value.is_normal() {
        let (mantissa, exponent) =
            if value > 0.0 { parts(value * 2f64.powi(64)) } else { (0.0, 64) };
        return (mantissa, exponent - 64);
    }
    let exponent = (value.to_bits() >> BITS & 0x7ff) as i32 - BIAS;
    let one = 1f64.to_bits();
    (f64::from_bits(value.to_bits() & ((1 << BITS) - 1) | one), exponent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Factor;
    use crate::methods::USUAL_BUDGET;

    #[test]
    fn quotients_keep_their_digits_wherever_the_result_has_them() {
        assert_eq!(parts(12.0), (1.5, 3));
        assert_eq!(parts(5e-324), (1.0, -1074));
        for (w, a, b, expected) in [
            (0.5, 3.0, 4.0, 0.375),
            (1e-200, 1e300, 1e-200, 1e300),
            (1e-300, 1e200, 5e-324, 1e-300 * 1e200 * 2f64.powi(1000) * 2f64.powi(74)),
            (1e250, 1e-200, 1e200, 1e-150),
        ] {
            let found = times_quotient(w, a, b);
            assert!((found / expected - 1.0).abs() < 1e-13, "{w} {a} {b}: {found}");
        }
        assert_eq!(times_quotient(1.0, 1e300, 1e-300), f64::INFINITY);
        assert_eq!(times_quotient(1.0, 1e-300, 1e300), 0.0);
    }

    /// Hott rows times 1e-300 and the others times 1e300, or the other way round: F would be
    /// infinite, or zero, while every error is.
    #[test]
    fn what_cannot_be_written_is_an_error_and_not_a_perfect_answer() {
        let rows = |hott: f64, other: f64| {
            let rows = [[hott, 0.0], [0.0, hott], [0.5 * other, 0.5 * other], [other, 0.0]];
            Matrix::from(Dense::from_rows(&rows).unwrap())
        };
        let factor = Factor::new(2).memory(USUAL_BUDGET);
        for (hott, other) in [(1e-300, 1e300), (1e300, 1e-300), (5e-324, 1e5)] {
            let error = factor.evaluate(&rows(hott, other), &[0, 1]).unwrap_err();
            assert_eq!(error, Error::Unrepresentable { row: 2, hott: 0 }, "{hott} {other}");
        }
        // As far apart as can be written.
        for (hott, other) in [(1e-150, 1e150), (1e150, 1e-150), (5e-324, 1e-20), (1e-3, 5e-324)] {
            let answer = factor.evaluate(&rows(hott, other), &[0, 1]).unwrap();
            let weight = answer.f.row(3).nonzeros().next().unwrap().1;
            assert!((weight / (other / hott) - 1.0).abs() < 1e-12, "{hott} {other}: {weight}");
        }
    }

    /// A weight that underflows but explains nothing is left out.
    #[test]
    fn a_weight_that_does_not_matter_may_vanish() {
        let rows = [[1e300, 0.0], [0.0, 1.0], [1e-20, 1.0]];
        let matrix = Matrix::from(Dense::from_rows(&rows).unwrap());
        let answer = Factor::new(2).evaluate(&matrix, &[0, 1]).unwrap();
        assert!(answer.errors.inf1 < 1e-15 && answer.f.row(2).sum() == 1.0);
    }
}

//! Exact arithmetic: every f64 is a whole number times a power of two, so sums and products of them
//! are known without any rounding, and the unit row `x_i = v_i / sum(v_i)` is a row of rationals.
//!
//! Inner loops are on whole numbers with one common denominator; rationals appear only where such
//! sums meet. The power of two that a row carries cancels in `v / sum(v)` and is left out.

use hottopixx::matrix::Dense;
use hottopixx::normalise::UnitRows;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Float, One, Signed, ToPrimitive, Zero};

/// The value of a finite number, without rounding.
///
/// # Panics
/// For NaN and infinities, which have none; callers look first.
pub fn rational(value: f64) -> BigRational {
    BigRational::from_float(value).expect("a finite number")
}

/// The nearest f64, for messages.
pub fn float(value: &BigRational) -> f64 {
    value.to_f64().unwrap_or(f64::NAN)
}

/// Numbers as whole numbers times one power of two: `values[k] * 2^exponent`.
#[derive(Debug, Clone)]
pub struct ScaledIntegers {
    /// The whole numbers.
    pub values: Vec<BigInt>,
    /// The power of two that all of them share.
    pub exponent: i64,
}

impl ScaledIntegers {
    /// The finite numbers given, without rounding.
    pub fn of<'a>(values: impl IntoIterator<Item = &'a f64>) -> ScaledIntegers {
        let parts: Vec<(i64, i64)> = values.into_iter().map(|&v| mantissa(v)).collect();
        let exponent = parts.iter().filter(|p| p.0 != 0).map(|p| p.1).min().unwrap_or(0);
        let whole = |&(m, e): &(i64, i64)| {
            if m == 0 { BigInt::zero() } else { BigInt::from(m) << (e - exponent) as usize }
        };
        ScaledIntegers { values: parts.iter().map(whole).collect(), exponent }
    }

    /// `2^exponent`.
    pub fn unit(&self) -> BigRational {
        power(self.exponent)
    }
}

/// `2^exponent`.
fn power(exponent: i64) -> BigRational {
    let size = BigInt::one() << exponent.unsigned_abs() as usize;
    if exponent < 0 { BigRational::new(BigInt::one(), size) } else { size.into() }
}

/// `value = m 2^e` with m odd, or zero.
fn mantissa(value: f64) -> (i64, i64) {
    let (m, e, sign) = Float::integer_decode(value);
    if m == 0 {
        return (0, 0);
    }
    let zeros = m.trailing_zeros();
    (i64::from(sign) * (m >> zeros) as i64, i64::from(e) + i64::from(zeros))
}

/// `a.b` of whole numbers.
pub fn dot(a: &[BigInt], b: &[BigInt]) -> BigInt {
    let products = a.iter().zip(b).filter(|(a, b)| !a.is_zero() && !b.is_zero());
    products.fold(BigInt::zero(), |sum, (a, b)| sum + a * b)
}

/// `sum a_k b_k` of numbers.
pub fn product(a: &[f64], b: &[f64]) -> BigRational {
    let (a, b) = (ScaledIntegers::of(a), ScaledIntegers::of(b));
    BigRational::from(dot(&a.values, &b.values)) * power(a.exponent + b.exponent)
}

/// `sum |a_k|` of numbers.
pub fn mass(a: &[f64]) -> BigRational {
    let a = ScaledIntegers::of(a);
    BigRational::from(a.values.iter().map(Signed::abs).sum::<BigInt>()) * a.unit()
}

/// X with unit rows: `x_ik = values[i][k] / sums[i]`.
#[derive(Debug, Clone)]
pub struct ExactRows {
    values: Vec<Vec<BigInt>>,
    sums: Vec<BigInt>,
}

impl ExactRows {
    /// The rows of `matrix` that X has, in the order of X.
    pub fn new(matrix: &Dense, x: &UnitRows) -> ExactRows {
        ExactRows::of((0..x.features()).map(|i| matrix.row(x.input_row(i))))
    }

    /// Rows that are not zero and have no negative entries.
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a [f64]>) -> ExactRows {
        let values: Vec<Vec<BigInt>> =
            rows.into_iter().map(|row| ScaledIntegers::of(row).values).collect();
        let sums = values.iter().map(|row| row.iter().sum()).collect();
        ExactRows { values, sums }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.sums.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sums.is_empty()
    }

    /// `||x_i||_2^2`.
    pub fn square(&self, i: usize) -> BigRational {
        BigRational::new(dot(&self.values[i], &self.values[i]), &self.sums[i] * &self.sums[i])
    }

    /// `<y, x_j>` for a y of whole numbers.
    pub fn product(&self, y: &[BigInt], j: usize) -> BigRational {
        BigRational::new(dot(y, &self.values[j]), self.sums[j].clone())
    }

    /// `||own x_i - sum_j c_j x_j||_1` for weights (j, c_j).
    ///
    /// With `c_j = m_j 2^e`, D the product of the distinct sums, `D_j = D / S_j`, entry k is
    /// `(own D_i V_ik - sum_j m_j D_j V_jk) / D` in units of `2^e`.
    pub fn distance(&self, own: f64, i: usize, weights: &[(usize, f64)]) -> BigRational {
        let all: Vec<(usize, f64)> =
            [(i, own)].into_iter().chain(weights.iter().map(|&(j, c)| (j, -c))).collect();
        let scaled = ScaledIntegers::of(all.iter().map(|w| &w.1));
        let mut sums: Vec<&BigInt> = all.iter().map(|w| &self.sums[w.0]).collect();
        sums.sort_unstable();
        sums.dedup();
        let whole: BigInt = sums.into_iter().product();
        let mut residual = vec![BigInt::zero(); self.values[i].len()];
        for ((j, _), m) in all.iter().zip(&scaled.values).filter(|(_, m)| !m.is_zero()) {
            let factor = m * (&whole / &self.sums[*j]);
            let entries = residual.iter_mut().zip(&self.values[*j]);
            entries.filter(|(_, v)| !v.is_zero()).for_each(|(r, v)| *r += &factor * v);
        }
        let error: BigInt = residual.iter().map(Signed::abs).sum();
        BigRational::new(error, whole) * scaled.unit()
    }
}

/// `||x - cA||_1` for raw numbers.
pub fn residual(atoms: &Dense, x: &[f64], weights: &[f64]) -> BigRational {
    let (a, x, c) =
        (ScaledIntegers::of(atoms.values()), ScaledIntegers::of(x), ScaledIntegers::of(weights));
    let n = x.values.len();
    // Both parts in units of the smaller power of two.
    let (fit, target) = (a.exponent + c.exponent, x.exponent);
    let least = fit.min(target);
    let mut sum = BigInt::zero();
    for k in 0..n {
        let mut entry = &x.values[k] << (target - least) as usize;
        for (j, weight) in c.values.iter().enumerate().filter(|(_, c)| !c.is_zero()) {
            entry -= (weight * &a.values[j * n + k]) << (fit - least) as usize;
        }
        sum += entry.abs();
    }
    BigRational::from(sum) * power(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(a: i64, b: i64) -> BigRational {
        BigRational::new(a.into(), b.into())
    }

    #[test]
    fn numbers_are_what_they_are() {
        for v in [0.0, 1.0, -0.1, 5e-324, 1e300, f64::MAX, 3.0] {
            let whole = ScaledIntegers::of(&[v, 1.0]);
            assert_eq!(BigRational::from(whole.values[0].clone()) * whole.unit(), rational(v));
            assert_eq!(float(&rational(v)), v);
        }
        assert_eq!(product(&[1e300, 0.5], &[1e-300, 4.0]) - rational(2.0), {
            rational(1e300) * rational(1e-300)
        });
        assert_eq!(mass(&[-1.0, 0.25]), ratio(5, 4));
    }

    #[test]
    fn unit_rows_are_not_rounded() {
        // 1/3 and 2/3, 1e300 times as large in one row: the distance is exactly zero.
        let rows: [&[f64]; 3] = [&[1.0, 2.0], &[0.5, 1.0], &[3.0, 0.0]];
        let x = ExactRows::of(rows);
        assert!(x.distance(1.0, 0, &[(1, 1.0)]).is_zero());
        assert_eq!(x.distance(1.0, 2, &[(0, 0.5)]), ratio(7, 6));
        assert_eq!(x.distance(1.0, 2, &[(2, 0.25), (0, 0.0)]), ratio(3, 4));
        assert_eq!(x.square(0), ratio(5, 9));
        assert_eq!(x.product(&[BigInt::from(3), BigInt::from(-3)], 0), ratio(-1, 1));
    }

    #[test]
    fn raw_residuals_of_any_scale() {
        let atoms = Dense::from_rows(&[[1e-300, 0.0], [0.0, -2.0]]).unwrap();
        assert_eq!(residual(&atoms, &[1.0, 1.0], &[0.0, 0.25]), ratio(5, 2));
        let tiny = residual(&atoms, &[1e-300, 0.0], &[1.0, 0.0]);
        assert!(tiny.is_zero());
    }
}

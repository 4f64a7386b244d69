//! How near points are to a fit, as small numbers that can be counted; see `vector` for how it is compiled.

#![allow(unsafe_code)]

use super::vector::dispatched;

/// Number of keys: 0 to 4064 is a residual from nothing to all, and the largest is of points that are never near.
pub const NEARNESS_KEYS: usize = 4066;

/// Bits of a number in single precision that a key leaves out: all but its exponent and five more.
const LEFT_OUT: u32 = 18;

dispatched! {
    /// Keys by which points are ordered: `|e| / (2 x - e)` to one part in 32; the largest where x = 0, and where the
    /// quotient is no number from 0 to 1.
    pub fn nearness_keys(x: &[f64], residual: &[f64], keys: &mut [u16]) {
        for ((key, &x), &e) in keys.iter_mut().zip(x).zip(residual) {
            let size = (e.abs() / (2.0 * x - e)) as f32;
            let found = size.to_bits() >> LEFT_OUT;
            let never = NEARNESS_KEYS as u32 - 1;
            *key = if (x > 0.0) & (found < never) { found as u16 } else { never as u16 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_order_of_relative_residuals() {
        let x = [1.0, 1.0, 1.0, 1.0, 1.0, 1e-300, 1e300, 0.0, 0.0];
        let residual = [0.0, 1e-9, -0.0102, 0.0102, 1.0, 1e-300, -1e300, -0.5, 0.0];
        let mut keys = [0; 9];
        nearness_keys(&x, &residual, &mut keys);
        assert!(keys[0] == 0 && keys[0] < keys[1] && keys[1] < keys[2] && keys[3] < keys[4]);
        // 0.00507 and 0.00513 are within one part in 32, 1 and 1/3 are not.
        assert!(keys[2] == keys[3] && keys[4] == keys[5] && keys[6] < keys[5]);
        assert_eq!((keys[7], keys[8]), (4065, 4065));
        // Rounding may leave an e above x, and data may hold anything.
        nearness_keys(&[1.0, f64::NAN, f64::INFINITY], &[1.0 + 1e-15, 0.0, f64::NAN], &mut keys);
        assert_eq!(keys[..3], [4064, 4065, 4065]);
    }
}

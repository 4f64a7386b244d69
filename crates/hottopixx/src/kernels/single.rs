//! Loops over long vectors in single precision; see `vector` for how they are compiled.

#![allow(unsafe_code)]

use super::vector::dispatched;

const LANES: usize = 16;

/// How many values are above some floor, and their sum, in 16 lanes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Above {
    sums: [f32; LANES],
    counts: [u32; LANES],
}

impl Above {
    /// The sum, lanes added in double precision.
    pub fn sum(&self) -> f64 {
        self.sums.iter().map(|s| f64::from(*s)).sum()
    }

    /// The number.
    pub fn count(&self) -> usize {
        self.counts.iter().map(|c| *c as usize).sum()
    }
}

dispatched! {
    /// Adds the values that are above `floor`. The order depends on the length only.
    pub fn add_above(values: &[f32], floor: f32, above: &mut Above) {
        let (mut sums, mut counts) = (above.sums, above.counts);
        let mut chunks = values.chunks_exact(LANES);
        for chunk in &mut chunks {
            for l in 0..LANES {
                sums[l] += if chunk[l] > floor { chunk[l] } else { 0.0 };
                counts[l] += u32::from(chunk[l] > floor);
            }
        }
        for (l, &value) in chunks.remainder().iter().enumerate() {
            sums[l] += if value > floor { value } else { 0.0 };
            counts[l] += u32::from(value > floor);
        }
        *above = Above { sums, counts };
    }
}

dispatched! {
    /// Every value to the nearest in [0, top].
    pub fn clip(values: &mut [f32], top: f32) {
        for value in values {
            let low = if *value > 0.0 { *value } else { 0.0 };
            *value = if low < top { low } else { top };
        }
    }
}

dispatched! {
    /// `||a - b||_1`, summed in single precision over pieces of 256 values and in double over
    /// these.
    pub fn l1_distance(a: &[f32], b: &[f32]) -> f64 {
        let mut total = 0.0;
        for (a, b) in a.chunks(256).zip(b.chunks(256)) {
            let mut sums = [0.0f32; LANES];
            let (mut xs, mut ys) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
            for (x, y) in (&mut xs).zip(&mut ys) {
                for l in 0..LANES {
                    sums[l] += (x[l] - y[l]).abs();
                }
            }
            let rest = xs.remainder().iter().zip(ys.remainder());
            total += f64::from(sums.iter().sum::<f32>())
                + rest.map(|(x, y)| f64::from((x - y).abs())).sum::<f64>();
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agree_with_plain_loops_at_every_length() {
        for n in [0, 1, 31, 32, 33, 300] {
            // Multiples of 1/64: sums are exact.
            let x: Vec<f32> = (0..n).map(|k| ((k * 37) % 101) as f32 / 64.0 - 0.5).collect();
            let y: Vec<f32> = (0..n).map(|k| ((k * 11) % 17) as f32 / 64.0).collect();
            for floor in [-1.0, 0.0, 0.25, 2.0] {
                let above: Vec<f64> =
                    x.iter().filter(|v| **v > floor).map(|v| f64::from(*v)).collect();
                let mut found = Above::default();
                x.chunks(80).for_each(|part| add_above(part, floor, &mut found));
                assert_eq!((found.sum(), found.count()), (above.iter().sum(), above.len()));
            }
            let distance: f64 = x.iter().zip(&y).map(|(x, y)| f64::from((x - y).abs())).sum();
            assert_eq!(l1_distance(&x, &y), distance);
            let mut clipped = x.clone();
            clip(&mut clipped, 0.5);
            let expected: Vec<f32> = x.iter().map(|v| v.clamp(0.0, 0.5)).collect();
            assert_eq!(clipped, expected);
        }
    }
}

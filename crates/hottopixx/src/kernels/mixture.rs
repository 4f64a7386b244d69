//! Passes over one document as a mixture of topics: short vectors, millions of times.

#![allow(unsafe_code)]

use super::vector::dispatched;

/// Numbers that are multiplied before their logarithm is taken.
const SMALLEST: f64 = 1e-200;

dispatched! {
    /// `next = sum over words of e_w h_w / p_w * row_w`, with `p_w = theta . row_w` and `rows` words x topics;
    /// `ratios` becomes `h_w / p_w` for every word, 0 where p_w is.
    pub fn mixture_pass(
        words: &[u32],
        counts: &[f64],
        evidence: &[f64],
        rows: &[f64],
        theta: &[f64],
        next: &mut [f64],
        ratios: &mut [f64]
    ) {
        let rank = theta.len();
        let next = &mut next[..rank];
        next.fill(0.0);
        for ((&word, &h), ratio) in words.iter().zip(counts).zip(ratios) {
            let row = &rows[word as usize * rank..][..rank];
            let p = product(theta, row);
            *ratio = 0.0;
            if p > 0.0 {
                *ratio = h / p;
                let counts = *ratio * evidence[word as usize];
                next.iter_mut().zip(row).for_each(|(n, v)| *n += counts * v);
            }
        }
    }
}

dispatched! {
    /// `sums_w += ratio_w * theta` for every word, sums words x topics.
    pub fn add_mixture(words: &[u32], ratios: &[f64], theta: &[f64], sums: &mut [f64]) {
        let rank = theta.len();
        for (&word, &ratio) in words.iter().zip(ratios) {
            let sums = &mut sums[word as usize * rank..][..rank];
            sums.iter_mut().zip(theta).for_each(|(s, t)| *s += ratio * t);
        }
    }
}

/// The inner product, in four sums that a processor can keep apart.
#[inline(always)]
fn product(a: &[f64], b: &[f64]) -> f64 {
    let (fours_a, fours_b) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest = fours_a.remainder().iter().zip(fours_b.remainder()).map(|(x, y)| x * y);
    let mut sums = [0.0; 4];
    for (x, y) in fours_a.clone().zip(fours_b.clone()) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest.sum::<f64>()
}

/// `sum of h ln(h / ratio)` over the ratios above zero: the log-likelihood of counts h where `ratio = h / p`. Most
/// counts are 1, and their logarithms are taken together.
pub(crate) fn log_likelihood(counts: &[f64], ratios: &[f64]) -> f64 {
    let (mut sum, mut product) = (0.0, 1.0);
    for (&h, &ratio) in counts.iter().zip(ratios).filter(|(_, ratio)| **ratio > 0.0) {
        if h == 1.0 && ratio < 1.0 / SMALLEST {
            product /= ratio;
            if product < SMALLEST {
                sum += f64::ln(product);
                product = 1.0;
            }
        } else {
            sum += h * (h / ratio).ln();
        }
    }
    sum + product.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_are_those_of_the_formulas() {
        for rank in [1, 3, 4, 9] {
            let rows: Vec<f64> = (0..5 * rank).map(|k| ((k * 7) % 5) as f64 / 10.0).collect();
            let theta: Vec<f64> = (0..rank).map(|k| (k + 1) as f64 / 20.0).collect();
            let (words, counts) = ([4, 0, 2], [1.0, 2.0, 1.0]);
            let evidence = [0.5, 1.0, 1.5, 2.0, 2.5];
            let (mut next, mut ratios) = (vec![9.0; rank], vec![9.0; 3]);
            mixture_pass(&words, &counts, &evidence, &rows, &theta, &mut next, &mut ratios);
            let mut sums = vec![1.0; 5 * rank];
            add_mixture(&words, &ratios, &theta, &mut sums);
            let mut expected = vec![0.0; rank];
            let mut likelihood = 0.0;
            for (i, &w) in words.iter().enumerate() {
                let row = &rows[w as usize * rank..][..rank];
                let p: f64 = row.iter().zip(&theta).map(|(r, t)| r * t).sum();
                let ratio = if p > 0.0 { counts[i] / p } else { 0.0 };
                assert!((ratios[i] - ratio).abs() <= 1e-12 * ratio);
                likelihood += if p > 0.0 { counts[i] * p.ln() } else { 0.0 };
                for k in 0..rank {
                    expected[k] += ratio * evidence[w as usize] * row[k];
                    let sum = sums[w as usize * rank + k];
                    assert!((sum - 1.0 - ratio * theta[k]).abs() < 1e-12 * sum);
                }
            }
            next.iter().zip(&expected).for_each(|(a, b)| assert!((a - b).abs() <= 1e-12 * b));
            assert!((log_likelihood(&counts, &ratios) - likelihood).abs() < 1e-12);
        }
    }

    #[test]
    fn long_products_do_not_vanish() {
        let (counts, ratios) = (vec![1.0; 500], vec![1e7; 500]);
        let expected = -500.0 * 1e7f64.ln();
        assert!((log_likelihood(&counts, &ratios) - expected).abs() < 1e-9 * -expected);
        assert!((log_likelihood(&[1.0], &[1e250]) + 1e250f64.ln()).abs() < 1e-9);
        assert_eq!(log_likelihood(&[1.0, 3.0], &[0.0, 0.0]), 0.0);
    }
}

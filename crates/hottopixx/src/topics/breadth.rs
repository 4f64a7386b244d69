//! How many other words go with a word: which words are about something.
//!
//! A word that names a topic stands with hundreds of words more often than by chance, none of which matters
//! much. A name in a signature, a host in a mail header or a turn of phrase stands with a handful, again and again; a
//! word of no subject with none. With o_v the documents of word w that have v, and e_v those that would have it by chance
//! (documents with more words have more), v says `g_v = o_v ln(o_v / e_v) - (o_v - e_v)` about w where
//! o_v is above e_v by some standard deviations; the *breadth* of w is the effective number of these
//! words, `exp(entropy of g / sum of g)`.

use crate::matrix::Sparse;
use rayon::prelude::*;

/// Documents of a word that are looked at, at most.
const LOOKED_AT: usize = 1000;
/// Standard deviations above chance that count.
const DEVIATIONS: f64 = 3.0;

/// The breadth of the words in at least `least` documents, over the median of these; `None` for others. `counts`
/// are documents x words. O(documents looked at * words of a document), in
/// parallel over words.
pub(super) fn breadths(counts: &Sparse, df: &[usize], least: usize) -> Vec<Option<f64>> {
    let by_word = counts.transpose();
    let lengths: Vec<f64> = (0..counts.rows()).map(|d| counts.row(d).0.len() as f64).collect();
    let all: f64 = lengths.iter().sum();
    let breadth = |seen: &mut Vec<u32>, w: usize| -> Option<f64> {
        if df[w] < least {
            return None;
        }
        let documents = by_word.row(w).0;
        let step = documents.len().div_ceil(LOOKED_AT).max(1);
        let mut words = 0.0;
        for &d in documents.iter().step_by(step) {
            counts.row(d as usize).0.iter().for_each(|&v| seen[v as usize] += 1);
            words += lengths[d as usize];
        }
        seen[w] = 0;
        let gains =
            seen.iter().zip(df).map(|(&o, &df)| gain(f64::from(o), df as f64 * words / all));
        let found = effective(gains);
        seen.fill(0);
        Some(found)
    };
    let fresh = || vec![0u32; df.len()];
    let found: Vec<Option<f64>> = (0..df.len()).into_par_iter().map_init(fresh, breadth).collect();
    let mut sorted: Vec<f64> = found.iter().copied().flatten().collect();
    sorted.sort_by(f64::total_cmp);
    let median = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
    let over = |breadth: f64| if median > 0.0 { breadth / median } else { 1.0 };
    found.into_iter().map(|breadth| breadth.map(over)).collect()
}

/// What a word that was seen so often, and expected so often, says.
fn gain(seen: f64, expected: f64) -> f64 {
    if seen - expected > DEVIATIONS * (expected + 1.0).sqrt() {
        seen * (seen / expected).ln() - (seen - expected)
    } else {
        0.0
    }
}

/// The effective number of values.
fn effective(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut logs) = (0.0, 0.0);
    for value in values.filter(|v| *v > 0.0) {
        sum += value;
        logs += value * value.ln();
    }
    if sum > 0.0 { (sum.ln() - logs / sum).exp() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_narrow() {
        assert!((effective([2.0, 0.0, 2.0, 2.0].into_iter()) - 3.0).abs() < 1e-12);
        assert_eq!(effective(std::iter::empty()), 0.0);
        // Words 0 to 19 and 20 to 39 are two subjects; 40, 41 and 42 stand in every tenth document of both
        // together; 43 is in every third, whatever it is about.
        let mut triplets = Vec::new();
        for d in 0..600 {
            for k in 0..10 {
                triplets.push((d, 20 * (d % 2) + (d / 2 + 3 * k) % 20, 1.0));
            }
            if d % 10 < 2 {
                (40..43).for_each(|w| triplets.push((d, w, 1.0)));
            }
            if d % 3 == 0 {
                triplets.push((d, 43, 1.0));
            }
        }
        let counts = Sparse::from_triplets(600, 44, &triplets).unwrap();
        let df: Vec<usize> = (0..44).map(|w| counts.transpose().row(w).0.len()).collect();
        let found = breadths(&counts, &df, 5);
        assert!(found[..40].iter().all(|breadth| breadth.unwrap() > 0.9), "{found:?}");
        assert!(found[40..].iter().all(|breadth| breadth.unwrap() < 0.3), "{found:?}");
        assert_eq!(breadths(&counts, &df, 1000), [None; 44]);
    }
}

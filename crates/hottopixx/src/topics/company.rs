//! The company of a word, the words that go with it: which words are about something.
//!
//! A word that names a topic stands with hundreds of words more often than by chance, none of which matters
//! much. A name in a signature or a turn of phrase stands with a handful, again and again; a
//! word of no subject with none. With o_v the documents of word w that have v, and e_v those that would have it by chance
//! (documents with more words have more), v says `g_v = o_v ln(o_v / e_v) - (o_v - e_v)` about w where
//! o_v is above e_v by some standard deviations; the *breadth* of w is the effective number of these
//! words, `exp(entropy of g / sum of g)`.
//!
//! The words around a subject go with each other, too. Those around a host in a mail header (its users) or a word of many
//! subjects do not: the *coherence* of w is the mean NPMI of the words with the largest g.

use super::figures::npmi_of;
use crate::kernels::parallel::*;
use crate::matrix::Sparse;

/// Documents of a word that are looked at, at most.
const LOOKED_AT: usize = 1000;
/// Standard deviations above chance that count.
const DEVIATIONS: f64 = 3.0;
/// Words with the largest gain whose coherence is measured.
const CLOSEST: usize = 8;

/// The company of a word, compared with that of others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Company {
    /// Over the median of all words.
    pub breadth: f64,
    /// Likewise.
    pub coherence: f64,
}

/// The company of the words in at least `least` documents; `None` for others. `counts` are documents x words.
/// O(documents looked at * words of a document), in parallel over words.
pub(super) fn companies(counts: &Sparse, df: &[usize], least: usize) -> Vec<Option<Company>> {
    let by_word = counts.transpose();
    let lengths: Vec<f64> = (0..counts.rows()).map(|d| counts.row(d).0.len() as f64).collect();
    let all: f64 = lengths.iter().sum();
    let company = |(seen, gains): &mut (Vec<u32>, Vec<f64>), w: usize| -> Option<Company> {
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
        let expected = |df: usize| df as f64 * words / all;
        gains.clear();
        gains.extend(seen.iter().zip(df).map(|(&o, &df)| gain(f64::from(o), expected(df))));
        seen.fill(0);
        let coherence = npmi_of(&closest(gains), &by_word);
        Some(Company { breadth: effective(gains), coherence })
    };
    let fresh = || (vec![0u32; df.len()], Vec::with_capacity(df.len()));
    let mut found: Vec<Option<Company>> =
        (0..df.len()).into_par_iter().map_init(fresh, company).collect();
    let median = |value: fn(&Company) -> f64| {
        let mut sorted: Vec<f64> = found.iter().flatten().map(value).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
    };
    let (breadth, coherence) = (median(|c| c.breadth), median(|c| c.coherence));
    let over = |value: f64, median: f64| if median > 0.0 { value / median } else { 1.0 };
    for company in found.iter_mut().flatten() {
        company.breadth = over(company.breadth, breadth);
        company.coherence = over(company.coherence, coherence);
    }
    found
}

/// The words with the largest gains above zero.
fn closest(gains: &[f64]) -> Vec<usize> {
    let mut words: Vec<usize> = (0..gains.len()).filter(|&v| gains[v] > 0.0).collect();
    let first = |a: &usize, b: &usize| gains[*b].total_cmp(&gains[*a]).then(a.cmp(b));
    if words.len() > CLOSEST {
        words.select_nth_unstable_by(CLOSEST, first);
        words.truncate(CLOSEST);
    }
    words
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
fn effective(values: &[f64]) -> f64 {
    let (mut sum, mut logs) = (0.0, 0.0);
    for value in values.iter().filter(|v| **v > 0.0) {
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
        assert!((effective(&[2.0, 0.0, 2.0, 2.0]) - 3.0).abs() < 1e-12);
        assert_eq!(effective(&[]), 0.0);
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
        // 44 stands with one of the words 45 to 54 in every tenth document, which never meet: users of a host.
        for d in (5..600).step_by(10) {
            triplets.extend([(d, 44, 1.0), (d, 45 + (d / 10) % 10, 1.0)]);
        }
        let counts = Sparse::from_triplets(600, 55, &triplets).unwrap();
        let df: Vec<usize> = (0..55).map(|w| counts.transpose().row(w).0.len()).collect();
        let found = companies(&counts, &df, 20);
        let of = |w: usize| found[w].unwrap();
        assert!((0..40).all(|w| of(w).breadth > 0.9 && of(w).coherence > 0.9), "{found:?}");
        assert!((40..44).all(|w| of(w).breadth < 0.3), "{found:?}");
        assert!(of(44).coherence < 0.0 && found[45..] == [None; 10], "{found:?}");
        assert_eq!(companies(&counts, &df, 1000), [None; 55]);
    }
}

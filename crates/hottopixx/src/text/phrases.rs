//! Phrases: two words that stand side by side much more often than by chance.
//!
//! With p the share of a word or a pair in all places of the text, the pair (a, b) is a phrase when its
//! normalised pointwise mutual information (Bouma 2009)
//!
//! ```text
//! ln(p(a b) / (p(a) p(b))) / -ln p(a b)
//! ```
//!
//! is at least [`LEAST`]; it is 0 for chance and 1 for words that occur together only.

use super::counter::BREAK;
use std::collections::HashMap;

/// The least normalised information of a phrase.
const LEAST: f64 = 0.4;

/// Pairs that occur more rarely say nothing.
const LEAST_OFTEN: u32 = 10;

/// Joins the phrases of a text, given as word numbers with [`BREAK`]s, and returns them: phrase k has
/// the number `words.len() + k`. Words of `stop` are in none. Of overlapping phrases the first one
/// counts. O(tokens).
pub(super) fn join_phrases(
    text: &mut Vec<u32>,
    ends: &mut [usize],
    words: &[String],
    stop: &[bool],
) -> Vec<String> {
    let free = |id: u32| id != BREAK && !stop[id as usize];
    let mut single = vec![0u32; words.len()];
    text.iter().filter(|id| **id != BREAK).for_each(|id| single[*id as usize] += 1);
    let often = |id: u32| free(id) && single[id as usize] >= LEAST_OFTEN;
    let mut pairs: HashMap<(u32, u32), u32> = HashMap::new();
    each_pair(text, ends, |a, b| {
        if often(a) && often(b) {
            *pairs.entry((a, b)).or_default() += 1;
        }
    });
    let places = text.len().max(1) as f64;
    let share = |count: u32| f64::from(count) / places;
    let mut phrases: Vec<(u32, u32)> = pairs
        .into_iter()
        .filter(|&((a, b), count)| {
            let [p, pa, pb] = [count, single[a as usize], single[b as usize]].map(share);
            count >= LEAST_OFTEN && (p / (pa * pb)).ln() >= -LEAST * p.ln()
        })
        .map(|(pair, _)| pair)
        .collect();
    // Numbers of words depend on the order of documents, their names do not.
    phrases.sort_unstable_by_key(|&(a, b)| (&words[a as usize], &words[b as usize]));
    let numbers: HashMap<(u32, u32), u32> =
        phrases.iter().enumerate().map(|(k, pair)| (*pair, (words.len() + k) as u32)).collect();
    replace(text, ends, &numbers);
    let name = |(a, b): (u32, u32)| format!("{} {}", words[a as usize], words[b as usize]);
    phrases.into_iter().map(name).collect()
}

/// Calls `take` with every two neighbours.
fn each_pair(text: &[u32], ends: &[usize], mut take: impl FnMut(u32, u32)) {
    let mut start = 0;
    for &end in ends {
        text[start..end].windows(2).for_each(|pair| take(pair[0], pair[1]));
        start = end;
    }
}

/// Puts the numbers of phrases in the place of their words, from the left.
fn replace(text: &mut Vec<u32>, ends: &mut [usize], numbers: &HashMap<(u32, u32), u32>) {
    let (mut write, mut start) = (0, 0);
    for end in ends {
        let mut read = start;
        start = *end;
        while read < start {
            let pair = (read + 1 < start).then(|| (text[read], text[read + 1]));
            let phrase = pair.and_then(|pair| numbers.get(&pair));
            text[write] = phrase.copied().unwrap_or(text[read]);
            read += 1 + usize::from(phrase.is_some());
            write += 1;
        }
        *end = write;
    }
    text.truncate(write);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_beyond_chance_are_joined_from_the_left() {
        // 0 1 always stand together; 2 and 3 are everywhere; 4 is a stop word.
        let mut text = Vec::new();
        for k in 0..200u32 {
            text.extend([2 + k % 2, 2 + k % 3 % 2]);
            if k % 10 == 0 {
                text.extend([0, 1, 1, BREAK, 4, 4]);
            }
        }
        let (before, words) = (text.clone(), ["a", "b", "c", "d", "e"].map(str::to_owned));
        let stop = [false, false, false, false, true];
        let mut ends = vec![0, 6, before.len()];
        let phrases = join_phrases(&mut text, &mut ends, &words, &stop);
        assert!(phrases.contains(&"a b".to_owned()), "{phrases:?}");
        assert!(
            !phrases.iter().any(|p| p.contains('e') || p == "c d" || p == "d c"),
            "{phrases:?}"
        );
        let phrase = (words.len() + phrases.iter().position(|p| p == "a b").unwrap()) as u32;
        assert_eq!(text.iter().filter(|id| **id == phrase).count(), 20);
        assert_eq!((ends[0], ends[2]), (0, text.len()));
    }
}

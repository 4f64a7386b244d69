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
use super::tokens::Tokens;
use crate::Error;
use std::collections::HashMap;

/// The least normalised information of a phrase.
const LEAST: f64 = 0.4;

/// Pairs that occur more rarely say nothing.
const LEAST_OFTEN: u64 = 10;

/// The phrases of a text.
pub(super) struct Phrases {
    /// Their names; phrase k has the number of words + k.
    pub names: Vec<String>,
    numbers: HashMap<(u32, u32), u32>,
}

impl Phrases {
    /// Finds the phrases of a text, given as word numbers with [`BREAK`]s, and how often each word occurs.
    /// Words of `stop` are in none. O(tokens).
    pub fn find(
        text: &mut Tokens,
        single: &[u64],
        words: &[String],
        stop: &[bool],
    ) -> Result<Self, Error> {
        let often =
            |id: u32| id != BREAK && !stop[id as usize] && single[id as usize] >= LEAST_OFTEN;
        let mut pairs: HashMap<(u32, u32), u64> = HashMap::new();
        let mut places = 0;
        text.each(|document| {
            places += document.len();
            for pair in document.windows(2).filter(|pair| often(pair[0]) && often(pair[1])) {
                *pairs.entry((pair[0], pair[1])).or_default() += 1;
            }
        })?;
        let share = |count: u64| count as f64 / places.max(1) as f64;
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
        let numbers =
            phrases.iter().enumerate().map(|(k, pair)| (*pair, (words.len() + k) as u32)).collect();
        let name = |(a, b): (u32, u32)| format!("{} {}", words[a as usize], words[b as usize]);
        Ok(Phrases { names: phrases.into_iter().map(name).collect(), numbers })
    }

    /// Puts the numbers of phrases in the place of their words; of overlapping phrases the first one
    /// counts.
    pub fn join(&self, document: &[u32], joined: &mut Vec<u32>) {
        joined.clear();
        let mut rest = document;
        while let [first, more @ ..] = rest {
            let pair = more.first().map(|second| (*first, *second));
            let phrase = pair.and_then(|pair| self.numbers.get(&pair));
            joined.push(*phrase.unwrap_or(first));
            rest = &more[usize::from(phrase.is_some())..];
        }
    }

    /// What was found.
    pub fn sentence(&self) -> String {
        match self.names.len() {
            0 => "Phrases: no two words stand side by side often enough.".to_owned(),
            1 => "Phrases: 1 pair of words was joined.".to_owned(),
            n => format!("Phrases: {n} pairs of words were joined."),
        }
    }
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
        let words = ["a", "b", "c", "d", "e"].map(str::to_owned);
        let stop = [false, false, false, false, true];
        let mut single = [0; 5];
        text.iter().filter(|id| **id != BREAK).for_each(|id| single[*id as usize] += 1);
        let mut tokens = Tokens::default();
        let lengths = [0, 6, text.len() as u32 - 6];
        tokens.add(text.iter().copied(), lengths.into_iter()).unwrap();
        let found = Phrases::find(&mut tokens, &single, &words, &stop).unwrap();
        let phrases = &found.names;
        assert!(phrases.contains(&"a b".to_owned()), "{phrases:?}");
        assert!(
            !phrases.iter().any(|p| p.contains('e') || p == "c d" || p == "d c"),
            "{phrases:?}"
        );
        let phrase = (words.len() + phrases.iter().position(|p| p == "a b").unwrap()) as u32;
        let (mut joined, mut count) = (Vec::new(), 0);
        tokens
            .each(|document| {
                found.join(document, &mut joined);
                count += joined.iter().filter(|id| **id == phrase).count();
                assert!(joined.len() <= document.len());
            })
            .unwrap();
        assert_eq!(count, 20);
        found.join(&[0, 1, 1, 0, 1], &mut joined);
        assert_eq!(joined, [phrase, 1, phrase]);
    }
}

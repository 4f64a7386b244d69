//! Words that say nothing about what a text is about.

use super::Tokeniser;
use crate::Error;
use std::collections::HashSet;

/// Which words are left out.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopWords {
    /// Those of the language whose list covers most of the text, at least 15 % of it. Where none
    /// does, words of more than half of ten documents or more, provided they are 15 % of the text as well and
    /// not most of its words.
    #[default]
    Auto,
    /// Those of a language, by its English name.
    Language(String),
    /// These.
    List(Vec<String>),
    /// Words that occur in more than this share of the documents.
    Share(f64),
    /// No word is left out.
    None,
}

/// The share of a text that function words make up, at the least, in the languages that have lists;
/// half of it is usual.
pub const TELLING: f64 = 0.15;

/// So many words of a list at the least: one or two may be words of another language.
const DISTINCT: usize = 3;

/// What [`StopWords::Auto`] falls back on, with this many documents or more: in a few of them any word is in half.
const USUAL_SHARE: f64 = 0.5;
const ENOUGH_DOCUMENTS: usize = 10;

/// The languages that have a list, by their English names, and their codes.
const LANGUAGES: [(&str, &str); 23] = [
    ("english", "en"),
    ("arabic", "ar"),
    ("azerbaijani", "az"),
    ("danish", "da"),
    ("dutch", "nl"),
    ("finnish", "fi"),
    ("french", "fr"),
    ("german", "de"),
    ("greek", "el"),
    ("hungarian", "hu"),
    ("indonesian", "id"),
    ("italian", "it"),
    ("kazakh", "kk"),
    ("nepali", "ne"),
    ("norwegian", "no"),
    ("portuguese", "pt"),
    ("romanian", "ro"),
    ("russian", "ru"),
    ("slovenian", "sl"),
    ("spanish", "es"),
    ("swedish", "sv"),
    ("tajik", "tg"),
    ("turkish", "tr"),
];

/// A word of a corpus, with how often it occurs and in how many documents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frequency<'a> {
    pub word: &'a str,
    pub tokens: u64,
    pub documents: usize,
}

/// Which words were left out, and a sentence about it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct LeftOut {
    pub words: Vec<bool>,
    pub reason: String,
}

impl StopWords {
    /// The languages that have a list.
    pub fn languages() -> impl Iterator<Item = &'static str> {
        LANGUAGES.into_iter().map(|(name, _)| name)
    }

    /// Checks that the language has a list and that a share is one.
    ///
    /// # Errors
    /// [`Error::Setting`] with the languages there are.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |value: String, remedy: String| {
            Err(Error::Setting { name: "stop words", value, remedy })
        };
        match self {
            StopWords::Language(name) if language(name).is_none() => {
                let names: Vec<&str> = StopWords::languages().collect();
                wrong(name.clone(), format!("choose one of {}, or give a list", names.join(", ")))
            }
            StopWords::Share(share) if !(*share > 0.0 && *share <= 1.0) => {
                wrong(share.to_string(), "give a share of the documents, such as 0.5".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Which words of a corpus are left out. O(words * languages) for [`StopWords::Auto`].
    pub(crate) fn of(&self, words: &[Frequency<'_>], documents: usize) -> LeftOut {
        match self {
            StopWords::None => LeftOut { words: vec![false; words.len()], reason: String::new() },
            StopWords::List(list) => {
                let list: HashSet<String> = normalised(list.iter().map(String::as_str));
                let reason =
                    format!("Stop words: the list of {} words that was given.", list.len());
                LeftOut { words: listed(words, &list), reason }
            }
            StopWords::Share(share) => frequent(words, documents, *share),
            StopWords::Language(name) => {
                let list = language(name).map(of_language).unwrap_or_default();
                LeftOut { words: listed(words, &list), reason: format!("Stop words: {name}.") }
            }
            StopWords::Auto => detected(words, documents),
        }
    }
}

/// The code of a language.
fn language(name: &str) -> Option<&'static str> {
    LANGUAGES.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, code)| code)
}

/// The list of a language, given by one of the codes above.
fn of_language(code: &str) -> HashSet<String> {
    normalised(::stop_words::get(code).iter().copied())
}

/// The words as they are counted, and the pieces of those with an apostrophe.
fn normalised<'a>(words: impl Iterator<Item = &'a str>) -> HashSet<String> {
    let tokeniser = Tokeniser { min_length: 1, numbers: true };
    words.flat_map(|word| tokeniser.words(word)).collect()
}

fn listed(words: &[Frequency<'_>], list: &HashSet<String>) -> Vec<bool> {
    words.iter().map(|word| list.contains(word.word)).collect()
}

/// The share of all tokens that are marked.
fn covered(words: &[Frequency<'_>], marked: &[bool]) -> f64 {
    let all: u64 = words.iter().map(|word| word.tokens).sum();
    let some: u64 = words.iter().zip(marked).filter(|(_, m)| **m).map(|(w, _)| w.tokens).sum();
    some as f64 / all.max(1) as f64
}

fn frequent(words: &[Frequency<'_>], documents: usize, share: f64) -> LeftOut {
    let most = share * documents as f64;
    let marked: Vec<bool> = words.iter().map(|word| word.documents as f64 > most).collect();
    let count = marked.iter().filter(|m| **m).count();
    let percent = (100.0 * share).round();
    let reason =
        format!("Stop words: the {count} words in more than {percent} % of the documents.");
    LeftOut { words: marked, reason }
}

fn detected(words: &[Frequency<'_>], documents: usize) -> LeftOut {
    let mut best = (TELLING, None);
    for (name, code) in LANGUAGES {
        let marked = listed(words, &of_language(code));
        let (share, distinct) = (covered(words, &marked), marked.iter().filter(|m| **m).count());
        if share > best.0 && distinct >= DISTINCT {
            best = (share, Some((name, marked)));
        }
    }
    if let (share, Some((name, words))) = best {
        let percent = (100.0 * share).round();
        let reason = format!(
            "Stop words: {name}, whose list covers {percent} % of the text (--stop-words for another)."
        );
        return LeftOut { words, reason };
    }
    let by_share = frequent(words, documents, USUAL_SHARE);
    let few = 2 * by_share.words.iter().filter(|out| **out).count() <= words.len();
    if documents >= ENOUGH_DOCUMENTS && few && covered(words, &by_share.words) >= TELLING {
        return by_share;
    }
    let reason = "Stop words: none, the text seems to have none (--stop-words for a list).";
    LeftOut { words: vec![false; words.len()], reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Left out of a text in which every sentence is a document.
    fn left_out(stop: &StopWords, text: &str) -> (Vec<String>, String) {
        let mut counts: HashMap<String, (u64, usize)> = HashMap::new();
        let sentences: Vec<&str> = text.split('.').collect();
        for sentence in &sentences {
            let words = Tokeniser::default().words(sentence);
            for word in &words {
                counts.entry(word.clone()).or_default().0 += 1;
            }
            words.into_iter().collect::<HashSet<_>>().into_iter().for_each(|word| {
                counts.entry(word).or_default().1 += 1;
            });
        }
        let frequencies: Vec<Frequency<'_>> = counts
            .iter()
            .map(|(word, &(tokens, documents))| Frequency { word, tokens, documents })
            .collect();
        let out = stop.of(&frequencies, sentences.len());
        let mut words: Vec<String> = frequencies
            .iter()
            .zip(&out.words)
            .filter(|(_, out)| **out)
            .map(|(word, _)| word.word.to_owned())
            .collect();
        words.sort_unstable();
        (words, out.reason)
    }

    #[test]
    fn languages_are_told_by_their_words() {
        for (text, language) in [
            ("the cat sat on the mat and it was not the dog that did it", "english"),
            ("der Hund und die Katze sind nicht in dem Haus, das ist ein Haus", "german"),
            ("le chat est dans la maison et le chien n'est pas avec lui dans la rue", "french"),
            ("el perro y el gato no están en la casa, que es de los dos", "spanish"),
            ("собака и кошка не были в том доме, но они были на улице", "russian"),
        ] {
            let (words, reason) = left_out(&StopWords::Auto, text);
            assert!(reason.contains(&format!("Stop words: {language}")), "{reason}");
            assert!(words.len() >= 4, "{words:?}");
        }
        let english = left_out(&StopWords::Auto, "the cat sat on the mat and it was not the dog").0;
        assert!(english.contains(&"the".to_owned()) && !english.contains(&"cat".to_owned()));
    }

    #[test]
    fn unknown_languages_lose_what_is_everywhere() {
        let few = "xuq xuq abra. xuq bcrda. xuq cedra. xuq dfora. ";
        let (words, reason) = left_out(&StopWords::Auto, &few.repeat(3));
        assert_eq!(words, ["xuq"], "{reason}");
        // In a few documents, and where it would be most words, that says nothing.
        assert!(left_out(&StopWords::Auto, few).0.is_empty());
        assert!(left_out(&StopWords::Auto, &"abra bcrda cedra.".repeat(20)).0.is_empty());
        let (words, reason) = left_out(&StopWords::Auto, "abra bcrda. cedra dfora");
        assert!(words.is_empty() && reason.contains("none"), "{reason}");
        // "one" is a Slovenian word, too.
        let (words, reason) =
            left_out(&StopWords::Auto, &"one two three. four five six.".repeat(20));
        assert!(words.is_empty(), "{reason}");
    }

    #[test]
    fn lists_are_read_as_text_is() {
        let list = StopWords::List(vec!["Cat".into(), "dog's".into()]);
        assert_eq!(left_out(&list, "cats cat dogs dog").0, ["cat", "dog"]);
        assert!(left_out(&StopWords::None, "the cat").0.is_empty());
        assert!(StopWords::Language("klingon".into()).check().is_err());
        assert!(StopWords::Share(0.0).check().is_err() && StopWords::Share(0.5).check().is_ok());
        for name in StopWords::languages() {
            assert!(StopWords::Language(name.into()).check().is_ok());
            assert!(of_language(language(name).unwrap()).len() > 20, "{name}");
        }
    }
}

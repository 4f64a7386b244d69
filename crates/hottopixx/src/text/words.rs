//! From text to words, for most languages.
//!
//! Words are found by the rules of Unicode (UAX #29), brought to one form (NFKC, lower case) and
//! freed of what grammar hangs on them: `company's` is `company`, `l'homme` is `homme`. Scripts that
//! put no blanks between words (Chinese, Japanese kana, Thai, Lao, Khmer, Burmese) have no words that a
//! rule could find; every two neighbouring characters stand for one, which is what search engines do.

use unicode_normalization::UnicodeNormalization as _;
use unicode_segmentation::UnicodeSegmentation as _;

/// What counts as a word.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Tokeniser {
    /// Words of fewer characters are left out (default 2).
    pub min_length: usize,
    /// Whether words without any letter count (default false).
    pub numbers: bool,
}

impl Default for Tokeniser {
    fn default() -> Self {
        Tokeniser { min_length: 2, numbers: false }
    }
}

impl Tokeniser {
    /// Calls `take` with every word of the text, in order, and with `None` where two words are not
    /// neighbours: at punctuation, and where a word is left out. O(length of the text).
    ///
    /// ```
    /// use hottopixx::text::Tokeniser;
    /// assert_eq!(Tokeniser::default().words("The cat's 9 lives"), ["the", "cat", "lives"]);
    /// ```
    pub fn each(&self, text: &str, mut take: impl FnMut(Option<&str>)) {
        let (mut word, mut pair) = (String::new(), String::new());
        // The character before, where it belongs to a script without blanks.
        let mut before: Option<&str> = None;
        for segment in text.split_word_bounds() {
            let first = segment.chars().next().unwrap_or(' ');
            if is_unspaced(first) {
                if let Some(before) = before {
                    pair.clear();
                    pair.extend([before, segment]);
                    self.emit(&pair, &mut word, &mut take);
                }
                before = Some(segment);
                continue;
            }
            before = None;
            if first.is_alphanumeric() || first == '_' {
                self.emit(segment, &mut word, &mut take);
            } else if !first.is_whitespace() && first != '-' {
                take(None);
            }
        }
    }

    /// The words of a text.
    pub fn words(&self, text: &str) -> Vec<String> {
        let mut words = Vec::new();
        self.each(text, |word| words.extend(word.map(str::to_owned)));
        words
    }

    /// The form in which a word is counted; `None` where it is left out.
    pub fn normalised(&self, word: &str) -> Option<String> {
        let mut form = String::new();
        normalise(word, &mut form);
        self.counts(bare(&form)).then(|| bare(&form).to_owned())
    }

    fn emit(&self, segment: &str, word: &mut String, take: &mut impl FnMut(Option<&str>)) {
        normalise(segment, word);
        let bare = bare(word);
        take(self.counts(bare).then_some(bare));
    }

    fn counts(&self, word: &str) -> bool {
        word.chars().nth(self.min_length.max(1) - 1).is_some()
            && (self.numbers || word.chars().any(char::is_alphabetic))
    }
}

/// One form for all ways to write a word.
fn normalise(segment: &str, word: &mut String) {
    word.clear();
    if segment.is_ascii() {
        word.push_str(segment);
        word.make_ascii_lowercase();
        return;
    }
    let straight = |c| if matches!(c, '\u{2019}' | '\u{2bc}' | '\u{ff07}') { '\'' } else { c };
    word.extend(segment.nfkc().map(straight));
    // As a whole: the small letter of a capital can depend on its place, as that of sigma does.
    *word = word.to_lowercase();
}

/// Without an elided article before (`l'`, `d'`, `qu'`) and a possessive behind (`'s`).
fn bare(word: &str) -> &str {
    let mut word = word.trim_matches(|c: char| c == '_' || c == '\'');
    word = word.strip_suffix("'s").unwrap_or(word);
    match word.split_once('\'') {
        Some((before, after)) if before.chars().count() <= 2 && after.chars().count() >= 3 => after,
        _ => word,
    }
}

/// Whether a character belongs to a script that puts no blanks between words.
fn is_unspaced(c: char) -> bool {
    matches!(c as u32,
        0x0e00..=0x0e4f | 0x0e80..=0x0ecf | 0x1000..=0x103f | 0x1780..=0x17d3 // Thai, Lao, Burmese, Khmer
        | 0x3041..=0x309f | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff // Hiragana, Han
        | 0x20000..=0x3ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        Tokeniser::default().words(text)
    }

    #[test]
    fn words_of_several_scripts() {
        assert_eq!(
            words("The U.S. economy grew 3.5% in 2004"),
            "the u.s economy grew in".split(' ').collect::<Vec<_>>()
        );
        assert_eq!(words("Straße, ΟΔΟΣ Ёлка"), ["straße", "οδος", "ёлка"]);
        assert_eq!(words("l’homme d'État qu'il"), ["homme", "état", "qu'il"]);
        assert_eq!(words("John's don't 'quoted' __x1__"), ["john", "don't", "quoted", "x1"]);
        assert_eq!(words("한국어 문서 العربية हिन्दी"), ["한국어", "문서", "العربية", "हिन्दी"]);
        assert_eq!(words("東京都知事、選挙"), ["東京", "京都", "都知", "知事", "選挙"]);
        assert_eq!(words("ﬁne café cafe\u{301}"), ["fine", "café", "café"]);
        assert!(words("12 3.4 - ... a é 1,000").is_empty());
        assert!(words("").is_empty());
    }

    #[test]
    fn settings_say_what_counts() {
        let all = Tokeniser { min_length: 1, numbers: true };
        assert_eq!(all.words("a 12 b2"), ["a", "12", "b2"]);
        let long = Tokeniser { min_length: 4, numbers: false };
        assert_eq!(long.words("four for fours 4444"), ["four", "fours"]);
        assert_eq!(long.normalised("Fours"), Some("fours".to_owned()));
        assert_eq!(long.normalised("for"), None);
    }

    #[test]
    fn punctuation_and_words_left_out_part_neighbours() {
        let mut seen = Vec::new();
        let tokeniser = Tokeniser::default();
        tokeniser.each("prime minister, a well-known 7 man", |word| {
            seen.push(word.map(str::to_owned));
        });
        let seen: Vec<&str> = seen.iter().map(|w| w.as_deref().unwrap_or("|")).collect();
        assert_eq!(seen, ["prime", "minister", "|", "|", "well", "known", "|", "man"]);
    }
}

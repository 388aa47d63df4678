//! Words of a question or a sentence that say what it is about. Knows English endings and the words
//! that stand in every sentence (`stopwords.yaml`); of other languages it keeps every word.

use super::table;
use rustc_hash::FxHashSet;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// A row of words, as `stopwords.yaml`, `commit_words.yaml` and `abbreviations.yaml` have them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WordRow {
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers"))]
    pub(super) what: String,
    pub(super) words: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests check it"))]
    pub(super) sample: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests check them"))]
    pub(super) keeps: Vec<String>,
}

impl WordRow {
    /// The words of rows that put two of them beside each other, by `|`.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.words.iter().filter_map(|both| both.split_once('|'))
    }
}

static STOPWORDS: LazyLock<FxHashSet<String>> = LazyLock::new(|| {
    let rows: Vec<WordRow> = table::rows(table::embedded!("stopwords"));
    rows.into_iter().flat_map(|row| row.words).collect()
});

/// The word stands in a sentence whatever it is about.
pub fn is_stopword(word: &str) -> bool {
    match word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        true => STOPWORDS.contains(word),
        false => STOPWORDS.contains(word.to_lowercase().as_str()),
    }
}

/// The words that say what a text is about, in lower case, each once.
pub fn content_words(text: &str) -> Vec<String> {
    /// So many are compared quicker than hashed.
    const FEW: usize = 24;
    let mut seen: FxHashSet<String> = FxHashSet::default();
    let mut all: Vec<String> = Vec::new();
    for word in pieces(text) {
        let mut bytes = word.bytes();
        let word = match bytes.all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
            true => Cow::Borrowed(word),
            false => Cow::Owned(word.to_lowercase()),
        };
        let is_known = || match seen.is_empty() {
            true => all.iter().any(|known| *known == word),
            false => seen.contains(&*word),
        };
        if STOPWORDS.contains(&*word) || is_known() {
            continue;
        }
        all.push(word.into_owned());
        match all.len() {
            FEW => seen.extend(all.iter().cloned()),
            many if many > FEW => seen.extend(all.last().cloned()),
            _ => {}
        }
    }
    all
}

/// All words of a text, in lower case.
pub fn tokens(text: &str) -> impl Iterator<Item = String> {
    pieces(text).map(str::to_lowercase)
}

/// All words of a text as they stand there.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty())
}

/// The same word, or one of them with an ending.
pub fn is_same(one: &str, other: &str) -> bool {
    const ENDING_BYTES_MAX: usize = 3;
    const STEM_BYTES_MIN: usize = 4;
    let (short, long) = match one.len() <= other.len() {
        true => (one, other),
        false => (other, one),
    };
    // most words begin otherwise
    one.as_bytes().first() == other.as_bytes().first()
        && long.len() - short.len() <= ENDING_BYTES_MAX
        && long.starts_with(short)
        && (short.len() >= STEM_BYTES_MIN || short.len() == long.len())
}

/// Bytes of the first sentence with its mark; all of a text without one. A mark ends a sentence where
/// whitespace follows; the dot of `1.` numbers what follows, that of `e.g.` only shortens.
pub fn sentence_end(text: &str) -> usize {
    let marks = memchr::memchr3_iter(b'.', b'!', b'?', text.as_bytes());
    let mut ends = marks.filter_map(|at| {
        let after = &text[at + 1..];
        let before = &text[..at];
        let ends = after.starts_with(char::is_whitespace)
            && !SHORT.iter().any(|short| before.ends_with(short))
            && !is_number(before)
            && !is_between(before, after, b'`')
            && !is_between(before, after, b'"');
        ends.then_some(at + 1)
    });
    ends.next().unwrap_or(text.len())
}

/// Sentences of a text, trimmed.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let text = rest.trim_start();
        let (sentence, after) = text.split_at(sentence_end(text));
        rest = after;
        (!sentence.is_empty()).then_some(sentence)
    })
}

/// Between two marks that stand near each other: the dots of `cat <<END ...` end nothing, nor does what "is it so? or so?"
/// quotes. Behind a letter or a number a mark opens nothing: `5" nails`.
fn is_between(before: &str, after: &str, mark: u8) -> bool {
    const BYTES_MAX: usize = 120;
    let near = &after.as_bytes()[..after.len().min(BYTES_MAX)];
    let mut marks = memchr::memchr_iter(mark, before.as_bytes());
    let opened = marks
        .next_back()
        .filter(|_| marks.count().is_multiple_of(2));
    opened.is_some_and(|at| !before[..at].ends_with(char::is_alphanumeric))
        && memchr::memchr(mark, near).is_some()
}

/// Their last dot ends no sentence.
const SHORT: [&str; 4] = ["e.g", "i.e", " vs", " cf"];

fn is_number(before: &str) -> bool {
    let rest = before.trim_end_matches(|c: char| c.is_ascii_digit());
    (1..=2).contains(&(before.len() - rest.len())) && (rest.is_empty() || rest.ends_with(' '))
}

/// Endings that make another form of the same word.
const ENDINGS: [&str; 10] = [
    "s", "es", "d", "ed", "ing", "er", "ers", "ion", "ions", "ation",
];

/// Endings that are taken off. Shorter stems than this many bytes are no words.
pub(super) const STEM_BYTES_MIN: usize = 3;

/// The other forms that an English word may have in a text: `stopped` for `stop`, `retries` for
/// `retry`. Some are no words; those stand nowhere. Empty for names, numbers, other languages and
/// words of fewer than four letters.
pub fn forms(word: &str) -> Vec<String> {
    if !is_english(word) {
        return Vec::new();
    }
    let mut all = BTreeSet::new();
    for root in roots(word) {
        with_endings(&root, &mut all);
    }
    all.remove(word);
    all.into_iter().collect()
}

/// It is written as English words are, and long enough to have an ending.
pub(super) fn is_english(word: &str) -> bool {
    word.len() > STEM_BYTES_MIN && word.bytes().all(|b| b.is_ascii_lowercase())
}

/// The root and its forms.
pub(super) fn with_endings(root: &str, all: &mut BTreeSet<String>) {
    let short = root.strip_suffix('e').unwrap_or(root);
    for stem in [root, short] {
        all.extend(ENDINGS.iter().map(|ending| format!("{stem}{ending}")));
        all.extend([stem.to_owned(), format!("{stem}e")]);
    }
    if let Some(stem) = root.strip_suffix('y') {
        all.extend(["ies", "ied"].map(|ending| format!("{stem}{ending}")));
    }
    if let Some(doubled) = doubled(root) {
        all.extend(["ed", "ing", "er"].map(|ending| format!("{doubled}{ending}")));
    }
}

/// What a word may be a form of, itself first.
pub(super) fn roots(word: &str) -> Vec<String> {
    let mut all = vec![word.to_owned()];
    let is_plural = !["ss", "us", "is"].iter().any(|end| word.ends_with(end));
    for ending in ENDINGS {
        let stem = word.strip_suffix(ending);
        let Some(stem) = stem.filter(|stem| stem.len() >= STEM_BYTES_MIN) else {
            continue;
        };
        if ending == "d" || ending == "s" && !is_plural {
            continue;
        }
        all.push(stem.to_owned());
        let mut letters = stem.chars().rev();
        let (last, before) = (letters.next(), letters.next());
        if last == before && stem.len() > STEM_BYTES_MIN {
            all.push(stem[..stem.len() - 1].to_owned());
        }
    }
    for ending in ["ies", "ied"] {
        let stem = word.strip_suffix(ending).filter(|stem| stem.len() > 1);
        all.extend(stem.map(|stem| format!("{stem}y")));
    }
    all
}

/// The word with its last letter twice, as `stop` has it in `stopped`.
fn doubled(word: &str) -> Option<String> {
    let mut letters = word.chars().rev();
    let (last, before) = (letters.next()?, letters.next()?);
    let doubles = !"aeiouwxy".contains(last) && "aeiou".contains(before);
    doubles.then(|| format!("{word}{last}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dot_of_code_ends_no_sentence() {
        let text = "Somebody types `cat <<END ... END` there. It stops. The mark ` alone. It ends.";
        let wants = [
            "Somebody types `cat <<END ... END` there.",
            "It stops.",
            "The mark ` alone.",
            "It ends.",
        ];
        assert!(sentences(text).eq(wants));
    }

    #[test]
    fn what_is_quoted_is_no_sentence_of_its_own() {
        let text = r#"No more "does it hold A? does it lack B?" there. A 5" nail. It is "so"."#;
        let wants = [
            r#"No more "does it hold A? does it lack B?" there."#,
            r#"A 5" nail."#,
            r#"It is "so"."#,
        ];
        assert_eq!(sentences(text).collect::<Vec<_>>(), wants);
    }

    #[test]
    fn a_sentence_ends_where_whitespace_follows_its_mark() {
        let text =
            "Use settings.json (e.g. here). Why? 1. It is read 2. It is small. In 2026. Done";
        let wants = [
            "Use settings.json (e.g. here).",
            "Why?",
            "1. It is read 2. It is small.",
            "In 2026.",
            "Done",
        ];
        assert_eq!(sentences(text).collect::<Vec<_>>(), wants);
    }

    #[test]
    fn a_question_is_what_it_asks_about() {
        let words = content_words("Why did we choose Redis over the signed cookies? Redis!");
        assert_eq!(words, ["redis", "signed", "cookies"]);
        assert!(content_words("why did we do that").is_empty());
    }

    #[test]
    fn a_word_is_the_same_with_its_ending_and_no_other_word_is() {
        assert!(is_same("session", "sessions") && is_same("keeps", "keep"));
        assert!(!is_same("red", "redis") && !is_same("key", "keyboard"));
    }

    #[test]
    fn each_row_of_stopwords_says_nothing_and_no_more() {
        let rows: Vec<WordRow> = table::rows(table::embedded!("stopwords"));
        for row in &rows {
            let own = row
                .words
                .iter()
                .any(|word| tokens(&row.sample).any(|t| t == *word));
            assert!(own && content_words(&row.sample).is_empty(), "{}", row.what);
            let kept = row.keeps.iter().all(|word| !is_stopword(word));
            assert!(kept, "{}", row.what);
        }
        let words: usize = rows.iter().map(|row| row.words.len()).sum();
        assert_eq!(words, STOPWORDS.len(), "a word stands twice");
    }

    #[test]
    fn a_word_has_its_forms_and_no_other_words() {
        for (word, wants) in [
            ("retries", "retry"),
            ("retry", "retries"),
            ("stopped", "stopping"),
            ("stop", "stopped"),
            ("caching", "cached"),
            ("cache", "caching"),
            ("merged", "merge"),
            ("migrate", "migration"),
            ("renders", "renderer"),
            ("sessions", "session"),
        ] {
            assert!(
                forms(word).iter().any(|form| form == wants),
                "{word} {wants}"
            );
        }
        for (word, other) in [("conf", "config"), ("status", "statu"), ("form", "format")] {
            assert!(
                !forms(word).iter().any(|form| form == other),
                "{word} {other}"
            );
        }
        for name in ["a1b2", "key", "日本語", "src/a.rs", ""] {
            assert!(forms(name).is_empty(), "{name}");
        }
    }
}

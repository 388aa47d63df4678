//! What a word is, for the index and for queries alike. Knows identifiers, Unicode folding and CJK.
//!
//! Words are made here, before SQLite sees the text, so that the index, the query and the snippet
//! agree on every one:
//!
//! - Compound names become neighbouring words: `parse_config`, `parseConfig` and `parse-config`
//!   are all `parse config`, `src/lib.rs` is `src lib rs`. Any part finds them, and a query
//!   that is itself compound is a phrase.
//! - The *glued* form (`parseconfig`) of names without a gap is kept beside them, for whoever
//!   types the name in one piece.
//! - CJK runs become overlapping pairs, and the last character alone: `日本語` is `日本 本語 語`.
//! - Everything is lower case, compatibility forms are folded, marks on letters are dropped.

use crate::store::search::unicode_fold::{Fold, is_cjk};

/// Longer runs without a gap are hashes and base64: cut here, and not split. Longer: the index
/// fills with noise; shorter: long camel-case names lose their tails.
const WORD_BYTES_MAX: usize = 64;

/// One text, so that SQLite's `ascii` tokenizer, which splits at everything but ASCII letters and
/// digits and keeps whatever is beyond ASCII, sees exactly our words in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexText {
    /// Words in text order, compound names in pieces. Mostly the text itself.
    pub words: String,
    /// Glued forms of the compound names, in text order.
    pub glued: String,
}

impl IndexText {
    /// The words of `text`. Pure; several hundred MB/s on ASCII.
    pub fn of(text: &str) -> IndexText {
        let bytes = text.as_bytes();
        let mut words = Vec::with_capacity(text.len() + text.len() / 16 + 8);
        let mut glued = Vec::new();
        // Everything before it is in `words` already.
        let mut copied = 0;
        scan_all(text, |token| match token {
            Token::Plain { .. } => {}
            Token::Word(word) if word.glued => {
                word.write(&mut glued);
                glued.push(b' ');
            }
            Token::Word(word) if word.as_it_stands() => {
                if word.start > copied && bytes[word.start - 1].is_ascii_alphanumeric() {
                    words.extend_from_slice(&bytes[copied..word.start]);
                    words.push(b' ');
                    copied = word.start;
                }
            }
            Token::Word(word) => {
                words.extend_from_slice(bytes.get(copied..word.start).unwrap_or_default());
                words.push(b' ');
                word.write(&mut words);
                words.push(b' ');
                copied = copied.max(word.end);
            }
            Token::Gap { start, end } => {
                words.extend_from_slice(&bytes[copied..start]);
                words.push(b' ');
                copied = end;
            }
        });
        words.extend_from_slice(&bytes[copied..]);
        glued.pop();
        IndexText {
            words: utf8(words),
            glued: utf8(glued),
        }
    }
}

/// One word where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Word<'a> {
    form: Form<'a>,
    /// The glued form of the compound name whose pieces are told before it.
    pub glued: bool,
    /// The lone last character of a CJK run; the end of a query leaves it out.
    pub lone: bool,
    /// First byte in the text.
    pub start: usize,
    /// First byte after it.
    pub end: usize,
}

#[derive(Clone, Copy, Debug)]
enum Form<'a> {
    /// ASCII as written, maybe with capitals and underscores.
    Raw(&'a [u8]),
    /// Already folded.
    Folded(&'a str),
}

impl Word<'_> {
    /// The tokenizer makes the same of it.
    fn as_it_stands(&self) -> bool {
        matches!(self.form, Form::Raw(raw) if raw.len() <= WORD_BYTES_MAX)
    }

    /// Appends the folded word.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self.form {
            Form::Raw(raw) if self.glued => {
                let letters = raw.iter().filter(|b| **b != b'_');
                out.extend(letters.take(WORD_BYTES_MAX).map(|b| b.to_ascii_lowercase()));
            }
            Form::Raw(raw) => {
                let from = out.len();
                out.extend_from_slice(&raw[..raw.len().min(WORD_BYTES_MAX)]);
                out[from..].make_ascii_lowercase();
            }
            Form::Folded(text) => out.extend_from_slice(text.as_bytes()),
        }
    }

    /// The folded word.
    pub fn text(&self) -> String {
        let mut out = Vec::new();
        self.write(&mut out);
        utf8(out)
    }
}

/// Tells every word of `text` in order; the glued form of a name follows its pieces.
pub fn scan(text: &str, mut emit: impl FnMut(Word<'_>)) {
    scan_all(text, |token| match token {
        Token::Plain { start, end } => emit(ascii(&text.as_bytes()[start..end], start, false)),
        Token::Word(word) => emit(word),
        Token::Gap { .. } => {}
    });
}

/// What a scan comes across.
enum Token<'a> {
    /// An ASCII word without parts, between gaps: nine of ten words.
    Plain { start: usize, end: usize },
    /// Any other word.
    Word(Word<'a>),
    /// A character beyond ASCII that is no part of a word.
    Gap { start: usize, end: usize },
}

#[inline(always)]
fn scan_all(text: &str, mut emit: impl FnMut(Token<'_>)) {
    let bytes = text.as_bytes();
    let mut fold = Fold::default();
    let mut at = 0;
    while at < bytes.len() {
        let class = CLASS[usize::from(bytes[at])];
        if class == GAP {
            at += 1;
        } else if class == WIDE {
            at = wide(text, at, at, &mut fold, &mut emit);
        } else {
            let mut end = at + 1;
            let mut rest = 0;
            while end < bytes.len() && CLASS[usize::from(bytes[end])] & (GAP | WIDE) == 0 {
                rest |= CLASS[usize::from(bytes[end])];
                end += 1;
            }
            if end < bytes.len() && bytes[end] >= 0x80 && continues(text, end) {
                at = wide(text, at, end, &mut fold, &mut emit);
            } else {
                if is_plain(class, rest) && end - at <= WORD_BYTES_MAX {
                    emit(Token::Plain { start: at, end });
                } else {
                    compound(&bytes[at..end], at, &mut |word| emit(Token::Word(word)));
                }
                at = end;
            }
        }
    }
}

const GAP: u8 = 1;
const LOWER: u8 = 2;
const UPPER: u8 = 4;
const DIGIT: u8 = 8;
const UNDER: u8 = 16;
const WIDE: u8 = 32;

static CLASS: [u8; 256] = {
    let mut table = [GAP; 256];
    let mut b = 0;
    while b < 256 {
        table[b] = match b as u8 {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDER,
            0x80..=0xff => WIDE,
            _ => GAP,
        };
        b += 1;
    }
    table
};

/// A run whose first byte is of class `first`, and the others of the classes `rest`, has no parts.
fn is_plain(first: u8, rest: u8) -> bool {
    match first {
        LOWER => rest & !LOWER == 0,
        UPPER => rest & !LOWER == 0 || rest & !UPPER == 0,
        DIGIT => rest & !DIGIT == 0,
        _ => false,
    }
}

fn ascii(raw: &[u8], at: usize, glued: bool) -> Word<'_> {
    Word {
        form: Form::Raw(raw),
        glued,
        lone: false,
        start: at,
        end: at + raw.len(),
    }
}

/// Splits at underscores, then each stretch at its humps.
#[cold]
fn compound(raw: &[u8], at: usize, emit: &mut impl FnMut(Word<'_>)) {
    let mut pieces = 0;
    let mut from = 0;
    for stretch in raw.split(|b| *b == b'_') {
        if !stretch.is_empty() {
            pieces += humps(stretch, at + from, emit);
        }
        from += stretch.len() + 1;
    }
    if pieces > 1 {
        emit(ascii(raw, at, true));
    }
}

/// Splits `parseHTTPConfig2` as people read it. Returns how many pieces it told.
fn humps(raw: &[u8], at: usize, emit: &mut impl FnMut(Word<'_>)) -> usize {
    if raw.len() > WORD_BYTES_MAX {
        emit(ascii(raw, at, false));
        return 1;
    }
    let by_digits = digits_separate(raw);
    let mut from = 0;
    let mut pieces = 0;
    for end in 1..=raw.len() {
        if end == raw.len() || is_hump(raw, end, by_digits) {
            emit(ascii(&raw[from..end], at + from, false));
            from = end;
            pieces += 1;
        }
    }
    pieces
}

/// A piece ends before `at`: `parse|Config`, `HTTP|Server` but not `URL|s`, `sha|256`.
fn is_hump(raw: &[u8], at: usize, by_digits: bool) -> bool {
    let (before, here) = (CLASS[usize::from(raw[at - 1])], CLASS[usize::from(raw[at])]);
    let next = raw.get(at + 1).map_or(GAP, |b| CLASS[usize::from(*b)]);
    match (before, here) {
        (LOWER, UPPER) => true,
        (UPPER, UPPER) => next == LOWER && !(raw[at + 1] == b's' && at + 2 == raw.len()),
        (DIGIT, UPPER) => next == LOWER || by_digits,
        (LOWER | UPPER, DIGIT) | (DIGIT, LOWER) => by_digits,
        _ => false,
    }
}

/// Digits separate in `sha256sum` and `config2`, not in `a1b2c3` or `4d1f8964`: those are names
/// without parts.
fn digits_separate(raw: &[u8]) -> bool {
    let mut runs = 0;
    for stretch in raw.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()) {
        runs += 1;
        if !stretch[0].is_ascii_digit() && stretch.len() < 2 {
            return false;
        }
    }
    runs <= 3 && raw[0].is_ascii_alphabetic()
}

/// The character at `at` goes on with the ASCII word before it (`na|ï|ve`).
fn continues(text: &str, at: usize) -> bool {
    text[at..]
        .chars()
        .next()
        .is_some_and(|c| !is_cjk(c) && Fold::is_word(c))
}

/// A run with characters beyond ASCII that starts at `at`; ASCII up to `known` is part of it.
/// Returns where scanning goes on.
#[cold]
fn wide(
    text: &str,
    at: usize,
    known: usize,
    fold: &mut Fold,
    emit: &mut impl FnMut(Token<'_>),
) -> usize {
    let mut word = |word: Word<'_>| emit(Token::Word(word));
    let mut rest = text[at..].char_indices().map(|(i, c)| (at + i, c));
    match rest.next() {
        Some((_, c)) if known == at && is_cjk(c) => pairs(text, at, fold, &mut word),
        Some((_, c)) if known == at && !Fold::is_word(c) => {
            let end = at + c.len_utf8();
            emit(Token::Gap { start: at, end });
            end
        }
        _ => {
            let end = rest
                .find(|(_, c)| is_cjk(*c) || !(Fold::is_word(*c) || *c == '_'))
                .map_or(text.len(), |(i, _)| i);
            letters(text, at, end, fold, &mut word);
            end
        }
    }
}

/// A word of a script with letters, split at underscores.
fn letters(text: &str, at: usize, end: usize, fold: &mut Fold, emit: &mut impl FnMut(Word<'_>)) {
    let mut from = at;
    let mut pieces = 0;
    for stretch in text[at..end].split('_') {
        let folded = fold.word(stretch, WORD_BYTES_MAX);
        if !folded.is_empty() {
            pieces += 1;
            emit(Word {
                form: Form::Folded(folded),
                glued: false,
                lone: false,
                start: from,
                end: from + stretch.len(),
            });
        }
        from += stretch.len() + 1;
    }
    if pieces > 1 {
        emit(Word {
            form: Form::Folded(fold.word(&text[at..end], WORD_BYTES_MAX)),
            glued: true,
            lone: false,
            start: at,
            end,
        });
    }
}

/// A CJK run as overlapping pairs and its last character. Returns the run's end.
fn pairs(text: &str, at: usize, fold: &mut Fold, emit: &mut impl FnMut(Word<'_>)) -> usize {
    let run = fold.cjk(&text[at..]);
    let mut both = String::with_capacity(8);
    for (i, (c, start, end)) in run.iter().enumerate() {
        let next = run.get(i + 1);
        both.clear();
        both.push(*c);
        both.extend(next.map(|(c, _, _)| *c));
        emit(Word {
            form: Form::Folded(&both),
            glued: false,
            lone: next.is_none(),
            start: at + start,
            end: at + next.map_or(*end, |(_, _, end)| *end),
        });
    }
    let first = text[at..].chars().next().map_or(1, char::len_utf8);
    at + run.last().map_or(first, |(_, _, end)| *end)
}

/// What is pushed is whole words of valid UTF-8.
fn utf8(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the `ascii` tokenizer makes of a text.
    fn seen(words: &str) -> String {
        let gap = |c: char| c.is_ascii() && !c.is_ascii_alphanumeric();
        let seen: Vec<String> = words
            .split(gap)
            .filter(|word| !word.is_empty())
            .map(str::to_ascii_lowercase)
            .collect();
        seen.join(" ")
    }

    #[test]
    fn names_are_split_as_people_read_them() {
        for (text, words, glued) in [
            ("parse_config", "parse config", "parseconfig"),
            ("parseConfig", "parse config", "parseconfig"),
            ("ParseConfig()", "parse config", "parseconfig"),
            ("src/config.rs", "src config rs", ""),
            ("my-crate", "my crate", ""),
            ("HTTPServer", "http server", "httpserver"),
            ("XMLHttpRequest", "xml http request", "xmlhttprequest"),
            ("URLs and IDs", "urls and ids", ""),
            ("sha256sum", "sha 256 sum", "sha256sum"),
            ("utf8", "utf 8", "utf8"),
            ("4d1f8964bc83ac90", "4d1f8964bc83ac90", ""),
            ("a1b2c3", "a1b2c3", ""),
            ("__init__", "init", ""),
            ("_ __ a_", "a", ""),
            ("MAX_RETRIES", "max retries", "maxretries"),
            ("Hello, World!", "hello world", ""),
            ("", "", ""),
        ] {
            let given = IndexText::of(text);
            assert_eq!(
                (&*seen(&given.words), &*given.glued),
                (words, glued),
                "{text}"
            );
        }
    }

    #[test]
    fn scripts_beyond_ascii_are_folded() {
        for (text, words) in [
            ("Caf\u{e9} cafe\u{301}", "cafe cafe"),
            ("na\u{ef}ve", "naive"),
            ("Ｐａｒｓｅ", "parse"),
            ("Größe_x", "große x"),
            ("日本語", "日本 本語 語"),
            ("用parseConfig解析。", "用 parse config 解析 析"),
            ("ｶﾞﾗｽ", "ガラ ラス ス"),
            ("か\u{3099}", "が"),
            ("한국어", "한국 국어 어"),
            ("\u{1112}\u{1161}\u{11ab}", "한"),
            ("→ 🚀 ✓ x", "x"),
        ] {
            assert_eq!(seen(&IndexText::of(text).words), words, "{text}");
        }
    }

    #[test]
    fn ranges_point_at_the_words() {
        let text = "a parseConfig été 日本";
        let mut seen = Vec::new();
        scan(text, |w| seen.push((w.text(), &text[w.start..w.end])));
        let wants = [
            ("a", "a"),
            ("parse", "parse"),
            ("config", "Config"),
            ("parseconfig", "parseConfig"),
            ("ete", "été"),
            ("日本", "日本"),
            ("本", "本"),
        ];
        let wants: Vec<_> = wants.map(|(w, at)| (w.to_string(), at)).into();
        assert_eq!(seen, wants);
    }

    proptest::proptest! {
        #[test]
        fn any_text_gives_words_inside_it(text in "\\PC*") {
            scan(&text, |w| {
                assert!(w.start < w.end && text.get(w.start..w.end).is_some());
                assert!(!w.text().is_empty() && !w.text().contains(' '));
            });
        }

        #[test]
        fn the_tokenizer_sees_the_words_that_are_told(text in "[a-cA-C0-2_/ .é日本→]{0,40}") {
            let (mut words, mut glued) = (Vec::new(), Vec::new());
            scan(&text, |w| if w.glued { glued.push(w.text()) } else { words.push(w.text()) });
            let index = IndexText::of(&text);
            proptest::prop_assert_eq!(seen(&index.words), words.join(" "));
            proptest::prop_assert_eq!(index.glued, glued.join(" "));
        }
    }
}

//! What a pattern can't say of a secret: whether it is random, made of words, or a placeholder.

use crate::rules::table;
use rustc_hash::FxHashSet;
use serde::Deserialize;
use std::sync::OnceLock;

/// How a secret has to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Validator {
    /// Letters and digits, not made of words.
    Random,
    /// Assigned to a name that says secret: a literal, neither code nor a placeholder.
    Assigned,
    /// Assigned to a name that may mean anything: upper case, lower case and digits, no hash, no path.
    Unguessable,
    /// A password: no placeholder and no example.
    Password,
    /// What stands where a command takes a password: any word but a placeholder and an example.
    Typed,
    /// Assigned to a name that says password: what a person chose, or a program made.
    Chosen,
    /// A password that somebody tells in a sentence.
    Told,
    /// One where nothing but its look says so: what neither words nor names of code have.
    Strong,
    /// The same between quotes, where any sign is enough.
    Odd,
    /// Base64 of `user:password`.
    Basic,
    /// An address that is somebody's: neither loopback nor unspecified.
    Address,
}

type Range = (usize, usize);

/// The part of `text` that is the secret, where it looks so.
pub(super) fn check(looks: Validator, text: &[u8], name: &[u8], range: Range) -> Option<Range> {
    let value = &text[range.0..range.1];
    let fits = match looks {
        Validator::Random => is_random(value),
        Validator::Assigned => return assigned(text, name, range),
        Validator::Unguessable => is_unguessable(name, value),
        Validator::Password => is_password(value),
        Validator::Typed => is_typed(value),
        Validator::Chosen => return chosen(text, name, range),
        Validator::Told => return told(text, range),
        Validator::Strong => return strong(text, range),
        Validator::Odd => is_typed(value) && is_odd(value) && !is_path(value) && !says_so(value),
        Validator::Basic => is_basic(value),
        Validator::Address => is_somebodys(value),
    };
    fits.then_some(range)
}

/// Shannon's, bits per byte.
pub(super) fn entropy(text: &[u8]) -> f32 {
    let mut counts = [0u32; 256];
    text.iter().for_each(|b| counts[usize::from(*b)] += 1);
    let all = text.len() as f32;
    let bits = |n: &u32| {
        let share = *n as f32 / all;
        -share * share.log2()
    };
    counts.iter().filter(|n| **n > 0).map(bits).sum()
}

fn is_random(value: &[u8]) -> bool {
    const BYTES_MIN: usize = 16;
    let digits = value.iter().any(u8::is_ascii_digit);
    let letters = value.iter().any(u8::is_ascii_alphabetic);
    value.len() >= BYTES_MIN && digits && letters && !is_wordy(value) && !is_placeholder(value)
}

/// Pieces that people would say: words of letters with a vowel, and short numbers between them.
pub(super) fn is_wordy(value: &[u8]) -> bool {
    let mut pieces = pieces(value).peekable();
    pieces.peek().is_some() && pieces.all(is_word)
}

fn is_word(piece: &[u8]) -> bool {
    const DIGITS_MAX: usize = 4;
    let vowel = |b: &u8| b"aeiouyAEIOUY".contains(b);
    match piece.iter().all(u8::is_ascii_digit) {
        true => piece.len() <= DIGITS_MAX,
        false => piece.len() > 2 && piece.iter().any(vowel) || is_short_word(piece),
    }
}

fn is_short_word(piece: &[u8]) -> bool {
    const SHORT: [&str; 34] = [
        "a", "i", "x", "v", "id", "my", "of", "to", "in", "on", "is", "db", "ui", "us", "eu", "it",
        "by", "ts", "js", "rs", "py", "go", "io", "ai", "css", "html", "http", "https", "tls",
        "ssh", "ssl", "src", "npm", "mcp",
    ];
    let lower = piece.to_ascii_lowercase();
    SHORT.iter().any(|word| word.as_bytes() == lower)
}

/// Split where no letter or digit stands, between letters and digits, and before a capital.
fn pieces(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let split = |a: &u8, b: &u8| {
        let kind = |b: &u8| (b.is_ascii_digit(), b.is_ascii_alphabetic());
        kind(a) == kind(b) && !(a.is_ascii_lowercase() && b.is_ascii_uppercase())
    };
    let said = |piece: &&[u8]| piece[0].is_ascii_alphanumeric();
    value.chunk_by(split).filter(said)
}

/// A row of what is none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoSecrets {
    #[serde(rename = "what")]
    _what: String,
    #[serde(default)]
    words: Vec<String>,
    #[serde(default)]
    inside: Vec<String>,
    #[cfg(test)]
    #[serde(default)]
    pub samples: super::table::Samples,
}

pub(super) const NO_SECRETS: &str = table::embedded!("secret_words");

/// What is no secret: whole values, and what they hold.
fn no_secrets() -> &'static (FxHashSet<String>, Vec<String>) {
    static WORDS: OnceLock<(FxHashSet<String>, Vec<String>)> = OnceLock::new();
    WORDS.get_or_init(|| {
        let rows: Vec<NoSecrets> = table::rows(NO_SECRETS);
        let (mut words, mut inside) = (FxHashSet::default(), Vec::new());
        for row in rows {
            words.extend(row.words);
            inside.extend(row.inside);
        }
        (words, inside)
    })
}

/// A word that stands there in examples, forms and types, or several.
fn is_no_secret(value: &[u8]) -> bool {
    let lower = String::from_utf8_lossy(value).to_lowercase();
    let words = &no_secrets().0;
    let holds = |part: &str| part.len() > 4 && words.contains(part);
    words.contains(&lower) || is_wordy(value) && lower.split('-').any(holds)
}

/// Stands for a secret, or refers to one.
fn is_placeholder(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let holds = |word: &String| memchr::memmem::find(&lower, word.as_bytes()).is_some();
    let refers = matches!(
        value.first(),
        Some(b'$' | b'{' | b'[' | b'(' | b'*' | b'@' | b'&')
    );
    // a tag of YAML: `!vault |`
    let tag = value.len() > 1 && value[0] == b'!' && value[1..].iter().all(u8::is_ascii_lowercase);
    let variable = value.first() == Some(&b'%') && value.last() == Some(&b'%');
    let same = value.windows(2).all(|two| two[0] == two[1]);
    refers || tag || variable || same || no_secrets().1.iter().any(holds)
}

/// Without the punctuation of the text around it.
fn bare(value: &[u8]) -> &[u8] {
    let quotes = ["”", "“", "»", "’"];
    let unquoted = quotes.iter().find_map(|q| value.strip_suffix(q.as_bytes()));
    let value = unquoted.unwrap_or(value);
    let ends = value
        .iter()
        .rev()
        .take_while(|b| b"]}),.;:!?".contains(b))
        .count();
    &value[..value.len() - ends]
}

fn is_typed(value: &[u8]) -> bool {
    !(is_no_secret(bare(value)) || is_path(value) || is_placeholder(value))
}

fn is_password(value: &[u8]) -> bool {
    let digits = value.iter().all(|b| b.is_ascii_digit() || *b == b':');
    let path = matches!(value, [b'/' | b'~', ..] | [b'.', b'/' | b'.', ..]);
    let words = value.contains(&b'-') && is_wordy(value) && !value.iter().any(u8::is_ascii_digit);
    !(is_no_secret(value)
        || digits
        || path
        || words
        || value.contains(&b'(')
        || is_placeholder(value))
}

fn is_basic(value: &[u8]) -> bool {
    let Some(decoded) = base64(value) else {
        return false;
    };
    let printable = decoded.iter().all(|b| (0x20..0x7f).contains(b));
    printable && decoded.contains(&b':') && decoded.len() > 3
}

/// Decodes base64, whole groups and what is left; `None` for other characters.
fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let (mut bits, mut held, mut out) = (0u32, 0, Vec::new());
    for byte in text.iter().take_while(|b| **b != b'=') {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    Some(out)
}

fn is_somebodys(value: &[u8]) -> bool {
    const NOBODYS: [&str; 5] = ["127.", "0.0.0.0", "255.255.255.255", "::1", "::"];
    let starts = |of: &&str| value.starts_with(of.as_bytes());
    !NOBODYS.iter().any(starts)
}

/// Names whose values are no secrets, whatever else they say.
const PUBLIC: [&str; 23] = [
    "sha",
    "hash",
    "digest",
    "checksum",
    "integrity",
    "fingerprint",
    "md5",
    "etag",
    "commit",
    "public",
    "pubkey",
    "pub_key",
    "cache",
    "path",
    "file",
    "image",
    "thumb",
    "version",
    "authority",
    "applicationserver",
    "sitekey",
    "site_key",
    "site-key",
];

fn is_public(name: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    PUBLIC
        .iter()
        .any(|word| memchr::memmem::find(&lower, word.as_bytes()).is_some())
}

fn is_unguessable(name: &[u8], value: &[u8]) -> bool {
    let has = |kind: fn(&u8) -> bool| value.iter().filter(|b| kind(b)).count() >= 2;
    let mixed =
        has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit);
    let known = [
        "sha1-",
        "sha256-",
        "sha384-",
        "sha512-",
        "LS0tLS1CRUdJTiBDRV",
        "MII",
        "MFk",
        "AAAA",
        "iVBOR",
        "/9j/",
    ];
    let known = known
        .iter()
        .any(|start| value.starts_with(start.as_bytes()));
    let path = value.iter().filter(|b| **b == b'/').count() > value.len() / 12;
    let dotted = value.iter().filter(|b| **b == b'.').count() > 2;
    let hex = value.len() >= 32 && value.iter().all(u8::is_ascii_hexdigit);
    let made = mixed || hex && is_variable_of_a_shell(name);
    made && !known && !path && !dotted && !is_public(name) && is_random(value)
}

/// How a name goes on that speaks about a secret instead of naming one.
const ABOUT: [&str; 36] = [
    "name", "id", "ids", "type", "url", "uri", "path", "file", "field", "count", "length", "len",
    "limit", "size", "ttl", "expir", "policy", "label", "endpoint", "header", "prefix", "regex",
    "pattern", "provider", "ref", "index", "hint", "reset", "error", "message", "izer", "usage",
    "manager", "smanager", "list", "at",
];

/// After the last of these in a name comes what it says about the secret.
const NAMES: [&str; 10] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "key",
    "credential",
    "pwd",
    "_pass",
    "_pat",
];

fn is_about(name: &[u8]) -> bool {
    let lower = String::from_utf8_lossy(name).to_ascii_lowercase();
    let after = NAMES
        .iter()
        .filter_map(|word| Some(lower.rfind(word)? + word.len()))
        .max();
    let tail = after
        .map_or("", |at| &lower[at..])
        .trim_start_matches(['_', '-', '.']);
    ABOUT.iter().any(|word| tail.starts_with(word))
}

/// A literal that is assigned: up to its closing quote, else up to what ends a bare value.
fn assigned(text: &[u8], name: &[u8], (start, end): Range) -> Option<Range> {
    if is_about(name) || is_public(name) {
        return None;
    }
    let quote = start
        .checked_sub(1)
        .map(|i| text[i])
        .filter(|b| b"\"'`".contains(b));
    let end = match quote {
        Some(quote) => closing(text, start, end, quote),
        None => bare_end(text, start, end),
    };
    let value = &text[start..end];
    let before = text[..start]
        .iter()
        .rev()
        .take_while(|b| **b == b' ')
        .count();
    if quote.is_none() && text[..start - before].ends_with(b",") {
        return None; // the next argument
    }
    if is_no_secret(bare(value)) {
        return None;
    }
    if text[..start].ends_with(b":") && value.contains(&b'/') && !is_random(value) {
        return None; // the next part of a name like `arn:aws:secretsmanager:…:secret:prod/db`
    }
    let style = Style {
        quoted: quote.is_some(),
        spaced: before > 0,
        word: is_passwords(name),
    };
    (!is_placeholder(value) && style.fits(value)).then_some((start, end))
}

fn is_passwords(name: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    let words = ["pass", "pwd"];
    words
        .iter()
        .any(|word| memchr::memmem::find(&lower, word.as_bytes()).is_some())
}

/// Passphrases have spaces; where no quote closes, the value ends as the pattern says.
fn closing(text: &[u8], start: usize, end: usize, quote: u8) -> usize {
    const QUOTED_BYTES_MAX: usize = 200;
    let line = &text[start..text.len().min(start + QUOTED_BYTES_MAX)];
    let stop = line.iter().position(|b| *b == quote || *b == b'\n');
    let end = match stop {
        Some(at) if line[at] == quote => start + at,
        _ => end,
    };
    let slashes = text[start..end]
        .iter()
        .rev()
        .take_while(|b| **b == b'\\')
        .count();
    end - slashes
}

fn bare_end(text: &[u8], start: usize, end: usize) -> usize {
    let value = &text[start..end];
    let stop = value
        .iter()
        .position(|b| b",;&|)]}\\".contains(b))
        .unwrap_or(value.len());
    let dots = value[..stop]
        .iter()
        .rev()
        .take_while(|b| b".:?".contains(b))
        .count();
    start + stop - dots
}

/// How a value is written.
struct Style {
    quoted: bool,
    /// White space stands before it.
    spaced: bool,
    /// It is a password: people choose it.
    word: bool,
}

impl Style {
    fn fits(&self, value: &[u8]) -> bool {
        let has = |kind: fn(&u8) -> bool| value.iter().any(kind);
        let letters = has(u8::is_ascii_alphabetic);
        let odd = has(u8::is_ascii_digit) || has(u8::is_ascii_punctuation) && self.word;
        let least = if self.word { 6 } else { 8 };
        if value.len() < least || !letters || !odd || entropy(value) < 2.2 || is_path(value) {
            return false;
        }
        match (self.quoted, self.spaced) {
            (true, _) if self.word => !is_phrase_about(value),
            (true, _) => !is_wordy(value) && !value.contains(&b' '),
            (false, _) if is_code(value) => false,
            (false, false) if self.word => true,
            (false, true) if self.word => {
                !is_name(value) || has(u8::is_ascii_digit) && is_random(value)
            }
            (false, _) => !is_wordy(value) && (!is_name(value) || is_random(value)),
        }
    }
}

/// Labels and messages: `"Password must be 8 characters"`, `"user.password"`.
fn is_phrase_about(value: &[u8]) -> bool {
    let words = value.iter().filter(|b| **b == b' ').count();
    let digit = value.iter().any(u8::is_ascii_digit);
    is_wordy(value) && (words > 0 || !digit) || is_placeholder(value)
}

fn is_path(value: &[u8]) -> bool {
    matches!(value, [b'/' | b'~', ..] | [b'.', b'/' | b'.', ..])
        || memchr::memmem::find(value, b"://").is_some()
}

/// Calls, indexing, generics, member access.
fn is_code(value: &[u8]) -> bool {
    let marks: [&[u8]; 9] = [b"(", b"[", b"{", b"::", b"=>", b"->", b"?.", b"==", b"&&"];
    let marked = marks
        .iter()
        .any(|mark| memchr::memmem::find(value, mark).is_some());
    marked
        || value.contains(&b'.')
            && value
                .split(|b| *b == b'.')
                .all(|part| is_name(part) && part.len() < 24)
}

/// The same of what may be a password: `Lake.Garda4` is none.
fn is_code_of(value: &[u8]) -> bool {
    let dotted = value.contains(&b'.') && value.iter().any(u8::is_ascii_digit);
    let capital = value.iter().any(u8::is_ascii_uppercase);
    is_code(value) && !(dotted && capital && !value.contains(&b'('))
}

/// Could be a variable.
fn is_name(value: &[u8]) -> bool {
    let starts = value
        .first()
        .is_some_and(|b| b.is_ascii_alphabetic() || b"_$".contains(b));
    starts
        && value
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || b"_$".contains(b))
}

/// Has what words don't have: enough letters with a digit, or a sign.
fn is_odd(value: &[u8]) -> bool {
    let digit = value.len() >= 8 && value.iter().any(u8::is_ascii_digit);
    digit || value.iter().any(|b| b"!@#$%^&*+?=~".contains(b))
}

/// It says what it is for, as names of variables do: `newPassword`, `hashed_pw`, `secretRef`.
fn says_so(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let words = [
        "pass",
        "pwd",
        "secret",
        "token",
        "kennwort",
        "contrase",
        "credential",
    ];
    words
        .iter()
        .any(|word| memchr::memmem::find(&lower, word.as_bytes()).is_some())
}

/// Chosen by a person, or made: quoted any word, bare in the settings of a program.
fn chosen(text: &[u8], name: &[u8], (start, end): Range) -> Option<Range> {
    if is_about(name) || is_public(name) {
        return None;
    }
    let before = start.checked_sub(1).map_or(b' ', |i| text[i]);
    let quoted = b"\"'".contains(&before);
    let value = match quoted {
        true => &text[start..end],
        false => bare(&text[start..end]),
    };
    let range = (start, start + value.len());
    let letters = value.iter().any(u8::is_ascii_alphabetic);
    let is_variable = is_variable_of_a_shell(name);
    // several words are a phrase only where the name says so
    let is_phrase = quoted && name.to_ascii_lowercase().ends_with(b"passphrase");
    let spaced = value.contains(&b' ') && !is_phrase;
    let is_code = !quoted && !is_variable && is_code_of(without_padding(value));
    if is_code || value.len() < 5 || !letters || !is_typed(value) || spaced {
        return None;
    }
    // the result of a test; and the folder that somebody is in
    let is_result = name.eq_ignore_ascii_case(b"pass");
    let is_folder = name.eq_ignore_ascii_case(b"pwd");
    let odd = is_odd(value);
    if !odd && (says_so(value) || is_result || is_folder) || is_result && name == b"PASS" {
        return None;
    }
    let after = text.get(range.1).copied().unwrap_or(b'\n');
    let ends = after.is_ascii_whitespace() || b"\\\"#<`/".contains(&after);
    let fits = match quoted {
        true => value.is_ascii(),
        // of an address
        false if name.is_empty() => true,
        false if is_variable => before == b'=' || ends,
        false => ends && odd && !(is_name(value) && says_so(value)),
    };
    fits.then_some(range)
}

/// Of base64.
fn without_padding(value: &[u8]) -> &[u8] {
    let padding = value.iter().rev().take_while(|b| **b == b'=').count();
    &value[..value.len() - padding]
}

/// `DB_PASSWORD`.
fn is_variable_of_a_shell(name: &[u8]) -> bool {
    name.iter().any(u8::is_ascii_uppercase) && !name.iter().any(u8::is_ascii_lowercase)
}

/// After these comes what it is.
const STATES: [&str; 10] = [
    " is", " was", " now", "'s", " ist", " war", " lautet", " est", ":", "=",
];

/// Told in a sentence: quoted, or with what words don't have.
fn told(text: &[u8], (start, end): Range) -> Option<Range> {
    let value = bare(&text[start..end]);
    let range = (start, start + value.len());
    let letters = value.iter().any(u8::is_ascii_alphabetic);
    let refers = !is_typed(value) || is_code_of(value) || value.contains(&b'/') || says_so(value);
    if value.len() < 6 || !letters || refers {
        return None;
    }
    let quotes = text[..start]
        .iter()
        .rev()
        .take_while(|b| b"`'\" ".contains(b));
    let before = &text[..start - quotes.count()];
    let quoted = start > 0 && b"`'\"".contains(&text[start - 1]);
    let near = before[before.len().saturating_sub(8)..].to_ascii_lowercase();
    let states = STATES.iter().any(|word| near.ends_with(word.as_bytes()));
    let digit = value.len() >= 8 && value.iter().any(u8::is_ascii_digit);
    let sign = value[1..value.len() - 1].iter().any(|b| SIGNS.contains(b));
    let fits = match states {
        true => digit || sign || quoted && value.is_ascii(),
        false => is_strong(value),
    };
    fits.then_some(range)
}

/// What neither words nor names of code have.
const SIGNS: &[u8] = b"!@#$%^&*+?";

fn strong(text: &[u8], (start, end): Range) -> Option<Range> {
    let value = bare(&text[start..end]);
    let refers = !is_typed(value) || is_code_of(value) || value.contains(&b'/') || says_so(value);
    (!refers && is_strong(value)).then_some((start, start + value.len()))
}

/// A sign inside, with a capital or a digit; or a digit and what makes it more than one word.
fn is_strong(value: &[u8]) -> bool {
    if value.len() < 7 || !value.iter().any(u8::is_ascii_lowercase) {
        return false;
    }
    let inside = &value[1..value.len() - 1];
    let digit = value.iter().any(u8::is_ascii_digit);
    let capital = value.iter().any(u8::is_ascii_uppercase);
    let sign = value[1..].iter().any(|b| SIGNS.contains(b));
    let seam = inside.iter().any(|b| b"_-.".contains(b)) && capital
        || inside.iter().any(u8::is_ascii_uppercase);
    sign && (capital || digit) || digit && seam
}

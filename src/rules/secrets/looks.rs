//! How texts look that may be secrets: random, made of words, a placeholder, a piece of code. Knows no rule.

use crate::rules::table;
use rustc_hash::FxHashSet;
use serde::Deserialize;
use std::sync::OnceLock;

/// Bytes of a text.
pub(super) type Range = (usize, usize);

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

pub(super) fn is_random(value: &[u8]) -> bool {
    const BYTES_MIN: usize = 16;
    let digits = value.iter().any(u8::is_ascii_digit);
    let letters = value.iter().any(u8::is_ascii_alphabetic);
    let said = is_wordy(value) || is_mostly_words(value) || is_placeholder(value);
    value.len() >= BYTES_MIN && digits && letters && !said
}

/// Names of code: more than half are words, with capitals or marks between them. One in 300 random values
/// of 16 characters looks so, and none of 32.
pub(super) fn is_mostly_words(value: &[u8]) -> bool {
    let seam = |b: &u8| b.is_ascii_uppercase() || b"_-.".contains(b);
    let words = pieces(value).filter(|piece| is_part_of_a_name(piece));
    value.iter().any(seam) && words.map(<[u8]>::len).sum::<usize>() * 20 >= value.len() * 11
}

/// `private`, `Key`: with as many vowels as words have, and not too many others in a row.
fn is_part_of_a_name(piece: &[u8]) -> bool {
    const CONSONANTS_MAX: usize = 3;
    let is_vowel = |b: &u8| b"aeiouAEIOU".contains(b);
    let least = if piece[0].is_ascii_uppercase() { 3 } else { 4 };
    let vowels = piece.iter().filter(|b| is_vowel(b)).count();
    let longest = piece.split(is_vowel).map(<[u8]>::len).max();
    piece.len() >= least
        && piece[0].is_ascii_alphabetic()
        && piece[1..].iter().all(u8::is_ascii_lowercase)
        && vowels * 100 >= piece.len() * 28
        && longest <= Some(CONSONANTS_MAX)
}

/// Pieces that people would say: words of letters with a vowel, and short numbers between them.
pub(super) fn is_wordy(value: &[u8]) -> bool {
    let mut pieces = pieces(value).peekable();
    pieces.peek().is_some() && pieces.all(is_word)
}

pub(super) fn is_word(piece: &[u8]) -> bool {
    const DIGITS_MAX: usize = 4;
    let vowel = |b: &u8| b"aeiouyAEIOUY".contains(b);
    match piece.iter().all(u8::is_ascii_digit) {
        true => piece.len() <= DIGITS_MAX,
        false => piece.len() > 2 && piece.iter().any(vowel) || is_short_word(piece),
    }
}

pub(super) fn is_short_word(piece: &[u8]) -> bool {
    const SHORT: [&str; 34] = [
        "a", "i", "x", "v", "id", "my", "of", "to", "in", "on", "is", "db", "ui", "us", "eu", "it",
        "by", "ts", "js", "rs", "py", "go", "io", "ai", "css", "html", "http", "https", "tls",
        "ssh", "ssl", "src", "npm", "mcp",
    ];
    let lower = piece.to_ascii_lowercase();
    SHORT.iter().any(|word| word.as_bytes() == lower)
}

/// Split where no letter or digit stands, between letters and digits, and before a capital.
pub(super) fn pieces(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let split = |a: &u8, b: &u8| {
        let kind = |b: &u8| (b.is_ascii_digit(), b.is_ascii_alphabetic());
        kind(a) == kind(b) && !(a.is_ascii_lowercase() && b.is_ascii_uppercase())
    };
    let said = |piece: &&[u8]| piece[0].is_ascii_alphanumeric();
    value.chunk_by(split).filter(said)
}

/// A row of what is none.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoSecrets {
    #[serde(rename = "what")]
    _what: String,
    #[serde(default)]
    words: FxHashSet<String>,
    #[serde(default)]
    inside: Vec<String>,
    #[serde(default)]
    ends: Vec<String>,
    #[serde(default)]
    begins: Vec<String>,
    #[cfg(test)]
    #[serde(default)]
    pub samples: std::collections::BTreeMap<String, Vec<String>>,
}

pub(super) const NO_SECRETS: &str = table::embedded!("secret_words");

/// The rows together.
fn no_secrets() -> &'static NoSecrets {
    static WORDS: OnceLock<NoSecrets> = OnceLock::new();
    WORDS.get_or_init(|| {
        let rows: Vec<NoSecrets> = table::rows(NO_SECRETS);
        let mut all = NoSecrets::default();
        for row in rows {
            all.words.extend(row.words);
            all.inside.extend(row.inside);
            all.ends.extend(row.ends);
            all.begins.extend(row.begins);
        }
        all
    })
}

/// Documentation's own, which providers publish, and keys that pages show whoever reads them.
pub(super) fn is_published(text: &[u8], (start, end): Range) -> bool {
    let mut ends = no_secrets().ends.iter();
    let shown = text[..start].ends_with(b"pk.") || text[start..end].starts_with(b"pk.eyJ");
    shown || ends.any(|known| text[start..end].ends_with(known.as_bytes()))
}

/// Sealed, where a pattern may have cut it short.
pub(super) fn is_sealed_at(text: &[u8], start: usize) -> bool {
    let base64 = |b: &&u8| b.is_ascii_alphanumeric() || b"+/=".contains(b);
    let length = text[start..].iter().take(200).take_while(base64).count();
    is_sealed(&text[start..start + length])
}

/// Encrypted already, by a program that says so in what it writes.
pub(super) fn is_sealed(value: &[u8]) -> bool {
    const BYTES_MIN: usize = 40;
    let mut begins = no_secrets().begins.iter();
    value.len() >= BYTES_MIN && begins.any(|begin| value.starts_with(begin.as_bytes()))
}

/// A word that stands there in examples, forms and types, or several.
pub(super) fn is_no_secret(value: &[u8]) -> bool {
    let lower = String::from_utf8_lossy(value).to_lowercase();
    let words = &no_secrets().words;
    let holds = |part: &str| part.len() > 4 && words.contains(part);
    words.contains(&lower)
        || is_release(value)
        || is_name_of_one(&lower)
        || is_wordy(value) && !is_passphrase(value) && lower.split('-').any(holds)
}

/// Four words and a number, joined: `a-very-tall-panda-41`.
pub(super) fn is_passphrase(value: &[u8]) -> bool {
    let about = ["pass", "secret", "token", "key"];
    let lower = String::from_utf8_lossy(value).to_ascii_lowercase();
    lower.matches('-').count() > 2
        && lower.ends_with(|c: char| c.is_ascii_digit())
        && !about.iter().any(|word| lower.contains(word))
}

/// The name that a vault knows a secret by: small words, the last of which says what it is.
fn is_name_of_one(value: &str) -> bool {
    const KINDS: [&str; 6] = [
        "password",
        "passwd",
        "secret",
        "token",
        "key",
        "credentials",
    ];
    let small = |b: u8| b.is_ascii_lowercase() || b == b'-' || b == b'_';
    let last = value.rsplit_once(['-', '_']);
    value.bytes().all(small) && last.is_some_and(|(_, kind)| KINDS.contains(&kind))
}

/// The number of a version, as packages have one: `^9.0.2`, `v1.18.2-rc.3+build.4471`.
fn is_release(value: &[u8]) -> bool {
    let marks = value.iter().take_while(|b| b"^~<>=vV".contains(b)).count();
    let mut parts = value[marks..].splitn(3, |b| *b == b'.');
    let is_number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let (Some(first), Some(second), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let after = rest.get(digits).is_none_or(|b| b"-+.".contains(b));
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"-+._".contains(b);
    let is_rest = digits > 0 && after && rest.iter().all(plain);
    is_number(first) && is_number(second) && is_rest
}

/// Filled up with one character, as forms of tokens are shown: `glpat-xxxxxxxxxxxxxxxxxxxx`.
pub(super) fn is_filled(value: &[u8]) -> bool {
    const RUN_MIN: usize = 8;
    let mut runs = value.windows(RUN_MIN);
    runs.any(|run| b"xX0*.".contains(&run[0]) && run.iter().all(|b| *b == run[0]))
}

/// Stands for a secret, or refers to one.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let holds = |word: &String| memchr::memmem::find(&lower, word.as_bytes()).is_some();
    let refers = matches!(
        value.first(),
        Some(b'$' | b'{' | b'[' | b'(' | b')' | b'*' | b'@' | b'&')
    ) || is_parameter(value);
    // a tag of YAML: `!vault |`
    let tag = value.len() > 1 && value[0] == b'!' && value[1..].iter().all(u8::is_ascii_lowercase);
    let variable = value.first() == Some(&b'%') && value.last() == Some(&b'%');
    let same = value.windows(2).all(|two| two[0] == two[1]);
    refers || tag || variable || same || is_resource(value) || no_secrets().inside.iter().any(holds)
}

/// Where a store of secrets has it: `projects/7/secrets/db-pass/versions/latest`, also behind a variable's name.
/// Nothing but a path of names: what stands beside such a path may be a secret.
fn is_resource(value: &[u8]) -> bool {
    let is_name = |name: &[u8]| name.iter().all(|b| b.is_ascii_uppercase() || *b == b'_');
    let path = match value.iter().position(|b| *b == b'=') {
        Some(at) if is_name(&value[..at]) => &value[at + 1..],
        _ => value,
    };
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"_-./".contains(b);
    let holds = |folder: &[u8]| memchr::memmem::find(path, folder).is_some();
    path.iter().all(plain) && (holds(b"/secrets/") || path.starts_with(b"secrets/"))
}

/// What a statement, a format or a pattern has for a value: `:password`, `?`, `%s`, `%{lookup}`, `.*`.
fn is_parameter(value: &[u8]) -> bool {
    matches!(
        value,
        [b'?' | b':', ..] | [b'%', b'(' | b'{', ..] | [b'%', _] | [b'.', b'*' | b'+', ..]
    )
}

/// The name of a value where a text says how something is called: `--token TOKEN`, `<DB_PASSWORD>`.
pub(super) fn is_metavariable(value: &[u8]) -> bool {
    const BYTES_MAX: usize = 24;
    let value = bare(value);
    value.len() <= BYTES_MAX && value.iter().all(|b| b.is_ascii_uppercase() || *b == b'_')
}

/// Without the punctuation of the text around it.
pub(super) fn bare(value: &[u8]) -> &[u8] {
    let quotes = ["”", "“", "»", "’"];
    let unquoted = quotes.iter().find_map(|q| value.strip_suffix(q.as_bytes()));
    let value = unquoted.unwrap_or(value);
    let without = |value: &[u8]| {
        let ends = value.iter().rev();
        value.len() - ends.take_while(|b| b"]}),.;:!?".contains(b)).count()
    };
    let value = &value[..without(value)];
    match value.strip_suffix(b"**") {
        Some(bold) => &bold[..without(bold)],
        None => value,
    }
}

pub(super) fn is_typed(value: &[u8]) -> bool {
    !(is_no_secret(bare(value)) || is_path(value) || is_placeholder(value))
}

pub(super) fn is_path(value: &[u8]) -> bool {
    const FILES: [&str; 6] = [".txt", ".pem", ".json", ".yml", ".yaml", ".lst"];
    matches!(value, [b'/' | b'~', ..] | [b'.', b'/' | b'.', ..])
        || FILES.iter().any(|end| value.ends_with(end.as_bytes()))
        || memchr::memmem::find(value, b":/").is_some()
        || is_file(value)
}

/// `ann@x.example`.
pub(super) fn is_mail(value: &[u8]) -> bool {
    let Some(at) = value.iter().rposition(|b| *b == b'@') else {
        return false;
    };
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"_-.+".contains(b);
    let (name, host) = (&value[..at], &value[at + 1..]);
    let dotted = host[1.min(host.len())..].contains(&b'.');
    dotted && !name.is_empty() && name.iter().chain(host).all(plain)
}

/// Several folders: one is what stands behind a password in the name of a folder.
pub(super) fn is_deep(value: &[u8]) -> bool {
    value.iter().filter(|b| **b == b'/').count() > 1
}

/// Folders and a file of them: `app/e2e/.env`.
fn is_file(value: &[u8]) -> bool {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"_-./".contains(b);
    let Some(slash) = value.iter().rposition(|b| *b == b'/') else {
        return false;
    };
    if !is_deep(value) {
        return false;
    }
    let name = &value[slash + 1..];
    let dot = name.iter().rposition(|b| *b == b'.');
    let ends = dot.map_or(&[][..], |dot| &name[dot + 1..]);
    value.iter().all(plain)
        && (1..6).contains(&ends.len())
        && ends.iter().all(u8::is_ascii_lowercase)
}

/// A command of PowerShell, as whose result a variable is set: `Read-Host`.
fn is_cmdlet(value: &[u8]) -> bool {
    const VERBS: [&[u8]; 11] = [
        b"Read",
        b"Get",
        b"New",
        b"Import",
        b"Export",
        b"Select",
        b"Join",
        b"Invoke",
        b"Unprotect",
        b"ConvertTo",
        b"ConvertFrom",
    ];
    let parts = |value: &[u8]| value.iter().position(|b| *b == b'-');
    parts(value).is_some_and(|at| {
        let noun = &value[at + 1..];
        let capital = noun.first().is_some_and(u8::is_ascii_uppercase);
        VERBS.contains(&&value[..at]) && capital && noun.iter().all(u8::is_ascii_alphabetic)
    })
}

/// Calls, indexing, generics, member access.
pub(super) fn is_code(value: &[u8]) -> bool {
    let marks: [&[u8]; 9] = [b"(", b"[", b"{", b"::", b"=>", b"->", b"?.", b"==", b"&&"];
    let marked = marks
        .iter()
        .any(|mark| memchr::memmem::find(value, mark).is_some());
    marked
        || is_cmdlet(value)
        || value.contains(&b'.')
            && value
                .split(|b| *b == b'.')
                .all(|part| is_name(part) && (part.len() < 24 || is_wordy(part)))
}

/// The same of what may be a password: `Lake.Garda4` is none.
pub(super) fn is_code_of(value: &[u8]) -> bool {
    let dotted = value.contains(&b'.') && value.iter().any(u8::is_ascii_digit);
    let capital = value.iter().any(u8::is_ascii_uppercase);
    is_code(value) && !(dotted && capital && !value.contains(&b'('))
}

/// Could be a variable.
pub(super) fn is_name(value: &[u8]) -> bool {
    let starts = value
        .first()
        .is_some_and(|b| b.is_ascii_alphabetic() || b"_$".contains(b));
    starts
        && value
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || b"_$".contains(b))
}

/// Of base64.
pub(super) fn without_padding(value: &[u8]) -> &[u8] {
    let padding = value.iter().rev().take_while(|b| **b == b'=').count();
    &value[..value.len() - padding]
}

/// `DB_PASSWORD`.
pub(super) fn is_variable_of_a_shell(name: &[u8]) -> bool {
    name.iter().any(u8::is_ascii_uppercase) && !name.iter().any(u8::is_ascii_lowercase)
}

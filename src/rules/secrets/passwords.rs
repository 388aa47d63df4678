//! Passwords that people choose: assigned to a name, or told in a sentence. Knows how they look; refuses
//! to know which pattern found them.

use super::looks::*;
use super::names::*;

/// Has what words don't have: enough letters with a digit, or a sign.
pub(super) fn is_odd(value: &[u8]) -> bool {
    let digit = value.len() >= 8 && value.iter().any(u8::is_ascii_digit);
    digit || value.iter().any(|b| b"!@#$%^&*+?=~".contains(b))
}

/// The same of what stands in quotes where code has a password: marks between its words are enough.
pub(super) fn is_odd_literal(value: &[u8]) -> bool {
    let joined = |three: &[u8]| {
        three[0].is_ascii_alphanumeric()
            && b",;:".contains(&three[1])
            && three[2].is_ascii_alphanumeric()
    };
    // as Google gives programs one: four times four letters
    let fours = value.len() == 19
        && value
            .split(|b| *b == b' ')
            .all(|word| word.len() == 4 && word.is_ascii());
    !is_mail(value) && (is_odd(value) || fours || value.windows(3).any(joined)) && !is_path(value)
}

/// It says what it is for, as names of variables do: `newPassword`, `hashed_pw`, `secretRef`.
pub(super) fn says_so(value: &[u8]) -> bool {
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
pub(super) fn chosen(text: &[u8], name: &[u8], (start, end): Range) -> Option<Range> {
    if is_about(name) || is_public(name) || matches!(text[start], b'"' | b'\'') {
        return None;
    }
    let before = start.checked_sub(1).map_or(b' ', |i| text[i]);
    let quoted = b"\"'".contains(&before);
    let value = match quoted {
        true => &text[start..end],
        false => bare(&text[start..end]),
    };
    let value = value.trim_ascii_end();
    let range = (start, start + value.len());
    let letters = value.iter().any(u8::is_ascii_alphabetic);
    let is_variable = is_variable_of_a_shell(name);
    // several words are a phrase only where the name says so, or a variable is set to words and a number
    let numbered = is_variable && before_quote(text, start) == b'=' && is_numbered(value);
    let is_phrase = quoted && (numbered || name.to_ascii_lowercase().ends_with(b"passphrase"));
    let spaced = value.contains(&b' ') && !is_phrase;
    let is_code = !quoted && !is_variable && is_code_of(without_padding(value));
    if is_code || value.len() < 5 || !letters || !is_typed(value) || spaced {
        return None;
    }
    // the result of a test; and the folder that somebody is in
    let is_result = name.eq_ignore_ascii_case(b"pass");
    let is_folder = name.eq_ignore_ascii_case(b"pwd");
    let odd = is_odd(value);
    let is_check = value.contains(&b'|') && is_wordy(value);
    let is_other = !odd && (says_so(value) || is_result || is_folder);
    if is_other || is_check || is_result && name == b"PASS" {
        return None;
    }
    let after = text.get(range.1).copied().unwrap_or(b'\n');
    if !quoted && value.ends_with(b"=") && b"\"'".contains(&after) {
        return None; // the next attribute of an element
    }
    let ends = after.is_ascii_whitespace() || b"\\\"#<`/".contains(&after);
    let fits = match quoted {
        true => value.is_ascii(),
        // of an address
        false if name.is_empty() => true,
        false if is_variable => before == b'=' || ends,
        false if is_setting(text, name, start) => after == b'\n' && !says_so(value),
        false => ends && odd && !(is_name(value) && says_so(value)),
    };
    fits.then_some(range)
}

fn before_quote(text: &[u8], start: usize) -> u8 {
    start.checked_sub(2).map_or(b' ', |at| text[at])
}

fn is_numbered(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit)
}

/// `name=` at the beginning of a line, as files of settings have it.
fn is_setting(text: &[u8], name: &[u8], start: usize) -> bool {
    let line = start.checked_sub(name.len() + 1);
    text[..start].ends_with(b"=") && line.is_some_and(|at| at == 0 || text[at - 1] == b'\n')
}

/// After these comes what it is.
const STATES: [&str; 10] = [
    " is", " was", " now", "'s", " ist", " war", " lautet", " est", ":", "=",
];

/// What may be a password in a sentence, without the marks around it.
fn spoken(text: &[u8], (start, end): Range) -> Option<(&[u8], Range)> {
    let value = bare(&text[start..end]);
    let letters = value.iter().any(u8::is_ascii_alphabetic);
    let refers = !is_typed(value) || is_code_of(value) || value.contains(&b'/') || says_so(value);
    let may_be = value.len() >= 6 && letters && !refers && !is_mail(value);
    may_be.then_some((value, (start, start + value.len())))
}

/// Told in a sentence: quoted, or with what words don't have.
pub(super) fn told(text: &[u8], (start, end): Range) -> Option<Range> {
    let (value, range) = spoken(text, (start, end))?;
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
    let numbered = quoted && value.iter().any(u8::is_ascii_digit);
    let fits = match states {
        true => digit || sign || quoted && value.is_ascii(),
        false => numbered || is_strong(value),
    };
    fits.then_some(range)
}

/// Told, and the word for is stands before it.
pub(super) fn said(text: &[u8], range: Range) -> Option<Range> {
    let (value, range) = spoken(text, range)?;
    let digit = value.len() >= 8 && value.iter().any(u8::is_ascii_digit);
    let sign = value[1..value.len() - 1].iter().any(|b| SIGNS.contains(b));
    let command = text[range.1..].starts_with(b" -");
    (!command && (digit || sign || has_seam(value))).then_some(range)
}

/// Two words with a capital, joined: `Velvet-Hammer`.
fn has_seam(value: &[u8]) -> bool {
    const WORD_BYTES_MIN: usize = 3;
    let words = || value.split(|b| b"-_.".contains(b));
    words().count() > 1
        && words().all(|word| word.len() >= WORD_BYTES_MIN)
        && words().any(|word| word[0].is_ascii_uppercase())
        && value.iter().any(u8::is_ascii_lowercase)
}

/// Printed by a program that made it.
pub(super) fn issued(text: &[u8], (start, end): Range) -> Option<Range> {
    const BASE64_BYTES_MIN: usize = 24;
    let value = &text[start..end];
    let has = |kind: fn(&u8) -> bool| value.iter().any(kind);
    let slashes = value.contains(&b'/') && value.len() < BASE64_BYTES_MIN;
    let cut = value.ends_with(b":") || value.starts_with(b"-") || value.starts_with(b"#");
    let refers = !is_typed(value) || is_code_of(without_padding(value)) || slashes || cut;
    let capitals = value[1..].iter().filter(|b| b.is_ascii_uppercase()).count();
    let base32 = value.len() >= 16
        && value
            .iter()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
    let mixed = has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit)
        || is_strong(value)
        || capitals > 1 && has(u8::is_ascii_lowercase)
        || base32;
    let words = is_wordy(value) && !is_strong(value) && !base32;
    (!refers && mixed && !words && entropy(value) >= 2.5).then_some((start, end))
}

/// Random, or strong right behind the equals sign of a setting.
pub(super) fn strange(text: &[u8], (start, end): Range) -> Option<Range> {
    let value = bare(&text[start..end]);
    let assigned = text[..start].ends_with(b"=");
    let refers = !is_typed(value) || is_code_of(without_padding(value)) || says_so(value);
    let fits = is_random(value) || assigned && is_strong(value);
    (!refers && fits).then_some((start, start + value.len()))
}

/// What neither words nor names of code have.
const SIGNS: &[u8] = b"!@#$%^&*+?";

pub(super) fn strong(text: &[u8], (start, end): Range) -> Option<Range> {
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

//! What a pattern can't say of a secret: whether it is random, made of words, or a placeholder.

use super::looks::*;
use super::names::*;
use super::passwords::{
    chosen, is_odd, is_odd_literal, issued, said, says_so, strange, strong, told,
};
use serde::Deserialize;

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
    /// What stands where a flag takes a token or a key, that might as well be a name.
    Keyed,
    /// Random, or long with capitals and no words, where a header's name says so.
    Made,
    /// What stands behind `-u USER -p`, where that is no port and no name of a database.
    Paired,
    /// What stands where a flag takes a password: none of its name for one.
    Flagged,
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
    /// One that the pattern has the word for is before: with a digit, a sign, or a seam and a capital.
    Said,
    /// One that a program prints: neither a path nor words.
    Issued,
    /// Several that a program prints, most of them digits.
    Coded,
    /// Letters, digits and signs, closer than code has them.
    Dense,
    /// Assigned to a name that says little: random, or what nobody calls a variable.
    Strange,
    /// A key between its marks: lines of base64, and more than a beginning that is cut short.
    Block,
    /// Base64 of `user:password`.
    Basic,
    /// Cookies, one of which is a session's.
    Cookies,
    /// An address that is somebody's: neither loopback nor unspecified.
    Address,
}

/// The part of `text` that is the secret, where it looks so.
pub(super) fn check(looks: Validator, text: &[u8], name: &[u8], range: Range) -> Option<Range> {
    let value = &text[range.0..range.1];
    if is_sealed_at(text, range.0) || is_sealed(value) {
        return None;
    }
    let fits = match looks {
        Validator::Random => is_random(value),
        Validator::Assigned => return assigned(text, name, range),
        Validator::Unguessable => is_unguessable(name, value),
        Validator::Password => {
            let flag = text[..range.0].ends_with(b" ");
            is_password(value) && !(flag && is_label(value))
        }
        Validator::Typed => is_typed(value),
        Validator::Flagged => is_flagged(text, range),
        Validator::Paired => is_flagged(text, range) && !is_port(value) && !asks(text, range.0),
        Validator::Made => is_typed(value) && is_made(value),
        Validator::Keyed => is_flagged(text, range) && is_made(value),
        Validator::Chosen => return chosen(text, name, range),
        Validator::Told => return told(text, range),
        Validator::Strong => return strong(text, range),
        Validator::Odd => is_typed(value) && is_odd_literal(value) && !says_so(value),
        Validator::Said => return said(text, range),
        Validator::Issued => return issued(text, range),
        Validator::Coded => {
            let count = |kind: fn(&u8) -> bool| value.iter().filter(|b| kind(b)).count();
            count(u8::is_ascii_digit) * 4 > count(u8::is_ascii_alphanumeric)
        }
        Validator::Dense => is_dense(value),
        Validator::Strange => return strange(text, range),
        Validator::Block => is_block(value),
        Validator::Basic => is_basic(value),
        Validator::Cookies => value.split(|b| *b == b';').any(is_session),
        Validator::Address => is_somebodys(value),
    };
    fits.then_some(range)
}

/// A value that a flag takes: no other flag, no place where it is read from, and no name for one.
fn is_flagged(text: &[u8], (start, end): Range) -> bool {
    const ELSEWHERE: [&[u8]; 5] = [b"env:", b"file:", b"fd:", b"+", b"-"];
    let value = &text[start..end];
    let flag = text[..start].trim_ascii_end();
    let length = flag.iter().rev().take_while(|b| !b.is_ascii_whitespace());
    let flag = &flag[flag.len() - length.count()..];
    let is_none = flag.starts_with(b"--no-") || flag.starts_with(b"--ask-");
    let elsewhere = ELSEWHERE.iter().any(|place| value.starts_with(place));
    let is_folder = is_deep(value) && is_wordy(value);
    let refers = is_none || elsewhere || is_folder || value.contains(&b'=');
    is_typed(value) && !refers && !is_label(value) && !is_metavariable(value)
}

/// A port, or several: `8080:80`.
fn is_port(value: &[u8]) -> bool {
    value
        .iter()
        .all(|b| b.is_ascii_digit() || b":.-/".contains(b))
        || value.contains(&b':')
}

/// The command on this line asks for a password where it gets `-p`, and takes no other with it.
fn asks(text: &[u8], start: usize) -> bool {
    const ASKING: [&[u8]; 5] = [b"mysql", b"mariadb", b"psql", b"docker run", b"sqlmap"];
    let line = text[..start]
        .iter()
        .rev()
        .take_while(|b| **b != b'\n')
        .count();
    let line = &text[start - line..start];
    ASKING
        .iter()
        .any(|name| memchr::memmem::find(line, name).is_some())
}

/// `database_name`: what manuals have in the place of a value.
fn is_label(value: &[u8]) -> bool {
    let small = |b: &u8| b.is_ascii_lowercase() || *b == b'_';
    value.contains(&b'_') && value.iter().all(small)
}

/// Nobody calls something so.
fn is_made(value: &[u8]) -> bool {
    const BYTES_MIN: usize = 20;
    let mixed =
        value.iter().any(u8::is_ascii_uppercase) && value.iter().any(u8::is_ascii_lowercase);
    let long = value.len() >= BYTES_MIN && mixed && !is_wordy(value) && !is_mostly_words(value);
    is_random(value) || is_odd(value) && value.len() >= 12 || long && entropy(value) >= 3.5
}

fn is_password(value: &[u8]) -> bool {
    let digits = value.iter().all(|b| b.is_ascii_digit() || *b == b':');
    let path = is_path(value) || is_deep(value) && is_wordy(value);
    let memory = value.len() > 1 && value[1] == b':'; // `flash:w:image.hex`
    let plain = |b: &u8| !b.is_ascii_digit() && !b.is_ascii_uppercase();
    let words = value.contains(&b'-') && is_wordy(value) && value.iter().all(plain);
    !(is_no_secret(bare(value))
        || is_metavariable(value)
        || digits
        || path
        || memory
        || words
        || value.contains(&b'(')
        || is_placeholder(value))
}

/// Its lines are base64, and together longer than what all keys of a kind begin with.
fn is_block(value: &[u8]) -> bool {
    const LINE_BYTES_MIN: usize = 16;
    const BYTES_MIN: usize = 40;
    let lines = value.split(|b| !(b.is_ascii_alphanumeric() || b"+/=".contains(b)));
    let long = lines.map(<[u8]>::len).filter(|len| *len >= LINE_BYTES_MIN);
    long.sum::<usize>() >= BYTES_MIN
}

/// Signs between letters and digits, and no name before a bracket.
fn is_dense(value: &[u8]) -> bool {
    const SIGNS_MIN: usize = 3;
    let count = |kind: fn(&u8) -> bool| value.iter().filter(|b| kind(b)).count();
    let signs = count(|b| b"!#$%^&*@+=?~".contains(b));
    let call = value
        .windows(2)
        .any(|two| two == b"()" || two == b"$(" || two == b"${");
    signs >= SIGNS_MIN
        && count(u8::is_ascii_digit) >= SIGNS_MIN
        && count(u8::is_ascii_lowercase) >= SIGNS_MIN
        && !call
        && !is_path(value)
        && !is_placeholder(value)
        && !is_wordy(value)
        && entropy(value) >= 3.5
}

/// A cookie whose value nobody chose, or whose name says that it lets somebody in.
fn is_session(cookie: &[u8]) -> bool {
    const NAMES: [&str; 7] = ["sess", "sid", "auth", "token", "jwt", "login", "remember"];
    let mut parts = cookie.trim_ascii().splitn(2, |b| *b == b'=');
    let (Some(name), Some(value)) = (parts.next(), parts.next()) else {
        return false;
    };
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    let is_attribute = matches!(
        &*name,
        "path" | "domain" | "expires" | "max-age" | "samesite"
    );
    let lets_in = NAMES.iter().any(|word| name.contains(word)) && value.len() > 3;
    let odd = value.len() > 7 && value.iter().any(u8::is_ascii_digit) && !is_wordy(value);
    !is_attribute && !is_placeholder(value) && (lets_in || odd)
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

fn is_unguessable(name: &[u8], value: &[u8]) -> bool {
    const ENTROPY_MIN: f32 = 4.0;
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
    let first = value.split(|b| *b == b'/').next().unwrap_or(value);
    let small = first.len() >= 28
        && first
            .iter()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        && name.len() > 4;
    let made = match hex {
        true => is_variable_of_a_shell(name),
        false => mixed && entropy(value) >= ENTROPY_MIN || small,
    };
    let public = is_public(name) || is_identity(name);
    // the name of an object in a store: `orders/01J…`
    let folder = first.len() < value.len() && first.iter().all(u8::is_ascii_lowercase);
    let path = path || folder && is_wordy(first);
    made && !known && !path && !dotted && !public && is_random(value)
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
    let is_next = value.ends_with(b"=") && is_name(without_padding(value));
    if quote.is_none() && text[..start - before].ends_with(b"\n") && is_next {
        return None; // the next line's name, behind one that has no value
    }
    if is_no_secret(bare(value)) {
        return None;
    }
    let before_it = named(&text[..start]);
    let is_resource = before_it.starts_with(b"arn:") || before_it.starts_with(b"checksum/");
    if is_resource || text[..start].ends_with(b":") && value.contains(&b'/') && !is_random(value) {
        return None; // the next part of a name like `arn:aws:secretsmanager:…:secret:prod/db`
    }
    let is_constant = is_name(value) && !value.iter().any(u8::is_ascii_lowercase);
    let is_variable = value.eq_ignore_ascii_case(name) || is_constant && says_so(value);
    if is_version(value) || quote.is_none() && is_variable {
        return None; // of a package: `io.jsonwebtoken:jjwt-api:0.12.6`
    }
    if quote.is_none() && value.ends_with(b"=") && matches!(text.get(end), Some(b'"' | b'\'')) {
        return None; // the next attribute of an element
    }
    if quote.is_none() && is_variable_of_a_shell(name) && name.ends_with(b"SECRET") {
        let plain = value.iter().all(u8::is_ascii_alphanumeric) || is_passphrase(value);
        let digit = value.iter().any(u8::is_ascii_digit);
        if plain && digit && value.len() > 9 && is_typed(value) {
            return Some((start, end));
        }
    }
    let style = Style {
        quoted: quote.is_some(),
        spaced: before > 0,
        word: is_passwords(name),
        secret: name.to_ascii_lowercase().ends_with(b"secret"),
    };
    (!is_placeholder(value) && style.fits(value)).then_some((start, end))
}

/// The name of a package and its version.
fn is_version(value: &[u8]) -> bool {
    let Some(colon) = value.iter().rposition(|b| *b == b':') else {
        return false;
    };
    let version = &value[colon + 1..];
    let dots = version.iter().filter(|b| **b == b'.').count();
    version == b"latest" || dots > 0 && version[0].is_ascii_digit()
}

/// The whole name before a value, with its folders and what it belongs to.
fn named(before: &[u8]) -> &[u8] {
    let before = before.trim_ascii_end();
    let word = |b: &&u8| b.is_ascii_alphanumeric() || b"_-./:".contains(b);
    let length = before.iter().rev().take_while(word).count();
    &before[before.len() - length..]
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
    /// Its name ends in secret: people choose that too.
    secret: bool,
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
            (true, _) => {
                let said = is_wordy(value) || !self.secret && is_mostly_words(value);
                !said && !value.contains(&b' ')
            }
            (false, _) if is_code(without_padding(value)) => false,
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
    const SENTENCE_BLANKS_MIN: usize = 4;
    let words = value.iter().filter(|b| **b == b' ').count();
    if words >= SENTENCE_BLANKS_MIN {
        return true;
    }
    let digit = value.iter().any(u8::is_ascii_digit);
    is_wordy(value) && (words > 0 || !digit || value.contains(&b'|')) || is_placeholder(value)
}

//! Texts in disguise: decoded escapes, tokens that line breaks or quotes interrupt. Knows where
//! each byte of a view stands in the text.

use regex::bytes::Regex;
use std::sync::LazyLock;

/// A text as it would read without its disguise.
pub(super) struct View {
    pub text: String,
    /// Of each byte, and of the end: where it stands in the text.
    places: Vec<u32>,
}

/// Of a joined text. Larger: each token that is cut short costs more to try.
const JOINED_BYTES_MAX: usize = 4096;

impl View {
    /// With `\u002d`, `\x2d` and `%2d` as the characters that they stand for, and JSON inside of JSON, however
    /// deep, without its backslashes; `None` where there are none, or the text is too long for it (4 GB).
    pub fn decoded(text: &str) -> Option<View> {
        let bytes = text.as_bytes();
        u32::try_from(bytes.len()).ok()?;
        let mut marks = memchr::memchr2_iter(b'%', b'\\', bytes);
        marks.find(|at| escape(&bytes[*at..]).is_some_and(|(byte, _)| byte != b'\n'))?;
        let mut view = View::with_room(bytes.len());
        let mut at = 0;
        while at < bytes.len() {
            match escape(&bytes[at..]) {
                Some((byte, length)) => {
                    view.push(char::from(byte), at);
                    at += length;
                }
                None => {
                    let c = text[at..].chars().next().unwrap_or(' ');
                    view.push(c, at);
                    at += c.len_utf8();
                }
            }
        }
        view.places.push(bytes.len() as u32);
        Some(view)
    }

    /// Without line breaks (and the margin of a diff, a quotation or a comment after them), and
    /// without quotes that close and open again. Up to the first byte that isn't ASCII; `None`
    /// where nothing is taken out.
    pub fn joined(bytes: &[u8]) -> Option<View> {
        let bytes = &bytes[..bytes.len().min(JOINED_BYTES_MAX)];
        let mut view = View::with_room(bytes.len());
        let (mut at, mut taken) = (0, false);
        while at < bytes.len() && bytes[at].is_ascii() {
            let plain = bytes[at..].iter();
            let plain = plain.take_while(|b| b.is_ascii() && !begins_seam(**b));
            let next = at + plain.count();
            if next > at {
                view.push_ascii(&bytes[at..next], at);
                at = next;
            } else if let Some(length) = seam(&bytes[at..]) {
                at += length;
                taken = true;
            } else {
                view.push(char::from(bytes[at]), at);
                at += 1;
            }
        }
        view.places.push(at as u32);
        taken.then_some(view)
    }

    fn with_room(bytes: usize) -> View {
        View {
            text: String::with_capacity(bytes),
            places: Vec::with_capacity(bytes + 1),
        }
    }

    fn push(&mut self, c: char, at: usize) {
        self.text.push(c);
        self.places
            .extend((0..c.len_utf8()).map(|i| (at + i) as u32));
    }

    /// Several at once.
    fn push_ascii(&mut self, bytes: &[u8], at: usize) {
        self.text
            .push_str(std::str::from_utf8(bytes).unwrap_or_default());
        self.places.extend(at as u32..(at + bytes.len()) as u32);
    }

    /// Where a byte of the view stands in the text.
    pub fn place(&self, at: usize) -> usize {
        self.places.get(at).map_or(0, |place| *place as usize)
    }

    /// Where what ends before `at` ends in the text, without the seam that may follow.
    pub fn end(&self, at: usize) -> usize {
        at.checked_sub(1).map_or(0, |last| self.place(last) + 1)
    }
}

/// The same for every disguise of a secret.
pub(super) fn canonical(secret: &str) -> String {
    let decoded = View::decoded(secret).map_or_else(|| secret.to_owned(), |view| view.text);
    match View::joined(decoded.as_bytes()) {
        Some(view) if view.place(view.text.len()) == decoded.len() => view.text,
        _ => decoded,
    }
}

/// A printable character in its escaped form, and how long that is.
fn escape(bytes: &[u8]) -> Option<(u8, usize)> {
    let (digits, before) = match bytes {
        [b'%', ..] => (bytes.get(1..3)?, 1),
        [b'\\', b'u', b'0', b'0', ..] => (bytes.get(4..6)?, 4),
        [b'\\', b'x', ..] => (bytes.get(2..4)?, 2),
        [b'\\', ..] => return nested(bytes),
        _ => return None,
    };
    let byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (0x20..0x7f).contains(&byte).then_some((byte, before + 2))
}

/// What JSON inside of JSON has for a quote or a line break: so many backslashes, depending on how deep it is.
fn nested(bytes: &[u8]) -> Option<(u8, usize)> {
    const DEPTH_MAX: usize = 15;
    let depth = bytes
        .iter()
        .take(DEPTH_MAX)
        .take_while(|b| **b == b'\\')
        .count();
    match bytes.get(depth)? {
        b'"' => Some((b'"', depth + 1)),
        b'n' if depth > 1 => Some((b'\n', depth + 1)),
        _ => None,
    }
}

/// The length of what interrupts a token here.
fn seam(bytes: &[u8]) -> Option<usize> {
    static SEAM: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r#"^(?:\\?\r?\n[\t ]*[-+|>#]?[\t ]*|(?:\\r)?\\n[\t ]*[-+]?[\t ]*|\\?["'][\t ]*[+.&]?[\t ]*\\?(?:\r?\n[\t ]*[-+]?[\t ]*[+.&]?[\t ]*)?\\?["'])"#,
        )
        .expect("a constant")
    });
    match begins_seam(*bytes.first()?) {
        true => SEAM.find(bytes).map(|seam| seam.end()),
        false => None,
    }
}

fn begins_seam(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r' | b'\\' | b'"' | b'\'')
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+' | b'/' | b'=')
}

/// A token begins here and is cut short by a seam.
pub(super) fn is_broken(bytes: &[u8]) -> bool {
    let token = bytes.iter().take_while(|b| is_token(**b)).count();
    token > 1 && seam(&bytes[token..]).is_some()
}

/// A full line ends at `at`, and nothing but a token stands on the next one.
pub(super) fn may_go_on(text: &[u8], at: usize) -> bool {
    const LINE: std::ops::RangeInclusive<usize> = 56..=120;
    let Some(length) = seam(&text[at..]) else {
        return false;
    };
    let column = text[..at]
        .iter()
        .rev()
        .take(130)
        .take_while(|b| **b != b'\n')
        .count();
    let next = &text[at + length..];
    let token = next.iter().take_while(|b| is_token(**b)).count();
    let ends = next
        .get(token)
        .is_none_or(|b| matches!(b, b'\n' | b'\r' | b'"' | b'\'' | b'\\'));
    LINE.contains(&column) && token >= 4 && ends && !super::looks::is_wordy(&next[..token])
}

/// The first of the lines of base64 that end at `at`; `None` where there is no full one. Only the
/// last may be short.
pub(super) fn lines_start(text: &[u8], at: usize) -> Option<usize> {
    const LINE_BYTES_MIN: usize = 16;
    const FULL_BYTES_MIN: usize = 40;
    const LINES_MAX: usize = 400;
    let mut end = at - margin(&text[..at]);
    let mut first = None;
    for line in 0..LINES_MAX {
        let Some((start, length, alone)) = base64_line(&text[..end]) else {
            break;
        };
        let least = if alone {
            LINE_BYTES_MIN
        } else {
            FULL_BYTES_MIN
        };
        if length >= least {
            first = Some(start);
        }
        if !alone || length < least && line > 0 {
            break;
        }
        end = start - margin(&text[..start]);
    }
    first
}

/// White space and marks of a diff at the end.
fn margin(text: &[u8]) -> usize {
    let mark = |b: &&u8| matches!(**b, b' ' | b'\t' | b'+' | b'-');
    text.iter().rev().take_while(mark).count()
}

/// The base64 that ends with `text`'s last line break: its start, its length, and whether nothing
/// else stands on its line.
fn base64_line(text: &[u8]) -> Option<(usize, usize, bool)> {
    let end = match text {
        [before @ .., b'\\', b'n'] | [before @ .., b'\r', b'\n'] | [before @ .., b'\n'] => {
            before.len()
        }
        _ => return None,
    };
    let is_base64 = |b: &&u8| b.is_ascii_alphanumeric() || matches!(**b, b'+' | b'/' | b'=');
    let mut length = text[..end].iter().rev().take_while(is_base64).count();
    let mut start = end - length;
    if start > 0 && text[start - 1] == b'\\' && length > 0 && text[start] == b'n' {
        // the n of an escaped line break
        (start, length) = (start + 1, length - 1);
    }
    let before = &text[..start - margin(&text[..start])];
    let begins = before.is_empty()
        || before.ends_with(b"\n")
        || before.ends_with(b"\\n")
        || before.ends_with(b"\"");
    (length > 0).then_some((start, length, begins))
}

//! Gives a copy of a log new ids. Knows how ids look in bytes.

use memchr::{memchr_iter, memmem};

/// Rewrites every uuid and every provider id (`toolu_…`, `call_…`, `msg_…`, `req_…`, …) in place.
///
/// Equal ids stay equal within one `copy` and differ between copies, so records link as before
/// and none is a copy of another. Copy 0 changes nothing. The length stays the same.
pub fn renumber(bytes: &mut [u8], copy: u32) {
    if copy == 0 {
        return;
    }
    let dashes: Vec<usize> = memchr_iter(b'-', bytes).collect();
    for dash in dashes {
        if is_uuid(bytes, dash) {
            shift_uuid(&mut bytes[dash - 8..dash], copy);
        }
    }
    let bars: Vec<usize> = memchr_iter(b'_', bytes).collect();
    for bar in bars {
        if is_provider_id(bytes, bar) {
            shift_letters(&mut bytes[bar + 3..bar + 9], copy);
        }
    }
}

/// Makes one session of many: every `"sessionId":"…"` becomes `session` (36 bytes).
pub fn unify_session(bytes: &mut [u8], session: &str) {
    const KEY: &[u8] = b"\"sessionId\":\"";
    let found: Vec<usize> = memmem::find_iter(bytes, KEY).collect();
    for at in found {
        let from = at + KEY.len();
        let here = bytes.get_mut(from..from + session.len() + 1);
        if let Some(value) = here.filter(|v| v.ends_with(b"\"")) {
            value[..session.len()].copy_from_slice(session.as_bytes());
        }
    }
}

/// Prefixes of ids that link records or tell messages apart.
const PREFIXES: [&[u8]; 8] = [
    b"toolu", b"tooluse", b"call", b"msg", b"req", b"fc", b"rs", b"ctc",
];

fn is_provider_id(bytes: &[u8], bar: usize) -> bool {
    let word =
        |p: &[u8]| bar > p.len() && bytes[..bar].ends_with(p) && bytes[bar - p.len() - 1] == b'"';
    let id = bytes.get(bar + 1..bar + 11);
    id.is_some_and(|id| id.iter().all(u8::is_ascii_alphanumeric))
        && PREFIXES.iter().any(|p| word(p))
}

/// A dash at the end of the first group of `8-4-4-4-12` hex digits.
fn is_uuid(bytes: &[u8], dash: usize) -> bool {
    let Some(from) = dash.checked_sub(8) else {
        return false;
    };
    let Some(id) = bytes.get(from..from + 36) else {
        return false;
    };
    id.iter().enumerate().all(|(at, b)| match at {
        8 | 13 | 18 | 23 => *b == b'-',
        _ => b.is_ascii_hexdigit(),
    })
}

fn shift_uuid(digits: &mut [u8], copy: u32) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let value = digits.iter().fold(0u32, |value, digit| {
        value << 4 | (*digit as char).to_digit(16).unwrap_or(0)
    });
    let shifted = value ^ copy.wrapping_mul(0x9e37_79b1);
    for (nth, digit) in digits.iter_mut().enumerate() {
        *digit = DIGITS[(shifted >> (28 - 4 * nth)) as usize & 15];
    }
}

fn shift_letters(letters: &mut [u8], copy: u32) {
    const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let (low, high) = (copy as usize % 62, copy as usize / 62 % 62);
    for (nth, letter) in letters.iter_mut().enumerate() {
        let at = LETTERS.iter().position(|l| l == letter).unwrap_or(0);
        let by = if nth % 2 == 0 { low } else { high };
        *letter = LETTERS[(at + by) % 62];
    }
}

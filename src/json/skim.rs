//! Lines too long to hold: a copy that fits, made while the bytes stream by.
//!
//! Knows JSON's tokens only. Long strings are cut with a note of how much is missing; once
//! [`COPY_MAX`] is used up, nested values are dropped while the line's own members (type, id, time)
//! are still copied. Memory depends on the copy's limit, never on the line's length.

use super::cursor::structure;
use memchr::memchr2;

/// Bytes of one string that are kept. Larger: a bigger prompt survives whole; smaller: less memory.
pub const STRING_MAX: usize = 1 << 20;
/// Bytes of one line that are kept, of whatever kind.
pub const COPY_MAX: usize = 8 << 20;
/// Of a word that was cut, so much is taken back at most. Smaller: half a long secret stays.
const WORD_MAX: usize = 4 << 10;
/// Room for the line's own short members after [`COPY_MAX`] is used up.
const RESERVE: usize = 64 << 10;

/// Copies one long line down to a size that can be parsed.
#[derive(Default)]
pub struct Skimmer {
    copy: Vec<u8>,
    depth: usize,
    string: Option<InString>,
    /// The depth of the copied container in which everything is being dropped.
    dropping: Option<usize>,
    /// Of the line so far.
    read: u64,
}

struct InString {
    escaped: bool,
    kept: usize,
    room: usize,
    cut_at: Option<u64>,
}

impl Skimmer {
    /// A new line begins.
    pub fn begin(&mut self) {
        *self = Skimmer::default();
    }

    /// Its next bytes; the newline is not among them.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let used = match self.string {
                Some(_) => self.inside_string(rest),
                None => {
                    self.outside(rest[0]);
                    1
                }
            };
            self.read += used as u64;
            rest = &rest[used..];
        }
    }

    /// It is over; gives the copy.
    pub fn finish(&mut self) -> &mut Vec<u8> {
        &mut self.copy
    }

    fn full(&self) -> bool {
        let max = if self.depth <= 1 {
            COPY_MAX + RESERVE
        } else {
            COPY_MAX
        };
        self.copy.len() >= max
    }

    fn outside(&mut self, byte: u8) {
        match byte {
            b'{' | b'[' => {
                self.depth += 1;
                if self.dropping.is_none() {
                    self.copy.push(byte);
                    self.drop_when_full();
                }
            }
            b'}' | b']' => {
                if self.dropping.is_some_and(|at| self.depth <= at) {
                    self.dropping = None;
                }
                self.depth = self.depth.saturating_sub(1);
                if self.dropping.is_none() {
                    self.copy.push(byte);
                    if self.depth > 1 {
                        self.drop_when_full();
                    }
                }
            }
            b'"' => {
                self.drop_when_full();
                let room = match self.dropping {
                    Some(_) => 0,
                    None => STRING_MAX.min((COPY_MAX + RESERVE).saturating_sub(self.copy.len())),
                };
                if self.dropping.is_none() {
                    self.copy.push(byte);
                }
                self.string = Some(InString {
                    escaped: false,
                    kept: 0,
                    room,
                    cut_at: None,
                });
            }
            // blank or damage; one NUL stays to tell which
            0 if self.copy.is_empty() => self.copy.push(0),
            0 | b' ' | b'\t' | b'\r' => {}
            // a number without end
            _ if self.copy.len() > COPY_MAX + 2 * RESERVE => {}
            _ if self.dropping.is_none() => {
                self.copy.push(byte);
                if byte == b',' {
                    self.drop_when_full();
                }
            }
            _ => {}
        }
    }

    /// From here on nothing of the innermost copied container is kept; what was begun is closed.
    fn drop_when_full(&mut self) {
        if self.dropping.is_some() || !self.full() {
            return;
        }
        match self.copy.last() {
            Some(b',') => {
                self.copy.pop();
            }
            Some(b':') => self.copy.extend_from_slice(b"null"),
            _ => {}
        }
        self.dropping = Some(self.depth);
    }

    /// Takes bytes up to and including the string's end; gives how many.
    fn inside_string(&mut self, bytes: &[u8]) -> usize {
        let dropping = self.dropping.is_some();
        let Some(string) = &mut self.string else {
            return 0;
        };
        if string.escaped {
            string.escaped = false;
            string.keep(&bytes[..1], self.read, &mut self.copy);
            return 1;
        }
        let stop = memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len());
        string.keep(&bytes[..stop], self.read, &mut self.copy);
        match bytes.get(stop) {
            None => stop,
            Some(b'\\') => {
                // a backslash is kept with what it escapes, or not at all
                if string.kept + 8 > string.room {
                    string.room = string.kept;
                }
                string.keep(b"\\", self.read + stop as u64, &mut self.copy);
                string.escaped = true;
                stop + 1
            }
            Some(_) => {
                let end = self.read + stop as u64;
                if let (Some(cut), false) = (string.cut_at, dropping) {
                    let cut = cut - trim_to_word(&mut self.copy, string.kept) as u64;
                    let note = format!(" … ({} bytes more at byte {cut} of the line)", end - cut);
                    self.copy.extend_from_slice(note.as_bytes());
                }
                self.string = None;
                if !dropping {
                    self.copy.push(b'"');
                }
                stop + 1
            }
        }
    }
}

impl InString {
    fn keep(&mut self, bytes: &[u8], at: u64, copy: &mut Vec<u8>) {
        let keep = bytes.len().min(self.room.saturating_sub(self.kept));
        copy.extend_from_slice(&bytes[..keep]);
        self.kept += keep;
        if keep < bytes.len() && self.cut_at.is_none() {
            self.cut_at = Some(at + keep as u64);
            self.room = self.kept;
        }
    }
}

/// Takes back the word that was cut in the middle, of a string of which `kept` bytes are in the copy:
/// half a secret is none that a rule knows. Gives how many bytes that took.
fn trim_to_word(copy: &mut Vec<u8>, kept: usize) -> usize {
    let first = copy.len() - kept.min(WORD_MAX);
    let last = copy[first..]
        .iter()
        .rposition(|b| matches!(b, b' ' | b'\\'));
    let mut at = match last {
        Some(last) => first + last,
        // an escape may have begun before
        None => (first + 6).min(copy.len()),
    };
    // an escaped backslash is two of them
    let slashes = copy[..at].iter().rev().take_while(|b| **b == b'\\').count();
    at -= slashes % 2;
    while at > 0 && copy.get(at).is_some_and(|b| b & 0xC0 == 0x80) {
        at -= 1;
    }
    let taken = copy.len() - at;
    copy.truncate(at);
    taken
}

/// The head of a JSON object, cut before its last member and closed; empty where it has no whole one.
pub fn close(head: &mut [u8]) -> &mut [u8] {
    let (mut depth, mut comma) = (0isize, 0);
    for (at, byte) in structure(head) {
        match byte {
            b'{' | b'[' => depth += 1,
            b',' if depth == 1 => comma = at,
            b',' => {}
            _ => depth -= 1,
        }
    }
    if comma == 0 {
        return &mut [];
    }
    head[comma] = b'}';
    &mut head[..=comma]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn skim(text: &str, piece: usize) -> Value {
        let mut skimmer = Skimmer::default();
        skimmer.begin();
        text.as_bytes().chunks(piece).for_each(|p| skimmer.push(p));
        serde_json::from_slice(skimmer.finish()).expect("the copy is JSON")
    }

    #[test]
    fn a_line_that_fits_is_copied_as_it_is() {
        let value = json!({"a": "x\"\\\u{e9}\n", "b": [1, {"c": null}], "d": {}});
        for piece in [1, 2, 7, 1_000] {
            assert_eq!(skim(&value.to_string(), piece), value);
        }
    }

    #[test]
    fn a_line_of_blanks_or_digits_takes_no_room() {
        for (byte, most) in [(b'\0', 1), (b' ', 0), (b'7', COPY_MAX + 3 * RESERVE)] {
            let mut skimmer = Skimmer::default();
            skimmer.begin();
            let piece = vec![byte; 1 << 20];
            (0..20).for_each(|_| skimmer.push(&piece));
            assert!(skimmer.finish().len() <= most, "{byte}");
        }
    }

    #[test]
    fn a_long_string_is_cut_with_a_note_and_the_rest_of_the_line_stays() {
        let long = "é\n\"".repeat(STRING_MAX);
        let copy = skim(
            &json!({"a": long, "uuid": "u", "z": [1]}).to_string(),
            65_536,
        );
        let text = copy["a"].as_str().unwrap();
        assert!(text.len() <= STRING_MAX + 100, "{}", text.len());
        assert!(text.contains("bytes more at byte"));
        assert_eq!((&copy["uuid"], &copy["z"]), (&json!("u"), &json!([1])));
    }

    #[test]
    fn many_nested_values_are_dropped_and_the_members_after_them_stay() {
        let many: Vec<Value> = (0..400_000)
            .map(|n| json!({"n": n, "text": "some words here"}))
            .collect();
        let line = json!({"type": "user", "big": {"deep": many}, "uuid": "u", "list": [1, 2]});
        let copy = skim(&line.to_string(), 1 << 20);
        assert_eq!(
            (&copy["type"], &copy["uuid"]),
            (&json!("user"), &json!("u"))
        );
        assert!(copy.to_string().len() < COPY_MAX + 2 * RESERVE);
    }
}

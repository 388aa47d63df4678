//! Words: quotes, escapes, variables and substitutions inside them.

use super::reader::Reader;
use super::syntax::ShellSyntax;
use std::borrow::Cow;

impl<'a> Reader<'a> {
    /// The next word, without its quotes; borrowed where it has none. May be empty (`''`).
    pub(super) fn word(&mut self) -> Cow<'a, str> {
        let from = self.at;
        self.skip_plain();
        let mut word = Cow::Borrowed(&self.text[from..self.at]);
        while let Some(b) = self.peek() {
            match b {
                b'\'' => self.single_quoted(&mut word),
                b'"' => self.double_quoted(word.to_mut()),
                b'\\' if self.syntax == ShellSyntax::Posix => self.escaped(word.to_mut()),
                b'`' if self.syntax == ShellSyntax::PowerShell => self.escaped(word.to_mut()),
                b'`' => self.backticks(word.to_mut()),
                b'$' => self.dollar(word.to_mut()),
                b'@' if self.is_here_string() => self.here_string(),
                _ if self.is_plain(b) => {
                    let from = self.at;
                    self.at += 1;
                    self.skip_plain();
                    word.to_mut().push_str(&self.text[from..self.at]);
                }
                _ => break,
            }
        }
        word
    }

    fn is_plain(&self, b: u8) -> bool {
        match self.syntax {
            ShellSyntax::Posix => !POSIX_ENDS[usize::from(b)],
            ShellSyntax::PowerShell => !POWERSHELL_ENDS[usize::from(b)],
        }
    }

    /// Up to what ends the word or needs a closer look; never inside a character.
    fn skip_plain(&mut self) {
        let stops = match self.syntax {
            ShellSyntax::Posix => &POSIX_STOPS,
            ShellSyntax::PowerShell => &POWERSHELL_STOPS,
        };
        self.at += self.bytes_up_to(stops);
    }

    /// How many bytes come before one of these, or before the end.
    fn bytes_up_to(&self, stops: &[bool; 256]) -> usize {
        let rest = &self.bytes()[self.at..self.end];
        let found = rest.iter().position(|b| stops[usize::from(*b)]);
        found.unwrap_or(rest.len())
    }

    fn single_quoted(&mut self, word: &mut Cow<'a, str>) {
        let from = self.at + 1;
        self.at = from.min(self.end);
        self.skip_past(b'\'');
        let closed = self.at > from && self.bytes()[self.at - 1] == b'\'';
        let inner = &self.text[from.min(self.at)..self.at - usize::from(closed)];
        match word.is_empty() {
            true => *word = Cow::Borrowed(inner),
            false => word.to_mut().push_str(inner),
        }
    }

    fn double_quoted(&mut self, word: &mut String) {
        self.at += 1;
        while let Some(b) = self.peek() {
            match b {
                b'"' => {
                    self.at += 1;
                    return;
                }
                b'\\' if self.syntax == ShellSyntax::Posix => self.escaped_in_quotes(word),
                b'`' if self.syntax == ShellSyntax::PowerShell => self.escaped(word),
                b'`' => self.backticks(word),
                b'$' => self.dollar(word),
                _ => {
                    let plain = self.bytes_up_to(&QUOTED_STOPS).max(1);
                    word.push_str(&self.text[self.at..self.at + plain]);
                    self.at += plain;
                }
            }
        }
    }

    /// The character after the escape, as it is; a line that goes on leaves nothing.
    fn escaped(&mut self, word: &mut String) {
        self.at += 1;
        let Some(c) = self.text[self.at..self.end].chars().next() else {
            return;
        };
        if c != '\n' {
            word.push(c);
        }
        self.at += c.len_utf8();
    }

    /// Between double quotes only some characters can be escaped; Windows paths stay whole.
    fn escaped_in_quotes(&mut self, word: &mut String) {
        match self.ahead(1) {
            Some(b'"' | b'\\' | b'$' | b'`' | b'\n') => self.escaped(word),
            _ => {
                word.push('\\');
                self.at += 1;
            }
        }
    }

    fn dollar(&mut self, word: &mut String) {
        match (self.ahead(1), self.ahead(2)) {
            (Some(b'('), Some(b'(')) => {
                let rest = &self.bytes()[self.at..self.end];
                let close = memchr::memmem::find(rest, b"))");
                self.at += close.map_or(rest.len(), |n| n + 2);
            }
            (Some(b'('), _) => {
                self.at += 2;
                word.push_str("$()");
                self.substitution();
            }
            (Some(b'{'), _) => {
                let from = self.at;
                self.skip_past(b'}');
                word.push_str(&self.text[from..self.at]);
            }
            (Some(b'\''), _) if self.syntax == ShellSyntax::Posix => self.at += 1,
            _ => {
                word.push('$');
                self.at += 1;
            }
        }
    }

    fn backticks(&mut self, word: &mut String) {
        self.at += 1;
        let rest = &self.bytes()[self.at..self.end];
        let mut bytes = 0;
        while bytes < rest.len() && rest[bytes] != b'`' {
            bytes += 1 + usize::from(rest[bytes] == b'\\');
        }
        word.push_str("$()");
        let bytes = bytes.min(rest.len());
        self.quoted_list(bytes);
    }

    /// `@'` or `@"` at the end of a line.
    fn is_here_string(&self) -> bool {
        self.syntax == ShellSyntax::PowerShell
            && matches!(self.ahead(1), Some(b'\'' | b'"'))
            && matches!(self.ahead(2), Some(b'\r' | b'\n'))
    }

    fn here_string(&mut self) {
        let close = [b'\n', self.ahead(1).unwrap_or(b'\''), b'@'];
        let rest = &self.bytes()[self.at..self.end];
        let found = memchr::memmem::find(rest, &close);
        self.at += found.map_or(rest.len(), |n| n + close.len());
    }
}

const fn marked<const N: usize>(bytes: [&[u8]; N]) -> [bool; 256] {
    let mut marked = [false; 256];
    let (mut list, mut at) = (0, 0);
    while list < N {
        while at < bytes[list].len() {
            marked[bytes[list][at] as usize] = true;
            at += 1;
        }
        (list, at) = (list + 1, 0);
    }
    marked
}

/// They end a word.
const ENDS: &[u8] = b" \t\r\n;&|()<>";
/// In PowerShell these too.
const BRACES: &[u8] = b"{}";
/// They mean more than themselves inside a word.
const MARKS: &[u8] = b"'\"\\`$@";

static POSIX_ENDS: [bool; 256] = marked([ENDS]);
static POWERSHELL_ENDS: [bool; 256] = marked([ENDS, BRACES]);
static POSIX_STOPS: [bool; 256] = marked([ENDS, MARKS]);
static POWERSHELL_STOPS: [bool; 256] = marked([ENDS, BRACES, MARKS]);
/// They mean more than themselves between double quotes.
static QUOTED_STOPS: [bool; 256] = marked([b"\"\\`$"]);

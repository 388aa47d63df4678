//! What a command prints: data on stdout, everything else on stderr, colour only for people who see
//! it.

use super::world::Output;
use crate::pipeline::progress::Notices;
use anyhow::Result;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::io::Write;
use unicode_width::UnicodeWidthChar;

/// The version of every `--json` document. Fields may be added within one; they are renamed or
/// removed only with the next (`docs/json.md`).
pub const SCHEMA_VERSION: u32 = 1;

/// The streams with the switches that every command shares. What was written to stdout before
/// something on stderr is seen before it.
pub struct Out<'w> {
    stdout: Output<'w>,
    stderr: Output<'w>,
    /// One JSON document instead of text.
    pub json: bool,
    /// The command that runs, as documents call it.
    pub command: String,
    /// The one document is printed.
    pub is_documented: bool,
    /// No notes.
    pub quiet: bool,
    colour: bool,
}

/// How a word is meant to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A heading, a name.
    Bold,
    /// Of lesser weight.
    Dim,
    /// What was looked for.
    Match,
    /// Something is wrong.
    Alarm,
}

impl Notices for Out<'_> {
    fn warn(&mut self, text: &str) -> Result<()> {
        Out::warn(self, text)
    }

    fn note(&mut self, text: &str) -> Result<()> {
        Out::note(self, text)
    }

    fn is_watched(&self) -> bool {
        self.shows_progress()
    }
}

impl<'w> Out<'w> {
    /// Takes the streams. `colour` is what the user allows; a stream that is no terminal gets none.
    pub fn new(stdout: Output<'w>, stderr: Output<'w>, colour: bool) -> Out<'w> {
        Out {
            stdout,
            stderr,
            json: false,
            command: String::new(),
            is_documented: false,
            quiet: false,
            colour,
        }
    }

    /// One line of data.
    pub fn line(&mut self, text: impl AsRef<str>) -> Result<()> {
        self.text(text)?;
        self.text("\n")
    }

    /// One line of data that is one record: on a terminal it ends where that does.
    pub fn record(&mut self, text: impl AsRef<str>) -> Result<()> {
        match self.stdout.columns {
            Some(columns) => self.line(fitted(text.as_ref(), columns)),
            None => self.line(text),
        }
    }

    /// What was done, for whoever did it: silent under `--quiet`.
    pub fn did(&mut self, text: impl AsRef<str>) -> Result<()> {
        match self.quiet {
            true => Ok(()),
            false => self.line(text),
        }
    }

    /// Data that has its own newlines. What would drive a terminal reaches none.
    pub fn text(&mut self, text: impl AsRef<str>) -> Result<()> {
        let text = match self.stdout.terminal {
            true => harmless(text.as_ref()),
            false => Cow::Borrowed(text.as_ref()),
        };
        self.stdout.to.write_all(text.as_bytes())?;
        Ok(())
    }

    /// The one document of a `--json` run: `schema_version` and `command` first, then `body`'s keys.
    pub fn document(&mut self, command: &str, body: Value) -> Result<()> {
        self.is_documented = true;
        let mut document = json!({"schema_version": SCHEMA_VERSION, "command": command});
        if let (Value::Object(all), Value::Object(body)) = (&mut document, body) {
            all.extend(body);
        }
        self.line(serde_json::to_string_pretty(&document)?)
    }

    /// A remark for people; silent under `--quiet`.
    pub fn note(&mut self, text: impl AsRef<str>) -> Result<()> {
        if !self.quiet {
            self.stdout.to.flush()?;
            writeln!(self.stderr.to, "{}", text.as_ref())?;
        }
        Ok(())
    }

    /// Something that deserves attention though the command goes on; never silent.
    pub fn warn(&mut self, text: impl AsRef<str>) -> Result<()> {
        self.stdout.to.flush()?;
        let word = paint(self.colour && self.stderr.terminal, Style::Alarm, "warning");
        writeln!(self.stderr.to, "{word}: {}", text.as_ref())?;
        Ok(())
    }

    /// The message of a command that failed, and the next thing to type.
    pub fn error(&mut self, message: &str, hint: Option<&str>) -> Result<()> {
        let colour = self.colour && self.stderr.terminal;
        let name = paint(colour, Style::Alarm, "sessionmill");
        writeln!(self.stderr.to, "{name}: {message}")?;
        if let Some(hint) = hint {
            let word = paint(colour, Style::Bold, "hint");
            writeln!(self.stderr.to, "{word}: {hint}")?;
        }
        Ok(())
    }

    /// Help, as it is written and as colours show it.
    pub fn help(&mut self, plain: &str, styled: &str) -> Result<()> {
        let shown = if self.colour && self.stdout.terminal {
            styled
        } else {
            plain
        };
        self.stdout.to.write_all(shown.as_bytes())?;
        Ok(())
    }

    /// A command line that isn't understood, and what helps.
    pub fn refusal(&mut self, plain: &str, styled: &str, hint: Option<&str>) -> Result<()> {
        let colour = self.colour && self.stderr.terminal;
        let shown = if colour { styled } else { plain };
        self.stderr.to.write_all(shown.as_bytes())?;
        if let Some(hint) = hint {
            let word = paint(colour, Style::Bold, "hint");
            writeln!(self.stderr.to, "\n{word}: {hint}")?;
        }
        Ok(())
    }

    /// A question to a person; stays on its line.
    pub fn ask(&mut self, question: &str) -> Result<()> {
        write!(self.stderr.to, "{question} ")?;
        self.stderr.to.flush()?;
        Ok(())
    }

    /// `text` as data shows it: painted only where a person sees colours.
    pub fn paint(&self, style: Style, text: &str) -> String {
        paint(self.colours_data(), style, text)
    }

    /// Whether data is painted at all.
    pub fn colours_data(&self) -> bool {
        self.colour && self.stdout.terminal && !self.json
    }

    /// Whether a progress bar has someone to look at it.
    pub fn shows_progress(&self) -> bool {
        self.stderr.terminal && !self.quiet && !self.json
    }

    /// Everything written so far reaches its reader.
    pub fn flush(&mut self) -> Result<()> {
        self.stdout.to.flush()?;
        self.stderr.to.flush()?;
        Ok(())
    }
}

/// Text without what drives a terminal: control characters but for newlines, tabs and colours, and marks
/// that turn the direction of writing.
fn harmless(text: &str) -> Cow<'_, str> {
    let drives = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(drives) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(drives) {
        kept.push_str(&rest[..at]);
        let colour = colour_bytes(&rest[at..]);
        kept.push_str(&rest[at..at + colour]);
        let next = rest[at..].chars().next().map_or(0, char::len_utf8);
        rest = &rest[at + colour.max(next)..];
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// As much of a line as so many columns show, with `…` for the rest. Colours take no place, and those
/// behind the cut stay.
fn fitted(line: &str, columns: usize) -> Cow<'_, str> {
    let pieces = || {
        let mut at = 0;
        std::iter::from_fn(move || {
            let rest = line.get(at..).filter(|rest| !rest.is_empty())?;
            let colour = colour_bytes(rest);
            let c = rest.chars().next()?;
            let bytes = if colour > 0 { colour } else { c.len_utf8() };
            let width = if colour > 0 {
                0
            } else {
                c.width().unwrap_or(0)
            };
            let piece = (&rest[..bytes], width, colour > 0);
            at += bytes;
            Some(piece)
        })
    };
    if pieces().map(|(_, width, _)| width).sum::<usize>() <= columns {
        return Cow::Borrowed(line);
    }
    let (mut kept, mut used, mut is_cut) = (String::with_capacity(line.len()), 0, false);
    for (piece, width, is_colour) in pieces() {
        if !is_colour && !is_cut && used + width >= columns {
            kept.push('…');
            is_cut = true;
        }
        if is_colour || !is_cut {
            kept.push_str(piece);
            used += width;
        }
    }
    Cow::Owned(kept)
}

/// Bytes of the colour that a text begins with; 0: it begins with none.
fn colour_bytes(text: &str) -> usize {
    let Some(codes) = text.strip_prefix("\u{1b}[") else {
        return 0;
    };
    let end = codes.find(|c: char| !c.is_ascii_digit() && c != ';');
    match end {
        Some(end) if codes[end..].starts_with('m') => "\u{1b}[".len() + end + 1,
        _ => 0,
    }
}

fn paint(colour: bool, style: Style, text: &str) -> String {
    if !colour {
        return text.to_owned();
    }
    let code = match style {
        Style::Bold => "1",
        Style::Dim => "2",
        Style::Match => "1;35",
        Style::Alarm => "1;31",
    };
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_ends_where_the_terminal_does() {
        for (text, wants) in [
            ("12345678", "12345678"),
            ("123456789", "1234567…"),
            ("検索のテス", "検索の…"),
            ("\u{1b}[1mabcdefghij\u{1b}[0m", "\u{1b}[1mabcdefg…\u{1b}[0m"),
        ] {
            assert_eq!(fitted(text, 8), wants);
        }
    }

    #[test]
    fn what_drives_a_terminal_is_left_out() {
        for (text, wants) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("a\u{1b}]0;title\u{7}b", "a]0;titleb"),
            ("\u{1b}[1;33mhit\u{1b}[0m", "\u{1b}[1;33mhit\u{1b}[0m"),
            ("\u{1b}[2Jgone\u{9b}2J", "[2Jgone2J"),
            ("nul\0, \u{202e}turned", "nul, turned"),
            ("\u{1b}", ""),
        ] {
            assert_eq!(harmless(text), wants);
        }
    }
}

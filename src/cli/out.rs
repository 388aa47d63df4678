//! What a command prints: data on stdout, everything else on stderr, colour only for people who see
//! it.

use super::world::Output;
use crate::model::inert::{escaped, is_live};
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

    /// Data that has its own newlines. What would drive a terminal is left out, also in a pipe: what is
    /// behind it may be one.
    pub fn text(&mut self, text: impl AsRef<str>) -> Result<()> {
        let text = shown(text.as_ref(), self.colours_data());
        self.stdout.to.write_all(text.as_bytes())?;
        Ok(())
    }

    /// A line for people.
    fn tell(&mut self, text: &str) -> Result<()> {
        let colour = self.colour && self.stderr.terminal;
        writeln!(self.stderr.to, "{}", shown(text, colour))?;
        Ok(())
    }

    /// The one document of a `--json` run: `schema_version` and `command` first, then `body`'s keys.
    pub fn document(&mut self, command: &str, body: Value) -> Result<()> {
        self.is_documented = true;
        let mut document = json!({"schema_version": SCHEMA_VERSION, "command": command});
        if let (Value::Object(all), Value::Object(body)) = (&mut document, body) {
            all.extend(body);
        }
        self.line(escaped(serde_json::to_string_pretty(&document)?))
    }

    /// A remark for people; silent under `--quiet`.
    pub fn note(&mut self, text: impl AsRef<str>) -> Result<()> {
        if !self.quiet {
            self.stdout.to.flush()?;
            self.tell(text.as_ref())?;
        }
        Ok(())
    }

    /// Something that deserves attention though the command goes on; never silent.
    pub fn warn(&mut self, text: impl AsRef<str>) -> Result<()> {
        self.stdout.to.flush()?;
        let word = paint(self.colour && self.stderr.terminal, Style::Alarm, "warning");
        self.tell(&format!("{word}: {}", text.as_ref()))
    }

    /// The message of a command that failed, and the next thing to type.
    pub fn error(&mut self, message: &str, hint: Option<&str>) -> Result<()> {
        let colour = self.colour && self.stderr.terminal;
        let name = paint(colour, Style::Alarm, "sessionmill");
        self.tell(&format!("{name}: {message}"))?;
        if let Some(hint) = hint {
            let word = paint(colour, Style::Bold, "hint");
            self.tell(&format!("{word}: {hint}"))?;
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
            self.tell(&format!("\n{word}: {hint}"))?;
        }
        Ok(())
    }

    /// A question to a person; stays on its line.
    pub fn ask(&mut self, question: &str) -> Result<()> {
        write!(self.stderr.to, "{} ", shown(question, false))?;
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

/// Text as a stream gets it: nothing in it drives a terminal but our own colours, where those are wanted,
/// and none of them goes on behind its line.
fn shown(text: &str, colour: bool) -> Cow<'_, str> {
    if !text.contains(|c| is_live(c) || code(c).is_some()) {
        return Cow::Borrowed(text);
    }
    let (mut kept, mut is_open) = (String::with_capacity(text.len()), false);
    for c in text.chars() {
        let wanted = code(c).filter(|_| colour);
        match wanted {
            Some(code) => {
                kept.push_str(code);
                is_open = c != PLAIN;
            }
            None if is_live(c) || code(c).is_some() => {}
            None => {
                if c == '\n' && std::mem::take(&mut is_open) {
                    kept.push_str(RESET);
                }
                kept.push(c);
            }
        }
    }
    Cow::Owned(kept)
}

/// As much of a line as so many columns show, with `…` for the rest. Colours take no place, and those
/// behind the cut stay.
fn fitted(line: &str, columns: usize) -> Cow<'_, str> {
    let pieces = || {
        line.char_indices().map(|(at, c)| {
            let is_colour = code(c).is_some();
            let width = match is_colour || is_live(c) {
                true => 0,
                false => c.width().unwrap_or(0),
            };
            (&line[at..at + c.len_utf8()], width, is_colour)
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

/// Where a style ends. Text carries styles as noncharacters, which Unicode keeps for a program's own use:
/// so no escape sequence of a log passes for one of ours.
const PLAIN: char = '\u{fdd0}';
const RESET: &str = "\u{1b}[0m";

/// What a terminal is sent for a style's mark.
fn code(mark: char) -> Option<&'static str> {
    match mark {
        PLAIN => Some(RESET),
        '\u{fdd1}' => Some("\u{1b}[1m"),
        '\u{fdd2}' => Some("\u{1b}[2m"),
        '\u{fdd3}' => Some("\u{1b}[1;35m"),
        '\u{fdd4}' => Some("\u{1b}[1;31m"),
        _ => None,
    }
}

fn paint(colour: bool, style: Style, text: &str) -> String {
    if !colour {
        return text.to_owned();
    }
    let mark = match style {
        Style::Bold => '\u{fdd1}',
        Style::Dim => '\u{fdd2}',
        Style::Match => '\u{fdd3}',
        Style::Alarm => '\u{fdd4}',
    };
    format!("{mark}{text}{PLAIN}")
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
            ("\u{fdd1}abcdefghij\u{fdd0}", "\u{fdd1}abcdefg…\u{fdd0}"),
        ] {
            assert_eq!(fitted(text, 8), wants);
        }
    }

    #[test]
    fn no_escape_sequence_but_our_own_colours_is_shown() {
        let hit = format!("a {} b", paint(true, Style::Match, "hit"));
        assert_eq!(shown(&hit, true), "a \u{1b}[1;35mhit\u{1b}[0m b");
        assert_eq!(shown(&hit, false), "a hit b");
        assert_eq!(shown("\u{1b}[1;35mhit\u{1b}[0m", true), "[1;35mhit[0m");
        assert_eq!(
            shown("\u{fdd4}no end\nb", true),
            "\u{1b}[1;31mno end\u{1b}[0m\nb"
        );
    }
}

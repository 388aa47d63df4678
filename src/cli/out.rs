//! What a command prints: data on stdout, everything else on stderr, colour only for people who see
//! it.

use super::switches::ColorMode;
use super::world::Output;
use crate::host::process;
use crate::model::inert::escaped;
pub use crate::model::layout::style::Style;
use crate::model::layout::style::{self, Looks, has_links, shown};
use crate::model::layout::table::{COLUMNS_MAX, INDENT};
use crate::model::layout::wrap::{hanging, said};
use crate::pipeline::progress::Notices;
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;

/// The version of every `--json` document. Fields may be added within one; they are renamed or
/// removed only with the next (`docs/json.md`).
pub const SCHEMA_VERSION: u32 = 1;

/// The streams with the switches that every command shares. What was written to stdout before
/// something on stderr is seen before it.
pub struct Out<'w> {
    stdout: Output<'w>,
    /// Where data goes once a pager has ended.
    unpaged: Option<Box<dyn Write + 'w>>,
    stderr: Output<'w>,
    /// One JSON document instead of text.
    pub json: bool,
    /// The command that runs, as documents call it.
    pub command: String,
    /// The one document is printed.
    pub is_documented: bool,
    /// No notes.
    pub quiet: bool,
    /// What data may look like, and what is told beside it.
    data: Looks,
    told: Looks,
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
    /// Takes the streams. `mode` is what the user says of colours; where that leaves it open, a stream
    /// that is no terminal gets none.
    pub fn new(
        stdout: Output<'w>,
        stderr: Output<'w>,
        mode: ColorMode,
        vars: &BTreeMap<String, String>,
    ) -> Out<'w> {
        let looks = |terminal: bool| {
            let colour = mode.paints(terminal, vars);
            let links = colour && terminal && has_links(vars);
            Looks { colour, links }
        };
        Out {
            data: looks(stdout.terminal),
            told: looks(stderr.terminal),
            stdout,
            unpaged: None,
            stderr,
            json: false,
            command: String::new(),
            is_documented: false,
            quiet: false,
        }
    }

    /// One line of data.
    pub fn line(&mut self, text: impl AsRef<str>) -> Result<()> {
        self.text(text)?;
        self.text("\n")
    }

    /// Words that go on under `next` where the terminal ends.
    pub fn words(&mut self, first: &str, next: &str, text: &str) -> Result<()> {
        let columns = self.columns().map(|columns| columns.min(COLUMNS_MAX));
        self.text(hanging(text, first, next, columns))
    }

    /// A line of data that goes on below itself, indented, where the terminal ends.
    pub fn wrapped(&mut self, text: impl AsRef<str>) -> Result<()> {
        self.words("", INDENT, text.as_ref())
    }

    /// What was done, for whoever did it: silent under `--quiet`.
    pub fn did(&mut self, text: impl AsRef<str>) -> Result<()> {
        match self.quiet {
            true => Ok(()),
            false => self.wrapped(text),
        }
    }

    /// Data that has its own newlines. What would drive a terminal is left out, also in a pipe: what is
    /// behind it may be one.
    pub fn text(&mut self, text: impl AsRef<str>) -> Result<()> {
        let text = shown(text.as_ref(), self.data);
        self.stdout.to.write_all(text.as_bytes())?;
        Ok(())
    }

    /// Lines for programs, as they are. Not for a terminal.
    pub fn data(&mut self) -> &mut dyn Write {
        &mut self.stdout.to
    }

    /// Lines for people; where a terminal ends, they go on below, indented.
    fn tell(&mut self, text: &str) -> Result<()> {
        let columns = self.stderr.columns.filter(|_| self.stderr.terminal);
        let text = said(
            text,
            INDENT,
            columns.map(|columns| columns.min(COLUMNS_MAX)),
        );
        write!(self.stderr.to, "{}", shown(&text, self.told))?;
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
        let word = style::paint(Style::Alarm, "warning");
        self.tell(&format!("{word}: {}", text.as_ref()))
    }

    /// The message of a command that failed, and the next thing to type.
    pub fn error(&mut self, message: &str, hint: Option<&str>) -> Result<()> {
        let word = style::paint(Style::Alarm, "error");
        self.tell(&format!("{word}: {message}"))?;
        if let Some(hint) = hint {
            let word = style::paint(Style::Bold, "hint");
            self.tell(&format!("{word}: {hint}"))?;
        }
        Ok(())
    }

    /// Help, as it is written and as colours show it.
    pub fn help(&mut self, plain: &str, styled: &str) -> Result<()> {
        let shown = if self.data.colour { styled } else { plain };
        self.stdout.to.write_all(shown.as_bytes())?;
        Ok(())
    }

    /// Help for whoever didn't ask for it.
    pub fn help_beside(&mut self, plain: &str, styled: &str) -> Result<()> {
        let shown = if self.told.colour { styled } else { plain };
        self.stderr.to.write_all(shown.as_bytes())?;
        Ok(())
    }

    /// A question to a person; stays on its line.
    pub fn ask(&mut self, question: &str) -> Result<()> {
        write!(self.stderr.to, "{} ", shown(question, Looks::default()))?;
        self.stderr.to.flush()?;
        Ok(())
    }

    /// `text` in a style, which is shown where a person sees colours.
    pub fn paint(&self, style: Style, text: &str) -> String {
        style::paint(style, text)
    }

    /// How wide the terminal is that data goes to; `None`: it goes to none.
    pub fn columns(&self) -> Option<usize> {
        self.stdout.columns.filter(|_| self.stdout.terminal)
    }

    /// Data goes through the user's pager from here on, where a person looks at it.
    pub fn page(&mut self, vars: &BTreeMap<String, String>) -> Result<()> {
        if self.stdout.terminal && !self.json {
            self.flush()?;
            if let Some(pager) = process::pager(vars)? {
                let pager = Box::new(std::io::BufWriter::new(pager));
                let own = std::mem::replace(&mut self.stdout.to, pager);
                self.unpaged.get_or_insert(own);
            }
        }
        Ok(())
    }

    /// Waits until a person leaves the pager, after which data goes where it went before; whether there was
    /// one.
    pub fn end_page(&mut self) -> Result<bool> {
        let Some(own) = self.unpaged.take() else {
            return Ok(false);
        };
        // a person may have left it before its end
        let _ = self.stdout.to.flush();
        drop(std::mem::replace(&mut self.stdout.to, own));
        Ok(true)
    }

    /// A person looks at what is printed.
    pub fn is_terminal(&self) -> bool {
        self.stdout.terminal
    }

    /// They see it in colours.
    pub fn has_colour(&self) -> bool {
        self.data.colour
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

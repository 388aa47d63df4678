//! Who really spoke: what of a text in role user a person typed (formats § 4, § 8.3). Knows the
//! table of wrappers, reminders and injected blocks, ours among them.

use super::table;
use memchr::{memchr3, memmem};
use serde::Deserialize;
use std::borrow::Cow;
use std::sync::LazyLock;

/// What a text of role user is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spoken<'a> {
    /// A person's words, trimmed; borrowed where they stand together in the text.
    Words(Cow<'a, str>),
    /// Nobody said it; the word is the ledger's reason (`empty` for blank text).
    Machine(&'static str),
}

/// The ledger's reason for what agents were given by us.
pub const OWN: &str = "own memory";

/// Whether a machine's text, as it is or as JSON, has a memory block of ours. One scan.
pub fn is_ours(text: &[u8]) -> bool {
    memmem::find(text, b"<graphiti_memory").is_some()
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    open: String,
    close: Option<String>,
    how: How,
    unclosed: Option<Unclosed>,
    #[serde(default)]
    last: bool,
    reason: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests check them"))]
    machine: Vec<String>,
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "tests check them"))]
    words: Vec<(String, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum How {
    Anywhere,
    Edge,
    Whole,
    Slash,
    Shell,
    After,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Unclosed {
    Machine,
}

/// What an agent puts into texts of role user: its own rows, after those of all agents.
pub struct Injected {
    anywhere: Vec<&'static Row>,
    edge: Vec<&'static Row>,
    /// Those whose opening has none of the characters that mark a text.
    plain: Vec<&'static Row>,
}

static COMMON: LazyLock<Vec<Row>> = LazyLock::new(|| table::rows(table::embedded!("injected")));

impl Injected {
    /// The table lives as long as the program: make one per agent.
    ///
    /// # Panics
    /// When the embedded table doesn't fit its rows; every table has a test that reads it.
    pub fn of(embedded: &'static str) -> Injected {
        let own: &'static [Row] = table::rows::<Vec<Row>>(embedded).leak();
        let rows = || COMMON.iter().chain(own);
        let marked = |row: &&Row| memchr3(b'<', b'[', b'#', row.open.as_bytes()).is_some();
        Injected {
            anywhere: rows().filter(|row| row.how == How::Anywhere).collect(),
            edge: rows().filter(|row| row.how != How::Anywhere).collect(),
            plain: rows().filter(|row| !marked(row)).collect(),
        }
    }

    /// What a person said in a text of role user: wrappers, reminders, injected blocks and our own
    /// memory blocks taken out. A block that a person merely mentions stays, but for ours and reminders
    /// (invariant 10). Without `<`, `[` or `#` in the text it costs one scan.
    pub fn people_words<'t>(&self, text: &'t str) -> Spoken<'t> {
        let whole = text.trim();
        if whole.is_empty() {
            return Spoken::Machine("empty");
        }
        let marked = memchr3(b'<', b'[', b'#', whole.as_bytes()).is_some();
        if !marked {
            let fits = |row: &&'static Row| {
                row.opens(whole) || row.how == How::Edge && row.at_end(whole).is_some()
            };
            return match self.plain.iter().any(fits) {
                true => self.edges(whole, None),
                false => Spoken::Words(Cow::Borrowed(whole)),
            };
        }
        let mut reason = None;
        match self.without_blocks(whole, &mut reason) {
            None => self.edges(whole, reason),
            Some(rest) => match self.edges(rest.trim(), reason) {
                Spoken::Words(words) => Spoken::Words(Cow::Owned(words.into_owned())),
                Spoken::Machine(reason) => Spoken::Machine(reason),
            },
        }
    }
}

impl Row {
    fn reason(&'static self) -> &'static str {
        &self.reason
    }

    fn close(&self) -> &str {
        self.close.as_deref().unwrap_or_default()
    }

    /// `text` begins with the opening; a tag's name must end there.
    fn opens(&self, text: &str) -> bool {
        text.strip_prefix(self.open.as_str())
            .is_some_and(|rest| !self.is_open_tag() || rest.starts_with(['>', ' ', '\n', '\t']))
    }

    /// The opening is a tag whose attributes may follow.
    fn is_open_tag(&self) -> bool {
        self.open.starts_with('<') && !self.open.ends_with('>')
    }

    /// Where the block ends that begins `text`.
    fn end(&self, text: &str) -> Option<usize> {
        let close = self.close().as_bytes();
        let from = self.open.len().min(text.len());
        let rest = &text.as_bytes()[from..];
        let at = match self.last {
            true => memmem::rfind(rest, close),
            false => memmem::find(rest, close),
        };
        at.map(|at| from + at + close.len())
    }

    /// Where the outermost block ends that begins `text`, blocks of its kind inside it counted.
    fn outer_end(&self, text: &str) -> Option<usize> {
        let mut depth = 1usize;
        let mut at = self.open.len();
        while depth > 0 {
            let close = at + text[at..].find(self.close())?;
            let inner = text[at..close]
                .match_indices(self.open.as_str())
                .filter(|(found, _)| self.opens(&text[at + found..]))
                .count();
            depth = depth + inner - 1;
            at = close + self.close().len();
        }
        Some(at)
    }
}

impl Injected {
    /// The text without the blocks that are taken out anywhere; absent when there are none. One
    /// that never ends is taken out only where it begins the text.
    fn without_blocks(&self, text: &str, reason: &mut Option<&'static str>) -> Option<String> {
        let mut kept: Option<String> = None;
        let mut from = 0;
        let mut at = 0;
        while let Some(found) = memchr::memchr(b'<', &text.as_bytes()[at..]) {
            at += found;
            let rest = &text[at..];
            let Some(row) = self.anywhere.iter().find(|row| row.opens(rest)) else {
                at += 1;
                continue;
            };
            let end = row.outer_end(rest);
            let Some(end) = end.or((at == 0).then_some(rest.len())) else {
                at += 1;
                continue;
            };
            reason.get_or_insert_with(|| row.reason());
            kept.get_or_insert_default().push_str(&text[from..at]);
            at += end;
            from = at;
        }
        if let Some(kept) = &mut kept {
            kept.push_str(&text[from..]);
        }
        kept
    }

    /// Takes blocks off both ends until none is left, then reads what remains.
    fn edges<'t>(&self, text: &'t str, reason: Option<&'static str>) -> Spoken<'t> {
        let mut rest = text;
        let mut why = reason;
        while !rest.is_empty() {
            match self.edge.iter().find_map(|row| row.step(rest)) {
                None => return Spoken::Words(Cow::Borrowed(rest)),
                Some(Step::Rest(left, reason)) => {
                    rest = left;
                    why.get_or_insert(reason);
                }
                Some(Step::Done(spoken)) => return spoken,
            }
        }
        Spoken::Machine(why.unwrap_or("empty"))
    }
}

/// What one row makes of a text.
enum Step<'t> {
    /// Something was taken off.
    Rest(&'t str, &'static str),
    /// The text is understood.
    Done(Spoken<'t>),
}

impl Row {
    fn step<'t>(&'static self, text: &'t str) -> Option<Step<'t>> {
        let opens = self.opens(text);
        let machine = || Step::Done(Spoken::Machine(self.reason()));
        match self.how {
            How::Anywhere => None,
            How::Whole => opens.then(machine),
            How::Edge if opens => match self.end(text) {
                Some(end) => Some(Step::Rest(text[end..].trim_start(), self.reason())),
                None => self.unclosed.map(|_| machine()),
            },
            How::Edge => self.at_end(text),
            How::Slash if opens => Some(match slash(text) {
                Some(words) => Step::Done(Spoken::Words(Cow::Owned(words))),
                None => machine(),
            }),
            How::Shell if opens => Some(match shell(text, &self.open, self.close()) {
                Some(words) => Step::Done(Spoken::Words(Cow::Owned(words))),
                None => machine(),
            }),
            How::After if opens => {
                let at = line_start(text, self.close())?;
                let words = text[at + self.close().len()..].trim();
                Some(Step::Rest(words, self.reason()))
            }
            How::Slash | How::Shell | How::After => None,
        }
    }

    /// A block on lines of its own that ends `text`.
    fn at_end<'t>(&'static self, text: &'t str) -> Option<Step<'t>> {
        let close = self.close();
        if !text.ends_with(close) {
            return None;
        }
        let at = text.rfind(self.open.as_str())?;
        let own_line = text[..at].ends_with('\n');
        let ends = self.opens(&text[at..]) && self.end(&text[at..]) == Some(text.len() - at);
        (own_line && ends).then(|| Step::Rest(text[..at].trim_end(), self.reason()))
    }
}

/// `/name args` out of a slash command's wrapper; absent when no person typed it.
fn slash(text: &str) -> Option<String> {
    let name = between(text, "<command-name>", "</command-name>")?.trim();
    if name.is_empty() || text.contains("<skill-format>") && !name.starts_with('/') {
        return None;
    }
    let args = between(text, "<command-args>", "</command-args>").unwrap_or_default();
    let stroke = if name.starts_with('/') { "" } else { "/" };
    Some(
        format!("{stroke}{name} {}", args.trim())
            .trim_end()
            .to_owned(),
    )
}

/// `!command` out of a shell command's wrapper.
fn shell(text: &str, open: &str, close: &str) -> Option<String> {
    let inner = between(text, open, close).unwrap_or(text[open.len()..].trim());
    let command = between(inner, "<command>", "</command>").unwrap_or(inner);
    let command = command.trim();
    (!command.is_empty()).then(|| format!("!{command}"))
}

fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    let from = text.find(open)? + open.len();
    let to = from + text[from..].find(close)?;
    Some(&text[from..to])
}

/// Where a line begins with `mark`.
fn line_start(text: &str, mark: &str) -> Option<usize> {
    text.match_indices(mark)
        .map(|(at, _)| at)
        .find(|at| *at == 0 || text[..*at].ends_with('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::registry;
    use proptest::prelude::*;

    #[test]
    fn each_row_knows_its_samples() {
        for agent in registry::all() {
            let table = agent.injected();
            for row in table.anywhere.iter().chain(&table.edge) {
                assert!(!row.machine.is_empty(), "{} has no sample", row.open);
                for sample in &row.machine {
                    let spoken = table.people_words(sample);
                    assert_eq!(spoken, Spoken::Machine(row.reason()), "{sample}");
                }
                for (sample, words) in &row.words {
                    let spoken = table.people_words(sample);
                    assert_eq!(spoken, Spoken::Words(words.into()), "{sample}");
                }
            }
        }
    }

    fn claude() -> &'static Injected {
        registry::find(registry::first()).unwrap().injected()
    }

    #[test]
    fn our_own_blocks_are_recognised_in_machines_text_too() {
        let row = COMMON.iter().find(|row| is_ours(row.open.as_bytes()));
        assert_eq!(row.map(Row::reason), Some(OWN));
        assert!(is_ours(
            br#"{"stdout":"{\"additionalContext\":\"<graphiti_memory>\\n- x"}"#
        ));
        assert!(!is_ours(b"what is graphiti_memory?"));
    }

    #[test]
    fn plain_words_are_borrowed() {
        for text in ["fix the build", "a < b and [x](y) # c", "日本語 <b>x</b>"] {
            for agent in registry::all() {
                let Spoken::Words(Cow::Borrowed(words)) = agent.injected().people_words(text)
                else {
                    panic!("{text}");
                };
                assert_eq!(words, text);
            }
        }
    }

    #[test]
    fn one_agents_wrappers_are_words_to_the_other() {
        let text = "<skill>x</skill>";
        assert_eq!(claude().people_words(text), Spoken::Words(text.into()));
    }

    #[test]
    fn blocks_of_several_kinds_come_off_in_any_order() {
        let text = "<ide_opened_file>a</ide_opened_file>\n<system-reminder>b</system-reminder>\n\
                    please go on\n<ide_selection>c</ide_selection>\n<graphiti_memory>d</graphiti_memory>";
        let spoken = claude().people_words(text);
        assert_eq!(spoken, Spoken::Words("please go on".into()));
    }

    proptest! {
        #[test]
        fn nothing_panics(text in r#"(<graphiti_memory|</graphiti_memory>|<image|</image>|>|<command-name>|</command-name>|\[Request interrupted by user|\]|\n|é|# |## My request for Codex:|<skill>|</skill>|<bash-input>|x| ){0,14}"#) {
            for agent in registry::all() {
                agent.injected().people_words(&text);
            }
        }
    }
}

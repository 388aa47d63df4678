//! What came of a session, in the agent's words: those that end the last work that was asked for. What answers a
//! side question, thanks, announces or offers is no result.

use super::further::{asks_for_work, changes, exchange};
use super::line::LocatedItem;
use super::objective::Prompt;
use super::tasks::is_about_next;
use super::words::folded;
use crate::model::exchange::ItemKind;
use crate::model::summary::Sourced;
use crate::rules::requests::{is_chatter, offered};
use crate::rules::words::sentences;

/// Shorter ones say that something is done, not what.
const RESULT_CHARS_MIN: usize = 40;

/// The result; `None` where the agent said nothing.
pub fn result(lines: &[LocatedItem<'_>], prompts: &[Prompt<'_, '_>]) -> Option<Sourced<String>> {
    let opening = prompts
        .iter()
        .filter(|prompt| prompt.line.item.kind == ItemKind::Prompt);
    let answers: Vec<Answer<'_, '_>> = opening
        .filter_map(|prompt| Answer::of(lines, prompt))
        .collect();
    let of_work = answers.iter().rev().find(|answer| answer.is_work);
    let of_ask = || answers.iter().find(|answer| answer.says);
    let told = of_work.or_else(of_ask).or_else(|| answers.last());
    let line = match told {
        Some(answer) => answer.line,
        None => lines
            .iter()
            .rev()
            .find(|line| line.main && line.item.kind == ItemKind::Agent)?,
    };
    Some(line.source(beginning(line.words())?))
}

/// The words that end what follows a prompt.
struct Answer<'l, 't> {
    line: &'l LocatedItem<'t>,
    /// Work was asked for or done, and the words say what came of it.
    is_work: bool,
    /// The words say more than that it is done.
    says: bool,
}

impl<'l, 't> Answer<'l, 't> {
    fn of(lines: &'l [LocatedItem<'t>], prompt: &Prompt<'_, '_>) -> Option<Answer<'l, 't>> {
        let exchange = exchange(lines, prompt.at);
        let mut words = exchange.iter().rev().filter(|line| line.main);
        let line = words.find(|line| line.item.kind == ItemKind::Agent)?;
        let length = beginning(line.words()).map_or(0, |text| text.chars().count());
        let says = length >= RESULT_CHARS_MIN;
        let is_changed = || {
            exchange
                .iter()
                .flat_map(|line| line.item.findings)
                .any(changes)
        };
        Some(Answer {
            line,
            is_work: says && (asks_for_work(prompt) || is_changed()),
            says,
        })
    }
}

/// How an agent's words begin: sentences as they are, without chatter, headings, tables, code, questions and
/// offers; `None` where nothing else is there.
pub fn beginning(words: &str) -> Option<String> {
    let mut inside_code = false;
    let mut text = String::new();
    let mut lines = 0;
    for line in words.lines().map(str::trim_end) {
        let bare = line.trim_start();
        let fence = bare.starts_with("```");
        inside_code ^= fence;
        if !text.is_empty() && is_about_next(bare) || lines == BEGINNING_LINES_MAX {
            break;
        }
        if fence || inside_code || is_drawn(bare) {
            continue;
        }
        let said = said(line, text.is_empty());
        if said.is_empty() {
            continue;
        }
        if text.len() + said.len() > BEGINNING_BYTES_MAX {
            if text.is_empty() {
                text = cut(&said);
            }
            break;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&said);
        lines += 1;
    }
    // what it announces was left out
    while let Some(end) = text.rfind('\n').filter(|_| text.ends_with(':')) {
        text.truncate(end);
    }
    (!text.is_empty()).then_some(text)
}

/// More: the summary is a log again; fewer: the result stands behind.
const BEGINNING_LINES_MAX: usize = 6;
const BEGINNING_BYTES_MAX: usize = 500;

/// Rules, tables, headings, and what is for an agent's own window.
fn is_drawn(line: &str) -> bool {
    let is_rule = line.chars().all(|c| matches!(c, '-' | '=' | '*' | '_'));
    // `::git-push{…}` is for Codex' own window
    let is_directive = line.starts_with("::") && line.ends_with('}');
    let is_bold = line.starts_with("**") && line.trim_end_matches(':').ends_with("**");
    let words = line.split_whitespace().count();
    let is_heading = (line.starts_with('#') || is_bold) && words <= HEADING_WORDS_MAX;
    is_rule || is_directive || is_heading || line.starts_with('|')
}

/// Longer ones state something.
const HEADING_WORDS_MAX: usize = 6;

/// What a line states; `first`: nothing was stated yet.
fn said(line: &str, first: bool) -> String {
    let indent = &line[..line.len() - line.trim_start().len()];
    let bare = line.trim_start().trim_start_matches('#').trim_start();
    let mut out = String::new();
    let text = folded(bare);
    for sentence in sentences(&text) {
        let opens = first && out.is_empty();
        let asks = sentence
            .trim_end_matches(['*', '_', '"', ')'])
            .ends_with('?');
        if asks || offered(sentence).is_some() || opens && is_chatter(sentence) {
            continue;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(sentence);
    }
    match out.is_empty() {
        true => out,
        false => format!("{indent}{out}"),
    }
}

/// As many sentences as fit.
fn cut(text: &str) -> String {
    let mut out = String::new();
    for sentence in sentences(text) {
        if out.len() + sentence.len() > BEGINNING_BYTES_MAX {
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(sentence);
    }
    match out.is_empty() {
        true => format!("{}…", super::words::clipped(text, BEGINNING_BYTES_MAX / 2)),
        false => out,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_is_what_states_something() {
        for (words, wants) in [
            (
                "## Done\n\nAll pass.\n::git-push{cwd=\"/p\"}\n```\ncode\n```\n---\n| a | b |\n- one",
                Some("All pass.\n- one"),
            ),
            (
                "Done!\n\nThe cart adds up again.",
                Some("The cart adds up again."),
            ),
            (
                "Great question! The cache is read twice. Shall I mend it?",
                Some("The cache is read twice."),
            ),
            (
                "It works now.\n\nIf you want, I can push it.",
                Some("It works now."),
            ),
            ("It works.\n\n**Next steps:**\n- push", Some("It works.")),
            ("Three faults:\n\n```\nx\n```", Some("Three faults:")),
            (
                "Two remarks stay.\n\nThe rest:\n| a | b |",
                Some("Two remarks stay."),
            ),
            ("```\nx\n```", None),
        ] {
            assert_eq!(beginning(words).as_deref(), wants, "{words}");
        }
        let long = beginning(&"Many words here. ".repeat(90)).unwrap();
        assert!(long.len() <= BEGINNING_BYTES_MAX, "{long}");
        let many = beginning(&"line\n".repeat(20)).unwrap();
        assert_eq!(many.lines().count(), BEGINNING_LINES_MAX);
    }
}

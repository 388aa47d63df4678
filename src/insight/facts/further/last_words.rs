//! The agent's last words about a request, where no answer of the session's results is its.

use super::super::line::LocatedItem;
use super::super::prompts::{Prompt, exchange, opens, starts};
use super::super::remarks::{so_far, states};
use super::super::stated::{STEP_BYTES_MAX, one_line, stated_first};
use super::super::verdicts::{asks as asks_question, with_verdict};
use super::super::words::shortened;
use crate::model::exchange::{INTERRUPTED, ItemKind};
use crate::rules::replies::{Reply, reply};
use crate::rules::requests::is_idle;
use crate::rules::words::{content_words, is_same};

/// Fewer say that something is done, not what.
const SAID_CHARS_MIN: usize = 40;
const AGREED_CHARS_MIN: usize = 16;

/// What the agent's words state that end what follows a prompt, in a line, where they do more than ask. What somebody
/// types while the agent works is answered by its next words, if these are about the same.
pub(super) fn last_said(lines: &[LocatedItem<'_>], prompt: &Prompt<'_, '_>) -> Option<String> {
    // what was agreed on is in the question: `Posted: shop PR #7`
    let chars_min = match reply(prompt.line.words()) {
        Some(Reply::Agrees) => AGREED_CHARS_MIN,
        _ => SAID_CHARS_MIN,
    };
    const ANSWER_BYTES_MIN: usize = 400;
    let mut main = exchange(lines, prompt.at).iter().filter(|line| line.main);
    let is_note =
        |line: &&LocatedItem<'_>| line.item.kind == ItemKind::Note && line.words() != INTERRUPTED;
    let is_aside = !starts(lines, prompt.at);
    let last = match is_aside {
        true => main.find(|line| line.item.kind == ItemKind::Agent),
        false => main.rfind(|line| !is_note(line)),
    };
    let last = last?;
    let words = last.words().trim_end();
    let asks = words.ends_with('?') && words.len() < ANSWER_BYTES_MIN;
    let is_said = last.item.kind == ItemKind::Agent && !words.ends_with(':') && !asks;
    let stated = stated_first(is_said.then_some(words)?);
    let said = |bytes| Some(one_line(&stated, bytes));
    let said = match asks_question(prompt) {
        true => with_verdict(words, STEP_BYTES_MAX, said),
        false => said(STEP_BYTES_MAX),
    };
    let said = said.unwrap_or_default();
    let is_short = !is_aside && said.chars().count() < chars_min && !said.is_empty();
    let said = match is_short.then(|| said_before(lines, prompt, last)).flatten() {
        Some(before) => format!("{before} {said}"),
        None => said,
    };
    let is_about = || {
        let own = content_words(prompt.line.words());
        let own: Vec<&String> = own.iter().filter(|word| !is_idle(word)).collect();
        let told = content_words(&said);
        own.iter()
            .any(|own| told.iter().any(|told| is_same(own, told)))
    };
    let is_plan = || said.contains("I'll ") || said.contains("I’ll ");
    let is_it = !is_aside || is_about() && !is_plan();
    (said.chars().count() >= chars_min && is_it).then_some(said)
}

/// What the agent's last remarks state, in a line, where the log breaks off during work on this.
pub(super) fn said_so_far(lines: &[LocatedItem<'_>], prompt: &Prompt<'_, '_>) -> Option<String> {
    const CHARS_MAX: usize = 300;
    let is_last = !lines[prompt.at + 1..].iter().any(opens);
    // what was said before somebody typed this is no answer to it
    let said = is_last.then(|| so_far(&lines[prompt.at..])).flatten()?.what;
    Some(shortened(&said.replace('\n', " "), CHARS_MAX))
}

/// What the agent's words before its last ones state, where files were changed between: those may only say that it is
/// done.
fn said_before(
    lines: &[LocatedItem<'_>],
    prompt: &Prompt<'_, '_>,
    last: &LocatedItem<'_>,
) -> Option<String> {
    let mut main = exchange(lines, prompt.at).iter().filter(|line| line.main);
    let mut before = main
        .by_ref()
        .take_while(|line| !std::ptr::eq(*line, last))
        .collect::<Vec<_>>();
    let mut is_changed = false;
    while let Some(line) = before.pop() {
        is_changed |= line.is_edit();
        if line.item.kind == ItemKind::Agent {
            let said = one_line(&stated_first(line.words()), STEP_BYTES_MAX);
            let is_statement = is_changed && states(line.words()) && said.ends_with('.');
            return is_statement.then_some(said);
        }
    }
    None
}

/// Where what somebody typed while the agent worked on this stands, if these words answer that, and not this.
pub(super) fn answers_aside(
    lines: &[LocatedItem<'_>],
    prompt: &Prompt<'_, '_>,
    said: &str,
) -> Option<usize> {
    const ASKED_WORDS_MIN: usize = 2;
    let exchange = exchange(lines, prompt.at);
    let is_aside = |line: &LocatedItem<'_>| {
        line.main && line.item.kind == ItemKind::Aside && !line.words().starts_with(['<', '{'])
    };
    let aside = exchange.iter().rposition(is_aside)?;
    let told = content_words(said);
    let shared = |asked: &str| {
        let asked = content_words(asked);
        let asked: Vec<&String> = asked.iter().filter(|word| !is_idle(word)).collect();
        let is_told = |word: &&&String| told.iter().any(|told| is_same(told, word));
        (asked.iter().filter(is_told).count(), asked.len())
    };
    let (own, asked) = shared(prompt.line.words());
    let is_other = own == 0 && asked >= ASKED_WORDS_MIN && shared(exchange[aside].words()).0 > 0;
    is_other.then_some(prompt.at + 1 + aside)
}

/// What the agent said to it before it asked further questions in forms, where these words are about the prompt and the
/// last ones, which `said` has, are not.
pub(super) fn said_before_forms(
    lines: &[LocatedItem<'_>],
    prompt: &Prompt<'_, '_>,
    said: &str,
) -> Option<String> {
    let exchange = exchange(lines, prompt.at);
    let form = exchange
        .iter()
        .position(|line| line.main && line.is_form())?;
    let mut before = exchange[..form].iter().filter(|line| line.main);
    let first = before.find(|line| line.item.kind == ItemKind::Agent)?;
    let own = content_words(prompt.line.words());
    let is_it = shared(&own, first.words()) > shared(&own, said) && states(first.words());
    let told = one_line(&stated_first(is_it.then(|| first.words())?), STEP_BYTES_MAX);
    (told.chars().count() >= SAID_CHARS_MIN).then_some(told)
}

/// How many of these words a text has.
fn shared(own: &[String], text: &str) -> usize {
    let told = content_words(text);
    let own = own.iter().filter(|word| !is_idle(word));
    own.filter(|own| told.iter().any(|told| is_same(own, told)))
        .count()
}

/// What the agent stated last before a place, in a line.
pub(super) fn said_until(
    lines: &[LocatedItem<'_>],
    prompt: &Prompt<'_, '_>,
    until: usize,
) -> Option<String> {
    let before = lines[prompt.at + 1..until].iter().rev();
    let mut before = before.filter(|line| line.main && line.item.kind == ItemKind::Agent);
    let words = before.next()?.words();
    let said = one_line(&stated_first(words), STEP_BYTES_MAX);
    (said.chars().count() >= AGREED_CHARS_MIN && states(words)).then_some(said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::facts::prompts::prompts;

    #[test]
    fn words_before_forms_answer_and_words_before_the_prompt_do_not() {
        let first = "Agent: The export names the files of invoices by their month and number.";
        let items = [
            (
                ItemKind::Agent,
                "Agent: The old carts are gone from every page and table of the shop.",
            ),
            (
                ItemKind::Prompt,
                "User: how does the export name the files of invoices",
            ),
            (ItemKind::Agent, first),
            (
                ItemKind::Digest,
                "Action: AskUserQuestion(Which page next?) → Shops",
            ),
        ];
        let lines: Vec<LocatedItem<'_>> = items
            .iter()
            .zip(1..)
            .map(|((kind, text), line)| LocatedItem::sample(*kind, line, text, &[]))
            .collect();
        let last = "The page of shops has a table with all totals now.";
        let before = |lines: &[LocatedItem<'_>], said: &str| {
            said_before_forms(lines, &prompts(lines)[0], said)
        };
        let wants = first.strip_prefix("Agent: ").map(str::to_owned);
        assert_eq!(before(&lines, last), wants);
        assert_eq!(
            before(&lines, &format!("{first} {last}")),
            None,
            "said again"
        );
        assert_eq!(before(&lines[..3], last), None, "no form");
        let so_far = said_so_far(&lines[..2], &prompts(&lines[..2])[0]);
        assert_eq!(so_far, None, "{so_far:?}");
    }
}

//! How a session ends that broke off: what somebody refused, what the agent was about to do, and what it was asked for.

use super::left::REFUSED;
use super::line::LocatedItem;
use super::ran::call;
use super::words::{folded, points_back, shortened};
use crate::insight::outcome::is_aside;
use crate::model::exchange::{INTERRUPTED, ItemKind};
use crate::model::finding::Finding;
use crate::model::summary::Sourced;
use crate::rules::outcome::{
    Ending, announces, ending, is_conditional, is_unemployed, prepares, says_nothing,
};
use crate::rules::requests::drives;
use crate::rules::words::{content_words, sentences};

/// What a session that broke off leaves besides `known` steps: what somebody refused, what the agent was about to do, or
/// else what was `asked` last, where nothing else `is_listed`. Who is about to look around does what was asked.
pub fn broken_off(
    lines: &[LocatedItem<'_>],
    known: &[Sourced<String>],
    is_listed: bool,
    asked: impl FnOnce() -> Option<Sourced<String>>,
) -> Option<Sourced<String>> {
    let is_new = |said: &Sourced<String>| !known.iter().any(|known| known.line == said.line);
    let refused = refused_plan(lines).or_else(|| refused_call(lines));
    if let Some(refused) = refused.filter(is_new) {
        return Some(refused);
    }
    let announced = announced(lines).filter(is_new);
    let is_idle = |said: &Sourced<String>| is_unemployed(&said.what);
    if announced.as_ref().is_some_and(is_idle) {
        return None;
    }
    let (said, looks) = match announced {
        Some(said) if prepares(said.what.trim_start_matches(ABOUT_TO)) => (None, Some(said)),
        said => (said, None),
    };
    let begun = || unfinished(lines, asked()).filter(|_| !is_listed);
    said.or_else(begun).or(looks.filter(|_| !is_planned(lines)))
}

/// The log's last call worked, and it is of what was announced: `Now let me continue the rebase:`, `git rebase --continue`.
fn is_done(said: &str, lines: &[LocatedItem<'_>]) -> bool {
    const SHARED_MIN: usize = 2;
    let last = lines.iter().rfind(|line| line.main);
    let works = |finding: &Finding| matches!(finding, Finding::Worked { .. });
    let Some(last) = last.filter(|line| line.item.findings.iter().any(works)) else {
        return false;
    };
    let done: Vec<String> = call(last).map(content_words).unwrap_or_default();
    let own = content_words(said);
    let shared = own.iter().filter(|word| done.contains(word)).count();
    shared >= SHARED_MIN
}

/// What the agent was about to do when the log ends; what it announced long before that it did.
fn announced(lines: &[LocatedItem<'_>]) -> Option<Sourced<String>> {
    let mut main = lines.iter().rev().filter(|line| line.main);
    let is_call = |line: &&LocatedItem<'_>| line.item.kind == ItemKind::Digest;
    let calls = main
        .clone()
        .take_while(|line| line.item.kind != ItemKind::Agent);
    let is_stale = calls.filter(is_call).count() > CALLS_MAX;
    let line = main.find(|line| line.item.kind == ItemKind::Agent)?;
    if is_stale {
        return None;
    }
    let paragraph = line.words().trim_end().rsplit("\n\n").next()?;
    let text = folded(paragraph);
    let goes_on = |sentence: &&str| {
        let is_open = matches!(ending(sentence), Ending::GoesOn | Ending::Waits);
        is_open || announces(sentence)
    };
    let said = sentences(&text).filter(goes_on).last()?;
    let waits = ending(said) == Ending::Waits;
    let at = lines.iter().rposition(|other| std::ptr::eq(other, line))?;
    let has_come = || waits && lines[at + 1..].iter().any(changes);
    if says_nothing(said) || is_conditional(said) || has_come() || is_done(said, lines) {
        return None;
    }
    // `Let me restore them` hangs on what stands before it
    let before = sentences(&text)
        .take_while(|sentence| *sentence != said)
        .last();
    let is_short = content_words(said).len() <= VAGUE_WORDS_MAX;
    let is_vague = is_short && (waits || points_back(said));
    let said = match before.filter(|_| is_vague) {
        Some(before) => format!("{before} {said}"),
        None => said.to_owned(),
    };
    let said = shortened(said.trim_end_matches(':'), ANNOUNCED_CHARS_MAX);
    Some(line.source(format!("{ABOUT_TO}{said}")))
}

/// Calls that a remark announces.
const CALLS_MAX: usize = 5;

/// What was waited for has come: files were changed since, or committed.
fn changes(line: &LocatedItem<'_>) -> bool {
    let is_commit = |finding: &Finding| matches!(finding, Finding::Commit { .. });
    line.main && (line.is_edit() || line.item.findings.iter().any(is_commit))
}

/// The last request, where the log breaks off in the middle of it: a call, an interruption or nothing at all stands last.
fn unfinished(
    lines: &[LocatedItem<'_>],
    asked: Option<Sourced<String>>,
) -> Option<Sourced<String>> {
    let mut main = lines.iter().rev().filter(|line| line.main);
    // a call that nobody answered has no text
    let last = main.find(|line| line.item.text.is_empty() || !is_aside(line.item.text))?;
    let is_over = match last.item.kind {
        ItemKind::Agent => ending(last.words()) != Ending::GoesOn,
        ItemKind::Note => last.words() != INTERRUPTED,
        _ => false,
    };
    // the step that the agent named last is done, and perhaps the last one
    let is_step_done = || {
        let said = lines
            .iter()
            .rfind(|line| line.main && line.item.kind == ItemKind::Agent);
        said.is_some_and(|said| {
            sentences(&folded(said.words()))
                .last()
                .is_some_and(|last| is_done(last, lines))
        })
    };
    let mut asked = asked.filter(|_| !is_over && !is_step_done())?;
    if let Some(chosen) = chosen_last(lines) {
        asked = chosen;
    }
    let text = match whole(&asked, lines) {
        Some(whole) => whole,
        None => shortened(without_heading(&asked.what), ANNOUNCED_CHARS_MAX),
    };
    let begun = if is_planned(lines) {
        PLANNED
    } else {
        NOT_FINISHED
    };
    asked.what = format!("{begun}{text}");
    Some(asked)
}

/// What nobody answered is what is to be done, all of it; not what was pasted, and not a command.
fn whole(asked: &Sourced<String>, lines: &[LocatedItem<'_>]) -> Option<String> {
    const LINES_MAX: usize = 6;
    const MORE_WORDS_MIN: usize = 5;
    const CHARS_MAX: usize = 420;
    let is_it = |line: &&LocatedItem<'_>| {
        line.main && line.item.kind == ItemKind::Prompt && line.line == asked.line
    };
    let words = lines.iter().rfind(is_it)?.words();
    let is_plain = words.lines().count() <= LINES_MAX
        && words.chars().count() <= CHARS_MAX
        && !words.starts_with(['/', '<', '[', '{'])
        && !words.contains("```");
    let told = content_words(&asked.what);
    let all = content_words(words);
    let more = all.iter().filter(|word| !told.contains(word)).count();
    (is_plain && more >= MORE_WORDS_MIN).then(|| folded(words))
}

/// The agent plans, and no plan was approved since.
fn is_planned(lines: &[LocatedItem<'_>]) -> bool {
    let mut main = lines.iter().rev().filter(|line| line.main);
    let is_approved = |finding: &Finding| matches!(finding, Finding::Approved);
    let turn = main.find_map(|line| {
        let begins = line.item.text.starts_with("Action: EnterPlanMode");
        let ends = line.item.findings.iter().any(is_approved);
        (begins || ends).then_some(begins)
    });
    turn == Some(true)
}

/// What a person chose behind the agent's last words, and behind the last prompt: that is what was then worked on.
fn chosen_last(lines: &[LocatedItem<'_>]) -> Option<Sourced<String>> {
    let is_said = |line: &&LocatedItem<'_>| {
        line.main && matches!(line.item.kind, ItemKind::Agent | ItemKind::Prompt)
    };
    let behind = lines.iter().rev().take_while(|line| !is_said(line));
    let mut chosen = behind.filter_map(|line| {
        let answers = line.item.findings.iter().rev();
        let mut answers = answers.filter_map(|finding| match finding {
            // `Redis` says no more than the question does
            Finding::Answered { answer, .. } if content_words(answer).len() >= 2 => Some(answer),
            _ => None,
        });
        Some(line.source(answers.next()?.clone()))
    });
    chosen.next()
}

/// A request without the heading of what was pasted below it: `Fix the cart. Summary`.
fn without_heading(asked: &str) -> &str {
    let Some(last) = sentences(asked).last() else {
        return asked;
    };
    let words = last.split_whitespace().count();
    let is_heading = words <= 2
        && last.starts_with(char::is_uppercase)
        && last.ends_with(char::is_alphanumeric)
        && last.len() < asked.len()
        && asked.ends_with(last);
    match is_heading {
        true => asked[..asked.len() - last.len()]
            .trim_end()
            .trim_end_matches('.'),
        false => asked,
    }
}

/// Stands before a request that the log breaks off in the middle of.
pub(super) const NOT_FINISHED: &str = "Not finished: ";

/// The same, while the agent plans it.
const PLANNED: &str = "Being planned: ";

/// The call that a person refused at the end, where nothing was done after that.
fn refused_call(lines: &[LocatedItem<'_>]) -> Option<Sourced<String>> {
    let mut main = lines.iter().rev().filter(|line| line.main);
    let is_said =
        |line: &&LocatedItem<'_>| line.item.kind != ItemKind::Note && !drives(line.words());
    let line = main.find(is_said)?;
    let is_refused = |finding: &Finding| matches!(finding, Finding::Refused { .. });
    let call = line.words().split(" → ").next()?;
    let is_call = line.item.kind == ItemKind::Digest && line.item.findings.iter().any(is_refused);
    is_call.then(|| line.source(format!("{REFUSED}{}", shortened(call, ANNOUNCED_CHARS_MAX))))
}

/// The plan that a person refused at the end.
fn refused_plan(lines: &[LocatedItem<'_>]) -> Option<Sourced<String>> {
    let mut last = lines.iter().rev().filter(|line| line.main);
    let line = last.find(|line| line.item.kind != ItemKind::Note)?;
    let is_refused = |finding: &Finding| matches!(finding, Finding::Refused { .. });
    let plan = line.item.text.strip_prefix("Action: ExitPlanMode(")?;
    let title = plan.strip_prefix('"')?.split_once('"')?.0;
    let title = title.strip_prefix("Plan: ").unwrap_or(title);
    let is_last = line.item.findings.iter().any(is_refused) && !title.is_empty();
    is_last.then(|| line.source(format!("{NOT_APPROVED}{title}")))
}

/// Stands before the title of a plan that a person refused.
const NOT_APPROVED: &str = "Plan not approved: ";

/// With more words that say something, an announcement says what it is about.
const VAGUE_WORDS_MAX: usize = 2;

/// Stands before what the agent said it does next.
const ABOUT_TO: &str = "In progress: ";

/// It says where the work stood.
const ANNOUNCED_CHARS_MAX: usize = 200;

#[cfg(test)]
mod tests;

//! What a session leaves: what the agent's last words say isn't done, and changes that nobody committed.

use super::closing::listed;
use super::command_forms::command_of;
use super::line::{LocatedItem, call_and_result};
use super::ran::call;
use super::stash::{Stash, stash};
use super::words::{folded, points_back, shortened};
use crate::insight::outcome::is_aside;
use crate::model::classification::Intent;
use crate::model::exchange::{INTERRUPTED, ItemKind};
use crate::model::finding::{Finding, file_key};
use crate::model::human::plural;
use crate::model::summary::{ChangedFile, Sourced};
use crate::rules::commands;
use crate::rules::denials::awaits_permission;
use crate::rules::left::{is_settled, is_spun_off, is_undone, is_yours};
use crate::rules::outcome::{Ending, announces, ending, is_conditional, says_nothing};
use crate::rules::paths::is_throwaway;
use crate::rules::reports::is_moved;
use crate::rules::requests::drives;
use crate::rules::tools::{AnswerKind, tool};
use crate::rules::words::{content_words, sentences};
use std::collections::BTreeSet;

/// More of what one message says is its result.
const SAID_MAX: usize = 4;

/// Longer sentences have more in them than what is left.
const SENTENCE_CHARS_MAX: usize = 260;

/// Sentences of the last words that say what isn't done; `is_work`: and what the person has to do, which is what
/// was asked for where nothing was changed.
pub fn said(words: &str, is_work: bool) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut inside_code = false;
    for line in words.lines() {
        let bare = line.trim_start();
        let fence = bare.starts_with("```");
        inside_code ^= fence;
        if fence || inside_code || bare.starts_with(['#', '|', '>']) {
            continue;
        }
        let text = folded(bare);
        for sentence in sentences(&text) {
            let sentence = without_mark(sentence);
            let is_yours = is_work && is_yours(sentence);
            // commits say themselves whether they were pushed
            let is_open = is_undone(sentence) && !is_settled(sentence);
            let is_left = (is_open || is_yours) && !is_moved(sentence);
            let is_led = sentence.ends_with(':') && !is_yours;
            let sentence = sentence.trim_end_matches(':');
            if is_left && sentence.chars().count() > SENTENCE_CHARS_MAX {
                all.extend(listed(sentence));
                continue;
            }
            let is_short = sentence.chars().count() <= SENTENCE_CHARS_MAX && !is_led;
            if is_left && is_short && !all.iter().any(|known| known == sentence) {
                all.push(sentence.to_owned());
            }
        }
        if all.len() >= SAID_MAX {
            break;
        }
    }
    all.truncate(SAID_MAX);
    all
}

/// What the agent's last words say was made a task of its own; nothing where a person asked for more since.
pub fn spun_off(lines: &[LocatedItem<'_>]) -> Option<Sourced<String>> {
    let ends = |line: &&LocatedItem<'_>| {
        line.main && matches!(line.item.kind, ItemKind::Agent | ItemKind::Prompt)
    };
    let last = lines.iter().rfind(ends);
    let last = last.filter(|line| line.item.kind == ItemKind::Agent)?;
    let text = folded(last.words());
    let mut said = sentences(&text).map(without_mark);
    let said = said.find(|said| is_spun_off(said))?;
    Some(last.source(shortened(said, SENTENCE_CHARS_MAX)))
}

/// A point of a list without its mark.
fn without_mark(sentence: &str) -> &str {
    sentence.trim_start_matches(['-', '*', '•', '⚠', '\u{fe0f}', ' '])
}

/// That files were changed after the last commit of the session, or in a session without one.
pub fn uncommitted(
    lines: &[LocatedItem<'_>],
    files: &[Sourced<ChangedFile>],
    has_commits: bool,
    branch: Option<&str>,
) -> Option<Sourced<String>> {
    let (mut changed, mut aside) = (BTreeSet::new(), BTreeSet::new());
    let (mut last, mut is_git) = (None, branch.is_some());
    for line in lines {
        let text = line.item.text;
        is_git = is_git || line.item.kind == ItemKind::Digest && text.contains("git ");
        for finding in line.item.findings {
            if let Finding::Changed { path, .. } = finding {
                changed.insert(path.as_str());
                last = Some(line);
            }
        }
        let stash = call(line).map_or(Stash::default(), stash);
        match () {
            () if stash.begins && !stash.ends => aside.append(&mut changed),
            () if stash.ends => changed.append(&mut aside),
            () if moves_changes(line) => changed.clear(),
            () => {}
        }
    }
    // a tool that opens pull requests commits too, and nobody saw it
    let mut since = lines.iter().rev().take_while(|line| !line.is_edit());
    if !has_commits && since.any(names_pull_request) {
        return None;
    }
    let is_left = |file: &&Sourced<ChangedFile>| {
        changed.contains(file.what.path.as_str()) && !is_throwaway(&file.what.path)
    };
    let left = files.iter().filter(is_left).count();
    let step = match has_commits {
        // a person may have committed some of these between two prompts
        false => NO_COMMIT.to_owned(),
        true => format!("{AFTER_COMMIT}{}", plural(left as u64, "file")),
    };
    let step = match commits_at_end(lines) {
        true => AT_END.to_owned(),
        false => step,
    };
    let step = last?.source(step);
    (is_git && left > 0).then_some(step)
}

/// The log ends in a call, and the words before it or the last request are about committing.
fn commits_at_end(lines: &[LocatedItem<'_>]) -> bool {
    let mut main = lines.iter().rev().filter(|line| line.main);
    let is_pending =
        |line: &LocatedItem<'_>| line.item.kind == ItemKind::Digest && line.item.text.is_empty();
    let is_words =
        |line: &&LocatedItem<'_>| matches!(line.item.kind, ItemKind::Agent | ItemKind::Prompt);
    let names = |line: &LocatedItem<'_>| {
        let words = line.words().to_lowercase();
        ["commit", "staging", "push"]
            .iter()
            .any(|word| words.contains(word))
    };
    main.next().is_some_and(is_pending) && main.find(is_words).is_some_and(names)
}

/// Calls that were to change files and that nobody permitted or a person refused, where no later one of the same file
/// worked.
pub fn not_permitted(lines: &[LocatedItem<'_>]) -> Vec<Sourced<String>> {
    let mut all: Vec<(u32, Sourced<String>)> = Vec::new();
    for line in lines {
        if let Some((key, call, is_denied)) = removing(line, !all.is_empty()) {
            all.retain(|(known, _)| *known != key);
            let step = line.source(format!("{NOT_PERMITTED}{call}"));
            all.extend(is_denied.then_some((key, step)));
        }
        for finding in line.item.findings {
            match finding {
                Finding::Unchanged { key } => {
                    let Some((call, said)) = line.words().split_once(" → ") else {
                        continue;
                    };
                    let is_new = all.iter().all(|(known, _)| known != key);
                    let is_denied = || said.to_lowercase().contains("permission denied");
                    if is_new && (awaits_permission(said) || is_denied()) {
                        all.push((*key, line.source(format!("{NOT_PERMITTED}{call}"))));
                    }
                }
                // a person may refuse one edit to have another one
                Finding::Refused { key } if line.main && edits(line) => {
                    let call = line.words().split_once(" → ").map(|(call, _)| call);
                    let step = call.map(|call| line.source(format!("{REFUSED}{call}")));
                    all.extend(step.map(|step| (*key, step)));
                }
                // who changes something else then does it another way
                Finding::Changed { path, .. } => all.retain(|(key, step)| {
                    *key != file_key(path) && !step.what.starts_with(REFUSED)
                }),
                _ => {}
            }
        }
    }
    all.into_iter().map(|(_, step)| step).collect()
}

/// A command that removes or moves files that are kept, by the last of these, with its call and whether a rule denied it:
/// whoever runs it otherwise tries the same. What a command that worked removes is asked only where that may be left.
fn removing<'t>(line: &LocatedItem<'t>, is_left: bool) -> Option<(u32, &'t str, bool)> {
    if !line.main || line.item.kind != ItemKind::Digest {
        return None;
    }
    let (told, said) = call_and_result(line.words())?;
    let is_denied = said.starts_with("denied by");
    let works = |finding: &Finding| matches!(finding, Finding::Worked { .. });
    let has_worked = || line.item.findings.iter().any(works);
    if !(is_denied || is_left && has_worked()) {
        return None;
    }
    let command = command_of(told)?;
    let class = commands::of_count(&commands::counted_as(command));
    let removes = matches!(class.intent, Intent::Delete | Intent::Modify);
    let path = command.split_whitespace().next_back()?;
    let is_kept = removes && path.contains('/') && !is_throwaway(path);
    is_kept.then(|| (file_key(path), told, is_denied))
}

/// The call is of a tool that edits one file.
fn edits(line: &LocatedItem<'_>) -> bool {
    let name = line.words().split(['(', ' ']).next().unwrap_or_default();
    matches!(tool(name).answer, AnswerKind::Edit | AnswerKind::Write)
}

/// Stands before a call that a person refused.
const REFUSED: &str = "Refused by the user: ";

/// Stands before a call that nobody permitted.
const NOT_PERMITTED: &str = "Not permitted: ";

/// The agent names a pull request by its address.
fn names_pull_request(line: &LocatedItem<'_>) -> bool {
    const WORDS: [&str; 2] = ["/pull/", "/merge_requests/"];
    let is_said = line.main && line.item.kind == ItemKind::Agent;
    let number = |word: &str| {
        let text = line.words();
        let mut found = text
            .match_indices(word)
            .map(|(at, word)| &text[at + word.len()..]);
        found.any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    is_said && WORDS.into_iter().any(number)
}

/// Says that nobody committed what was changed.
const NO_COMMIT: &str = "The session made no commit of its changes";

/// Stands before how many files were changed after the last commit.
const AFTER_COMMIT: &str = "Changed after the last commit: ";

/// Nobody knows whether the last call committed them.
const AT_END: &str = "The last call may commit the changes";

/// The step says that files were changed that nobody committed.
pub fn says_uncommitted(step: &str) -> bool {
    [NO_COMMIT, AT_END].contains(&step) || step.starts_with(AFTER_COMMIT)
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
pub fn announced(lines: &[LocatedItem<'_>]) -> Option<Sourced<String>> {
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
    if says_nothing(said) || is_conditional(said) || is_done(said, lines) {
        return None;
    }
    // `Let me restore them` hangs on what stands before it
    let before = sentences(&text)
        .take_while(|sentence| *sentence != said)
        .last();
    let waits = ending(said) == Ending::Waits;
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

/// The last request, where the log breaks off in the middle of it: a call, an interruption or nothing at all stands last.
pub fn unfinished(
    lines: &[LocatedItem<'_>],
    asked: Option<Sourced<String>>,
) -> Option<Sourced<String>> {
    let mut main = lines.iter().rev().filter(|line| line.main);
    // a call that nobody answered has no text
    let last = main.find(|line| line.item.text.is_empty() || !is_aside(line.item.text))?;
    let is_over = match last.item.kind {
        ItemKind::Agent => true,
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
    let text = shortened(without_heading(&asked.what), ANNOUNCED_CHARS_MAX);
    asked.what = format!("{NOT_FINISHED}{text}");
    Some(asked)
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
            Finding::Answered { answer, .. } => Some(answer),
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
const NOT_FINISHED: &str = "Not finished: ";

/// The call that a person refused at the end, where nothing was done after that.
pub fn refused_call(lines: &[LocatedItem<'_>]) -> Option<Sourced<String>> {
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
pub fn refused_plan(lines: &[LocatedItem<'_>]) -> Option<Sourced<String>> {
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

/// Changes are in a commit or put aside, or somebody says so.
fn moves_changes(line: &LocatedItem<'_>) -> bool {
    // who looks at commits after a change may look at one that holds it
    const SAYS: [&str; 4] = [
        "/pull/",
        "ommitted as ",
        "ommitted and pushed",
        "PR submitted",
    ];
    const COMMANDS: [&str; 9] = [
        "pr submit",
        "gt submit",
        "git log",
        "git show",
        "git commit",
        "git merge",
        "git rebase",
        "git am",
        "git cherry-pick",
    ];
    let text = line.item.text;
    match line.item.kind {
        ItemKind::Digest => {
            let is_made = |finding: &Finding| {
                matches!(
                    finding,
                    Finding::Commit { .. } | Finding::Pushed | Finding::PullRequest(_)
                )
            };
            let failed = |finding: &Finding| matches!(finding, Finding::Failed { .. });
            let findings = line.item.findings;
            // most calls are of neither program
            let tries = || {
                (text.contains("git ") || text.contains(" submit"))
                    && COMMANDS.iter().any(|command| text.contains(command))
            };
            findings.iter().any(is_made) || !findings.iter().any(failed) && tries()
        }
        ItemKind::Prompt | ItemKind::Aside => {
            text.contains("git commit") || text.contains("committed")
        }
        // a wrapper of git may have done it
        ItemKind::Agent if line.main => SAYS.iter().any(|said| text.contains(said)),
        _ => false,
    }
}

#[cfg(test)]
mod tests;

//! What a session leaves: what the agent's last words say isn't done, and changes that nobody committed.

use super::begun::UNSEEN;
use super::closing::listed;
use super::command_forms::command_of;
use super::line::{LocatedItem, call_and_result};
use super::ran::call;
use super::stash::{Stash, stash};
use super::words::{folded, shortened};
use crate::model::classification::Intent;
use crate::model::exchange::ItemKind;
use crate::model::finding::{Finding, file_key};
use crate::model::human::plural;
use crate::model::summary::{ChangedFile, Sourced};
use crate::rules::commands;
use crate::rules::denials::awaits_permission;
use crate::rules::left::{is_settled, is_spun_off, is_undone, is_yours};
use crate::rules::paths::is_throwaway;
use crate::rules::reports::is_moved;
use crate::rules::shell;
use crate::rules::tools::{AnswerKind, tool};
use crate::rules::words::sentences;
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
            let sentence = noted(without_mark(sentence));
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

/// Of a point that is ticked off the note that stands behind it: `✅ The cart is out (Note: its folder needs a manual rm)`.
fn noted(point: &str) -> &str {
    let ticked = point.strip_prefix('✅');
    let note = ticked.and_then(|point| point.split_once("(Note: "));
    note.map_or(point, |(_, note)| note.trim_end_matches([')', '.']))
}

/// That files were changed after the last commit of the session, or in a session without one.
pub fn uncommitted(
    lines: &[LocatedItem<'_>],
    files: &[Sourced<ChangedFile>],
    has_commits: bool,
    branch: Option<&str>,
) -> Option<Sourced<String>> {
    let (mut changed, mut aside) = (BTreeSet::new(), BTreeSet::new());
    let (mut last, mut is_git, mut staged) = (None, branch.is_some(), None);
    for line in lines {
        let text = line.item.text;
        is_git = is_git || line.item.kind == ItemKind::Digest && text.contains("git ");
        for finding in line.item.findings {
            if let Finding::Changed { path, .. } = finding {
                changed.insert(path.as_str());
                last = Some(line);
            }
        }
        if let Some(stages) = stages(line, staged.is_some()) {
            staged = stages.then_some(line);
        }
        let stash = call(line).map_or(Stash::default(), stash);
        match () {
            () if stash.begins && !stash.ends => aside.append(&mut changed),
            () if stash.ends => changed.append(&mut aside),
            () if moves_changes(line) => (changed, staged) = (BTreeSet::new(), None),
            () => {}
        }
    }
    let staged = staged.filter(|_| !has_commits);
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
    let step = last.or(staged)?.source(step);
    (is_git && (left > 0 || staged.is_some())).then_some(step)
}

/// The call put changes of the project into the next commit, or (`false`) may have taken them out again; `is_staged`: an
/// earlier one did.
fn stages(line: &LocatedItem<'_>, is_staged: bool) -> Option<bool> {
    const ENDS: [&str; 7] = [
        " reset",
        " stash",
        " restore",
        " checkout",
        " switch",
        "nothing to commit",
        "working tree clean",
    ];
    // somewhere else, or nobody knows whether each command of it ran
    const UNSURE: [&str; 8] = ["git init", "mktemp", "/tmp/", "||", ";", "|", "\n", "…"];
    let works = |finding: &Finding| matches!(finding, Finding::Worked { .. });
    let call = call(line).filter(|call| call.contains("git "))?;
    if ENDS.iter().any(|end| line.words().contains(end)) {
        return Some(false);
    }
    if !["git add ", "git rm ", "git mv "]
        .iter()
        .any(|begins| call.contains(begins))
    {
        return None;
    }
    if is_staged && call.contains("--cached") {
        return Some(false);
    }
    let command =
        command_of(call).filter(|command| !UNSURE.iter().any(|word| command.contains(word)))?;
    let place = call.rsplit_once(", in ").map_or("", |(_, place)| place);
    let is_sure = line.item.findings.iter().any(works) && !is_elsewhere(place);
    (is_sure && puts_into_next_commit(command)).then_some(true)
}

fn puts_into_next_commit(command: &str) -> bool {
    // only tried, told or asked
    const TRIES: [&str; 8] = [
        "--dry-run",
        "-n",
        "-N",
        "--intent-to-add",
        "--help",
        "-h",
        "-i",
        "-p",
    ];
    let mut puts = false;
    for simple in shell::read(command) {
        let words: Vec<&str> = simple.words.iter().map(|word| &**word).collect();
        match words[..] {
            ["cd" | "pushd", to, ..] if is_elsewhere(to) => return false,
            ["git", "add" | "rm" | "mv", ref given @ ..] if !simple.nested => {
                puts |= !given.is_empty() && !given.iter().any(|word| TRIES.contains(word));
            }
            _ => {}
        }
    }
    puts
}

/// Not below the folder in which the session works, or nobody knows.
fn is_elsewhere(path: &str) -> bool {
    path.starts_with(['/', '~', '\\', '$', '-']) || path.contains("..")
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
pub(super) const REFUSED: &str = "Refused by the user: ";

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
    let is_begun = || {
        step.strip_prefix(UNSEEN)
            .is_some_and(|steps| steps.split(", ").any(|step| step.starts_with("commit")))
    };
    [NO_COMMIT, AT_END].contains(&step) || step.starts_with(AFTER_COMMIT) || is_begun()
}

/// Changes are in a commit or put aside, or somebody says so.
fn moves_changes(line: &LocatedItem<'_>) -> bool {
    // who looks at commits after a change may look at one that holds it
    const SAYS: [&str; 4] = [
        "/pull/",
        "ommitted as ",
        "ommitted and pushed",
        "PR submitted",
    ];
    const COMMANDS: [&str; 11] = [
        "pr submit",
        "gt submit",
        "gt create",
        "gt modify",
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

//! What stopped commands for another reason than what they were to find out, and which way the work went on: another
//! form of the command, a login, what git wanted first, a hook that was passed by or had its way, a way that the agent names.
//! What nobody found a way round isn't told.

use super::command_forms::{self as forms, shown};
use super::line::LocatedItem;
use super::ran::{RUNNING, RanCommand, is_hook};
use crate::model::classification::Intent;
use crate::model::exchange::{ItemKind, STOPPED};
use crate::model::finding::Finding;
use crate::model::summary::{HOOK, Resolution, Sourced};
use crate::rules::causes::{Hindrance, cause, hindrance, instead, is_of_git, names_hook};
use crate::rules::commands;
use std::collections::BTreeSet;

/// Calls in which another way is looked for.
const CALLS_MAX: usize = 24;

/// Of an answer that a command gave without failing, more than this is no refusal.
const REFUSAL_BYTES_MAX: usize = 200;

/// What failed where a hook says so and the line is cut before.
const COMMIT: [&str; 2] = ["git", "commit"];

/// What hindered the main log's work, in its order; the same only once.
pub fn hindered(lines: &[LocatedItem<'_>]) -> Vec<Sourced<Resolution>> {
    let mut all: Vec<Sourced<Resolution>> = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.main) {
        let after = &lines[at + 1..];
        let told = match line.item.kind {
            ItemKind::Digest => Stopped::of(line).and_then(|stop| stop.told(after)),
            ItemKind::Note => model_stopped(line, after),
            _ => None,
        };
        let Some(told) = told else {
            continue;
        };
        let key = match is_conflict(&told.error) {
            // each file has one, and each commit
            true => "a merge conflict".to_owned(),
            false => told.error.replace(|c: char| c.is_ascii_digit(), ""),
        };
        // two tries of what worked then
        let is_same = |known: &Sourced<Resolution>| {
            known.what.worked_at == told.worked_at && known.what.cure == told.cure
        };
        if !seen.contains(&key) && !all.iter().any(is_same) {
            seen.push(key);
            all.push(line.source(told));
        }
    }
    all
}

fn is_conflict(error: &str) -> bool {
    error.contains("erge conflict in ")
}

/// A command that was stopped.
struct Stopped<'t> {
    call: &'t str,
    error: &'t str,
    kind: Kind,
    /// The command that stands for its line.
    words: Vec<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Of(Hindrance),
    /// A commit that failed for what its hook found.
    Hook,
}

impl<'t> Stopped<'t> {
    fn of(line: &LocatedItem<'t>) -> Option<Stopped<'t>> {
        let ran = RanCommand::of(line)?;
        // most commands neither fail nor refuse
        let is_short = ran.output.len() <= REFUSAL_BYTES_MAX;
        if !ran.failed && !is_short {
            return None;
        }
        let found = hindrance(ran.output);
        let at_start = |(kind, at): &(Hindrance, usize)| {
            let refuses = matches!(kind, Hindrance::Login | Hindrance::Usage);
            refuses && *at <= "error: ".len()
        };
        let found = found.filter(|found| ran.failed || at_start(found));
        // a long line of files is cut before its commit
        let is_hooks = ran.failed && names_hook(ran.output);
        let is_commit = || is_hooks || ran.failed && ran.command.contains("git commit");
        if found.is_none() && !is_commit() {
            return None;
        }
        let kind = found.map_or(Kind::Hook, |(kind, _)| Kind::Of(kind));
        let (call, error) = line.words().split_once(" → ")?;
        let words = match kind {
            Kind::Of(Hindrance::History) => forms::git(ran.command).pop(),
            Kind::Hook => {
                let commit = forms::git(ran.command).pop().filter(|words| commits(words));
                commit.or_else(|| is_hooks.then(|| COMMIT.map(str::to_owned).to_vec()))
            }
            Kind::Of(_) if reads(ran.command) => None,
            Kind::Of(_) => Some(commands::standing(ran.command)),
        };
        let words = words.filter(|words| !words.is_empty())?;
        Some(Stopped {
            call,
            error,
            kind,
            words,
        })
    }

    fn told(&self, after: &[LocatedItem<'_>]) -> Option<Resolution> {
        let (cure, worked_at) = match self.kind {
            Kind::Hook => match self.passed_by(after) {
                Some(way) => way,
                None => return self.mended(after),
            },
            Kind::Of(Hindrance::History) => self.git_way(after)?,
            Kind::Of(kind) => {
                let form = self.other_form(after, kind);
                form.or_else(|| other_way(after))?
            }
        };
        let said = first_words(after).and_then(|line| cause(line.words()));
        let changed = match is_conflict(self.error) {
            true => resolved_in(self.error, after, worked_at),
            false => Vec::new(),
        };
        let error = self.error.lines().next().unwrap_or_default();
        let error = match self.kind {
            Kind::Hook => HOOK.to_owned(),
            Kind::Of(_) => error.to_owned(),
        };
        Some(Resolution {
            call: self.call(),
            error,
            cause: said.filter(|said| !cure.contains(said)).map(str::to_owned),
            cure: Some(cure),
            changed,
            worked_at,
            explained: None,
        })
    }

    /// Of a line of git's commands, the one that was stopped.
    fn call(&self) -> String {
        match (self.kind, self.call.split_once('(')) {
            (Kind::Of(Hindrance::History), Some((tool, _))) => {
                format!("{tool}({})", self.words.join(" "))
            }
            _ => self.call.to_owned(),
        }
    }

    /// The same command in another form, or after a login: one that worked, or that was stopped by something else.
    fn other_form(&self, after: &[LocatedItem<'_>], kind: Hindrance) -> Option<(String, u64)> {
        let mut login = None;
        for (line, ran) in ended(after) {
            let words = commands::standing(ran.command);
            if !forms::is_same(&self.words, &words) || forms::asks_for_help(&words) {
                let logs_in = |word: &String| word == "login" || word == "signin";
                if words.iter().any(logs_in) && ran.proves() && !forms::asks_for_help(&words) {
                    login = Some(words);
                }
                continue;
            }
            if commands::leaves_running(ran.command) || !ran.failed && !ran.proves() {
                continue;
            }
            let is_other = words != self.words;
            // other arguments are no way round what is where it runs
            let is_place = matches!(kind, Hindrance::Environment | Hindrance::Sandbox);
            if is_other && is_place && !forms::is_other(&self.words, &words) {
                continue;
            }
            let goes_on = line.item.text.ends_with(RUNNING);
            let is_past = || is_red(line) || self.is_past(line);
            if ran.failed && (!is_other || !is_past()) {
                continue;
            }
            // what only started it was left out
            if self.words.len() == words.len() + 1 && self.words.ends_with(&words) {
                return None;
            }
            let told = match (kind, login) {
                (Hindrance::Login, Some(login)) => format!("after `{}`", shown(&login)),
                // what it found out then is another matter: tests may have failed
                _ if is_other && (ran.failed || is_red(line)) => {
                    let told = forms::difference(&self.words, &words);
                    told.replacen("it worked", "it ran", 1)
                }
                _ if is_other => forms::difference(&self.words, &words),
                (Hindrance::Sandbox, _) if goes_on => "it ran when it was started again".to_owned(),
                (Hindrance::Sandbox, _) => "it worked when it was run again".to_owned(),
                // a retry
                _ => return None,
            };
            return Some((told, line.line));
        }
        None
    }

    /// What stopped another form is not what stopped this.
    fn is_past(&self, line: &LocatedItem<'_>) -> bool {
        let said = line.words().split_once(" → ").map(|(_, said)| said);
        let kind = |said: &str| hindrance(said).map(|(kind, at)| (kind, word_at(said, at)));
        said.is_some_and(|said| kind(said) != kind(self.error))
    }

    /// A commit that went past the hook that had stopped it.
    fn passed_by(&self, after: &[LocatedItem<'_>]) -> Option<(String, u64)> {
        const FLAG: &str = "--no-verify";
        let (line, _) = ended(after).find(|(_, ran)| {
            let passes =
                |words: &Vec<String>| commits(words) && words.iter().any(|word| word == FLAG);
            ran.proves() && ran.command.contains(FLAG) && forms::git(ran.command).iter().any(passes)
        })?;
        let is_first = !self.words.iter().any(|word| word == FLAG);
        is_first.then(|| (format!("committed with `{FLAG}`"), line.line))
    }

    /// A commit that was made once what its hook had complained of was changed, or once the only command between had run.
    /// What nobody can name may have been anything.
    fn mended(&self, after: &[LocatedItem<'_>]) -> Option<Resolution> {
        let is_hooks = names_hook(self.error);
        if is_of_git(self.error) || !(is_hooks || is_hook(self.call)) {
            return None;
        }
        let at = committed(after)?;
        let (between, worked_at) = (&after[..at], after[at].line);
        let error = self.error.lines().next().unwrap_or_default();
        let changed = resolved_in(error, after, worked_at);
        let said = error.split_once(": ").map_or(error, |(_, said)| said);
        let said = said.rsplit_once("; passed ").map_or(said, |(said, _)| said);
        let (error, cure) = match changed.is_empty() {
            false => (format!("{HOOK}: {said}"), None),
            true if is_hooks => (HOOK.to_owned(), Some(only_command(between)?)),
            true => return None,
        };
        Some(Resolution {
            call: self.call(),
            error,
            cause: first_words(after)
                .and_then(|line| cause(line.words()))
                .map(str::to_owned),
            cure: cure.map(|words| format!("after `{}`", shown(&words))),
            changed,
            worked_at,
            explained: None,
        })
    }

    /// What git was told instead or before.
    fn git_way(&self, after: &[LocatedItem<'_>]) -> Option<(String, u64)> {
        let verb = forms::verb(&self.words)?;
        let mut between: Vec<(Vec<String>, u64)> = Vec::new();
        let mut other = None;
        for (line, words) in git_commands(after) {
            if words
                .iter()
                .any(|word| word == "--abort" || word == "--quit")
            {
                continue;
            }
            if forms::verb(&words) != Some(verb) {
                if forms::makes_way(&words) {
                    between.push((words, line.line));
                }
                continue;
            }
            if other.is_some() {
                // it works itself later, once what it goes to is set anew
                let set = between
                    .iter()
                    .rfind(|(words, _)| forms::verb(words) == Some("remote"));
                if let Some((set, _)) = set.filter(|_| words == self.words) {
                    return Some((format!("after `{}`", shown(set)), line.line));
                }
                continue;
            }
            let told = match between.last() {
                _ if verb == "push" && forms::forces(&words) => {
                    format!("forced with `{}`", shown(&words))
                }
                _ if words.iter().any(|word| word == "--continue") => {
                    format!("resolved, then `{}`", shown(&words))
                }
                Some((before, _)) => format!("after `{}`", shown(before)),
                None if words != self.words => {
                    let told = format!("it worked as `{}`", shown(&words));
                    other = Some((told, line.line));
                    continue;
                }
                None => break,
            };
            return Some((told, line.line));
        }
        if other.is_some() {
            return other;
        }
        // another way than the same command is one only until something else is asked for
        let next = after.iter().find(|line| opens(line)).map(|line| line.line);
        between.retain(|(_, at)| next.is_none_or(|next| *at < next));
        let (last, at) = between.pop().filter(|_| verb != "push")?;
        let first = match between.pop() {
            Some((words, _)) => format!("`{}`, then ", shown(&words)),
            // what was committed is how somebody resolved it
            None if commits(&last) && is_conflict(self.error) => "resolved, then ".to_owned(),
            None => String::new(),
        };
        Some((format!("{first}`{}`", shown(&last)), at))
    }
}

/// Where the next commit of the main log stands, among the next calls.
fn committed(after: &[LocatedItem<'_>]) -> Option<usize> {
    let is_call = |line: &LocatedItem<'_>| line.main && line.item.kind == ItemKind::Digest;
    let calls = after.iter().enumerate().filter(|(_, line)| is_call(line));
    let is_commit = |finding: &Finding| matches!(finding, Finding::Commit { .. });
    let mut calls = calls.take(CALLS_MAX);
    let found = calls.find(|(_, line)| line.item.findings.iter().any(is_commit));
    found.map(|(at, _)| at)
}

/// The one command that did something, where no file was changed by hand; who looks around and asks git does nothing.
fn only_command(between: &[LocatedItem<'_>]) -> Option<Vec<String>> {
    if between.iter().any(LocatedItem::is_edit) {
        return None;
    }
    let acts = |ran: &RanCommand<'_>| !ran.command.contains("git ") && !reads(ran.command);
    let mut acting = ended(between).filter(|(_, ran)| acts(ran));
    let (_, only) = acting.next().filter(|(_, ran)| ran.proves())?;
    let words = commands::standing(only.command);
    (acting.next().is_none() && !words.is_empty()).then_some(words)
}

/// The files that an error names, with conflicts or otherwise, and that were changed until the way went on at this line.
fn resolved_in(error: &str, after: &[LocatedItem<'_>], until: u64) -> Vec<String> {
    let near = after.iter().take_while(|line| line.line < until);
    let paths = near
        .flat_map(|line| line.item.findings)
        .filter_map(|found| match found {
            Finding::Changed { path, .. } => Some(path),
            _ => None,
        });
    let cut = cut_path(error);
    let named = |path: &&String| {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        error.contains(name) || cut.is_some_and(|cut| path.contains(cut))
    };
    let named: BTreeSet<&String> = paths.filter(named).collect();
    named.into_iter().cloned().collect()
}

/// The path in which an error was cut off.
fn cut_path(error: &str) -> Option<&str> {
    const BYTES_MIN: usize = 12;
    let (before, _) = error.split_once('…')?;
    let path = before.rsplit(['(', ' ', '\'', '"']).next()?;
    (path.len() >= BYTES_MIN && path.contains('/')).then_some(path)
}

/// Tests ran, and some failed.
fn is_red(line: &LocatedItem<'_>) -> bool {
    let mut findings = line.item.findings.iter();
    findings.any(|finding| matches!(finding, Finding::Tests(run) if run.failed > 0))
}

/// What git was told after a call and did, and what was removed.
fn git_commands<'l, 't>(
    after: &'l [LocatedItem<'t>],
) -> impl Iterator<Item = (&'l LocatedItem<'t>, Vec<String>)> {
    const LINES_MAX: usize = 150;
    let near = &after[..after.len().min(LINES_MAX)];
    let ran = near.iter().filter(|line| line.main).filter_map(|line| {
        let ran = RanCommand::of(line)?;
        let is_one = ran.command.contains("git ") || ran.command.contains("rm ");
        (is_one && ran.proves()).then_some((line, ran))
    });
    ran.flat_map(|(line, ran)| {
        let words = forms::ways(ran.command).into_iter();
        words.map(move |words| (line, words))
    })
}

fn commits(words: &[String]) -> bool {
    forms::verb(words) == Some("commit")
}

/// A prompt opens another request.
fn opens(line: &LocatedItem<'_>) -> bool {
    line.main && line.item.kind == ItemKind::Prompt
}

/// Calls of the main log that ended or go on, the next ones.
fn ended<'l, 't>(
    after: &'l [LocatedItem<'t>],
) -> impl Iterator<Item = (&'l LocatedItem<'t>, RanCommand<'t>)> {
    let calls = after
        .iter()
        .filter(|line| line.main && line.item.kind == ItemKind::Digest);
    calls.take(CALLS_MAX).filter_map(|line| {
        let ran = RanCommand::of(line).or_else(|| RanCommand::begun(line));
        Some((line, ran?))
    })
}

/// What the agent says right after a call.
fn first_words<'l, 't>(after: &'l [LocatedItem<'t>]) -> Option<&'l LocatedItem<'t>> {
    const ITEMS_MAX: usize = 3;
    let mut near = after.iter().filter(|line| line.main).take(ITEMS_MAX);
    near.find(|line| line.item.kind == ItemKind::Agent)
}

fn other_way(after: &[LocatedItem<'_>]) -> Option<(String, u64)> {
    let said = first_words(after)?;
    Some((
        format!("“{}”, says the agent", instead(said.words())?),
        said.line,
    ))
}

/// A command that is known to only read, search or ask git: it fails for what it was given.
pub fn reads(command: &str) -> bool {
    let name = commands::counted_as(command);
    let class = commands::of_count(&name);
    !name.starts_with('?') && matches!(class.intent, Intent::Read | Intent::Search)
}

/// The letters that a place in a text begins with, up to a colon: of `exit 127: shop: not found` only that.
fn word_at(text: &str, at: usize) -> String {
    let letters = text[at..].chars().take_while(|c| *c != ':').take(12);
    letters.flat_map(char::to_lowercase).collect()
}

/// The model was stopped for a while, and went on or another one did.
fn model_stopped(line: &LocatedItem<'_>, after: &[LocatedItem<'_>]) -> Option<Resolution> {
    let said = line.words().strip_prefix(STOPPED)?;
    let is_said = |line: &&LocatedItem<'_>| line.main && line.item.kind == ItemKind::Agent;
    let next = after.iter().find(is_said)?;
    let switched = said.find("Switched to ").map(|at| said.split_at(at));
    let (error, cure) = switched.unwrap_or((said, "it answered later"));
    let error = error.trim().trim_end_matches('.');
    Some(Resolution {
        error: match error.strip_prefix("its ") {
            Some(of_it) => format!("the model's {of_it}"),
            None => error.to_owned(),
        },
        cure: Some(cure.trim_end_matches('.').to_owned()),
        worked_at: next.line,
        ..Resolution::default()
    })
}

#[cfg(test)]
mod tests;

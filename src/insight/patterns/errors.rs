//! Errors that come again: known by their words, without what differs from time to time.

use super::calls::typed;
use super::commands::{Commands, Variant, only_looks};
use crate::insight::facts::LocatedItem;
use crate::model::finding::Finding;
use crate::model::summary::{Resolution, Sourced};
use crate::rules::commands;
use crate::rules::words::content_words;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of an error that it is recognised by.
const ERROR_BYTES_MAX: usize = 100;
/// Words that say what an error is about; fewer tell it from no other one.
const WORDS_MIN: usize = 2;

/// An error that was met in several sessions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recurring {
    /// Its words, numbers and paths left out.
    pub error: String,
    /// Times that it was met.
    pub times: u64,
    /// Sessions that met it.
    pub sessions: u64,
    /// The command that met it most often; `None`: each time another one.
    pub command: Option<String>,
    /// What worked in that command's place.
    pub instead: Option<Variant>,
    /// How it was resolved the last times, the latest first.
    pub resolved: Vec<Resolved>,
}

/// How an error was resolved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Resolved {
    /// The session's id.
    pub session: String,
    /// The command that worked then, and what was changed.
    #[serde(flatten)]
    pub resolution: Sourced<Resolution>,
}

/// Counts of all errors.
#[derive(Debug, Default)]
pub(super) struct Errors(BTreeMap<String, Met>);

#[derive(Debug, Default)]
struct Met {
    times: u64,
    sessions: BTreeSet<String>,
    commands: BTreeMap<u32, u64>,
    resolved: Vec<Resolved>,
}

impl Errors {
    /// Adds those of a session, and what it resolved.
    pub fn add(
        &mut self,
        session: &str,
        lines: &[LocatedItem<'_>],
        resolved: &[Sourced<Resolution>],
    ) {
        for line in lines {
            let Some((key, error)) = error_of(line) else {
                continue;
            };
            let met = self.0.entry(error).or_default();
            met.times += 1;
            met.sessions.insert(session.to_owned());
            *met.commands.entry(key).or_default() += 1;
        }
        for resolution in resolved.iter().filter(|r| !r.what.changed.is_empty()) {
            let met = self.0.entry(normal(&resolution.what.error)).or_default();
            met.resolved.push(Resolved {
                session: session.to_owned(),
                resolution: resolution.clone(),
            });
        }
    }

    /// Those that several sessions met.
    pub fn recurring(self, commands: &Commands, lines_max: usize) -> Vec<Recurring> {
        /// Earlier ways out are in their sessions.
        const RESOLVED_MAX: usize = 3;
        let again = self.0.into_iter().filter(|(_, met)| met.sessions.len() > 1);
        let mut all: Vec<Recurring> = again
            .map(|(error, met)| {
                let most = met.commands.iter().max_by_key(|(_, times)| **times);
                let most = most.filter(|(_, times)| **times > 1);
                let named = most.and_then(|(key, _)| commands.named(*key));
                let (command, instead) = named.unzip();
                Recurring {
                    error,
                    times: met.times,
                    sessions: met.sessions.len() as u64,
                    command,
                    instead: instead.flatten(),
                    resolved: met.resolved.into_iter().rev().take(RESOLVED_MAX).collect(),
                }
            })
            .collect();
        all.sort_by(|a, b| (b.sessions, b.times, &a.error).cmp(&(a.sessions, a.times, &b.error)));
        all.truncate(lines_max);
        all
    }
}

/// What a failed command said, without what differs from time to time; nothing of what only looks.
fn error_of(line: &LocatedItem<'_>) -> Option<(u32, String)> {
    let mut found = line.item.findings.iter();
    let key = found.find_map(|finding| match finding {
        Finding::Failed { key } => Some(*key),
        _ => None,
    })?;
    let (_, said) = line.words().split_once(" → ")?;
    let error = normal(said.lines().next()?);
    let says = content_words(&error).len() >= WORDS_MIN;
    let is_news = says && !only_looks(&commands::standing(typed(line)));
    is_news.then_some((key, error))
}

/// Without `exit 1: `, how many tests failed, numbers and paths.
fn normal(said: &str) -> String {
    let said = match said.strip_prefix("exit ") {
        Some(rest) => rest.split_once(": ").map_or("", |(_, error)| error),
        None => said,
    };
    let said = said.strip_prefix("failed: ").unwrap_or(said);
    let said = match said.strip_prefix("failed ") {
        Some(counts) if counts.starts_with(|c: char| c.is_ascii_digit()) => {
            counts.split_once(": ").map_or("", |(_, error)| error)
        }
        _ => said,
    };
    let words = said.split_whitespace().map(|word| {
        let path = word.len() > 1 && word.contains('/') && !word.contains("://");
        let number = word.bytes().any(|b| b.is_ascii_digit()) && !word.contains('[');
        match (path, number) {
            (true, _) => "…".to_owned(),
            (_, true) => without_digits(word),
            _ => word.to_owned(),
        }
    });
    let mut error = words.collect::<Vec<_>>().join(" ");
    error.truncate(error.floor_char_boundary(ERROR_BYTES_MAX));
    error
}

/// Each number is one `#`.
fn without_digits(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    for c in word.chars() {
        match c.is_ascii_digit() {
            true if text.ends_with('#') => {}
            true => text.push('#'),
            false => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::exchange::ItemKind;

    #[test]
    fn an_error_is_known_by_its_words() {
        for (said, wants) in [
            ("exit 1: error at src/a.rs line 12", "error at … line #"),
            (
                "failed 1/3 packages in 0.9 s: cart.go:7: undefined: sum",
                "cart.go:#: undefined: sum",
            ),
            ("failed 2/9 in 3 s", ""),
            ("failed: no such host", "no such host"),
        ] {
            assert_eq!(normal(said), wants, "{said}");
        }
    }

    #[test]
    fn what_a_look_says_is_no_error() {
        let failed = [Finding::Failed { key: 7 }];
        let error = |text| error_of(&LocatedItem::sample(ItemKind::Digest, 1, text, &failed));
        let look = "Action: Bash(cat src/x.rs) → exit 1: cat: src/x.rs: no such file";
        assert_eq!(error(look), None);
        assert_eq!(error("Action: Bash(make deploy) → exit 2: failed"), None);
        let deploy = "Action: Bash(make deploy) → exit 2: the lock is held by ada";
        let wants = Some((7, "the lock is held by ada".to_owned()));
        assert_eq!(error(deploy), wants);
    }
}

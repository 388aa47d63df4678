//! The command by which something is usually done: what sessions typed for it, and whether it worked. Pure.

use super::calls::typed;
use super::commands::{only_looks, shown};
use crate::insight::facts::LocatedItem;
use crate::model::finding::Finding;
use crate::model::time::Time;
use crate::rules::commands;
use crate::rules::words::{is_same, tokens};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// Sessions of which fewer say nothing about what is usual.
const SESSIONS_FEW: usize = 2;

/// A command as sessions ran it.
#[derive(Clone, Debug, PartialEq)]
pub struct UsualCommand {
    /// As most of its sessions typed it, without what stood around it; where they typed this and that behind it,
    /// what they have in common and ` …`.
    pub command: String,
    /// Runs, whatever stood behind it.
    pub runs: u64,
    /// Those that didn't fail.
    pub worked: u64,
    /// Sessions in which it worked.
    pub sessions: usize,
    /// The last of them, and when it began.
    pub last: (String, Option<Time>),
    /// The episode and the line that tell the last time.
    pub place: (Uuid, u64),
}

/// Commands that are about some words.
#[derive(Debug)]
pub struct UsualWay {
    about: Vec<String>,
    commands: BTreeMap<String, Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// As typed, with the sessions.
    forms: BTreeMap<String, BTreeSet<String>>,
    runs: u64,
    worked: u64,
    sessions: BTreeSet<String>,
    last: (Option<Time>, String),
    place: (Uuid, u64),
}

impl UsualWay {
    /// Commands that have all of these words, in lower case, in any of their forms.
    pub fn new(about: Vec<String>) -> UsualWay {
        UsualWay {
            about,
            commands: BTreeMap::new(),
        }
    }

    /// Adds calls of a session that began then.
    pub fn add(&mut self, session: &str, began: Option<Time>, lines: &[LocatedItem<'_>]) {
        for line in lines {
            let Some(failed) = ended(line) else { continue };
            let words = commands::standing(typed(line));
            if !self.is_about(&words) || only_looks(&words) {
                continue;
            }
            // what stands behind it may be what makes it one of these
            let common = Some(common(&words)).filter(|common| self.is_about(common));
            let key = common.map_or_else(|| shown(&words), shown);
            let seen = self.commands.entry(key).or_default();
            seen.runs += 1;
            if failed {
                continue;
            }
            seen.worked += 1;
            seen.sessions.insert(session.to_owned());
            let form = seen.forms.entry(shown(&words)).or_default();
            form.insert(session.to_owned());
            if (began, session) >= (seen.last.0, seen.last.1.as_str()) {
                seen.last = (began, session.to_owned());
                seen.place = (line.episode, line.line);
            }
        }
    }

    /// Those that worked in several sessions, and more often than not; what most sessions ran comes first.
    pub fn usual(self, limit: usize) -> Vec<UsualCommand> {
        let usual = self
            .commands
            .into_iter()
            .filter(|(_, seen)| seen.sessions.len() >= SESSIONS_FEW && seen.worked * 2 > seen.runs);
        let mut usual: Vec<UsualCommand> = usual
            .map(|(common, seen)| UsualCommand {
                command: seen.form().unwrap_or_else(|| format!("{common} …")),
                runs: seen.runs,
                worked: seen.worked,
                sessions: seen.sessions.len(),
                last: (seen.last.1, seen.last.0),
                place: seen.place,
            })
            .collect();
        usual.sort_by(|a, b| {
            let rank = |one: &UsualCommand| (one.sessions, one.worked, one.last.1);
            rank(b).cmp(&rank(a))
        });
        usual.truncate(limit);
        usual
    }

    /// Something is done by it, and it has the words.
    fn is_about(&self, words: &[String]) -> bool {
        // a message may have any word
        let plain = words
            .iter()
            .filter(|word| !word.contains(char::is_whitespace));
        let all: Vec<String> = plain.flat_map(|word| tokens(word)).collect();
        let class = commands::counted_as(&shown(words));
        let is_of =
            |about: &String| all.iter().any(|word| is_same(word, about)) || is_same(&class, about);
        !self.about.is_empty() && self.about.iter().all(is_of)
    }
}

impl Seen {
    /// What most sessions typed alike.
    fn form(&self) -> Option<String> {
        let is_most =
            |of: &BTreeSet<String>| of.len() >= SESSIONS_FEW && of.len() * 2 > self.sessions.len();
        let most = self.forms.iter().filter(|(_, of)| is_most(of));
        let most = most.max_by_key(|(form, of)| (of.len(), Reverse(form.len())))?;
        Some(most.0.clone())
    }
}

/// The words before the first option, path or message: what is the same from one time to the next.
fn common(words: &[String]) -> &[String] {
    let is_own = |word: &String| {
        let is_set = word.contains('=');
        word.starts_with('-') || !is_set && word.contains(['/', '.', ' ', '*', '<', '>', '"'])
    };
    let end = words.iter().skip(1).position(is_own);
    &words[..end.map_or(words.len(), |end| end + 1)]
}

/// Whether a shell's call failed; `None`: it is no such call, or nothing says how it ended.
fn ended(line: &LocatedItem<'_>) -> Option<bool> {
    line.item.findings.iter().find_map(|finding| match finding {
        Finding::Failed { .. } => Some(true),
        Finding::Worked { .. } => Some(false),
        _ => None,
    })
}

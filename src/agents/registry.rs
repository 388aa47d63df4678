//! The one list of agents.

use super::{CodingAgent, claude, codex, gemini, opencode, qwen};
use crate::config::Env;
use crate::model::choice::{expected, listed};
use crate::model::entry::Entry;
use crate::model::session::Session;
use crate::model::shell;
use crate::model::source::{Agent, SourceFile, Span};
use crate::stages::parse::{Dialect, LogName, ParseState};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

const AGENTS: &[&dyn CodingAgent] = &[
    &claude::Claude,
    &codex::Codex,
    &gemini::Gemini,
    &qwen::Qwen,
    &opencode::OpenCode,
];

/// Agents that are known and offered to nobody: lists, help and settings don't have them.
const UNLISTED: &[&dyn CodingAgent] = &[
    #[cfg(test)]
    &super::toy::Toy,
];

/// Every agent, in the order in which lists name them.
pub fn all() -> impl Iterator<Item = &'static dyn CodingAgent> {
    AGENTS.iter().copied()
}

/// Their words, in the same order.
pub fn words() -> impl Iterator<Item = Agent> {
    all().map(CodingAgent::agent)
}

/// Whose log or hook it is where nobody says.
pub fn first() -> Agent {
    AGENTS[0].agent()
}

/// Days after their last change that agents delete their logs; of those that do.
pub fn keeps_days(env: &Env) -> BTreeMap<Agent, u32> {
    let days = |known: &'static dyn CodingAgent| Some((known.agent(), known.keeps_days(env)?));
    all().filter_map(days).collect()
}

/// The name that people know an agent by.
pub fn title(agent: Agent) -> &'static str {
    find(agent).map_or(agent.as_str(), CodingAgent::title)
}

/// What is known of an agent; `None`: a later version's.
pub fn find(agent: Agent) -> Option<&'static dyn CodingAgent> {
    let mut known = AGENTS.iter().chain(UNLISTED).copied();
    known.find(|known| known.agent() == agent)
}

/// The agent's program that goes on with a session, and what it is told; `None` where the session's id can't
/// stand in a shell unquoted (a made-up name).
pub fn resume_words(session: &Session) -> Option<Vec<String>> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if session.id.is_empty() || session.id.starts_with('-') || !session.id.chars().all(plain) {
        return None;
    }
    let command = find(session.agent)?.resume_command(&session.id);
    Some(command.split(' ').map(str::to_owned).collect())
}

/// The same as a line for a shell, from anywhere.
pub fn resume(session: &Session) -> Option<String> {
    let command = resume_words(session)?.join(" ");
    Some(match &session.cwd {
        // Claude finds a session only from the directory that it was started in.
        Some(cwd) => format!("cd {} && {command}", shell::word(cwd)),
        None => command,
    })
}

/// How an agent spells its logs; of one that isn't known, no line is understood.
pub fn dialect(agent: Agent) -> &'static dyn Dialect {
    find(agent).map_or(&Unreadable, CodingAgent::dialect)
}

/// The agent that a person names.
pub fn by_word(word: &str) -> Option<Agent> {
    words().find(|agent| agent.as_str() == word)
}

/// The agent that a person names.
///
/// # Errors
/// What to write instead: `write claude, codex or gemini`.
pub fn named(word: &str) -> Result<Agent, String> {
    by_word(word).ok_or_else(|| expected(word, words().map(Agent::as_str)))
}

/// Whoever may have done something: an agent, a person, or nobody knows who.
///
/// # Errors
/// What to write instead.
pub fn doer_named(word: &str) -> Result<Agent, String> {
    let all = || words().chain([Agent::PERSON, Agent::UNKNOWN]);
    let found = all().find(|agent| agent.as_str() == word);
    found.ok_or_else(|| expected(word, all().map(Agent::as_str)))
}

/// `claude, codex or gemini`.
pub fn choice() -> String {
    listed(words().map(Agent::as_str))
}

/// The folders in which an agent keeps its logs.
pub fn log_folders(agent: Agent, env: &Env) -> Vec<PathBuf> {
    find(agent).map_or_else(Vec::new, |known| known.log_folders(env))
}

/// What logs of one session have in common, as far as their names tell.
pub fn family(file: &SourceFile) -> &str {
    dialect(file.agent).family(&file.key)
}

/// Whether an agent's logs have such a name, without `.jsonl` and `.zst`.
pub fn is_log(agent: Agent, stem: &[u8]) -> bool {
    dialect(agent).is_log(stem)
}

/// The dialect of an agent that this version doesn't know.
struct Unreadable;

impl Dialect for Unreadable {
    fn is_log(&self, _: &[u8]) -> bool {
        false
    }

    fn name(&self, _: &str) -> LogName {
        LogName::default()
    }

    fn value(
        &self,
        _: &mut ParseState,
        _: Span,
        _: &[u8],
        _: &mut Vec<Entry>,
    ) -> Result<usize, Cow<'static, str>> {
        Err("unknown agent".into())
    }
}

//! `graphiti` as it is meant: scopes without aliases, lists without repetitions.

use crate::config::layers::Layers;
use crate::config::wire::{MoreWord, ScopeName, ScopesMode, UnknownProjects, WireConfig};
use crate::model::error::Error;
use crate::model::scope::MemoryScope;
use std::collections::BTreeSet;

/// How memory is delivered, promoted and given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// `graphiti.enabled`; ask [`graphs`](crate::config::graphs) instead.
    pub enabled: bool,
    /// `graphiti.consent`; ask [`graphs`](crate::config::graphs) instead.
    pub consent: bool,
    /// Scopes whose groups logs are delivered to, beside the machine's own. Never global.
    pub ingest_scopes: BTreeSet<MemoryScope>,
    /// Projects whose trust nobody recorded stay out of graphs and get no automatic recall.
    pub denies_unknown: bool,
    /// Each group gets one episode that says who owns it.
    pub includes_owner: bool,
    /// Episodes say branch, commit and state of the work tree.
    pub includes_git: bool,
    /// Names the user.
    pub user_scope_key: Option<String>,
    /// `graphiti.global.enabled`; ask [`Memory::user_key`] instead.
    pub has_global: bool,
    /// What agents are given.
    pub recall: RecallLimits,
    /// `graphiti.auto_promote.enabled`.
    pub auto_promotes: bool,
    /// Words of directives beside those that always count.
    pub more_words: Vec<&'static str>,
}

/// `graphiti.recall`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecallLimits {
    /// Prompts are answered with memory.
    pub enabled: bool,
    /// Scopes that are always asked.
    pub scopes: BTreeSet<MemoryScope>,
    /// The global scope is asked too, when the question is about the user (D37).
    pub adds_global: bool,
    /// From the program's start to its answer.
    pub timeout_ms: u32,
    /// Facts.
    pub max_results: u32,
    /// Characters of one fact.
    pub max_fact_chars: u32,
    /// Characters of the block with its tags.
    pub max_total_chars: u32,
}

impl Memory {
    /// The key of the user's own group.
    ///
    /// # Errors
    /// Of usage, naming the setting without which there is no global scope.
    pub fn user_key(&self) -> Result<&str, Error> {
        if !self.has_global {
            let error = Error::usage("there is no global scope: graphiti.global.enabled is false");
            return Err(error.hinted("sessionmill config set graphiti.global.enabled true"));
        }
        self.user_scope_key.as_deref().ok_or_else(|| {
            Error::usage(
                "the global scope needs a name of yours: graphiti.user_scope_key is not set",
            )
            .hinted("sessionmill config set graphiti.user_scope_key github_login:you")
        })
    }
}

/// `graphiti` as meant.
pub(super) fn memory(layers: &Layers, wire: &WireConfig) -> Result<Memory, Error> {
    let written = &wire.graphiti;
    let key = "graphiti.ingest_scopes";
    let global = |name: &ScopeName| scope(*name) == MemoryScope::Global;
    if let Some(at) = written.ingest_scopes.iter().position(global) {
        let what = "the global scope gets promoted memories only; write session, workspace";
        return Err(layers.error(key, Some(at), what));
    }
    let user_scope_key = written.user_scope_key.as_deref().map(str::trim);
    if user_scope_key == Some("") {
        let what = "must not be empty; null means that there is no global scope";
        return Err(layers.error("graphiti.user_scope_key", None, what));
    }
    let recall = &written.recall;
    Ok(Memory {
        enabled: written.enabled,
        consent: written.consent,
        ingest_scopes: scopes(&written.ingest_scopes),
        denies_unknown: written.unknown_projects == UnknownProjects::Deny,
        includes_owner: written.include_system_messages,
        includes_git: written.include_git_metadata,
        user_scope_key: user_scope_key.map(str::to_owned),
        has_global: written.global.enabled,
        recall: RecallLimits {
            enabled: recall.enabled,
            scopes: scopes(&recall.scopes),
            adds_global: recall.scopes_mode == ScopesMode::Auto,
            timeout_ms: recall.timeout_ms,
            max_results: recall.max_results,
            max_fact_chars: recall.max_fact_chars,
            max_total_chars: recall.max_total_chars,
        },
        auto_promotes: written.auto_promote.enabled,
        more_words: written.auto_promote.more_words.iter().map(word).collect(),
    })
}

fn scopes(names: &[ScopeName]) -> BTreeSet<MemoryScope> {
    names.iter().map(|name| scope(*name)).collect()
}

fn scope(name: ScopeName) -> MemoryScope {
    match name {
        ScopeName::Session => MemoryScope::Session,
        ScopeName::Workspace => MemoryScope::Workspace,
        ScopeName::Global | ScopeName::User => MemoryScope::Global,
    }
}

fn word(word: &MoreWord) -> &'static str {
    match word {
        MoreWord::Note => "note",
        MoreWord::Todo => "todo",
        MoreWord::Steps => "steps",
        MoreWord::Remember => "remember",
    }
}

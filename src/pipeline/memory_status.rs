//! How `status` says what memory may do here: the gate before graphs, the scopes, the groups of the
//! present project.

use crate::config::trust::{Trust, Trusts};
use crate::config::{Env, Loaded, Memory, graphs};
use crate::memory::memory_groups;
use crate::memory::places::root_of;
use crate::model::namespace::namespace;
use crate::model::scope::MemoryScope;
use crate::store::Store;
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// How memory stands: the gate, the scopes, the groups of the present project.
pub struct MemoryStatus {
    /// The setting that stands in the way of graphs; `None`: none does.
    refusal: Option<String>,
    settings: Memory,
    /// `None`: nobody can say.
    trust: Option<Trust>,
    groups: Vec<(MemoryScope, String)>,
    /// Git operations, and files that patterns name, are recorded.
    is_tracked: bool,
}

impl MemoryStatus {
    /// As the settings, the agents' records and the store say.
    ///
    /// # Errors
    /// Where the store fails.
    pub fn new(loaded: &Loaded, store: Option<&Store>, env: &Env) -> Result<MemoryStatus> {
        let settings = loaded.here.memory.clone();
        let root = root_of(None, &env.cwd);
        let trust = Trusts::load(env).ok().map(|trusts| trusts.of(&root));
        let is_untrusted = !matches!(trust, Some(Trust::Trusted | Trust::Unknown));
        let untrusted = is_untrusted.then_some(root.as_str());
        let mut of_scopes = Vec::new();
        if let Some(store) = store {
            let key = memory_groups::workspace_key_now(store, &namespace(&root), &root)?;
            for scope in [MemoryScope::Workspace, MemoryScope::Global] {
                let group = memory_groups::group(scope, None, &key, &settings);
                of_scopes.extend(group.ok().map(|group| (scope, group)));
            }
        }
        Ok(MemoryStatus {
            refusal: graphs(&settings, untrusted)
                .err()
                .map(|error| error.message),
            settings,
            trust,
            groups: of_scopes,
            is_tracked: loaded.tracking.is_on(),
        })
    }

    fn trust(&self) -> &'static str {
        match self.trust {
            Some(Trust::Trusted) => "trusted",
            Some(Trust::Untrusted) => "untrusted",
            Some(Trust::Unknown) => "unknown",
            None => "unclear",
        }
    }

    /// For people.
    pub fn lines(&self) -> Vec<String> {
        let (settings, recall) = (&self.settings, &self.settings.recall);
        let word = |on: bool| if on { "on" } else { "off" };
        let names = |scopes: &BTreeSet<MemoryScope>| {
            let names: Vec<&str> = scopes.iter().map(|scope| scope.as_str()).collect();
            names.join(", ")
        };
        let mut graphs = match &self.refusal {
            None => "graphs: on".to_owned(),
            Some(refusal) => refusal.replacen("graphs are off: ", "graphs: off, ", 1),
        };
        if !settings.ingest_scopes.is_empty() {
            graphs += &format!("; scopes: {}", names(&settings.ingest_scopes));
        }
        let auto = if recall.adds_global {
            ", global where it is asked for"
        } else {
            ""
        };
        let is_denied = settings.denies_unknown && self.trust == Some(Trust::Unknown);
        let gives = recall.enabled && !is_denied && self.trust != Some(Trust::Untrusted);
        let denied = match is_denied {
            true => ", so no recall and no graphs (graphiti.unknown_projects: deny)",
            false => "",
        };
        let tracked = match self.is_tracked {
            true => "recorded",
            false => {
                "off (to record them: sessionmill config set --tracking defaults.enabled true)"
            }
        };
        vec![
            format!("git operations: {tracked}"),
            graphs,
            format!(
                "recall: {} ({}{auto}); auto-promote: {}; project trust: {}{denied}",
                word(gives),
                match recall.scopes.is_empty() {
                    true => "graphiti.recall.scopes is empty".to_owned(),
                    false => names(&recall.scopes),
                },
                word(settings.auto_promotes),
                match self.trust {
                    Some(Trust::Unknown) => "not recorded",
                    None => "can't be read",
                    Some(_) => self.trust(),
                },
            ),
        ]
    }

    /// For programs.
    pub fn document(&self) -> Value {
        let names = |scopes: &BTreeSet<MemoryScope>| -> Vec<&str> {
            scopes.iter().map(|scope| scope.as_str()).collect()
        };
        let (settings, recall) = (&self.settings, &self.settings.recall);
        let groups = self.groups.iter();
        let groups = groups.map(|(scope, group)| (scope.as_str().to_owned(), json!(group)));
        json!({
            "enabled": settings.enabled,
            "consent": settings.consent,
            "refusal": self.refusal,
            "trust": self.trust(),
            "unknown_projects": if settings.denies_unknown { "deny" } else { "allow" },
            "ingest_scopes": names(&settings.ingest_scopes),
            "recall": {
                "enabled": recall.enabled,
                "scopes": names(&recall.scopes),
                "adds_global": recall.adds_global,
            },
            "auto_promote": settings.auto_promotes,
            "git_tracked": self.is_tracked,
            "groups": groups.collect::<serde_json::Map<String, Value>>(),
        })
    }
}

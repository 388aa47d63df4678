//! The step `promote`: what people asked in their prompts to be remembered is judged and kept (D38), and
//! each group is told once who owns it (D35).

use crate::config::Memory;
use crate::memory::memory_groups;
use crate::memory::moved_projects::{MovedProject, meet_projects};
use crate::memory::promote::{PromoteRequest, curate};
use crate::model::error::{Error, ErrorKind};
use crate::model::human::plural;
use crate::model::memory::{IDS, MemoryOrigin, block};
use crate::model::scope::MemoryScope;
use crate::model::time::Time;
use crate::pipeline::active_run::Run;
use crate::rules::secrets::Redactor;
use crate::store::{Project, Store, Waiting};
use anyhow::Result;
use std::collections::BTreeMap;
use uuid::Uuid;

/// What became of directives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromoteReport {
    /// Memories now.
    pub kept: u64,
    /// Refused, with why; never content.
    pub refused: Vec<(Uuid, String)>,
    /// New projects that look like one that is gone.
    pub moved: Vec<MovedProject>,
}

impl PromoteReport {
    /// For people; `None` where nobody asked for anything.
    pub fn line(&self) -> Option<String> {
        let refused = self.refused.len() as u64;
        let kept = plural(self.kept, "directive");
        let why = "sessionmill memories list --refused";
        match (self.kept, refused) {
            (0, 0) => None,
            (_, 0) => Some(format!("{kept} saved as memory")),
            _ => Some(format!("{kept} saved as memory, {refused} refused ({why})")),
        }
    }
}

/// Does the step. Projects are met first: a memory belongs to one.
///
/// # Errors
/// When the store fails.
pub fn run(run: &mut Run<'_, '_>) -> Result<PromoteReport> {
    let moved = meet_projects(&mut run.store)?;
    let settings = &run.cx.loaded.config.memory;
    let done = promote(&mut run.store, settings, &run.rules.redactor)?;
    Ok(PromoteReport { moved, ..done })
}

/// Judges every directive that was said and not judged. Without one, looks at one index.
///
/// # Errors
/// When the store fails.
pub fn promote(store: &mut Store, settings: &Memory, redactor: &Redactor) -> Result<PromoteReport> {
    let mut promoted = PromoteReport::default();
    for said in store.said()? {
        let (id, project) = (said.id, said.project.clone());
        match judged(said, store, settings, redactor) {
            Ok(memory) => promoted.kept += u64::from(store.keep_memory(&memory, &project)?),
            Err(error) if error.kind == ErrorKind::Usage => {
                store.refuse_memory(id, &error.message)?;
                promoted.refused.push((id, error.message));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(promoted)
}

fn judged(
    said: Waiting,
    store: &mut Store,
    settings: &Memory,
    redactor: &Redactor,
) -> Result<crate::store::Curated, Error> {
    let Some(scope) = MemoryScope::parse(&said.scope) else {
        let known = MemoryScope::ALL.map(MemoryScope::as_str).join(", ");
        return Err(Error::usage(format!("its scope is not one of {known}")));
    };
    // its words say `everywhere`, and nobody said who that is: less far, not nowhere
    let scope = match scope {
        MemoryScope::Global if !said.is_marked && settings.user_key().is_err() => {
            MemoryScope::Workspace
        }
        scope => scope,
    };
    let wish = PromoteRequest {
        id: Some(said.id),
        kind: said.kind,
        scope,
        origin: MemoryOrigin::Directive,
        title: None,
        text: said.text,
        session: Some(said.session),
        git: None,
        at: said.at,
    };
    curate(wish, &said.project, store, settings, redactor)
}

/// Groups that are told of, with the scope that each is and the project of whom it is told.
pub type Groups = BTreeMap<String, (MemoryScope, Project)>;

/// The groups of memories, and those of scopes that something was delivered to.
///
/// # Errors
/// When the store fails.
pub fn groups_in_use(store: &Store, settings: &Memory) -> Result<Groups> {
    let mut all = Groups::new();
    for scope in &settings.ingest_scopes {
        for (id, agent, namespace) in store.delivered_in(*scope)? {
            let Some(project) = store.project(&namespace)? else {
                continue;
            };
            let key = memory_groups::workspace_key_now(store, &namespace, &project.path)?;
            let group = memory_groups::group(*scope, Some((agent, &id)), &key, settings)?;
            all.entry(group).or_insert((*scope, project));
        }
    }
    for row in store.memories(&[crate::store::MemoryState::Kept])? {
        let Some((kept, scope)) = row.kept.zip(MemoryScope::parse(&row.scope)) else {
            continue;
        };
        if let Some(project) = store.project(&kept.namespace)? {
            all.entry(kept.group).or_insert((scope, project));
        }
    }
    Ok(all)
}

/// Tells each group who owns it, once for each group and content; gives how many were told now.
///
/// # Errors
/// When the store fails.
pub fn announce_owners(store: &mut Store, settings: &Memory, now: Time) -> Result<u64> {
    if !settings.includes_owner {
        return Ok(0);
    }
    let mut announced = 0;
    for (group, (scope, project)) in groups_in_use(store, settings)? {
        let owner = match &settings.user_scope_key {
            Some(key) => format!("Owner: {key}."),
            None => "Owner: (not named).".to_owned(),
        };
        let says = format!(
            "{owner}\nThe owner owns this {} scope and its assets.",
            scope.as_str()
        );
        let id = Uuid::new_v5(&IDS, format!("owner {group}\n{says}").as_bytes());
        let text = block("ownership_context", scope, now, None, &says);
        announced += u64::from(store.keep_message(id, &group, &text, &project, now)?);
    }
    Ok(announced)
}

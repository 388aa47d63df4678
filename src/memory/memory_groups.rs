//! Which group a memory goes to (D34): the scope's key, hashed. Who the user is has to be configured; it is
//! never guessed.

use crate::config::Memory;
use crate::host::git;
use crate::model::error::Error;
use crate::model::scope::{MemoryScope, repository_key, session_key};
use crate::model::source::Agent;
use crate::store::{MemoryState, Store};
use std::collections::BTreeSet;
use std::path::Path;
use uuid::Uuid;

/// What names a project's group: its repository's remote, else its root. Asked of the disk once for each
/// project, and fixed from then on.
pub fn workspace_key(store: &mut Store, namespace: &str, root: &str) -> Result<String, Error> {
    if let Some(known) = store.workspace(namespace)? {
        return Ok(known);
    }
    let key = key_on_disk(root);
    store.set_workspace(namespace, &key)?;
    Ok(key)
}

/// The same without noting it: for looking.
pub fn workspace_key_now(store: &Store, namespace: &str, root: &str) -> Result<String, Error> {
    let known = store.workspace(namespace)?;
    Ok(known.unwrap_or_else(|| key_on_disk(root)))
}

fn key_on_disk(root: &str) -> String {
    let remote = git::remote(Path::new(root));
    let key = remote.and_then(|address| repository_key(&address));
    key.unwrap_or_else(|| root.to_owned())
}

/// The group of a scope; `session` where it is known, and what names the project's group.
///
/// # Errors
/// Of usage: there is no session, or no global scope (names the setting).
pub fn group(
    scope: MemoryScope,
    session: Option<(Agent, &str)>,
    workspace: &str,
    settings: &Memory,
) -> Result<String, Error> {
    let key = match scope {
        MemoryScope::Session => {
            let (agent, id) = session.ok_or_else(|| {
                Error::usage("the scope is a session, and none is known")
                    .hinted("--session SESSION   (to list them: sessionmill sessions)")
            })?;
            session_key(agent, id)
        }
        MemoryScope::Workspace => workspace.to_owned(),
        MemoryScope::Global => settings.user_key()?.to_owned(),
    };
    Ok(scope.group(&key))
}

/// What is in a group: sessions that its key or its name covers, and memories that are delivered to it.
pub fn members(store: &Store, group: &str) -> Result<(Vec<String>, Vec<Uuid>), Error> {
    let mut sessions: BTreeSet<String> = store.sessions_of_group(group)?.into_iter().collect();
    let is_it = |scope: MemoryScope, key: &str| scope.group(key) == group;
    let workspaces = store.workspaces()?.into_iter();
    let covered: BTreeSet<String> = workspaces
        .filter(|(_, key)| is_it(MemoryScope::Workspace, key))
        .map(|(namespace, _)| namespace)
        .collect();
    for (id, agent, namespace) in store.session_keys()? {
        let key = session_key(agent, &id);
        if covered.contains(&namespace) || is_it(MemoryScope::Session, &key) {
            sessions.insert(id);
        }
    }
    let memories = store.memories(&[MemoryState::Kept])?.into_iter();
    let its = |row: &crate::store::MemoryRow| row.kept.as_ref().is_some_and(|k| k.group == group);
    let memories = memories.filter(its).map(|row| row.id).collect();
    Ok((sessions.into_iter().collect(), memories))
}

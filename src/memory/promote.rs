//! What may be remembered: words that people curated, by command or by directive (D32, D38, D39). What is
//! refused is never repeated in an error: it may be a secret.

use super::memory_groups;
use crate::config::trust::{Trust, Trusts};
use crate::config::{Env, Memory, RecallLimits};
use crate::model::error::Error;
use crate::model::memory::{IDS, MemoryKind, MemoryOrigin, title_of};
use crate::model::scope::MemoryScope;
use crate::model::source::Agent;
use crate::model::time::Time;
use crate::rules::secrets::Redactor;
use crate::rules::terminal::harmless;
use crate::store::{Curated, Project, Store};
use uuid::Uuid;

/// Larger ones are documents, and graphs read the ten before each one again.
const TEXT_BYTES_MAX: usize = 8 * 1024;

/// What somebody wants remembered.
#[derive(Clone, Debug)]
pub struct PromoteRequest {
    /// The memory's id; `None`: by its words, so that promoting them twice keeps them once.
    pub id: Option<Uuid>,
    /// What it is.
    pub kind: MemoryKind,
    /// How far it reaches.
    pub scope: MemoryScope,
    /// Who curated it.
    pub origin: MemoryOrigin,
    /// One line; `None`: the text's first one.
    pub title: Option<String>,
    /// Its words.
    pub text: String,
    /// The session that it is said in.
    pub session: Option<(Agent, String)>,
    /// Where the work tree is.
    pub git: Option<String>,
    /// When.
    pub at: Time,
}

/// Title and text as they may be kept: trimmed, without what drives a terminal, personal data masked as the settings say.
///
/// # Errors
/// Of usage, without a word of it: nothing is left, it is too long, a rule takes it for a secret.
pub fn words(
    title: Option<&str>,
    text: &str,
    redactor: &Redactor,
) -> Result<(String, String), Error> {
    let (given, text) = (title.map(harmless), harmless(text));
    let (title, text) = (given.as_deref(), text.trim());
    if text.is_empty() {
        return Err(Error::usage("there is nothing to remember"));
    }
    if text.len() > TEXT_BYTES_MAX {
        let message = format!(
            "a memory has at most {TEXT_BYTES_MAX} bytes, this one {}",
            text.len()
        );
        return Err(Error::usage(message).hinted("shorten it"));
    }
    let title = title_of(title.map(str::trim).filter(|t| !t.is_empty()), text);
    let mut secrets = redactor.secrets_in(text);
    secrets.extend(redactor.secrets_in(&title));
    secrets.sort_unstable();
    secrets.dedup();
    if !secrets.is_empty() {
        let message = format!("this looks like a secret ({})", secrets.join(", "));
        return Err(Error::usage(message).hinted("leave the secret out"));
    }
    let masked = |text: &str| redactor.redact(text).into_owned();
    Ok((masked(&title), masked(text)))
}

/// What keeps a memory from being recalled as it stands, for whoever promoted it; `None`: nothing does.
pub fn recall_note(memory: &Curated, limits: &RecallLimits) -> Option<String> {
    if !limits.enabled {
        return Some("it won't be recalled: graphiti.recall.enabled is false".to_owned());
    }
    if !limits.scopes.contains(&memory.scope) {
        let scope = memory.scope.as_str();
        let is_asked_for = memory.scope == MemoryScope::Global && limits.adds_global;
        return Some(match is_asked_for {
            true => "it is recalled where a question is about you (\"my usual editor\"); \
                     everywhere with \"global\" in graphiti.recall.scopes"
                .to_owned(),
            false => format!("it won't be recalled: graphiti.recall.scopes doesn't name {scope}"),
        });
    }
    let chars = memory.text.chars().count();
    let chars_max = limits.max_fact_chars as usize;
    (chars > chars_max).then(|| {
        format!(
            "it has {chars} characters, of which recall shows the first {chars_max} at most: \
             graphiti.recall.max_fact_chars"
        )
    })
}

/// The id of these words, however they are spaced. Words that were taken back, or went with what they
/// were said in, are another memory when they are promoted anew: sinks forget the one before.
fn free_id(
    group: &str,
    kind: MemoryKind,
    title: &str,
    text: &str,
    store: &Store,
) -> Result<Uuid, Error> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let name = format!("{group} {} {title}\n{}", kind.as_str(), words.join(" "));
    let mut id = Uuid::new_v5(&IDS, name.as_bytes());
    while store.is_taken_back(id)? {
        id = Uuid::new_v5(&IDS, id.as_bytes());
    }
    Ok(id)
}

/// Whether something of the project at this root may be kept: not where an agent was told not to trust
/// it (D63). What can't be read is a no.
///
/// # Errors
/// Of usage.
pub fn gate(root: &str, env: &Env) -> Result<(), Error> {
    match Trusts::load(env)?.of(root) {
        Trust::Untrusted => Err(Error::usage("the project is not trusted")),
        Trust::Trusted | Trust::Unknown => Ok(()),
    }
}

/// A memory that may be kept, with the group that it goes to. Fixes what names the project's group.
///
/// # Errors
/// Of usage, without a word of it: as [`words`] and [`memory_groups::group`].
pub fn curate(
    request: PromoteRequest,
    project: &Project,
    store: &mut Store,
    settings: &Memory,
    redactor: &Redactor,
) -> Result<Curated, Error> {
    let (title, text) = words(request.title.as_deref(), &request.text, redactor)?;
    let workspace = memory_groups::workspace_key(store, &project.namespace, &project.path)?;
    let session = request
        .session
        .as_ref()
        .map(|(agent, id)| (*agent, id.as_str()));
    let group = memory_groups::group(request.scope, session, &workspace, settings)?;
    let id = match request.id {
        Some(id) => id,
        None => free_id(&group, request.kind, &title, &text, store)?,
    };
    Ok(Curated {
        id,
        kind: request.kind,
        scope: request.scope,
        origin: request.origin,
        session: request.session.map(|(_, id)| id),
        git: request.git,
        title,
        text,
        group,
        at: request.at,
    })
}

//! Which logs are read: the folders that have them, and what in them is left out.

use crate::config::env::Env;
use crate::config::exclude::{Excluded, glob};
use crate::config::layers::Layers;
use crate::config::values::absolute;
use crate::config::wire::{Mapping, SourceName, WireConfig};
use crate::model::error::Error;
use crate::model::namespace::project_root;
use crate::model::source::{Agent, Root};
use std::path::{Path, PathBuf};

/// The folders in which an agent keeps its logs.
pub type UsualLogs = fn(Agent, &Env) -> Vec<PathBuf>;

/// The usual folders of the agents that are read, those that the settings name, and those of mappings
/// that lie elsewhere.
pub(super) fn roots(
    layers: &Layers,
    wire: &WireConfig,
    mappings: &[Mapping],
    (env, usual): (&Env, UsualLogs),
) -> Result<Vec<Root>, Error> {
    let tracking = &wire.session_tracking;
    let root = |path: PathBuf, agent: Agent, named| Root {
        path,
        agent,
        include: Vec::new(),
        exclude: Vec::new(),
        named,
    };
    let mut out = Vec::new();
    let watched = SourceName::ClaudeCodeJsonl;
    for source in SourceName::ALL {
        if !tracking.sources.contains(&source) {
            continue;
        }
        let given = tracking.watch_path.as_deref().filter(|_| source == watched);
        let given = given.map(|path| absolute(path, env)).transpose();
        let given =
            given.map_err(|what| layers.error("session_tracking.watch_path", None, &what))?;
        let named = given.is_some();
        let folders = given.map_or_else(|| usual(source.agent(), env), |path| vec![path]);
        out.extend(
            folders
                .into_iter()
                .map(|path| root(path, source.agent(), named)),
        );
    }
    for (i, extra) in tracking.extra_roots.iter().enumerate() {
        let failed = |what: String| layers.error("session_tracking.extra_roots", Some(i), &what);
        for pattern in extra.include.iter().chain(&extra.exclude) {
            glob(pattern).map_err(|e| failed(format!("`{pattern}` is not a valid glob: {e}")))?;
        }
        out.push(Root {
            include: extra.include.clone(),
            exclude: extra.exclude.clone(),
            ..root(
                absolute(&extra.path, env).map_err(failed)?,
                extra.agent.agent(),
                true,
            )
        });
    }
    // A mapping's folder matters only where the usual roots don't reach; `{hash}` is theirs.
    let elsewhere = mappings
        .iter()
        .filter(|m| m.enabled)
        .filter_map(|m| absolute(m.jsonl_sessions.as_deref()?, env).ok())
        .filter(|p| !p.to_string_lossy().contains('{'));
    for path in elsewhere {
        if !out.iter().any(|r| path.starts_with(&r.path)) {
            out.push(root(path, watched.agent(), true));
        }
    }
    Ok(out)
}

pub(super) fn excluded(
    layers: &Layers,
    wire: &WireConfig,
    mappings: &[Mapping],
    env: &Env,
) -> Result<Excluded, Error> {
    let key = "session_tracking.excluded_paths";
    let failed = |(i, what): (usize, String)| layers.error(key, Some(i), &what);
    let mut patterns = Vec::new();
    for (i, written) in wire.session_tracking.excluded_paths.iter().enumerate() {
        let path = env.expand(written).map_err(|e| failed((i, e.message)))?;
        if !Path::new(&path).is_absolute() && !path.starts_with("**") {
            let what = format!("`{written}` must be absolute or start with `**`");
            return Err(failed((i, what)));
        }
        patterns.push(project_root(&path));
    }
    let off = mappings.iter().filter(|m| !m.enabled);
    let off = off.filter_map(|m| env.expand(&m.project_root).ok());
    patterns.extend(off.map(|root| globset::escape(&project_root(&root))));
    Excluded::new(patterns).map_err(failed)
}

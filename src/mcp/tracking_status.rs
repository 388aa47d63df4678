//! The status of tracking in a few lines: whether it is worth asking at all.

use super::answer::counted;
use super::here::{Here, minute};
use crate::config::gate;
use crate::memory::scopes::Scope;
use crate::model::error::Error;
use crate::pipeline::lock;
use crate::store::StoreStatus as Numbers;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write;

/// Arguments of `session_tracking_status`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Status {
    #[serde(default, rename = "project")]
    _project: Option<String>,
}

/// On or off and why, the last run, what is there, and what this client may see of it.
pub fn status(here: &Here, _: &Status) -> Result<String, Error> {
    let gate = gate(&here.loaded.config);
    let numbers = match here.home.store().exists() {
        true => here.store()?.status()?,
        false => Numbers::default(),
    };
    let word = if gate.enabled { "on" } else { "off" };
    let mut text = format!("tracking: {word}, {}\n", gate.reason);
    let last = lock::last_run(&here.home.lock());
    let last = last.map_or("never".to_owned(), |at| minute(Some(at)));
    let _ = writeln!(text, "last run: {last}; now: {}", minute(Some(here.now)));
    let _ = writeln!(
        text,
        "remembered: {}, {} ({} not sealed)",
        counted(numbers.sessions.values().sum(), "session"),
        counted(numbers.sealed + numbers.open, "episode"),
        numbers.open
    );
    let project = here.project.as_deref();
    let shown = project.filter(|project| !here.hides_paths_of(project));
    let project = match (project, shown) {
        (None, _) => "unknown",
        (Some(_), None) => "known, its path is hidden",
        (_, Some(path)) => path,
    };
    let _ = writeln!(text, "current project: {project}");
    let scope = match here.reach(None, &[])? {
        Scope::All => "all projects".to_owned(),
        Scope::Only(namespaces) => namespaces.join(", "),
        Scope::Nothing(reason) => format!("nothing: {reason}"),
    };
    let _ = writeln!(text, "searches: {scope}");
    Ok(text)
}

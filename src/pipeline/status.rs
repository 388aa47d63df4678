//! What the store lacks: logs that wait for the next run, and episodes that other rules made.

use super::admission::Admission;
use super::context::RunContext;
use super::options::{self, RunOptions};
use super::spec::{Pipeline, Window};
use super::sweep::{Sweep, UnreadLog, soon, sweeps};
use crate::agents::registry;
use crate::config::Env;
use crate::memory::classifiers;
use crate::memory::redaction_setup::Redaction;
use crate::model::source::{SourceChange, SourceFile};
use crate::model::time::Time;
use crate::stages::discover::{DiscoverOptions, Discovered, KnownLog, discover};
use crate::store::{Store, StoreStatus};
use anyhow::Result;
use std::collections::BTreeSet;

/// Episodes that were made by other rules or settings than those that hold now, for everybody or
/// in one project. Looks at projects' own settings only where it has to.
///
/// # Errors
/// When the store or a table can't be read.
pub fn older(status: &StoreStatus, store: Option<&Store>, cx: &RunContext<'_>) -> Result<u64> {
    let counter = classifiers::counter(cx.home)?;
    let rules = options::rules(&cx.loaded.config, cx.host, Redaction::default(), counter);
    let mut current = BTreeSet::from([rules.made_by()]);
    let count = |current: &BTreeSet<String>| -> u64 {
        let others = status
            .made_by
            .iter()
            .filter(|(by, _)| !current.contains(*by));
        others.map(|(_, n)| n).sum()
    };
    let (Some(store), true) = (store, count(&current) > 0) else {
        return Ok(count(&current));
    };
    let admission = Admission::new(cx.loaded, cx.env, Window::Configured, cx.now);
    for (_, project) in store.projects("")? {
        if let Ok(Some(own)) = admission.admit(Some(&project), None, "") {
            current.insert(rules.narrowed(&own).made_by());
        }
    }
    Ok(count(&current))
}

/// What the next run would look at, by names and times alone.
///
/// # Errors
/// When the store can't be read.
pub fn backlog(
    found: &[SourceFile],
    pipeline: &Pipeline,
    store: Option<&Store>,
    cx: &RunContext<'_>,
) -> Result<Discovered> {
    let known = store.map_or_else(|| Ok(Vec::new()), Store::last_seen)?;
    let known = KnownLog::new(known);
    let run = RunOptions::new(pipeline, cx);
    let options = DiscoverOptions {
        since: run.since(&cx.loaded.config),
        again: false,
        due: run.last_run.left.due,
    };
    Ok(discover(found, &known, &options, &registry::family))
}

/// What agents delete that no run has read: all that is too old for the next one, and what it would take
/// that goes soon.
pub fn unread_sweeps(waiting: &Discovered, env: &Env, now: Time) -> Vec<Sweep> {
    let new = waiting.slices.iter();
    let new = new.filter(|slice| slice.seen == SourceChange::New);
    let mut unread = soon(new.map(|slice| &slice.file), env, now);
    unread.extend(waiting.outside.iter().map(UnreadLog::of));
    sweeps(&unread, env, now)
}

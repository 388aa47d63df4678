//! The step `track` on the command line: what it is told, and what it says.

use super::human::plural;
use super::setup::{self, Orders};
use crate::config::Loaded;
use crate::model::namespace::global_group;
use crate::pipeline::admission::Admission;
pub use crate::pipeline::track::Done;
use crate::pipeline::track::{self, track};
use crate::rules::secrets::Redactor;
use crate::store::Store;
use anyhow::Result;
use serde_json::{Value, json};

/// Runs the step. What sessions may not be read of, repositories may not either.
pub fn run(
    loaded: &Loaded,
    admission: &Admission<'_>,
    orders: &Orders,
    redactor: &Redactor,
    store: &mut Store,
) -> Result<Done> {
    let group = match &loaded.config.group_id {
        Some(group) => group.clone(),
        None => store
            .last_group()?
            .unwrap_or_else(|| global_group(&orders.host)),
    };
    let refuses = |root: &str| admission.admit(Some(root), Some(root), root).err();
    let orders = track::Orders {
        now: orders.now,
        host: &orders.host,
        tracking: &loaded.tracking,
        refuses: &refuses,
        since: setup::since(&loaded.config, orders),
        group: &group,
        redactor,
    };
    track(store, &orders)
}

/// How many operations were new; `None` where none was.
pub fn line(done: &Done) -> Option<String> {
    (done.operations > 0).then(|| format!("{} told", plural(done.operations, "git operation")))
}

/// Repositories that can't be read, as JSON.
pub fn problems(done: &Done) -> Value {
    let all = done.problems.iter();
    all.map(|(path, reason)| json!({"path": path, "reason": reason}))
        .collect()
}

//! Changing an agent's own settings: shown first, then written whole. What stands in them is for
//! `config::agent_settings`.

use super::ctx::Ctx;
use crate::config::agent_settings::SettingsChange;
use anyhow::Result;
use serde_json::json;

/// Shows or writes changes, as a person or as a machine reads it.
///
/// # Errors
/// As [`SettingsChange::write`], or nothing can be printed; changes before the one that fails stay written.
pub fn apply(name: &str, changes: &[SettingsChange], dry_run: bool, ctx: &mut Ctx) -> Result<()> {
    if !ctx.out.json {
        let able: Vec<&SettingsChange> = changes.iter().filter(|c| c.fault.is_none()).collect();
        // of many files, those that stay as they are aren't worth a line each
        let is_one = able.len() == 1;
        let mut told = able.iter().filter(|change| is_one || change.is_news());
        if !dry_run && !able.is_empty() && told.clone().next().is_none() {
            return ctx.out.did(format!("{name}: nothing to do"));
        }
        return told.try_for_each(|change| one(change, dry_run, ctx));
    }
    let mut list = Vec::new();
    for change in changes {
        if !dry_run {
            change.write()?;
        }
        list.push(json!({
            "agent": change.agent.as_str(),
            "file": change.file,
            "changed": change.is_news(),
            "diff": change.diff(),
            "left": change.left,
            "fault": change.fault.as_ref().map(|fault| &fault.message),
        }));
    }
    ctx.out
        .document(name, json!({"dry_run": dry_run, "agents": list}))
}

fn one(change: &SettingsChange, dry_run: bool, ctx: &mut Ctx) -> Result<()> {
    if dry_run {
        return ctx.out.text(change.diff());
    }
    change.write()?;
    let file = change.file.display();
    match (change.is_news(), &change.after) {
        (true, Some(_)) => ctx.out.did(format!("wrote {file}")),
        (true, None) => ctx
            .out
            .did(format!("removed {file}, which held nothing else")),
        (false, _) if change.before.is_none() => {
            ctx.out.did(format!("{file} is not there: nothing to do"))
        }
        (false, _) => ctx.out.did(format!("{file} stays as it is")),
    }
}

//! Errors that were resolved: a command that failed, and worked later, after something was changed. What
//! was changed between is listed; causes are not guessed.

use super::line::LocatedItem;
use crate::model::classification::{Domain, Intent};
use crate::model::finding::Finding;
use crate::model::summary::{Resolution, Sourced};
use crate::rules::commands;
use crate::rules::paths::is_throwaway;
use std::collections::BTreeSet;

/// Errors of one session that are listed, the last ones: more of them are a log again.
const RESOLVED_MAX: usize = 10;

/// Files named as what helped.
const CHANGED_MAX: usize = 5;

/// A command that failed and didn't work yet.
struct Open<'l, 't> {
    key: u32,
    line: &'l LocatedItem<'t>,
    /// Of what was changed since, in order.
    changed: Vec<String>,
}

/// Resolved errors in the order in which they were resolved. Only the last failure of a command
/// counts before it works, with what was changed since the first one.
pub fn resolved(lines: &[LocatedItem<'_>]) -> Vec<Sourced<Resolution>> {
    let mut open: Vec<Open<'_, '_>> = Vec::new();
    let mut all = Vec::new();
    for line in lines {
        for finding in line.item.findings {
            match finding {
                Finding::Failed { key } => fail(&mut open, *key, line),
                Finding::Worked { key } => all.extend(work(&mut open, *key, line)),
                Finding::Changed { path, .. } => {
                    for error in &mut open {
                        error.changed.push(path.clone());
                    }
                }
                _ => {}
            }
        }
    }
    all.drain(..all.len().saturating_sub(RESOLVED_MAX));
    all
}

fn fail<'l, 't>(open: &mut Vec<Open<'l, 't>>, key: u32, line: &'l LocatedItem<'t>) {
    match open.iter_mut().find(|error| error.key == key) {
        Some(error) => error.line = line,
        None => open.push(Open {
            key,
            line,
            changed: Vec::new(),
        }),
    }
}

/// What was only repeated until it worked is no resolution.
fn work(
    open: &mut Vec<Open<'_, '_>>,
    key: u32,
    now: &LocatedItem<'_>,
) -> Option<Sourced<Resolution>> {
    let at = open.iter().position(|error| error.key == key)?;
    let Open { line, changed, .. } = open.remove(at);
    let mut seen = BTreeSet::new();
    let changed: Vec<String> = changed
        .into_iter()
        .filter(|path| !is_throwaway(path) && seen.insert(path.clone()))
        .collect();
    let (call, error) = line.words().split_once(" → ")?;
    let changed = to_blame(changed, error);
    let has_cause = !changed.is_empty() && !only_looks(call);
    has_cause.then(|| {
        line.source(Resolution {
            call: call.to_owned(),
            error: error.lines().next().unwrap_or_default().to_owned(),
            changed,
            worked_at: now.line,
            explained: None,
        })
    })
}

/// Of the files that were changed those that the error names, if it names any.
fn to_blame(changed: Vec<String>, error: &str) -> Vec<String> {
    let is_named = |path: &&String| {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        error.contains(name)
    };
    let named: Vec<String> = changed.iter().filter(is_named).cloned().collect();
    let mut blamed = if named.is_empty() { changed } else { named };
    blamed.truncate(CHANGED_MAX);
    blamed
}

/// No edit makes such a command work: it reads, searches, or is about history.
fn only_looks(call: &str) -> bool {
    let Some((_, rest)) = call.split_once('(') else {
        return false;
    };
    let class = commands::counted_as(rest.strip_suffix(')').unwrap_or(rest));
    let command = commands::of_count(&class);
    let looks = matches!(command.intent, Intent::Read | Intent::Search);
    // a commit may fail for what its hooks find
    looks || command.domain == Domain::VersionControl && command.intent != Intent::Create
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::exchange::ItemKind;

    fn line<'t>(n: u64, text: &'t str, findings: &'t [Finding]) -> LocatedItem<'t> {
        LocatedItem::sample(ItemKind::Digest, n, text, findings)
    }

    #[test]
    fn what_failed_and_worked_after_a_change_is_resolved() {
        let failed = [Finding::Failed { key: 1 }];
        let worked = [Finding::Worked { key: 1 }];
        let changed = [Finding::Changed {
            path: "/p/a.rs".into(),
            added: 1,
            removed: 0,
        }];
        let lines = [
            line(
                1,
                "Action: Bash(cargo build) → exit 101: error[E0308] mismatched types",
                &failed,
            ),
            line(2, "Action: Edit(a.rs) → +1 −0", &changed),
            line(3, "Action: Bash(cargo build) → ok, no output", &worked),
        ];
        let found = resolved(&lines);
        assert_eq!(found.len(), 1);
        let error = &found[0];
        assert_eq!((error.line, error.what.worked_at), (1, 3));
        assert_eq!(error.what.call, "Bash(cargo build)");
        assert_eq!(error.what.error, "exit 101: error[E0308] mismatched types");
        assert_eq!(error.what.changed, ["/p/a.rs"]);
        assert_eq!(resolved(&lines[..2]), [], "it doesn't work yet");
        assert_eq!(resolved(&[lines[0], lines[2]]), [], "it was only repeated");
    }
}

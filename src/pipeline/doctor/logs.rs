//! Checks of the logs themselves: whether they are there, can be read, and get into the store
//! before an agent deletes them.

use super::diagnosis::{Diagnosis, Severity, counted, first_of, quoted};
use super::observed::Observed;
use crate::agents::registry;
use crate::model::namespace::project_root;
use crate::model::source::SourceFile;
use crate::model::time::Time;
use crate::pipeline::peek::peek;
use crate::pipeline::spec::Window;

const DAY_MS: i64 = 86_400_000;

/// Places that the settings name and that don't exist, or none at all.
pub(super) fn roots(observed: &Observed<'_>) -> Vec<Diagnosis> {
    let Ok(loaded) = observed.settings else {
        return Vec::new();
    };
    let missing = |path: &std::path::Path| observed.found.missing.iter().any(|m| m == path);
    let roots = &loaded.config.roots;
    let named: Vec<String> = roots
        .iter()
        .filter(|root| root.named && missing(&root.path))
        .map(|root| root.path.to_string_lossy().into_owned())
        .collect();
    let command = "sessionmill config show";
    if !named.is_empty() {
        let reason = format!("the settings name {}, which is not there", first_of(&named));
        return vec![Diagnosis::new(
            Severity::Warning,
            "roots-missing",
            reason,
            command,
        )];
    }
    match roots.iter().all(|root| missing(&root.path)) {
        true => {
            let reason = "no log folder exists";
            vec![Diagnosis::new(
                Severity::Warning,
                "roots-missing",
                reason,
                command,
            )]
        }
        false => Vec::new(),
    }
}

/// Logs, or folders of them, that this user may not read.
pub(super) fn unreadable(observed: &Observed<'_>) -> Vec<Diagnosis> {
    let paths: Vec<String> = observed
        .found
        .problems
        .iter()
        .chain(&observed.unreadable)
        .map(|(path, _)| path.to_string_lossy().into_owned())
        .collect();
    let Some(first) = paths.first() else {
        return Vec::new();
    };
    let reason = format!("{} can't be read", first_of(&paths));
    let command = format!("ls -ld {}", quoted(first));
    vec![Diagnosis::new(
        Severity::Warning,
        "logs-unreadable",
        reason,
        command,
    )]
}

/// A log that its agent will delete.
struct AtRisk<'o> {
    /// The agent deletes it at its first start after this time.
    at: Time,
    file: &'o SourceFile,
}

/// Logs that agents delete and that have something that the store doesn't, the first to go first.
fn at_risk<'o>(observed: &'o Observed<'_>) -> Vec<AtRisk<'o>> {
    let known = observed.inside.as_ref().map(|i| &i.checkpoints);
    let stored = |file: &SourceFile| {
        known
            .and_then(|known| known.get(&*file.key))
            .is_some_and(|c| c.stat.size == file.stat.size && c.stat.mtime_ns == file.stat.mtime_ns)
    };
    let at_risk = |file: &'o SourceFile| {
        let days = i64::from(*observed.keeps_days.get(&file.agent)?);
        let at = Time((file.stat.mtime_ns / 1_000_000).saturating_add(days * DAY_MS));
        (!stored(file)).then_some(AtRisk { at, file })
    };
    let mut risky: Vec<AtRisk<'_>> = observed.found.files.iter().filter_map(at_risk).collect();
    risky.sort_by_key(|log| log.at);
    risky
}

/// A run wouldn't take it, however early it came. Reads the log's head.
fn is_left_out(file: &SourceFile, observed: &Observed<'_>) -> bool {
    let cwd = peek(file).ok().and_then(|peek| peek.cwd);
    let project = cwd.as_deref().map(project_root);
    (observed.admit)(project.as_deref(), cwd.as_deref(), &file.key).is_err()
}

/// A log that the store doesn't know and that is too old for the next run to look at.
fn is_outside(file: &SourceFile, observed: &Observed<'_>) -> bool {
    let known = observed.inside.as_ref().map(|i| &i.checkpoints);
    let window = observed
        .settings
        .ok()
        .and_then(|l| l.config.keep_length_days);
    let since = observed
        .before
        .first(Window::Configured, window, observed.now);
    let is_due = observed.before.left.due.contains(&*file.key);
    let old = since.is_some_and(|since| file.stat.mtime_ns / 1_000_000 < since.0) && !is_due;
    old && !known.is_some_and(|known| known.contains_key(&*file.key))
}

/// What the next run would take comes too late for some logs.
pub(super) fn deleted_before_the_next_run(observed: &Observed<'_>) -> Vec<Diagnosis> {
    if !observed.enabled() {
        return Vec::new();
    }
    let interval_s = match observed.schedule.installed {
        true => observed.schedule.interval_s,
        false => 86_400,
    };
    let pause_ms = i64::try_from(interval_s.saturating_mul(1_000)).unwrap_or(DAY_MS);
    let after = observed.last_run.filter(|_| observed.schedule.installed);
    let next = Time(
        after
            .map_or(observed.now.0, |t| t.0)
            .saturating_add(pause_ms),
    )
    .max(observed.now);
    let mut soon = at_risk(observed);
    soon.retain(|log| {
        log.at <= next && !is_outside(log.file, observed) && !is_left_out(log.file, observed)
    });
    let Some(first) = soon.first() else {
        return Vec::new();
    };
    let reason = format!(
        "{} deletes {} that the store doesn't have before the next run, the first on {}",
        registry::title(first.file.agent),
        counted(soon.len() as u64, "log"),
        day(first.at)
    );
    vec![Diagnosis::new(
        Severity::Warning,
        "deleted-soon",
        reason,
        "sessionmill run",
    )]
}

/// Logs outside the window are deleted unread, whenever that is.
pub(super) fn never_stored(observed: &Observed<'_>) -> Vec<Diagnosis> {
    if !observed.enabled() {
        return Vec::new();
    }
    let mut outside = at_risk(observed);
    outside.retain(|log| is_outside(log.file, observed) && !is_left_out(log.file, observed));
    let (Some(first), Some(last)) = (outside.first(), outside.last()) else {
        return Vec::new();
    };
    let reason = format!(
        "{} are older than keep_length_days, so runs skip them; {} deletes them from {} to {}",
        counted(outside.len() as u64, "log"),
        registry::title(first.file.agent),
        day(first.at),
        day(last.at)
    );
    vec![Diagnosis::new(
        Severity::Warning,
        "never-stored",
        reason,
        "sessionmill backfill",
    )]
}

/// The day in UTC: Claude Code counts days, not hours.
fn day(time: Time) -> String {
    time.utc().format("%Y-%m-%d").to_string()
}

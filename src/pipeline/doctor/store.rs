//! Checks of the store's file. Knows which damage `doctor --repair` mends; refuses to mend it here.

use super::diagnosis::{Diagnosis, Severity, counted, quoted};
use super::observed::Observed;
use crate::store::DatabaseState;

const REPAIR: &str = "sessionmill doctor --repair";

/// The file is missing, foreign, cut short, or of another version.
pub(super) fn database_state(observed: &Observed<'_>) -> Vec<Diagnosis> {
    let database_state = match &observed.database_state {
        Ok(database_state) => *database_state,
        Err(error) => {
            let command = format!("ls -l {}", quoted(&observed.store.to_string_lossy()));
            let reason = error.message.clone();
            return vec![Diagnosis::new(
                Severity::Error,
                "store-unreadable",
                reason,
                command,
            )];
        }
    };
    let (severity, code) = match database_state {
        DatabaseState::Current => return Vec::new(),
        DatabaseState::Older(version) => {
            let reason = format!(
                "{} has schema {version}; the next run upgrades it",
                observed.store.display()
            );
            let diagnosis =
                Diagnosis::new(Severity::Note, "store-older", reason, "sessionmill run");
            return vec![diagnosis];
        }
        // Without consent there is nothing that a run could store.
        DatabaseState::Missing if !observed.enabled() => return Vec::new(),
        DatabaseState::Missing => (Severity::Warning, "store-missing"),
        DatabaseState::Newer(_) => (Severity::Error, "store-newer"),
        DatabaseState::Empty => (Severity::Error, "store-empty"),
        DatabaseState::Foreign => (Severity::Error, "store-foreign"),
        DatabaseState::Truncated { .. } => (Severity::Error, "store-truncated"),
        DatabaseState::Damaged => (Severity::Error, "store-damaged"),
        DatabaseState::Remote(_) => (Severity::Error, "store-remote"),
    };
    let fault = database_state.fault(&observed.store);
    let diagnosis = fault.map(|error| {
        let command = error.hint.unwrap_or_default();
        Diagnosis::new(severity, code, error.message, command)
    });
    diagnosis.into_iter().collect()
}

/// Pages or tables contradict each other, or rows hold something else than was written.
pub(super) fn pages(observed: &Observed<'_>) -> Vec<Diagnosis> {
    let health = observed.inside.as_ref().map(|i| &i.health);
    let Some(health) = health.filter(|h| h.rows_are_damaged()) else {
        return Vec::new();
    };
    let (path, faults) = (observed.store.display(), health.faults);
    let unreadable = health.unreadable.iter();
    let unreadable: Vec<String> = unreadable
        .map(|(table, n)| format!("{n} in {table}"))
        .collect();
    let reason = match unreadable.as_slice() {
        [] => format!("{path} is damaged: SQLite's check finds {faults} or more faults"),
        some => format!(
            "{path} is damaged: rows that can't be read: {}",
            some.join(", ")
        ),
    };
    vec![Diagnosis::new(
        Severity::Error,
        "store-damaged",
        reason,
        REPAIR,
    )]
}

/// Search would miss episodes, or find ones that are gone.
pub(super) fn index(observed: &Observed<'_>) -> Vec<Diagnosis> {
    let health = observed.inside.as_ref().map(|i| &i.health);
    let Some(health) = health.filter(|h| !h.rows_are_damaged() && h.index_is_out_of_step()) else {
        return Vec::new();
    };
    let reason = match (health.not_indexed, health.stray) {
        (0, 0) => "the full-text index is damaged".to_owned(),
        (missing, stray) => format!(
            "the full-text index is out of date: {} not in it, {} in it without an episode",
            counted(missing, "episode"),
            counted(stray, "row")
        ),
    };
    vec![Diagnosis::new(
        Severity::Error,
        "index-out-of-step",
        reason,
        REPAIR,
    )]
}

/// Records that could not be understood.
pub(super) fn rejects(observed: &Observed<'_>) -> Vec<Diagnosis> {
    let status = observed.inside.as_ref().and_then(|i| i.status.as_ref());
    let Some(rejects) = status.map(|s| s.rejects).filter(|n| *n > 0) else {
        return Vec::new();
    };
    let reason = format!(
        "{} of the logs could not be understood",
        counted(rejects, "record")
    );
    vec![Diagnosis::new(
        Severity::Note,
        "rejects",
        reason,
        "sessionmill status",
    )]
}

/// Logs say things that this version doesn't know.
pub(super) fn drift(observed: &Observed<'_>) -> Vec<Diagnosis> {
    let status = observed.inside.as_ref().and_then(|i| i.status.as_ref());
    let unknown = status.map_or(&[][..], |status| &status.unknown);
    if unknown.is_empty() {
        return Vec::new();
    }
    let words: u64 = unknown.iter().map(|kind| kind.words).sum();
    let names = counted(unknown.len() as u64, "name");
    let reason = format!("the logs hold {names} that this version doesn't know");
    vec![match words {
        0 => Diagnosis::new(
            Severity::Note,
            "drift",
            reason,
            "sessionmill status --drift",
        ),
        _ => Diagnosis::new(
            Severity::Warning,
            "drift",
            format!(
                "{reason}, with {} that are not stored",
                counted(words, "word")
            ),
            "sessionmill doctor --report-drift",
        ),
    }]
}

//! What a check says: a diagnosis, and the words that diagnoses are made of.

use serde::Serialize;

/// How much a diagnosis matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know; `doctor` still succeeds.
    Note,
    /// Something will be missing, or is not kept up.
    Warning,
    /// Something doesn't work.
    Error,
}

impl Severity {
    /// The word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// One thing that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// How much it matters.
    pub severity: Severity,
    /// Its name, which stays the same from version to version.
    pub code: &'static str,
    /// What is wrong, in one sentence. Paths and numbers; never content.
    pub reason: String,
    /// What to type next.
    pub command: String,
}

impl Diagnosis {
    pub(super) fn new(
        severity: Severity,
        code: &'static str,
        reason: impl Into<String>,
        command: impl Into<String>,
    ) -> Diagnosis {
        Diagnosis {
            severity,
            code,
            reason: reason.into(),
            command: command.into(),
        }
    }
}

/// `/a/b`, or `/a/b and 3 more`.
pub(super) fn first_of(paths: &[String]) -> String {
    match paths {
        [] => String::new(),
        [one] => one.clone(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    }
}

/// `1 log`, `2 logs`.
pub(super) fn counted(number: u64, noun: &str) -> String {
    let end = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{end}")
}

/// A path as a shell takes it.
pub(super) fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-~+=:@".contains(c);
    match path.chars().all(plain) {
        true => path.to_owned(),
        false => format!("'{}'", path.replace('\'', "'\\''")),
    }
}

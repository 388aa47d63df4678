//! A call, read off the line that stands for it: `Read(src/auth.rs) → 2000 lines, 48 KB`.

use crate::model::exchange::words_of;
use crate::model::finding::Finding;
use crate::rules::tools::{AnswerKind, tool};

/// The parts of a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call<'t> {
    /// As the model wrote it.
    pub tool: &'t str,
    pub kind: AnswerKind,
    /// What stands in the parentheses.
    pub input: Option<&'t str>,
    /// What stands behind the arrow.
    pub result: Option<&'t str>,
    pub status: &'static str,
    /// Of a command that failed.
    pub exit_code: Option<i64>,
}

/// How a call ended that nothing is wrong with.
pub(super) const OK: &str = "ok";
/// How one ended that failed.
pub(super) const FAILED: &str = "failed";

impl<'t> Call<'t> {
    /// Of an item that is a digest.
    pub(super) fn of(text: &'t str, findings: &[Finding]) -> Call<'t> {
        let words = words_of(text);
        let (called, result) = match words.split_once(" → ") {
            Some((called, result)) => (called, Some(result)),
            None => (words, None),
        };
        let (name, input) = match called.split_once('(') {
            Some((name, rest)) => (name, Some(rest.strip_suffix(')').unwrap_or(rest))),
            None => (called, None),
        };
        let kind = tool(name).answer;
        let exit_code = result.and_then(exit_code);
        let said = result.map_or(OK, |result| said(result, kind));
        let status = findings.iter().find_map(|finding| match finding {
            Finding::Failed { .. } | Finding::Unchanged { .. } => Some(FAILED),
            Finding::Refused { .. } => Some("refused"),
            Finding::Worked { .. } => Some(OK),
            _ => None,
        });
        Call {
            tool: name,
            kind,
            input,
            result,
            status: status.unwrap_or(said),
            exit_code,
        }
    }
}

/// `exit 101: …` → 101.
fn exit_code(result: &str) -> Option<i64> {
    let rest = result.strip_prefix("exit ")?;
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '-'));
    rest[..end.unwrap_or(rest.len())].parse().ok()
}

/// How it ended, as its result says it.
fn said(result: &str, kind: AnswerKind) -> &'static str {
    let is_shell = matches!(kind, AnswerKind::Shell | AnswerKind::Poll);
    let begins = |words: &str| {
        let rest = result.strip_prefix(words);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', ';', ' ']))
    };
    let begins_alone = |words: &str| {
        let rest = result.strip_prefix(words);
        rest.is_some_and(|rest| {
            rest.is_empty() || rest.starts_with([':', ';']) || rest.starts_with(" (")
        })
    };
    if exit_code(result).is_some() || begins_alone(FAILED) || is_shell && begins(FAILED) {
        return FAILED;
    }
    match () {
        () if begins("refused by the user") => "refused",
        () if begins("denied by a permission rule")
            || begins("denied by the agent's auto mode")
            || begins("denied by a hook")
            || begins("not permitted") =>
        {
            "denied"
        }
        () if begins_alone("interrupted") => "interrupted",
        () if begins("running in the background") || begins_alone("still running") => "running",
        () if begins_alone("no result") => "no_result",
        () => OK,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_taken_apart() {
        let of = |text: &'static str| {
            let call = Call::of(text, &[]);
            (call.tool, call.input, call.result, call.status)
        };
        assert_eq!(
            of("Action: Read(src/auth.rs) → 2000 lines, 48 KB"),
            ("Read", Some("src/auth.rs"), Some("2000 lines, 48 KB"), "ok")
        );
        assert_eq!(
            of("Action: Bash(echo (a) → b) → exit 2: no"),
            ("Bash", Some("echo (a"), Some("b) → exit 2: no"), "ok"),
            "an arrow in a command hides the rest, as everywhere"
        );
        for (result, status) in [
            ("exit 101: error[E0308] mismatched types", "failed"),
            ("failed: no such file", "failed"),
            ("failed 3/50 in 2 s: test_a", "failed"),
            ("failed (content left out)", "failed"),
            ("passed 47/47", "ok"),
            ("interrupted", "interrupted"),
            ("refused by the user: use the other file", "refused"),
            ("denied by a hook", "denied"),
            ("running in the background", "running"),
            ("no result", "no_result"),
            ("1 line", "ok"),
        ] {
            let text = format!("Action: Bash(x) → {result}");
            assert_eq!(Call::of(&text, &[]).status, status, "{result}");
        }
        let call = Call::of("Action: Bash(x) → exit 101: a", &[]);
        assert_eq!(call.exit_code, Some(101));
        assert_eq!(of("Action: TodoWrite"), ("TodoWrite", None, None, "ok"));
        let worked = [Finding::Worked { key: 1 }];
        assert_eq!(
            Call::of("Action: Bash(x) → failed to say", &worked).status,
            "ok"
        );
    }
}

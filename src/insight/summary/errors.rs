//! What hindered a session, as Markdown: what was said, by which command, and what helped.

use super::escape::inline;
use super::shortened::short;
use crate::model::summary::{Explanation, LlmResolution, Resolution};
use crate::rules::causes::hindrance;
use crate::rules::commands::standing;
use crate::rules::shell::{self, Simple};

/// A heading names an error.
const HEADING_CHARS_MAX: usize = 90;

/// A command is recognised by its beginning.
const CALL_CHARS_MAX: usize = 80;

/// In a longer one several commands run.
const SCRIPT_BYTES_MAX: usize = 160;

/// One that the facts tell.
pub fn resolved(error: &Resolution) -> String {
    let nothing = Explanation::default();
    let explained = error.explained.as_ref().unwrap_or(&nothing);
    let mut lines = vec![format!("### {}", message(&error.error))];
    if !error.call.is_empty() {
        lines.push(format!("- **Command**: {}", command(&error.call)));
    }
    let cause = match explained.root_cause.as_str() {
        "" => error.cause.as_deref().unwrap_or_default(),
        model => model,
    };
    lines.extend(point("Root cause", cause));
    lines.extend(point("What helped", &explained.fix));
    let mut cure: Vec<String> = error.cure.iter().map(|said| inline(said)).collect();
    if !error.changed.is_empty() {
        let changed: Vec<String> = error
            .changed
            .iter()
            .map(|path| format!("`{path}`"))
            .collect();
        cure.push(format!("changed {}", changed.join(", ")));
    }
    // words say which way the work went, not always that it helped
    let is_said = error
        .cure
        .as_ref()
        .is_some_and(|cure| cure.starts_with('“'));
    let label = if is_said { "Then" } else { "Fix" };
    if !cure.is_empty() {
        lines.push(format!("- **{label}**: {}", cure.join("; ")));
    }
    lines.join("\n")
}

/// One that a language model tells.
pub fn by_model(error: &LlmResolution) -> String {
    let explained = &error.explained;
    let mut lines = vec![format!(
        "### {}",
        inline(&short(&error.error, HEADING_CHARS_MAX))
    )];
    lines.extend(point("Root cause", &explained.root_cause));
    lines.extend(point("Fix", &explained.fix));
    lines.extend(point("Verification", &explained.verification));
    lines.join("\n")
}

/// Absent where a model says nothing.
fn point(name: &str, text: &str) -> Option<String> {
    (!text.is_empty()).then(|| format!("- **{name}**: {}", inline(text)))
}

/// The line of a message that says what was wrong, without the numbers before it. Of a long one the end: what
/// programs put before it says where.
fn message(error: &str) -> String {
    let said = without_numbers(error);
    // lines of a short answer
    let said = said.split(" · ").next().unwrap_or(said);
    let said = ["error: ", "Error: ", "fatal: "]
        .iter()
        .fold(said, |said, label| said.strip_prefix(label).unwrap_or(said));
    let found = hindrance(said).map(|(_, at)| at);
    let is_cut = |at: &usize| said[*at..].chars().count() + 1 < HEADING_CHARS_MAX;
    if said.chars().count() <= HEADING_CHARS_MAX || !found.as_ref().is_some_and(is_cut) {
        return short(said, HEADING_CHARS_MAX);
    }
    // whole parts before it, as many as there is room for
    let at = found.unwrap_or(0);
    let parts = said[..at]
        .match_indices(": ")
        .map(|(end, mark)| end + mark.len());
    let fits = |from: &usize| said[*from..].chars().count() <= HEADING_CHARS_MAX;
    let from = parts.clone().find(fits);
    from.or_else(|| parts.last()).map_or_else(
        || short(said, HEADING_CHARS_MAX),
        |from| short(&said[from..], HEADING_CHARS_MAX),
    )
}

/// Without `exit 2: `, `failed 1/9 in 3 s: `.
fn without_numbers(error: &str) -> &str {
    let Some((head, rest)) = error.split_once(": ") else {
        return error;
    };
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let mut words = head.split(' ');
    let is_head = match words.next() {
        Some("exit") => words.all(is_number),
        Some("failed") => words.next().is_none_or(is_number),
        _ => false,
    };
    if is_head { rest } else { error }
}

/// The command that stands for a call's line, or the call as it is.
fn command(call: &str) -> String {
    let given = call.split_once('(').map(|(_, given)| given);
    let given = given.map(|given| given.strip_suffix(')').unwrap_or(given));
    let words = given.map(standing).filter(|words| {
        // of a long script that another program runs its beginning says more
        let is_own = |simple: &Simple<'_>| {
            let first = simple.words.first();
            first.is_some_and(|first| words.iter().any(|word| **word == **first))
        };
        given.is_none_or(|given| {
            given.len() <= SCRIPT_BYTES_MAX || shell::read(given).iter().any(is_own)
        })
    });
    let words = words.unwrap_or_default();
    // a commit's message says nothing of why it failed
    let is_message = |word: &String| word == "-m" || word == "--message";
    let end = words.iter().position(is_message).unwrap_or(words.len());
    let words = words[..end].join(" ");
    match words.is_empty() {
        true => format!(
            "`{}`",
            short(&given.unwrap_or(call).replace('`', "'"), CALL_CHARS_MAX)
        ),
        false => format!("`{}`", short(&words.replace('`', "'"), CALL_CHARS_MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_told_by_the_line_that_says_what_was_wrong() {
        for (error, wants) in [
            (
                "exit 2: error: unrecognized subcommand 'npm'",
                "unrecognized subcommand 'npm'",
            ),
            (
                "failed 1/1 packages in 0.2 s: open /c/x: operation not permitted",
                "open /c/x: operation not permitted",
            ),
            ("failed: no such host", "no such host"),
            ("refused by the user", "refused by the user"),
        ] {
            assert_eq!(message(error), wants);
        }
        let long = format!(
            "exit 1: start: open device: {}: dial tcp: lookup shop.test: no such host",
            "/a".repeat(60)
        );
        assert_eq!(message(&long), "dial tcp: lookup shop.test: no such host");
    }

    #[test]
    fn a_call_is_told_by_its_command() {
        let call = "Bash(cd /p && wrap npm run test 2>&1 | tail -3)";
        assert_eq!(command(call), "`wrap npm run test`");
        let piped = format!(
            "Bash(echo '{}' | shop exec close --order 7)",
            "1 ".repeat(90)
        );
        assert_eq!(command(&piped), "`shop exec close --order 7`");
        let script = format!(
            "Bash(wsl -e bash -c 'set -e; {} | tr -d a')",
            "x=1; ".repeat(60)
        );
        assert!(
            command(&script).starts_with("`wsl -e bash -c"),
            "{}",
            command(&script)
        );
        let long = format!("Bash(go test ./a -run '{}')", "Test".repeat(60));
        assert!(command(&long).chars().count() < 90);
    }
}

//! What a plan that a call read or wrote is called: its first heading.

use super::call::{DigestCall, TITLE};
use super::ended::Ended;
use super::line::{self, TEXT_CHARS_MAX};
use crate::model::finding::Finding;
use crate::rules::paths::{is_throwaway, plan_word};
use crate::rules::tools::AnswerKind;
use serde_json::Value;

/// Further behind, a heading is no title.
const LINES_MAX: usize = 20;

/// The title of the plan that the call read from its beginning; nothing for other files, and where it has none.
pub fn read(ended: &Ended<'_>) -> Option<Finding> {
    let path = match ended.call.row.answer {
        AnswerKind::Read => ended.call.named_files().next()?.to_owned(),
        AnswerKind::Shell => printed(&ended.call.command_line()?)?.to_owned(),
        _ => return None,
    };
    plan_word(&path)?;
    let title = title(&ended.output.head)?;
    let masked = ended.output.masked(title);
    let title = line::folded(&masked, TEXT_CHARS_MAX).into_owned();
    let path = line::absolute(&path, ended.call.cwd);
    (!title.is_empty()).then_some(Finding::PlanRead { path, title })
}

/// That the call wrote a plan.
pub fn written(ended: &Ended<'_>) -> Option<Finding> {
    let title = ended.output.masked(planned(ended.call)?);
    let title = line::folded(&title, TEXT_CHARS_MAX).into_owned();
    (!title.is_empty()).then_some(Finding::PlanWritten { title })
}

/// The title of a plan that the agent writes for itself, outside of the project.
pub fn planned<'a>(call: &DigestCall<'a>) -> Option<&'a str> {
    let path = match call.row.answer {
        AnswerKind::Write => call.named_files().next()?,
        _ => return None,
    };
    if plan_word(path).is_none() || !is_throwaway(path) {
        return None;
    }
    let text = |key| call.input.get(key).and_then(Value::as_str);
    text(TITLE).or_else(|| title(text("content")?))
}

/// The only file that a command prints, from its beginning: of `cat plan.md`, `sed -n '1,200p' plan.md`.
fn printed(command: &str) -> Option<&str> {
    if command.contains(['|', '&', ';', '<', '>', '\n', '$']) {
        return None;
    }
    let mut words = command.split_whitespace();
    let (program, file) = (words.next()?, words.next_back()?);
    let is_beginning = match program {
        "sed" => {
            command.contains(" -n ") && [" 1,", "'1,", "\"1,"].iter().any(|at| command.contains(at))
        }
        "cat" | "bat" | "head" => {
            words.all(|word| word.starts_with('-') || word.parse::<u32>().is_ok())
        }
        _ => false,
    };
    is_beginning.then(|| file.trim_matches(['\'', '"']))
}

/// The first heading, where nothing but a table of keys stands before it.
fn title(text: &str) -> Option<&str> {
    let mut lines = text
        .lines()
        .map(|line| without_number(line).trim())
        .take(LINES_MAX);
    let mut is_keys = false;
    let first = lines.find(|line| {
        let is_mark = *line == "---";
        is_keys ^= is_mark;
        !is_mark && !is_keys && !line.is_empty()
    })?;
    first.strip_prefix("# ").map(str::trim)
}

/// A line as the file has it: agents' tools number them.
fn without_number(line: &str) -> &str {
    let rest = line
        .trim_start()
        .trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = rest.len() < line.trim_start().len();
    let rest = rest.strip_prefix(['→', '\t']).filter(|_| is_numbered);
    rest.unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_first_heading() {
        for (text, wants) in [
            ("# Carts add up\n\n## Why", Some("Carts add up")),
            ("     1→# Carts add up\n     2→", Some("Carts add up")),
            ("     1\t\n     2\t# Carts add up", Some("Carts add up")),
            (
                "---\nstate: open\n---\n\n# Carts add up",
                Some("Carts add up"),
            ),
            ("Carts\n# Carts add up", None),
            ("## Carts", None),
            ("2 carts", None),
            ("", None),
        ] {
            assert_eq!(title(text), wants, "{text}");
        }
    }

    #[test]
    fn a_file_is_printed_from_its_beginning() {
        for (command, wants) in [
            ("cat docs/plan.md", Some("docs/plan.md")),
            ("sed -n '1,220p' docs/plan.md", Some("docs/plan.md")),
            ("sed -n '200,420p' docs/plan.md", None),
            ("head -n 40 'plan.md'", Some("plan.md")),
            ("cat a.md plan.md", None),
            ("cat plan.md | head", None),
            ("rm plan.md", None),
        ] {
            assert_eq!(printed(command), wants, "{command}");
        }
    }
}

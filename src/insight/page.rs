//! A summary as Markdown (SPEC 003 § 4.2, D41). Knows headings and order; refuses to know where a
//! summary comes from.

use crate::model::finding::TestCounts;
use crate::model::summary::{Sourced, Summary};
use std::fmt::Write;

/// What stands above a page.
pub const HEADING: &str = "# Session Summary";

/// The page with its heading.
pub fn page(summary: &Summary, profile: &str) -> String {
    format!("{HEADING}\n\n{}", body(summary, profile))
}

/// The page: only sections that have something to say. Characters that would break a table are
/// escaped.
pub fn body(summary: &Summary, profile: &str) -> String {
    let mut out = format!("**Activity Profile**: {profile}\n");
    if let Some(outcome) = summary.outcome {
        let _ = writeln!(out, "**Outcome**: {}", outcome.as_str());
    }
    if let Some(objective) = &summary.objective {
        section(&mut out, "Objective", [objective.what.clone()]);
    }
    section(
        &mut out,
        "Completed",
        bullets(&summary.completed, |task| task.clone()),
    );
    section(
        &mut out,
        "Key Decisions",
        bullets(&summary.decisions, |decision| {
            let about = decision.about.as_ref().map(|about| format!(": {about}"));
            format!("**{}**{}", decision.decision, about.unwrap_or_default())
        }),
    );
    let errors = summary.errors_resolved.iter().map(|error| {
        let error = &error.what;
        let changed: Vec<String> = error.changed.iter().map(|path| format!("`{path}`")).collect();
        format!(
            "### {}\n- **Command**: {}\n- **Fix**: changed {}\n- **Verification**: it worked at line {}",
            short(&error.error, HEADING_CHARS_MAX),
            short(&error.call, CALL_CHARS_MAX),
            changed.join(", "),
            error.worked_at
        )
    });
    section(&mut out, "Errors Resolved", errors);
    let settings = summary.config_changes.iter().map(|change| {
        let change = &change.what;
        let value = |value: &Option<String>| cell(value.as_deref().unwrap_or("(none)"));
        format!(
            "| {} | {} | {} → {} |",
            cell(&change.file),
            cell(&change.setting),
            value(&change.old),
            value(&change.new)
        )
    });
    let head = "| File | Setting | Change |\n| --- | --- | --- |".to_owned();
    let settings: Vec<String> = settings.collect();
    let table = (!settings.is_empty()).then_some(head).into_iter();
    section(&mut out, "Configuration Changes", table.chain(settings));
    section(&mut out, "Test Results", tests(summary));
    section(
        &mut out,
        "Files Modified",
        bullets(&summary.files_modified, |file| {
            format!("`{}` +{} −{}", file.path, file.added, file.removed)
        }),
    );
    let commits = bullets(&summary.commits, |c| format!("{} {}", c.hash, c.subject));
    section(&mut out, "Commits", commits);
    let links = bullets(&summary.pull_requests, |url| url.clone());
    section(&mut out, "Pull Requests", links);
    let tools = summary.mcp_tools_used.iter();
    let tools = tools.map(|(name, calls)| format!("- `{name}` × {calls}"));
    section(&mut out, "MCP Tools Used", tools);
    section(
        &mut out,
        "Next Steps",
        bullets(&summary.next_steps, |step| step.clone()),
    );
    out
}

/// A heading names an error.
const HEADING_CHARS_MAX: usize = 60;

/// A command is recognised by its beginning.
const CALL_CHARS_MAX: usize = 120;

/// The beginning of a text that is too long.
pub fn short(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((at, _)) => format!("{}…", text[..at].trim_end()),
        None => text.to_owned(),
    }
}

fn section(out: &mut String, title: &str, lines: impl IntoIterator<Item = String>) {
    let mut lines = lines.into_iter().peekable();
    if lines.peek().is_none() {
        return;
    }
    let _ = writeln!(out, "\n## {title}");
    for line in lines {
        out.push_str(&line);
        out.push('\n');
    }
}

fn bullets<'s, T>(
    items: &'s [Sourced<T>],
    tell: impl Fn(&'s T) -> String + 's,
) -> impl Iterator<Item = String> + 's {
    items
        .iter()
        .map(move |item| format!("- {}", tell(&item.what)))
}

fn tests(summary: &Summary) -> Vec<String> {
    let Some(Sourced { what: runs, .. }) = &summary.tests else {
        return Vec::new();
    };
    let mut lines = vec![
        format!("- **Framework**: {}", runs.last.runner),
        format!("- **Results**: {}", counts(&runs.last)),
    ];
    if !runs.last.failures.is_empty() {
        lines.push(format!("- **Failed**: {}", runs.last.failures.join(", ")));
    }
    if runs.runs > 1 {
        let first = counts(&runs.first);
        lines.push(format!("- **Runs**: {}, the first one {first}", runs.runs));
    }
    lines
}

fn counts(run: &TestCounts) -> String {
    let least = if run.partial { "at least " } else { "" };
    format!("{least}{}/{} passed", run.passed, run.passed + run.failed)
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::summary::{Outcome, SettingChange, TestRuns};
    use uuid::Uuid;

    fn sourced<T>(what: T) -> Sourced<T> {
        Sourced {
            what,
            episode: Uuid::nil(),
            line: 1,
        }
    }

    #[test]
    fn an_empty_section_is_absent() {
        let text = page(&Summary::default(), "mixed activity");
        assert_eq!(
            text,
            "# Session Summary\n\n**Activity Profile**: mixed activity\n"
        );
    }

    #[test]
    fn each_section_stands_under_its_heading() {
        let run = |passed, failed| TestCounts {
            runner: "pytest".into(),
            passed,
            failed,
            ..TestCounts::default()
        };
        let summary = Summary {
            objective: Some(sourced("Fix the tests.".into())),
            outcome: Some(Outcome::Completed),
            config_changes: vec![sourced(SettingChange {
                file: "app.toml".into(),
                setting: "a|b".into(),
                old: None,
                new: Some("1".into()),
            })],
            tests: Some(sourced(TestRuns {
                runs: 3,
                first: run(1, 2),
                last: run(3, 0),
            })),
            next_steps: vec![sourced("Push it".into())],
            ..Summary::default()
        };
        let text = page(&summary, "fixing (1.0)");
        let wants = "# Session Summary\n\n**Activity Profile**: fixing (1.0)\n**Outcome**: completed\n\n\
            ## Objective\nFix the tests.\n\n\
            ## Configuration Changes\n| File | Setting | Change |\n| --- | --- | --- |\n\
            | app.toml | a\\|b | (none) → 1 |\n\n\
            ## Test Results\n- **Framework**: pytest\n- **Results**: 3/3 passed\n\
            - **Runs**: 3, the first one 1/3 passed\n\n\
            ## Next Steps\n- Push it\n";
        assert_eq!(text, wants);
    }
}

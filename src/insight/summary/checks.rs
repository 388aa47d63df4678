//! Builds, linters and type checkers of a session, as Markdown.

use super::escape::inline;
use super::shortened::short;
use crate::model::summary::{CheckRun, Sourced, Summary};

/// A line for each command, and one where nothing tested what was changed.
pub fn checks(summary: &Summary) -> Vec<String> {
    let mut lines: Vec<String> = summary.checks.iter().map(check).collect();
    if summary.untested {
        lines.push("- No tests were run".to_owned());
    }
    lines
}

/// Stands behind what says less than it did when it ran.
pub(super) const CHANGED_AFTER: &str = " (files were changed after it)";

/// A longer command is recognised by its beginning.
pub(super) const COMMAND_CHARS_MAX: usize = 80;

fn check(run: &Sourced<CheckRun>) -> String {
    let run = &run.what;
    let command = short(&run.command.replace('`', "'"), COMMAND_CHARS_MAX);
    let after = match run.changed_after {
        true => CHANGED_AFTER,
        false => "",
    };
    if let (true, Some(said)) = (run.command.is_empty(), &run.said) {
        return format!("- passed, says the agent: “{}”{after}", inline(said));
    }
    let said = run.said.as_ref().map(|said| format!(": {}", inline(said)));
    // what a check complained of that passes now is over
    let fault = run.fault.as_ref().filter(|_| !run.passed);
    let fault = fault.map_or(String::new(), |fault| format!(" ({})", inline(fault)));
    let fixer = run.fixed_by.as_ref();
    let fixer = fixer.map(|fixer| short(&fixer.replace('`', "'"), COMMAND_CHARS_MAX));
    let ended = match (run.passed, run.failed_before, fixer) {
        (true, false, _) => "ok".to_owned(),
        (true, true, Some(fixer)) => format!("failed, then ok after `{fixer}`"),
        (true, true, None) => "failed, then ok".to_owned(),
        (false, _, Some(fixer)) => format!("failed{fault}, then `{fixer}` ran"),
        (false, _, None) => format!("failed{fault}"),
    };
    let excuse = run.excuse.as_ref().map(|excuse| inline(excuse));
    let excuse = excuse.map_or(String::new(), |said| {
        format!("; not of this work, says the agent: “{said}”")
    });
    let by = if run.by_agent { ", says the agent" } else { "" };
    let is_named = |place: &&String| command.split(' ').any(|word| word == place.as_str());
    let place = run.place.as_ref().filter(|place| !is_named(place));
    let place = place.map_or(String::new(), |place| format!(" in `{}`", inline(place)));
    let hook = match run.by_hook {
        true => " in the commit's hook",
        false => "",
    };
    format!(
        "- `{command}`{place} {ended}{hook}{by}{}{after}{excuse}",
        said.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::summary::sourced;

    #[test]
    fn a_check_says_how_it_ended_and_what_ran_then() {
        let told = |passed, failed_before, fixer: Option<&str>| {
            check(&sourced(
                1,
                CheckRun {
                    command: "cargo fmt --check".into(),
                    passed,
                    failed_before,
                    fixed_by: fixer.map(str::to_owned),
                    ..CheckRun::default()
                },
            ))
        };
        for (wants, text) in [
            ("ok", told(true, false, None)),
            ("failed, then ok", told(true, true, None)),
            (
                "failed, then ok after `cargo fmt`",
                told(true, true, Some("cargo fmt")),
            ),
            (
                "failed, then `cargo fmt` ran",
                told(false, false, Some("cargo fmt")),
            ),
            ("failed", told(false, false, None)),
        ] {
            assert_eq!(text, format!("- `cargo fmt --check` {wants}"));
        }
        let by_hook = CheckRun {
            command: "eslint --fix".into(),
            passed: true,
            by_hook: true,
            ..CheckRun::default()
        };
        let wants = "- `eslint --fix` ok in the commit's hook";
        assert_eq!(check(&sourced(1, by_hook)), wants);
    }
}

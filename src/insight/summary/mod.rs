//! A summary as Markdown (003 § 4.2, D41).

mod account;
mod changes;
mod checks;
mod commits;
mod errors;
mod escape;
mod file_list;
mod sections;
mod shortened;
mod test_results;
mod title;

use crate::model::summary::{
    Decision, DecisionReasons, LlmAdditions, LlmDecision, PullRequest, Sourced, Summary,
};
use crate::rules::decisions::is_choice;
use crate::rules::replies::{Reply, reply};
use crate::rules::requests::is_idle;
use crate::rules::words::content_words;
use account::{result, tells_requests};
pub use commits::{commit, commits};
pub(in crate::insight) use escape::inline;
pub use sections::{SummarySections, TestsTold};
pub use shortened::short;
use std::fmt::Write;
pub use title::title;

/// What stands above several requests with what came of each.
pub const ANSWERS: &str = "Requests and Answers";

/// What stands above a summary.
pub const HEADING: &str = "# Session Summary";

/// The section that lists commits.
const COMMITS: &str = "Commits";

/// The summary with its heading.
pub fn markdown(summary: &Summary, profile: &str) -> String {
    format!("{HEADING}\n\n{}", body(summary, profile))
}

/// The summary: only sections that have something to say, in the order of the documents' examples.
/// Characters that would break a table are escaped, and in a model's words all that Markdown would
/// read as more than text.
pub fn body(summary: &Summary, profile: &str) -> String {
    head(summary, profile) + &sections(summary)
}

/// Titles of sections, as a stretch of a summary shows them.
pub const TITLES: [&str; 18] = [
    "Objective",
    "Result",
    ANSWERS,
    "Further Requests",
    "Completed",
    "Root Cause",
    "Errors Resolved",
    "Configuration Changes",
    "Discoveries",
    "Key Decisions",
    "Decisions by the Agent",
    "Test Results",
    "Checks",
    "Files Modified",
    COMMITS,
    "Pull Requests",
    "MCP Tools Used",
    "Next Steps",
];

/// The same without its first lines, which say what kind of work it was and how it ended.
pub fn sections(summary: &Summary) -> String {
    let nothing = LlmAdditions::default();
    let llm = summary.llm.as_ref().unwrap_or(&nothing);
    let mut out = String::new();
    let objective = objective(summary).filter(|_| llm.objective.is_empty());
    let by_model = Some(inline(&llm.objective)).filter(|told| !told.is_empty());
    let asked = by_model.or(objective.map(str::to_owned));
    section(&mut out, "Objective", asked);
    let title = match tells_requests(summary) {
        true => ANSWERS,
        false => "Result",
    };
    section(&mut out, title, result(summary));
    let is_decided = |request: &str| {
        let mut decisions = summary.decisions.iter();
        decisions.any(|told| told.what.decision == request)
    };
    let requests = summary.requests.iter().map(|request| &request.what);
    let requests = requests.filter(|request| !is_decided(request));
    let requests = requests.map(|request| format!("- {request}"));
    let requests = requests.filter(|_| !tells_requests(summary));
    section(&mut out, "Further Requests", requests);
    let completed = completed(&untold(summary))
        .into_iter()
        .chain(said(&llm.completed));
    section(&mut out, "Completed", completed);
    let cause = llm.root_cause.iter().map(|cause| inline(cause));
    section(&mut out, "Root Cause", cause);
    let told = summary.errors_resolved.iter();
    let told = told.map(|error| errors::resolved(&error.what));
    let llm_errors = llm.errors_resolved.iter().map(errors::by_model);
    section(&mut out, "Errors Resolved", told.chain(llm_errors));
    let settings = changes::settings(summary, llm);
    section(&mut out, "Configuration Changes", settings);
    section(&mut out, "Discoveries", said(&llm.discoveries));
    let decisions = summary.decisions.iter();
    // an agreement stands with the request that it is, and what came of it
    let is_agreed = |line: u64| {
        let mut requests = summary.requests.iter();
        requests.any(|request| request.line == line && request.what.starts_with('“'))
    };
    let is_asked = |told: &Decision| {
        let mut requests = summary.requests.iter();
        objective.is_some_and(|asked| stands_in(told, asked))
            || requests.any(|request| is_requested(told, &request.what))
    };
    let decisions = decisions
        .filter(|told| says_what(&told.what) && !is_agreed(told.line) && !is_asked(&told.what));
    let decisions = decisions.map(|told| decision(&told.what));
    let more = summary.more_decisions;
    let more = (more > 0).then(|| format!("- and {more} more"));
    let llm_decisions = llm.decisions.iter().map(llm_decision);
    let decisions = decisions.chain(more).chain(llm_decisions);
    section(&mut out, "Key Decisions", decisions);
    let by_agent = bullets(&summary.agent_decisions, |told| told.decision.clone());
    section(&mut out, "Decisions by the Agent", by_agent);
    section(&mut out, "Test Results", test_results::tests(summary, llm));
    section(&mut out, "Checks", checks::checks(summary));
    section(&mut out, "Files Modified", changes::files(summary, llm));
    section(&mut out, COMMITS, bullets(&summary.commits, commit));
    let pulls = bullets(&summary.pull_requests, pull_request);
    section(&mut out, "Pull Requests", pulls);
    let tools = summary.mcp_tools_used.iter();
    let tools = tools.map(|(name, calls)| format!("- `{name}` × {calls}"));
    section(&mut out, "MCP Tools Used", tools);
    let steps = bullets(&summary.next_steps, |step| step.clone());
    section(&mut out, "Next Steps", steps.chain(said(&llm.next_steps)));
    out
}

/// What was asked first, as it was written where that says more.
pub fn objective(summary: &Summary) -> Option<&str> {
    let objective = summary.objective.as_ref().map(|said| said.what.as_str());
    summary.asked.as_deref().or(objective)
}

fn head(summary: &Summary, profile: &str) -> String {
    let mut out = format!("**Activity Profile**: {profile}\n");
    let llm = summary.llm.as_ref();
    let outcome = summary.outcome.or(llm.and_then(|llm| llm.outcome));
    if let Some(outcome) = outcome {
        let _ = writeln!(out, "**Outcome**: {}", outcome.as_str());
    }
    if let Some(llm) = llm {
        let _ = writeln!(out, "**Told by**: {}, beside the facts", inline(&llm.by));
    }
    out
}

fn decision(decision: &Decision) -> String {
    let chosen = decision
        .decision
        .trim_end_matches("(Recommended)")
        .trim_end();
    let chosen = short(chosen, DECISION_CHARS_MAX);
    let mut text = match decision.about.as_deref() {
        // `Which would you prefer?` says nothing without what was offered
        Some(question) if question.ends_with('?') && is_vague(question) => {
            format!("- **{chosen}**")
        }
        Some(question) if question.contains("? ") || question.ends_with('?') => {
            format!("- {question} → **{chosen}**")
        }
        Some(about) => format!("- **{}**: {about}", chosen.trim_end_matches('.')),
        None => format!("- **{chosen}**"),
    };
    text.push_str(&undone(decision));
    if let Some(why) = &decision.why {
        if !why.rationale.is_empty() {
            let _ = write!(text, "\n  - Rationale: {}", inline(&why.rationale));
        }
        text.push_str(&alternatives(why));
    }
    text
}

/// It is more than a yes to a question that doesn't say to what.
fn says_what(decision: &Decision) -> bool {
    let is_bare = reply(&decision.decision) == Some(Reply::Agrees);
    !(is_bare && decision.about.as_deref().is_some_and(is_vague))
}

/// Some text says it word for word.
fn stands_in(told: &Decision, text: &str) -> bool {
    let words = told.decision.trim_end_matches(['.', '…']);
    told.about.is_none() && text.contains(words)
}

/// It is told with what came of it; a choice is a decision all the same.
fn is_requested(told: &Decision, request: &str) -> bool {
    let asked = request.split(" → ").next().unwrap_or_default();
    let is_plain = told.about.is_none() && !is_choice(&told.decision);
    let asked = content_words(asked);
    let own = content_words(&told.decision);
    is_plain && !own.is_empty() && own.iter().all(|word| asked.contains(word))
}

/// `Which would you prefer?`
fn is_vague(question: &str) -> bool {
    let mut words = content_words(question);
    words.retain(|word| !is_idle(word) && word != "prefer" && word != "option");
    words.is_empty()
}

/// Of a longer one the rest is how.
const DECISION_CHARS_MAX: usize = 240;

/// ` (undone on 2026-06-01: reset --hard)`; nothing where it stands.
pub fn undone(decision: &Decision) -> String {
    let undone = decision.undone.as_ref();
    let undone = undone.map(|undone| format!(" (undone {})", undone.shown()));
    undone.unwrap_or_default()
}

fn llm_decision(llm: &LlmDecision) -> String {
    let mut text = format!("- **{}**", inline(&llm.decision));
    if !llm.why.rationale.is_empty() {
        let _ = write!(text, ": {}", inline(&llm.why.rationale));
    }
    text.push_str(&alternatives(&llm.why));
    text
}

fn alternatives(why: &DecisionReasons) -> String {
    let names: Vec<String> = why.alternatives.iter().map(|name| inline(name)).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!("\n  - Alternatives considered: {}", names.join(", ")),
    }
}

/// `https://…/pull/7 (merged)`.
pub fn pull_request(pull: &PullRequest) -> String {
    let state = pull.state.map(|state| format!(" ({})", state.as_str()));
    format!("{}{}", pull.address, state.unwrap_or_default())
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

/// The last ones; of a longer list nobody reads the rest.
const TASKS_MAX: usize = 12;

fn completed(tasks: &[&str]) -> Vec<String> {
    let before = tasks.len().saturating_sub(TASKS_MAX);
    let before = if before > 1 { before } else { 0 };
    let all = tasks[before..].iter().map(|task| format!("- {task}"));
    all.chain((before > 0).then(|| format!("- and {before} before these")))
        .collect()
}

/// Completed tasks: where the agent says what the work came to, they say it in other words.
fn untold(summary: &Summary) -> Vec<&str> {
    let said = summary.result.iter().chain(&summary.steps);
    let said_bytes: usize = said.map(|said| said.what.len()).sum();
    if said_bytes >= TELLING_BYTES_MIN {
        return Vec::new();
    }
    let tasks = summary.completed.iter();
    tasks.map(|task| task.what.as_str()).collect()
}

/// A shorter result may only say that it is done.
const TELLING_BYTES_MIN: usize = 300;

/// A model's items.
fn said(items: &[String]) -> impl Iterator<Item = String> + '_ {
    items.iter().map(|item| format!("- {}", inline(item)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::finding::TestCounts;
    use crate::model::summary::sourced;
    use crate::model::summary::{Explanation, LlmResolution, Resolution, TestRuns};
    use crate::model::summary::{SessionOutcome, SettingChange};

    #[test]
    fn an_empty_section_is_absent() {
        let text = markdown(&Summary::default(), "mixed activity");
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
            objective: Some(sourced(1, "Fix the tests.".into())),
            outcome: Some(SessionOutcome::Completed),
            config_changes: vec![sourced(
                1,
                SettingChange {
                    file: "app.toml".into(),
                    setting: "a|b".into(),
                    new: Some("1".into()),
                    ..SettingChange::default()
                },
            )],
            tests: Some(sourced(
                1,
                TestRuns {
                    runs: 3,
                    failed: 1,
                    last: run(3, 0),
                    coverage: Some(8130),
                    ..TestRuns::default()
                },
            )),
            next_steps: vec![sourced(1, "Push it".into())],
            ..Summary::default()
        };
        let text = markdown(&summary, "fixing (1.0)");
        let wants = "# Session Summary\n\n**Activity Profile**: fixing (1.0)\n**Outcome**: completed\n\n\
            ## Objective\nFix the tests.\n\n\
            ## Configuration Changes\n| File | Setting | Change |\n| --- | --- | --- |\n\
            | app.toml | a\\|b | (none) → 1 |\n\n\
            ## Test Results\n- **Framework**: pytest\n- **Results**: 3/3 passed\n\
            - **Coverage**: 81.3%\n- **Runs**: at least 3, 1 of them failed\n\n\
            ## Next Steps\n- Push it\n";
        assert_eq!(text, wants);
    }

    #[test]
    fn tasks_are_listed_where_the_agent_said_little() {
        let lists = |result: &str| {
            let summary = Summary {
                result: Some(sourced(1, result.into())),
                completed: vec![sourced(1, "Round the cart once".into())],
                ..Summary::default()
            };
            markdown(&summary, "fixing (1.0)").contains("## Completed\n- Round the cart once\n")
        };
        assert!(lists("Totals are exact."));
        assert!(!lists(
            &"Totals are exact now, whatever was ordered. ".repeat(8)
        ));
    }

    fn llm() -> LlmAdditions {
        LlmAdditions {
            by: "some-model".into(),
            objective: "Resolve the timeout.".into(),
            ..LlmAdditions::default()
        }
    }

    fn explained() -> Explanation {
        Explanation {
            root_cause: "Seconds read as minutes".into(),
            fix: "Set 3600".into(),
            verification: "Waited".into(),
        }
    }

    #[test]
    fn a_models_words_stand_in_the_examples_order() {
        let setting = |reason: Option<&str>| SettingChange {
            renamed: None,
            file: ".env".into(),
            setting: "JWT_EXPIRY".into(),
            old: Some("60".into()),
            new: Some("3600".into()),
            reason: reason.map(str::to_owned),
        };
        let summary = Summary {
            objective: Some(sourced(1, "it times out".into())),
            config_changes: vec![sourced(1, setting(Some("units | were ambiguous")))],
            llm: Some(LlmAdditions {
                outcome: Some(SessionOutcome::Completed),
                root_cause: Some("Ambiguous units".into()),
                errors_resolved: vec![LlmResolution {
                    error: "401 Unauthorized".into(),
                    explained: explained(),
                }],
                config_changes: vec![SettingChange {
                    setting: "UNIT".into(),
                    ..setting(None)
                }],
                decisions: vec![LlmDecision {
                    decision: "Explicit units".into(),
                    why: DecisionReasons {
                        rationale: "Nobody guesses".into(),
                        alternatives: vec!["Document it".into(), "ISO 8601".into()],
                    },
                }],
                tests: Some(TestCounts {
                    runner: "pytest".into(),
                    passed: 12,
                    ..TestCounts::default()
                }),
                coverage: Some(87.34),
                files_modified: vec![".env".into()],
                next_steps: vec!["Validate in CI".into()],
                ..llm()
            }),
            ..Summary::default()
        };
        let wants = "# Session Summary\n\n**Activity Profile**: fixing (0.8)\n\
            **Outcome**: completed\n**Told by**: some-model, beside the facts\n\n\
            ## Objective\nResolve the timeout.\n\n\
            ## Root Cause\nAmbiguous units\n\n\
            ## Errors Resolved\n### 401 Unauthorized\n- **Root cause**: Seconds read as minutes\n\
            - **Fix**: Set 3600\n- **Verification**: Waited\n\n\
            ## Configuration Changes\n| File | Setting | Change | Reason |\n| --- | --- | --- | --- |\n\
            | .env | JWT_EXPIRY | 60 → 3600 | units \\| were ambiguous |\n\
            | .env | UNIT | 60 → 3600 |  |\n\n\
            ## Key Decisions\n- **Explicit units**: Nobody guesses\n  \
            - Alternatives considered: Document it, ISO 8601\n\n\
            ## Test Results\n- **Framework**: pytest\n- **Results**: 12/12 passed\n\
            - **Coverage**: 87.3%\n\n\
            ## Files Modified\n- `.env`\n\n\
            ## Next Steps\n- Validate in CI\n";
        assert_eq!(markdown(&summary, "fixing (0.8)"), wants);
    }

    #[test]
    fn a_models_reasons_stand_with_the_facts() {
        let summary = Summary {
            errors_resolved: vec![sourced(
                1,
                Resolution {
                    call: "Bash(make)".into(),
                    error: "exit 2".into(),
                    cause: Some("The port is taken.".into()),
                    changed: vec!["a.c".into()],
                    explained: Some(explained()),
                    ..Resolution::default()
                },
            )],
            decisions: vec![sourced(
                1,
                Decision {
                    decision: "Use Redis".into(),
                    about: Some("Which store?".into()),
                    why: Some(DecisionReasons {
                        rationale: "It expires keys".into(),
                        alternatives: Vec::new(),
                    }),
                    ..Decision::default()
                },
            )],
            ..Summary::default()
        };
        let text = markdown(&summary, "fixing (1.0)");
        assert!(text.contains(
            "### exit 2\n- **Command**: `make`\n- **Root cause**: Seconds read as minutes\n\
             - **What helped**: Set 3600\n- **Fix**: changed `a.c`\n"
        ));
        assert!(text.contains("- Which store? → **Use Redis**\n  - Rationale: It expires keys\n"));
    }

    #[test]
    fn exploration_says_that_nothing_was_modified() {
        let explored = Summary {
            llm: Some(LlmAdditions {
                discoveries: vec!["Tokens are signed".into()],
                ..llm()
            }),
            ..Summary::default()
        };
        let text = markdown(&explored, "exploring (1.0)");
        assert!(
            text.contains("## Files Modified\n- (none - exploration only)\n"),
            "{text}"
        );
        assert!(text.find("## Discoveries") < text.find("## Files Modified"));
    }

    #[test]
    fn a_models_words_are_nothing_but_words() {
        for (words, wants) in [
            ("plain `Vec<String>` code", "plain `Vec<String>` code"),
            ("a Vec<String>", "a Vec&lt;String>"),
            ("`<img src=x>", "`&lt;img src=x>"),
            ("``<b>`", "``&lt;b>`"),
            ("![x](http://h/?q=1)", "!\\[x](http://h/?q=1)"),
            ("see [x](https://h/a)", "see [x](https://h/a)"),
            ("a list[0] of [y] things", "a list[0] of [y] things"),
            ("[x](javascript:alert(1))", "\\[x](javascript:alert(1))"),
            ("[x]( <JavaScript:a>)", "\\[x]( &lt;JavaScript:a>)"),
            ("[x](java&#115;cript:a)", "\\[x](java&#115;cript:a)"),
            ("[x](data:text/html,a)", "\\[x](data:text/html,a)"),
            (
                "\\[x](data:a) \\\\[y](data:b)",
                "\\[x](data:a) \\\\\\[y](data:b)",
            ),
            ("[1]: javascript:a", "\\[1]: javascript:a"),
            ("[x][1] and [a](http://h)", "\\[x]\\[1] and \\[a](http://h)"),
            (
                "`[x](data:a)` and [y](data:b)",
                "`[x](data:a)` and \\[y](data:b)",
            ),
            ("# A heading", "\\# A heading"),
            ("```", "\\```"),
            ("| cell", "\\| cell"),
        ] {
            assert_eq!(inline(words), wants);
        }
    }
}

//! Answers of shells and of what they left running: tests as numbers, errors as messages.

use super::call::DigestCall;
use super::line;
use super::output::ToolOutput;
use crate::model::entry::{CallStatus, ToolResult};
use crate::rules::commands;
use crate::rules::test_runners::{TestOutput, TestRun, test_output};
use std::fmt::Write;

/// The whole answer of a command that ended, well or not; the tests that it ran.
pub fn ended(
    out: &mut String,
    call: &DigestCall<'_>,
    result: &ToolResult,
    output: &ToolOutput<'_>,
) -> TestOutput {
    let failed =
        result.status == CallStatus::Failed || output.exit_code.is_some_and(|code| code != 0);
    let tests = tests(call, result, output);
    match (failed, &tests.run) {
        (_, Some(run)) if run.failed > 0 || !failed => write_run(out, run, output),
        (true, run) => {
            failure(out, output);
            if let Some(run) = run.as_ref().filter(|run| run.total > 0) {
                out.push_str("; ");
                write_run(out, run, output);
            }
        }
        (false, _) if printed_failure(call, output) => {
            out.push_str(COMPLAINED);
            output.write_message(out, ": ");
        }
        (false, _) => {
            output.write(out);
            printed_success(out, call, output);
        }
    }
    tests
}

/// Of a check's longer output that something else passed on also the line that says that it passed.
fn printed_success(out: &mut String, call: &DigestCall<'_>, output: &ToolOutput<'_>) {
    let is_long = out.ends_with(" KB") || out.ends_with(" bytes");
    let line = call.command_line().filter(|_| is_long);
    let said = line.and_then(|line| commands::printed_success(&line, output.parts()));
    if let Some(said) = said {
        out.push_str(": ");
        line::fold(out, &output.masked(&said), line::TEXT_CHARS_MAX);
    }
}

/// It ended well as far as its exit code tells, but its output says otherwise.
const COMPLAINED: &str = "complained";

/// A check whose output something else passed on, and with it the exit code: `npm run lint | tail`.
pub fn printed_failure(call: &DigestCall<'_>, output: &ToolOutput<'_>) -> bool {
    let line = call.command_line();
    line.is_some_and(|line| commands::printed_failure(&line, output.parts()))
}

/// `exit 101: error[E0308] mismatched types`, `failed: …`.
pub fn failure(out: &mut String, output: &ToolOutput<'_>) {
    let _ = match output.exit_code {
        Some(code) if code != 0 => write!(out, "exit {code}"),
        _ => write!(out, "failed"),
    };
    output.write_message(out, ": ");
}

/// The numbers of the tests that ran, and the names of failed ones as they may be told, with the call's
/// duration where the runner states none.
fn tests(call: &DigestCall<'_>, result: &ToolResult, output: &ToolOutput<'_>) -> TestOutput {
    if output.bytes == 0 || call.is_idle() {
        return TestOutput::default();
    }
    let mut tests = test_output(output.parts(), output.is_whole());
    let Some(run) = &mut tests.run else {
        return tests;
    };
    if !run.failures.is_empty() {
        // half a secret is none that a rule knows: names are read from the masked text
        let [head, tail] = output.masked_parts();
        let masked = test_output([&head, &tail], output.is_whole()).run;
        run.failures = masked.map(|run| run.failures).unwrap_or_default();
    }
    if run.seconds.is_none() {
        run.seconds = result.facts.duration_ms.map(|ms| ms as f64 / 1000.0);
    }
    tests
}

/// `passed 47/47 in 3.2 s`, `failed 3/50 in 2 s: test_a, test_b, test_c`.
fn write_run(out: &mut String, run: &TestRun, output: &ToolOutput<'_>) {
    if run.total == 0 {
        out.push_str("no tests ran");
        if run.skipped > 0 {
            let _ = write!(out, ", {} skipped", run.skipped);
        }
        return;
    }
    let (word, n) = match run.failed {
        0 => ("passed", run.passed),
        failed => ("failed", failed),
    };
    let least = if run.whole { "" } else { "at least " };
    let _ = write!(out, "{word} {least}{n}/{}", run.total);
    if run.packages {
        out.push_str(" packages");
    }
    if let Some(seconds) = run.seconds.filter(|s| *s > 0.0) {
        out.push_str(" in ");
        line::duration(out, seconds);
    }
    if run.skipped > 0 {
        let _ = write!(out, ", {} skipped", run.skipped);
    }
    match run.failed {
        0 => {}
        _ if run.failures.is_empty() => output.write_message(out, ": "),
        _ => write_names(out, &run.failures),
    }
}

fn write_names(out: &mut String, names: &[String]) {
    const NAMES_CHARS_MAX: usize = 160;
    let mut room = NAMES_CHARS_MAX;
    for (i, name) in names.iter().enumerate() {
        if name.len() > room && i > 0 {
            let _ = write!(out, " and {} more", names.len() - i);
            return;
        }
        out.push_str(if i == 0 { ": " } else { ", " });
        line::fold(out, name, NAMES_CHARS_MAX);
        room = room.saturating_sub(name.len() + 2);
    }
}

/// Something in the background, asked for: `still running: Ready`, `completed: passed 17/17 in 1.5 s`.
pub fn polled(
    out: &mut String,
    call: &DigestCall<'_>,
    result: &ToolResult,
    output: &ToolOutput<'_>,
) -> TestOutput {
    let inner = Inner::of(output);
    let running = result.status == CallStatus::Running || inner.state == Some("running");
    if running {
        out.push_str("still running");
        if !inner.output.is_blank() {
            out.push_str(": ");
            inner.output.write(out);
        }
        return TestOutput::default();
    }
    if let Some(state) = inner.state {
        line::fold(out, &output.masked(state), line::TEXT_CHARS_MAX);
        if inner.output.is_blank() {
            return TestOutput::default();
        }
        out.push_str(": ");
    }
    ended(out, call, result, &inner.output)
}

/// What `BashOutput` and `TaskOutput` put in tags.
struct Inner<'a> {
    state: Option<&'a str>,
    output: ToolOutput<'a>,
}

impl<'a> Inner<'a> {
    fn of(output: &'a ToolOutput<'_>) -> Inner<'a> {
        let head: &'a str = &output.head;
        let mut inner = Inner {
            state: between(head, "<status>", "</status>"),
            output: ToolOutput {
                head: head.into(),
                ..*output
            },
        };
        if inner.state.is_none() {
            return inner;
        }
        let code = between(head, "<exit_code>", "</exit_code>").and_then(|c| c.trim().parse().ok());
        inner.output.exit_code = inner.output.exit_code.or(code);
        let opened = ["<stdout>", "<output>", "<stderr>"];
        let body = opened
            .iter()
            .find_map(|tag| Some(head.find(tag)? + tag.len()));
        let body = body.map_or("", |at| &head[at..]);
        let end = ["</stdout>", "</output>", "</stderr>"];
        let end = end.iter().filter_map(|tag| body.find(tag)).min();
        let text = &body[..end.unwrap_or(body.len())];
        if end.is_some() || output.tail.is_empty() {
            inner.output.bytes = text.len() as u64;
            inner.output.lines = Some(text.trim().lines().count() as u64);
            inner.output.tail = "";
        }
        inner.output.head = text.into();
        inner
    }
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let from = text.find(open)? + open.len();
    let to = from + text[from..].find(close)?;
    Some(&text[from..to])
}

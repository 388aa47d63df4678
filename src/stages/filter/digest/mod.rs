//! One line for a tool call and its result: `Read(src/auth.rs) → 2000 lines, 48 KB` (D26).
//!
//! Knows what a reader needs of a call. Which tool is told how is a table (`rules/tools.yaml`), so
//! are errors and test runners.

mod ahead;
mod begun;
mod call;
mod content;
mod ended;
mod files;
mod findings;
mod history;
mod line;
mod other;
mod output;
mod patch;
mod people;
mod place;
mod plans;
mod pulls;
mod script;
mod shell;
mod shorten;
mod tasks;
#[cfg(test)]
mod tests;
mod todos;

pub use begun::begun;
pub use shorten::shorten_input;

use crate::model::entry::{CallStatus, ToolResult};
use crate::model::exchange::ToolUse;
use crate::model::policy::{FilterPolicy, Keep};
use crate::rules::secrets::Redactor;
use crate::rules::test_runners::TestOutput;
use crate::rules::tools::AnswerKind;
use call::DigestCall;
use output::ToolOutput;
use serde_json::Value;

/// The digest of a call. `input` is what [`shorten_input`] kept of the call's, which also masks it;
/// what the result says is masked here, before it is cut.
///
/// The text is one line without `Action: `, never empty; whitespace is folded and `…` stands only
/// where something was cut. With `tool_content: true` the result's text follows, indented, at most
/// 2 KB of it, where a model condenses it only a long one; with `false` a marker stands in its place (D61). Never panics. About 1 µs, more
/// where a shell's output holds test results or errors.
pub fn digest(
    tool: &str,
    input: &Value,
    outcome: CallOutcome<'_>,
    context: &DigestContext<'_>,
) -> Digest {
    let call = DigestCall::new(tool, input, context.cwd);
    let mut text = String::with_capacity(160);
    call.write(&mut text);
    let counted = call.counted();
    let mut used = ToolUse {
        name: tool.to_owned(),
        command: counted.name,
        files: call.files(),
        ..ToolUse::default()
    };
    match outcome {
        CallOutcome::NoResult if call.row.alone => {}
        CallOutcome::NoResult => {
            text.push_str(" → no result");
            used.status = CallStatus::Interrupted;
        }
        CallOutcome::Result(result) => {
            let mut output = ToolOutput::of(result, context.redactor);
            output.quotes_people = context.policy.user_messages != Keep::Out;
            used.status = call.status(result, &output);
            // a text that is kept elsewhere left a stub here, which states the size of the whole
            used.output_bytes = match output.lines {
                Some(_) => result.output.bytes,
                None => output.bytes,
            };
            if used.status == CallStatus::Ok {
                used.modified = modified(&call, result);
                used.completed = tasks::completed(&call, result);
            }
            let mut tests = TestOutput::default();
            other::close_parameters(&mut text, &call, result);
            if !(call.row.alone && says_nothing(result)) {
                text.push_str(" → ");
                match context.policy.tool_content {
                    Keep::Out => content::left_out(&mut text, &call, result, &output),
                    Keep::Full | Keep::Template(_) | Keep::Condense(_) => {
                        tests = answer(&mut text, &call, result, &output);
                    }
                }
            }
            let ended = ended::Ended {
                call: &call,
                key: counted.key,
                result,
                status: used.status,
                output: &output,
                tests,
            };
            used.findings = ended.findings(context.policy);
            let is_shown = output.quotes_people || !call.quotes_people(result);
            match context.policy.tool_content {
                Keep::Full if is_shown => content::indented(&mut text, &output),
                Keep::Condense(_) if is_shown => content::to_condense(&mut text, &output),
                _ => {}
            }
        }
    }
    Digest { text, tool: used }
}

/// What every digest of a stream is made with.
#[derive(Clone, Copy, Debug)]
pub struct DigestContext<'a> {
    /// What is kept of results.
    pub policy: &'a FilterPolicy,
    /// Masks what results say.
    pub redactor: &'a Redactor,
    /// What paths are shown against, masked.
    pub cwd: Option<&'a str>,
}

/// How a call ended, as its digest is told.
#[derive(Clone, Copy, Debug)]
pub enum CallOutcome<'a> {
    /// Its result.
    Result(&'a ToolResult),
    /// None came before the next prompt.
    NoResult,
}

/// What stands for a call and its result.
#[derive(Clone, Debug, PartialEq)]
pub struct Digest {
    /// The line, without `Action: `.
    pub text: String,
    /// What is known of the call besides.
    pub tool: ToolUse,
}

/// Paths that a successful call changed, relative to the working directory when below it.
fn modified(call: &DigestCall<'_>, result: &ToolResult) -> Vec<String> {
    let changed = files::changed(call, result).into_iter();
    let paths = changed.map(|(path, ..)| line::relative(&path, call.cwd).to_owned());
    paths.filter(|path| !path.is_empty()).collect()
}

fn says_nothing(result: &ToolResult) -> bool {
    result.output.bytes == 0 && result.facts.matches.is_none() && result.status == CallStatus::Ok
}

/// Also says which tests ran.
fn answer(
    out: &mut String,
    call: &DigestCall<'_>,
    result: &ToolResult,
    output: &ToolOutput<'_>,
) -> TestOutput {
    if let (AnswerKind::Other, Some(summary)) = (call.row.answer, &result.facts.summary) {
        other::summed_up(out, output, summary);
        return TestOutput::default();
    }
    match (call.status(result, output), call.row.answer) {
        (CallStatus::Refused, _) => people::refused(out, output),
        (CallStatus::Denied, _) => people::denied(out, result.facts.denied),
        (CallStatus::Interrupted, _) => out.push_str("interrupted"),
        (CallStatus::Ok | CallStatus::Failed | CallStatus::Running, AnswerKind::Poll) => {
            return shell::polled(out, call, result, output);
        }
        (CallStatus::Running, _) => out.push_str("running in the background"),
        (CallStatus::Failed, AnswerKind::Ask) if !output.quotes_people => out.push_str("failed"),
        (CallStatus::Failed, AnswerKind::Shell) => return shell::ended(out, call, result, output),
        (CallStatus::Failed, _) => shell::failure(out, output),
        (CallStatus::Ok, AnswerKind::Shell) if call.changes.is_empty() => {
            return shell::ended(out, call, result, output);
        }
        (CallStatus::Ok, kind) => succeeded(out, kind, call, result, output),
    }
    TestOutput::default()
}

fn succeeded(
    out: &mut String,
    kind: AnswerKind,
    call: &DigestCall<'_>,
    result: &ToolResult,
    output: &ToolOutput<'_>,
) {
    match kind {
        AnswerKind::Shell | AnswerKind::Poll | AnswerKind::Patch => files::patch(out, call, result),
        AnswerKind::Read => files::read(out, call, result, output),
        AnswerKind::Edit => files::edit(out, call, result),
        AnswerKind::Write => files::write(out, call, result),
        AnswerKind::Search => files::search(out, call, result, output),
        AnswerKind::List => files::list(out, call, result, output),
        AnswerKind::Stop => out.push_str("stopped"),
        AnswerKind::Fetch => other::fetch(out, result, output),
        AnswerKind::Agent => tasks::agent(out, result, output),
        AnswerKind::Plan => tasks::plan(out, call, result),
        AnswerKind::Task => tasks::task(out, call, result, output),
        AnswerKind::Ask => people::answered(out, call, result, output),
        AnswerKind::Approve => out.push_str("approved"),
        AnswerKind::Said => other::said(out, output),
        AnswerKind::Other => other::unknown(out, output),
    }
}

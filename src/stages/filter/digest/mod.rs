//! One line for a tool call and its result: `Read(src/auth.rs) → 2000 lines, 48 KB` (D26).
//!
//! Knows what a reader needs of a call; refuses to know records, sessions and where the line will
//! stand. Which tool is told how is a table (`rules/tools.yaml`), so are errors and test runners.

mod call;
mod content;
mod files;
mod findings;
mod history;
mod line;
mod other;
mod output;
mod patch;
mod people;
mod shell;
mod shorten;
mod tasks;
#[cfg(test)]
mod tests;

pub use shorten::shorten_input;

use crate::model::entry::{Status, ToolResult};
use crate::model::exchange::ToolUse;
use crate::model::policy::{FilterPolicy, Keep};
use crate::rules::secrets::Redactor;
use crate::rules::test_runners::TestRun;
use crate::rules::tools::Answer;
use call::Call;
use output::Output;
use serde_json::Value;

/// The digest of a call. `input` is what [`shorten_input`] kept of the call's, which also masks it;
/// what the result says is masked here, before it is cut.
///
/// The text is one line without `Action: `, never empty; whitespace is folded and `…` stands only
/// where something was cut. With `tool_content: true` the result's text follows, indented, at most
/// 2 KB of it; with `false` a marker stands in its place (D61). Never panics. About 1 µs, more
/// where a shell's output holds test results or errors.
pub fn digest(tool: &str, input: &Value, outcome: Outcome<'_>, told: &Telling<'_>) -> Digest {
    let call = Call::new(tool, input, told.cwd);
    let mut text = String::with_capacity(160);
    call.tell(&mut text);
    let counted = call.counted();
    let mut used = ToolUse {
        name: tool.to_owned(),
        command: counted.name,
        files: call.files(),
        ..ToolUse::default()
    };
    match outcome {
        Outcome::NoResult if call.row.alone => {}
        Outcome::NoResult => {
            text.push_str(" → no result");
            used.status = Status::Interrupted;
        }
        Outcome::Result(result) => {
            let output = Output::of(result, told.redactor);
            used.status = status(&call, result, &output);
            used.output_bytes = match output.lines {
                Some(_) => result.output.bytes,
                None => output.bytes,
            };
            if used.status == Status::Ok {
                used.modified = modified(&call, result);
                used.completed = tasks::completed(&call, result);
            }
            let mut run = None;
            other::close_parameters(&mut text, &call, result);
            if !(call.row.alone && says_nothing(result)) {
                text.push_str(" → ");
                match told.policy.tool_content {
                    Keep::Out => content::left_out(&mut text, &call, result, &output),
                    Keep::Full | Keep::Template(_) => {
                        run = answer(&mut text, &call, result, &output);
                    }
                }
            }
            let ended = findings::Ended {
                call: &call,
                key: counted.key,
                result,
                status: used.status,
                output: &output,
                run,
            };
            used.findings = ended.findings(told.policy);
            if told.policy.tool_content == Keep::Full {
                content::indented(&mut text, &output);
            }
        }
    }
    Digest { text, tool: used }
}

/// What every digest of a stream is told with.
#[derive(Clone, Copy, Debug)]
pub struct Telling<'a> {
    /// What is kept of results.
    pub policy: &'a FilterPolicy,
    /// Masks what results say.
    pub redactor: &'a Redactor,
    /// What paths are shown against, masked.
    pub cwd: Option<&'a str>,
}

/// How a call ended, as its digest is told.
#[derive(Clone, Copy, Debug)]
pub enum Outcome<'a> {
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
fn modified(call: &Call<'_>, result: &ToolResult) -> Vec<String> {
    let changed = files::changed(call, result).into_iter();
    let told = changed.map(|(path, ..)| line::relative(&path, call.cwd).to_owned());
    told.filter(|path| !path.is_empty()).collect()
}

/// A command that states a bad exit code failed, whatever the parser made of it.
fn status(call: &Call<'_>, result: &ToolResult, output: &Output<'_>) -> Status {
    let exited_badly = output.exit_code.is_some_and(|code| code != 0);
    match result.status {
        Status::Ok if exited_badly && matches!(call.row.answer, Answer::Shell | Answer::Patch) => {
            Status::Failed
        }
        status => status,
    }
}

fn says_nothing(result: &ToolResult) -> bool {
    result.output.bytes == 0 && result.facts.matches.is_none() && result.status == Status::Ok
}

/// Also says which tests ran.
fn answer(
    out: &mut String,
    call: &Call<'_>,
    result: &ToolResult,
    output: &Output<'_>,
) -> Option<TestRun> {
    if let (Answer::Other, Some(summary)) = (call.row.answer, &result.facts.summary) {
        other::summed_up(out, output, summary);
        return None;
    }
    match (status(call, result, output), call.row.answer) {
        (Status::Refused, _) => people::refused(out, output),
        (Status::Interrupted, _) => out.push_str("interrupted"),
        (Status::Ok | Status::Failed | Status::Running, Answer::Poll) => {
            return shell::polled(out, call, result, output);
        }
        (Status::Running, _) => out.push_str("running in the background"),
        (Status::Failed, Answer::Shell) => return shell::ended(out, call, result, output),
        (Status::Failed, _) => shell::failure(out, output),
        (Status::Ok, Answer::Shell) if call.changes.is_empty() => {
            return shell::ended(out, call, result, output);
        }
        (Status::Ok, kind) => succeeded(out, kind, call, result, output),
    }
    None
}

fn succeeded(
    out: &mut String,
    kind: Answer,
    call: &Call<'_>,
    result: &ToolResult,
    output: &Output<'_>,
) {
    match kind {
        Answer::Shell | Answer::Poll | Answer::Patch => files::patch(out, call, result),
        Answer::Read => files::read(out, call, result, output),
        Answer::Edit => files::edit(out, call, result),
        Answer::Write => files::write(out, call, result),
        Answer::Search => files::search(out, call, result, output),
        Answer::List => files::list(out, call, result, output),
        Answer::Stop => out.push_str("stopped"),
        Answer::Fetch => other::fetch(out, result, output),
        Answer::Agent => tasks::agent(out, result, output),
        Answer::Plan => tasks::plan(out, call, result),
        Answer::Task => tasks::task(out, call, result, output),
        Answer::Ask => people::answered(out, call, result, output),
        Answer::Approve => out.push_str("approved"),
        Answer::Said => other::said(out, output),
        Answer::Other => other::unknown(out, output),
    }
}

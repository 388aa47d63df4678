//! Calls and their results. Knows which call a result answers and what becomes of a call that gets
//! none.

use super::digest::{CallOutcome, Digest, DigestContext, begun, digest, shorten_input};
use super::emit::{At, Out};
use crate::model::entry::{Call, CallStatus, Copied, ToolResult};
use crate::model::episode::Episode;
use crate::model::fold::{FilterState, StreamFold};
use crate::model::policy::{FilterPolicy, Keep};
use crate::model::resume_state::PendingCall;
use crate::model::time::Time;
use crate::rules::errors::refusal_words;
use crate::rules::tools;
use serde_json::Value;
use std::sync::Arc;

/// Larger: bigger checkpoints; smaller: a result that comes very late has lost its tool's name. In
/// 67,000 real calls no more than a handful of a session were ever given up.
const GIVEN_UP_MAX: usize = 16;

/// Calls that wait at once; all of them are given up when there is one more. Real agents start some
/// dozens side by side; larger: each kept record of a log without results copies more of them.
pub(super) const WAITING_MAX: usize = 256;

/// Copied calls whose results may be a log's own: those of a message that was copied before all its
/// tools had answered. Larger: bigger checkpoints of forks; smaller: names of tools are lost.
const COPIED_MAX: usize = 64;

/// A result whose call is in no record before it.
const UNKNOWN_TOOL: &str = "unknown tool";

/// A call waits for its result, unless that stands before it: agents write side by side. A second call with the
/// same id takes the first one's place.
pub(super) fn call(call: Call, at: &At<'_>, fold: &mut StreamFold, out: &mut Out<'_>) {
    let calls = &mut Arc::make_mut(&mut fold.state).calls;
    if take_answered(&call.id, calls) {
        return;
    }
    if !call.id.is_empty() {
        calls.retain(|c| c.id != call.id);
    }
    if fold.state.waiting() as usize >= WAITING_MAX {
        give_up(at, fold, out);
    }
    let pending = pending(call, at.time, out);
    Arc::make_mut(&mut fold.state).calls.push(Arc::new(pending));
}

fn pending(call: Call, time: Option<Time>, out: &Out<'_>) -> PendingCall {
    PendingCall {
        input: match is_told(&call.tool, out.policy) {
            false => Value::Null,
            true => shorten_input(&call.tool, call.input, out.redactor),
        },
        id: call.id,
        tool: out.redactor.redact(&call.tool).into_owned(),
        time,
        given_up: false,
        copied: false,
    }
}

/// Its result stood before it.
fn take_answered(id: &str, calls: &mut Vec<Arc<PendingCall>>) -> bool {
    let is_answered = |c: &Arc<PendingCall>| c.id == id && c.tool == UNKNOWN_TOOL;
    let answered = !id.is_empty() && calls.iter().any(is_answered);
    if answered {
        calls.retain(|c| c.id != id);
    }
    answered
}

/// A record that is told elsewhere gives nothing here, but names the call of a result that is this
/// log's own. What is known of own calls stays.
pub(super) fn copied(copied: Copied, time: Option<Time>, fold: &mut StreamFold, out: &mut Out<'_>) {
    let known = fold.state.calls.iter().any(|c| c.copied);
    match copied {
        Copied::Call(call) if !call.id.is_empty() => {
            let calls = &mut Arc::make_mut(&mut fold.state).calls;
            if take_answered(&call.id, calls) || calls.iter().any(|c| c.id == call.id) {
                return;
            }
            let copied = |c: &Arc<PendingCall>| c.copied;
            if calls.iter().filter(|c| copied(c)).count() >= COPIED_MAX
                && let Some(oldest) = calls.iter().position(copied)
            {
                calls.remove(oldest);
            }
            let mut call = pending(call, time, out);
            call.copied = true;
            calls.push(Arc::new(call));
        }
        Copied::Result(id) if known => {
            let calls = &mut Arc::make_mut(&mut fold.state).calls;
            calls.retain(|c| c.id != id || !c.copied);
        }
        Copied::Prompt if known => come_late(&mut Arc::make_mut(&mut fold.state).calls),
        Copied::Call(_) | Copied::Result(_) | Copied::Prompt => {}
    }
}

/// A prompt came before the results of copied calls.
fn come_late(calls: &mut [Arc<PendingCall>]) {
    for call in calls.iter_mut().filter(|c| c.copied && !c.given_up) {
        Arc::make_mut(call).given_up = true;
    }
}

/// The digest stands where the result is; one that comes after its call was given up says so. A
/// call that still runs in the background may be answered again, late.
pub(super) fn result(result: &ToolResult, at: &At<'_>, fold: &mut StreamFold, out: &mut Out<'_>) {
    let state = Arc::make_mut(&mut fold.state);
    let found = state.calls.iter().position(|c| c.id == result.call);
    let call = found.map(|i| state.calls.remove(i));
    let call = call.unwrap_or_else(|| unknown(&result.call));
    let told = is_told(&call.tool, out.policy);
    let text = told.then(|| words(&call, CallOutcome::Result(result), at, out));
    let reason = match told {
        true => None,
        false => refusal(result, out),
    };
    let late = call.given_up;
    let is_early = found.is_none() && !result.call.is_empty();
    if result.status == CallStatus::Running && found.is_some() || is_early {
        give_up_call(&mut state.calls, call);
    }
    match text {
        None => {
            out.tools_left_out(at, fold);
            if let Some(reason) = reason {
                out.aside(at, fold, &reason);
            }
        }
        Some(Digest { mut text, tool }) => {
            if late {
                text.push_str(" (late)");
            }
            out.digest(at, fold, text, tool);
        }
    }
}

/// A call by which the agent asks a person is told though calls are left out: the answer is the person's.
fn is_told(tool: &str, policy: &FilterPolicy) -> bool {
    policy.tool_calls != Keep::Out
        || policy.user_messages != Keep::Out && tools::tool(tool).asks_people()
}

/// What a person said when refusing a call that is left out.
fn refusal(result: &ToolResult, out: &Out<'_>) -> Option<String> {
    let quotes = out.policy.user_messages != Keep::Out && result.status == CallStatus::Refused;
    let text = quotes.then(|| out.redactor.redact(&result.output.head))?;
    refusal_words(&text).map(str::to_owned)
}

/// Calls that are still open when a prompt comes: `… → no result`, in the order of the calls,
/// before the prompt. Their time is the call's, so that the prompt's doesn't end their episode.
pub(super) fn give_up(at: &At<'_>, fold: &mut StreamFold, out: &mut Out<'_>) {
    if fold.state.calls.iter().any(|c| c.copied) {
        come_late(&mut Arc::make_mut(&mut fold.state).calls);
    }
    if fold.state.waiting() == 0 {
        return;
    }
    let state = Arc::make_mut(&mut fold.state);
    let (given_up, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut state.calls)
        .into_iter()
        .partition(|c| c.given_up || c.copied);
    state.calls = given_up;
    for call in waiting {
        match out.policy.tool_calls {
            Keep::Out => out.tools_left_out(at, fold),
            _ => {
                let Digest { text, tool } = words(&call, CallOutcome::NoResult, at, out);
                out.digest(&at.timed(call.time), fold, text, tool);
            }
        }
        give_up_call(&mut Arc::make_mut(&mut fold.state).calls, call);
    }
}

/// Notes at the end of open episodes what calls that still wait were to do, as far as the policy tells it;
/// `state` is that at the end of the log.
pub fn note_begun(open: &mut [Episode], state: &FilterState, policy: &FilterPolicy) {
    for episode in open.iter_mut().filter(|episode| episode.pending_calls > 0) {
        let calls = state.state(&episode.stream).into_iter();
        let calls = calls.flat_map(|fold| fold.waiting_calls());
        let found = calls.flat_map(|call| begun(call, policy));
        if let Some(last) = episode.outline.last_mut() {
            last.findings.extend(found);
        }
    }
}

fn give_up_call(calls: &mut Vec<Arc<PendingCall>>, mut call: Arc<PendingCall>) {
    let given_up = Arc::make_mut(&mut call);
    (given_up.given_up, given_up.copied) = (true, false);
    calls.push(call);
    let is_own = |c: &Arc<PendingCall>| c.given_up && !c.copied;
    if calls.iter().filter(|c| is_own(c)).count() > GIVEN_UP_MAX
        && let Some(oldest) = calls.iter().position(is_own)
    {
        calls.remove(oldest);
    }
}

fn words(call: &PendingCall, outcome: CallOutcome<'_>, at: &At<'_>, out: &Out<'_>) -> Digest {
    // as the paths are by now
    let cwd = at
        .context
        .cwd
        .as_deref()
        .map(|cwd| out.redactor.redact(cwd));
    let context = DigestContext {
        policy: out.policy,
        redactor: out.redactor,
        cwd: cwd.as_deref(),
    };
    let mut made = digest(&call.tool, &call.input, outcome, &context);
    made.text.insert_str(0, "Action: ");
    made.text.truncate(made.text.trim_end().len());
    made
}

fn unknown(id: &str) -> Arc<PendingCall> {
    Arc::new(PendingCall {
        id: id.to_owned(),
        tool: UNKNOWN_TOOL.to_owned(),
        ..PendingCall::default()
    })
}

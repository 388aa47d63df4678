//! How long the agent of a stream worked: from a prompt to its last record before the next one, without what people
//! took to answer. Knows whose the time before a record is; where the log itself says how long a turn took without
//! waiting for somebody, that counts.

use crate::model::entry::{CallStatus, Entry, EntryKind, Fact, ToolResult};
use crate::model::resume_state::FilterResumeState;
use crate::model::time::Time;
use crate::model::work_time::{TurnClock, WorkTime};
use crate::rules::tools::{AnswerKind, tool};

/// A call that takes longer may have waited until somebody allowed it; in turns whose length Claude Code states, most that
/// took longer did.
const CALL_MS_MAX: i64 = 60_000;

/// Any other step that takes longer: the computer may have slept.
const STEP_MS_MAX: i64 = 600_000;

/// Whose the time from the record before is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// A person's, who asks for something now.
    Opens,
    /// A person's, who answered the agent.
    Answered,
    /// A call's, which took so long, where that is stated.
    Called(Option<u64>),
    /// The agent's, who goes on.
    Works,
    /// The agent's, who may have said all.
    Says,
    /// The agent's, if it is at it.
    Passes,
    /// The same, and the turn ends; so long the agent worked in it, where that is stated.
    Ends(Option<u64>),
}

/// Of a record, in the state before it; `opens`: an exchange.
pub(super) fn step(entry: &Entry, opens: bool, state: &FilterResumeState) -> Step {
    match &entry.what {
        _ if opens => Step::Opens,
        EntryKind::Result(result) => answer(result, state),
        EntryKind::Said(_) | EntryKind::Failure(_) => Step::Says,
        EntryKind::Fact(Fact::TurnEnd(worked)) => Step::Ends(*worked),
        EntryKind::Fact(Fact::Interrupted) => Step::Ends(None),
        EntryKind::Call(_) => Step::Works,
        _ if entry.message.is_some() => Step::Works,
        _ => Step::Passes,
    }
}

fn answer(result: &ToolResult, state: &FilterResumeState) -> Step {
    let call = state.calls.iter().find(|call| call.id == result.call);
    let answers = call.map(|call| tool(&call.tool).answer);
    match answers {
        _ if result.status == CallStatus::Refused => Step::Answered,
        // files are changed in no time, once that is allowed
        Some(
            AnswerKind::Ask
            | AnswerKind::Approve
            | AnswerKind::Edit
            | AnswerKind::Write
            | AnswerKind::Patch,
        ) => Step::Answered,
        Some(AnswerKind::Agent | AnswerKind::Poll) => Step::Works,
        _ => Step::Called(result.facts.duration_ms),
    }
}

/// Counts a step that ends now.
pub(super) fn count(state: &mut FilterResumeState, step: Step, now: Option<Time>) {
    let clock = state.clock;
    let lasted = now
        .zip(clock.until)
        .map_or(0, |(now, until)| now.0.saturating_sub(until.0));
    let asks = state
        .waiting_calls()
        .any(|call| tool(&call.tool).asks_people());
    let is_work = match step {
        Step::Opens | Step::Answered => false,
        Step::Called(_) | Step::Works | Step::Says => true,
        Step::Passes | Step::Ends(_) => clock.is_busy && !asks,
    };
    let worked = match step {
        _ if !is_work || lasted <= 0 => WorkTime::default(),
        Step::Called(Some(took)) => sure(lasted.min(i64::try_from(took).unwrap_or(i64::MAX))),
        Step::Called(None) => at_most(lasted, CALL_MS_MAX),
        _ => at_most(lasted, STEP_MS_MAX),
    };
    state.work = state.work.plus(worked);
    state.clock = TurnClock {
        worked: clock.worked.plus(worked),
        until: clock.until.max(now),
        is_busy: match step {
            Step::Says | Step::Ends(_) => false,
            Step::Passes => clock.is_busy,
            _ => true,
        },
    };
    match step {
        // logs aren't in order of time throughout
        Step::Opens => state.clock = opened(now),
        Step::Ends(stated) => end(state, stated),
        _ => {}
    }
}

fn opened(now: Option<Time>) -> TurnClock {
    TurnClock {
        until: now,
        is_busy: true,
        ..TurnClock::default()
    }
}

/// Takes back what the turn counted for more than its stated length.
fn end(state: &mut FilterResumeState, stated: Option<u64>) {
    let counted = std::mem::take(&mut state.clock.worked);
    if let Some(stated) = stated {
        let stated = i64::try_from(stated).unwrap_or(i64::MAX).min(counted.ms);
        state.work = state.work.minus(counted).plus(sure(stated));
    }
}

fn sure(ms: i64) -> WorkTime {
    WorkTime { ms, unsure_ms: 0 }
}

/// All of it is unsure where it is more than that.
fn at_most(ms: i64, ms_max: i64) -> WorkTime {
    let unsure_ms = if ms > ms_max { ms } else { 0 };
    WorkTime { ms, unsure_ms }
}

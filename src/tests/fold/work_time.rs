//! How long the agent worked.

use super::*;
use crate::model::activity::ExchangeTally;
use crate::model::entry::CallStatus;
use crate::model::work_time::WorkTime;

/// (seconds at work, seconds of them that are unsure) of all episodes.
fn worked(log: &Log) -> (i64, i64) {
    let episodes = episodes(log);
    let works = episodes
        .iter()
        .map(|e| ExchangeTally::work_of(&e.exchanges));
    let works = works.map(|work| work.expect("counted"));
    let all = works.fold(WorkTime::default(), WorkTime::plus);
    (all.ms / 1_000, all.unsure_ms / 1_000)
}

#[test]
fn what_people_take_to_read_and_to_answer_is_no_work() {
    let mut log = Log::default();
    log.prompt("plan it").said("thinking");
    log.call("1", "ExitPlanMode", "").later(7).result("1");
    log.call("2", "Edit", "a").later(9).result("2").said("done");
    log.later(12).prompt("and that").said("done");
    assert_eq!(worked(&log), (5, 0));
    log.later(12).prompt("much later").said("done");
    assert_eq!(worked(&log), (6, 0));
}

#[test]
fn what_a_program_wakes_the_agent_for_is_work_from_then_on() {
    let noise = || EntryKind::Noise("task notification".into());
    let mut log = Log::default();
    log.prompt("go").said("waiting").later(9).push(noise());
    log.later(1).said("done");
    assert_eq!(worked(&log), (1 + 61, 0));
    let mut log = Log::default();
    log.prompt("go")
        .call("1", "Task", "count")
        .later(5)
        .push(noise());
    log.later(5).result("1");
    assert_eq!(worked(&log), (1 + 301 + 301, 0));
}

#[test]
fn a_long_call_may_have_waited_unless_the_log_says_how_long_the_turn_took() {
    let mut log = Log::default();
    log.prompt("go")
        .call("1", "Bash", "make")
        .later(9)
        .result("1")
        .said("done");
    assert_eq!(worked(&log), (1 + 541 + 1, 541));
    let mut stated = log.clone();
    stated.fact(Fact::TurnEnd(Some(60_000)));
    assert_eq!(worked(&stated), (60, 0));
    stated.later(3).prompt("more").said("done");
    assert_eq!(worked(&stated), (61, 0));
    log.fact(Fact::TurnEnd(Some(3_600_000)));
    assert_eq!(
        worked(&log),
        (543, 0),
        "a turn isn't longer than its records"
    );
}

#[test]
fn a_call_that_says_how_long_it_took_or_was_refused_is_sure() {
    let mut log = Log::default();
    log.prompt("go")
        .call("1", "Bash", "make")
        .later(9)
        .result("1");
    if let Some(EntryKind::Result(result)) = log.entries.last_mut().map(|entry| &mut entry.what) {
        result.facts.duration_ms = Some(5_000);
    }
    assert_eq!(worked(&log), (1 + 5, 0));
    if let Some(EntryKind::Result(result)) = log.entries.last_mut().map(|entry| &mut entry.what) {
        result.status = CallStatus::Refused;
    }
    assert_eq!(worked(&log), (1, 0));
}

#[test]
fn times_that_run_backwards_before_a_prompt_take_nothing_away() {
    let mut log = Log::default();
    log.later(30).push(EntryKind::Noise("snapshot".into()));
    log.now_ms -= 30 * MINUTE;
    log.prompt("go").said("done");
    assert_eq!(worked(&log), (1, 0));
}

//! architecture § 6, "The fold": what becomes an item, and where it stands.

use super::*;
use crate::model::entry::CallStatus;
use crate::model::policy::Keep;

#[test]
fn the_body_is_laid_out_as_in_the_documents() {
    let mut log = Log::default();
    log.prompt("Fix authentication bug")
        .said("I'll investigate")
        .call("1", "Read", "src/auth.py")
        .result("1")
        .said("Fixed!")
        .prompt("Great!")
        .said("Done!");
    assert_eq!(
        text(&log),
        "User: Fix authentication bug\n\nAgent: I'll investigate\n\
         Action: Read(src/auth.py) → 2 lines, 8 bytes\nAgent: Fixed!\n\nUser: Great!\n\nAgent: Done!"
    );
}

#[test]
fn digests_stand_where_the_result_is() {
    let mut log = Log::default();
    log.prompt("go")
        .call("1", "Read", "a")
        .call("2", "Grep", "b")
        .said("waiting")
        .result("2")
        .result("1");
    assert_eq!(
        text(&log),
        "User: go\n\nAgent: waiting\nAction: Grep(b) → 2 lines\nAction: Read(a) → 2 lines, 8 bytes"
    );
}

#[test]
fn a_call_still_open_at_the_next_prompt_has_no_result_and_one_that_comes_later_is_late() {
    let mut log = Log::default();
    log.prompt("go")
        .call("1", "Read", "a")
        .prompt("stop")
        .result("1")
        .result("1");
    assert_eq!(
        text(&log),
        "User: go\n\nAction: Read(a) → no result\n\nUser: stop\n\n\
         Action: Read(a) → 2 lines, 8 bytes (late)\nAction: unknown tool → Output (2 lines)"
    );
}

#[test]
fn calls_given_up_belong_to_the_episode_before_the_gap() {
    let mut log = Log::default();
    log.prompt("go")
        .call("1", "Read", "a")
        .later(20)
        .prompt("again");
    let episodes = episodes(&log);
    assert_eq!(episodes[0].text, "User: go\n\nAction: Read(a) → no result");
    assert_eq!(
        episodes[0].ended_at,
        Some(Time(2_000)),
        "when it was called"
    );
    assert_eq!(episodes[1].text, "User: again");
}

#[test]
fn a_call_that_runs_in_the_background_may_be_answered_again() {
    let mut log = Log::default();
    log.prompt("go").call("1", "Bash", "server").result("1");
    if let Some(EntryKind::Result(result)) = log.entries.last_mut().map(|e| &mut e.what) {
        result.status = CallStatus::Running;
    }
    log.prompt("and?").result("1");
    assert_eq!(
        text(&log),
        "User: go\n\nAction: Bash → running in the background\n\nUser: and?\n\n\
         Action: Bash → one · two (late)"
    );
}

#[test]
fn an_open_call_is_pending_and_not_yet_in_the_text() {
    let mut log = Log::default();
    log.prompt("go").call("1", "Read", "a");
    let episode = episodes(&log).remove(0);
    assert_eq!((episode.pending_calls, &*episode.text), (1, "User: go"));
}

#[test]
fn a_call_whose_result_stands_before_it_waits_for_nothing() {
    let mut log = Log::default();
    log.prompt("go")
        .result("1")
        .call("1", "Read", "a")
        .said("done");
    let episode = episodes(&log).remove(0);
    assert_eq!(episode.pending_calls, 0, "{}", episode.text);
}

#[test]
fn given_up_calls_do_not_pile_up() {
    let mut log = Log::default();
    for i in 0..500 {
        log.call(&format!("toolu_{i}"), "Read", "a").prompt("next");
    }
    let mut folds = Folds::new(ChunkOptions::default());
    folds.feed(&log.entries);
    let bytes = value_bytes(&folds.tail().resume_state);
    // before and after the open tail
    assert!(bytes < 2 * 4_000, "{bytes}");
}

#[test]
fn a_removed_prompt_was_said_while_working_and_opens_no_exchange() {
    let mut log = Log::default();
    log.prompt("go")
        .call("1", "Read", "a")
        .enqueue("hurry")
        .queue(Queue::Remove)
        .result("1");
    assert_eq!(
        text(&log),
        "User: go\n\nUser (while working): hurry\n\nAction: Read(a) → 2 lines, 8 bytes"
    );
    let episode = episodes(&log).remove(0);
    assert_eq!((episode.tally.prompts, episode.message_count), (2, 2));
}

#[test]
fn a_later_queued_command_with_that_text_is_a_copy_and_the_next_one_is_not() {
    let mut log = Log::default();
    log.prompt("go")
        .enqueue("hurry")
        .queue(Queue::Remove)
        .words("hurry", PromptOrigin::Queued)
        .words("hurry", PromptOrigin::Queued);
    let twice = "User: go\n\nUser (while working): hurry\n\nUser (while working): hurry";
    assert_eq!(text(&log), twice);
}

#[test]
fn a_queued_command_that_comes_first_consumes_the_queued_prompt() {
    let mut log = Log::default();
    log.prompt("go")
        .enqueue("hurry")
        .words("hurry", PromptOrigin::Queued)
        .queue(Queue::Remove);
    assert_eq!(text(&log), "User: go\n\nUser (while working): hurry");
}

#[test]
fn a_user_entry_consumes_the_oldest_equal_prompt_of_the_queue() {
    let mut log = Log::default();
    log.enqueue("a")
        .enqueue("b")
        .enqueue("a")
        .queue(Queue::Dequeue)
        .prompt("a")
        .queue(Queue::Remove)
        .queue(Queue::Remove);
    assert_eq!(
        text(&log),
        "User: a\n\nUser (while working): b\n\nUser (while working): a"
    );
}

#[test]
fn a_removal_that_names_its_text_takes_that_one() {
    let mut log = Log::default();
    log.prompt("go")
        .enqueue("a")
        .enqueue("b")
        .queue(Queue::RemoveText("b".into()))
        .queue(Queue::RemoveText("<machine text>".into()));
    assert_eq!(text(&log), "User: go\n\nUser (while working): b");
}

#[test]
fn prompts_that_return_to_the_input_line_were_not_said() {
    let mut log = Log::default();
    log.prompt("go")
        .enqueue("a")
        .enqueue("")
        .queue(Queue::PopAll)
        .queue(Queue::Remove)
        .said("done");
    assert_eq!(text(&log), "User: go\n\nAgent: done");
}

#[test]
fn equal_prompts_are_said_as_often_as_they_are_typed() {
    let mut log = Log::default();
    log.prompt("continue").prompt("continue");
    assert_eq!(text(&log), "User: continue\n\nUser: continue");
}

#[test]
fn a_message_over_several_lines_counts_once_with_the_maximum_of_its_usage() {
    let mut log = Log::default();
    log.prompt("go")
        .of_message(7, 3)
        .silent()
        .of_message(7, 3)
        .said("one")
        .of_message(8, 5)
        .call("1", "Read", "a")
        .of_message(7, 20)
        .said("two")
        .of_message(9, 1)
        .silent();
    let episode = episodes(&log).remove(0);
    assert_eq!(episode.text, "User: go\n\nAgent: one\nAgent: two");
    assert_eq!(episode.tally.messages, 3, "silent ones included");
    assert_eq!(episode.message_count, 4);
    assert_eq!(episode.tally.usage.output, 20 + 5 + 1);
}

#[test]
fn errors_of_the_agent_and_turning_points_are_told_and_are_no_messages() {
    let mut log = Log::default();
    log.prompt("go")
        .fact(Fact::Interrupted)
        .fact(Fact::Compaction)
        .fact(Fact::RolledBack { turns: 2 })
        .fact(Fact::TurnEnd(None))
        .of_message(1, 0)
        .push(EntryKind::Failure("API Error: 529".into()));
    let episode = episodes(&log).remove(0);
    assert_eq!(
        episode.text,
        "User: go\n\nNote: interrupted by the user\nNote: the history was compacted here\n\
         Note: the 2 turns before were taken back\nError: API Error: 529"
    );
    assert_eq!(episode.message_count, 1);
}

#[test]
fn what_is_left_out_leaves_one_marker_per_run() {
    let mut log = Log::default();
    for path in ["a", "b"] {
        log.prompt("secret")
            .said("x")
            .call(path, "Read", path)
            .result(path)
            .said("y")
            .call("z", "Edit", path)
            .result("z");
    }
    let mut folds = Folds::new(ChunkOptions::default());
    folds.policy = FilterPolicy {
        tool_calls: Keep::Out,
        user_messages: Keep::Out,
        agent_messages: Keep::Out,
        ..FilterPolicy::default()
    };
    folds.feed(&log.entries);
    let episode = folds.episodes().remove(0);
    let exchange = "User: (left out)\n\n(agent messages left out)\n(tool calls left out)";
    assert_eq!(episode.text, format!("{exchange}\n\n{exchange}"));
    let tally = &episode.tally;
    assert_eq!((tally.prompts, tally.messages, tally.calls), (2, 4, 0));
    assert_eq!((tally.user_bytes, tally.agent_bytes), (0, 0));
    assert_eq!(episode.title, "");
}

#[test]
fn a_template_keeps_messages_whole_and_tools_as_digests_until_they_are_condensed() {
    let mut log = Log::default();
    log.prompt("go")
        .said("x")
        .call("1", "Read", "a")
        .result("1");
    let template = || Keep::Template("short.md".into());
    let mut folds = Folds::new(ChunkOptions::default());
    folds.policy = FilterPolicy {
        tool_calls: template(),
        user_messages: template(),
        agent_messages: template(),
        ..FilterPolicy::default()
    };
    folds.feed(&log.entries);
    assert_eq!(folds.episodes()[0].text, text(&log));
}

#[test]
fn records_without_an_id_get_one_from_session_stream_and_offset() {
    let mut log = Log::default();
    log.prompt("go");
    log.entries[0].id = Identity::None;
    let id = |log: &Log| episodes(log)[0].id;
    let first = id(&log);
    assert_eq!(first, id(&log));
    log.entries[0].place.offset = 7;
    assert_ne!(first, id(&log));
}

#[test]
fn the_prompt_of_a_sub_agent_is_its_task_and_no_persons_words() {
    let mut log = Log::default();
    log.within("agent-1")
        .words("find the bug", PromptOrigin::Agent)
        .said("ok");
    let episode = episodes(&log).remove(0);
    assert_eq!(episode.text, "Task: find the bug\n\nAgent: ok");
    assert_eq!(episode.title, "find the bug");
    assert_eq!((episode.tally.prompts, episode.tally.user_bytes), (0, 0));
    assert_eq!(episode.message_count, 2);
}

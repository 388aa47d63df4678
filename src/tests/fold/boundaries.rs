//! architecture § 6, "The fold" and "Open, settled, sealed": where episodes end.

use super::*;

fn budget(max_tokens: u64) -> ChunkOptions {
    ChunkOptions {
        max_tokens,
        ..ChunkOptions::default()
    }
}

/// (part, sealed, exchanges) of each episode.
fn shape(episodes: &[Episode]) -> Vec<(u32, bool, u64)> {
    let row = |e: &Episode| (e.part, e.sealed, e.tally.prompts);
    episodes.iter().map(row).collect()
}

#[test]
fn five_exchanges_make_an_episode_and_what_stands_before_the_first_is_none() {
    let mut log = Log::default();
    log.said("hello");
    for _ in 0..12 {
        log.prompt("go").said("done");
    }
    let shape = shape(&episodes(&log));
    assert_eq!(shape, [(1, true, 5), (2, true, 5), (3, false, 2)]);
}

#[test]
fn a_gap_cuts_only_directly_before_a_prompt() {
    let mut log = Log::default();
    log.prompt("test it")
        .call("1", "Bash", "make")
        .later(60)
        .result("1")
        .later(60)
        .said("passed")
        .later(14)
        .prompt("more")
        .later(15)
        .prompt("much later");
    let shape = shape(&episodes(&log));
    assert_eq!(shape, [(1, true, 2), (2, false, 1)]);
}

#[test]
fn a_gap_is_measured_from_the_latest_time_before_and_bookkeeping_does_not_count() {
    let mut log = Log::default();
    log.prompt("one").later(20).said("written late");
    log.now_ms -= 19 * MINUTE;
    log.said("an inverted time").later(20).prompt("two");
    assert_eq!(episodes(&log).len(), 1, "a minute after the latest");
    log.later(10)
        .enqueue("x")
        .silent()
        .later(10)
        .prompt("three");
    assert_eq!(episodes(&log).len(), 2, "20 minutes after the prompt");
}

#[test]
fn missing_times_inherit() {
    let mut log = Log::default();
    log.prompt("one").timeless();
    log.later(30).said("two").prompt("three").timeless();
    log.later(30).prompt("four");
    let episodes = episodes(&log);
    assert_eq!(shape(&episodes), [(1, true, 2), (2, false, 1)]);
    assert_eq!(episodes[0].valid_at, None, "nothing to inherit yet");
    assert_eq!(episodes[0].ended_at, log.entries[1].time);
}

#[test]
fn earlier_exchanges_are_sealed_without_the_one_that_grows_over_the_budget() {
    let mut log = Log::default();
    log.prompt("one")
        .said(&"a".repeat(150))
        .prompt("two")
        .said(&"b".repeat(150))
        .said(&"c".repeat(100));
    let episodes = episodes_with(&log, budget(100));
    assert_eq!(shape(&episodes), [(1, true, 1), (2, false, 1)]);
    assert!(episodes[1].text.starts_with("User: two\n\nAgent: bbb"));
    let counts = episodes.iter().map(|e| e.message_count);
    assert_eq!(counts.collect::<Vec<_>>(), [2, 5]);
}

#[test]
fn an_exchange_over_the_budget_is_sealed_in_parts_before_the_record_that_passes_it() {
    let mut log = Log::default();
    log.prompt("one");
    for letter in ["a", "b", "c"] {
        log.said(&letter.repeat(250));
    }
    log.prompt("two");
    let episodes = episodes_with(&log, budget(100));
    let openings = episodes.iter().map(|e| &e.text[..9]);
    assert_eq!(
        openings.collect::<Vec<_>>(),
        ["User: one", "Agent: bb", "Agent: cc"]
    );
    assert!(episodes[2].text.ends_with("\n\nUser: two"));
    assert!(episodes.iter().all(|e| e.title == "one"));
}

#[test]
fn the_part_that_ends_a_cut_exchange_counts_as_one_exchange() {
    let mut log = Log::default();
    log.prompt("one")
        .said(&"a".repeat(300))
        .said(&"b".repeat(300));
    for _ in 0..5 {
        log.prompt("next");
    }
    let episodes = episodes_with(&log, budget(100));
    assert_eq!(
        shape(&episodes),
        [(1, true, 1), (2, true, 4), (3, false, 1)]
    );
}

#[test]
fn one_record_over_the_budget_is_cut_and_says_so() {
    let mut log = Log::default();
    let paragraph = "twenty bytes of text\n\n".repeat(6);
    log.prompt("go").said(&paragraph.repeat(5));
    let episodes = episodes_with(&log, budget(100));
    assert!(episodes[0].text.starts_with("User: go\n\nAgent: twenty"));
    for later in &episodes[1..] {
        let text = &later.text;
        assert!(
            text.starts_with("Agent (continued): twenty bytes"),
            "{text}"
        );
    }
    let said: usize = episodes
        .iter()
        .map(|e| e.text.matches("twenty").count())
        .sum();
    assert_eq!(said, 30);
    assert!(episodes.iter().all(|e| e.text.len() <= 400));
    let messages: u64 = episodes.iter().map(|e| e.tally.messages).sum();
    assert_eq!(messages, 1, "counted where it starts");
    let mut ids: Vec<_> = episodes.iter().map(|e| e.id).collect();
    ids.dedup();
    assert_eq!(ids.len(), episodes.len());
}

#[test]
fn a_tiny_budget_still_ends() {
    let mut log = Log::default();
    log.prompt("日本語")
        .said("🙂🙂🙂")
        .call("1", "Read", "a")
        .result("1");
    let mut all = String::new();
    for episode in episodes_with(&log, budget(0)) {
        all.push_str(&episode.text);
    }
    for word in ["日", "本", "語"] {
        assert_eq!(all.matches(word).count(), 1);
    }
    assert_eq!(all.matches("🙂").count(), 3);
}

#[test]
fn an_episode_names_its_bytes_lines_times_files_and_counts() {
    let mut log = Log::default();
    log.prompt("fix it\nplease")
        .call("1", "Edit", "src/a.rs")
        .result("1")
        .call("2", "Read", "src/b.rs")
        .later(3)
        .result("2")
        .said("done");
    let episode = episodes(&log).remove(0);
    assert_eq!((episode.bytes.from, episode.bytes.to), (0, 599));
    assert_eq!(episode.lines, (1, 6));
    assert_eq!(episode.title, "fix it");
    assert_eq!(episode.valid_at, Some(Time(1_000)));
    assert_eq!(episode.duration_minutes, 3);
    assert_eq!(episode.files_modified, 1);
    let files: Vec<_> = episode.files.iter().collect();
    assert_eq!(files, ["src/a.rs", "src/b.rs"]);
    let tally = &episode.tally;
    assert_eq!((tally.calls, tally.output_bytes), (2, 16));
    assert_eq!((tally.user_bytes, tally.agent_bytes), (13, 4));
    assert_eq!(tally.tools["Edit"].calls, 1);
}

#[test]
fn a_session_that_is_resumed_after_days_has_only_worked_for_minutes() {
    let mut log = Log::default();
    log.prompt("fix it").later(4).said("done");
    log.later(9 * 24 * 60).prompt("and the other one");
    log.later(6).said("done too");
    let minutes: Vec<u64> = episodes(&log).iter().map(|e| e.duration_minutes).collect();
    assert_eq!(minutes, [4, 10]);
}

#[test]
fn a_sub_agent_told_inside_the_main_log_has_its_own_fold() {
    let mut log = Log::default();
    log.prompt("go")
        .call("1", "Task", "")
        .within("side")
        .words("look", PromptOrigin::Agent)
        .said("found")
        .call("2", "Read", "a")
        .within("")
        .result("1")
        .prompt("thanks");
    let episodes = episodes(&log);
    let texts: Vec<_> = episodes
        .iter()
        .map(|e| (e.stream.as_deref(), &*e.text))
        .collect();
    assert_eq!(
        texts,
        [
            (
                Some("side"),
                "Task: look\n\nAgent: found\nAction: Read(a) → no result"
            ),
            (None, "User: go\n\nAction: Task → one · two\n\nUser: thanks"),
        ]
    );
    assert!(
        episodes[0].sealed,
        "the main log's prompt says that it is done"
    );
    assert!(!episodes[1].sealed);
}

#[test]
fn finished_sub_agents_do_not_pile_up_in_the_carry() {
    let mut log = Log::default();
    for i in 0..300 {
        log.within("").prompt("go");
        log.within(&format!("side-{i}"))
            .said("x")
            .call("1", "Read", "a");
    }
    let mut folds = Folds::new(ChunkOptions::default());
    folds.feed(&log.entries);
    let tail = folds.tail();
    assert!(
        tail.resume_state.streams.len() <= 7,
        "{:#?}",
        tail.resume_state.streams
    );
    assert_eq!(folds.sealed.len(), 299 + 59);
}

#[test]
fn an_episode_that_grows_keeps_its_id() {
    let mut log = Log::default();
    log.prompt("go");
    let before = episodes(&log).remove(0);
    log.said("more");
    let after = episodes(&log).remove(0);
    assert_eq!(before.id, after.id);
    assert_ne!(before.text, after.text);
}

//! A session in one page: every item says where it was told, and the page shows it.

use super::world::Desk;
use crate::cli::Exit;
use serde_json::Value;
use std::collections::BTreeMap;

/// Every session of the fixtures as `show --json` tells it.
fn shown(desk: &Desk) -> Vec<Value> {
    let ran = desk.run("sessionmill backfill");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    let list = desk.run("sessionmill sessions --limit 0 --json").json();
    let ids = list["sessions"].as_array().expect("a list").iter();
    ids.map(|session| {
        let id = session["id"].as_str().expect("an id");
        let shown = desk.run(&format!("sessionmill show {id} --json")).json();
        assert_eq!(shown["session"]["outcome"], session["outcome"]);
        assert_eq!(shown["summary"]["outcome"], session["outcome"]);
        shown
    })
    .collect()
}

/// Everything in a summary that says where it was told.
fn sourced(summary: &Value) -> Vec<&Value> {
    let fields = summary.as_object().expect("a summary").values();
    let items = fields.flat_map(|field| match field {
        Value::Array(list) => list.iter().collect(),
        one => vec![one],
    });
    items.filter(|item| item.get("episode").is_some()).collect()
}

#[test]
fn every_item_names_an_episode_and_a_line_of_it() {
    let desk = Desk::enabled();
    let mut told: BTreeMap<String, u32> = BTreeMap::new();
    for shown in shown(&desk) {
        let episodes = shown["episodes"].as_array().expect("a list");
        for item in sourced(&shown["summary"]) {
            let episode = episodes.iter().find(|e| e["id"] == item["episode"]);
            let episode = episode.expect("the episode is the session's");
            let line = item["line"].as_u64().expect("a line");
            let within = |n: usize| episode["lines"][n].as_u64().expect("a line");
            assert!((within(0)..=within(1)).contains(&line), "{item}");
        }
        for (name, field) in shown["summary"].as_object().expect("a summary") {
            let says = !field.is_null() && field.as_array().is_none_or(|list| !list.is_empty());
            *told.entry(name.clone()).or_default() += u32::from(says);
        }
    }
    for name in ["objective", "outcome", "tests", "files_modified"] {
        assert!(told[name] > 0, "no fixture has {name}: {told:?}");
    }
}

#[test]
fn the_page_stands_before_the_episodes_and_has_no_empty_section() {
    let desk = Desk::enabled();
    for shown in shown(&desk) {
        let id = shown["session"]["id"].as_str().expect("an id");
        let text = desk.run(&format!("sessionmill show {id}")).stdout;
        if text.contains("\n--- ") {
            // its title says all that the summary does
            assert!(!text.contains("--full"), "{text}");
            continue;
        }
        assert!(
            text.contains("--full\nContinue: sessionmill resume "),
            "{text}"
        );
        let full = desk.run(&format!("sessionmill show {id} --full")).stdout;
        assert!(
            full.contains("\n--- part 1") && !full.contains("Objective"),
            "{full}"
        );
        let has = |heading: &str| text.contains(&format!("\n{heading}\n"));
        let field = |name: &str| shown["summary"][name].as_array().map_or(0, Vec::len) > 0;
        let objective = shown["summary"]["objective"]["what"].as_str();
        assert_eq!(has("Objective"), objective.is_some(), "{text}");
        assert_eq!(has("Files Modified"), field("files_modified"));
        assert_eq!(has("Completed"), field("completed"));
        assert_eq!(has("Commits"), field("commits"));
    }
}

/// Two sessions in two projects, a week apart.
fn written() -> Desk {
    let desk = super::forget::desk();
    let said = |session: &str, cwd: &str, day: &str, words: [&str; 2]| {
        let line = |kind: &str, nth: usize| {
            let minute = nth + 1;
            let record = serde_json::json!({
                "type": kind,
                "uuid": format!("00000000-0000-4000-8000-{}0000000{nth}", &session[..4]),
                "sessionId": session,
                "cwd": cwd,
                "timestamp": format!("{day}T10:0{minute}:00.000Z"),
                "message": {"id": format!("{session}{nth}"), "role": kind,
                    "content": [{"type": "text", "text": words[nth]}]},
            });
            format!("{record}\n")
        };
        let log = line("user", 0) + &line("assistant", 1);
        desk.write(&format!(".claude/projects/-w/{session}.jsonl"), &log);
    };
    said(
        "aaaa",
        "/w/shop",
        "2026-05-20",
        [
            "Let's use Redis instead of signed cookies.",
            "Redis it is. All done.",
        ],
    );
    said(
        "bbbb",
        "/w/notes",
        "2026-05-28",
        ["Sort the notes by date.", "Sorted. All done."],
    );
    let ran = desk.run("sessionmill run --all");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    desk
}

#[test]
fn a_recap_tells_its_days_and_its_project() {
    let desk = written();
    let recap = |options: &str| desk.run(&format!("sessionmill recap {options}")).stdout;
    let week = recap("--since 2026-05-27");
    assert!(
        week.contains("Sort the notes") && !week.contains("Redis"),
        "{week}"
    );
    let all = recap("--since 2026-05-01");
    assert!(all.contains("## notes") && all.contains("## shop"), "{all}");
    assert!(all.contains("### Decided"), "{all}");
    let early = recap("--since 2026-05-01 --until 2026-05-21");
    assert!(
        early.contains("Redis") && !early.contains("notes"),
        "{early}"
    );
    let none = desk.run("sessionmill recap --since 2026-05-30");
    assert!(none.stdout.contains("0 sessions."), "{}", none.shown());
    let quiet = desk.run("sessionmill insights");
    assert!(quiet.stderr.contains("often enough"), "{}", quiet.shown());
    let one = recap("--since 2026-05-01 --project /w/notes");
    assert!(
        one.contains("Sort the notes") && !one.contains("shop"),
        "{one}"
    );
}

#[test]
fn why_names_the_decision_and_its_line_and_nothing_for_other_words() {
    let desk = written();
    let found = desk.run("sessionmill why did we choose redis --json");
    assert_eq!(found.exit, Exit::Done, "{}", found.shown());
    let list = found.json()["decisions"].take();
    assert_eq!(list.as_array().map(Vec::len), Some(1), "{list}");
    assert_eq!(list[0]["session"], "aaaa");
    assert_eq!(list[0]["line"], 1);
    assert_eq!(list[0]["instead_of"], "signed cookies");
    let shown = desk.run("sessionmill why redis for owls").stdout;
    assert!(shown.contains("has 1 of 2 words: redis"), "{shown}");
    let other = desk.run("sessionmill why redis --project /w/notes");
    assert_eq!(other.exit, Exit::Failed, "{}", other.shown());
    let none = desk.run("sessionmill why postgres");
    assert_eq!(none.exit, Exit::Failed);
    assert!(none.stderr.contains("sessionmill search postgres"));
    assert_eq!(desk.run("sessionmill why did we").exit, Exit::Usage);
}

#[test]
fn what_an_agent_chose_stands_behind_what_people_did_and_is_never_called_theirs() {
    let desk = super::forget::desk();
    let choice = "I kept one table for the owls rather than two, because both have the same key.";
    let log = record(
        "eeee",
        "user",
        "Let's use Redis instead of files for owls.",
        false,
    ) + &record("eeee", "assistant", choice, false);
    desk.write(".claude/projects/-e/eeee.jsonl", &log);
    assert_eq!(desk.run("sessionmill run --all").exit, Exit::Done);
    let page = desk.run("sessionmill show eeee").stdout;
    let people = page
        .find("Key Decisions\n• Let's use Redis")
        .expect("people's");
    let agents = page.find(&format!("Decisions by the Agent\n• {choice}"));
    assert!(people < agents.expect("the agent's"), "{page}");
    let body = desk.run("sessionmill why owls --json").json();
    assert_eq!(
        body["decisions"].as_array().map(Vec::len),
        Some(1),
        "{body}"
    );
    assert_eq!(body["by_agents"][0]["decision"], choice);
    let shown = desk.run("sessionmill why owls").stdout;
    let heading = shown.find("\nchosen by the agent:\n").expect("a heading");
    assert!(shown.find("Redis").expect("people's") < heading, "{shown}");
    assert!(
        shown.find(choice).expect("the agent's") > heading,
        "{shown}"
    );
    assert_eq!(desk.run("sessionmill why two tables").exit, Exit::Done);
    let recap = desk.run("sessionmill recap --since 2026-05-01").stdout;
    let decided = recap.split("### Decided\n").nth(1).expect("people's");
    let (people, agents) = decided
        .split_once("### Chosen by agents\n")
        .expect("agents'");
    assert!(
        people.contains("Redis") && !people.contains("one table"),
        "{recap}"
    );
    assert!(agents.starts_with(&format!("- **{choice}**")), "{recap}");
}

#[test]
fn what_was_said_without_a_decision_stands_behind_the_decisions() {
    let desk = written();
    let found = desk.run("sessionmill why notes by date --json");
    assert_eq!(found.exit, Exit::Failed, "nothing was decided");
    let body = found.json();
    assert_eq!(body["asked"], serde_json::json!(["notes", "date"]));
    assert_eq!(body["decisions"], serde_json::json!([]));
    assert_eq!(body["said"][0]["decision"], "Sort the notes by date.");
    let shown = desk.run("sessionmill why notes by date").stdout;
    assert!(shown.starts_with("said, not decided:\n"), "{shown}");
    let third = desk.run("sessionmill why notes fly south --json").json();
    assert_eq!(third["said"], serde_json::json!([]), "one word of three");
}

#[test]
fn a_project_of_windows_is_found_from_any_machine() {
    let desk = super::forget::desk();
    let log = record("cccc", "user", "Sort the owls by size.", false)
        + &record("cccc", "assistant", "Sorted.", false);
    desk.write(".claude/projects/-d/cccc.jsonl", &log);
    assert_eq!(desk.run("sessionmill run --all").exit, Exit::Done);
    for path in ["d:/owls", "D:/owls"] {
        let told = desk.run(&format!(
            "sessionmill recap --since 2026-05-01 --project {path}"
        ));
        assert!(told.stdout.contains("Sort the owls"), "{}", told.shown());
    }
}

#[test]
fn a_session_of_which_only_a_sub_agents_log_is_here_has_its_page() {
    let desk = super::forget::desk();
    let log = record("dddd", "user", "Never use owls. Count the mice.", true)
        + &record("dddd", "assistant", "There are three mice.", true);
    desk.write(".claude/projects/-d/agent-a1b2c3d.jsonl", &log);
    assert_eq!(desk.run("sessionmill run --all").exit, Exit::Done);
    let shown = desk.run("sessionmill show dddd --json").json();
    let summary = &shown["summary"];
    assert_eq!(
        summary["objective"]["what"],
        "A sub-agent's task: Count the mice (owls)"
    );
    assert_eq!(summary["result"]["what"], "There are three mice.");
    assert_eq!(shown["session"]["outcome"], serde_json::Value::Null);
    assert_eq!(summary["decisions"], serde_json::json!([]), "nobody's");
}

/// A parent's log, and one that begins with a copy of it, of an agent that was started then (by `source`).
fn forked(source: &Value) -> (String, String) {
    let line = |time: &str, kind: &str, payload: Value| {
        let time = format!("2026-05-01T{time}Z");
        let record = serde_json::json!({"timestamp": time, "type": kind, "payload": payload});
        format!("{record}\n")
    };
    let turn = |time: &str, id: &str, asks: &str, file: &str, says: &str| {
        let patch = format!("*** Begin Patch\n*** Add File: {file}\n+mice\n*** End Patch");
        [
            ("event_msg", serde_json::json!({"type": "task_started", "turn_id": id})),
            ("event_msg", serde_json::json!({"type": "user_message", "message": asks})),
            (
                "response_item",
                serde_json::json!({"type": "custom_tool_call", "name": "apply_patch", "call_id": file, "input": patch}),
            ),
            (
                "response_item",
                serde_json::json!({"type": "custom_tool_call_output", "call_id": file, "output": format!("Success. Updated the following files:\nA {file}\n")}),
            ),
            (
                "response_item",
                serde_json::json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": says}]}),
            ),
        ]
        .map(|(kind, payload)| line(time, kind, payload))
        .concat()
    };
    let history = |time: &str| {
        let id = serde_json::json!({"id": OWL, "cwd": "/owls", "source": "cli"});
        let turn_id = "019de2c4-2e68-7000-8000-000000000001";
        let says = "The mice of the barn are counted: nine.";
        line(time, "session_meta", id)
            + &turn(
                time,
                turn_id,
                "Count the mice of the barn.",
                "barn.md",
                says,
            )
    };
    let id =
        serde_json::json!({"id": MOUSE, "forked_from_id": OWL, "cwd": "/owls", "source": source});
    let own_id = "019de2fb-1ce8-7000-8000-000000000002";
    let says = "The mice of the attic are counted: two.";
    let fork = line("10:00:00.100", "session_meta", id)
        + &history("10:00:00.101")
        + &turn(
            "10:00:01.000",
            own_id,
            "Count the mice of the attic.",
            "attic.md",
            says,
        );
    (history("09:00:01.000"), fork)
}

/// The threads of [`forked`].
const OWL: &str = "019de2c4-2a80-7000-8000-00000000000a";
const MOUSE: &str = "019de2fb-1900-7000-8000-00000000000b";

#[test]
fn what_a_sub_agent_has_from_its_parents_log_is_its_background() {
    let spawn =
        serde_json::json!({"subagent": {"thread_spawn": {"parent_thread_id": OWL, "depth": 1}}});
    for (source, has_parent, wants, files) in [
        (
            &spawn,
            false,
            "A sub-agent's task: Count the mice of the attic",
            1,
        ),
        // where the parent's log is there, and where a person forked it, it is the session's
        (&spawn, true, "Count the mice of the barn", 2),
        (&"cli".into(), false, "Count the mice of the barn", 2),
    ] {
        let desk = super::forget::desk();
        let (parent, fork) = forked(source);
        let put = |id: &str, log: &str| {
            desk.write(
                &format!(".codex/sessions/2026/05/01/rollout-2026-05-01T10-00-00-{id}.jsonl"),
                log,
            );
        };
        put(MOUSE, &fork);
        if has_parent {
            put(OWL, &parent);
        }
        assert_eq!(desk.run("sessionmill run --all").exit, Exit::Done);
        let id = if *source == spawn { OWL } else { MOUSE };
        let shown = desk.run(&format!("sessionmill show {id} --json")).json();
        let summary = &shown["summary"];
        let told = summary["objective"]["what"].as_str();
        assert!(
            told.is_some_and(|told| told.starts_with(wants)),
            "{summary}"
        );
        let changed = summary["files_modified"].as_array().map(Vec::len);
        assert_eq!(changed, Some(files), "{summary}");
        let whole = desk.run(&format!("sessionmill show {id} --full")).stdout;
        for told in ["counted: nine.", "counted: two."] {
            assert_eq!(whole.matches(told).count(), 1, "{whole}");
        }
    }
}

#[test]
fn what_a_lead_tells_a_member_of_its_team_is_the_members_task() {
    let desk = super::forget::desk();
    let told = |by: &str, words: &str| {
        format!("<teammate-message teammate_id=\"{by}\">\n{words}\n</teammate-message>")
    };
    let task = told(
        "team-lead",
        "{\"type\":\"task_assignment\",\"taskId\":\"1\"}",
    ) + "\n\n"
        + &told(
            "team-lead",
            "Never use owls. Count the mice of the whole house.",
        );
    let log = |member: serde_json::Value| {
        let talk = [
            ("user", task.clone()),
            ("assistant", "There are three mice in the house.".to_owned()),
            (
                "user",
                told("cat", "I count seven of them, I want them all."),
            ),
        ];
        let lines = talk.iter().zip(0..).map(|((kind, words), nth)| {
            let line = record("eeee", kind, words, false);
            let mut line: serde_json::Value = serde_json::from_str(&line).expect("a record");
            line["uuid"] = format!("00000000-0000-4000-8000-eeee0000000{nth}").into();
            line["agentName"] = member.clone();
            format!("{line}\n")
        });
        lines.collect::<String>()
    };
    desk.write(
        ".claude/projects/-d/eeee.jsonl",
        &log("mouse-counter".into()),
    );
    assert_eq!(desk.run("sessionmill run --all").exit, Exit::Done);
    let summary = &desk.run("sessionmill show eeee --json").json()["summary"];
    assert_eq!(
        summary["objective"]["what"],
        "Count the mice of the whole house (owls)"
    );
    assert_eq!(
        summary["result"]["what"],
        "There are three mice in the house."
    );
    let none = serde_json::json!([]);
    assert_eq!(
        (&summary["requests"], &summary["decisions"]),
        (&none, &none)
    );
    // in the lead's own log people ask
    let other = super::forget::desk();
    other.write(
        ".claude/projects/-d/eeee.jsonl",
        &log(serde_json::Value::Null),
    );
    assert_eq!(other.run("sessionmill run --all").exit, Exit::Done);
    let summary = &other.run("sessionmill show eeee --json").json()["summary"];
    assert_eq!(summary["objective"], serde_json::Value::Null);
}

/// A line of a log in a project on Windows.
fn record(session: &str, kind: &str, words: &str, is_sub_agents: bool) -> String {
    let nth = u8::from(kind == "assistant");
    let record = serde_json::json!({
        "type": kind,
        "uuid": format!("00000000-0000-4000-8000-{session}0000000{nth}"),
        "sessionId": session,
        "isSidechain": is_sub_agents,
        "agentId": is_sub_agents.then_some("a1b2c3d"),
        "cwd": "D:\\owls",
        "timestamp": format!("2026-05-20T10:0{nth}:00.000Z"),
        "message": {"id": format!("{session}{nth}"), "role": kind,
            "content": [{"type": "text", "text": words}]},
    });
    format!("{record}\n")
}

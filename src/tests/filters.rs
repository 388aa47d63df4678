//! What is kept of a conversation (`session_tracking.filter`), every value with what summaries make of it:
//! whose words are left out is found nowhere, and what is kept is complete.

use super::forget::{desk, said};
use super::world::Desk;
use serde_json::{Value, json};

const CWD: &str = "/home/ada/inn";

/// Typed by the person, each in another way.
const TYPED: [&str; 8] = [
    "zebrafish", // the first prompt
    "toucan",    // why something was decided
    "ocelot",    // while the agent worked
    "lynx",      // waits in the queue to the end
    "wombat",    // why a call was refused
    "narwhal",   // in a form
    "quokka",    // a title
    "capybara",  // the agent's title for it
];

fn record(nth: u32, kind: &str, content: Value, more: Value) -> String {
    let mut line = json!({"type": kind, "sessionId": "aaaa", "cwd": CWD,
        "uuid": format!("00000000-0000-4000-8000-{nth:012}"),
        "timestamp": format!("2026-05-20T10:{nth:02}:00.000Z"),
        "message": {"id": format!("m{nth}"), "role": kind, "content": content}});
    for (key, value) in more.as_object().into_iter().flatten() {
        line[key] = value.clone();
    }
    format!("{line}\n")
}

fn call(nth: u32, tool: &str, input: Value) -> String {
    let ask = json!([{"type": "tool_use", "id": format!("t{nth}"), "name": tool, "input": input}]);
    record(nth, "assistant", ask, Value::Null)
}

/// Of the call one before.
fn result(nth: u32, text: &str, failed: bool, more: Value) -> String {
    let id = format!("t{}", nth - 1);
    let answer =
        json!([{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed}]);
    record(nth, "user", answer, more)
}

fn bare(line: Value) -> String {
    format!("{line}\n")
}

/// A session in which a person says something in every way that there is.
fn log() -> String {
    let queued = |minute: u32, operation: &str, text: &str| {
        bare(
            json!({"type": "queue-operation", "operation": operation, "sessionId": "aaaa",
            "timestamp": format!("2026-05-20T10:{minute:02}:30.000Z"), "content": text}),
        )
    };
    let refused = "The user doesn't want to proceed with this tool use. The tool use was rejected \
        (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to \
        proceed, the user said:\nask the wombat first";
    let question = "Which engine shall I use?";
    let answered = format!(
        "User has answered your questions: \"{question}\"=\"the narwhal engine\". You can now continue with the user's answers in mind."
    );
    let facts =
        json!({"toolUseResult": {"questions": [], "answers": {question: "the narwhal engine"}}});
    [
        said("aaaa", CWD, 1, "user", "Please paint the zebrafish sign above the door"),
        said("aaaa", CWD, 2, "assistant", "I begin with the walrus brush."),
        call(3, "Edit", json!({"file_path": format!("{CWD}/sign.txt"), "old_string": "a", "new_string": "b\nc"})),
        result(4, "The file has been updated.", false, Value::Null),
        queued(4, "enqueue", "make the ocelot bigger"),
        queued(4, "remove", ""),
        call(5, "AskUserQuestion", json!({"questions": [{"question": question, "header": "Engine",
            "options": [{"label": "steam", "description": ""}], "multiSelect": false}]})),
        result(6, &answered, false, facts),
        call(7, "Bash", json!({"command": "rm -rf paint"})),
        result(8, refused, true, json!({"toolUseResult": "User rejected tool use"})),
        said("aaaa", CWD, 9, "user", "Let's use oil instead of water because the toucan is wet."),
        said("aaaa", CWD, 10, "assistant", "Oil it is, said the walrus."),
        bare(json!({"type": "ai-title", "aiTitle": "The capybara sign", "sessionId": "aaaa"})),
        bare(json!({"type": "custom-title", "customTitle": "The quokka sign", "sessionId": "aaaa"})),
        queued(11, "enqueue", "then feed the lynx"),
    ]
    .concat()
}

fn with(filter: &Value) -> Desk {
    let desk = desk();
    let settings = json!({"session_tracking": {"enabled": true, "filter": filter}});
    desk.write(".graphiti/graphiti.config.json", &settings.to_string());
    desk.write(".claude/projects/-w/aaaa.jsonl", &log());
    desk.run("sessionmill run");
    desk
}

/// Everything that there is of it: every table as text, every way to read.
fn everything(desk: &Desk) -> String {
    let lines = [
        "store dump",
        "show aaaa",
        "show aaaa --full",
        "show aaaa --json",
        "sessions --json",
        "recap --json",
        "why oil",
        "insights",
    ];
    let ran = lines.map(|line| desk.run(&format!("sessionmill {line}")).stdout);
    ran.concat()
}

fn finds(desk: &Desk, word: &str) -> bool {
    let found = desk
        .run(&format!("sessionmill search {word} --json"))
        .json();
    found["hits"]
        .as_array()
        .is_some_and(|hits| !hits.is_empty())
}

fn summary(desk: &Desk) -> Value {
    desk.run("sessionmill show aaaa --json").json()["summary"].clone()
}

/// What a summary says of decisions.
fn decisions(desk: &Desk) -> String {
    summary(desk)["decisions"].to_string()
}

#[test]
fn without_peoples_messages_no_typed_word_is_anywhere() {
    let kept = with(&json!({"user_messages": true}));
    let all = everything(&kept);
    for word in TYPED {
        assert!(all.contains(word), "{word}: {all}");
    }
    for others in [
        json!({}),
        json!({"tool_calls": false}),
        json!({"tool_content": true}),
        json!({"tool_content": false}),
        json!({"agent_messages": "short.md"}),
    ] {
        let mut filter = others.clone();
        filter["user_messages"] = false.into();
        let desk = with(&filter);
        let all = everything(&desk);
        for word in TYPED {
            assert!(!all.contains(word), "{filter}: {word}: {all}");
            assert!(!finds(&desk, word), "{filter}: {word}");
        }
        let summary = summary(&desk);
        assert!(!summary.to_string().contains("left out"), "{summary}");
        assert!(all.contains("walrus"), "the agent's words stay: {all}");
        // the log grows, and what waited in the queue is said
        let more = said("aaaa", CWD, 12, "user", "then feed the lynx");
        desk.write(".claude/projects/-w/aaaa.jsonl", &(log() + &more));
        desk.run("sessionmill run");
        let text = desk.run("sessionmill show aaaa --full").stdout;
        assert!(
            !everything(&desk).contains("lynx") && text.contains("(left out)"),
            "{text}"
        );
    }
}

#[test]
fn calls_and_results_that_are_left_out_take_nobodys_answers_away() {
    let decided = decisions(&with(&json!({})));
    for part in ["narwhal", "toucan"] {
        assert!(decided.contains(part), "{part}: {decided}");
    }
    for filter in [
        json!({"tool_calls": false}),
        json!({"tool_content": false}),
        json!({"tool_calls": false, "tool_content": true, "agent_messages": false}),
    ] {
        let desk = with(&filter);
        assert_eq!(decisions(&desk), decided, "{filter}");
        let text = desk.run("sessionmill show aaaa --full").stdout;
        assert!(text.contains("ask the wombat first"), "{filter}: {text}");
        assert!(text.contains("\"the narwhal engine\""), "{filter}: {text}");
        let calls_out = filter["tool_calls"] == json!(false);
        assert_eq!(calls_out, !text.contains("sign.txt"), "{filter}: {text}");
    }
}

#[test]
fn every_kind_is_left_out_alone() {
    for (filter, gone, kept) in [
        (
            json!({"agent_messages": false}),
            &["walrus", "capybara"][..],
            &["zebrafish", "quokka", "sign.txt"][..],
        ),
        (
            json!({"tool_calls": false}),
            &["sign.txt", "rm -rf"],
            &["zebrafish", "walrus", "wombat"],
        ),
        (
            json!({"user_messages": false}),
            &["zebrafish", "wombat"],
            &["walrus", "sign.txt", "rm -rf"],
        ),
        (
            json!({"user_messages": "a.md", "agent_messages": "b.md", "tool_content": "c.md"}),
            &[],
            &["zebrafish", "walrus", "sign.txt"],
        ),
    ] {
        let all = everything(&with(&filter));
        let all = all.replace(".claude/projects", "");
        for word in gone {
            assert!(!all.contains(word), "{filter}: {word}: {all}");
        }
        for word in kept {
            assert!(all.contains(word), "{filter}: {word}: {all}");
        }
    }
}

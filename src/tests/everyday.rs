//! Questions of every day: what was done last time, how something is usually done here, where something was set.
//! An answer from what sessions did, or nothing.

use super::world::Desk;
use crate::cli::Exit;
use serde_json::{Value, json};
use std::fs;

/// A session of calls, each with what came of it, on its own day in May.
struct Talk {
    id: &'static str,
    day: u32,
    root: String,
    lines: Vec<Value>,
}

impl Talk {
    fn new(desk: &Desk, id: &'static str, day: u32) -> Talk {
        let root = desk.path("shop").to_string_lossy().into_owned();
        Talk {
            id,
            day,
            root,
            lines: Vec::new(),
        }
    }

    fn record(mut self, role: &str, content: Value) -> Talk {
        let nth = self.lines.len();
        self.lines
            .push(json!({"type": role, "sessionId": self.id, "cwd": self.root,
            "uuid": format!("00000000-0000-4000-8{:03}-{nth:012}", self.day),
            "timestamp": format!("2026-05-{:02}T10:{nth:02}:00.000Z", self.day),
            "message": {"id": format!("{}{nth}", self.id), "role": role, "content": content}}));
        self
    }

    fn says(self, role: &str, text: &str) -> Talk {
        self.record(role, json!([{"type": "text", "text": text}]))
    }

    fn calls(self, tool: &str, input: Value, result: &str, failed: bool) -> Talk {
        let id = format!("{}c{}", self.id, self.lines.len());
        let ask = json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]);
        let answer = json!([{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": failed}]);
        self.record("assistant", ask).record("user", answer)
    }

    fn runs(self, command: &str, failed: bool) -> Talk {
        let result = if failed {
            "Exit code 1\nno such target"
        } else {
            "done"
        };
        self.calls("Bash", json!({"command": command}), result, failed)
    }

    fn write(self, desk: &Desk) {
        let text: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        desk.write(&format!(".claude/projects/-shop/{}.jsonl", self.id), &text);
    }
}

/// Three days of work on a shop that is deployed, and a setting that is changed twice.
fn desk() -> Desk {
    let mut desk = Desk::new();
    let settings = json!({"version": "2.0.0", "session_tracking": {"enabled": true}});
    desk.write(".graphiti/graphiti.config.json", &settings.to_string());
    fs::create_dir_all(desk.path("shop/.git")).unwrap();
    let pool = |old: u32, new: u32| {
        json!({"file_path": desk.path("shop/config/app.yaml"),
            "old_string": format!("pool_size: {old}"), "new_string": format!("pool_size: {new}")})
    };
    Talk::new(&desk, "aaaa", 20)
        .says("user", "Deploy the shop to staging")
        .runs("make deploy ENV=staging", true)
        .runs("make deploy ENV=staging FORCE=1", false)
        .calls("Edit", pool(5, 20), "The file has been updated.", false)
        .says(
            "assistant",
            "The shop is deployed to staging with a larger pool size.",
        )
        .write(&desk);
    Talk::new(&desk, "bbbb", 21)
        .says("user", "Deploy the shop again, the pool size is too large")
        .calls("Edit", pool(20, 12), "The file has been updated.", false)
        .runs("make deploy ENV=staging FORCE=1", false)
        .runs("git commit -m \"deploy\"", false)
        .says("assistant", "Deployed again with a smaller pool size.")
        .write(&desk);
    Talk::new(&desk, "cccc", 22)
        .says("user", "Write a page about refunds for the help center")
        .calls(
            "Write",
            json!({"file_path": desk.path("shop/help/refunds.md"), "content": "# Refunds\n"}),
            "File created successfully",
            false,
        )
        .says(
            "assistant",
            "I wrote help/refunds.md with the three refund rules.",
        )
        .write(&desk);
    desk.cwd = Some(desk.path("shop"));
    let ran = desk.run("sessionmill backfill");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    desk
}

fn facts(desk: &Desk, question: &str) -> Vec<String> {
    let told = desk
        .run(&format!("sessionmill recall --json \"{question}\""))
        .json();
    let facts = told["facts"].as_array().unwrap().iter();
    facts
        .map(|fact| fact["text"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn everyday_questions_are_answered_by_what_sessions_did() {
    let desk = desk();
    let last = facts(&desk, "what did we do last time?");
    assert!(last[0].contains("refunds"), "{last:?}");
    for question in [
        "what is our usual way to deploy?",
        "how do we deploy to staging?",
    ] {
        assert_eq!(
            facts(&desk, question),
            ["Usually: `make deploy ENV=staging FORCE=1` (worked 2 of 2 times, in 2 sessions)"],
            "{question}"
        );
    }
    for question in [
        "where did we set the pool size?",
        "what is pool_size set to?",
    ] {
        let set = facts(&desk, question);
        assert!(set[0].starts_with("Set `pool_size`"), "{question}: {set:?}");
        assert!(set[0].ends_with("20 → 12"), "{question}: {set:?}");
        assert_eq!(set.len(), 1, "{question}: {set:?}");
    }
}

#[test]
fn what_no_session_tells_is_not_told() {
    let desk = desk();
    for question in [
        "what is our usual way to publish?",
        "how do we seed the database?",
        "where did we set the log level?",
    ] {
        assert_eq!(facts(&desk, question), [""; 0], "{question}");
    }
}

/// What an agent says from memory has the words of what it repeats, and doesn't stand before it.
#[test]
fn an_answer_from_memory_does_not_outrank_what_it_repeats() {
    let desk = desk();
    Talk::new(&desk, "dddd", 23)
        .says("user", "Where do failed webhooks wait?")
        .says(
            "assistant",
            "Failed webhooks wait in the table outbox until the next retry.",
        )
        .write(&desk);
    for (id, day) in [("eeee", 24), ("ffff", 25)] {
        let question = json!({"question": "where do failed webhooks wait"});
        Talk::new(&desk, id, day)
            .says("user", "Go on")
            .calls("mcp__sessionmill__recall", question, "- Failed webhooks wait in the table outbox", false)
            .says("assistant", "From memory: failed webhooks wait in the table outbox. Failed webhooks wait for a retry.")
            .write(&desk);
    }
    assert_eq!(desk.run("sessionmill backfill").exit, Exit::Done);
    let told = desk
        .run("sessionmill recall --json \"where do failed webhooks wait\"")
        .json();
    let sessions: Vec<&str> = told["facts"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|fact| fact["session"].as_str())
        .collect();
    assert_eq!(sessions.first(), Some(&"dddd"), "{told}");
}

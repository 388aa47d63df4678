//! What a project's own file changes about a run (D08): less is kept, never more. And what stays
//! when the machine gets another name (D62).

use super::world::{Desk, Ran};
use crate::cli::Exit;
use serde_json::json;

const SHOP: &str = "11111111-1111-4111-8111-111111111111";
const BLOG: &str = "22222222-2222-4222-8222-222222222222";

/// Two projects with the same session: a prompt, a tool call with its result, a sub-agent's log.
fn two_projects() -> Desk {
    let desk = Desk::new();
    desk.write(
        ".graphiti/graphiti.config.json",
        r#"{"session_tracking": {"enabled": true}}"#,
    );
    for (name, session) in [("shop", SHOP), ("blog", BLOG)] {
        let cwd = desk.path(name);
        let record = |nth: u32, side: bool, more: serde_json::Value| {
            let mut record = json!({
                "uuid": format!("{}-0000-4000-8000-00000000000{nth}", &session[..8]),
                "sessionId": session, "cwd": cwd, "isSidechain": side,
                "timestamp": format!("2026-06-01T10:00:0{nth}.000Z"),
            });
            record
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            format!("{record}\n")
        };
        let call = json!([{"type": "tool_use", "id": "t1", "name": "Bash",
            "input": {"command": "ls -la"}}]);
        let result = json!([{"type": "tool_result", "tool_use_id": "t1", "content": "a b c"}]);
        let log = [
            record(
                1,
                false,
                json!({"type": "user",
                "message": {"role": "user", "content": "list the files"}}),
            ),
            record(
                2,
                false,
                json!({"type": "assistant",
                "message": {"id": "m1", "role": "assistant", "content": call}}),
            ),
            record(
                3,
                false,
                json!({"type": "user",
                "message": {"role": "user", "content": result}}),
            ),
        ];
        let aside = record(
            4,
            true,
            json!({"type": "user", "agentId": "a1",
            "message": {"role": "user", "content": "look around"}}),
        );
        let folder = format!(".claude/projects/-{name}/{session}");
        desk.write(&format!("{folder}.jsonl"), &log.concat());
        desk.write(&format!("{folder}/subagents/agent-a1.jsonl"), &aside);
    }
    desk
}

fn done(ran: Ran) -> Ran {
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    ran
}

fn shown(desk: &Desk, session: &str) -> String {
    done(desk.run(&format!("sessionmill show {session} --full"))).stdout
}

#[test]
fn a_projects_own_file_keeps_less_of_its_sessions_alone() {
    let desk = two_projects();
    desk.write(
        "shop/graphiti.config.json",
        r#"{"session_tracking": {"subagents": false, "filter": {"tool_calls": false}}}"#,
    );
    let ran = done(desk.run("sessionmill backfill")).stdout;
    assert!(ran.contains("left out: 1 file (sub-agent)"), "{ran}");
    let (shop, blog) = (shown(&desk, SHOP), shown(&desk, BLOG));
    assert!(blog.contains("Bash(ls -la)"), "{blog}");
    assert!(blog.contains("look around"), "{blog}");
    assert!(shop.contains("list the files"), "{shop}");
    assert!(!shop.contains("ls -la"), "{shop}");
    assert!(!shop.contains("look around"), "{shop}");
    // both are what the settings of their projects make
    let older = || done(desk.run("sessionmill status --json")).json()["episodes"]["older"].clone();
    assert_eq!(older(), 0);
    desk.write("shop/graphiti.config.json", "{}");
    assert_eq!(older(), 1);
    done(desk.run("sessionmill run --rebuild --all"));
    assert_eq!(older(), 0);
    assert!(shown(&desk, SHOP).contains("Bash(ls -la)"));
}

#[test]
fn a_plan_knows_what_a_project_leaves_out() {
    let desk = two_projects();
    let planned = || done(desk.run("sessionmill plan --all --json")).json();
    let before = planned()["text_bytes"].as_u64();
    desk.write(
        "shop/graphiti.config.json",
        r#"{"session_tracking": {"filter": {"tool_calls": false, "user_messages": false}}}"#,
    );
    assert!(planned()["text_bytes"].as_u64() < before);
}

#[test]
fn a_project_may_keep_logs_for_a_shorter_time() {
    let mut desk = two_projects();
    desk.write(
        "shop/graphiti.config.json",
        r#"{"session_tracking": {"keep_length_days": 2}}"#,
    );
    // the logs were written just now, so this is five days later for them
    let written = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let written_ms = i64::try_from(written.unwrap().as_millis()).unwrap();
    desk.now = crate::model::time::Time(written_ms + 5 * 86_400_000);
    let ran = done(desk.run("sessionmill run")).stdout;
    assert!(
        ran.contains("left out: 2 files (older than its project keeps)"),
        "{ran}"
    );
    assert!(shown(&desk, BLOG).contains("list the files"));
    // asked for by a person, as with the user's own setting
    done(desk.run("sessionmill backfill"));
    assert!(shown(&desk, SHOP).contains("list the files"));
}

#[test]
fn a_machine_with_another_name_goes_on_with_its_group() {
    let desk = two_projects();
    let groups = || {
        let shown = done(desk.run(&format!("sessionmill show {SHOP} --json"))).json();
        let episodes = shown["episodes"].as_array().unwrap().clone();
        episodes
            .iter()
            .map(|e| e["group"].clone())
            .collect::<Vec<_>>()
    };
    done(desk.run("sessionmill backfill --host first"));
    assert_eq!(groups(), ["first__global", "first__global"]);
    let log = format!(".claude/projects/-shop/{SHOP}.jsonl");
    let text = std::fs::read_to_string(desk.path(&log)).unwrap();
    let later = text.lines().next().unwrap().replace("10:00:01", "11:00:01");
    let later = later.replace("-000000000001", "-000000000009");
    desk.write(&log, &format!("{text}{later}\n"));
    let ran = done(desk.run("sessionmill backfill --host second"));
    assert!(
        ran.stderr.contains("still go to the group first__global"),
        "{}",
        ran.shown()
    );
    assert_eq!(groups(), ["first__global"; 3]);
    // said once, where it matters
    let again = done(desk.run("sessionmill backfill --host second"));
    assert_eq!(again.stderr, "");
}

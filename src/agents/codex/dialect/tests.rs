//! The three eras in small records of our own.

use super::*;
use crate::model::entry::{CallStatus, PromptOrigin, ToolResult};
use crate::model::usage::Usage;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const PARENT: &str = "01a0714e-cbc4-7d23-9f9d-02d710c07ed7";
const CHILD: &str = "01a0714f-0000-7d23-9f9d-02d710c07ed8";

/// Entries of a file with these bytes, and the reasons of refused lines.
pub(super) fn parse(bytes: &[u8]) -> (Vec<Entry>, Vec<String>, ParseState) {
    let mut state = ParseState::default();
    let (mut out, mut rejects, mut offset) = (Vec::new(), Vec::new(), 0);
    for (number, bytes) in (1..).zip(bytes.split(|b| *b == b'\n')) {
        let place = Span {
            offset,
            bytes: bytes.len() as u64,
            line: number,
        };
        offset = place.end();
        if bytes.is_empty() {
            continue;
        }
        let before = out.len();
        match value(&mut state, place, bytes, &mut out) {
            Ok(_) => assert!(out.len() > before, "line {number} gave nothing"),
            Err(reason) => rejects.push(reason.into_owned()),
        }
    }
    (out, rejects, state)
}

fn entries(lines: &[Value]) -> Vec<Entry> {
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    let (out, rejects, _) = parse(text.join("\n").as_bytes());
    assert_eq!(rejects, Vec::<String>::new());
    out
}

fn wrap(second: u32, kind: &str, payload: Value) -> Value {
    let timestamp = format!("2026-09-05T11:{:02}:{:02}.000Z", second / 60, second % 60);
    json!({ "timestamp": timestamp, "type": kind, "payload": payload })
}

fn meta(second: u32, extra: Value) -> Value {
    let mut payload = json!({"id": PARENT, "cwd": "/p", "cli_version": "0.140.0",
        "source": "cli", "git": {"branch": "main"}});
    for (key, value) in extra.as_object().expect("an object") {
        payload[key] = value.clone();
    }
    wrap(second, "session_meta", payload)
}

fn event(second: u32, kind: &str, mut payload: Value) -> Value {
    payload["type"] = json!(kind);
    wrap(second, "event_msg", payload)
}

fn item(second: u32, kind: &str, mut payload: Value) -> Value {
    payload["type"] = json!(kind);
    wrap(second, "response_item", payload)
}

fn message(role: &str, text: &str) -> Value {
    json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]})
}

pub(super) fn prompts(entries: &[Entry]) -> Vec<&str> {
    let prompts = entries.iter().filter_map(|entry| match &entry.what {
        EntryKind::Prompt { text, .. } => Some(text.as_str()),
        _ => None,
    });
    prompts.collect()
}

pub(super) fn said(entries: &[Entry]) -> Vec<&str> {
    let said = entries.iter().filter_map(|entry| match &entry.what {
        EntryKind::Said(text) => Some(text.as_str()),
        _ => None,
    });
    said.collect()
}

pub(super) fn results(entries: &[Entry]) -> Vec<&ToolResult> {
    let results = entries.iter().filter_map(|entry| match &entry.what {
        EntryKind::Result(result) => Some(result),
        _ => None,
    });
    results.collect()
}

pub(super) fn inputs(entries: &[Entry]) -> Vec<(&str, &Value)> {
    let calls = entries.iter().filter_map(|entry| match &entry.what {
        EntryKind::Call(call) => Some((call.tool.as_str(), &call.input)),
        _ => None,
    });
    calls.collect()
}

#[test]
fn the_bare_era_is_told_by_its_items() {
    let mut call = json!({"type": "function_call", "name": "shell", "call_id": "c1"});
    call["arguments"] = json!("{\"command\":[\"bash\",\"-lc\",\"ls\"]}");
    let all = entries(&[
        json!({"id": PARENT, "timestamp": "2025-08-01T10:00:00.000Z", "instructions": null,
            "git": {"branch": "dev"}}),
        json!({"record_type": "state"}),
        message(
            "user",
            "<environment_context>\n  <cwd>/bare</cwd>\n</environment_context>",
        ),
        message("user", "list the files"),
        call,
        json!({"type": "function_call_output", "call_id": "c1",
            "output": "{\"output\":\"a\\nb\\n\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.2}}"}),
        message("assistant", "two"),
    ]);
    assert_eq!(prompts(&all), ["list the files"]);
    assert_eq!(said(&all), ["two"]);
    let result = results(&all)[0];
    assert_eq!((result.exit_code, result.output.lines), (Some(0), 2));
    let context = &all.last().unwrap().context;
    assert_eq!(context.session.as_deref(), Some(PARENT));
    assert_eq!(context.cwd.as_deref(), Some("/bare"));
    assert_eq!(context.branch.as_deref(), Some("dev"));
    assert_eq!(state::format(context), RolloutFormat::Bare);
    assert!(all.last().unwrap().time.is_none());
}

#[test]
fn the_wrapped_era_is_told_once() {
    let all = entries(&[
        meta(0, json!({})),
        item(
            1,
            "message",
            message("developer", "<permissions instructions>"),
        ),
        item(1, "message", message("user", "fix it")),
        event(
            1,
            "user_message",
            json!({"message": "fix it", "images": []}),
        ),
        event(2, "agent_message", json!({"message": "on it"})),
        item(2, "message", message("assistant", "on it")),
        item(
            3,
            "message",
            message(
                "user",
                "<user_shell_command>\n<command>\nls\n</command>\n</user_shell_command>",
            ),
        ),
        event(
            4,
            "user_message",
            json!({"message": "", "images": ["data:"]}),
        ),
        event(5, "context_compacted", json!({})),
        wrap(
            5,
            "compacted",
            json!({"message": "", "replacement_history": [message("user", "old")]}),
        ),
        event(6, "thread_rolled_back", json!({"num_turns": 2})),
        event(7, "turn_aborted", json!({"reason": "interrupted"})),
        event(8, "task_complete", json!({"last_agent_message": "on it"})),
        event(9, "brand_new", json!({})),
    ]);
    assert_eq!(prompts(&all), ["fix it", "!ls", "[image]"]);
    assert_eq!(said(&all), ["on it"]);
    let facts: Vec<&Fact> = all
        .iter()
        .filter_map(|entry| match &entry.what {
            EntryKind::Fact(fact) => Some(fact),
            _ => None,
        })
        .collect();
    assert_eq!(
        facts,
        [
            &Fact::Context,
            &Fact::Compaction,
            &Fact::RolledBack { turns: 2 },
            &Fact::Interrupted,
            &Fact::TurnEnd(None)
        ]
    );
    let last = all.last().unwrap();
    assert_eq!(last.what, EntryKind::unknown("event_msg/brand_new"));
    assert!(
        all.iter()
            .all(|e| matches!(e.id, Identity::Nth(_)) && e.time.is_some())
    );
}

#[test]
fn the_paginated_era_is_told_by_completed_items() {
    let completed = |second, item: Value| event(second, "item_completed", json!({ "item": item }));
    let mut call = json!({"name": "exec", "call_id": "c1"});
    call["input"] =
        json!("const r = await tools.exec_command({cmd:\"cargo test\"}); text(r.output)");
    let all = entries(&[
        meta(0, json!({"history_mode": "paginated"})),
        completed(
            1,
            json!({"type": "UserMessage", "content": [{"type": "text", "text": "run"}]}),
        ),
        item(1, "message", message("user", "run")),
        item(2, "custom_tool_call", call),
        completed(
            3,
            json!({"type": "CommandExecution", "id": "exec-1", "exit_code": 101}),
        ),
        completed(
            3,
            json!({"type": "FileChange", "id": "exec-2", "status": "completed",
            "changes": {"/p/a": {"type": "add", "content": "x\ny\n"}}}),
        ),
        item(
            4,
            "custom_tool_call_output",
            json!({"call_id": "c1", "output": [
            {"type": "input_text", "text": "Script completed\nWall time 1.5 seconds\nOutput:\n"},
            {"type": "input_text", "text": "FAILED"}]}),
        ),
        completed(
            5,
            json!({"type": "AgentMessage", "content": [{"type": "Text", "text": "no"}]}),
        ),
        item(5, "message", message("assistant", "no")),
        completed(6, json!({"type": "Novelty"})),
    ]);
    assert_eq!(prompts(&all), ["run"]);
    assert_eq!(said(&all), ["no"]);
    assert_eq!(inputs(&all)[0].1["cmd"], "cargo test");
    let result = results(&all)[0];
    assert_eq!(
        (result.status, result.exit_code),
        (CallStatus::Failed, Some(101))
    );
    assert_eq!(result.facts.patched, [("/p/a".to_owned(), 2, 0)]);
    assert_eq!(result.facts.duration_ms, Some(1500));
    let last = all.last().unwrap();
    assert_eq!(last.what, EntryKind::unknown("item_completed/Novelty"));
}

#[test]
fn a_patch_is_told_once_with_its_files() {
    let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-x\n+y\n+z\n*** End Patch";
    let heredoc = format!("apply_patch <<'EOF'\n{patch}\nEOF");
    let shell = json!({"command": ["bash", "-lc", heredoc]}).to_string();
    let changes = json!({"/p/b.rs": {"type": "add", "content": "1\n"}});
    let all = entries(&[
        meta(0, json!({})),
        item(
            1,
            "custom_tool_call",
            json!({"name": "apply_patch", "call_id": "c1", "input": patch}),
        ),
        event(
            2,
            "patch_apply_end",
            json!({"call_id": "c1", "success": true,
            "changes": {"/p/a.rs": {"type": "update", "unified_diff": "@@\n-x\n+y\n+z\n"}}}),
        ),
        item(
            3,
            "custom_tool_call_output",
            json!({"call_id": "c1", "output": "Exit code: 0\nOutput:\nDone"}),
        ),
        item(
            4,
            "function_call",
            json!({"name": "shell", "call_id": "c2", "arguments": shell}),
        ),
        item(
            5,
            "function_call_output",
            json!({"call_id": "c2", "output": "Exit code: 0\nOutput:\n"}),
        ),
        item(
            6,
            "custom_tool_call",
            json!({"name": "apply_patch", "call_id": "c3", "input": patch}),
        ),
        item(
            7,
            "custom_tool_call_output",
            json!({"call_id": "c3", "output": "apply_patch verification failed: x"}),
        ),
        event(
            8,
            "patch_apply_end",
            json!({"call_id": "exec-9", "success": true, "changes": changes}),
        ),
    ]);
    let patched: Vec<_> = results(&all)
        .iter()
        .map(|r| (r.status, r.facts.patched.clone()))
        .collect();
    assert_eq!(
        patched,
        [
            (CallStatus::Ok, vec![("/p/a.rs".into(), 2, 1)]),
            (CallStatus::Ok, vec![("a.rs".into(), 2, 1)]),
            (CallStatus::Failed, vec![]),
            (CallStatus::Ok, vec![("/p/b.rs".into(), 1, 0)]),
        ]
    );
    assert_eq!(inputs(&all).len(), 4);
}

#[test]
fn calls_of_all_kinds_are_read() {
    let all = entries(&[
        meta(0, json!({})),
        item(
            1,
            "function_call",
            json!({"name": "_fetch", "namespace": "mcp__hub", "call_id": "1", "arguments": "{}"}),
        ),
        item(
            1,
            "function_call",
            json!({"name": "f", "call_id": "2", "arguments": "not json"}),
        ),
        item(
            1,
            "local_shell_call",
            json!({"call_id": "3", "action": {"type": "exec", "command": ["ls"]}}),
        ),
        item(
            1,
            "web_search_call",
            json!({"status": "completed", "action": {"type": "search", "query": "q"}}),
        ),
        item(
            1,
            "tool_search_call",
            json!({"call_id": "4", "arguments": {"query": "x"}}),
        ),
        item(
            1,
            "image_generation_call",
            json!({"id": "ig", "revised_prompt": "cat", "result": "AAAAAAAA"}),
        ),
    ]);
    let calls = inputs(&all);
    let names: Vec<&str> = calls.iter().map(|call| call.0).collect();
    let want = [
        "mcp__hub__fetch",
        "f",
        "local_shell",
        "web_search",
        "tool_search",
        "image_generation",
    ];
    assert_eq!(names, want);
    assert_eq!(calls[1].1, &json!({"input": "not json"}));
    assert_eq!(calls[2].1["command"], json!(["ls"]));
    assert_eq!(calls[3].1["query"], "q");
    assert_eq!(results(&all)[1].facts.images, 1);
}

/// Tokens over all groups, as the fold counts them.
pub(super) fn billed(entries: &[Entry]) -> Usage {
    let mut groups: BTreeMap<u64, Usage> = BTreeMap::new();
    for message in entries.iter().filter_map(|entry| entry.message.as_ref()) {
        let known = groups.entry(message.group).or_default();
        *known = known.max(message.usage.unwrap_or_default());
    }
    groups.into_values().fold(Usage::default(), Usage::plus)
}

fn tokens(second: u32, total: u64, last: u64) -> Value {
    let usage =
        |n: u64| json!({"input_tokens": n * 10, "cached_input_tokens": n * 4, "output_tokens": n});
    event(
        second,
        "token_count",
        json!({"info": {
        "total_token_usage": usage(total), "last_token_usage": usage(last)}}),
    )
}

#[test]
fn tokens_are_counted_once_however_often_they_are_stated() {
    let all = entries(&[
        meta(0, json!({})),
        wrap(0, "turn_context", json!({"cwd": "/p", "model": "m1"})),
        tokens(1, 5, 5),
        item(2, "message", message("assistant", "a")),
        tokens(3, 8, 3),
        tokens(3, 8, 3),
        item(4, "message", message("assistant", "b")),
        event(4, "token_count", json!({"info": null})),
        tokens(5, 20, 12),
        tokens(6, 4, 4),
    ]);
    let want = Usage {
        input: 24 * 6,
        output: 24,
        cache_read: 24 * 4,
        cache_write: 0,
        cache_write_1h: 0,
    };
    assert_eq!(billed(&all), want);
    let groups: BTreeSet<u64> = all
        .iter()
        .filter_map(|e| Some(e.message.as_ref()?.group))
        .collect();
    assert_eq!(groups.len(), 2, "one per assistant message");
    let model = all.iter().find_map(|e| e.message.as_ref()?.model.clone());
    assert_eq!(model.as_deref(), Some("m1"));
}

#[test]
fn a_silent_turn_is_one_message_with_its_tokens() {
    let all = entries(&[
        meta(0, json!({})),
        tokens(1, 5, 5),
        event(2, "task_complete", json!({})),
    ]);
    assert_eq!(billed(&all).output, 5);
}

#[test]
fn a_review_is_one_command_of_a_person() {
    let all = entries(&[
        meta(0, json!({})),
        event(
            1,
            "entered_review_mode",
            json!({"user_facing_hint": "current changes"}),
        ),
        event(
            2,
            "user_message",
            json!({"message": "Review the current code changes"}),
        ),
        event(
            2,
            "user_message",
            json!({"message": "Review the current code changes"}),
        ),
        event(3, "exited_review_mode", json!({})),
        event(4, "user_message", json!({"message": "fix them"})),
    ]);
    assert_eq!(prompts(&all), ["/review current changes", "fix them"]);
}

#[test]
fn a_sub_agents_thread_is_a_stream_of_its_root() {
    let source = json!({"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}});
    let all = entries(&[
        meta(0, json!({"id": CHILD, "source": source})),
        event(1, "user_message", json!({"message": "look"})),
    ]);
    let context = &all[2].context;
    assert_eq!(context.session.as_deref(), Some(PARENT));
    assert_eq!(context.stream.as_deref(), Some(CHILD));
    assert_eq!(all[1].what, EntryKind::Fact(Fact::Parent(PARENT.into())));
    let by_agent = EntryKind::Prompt {
        text: "look".into(),
        via: PromptOrigin::Agent,
    };
    assert_eq!(all[2].what, by_agent);
}

/// A parent's history, and a fork of it with a turn of its own.
fn fork(own_turn: Value) -> (Vec<Entry>, Vec<Entry>) {
    let history = |second: u32| {
        vec![
            meta(second, json!({})),
            event(
                second,
                "task_started",
                json!({"turn_id": "01a0714e-d000-7000-8000-000000000001"}),
            ),
            event(second, "user_message", json!({"message": "parent prompt"})),
            item(
                second,
                "function_call",
                json!({"name": "f", "call_id": "c1", "arguments": "{}"}),
            ),
            item(second, "message", message("assistant", "done")),
            tokens(second, 5, 5),
        ]
    };
    let mut child = vec![meta(
        60,
        json!({"id": CHILD, "forked_from_id": PARENT, "cwd": "/child"}),
    )];
    child.extend(history(60));
    child.push(own_turn);
    child.push(event(
        90,
        "user_message",
        json!({"message": "child prompt"}),
    ));
    child.push(item(91, "message", message("assistant", "ok")));
    child.push(tokens(92, 7, 2));
    (entries(&history(0)), entries(&child))
}

#[test]
fn a_forks_copies_have_their_parents_ids() {
    let turn_id = json!({"turn_id": "01a0714f-1000-7000-8000-000000000002"});
    for own_turn in [
        event(60, "task_started", turn_id),
        event(90, "task_started", json!({})),
    ] {
        let (parent, child) = fork(own_turn);
        let ids = |entries: &[Entry]| -> Vec<Uuid> {
            let ids = entries.iter().filter_map(|entry| match entry.id {
                Identity::Nth(id) => Some(id),
                _ => None,
            });
            ids.collect()
        };
        let (theirs, ours) = (ids(&parent), ids(&child));
        let facts = 2; // the child's own meta gives two entries
        assert_eq!(ours[facts..facts + theirs.len()], theirs[..]);
        let own = &child[facts + parent.len()..];
        assert_eq!(prompts(own), ["child prompt"]);
        for entry in own {
            assert_eq!(entry.context.origin, None);
            assert_eq!(entry.context.cwd.as_deref(), Some("/child"));
            assert_eq!(entry.context.session.as_deref(), Some(CHILD));
        }
        assert!(
            own.iter()
                .all(|e| !theirs.iter().any(|id| e.id == Identity::Nth(*id)))
        );
        assert_eq!(billed(own).output, 2, "copied tokens are the parent's");
        let from = EntryKind::Fact(Fact::ForkedFrom(PARENT.into()));
        assert_eq!(child[1].what, from);
    }
}

#[test]
fn a_meta_that_returns_changes_settings_only() {
    let all = entries(&[
        meta(0, json!({"forked_from_id": "x"})),
        event(1, "user_message", json!({"message": "a"})),
        meta(2, json!({"cwd": "/q", "forked_from_id": "x"})),
        event(3, "user_message", json!({"message": "b"})),
    ]);
    let forked = all
        .iter()
        .filter(|e| matches!(e.what, EntryKind::Fact(Fact::ForkedFrom(_))));
    assert_eq!(forked.count(), 1);
    let last = &all.last().unwrap().context;
    assert_eq!(last.cwd.as_deref(), Some("/q"));
    assert_eq!(last.session.as_deref(), Some(PARENT));
}

#[test]
fn lines_that_are_no_records_are_refused_with_a_reason() {
    let (_, rejects, _) = parse(b"[1]\n{\"type\":\"event_msg\"}\n{\"a\":\n{\"a\":\"\xff\"}\n7");
    let want = [
        "not an object",
        "no payload",
        "torn json",
        "invalid utf-8",
        "not an object",
    ];
    assert_eq!(rejects, want);
    let (all, rejects, _) = parse(b"{}\n{\"type\":\"x\"}\n{\"type\":\"y\",\"payload\":{}}");
    assert!(rejects.is_empty());
    assert!(
        all.iter()
            .all(|entry| matches!(entry.what, EntryKind::Unknown(_)))
    );
}

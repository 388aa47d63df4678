//! `mcp install`, `status` and `remove`: the agents' own settings.

use super::home::Home;
use serde_json::{Value, json};

#[test]
fn agents_are_told_and_told_no_more() {
    let home = Home::empty(json!({}));
    let claude = "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"git\": {\"command\": \"git-mcp\"}\n  }\n}\n";
    let codex = "# mine\nmodel = \"gpt-5\"\n";
    let claude_file = home.write(".claude.json", claude);
    let codex_file = home.write(".codex/config.toml", codex);
    let read = |file: &std::path::Path| std::fs::read_to_string(file).unwrap();
    let dry = home.run("mcp install --agent claude --agent codex --dry-run");
    let told = String::from_utf8_lossy(&dry.stdout).into_owned();
    assert!(
        told.contains("+[mcp_servers.sessionmill]") && told.contains("+    \"sessionmill\""),
        "{told}"
    );
    assert_eq!(
        (read(&claude_file), read(&codex_file)),
        (claude.into(), codex.into())
    );
    for _ in 0..2 {
        let ran = home.run("mcp install --agent claude --agent codex");
        assert_eq!(ran.status.code(), Some(0));
    }
    let entry: Value = serde_json::from_str(&read(&claude_file)).unwrap();
    let entry = &entry["mcpServers"]["sessionmill"];
    assert_eq!(entry["command"], env!("CARGO_BIN_EXE_sessionmill"));
    assert_eq!(entry["args"], json!(["mcp"]));
    let status = home.run("mcp status --json");
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    for agent in status["agents"].as_array().unwrap() {
        let wants = match agent["agent"].as_str() {
            Some("claude" | "codex") => json!(env!("CARGO_BIN_EXE_sessionmill")),
            _ => Value::Null,
        };
        assert_eq!(agent["program"], wants, "{agent}");
    }
    assert_eq!(home.run("mcp remove").status.code(), Some(0));
    assert_eq!(
        (read(&claude_file), read(&codex_file)),
        (claude.into(), codex.into())
    );
    home.write(".codex/config.toml", "model = sk-secret");
    let refused = home.run("mcp install --agent codex");
    assert_eq!(refused.status.code(), Some(2));
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        told.contains("it was not changed") && !told.contains("sk-secret"),
        "{told}"
    );
}

//! Who wins: defaults, the older file, the user's file, a project's file.

use super::super::{SettingOrigin, gate};
use super::World;
use crate::model::policy::{ChunkOptions, FilterPolicy, Keep};
use crate::model::source::Agent;

const PROJECT_LINE: &str = "/code/app/graphiti.config.json";

#[test]
fn without_files_everything_is_the_documents_default() {
    let loaded = World::new().load();
    let config = &loaded.config;
    assert!(!config.enabled && config.subagents && config.store_in_graph);
    assert!(config.cross_project_search && config.include_project_path && !config.auto_summarize);
    assert_eq!(config.keep_length_days, Some(7));
    assert_eq!(
        (config.inactivity_timeout_s, config.check_interval_s),
        (900, 60)
    );
    assert_eq!(config.policy, FilterPolicy::default());
    assert_eq!(config.chunk, ChunkOptions::default());
    assert_eq!(config.schedule_interval_s, 900);
    assert_eq!(config.trusted_namespaces, None);
    assert_eq!(config.group_id, None);
    assert!(loaded.files.is_empty() && loaded.warnings.is_empty() && loaded.notes.is_empty());
    assert!(
        loaded
            .settings
            .iter()
            .all(|s| s.origin == SettingOrigin::Default)
    );
}

#[test]
fn the_gate_names_the_setting_and_its_place() {
    let world = World::new();
    let closed = gate(&world.load().config);
    assert_eq!(closed.reason, "session_tracking.enabled is false (default)");
    assert!(!closed.enabled);
    world.put(
        "graphiti.config.yaml",
        "session_tracking:\n  enabled: true\n",
    );
    let open = gate(&world.load().config);
    assert!(open.enabled);
    let reason = world.plain(&open.reason);
    assert_eq!(
        reason,
        "session_tracking.enabled is true (~/.graphiti/graphiti.config.yaml:2)"
    );
}

#[test]
fn graphiti_config_wins_over_tracking_config_key_by_key() {
    let world = World::new();
    world
        .put(
            "tracking-config.json",
            r#"{"global": {"session_tracking": {"enabled": true, "keep_length_days": 3}}}"#,
        )
        .put(
            "graphiti.config.json",
            "{\"session_tracking\": {\n\"enabled\": false}}",
        );
    let loaded = world.load();
    assert!(!loaded.config.enabled);
    assert_eq!(loaded.config.keep_length_days, Some(3));
    let origin = |key: &str| {
        let setting = loaded.settings.iter().find(|s| s.key == key).unwrap();
        world.plain(&setting.origin.to_string())
    };
    assert_eq!(
        origin("session_tracking.enabled"),
        "~/.graphiti/graphiti.config.json:2"
    );
    assert_eq!(
        origin("session_tracking.keep_length_days"),
        "~/.graphiti/tracking-config.json:1"
    );
    assert_eq!(origin("session_tracking.subagents"), "default");
}

#[test]
fn several_folders_of_claude_are_read() {
    let mut world = World::new();
    let mut roots = |value: &str| {
        let value = value.to_owned();
        world.env.vars.insert("CLAUDE_CONFIG_DIR".into(), value);
        let roots = world.load().config.roots.into_iter();
        let roots = roots.filter(|root| root.agent == Agent::new("claude"));
        let paths = roots.map(|root| root.path.to_str().unwrap().to_owned());
        paths.collect::<Vec<String>>()
    };
    assert_eq!(roots("/a,/b"), ["/a/projects", "/b/projects"]);
    assert_eq!(roots(" /a , /b/,/a,"), ["/a/projects", "/b/projects"]);
    let odd = tempfile::tempdir().unwrap();
    let odd = odd.path().join("one,two");
    std::fs::create_dir(&odd).unwrap();
    let odd = odd.to_str().unwrap();
    assert_eq!(roots(odd), [format!("{odd}/projects")]);
}

#[test]
fn environment_variables_move_the_roots() {
    let mut world = World::new();
    let vars = &mut world.env.vars;
    vars.insert("CLAUDE_CONFIG_DIR".into(), "/c".into());
    vars.insert("CODEX_HOME".into(), "/x".into());
    vars.insert("GEMINI_CLI_HOME".into(), "/g".into());
    vars.insert("QWEN_HOME".into(), "/q".into());
    vars.insert("XDG_DATA_HOME".into(), "/d".into());
    let config = world.load().config;
    let paths: Vec<_> = config
        .roots
        .iter()
        .map(|r| r.path.to_str().unwrap())
        .collect();
    assert_eq!(
        paths,
        [
            "/c/projects",
            "/x/sessions",
            "/x/archived_sessions",
            "/g/.gemini/tmp",
            "/q/projects",
            "/d/opencode"
        ]
    );
}

#[test]
fn sessionmill_home_moves_the_settings_too() {
    let mut world = World::new();
    let other = world.dir.path().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(
        other.join("graphiti.config.json"),
        r#"{"chunk": {"max_exchanges": 2}}"#,
    )
    .unwrap();
    let vars = &mut world.env.vars;
    vars.insert(
        "SESSIONMILL_HOME".into(),
        other.to_string_lossy().into_owned(),
    );
    assert_eq!(world.load().config.chunk.max_exchanges, 2);
}

#[test]
fn a_project_can_switch_itself_off_and_show_less() {
    let world = World::new();
    world
        .put(
            "graphiti.config.json",
            r#"{"session_tracking": {"enabled": true, "excluded_paths": ["/other"],
                "trusted_namespaces": ["a1b2c3d4", "ffffff"]}}"#,
        )
        .put_project(
            r#"{"session_tracking": {
                "enabled": false, "keep_length_days": 2, "include_project_path": false,
                "cross_project_search": false, "subagents": false,
                "excluded_paths": ["secret", "./logs/**"],
                "trusted_namespaces": ["a1b2c3d4e5f6"],
                "filter": {"tool_content": false, "agent_messages": "short.md"}}}"#,
        );
    let loaded = world.load();
    assert_eq!(loaded.warnings, Vec::<String>::new());
    let here = &loaded.here;
    assert!(!here.enabled && !here.include_project_path && !here.cross_project_search);
    assert!(!here.subagents);
    assert_eq!(here.keep_length_days, Some(2));
    assert_eq!(here.policy.tool_content, Keep::Out);
    assert_eq!(
        here.policy.agent_messages,
        Keep::Template("short.md".into())
    );
    assert_eq!(here.trusted_namespaces, Some(vec!["a1b2c3d4e5f6".into()]));
    let app = world.project();
    for (path, wants) in [("secret/x", true), ("logs/a/b", true), ("src", false)] {
        assert_eq!(
            here.excluded.covers(app.join(path).to_str().unwrap()),
            wants,
            "{path}"
        );
    }
    assert!(here.excluded.covers("/other/x"));
    let reason = world.plain(&gate(here).reason);
    assert_eq!(
        reason,
        format!("session_tracking.enabled is false (project {PROJECT_LINE}:2)")
    );
    assert!(
        loaded.config.enabled,
        "a run is not narrowed by where it is started"
    );
    assert_eq!(loaded.config.policy, FilterPolicy::default());
    let (narrowed, warnings) = loaded.for_project(&app).unwrap();
    assert_eq!((narrowed, warnings.len()), (loaded.here.clone(), 0));
}

/// The user's file, the project's, and the key that is ignored.
const WIDENING: &[(&str, &str, &str)] = &[
    (
        "{}",
        r#"{"session_tracking": {"enabled": true}}"#,
        "session_tracking.enabled",
    ),
    (
        r#"{"session_tracking": {"cross_project_search": false}}"#,
        r#"{"session_tracking": {"cross_project_search": true}}"#,
        "session_tracking.cross_project_search",
    ),
    (
        r#"{"session_tracking": {"filter": {"tool_content": false}}}"#,
        r#"{"session_tracking": {"filter": {"tool_content": "x.md"}}}"#,
        "session_tracking.filter.tool_content",
    ),
    (
        "{}",
        r#"{"session_tracking": {"filter": {"tool_content": "evil.md"}}}"#,
        "session_tracking.filter.tool_content",
    ),
    (
        "{}",
        r#"{"session_tracking": {"keep_length_days": null}}"#,
        "session_tracking.keep_length_days",
    ),
    (
        "{}",
        r#"{"session_tracking": {"keep_length_days": 8}}"#,
        "session_tracking.keep_length_days",
    ),
    (
        "{}",
        r#"{"session_tracking": {"watch_path": "/evil"}}"#,
        "session_tracking.watch_path",
    ),
    (
        "{}",
        r#"{"session_tracking": {"group_id": "evil"}}"#,
        "session_tracking.group_id",
    ),
    (
        "{}",
        r#"{"session_tracking": {"extra_roots": [{"path": "/e", "agent": "codex"}]}}"#,
        "session_tracking.extra_roots",
    ),
    (
        r#"{"session_tracking": {"trusted_namespaces": ["a1b2c3d4"]}}"#,
        r#"{"session_tracking": {"trusted_namespaces": ["bbbbbb"]}}"#,
        "session_tracking.trusted_namespaces[0]",
    ),
    (
        "{}",
        r#"{"graphiti": {"enabled": true}}"#,
        "graphiti.enabled",
    ),
    (
        "{}",
        r#"{"graphiti": {"consent": true}}"#,
        "graphiti.consent",
    ),
    (
        "{}",
        r#"{"graphiti": {"unknown_projects": "deny"}}"#,
        "graphiti.unknown_projects",
    ),
    (
        "{}",
        r#"{"session_tracking": {"resilience": {"notifications": {"webhook_url": "http://e"}}}}"#,
        "session_tracking.resilience.notifications.webhook_url",
    ),
];

#[test]
fn whatever_widens_in_a_project_is_ignored_with_a_warning() {
    for (user, project, key) in WIDENING {
        let world = World::new();
        let loaded = world
            .put("graphiti.config.json", user)
            .put_project(project)
            .load();
        let wants =
            format!("{PROJECT_LINE}:1: `{key}`: ignored: a project's file can only restrict");
        let warnings: Vec<String> = loaded.warnings.iter().map(|w| world.plain(w)).collect();
        assert_eq!(warnings, [wants]);
        let trusted = loaded.here.trusted_namespaces.clone();
        let mut here = loaded.here.clone();
        here.trusted_namespaces = loaded.config.trusted_namespaces.clone();
        assert_eq!(here, loaded.config, "{key}");
        assert_eq!(
            trusted.is_some_and(|t| t.is_empty()),
            key.contains("trusted"),
            "{key}"
        );
    }
}

#[test]
fn a_project_list_is_cut_to_what_the_user_trusts() {
    let world = World::new();
    world
        .put(
            "graphiti.config.json",
            r#"{"session_tracking": {"trusted_namespaces": ["a1b2c3d4", "c0ffee"]}}"#,
        )
        .put_project(
            r#"{"session_tracking": {"trusted_namespaces": ["a1b2c3", "c0ffee11", "ffffff"]}}"#,
        );
    let loaded = world.load();
    let wants = vec!["a1b2c3d4".to_owned(), "c0ffee11".to_owned()];
    assert_eq!(loaded.here.trusted_namespaces, Some(wants));
    assert_eq!(loaded.warnings.len(), 1);
}

#[test]
fn a_broken_project_file_closes_its_project_and_stops_nothing() {
    let world = World::new();
    world.put_project(r#"{"session_tracking": {"enable": false}}"#);
    let wants = format!("{PROJECT_LINE}:1: `session_tracking.enable`: unknown key\n");
    let loaded = world.load();
    let closed = world.plain(&loaded.closed.unwrap());
    assert!(closed.starts_with(wants.trim_end()), "{closed}");
    assert_eq!(loaded.warnings.len(), 1);
    let here = &loaded.here;
    assert!(!here.enabled && !here.memory.enabled && !here.memory.recall.enabled);
    assert!(!here.include_project_path && here.llm.is_none());
}

#[test]
fn the_user_file_is_not_taken_for_a_project_file() {
    let mut world = World::new();
    world.put(
        "graphiti.config.json",
        r#"{"session_tracking": {"enabled": true}}"#,
    );
    world.env.cwd = world.env.home.join(".graphiti");
    let loaded = world.load();
    assert!(loaded.here.enabled && loaded.warnings.is_empty());
    assert_eq!(loaded.files.len(), 1);
}

#[test]
fn a_named_folder_that_is_missing_is_a_warning() {
    let world = World::new();
    world.put(
        "graphiti.config.json",
        r#"{"session_tracking": {"watch_path": "~/gone"}}"#,
    );
    let warnings = world.load().warnings;
    assert_eq!(world.plain(&warnings.concat()), "no such folder: ~/gone");
}

//! `why --file`: however the file is typed, whoever committed it, and where nothing is known, where that was
//! looked for.

use super::git::Site;
use crate::cli::Exit;
use crate::model::git::{Effect, FileChange, GitOperation, RefOperation};
use crate::model::namespace::namespace;
use crate::store::{Access, GitUnit, Project, Store};
use serde_json::{Value, json};
use std::path::PathBuf;
use uuid::Uuid;

/// The agent writes a file with its own tool.
fn agent_writes(site: &mut Site, path: PathBuf, text: &str) {
    let call = format!("toolu_{}", site.now);
    let content = json!([{"type": "tool_use", "id": call, "name": "Write", "input": {"file_path": path, "content": text}}]);
    site.record("assistant", &json!({"id": format!("msg_{call}"), "role": "assistant", "model": "claude-sonnet-4-5", "content": content}));
    std::fs::write(&path, text).unwrap();
    let content = json!([{"type": "tool_result", "tool_use_id": call, "content": format!("File created successfully at: {}", path.display())}]);
    site.record("user", &json!({"role": "user", "content": content}));
}

#[test]
fn a_file_is_found_however_it_is_typed() {
    let mut site = Site::new();
    site.user("Add a cache");
    site.commit("src/cache.py", "1\n", "Cache");
    site.commit("lib/src/cache.py", "1\n", "Another one");
    let side = site.desk.path("side");
    site.git(&format!("worktree add -q -b side {}", side.display()));
    site.run();
    let only = |site: &Site, typed: &str| {
        let told = site.told(&format!("--file {typed}"));
        assert_eq!(told, ["made commit"], "{typed}");
    };
    only(&site, &site.repo.join("src/cache.py").display().to_string());
    only(&site, &side.join("src/cache.py").display().to_string());
    only(&site, "~/app/src/cache.py");
    only(&site, "app/lib/../src/./cache.py");
    site.desk.cwd = Some(site.repo.join("src"));
    only(&site, "cache.py");
    only(&site, "./cache.py");
    only(&site, "../lib/src/cache.py");
    // elsewhere its end is enough
    site.desk.cwd = None;
    assert_eq!(site.told("--file cache.py").len(), 2);
    assert_eq!(site.told("--file ache.py").len(), 0);
}

#[test]
fn what_a_session_edited_is_known_without_git() {
    for tracks in [true, false] {
        let mut site = Site::new();
        if !tracks {
            site.desk
                .write(".graphiti/tracking-config.json", r#"{"version": "1.0"}"#);
        }
        site.commit("README.md", "app\n", "first");
        let side = site.desk.path("side");
        site.git(&format!("worktree add -q -b side {}", side.display()));
        site.user("Write a parser, then a lexer");
        let parser = site.repo.join("parser.py");
        agent_writes(&mut site, parser.clone(), "p = 1\n");
        agent_writes(&mut site, parser.clone(), "p = 2\n");
        agent_writes(&mut site, side.join("lexer.py"), "l = 1\n");
        site.agent("Both are there.");
        site.user("thanks");
        site.run();
        for (typed, name, edits) in [
            (parser.clone(), "parser.py", 2),
            ("parser.py".into(), "parser.py", 2),
            (side.join("lexer.py"), "lexer.py", 1),
            (site.repo.join("lexer.py"), "lexer.py", 1),
        ] {
            let document = site.ask(&format!("why --file {}", typed.display()));
            let told = &document["edits"];
            assert_eq!(told[0]["edits"], edits, "{typed:?}: {document}");
            assert_eq!(
                (&told[0]["file"], &told[0]["agent"]),
                (&json!(name), &json!("claude"))
            );
            assert_eq!(told.as_array().unwrap().len(), 1);
        }
        let ran = site
            .desk
            .run(&format!("sessionmill why --file {}", parser.display()));
        assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
        assert!(
            ran.stdout.contains("edited: parser.py  2 edits, "),
            "{}",
            ran.shown()
        );
        assert!(
            ran.stdout.contains(" by claude, session 6f1c5b80"),
            "{}",
            ran.shown()
        );
    }
}

/// The agent calls a tool, and this is what it answers.
fn agent_calls(site: &mut Site, tool: &str, input: &Value, answer: &str) {
    let call = format!("toolu_{}", site.now);
    let content = json!([{"type": "tool_use", "id": call, "name": tool, "input": input}]);
    site.record("assistant", &json!({"id": format!("msg_{call}"), "role": "assistant", "model": "claude-sonnet-4-5", "content": content}));
    let content = json!([{"type": "tool_result", "tool_use_id": call, "content": answer}]);
    site.record("user", &json!({"role": "user", "content": content}));
    site.now += 60;
}

#[test]
fn windows_paths_and_files_that_only_git_names_are_found() {
    let mut site = Site::new();
    site.cwd = Some(PathBuf::from(r"D:\shop"));
    site.user("Let the cart count, and commit what is staged");
    let path = r"D:\shop\src\cart\total.py";
    let input = json!({"file_path": path, "content": "a = 1\n"});
    let answer = format!("File created successfully at: {path}");
    agent_calls(&mut site, "Write", &input, &answer);
    let look = json!({"file_path": r"D:\shop\src\cart\store.go"});
    agent_calls(&mut site, "Read", &look, "     1\tpackage cart\n");
    let commit = json!({"command": "git commit -m 'Count'"});
    let answer = "[main 1a2b3c4] Count\n 1 file changed, 3 insertions(+), 1 deletion(-)";
    agent_calls(&mut site, "Bash", &commit, answer);
    let show = json!({"command": "git show --stat HEAD"});
    let answer = "commit 1a2b3c4\n\n    Count\n\n src/cart/store.go | 4 +++-\n 1 file changed, 3 insertions(+), 1 deletion(-)";
    agent_calls(&mut site, "Bash", &show, answer);
    site.agent("It counts.");
    site.run();
    for (typed, wants) in [
        ("total.py", "edited: src/cart/total.py  1 edit, +1 −0 lines"),
        ("cart/total.py", "edited: src/cart/total.py  1 edit"),
        (
            "cart/store.go",
            "edited: src/cart/store.go  from git, +3 −1 lines",
        ),
    ] {
        let ran = site.desk.run(&format!("sessionmill why --file {typed}"));
        assert!(ran.stdout.contains(wants), "{typed}: {}", ran.shown());
    }
    let found = site.desk.run("sessionmill search file:cart/total.py");
    assert_eq!(found.exit, Exit::Done, "{}", found.shown());
}

#[test]
fn where_nothing_is_known_it_says_where_it_looked() {
    let mut site = Site::new();
    site.user("hello");
    site.commit("a.py", "1\n", "first");
    site.run();
    let ran = site.desk.run("sessionmill why --file app/nowhere.py");
    assert_eq!(ran.exit, Exit::Failed);
    for part in [
        "nothing was recorded about app/nowhere.py",
        "searched: 1 git operation since 2026-06-01 ",
        " app\n",
        "searched: 1 session since 2026-06-01 ",
        "hint: git log --all --oneline -- app/nowhere.py",
    ] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.shown());
    }
    site.desk
        .write(".graphiti/tracking-config.json", r#"{"version": "1.0"}"#);
    let ran = site.desk.run("sessionmill why --file app/nowhere.py");
    for part in [
        "git operations of ~/app are not tracked (tracking is off)",
        "hint: sessionmill config set --tracking defaults.enabled true && sessionmill run",
    ] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.shown());
    }
}

#[test]
fn the_line_that_switches_tracking_on_does_so() {
    let mut site = Site::new();
    site.user("hello");
    site.commit("a.py", "1\n", "first");
    std::fs::remove_file(site.desk.path(".graphiti/tracking-config.json")).unwrap();
    assert!(
        site.desk
            .run("sessionmill status")
            .stdout
            .contains("git operations: off")
    );
    let ran = site.desk.run("sessionmill why --file app/a.py");
    let hint = ran
        .stderr
        .lines()
        .find_map(|line| line.strip_prefix("hint: "));
    let (set, rest) = hint.expect("a hint").split_once(" && ").expect("two");
    assert_eq!(rest, "sessionmill run");
    assert_eq!(site.desk.run(set).exit, Exit::Done);
    site.run();
    let ran = site.desk.run("sessionmill why --file app/a.py");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    assert!(
        site.desk
            .run("sessionmill status")
            .stdout
            .contains("git operations: recorded")
    );
}

#[test]
fn what_was_not_looked_at_is_named() {
    let mut site = Site::new();
    site.user("hello");
    site.commit("a.py", "1\n", "first");
    site.run();
    let store = site.desk.path(".graphiti/sessionmill.db");
    let path = site.repo.to_string_lossy().into_owned();
    let project = Project {
        namespace: namespace(&path),
        path,
        host: "desk".into(),
    };
    let git = GitOperation {
        operation: RefOperation::sample(),
        effect: Effect {
            files: vec![FileChange::sample("b.py")],
            files_count: 10_000,
            ..Effect::default()
        },
        reason: None,
    };
    let unit = GitUnit {
        id: Uuid::from_u128(7),
        git,
        episodes: Vec::new(),
    };
    Store::open(&store, Access::ReadWrite)
        .unwrap()
        .put_operations(&project, "g", vec![unit], None, site.desk.now)
        .unwrap();
    let ran = site.desk.run("sessionmill why --file app/b.py");
    assert!(
        ran.stdout.contains("10,000 files (1 looked at)"),
        "{}",
        ran.shown()
    );
    assert!(!ran.stdout.contains("perhaps"), "{}", ran.shown());
    let ran = site.desk.run("sessionmill why --file app/z.py");
    assert_eq!(ran.exit, Exit::Failed);
    let says = "perhaps: reset --hard on feature/cache, which changed 10,000 files (1 looked at)";
    assert!(ran.stdout.contains(says), "{}", ran.shown());
    let document: Value = site.ask("why --file app/z.py");
    let unseen = &document["may_have_changed_it"][0];
    assert_eq!(
        (&unseen["files_count"], &unseen["files_looked_at"]),
        (&json!(10_000), &json!(1))
    );
}

#[test]
fn what_became_of_the_work_is_said_in_plain_words() {
    let mut site = Site::new();
    site.user("hello");
    site.commit("a.py", "1\n", "first");
    let second = site.commit("b.py", "2\n", "second");
    site.git("branch side");
    site.git("reset -q --hard HEAD~1");
    let told = |site: &mut Site| {
        site.run();
        let ran = site.desk.run(&format!("sessionmill why --commit {second}"));
        assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
        ran.stdout
    };
    let text = told(&mut site);
    assert!(
        text.contains("  not given up: the work is on side\n"),
        "{text}"
    );
    assert!(!text.contains("why: no reason"), "{text}");
    site.git("branch -q -D side");
    let text = told(&mut site);
    let wants =
        "  given up: 1 commit, of which nothing is left anywhere\n  why: no reason was said\n";
    assert!(text.contains(wants), "{text}");
    site.commit("c.py", "3\n", "third");
    site.git(&format!("cherry-pick {second}"));
    let picked = site.git("rev-parse HEAD");
    let text = told(&mut site);
    assert!(!text.contains("  given up"), "{text}");
    let came_back = format!("  not given up: the work is in commit {}\n", &picked[..12]);
    assert!(text.contains(&came_back), "{text}");
    let document = site.ask(&format!("why --commit {second}"));
    let reset = document["operations"].as_array().unwrap().iter();
    let reset = reset.filter(|one| one["operation"].as_str().unwrap().starts_with("reset"));
    let reset: Vec<&Value> = reset.collect();
    assert_eq!(
        (&reset[0]["given_up"], &reset[0]["lost_count"]),
        (&json!(false), &json!(0))
    );
}

#[test]
fn a_line_of_a_log_opens_the_transcript_there() {
    let mut site = Site::new();
    for word in ["zebrafish", "platypus", "axolotl"] {
        site.user(&format!("please {word} it"));
        site.agent(&format!("{word} it is"));
    }
    site.run();
    let id = site.desk.run("sessionmill sessions --json").json()["sessions"][0]["id"].clone();
    let id = id.as_str().expect("an id").to_owned();
    let ran = site.desk.run(&format!("sessionmill show {id}:3"));
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    let text = &ran.stdout;
    assert!(text.contains("--- from line 3, part 1, "), "{text}");
    assert!(text.contains("\nUser: please platypus it\n"), "{text}");
    assert!(text.contains("axolotl it is"), "{text}");
    assert!(!text.contains("zebrafish it is"), "{text}");
    let ran = site.desk.run(&format!("sessionmill show {id}:999"));
    assert_eq!(ran.exit, Exit::Failed, "{}", ran.shown());
    assert!(ran.stderr.contains("has no line 999"), "{}", ran.shown());
}

//! What calls came to, on the spot and once their inputs are shortened.

use super::*;
use crate::model::finding::{
    CommitSize, Finding, PullRequestState, Task, TaskState, Tree, file_key,
};

/// What a call came to, which its shortened input comes to as well.
fn found(tool: &str, input: Value, result: &ToolResult) -> Vec<Finding> {
    let got = told(tool, input.clone(), result).tool.findings;
    let short = shorten_input(tool, input, redactor());
    assert_eq!(told(tool, short, result).tool.findings, got, "shortened");
    got
}

pub(super) fn failed(output: &str) -> ToolResult {
    ToolResult {
        status: CallStatus::Failed,
        ..ok(output)
    }
}

pub(super) fn bash(command: &str, result: &ToolResult) -> Vec<Finding> {
    found("Bash", json!({"command": command}), result)
}

fn changed(path: &str, added: u64, removed: u64) -> Finding {
    Finding::Changed {
        path: path.into(),
        added,
        removed,
    }
}

#[test]
fn edits_and_patches_name_files_and_lines() {
    let edit = json!({"file_path": "/p/src/a.rs", "old_string": "a\nb", "new_string": "c"});
    let done = found("Edit", edit.clone(), &ok("updated"));
    assert_eq!(done, [changed("/p/src/a.rs", 1, 2)]);
    let key = file_key("/p/src/a.rs");
    let not = found("Edit", edit.clone(), &failed("String to replace not found"));
    assert_eq!(not, [Finding::Unchanged { key }]);
    let mut refused = ok("The user doesn't want to proceed");
    refused.status = CallStatus::Refused;
    assert_eq!(found("Edit", edit, &refused), [Finding::Refused { key }]);
    let mut patch = ok("Success.");
    patch.facts.patched = vec![("/p/a.rs".into(), 2, 1), ("b.rs".into(), 1, 0)];
    let input = json!({"input": "*** Begin Patch\n*** Update File: a.rs\n+x"});
    assert_eq!(
        found("apply_patch", input, &patch),
        [changed("/p/a.rs", 2, 1), changed("/p/b.rs", 1, 0)]
    );
}

#[test]
fn a_plan_that_was_read_has_a_title() {
    let read = |tool: &str, input: Value, output: &str| {
        let all = found(tool, input, &ok(output)).into_iter();
        let mut plans = all.filter_map(|finding| match finding {
            Finding::PlanRead { path, title } => Some((path, title)),
            _ => None,
        });
        plans.next()
    };
    let file = |path: &str| json!({"file_path": path});
    let text = "     1→# Carts add up\n     2→\n     3→## Why";
    let wants = Some(("/p/docs/plan.md".to_owned(), "Carts add up".to_owned()));
    assert_eq!(read("Read", file("/p/docs/plan.md"), text), wants);
    assert_eq!(read("Read", file("/p/README.md"), text), None);
    assert_eq!(
        read("Read", file("/p/docs/plan.md"), "     9→## Steps"),
        None
    );
    let command = json!({"command": "sed -n '1,200p' /p/docs/plan.md"});
    assert_eq!(read("Bash", command, "# Carts add up\n\n## Why"), wants);
    let key = format!("sk-ant-api03-{}", "Ab3dEf6hIj".repeat(10));
    let secret = read("Read", file("/p/plan.md"), &format!("# Use {key}"));
    assert!(secret.is_some_and(|(_, title)| !title.contains(&key[..24])));
}

#[test]
fn an_edit_of_settings_names_them_masked() {
    let edit = |old: &str, new: &str| {
        let input = json!({"file_path": "/p/.env", "old_string": old, "new_string": new});
        let all = found("Edit", input, &ok("updated"));
        all.into_iter()
            .filter(|f| matches!(f, Finding::Set { .. }))
            .collect::<Vec<_>>()
    };
    let set = |setting: &str, old: Option<&str>, new: Option<&str>| Finding::Set {
        path: "/p/.env".into(),
        setting: setting.into(),
        old: old.map(str::to_owned),
        new: new.map(str::to_owned),
        renamed: None,
    };
    assert_eq!(
        edit("PORT=1\nHOST=a", "PORT=2\nHOST=a\nDEBUG=on"),
        [
            set("PORT", Some("1"), Some("2")),
            set("DEBUG", None, Some("on"))
        ]
    );
    let key = format!("sk-ant-api03-{}", "Ab3dEf6hIj".repeat(10));
    let masked = edit("", &format!("ANTHROPIC_API_KEY={key}"));
    assert_eq!(masked.len(), 1);
    assert!(!format!("{masked:?}").contains(&key), "{masked:?}");
}

#[test]
fn a_command_is_known_again_and_red_tests_are_a_failure_whatever_the_pipe_says() {
    let [Finding::Worked { key }] = bash("cargo build", &ok("Finished"))[..] else {
        panic!("a command that worked");
    };
    assert_eq!(
        bash("cargo build", &failed("error[E0308]")),
        [Finding::Failed { key }]
    );
    assert_ne!(
        bash("cargo doc", &ok("Finished")),
        [Finding::Worked { key }]
    );
    let red = "==== 2 failed, 5 passed in 1.02s ====";
    let found = bash("pytest -q | tail -3", &ok(red));
    assert!(matches!(found[0], Finding::Failed { .. }), "{found:?}");
    let Finding::Tests(counts) = &found[1] else {
        panic!("no tests in {found:?}");
    };
    assert_eq!(
        (counts.passed, counts.failed, counts.runner.as_str()),
        (5, 2, "pytest")
    );
}

pub(super) const COMMITTED: &str = "[main 1a2b3c4] Fix the login\n 1 file changed, 2 insertions(+)";

fn commit(hash: &str) -> Finding {
    Finding::Commit {
        hash: hash.into(),
        subject: "Fix the login".into(),
        again: false,
        size: None,
    }
}

/// As git printed it.
fn sized(hash: &str) -> Finding {
    let mut made = commit(hash);
    if let Finding::Commit { size, .. } = &mut made {
        *size = Some(CommitSize {
            files: 1,
            added: 2,
            removed: 0,
        });
    }
    made
}

#[test]
fn a_commit_is_what_git_printed_or_what_a_quiet_command_made() {
    let line = "git add . && git commit -m 'Fix the login'";
    let quiet = "git commit -qm 'Fix the login'; git log --oneline -2";
    let log = "1a2b3c4 Fix the login\n5d6e7f8 Begin";
    for (command, result, wants) in [
        (line, ok(COMMITTED), Some("1a2b3c4")),
        ("cat build.log", ok(COMMITTED), None),
        // the push behind it failed
        (line, failed(COMMITTED), Some("1a2b3c4")),
        (line, failed("[main 1a2b3c4] is what it should be"), None),
        (
            "rtk git commit -m 'Fix the login'",
            ok("ok ✓ 1 file changed"),
            Some(""),
        ),
        (quiet, ok(log), Some("1a2b3c4")),
        ("git commit -q -m 'Fix the login'", ok(""), Some("")),
        (
            "git commit -qm 'Fix the login' || true",
            ok("nothing to commit"),
            None,
        ),
        // who doesn't see what git says, doesn't know
        (line, ok(""), None),
    ] {
        let found = bash(command, &result);
        let made = found.iter().find(|f| matches!(f, Finding::Commit { .. }));
        let wants = wants.map(|hash| match result.output.head.contains(" changed, ") {
            true => sized(hash),
            false => commit(hash),
        });
        assert_eq!(made, wants.as_ref(), "{command}");
    }
}

#[test]
fn what_is_picked_from_elsewhere_is_a_commit_of_the_session() {
    let printed = "[fix a55acac] Honor empty carts\n Date: Tue Jun 2 09:43:37 2026 -0700\n 2 files changed, 5 insertions(+)\n create mode 100644 src/empty.rs\n";
    let picked = bash("git cherry-pick 0fd2317 160fb81", &ok(printed));
    let size = Some(CommitSize {
        files: 2,
        added: 5,
        removed: 0,
    });
    let made = Finding::Commit {
        hash: "a55acac".into(),
        subject: "Honor empty carts".into(),
        again: false,
        size,
    };
    assert!(picked.contains(&made), "{picked:?}");
    let news =
        |finding: &Finding| matches!(finding, Finding::Stat { path, .. } if path == "src/empty.rs");
    assert!(picked.iter().any(news), "{picked:?}");
    // the second one conflicts
    let conflict = format!(
        "{printed}CONFLICT (content): Merge conflict in a.rs\nerror: could not apply 160fb81"
    );
    assert!(bash("git cherry-pick 0fd2317 160fb81", &failed(&conflict)).contains(&made));
    let reverted = "[main 7f3a1b2] Revert \"Add the cart\"\n 1 file changed, 2 deletions(-)";
    let reverted = bash("git revert --no-edit HEAD", &ok(reverted));
    assert!(matches!(&reverted[..], [.., Finding::Commit { hash, .. }] if hash == "7f3a1b2"));
}

#[test]
fn what_ran_in_the_background_tells_its_commit_when_it_is_polled() {
    let poll = |output: &str| {
        let input = json!({"session_id": 7, "chars": ""});
        found("write_stdin", input, &ok(output))
    };
    let only = Finding::Stat {
        path: String::new(),
        added: 2,
        removed: 0,
        of: Tree::Staged,
        drawn: false,
    };
    assert_eq!(poll(COMMITTED), [only.clone(), sized("1a2b3c4")]);
    let sent = format!("{COMMITTED}\nTo github.com:us/shop.git\n   1..2  main -> main\n");
    assert_eq!(poll(&sent), [only, sized("1a2b3c4"), Finding::Pushed]);
    assert_eq!(poll("[server 1a2b3c4] listening"), []);
    let script = "const r = await tools.write_stdin({session_id: 7, chars: ''}); text(r)";
    let told = found("exec", json!({"input": script}), &ok(COMMITTED));
    assert!(told.contains(&sized("1a2b3c4")), "{told:?}");
}

#[test]
fn a_push_is_what_git_sent() {
    let sent = "To github.com:us/shop.git\n   1a2b3c4..5d6e7f8  main -> main";
    let rejected = "To github.com:us/shop.git\n ! [rejected]  main -> main (fetch first)";
    for (command, result, wants) in [
        ("git push", ok(sent), true),
        ("git push -q", ok(""), true),
        ("git push && gh pr checks", failed(sent), true),
        ("git push || true", ok(rejected), false),
        ("git push", failed(rejected), false),
        ("git push --dry-run", ok(sent), false),
        ("git status", ok("main -> main"), false),
    ] {
        let found = bash(command, &result);
        assert_eq!(found.contains(&Finding::Pushed), wants, "{command}");
    }
}

const ADDRESS: &str = "https://github.com/us/shop/pull/7";

fn pull_request(named: &str, state: PullRequestState, done: bool) -> Finding {
    Finding::PullRequestState {
        named: named.into(),
        state,
        done,
    }
}

#[test]
fn a_pull_request_is_told_with_its_state() {
    use PullRequestState::{Closed, Draft, Merged, Open};
    let opened = || Finding::PullRequest(ADDRESS.into());
    let printed = format!("remote: https://github.com/us/shop/pull/new/fix\n{ADDRESS}\n");
    let json = format!(r#"{{"body":"\"state\":\"MERGED\"","state":"OPEN","url":"{ADDRESS}"}}"#);
    let told = |command: &str, output: &str| {
        let mut found = bash(command, &ok(output));
        let others = |f: &Finding| {
            matches!(
                f,
                Finding::Worked { .. } | Finding::Pushed | Finding::Titled { .. }
            )
        };
        found.retain(|f| !others(f));
        found
    };
    assert_eq!(
        told("git push && gh pr create --fill", &printed),
        [opened()]
    );
    assert_eq!(told("gh pr list", &printed), []);
    let draft = pull_request(ADDRESS, Draft, true);
    assert_eq!(told("gh pr create --draft", ADDRESS), [opened(), draft]);
    assert_eq!(
        told("gh pr merge 7 --squash", ""),
        [pull_request("#7", Merged, true)]
    );
    assert_eq!(
        told("gh pr close 7", ""),
        [pull_request("#7", Closed, true)]
    );
    assert_eq!(
        told("gh pr view --json state,url", &json),
        [pull_request(ADDRESS, Open, false)]
    );
    let merged = "title:\tFix\nstate:\tMERGED\nnumber:\t7";
    assert_eq!(
        told("gh pr view 7", merged),
        [pull_request("#7", Merged, false)]
    );
    let two = "gh pr view 7; gh pr view 8";
    assert_eq!(told(two, merged), [], "nobody knows whose state it is");

    let answer = format!(r#"{{"url":"{ADDRESS}","number":7,"state":"open","draft":false}}"#);
    let by_tool = |tool: &str, answer: &str| found(tool, json!({"title": "x"}), &ok(answer));
    assert_eq!(
        by_tool("mcp__github__create_pull_request", &answer),
        [opened()]
    );
    let closed = answer.replace("open", "closed");
    let wants = pull_request(ADDRESS, Closed, false);
    assert_eq!(by_tool("_update_pull_request", &closed), [wants]);
}

#[test]
fn a_diffstat_names_files_and_lines() {
    let output = " src/a.rs | 4 +++-\n old.rs => new.rs | 2 --\n img.png | Bin 0 -> 9 bytes\n .../deep.rs | 1 +\n \
                  2 files changed, 3 insertions(+), 3 deletions(-)";
    let of = |command: &str| -> Vec<(String, u64, u64, Tree)> {
        let found = bash(command, &ok(output)).into_iter();
        let stats = found.filter_map(|f| match f {
            Finding::Stat {
                path,
                added,
                removed,
                of,
                ..
            } => Some((path, added, removed, of)),
            _ => None,
        });
        stats.collect()
    };
    let wants = |tree| {
        vec![
            ("src/a.rs".into(), 3, 1, tree),
            ("new.rs".into(), 0, 2, tree),
            (".../deep.rs".into(), 1, 0, tree),
        ]
    };
    assert_eq!(of("git diff --stat"), wants(Tree::Work));
    assert_eq!(of("git diff --cached --stat"), wants(Tree::Staged));
    assert_eq!(of("git show --stat HEAD"), wants(Tree::Last));
    assert_eq!(of("git -C shop diff --stat"), wants(Tree::Work));
    assert_eq!(of("git diff --stat main...HEAD"), []);
    let compared = bash("git diff main --stat", &ok(output));
    let size = CommitSize {
        files: 2,
        added: 3,
        removed: 3,
    };
    assert!(compared.contains(&Finding::Compared(size)), "{compared:?}");
}

#[test]
fn a_bar_that_is_drawn_in_proportion_is_no_count() {
    let told = |total: &str| -> Vec<(String, u64, u64, bool)> {
        let output = format!(
            " a.rs | 58 +++++++++++++++++++++----\n b.rs | 90 ++++++++++\n c.rs | 2 +-\n {total}"
        );
        let found = bash("git diff --stat", &ok(&output)).into_iter();
        let stats = found.filter_map(|finding| match finding {
            Finding::Stat {
                path,
                added,
                removed,
                drawn,
                ..
            } => Some((path, added, removed, drawn)),
            _ => None,
        });
        stats.collect()
    };
    let rest = || [("b.rs".into(), 90, 0, false), ("c.rs".into(), 1, 1, false)];
    let drawn = told("");
    assert_eq!((drawn[0].1 + drawn[0].2, drawn[0].3), (58, true));
    assert_eq!(drawn[1..], rest());
    // the total leaves one answer
    let counted = told("3 files changed, 139 insertions(+), 11 deletions(-)");
    assert_eq!(counted[0], ("a.rs".into(), 48, 10, false));
    assert_eq!(counted[1..], rest());
    // other files are in it
    assert!(told("4 files changed, 139 insertions(+), 11 deletions(-)")[0].3);
}

#[test]
fn a_commit_of_files_that_were_added_by_name_has_these_files() {
    let of = |command: &str, output: &str| -> Vec<(String, u64, u64, bool)> {
        let found = bash(command, &ok(output)).into_iter();
        let stats = found.filter_map(|finding| match finding {
            Finding::Stat {
                path,
                added,
                removed,
                drawn,
                ..
            } if !path.is_empty() => Some((path, added, removed, drawn)),
            _ => None,
        });
        stats.collect()
    };
    let one = " 1 file changed, 12 insertions(+), 3 deletions(-)";
    let two = " 2 files changed, 20 insertions(+)\n create mode 100644 src/b_test.rs";
    let commit = "git add src/a.rs && git commit -m 'Fix the login'";
    let head = "[main 1a2b3c4] Fix the login\n";
    let a = |lines: (u64, u64), drawn| ("src/a.rs".to_owned(), lines.0, lines.1, drawn);
    let b = || ("src/b_test.rs".to_owned(), 0, 0, true);
    assert_eq!(of(commit, &format!("{head}{one}")), [a((12, 3), false)]);
    // others were staged before
    assert_eq!(of(commit, &format!("{head}{two}")), [b()]);
    let all = "git add src/a.rs src/b_test.rs && git commit -m 'Fix the login'";
    assert_eq!(
        of(all, &format!("{head}{two}")),
        [a((0, 0), true), b(), b()]
    );
    assert_eq!(
        of("git add . && git commit -m x", &format!("{head}{one}")),
        []
    );
    let again = "git add src/a.rs && git commit --amend --no-edit";
    let date = " Date: Wed Jul 22 10:15:16 2026 +0200\n";
    assert_eq!(of(again, &format!("{head}{date}{one}")), [a((0, 0), true)]);
}

#[test]
fn what_a_cut_went_through_is_not_told() {
    let long = "x ".repeat(crate::model::entry::EXCERPT_HEAD + crate::model::entry::EXCERPT_TAIL);
    let cut = ok(&format!("{COMMITTED}\n{long}"));
    assert!(!cut.output.is_whole());
    let told = bash("git commit -m x", &cut);
    assert!(
        told.iter().any(|f| matches!(f, Finding::Commit { .. })),
        "{told:?}"
    );
    // the address ends where the cut is: it may be longer
    let mut half = ok("");
    half.output.head = "https://github.com/us/shop/pull/7".into();
    half.output.tail = " and much more".into();
    let told = bash("gh pr create", &half);
    assert!(
        !told.iter().any(|f| matches!(f, Finding::PullRequest(_))),
        "{told:?}"
    );
}

#[test]
fn answers_plans_and_tasks_are_told_unless_results_are_left_out() {
    let task = |id: Option<&str>, text: &str, state: TaskState| Task {
        id: id.map(str::to_owned),
        text: text.into(),
        state,
    };
    let list = json!({"todos": [
        {"content": "Write\ntests", "status": "completed"},
        {"content": "Ship", "status": "in_progress"},
        {"content": "Rest", "status": "pending"},
    ]});
    let plan = Finding::Plan(vec![
        task(None, "Write tests", TaskState::Done),
        task(None, "Ship", TaskState::Active),
        task(None, "Rest", TaskState::Open),
    ]);
    assert_eq!(found("TodoWrite", list.clone(), &ok("")), [plan]);
    let dropped = json!({"taskId": "3", "status": "deleted"});
    assert_eq!(
        found("TaskUpdate", dropped, &ok("Updated task #3 status")),
        [Finding::Task(task(Some("3"), "", TaskState::Dropped))]
    );
    let created = json!({"subject": "Mend it", "description": "…"});
    assert_eq!(
        found(
            "TaskCreate",
            created,
            &ok("Task #4 created successfully: Mend it")
        ),
        [Finding::Task(task(Some("4"), "Mend it", TaskState::Open))]
    );
    let mut asked = ok("");
    asked.facts.answers = vec![("Which port?".into(), "8080".into())];
    let answered = |header: &str, means: Option<&str>| Finding::Answered {
        question: "Which port?".into(),
        answer: "8080".into(),
        header: header.into(),
        means: means.map(str::to_owned),
    };
    let question = json!({"questions": [{"question": "Which port?"}]});
    assert_eq!(
        found("AskUserQuestion", question, &asked),
        [answered("", None)]
    );
    let options = json!([{"label": "80", "description": "as root"}, {"label": "8080", "description": "the shop's"}]);
    let question =
        json!({"questions": [{"question": "Which port?", "header": "Port", "options": options}]});
    assert_eq!(
        found("AskUserQuestion", question, &asked),
        [answered("Port", Some("the shop's"))]
    );
    let out = FilterPolicy {
        tool_content: Keep::Out,
        ..policy()
    };
    let result = ok("");
    let told = digest(
        "TodoWrite",
        &list,
        CallOutcome::Result(&result),
        &plain(&out, Some("/p")),
    );
    assert_eq!(told.tool.findings, []);
}

#[test]
fn a_hostile_list_is_cut() {
    let many = vec![json!({"content": "x", "status": "pending"}); 10_000];
    let found = found("TodoWrite", json!({"todos": many}), &ok(""));
    let [Finding::Plan(tasks)] = &found[..] else {
        panic!("no plan");
    };
    assert_eq!(tasks.len(), 100);
}

#[test]
fn files_that_commands_delete_or_put_back_are_told() {
    let gone = |path: &str, became| Finding::File {
        path: path.into(),
        became,
    };
    let files = |command: &str| {
        let found = bash(command, &ok("")).into_iter();
        let found = found.filter(|f| matches!(f, Finding::File { .. }));
        found.collect::<Vec<_>>()
    };
    use crate::model::finding::FileFate::{Created, Deleted, Dropped, Restored};
    assert_eq!(
        files("rm -f a.rs zz_*.rs"),
        [gone("/p/a.rs", Dropped), gone("/p/zz_*.rs", Dropped)]
    );
    assert_eq!(files("git rm -q a.rs"), [gone("/p/a.rs", Deleted)]);
    assert_eq!(files("git restore a.rs"), [gone("/p/a.rs", Restored)]);
    assert_eq!(files("git reset --hard"), [gone("/p", Restored)]);
    assert_eq!(files("rm -rf \"$dir\""), []);
    let stopped = "git rm -q a.rs && git rm -q b.rs && git status";
    let error = "error: the following file has changes staged in the index:\n    b.rs";
    let done = bash(stopped, &failed(error));
    assert!(done.contains(&gone("/p/a.rs", Deleted)), "{done:?}");
    assert!(!done.contains(&gone("/p/b.rs", Deleted)), "{done:?}");
    let moved = "git mv old new && git rm -q new/b.rs && git status";
    let inside = "error: the following file has changes staged in the index:\n    new/b.rs";
    let done = bash(moved, &failed(inside));
    let is_moved = |f: &Finding| matches!(f, Finding::Moved { .. });
    assert!(done.iter().any(is_moved), "{done:?}");
    let apart = bash("git rm -q a.rs; git rm -q b.rs", &failed(error));
    assert!(!apart.contains(&gone("/p/a.rs", Deleted)), "{apart:?}");
    let patch = "*** Begin Patch\n*** Add File: new.rs\n+x\n*** Delete File: old.rs\n*** End Patch";
    let found = found("apply_patch", json!({"input": patch}), &ok("Success."));
    assert!(found.contains(&gone("/p/new.rs", Created)), "{found:?}");
    assert!(found.contains(&gone("/p/old.rs", Deleted)), "{found:?}");
}

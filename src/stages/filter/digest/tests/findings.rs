//! What calls came to, on the spot and once their inputs are shortened.

use super::*;
use crate::model::finding::{Finding, Task, TaskState, file_key};

/// What a call came to, which its shortened input comes to as well.
fn found(tool: &str, input: Value, result: &ToolResult) -> Vec<Finding> {
    let got = told(tool, input.clone(), result).tool.findings;
    let short = shorten_input(tool, input, redactor());
    assert_eq!(told(tool, short, result).tool.findings, got, "shortened");
    got
}

fn failed(output: &str) -> ToolResult {
    ToolResult {
        status: Status::Failed,
        ..ok(output)
    }
}

fn bash(command: &str, result: &ToolResult) -> Vec<Finding> {
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
    refused.status = Status::Refused;
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

const COMMITTED: &str = "[main 1a2b3c4] Fix the login\n 1 file changed, 2 insertions(+)";

#[test]
fn a_commit_and_a_pull_request_are_what_the_command_made() {
    let commit = Finding::Commit {
        hash: "1a2b3c4".into(),
        subject: "Fix the login".into(),
    };
    let line = "git add . && git commit -m 'Fix the login'";
    assert!(bash(line, &ok(COMMITTED)).contains(&commit));
    assert!(!bash("cat build.log", &ok(COMMITTED)).contains(&commit));
    assert!(!bash(line, &failed(COMMITTED)).contains(&commit));

    let address = "https://github.com/us/shop/pull/7";
    let opened = Finding::PullRequest(address.into());
    let output = ok(&format!("Creating pull request\n{address}\n"));
    assert!(bash("gh pr create --fill", &output).contains(&opened));
    assert!(!bash("gh pr list", &output).contains(&opened));
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
    let question = json!({"questions": [{"question": "Which port?"}]});
    assert_eq!(
        found("AskUserQuestion", question, &asked),
        [Finding::Answered {
            question: "Which port?".into(),
            answer: "8080".into(),
        }]
    );
    let out = FilterPolicy {
        tool_content: Keep::Out,
        ..policy()
    };
    let result = ok("");
    let told = digest(
        "TodoWrite",
        &list,
        Outcome::Result(&result),
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

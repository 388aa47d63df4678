//! What calls leave: comments that say what is to be done, checks elsewhere that are not done, commits of a rebase; and
//! what a check behind a filter, or of a commit's hook, says of how it ended.

use super::*;
use crate::model::finding::Finding;

/// What a call came to, which its shortened input comes to as well.
fn found(tool: &str, input: Value, result: &ToolResult) -> Vec<Finding> {
    let got = told(tool, input.clone(), result).tool.findings;
    let short = shorten_input(tool, input, redactor());
    assert_eq!(told(tool, short, result).tool.findings, got, "shortened");
    got
}

#[test]
fn comments_that_an_edit_brings_or_takes_are_found() {
    let todos = |tool: &str, input: Value| {
        let all = found(tool, input, &ok("updated")).into_iter();
        let todos = all.filter_map(|finding| match finding {
            Finding::Todo { path, text, gone } => Some((path, text, gone)),
            _ => None,
        });
        todos.collect::<Vec<_>>()
    };
    let (old, new) = ("let a = 1;", "let a = 1; // TODO: round it half up");
    let edit = |old: &str, new: &str| json!({"file_path": "/p/a.ts", "old_string": old, "new_string": new});
    let one = |gone| vec![("/p/a.ts".to_owned(), "round it half up".to_owned(), gone)];
    assert_eq!(todos("Edit", edit(old, new)), one(false));
    assert_eq!(todos("Edit", edit(new, old)), one(true));
    assert_eq!(todos("Edit", edit(new, &format!("{new}\nb()"))), []);
    let several =
        json!({"file_path": "/p/a.ts", "edits": [{"old_string": old, "new_string": new}]});
    assert_eq!(todos("MultiEdit", several), one(false));
    let half = |old: &str| {
        let gone = todos("Edit", edit(old, "b()"));
        gone.into_iter()
            .map(|(_, text, gone)| (text, gone))
            .collect::<Vec<_>>()
    };
    assert_eq!(half("round it half"), [("round it half".to_owned(), true)]);
    assert_eq!(half("TODO: round"), [("round".to_owned(), true)]);
    let text = "let a = `\n// TODO: round it half up\n`";
    assert_eq!(todos("Edit", edit("", text)), [], "a string");
    let elsewhere = json!({"file_path": "/q/a.ts", "old_string": old, "new_string": new});
    assert_eq!(todos("Edit", elsewhere), []);
    let out = FilterPolicy {
        tool_content: Keep::Out,
        ..policy()
    };
    let result = ok("updated");
    let told = digest(
        "Edit",
        &edit(old, new),
        CallOutcome::Result(&result),
        &plain(&out, Some("/p")),
    );
    let is_todo = |finding: &Finding| matches!(finding, Finding::Todo { .. });
    assert!(
        !told.tool.findings.iter().any(is_todo),
        "no content is kept"
    );
    // nobody knows what stood in the file before
    let whole = json!({"file_path": "/p/a.ts", "content": new});
    assert_eq!(todos("Write", whole), []);
}

#[test]
fn checks_elsewhere_are_read_from_their_list() {
    let list = "queued\t\tCarts add up\tBuild\tmain\tpush\t71\t3s\t2026-06-01T10:00:00Z\n\
        completed\tsuccess\tBegin\tBuild\tmain\tpush\t70\t1m2s\t2026-06-01T09:00:00Z\n";
    let states = |command: &str, output: &str| {
        let all = found("Bash", json!({"command": command}), &ok(output)).into_iter();
        let runs = all.filter_map(|finding| match finding {
            Finding::CheckElsewhere { title, state } => Some((title, state)),
            _ => None,
        });
        runs.collect::<Vec<_>>()
    };
    let wants = [("Carts add up", "queued"), ("Begin", "completed")];
    let wants = wants.map(|(title, state)| (title.to_owned(), state.to_owned()));
    assert_eq!(states("gh run list --limit 2", list), wants);
    assert_eq!(states("cat runs.txt", list), []);
    assert_eq!(states("gh run list --limit 2", "no runs found"), []);
}

#[test]
fn what_a_rebase_goes_on_to_commit_is_a_commit() {
    let printed = "[detached HEAD 1a2b3c4] Carts add up\n 2 files changed, 5 insertions(+)\n\
        Successfully rebased and updated refs/heads/carts.\n";
    let made = |command: &str| {
        let all = found("Bash", json!({"command": command}), &ok(printed));
        let mut all = all.into_iter();
        all.any(|finding| matches!(finding, Finding::Commit { hash, .. } if hash == "1a2b3c4"))
    };
    assert!(made(
        "git add a.go && GIT_EDITOR=true git rebase --continue"
    ));
    assert!(!made("git rebase --abort"));
}

#[test]
fn a_longer_output_tells_that_a_check_passed() {
    let lines = "warning: unused\n".repeat(40);
    let built = format!("{lines}    Finished `dev` profile [unoptimized] target(s) in 1.20s\n");
    let text = |command: &str| told("Bash", json!({"command": command}), &ok(&built)).text;
    let piped = text("cargo check 2>&1 | tail -50");
    assert!(
        piped.ends_with(": Finished `dev` profile [unoptimized] target(s) in 1.20s"),
        "{piped}"
    );
    let plain = text("cargo check");
    assert!(!plain.contains("Finished"), "{plain}");
}

#[test]
fn what_a_commits_hook_checks_is_told_of_commits_only() {
    let hook = "[COMPLETED] eslint --fix\n[main 1a2b3c4] Add carts\n";
    let checked = |command: &str, output: &str| {
        let all = found("Bash", json!({"command": command}), &ok(output)).into_iter();
        all.filter(|found| matches!(found, Finding::HookChecked { .. }))
            .collect::<Vec<_>>()
    };
    let passed = |check: &str| Finding::HookChecked {
        check: check.into(),
        passed: true,
    };
    let commit = "git add -A && git commit -m 'Add carts'";
    let eslint = [passed("eslint --fix")];
    assert_eq!(checked(commit, hook), eslint);
    let long = format!("git commit -m 'Add carts' -m '{}'", "word ".repeat(200));
    assert_eq!(checked(&long, hook), eslint);
    assert_eq!(checked("cat hook.log", hook), []);
    let tasks = "$ tsc --noEmit\n[main 1a2b3c4] Add carts\n";
    assert_eq!(checked(commit, tasks), [passed("tsc --noEmit")]);
    // the hook may not have printed it
    let both = format!("bun run types; {commit}");
    assert_eq!(checked(&both, tasks), []);
    let read = format!("{commit} && cat docs/carts.md");
    let text = "[main 1a2b3c4] Add carts\n 1 file changed, 1 insertion(+)\n$ eslint .\n";
    assert_eq!(checked(&read, text), []);
    let long = format!("{long} && cat docs/carts.md");
    assert_eq!(checked(&long, tasks), [], "what is cut counts too");
}

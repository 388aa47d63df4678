//! Tests of what stopped commands, and which way the work went on.

use super::*;

/// `Action: …` lines that failed (`→ exit …`, `→ failed`) or worked, `Agent: …` and `User: …` lines.
fn told(texts: &[&str]) -> Vec<String> {
    let failed = [Finding::Failed { key: 1 }];
    let worked = [Finding::Worked { key: 2 }];
    let lines = texts.iter().zip(1..).map(|(text, n)| {
        let (kind, findings): (_, &[Finding]) = match text.split_once(": ") {
            Some(("Agent", _)) => (ItemKind::Agent, &[]),
            Some(("User", _)) => (ItemKind::Prompt, &[]),
            Some(("Note", _)) => (ItemKind::Note, &[]),
            _ if text.contains("→ exit ") || text.contains("→ failed") => {
                (ItemKind::Digest, &failed)
            }
            _ => (ItemKind::Digest, &worked),
        };
        LocatedItem::sample(kind, n, text, findings)
    });
    let lines: Vec<LocatedItem<'_>> = lines.collect();
    let all = hindered(&lines).into_iter();
    all.map(|told| told.what.cure.unwrap_or_default()).collect()
}

#[test]
fn what_was_skipped_is_not_resolved() {
    let failed = "Action: Bash(shop update-page 7) → exit 1: Argument list too long: 'shop'";
    let with = |said: &str| told(&[failed, said]).len();
    assert_eq!(with("Agent: It is too long. Let me skip this step."), 0);
    assert_eq!(
        with("Agent: It is too long. Let me mark this as done and move on."),
        0
    );
    assert_eq!(
        with("Agent: It is too long. Let me pass it in a file instead."),
        1
    );
}

#[test]
fn a_form_that_a_program_does_not_take_is_told_with_the_one_that_it_takes() {
    let unknown = "Action: Bash(shop --quiet close) → exit 2: error: unrecognized option '--quiet'";
    let plain = "Action: Bash(shop -q close) → ok, no output";
    assert_eq!(told(&[unknown, plain]), ["it worked as `shop -q close`"]);
    assert_eq!(told(&[unknown]), Vec::<String>::new(), "no way was found");
    let red = "Action: Bash(shop -q close) → exit 1: the cart is empty";
    assert_eq!(told(&[unknown, red]), ["it ran as `shop -q close`"]);
    // how a line ends says nothing of what it left running
    for other in [
        "Action: Bash(shop -q close & sleep 2; echo started) → 6 lines, 278 bytes",
        "Action: Bash(shop -q close | tail -2) → listening on :7070 · exit status 1",
    ] {
        assert_eq!(told(&[unknown, other]), Vec::<String>::new(), "{other}");
        assert_eq!(told(&[unknown, other, plain]).len(), 1, "{other}");
    }
    let joined = "Action: Bash(shop -q close >a.log 2>&1 && echo 'a & b') → a & b";
    assert_eq!(told(&[unknown, joined]).len(), 1);
    // that it runs without what was only to start it hindered nothing
    let wrapped = "Action: Bash(wrap npm run test) → exit 2: error: unrecognized subcommand 'npm'";
    let bare = "Action: Bash(npm run test 2>&1 | tail -3) → passed 9/9";
    assert_eq!(told(&[wrapped, bare]), Vec::<String>::new());
    let absent = "Action: Bash(shop close) → exit 127: shop: command not found";
    let tried =
        "Action: Bash(~/bin/shop close) → exit 127: /bin/sh: line 1: ~/bin/shop: No such file";
    let found = "Action: Bash(/opt/bin/shop close) → ok, no output";
    let wants = ["it worked as `/opt/bin/shop close`"];
    assert_eq!(
        told(&[absent, tried, found]),
        wants,
        "one obstacle, two tries"
    );
    let option = "Action: Bash(echo '[]' | shop exec close-orders --order 7) → exit 2: Error: No such option: --order";
    let help = "Action: Bash(shop exec close-orders -h) → 9 lines, 300 bytes";
    let other = "Action: Bash(shop exec list-orders) → 9 lines, 300 bytes";
    let right = "Action: Bash(printf '[]' | shop exec close-orders) → 2 lines, 30 bytes";
    let wants = ["it worked as `shop exec close-orders`"];
    assert_eq!(told(&[option, help, other, right]), wants);
    let own = "Action: Bash(npm run test) → exit 1: the cart is empty";
    assert_eq!(told(&[own, plain]), Vec::<String>::new());
    let reads = "Action: Bash(grep --bad x a.rs) → exit 2: grep: unrecognized option '--bad'";
    assert_eq!(
        told(&[reads, "Action: Bash(grep x a.rs) → 1 line"]),
        Vec::<String>::new()
    );
}

#[test]
fn a_retry_is_told_only_of_what_a_sandbox_or_the_network_stopped() {
    let call = |said: &str| format!("Action: Bash(shop deploy) → exit 1: {said}");
    let again = "Action: Bash(shop deploy) → 3 lines, 90 bytes";
    let (lost, down) = (
        call("lookup shop.test: no such host"),
        call("connection refused"),
    );
    assert_eq!(told(&[&lost, again]), ["it worked when it was run again"]);
    assert_eq!(told(&[&down, again]), Vec::<String>::new());
}

#[test]
fn each_step_of_a_way_round_is_told() {
    let version = "Action: Bash(go test ./a) → failed 1/1 packages in 1 s: compile: version \"go1.2\" does not match go tool version \"go1.3\"";
    let sandbox = "Action: Bash(pin exec -- go test ./a) → failed 1/1 packages in 1 s: open /c/x: operation not permitted";
    let worked = "Action: Bash(pin exec -- env GOCACHE=/t/c go test ./a) → passed 1/1 packages";
    let wants = [
        "it ran as `pin exec -- go test ./a`",
        "it worked as `pin exec -- env GOCACHE=/t/c go test ./a`",
    ];
    assert_eq!(told(&[version, sandbox, worked]), wants);
}

#[test]
fn a_missing_login_is_told_with_the_login() {
    let asked =
        "Action: Bash(shop orders show 7) → Not logged in. Run 'shop login' to authenticate.";
    let login = "Action: Bash(shop login --device) → running in the background";
    let again = "Action: Bash(shop orders show 7) → 19 lines, 1.9 KB";
    assert_eq!(
        told(&[asked, login, again]),
        ["after `shop login --device`"]
    );
    let around = "Agent: I’ll continue from the local copy of the order.";
    assert_eq!(
        told(&[asked, around]),
        ["“I’ll continue from the local copy of the order.”, says the agent"]
    );
    assert_eq!(told(&[asked]), Vec::<String>::new());
}

#[test]
fn what_git_wanted_first_is_told() {
    let refused =
        "Action: Bash(git push) → exit 1: error: failed to push some refs to 'https://h/r.git'";
    let pulled = "Action: Bash(git pull --rebase) → 3 lines, 200 bytes";
    let pushed = "Action: Bash(git push) → To https://h/r.git";
    assert_eq!(
        told(&[refused, pulled, pushed]),
        ["after `git pull --rebase`"]
    );
    assert_eq!(told(&[refused, pulled]), Vec::<String>::new());
    assert_eq!(told(&[refused, pushed]), Vec::<String>::new(), "a retry");
    let force = "Action: Bash(cd shop && git push --force origin main) → ok";
    assert_eq!(
        told(&[refused, force]),
        ["forced with `git push --force origin main`"]
    );
    let conflict =
        "Action: Bash(git rebase origin/main) → failed: CONFLICT (content): Merge conflict in a.md";
    let goes_on = "Action: Bash(git add a.md && GIT_EDITOR=true git rebase --continue) → ok";
    assert_eq!(
        told(&[conflict, goes_on]),
        ["resolved, then `git rebase --continue`"]
    );
    let untracked = "Action: Bash(git rebase -i --root) → failed: error: The following untracked working tree files would be overwritten by merge:";
    let all = [
        untracked,
        "Action: Bash(git rebase --abort) → ok, no output",
        "Action: Bash(rm -rf .idea) → ok, no output",
        "Action: Bash(git filter-branch -f --all) → ok, no output",
    ];
    assert_eq!(
        told(&all),
        ["`rm -rf .idea`, then `git filter-branch -f --all`"]
    );
}

#[test]
fn what_made_the_same_command_work_comes_before_the_first_way_round() {
    let failed =
        "Action: Bash(git fetch origin) → exit 128: fatal: repository 'https://h/..git/' not found";
    let round = "Action: Bash(git fetch https://h/us/shop.git main) → ok";
    let merged = "Action: Bash(git merge FETCH_HEAD) → ok";
    let same = "Action: Bash(git fetch origin) → ok";
    let way = "it worked as `git fetch https://h/us/shop.git main`";
    assert_eq!(told(&[failed, round, merged, same]), [way]);
    let set = "Action: Bash(git remote set-url origin https://h/us/shop.git) → ok";
    let wants = "after `git remote set-url origin https://h/us/shop.git`";
    assert_eq!(told(&[failed, round, set, merged, same]), [wants]);
}

#[test]
fn a_hook_that_was_passed_by_is_told() {
    let failed = "Action: Bash(git commit -m x) → exit 1: error: Item 3 failed";
    let past = "Action: Bash(git commit -m x --no-verify) → 1 file changed";
    assert_eq!(told(&[failed, past]), ["committed with `--no-verify`"]);
    let mended = "Action: Bash(git commit -m x) → 1 file changed";
    assert_eq!(told(&[failed, mended]), Vec::<String>::new());
}

#[test]
fn a_hook_that_had_its_way_is_told_with_what_was_changed_for_it() {
    let (failed, worked) = ([Finding::Failed { key: 1 }], [Finding::Worked { key: 2 }]);
    let commit = [Finding::Commit {
        hash: "1a2b3c4".into(),
        subject: "Carts add up".into(),
        again: false,
        size: None,
    }];
    let edit = [Finding::Changed {
        path: "/p/shop/src/cart.ts".into(),
        added: 1,
        removed: 1,
    }];
    let call = |line, text, findings| LocatedItem::sample(ItemKind::Digest, line, text, findings);
    let done = call(
        9,
        "Action: Bash(git commit -m x) → 1 file changed",
        &commit[..],
    );
    let edits = call(3, "Action: Edit(src/cart.ts) → +1 −1", &edit[..]);
    let told = |error: &str, between: LocatedItem<'_>| {
        let text = format!("Action: Bash(git commit -m x) → exit 1: {error}");
        let refused = LocatedItem::sample(ItemKind::Digest, 1, &text, &failed);
        let all = hindered(&[refused, between, done]);
        all.into_iter().next().map(|told| told.what)
    };
    let named = "TS2304 no name 'Till'. (src/cart.ts:3); passed 9/9 in 0.8 s";
    let mended = told(named, edits).expect("it is named");
    let error = "a hook of the commit failed: TS2304 no name 'Till'. (src/cart.ts:3)";
    assert_eq!((mended.error.as_str(), mended.cure), (error, None));
    assert_eq!(mended.changed, ["/p/shop/src/cart.ts"]);
    assert!(
        told("TS2304 no name 'Till' (/p/shop/src/ca…", edits).is_some(),
        "cut"
    );
    assert_eq!(
        told("error: Item 3 failed", edits),
        None,
        "nobody knows what"
    );
    assert_eq!(told("error: pathspec 'cart.ts' did not match", edits), None);

    let husky = "husky - pre-commit script failed (code 1)";
    let generate = call(
        3,
        "Action: Bash(npm run generate) → 9 lines, 499 bytes",
        &worked[..],
    );
    let cure = |between| told(husky, between).and_then(|told| told.cure);
    assert_eq!(cure(generate).as_deref(), Some("after `npm run generate`"));
    let looks = call(
        3,
        "Action: Bash(git diff) → 9 lines, 499 bytes",
        &worked[..],
    );
    assert_eq!(told(husky, looks), None);
    assert_eq!(told(husky, edits), None, "the error names no file");
    assert_eq!(told("error: it says no", generate), None, "perhaps no hook");
}

#[test]
fn what_stopped_the_model_is_told() {
    let flagged =
        "Note: the model was stopped: A1's safeguards flagged this message. Switched to B2.";
    let lost = "Note: the model was stopped: its API failed.";
    let done = "Agent: All of it is in.";
    assert_eq!(
        told(&[flagged, lost, done]),
        ["Switched to B2", "it answered later"]
    );
    assert_eq!(told(&[lost]), Vec::<String>::new());
}

#[test]
fn a_conflict_was_resolved_where_its_file_was_changed() {
    let change = |path: &str| Finding::Changed {
        path: path.into(),
        added: 1,
        removed: 1,
    };
    let (failed, worked) = ([Finding::Failed { key: 1 }], [Finding::Worked { key: 2 }]);
    let edits = [change("/p/shop/cart.rs"), change("/p/notes.md")];
    let call = |line, text, findings| LocatedItem::sample(ItemKind::Digest, line, text, findings);
    let merged =
        "Action: Bash(git merge main) → failed: CONFLICT (content): Merge conflict in shop/cart.rs";
    let lines = [
        call(1, merged, &failed[..]),
        call(2, "Action: Edit(cart.rs) → +1 −1", &edits[..]),
        call(3, "Action: Bash(git commit --no-edit) → ok", &worked[..]),
    ];
    let told = hindered(&lines).remove(0).what;
    let wants = "resolved, then `git commit --no-edit`";
    assert_eq!(told.cure.as_deref(), Some(wants));
    assert_eq!(told.changed, ["/p/shop/cart.rs"]);
}

//! What verdicts cost where nothing happened: a look without news opens no repository and writes nothing,
//! whatever refs there are. Any ref that comes, goes or moves is news.

use super::undone_flows::ground::{Ground, Observer};

/// Refs of every kind, and a commit that none of them has.
fn ground_with_refs() -> Ground {
    let mut ground = Ground::new();
    ground.add_remote();
    for command in [
        "git switch -q -c topic",
        "echo one > one && git add -A && git commit -q -m One",
        "git push -q -u origin topic",
        "git tag kept && git tag -a -m words noted",
        "git switch -q main && git pack-refs --all",
        "echo two > two && git add -A && git commit -q -m Two",
        "git reset -q --hard HEAD~1",
        "git worktree add -q --detach ../beside topic",
        "echo three > three && git add -A && git stash -q",
        "git update-ref refs/own/place topic",
    ] {
        let (ok, said) = ground.agent("app", command);
        assert!(ok, "{command}: {said}");
    }
    ground
}

fn opened(report: &serde_json::Value) -> u64 {
    report["git_trees_opened"].as_u64().expect("a number")
}

#[test]
fn a_look_without_news_opens_no_repository() {
    let ground = ground_with_refs();
    let mut observer = Observer::new();
    assert!(opened(&observer.look(&ground, 60)) > 0);
    let before = observer.stored();
    for later in [120, 4_000, 90_000] {
        assert_eq!(opened(&observer.look(&ground, later)), 0, "after {later} s");
        assert!(observer.stored() == before, "a look without news wrote");
    }
}

#[test]
fn any_ref_that_comes_goes_or_moves_is_news() {
    let mut ground = ground_with_refs();
    let mut observer = Observer::new();
    observer.look(&ground, 60);
    for command in [
        "git tag another HEAD",
        "git tag -d kept",
        "git branch side",
        "git branch -D side",
        "git branch -f topic main",
        "git update-ref refs/own/other main",
        "git update-ref -d refs/own/place",
        "git push -q origin --delete topic",
        "git stash drop -q",
        "git worktree remove --force ../beside",
        "git pack-refs --all --prune",
    ] {
        ground.done("app", command);
        let report = observer.look(&ground, 60);
        // where refs are packed anew each of them is what it was, and nobody has to open anything
        let is_news = !command.starts_with("git pack-refs");
        assert!(opened(&report) > 0 || !is_news, "{command}");
        assert_eq!(
            opened(&observer.look(&ground, 120)),
            0,
            "{command}, and no news"
        );
    }
}

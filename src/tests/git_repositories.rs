//! Repositories of every kind and state, made with the real `git`: each is read, or named, and none stops
//! a run.

use super::git::Site;
use crate::cli::Exit;
use crate::model::time::Time;
use crate::store::{Access, GitUnit, Store};
use std::fs;

/// Two commits, and the second one taken back. Gives it.
fn take_one_back(site: &mut Site) -> String {
    site.commit("one", "1\n", "first");
    let lost = site.commit("two", "2\n", "second");
    site.git("reset -q --hard HEAD~1");
    lost
}

fn undone(site: &Site, commit: &str) -> Vec<String> {
    site.told(&format!("--commit {commit}"))
}

#[test]
fn a_bare_repository_is_read_through_its_work_tree() {
    let mut site = Site::new();
    site.commit("a", "a\n", "first");
    let bare = site.desk.path("p/.bare");
    site.git(&format!("clone -q --bare . {}", bare.display()));
    let tree = site.desk.path("p/tree");
    site.git_in(
        &bare,
        &format!("worktree add -q -b work {}", tree.display()),
    );
    site.repo = tree;
    site.user("try it here");
    let lost = take_one_back(&mut site);
    site.run();
    assert_eq!(undone(&site, &lost), ["undid reset --hard", "made commit"]);
    // the work tree goes: what was told of it stays, and nothing fails
    fs::remove_dir_all(&site.repo).unwrap();
    site.git_in(&bare, "worktree prune");
    site.run();
    assert_eq!(undone(&site, &lost)[0], "undid reset --hard");
}

#[test]
fn a_shallow_clone_ends_where_it_ends() {
    let mut site = Site::new();
    for n in 0..3 {
        site.commit("n", &format!("{n}\n"), &format!("number {n}"));
    }
    let (origin, clone) = (site.repo.clone(), site.desk.path("shallow"));
    let line = format!(
        "clone -q --depth 1 file://{} {}",
        origin.display(),
        clone.display()
    );
    site.git(&line);
    site.repo = clone;
    site.user("take it from here");
    let lost = site.commit("b", "b\n", "mine");
    site.git("reset -q --hard HEAD~1");
    site.run();
    assert_eq!(undone(&site, &lost), ["undid reset --hard", "made commit"]);
    let document = site.ask(&format!("why --commit {lost}"));
    assert_eq!(document["operations"][0]["left_count"], 1);
}

#[test]
fn a_submodule_is_a_repository_of_its_own() {
    let mut site = Site::new();
    site.commit("a", "a\n", "of the library");
    let (library, around) = (site.repo.clone(), site.desk.path("around"));
    fs::create_dir_all(&around).unwrap();
    site.git_in(&around, "init -q -b main");
    let add = format!(
        "-c protocol.file.allow=always submodule --quiet add {} lib",
        library.display()
    );
    site.git_in(&around, &add);
    site.git_in(&around, "commit -q -m with-a-library");
    site.repo = around.join("lib");
    site.user("change the library");
    let lost = site.commit("b", "b\n", "in the submodule");
    site.git("reset -q --hard HEAD~1");
    site.run();
    assert_eq!(undone(&site, &lost), ["undid reset --hard", "made commit"]);
    let document = site.ask(&format!("why --commit {lost}"));
    let root = document["operations"][0]["project_path"].as_str().unwrap();
    assert!(root.ends_with("/around/lib"), "{root}");
}

#[test]
fn commits_that_were_collected_are_told_without_their_files() {
    let mut site = Site::new();
    site.user("clean up");
    let lost = take_one_back(&mut site);
    let log = site.repo.join(".git/logs/HEAD");
    let kept = fs::read(&log).unwrap();
    site.git("reflog expire --expire=now --all");
    site.git("gc -q --prune=now");
    fs::write(&log, kept).unwrap();
    site.run();
    let branch = site.ask("why --branch main");
    let reset = &branch["operations"][0];
    assert_eq!(
        (&reset["operation"], reset["left_count"].as_u64()),
        (&"reset".into(), Some(0))
    );
    assert_eq!(reset["commit_from"], lost);
    assert!(reset["missing"].is_string(), "{reset}");
    assert_eq!(
        undone(&site, &lost[..9]),
        Vec::<String>::new(),
        "nothing says what became of it"
    );
}

#[test]
fn damaged_objects_and_a_damaged_index_stop_nobody() {
    let mut site = Site::new();
    site.user("break it");
    let lost = take_one_back(&mut site);
    let object = site
        .repo
        .join(".git/objects")
        .join(&lost[..2])
        .join(&lost[2..]);
    fs::remove_file(&object).unwrap();
    fs::write(&object, "no object").unwrap();
    fs::write(site.repo.join(".git/index"), "no index").unwrap();
    site.run();
    let branch = site.ask("why --branch main");
    let reset = &branch["operations"][0];
    assert_eq!(reset["operation"], "reset");
    assert!(reset["missing"].is_string(), "{reset}");
}

#[test]
fn a_damaged_repository_is_named_once_and_read_again_when_it_is_mended() {
    let mut site = Site::new();
    site.user("hello");
    let lost = take_one_back(&mut site);
    let head = site.repo.join(".git/HEAD");
    let sound = fs::read(&head).unwrap();
    fs::write(&head, "\0\0nothing").unwrap();
    site.save();
    let run = "sessionmill run --steps ingest,track,report";
    let ran = site.desk.run(run);
    assert_eq!(ran.exit, Exit::Partial, "{}", ran.shown());
    assert!(ran.stderr.contains("repository ~/app"), "{}", ran.shown());
    assert_eq!(
        site.ask("sessions")["sessions"].as_array().unwrap().len(),
        1
    );
    // nothing changed: it was named
    let again = site.desk.run(run);
    assert_eq!(
        (again.exit, again.stderr.as_str()),
        (Exit::Done, ""),
        "{}",
        again.shown()
    );
    let doctor = |site: &Site| {
        let ran = site.desk.run("sessionmill doctor");
        ran.stdout.contains("repository-unreadable: ~/app/.git")
    };
    assert!(doctor(&site), "whoever asks is told");
    let off = r#"{"version": "1.0", "defaults": {"enabled": true},
        "projects": {"app": {"project_root": "~/app", "enabled": false}}}"#;
    let on = r#"{"version": "1.0", "defaults": {"enabled": true}}"#;
    site.desk.write(".graphiti/tracking-config.json", off);
    assert!(!doctor(&site), "it is left alone");
    site.desk.write(".graphiti/tracking-config.json", on);
    fs::write(&head, sound).unwrap();
    site.run();
    assert!(!doctor(&site));
    assert_eq!(undone(&site, &lost), ["undid reset --hard", "made commit"]);
}

#[test]
fn an_interactive_rebase_with_a_conflict_is_one_operation() {
    let mut site = Site::new();
    site.user("tidy the branch");
    site.commit("a", "a\n", "first");
    site.git("checkout -q -b side");
    let dropped = site.commit("b", "b\n", "to be dropped");
    site.commit("a", "side\n", "in conflict");
    site.git("checkout -q main");
    site.commit("a", "main\n", "moved on");
    site.git("checkout -q side");
    let repo = site.repo.clone();
    let rebase = "-c \"sequence.editor=sed -i 1d\" rebase -i main";
    let (ok, said) = site.try_git(&repo, rebase);
    assert!(!ok, "there is a conflict: {said}");
    site.run();
    let is_told = |site: &Site| {
        site.told("--branch side")
            .iter()
            .any(|o| o.contains("rebase"))
    };
    assert!(!is_told(&site), "it is under way");
    site.write("a", "both\n");
    site.git("add a");
    site.git("rebase --continue");
    site.run();
    assert_eq!(site.told("--branch side")[0], "undid rebase");
    assert_eq!(undone(&site, &dropped)[0], "undid rebase");
    // one that is broken off leaves everything as it was
    let (ok, _) = site.try_git(
        &repo,
        "-c \"sequence.editor=sed -i 1ibreak\" rebase -i HEAD~1",
    );
    assert!(ok, "it stops at the break");
    site.git("rebase --abort");
    site.run();
    assert!(
        site.told("--branch side")[0].ends_with("rebase (aborted)"),
        "{:?}",
        site.told("--branch side")
    );
}

#[test]
fn pulls_merge_rebase_and_are_forced() {
    let mut site = Site::new();
    site.commit("a", "a\n", "first");
    let (origin, clone) = (site.repo.clone(), site.desk.path("clone"));
    site.git(&format!(
        "clone -q {} {}",
        origin.display(),
        clone.display()
    ));
    let theirs = |site: &mut Site, n: u32| {
        site.repo = origin.clone();
        let hash = site.commit(&format!("t{n}"), "t\n", &format!("theirs {n}"));
        site.repo = clone.clone();
        hash
    };
    site.repo = clone.clone();
    site.user("keep up with them");
    theirs(&mut site, 1);
    site.git("pull -q --ff-only");
    let mine = site.commit("m1", "m\n", "mine 1");
    theirs(&mut site, 2);
    site.git("pull -q --no-rebase --no-edit");
    theirs(&mut site, 3);
    let rebased = site.commit("m2", "m\n", "mine 2");
    site.git("pull -q --rebase=merges");
    site.run();
    let told = site.told("--branch main");
    let pulls: Vec<&String> = told.iter().filter(|o| o.contains("pull")).collect();
    assert_eq!(
        pulls,
        ["undid pull", "made pull", "made pull (fast-forward)"],
        "{told:?}"
    );
    assert!(undone(&site, &rebased).contains(&"made commit".to_owned()));
    assert!(undone(&site, &mine).contains(&"made commit".to_owned()));
    // they rewrite their history, and we follow
    site.git_in(&origin, "reset -q --hard HEAD~2");
    theirs(&mut site, 4);
    site.git("fetch -q");
    site.git("reset -q --hard origin/main");
    site.run();
    assert_eq!(undone(&site, &mine)[0], "undid reset --hard");
}

#[test]
fn stashes_that_are_taken_back_or_dropped() {
    let mut site = Site::new();
    site.user("put it aside");
    site.commit("a", "a\n", "first");
    for (n, end) in ["stash pop -q", "stash drop -q", "stash list"]
        .iter()
        .enumerate()
    {
        site.write("a", &format!("change {n}\n"));
        site.git("stash -q");
        site.git(end);
        if *end != "stash list" {
            site.git("checkout -q -- a");
        }
        site.run();
    }
    let told = site.told("--branch main");
    let stashes = told.iter().filter(|o| o.ends_with("stash")).count();
    assert_eq!(
        stashes, 1,
        "what was dropped before the run left no log: {told:?}"
    );
}

#[test]
fn a_stash_in_the_place_of_another_is_told() {
    let mut site = Site::new();
    site.user("twice");
    site.commit("a", "a\n", "first");
    for n in 0..2 {
        site.write("a", &format!("change {n}\n"));
        site.git("stash -q");
        site.run();
        site.git("stash drop -q");
    }
    let told = site.told("--branch main");
    let stashes = told.iter().filter(|o| o.ends_with("stash")).count();
    assert_eq!(stashes, 2, "{told:?}");
}

#[test]
fn a_work_tree_switches_and_goes() {
    let mut site = Site::new();
    site.user("work beside");
    site.commit("a", "a\n", "first");
    let linked = site.desk.path("linked");
    site.git(&format!("worktree add -q -b one {}", linked.display()));
    site.git_in(&linked, "switch -q -c two");
    site.run();
    let told = site.told("--branch one");
    assert_eq!(told[0], "touched checkout", "{told:?}");
    fs::write(linked.join("w"), "w\n").unwrap();
    site.git_in(&linked, "add -A");
    site.git_in(&linked, "commit -q -m beside");
    site.git(&format!("worktree remove {}", linked.display()));
    site.run();
    site.git("branch -q -D two");
    site.run();
    let told = site.told("--branch two");
    assert_eq!(told[0], "undid branch deleted", "{told:?}");
}

#[test]
fn without_reflogs_what_moved_is_told() {
    let mut site = Site::new();
    site.git("config core.logAllRefUpdates false");
    site.user("no logs here");
    site.commit("a", "a\n", "first");
    let lost = site.commit("b", "b\n", "second");
    site.run();
    assert_eq!(
        site.count("git_metadata"),
        0,
        "nothing says how it came to be"
    );
    site.git("reset -q --hard HEAD~1");
    site.run();
    assert_eq!(undone(&site, &lost), ["undid moved"]);
}

#[test]
fn a_log_that_was_cut_or_written_anew_tells_nothing_twice() {
    let mut site = Site::new();
    site.user("and again");
    let lost = take_one_back(&mut site);
    site.run();
    let before = site.told("--branch main");
    let log = site.repo.join(".git/logs/HEAD");
    let text = fs::read_to_string(&log).unwrap();
    // its first lines expire, and others come until it is as long as it was
    let rest: String = text.split_inclusive('\n').skip(1).collect();
    fs::write(&log, &rest).unwrap();
    let next = site.commit("c", "c\n", "as long as it.."); // `commit (initial): first`
    assert_eq!(fs::read_to_string(&log).unwrap().len(), text.len());
    site.run();
    let after = site.told("--branch main");
    assert_eq!(after[1..], before[..], "{after:?}");
    assert_eq!(undone(&site, &next), ["made commit"]);
    assert_eq!(undone(&site, &lost)[0], "undid reset --hard");
    // no line of it is left
    fs::write(&log, "").unwrap();
    site.run();
    let last = site.commit("d", "d\n", "fourth");
    site.run();
    assert_eq!(undone(&site, &last), ["made commit"]);
    assert_eq!(site.told("--branch main").len(), after.len() + 1);
}

#[test]
fn a_repository_that_vanished_keeps_what_was_told() {
    let mut site = Site::new();
    site.user("goodbye");
    let lost = take_one_back(&mut site);
    site.run();
    let away = site.desk.path("away");
    fs::rename(&site.repo, &away).unwrap();
    site.run();
    assert_eq!(undone(&site, &lost), ["undid reset --hard", "made commit"]);
    // it comes back with news
    fs::rename(&away, &site.repo).unwrap();
    let next = site.commit("c", "c\n", "third");
    site.run();
    assert_eq!(undone(&site, &next), ["made commit"]);
    fs::remove_dir_all(site.repo.join(".git")).unwrap();
    site.run();
    assert_eq!(undone(&site, &lost), ["undid reset --hard", "made commit"]);
}

/// A session of its own in the repository.
fn begin_session(site: &Site, id: &str) {
    let line = serde_json::json!({"type": "user", "uuid": id, "parentUuid": null, "sessionId": id,
        "cwd": site.repo, "version": "2.0.1", "timestamp": Time(site.now * 1_000).rfc3339_millis(),
        "message": {"role": "user", "content": "go on here"}});
    let log = format!(".claude/projects/-{id}/{id}.jsonl");
    site.desk.write(&log, &format!("{line}\n"));
}

#[test]
fn a_repository_that_moved_does_not_tell_its_history_again() {
    let mut site = Site::new();
    site.user("work here");
    let lost = take_one_back(&mut site);
    site.run();
    let before = site.count("git_metadata");
    let moved = site.desk.path("elsewhere/app");
    fs::create_dir_all(moved.parent().unwrap()).unwrap();
    fs::rename(&site.repo, &moved).unwrap();
    site.repo = moved;
    begin_session(&site, "7a000000-0000-4000-8000-000000000001");
    site.run();
    assert_eq!(site.count("git_metadata"), before);
    assert_eq!(undone(&site, &lost), ["undid reset --hard", "made commit"]);
    let next = site.commit("c", "c\n", "after it moved");
    site.run();
    assert_eq!(undone(&site, &next), ["made commit"]);
    assert_eq!(site.count("git_metadata"), before + 1);
    // a copy has a history of its own: the first one is still there
    let copy = site.desk.path("copy");
    fs::create_dir_all(&copy).unwrap();
    site.git(&format!("clone -q . {}", copy.display()));
    fs::remove_dir_all(copy.join(".git/logs")).unwrap();
    fs::create_dir_all(copy.join(".git/logs")).unwrap();
    fs::copy(
        site.repo.join(".git/logs/HEAD"),
        copy.join(".git/logs/HEAD"),
    )
    .unwrap();
    site.repo = copy;
    begin_session(&site, "7a000000-0000-4000-8000-000000000002");
    site.run();
    assert!(site.count("git_metadata") > before + 1);
}

#[test]
fn references_in_a_reftable_are_named_as_unsupported() {
    let mut site = Site::new();
    fs::remove_dir_all(site.repo.join(".git")).unwrap();
    let (ok, said) = site.try_git(&site.repo.clone(), "init -q -b main --ref-format=reftable");
    if !ok {
        assert!(said.contains("ref-format"), "an older git: {said}");
        return;
    }
    site.user("work here");
    site.commit("a", "a\n", "first");
    site.save();
    let ran = site.desk.run("sessionmill run --steps ingest,track,report");
    assert_eq!(ran.exit, Exit::Partial, "{}", ran.shown());
    assert!(ran.stderr.contains("reftable"), "{}", ran.shown());
    let ran = site.desk.run("sessionmill doctor");
    assert!(!ran.stdout.contains("git fsck"), "{}", ran.shown());
}

#[test]
fn a_run_that_broke_off_before_its_verdicts_is_made_up_for() {
    let mut site = Site::new();
    site.user("try it");
    let lost = take_one_back(&mut site);
    site.run();
    let fate = |site: &Site| {
        site.ask(&format!("why --commit {lost}"))["operations"][0]["lost_count"].clone()
    };
    assert_eq!(fate(&site), 1);
    // what a run leaves that dies between the two: operations, and how far the log was read
    let path = site.desk.path(".graphiti/sessionmill.db");
    let mut store = Store::open(&path, Access::ReadWrite).unwrap();
    let tree = site.repo.join(".git").to_string_lossy().into_owned();
    let mut seen = store.git_seen(&tree).unwrap().unwrap();
    seen.awaits_verdict = true;
    let mut rows = store.operations(None).unwrap();
    rows.retain(|row| row.git.gives_up());
    let mut row = rows.pop().unwrap();
    let effect = &mut row.git.effect;
    (effect.is_judged, effect.lost_count) = (false, 0);
    effect.lost.clear();
    let unit = GitUnit {
        id: row.id,
        git: row.git,
        episodes: Vec::new(),
    };
    let at = Time(site.now * 1_000);
    let cursor = Some((tree.as_str(), &seen));
    store
        .put_operations(&row.project, "g", vec![unit], cursor, at)
        .unwrap();
    drop(store);
    assert_eq!(fate(&site), 0);
    site.run();
    assert_eq!(fate(&site), 1);
}

//! Tests of the files that a session changed.

use super::*;

fn line<'t>(n: u64, text: &'t str, findings: &'t [Finding]) -> LocatedItem<'t> {
    LocatedItem::sample(ItemKind::Digest, n, text, findings)
}

fn commit(subject: &str) -> [Finding; 1] {
    [Finding::Commit {
        hash: "1a2b3c4".into(),
        subject: subject.into(),
        again: false,
        size: None,
    }]
}

fn changed(path: &str, added: u64, removed: u64) -> Finding {
    Finding::Changed {
        path: path.into(),
        added,
        removed,
    }
}

fn fate(path: &str, became: FileFate) -> Finding {
    Finding::File {
        path: path.into(),
        became,
    }
}

fn sized(files: u64, added: u64, removed: u64) -> Vec<Finding> {
    let [Finding::Commit { hash, subject, .. }] = commit("a") else {
        return Vec::new();
    };
    let size = CommitSize {
        files,
        added,
        removed,
    };
    vec![Finding::Commit {
        hash,
        subject,
        again: false,
        size: Some(size),
    }]
}

/// `a.rs +1 −2`, of the findings of one call each; `~`: the lines are not exact.
fn told(calls: &[Vec<Finding>]) -> Vec<String> {
    let lines = calls.iter().map(|findings| line(1, "Action: x", findings));
    let files = files(&lines.collect::<Vec<_>>()).into_iter();
    let files = files.map(|file| file.what);
    let told = files.map(|file| match file.deleted {
        true => format!("{} gone", file.path),
        false => {
            let mark = if file.counted { "" } else { "~" };
            let (path, added, removed) = (&file.path, file.added, file.removed);
            format!("{path} {mark}+{added} −{removed}")
        }
    });
    told.collect()
}

#[test]
fn what_was_made_and_deleted_again_or_put_back_is_not_changed() {
    use FileFate::{Created, Deleted, Dropped, Restored};
    let made = || vec![changed("/p/zz_a.go", 9, 0), fate("/p/zz_a.go", Created)];
    let edited = || vec![changed("/p/b.go", 3, 1)];
    assert_eq!(
        told(&[made(), edited()]),
        ["/p/b.go ~+3 −1", "/p/zz_a.go +9 −0"]
    );
    assert_eq!(
        told(&[made(), vec![fate("/p/zz_a.go", Deleted)]]),
        Vec::<String>::new()
    );
    assert_eq!(
        told(&[made(), edited(), vec![fate("/p/zz_*.go", Dropped)]]),
        ["/p/b.go ~+3 −1"]
    );
    assert_eq!(
        told(&[made(), vec![fate("/p/z", Dropped)]]),
        ["/p/zz_a.go +9 −0"]
    );
    assert_eq!(
        told(&[edited(), vec![fate("/p/b.go", Dropped)]]),
        ["/p/b.go gone"]
    );
    assert_eq!(
        told(&[vec![fate("/p/old.go", Deleted)]]),
        ["/p/old.go gone"]
    );
    assert_eq!(told(&[vec![fate("/p/out", Dropped)]]), Vec::<String>::new());
    assert_eq!(
        told(&[edited(), vec![fate("/p", Restored)]]),
        Vec::<String>::new()
    );
    let commit = || commit("a").to_vec();
    let restored = [
        edited(),
        commit(),
        edited(),
        vec![fate("/p/b.go", Restored)],
    ];
    assert_eq!(told(&restored), ["/p/b.go ~+3 −1"]);
    assert_eq!(
        told(&[made(), vec![fate("/p", Restored)]]),
        ["/p/zz_a.go +9 −0"]
    );
}

#[test]
fn lines_are_exact_where_git_counted_them() {
    let new = [
        vec![
            changed("/p/a.go", 90, 0),
            fate("/p/a.go", FileFate::Created),
        ],
        vec![changed("/p/a.go", 10, 40)],
    ];
    assert_eq!(told(&new), ["/p/a.go ~+60 −0"]);
    let drawn = |added, removed, drawn| {
        vec![Finding::Stat {
            path: "a.go".into(),
            added,
            removed,
            of: Tree::Work,
            drawn,
        }]
    };
    let stat = |added, removed| drawn(added, removed, false);
    let edits = || vec![changed("/p/a.go", 87, 54)];
    assert_eq!(told(&[edits()]), ["/p/a.go ~+87 −54"]);
    assert_eq!(told(&[edits(), stat(33, 0)]), ["/p/a.go +33 −0"]);
    assert_eq!(
        told(&[edits(), stat(33, 0), vec![changed("/p/a.go", 1, 1)]]),
        ["/p/a.go ~+88 −55"]
    );
    let only = Finding::Stat {
        path: String::new(),
        added: 33,
        removed: 0,
        of: Tree::Staged,
        drawn: false,
    };
    let only = [only].into_iter().chain(commit("a")).collect();
    assert_eq!(told(&[edits(), only]), ["/p/a.go +33 −0"]);
    // of a bar that is drawn in proportion only the sum counts
    assert_eq!(told(&[edits(), drawn(77, 64, true)]), ["/p/a.go +87 −54"]);
    assert_eq!(told(&[edits(), drawn(77, 46, true)]), ["/p/a.go ~+87 −54"]);
    // others' lines are in it
    assert_eq!(told(&[edits(), stat(99, 10)]), ["/p/a.go ~+87 −54"]);
    assert_eq!(told(&[edits(), stat(50, 0)]), ["/p/a.go ~+87 −54"]);
}

#[test]
fn lines_are_exact_where_they_add_up_to_the_commit() {
    let edits = || vec![changed("/p/a.go", 8, 2), changed("/p/b.go", 3, 0)];
    let exact = ["/p/a.go +8 −2", "/p/b.go +3 −0"];
    let guess = ["/p/a.go ~+8 −2", "/p/b.go ~+3 −0"];
    assert_eq!(told(&[edits(), sized(2, 11, 2)]), exact);
    // a formatter, and another file
    assert_eq!(told(&[edits(), sized(2, 12, 2)]), guess);
    assert_eq!(told(&[edits(), sized(3, 11, 2)]), guess);
    let new = vec![
        changed("/p/a.go", 9, 0),
        fate("/p/a.go", FileFate::Created),
        changed("/p/a.go", 2, 3),
    ];
    assert_eq!(told(&[new, sized(1, 8, 0)]), ["/p/a.go +8 −0"]);
    let named = |path: &str| Finding::Stat {
        path: path.into(),
        added: 0,
        removed: 0,
        of: Tree::Staged,
        drawn: true,
    };
    let part = |path, added, removed| {
        let size = sized(1, added, removed);
        [named(path)].into_iter().chain(size).collect::<Vec<_>>()
    };
    let one = [edits(), part("a.go", 8, 2)];
    assert_eq!(told(&one), ["/p/a.go +8 −2", "/p/b.go ~+3 −0"]);
    let copied = [
        edits(),
        part("/w/a.go", 8, 2),
        vec![fate("/p", FileFate::Restored)],
    ];
    assert_eq!(told(&copied)[..2], guess, "copies of them were committed");
    let both = [edits(), part("a.go", 8, 2), part("b.go", 3, 0)];
    assert_eq!(told(&both), exact);
    let later = |removed| {
        let more = vec![changed("/p/b.go", 1, removed)];
        told(&[edits(), sized(2, 11, 2), more, sized(1, 1, removed)])
    };
    assert_eq!(later(0), ["/p/a.go +8 −2", "/p/b.go +4 −0"]);
    assert_eq!(
        later(1),
        ["/p/a.go +8 −2", "/p/b.go ~+4 −1"],
        "it may be one of the three"
    );
    let unseen = [
        edits(),
        sized(2, 11, 2),
        vec![named("a.go")],
        sized(1, 4, 4),
    ];
    assert_eq!(told(&unseen), ["/p/a.go ~+8 −2", "/p/b.go +3 −0"]);
    let (edits, size) = (edits(), sized(2, 11, 2));
    let rebase = "Action: Bash(git rebase main) → Successfully rebased";
    let lines = [
        line(1, "Action: x", &edits),
        line(2, "Action: x", &size),
        line(3, rebase, &[]),
    ];
    assert!(files(&lines).iter().all(|file| !file.what.counted));
}

#[test]
fn a_new_file_of_one_write_is_exact_until_something_may_have_changed_it() {
    let made = [changed("/p/a.md", 9, 0), fate("/p/a.md", FileFate::Created)];
    let ran = [Finding::Worked { key: 1 }];
    for (call, wants) in [
        ("Bash(cat a.md | head -3) → 3 lines", true),
        ("Bash(npm test 2>&1 | tail -1) → ok", true),
        ("Bash(npx prettier --write a.md) → ok", false),
        ("Bash(cargo fmt && cargo test) → ok", false),
        ("Bash(cat >> a.md << 'EOF'\nx\nEOF) → ok", false),
        ("Task(mend a.md) → done", false),
        ("Edit(b.md) → +1 −0", true),
    ] {
        let text = format!("Action: {call}");
        let lines = [line(1, "Action: Write(a.md)", &made), line(2, &text, &ran)];
        assert_eq!(files(&lines)[0].what.counted, wants, "{call}");
    }
}

#[test]
fn git_tells_the_files_that_no_call_changed() {
    let stat = |path: &str, of| Finding::Stat {
        path: path.into(),
        added: 5,
        removed: 0,
        of,
        drawn: false,
    };
    let changed = [Finding::Changed {
        path: "/p/src/a.rs".into(),
        added: 1,
        removed: 0,
    }];
    let staged = [
        stat("src/a.rs", Tree::Staged),
        stat("src/b.rs", Tree::Staged),
    ];
    let (work, last) = ([stat("c.rs", Tree::Work)], [stat("d.rs", Tree::Last)]);
    let made = commit("a");
    let found = |lines: &[LocatedItem<'_>]| -> Vec<String> {
        let files = files(lines).into_iter();
        files
            .map(|file| format!("{} {}", file.what.path, file.what.by_git))
            .collect()
    };
    let edit = line(1, "", &changed);
    let restored = [fate("/p/c.rs", FileFate::Restored)];
    let own = || "/p/src/a.rs false".to_owned();
    let committed = [edit, line(2, "", &staged), line(3, "", &made)];
    assert_eq!(found(&committed), [own(), "src/b.rs true".into()]);
    // nobody knows whose changes these are
    assert_eq!(found(&committed[..2]), [own()]);
    assert_eq!(found(&[edit, line(2, "", &work)]), [own()]);
    let helped = line(2, "Action: Task(\"mend c.rs\") → done", &[]);
    let after = [edit, helped, line(3, "", &work)];
    assert_eq!(found(&after), [own(), "c.rs true".into()]);
    let listed = [after[0], after[1], after[2], line(4, "", &staged)];
    assert_eq!(found(&listed), [own()], "it is not to be committed");
    let put_back = [after[0], after[1], after[2], line(4, "", &restored)];
    assert_eq!(found(&put_back), [own()], "it is as it was");
    let one = |path: &str, by_git: &str| is_same(path, by_git);
    assert!(one("D:\\shop\\src\\a.rs", "/d/shop/src/a.rs") && one("/home/ada/b.rs", "~/b.rs"));
    assert!(!one("/p/src/a.rs", "/q/src/a.rs") && !one("/p/data.rs", "a.rs"));
    let others = [stat("old/z.rs", Tree::Work)];
    let after = [edit, helped, line(3, "", &others)];
    assert_eq!(found(&after), [own()], "it was changed before");
    assert_eq!(found(&[edit, line(2, "", &last)]), [own()]);
    let shown = [line(1, "", &made), line(2, "", &last)];
    assert_eq!(found(&shown), ["d.rs true"]);
}

#[test]
fn what_was_committed_counts_as_git_counted_it() {
    let stat = |path: &str, lines: (u64, u64), drawn| Finding::Stat {
        path: path.into(),
        added: lines.0,
        removed: lines.1,
        of: Tree::Staged,
        drawn,
    };
    // a tool that nobody saw changed the file too
    let edits = || vec![changed("/p/faq.md", 2, 2)];
    let staged = vec![stat("faq.md", (15, 0), false)];
    let done = [edits(), staged, sized(1, 15, 0)];
    assert_eq!(told(&done), ["/p/faq.md ~+2 −2"]);
    let twice = vec![changed("/p/faq.md", 9, 2), changed("/p/faq.md", 8, 9)];
    let less = [twice, vec![stat("faq.md", (7, 1), false)], sized(1, 7, 1)];
    assert_eq!(told(&less), ["/p/faq.md +7 −1"]);
    // named, but not counted
    let named = vec![stat("b.rs", (0, 0), true), stat("c.rs", (6, 3), true)];
    let findings = [named, commit("a").to_vec()].concat();
    let lines = [line(1, "Action: x", &findings)];
    let files = files(&lines).into_iter().map(|file| file.what);
    let told = files.map(|file| (file.path, file.added, file.removed, file.counted));
    let wants = [
        ("b.rs".to_owned(), 0, 0, false),
        ("c.rs".to_owned(), 0, 0, false),
    ];
    assert_eq!(told.collect::<Vec<_>>(), wants);
}

#[test]
fn a_moved_file_has_its_new_name() {
    let moved = |from: &str, to: &str, by_git| {
        vec![Finding::Moved {
            from: from.into(),
            to: to.into(),
            by_git,
        }]
    };
    let made = || {
        vec![
            changed("/p/a/b.md", 9, 0),
            fate("/p/a/b.md", FileFate::Created),
        ]
    };
    let go = || moved("/p/a", "/p/c", false);
    assert_eq!(told(&[made(), go()]), ["/p/c/b.md +9 −0"]);
    let again = vec![changed("/p/c/b.md", 1, 1)];
    assert_eq!(told(&[made(), go(), again]), ["/p/c/b.md ~+9 −0"]);
    let windows = vec![
        changed(r"D:\p\a.md", 9, 0),
        fate(r"D:\p\a.md", FileFate::Created),
    ];
    let new = vec![changed(r"D:\p\c.md", 1, 1)];
    let go_there = moved(r"D:\p/a.md", r"D:\p/c.md", false);
    assert_eq!(told(&[windows, go_there, new]), [r"D:\p\c.md ~+9 −0"]);
    let gone = vec![fate("/p/c", FileFate::Dropped)];
    assert_eq!(told(&[made(), go(), gone]), Vec::<String>::new());
    assert_eq!(told(&[go()]), Vec::<String>::new(), "nobody kept it");
    let found = |calls: &[Vec<Finding>]| {
        let lines = calls.iter().map(|findings| line(1, "Action: x", findings));
        let files = files(&lines.collect::<Vec<_>>()).into_iter();
        let told = files.map(|file| (file.what.path, file.what.renamed_from));
        told.collect::<Vec<_>>()
    };
    let was = |path: &str, old: &str| (path.to_owned(), Some(old.to_owned()));
    let old = vec![changed("/p/old.rs", 1, 1)];
    let git = moved("/p/old.rs", "/p/new.rs", true);
    let wants = [was("/p/new.rs", "/p/old.rs")];
    assert_eq!(found(&[old, git.clone()]), wants);
    assert_eq!(found(&[git]), wants);
}

#[test]
fn a_folder_of_windows_is_deleted_however_it_is_named() {
    let path = r"D:\p\notes\a.md";
    let made = vec![changed(path, 9, 0), fate(path, FileFate::Created)];
    let gone = vec![fate(r"D:\p\notes/", FileFate::Dropped)];
    assert_eq!(told(&[made.clone(), gone]), Vec::<String>::new());
    let gone = vec![fate("/d/p/notes", FileFate::Dropped)];
    assert_eq!(told(&[made, gone]), Vec::<String>::new());
}

#[test]
fn a_path_that_git_shortened_counts_the_file_that_is_meant() {
    let stat = |path: &str, of| Finding::Stat {
        path: path.into(),
        added: 12,
        removed: 0,
        of,
        drawn: false,
    };
    let edited = || vec![changed("/p/src/shop/cart.rs", 20, 8)];
    let work = vec![stat(".../shop/cart.rs", Tree::Work)];
    assert_eq!(told(&[edited(), work]), ["/p/src/shop/cart.rs +12 −0"]);
    let other = vec![stat(".../shop/orders.rs", Tree::Staged)];
    let mut all = other;
    all.extend(commit("Round once"));
    assert_eq!(told(&[edited(), all]), ["/p/src/shop/cart.rs ~+20 −8"]);
}

#[test]
fn what_a_person_undid_is_no_change() {
    let (cart, page) = ([changed("/p/cart.rs", 9, 2)], [changed("/p/page.rs", 4, 0)]);
    let told = |said: &'static str| {
        let all = [
            line(1, "Action: Edit(cart.rs) → +9 −2", &cart),
            LocatedItem::sample(ItemKind::Prompt, 2, said, &[]),
            line(3, "Action: Edit(page.rs) → +4 −0", &page),
        ];
        files(&all)
            .into_iter()
            .map(|file| file.what.path)
            .collect::<Vec<String>>()
    };
    assert_eq!(
        told("User: I've reverted your changes, focus only on the page"),
        ["/p/page.rs"]
    );
    assert_eq!(told("User: now the page"), ["/p/cart.rs", "/p/page.rs"]);
}

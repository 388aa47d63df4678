//! What a session left in a history that others see: files, commits, pull requests. Only what git and edit
//! tools state counts: what was pushed by hand is not guessed.

use super::line::{LocatedItem, found};
use crate::model::exchange::ItemKind;
use crate::model::finding::{Finding, PullRequestState, Tree};
use crate::model::summary::{ChangedFile, PullRequest, SessionCommit, Sourced};
use crate::rules::tools::{AnswerKind, tool};
use std::collections::BTreeMap;

/// Files with their lines, by path: those that calls changed, and those that only git names.
pub fn files(lines: &[LocatedItem<'_>]) -> Vec<Sourced<ChangedFile>> {
    let mut all: BTreeMap<&str, Sourced<ChangedFile>> = BTreeMap::new();
    for (line, finding) in found(lines) {
        let Finding::Changed {
            path,
            added,
            removed,
        } = finding
        else {
            continue;
        };
        let known = all.entry(path).or_insert_with(|| {
            line.source(ChangedFile {
                path: path.clone(),
                added: 0,
                removed: 0,
                edits: 0,
                by_git: false,
            })
        });
        known.what.added += added;
        known.what.removed += removed;
        known.what.edits += 1;
    }
    let mut by_git = changed_by_git(lines);
    let edited: Vec<&str> = all.keys().copied().collect();
    by_git.retain(|path, _| !edited.iter().any(|edited| is_same(edited, path)));
    all.extend(by_git);
    all.into_values().collect()
}

/// What was changed while nobody saw it: what was about to be committed, the last commit where the
/// session made one, and the working tree once sub-agents had worked.
fn changed_by_git<'t>(lines: &[LocatedItem<'t>]) -> BTreeMap<&'t str, Sourced<ChangedFile>> {
    let mut all = BTreeMap::new();
    let mut staged = BTreeMap::new();
    let (mut commits, mut helped) = (false, false);
    for line in lines {
        helped |= !line.main || is_agents(line.item.text);
        for finding in line.item.findings {
            match finding {
                Finding::Commit { .. } => {
                    commits = true;
                    all.append(&mut staged);
                }
                Finding::Stat {
                    path,
                    added,
                    removed,
                    of,
                } => {
                    let file = line.source(ChangedFile {
                        path: path.clone(),
                        added: *added,
                        removed: *removed,
                        edits: 0,
                        by_git: true,
                    });
                    match of {
                        Tree::Staged => _ = staged.insert(path.as_str(), file),
                        Tree::Last if commits => _ = all.insert(path.as_str(), file),
                        Tree::Work if helped => _ = all.insert(path.as_str(), file),
                        Tree::Last | Tree::Work => {}
                    }
                }
                _ => {}
            }
        }
    }
    all
}

/// A call that let another agent work.
fn is_agents(text: &str) -> bool {
    let name = text.strip_prefix("Action: ").and_then(|call| {
        let end = call.find(['(', ' ']).unwrap_or(call.len());
        call.get(..end)
    });
    name.is_some_and(|name| tool(name).answer == AnswerKind::Agent)
}

/// Git names paths from a repository's root.
fn is_same(edited: &str, by_git: &str) -> bool {
    let edited = edited.replace('\\', "/");
    let above = edited.strip_suffix(by_git);
    above.is_some_and(|above| above.is_empty() || above.ends_with('/'))
}

/// One that was made again (amended, rebased, reset) counts as it was last; others with the same subject stay
/// apart.
pub fn commits(lines: &[LocatedItem<'_>]) -> Vec<Sourced<SessionCommit>> {
    let mut all: Vec<(usize, Sourced<SessionCommit>)> = Vec::new();
    let mut rewritten_at = None;
    for (at, line) in lines.iter().enumerate() {
        if rewrites(line) {
            rewritten_at = Some(at);
        }
        for finding in line.item.findings {
            match finding {
                Finding::Commit {
                    hash,
                    subject,
                    again,
                } => {
                    all.retain(|(made_at, known)| {
                        let again =
                            *again || rewritten_at.is_some_and(|rewritten| rewritten > *made_at);
                        !is_one(&known.what, hash, subject, again)
                    });
                    let commit = SessionCommit {
                        hash: hash.clone(),
                        subject: subject.clone(),
                        pushed: false,
                        by_git: false,
                        given_up: None,
                    };
                    all.push((at, line.source(commit)));
                }
                Finding::Pushed
                | Finding::PullRequest(_)
                | Finding::PullRequestState {
                    state: PullRequestState::Merged,
                    done: true,
                    ..
                } => all
                    .iter_mut()
                    .for_each(|(_, known)| known.what.pushed = true),
                _ => {}
            }
        }
    }
    all.into_iter().map(|(_, commit)| commit).collect()
}

/// A call that may give commits another hash.
fn rewrites(line: &LocatedItem<'_>) -> bool {
    const WORDS: [&str; 4] = ["--amend", "git rebase", "git reset", "git filter-branch"];
    line.item.kind == ItemKind::Digest && WORDS.iter().any(|word| line.item.text.contains(word))
}

/// Whether a commit is the known one: where one of them has no hash its subject decides, as it does once the
/// history was rewritten (`again`).
fn is_one(known: &SessionCommit, hash: &str, subject: &str, again: bool) -> bool {
    let (short, long) = match known.hash.len() < hash.len() {
        true => (known.hash.as_str(), hash),
        false => (hash, known.hash.as_str()),
    };
    match short.is_empty() || again {
        true => known.subject == subject,
        false => long.starts_with(short),
    }
}

/// The step that is left with commits; `None` where all of them were pushed or given up. Of a repository of
/// which nobody knows that it has a remote, nothing is said: a commit is no step that is left.
pub fn unpushed(commits: &[Sourced<SessionCommit>], has_remote: bool) -> Option<Sourced<String>> {
    if !has_remote {
        return None;
    }
    let is_left =
        |commit: &&Sourced<SessionCommit>| !commit.what.pushed && commit.what.given_up.is_none();
    let left: Vec<&Sourced<SessionCommit>> = commits.iter().filter(is_left).collect();
    let last = left.last()?;
    let subject = &last.what.subject;
    let what = match left.len() {
        1 => format!("{COMMITTED}{NOT_PUSHED}: {subject}"),
        many => format!("{many} commits not pushed{LAST}{subject}"),
    };
    Some(Sourced {
        what,
        episode: last.episode,
        line: last.line,
    })
}

const COMMITTED: &str = "Committed";
const NOT_PUSHED: &str = ", not pushed";
const LAST: &str = ", the last: ";

/// A step is one of [`unpushed`]; and whether it says that there is a remote.
pub fn says_unpushed(step: &str) -> Option<bool> {
    let (head, _) = step.split_once(": ")?;
    let many = head.strip_suffix(LAST.trim_end_matches(": "));
    let many = many.and_then(|head| head.split_once(' '));
    let many = many.filter(|(count, _)| count.bytes().all(|b| b.is_ascii_digit()));
    match many {
        Some((_, "commits not pushed")) => Some(true),
        Some((_, "commits made")) => Some(false),
        _ if head == COMMITTED => Some(false),
        _ => (head.strip_prefix(COMMITTED) == Some(NOT_PUSHED)).then_some(true),
    }
}

/// The log tells of a remote: something was pushed, or commands and answers name one.
pub fn has_remote(lines: &[LocatedItem<'_>]) -> bool {
    const NAMES: [&str; 4] = ["git fetch", "git pull", "origin/", "git push"];
    const NONE: [&str; 2] = [
        "No configured push destination",
        "does not appear to be a git",
    ];
    let told = found(lines).any(|(_, finding)| {
        matches!(
            finding,
            Finding::Pushed | Finding::PullRequest(_) | Finding::PullRequestState { .. }
        )
    });
    let names = |line: &LocatedItem<'_>| {
        let text = line.item.text;
        line.item.kind == ItemKind::Digest
            && NAMES.iter().any(|name| text.contains(name))
            && !NONE.iter().any(|none| text.contains(none))
    };
    told || lines.iter().any(names)
}

/// Stands behind a task that may be done.
pub const OLDER_TASK: &str = " (on the list before the last commit)";

/// Nobody knows whether the task is open.
pub fn is_older_task(step: &str) -> bool {
    step.ends_with(OLDER_TASK)
}

/// Says of tasks that were open before the last commit that they may be done: nobody ticked them off.
pub fn note_older(
    tasks: &mut [Sourced<String>],
    commits: &[Sourced<SessionCommit>],
    lines: &[LocatedItem<'_>],
) {
    let Some(last) = commits.last() else { return };
    let place = |episode, at| {
        let mut lines = lines.iter();
        lines.position(|line| (line.episode, line.line) == (episode, at))
    };
    let last = place(last.episode, last.line);
    for task in tasks {
        if place(task.episode, task.line) < last {
            task.what.push_str(OLDER_TASK);
        }
    }
}

/// Those that were opened, and others that were merged or closed, each in its last state.
pub fn pull_requests(lines: &[LocatedItem<'_>]) -> Vec<Sourced<PullRequest>> {
    let mut all: Vec<Sourced<PullRequest>> = Vec::new();
    for (line, finding) in found(lines) {
        let (named, now, done) = match finding {
            Finding::PullRequest(address) => (address, None, true),
            Finding::PullRequestState { named, state, done } => (named, Some(*state), *done),
            _ => continue,
        };
        let known = match named.as_str() {
            "" => all.last_mut(),
            named => all
                .iter_mut()
                .find(|known| is_meant(&known.what.address, named)),
        };
        match known {
            Some(known) => known.what.state = now.or(known.what.state),
            None if done && !named.is_empty() => all.push(line.source(PullRequest {
                address: named.clone(),
                state: now,
            })),
            None => {}
        }
    }
    all
}

/// By its address, or by its number.
fn is_meant(known: &str, named: &str) -> bool {
    let number = |name: &str| name.rsplit(['/', '#']).next().unwrap_or(name).to_owned();
    known == named
        || (known.starts_with('#') || named.starts_with('#')) && number(known) == number(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line<'t>(n: u64, text: &'t str, findings: &'t [Finding]) -> LocatedItem<'t> {
        LocatedItem::sample(ItemKind::Digest, n, text, findings)
    }

    fn commit(subject: &str) -> [Finding; 1] {
        [Finding::Commit {
            hash: format!("{:07x}", subject.bytes().map(u32::from).sum::<u32>()),
            subject: subject.into(),
            again: false,
        }]
    }

    #[test]
    fn commits_that_nobody_saw_pushed_are_left() {
        let (first, second, third) = (commit("a"), commit("b"), commit("c"));
        let pushed = [Finding::Pushed];
        let lines = [
            line(1, "", &first),
            line(2, "", &pushed),
            line(3, "", &second),
        ];
        let made = commits(&lines);
        let found: Vec<bool> = made.iter().map(|commit| commit.what.pushed).collect();
        assert_eq!(found, [true, false]);
        let left = unpushed(&made, true).expect("one");
        assert_eq!(
            (left.what.as_str(), left.line),
            ("Committed, not pushed: b", 3)
        );
        let more = commits(&[lines[2], line(4, "", &third)]);
        let left = unpushed(&more, true).expect("two");
        assert_eq!(left.what, "2 commits not pushed, the last: c");
        assert_eq!(unpushed(&commits(&lines[..2]), true), None);
    }

    #[test]
    fn commits_of_equal_subject_stay_apart_unless_one_replaced_the_other() {
        let made = |hash: &str, again: bool| {
            [Finding::Commit {
                hash: hash.into(),
                subject: "Fix typo".into(),
                again,
            }]
        };
        let (first, second, quiet) = (
            made("1a2b3c4", false),
            made("5d6e7f8", false),
            made("", false),
        );
        let hashes = |lines: &[LocatedItem<'_>]| -> Vec<String> {
            let all = commits(lines).into_iter();
            all.map(|commit| commit.what.hash).collect()
        };
        let one = line(1, "Action: Bash(git commit -m 'Fix typo') → …", &first);
        let two = |text| line(3, text, &second);
        let both = ["1a2b3c4", "5d6e7f8"];
        assert_eq!(
            hashes(&[one, two("Action: Bash(git commit -am x) → …")]),
            both
        );
        let amended = "Action: Bash(git commit --amend --no-edit) → …";
        assert_eq!(hashes(&[one, two(amended)]), ["5d6e7f8"]);
        let reset = line(2, "Action: Bash(git reset --soft HEAD~1) → ok", &[]);
        assert_eq!(hashes(&[one, reset, two("Action: x")]), ["5d6e7f8"]);
        assert_eq!(hashes(&[reset, one, two("Action: x")]), both);
        assert_eq!(hashes(&[one, line(3, "Action: x", &quiet)]), [""]);
        assert_eq!(hashes(&[one, one]), ["1a2b3c4"]);
        let third = made("9abcdef", true);
        assert_eq!(hashes(&[one, line(3, "Action: x", &third)]), ["9abcdef"]);
    }

    #[test]
    fn without_a_remote_nothing_is_said_of_pushing() {
        let (first, second) = (commit("a: b"), commit("b"));
        let (one, two) = (line(1, "", &first), line(2, "", &second));
        for (lines, wants) in [
            (&[one][..], "Committed, not pushed: a: b"),
            (&[one, two], "2 commits not pushed, the last: b"),
        ] {
            assert_eq!(unpushed(&commits(lines), false), None);
            let step = unpushed(&commits(lines), true).expect("a step").what;
            assert_eq!(step, wants);
            assert_eq!(says_unpushed(&step), Some(true), "{step}");
        }
        // as earlier versions wrote it
        for step in ["Committed: a: b", "2 commits made, the last: b"] {
            assert_eq!(says_unpushed(step), Some(false), "{step}");
        }
        for other in [
            "Committed people: ask",
            "Fix it: 2 commits made, the last: b",
            "some commits made, the last: b",
        ] {
            assert_eq!(says_unpushed(other), None, "{other}");
        }
        let digest = |text| line(3, text, &[]);
        for (text, wants) in [
            (
                "Action: Bash(git status) → Your branch is ahead of 'origin/main'",
                true,
            ),
            (
                "Action: Bash(git push) → fatal: No configured push destination.",
                false,
            ),
            ("Action: Bash(git status) → On branch main", false),
        ] {
            assert_eq!(has_remote(&[digest(text)]), wants, "{text}");
        }
    }

    #[test]
    fn a_task_that_is_older_than_the_last_commit_says_so() {
        let made = commit("a");
        let lines = [line(1, "", &[]), line(2, "", &made), line(3, "", &[])];
        let mut tasks = [
            lines[0].source("old".to_owned()),
            lines[2].source("new".to_owned()),
        ];
        note_older(&mut tasks, &commits(&lines), &lines);
        assert_eq!(tasks[0].what, "old (on the list before the last commit)");
        assert_eq!(tasks[1].what, "new");
    }

    #[test]
    fn a_pull_request_has_its_last_state_whatever_names_it() {
        use PullRequestState::{Closed, Merged, Open};
        let address = "https://github.com/us/shop/pull/7";
        let state = |named: &str, state, done| Finding::PullRequestState {
            named: named.into(),
            state,
            done,
        };
        let found = |findings: &[Finding]| -> Vec<(String, Option<PullRequestState>)> {
            let all = pull_requests(&[line(1, "", findings)]).into_iter();
            all.map(|pull| (pull.what.address, pull.what.state))
                .collect()
        };
        let opened = || Finding::PullRequest(address.into());
        let is = |state| vec![(address.to_owned(), state)];
        assert_eq!(found(&[opened()]), is(None));
        let merged = [opened(), state("#7", Merged, true)];
        assert_eq!(found(&merged), is(Some(Merged)));
        let closed = [opened(), state("", Closed, true)];
        assert_eq!(found(&closed), is(Some(Closed)));
        assert_eq!(found(&[opened(), state("#8", Open, false)]), is(None));
        let other = vec![("#9".to_owned(), Some(Merged))];
        assert_eq!(found(&[state("#9", Merged, true)]), other, "opened before");
        assert_eq!(found(&[state("#9", Merged, false)]), [], "somebody else's");
    }

    #[test]
    fn git_tells_the_files_that_no_call_changed() {
        let stat = |path: &str, of| Finding::Stat {
            path: path.into(),
            added: 5,
            removed: 0,
            of,
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
        let own = || "/p/src/a.rs false".to_owned();
        let committed = [edit, line(2, "", &staged), line(3, "", &made)];
        assert_eq!(found(&committed), [own(), "src/b.rs true".into()]);
        // nobody knows whose changes these are
        assert_eq!(found(&committed[..2]), [own()]);
        assert_eq!(found(&[edit, line(2, "", &work)]), [own()]);
        let helped = line(2, "Action: Task(\"mend it\") → done", &[]);
        let after = [edit, helped, line(3, "", &work)];
        assert_eq!(found(&after), [own(), "c.rs true".into()]);
        assert_eq!(found(&[edit, line(2, "", &last)]), [own()]);
        let shown = [line(1, "", &made), line(2, "", &last)];
        assert_eq!(found(&shown), ["d.rs true"]);
    }
}

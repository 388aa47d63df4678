//! What a session left in a history that others see: commits. Only what git states counts: what
//! was pushed by hand is not guessed.

use super::line::{LocatedItem, found};
use crate::model::exchange::ItemKind;
use crate::model::finding::{Finding, PullRequestState};
use crate::model::summary::{SessionCommit, Sourced};
use regex::Regex;
use std::sync::LazyLock;

/// A commit of the session, as far as the log was read.
struct Made<'t> {
    at: usize,
    commit: Sourced<SessionCommit>,
    /// The history was rewritten since: its hash is an old one.
    is_old: bool,
    subject: &'t str,
}

/// Those that are left at the end, under the hashes that they have then: what was amended, rebased or reset
/// counts as it was last, others with the same subject stay apart. One whose output nobody saw counts where
/// git lists it later.
pub fn commits(lines: &[LocatedItem<'_>]) -> Vec<Sourced<SessionCommit>> {
    let mut all = Commits::default();
    for (at, line) in lines.iter().enumerate() {
        all.note(&lines[..=at], line);
    }
    let made = all.made.into_iter().map(|mut made| {
        if made.is_old {
            let now = told(&lines[made.at..], &made.commit.what);
            made.commit.what.hash = now.unwrap_or_default();
        }
        made.commit
    });
    made.collect()
}

/// The session's commits so far.
#[derive(Default)]
struct Commits<'t> {
    made: Vec<Made<'t>>,
    /// Calls that commit.
    tried: Vec<&'t str>,
    rewritten_at: Option<usize>,
}

impl<'t> Commits<'t> {
    /// `until` ends with the line.
    fn note(&mut self, until: &[LocatedItem<'t>], line: &LocatedItem<'t>) {
        if let Some(command) = rewriting(line) {
            self.rewritten_at = Some(until.len() - 1);
            rewrite(&mut self.made, command);
        }
        if line.item.kind == ItemKind::Digest && line.item.text.contains("git commit") {
            self.tried.push(line.item.text);
        }
        let mut is_sent = false;
        for finding in line.item.findings {
            match finding {
                Finding::Commit {
                    hash,
                    subject,
                    again,
                } => self.make(until, hash, subject, *again),
                Finding::Listed {
                    hash,
                    subject,
                    remote,
                } => {
                    is_sent |= remote;
                    self.list(until, hash, subject, is_sent);
                }
                Finding::Pushed
                | Finding::PullRequest(_)
                | Finding::PullRequestState {
                    state: PullRequestState::Merged,
                    done: true,
                    ..
                } => self
                    .made
                    .iter_mut()
                    .for_each(|made| made.commit.what.pushed = true),
                _ => {}
            }
        }
    }

    fn make(&mut self, until: &[LocatedItem<'t>], hash: &str, subject: &'t str, again: bool) {
        let known = self.made.len();
        let rewritten_at = self.rewritten_at;
        self.made.retain(|made| {
            let again = again || rewritten_at.is_some_and(|rewritten| rewritten > made.at);
            !is_one(&made.commit.what, hash, subject, again)
        });
        let near = until.iter().rev().take(AMENDS_MAX);
        if again && known == self.made.len() && near.into_iter().any(amends) {
            self.made.pop();
        }
        self.made.extend(Made::new(until, hash, subject));
    }

    /// Git lists a commit; one that nobody saw made is the session's where a call tried to make it.
    fn list(&mut self, until: &[LocatedItem<'t>], hash: &str, subject: &'t str, is_sent: bool) {
        let known = self.made.iter_mut().rfind(|made| made.subject == subject);
        match known {
            Some(made) => made.list(hash, is_sent),
            None if self.tried.iter().any(|call| commits_as(call, subject)) => {
                let made = Made::new(until, hash, subject).map(|mut made| {
                    made.commit.what.pushed = is_sent;
                    made
                });
                self.made.extend(made);
            }
            None => {}
        }
    }
}

/// A command that commits with this first line, quoted.
fn commits_as(command: &str, subject: &str) -> bool {
    let mut found = command.match_indices(subject);
    found.any(|(at, _)| {
        let before = command[..at].ends_with(['"', '\'']);
        before && command[at + subject.len()..].starts_with(['"', '\''])
    })
}

/// Calls between an amended commit's command and what git prints of it.
const AMENDS_MAX: usize = 6;

impl<'t> Made<'t> {
    /// At the last of the lines.
    fn new(until: &[LocatedItem<'_>], hash: &str, subject: &'t str) -> Option<Made<'t>> {
        let commit = SessionCommit {
            hash: hash.to_owned(),
            subject: subject.to_owned(),
            pushed: false,
            by_git: false,
            given_up: None,
        };
        Some(Made {
            at: until.len() - 1,
            commit: until.last()?.source(commit),
            is_old: false,
            subject,
        })
    }

    /// Git lists one of its subject.
    fn list(&mut self, hash: &str, is_sent: bool) {
        let commit = &mut self.commit.what;
        let is_same = commit.hash.starts_with(hash) || hash.starts_with(&commit.hash);
        if is_same || self.is_old {
            if !is_same || commit.hash.is_empty() {
                hash.clone_into(&mut commit.hash);
            }
            self.is_old = false;
            commit.pushed |= is_sent;
        }
    }
}

fn amends(line: &LocatedItem<'_>) -> bool {
    line.item.kind == ItemKind::Digest && line.item.text.contains("--amend")
}

/// The command of a call that gave commits another hash, or left some out; `None` where it failed or found nothing
/// to do.
fn rewriting<'t>(line: &LocatedItem<'t>) -> Option<&'t str> {
    // a command that only writes of it in quotes does nothing of the kind
    static COMMAND: LazyLock<Regex> = LazyLock::new(|| {
        let rewrites = r#"rebase|reset|filter-branch|filter-repo|pull [^;&|"']*--rebase|commit [^;&|"']*--amend"#;
        let before = r"(?:[(;]|&&|\|\|)\s*(?:env )?(?:\w+=\S+ )*";
        let whole = format!(r"{before}git (?:-[Cc] \S+ )*(?:{rewrites})\b");
        Regex::new(&whole).expect("a constant")
    });
    const HINTS: [&str; 4] = ["rebase", "reset", "filter-", "--amend"];
    const NOTHING: [&str; 4] = ["up to date", "up-to-date", "--abort", "nothing to commit"];
    let text = line.item.text;
    let is_one = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let failed = |finding: &Finding| matches!(finding, Finding::Failed { .. });
    let rewrites = line.item.kind == ItemKind::Digest
        && text.contains("git ")
        && is_one(&HINTS)
        && COMMAND.is_match(text)
        && !is_one(&NOTHING)
        && !line.item.findings.iter().any(failed);
    rewrites.then_some(text)
}

/// What a command does to commits that are known: it leaves some out, and others get another hash.
fn rewrite(all: &mut Vec<Made<'_>>, command: &str) {
    static RESET: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"git reset (?:--(?:soft|mixed|hard) )?(?:HEAD|@)(?:~(\d*)|(\^+))")
            .expect("a constant")
    });
    // on a branch or under a tag they stay
    static KEEPS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"git (?:branch|tag|checkout -b|switch -c) +[\w./]").expect("a constant")
    });
    static ONTO: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"git rebase (?:-\S+ )*--onto \S+ ([0-9a-f]{7,40})\b").expect("a constant")
    });
    if let Some(back) = RESET.captures(command) {
        let before = &command[..back.get(0).map_or(0, |reset| reset.start())];
        if KEEPS.is_match(before) {
            return;
        }
        let carets = back.get(2).map_or(1, |carets| carets.len());
        let count = back.get(1).and_then(|count| count.as_str().parse().ok());
        all.truncate(all.len().saturating_sub(count.unwrap_or(carets)));
        return;
    }
    if let Some(from) = ONTO.captures(command) {
        let is_it = |made: &Made<'_>| {
            let hash = &made.commit.what.hash;
            !hash.is_empty() && (from[1].starts_with(hash) || hash.starts_with(&from[1]))
        };
        if let Some(last) = all.iter().position(is_it) {
            all.drain(..=last);
        }
    }
    let from = match command.contains("--amend") {
        true => all.len().saturating_sub(1),
        false => first_rewritten(all, command),
    };
    let plain = !command.contains("git reset");
    for made in all[from..].iter_mut().filter(|_| plain) {
        made.is_old = true;
        made.commit.what.pushed = false;
    }
}

/// The first commit that gets another hash, where a command says from which one on it rewrites.
fn first_rewritten(all: &[Made<'_>], command: &str) -> usize {
    let named = |made: &Made<'_>| {
        let hash = made.commit.what.hash.as_str();
        let found = command.match_indices(hash).filter(|_| !hash.is_empty());
        let mut rest =
            found.map(|(at, _)| command[at..].trim_start_matches(|c: char| c.is_ascii_hexdigit()));
        let first = rest.next()?;
        let mut all = [first].into_iter().chain(rest);
        Some(all.any(|rest| rest.starts_with(['^', '~'])))
    };
    let mut places = all.iter().enumerate();
    let place = places.find_map(|(at, made)| Some(at + usize::from(!named(made)?)));
    place.unwrap_or(0)
}

/// The hash by which the agent calls a commit after it was made: `1a2b3c4 Fix the login`, with marks between.
fn told(after: &[LocatedItem<'_>], commit: &SessionCommit) -> Option<String> {
    let words = after
        .iter()
        .rev()
        .filter(|line| line.item.kind == ItemKind::Agent);
    let mut said = words.filter_map(|line| {
        let text = line.words();
        let before =
            text[..text.find(&commit.subject)?].trim_end_matches(['`', ' ', '*', ':', '"', '(']);
        let hash = before.rsplit(|c: char| !c.is_ascii_hexdigit()).next()?;
        let is_new = (7..=40).contains(&hash.len()) && !commit.hash.starts_with(hash);
        is_new.then(|| hash.to_owned())
    });
    said.next()
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
    const TOLD: [&str; 5] = [
        "not pushed",
        "unpushed",
        "ahead of origin",
        "ready to push",
        "didn't push",
    ];
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
    // `1 commit ahead of origin. Ready to push.`
    let last = lines
        .iter()
        .rev()
        .find(|line| line.main && line.item.kind == ItemKind::Agent);
    let tells = last.is_some_and(|line| {
        let words = line.words().to_lowercase();
        TOLD.iter().any(|told| words.contains(told))
    });
    told || tells || lines.iter().any(names)
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

    fn made(hash: &str, subject: &str, again: bool) -> [Finding; 1] {
        [Finding::Commit {
            hash: hash.into(),
            subject: subject.into(),
            again,
        }]
    }

    fn listed(hash: &str, subject: &str, remote: bool) -> [Finding; 1] {
        [Finding::Listed {
            hash: hash.into(),
            subject: subject.into(),
            remote,
        }]
    }

    /// `1a2b3c4 One true`: hash, subject, whether it was pushed.
    fn told(lines: &[LocatedItem<'_>]) -> Vec<String> {
        let all = commits(lines).into_iter().map(|commit| commit.what);
        let told = all.map(|c| format!("{} {} {}", c.hash, c.subject, c.pushed));
        told.collect()
    }

    #[test]
    fn commits_have_the_hashes_that_they_have_at_the_end() {
        let (one, two) = (made("1a2b3c4", "One", false), made("5d6e7f8", "Two", false));
        let pushed = [Finding::Pushed];
        let (one, two) = (line(1, "", &one), line(2, "", &two));
        let push = line(3, "Action: Bash(git push) → ok", &pushed);
        // what was pushed before it was rewritten is not pushed, and nobody knows its hash
        let rebase = line(
            4,
            "Action: Bash(git rebase main) → Successfully rebased",
            &[],
        );
        assert_eq!(told(&[one, push, rebase]), [" One false"]);
        let up = line(
            4,
            "Action: Bash(git rebase main) → Current branch x is up to date.",
            &[],
        );
        assert_eq!(told(&[one, push, up]), ["1a2b3c4 One true"]);
        for words in ["rg 'git rebase' src", "git commit -m 'After git reset'"] {
            let text = format!("Action: Bash({words}) → ok");
            assert_eq!(
                told(&[one, push, line(4, &text, &[])]),
                ["1a2b3c4 One true"],
                "{text}"
            );
        }
        let now = listed("9abcdef", "One", false);
        let log = line(5, "Action: Bash(git log --oneline -1) → …", &now);
        assert_eq!(told(&[one, push, rebase, log]), ["9abcdef One false"]);
        let words = LocatedItem::sample(ItemKind::Agent, 6, "Agent: Now `9abcdef One`.", &[]);
        assert_eq!(told(&[one, rebase, words]), ["9abcdef One false"]);
        let part = "Action: Bash(git filter-branch --msg-filter 'x 5d6e7f8' 5d6e7f8^..HEAD) → ok";
        assert_eq!(
            told(&[one, two, line(4, part, &[])]),
            ["1a2b3c4 One false", " Two false"]
        );
        // an amended commit takes the place of the last one, whatever it is called
        let better = made("9abcdef", "Better", true);
        let better = line(5, "Action: Bash(git commit --amend -m Better) → …", &better);
        assert_eq!(
            told(&[one, two, push, better]),
            ["1a2b3c4 One true", "9abcdef Better false"]
        );
        // what was reset or left out is gone
        let reset = line(4, "Action: Bash(git reset --soft HEAD~2) → ok", &[]);
        assert_eq!(told(&[one, two, reset]), Vec::<String>::new());
        let onto = line(
            4,
            "Action: Bash(git rebase --onto origin/main 1a2b3c4 topic) → ok",
            &[],
        );
        assert_eq!(told(&[one, two, onto]), [" Two false"]);
        // nobody saw it made, but git lists it
        let begun = line(1, "Action: Bash(git commit -m \"One\") → running", &[]);
        let sent = listed("1a2b3c4", "One", true);
        let sent = line(2, "Action: Bash(git log --oneline) → …", &sent);
        assert_eq!(told(&[begun, sent]), ["1a2b3c4 One true"]);
        assert_eq!(told(&[sent]), Vec::<String>::new());
    }

    #[test]
    fn what_a_branch_keeps_is_not_reset_away_and_a_list_of_branches_keeps_nothing() {
        let (one, two) = (made("1a2b3c4", "One", false), made("5d6e7f8", "Two", false));
        let (one, two) = (line(1, "Action: x", &one), line(2, "Action: x", &two));
        for (before, stay) in [
            ("git branch feat", 2),
            ("git branch -a", 0),
            ("git status", 0),
        ] {
            let reset = format!("Action: Bash({before} && git reset --hard HEAD~2) → ok");
            assert_eq!(
                told(&[one, two, line(3, &reset, &[])]).len(),
                stay,
                "{before}"
            );
        }
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
}

//! What a session left in a history that others see: commits. Only what git states counts: what
//! was pushed by hand is not guessed.

use super::line::LocatedItem;
use crate::model::exchange::ItemKind;
use crate::model::finding::{Finding, PullRequestState};
use crate::model::human::plural;
use crate::model::summary::{SessionCommit, Sourced};
use crate::rules::table;
use regex::Regex;
use std::sync::LazyLock;

/// A commit of the session, as far as the log was read.
struct Made<'t> {
    at: usize,
    commit: Sourced<SessionCommit>,
    /// The history was rewritten since: its hash is an old one.
    is_old: bool,
    subject: &'t str,
    /// Where it was made; `None`: where the session works.
    folder: Option<&'t str>,
}

/// Those that are left at the end, under the hashes that they have then: what was amended, rebased or reset
/// counts as it was last, others with the same subject stay apart. One whose output nobody saw counts where
/// git lists it later.
pub fn commits(lines: &[LocatedItem<'_>]) -> Vec<Sourced<SessionCommit>> {
    let mut all = Commits::default();
    for (at, line) in lines.iter().enumerate() {
        all.note(&lines[..=at], line);
    }
    all.add_delegated(lines);
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
    /// A sub-agent worked.
    is_delegated: bool,
    /// What git listed that no call of the log made: before the first sub-agent, and behind it, with where.
    older: Vec<&'t str>,
    listed: Vec<(usize, &'t str, &'t str)>,
    rewritten_at: Option<usize>,
    /// How many commits git counted since the last commit and push that the remote branch lacks, and behind which line.
    ahead: Option<(usize, u64)>,
}

impl<'t> Commits<'t> {
    /// `until` ends with the line.
    fn note(&mut self, until: &[LocatedItem<'t>], line: &LocatedItem<'t>) {
        let folder = folder(line);
        let mut squashes = false;
        if let Some(command) = rewriting(line) {
            self.rewritten_at = Some(until.len() - 1);
            squashes = command.contains("--autosquash");
            self.rewrite(command, folder);
        }
        if line.item.kind == ItemKind::Digest {
            let text = line.item.text;
            self.is_delegated |= is_sub_agent(line);
            if text.contains("git commit") {
                self.tried.push(text);
            }
        }
        let mut is_sent = false;
        for finding in line.item.findings {
            // what is committed in the same command is squashed too
            if squashes && matches!(finding, Finding::Listed { .. } | Finding::Pushed) {
                self.squash();
                squashes = false;
            }
            match finding {
                Finding::Commit {
                    hash,
                    subject,
                    again,
                    size,
                } => {
                    let rebased = is_rebase(line) && !self.is_own(subject);
                    self.make(until, hash, subject, *again);
                    let made = self
                        .made
                        .last_mut()
                        .filter(|made| made.at + 1 == until.len());
                    self.ahead = None;
                    made.into_iter().for_each(|made| {
                        made.commit.what.rebased = rebased;
                        // what is in it is another's work
                        made.commit.what.size = size.filter(|_| !rebased);
                    });
                }
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
                } => {
                    self.ahead = None;
                    self.push(folder);
                }
                Finding::Ahead(count) => self.send(until, *count),
                _ => {}
            }
        }
        if squashes {
            self.squash();
        }
    }

    /// The last of the lines tells how many commits of the branch nobody else has: a person may have pushed those before
    /// them. Of another branch or folder it says nothing.
    fn send(&mut self, until: &[LocatedItem<'t>], ahead: u64) {
        const MOVES: [&str; 4] = [
            "git checkout ",
            "git switch ",
            "git worktree ",
            "git reset ",
        ];
        let moves = |line: &LocatedItem<'_>| {
            line.item.kind == ItemKind::Digest
                && MOVES.iter().any(|verb| line.item.text.contains(verb))
        };
        let Some(here) = until.last().map(folder) else {
            return;
        };
        let stays = |made: &Made<'_>| {
            made.folder == here && !made.is_old && !until[made.at..].iter().any(moves)
        };
        if self.made.last().is_some_and(stays) {
            self.ahead = Some((until.len() - 1, ahead));
        }
        let sent = self.made.len().saturating_sub(ahead as usize);
        for made in self.made[..sent].iter_mut() {
            made.commit.what.pushed |= stays(made);
        }
    }

    fn rewrite(&mut self, command: &str, folder: Option<&str>) {
        let all = std::mem::take(&mut self.made).into_iter();
        let (mut here, there): (Vec<_>, Vec<_>) = all.partition(|made| made.folder == folder);
        rewrite(&mut here, command);
        here.extend(there);
        here.sort_by_key(|made| made.at);
        self.made = here;
    }

    /// Those of the folder were sent to others; where none is left there nobody knows where that was.
    fn push(&mut self, folder: Option<&str>) {
        let is_left = |made: &&mut Made<'_>| !made.commit.what.pushed;
        let is_here = self
            .made
            .iter_mut()
            .filter(is_left)
            .any(|made| made.folder == folder);
        let left = self.made.iter_mut().filter(is_left);
        let left = left.filter(|made| !is_here || made.folder == folder);
        left.for_each(|made| made.commit.what.pushed = true);
    }

    /// What was made for an older commit is in that one now, whose hash is another.
    fn squash(&mut self) {
        let mut kept: Vec<Made<'t>> = Vec::new();
        for mut made in std::mem::take(&mut self.made) {
            let Some(subject) = squashed_into(made.subject) else {
                kept.push(made);
                continue;
            };
            match kept.iter_mut().rfind(|other| other.subject == subject) {
                Some(into) => into.rewrite(),
                // nobody saw the other one made
                None => {
                    made.subject = subject;
                    subject.clone_into(&mut made.commit.what.subject);
                    made.rewrite();
                    kept.push(made);
                }
            }
        }
        self.made = kept;
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

    /// The session made one with this first line, or tried to.
    fn is_own(&self, subject: &str) -> bool {
        let made = |made: &Made<'_>| made.subject == subject && !made.commit.what.rebased;
        self.made.iter().any(made) || self.tried.iter().any(|call| commits_as(call, subject))
    }

    /// Git lists a commit; one that nobody saw made is the session's where a call tried to make it.
    fn list(&mut self, until: &[LocatedItem<'t>], hash: &'t str, subject: &'t str, is_sent: bool) {
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
            None if !self.is_delegated => self.older.push(hash),
            None => self.listed.push((until.len() - 1, hash, subject)),
        }
    }

    /// Adds what sub-agents committed whose logs are not there: git lists it behind them, and the agent names it in a line
    /// with a commit of the session.
    fn add_delegated(&mut self, lines: &[LocatedItem<'t>]) {
        if self.listed.is_empty() || self.made.is_empty() {
            return;
        }
        let own: Vec<String> = self
            .made
            .iter()
            .map(|made| made.commit.what.hash.clone())
            .collect();
        let names = |text: &str, hash: &str| hash.len() >= 7 && text.contains(&hash[..7]);
        let accounts: Vec<&str> = lines
            .iter()
            .filter(|line| line.main && line.item.kind == ItemKind::Agent)
            .flat_map(|line| line.words().lines())
            .filter(|text| text.contains("ommit") && own.iter().any(|hash| names(text, hash)))
            .collect();
        for (at, hash, subject) in std::mem::take(&mut self.listed) {
            let is_older = self.older.iter().any(|older| is_same_hash(older, hash));
            let is_known = self
                .made
                .iter()
                .any(|made| is_same_hash(&made.commit.what.hash, hash));
            if is_older || is_known || !accounts.iter().any(|text| names(text, hash)) {
                continue;
            }
            let Some(mut made) = Made::new(&lines[..=at], hash, subject) else {
                continue;
            };
            let mut later = lines[at..].iter().flat_map(|line| line.item.findings);
            made.commit.what.pushed = later.any(|finding| matches!(finding, Finding::Pushed));
            // git lists the last one first
            let place = self.made.iter().position(|other| other.at >= at);
            self.made.insert(place.unwrap_or(self.made.len()), made);
        }
    }
}

/// Where a call works on a history; `None`: where the session does.
fn folder<'t>(line: &LocatedItem<'t>) -> Option<&'t str> {
    let mut findings = line.item.findings.iter();
    findings.find_map(|finding| match finding {
        Finding::Elsewhere(folder) => Some(folder.as_str()),
        _ => None,
    })
}

/// What another repository's folder is called; a worktree is the session's.
fn repository(folder: &str) -> Option<String> {
    let name = folder.rsplit('/').next().filter(|name| !name.is_empty());
    name.filter(|_| !folder.contains("worktree"))
        .map(str::to_owned)
}

/// It sends a sub-agent to work.
pub(super) fn is_sub_agent(line: &LocatedItem<'_>) -> bool {
    const CALLS: [&str; 2] = ["Action: Task(", "Action: Agent("];
    CALLS.iter().any(|call| line.item.text.starts_with(call))
}

fn is_same_hash(one: &str, other: &str) -> bool {
    !one.is_empty() && (one.starts_with(other) || other.starts_with(one))
}

/// The first line of the commit that one is to be squashed into.
pub(super) fn squashed_into(subject: &str) -> Option<&str> {
    const MARKS: [&str; 3] = ["fixup! ", "squash! ", "amend! "];
    let mut into = subject;
    while let Some(next) = MARKS.iter().find_map(|mark| into.strip_prefix(mark)) {
        into = next;
    }
    (into.len() < subject.len()).then_some(into)
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
    fn new(until: &[LocatedItem<'t>], hash: &str, subject: &'t str) -> Option<Made<'t>> {
        let line = until.last()?;
        let folder = folder(line);
        let commit = SessionCommit {
            hash: hash.to_owned(),
            subject: subject.to_owned(),
            repository: folder.and_then(repository),
            ..SessionCommit::default()
        };
        Some(Made {
            at: until.len() - 1,
            commit: line.source(commit),
            is_old: false,
            subject,
            folder,
        })
    }

    /// It has another hash now, and nobody knows what is in it.
    fn rewrite(&mut self) {
        self.is_old = true;
        let commit = &mut self.commit.what;
        (commit.pushed, commit.size) = (false, None);
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

/// The call goes on with a rebase.
fn is_rebase(line: &LocatedItem<'_>) -> bool {
    line.item.text.contains("rebase --continue")
}

fn amends(line: &LocatedItem<'_>) -> bool {
    line.item.kind == ItemKind::Digest && line.item.text.contains("--amend")
}

/// The command of a call that gave commits another hash, or left some out; `None` where it failed or found nothing
/// to do.
pub(super) fn rewriting<'t>(line: &LocatedItem<'t>) -> Option<&'t str> {
    // a command that only writes of it in quotes does nothing of the kind
    static COMMAND: LazyLock<Regex> = LazyLock::new(|| {
        let rewrites = r#"rebase|reset|filter-branch|filter-repo|pull [^;&|"']*--rebase|commit [^;&|"']*--amend"#;
        let before = r"(?:[(;]|&&|\|\|)\s*(?:env )?(?:\w+=\S+ )*";
        let whole = format!(r"{before}git (?:-[Cc] \S+ )*(?:{rewrites})\b");
        table::regex(&whole)
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
        table::regex(r"git reset (?:--(?:soft|mixed|hard) )?(?:HEAD|@)(?:~(\d*)|(\^+))")
    });
    // on a branch or under a tag they stay
    static KEEPS: LazyLock<Regex> =
        LazyLock::new(|| table::regex(r"git (?:branch|tag|checkout -b|switch -c) +[\w./]"));
    static ONTO: LazyLock<Regex> =
        LazyLock::new(|| table::regex(r"git rebase (?:-\S+ )*--onto \S+ ([0-9a-f]{7,40})\b"));
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
    all[from..]
        .iter_mut()
        .filter(|_| plain)
        .for_each(Made::rewrite);
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
        // `git commit --fixup=HASH`: that one is rewritten too
        let marks = ["--fixup=", "--squash=", "--fixup ", "--squash "];
        let is_fixed = marks
            .iter()
            .any(|mark| command.contains(&format!("{mark}{hash}")));
        Some(is_fixed || all.any(|rest| rest.starts_with(['^', '~'])))
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

/// What git counted after the last commit and push that its remote branch lacks: a step, unless that is nothing.
pub fn ahead(lines: &[LocatedItem<'_>]) -> Option<Sourced<String>> {
    let mut all = Commits::default();
    for (at, line) in lines.iter().enumerate() {
        all.note(&lines[..=at], line);
    }
    let (at, count) = all.ahead.filter(|(_, count)| *count > 0)?;
    let is_own = folder(&lines[at]).and_then(repository).is_none();
    let commits = plural(count, "commit");
    is_own.then(|| lines[at].source(format!("{commits}{COUNTED}")))
}

/// The steps that are left with commits, one for each repository, without those that were pushed or given up. What git
/// `counted` there stands for the session's own repository.
pub fn unpushed(
    commits: &[Sourced<SessionCommit>],
    counted: Option<Sourced<String>>,
) -> Vec<Sourced<String>> {
    let mut left: Vec<(Option<&str>, Vec<&Sourced<SessionCommit>>)> = Vec::new();
    for commit in commits {
        if commit.what.pushed || commit.what.given_up.is_some() {
            continue;
        }
        let repository = commit.what.repository.as_deref();
        match left.iter_mut().find(|(known, _)| *known == repository) {
            Some((_, commits)) => commits.push(commit),
            None => left.push((repository, vec![commit])),
        }
    }
    let mut counted = counted;
    let steps = left.into_iter().filter_map(|(repository, commits)| {
        let last = commits.last()?;
        let counted = counted.take_if(|_| repository.is_none());
        Some(counted.unwrap_or_else(|| Sourced {
            what: no_push_seen(&commits, repository),
            episode: last.episode,
            line: last.line,
        }))
    });
    steps.collect()
}

/// `No push seen of 1a2b3c4, 5d6e7f8 in lib`.
fn no_push_seen(commits: &[&Sourced<SessionCommit>], repository: Option<&str>) -> String {
    let hashes = commits.iter().map(|commit| commit.what.hash.as_str());
    let hashes: Vec<&str> = hashes.filter(|hash| !hash.is_empty()).collect();
    let named = match commits {
        [commit] if hashes.is_empty() => commit.what.subject.clone(),
        _ if hashes.len() == commits.len() && hashes.len() <= NAMED_MAX => hashes.join(", "),
        _ => plural(commits.len() as u64, "commit"),
    };
    let place = repository.map_or(String::new(), |name| format!(" in {name}"));
    format!("{NO_PUSH}{named}{place}")
}

/// Hashes of more commits say no more than how many they are.
const NAMED_MAX: usize = 6;

const NO_PUSH: &str = "No push seen of ";
const COUNTED: &str = " not pushed, as git status counted";

/// A step is one of [`unpushed`]; and whether git counted it.
pub fn says_unpushed(step: &str) -> Option<bool> {
    let is_counted = step.ends_with(COUNTED);
    (is_counted || step.starts_with(NO_PUSH)).then_some(is_counted)
}

/// The log tells that nothing can be pushed: git says so, or the repository was made in the session.
pub fn has_no_remote(lines: &[LocatedItem<'_>]) -> bool {
    const SAYS: [&str; 3] = [
        "git init",
        "No configured push destination",
        "does not appear to be a git",
    ];
    let tells = |line: &LocatedItem<'_>| {
        let text = line.item.text;
        line.item.kind == ItemKind::Digest && SAYS.iter().any(|says| text.contains(says))
    };
    lines.iter().any(tells)
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
mod tests;

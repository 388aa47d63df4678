//! What calls did to a history that others see: commits, pushes, pull requests, as git and its
//! helpers print them; and which files commands deleted or put back.

use super::ahead::{ahead, behind};
use super::ended::Ended;
use super::line::{self, TEXT_CHARS_MAX};
use super::place;
use super::pulls::{address, state, title};
use crate::model::entry::CallStatus;
use crate::model::finding::{CommitSize, FileFate, Finding, PullRequestState, Tree};
use crate::rules::commands::history::{self, Act, HistoryAction};
use crate::rules::literals::LiteralFinder;
use crate::rules::paths::is_throwaway;
use crate::rules::tools::AnswerKind;
use aho_corasick::AhoCorasick;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Files of one diffstat that are told; real ones have fewer.
const FILES_MAX: usize = 200;

/// Commits of one list that are told: the last ones, of which a session may have made some.
const LISTED_MAX: usize = 12;

/// What a call made of a history. A call that polls has no command: there only what git prints on its
/// own is believed, and of one that failed only what it printed before it did.
pub fn found(ended: &Ended<'_>) -> Vec<Finding> {
    let mut acts = ended.call.acts();
    let is_away = |cwd: &str| is_throwaway(&format!("{cwd}/"));
    // a session that lives there works there, one of which nobody knows where it lives may
    if acts.iter().any(|act| act.away) && !ended.call.cwd.is_none_or(is_away) {
        acts.retain(|act| !act.away);
    }
    let asks = acts.iter().any(|act| act.does == HistoryAction::Poll);
    let polled = asks || ended.call.row.answer == AnswerKind::Poll;
    let parts = ended.output.parts();
    let prints = |part: &&str| part.starts_with("To ") || PRINTED.is_match(*part);
    if acts.is_empty() && !(polled && parts.iter().any(prints)) {
        return Vec::new();
    }
    let masked = ended.output.masked_parts();
    let from = ended.call.text("workdir").filter(|dir| !dir.is_empty());
    let from = from.map(|dir| line::absolute(dir, ended.call.cwd));
    let from = from.as_deref().or(ended.call.cwd);
    let seen = Seen {
        acts,
        masked: &masked,
        polled,
        worked: ended.status == CallStatus::Ok,
        is_chain: ended.call.is_chain(),
    };
    let is_of_last = |stat: &Finding| matches!(stat, Finding::Stat { of: Tree::Last, .. });
    let (last, mut found): (Vec<_>, Vec<_>) = seen.stats().into_iter().partition(is_of_last);
    found.splice(0..0, seen.named());
    found.extend(place::elsewhere(&seen.acts, from, ended.call.cwd));
    found.extend(seen.files(from));
    let commits = seen.commits();
    found.extend(seen.only_file(&commits));
    found.extend(seen.committed_files(&commits, from));
    let ahead = seen.ahead(&commits);
    found.extend(commits.into_iter().chain(last));
    found.extend(seen.listed());
    found.extend(seen.is_pushed().then_some(Finding::Pushed));
    found.extend(ahead);
    found.extend(seen.runs());
    found.extend(seen.pull_requests());
    found.extend(seen.compared());
    found
}

/// What git prints of a commit and of a push that somebody else's output seldom has.
static PRINTED: LazyLock<AhoCorasick> =
    LazyLock::new(|| AhoCorasick::new([" changed, ", "\nTo "]).expect("words"));

struct Seen<'a> {
    acts: Vec<Act>,
    /// Start and end of the output, masked.
    masked: &'a [Cow<'a, str>; 2],
    polled: bool,
    worked: bool,
    /// Each command of its line ran only if those before it worked.
    is_chain: bool,
}

impl Seen<'_> {
    fn does(&self, action: HistoryAction) -> impl Iterator<Item = &Act> {
        self.acts.iter().filter(move |act| act.does == action)
    }

    fn has(&self, action: HistoryAction) -> bool {
        self.does(action).next().is_some()
    }

    fn lines(&self) -> impl Iterator<Item = &str> {
        self.masked.iter().flat_map(|part| part.lines())
    }

    /// Those that git printed; where it was told to be quiet those that the command made.
    fn commits(&self) -> Vec<Finding> {
        let picks = self.has(HistoryAction::Pick) && !self.has(HistoryAction::Commit);
        let asked = picks || self.has(HistoryAction::Commit);
        if !asked && !self.polled {
            return Vec::new();
        }
        let lines: Vec<&str> = self.lines().collect();
        let printed = lines.iter().enumerate().filter_map(|(at, line)| {
            let below = &lines[at + 1..];
            // of several that are picked, those before the one that conflicts are made
            let near = below.iter().take(if picks { TOTAL_LINES } else { 1 });
            let is_sure =
                asked && self.worked || near.into_iter().any(|line| total(line).is_some());
            is_sure.then(|| commit(line, below))?
        });
        let mut printed: Vec<Finding> = printed.collect();
        for commit in &mut printed {
            // what is picked keeps the date of the other one, which stays
            if let Finding::Commit { again, .. } = commit {
                *again &= !picks;
            }
        }
        match printed.is_empty() && self.worked {
            true => self.quiet_commits(),
            false => printed,
        }
    }

    fn quiet_commits(&self) -> Vec<Finding> {
        let printed = history::printed();
        let says = |words: &LiteralFinder| self.masked.iter().any(|part| words.is_match(part));
        if says(&printed.refused) {
            return Vec::new();
        }
        let proved = says(&printed.proved);
        let acts = self
            .does(HistoryAction::Commit)
            .filter(|act| act.marked || proved);
        let named = acts.filter_map(|act| act.names.as_deref());
        let commits = named.map(|subject| {
            let subject = line::folded(subject, TEXT_CHARS_MAX).into_owned();
            let hash = self.lines().find_map(|line| {
                let (hash, rest) = line.trim().split_once(' ')?;
                (is_hash(hash) && rest.ends_with(&subject)).then(|| hash.to_owned())
            });
            Finding::Commit {
                hash: hash.unwrap_or_default(),
                subject,
                again: false,
                size: None,
            }
        });
        commits.collect()
    }

    /// What git says of the only file that the first of these commits changed.
    fn only_file(&self, commits: &[Finding]) -> Option<Finding> {
        let size = size_of(commits.first()?).or_else(|| self.lines().find_map(total))?;
        (size.files == 1).then(|| told("", (size.added, size.removed), Tree::Staged, false))
    }

    /// The files of commits, where the commands name as many as git counted, and those that git prints as new.
    fn committed_files(&self, commits: &[Finding], from: Option<&str>) -> Vec<Finding> {
        let mut found = Vec::new();
        let steps = [HistoryAction::Add, HistoryAction::Commit];
        let acts: Vec<&Act> = self
            .acts
            .iter()
            .filter(|act| steps.contains(&act.does))
            .collect();
        let groups = acts.split_inclusive(|act| act.does == HistoryAction::Commit);
        let groups: Vec<&[&Act]> = groups.collect();
        let is_told = groups.len() == commits.len();
        for (group, commit) in groups.iter().zip(commits).filter(|_| is_told) {
            let added = group.iter().filter(|act| act.does == HistoryAction::Add);
            let named = added.map(|act| Some(place::seen_from(act.names.as_deref()?, from)));
            let named: Option<BTreeSet<Cow<'_, str>>> = named.collect();
            let (Some(named), Some(size)) = (named, size_of(commit)) else {
                continue;
            };
            if named.len() as u64 != size.files {
                continue;
            }
            // of a commit that was made again git counts what it had before too
            let counts = size.files == 1 && !matches!(commit, Finding::Commit { again: true, .. });
            let lines = if counts {
                (size.added, size.removed)
            } else {
                (0, 0)
            };
            found.extend(
                named
                    .into_iter()
                    .map(|path| told(&path, lines, Tree::Staged, !counts)),
            );
        }
        let made = (!commits.is_empty()).then(|| self.lines().filter_map(made));
        found.extend(
            made.into_iter()
                .flatten()
                .map(|path| told(path, (0, 0), Tree::Staged, true)),
        );
        found.truncate(FILES_MAX);
        found
    }

    /// Commits as a list of one line each has them.
    fn listed(&self) -> Vec<Finding> {
        if !self.has(HistoryAction::Log) && !self.has(HistoryAction::StatLast) || !self.worked {
            return Vec::new();
        }
        let listed = self.lines().filter_map(listed);
        listed.take(LISTED_MAX).collect()
    }

    /// `from` is where the line begins.
    fn files(&self, from: Option<&str>) -> Vec<Finding> {
        let place = |path: &str| line::absolute(path, from);
        let file = |act: &Act| {
            if let (Some(old), Some(new)) = (act.names.as_deref(), act.to.as_deref()) {
                return Some(Finding::Moved {
                    from: place(old),
                    to: place(new),
                    by_git: act.does == HistoryAction::Rename,
                });
            }
            let became = match act.does {
                HistoryAction::Delete => FileFate::Deleted,
                HistoryAction::Drop => FileFate::Dropped,
                HistoryAction::Restore => FileFate::Restored,
                _ => return None,
            };
            let path = match act.names.as_deref()? {
                "." => from?.to_owned(),
                path => place(path),
            };
            Some(Finding::File { path, became })
        };
        let done = &self.acts[..self.done()];
        done.iter().filter_map(file).collect()
    }

    /// How many of its acts were done: of a chain that stopped those before the one whose file the error names.
    fn done(&self) -> usize {
        if self.worked {
            return self.acts.len();
        }
        let errors = ["error: ", "fatal: ", "rm: ", "mv: "];
        let is_told = self
            .lines()
            .any(|line| errors.iter().any(|label| line.starts_with(label)));
        let is_named = |act: &Act| {
            let name = act.names.as_deref().filter(|name| name.len() > 2);
            name.is_some_and(|name| self.masked.iter().any(|part| names(part, name)))
        };
        let stopped = self.acts.iter().position(is_named);
        stopped.filter(|_| is_told && self.is_chain).unwrap_or(0)
    }

    /// Git says where it sent them; told to be quiet, nothing says that it didn't.
    fn is_pushed(&self) -> bool {
        let asked = self.has(HistoryAction::Push);
        if !asked && !self.polled {
            return false;
        }
        let sent = self.masked.iter().any(|part| {
            let mut lines = part.lines().skip_while(|line| !line.starts_with("To "));
            lines.any(|line| line.contains(" -> ") && !line.trim_start().starts_with('!'))
        });
        let refused = || {
            let words = &history::printed().unsent;
            self.masked.iter().any(|part| words.is_match(part))
        };
        sent || asked && self.worked && !refused()
    }

    /// What `git status` says first, or `git status -sb`, or git where it finds nothing to commit; not what it said before
    /// the call changed that.
    fn ahead(&self, commits: &[Finding]) -> Vec<Finding> {
        use HistoryAction::{Commit, Pick, Push, Status};
        let of_branch = |act: &&Act| matches!(act.does, Commit | Pick | Push | Status);
        let is_told = match self.acts.iter().rfind(of_branch).map(|act| act.does) {
            Some(Status) => self.worked,
            Some(Commit) => commits.is_empty() && !self.has(Push),
            _ => false,
        };
        let mut told = self.lines().filter(|_| is_told);
        let Some((line, here)) = told.find_map(|line| Some((line, ahead(line)?))) else {
            return Vec::new();
        };
        let diverged = behind(line).map(|there| Finding::Diverged { here, there });
        [Finding::Ahead(here)].into_iter().chain(diverged).collect()
    }

    /// Checks that run elsewhere, as `gh run list` lists them.
    fn runs(&self) -> Vec<Finding> {
        if !self.has(HistoryAction::Runs) || !self.worked {
            return Vec::new();
        }
        self.lines().filter_map(run).take(LISTED_MAX).collect()
    }

    fn pull_requests(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        if !self.worked {
            return found;
        }
        for act in &self.acts {
            let state = match act.does {
                HistoryAction::Open => {
                    found.extend(self.opened(act));
                    continue;
                }
                HistoryAction::Merge => PullRequestState::Merged,
                HistoryAction::Close => PullRequestState::Closed,
                HistoryAction::Reopen => PullRequestState::Open,
                _ => continue,
            };
            found.push(Finding::PullRequestState {
                named: act.names.clone().unwrap_or_default(),
                state,
                done: true,
            });
        }
        found.extend(self.looked());
        found.extend(self.titled());
        found
    }

    /// With its state where that says more than that it is open.
    fn opened(&self, act: &Act) -> Vec<Finding> {
        let [head, _] = self.masked;
        let Some(address) = address(head) else {
            return Vec::new();
        };
        let opened = Finding::PullRequest(address.to_owned());
        let draft = act.marked || state(head) == Some(PullRequestState::Draft);
        let draft = draft.then(|| Finding::PullRequestState {
            named: address.to_owned(),
            state: PullRequestState::Draft,
            done: true,
        });
        [opened].into_iter().chain(draft).collect()
    }

    /// What a look says of one pull request; of several nobody knows which is which.
    fn looked(&self) -> Option<Finding> {
        let mut looks = self.does(HistoryAction::Look);
        let (look, None) = (looks.next()?, looks.next()) else {
            return None;
        };
        let [head, _] = self.masked;
        let named = address(head).map(str::to_owned).or(look.names.clone());
        Some(Finding::PullRequestState {
            named: named.unwrap_or_default(),
            state: state(head)?,
            done: false,
        })
    }

    /// What the pull request or issue is called that was looked at; of several nobody knows which is which.
    fn titled(&self) -> Option<Finding> {
        use HistoryAction::{Look, LookIssue};
        let is_look = |act: &&Act| matches!(act.does, Look | LookIssue);
        let mut looks = self.acts.iter().filter(is_look);
        let (look, None) = (looks.next()?, looks.next()) else {
            return None;
        };
        if !look.marked {
            return None;
        }
        Some(Finding::Titled {
            named: look.names.clone().unwrap_or_default(),
            title: line::folded(&title(self.masked)?, TEXT_CHARS_MAX).into_owned(),
        })
    }

    /// How much differs from another branch or commit, where one diffstat was printed.
    fn compared(&self) -> Option<Finding> {
        let is_one = self.worked && self.has(HistoryAction::Compare);
        let mut totals = self.lines().filter(|_| is_one).filter_map(total);
        let (size, None) = (totals.next()?, totals.next()) else {
            return None;
        };
        Some(Finding::Compared(size))
    }

    /// Files that `git status --short` names beside a diffstat, which leaves out new ones.
    fn named(&self) -> Vec<Finding> {
        let is_short = self.does(HistoryAction::Status).any(|act| act.marked);
        let is_whole = is_short && self.does(HistoryAction::Stat).any(|act| !act.marked);
        let lines = self.lines().filter(|_| is_whole && self.worked);
        let named = lines.filter_map(place::listed).take(FILES_MAX);
        let named = named.map(|path| told(path, (0, 0), Tree::Work, true));
        named.collect()
    }

    fn stats(&self) -> Vec<Finding> {
        let of = |act: &Act| match (act.does, act.marked) {
            (HistoryAction::Stat, false) => Some(Tree::Work),
            (HistoryAction::Stat, true) => Some(Tree::Staged),
            (HistoryAction::StatLast, _) => Some(Tree::Last),
            _ => None,
        };
        let Some(of) = self.acts.iter().find_map(of).filter(|_| self.worked) else {
            return Vec::new();
        };
        let mut stats: Vec<FileStat<'_>> = self.lines().filter_map(stat).take(FILES_MAX).collect();
        let mut totals = self.lines().filter_map(total);
        if let (Some(size), None) = (totals.next(), totals.next()) {
            count_last(&mut stats, size);
        }
        let findings = stats.into_iter();
        let findings =
            findings.map(|stat| told(stat.path, (stat.added, stat.removed), of, stat.drawn));
        findings.collect()
    }
}

/// `[main 1a2b3c4] Fix the tests`, `[main (root-commit) 1a2b3c4] Begin`, with what stands below it.
fn commit(line: &str, below: &[&str]) -> Option<Finding> {
    let (place, subject) = line.trim().strip_prefix('[')?.split_once("] ")?;
    let hash = place.rsplit(' ').next()?;
    (is_hash(hash) && place.contains(' ')).then(|| Finding::Commit {
        hash: hash.to_owned(),
        subject: line::folded(subject, TEXT_CHARS_MAX).into_owned(),
        again: below.first().is_some_and(|line| is_date(line)),
        size: below.iter().take(TOTAL_LINES).find_map(|line| total(line)),
    })
}

/// Below a commit's line: author and date may stand before its size.
const TOTAL_LINES: usize = 3;

fn size_of(commit: &Finding) -> Option<CommitSize> {
    match commit {
        Finding::Commit { size, .. } => *size,
        _ => None,
    }
}

/// What git tells of a file.
fn told(path: &str, (added, removed): (u64, u64), of: Tree, drawn: bool) -> Finding {
    Finding::Stat {
        path: path.to_owned(),
        added,
        removed,
        of,
        drawn,
    }
}

/// A text has the path, and not only one that begins or ends with it.
fn names(text: &str, path: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '/' | '\\' | '.' | '-' | '_');
    let mut found = text.match_indices(path);
    found.any(|(at, _)| {
        let after = &text[at + path.len()..];
        !text[..at].ends_with(is_part) && !after.starts_with(is_part)
    })
}

/// ` create mode 100644 src/a.rs`: the file.
fn made(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(" create mode ")?;
    let (mode, path) = rest.split_once(' ')?;
    (mode.len() == 6 && !path.starts_with('"')).then_some(path)
}

/// `1a2b3c4 (HEAD -> main, origin/main) Fix the tests`.
fn listed(line: &str) -> Option<Finding> {
    let line = line.trim_start_matches(['*', '|', ' ']);
    let (hash, subject) = line.split_once(' ').filter(|(hash, _)| is_hash(hash))?;
    let named = subject
        .strip_prefix('(')
        .and_then(|rest| rest.split_once(") "));
    let is_list =
        |names: &&str| names.contains("HEAD") || names.contains('/') || names.contains("tag: ");
    let (names, subject) = match named.filter(|(names, _)| is_list(names)) {
        Some((names, subject)) => (names, subject),
        None => ("", subject),
    };
    Some(Finding::Listed {
        hash: hash.to_owned(),
        subject: line::folded(subject.trim(), TEXT_CHARS_MAX).into_owned(),
        remote: names.contains("origin/") || names.contains("upstream/"),
    })
}

/// `queued\t\tFix the tests\tBuild\tmain\tpush\t7\t3s\t2026-06-01T10:00:00Z`.
fn run(line: &str) -> Option<Finding> {
    const STATES: [&str; 6] = [
        "queued",
        "in_progress",
        "pending",
        "requested",
        "waiting",
        "completed",
    ];
    let parts: Vec<&str> = line.split('\t').collect();
    let [state, _, title, _, _, _, id, ..] = parts[..] else {
        return None;
    };
    let is_one = STATES.contains(&state) && id.bytes().all(|byte| byte.is_ascii_digit());
    is_one.then(|| Finding::CheckElsewhere {
        title: line::folded(title, TEXT_CHARS_MAX).into_owned(),
        state: state.to_owned(),
    })
}

/// ` Date: Wed Jul 22 10:15:16 2026 +0200`: git says of a commit that is made again when it was made first.
fn is_date(line: &str) -> bool {
    line.starts_with(" Date: ")
}

fn is_hash(word: &str) -> bool {
    (7..=40).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_hexdigit())
}

/// ` 3 files changed, 12 insertions(+), 3 deletions(-)`.
fn total(line: &str) -> Option<CommitSize> {
    let (files, counts) = line.trim().split_once(" changed, ")?;
    let (files, word) = files.split_once(' ')?;
    let of = |word: &str| {
        let count = counts.split(", ").find(|count| count.contains(word));
        count.map_or(Some(0), |count| count.split(' ').next()?.parse().ok())
    };
    let says =
        word.starts_with("file") && (counts.contains("insertion") || counts.contains("deletion"));
    let size = CommitSize {
        files: files.parse().ok()?,
        added: of("insertion")?,
        removed: of("deletion")?,
    };
    says.then_some(size)
}

/// A line of a diffstat.
struct FileStat<'l> {
    path: &'l str,
    added: u64,
    removed: u64,
    /// Only their sum is known.
    drawn: bool,
}

/// Of one file that is only drawn, the total tells the lines: they are what the others leave.
fn count_last(stats: &mut [FileStat<'_>], size: CommitSize) {
    let sum = |of: fn(&FileStat<'_>) -> u64| -> u64 {
        stats.iter().filter(|stat| !stat.drawn).map(of).sum()
    };
    let (added, removed) = (sum(|stat| stat.added), sum(|stat| stat.removed));
    let is_whole = stats.len() as u64 == size.files;
    let mut drawn = stats.iter_mut().filter(|stat| stat.drawn && is_whole);
    if let (Some(last), None) = (drawn.next(), drawn.next())
        && size
            .added
            .checked_sub(added)
            .zip(size.removed.checked_sub(removed))
            .is_some_and(|(added, removed)| added + removed == last.added + last.removed)
    {
        (last.added, last.removed) = (size.added - added, size.removed - removed);
        last.drawn = false;
    }
}

/// ` src/a.rs | 12 +++++++-----`, `7\t5\tsrc/a.rs`. A bar that is shorter than the lines is drawn in proportion.
fn stat(line: &str) -> Option<FileStat<'_>> {
    if let Some((path, rest)) = line.split_once(" | ") {
        let (total, bar) = rest.trim().split_once(' ')?;
        let total: u64 = total.parse().ok()?;
        let count = |sign: char| bar.chars().filter(|c| *c == sign).count() as u64;
        let (plus, minus) = (count('+'), count('-'));
        let is_bar = plus + minus > 0 && bar.bytes().all(|b| matches!(b, b'+' | b'-'));
        let added = (total * plus + (plus + minus) / 2)
            .checked_div(plus + minus)
            .filter(|_| is_bar && total < u64::from(u32::MAX))?;
        return Some(FileStat {
            path: renamed(path.trim())?,
            added,
            removed: total - added,
            drawn: plus + minus != total && plus > 0 && minus > 0,
        });
    }
    let mut parts = line.splitn(3, '\t');
    let (added, removed) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some(FileStat {
        path: renamed(parts.next()?.trim())?,
        added,
        removed,
        drawn: false,
    })
}

/// A path that has one name, though its beginning may be left out.
fn renamed(path: &str) -> Option<&str> {
    let plain = !path.contains('{') && !path.is_empty();
    let name = path.rsplit(" => ").next();
    name.filter(|_| plain)
}

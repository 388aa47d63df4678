//! What a session left in a history that others see: files, commits, pull requests. Knows what git and
//! edit tools state; refuses to guess what was pushed by hand.

use super::{Line, found};
use crate::model::finding::{Finding, PullRequestState, Tree};
use crate::model::summary::{Commit, FileChange, PullRequest, Sourced};
use crate::rules::tools::{Answer, tool};
use std::collections::BTreeMap;

/// Files with their lines, by path: those that calls changed, and those that only git tells.
pub fn files(lines: &[Line<'_>]) -> Vec<Sourced<FileChange>> {
    let mut all: BTreeMap<&str, Sourced<FileChange>> = BTreeMap::new();
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
            line.source(FileChange {
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
    let mut told = told_by_git(lines);
    let edited: Vec<&str> = all.keys().copied().collect();
    told.retain(|path, _| !edited.iter().any(|edited| is_same(edited, path)));
    all.extend(told);
    all.into_values().collect()
}

/// What was changed while nobody saw it: what was about to be committed, the last commit where the
/// session made one, and the working tree once sub-agents had worked.
fn told_by_git<'t>(lines: &[Line<'t>]) -> BTreeMap<&'t str, Sourced<FileChange>> {
    let mut all = BTreeMap::new();
    let mut staged = BTreeMap::new();
    let (mut commits, mut helped) = (false, false);
    for line in lines {
        helped |= !line.main || is_agents(line.told.text);
        for finding in line.told.findings {
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
                    let file = line.source(FileChange {
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
    name.is_some_and(|name| tool(name).answer == Answer::Agent)
}

/// Git tells paths from a repository's root.
fn is_same(edited: &str, told: &str) -> bool {
    let edited = edited.replace('\\', "/");
    let above = edited.strip_suffix(told);
    above.is_some_and(|above| above.is_empty() || above.ends_with('/'))
}

/// One that was made again (amended, rebased) counts as it was last.
pub fn commits(lines: &[Line<'_>]) -> Vec<Sourced<Commit>> {
    let mut all: Vec<Sourced<Commit>> = Vec::new();
    for (line, finding) in found(lines) {
        match finding {
            Finding::Commit { hash, subject } => {
                all.retain(|known| known.what.subject != *subject);
                all.push(line.source(Commit {
                    hash: hash.clone(),
                    subject: subject.clone(),
                    pushed: false,
                }));
            }
            Finding::Pushed
            | Finding::PullRequest(_)
            | Finding::PullRequestState {
                state: PullRequestState::Merged,
                done: true,
                ..
            } => all.iter_mut().for_each(|known| known.what.pushed = true),
            _ => {}
        }
    }
    all
}

/// What is left to push; `None` where all were pushed.
pub fn unpushed(commits: &[Sourced<Commit>]) -> Option<Sourced<String>> {
    let left: Vec<&Sourced<Commit>> = commits.iter().filter(|c| !c.what.pushed).collect();
    let last = left.last()?;
    let what = match left.len() {
        1 => format!("Committed, not pushed: {}", last.what.subject),
        many => format!("{many} commits not pushed, the last: {}", last.what.subject),
    };
    Some(Sourced {
        what,
        episode: last.episode,
        line: last.line,
    })
}

/// Says of tasks that were open before the last commit that they may be done: nobody ticked them off.
pub fn note_older(tasks: &mut [Sourced<String>], commits: &[Sourced<Commit>], lines: &[Line<'_>]) {
    let Some(last) = commits.last() else { return };
    let place = |episode, at| {
        let mut lines = lines.iter();
        lines.position(|line| (line.episode, line.line) == (episode, at))
    };
    let last = place(last.episode, last.line);
    for task in tasks {
        if place(task.episode, task.line) < last {
            task.what.push_str(" (on the list before the last commit)");
        }
    }
}

/// Those that were opened, and others that were merged or closed, each in its last state.
pub fn pull_requests(lines: &[Line<'_>]) -> Vec<Sourced<PullRequest>> {
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

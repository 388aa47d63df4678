//! Which files a session changed, and by how much: what it left, not what it tried. Only what edit tools, patches and
//! git state counts.

use super::history::rewriting;
use super::line::LocatedItem;
use super::ran::RanCommand;
use crate::model::classification::Intent;
use crate::model::exchange::ItemKind;
use crate::model::finding::{CommitSize, FileFate, Finding, Tree};
use crate::model::summary::{ChangedFile, Sourced};
use crate::rules::commands;
use crate::rules::overtaken::has_reverted;
use crate::rules::tools::{AnswerKind, tool};
use crate::rules::words::sentences;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Files with their lines, by path: those that calls changed, and those that only git names. What was made and
/// deleted again, or put back, is none.
pub fn files(lines: &[LocatedItem<'_>]) -> Vec<Sourced<ChangedFile>> {
    let mut edited = Edited::default();
    for line in lines {
        edited.begin(line);
        for finding in line.item.findings {
            edited.note(line, finding);
        }
    }
    let mut by_git = changed_by_git(lines);
    by_git.retain(|path, _| !edited.seen.iter().any(|edited| is_same(edited, path)));
    let own = edited.left.into_iter();
    let mut all: BTreeMap<Cow<'_, str>, Sourced<ChangedFile>> =
        own.map(|(path, kept)| (path, kept.told())).collect();
    all.extend(by_git.into_iter().map(|(path, file)| (path.into(), file)));
    all.into_values().collect()
}

/// Begins a path that git shortened: it says which of the known files is meant, and names no other.
const LEFT_OUT: &str = ".../";

/// The files that only git names as changed.
pub fn files_by_git(lines: &[LocatedItem<'_>]) -> Vec<Sourced<ChangedFile>> {
    let mut all = files(lines);
    all.retain(|file| file.what.by_git);
    all
}

/// Files that calls changed.
#[derive(Default)]
struct Edited<'t> {
    left: BTreeMap<Cow<'t, str>, Kept>,
    /// Also those of which nothing is left.
    seen: BTreeSet<Cow<'t, str>>,
    /// What git named since the last commit as being in the next one.
    staged: BTreeSet<&'t str>,
}

/// A file with what was done to it. Its lines are sums over its edits.
struct Kept {
    file: Sourced<ChangedFile>,
    /// Of these up to the last commit: lines added and removed, and edits.
    committed: (u64, u64, u64),
    /// The lines that its commits have of it; `None`: of one of them nobody knows.
    sure: Option<(u64, u64)>,
    /// What git says that its edits since the last commit came to.
    stat: Option<(u64, u64)>,
    /// Something else may have changed it since it was written.
    touched: bool,
}

impl Kept {
    /// Where nobody knows the lines, they are those of its edits. A new file has what is left of them.
    fn told(mut self) -> Sourced<ChangedFile> {
        let lines = match self.is_fresh() {
            true => self.with(exact(self.own(), self.stat, self.is_untouched())),
            false => self.sure,
        };
        let file = &mut self.file.what;
        if let Some((added, removed)) = lines.filter(|_| file.edits > 0) {
            (file.added, file.removed, file.counted) = (added, removed, true);
        }
        if file.created {
            (file.added, file.removed) = (file.added.saturating_sub(file.removed), 0);
        }
        self.file
    }

    /// The lines of its commits with those of the next one. What that removes may have come with one before it, unless all
    /// that counts is what is left of a new file.
    fn with(&self, next: Option<(u64, u64)>) -> Option<(u64, u64)> {
        let ((added, removed), next) = self.sure.zip(next)?;
        let is_first = self.committed.2 == 0;
        let is_apart = is_first || next.1 == 0 || self.file.what.created;
        is_apart.then_some((added + next.0, removed + next.1))
    }

    /// It was edited since the last commit.
    fn is_fresh(&self) -> bool {
        self.file.what.edits > self.committed.2
    }

    /// The lines of its edits since then; of a file that was new then what is left of them.
    fn own(&self) -> (u64, u64) {
        let file = &self.file.what;
        let (before, gone, edits) = self.committed;
        let (added, removed) = (file.added - before, file.removed - gone);
        match file.created && edits == 0 {
            true => (added.saturating_sub(removed), 0),
            false => (added, removed),
        }
    }

    /// A new file that is as its only edit left it.
    fn is_untouched(&self) -> bool {
        self.file.what.created && self.file.what.edits == 1 && !self.touched
    }

    /// Back to what was committed last; whether anything is left of it.
    fn restore(&mut self) -> bool {
        let file = &mut self.file.what;
        // git puts back what it knows
        if file.created && self.committed.2 == 0 {
            return true;
        }
        (file.added, file.removed, file.edits) = self.committed;
        (file.deleted, self.stat) = (false, None);
        file.edits > 0
    }

    /// Git tells what the edits since the last commit came to. Of a bar that is drawn in proportion only the sum counts.
    /// Where there were none, what changed it is not in the log.
    fn count(&mut self, added: u64, removed: u64, drawn: bool) {
        let own = self.own();
        if !self.is_fresh() {
            self.sure = None;
        } else if !drawn {
            self.stat = Some((added, removed));
        } else if own.0 + own.1 == added + removed {
            self.stat = Some(own);
        }
    }

    /// What was changed since the last commit is in the next one. `verified`: its files add up to what git counted.
    fn commit(&mut self, verified: bool) {
        let lines = exact(self.own(), self.stat.take(), verified);
        self.sure = self.with(lines);
        let file = &self.file.what;
        self.committed = (file.added, file.removed, file.edits);
    }
}

/// The lines of edits: as git counted them, unless others' are among those; else their own, where these are `verified`.
fn exact(own: (u64, u64), stat: Option<(u64, u64)>, verified: bool) -> Option<(u64, u64)> {
    let Some((added, removed)) = stat else {
        return verified.then_some(own);
    };
    let sum = added + removed;
    let grown = |lines: (u64, u64)| lines.0 as i64 - lines.1 as i64;
    let apart = grown((added, removed)).abs_diff(grown(own));
    // a formatter may have been at work
    let is_own = apart <= 1 + sum / 20 && sum <= own.0 + own.1;
    is_own.then_some((added, removed))
}

/// A person says in it that they undid what the agent had done.
pub(super) fn was_reverted(line: &LocatedItem<'_>) -> bool {
    const SENTENCES_MAX: usize = 3;
    let is_prompt = line.main && line.item.kind == ItemKind::Prompt;
    is_prompt
        && sentences(line.words())
            .take(SENTENCES_MAX)
            .any(has_reverted)
}

impl<'t> Edited<'t> {
    /// Somebody went back to the last commit, and what was new may be gone: only later edits tell.
    fn revert(&mut self) {
        self.left
            .retain(|_, kept| kept.committed.2 > 0 && kept.restore());
        let left = &self.left;
        self.seen.retain(|path| left.contains_key(path));
    }

    fn note(&mut self, line: &LocatedItem<'t>, finding: &'t Finding) {
        match finding {
            Finding::Changed {
                path,
                added,
                removed,
            } => {
                let kept = self.of(line, path);
                kept.file.what.added += added;
                kept.file.what.removed += removed;
                kept.file.what.edits += 1;
                (kept.file.what.deleted, kept.stat, kept.touched) = (false, None, false);
            }
            Finding::File { path, became } => self.become_of(line, path, *became),
            Finding::Moved { from, to, by_git } => self.go(line, from, to, *by_git),
            Finding::Commit { again, size, .. } => self.commit(size.filter(|_| !again)),
            Finding::Stat {
                path,
                added,
                removed,
                of: of @ (Tree::Work | Tree::Staged),
                drawn,
            } => {
                let named = path.strip_prefix(LEFT_OUT).unwrap_or(path);
                let is_staged = *of == Tree::Staged && !named.is_empty();
                if is_staged {
                    self.staged.insert(named);
                }
                if is_staged || added + removed > 0 {
                    self.count(named, *added, *removed, *drawn);
                }
            }
            _ => {}
        }
    }

    /// Git counted the lines of a file, or names it; without a name it is the only one that was edited since the last
    /// commit.
    fn count(&mut self, named: &str, added: u64, removed: u64, drawn: bool) {
        let is_it = |(path, kept): &(&Cow<'_, str>, &mut Kept)| match named {
            "" => kept.is_fresh(),
            named => is_same(path, named),
        };
        let mut known = self.left.iter_mut().filter(is_it);
        if let (Some((_, kept)), None) = (known.next(), known.next()) {
            kept.count(added, removed, drawn);
        }
    }

    /// What was edited is in a commit of this size: the files that git named for it, where they are as many and some were
    /// edited, else all.
    fn commit(&mut self, size: Option<CommitSize>) {
        let staged = std::mem::take(&mut self.staged);
        let is_whole = size.is_some_and(|size| size.files == staged.len() as u64);
        let is_named = |path: &str| staged.iter().any(|named| is_same(path, named));
        let fresh = self.left.iter_mut().filter(|(_, kept)| kept.is_fresh());
        let (named, others): (Vec<_>, Vec<_>) =
            fresh.partition(|(path, _)| is_whole && is_named(path));
        let all = if named.is_empty() { others } else { named };
        let sum = all.iter().fold((0, 0), |sum, (_, kept)| {
            let lines = kept.stat.unwrap_or(kept.own());
            (sum.0 + lines.0, sum.1 + lines.1)
        });
        let verified = size.is_some_and(|size| {
            size.files == all.len() as u64 && (size.added, size.removed) == sum
        });
        all.into_iter().for_each(|(_, kept)| kept.commit(verified));
    }

    /// Before the line: commits of before may be others now, and files be changed by what it runs.
    fn begin(&mut self, line: &LocatedItem<'_>) {
        if was_reverted(line) {
            self.revert();
        }
        if rewriting(line).is_some_and(|command| !command.contains("--amend")) {
            let committed = self.left.values_mut().filter(|kept| kept.committed.2 > 0);
            committed.for_each(|kept| kept.sure = None);
        }
        let mut untouched = self.left.values().filter(|kept| kept.is_untouched());
        if untouched.next().is_some() && may_touch(line) {
            self.left.values_mut().for_each(|kept| kept.touched = true);
        }
    }

    fn become_of(&mut self, line: &LocatedItem<'t>, path: &'t str, became: FileFate) {
        match became {
            FileFate::Created => {
                let file = &mut self.of(line, path).file.what;
                file.created |= file.edits <= 1;
                file.deleted = false;
            }
            FileFate::Deleted | FileFate::Dropped => {
                if became == FileFate::Deleted && !path.contains('*') {
                    self.of(line, path);
                }
                self.left.retain(|known, kept| {
                    let is_gone = is_meant(known, path);
                    kept.file.what.deleted |= is_gone;
                    !(is_gone && kept.file.what.created)
                });
            }
            FileFate::Restored => {
                let restore =
                    |known: &str, kept: &mut Kept| !is_meant(known, path) || kept.restore();
                self.left.retain(|known, kept| restore(known, kept));
            }
        }
    }

    /// Files below `from` are below `to` now. One that nobody saw is told where git moved it.
    fn go(&mut self, line: &LocatedItem<'t>, from: &'t str, to: &'t str, by_git: bool) {
        let from = from.trim_end_matches(['/', '\\']);
        let is_below = |path: &&Cow<'t, str>| is_meant(path, from);
        let known: Vec<Cow<'t, str>> = self.left.keys().filter(is_below).cloned().collect();
        for old in &known {
            let Some(mut kept) = self.left.remove(old) else {
                continue;
            };
            let new = format!("{to}{}", &old[from.len()..]);
            // as the agent's tools name it: another spelling would be another file
            let new = match old.contains('\\') {
                true => new.replace('/', "\\"),
                false => new,
            };
            let file = &mut kept.file.what;
            file.created &= !self.seen.contains(new.as_str());
            if !file.created && file.renamed_from.is_none() {
                file.renamed_from = Some(old.to_string());
            }
            file.path.clone_from(&new);
            self.seen.insert(new.clone().into());
            self.left.insert(new.into(), kept);
        }
        if known.is_empty() && by_git {
            self.of(line, to).file.what.renamed_from = Some(from.to_owned());
        }
    }

    fn of(&mut self, line: &LocatedItem<'t>, path: &'t str) -> &mut Kept {
        self.seen.insert(path.into());
        self.left.entry(path.into()).or_insert_with(|| Kept {
            file: line.source(ChangedFile {
                path: path.to_owned(),
                ..ChangedFile::default()
            }),
            committed: (0, 0, 0),
            sure: Some((0, 0)),
            stat: None,
            touched: false,
        })
    }
}

/// A command names the file, a folder that it is in, or several by `*`.
fn is_meant(file: &str, named: &str) -> bool {
    if file.contains('\\') && named.contains('/') {
        return is_meant(&with_drive(file), &with_drive(named));
    }
    let named = named.trim_end_matches(['/', '\\']);
    let Some((start, rest)) = named.split_once('*') else {
        let below = file.strip_prefix(named);
        return below.is_some_and(|below| below.is_empty() || below.starts_with(['/', '\\']));
    };
    // `*` doesn't go into folders
    let middle = file.strip_prefix(start).filter(|_| !rest.contains('*'));
    let matched = middle.and_then(|middle| middle.strip_suffix(rest));
    matched.is_some_and(|matched| !matched.contains('/'))
}

/// What was changed while nobody saw it: what was about to be committed, the last commit where the
/// session made one, and the working tree once sub-agents had worked.
fn changed_by_git<'t>(lines: &[LocatedItem<'t>]) -> BTreeMap<&'t str, Sourced<ChangedFile>> {
    let mut all: BTreeMap<&str, Sourced<ChangedFile>> = BTreeMap::new();
    let mut staged: BTreeMap<&str, Sourced<ChangedFile>> = BTreeMap::new();
    let mut work: BTreeMap<&str, Sourced<ChangedFile>> = BTreeMap::new();
    // `is_staged`: what is about to be committed was listed behind the working tree
    let (mut commits, mut helped, mut is_staged) = (false, false, false);
    for line in lines {
        helped |= !line.main || is_agents(line.item.text);
        for finding in line.item.findings {
            match finding {
                Finding::Commit { .. } => {
                    commits = true;
                    commit(std::mem::take(&mut staged), &mut all);
                }
                Finding::Stat {
                    path,
                    added,
                    removed,
                    of,
                    drawn,
                } if !path.is_empty() && !path.starts_with(LEFT_OUT) => {
                    let counted = |lines: u64| if *drawn { 0 } else { lines };
                    let file = line.source(ChangedFile {
                        path: path.clone(),
                        added: counted(*added),
                        removed: counted(*removed),
                        by_git: true,
                        counted: !drawn,
                        ..ChangedFile::default()
                    });
                    match of {
                        // a list of names says less than a diffstat before it
                        Tree::Staged if *drawn && is_known(&staged, path) => {}
                        Tree::Staged => {
                            // a list of names may be one of several
                            is_staged |= added + removed > 0;
                            staged.insert(path.as_str(), file);
                        }
                        // what was counted before may be of several commits
                        Tree::Last if commits => {
                            let known = all.entry(path.as_str()).or_insert_with(|| file.clone());
                            if !known.what.counted && !drawn {
                                *known = file;
                            }
                        }
                        Tree::Work if helped && is_named(lines, path) => {
                            is_staged = false;
                            work.insert(path.as_str(), file);
                        }
                        Tree::Last | Tree::Work => {}
                    }
                }
                Finding::File {
                    path: named,
                    became: FileFate::Restored,
                } => {
                    staged.retain(|path, _| !is_same(named, path));
                    work.retain(|path, _| !is_same(named, path));
                }
                _ => {}
            }
        }
    }
    // what was not among that lay there before the session
    let is_whole = is_staged && staged.len() + all.len() >= work.len();
    work.retain(|path, _| !is_whole || staged.contains_key(path) || all.contains_key(path));
    work.into_iter()
        .for_each(|(path, file)| _ = all.entry(path).or_insert(file));
    all
}

/// What was staged is in a commit.
fn commit<'t>(
    staged: BTreeMap<&'t str, Sourced<ChangedFile>>,
    all: &mut BTreeMap<&'t str, Sourced<ChangedFile>>,
) {
    for (path, file) in staged {
        if let Some(known) = all.get_mut(path) {
            add(&mut known.what, file.what);
        } else if file.what.counted || !is_known(all, path) {
            all.insert(path, file);
        }
    }
}

/// Several commits changed a file.
fn add(file: &mut ChangedFile, next: ChangedFile) {
    file.counted &= next.counted;
    let counted = u64::from(file.counted);
    file.added = (file.added + next.added) * counted;
    file.removed = (file.removed + next.removed) * counted;
}

fn is_known(files: &BTreeMap<&str, Sourced<ChangedFile>>, path: &str) -> bool {
    files
        .keys()
        .any(|known| is_same(path, known) || is_same(known, path))
}

/// Somebody spoke of the file, or a call did: the working tree may have changes that are older than the session.
fn is_named(lines: &[LocatedItem<'_>], path: &str) -> bool {
    let name = file_name(path);
    let is_stat = |finding: &Finding| matches!(finding, Finding::Stat { .. });
    let mut others = lines
        .iter()
        .filter(|line| !line.item.findings.iter().any(is_stat));
    others.any(|line| line.item.text.contains(name))
}

/// A call that let another agent work.
fn is_agents(text: &str) -> bool {
    let name = text.strip_prefix("Action: ").and_then(|call| {
        let end = call.find(['(', ' ']).unwrap_or(call.len());
        call.get(..end)
    });
    name.is_some_and(|name| tool(name).answer == AnswerKind::Agent)
}

/// What the line runs may change files whose edits nobody sees: anything but looks and checks.
fn may_touch(line: &LocatedItem<'_>) -> bool {
    if is_agents(line.item.text) {
        return true;
    }
    let Some(ran) = RanCommand::of(line).or_else(|| RanCommand::begun(line)) else {
        return false;
    };
    let is_shell =
        tool(line.words().split('(').next().unwrap_or_default()).answer == AnswerKind::Shell;
    let command = ran.command.replace("2>&1", "");
    let mut parts = command
        .split(['&', ';', '|', '\n'])
        .filter(|part| !part.trim().is_empty());
    let changes = |part: &str| {
        let class = commands::of_count(&commands::counted_as(part));
        let looks = matches!(
            class.intent,
            Intent::Read | Intent::Search | Intent::Validate
        );
        !looks || class.is_unknown()
    };
    is_shell && (!commands::fixers(ran.command).is_empty() || parts.any(changes))
}

/// Git names paths from a repository's root, commands also from where they run or whole.
fn is_same(edited: &str, by_git: &str) -> bool {
    // nearly all pairs of a session's files differ in that, and it costs no copy
    if !has_same_name(edited, by_git) {
        return false;
    }
    let (edited, by_git) = (with_drive(edited), with_drive(by_git));
    let above = edited.strip_suffix(by_git.strip_prefix("~/").unwrap_or(&by_git));
    above.is_some_and(|above| above.is_empty() || above.ends_with('/'))
}

/// Whether both name a file of one name, read from the end: nearly all differ there in a few bytes.
fn has_same_name(one: &str, other: &str) -> bool {
    let is_name = |byte: &u8| !matches!(byte, b'/' | b'\\');
    let mut one = one.bytes().rev().take_while(is_name);
    let mut other = other.bytes().rev().take_while(is_name);
    loop {
        match (one.next(), other.next()) {
            (None, None) => return true,
            (Some(one), Some(other)) if one == other => {}
            _ => return false,
        }
    }
}

/// Of a path of any system.
fn file_name(path: &str) -> &str {
    let folder = memchr::memrchr2(b'/', b'\\', path.as_bytes());
    folder.map_or(path, |at| &path[at + 1..])
}

/// `d:/shop` for `D:\\shop` and for `/d/shop`.
fn with_drive(path: &str) -> String {
    let path = path.replace('\\', "/");
    let letter = |at: usize| {
        let letter = path
            .as_bytes()
            .get(at)
            .filter(|byte| byte.is_ascii_alphabetic())?;
        Some(char::from(letter.to_ascii_lowercase()))
    };
    match (letter(0), letter(1)) {
        (Some(drive), _) if path[1..].starts_with(":/") => format!("{drive}{}", &path[1..]),
        (None, Some(drive)) if path.starts_with('/') && path[2..].starts_with('/') => {
            format!("{drive}:{}", &path[2..])
        }
        _ => path,
    }
}

#[cfg(test)]
mod tests;

//! Which files a session changed, and by how much: what it left, not what it tried. Only what edit tools, patches and
//! git state counts.

use super::line::LocatedItem;
use super::written_files::written;
use crate::model::exchange::ItemKind;
use crate::model::finding::{FileFate, Finding, Tree};
use crate::model::summary::{ChangedFile, LineCounts, Sourced};
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
        if was_reverted(line) {
            edited.revert();
        }
        for finding in line.item.findings {
            edited.note(line, finding);
        }
    }
    edited.note_writes(lines);
    edited.note_others(lines);
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
}

/// A file with what was done to it.
struct Kept {
    file: Sourced<ChangedFile>,
    /// Of these up to the last commit: lines added and removed, and edits.
    committed: (u64, u64, u64),
    /// Of the committed lines those that its edits made: a commit may have more.
    own: (u64, u64),
    /// What git says that the next commit has of it.
    staged: Option<(u64, u64)>,
}

impl Kept {
    /// A new file has the lines that are left of it, another one those of its edits.
    fn told(mut self) -> Sourced<ChangedFile> {
        let file = &mut self.file.what;
        let (added, removed, _) = self.committed;
        if file.uncounted {
            (file.added, file.removed) = (0, 0);
        } else if file.created {
            (file.added, file.removed) = (file.added.saturating_sub(file.removed), 0);
        } else if self.own != (added, removed) {
            file.committed = Some(LineCounts { added, removed });
            file.added = file.added - added + self.own.0;
            file.removed = file.removed - removed + self.own.1;
            file.counted = false;
        }
        self.file
    }

    /// Back to what was committed last; whether anything is left of it.
    fn restore(&mut self) -> bool {
        let file = &mut self.file.what;
        // git puts back what it knows
        if file.created && self.committed.2 == 0 {
            return true;
        }
        (file.added, file.removed, file.edits) = self.committed;
        file.deleted = false;
        file.edits > 0
    }

    /// Git tells what the edits since the last commit came to. Where that is not of these edits alone, it
    /// says nothing of them.
    fn correct(&mut self, added: u64, removed: u64, drawn: bool) {
        let file = &mut self.file.what;
        let (before, gone, _) = self.committed;
        let (own_added, own_removed) = (file.added - before, file.removed - gone);
        let grown = own_added as i64 - own_removed as i64;
        let sum = added + removed;
        let (counted, far) = match drawn {
            false => (Some((added, removed)), 0),
            // by how much the file grew is known of the edits, the sum of git
            true => (halves(sum, grown), 1 + sum / 10),
        };
        let other = if drawn { 0 } else { 1 + sum / 20 };
        let is_own = |counted: &(u64, u64)| {
            (counted.0 as i64 - counted.1 as i64).abs_diff(grown) <= other
                && counted.0.abs_diff(added) <= far
                && sum <= own_added + own_removed
        };
        if let Some((added, removed)) = counted.filter(is_own)
            && file.edits > self.committed.2
        {
            (file.added, file.removed) = (before + added, gone + removed);
            file.counted = true;
        }
    }

    /// What was changed since the last commit is in the next one, with the lines that git counted.
    fn commit(&mut self) {
        let file = &mut self.file.what;
        let (before, gone, edits) = self.committed;
        let mut own = (file.added - before, file.removed - gone);
        let staged = self.staged.take().filter(|_| file.edits > edits);
        if let Some((added, removed)) = staged {
            (file.added, file.removed) = (before + added, gone + removed);
            file.counted = true;
            if added + removed <= own.0 + own.1 {
                own = (added, removed);
            }
        }
        self.own = (self.own.0 + own.0, self.own.1 + own.1);
        self.committed = (file.added, file.removed, file.edits);
    }
}

/// Two numbers by their sum and their difference.
fn halves(sum: u64, difference: i64) -> Option<(u64, u64)> {
    let more = (sum as i64 + difference)
        .try_into()
        .ok()
        .filter(|twice: &u64| twice.is_multiple_of(2))?;
    Some((more / 2, sum.checked_sub(more / 2)?))
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
                (kept.file.what.deleted, kept.file.what.counted) = (false, false);
            }
            Finding::File { path, became } => self.become_of(line, path, *became),
            Finding::Moved { from, to, by_git } => self.go(line, from, to, *by_git),
            Finding::Commit { .. } => {
                self.left.values_mut().for_each(Kept::commit);
            }
            Finding::Stat {
                path,
                added,
                removed,
                of: of @ (Tree::Work | Tree::Staged),
                drawn,
            } if !drawn || added + removed > 0 => {
                let is_fresh = |kept: &Kept| kept.file.what.edits > kept.committed.2;
                let named = path.strip_prefix(LEFT_OUT).unwrap_or(path);
                let is_it = |edited: &str, kept: &Kept| match named {
                    "" => is_fresh(kept),
                    path => is_same(edited, path),
                };
                let mut known = self
                    .left
                    .iter_mut()
                    .filter(|(edited, kept)| is_it(edited, kept));
                if let (Some((_, kept)), None) = (known.next(), known.next()) {
                    kept.correct(*added, *removed, *drawn);
                    let is_staged = *of == Tree::Staged && !drawn && !path.is_empty();
                    kept.staged = is_staged.then_some((*added, *removed)).or(kept.staged);
                }
            }
            _ => {}
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
            let file = &mut self.of(line, to).file.what;
            (file.renamed_from, file.uncounted) = (Some(from.to_owned()), true);
        }
    }

    /// Lines of a file that a shell wrote too are more than its edits say, unless git counted them.
    fn note_writes(&mut self, lines: &[LocatedItem<'t>]) {
        if self.left.is_empty() {
            return;
        }
        let written = lines.iter().flat_map(|line| match line.item.kind {
            ItemKind::Digest => written(line.item.text),
            _ => Vec::new(),
        });
        for named in written.collect::<BTreeSet<&str>>() {
            let named = named.trim_start_matches("./");
            let meant = self.left.iter_mut();
            let meant = meant.filter(|(path, _)| is_same(path, named));
            // a relative path may end the paths of several files
            let Some((_, kept)) = meant.min_by_key(|(path, _)| path.len()) else {
                continue;
            };
            // what git counted is the shell's too
            kept.own = (kept.committed.0, kept.committed.1);
            let file = &mut kept.file.what;
            if !file.counted {
                (file.added, file.removed, file.uncounted) = (0, 0, true);
            }
        }
    }

    /// A new file that was read with more lines than its edits made has been written by others too: by sub-agents whose
    /// logs are absent.
    fn note_others(&mut self, lines: &[LocatedItem<'t>]) {
        let created = |kept: &&mut Kept| kept.file.what.created && !kept.file.what.counted;
        for Kept { file, .. } in self.left.values_mut().filter(created) {
            let file = &mut file.what;
            // an end of line more or less
            let own = file.added.saturating_sub(file.removed) + 2;
            let mut read = lines.iter().filter_map(|line| read(line.item.text));
            if read.any(|(path, lines)| lines > own && is_same(&file.path, path)) {
                (file.added, file.removed, file.uncounted) = (0, 0, true);
            }
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
            own: (0, 0),
            staged: None,
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
                        uncounted: *drawn,
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
                            if known.what.uncounted && !drawn {
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
        } else if !file.what.uncounted || !is_known(all, path) {
            all.insert(path, file);
        }
    }
}

/// Several commits changed a file.
fn add(file: &mut ChangedFile, next: ChangedFile) {
    file.uncounted |= next.uncounted;
    let counted = u64::from(!file.uncounted);
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

/// `Action: Read(src/a.rs) → lines 20–39 of 457, 986 bytes`, `… → 193 lines, 6.1 KB`: the file, and how many lines it has.
fn read(call: &str) -> Option<(&str, u64)> {
    let (path, told) = call.strip_prefix("Action: Read(")?.split_once(") → ")?;
    let count = match told.split_once(" of ") {
        Some((_, count)) if told.starts_with("line") => count,
        _ => told,
    };
    let end = count.find(|c: char| !c.is_ascii_digit())?;
    Some((path, count[..end].parse().ok()?))
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

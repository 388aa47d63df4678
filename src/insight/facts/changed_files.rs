//! Which files a session changed, and by how much: what it left, not what it tried. Only what edit tools, patches and
//! git state counts.

use super::line::LocatedItem;
use crate::model::finding::{FileFate, Finding, Tree};
use crate::model::summary::{ChangedFile, Sourced};
use crate::rules::tools::{AnswerKind, tool};
use std::collections::{BTreeMap, BTreeSet};

/// Files with their lines, by path: those that calls changed, and those that only git names. What was made and
/// deleted again, or put back, is none.
pub fn files(lines: &[LocatedItem<'_>]) -> Vec<Sourced<ChangedFile>> {
    let mut edited = Edited::default();
    for line in lines {
        for finding in line.item.findings {
            edited.note(line, finding);
        }
    }
    let mut by_git = changed_by_git(lines);
    by_git.retain(|path, _| !edited.seen.iter().any(|edited| is_same(edited, path)));
    let own = edited.left.into_iter();
    let mut all: BTreeMap<&str, Sourced<ChangedFile>> =
        own.map(|(path, kept)| (path, kept.told())).collect();
    all.extend(by_git);
    all.into_values().collect()
}

/// The files that only git names as changed.
pub fn files_by_git(lines: &[LocatedItem<'_>]) -> Vec<Sourced<ChangedFile>> {
    let mut all = files(lines);
    all.retain(|file| file.what.by_git);
    all
}

/// Files that calls changed.
#[derive(Default)]
struct Edited<'t> {
    left: BTreeMap<&'t str, Kept>,
    /// Also those of which nothing is left.
    seen: BTreeSet<&'t str>,
}

/// A file with what was done to it.
struct Kept {
    file: Sourced<ChangedFile>,
    /// Of these up to the last commit: lines added and removed, and edits.
    committed: (u64, u64, u64),
    /// What git says that the next commit has of it.
    staged: Option<(u64, u64)>,
}

impl Kept {
    /// A new file has the lines that are left of it.
    fn told(self) -> Sourced<ChangedFile> {
        let mut file = self.file;
        if file.what.created {
            let ChangedFile { added, removed, .. } = &mut file.what;
            (*added, *removed) = (added.saturating_sub(*removed), 0);
        }
        file
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
        let staged = self.staged.take().filter(|_| file.edits > edits);
        if let Some((added, removed)) = staged {
            (file.added, file.removed) = (before + added, gone + removed);
            file.counted = true;
        }
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

impl<'t> Edited<'t> {
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
                let is_it = |edited: &str, kept: &Kept| match path.as_str() {
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

    fn of(&mut self, line: &LocatedItem<'t>, path: &'t str) -> &mut Kept {
        self.seen.insert(path);
        self.left.entry(path).or_insert_with(|| Kept {
            file: line.source(ChangedFile {
                path: path.to_owned(),
                ..ChangedFile::default()
            }),
            committed: (0, 0, 0),
            staged: None,
        })
    }
}

/// A command names the file, a folder that it is in, or several by `*`.
fn is_meant(file: &str, named: &str) -> bool {
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
    let (mut commits, mut helped) = (false, false);
    for line in lines {
        helped |= !line.main || is_agents(line.item.text);
        for finding in line.item.findings {
            match finding {
                Finding::Commit { .. } => {
                    commits = true;
                    for (path, file) in std::mem::take(&mut staged) {
                        if let Some(known) = all.get_mut(path) {
                            add(&mut known.what, file.what);
                        } else if !file.what.uncounted || !is_known(&all, path) {
                            all.insert(path, file);
                        }
                    }
                }
                Finding::Stat {
                    path,
                    added,
                    removed,
                    of,
                    drawn,
                } if !path.is_empty() => {
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
                        Tree::Staged => _ = staged.insert(path.as_str(), file),
                        // what was counted before may be of several commits
                        Tree::Last if commits => {
                            let known = all.entry(path.as_str()).or_insert_with(|| file.clone());
                            if known.what.uncounted && !drawn {
                                *known = file;
                            }
                        }
                        Tree::Work if helped && is_named(lines, path) => {
                            work.insert(path.as_str(), file);
                        }
                        Tree::Last | Tree::Work => {}
                    }
                }
                _ => {}
            }
        }
    }
    for (path, file) in work {
        all.entry(path).or_insert(file);
    }
    all
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
mod tests {
    use super::*;
    use crate::model::exchange::ItemKind;

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

    /// `a.rs +1 −2`, of the findings of one call each.
    fn told(calls: &[Vec<Finding>]) -> Vec<String> {
        let lines = calls.iter().map(|findings| line(1, "Action: x", findings));
        let files = files(&lines.collect::<Vec<_>>()).into_iter();
        let files = files.map(|file| file.what);
        let told = files.map(|file| match file.deleted {
            true => format!("{} gone", file.path),
            false => format!("{} +{} −{}", file.path, file.added, file.removed),
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
            ["/p/b.go +3 −1", "/p/zz_a.go +9 −0"]
        );
        assert_eq!(
            told(&[made(), vec![fate("/p/zz_a.go", Deleted)]]),
            Vec::<String>::new()
        );
        assert_eq!(
            told(&[made(), edited(), vec![fate("/p/zz_*.go", Dropped)]]),
            ["/p/b.go +3 −1"]
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
        assert_eq!(told(&restored), ["/p/b.go +3 −1"]);
        assert_eq!(
            told(&[made(), vec![fate("/p", Restored)]]),
            ["/p/zz_a.go +9 −0"]
        );
    }

    #[test]
    fn lines_are_what_is_left_of_the_edits() {
        let new = [
            vec![
                changed("/p/a.go", 90, 0),
                fate("/p/a.go", FileFate::Created),
            ],
            vec![changed("/p/a.go", 10, 40)],
        ];
        assert_eq!(told(&new), ["/p/a.go +60 −0"]);
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
        assert_eq!(told(&[edits(), stat(33, 0)]), ["/p/a.go +33 −0"]);
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
        assert_eq!(told(&[edits(), drawn(77, 46, true)]), ["/p/a.go +78 −45"]);
        assert_eq!(told(&[edits(), drawn(60, 63, true)]), ["/p/a.go +87 −54"]);
        // others' lines are in it
        assert_eq!(told(&[edits(), stat(99, 10)]), ["/p/a.go +87 −54"]);
        assert_eq!(told(&[edits(), stat(50, 0)]), ["/p/a.go +87 −54"]);
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
        let own = || "/p/src/a.rs false".to_owned();
        let committed = [edit, line(2, "", &staged), line(3, "", &made)];
        assert_eq!(found(&committed), [own(), "src/b.rs true".into()]);
        // nobody knows whose changes these are
        assert_eq!(found(&committed[..2]), [own()]);
        assert_eq!(found(&[edit, line(2, "", &work)]), [own()]);
        let helped = line(2, "Action: Task(\"mend c.rs\") → done", &[]);
        let after = [edit, helped, line(3, "", &work)];
        assert_eq!(found(&after), [own(), "c.rs true".into()]);
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
        assert_eq!(told(&[edits(), staged.clone()]), ["/p/faq.md +2 −2"]);
        let done = [edits(), staged, commit("a").to_vec()];
        assert_eq!(told(&done), ["/p/faq.md +15 −0"]);
        // named, but not counted
        let named = vec![stat("b.rs", (0, 0), true), stat("c.rs", (6, 3), true)];
        let findings = [named, commit("a").to_vec()].concat();
        let lines = [line(1, "Action: x", &findings)];
        let files = files(&lines).into_iter().map(|file| file.what);
        let told = files.map(|file| (file.path, file.added, file.removed, file.uncounted));
        let wants = [
            ("b.rs".to_owned(), 0, 0, true),
            ("c.rs".to_owned(), 0, 0, true),
        ];
        assert_eq!(told.collect::<Vec<_>>(), wants);
    }
}

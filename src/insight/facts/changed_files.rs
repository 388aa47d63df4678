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
    fn correct(&mut self, added: u64, removed: u64) {
        let file = &mut self.file.what;
        let (before, gone, _) = self.committed;
        let (own_added, own_removed) = (file.added - before, file.removed - gone);
        let grown = |added: u64, removed: u64| added as i64 - removed as i64;
        let far = (grown(added, removed) - grown(own_added, own_removed)).unsigned_abs();
        // long bars are drawn in proportion
        let is_own =
            far <= 1 + (added + removed) / 20 && added + removed <= own_added + own_removed;
        if is_own && file.edits > self.committed.2 {
            (file.added, file.removed) = (before + added, gone + removed);
        }
    }
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
                kept.file.what.deleted = false;
            }
            Finding::File { path, became } => self.become_of(line, path, *became),
            Finding::Commit { .. } => {
                for Kept { file, committed } in self.left.values_mut() {
                    *committed = (file.what.added, file.what.removed, file.what.edits);
                }
            }
            Finding::Stat {
                path,
                added,
                removed,
                of: Tree::Work | Tree::Staged,
            } => {
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
                    kept.correct(*added, *removed);
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
                } if !path.is_empty() => {
                    let file = line.source(ChangedFile {
                        path: path.clone(),
                        added: *added,
                        removed: *removed,
                        by_git: true,
                        ..ChangedFile::default()
                    });
                    match of {
                        Tree::Staged => _ = staged.insert(path.as_str(), file),
                        Tree::Last if commits => _ = all.insert(path.as_str(), file),
                        Tree::Work if helped && is_named(lines, path) => {
                            all.insert(path.as_str(), file);
                        }
                        Tree::Last | Tree::Work => {}
                    }
                }
                _ => {}
            }
        }
    }
    all
}

/// Somebody spoke of the file, or a call did: the working tree may have changes that are older than the session.
fn is_named(lines: &[LocatedItem<'_>], path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
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

/// Git names paths from a repository's root.
fn is_same(edited: &str, by_git: &str) -> bool {
    let edited = edited.replace('\\', "/");
    let above = edited.strip_suffix(by_git);
    above.is_some_and(|above| above.is_empty() || above.ends_with('/'))
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
        let stat = |added, removed| {
            vec![Finding::Stat {
                path: "a.go".into(),
                added,
                removed,
                of: Tree::Work,
            }]
        };
        let edits = || vec![changed("/p/a.go", 87, 54)];
        assert_eq!(told(&[edits(), stat(33, 0)]), ["/p/a.go +33 −0"]);
        let only = Finding::Stat {
            path: String::new(),
            added: 33,
            removed: 0,
            of: Tree::Staged,
        };
        let only = [only].into_iter().chain(commit("a")).collect();
        assert_eq!(told(&[edits(), only]), ["/p/a.go +33 −0"]);
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
        let others = [stat("old/z.rs", Tree::Work)];
        let after = [edit, helped, line(3, "", &others)];
        assert_eq!(found(&after), [own()], "it was changed before");
        assert_eq!(found(&[edit, line(2, "", &last)]), [own()]);
        let shown = [line(1, "", &made), line(2, "", &last)];
        assert_eq!(found(&shown), ["d.rs true"]);
    }
}

//! The files of a project: walks its folders in parallel and says what `stat` says of what is
//! wanted. Opens nothing but `.gitignore`s; pipes, sockets and devices are passed over, links are
//! followed only when asked, and never out of the project. Doesn't know patterns ([`PathFilter`]).

use super::content::read_small;
use super::files::stat_of;
use crate::model::file::Sighting;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Which files, by their path from the project's root.
pub trait PathFilter: Sync {
    /// This file.
    fn file(&self, path: &Path) -> bool;
    /// Something below this folder may be.
    fn below(&self, folder: &Path) -> bool;
    /// Nothing at this place is looked at, nor below it, whatever links lead there.
    fn is_barred(&self, path: &Path) -> bool;
    /// The settings in this folder want it to be left alone.
    fn is_left_alone(&self, folder: &Path) -> bool;
    /// Where to begin: folders, or files.
    fn starts(&self) -> Vec<PathBuf>;
    /// Links are followed.
    fn follows_links(&self) -> bool;
}

/// What a walk found.
#[derive(Debug, Default)]
pub struct Walked {
    /// In no order.
    pub files: Vec<Sighting>,
    /// Folders that can't be listed and files that can't be looked at, with why. Never fatal.
    pub problems: Vec<(PathBuf, String)>,
    /// Links that were not followed, among what is wanted.
    pub links: u64,
    /// Pipes, sockets and devices, among what is wanted.
    pub specials: u64,
}

/// Deeper folders are named, not walked.
const DEPTH_MAX: usize = 128;
/// Folders that are entered through links. More: links upon links, in a tree made to hold us up.
const LINKED_MAX: u64 = 10_000;
/// Longer ignore files are no ignore files.
const IGNORE_BYTES_MAX: u64 = 1 << 20;

/// Walks a project. Costs one `stat` per wanted file, and a listing per folder.
pub fn walk(root: &Path, wanted: &dyn PathFilter, threads: usize) -> Walked {
    let walk = Walk {
        root,
        canonical: root.canonicalize().unwrap_or_else(|_| root.to_path_buf()),
        wanted,
        queue: Mutex::default(),
        ready: Condvar::new(),
        linked: AtomicU64::new(0),
        walked: Mutex::default(),
    };
    for start in wanted.starts() {
        walk.begin(&start);
    }
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| walk.work());
        }
        walk.work();
    });
    walk.walked
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
}

/// A folder that waits.
struct Folder {
    /// From the root.
    path: PathBuf,
    ignores: Option<Arc<Ignores>>,
    depth: usize,
    /// Folders around it that a link led to.
    through: Vec<(u64, u64)>,
}

/// What the ignore files of a folder say, and those around it.
struct Ignores {
    rules: Gitignore,
    around: Option<Arc<Ignores>>,
}

#[derive(Default)]
struct Queue {
    waiting: Vec<Folder>,
    busy: usize,
}

struct Walk<'a> {
    root: &'a Path,
    canonical: PathBuf,
    wanted: &'a dyn PathFilter,
    queue: Mutex<Queue>,
    ready: Condvar,
    linked: AtomicU64,
    walked: Mutex<Walked>,
}

impl Walk<'_> {
    /// Puts a beginning into the queue, with the ignore files of the folders around it. A beginning
    /// behind a link counts as a link.
    fn begin(&self, start: &Path) {
        let mut ignores = self.outer_ignores();
        let (mut at, mut through) = (PathBuf::new(), Vec::new());
        for part in start.components() {
            ignores = self.with_ignores_of(&at, ignores);
            at.push(part);
            if part.as_os_str() == GIT || self.wanted.is_barred(&at) {
                return;
            }
            match fs::symlink_metadata(self.root.join(&at)) {
                Ok(meta) if meta.is_symlink() && !self.may_follow(&at) => return self.count_link(),
                Ok(meta) if meta.is_dir() || meta.is_symlink() => {
                    if self.wanted.is_left_alone(&at) {
                        return;
                    }
                    if meta.is_symlink() {
                        through.extend(identity(&self.root.join(&at)));
                    }
                }
                Ok(_) if at == start => {
                    let mut found = Walked::default();
                    self.file(&at, !through.is_empty(), &mut found);
                    return self.merge(found);
                }
                // nothing is there, or a file around files
                _ => return,
            }
        }
        let depth = start.components().count();
        lock(&self.queue).waiting.push(Folder {
            path: at,
            ignores,
            depth,
            through,
        });
    }

    fn work(&self) {
        while let Some(folder) = self.next() {
            let found = self.list(&folder);
            self.merge(found);
            let mut queue = lock(&self.queue);
            queue.busy -= 1;
            drop(queue);
            self.ready.notify_all();
        }
    }

    /// `None`: nothing is waiting, and nobody works on what could bring more.
    fn next(&self) -> Option<Folder> {
        let mut queue = lock(&self.queue);
        loop {
            if let Some(folder) = queue.waiting.pop() {
                queue.busy += 1;
                return Some(folder);
            }
            if queue.busy == 0 {
                return None;
            }
            queue = self
                .ready
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn list(&self, folder: &Folder) -> Walked {
        let mut found = Walked::default();
        let listed = fs::read_dir(self.root.join(&folder.path));
        let entries = listed.and_then(Iterator::collect::<std::io::Result<Vec<fs::DirEntry>>>);
        let entries = match entries {
            Ok(entries) => entries,
            Err(error) => {
                found.problem(&folder.path, &error);
                return found;
            }
        };
        // before anything else in the folder is looked at, its ignore file included
        if entries.iter().any(is_settings) && self.wanted.is_left_alone(&folder.path) {
            return found;
        }
        let mut ignores = folder.ignores.clone();
        if entries.iter().any(|entry| entry.file_name() == IGNORE_FILE) {
            ignores = self.with_ignores_of(&folder.path, ignores);
        }
        let (mut below, is_linked) = (Vec::new(), !folder.through.is_empty());
        for entry in entries {
            let path = folder.path.join(entry.file_name());
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let is_dir = kind.is_dir();
            if self.is_ignored(ignores.as_deref(), &path, is_dir) {
                continue;
            }
            if is_dir {
                below.extend(self.folder(path, folder, &ignores, &mut found));
            } else if kind.is_symlink() {
                below.extend(self.link(path, folder, &ignores, &mut found));
            } else if self.wanted.file(&path) {
                match kind.is_file() {
                    true => found.stat(&path, entry.metadata(), is_linked),
                    false => found.specials += 1,
                }
            }
        }
        if !below.is_empty() {
            lock(&self.queue).waiting.append(&mut below);
            self.ready.notify_all();
        }
        found
    }

    fn folder(
        &self,
        path: PathBuf,
        around: &Folder,
        ignores: &Option<Arc<Ignores>>,
        found: &mut Walked,
    ) -> Option<Folder> {
        let is_git = path.file_name().is_some_and(|name| name == GIT);
        if is_git || !self.wanted.below(&path) {
            return None;
        }
        if around.depth >= DEPTH_MAX {
            found.problems.push((path, "too deep".to_owned()));
            return None;
        }
        Some(Folder {
            path,
            ignores: ignores.clone(),
            depth: around.depth + 1,
            through: around.through.clone(),
        })
    }

    fn link(
        &self,
        path: PathBuf,
        around: &Folder,
        ignores: &Option<Arc<Ignores>>,
        found: &mut Walked,
    ) -> Option<Folder> {
        let is_wanted = self.wanted.file(&path) || self.wanted.below(&path);
        if !is_wanted {
            return None;
        }
        let target = match self.may_follow(&path) {
            true => fs::metadata(self.root.join(&path)).ok(),
            false => None,
        };
        let Some(target) = target else {
            found.links += 1;
            return None;
        };
        if !target.is_dir() {
            if self.wanted.file(&path) {
                self.file(&path, true, found);
            }
            return None;
        }
        let id = (stat_of(&target).device, stat_of(&target).inode);
        let leads_back = around.through.contains(&id) || self.is_around(&path, id);
        if leads_back || self.linked.fetch_add(1, Ordering::Relaxed) >= LINKED_MAX {
            found.links += 1;
            return None;
        }
        let mut folder = self.folder(path, around, ignores, found)?;
        folder.through.push(id);
        Some(folder)
    }

    /// One of the folders around this path is it.
    fn is_around(&self, path: &Path, id: (u64, u64)) -> bool {
        let mut around = path.ancestors().skip(1);
        around.any(|around| identity(&self.root.join(around)) == Some(id))
    }

    /// A link is followed when that is asked for, when it stays in the project, and when what it leads
    /// to is not what the project hides (`.git`).
    fn may_follow(&self, path: &Path) -> bool {
        if !self.wanted.follows_links() {
            return false;
        }
        let target = self.root.join(path).canonicalize();
        let target = target.ok().and_then(|target| {
            let below = target.strip_prefix(&self.canonical);
            below.ok().map(Path::to_path_buf)
        });
        target.is_some_and(|below| {
            let hides = below.components().any(|part| part.as_os_str() == GIT);
            let mut around = below.ancestors();
            !hides
                && !self.wanted.is_barred(&below)
                && !around.any(|folder| self.wanted.is_left_alone(folder))
        })
    }

    fn file(&self, path: &Path, is_linked: bool, found: &mut Walked) {
        let at = self.root.join(path);
        match fs::metadata(&at) {
            Ok(meta) if !meta.is_file() => found.specials += 1,
            meta if self.wanted.file(path) => found.stat(path, meta, is_linked),
            _ => {}
        }
    }

    fn count_link(&self) {
        lock(&self.walked).links += 1;
    }

    fn merge(&self, mut found: Walked) {
        let mut all = lock(&self.walked);
        all.files.append(&mut found.files);
        all.problems.append(&mut found.problems);
        all.links += found.links;
        all.specials += found.specials;
    }

    /// Of the folders around the project, up to its repository's root, and what the repository itself
    /// excludes.
    fn outer_ignores(&self) -> Option<Arc<Ignores>> {
        let top = self
            .root
            .ancestors()
            .find(|dir| dir.join(".git").exists())?;
        let mut ignores = rules(top, ".git/info/exclude", None);
        let between: Vec<&Path> = self.root.ancestors().skip(1).collect();
        for dir in between.iter().rev().filter(|dir| dir.starts_with(top)) {
            ignores = rules(dir, IGNORE_FILE, ignores);
        }
        ignores
    }

    fn with_ignores_of(&self, folder: &Path, around: Option<Arc<Ignores>>) -> Option<Arc<Ignores>> {
        rules(&self.root.join(folder), IGNORE_FILE, around)
    }

    /// The innermost rule counts.
    fn is_ignored(&self, ignores: Option<&Ignores>, path: &Path, is_dir: bool) -> bool {
        let mut next = ignores;
        let path = next.map(|_| self.root.join(path)).unwrap_or_default();
        while let Some(ignores) = next {
            let matched = ignores.rules.matched(&path, is_dir);
            if !matched.is_none() {
                return matched.is_ignore();
            }
            next = ignores.around.as_deref();
        }
        false
    }
}

const IGNORE_FILE: &str = ".gitignore";
const GIT: &str = ".git";

/// `graphiti.config.json`, `.yaml` and the like.
fn is_settings(entry: &fs::DirEntry) -> bool {
    let name = entry.file_name();
    name.as_bytes().starts_with(b"graphiti.config.")
}

impl Walked {
    fn stat(&mut self, path: &Path, meta: std::io::Result<fs::Metadata>, is_linked: bool) {
        match meta {
            Ok(meta) => self.files.push(Sighting {
                path: path.as_os_str().as_bytes().to_vec(),
                stat: stat_of(&meta),
                is_linked,
            }),
            Err(error) => self.problem(path, &error),
        }
    }

    /// What vanished since it was listed is no trouble.
    fn problem(&mut self, path: &Path, error: &std::io::Error) {
        if error.kind() != std::io::ErrorKind::NotFound {
            self.problems.push((path.into(), error.kind().to_string()));
        }
    }
}

/// Device and inode of what a path leads to.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let stat = stat_of(&fs::metadata(path).ok()?);
    Some((stat.device, stat.inode))
}

/// What an ignore file of this folder says, before what those around it say.
fn rules(dir: &Path, name: &str, around: Option<Arc<Ignores>>) -> Option<Arc<Ignores>> {
    let Some(text) = read_small(&dir.join(name), IGNORE_BYTES_MAX) else {
        return around;
    };
    let mut builder = GitignoreBuilder::new(dir);
    for line in String::from_utf8_lossy(&text).lines() {
        // a line that is no pattern ignores nothing
        let _ = builder.add_line(None, line);
    }
    match builder.build() {
        Ok(rules) => Some(Arc::new(Ignores { rules, around })),
        Err(_) => around,
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

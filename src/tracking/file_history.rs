//! What became of a file beside git: which file is meant, however it is typed, and which sessions edited it,
//! whoever committed it. Repositories are found by their folders; none is opened.

use crate::host::git;
use crate::insight::facts::files_by_git;
use crate::insight::items::SessionItems;
use crate::model::episode::EpisodeSource;
use crate::model::error::Error;
use crate::model::finding::Finding;
use crate::model::namespace::project_root;
use crate::model::source::Agent;
use crate::model::summary::below_masked_home;
use crate::model::time::Time;
use crate::store::{Hit, Query, Store};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// A file that somebody asks about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRequest {
    /// As it was typed, without `.` and `..`.
    typed: String,
    /// The root of its repository and its path in it, as it is spelled and without links; empty: it lies in none,
    /// or nobody can tell.
    places: Vec<(String, String)>,
}

impl FileRequest {
    /// What somebody typed in this folder: a whole path, also of a linked work tree, `~/…`, a path from the folder,
    /// one from its repository's root, or its end.
    pub fn new(typed: &str, cwd: Option<&Path>, home: Option<&Path>) -> FileRequest {
        let typed = slashed(typed);
        let below_home = typed.strip_prefix("~/").zip(home);
        let typed = below_home.map_or(PathBuf::from(&*typed), |(rest, home)| home.join(rest));
        let whole = match (typed.is_absolute(), cwd) {
            (true, _) => Some(git::tidy(&typed)),
            (false, Some(cwd)) => Some(git::tidy(&cwd.join(&typed))),
            (false, None) => None,
        };
        FileRequest {
            places: whole.as_deref().map(places).unwrap_or_default(),
            typed: git::tidy(&typed).to_string_lossy().into_owned(),
        }
    }

    /// The root of the repository that it lies in.
    pub fn root(&self) -> Option<&str> {
        self.places.first().map(|(root, _)| root.as_str())
    }

    /// As people are told it.
    pub fn shown(&self) -> &str {
        &self.typed
    }

    fn is_whole(&self) -> bool {
        Path::new(&self.typed).is_absolute()
    }

    /// It is the file at this path of the repository at this root.
    pub fn is(&self, root: &str, path: &str) -> bool {
        let mut places = self.places.iter();
        match self.places.is_empty() {
            true => self.is_whole() && Path::new(root).join(path) == Path::new(&self.typed),
            false => places.any(|(known, below)| known == root && below == path),
        }
    }

    /// The path ends so: of a whole path only itself does.
    pub fn is_end_of(&self, path: &str) -> bool {
        let before = path.strip_suffix(self.typed.as_str());
        !self.is_whole() && before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
    }

    /// The last names of its path, by which texts are looked through.
    fn end(&self) -> &str {
        let is_end = !self.is_whole() && !self.typed.starts_with("..");
        let place = self.places.first().filter(|_| !is_end);
        let path = place.map_or(&self.typed, |(_, path)| path);
        path.trim_start_matches('/')
    }
}

/// A session that edited a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEdits {
    /// Its id.
    pub session: String,
    /// Whose session.
    pub agent: Agent,
    /// Its namespace.
    pub namespace: String,
    /// Its project.
    pub project_path: String,
    /// When the chunk began that has the last edit.
    pub at: Option<Time>,
    /// That chunk.
    pub episode: Uuid,
    /// The line of the last edit in the session's log.
    pub line: u64,
    /// The file, from the repository's root where it is known.
    pub path: String,
    /// How often; 0: only git tells that the session changed it.
    pub edits: u64,
    /// Lines.
    pub added: u64,
    /// Lines.
    pub removed: u64,
}

/// Chunks that name such a path, which are looked through.
const CHUNKS_MAX: u32 = 400;
/// Sessions that name it and don't edit it, of which it is looked whether git says that they changed it.
const SESSIONS_BY_GIT_MAX: usize = 60;

/// The sessions that edited the file, the latest first: itself, and others whose paths end so.
///
/// # Errors
/// When the store can't be read.
pub fn edits(
    store: &Store,
    request: &FileRequest,
    namespaces: Option<&[String]>,
    agent: Option<Agent>,
) -> Result<(Vec<FileEdits>, Vec<FileEdits>), Error> {
    let query = Query {
        namespaces: namespaces.map(<[String]>::to_vec),
        agent,
        sources: vec![EpisodeSource::Session],
        file: Some(escaped(request.end())),
        limit: CHUNKS_MAX,
        ..Query::default()
    };
    let (mut own, mut others) = (Vec::new(), Vec::new());
    let hits = store.search(&query)?;
    for hit in &hits {
        for mark in store.outline(hit.episode)? {
            for finding in &mark.findings {
                let Finding::Changed { path, .. } = finding else {
                    continue;
                };
                let (root, path) = in_project(&hit.project_path, path);
                if request.is(&root, &path) {
                    note(&mut own, hit, mark.line, path, finding);
                } else if request.is_end_of(&path) {
                    note(&mut others, hit, mark.line, path, finding);
                }
            }
        }
    }
    let edited = own.iter().chain(&others);
    let mut seen: BTreeSet<String> = edited.map(|one| one.session.clone()).collect();
    let mut left = SESSIONS_BY_GIT_MAX;
    for hit in hits {
        if left == 0 || !seen.insert(hit.session.clone()) {
            continue;
        }
        left -= 1;
        for file in changed_by_git(store, &hit)? {
            if request.is(&hit.project_path, &file.path) {
                own.push(file);
            } else if request.is_end_of(&file.path) {
                others.push(file);
            }
        }
    }
    for all in [&mut own, &mut others] {
        // stable: what has no time stays where it is
        all.sort_by_key(|one| std::cmp::Reverse(one.at));
    }
    Ok((own, others))
}

/// The files that only git names as changed by the session of a hit.
fn changed_by_git(store: &Store, hit: &Hit) -> Result<Vec<FileEdits>, Error> {
    let episodes = store.episodes(&hit.session)?;
    let outlined = episodes.iter().map(|found| {
        let outline = store.outline(found.episode.id)?;
        Ok((&found.episode, outline))
    });
    let items = SessionItems::with_outlines(outlined.collect::<Result<_, Error>>()?);
    let files = files_by_git(&items.lines()).into_iter();
    Ok(files
        .map(|file| FileEdits {
            line: file.line,
            episode: file.episode,
            path: in_project(&hit.project_path, &file.what.path).1,
            edits: 0,
            added: file.what.added,
            removed: file.what.removed,
            ..of_session(hit)
        })
        .collect())
}

/// Adds an edit to those of its session and file; chunks come with the latest first.
fn note(all: &mut Vec<FileEdits>, hit: &Hit, line: u64, path: String, finding: &Finding) {
    let Finding::Changed { added, removed, .. } = finding else {
        return;
    };
    let known = all
        .iter_mut()
        .find(|known| known.session == hit.session && known.path == path);
    if let Some(known) = known {
        known.edits += 1;
        known.added += added;
        known.removed += removed;
        if known.episode == hit.episode {
            known.line = line;
        }
        return;
    }
    all.push(FileEdits {
        line,
        path,
        edits: 1,
        added: *added,
        removed: *removed,
        ..of_session(hit)
    });
}

/// Whose edits they would be: no file yet.
fn of_session(hit: &Hit) -> FileEdits {
    FileEdits {
        session: hit.session.clone(),
        agent: hit.agent,
        namespace: hit.namespace.clone(),
        project_path: hit.project_path.clone(),
        at: hit.valid_at,
        episode: hit.episode,
        line: 0,
        path: String::new(),
        edits: 0,
        added: 0,
        removed: 0,
    }
}

/// Windows' paths with `/`. A name with a `\` of its own stays as it is where the path has `/` too.
fn slashed(path: &str) -> Cow<'_, str> {
    let has_drive = path.as_bytes().get(1) == Some(&b':');
    match path.contains('\\') && (has_drive || !path.contains('/')) {
        true => Cow::Owned(path.replace('\\', "/")),
        false => Cow::Borrowed(path),
    }
}

/// A path as a filter takes it: what would be a pattern stands for itself.
fn escaped(path: &str) -> String {
    let mut escaped = String::new();
    for c in path.chars() {
        match c {
            '*' | '?' | '[' => escaped.extend(['[', c, ']']),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Root and path of a file that a session edited; the path has `/` on Windows too.
fn in_project(project: &str, path: &str) -> (String, String) {
    let path = &*slashed(path);
    let below = below_windows(&slashed(project), path).or_else(|| {
        let below = Path::new(path).strip_prefix(project).ok()?;
        Some(below)
    });
    let below = below.and_then(Path::to_str).map(str::to_owned);
    let masked = || {
        Some(
            below_masked_home(path, project)?
                .trim_start_matches('/')
                .to_owned(),
        )
    };
    match below.or_else(masked) {
        Some(below) => (project.to_owned(), of_work_tree(&below).to_owned()),
        None => match places(Path::new(path)).into_iter().next() {
            Some(place) => place,
            None => (project.to_owned(), path.to_owned()),
        },
    }
}

/// A path below a folder, where both begin with a drive, whose letter has no case.
fn below_windows<'p>(folder: &str, path: &'p str) -> Option<&'p Path> {
    let (drive, folder) = folder.split_once(":/")?;
    let (own, path) = path.split_once(":/")?;
    let below = own.eq_ignore_ascii_case(drive).then_some(path)?;
    Path::new(below).strip_prefix(folder).ok()
}

/// A path in a work tree of an agent's is one of its repository.
fn of_work_tree(below: &str) -> &str {
    let tree = below.strip_prefix(".claude/worktrees/");
    tree.and_then(|tree| Some(tree.split_once('/')?.1))
        .unwrap_or(below)
}

/// The root of the repository that a whole path lies in, and the path in it: as it is spelled, and without
/// links. A folder that is gone is told by the one around it.
fn places(path: &Path) -> Vec<(String, String)> {
    let there = path.ancestors().skip(1).find(|dir| dir.is_dir());
    let Some(there) = there.filter(|_| path.is_absolute()) else {
        return Vec::new();
    };
    let resolved = there.canonicalize().ok();
    let place = |folder: &Path| {
        let top = folder.ancestors().find(|dir| dir.join(".git").exists())?;
        let below = folder.join(path.strip_prefix(there).ok()?);
        let below = below.strip_prefix(top).ok()?.to_str()?.to_owned();
        let root = project_root(&git::repository(folder)?.to_string_lossy());
        Some((root, of_work_tree(&below).to_owned()))
    };
    let mut places: Vec<_> = place(there).into_iter().collect();
    let real = resolved.as_deref().and_then(place);
    places.extend(real.filter(|real| !places.contains(real)));
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_is_found_however_it_is_typed() {
        let world = tempfile::tempdir().unwrap();
        let home = world.path().canonicalize().unwrap();
        let at = |path: &str| home.join(path);
        fs::create_dir_all(at("app/.git/worktrees/side")).unwrap();
        fs::create_dir_all(at("app/src")).unwrap();
        fs::write(at("app/.git/worktrees/side/commondir"), "../..\n").unwrap();
        fs::create_dir_all(at("side/src")).unwrap();
        let link = format!("gitdir: {}\n", at("app/.git/worktrees/side").display());
        fs::write(at("side/.git"), link).unwrap();
        let root = at("app").to_string_lossy().into_owned();
        let whole = |path: &str| at(path).to_string_lossy().into_owned();
        let src = at("app/src");
        for (typed, cwd) in [
            (whole("app/src/a.py"), None),
            (whole("side/src/a.py"), None),
            (whole("app/gone/../src/./a.py"), None),
            ("~/app/src/a.py".to_owned(), None),
            ("a.py".to_owned(), Some(src.as_path())),
            ("./a.py".to_owned(), Some(src.as_path())),
            ("../src/a.py".to_owned(), Some(src.as_path())),
        ] {
            let request = FileRequest::new(&typed, cwd, Some(&home));
            assert!(request.is(&root, "src/a.py"), "{typed}: {request:?}");
            assert!(!request.is(&root, "lib/src/a.py"), "{typed}");
        }
        let end = FileRequest::new("./a.py", None, None);
        assert!(end.is_end_of("src/a.py") && !end.is_end_of("src/ba.py"));
        let gone = FileRequest::new("/nowhere/at/all/a.py", None, None);
        assert!(gone.is("/nowhere/at/all", "a.py") && !gone.is_end_of("a.py"));
        assert_eq!(escaped("app/[id].tsx"), "app/[[]id].tsx");
    }

    #[test]
    fn an_edit_is_told_from_the_repositorys_root() {
        for (path, wants) in [
            ("/h/me/app/src/a.py", "src/a.py"),
            ("/h/me/app/.claude/worktrees/x/src/a.py", "src/a.py"),
            ("/h/[redacted:user:1a]/app/src/a.py", "src/a.py"),
            ("src/a.py", "src/a.py"),
        ] {
            let told = in_project("/h/me/app", path);
            assert_eq!(told, ("/h/me/app".to_owned(), wants.to_owned()), "{path}");
        }
        for path in [
            r"D:\app\src\a.py",
            "d:/app/src/a.py",
            r"D:\app\.claude\worktrees\x\src\a.py",
        ] {
            let (root, below) = in_project(r"D:\app", path);
            assert_eq!(
                (root.as_str(), below.as_str()),
                (r"D:\app", "src/a.py"),
                "{path}"
            );
        }
        assert!(FileRequest::new(r"src\a.py", None, None).is_end_of("lib/src/a.py"));
    }
}

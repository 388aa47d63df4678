//! One place, one project: which stored projects are one and the same, and which of them somebody means by a
//! path or a name. Folders of a repository, its worktrees and symlinks to it are its project; a folder without
//! a repository is a project of its own.

use super::provenance::shown_digits;
use crate::host::git;
use crate::insight::recap::distinct;
use crate::model::error::{Error, ErrorKind};
use crate::model::namespace::{NAMESPACE_DIGITS, is_of_windows, namespace, project_root};
use crate::store::Store;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The root of the project that a path means, from the directory `cwd`; no path means that directory. Asks
/// the disk; paths of other machines stay as they are.
pub fn root_of(path: Option<&Path>, cwd: &Path) -> String {
    let path = path.unwrap_or(Path::new("."));
    let full = match is_of_windows(&path.to_string_lossy()) {
        true => path.to_owned(),
        false => git::tidy(&cwd.join(path)),
    };
    // agents' own worktrees may be gone
    let full = project_root(&full.to_string_lossy());
    project_root(&git::place(Path::new(&full)).to_string_lossy())
}

/// The tracked project that a folder means: under the name that is typed, where it is tracked so, else
/// without links, else that of its place.
pub fn tracked_root(path: &Path, cwd: &Path, is_tracked: impl Fn(&str) -> bool) -> String {
    let typed = git::tidy(&cwd.join(path));
    let real = typed.canonicalize().unwrap_or_else(|_| typed.clone());
    let spelled = [typed, real].map(|dir| project_root(&dir.to_string_lossy()));
    let mut spelled = spelled.into_iter();
    spelled
        .find(|root| is_tracked(root))
        .unwrap_or_else(|| root_of(Some(path), cwd))
}

/// A glob from a folder, as it is from the root of the folder's project.
pub fn glob_from_root(glob: &str, folder: &Path, root: &str) -> String {
    let real = folder.canonicalize().ok();
    let inside = real.as_deref().and_then(|real| {
        let top = git::top(real).filter(|top| git::place(top) == Path::new(root));
        real.strip_prefix(top.as_deref().unwrap_or(Path::new(root)))
            .ok()
    });
    match inside
        .and_then(Path::to_str)
        .filter(|inside| !inside.is_empty())
    {
        Some(inside) => format!("{}/{glob}", globset::escape(inside)),
        None => glob.to_owned(),
    }
}

/// The stored projects, by place.
#[derive(Clone, Debug, Default)]
pub struct Places {
    stored: Vec<StoredPlace>,
    /// Roots that projects had, and those that they have.
    moves: Vec<(String, String)>,
}

/// A project as its sessions name it.
#[derive(Clone, Debug)]
struct StoredPlace {
    /// Of the project that it is today.
    root: String,
    namespace: String,
    path: String,
}

impl Places {
    /// Of all that is stored. Some `stat`s for each project.
    ///
    /// # Errors
    /// When the store can't be read.
    pub fn of(store: &Store) -> Result<Places, Error> {
        let mut places = Places {
            stored: Vec::new(),
            moves: store.moves()?,
        };
        let stored = store.projects("")?.into_iter();
        let stored = stored.map(|(namespace, path)| StoredPlace {
            root: places.root(Path::new(&path), Path::new("/")),
            namespace,
            path,
        });
        places.stored = stored.collect();
        Ok(places)
    }

    /// What people call each stored project, by its namespace: its folder, and of two with the same as much of
    /// the way to it as tells them apart. `hides`: its path may not be told.
    pub fn names(&self, mut hides: impl FnMut(&str) -> bool) -> BTreeMap<String, String> {
        let mut roots: BTreeMap<&str, &str> = BTreeMap::new();
        for one in self.stored.iter().filter(|one| !hides(&one.path)) {
            roots.entry(&one.root).or_insert(&one.namespace);
        }
        let projects: Vec<(&str, Option<&str>)> = roots
            .iter()
            .map(|(root, namespace)| (shown_digits(namespace), Some(*root)))
            .collect();
        let names: BTreeMap<&str, String> =
            roots.keys().copied().zip(distinct(&projects)).collect();
        let named = self.stored.iter().map(|one| {
            let name = names.get(one.root.as_str()).cloned();
            let name = name.unwrap_or_else(|| shown_digits(&one.namespace).to_owned());
            (one.namespace.clone(), name)
        });
        // [`Places::project_of`] calls a project by its root, with which nothing may be stored
        let roots = names
            .iter()
            .map(|(root, name)| (namespace(root), name.clone()));
        roots.chain(named).collect()
    }

    /// The root of the project that a path means, from `cwd`: where it is now, if somebody said that it moved.
    pub fn root(&self, path: &Path, cwd: &Path) -> String {
        let spelled = project_root(&git::tidy(&cwd.join(path)).to_string_lossy());
        let here = |path: &str| {
            let moved = self.moves.iter().find_map(|(from, to)| {
                // a project may have moved into a folder of its own
                let is_there = Path::new(path).starts_with(to);
                let below = Path::new(path).strip_prefix(from).ok()?;
                (!is_there).then(|| Path::new(to).join(below))
            });
            moved.map(|moved| root_of(Some(&moved), cwd))
        };
        here(&spelled).unwrap_or_else(|| {
            let root = root_of(Some(path), cwd);
            here(&root).unwrap_or(root)
        })
    }

    /// The path that a stored project is to be moved from: as its sessions name it, or as somebody calls it.
    ///
    /// # Errors
    /// As [`Places::meant`].
    pub fn stored_root(&self, typed: &str, cwd: &Path) -> Result<String, Error> {
        let spelled = project_root(&git::tidy(&cwd.join(typed)).to_string_lossy());
        match self.stored.iter().any(|one| one.path == spelled) {
            true => Ok(spelled),
            false => self.meant(typed, cwd),
        }
    }

    /// The project that somebody in `cwd` is in: its repository's, or the folder's where sessions were
    /// in it. `None`: nobody knows.
    pub fn present(&self, cwd: &Path) -> Option<String> {
        let root = self.root(cwd, cwd);
        let is_stored = || self.stored.iter().any(|one| one.root == root);
        (git::repository(cwd).is_some() || is_stored()).then_some(root)
    }

    /// The namespace and the root of the project that a stored session's namespace and path belong to today: a
    /// subfolder's, or those of a project that moved, become the project's.
    pub fn project_of(&self, namespace: &str, path: &str) -> (String, String) {
        let is_it = |one: &&StoredPlace| one.namespace == namespace && one.path == path;
        match self.stored.iter().find(is_it) {
            Some(one) => (self::namespace(&one.root), one.root.clone()),
            None => (namespace.to_owned(), path.to_owned()),
        }
    }

    /// The namespaces of the project with this root: its own, and those that sessions in its folders
    /// were stored with.
    pub fn namespaces(&self, root: &str) -> BTreeSet<String> {
        let stored = self.stored.iter().filter(|one| one.root == root);
        let stored = stored.map(|one| one.namespace.clone());
        stored.chain([namespace(root)]).collect()
    }

    /// The same, with the stored projects below a folder that is in no repository.
    pub fn reached(&self, root: &str) -> BTreeSet<String> {
        let mut all = self.namespaces(root);
        if git::repository(Path::new(root)).is_none() {
            let below = self.stored.iter();
            let below = below.filter(|one| Path::new(&one.root).starts_with(root));
            all.extend(below.map(|one| one.namespace.clone()));
        }
        all
    }

    /// Something of the project with this root, or of what it reaches, is stored.
    pub fn has(&self, root: &str) -> bool {
        let reached = self.reached(root);
        self.stored
            .iter()
            .any(|one| reached.contains(&one.namespace))
    }

    /// The namespaces of projects that stand in a list, each as a path or as the beginning of a namespace.
    pub fn listed(&self, list: &[String]) -> Vec<String> {
        let (hex, paths): (Vec<&String>, Vec<&String>) =
            list.iter().partition(|one| prefix(one).is_some());
        let mut all = self.widened(hex.into_iter().filter_map(|hex| prefix(hex)).collect());
        let cwd = Path::new("/");
        let paths = paths.into_iter().filter(|path| is_path(path));
        all.extend(paths.flat_map(|path| self.namespaces(&self.root(Path::new(path), cwd))));
        all
    }

    /// Beginnings of namespaces, with the other namespaces of the projects that they name.
    pub fn widened(&self, prefixes: Vec<String>) -> Vec<String> {
        let is_named = |one: &&StoredPlace| prefixes.iter().any(|p| one.namespace.starts_with(p));
        let named: BTreeSet<&str> = {
            let named = self.stored.iter().filter(is_named);
            named.map(|one| one.root.as_str()).collect()
        };
        let is_root =
            |one: &&StoredPlace| prefixes.iter().any(|p| namespace(&one.root).starts_with(p));
        let roots = self.stored.iter().filter(is_root);
        let named: BTreeSet<&str> = roots.map(|one| one.root.as_str()).chain(named).collect();
        let others = named.into_iter().flat_map(|root| self.namespaces(root));
        let others: BTreeSet<String> = others
            .filter(|space| !prefixes.iter().any(|p| space.starts_with(p)))
            .collect();
        prefixes.into_iter().chain(others).collect()
    }

    /// The root of the stored project that is meant by its path, from `cwd`, by its namespace or by its
    /// name: the last folders of its path.
    ///
    /// # Errors
    /// Several are called so; or nothing is stored of what is meant, with the most similar name.
    pub fn meant(&self, typed: &str, cwd: &Path) -> Result<String, Error> {
        let root = self.root(Path::new(typed), cwd);
        let is_there = cwd.join(typed).exists();
        if (is_path(typed) || is_there) && self.has(&root) {
            return Ok(root);
        }
        if is_path(typed) {
            return Err(self.unknown(format!("nothing from {root} is stored"), &root));
        }
        let named = self.named(typed);
        let mut named = named.into_iter();
        match (named.next(), named.next()) {
            (Some(one), None) => Ok(one.to_owned()),
            (Some(one), Some(other)) => {
                let all: Vec<&str> = [one, other].into_iter().chain(named).collect();
                Err(several(typed, &all))
            }
            (None, _) => Err(self.unknown(format!("no project is named {typed}"), typed)),
        }
    }

    /// The same where nothing needs to be stored: a path, or the name of what is no folder here.
    ///
    /// # Errors
    /// As [`Places::meant`], of names.
    pub fn any(&self, typed: &Path, cwd: &Path) -> Result<String, Error> {
        let is_there = cwd.join(typed).exists();
        let name = typed.to_string_lossy();
        match is_there || is_path(&name) {
            true => Ok(self.root(typed, cwd)),
            false => self.meant(&name, cwd),
        }
    }

    /// Roots with this name; letters may be large or small where none has it as it is written.
    fn named(&self, typed: &str) -> BTreeSet<&str> {
        let hex = prefix(typed);
        if let Some(hex) = &hex {
            let begins = self
                .stored
                .iter()
                .filter(|one| one.namespace.starts_with(hex));
            let roots: BTreeSet<&str> = begins.map(|one| one.root.as_str()).collect();
            if !roots.is_empty() {
                return roots;
            }
        }
        let lower = typed.to_lowercase();
        let exact = |path: &str| Path::new(path).ends_with(typed);
        let alike = |path: &str| Path::new(&path.to_lowercase()).ends_with(&lower);
        let looks: [&dyn Fn(&StoredPlace) -> bool; 4] = [
            &|one| exact(&one.root),
            &|one| alike(&one.root),
            &|one| exact(&one.path),
            &|one| alike(&one.path),
        ];
        for fits in looks {
            let fitting = self.stored.iter().filter(|one| fits(one));
            let roots: BTreeSet<&str> = fitting.map(|one| one.root.as_str()).collect();
            if !roots.is_empty() {
                return roots;
            }
        }
        BTreeSet::new()
    }

    fn unknown(&self, message: String, typed: &str) -> Error {
        let wanted = name(typed).to_lowercase();
        let names = self.stored.iter().map(|one| name(&one.root));
        let scored = names.map(|name| (strsim::jaro_winkler(&wanted, &name.to_lowercase()), name));
        let best = scored.max_by(|a, b| a.0.total_cmp(&b.0));
        let hint = match best.filter(|(score, _)| *score > SIMILARITY_MIN) {
            Some((_, name)) => format!("did you mean `{name}`?"),
            None => "sessionmill stats   (lists projects)".to_owned(),
        };
        Error::new(ErrorKind::Failed, message).hinted(hint)
    }
}

/// The beginning of a namespace: 6 to 64 hex digits in any case (D07), as many as are stored.
pub fn prefix(typed: &str) -> Option<String> {
    let typed = typed.trim();
    let is_hex = (6..=64).contains(&typed.len()) && typed.bytes().all(|b| b.is_ascii_hexdigit());
    let digits = typed.len().min(NAMESPACE_DIGITS);
    is_hex.then(|| typed[..digits].to_ascii_lowercase())
}

/// Names that are less alike are no slip.
const SIMILARITY_MIN: f64 = 0.75;

/// What can't be a name.
fn is_path(typed: &str) -> bool {
    typed.starts_with(['/', '.', '~', '\\']) || typed.is_empty() || is_of_windows(typed)
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Asks which, by as many of their last folders as tell them apart.
fn several(typed: &str, roots: &[&str]) -> Error {
    let end = |root: &str, count: usize| {
        let parts: Vec<&str> = root.split('/').filter(|part| !part.is_empty()).collect();
        parts[parts.len().saturating_sub(count)..].join("/")
    };
    let deepest = roots.iter().map(|root| root.split('/').count()).max();
    let mut told = (2..=deepest.unwrap_or(2)).map(|count| {
        let ends = roots.iter().map(|root| end(root, count));
        ends.collect::<BTreeSet<String>>()
    });
    let told = told.find(|ends| ends.len() == roots.len());
    let told: Vec<String> = match told {
        Some(ends) => ends.into_iter().collect(),
        None => roots.iter().map(|root| (*root).to_owned()).collect(),
    };
    let message = format!(
        "{} projects are called {typed}: {}",
        roots.len(),
        told.join(", ")
    );
    let hint = told.first().map(|one| format!("--project {one}"));
    Error::usage(message).hinted(hint.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(roots: &[&str]) -> Places {
        let stored = roots.iter().map(|root| StoredPlace {
            root: (*root).to_owned(),
            namespace: namespace(root),
            path: (*root).to_owned(),
        });
        Places {
            stored: stored.collect(),
            moves: Vec::new(),
        }
    }

    #[test]
    fn what_moved_is_where_it_is_now() {
        let mut all = places(&["/nn/new/app"]);
        all.moves = vec![("/nn/old/app".into(), "/nn/new/app".into())];
        for old in ["/nn/old/app", "/nn/old/app/src", "/nn/new/app"] {
            let wants = old.replace("old", "new");
            assert_eq!(all.root(Path::new(old), Path::new("/")), wants);
        }
        assert_eq!(
            all.root(Path::new("/nn/old/apple"), Path::new("/")),
            "/nn/old/apple"
        );
        assert_eq!(
            all.meant("/nn/old/app", Path::new("/")).as_deref(),
            Ok("/nn/new/app")
        );
    }

    #[test]
    fn a_project_is_meant_by_its_path_or_its_name() {
        let all = places(&[
            "/nn/code/agentv",
            "/nn/play/Shop",
            "/nn/a/site",
            "/nn/b/site",
        ]);
        let cwd = Path::new("/nn/code");
        for (typed, wants) in [
            ("agentv", "/nn/code/agentv"),
            ("./agentv", "/nn/code/agentv"),
            ("/nn/code/agentv/", "/nn/code/agentv"),
            ("shop", "/nn/play/Shop"),
            ("play/Shop", "/nn/play/Shop"),
            ("b/site", "/nn/b/site"),
            // a folder without a repository stands for the projects below it
            ("/nn", "/nn"),
            (&namespace("/nn/a/site")[..8], "/nn/a/site"),
        ] {
            assert_eq!(all.meant(typed, cwd).as_deref(), Ok(wants), "{typed}");
        }
        assert_eq!(all.reached("/nn/a").len(), 2);
    }

    #[test]
    fn what_is_not_stored_or_not_one_says_so() {
        let all = places(&["/nn/code/agentv", "/nn/a/site", "/nn/b/site"]);
        let error = |typed: &str| all.meant(typed, Path::new("/nn")).unwrap_err();
        let several = error("site");
        assert_eq!(
            several.message,
            "2 projects are called site: a/site, b/site"
        );
        assert_eq!(several.kind, ErrorKind::Usage);
        let unknown = error("agnetv");
        assert_eq!(unknown.message, "no project is named agnetv");
        assert!(unknown.hint.is_some_and(|hint| hint.contains("`agentv`")));
        assert_eq!(unknown.kind, ErrorKind::Failed);
        let path = error("/nn/code/agentw");
        assert_eq!(path.message, "nothing from /nn/code/agentw is stored");
        assert!(error("zzz").hint.is_some_and(|hint| hint.contains("stats")));
    }

    #[test]
    fn a_namespace_is_trusted_with_all_of_its_project() {
        let mut all = places(&["/nn/repo", "/nn/other"]);
        all.stored.push(StoredPlace {
            root: "/nn/repo".into(),
            namespace: namespace("/nn/repo/sub"),
            path: "/nn/repo/sub".into(),
        });
        let both = [namespace("/nn/repo"), namespace("/nn/repo/sub")];
        for one in &both {
            let wide: BTreeSet<String> =
                all.widened(vec![one[..8].to_owned()]).into_iter().collect();
            assert!(!wide.contains(&namespace("/nn/other")));
            let allows = |space: &String| wide.iter().any(|p| space.starts_with(p));
            assert!(both.iter().all(allows), "{wide:?}");
        }
        assert_eq!(all.widened(Vec::new()), Vec::<String>::new());
    }
}

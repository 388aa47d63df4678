//! Which repository a folder belongs to, by reading `.git` alone. Knows linked worktrees and
//! submodules; never starts git, never writes.

use super::content::read_start;
use std::path::{Component, Path, PathBuf};

/// The main repository's root, when `dir` lies in one of its linked worktrees (D10); `None` when it
/// doesn't, when there is no repository, or when `dir` is gone. A few `stat`s and two short reads.
///
/// A bare repository with worktrees stands for itself; a hidden one (`project/.bare`) for the
/// folder around it.
pub fn worktree_main(dir: &Path) -> Option<PathBuf> {
    main_of(&top(dir)?)
}

/// The root of the repository that `dir` lies in: the main one's for linked worktrees, the
/// submodule's own for submodules (D14). `None` outside of a repository.
pub fn repository(dir: &Path) -> Option<PathBuf> {
    let top = top(dir)?;
    Some(main_of(&top).unwrap_or(top))
}

/// As [`repository`]; a bare repository, and the folder around a hidden one, stand for themselves.
pub fn owner(dir: &Path) -> Option<PathBuf> {
    let is_bare = !dir.join(".git").exists() && common_dir(dir).is_some();
    match is_bare {
        true => Some(dir.to_owned()),
        false => repository(dir),
    }
}

/// The one name of the place that `dir` is in: the root of its repository, whichever subfolder, linked
/// worktree or symlink leads there, else the folder itself, without links. Of what is gone, the folder around
/// it that is there says so. Some `stat`s for each folder of the path.
pub fn place(dir: &Path) -> PathBuf {
    if !dir.is_absolute() {
        return dir.to_owned();
    }
    let there = dir.ancestors().find(|folder| folder.is_dir());
    let there = there.and_then(|folder| Some((folder, folder.canonicalize().ok()?)));
    let Some((folder, real)) = there else {
        return dir.to_owned();
    };
    match owner(&real) {
        Some(root) => root.canonicalize().unwrap_or(root),
        None => dir
            .strip_prefix(folder)
            .map_or(real.clone(), |gone| real.join(gone).components().collect()),
    }
}

/// A folder below the repository at `root` belongs to it, and to none in between. Of what is gone, the folder
/// around it counts.
pub fn is_of(root: &Path, folder: &Path) -> bool {
    let there = folder.ancestors().find(|dir| dir.is_dir());
    let there = there.filter(|dir| *dir != root && dir.starts_with(root));
    there.is_none_or(|dir| owner(dir).is_none_or(|owner| owner == root))
}

/// Where the repository of `root` keeps branches and objects, whichever of its work trees `root` is.
/// `None` where it is no repository.
pub fn common_dir(root: &Path) -> Option<PathBuf> {
    let is_one = |dir: &Path| dir.join("HEAD").is_file() && dir.join("objects").is_dir();
    let inside = [root.join(".git"), root.join(".bare"), root.to_path_buf()];
    if let Some(dir) = inside.into_iter().find(|dir| is_one(dir)) {
        return Some(dir);
    }
    let git_dir = linked(root)?;
    let common = read_short(&git_dir.join("commondir"));
    let common = common.map_or(git_dir.clone(), |common| tidy(&git_dir.join(common.trim())));
    is_one(&common).then_some(common)
}

/// The address of the repository's remote: `origin`'s, else the first one's. `None` outside of a
/// repository, and where it has none. Reads one small file.
pub fn remote(dir: &Path) -> Option<String> {
    let root = repository(dir)?;
    let inside = [".git/config", ".bare/config", "config"];
    let config = inside.iter().find_map(|name| read_short(&root.join(name)));
    let config = config.or_else(|| read_short(&linked(&root)?.join("config")))?;
    let mut remotes = remotes(&config);
    let origin = remotes.iter().position(|(name, _)| name == "origin");
    (!remotes.is_empty()).then(|| remotes.swap_remove(origin.unwrap_or(0)).1)
}

/// Where the `.git` of a linked work tree or a submodule leads, which is a file; `None`: it is none.
fn linked(top: &Path) -> Option<PathBuf> {
    let link = Some(top.join(".git")).filter(|link| link.is_file())?;
    let text = read_short(&link)?;
    Some(tidy(&top.join(text.strip_prefix("gitdir:")?.trim())))
}

/// Names and addresses, in the file's order; the first address of each counts.
fn remotes(config: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut section = None;
    for line in config.lines().map(str::trim) {
        if let Some(head) = line.strip_prefix('[') {
            let name = head.split(']').next().unwrap_or_default();
            let name = name.strip_prefix("remote").map(str::trim);
            section = name.map(|name| name.trim_matches('"').to_owned());
            continue;
        }
        let (Some(name), Some((key, value))) = (&section, line.split_once('=')) else {
            continue;
        };
        let is_known = found.iter().any(|(known, _)| known == name);
        if key.trim().eq_ignore_ascii_case("url") && !is_known {
            found.push((name.clone(), value.trim().trim_matches('"').to_owned()));
        }
    }
    found
}

/// The nearest folder from `dir` upward that has a `.git`: the top of its work tree.
pub fn top(dir: &Path) -> Option<PathBuf> {
    if !dir.is_absolute() || !dir.is_dir() {
        return None;
    }
    let found = dir.ancestors().find(|d| d.join(".git").exists());
    found.map(Path::to_path_buf)
}

fn main_of(top: &Path) -> Option<PathBuf> {
    let git_dir = linked(top)?;
    let common = read_short(&git_dir.join("commondir"))?;
    let common = tidy(&git_dir.join(common.trim()));
    let name = common.file_name()?.to_str()?;
    match name.starts_with('.') {
        true => common.parent().map(Path::to_path_buf),
        false => Some(common),
    }
}

/// The branch that the work tree around `dir` is on; `None` outside of one, and where it is on none.
/// A few `stat`s and two short reads.
pub fn branch(dir: &Path) -> Option<String> {
    let top = top(dir)?;
    let link = top.join(".git");
    let git_dir = match link.is_file() {
        true => linked(&top)?,
        false => link,
    };
    let head = read_short(&git_dir.join("HEAD"))?;
    let branch = head.trim().strip_prefix("ref: refs/heads/")?;
    Some(branch.to_owned())
}

/// These files hold one path; what is longer is something else.
const LINK_BYTES_MAX: u64 = 16 << 10;

fn read_short(file: &Path) -> Option<String> {
    let text = String::from_utf8(read_start(file, LINK_BYTES_MAX)?).ok()?;
    (!text.trim().is_empty()).then_some(text)
}

/// Without `.` and `..`, by the spelling alone.
pub fn tidy(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn put(file: PathBuf, text: &str) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// `repo`, and a worktree of it at `elsewhere/x`.
    fn with_worktree(world: &Path) {
        let git = world.join("repo/.git");
        put(git.join("HEAD"), "ref: refs/heads/main\n");
        put(git.join("worktrees/x/commondir"), "../..\n");
        let link = format!("gitdir: {}\n", git.join("worktrees/x").display());
        put(world.join("elsewhere/x/.git"), &link);
    }

    #[test]
    fn linked_worktrees_fold_into_their_repository() {
        let world = tempfile::tempdir().unwrap();
        let at = |p: &str| world.path().join(p);
        with_worktree(world.path());
        put(at("elsewhere/x/src/a.rs"), "");
        assert_eq!(worktree_main(&at("elsewhere/x")), Some(at("repo")));
        assert_eq!(worktree_main(&at("elsewhere/x/src")), Some(at("repo")));
        assert_eq!(repository(&at("elsewhere/x/src")), Some(at("repo")));
        assert_eq!(
            worktree_main(&at("repo")),
            None,
            "the main one is no worktree"
        );
        assert_eq!(repository(&at("repo/.git/worktrees")), Some(at("repo")));
    }

    #[test]
    fn a_place_has_one_name() {
        let world = tempfile::tempdir().unwrap();
        let at = |p: &str| world.path().join(p);
        with_worktree(world.path());
        put(at("repo/src/a.rs"), "");
        put(at("repo/lib/.git/HEAD"), "ref: refs/heads/main\n");
        put(at("plain/notes/a.md"), "");
        std::os::unix::fs::symlink(at("repo"), at("link")).unwrap();
        std::os::unix::fs::symlink(at("repo/src"), at("source")).unwrap();
        std::os::unix::fs::symlink(at("plain"), at("folder")).unwrap();
        for (folder, wants) in [
            ("repo", "repo"),
            ("repo/src", "repo"),
            ("repo/src/../src/.", "repo"),
            ("repo/gone/by/now", "repo"),
            ("elsewhere/x", "repo"),
            ("link", "repo"),
            ("link/src", "repo"),
            ("source", "repo"),
            ("link/lib", "repo/lib"),
            ("plain", "plain"),
            ("plain/notes", "plain/notes"),
            ("folder/notes", "plain/notes"),
            ("folder/gone", "plain/gone"),
        ] {
            assert_eq!(place(&at(folder)), at(wants), "{folder}");
        }
        assert_eq!(place(Path::new("c:/app")), Path::new("c:/app"));
        assert_eq!(place(Path::new("/nowhere/app")), Path::new("/nowhere/app"));
    }

    #[test]
    fn a_remote_is_read_where_the_repository_keeps_it() {
        let world = tempfile::tempdir().unwrap();
        let at = |p: &str| world.path().join(p);
        let config = "[core]\n\turl = no\n[remote \"up\"]\n\turl = git@h:up/r\n[remote \"origin\"]\n\turl = \"git@h:o/r\"\n\turl = git@h:second/r\n[branch \"main\"]\n\tremote = origin\n";
        put(at("repo/.git/config"), config);
        put(at("repo/src/a.rs"), "");
        assert_eq!(remote(&at("repo/src")).as_deref(), Some("git@h:o/r"));
        put(at("repo/.git/worktrees/x/commondir"), "../..\n");
        let link = format!("gitdir: {}\n", at("repo/.git/worktrees/x").display());
        put(at("x/.git"), &link);
        assert_eq!(remote(&at("x")).as_deref(), Some("git@h:o/r"));
        put(
            at("repo/.git/modules/sub/config"),
            "[remote \"o\"]\nurl=git@h:sub/r",
        );
        put(at("repo/sub/.git"), "gitdir: ../.git/modules/sub\n");
        assert_eq!(remote(&at("repo/sub")).as_deref(), Some("git@h:sub/r"));
        put(at("alone/.git/config"), "[core]\n\tbare = false\n");
        assert_eq!(remote(&at("alone")), None);
        assert_eq!(remote(&at("not there")), None);
    }

    #[test]
    fn each_work_tree_is_on_its_own_branch() {
        let world = tempfile::tempdir().unwrap();
        let at = |p: &str| world.path().join(p);
        put(at("repo/.git/HEAD"), "ref: refs/heads/main\n");
        put(at("repo/.git/worktrees/x/HEAD"), "ref: refs/heads/fix/it\n");
        let link = format!("gitdir: {}\n", at("repo/.git/worktrees/x").display());
        put(at("x/.git"), &link);
        put(at("detached/.git/HEAD"), "53bcd81\n");
        assert_eq!(branch(&at("repo")).as_deref(), Some("main"));
        assert_eq!(branch(&at("x")).as_deref(), Some("fix/it"));
        assert_eq!(branch(&at("detached")), None);
        assert_eq!(branch(world.path()), None);
    }

    #[test]
    fn relative_links_and_bare_repositories_are_followed() {
        let world = tempfile::tempdir().unwrap();
        let at = |p: &str| world.path().join(p);
        put(at("p/.bare/worktrees/main/commondir"), "../..");
        put(at("p/main/.git"), "gitdir: ../.bare/worktrees/main");
        put(at("q/lib.git/worktrees/w/commondir"), "../..\n");
        put(at("q/w/.git"), "gitdir: ../lib.git/worktrees/w\n");
        assert_eq!(worktree_main(&at("p/main")), Some(at("p")));
        assert_eq!(worktree_main(&at("q/w")), Some(at("q/lib.git")));
    }

    #[test]
    fn a_repository_in_a_repository_is_its_own() {
        let world = tempfile::tempdir().unwrap();
        let at = |p: &str| world.path().join(p);
        put(at("out/.git/HEAD"), "ref: refs/heads/main\n");
        put(at("out/in/.git/HEAD"), "ref: refs/heads/main\n");
        put(at("out/src/a.rs"), "");
        for (folder, wants) in [
            ("out", true),
            ("out/src", true),
            ("out/gone/x", true),
            ("out/in", false),
            ("out/in/gone", false),
        ] {
            assert_eq!(is_of(&at("out"), &at(folder)), wants, "{folder}");
        }
    }

    #[test]
    fn submodules_and_broken_links_stand_for_themselves() {
        let world = tempfile::tempdir().unwrap();
        let at = |p: &str| world.path().join(p);
        put(at("repo/.git/modules/sub/HEAD"), "x");
        put(at("repo/sub/.git"), "gitdir: ../.git/modules/sub\n");
        put(at("gone/.git"), "gitdir: /nowhere/.git/worktrees/gone\n");
        put(at("odd/.git"), "\0\u{1}");
        assert_eq!(worktree_main(&at("repo/sub")), None);
        assert_eq!(repository(&at("repo/sub")), Some(at("repo/sub")));
        assert_eq!(repository(&at("gone")), Some(at("gone")));
        assert_eq!(worktree_main(&at("odd")), None);
        assert_eq!(worktree_main(&at("not there")), None);
        assert_eq!(worktree_main(Path::new("relative")), None);
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let world = tempfile::tempdir().unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(world.path().join(".git"))
            .status();
        assert!(made.unwrap().success());
        assert_eq!(common_dir(world.path()), None);
        assert_eq!(remote(world.path()), None);
    }
}

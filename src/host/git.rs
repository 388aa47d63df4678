//! Which repository a folder belongs to, by reading `.git` alone. Knows linked worktrees and
//! submodules; never starts git, never writes.

use std::fs;
use std::io::Read;
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

/// The nearest folder from `dir` upward that has a `.git`.
fn top(dir: &Path) -> Option<PathBuf> {
    if !dir.is_absolute() || !dir.is_dir() {
        return None;
    }
    let found = dir.ancestors().find(|d| d.join(".git").exists());
    found.map(Path::to_path_buf)
}

fn main_of(top: &Path) -> Option<PathBuf> {
    let link = top.join(".git");
    if !link.is_file() {
        return None;
    }
    let text = read_short(&link)?;
    let gitdir = top.join(text.strip_prefix("gitdir:")?.trim());
    let common = read_short(&gitdir.join("commondir"))?;
    let common = tidy(&gitdir.join(common.trim()));
    let name = common.file_name()?.to_str()?;
    match name.starts_with('.') {
        true => common.parent().map(Path::to_path_buf),
        false => Some(common),
    }
}

/// These files hold one path; what is longer is something else.
const LINK_BYTES_MAX: u64 = 16 << 10;

fn read_short(file: &Path) -> Option<String> {
    let mut text = String::new();
    let open = fs::File::open(file).ok()?;
    open.take(LINK_BYTES_MAX).read_to_string(&mut text).ok()?;
    (!text.trim().is_empty()).then_some(text)
}

/// Without `.` and `..`, by the spelling alone.
fn tidy(path: &Path) -> PathBuf {
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

    fn put(file: PathBuf, text: &str) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    #[test]
    fn linked_worktrees_fold_into_their_repository() {
        let world = tempfile::tempdir().unwrap();
        let at = |p: &str| world.path().join(p);
        put(at("repo/.git/HEAD"), "ref: refs/heads/main\n");
        put(at("repo/.git/worktrees/x/commondir"), "../..\n");
        let link = format!("gitdir: {}\n", at("repo/.git/worktrees/x").display());
        put(at("elsewhere/x/.git"), &link);
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
}

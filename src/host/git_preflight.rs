//! What a repository is made of, by `stat` and two short files, before a library opens it: that everything
//! which is read is a plain file, which a pipe or a device is not, and where the parts truly lie that links
//! and pointers lead to. Refuses to know what may be read.

use super::content::read_start;
use super::reflog::WorkTree;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Longer files are not read: a packed list of a million branches has 100 MB.
const BYTES_MAX: u64 = 512 << 20;
/// Folders in folders of branches.
const DEPTH_MAX: usize = 64;
/// Repositories that borrow objects of each other.
const BORROWED_MAX: usize = 16;
/// Of a list of folders with borrowed objects.
const LIST_BYTES_MAX: u64 = 64 << 10;

/// Why a repository that is sound is not read.
pub const REFTABLE: &str = "its branches are stored as a reftable, which is not supported";

/// The folders that a work tree's history truly lies in, without links.
///
/// # Errors
/// What is no plain file, by its name in the repository.
pub fn preflight(tree: &WorkTree) -> Result<BTreeSet<PathBuf>, String> {
    let mut preflight = Preflight::default();
    if tree.common_dir.join("reftable").is_dir() {
        return Err(REFTABLE.to_owned());
    }
    for name in ["HEAD", "logs/HEAD", "commondir", "config.worktree", "index"] {
        preflight.file(&tree.git_dir, name)?;
    }
    for name in ["config", "packed-refs", "shallow", "logs/refs/stash"] {
        preflight.file(&tree.common_dir, name)?;
    }
    for dir in BTreeSet::from([&tree.git_dir, &tree.common_dir]) {
        preflight.place(dir);
        preflight.place(&dir.join("logs"));
        preflight.refs(&dir.join("refs"), 0)?;
    }
    // the library goes where this file says, whatever we take for the common folder
    if let Some(common) = read_start(&tree.git_dir.join("commondir"), LIST_BYTES_MAX) {
        let common = String::from_utf8_lossy(&common);
        preflight.place(&tree.git_dir.join(common.trim()));
    }
    preflight.objects(tree.common_dir.join("objects"))?;
    Ok(preflight.places)
}

#[derive(Default)]
struct Preflight {
    places: BTreeSet<PathBuf>,
}

impl Preflight {
    /// A file that may be there.
    fn file(&mut self, dir: &Path, name: &str) -> Result<(), String> {
        let path = dir.join(name);
        match fs::metadata(&path) {
            // there is none, or a link leads nowhere
            Err(_) => return Ok(()),
            Ok(meta) if !meta.is_file() => return Err(format!("`{name}` is not a plain file")),
            Ok(meta) if meta.len() > BYTES_MAX => return Err(format!("`{name}` is too large")),
            Ok(_) => {}
        }
        if path.is_symlink() {
            self.place(&path);
        }
        Ok(())
    }

    /// Branches, tags and the like, each a file.
    fn refs(&mut self, dir: &Path, depth: usize) -> Result<(), String> {
        if depth > DEPTH_MAX {
            return Err("`refs` is too deep".to_owned());
        }
        self.place(dir);
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.refs(&entry.path(), depth + 1)?,
                _ => self.file(dir, &entry.file_name().to_string_lossy())?,
            }
        }
        Ok(())
    }

    /// Objects, packed and not, also those that are borrowed elsewhere.
    fn objects(&mut self, own: PathBuf) -> Result<(), String> {
        let (mut waiting, mut seen) = (vec![own], BTreeSet::new());
        while let Some(dir) = waiting.pop() {
            let real = dir.canonicalize().unwrap_or_else(|_| dir.clone());
            if !seen.insert(real) {
                continue;
            }
            if seen.len() > BORROWED_MAX {
                return Err("it borrows from too many repositories".to_owned());
            }
            self.place(&dir);
            self.file(&dir, "info/alternates")?;
            self.file(&dir, "info/commit-graph")?;
            self.stored(&dir)?;
            let list = read_start(&dir.join("info/alternates"), LIST_BYTES_MAX);
            let list = list.unwrap_or_default();
            let list = String::from_utf8_lossy(&list);
            let lines = list.lines().map(|line| line.trim().trim_matches('"'));
            let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
            waiting.extend(lines.map(|line| dir.join(line)));
        }
        Ok(())
    }

    /// Folders of objects that are links, and packs that are no files.
    fn stored(&mut self, objects: &Path) -> Result<(), String> {
        for entry in fs::read_dir(objects).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                self.place(&entry.path());
            }
        }
        let packs = objects.join("pack");
        for entry in fs::read_dir(&packs).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_file()) {
                self.file(&packs, &entry.file_name().to_string_lossy())?;
            }
        }
        Ok(())
    }

    fn place(&mut self, path: &Path) {
        self.places.extend(path.canonicalize());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn tree(dir: &Path) -> WorkTree {
        let git = dir.join("app/.git");
        for name in ["refs/heads", "objects/info", "objects/pack", "logs"] {
            fs::create_dir_all(git.join(name)).unwrap();
        }
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        WorkTree {
            name: None,
            git_dir: git.clone(),
            common_dir: git,
        }
    }

    #[test]
    fn pipes_and_devices_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let tree = tree(dir.path());
        for name in ["logs/HEAD", "config", "refs/heads/x", "objects/pack/x.idx"] {
            let path = tree.git_dir.join(name);
            symlink("/dev/null", &path).unwrap();
            let why = preflight(&tree).unwrap_err();
            assert!(why.ends_with("is not a plain file"), "{name}: {why}");
            fs::remove_file(&path).unwrap();
            assert!(preflight(&tree).is_ok(), "{name}");
        }
    }

    #[test]
    fn what_links_and_pointers_lead_to_is_a_place() {
        let dir = tempfile::tempdir().unwrap();
        let tree = tree(dir.path());
        let other = dir.path().join("other/.git");
        fs::create_dir_all(other.join("objects")).unwrap();
        fs::write(other.join("log"), "").unwrap();
        let real = other.canonicalize().unwrap();
        let leads = || {
            let places = preflight(&tree).unwrap();
            places.iter().any(|place| place.starts_with(&real))
        };
        assert!(!leads());
        let alternates = tree.git_dir.join("objects/info/alternates");
        fs::write(&alternates, "../../../other/.git/objects\n").unwrap();
        assert!(leads());
        fs::remove_file(alternates).unwrap();
        let common = tree.git_dir.join("commondir");
        fs::write(&common, format!("{}\n", other.display())).unwrap();
        assert!(leads());
        fs::remove_file(common).unwrap();
        for name in ["logs/HEAD", "packed-refs"] {
            let link = tree.git_dir.join(name);
            symlink(other.join("log"), &link).unwrap();
            assert!(leads(), "{name}");
            fs::remove_file(link).unwrap();
        }
        symlink(other.join("objects"), tree.git_dir.join("objects/ab")).unwrap();
        assert!(leads());
    }
}

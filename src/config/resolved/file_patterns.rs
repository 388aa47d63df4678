//! Patterns of tracked files: what they name, and which folders need not be looked into for it. Knows
//! globs; the disk isn't looked at.

use crate::config::exclude::glob;
use crate::config::values::bytes;
use crate::config::wire::{UpdateStrategy, WirePattern};
use crate::model::file::Strategy;
use globset::{GlobMatcher, GlobSet, GlobSetBuilder};
use std::path::{Path, PathBuf};

/// One of `patterns`.
#[derive(Clone, Debug)]
pub struct FilePattern {
    /// As written.
    pub written: String,
    /// What a change does to the episode before it.
    pub strategy: Strategy,
    /// Longer files are named, not kept.
    pub max_bytes: u64,
    /// What the episodes say they are.
    pub description: Option<String>,
    include: GlobMatcher,
    exclude: Ignored,
    /// The folders, or the file, that it begins with, up to its first wildcard.
    start: PathBuf,
    /// How deep it can reach; `None`: any.
    depth: Option<usize>,
}

/// Globs of what is left out.
#[derive(Clone, Debug, Default)]
pub struct Ignored {
    files: GlobSet,
    /// Those that leave out whole folders (`**/x/**`), as the folder.
    folders: GlobSet,
}

impl FilePattern {
    /// As it is meant. Fails where a glob is none.
    pub(super) fn new(written: &WirePattern, default_bytes: u64) -> Result<FilePattern, String> {
        let include = written.include.trim_start_matches("./");
        let is_wild = |part: &&str| part.contains(['*', '?', '[', '{', '\\']);
        let parts: Vec<&str> = include.split('/').collect();
        let start = parts.iter().take_while(|part| !is_wild(part)).collect();
        Ok(FilePattern {
            written: written.include.clone(),
            strategy: match written.update_strategy {
                UpdateStrategy::Replace => Strategy::Replace,
                UpdateStrategy::Version => Strategy::Version,
                UpdateStrategy::Archive => Strategy::Archive,
            },
            max_bytes: written.max_file_size_mb.map_or(default_bytes, bytes),
            description: written.source_description.clone(),
            include: glob(include)?.compile_matcher(),
            exclude: Ignored::new(&written.exclude)?,
            start,
            depth: (!include.contains("**")).then_some(parts.len()),
        })
    }

    /// It names this file.
    pub(super) fn names(&self, path: &Path) -> bool {
        self.include.is_match(path) && !self.exclude.has(path)
    }

    /// It may name something below this folder.
    pub(super) fn may_name_below(&self, folder: &Path) -> bool {
        let depth = folder.components().count();
        let is_on_the_way = folder.starts_with(&self.start) || self.start.starts_with(folder);
        is_on_the_way
            && self.depth.is_none_or(|deepest| depth < deepest)
            && !self.exclude.covers(folder)
    }

    pub(super) fn start(&self) -> &Path {
        &self.start
    }
}

impl Ignored {
    /// From globs. Fails where one is none.
    pub(super) fn new(patterns: &[String]) -> Result<Ignored, String> {
        let (mut files, mut folders) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        for pattern in patterns {
            let pattern = pattern.trim_start_matches("./");
            files.add(glob(pattern)?);
            if let Some(folder) = pattern.strip_suffix("/**") {
                folders.add(glob(folder)?);
            }
        }
        let built = |set: GlobSetBuilder| set.build().map_err(|error| error.to_string());
        Ok(Ignored {
            files: built(files)?,
            folders: built(folders)?,
        })
    }

    /// This file is left out.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.files.is_match(path)
    }

    /// Everything below this folder is left out.
    pub(super) fn covers(&self, folder: &Path) -> bool {
        self.folders.is_match(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(include: &str, exclude: &[&str]) -> FilePattern {
        let written = WirePattern {
            include: include.to_owned(),
            exclude: exclude.iter().map(ToString::to_string).collect(),
            update_strategy: UpdateStrategy::Replace,
            max_file_size_mb: None,
            source_description: None,
        };
        FilePattern::new(&written, 1).unwrap()
    }

    #[test]
    fn the_documents_patterns_name_what_they_say() {
        let python = pattern("src/**/*.py", &["**/__pycache__/**", "**/tests/**"]);
        for (path, wants) in [
            ("src/a.py", true),
            ("src/b/c/a.py", true),
            ("src/tests/a.py", false),
            ("src/b/__pycache__/a.py", false),
            ("a.py", false),
            ("lib/src/a.py", false),
            ("src/a.rs", false),
        ] {
            assert_eq!(python.names(Path::new(path)), wants, "{path}");
        }
        assert_eq!(python.start(), Path::new("src"));
        for (folder, wants) in [
            ("src", true),
            ("src/b", true),
            ("src/b/tests", false),
            ("docs", false),
        ] {
            assert_eq!(python.may_name_below(Path::new(folder)), wants, "{folder}");
        }
    }

    #[test]
    fn a_pattern_without_depth_looks_into_no_folder_for_nothing() {
        let here = pattern("*.md", &[]);
        assert_eq!(here.start(), Path::new(""));
        assert!(here.may_name_below(Path::new("")));
        assert!(!here.may_name_below(Path::new("node_modules")));
        let one = pattern("docs/README.md", &[]);
        assert_eq!(one.start(), Path::new("docs/README.md"));
        assert!(one.may_name_below(Path::new("docs")));
        assert!(!one.may_name_below(Path::new("docs/x")));
    }
}

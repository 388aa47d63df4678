//! Lines of a list of changed files, and of folders where it would be long.

use crate::model::human::plural;
use crate::model::summary::{ChangedFile, Sourced};
use std::collections::BTreeMap;

/// Files that have a line each. More bury what comes after them.
pub const FILES_MAX: usize = 20;

/// The same of those that were there before and were edited: they tell more than others.
const EDITED_MAX: usize = 40;

/// So few of a folder have a line each beside many.
const NAMED_MAX: usize = 2;

/// Folders that have a line; more of them are told by the folders that they are in.
const FOLDERS_MAX: usize = 8;

/// A line for each file; of many, first those that were there before, then folders with how many of the others they have.
/// Paths below `folder` are told from there.
pub fn listed(
    files: Vec<&Sourced<ChangedFile>>,
    folder: Option<&str>,
    is_many: bool,
) -> Vec<String> {
    if !is_many {
        return files.into_iter().map(|file| line(file, folder)).collect();
    }
    let is_edited = |file: &&Sourced<ChangedFile>| !(file.what.by_git || file.what.created);
    let (edited, mut others): (Vec<_>, Vec<_>) = files.into_iter().partition(is_edited);
    let more = edited.iter().skip(EDITED_MAX);
    others.extend(more);
    let named = edited.iter().take(EDITED_MAX);
    let mut lines: Vec<String> = named.map(|file| line(file, folder)).collect();
    for (of, files) in by_folder(&others, folder) {
        if files.len() <= NAMED_MAX {
            lines.extend(files.into_iter().map(|file| line(file, folder)));
            continue;
        }
        let of = if of.is_empty() { "./" } else { of };
        lines.push(format!("- `{of}`: {}", counted(&files)));
    }
    lines
}

/// The file with its lines where these are exact, and what became of it.
fn line(file: &Sourced<ChangedFile>, folder: Option<&str>) -> String {
    let file = &file.what;
    let path = below(&file.path, folder);
    let is_some = file.added + file.removed > 0;
    let lines = match file.counted && is_some && !file.deleted {
        true => format!(" +{} −{}", file.added, file.removed),
        false => String::new(),
    };
    let became = match &file.renamed_from {
        _ if file.deleted => " (deleted)".to_owned(),
        Some(old) => format!(" (renamed from `{old}`)"),
        None if file.created => " (new)".to_owned(),
        None if file.by_git => " (from git)".to_owned(),
        None => String::new(),
    };
    format!("- `{path}`{lines}{became}")
}

fn below<'p>(path: &'p str, folder: Option<&str>) -> &'p str {
    folder
        .and_then(|folder| path.strip_prefix(folder))
        .unwrap_or(path)
}

type Folders<'f> = BTreeMap<&'f str, Vec<&'f Sourced<ChangedFile>>>;

/// The files by their folders; where these are too many, those of which most are in one are told by that.
fn by_folder<'f>(files: &[&'f Sourced<ChangedFile>], folder: Option<&str>) -> Folders<'f> {
    let mut folders = Folders::new();
    for file in files {
        let of = above(below(&file.what.path, folder));
        folders.entry(of).or_default().push(*file);
    }
    while folders.len() > FOLDERS_MAX {
        let mut inside: BTreeMap<&str, usize> = BTreeMap::new();
        let outer = folders
            .keys()
            .map(|of| above(of))
            .filter(|outer| !outer.is_empty());
        outer.for_each(|outer| *inside.entry(outer).or_default() += 1);
        // of as many the inner ones
        let most = inside
            .into_iter()
            .max_by_key(|(outer, count)| (*count, outer.len()));
        let Some((outer, _)) = most else { break };
        let (joined, mut rest): (Folders<'_>, Folders<'_>) = folders
            .into_iter()
            .partition(|(of, _)| of.starts_with(outer));
        let files = rest.entry(outer).or_default();
        files.extend(joined.into_values().flatten());
        folders = rest;
    }
    folders
}

/// The folder that a file or a folder is in, with the mark at its end.
fn above(path: &str) -> &str {
    let bare = path.trim_end_matches(['/', '\\']);
    let end = bare.rfind(['/', '\\']).map_or(0, |at| at + 1);
    &path[..end]
}

/// `12 new files, 3 files from git`.
fn counted(files: &[&Sourced<ChangedFile>]) -> String {
    let kind = |file: &ChangedFile| match (file.deleted, file.created, file.by_git) {
        (true, ..) => ("deleted file", ""),
        (_, true, _) => ("new file", ""),
        (.., true) => ("file", " from git"),
        _ => ("edited file", ""),
    };
    let mut counts: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for file in files {
        *counts.entry(kind(&file.what)).or_default() += 1;
    }
    let told = counts.into_iter().rev();
    let told = told.map(|((name, from), count)| format!("{}{from}", plural(count, name)));
    told.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::summary::sourced;

    #[test]
    fn of_many_files_edited_ones_are_named_and_new_ones_counted_by_folder() {
        let file = |path: String, created: bool| {
            sourced(
                1,
                ChangedFile {
                    path,
                    created,
                    ..ChangedFile::default()
                },
            )
        };
        let new = |folder: &str, count: usize| {
            let each = (0..count).map(|nth| file(format!("{folder}/{nth}.rs"), true));
            each.collect::<Vec<_>>()
        };
        let mut all = new("src/cart/rows", 9);
        all.extend(new("src/cart/sums", 12));
        all.extend(new("docs", 1));
        all.push(file("src/shop.rs".into(), false));
        let told =
            |all: &[Sourced<ChangedFile>], is_many| listed(all.iter().collect(), None, is_many);
        assert_eq!(
            told(&all, true),
            [
                "- `src/shop.rs`",
                "- `docs/0.rs` (new)",
                "- `src/cart/rows/`: 9 new files",
                "- `src/cart/sums/`: 12 new files",
            ]
        );
        assert_eq!(told(&all, false).len(), 23);
        for nth in 0..9 {
            all.extend(new(&format!("web/page{nth}"), 2));
        }
        let lines = told(&all, true);
        assert_eq!(
            lines.last().map(String::as_str),
            Some("- `web/`: 18 new files"),
            "{lines:?}"
        );
        assert!(
            lines.contains(&"- `src/cart/rows/`: 9 new files".to_owned()),
            "{lines:?}"
        );
    }
}

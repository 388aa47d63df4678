//! What a session changed, as Markdown: settings and files.

use super::escape::{cell, inline};
use crate::model::human::plural;
use crate::model::summary::{
    ChangedFile, LineCounts, LlmAdditions, SettingChange, Sourced, Summary,
};
use crate::rules::paths::is_throwaway;

/// A table; of reasons only where there are some.
pub fn settings(summary: &Summary, llm: &LlmAdditions) -> Vec<String> {
    let facts = together(&summary.config_changes);
    let changes: Vec<&SettingChange> = facts.iter().chain(&llm.config_changes).collect();
    if changes.is_empty() {
        return Vec::new();
    }
    let has_reasons = changes.iter().any(|change| change.reason.is_some());
    let (title, rule) = if has_reasons {
        (" Reason |", " --- |")
    } else {
        ("", "")
    };
    let mut lines = vec![format!(
        "| File | Setting | Change |{title}\n| --- | --- | --- |{rule}"
    )];
    lines.extend(changes.iter().map(|change| {
        let value = |value: &Option<String>| cell(value.as_deref().unwrap_or("(none)"));
        let (file, setting) = (cell(&change.file), cell(&change.setting));
        let (old, new) = match &change.renamed {
            Some(now) => ("renamed".to_owned(), cell(now)),
            None => (value(&change.old), value(&change.new)),
        };
        let reason = inline(change.reason.as_deref().unwrap_or_default());
        let reason = has_reasons.then(|| format!(" {} |", cell(&reason)));
        let reason = reason.unwrap_or_default();
        format!("| {file} | {setting} | {old} → {new} |{reason}")
    }));
    lines
}

/// Settings that came or went with one edit of a file, in one row.
fn together(changes: &[Sourced<SettingChange>]) -> Vec<SettingChange> {
    let is_gone = |change: &SettingChange| change.new.is_none() && change.renamed.is_none();
    let is_new = |change: &SettingChange| change.old.is_none() && change.renamed.is_none();
    let of_one_edit = |change: &Sourced<SettingChange>| {
        let is_same = |other: &&Sourced<SettingChange>| {
            (is_gone(&other.what), is_new(&other.what))
                == (is_gone(&change.what), is_new(&change.what))
                && other.what.file == change.what.file
                && (other.episode, other.line) == (change.episode, change.line)
        };
        let same = changes.iter().filter(is_same);
        same.map(|other| other.what.setting.as_str()).collect()
    };
    let mut latest = Vec::new();
    for change in changes {
        let (is_gone, is_new) = (is_gone(&change.what), is_new(&change.what));
        let all: Vec<&str> = match is_gone || is_new {
            true => of_one_edit(change),
            false => Vec::new(),
        };
        if all.len() < if is_gone { GONE_MIN } else { NEW_MIN } {
            latest.push(change.what.clone());
        } else if all.first() == Some(&change.what.setting.as_str()) {
            let count = format!("{} settings", all.len());
            latest.push(SettingChange {
                setting: format!("{} and {} more", all[0], all.len() - 1),
                old: is_gone.then(|| count.clone()),
                new: is_new.then_some(count),
                ..change.what.clone()
            });
        }
    }
    latest
}

/// Fewer may each have a row; what is new tells more.
const GONE_MIN: usize = 4;
const NEW_MIN: usize = 6;

/// Files that are named. More are a folder that was committed whole, and bury the rest.
const FILES_MAX: usize = 40;

/// Scratch files are only counted, and so are files beyond the first ones.
pub fn files(summary: &Summary, llm: &LlmAdditions) -> Vec<String> {
    let kept: Vec<_> = kept(summary).collect();
    let named = named(summary, &kept);
    let folder = shared_folder(named.iter().map(|file| file.what.path.as_str()));
    let head = folder.map(|folder| format!("In `{folder}`:"));
    let told = |file: &Sourced<ChangedFile>| {
        let ChangedFile {
            path,
            added,
            removed,
            by_git,
            created,
            deleted,
            uncounted,
            counted,
            edits,
            committed,
            renamed_from,
        } = &file.what;
        let path = folder.and_then(|f| path.strip_prefix(f)).unwrap_or(path);
        let lines = match uncounted {
            true => String::new(),
            false => format!(" +{added} −{removed}"),
        };
        let committed = committed.map_or(String::new(), |LineCounts { added, removed }| {
            format!(" (committed: +{added} −{removed})")
        });
        if let Some(old) = renamed_from.as_ref().filter(|_| !deleted) {
            return format!("- `{path}`{lines}{committed} (renamed from `{old}`)");
        }
        match (deleted, created, by_git) {
            (true, ..) => format!("- `{path}` (deleted)"),
            (_, true, _) => format!("- `{path}`{lines} (new)"),
            (.., true) => format!("- `{path}`{lines} (from git)"),
            _ if *uncounted => format!("- `{path}` (also written by shell commands)"),
            _ if *edits > 1 && !counted => {
                format!("- `{path}`{lines} over {edits} edits{committed}")
            }
            _ => format!("- `{path}`{lines}{committed}"),
        }
    };
    let is_inside = |file: &&Sourced<ChangedFile>| {
        folder.is_some_and(|folder| file.what.path.starts_with(folder))
    };
    // a path that stands under the folder's name is read as one in it
    let (inside, outside): (Vec<_>, Vec<_>) = named.iter().copied().partition(is_inside);
    let apart = (!inside.is_empty() && !outside.is_empty()).then(|| "Elsewhere:".to_owned());
    let inside: Vec<String> = inside.into_iter().map(&told).collect();
    let outside: Vec<String> = outside.into_iter().map(&told).collect();
    let facts = inside.into_iter().chain(apart).chain(outside);
    let model = llm
        .files_modified
        .iter()
        .map(|path| format!("- `{}`", path.replace('`', "'")));
    let mut lines: Vec<String> = head.into_iter().chain(facts).chain(model).collect();
    lines.extend(more_files(summary, kept.len(), named.len()));
    let and = if lines.is_empty() { "" } else { "and " };
    match (summary.files_modified.len() - kept.len(), and) {
        (0, _) => {}
        (1, "") => lines.push("- a scratch file".to_owned()),
        (1, and) => lines.push(format!("- {and}a scratch file")),
        (scratch, and) => lines.push(format!("- {and}{scratch} scratch files")),
    }
    if lines.is_empty() && !llm.discoveries.is_empty() {
        lines.push("- (none - exploration only)".to_owned());
    }
    lines
}

/// All but scratch files.
fn kept(summary: &Summary) -> impl Iterator<Item = &Sourced<ChangedFile>> {
    let all = summary.files_modified.iter();
    all.filter(|file| !is_throwaway(&file.what.path))
}

/// As many of them as are told, in their order: those that only git tells give way to those that were edited, and say
/// nothing beside these where a whole folder was committed.
fn named<'f>(
    summary: &Summary,
    kept: &[&'f Sourced<ChangedFile>],
) -> Vec<&'f Sourced<ChangedFile>> {
    let edited = kept.iter().filter(|file| !file.what.by_git).count();
    let is_folder = edited > 0 && largest_commit(summary) >= FOLDER_COMMITTED_MIN;
    let mut by_git = match is_folder {
        true => 0,
        false => FILES_MAX.saturating_sub(edited),
    };
    let fits = |file: &&&Sourced<ChangedFile>| {
        let fits = !file.what.by_git || by_git > 0;
        by_git -= usize::from(file.what.by_git && fits);
        fits
    };
    let named = kept.iter().filter(fits).copied();
    named.take(FILES_MAX).collect()
}

/// A commit of so many files holds a folder that nobody wrote in the session.
const FOLDER_COMMITTED_MIN: u64 = 120;

/// The files of the largest commit, as git counted them.
fn largest_commit(summary: &Summary) -> u64 {
    let sizes = summary.commits.iter().filter_map(|commit| commit.what.size);
    sizes.map(|size| size.files).max().unwrap_or(0)
}

/// How many are not named: those beyond the first ones, and those that git counted at a commit.
fn more_files(summary: &Summary, kept: usize, named: usize) -> Option<String> {
    let largest = largest_commit(summary);
    let known = kept as u64;
    let more = known.max(largest) - named as u64;
    let files = plural(more, "more file");
    match (more, largest > known) {
        (0, _) => None,
        (_, true) => Some(format!(
            "- and at least {files}, as git counted at the commit"
        )),
        (_, false) => Some(format!("- and {files}")),
    }
}

/// The folder that holds most of the whole paths, where it is long enough to be told once: paths in a
/// project are told from there already.
fn shared_folder<'p>(paths: impl Iterator<Item = &'p str>) -> Option<&'p str> {
    let whole: Vec<&str> = paths.filter(|path| path.starts_with('/')).collect();
    let first = *whole.get(whole.len() / 2)?;
    let mut folder = first;
    while let Some(at) = folder.trim_end_matches('/').rfind('/') {
        folder = &first[..=at];
        let inside = whole.iter().filter(|path| path.starts_with(folder)).count();
        if folder.len() < FOLDER_BYTES_MIN {
            return None;
        }
        if inside >= FOLDER_FILES_MIN && inside * 5 >= whole.len() * 4 {
            return Some(folder);
        }
    }
    None
}

/// Shorter folders may stand at each file.
const FOLDER_BYTES_MIN: usize = 24;
const FOLDER_FILES_MIN: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::finding::CommitSize;
    use crate::model::summary::{SessionCommit, sourced};

    fn change(setting: &str, old: Option<&str>, new: Option<&str>) -> SettingChange {
        SettingChange {
            file: "a.yml".into(),
            setting: setting.into(),
            old: old.map(str::to_owned),
            new: new.map(str::to_owned),
            ..SettingChange::default()
        }
    }

    #[test]
    fn files_beyond_the_first_ones_are_counted_and_edited_ones_are_named_first() {
        let file = |nth: usize, by_git: bool| {
            sourced(
                1,
                ChangedFile {
                    path: format!("src/{nth}.rs"),
                    by_git,
                    ..ChangedFile::default()
                },
            )
        };
        let mut summary = Summary {
            files_modified: (0..60).map(|nth| file(nth, nth < 50)).collect(),
            ..Summary::default()
        };
        let lines = files(&summary, &LlmAdditions::default());
        let has = |name: &str| lines.iter().any(|line| line.contains(name));
        assert_eq!(lines.len(), FILES_MAX + 1);
        assert!(has("src/59.rs") && has("src/0.rs") && !has("src/49.rs"));
        assert_eq!(
            lines.last().map(String::as_str),
            Some("- and 20 more files")
        );
        let size = CommitSize {
            files: 832,
            ..CommitSize::default()
        };
        let commit = SessionCommit {
            size: Some(size),
            ..SessionCommit::default()
        };
        summary.commits = vec![sourced(1, commit)];
        let lines = files(&summary, &LlmAdditions::default());
        let last = "- and at least 822 more files, as git counted at the commit";
        assert_eq!(lines.last().map(String::as_str), Some(last));
        assert_eq!(lines.len(), 10 + 1, "a folder was committed");
    }

    #[test]
    fn what_went_together_and_what_got_another_name_are_one_row_each() {
        let gone = ["a", "b", "c", "d"].map(|name| sourced(1, change(name, Some("1"), None)));
        let renamed = SettingChange {
            renamed: Some("database".into()),
            ..change("db", None, None)
        };
        let mut summary = Summary {
            config_changes: gone.to_vec(),
            ..Summary::default()
        };
        summary.config_changes.push(sourced(2, renamed));
        summary
            .config_changes
            .push(sourced(3, change("e", Some("1"), None)));
        let new =
            ["f", "g", "h", "i", "j", "k"].map(|name| sourced(4, change(name, None, Some("1"))));
        summary.config_changes.extend(new);
        let rows = settings(&summary, &LlmAdditions::default());
        assert_eq!(
            rows[1..],
            [
                "| a.yml | a and 3 more | 4 settings → (none) |",
                "| a.yml | db | renamed → database |",
                "| a.yml | e | 1 → (none) |",
                "| a.yml | f and 5 more | (none) → 6 settings |",
            ]
        );
    }

    #[test]
    fn a_file_that_only_git_tells_says_so() {
        let file = |path: &str, by_git: bool| {
            let file = ChangedFile {
                path: path.into(),
                added: 2,
                removed: 1,
                edits: u64::from(!by_git),
                by_git,
                ..ChangedFile::default()
            };
            sourced(1, file)
        };
        let summary = Summary {
            files_modified: vec![file("a.rs", false), file("b.rs", true)],
            ..Summary::default()
        };
        let lines = files(&summary, &LlmAdditions::default());
        assert_eq!(lines, ["- `a.rs` +2 −1", "- `b.rs` +2 −1 (from git)"]);
        let mut more = file("d.rs", false);
        more.what.committed = Some(LineCounts {
            added: 9,
            removed: 4,
        });
        let summary = Summary {
            files_modified: vec![more],
            ..Summary::default()
        };
        let lines = files(&summary, &LlmAdditions::default());
        assert_eq!(lines, ["- `d.rs` +2 −1 (committed: +9 −4)"]);
        let mut drawn = file("c.rs", true);
        drawn.what.uncounted = true;
        let summary = Summary {
            files_modified: vec![drawn],
            ..Summary::default()
        };
        let lines = files(&summary, &LlmAdditions::default());
        assert_eq!(lines, ["- `c.rs` (from git)"]);
    }

    #[test]
    fn what_is_not_in_the_folder_stands_apart() {
        let long = "/home/ada/shop__worktrees/a-branch";
        let file = |path: String| {
            sourced(
                1,
                ChangedFile {
                    path,
                    added: 1,
                    ..ChangedFile::default()
                },
            )
        };
        let names = ["a.rs", "b.rs", "c.rs", "d.rs"].map(|name| file(format!("{long}/{name}")));
        let mut summary = Summary {
            files_modified: names.to_vec(),
            ..Summary::default()
        };
        summary.files_modified.push(file("src/z.rs".into()));
        let lines = files(&summary, &LlmAdditions::default());
        assert_eq!(lines[0], format!("In `{long}/`:"));
        assert_eq!(lines[1], "- `a.rs` +1 −0");
        assert_eq!(lines[5..], ["Elsewhere:", "- `src/z.rs` +1 −0"]);
    }

    #[test]
    fn a_long_folder_that_files_share_is_told_once() {
        let long = "/home/ada/shop__worktrees/a-branch/";
        let paths = ["src/a.rs", "src/b.rs", "docs/c.md"].map(|path| format!("{long}{path}"));
        let shared =
            |paths: &[String]| shared_folder(paths.iter().map(String::as_str)).map(str::to_owned);
        assert_eq!(shared(&paths).as_deref(), Some(long));
        assert_eq!(shared(&paths[..2]), None);
        assert_eq!(shared(&["src/a.rs".to_owned()]), None);
        assert_eq!(
            shared(&["a", "b", "c"].map(|name| format!("/p/{name}"))),
            None
        );
    }
}

//! What a session changed, as Markdown: settings and files.

use super::escape::{cell, inline};
use super::file_list::{FILES_MAX, listed};
use crate::model::human::plural;
use crate::model::summary::{ChangedFile, LlmAdditions, SettingChange, Sourced, Summary};
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

/// Scratch files are left out; of many files those that are not named are told by their folders.
pub fn files(summary: &Summary, llm: &LlmAdditions) -> Vec<String> {
    let kept: Vec<_> = kept(summary).collect();
    let told = told_files(summary, &kept);
    let folder = shared_folder(told.iter().map(|file| file.what.path.as_str()));
    let head = folder.map(|folder| format!("In `{folder}`:"));
    let is_inside = |file: &&Sourced<ChangedFile>| {
        folder.is_some_and(|folder| file.what.path.starts_with(folder))
    };
    // a path that stands under the folder's name is read as one in it
    let (inside, outside): (Vec<_>, Vec<_>) = told.iter().copied().partition(is_inside);
    let apart = (!inside.is_empty() && !outside.is_empty()).then(|| "Elsewhere:".to_owned());
    let is_many = told.len() > FILES_MAX;
    let [inside, outside] =
        [(inside, folder), (outside, None)].map(|(files, folder)| listed(files, folder, is_many));
    let facts = inside.into_iter().chain(apart).chain(outside);
    let model = llm
        .files_modified
        .iter()
        .map(|path| format!("- `{}`", path.replace('`', "'")));
    let mut lines: Vec<String> = head.into_iter().chain(facts).chain(model).collect();
    lines.extend(more_files(summary, kept.len(), told.len()));
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

/// Those that are told, in their order: those that only git tells say nothing beside edited ones where a whole folder was
/// committed.
fn told_files<'f>(
    summary: &Summary,
    kept: &[&'f Sourced<ChangedFile>],
) -> Vec<&'f Sourced<ChangedFile>> {
    let is_edited = kept.iter().any(|file| !file.what.by_git);
    let is_folder = is_edited && largest_commit(summary) >= FOLDER_COMMITTED_MIN;
    let told = kept.iter().filter(|file| !(is_folder && file.what.by_git));
    told.copied().collect()
}

/// A commit of so many files holds a folder that nobody wrote in the session.
const FOLDER_COMMITTED_MIN: u64 = 120;

/// The files of the largest commit, as git counted them.
fn largest_commit(summary: &Summary) -> u64 {
    let sizes = summary.commits.iter().filter_map(|commit| commit.what.size);
    sizes.map(|size| size.files).max().unwrap_or(0)
}

/// That some are not told: those of a folder that was committed, and those of a commit that nothing names.
fn more_files(summary: &Summary, kept: usize, told: usize) -> Option<String> {
    let largest = largest_commit(summary);
    if largest > kept as u64 {
        return Some(format!(
            "- and others: a commit has {}",
            plural(largest, "file")
        ));
    }
    let more = (kept - told) as u64;
    (more > 0).then(|| format!("- and {}", plural(more, "more file")))
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
    fn many_files_are_told_by_their_folders() {
        let file = |nth: usize, by_git: bool| {
            let folder = if by_git { "web" } else { "src" };
            sourced(
                1,
                ChangedFile {
                    path: format!("{folder}/{nth}.rs"),
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
        assert_eq!(lines.len(), 10 + 1);
        assert_eq!(
            lines.last().map(String::as_str),
            Some("- `web/`: 50 files from git")
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
        let last = "- and others: a commit has 832 files";
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
    fn lines_are_told_where_they_are_exact_and_files_that_only_git_tells_say_so() {
        let file = |path: &str, by_git: bool| {
            let file = ChangedFile {
                path: path.into(),
                added: 2,
                removed: 1,
                edits: u64::from(!by_git),
                by_git,
                counted: path == "b.rs",
                ..ChangedFile::default()
            };
            sourced(1, file)
        };
        let summary = Summary {
            files_modified: vec![file("a.rs", false), file("b.rs", true)],
            ..Summary::default()
        };
        let lines = files(&summary, &LlmAdditions::default());
        assert_eq!(lines, ["- `a.rs`", "- `b.rs` +2 −1 (from git)"]);
    }

    #[test]
    fn what_is_not_in_the_folder_stands_apart() {
        let long = "/home/ada/shop__worktrees/a-branch";
        let file = |path: String| {
            sourced(
                1,
                ChangedFile {
                    path,
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
        assert_eq!(lines[1], "- `a.rs`");
        assert_eq!(lines[5..], ["Elsewhere:", "- `src/z.rs`"]);
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

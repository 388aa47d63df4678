//! A session's commits, as Markdown has them and as they are read back from it.

use super::COMMITS;
use crate::model::finding::CommitSize;
use crate::model::human::plural;
use crate::model::summary::SessionCommit;

/// The commits that a summary names: hash (empty where nothing printed it) and subject.
pub fn commits(body: &str) -> Vec<(&str, &str)> {
    let heading = format!("## {COMMITS}");
    let lines = body.lines().skip_while(|line| *line != heading).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('#'));
    let line = lines.filter_map(|line| line.strip_prefix("- "));
    let line = line.map(|line| {
        let end = line.ends_with(')').then(|| line.rfind(GIVEN_UP)).flatten();
        let line = end.map_or(line, |end| &line[..end]);
        let line = line.strip_suffix(PUSHED).unwrap_or(line);
        let line = line.strip_suffix(BY_GIT).unwrap_or(line);
        let line = line.strip_suffix(REBASED).unwrap_or(line);
        without_size(without_repository(line))
    });
    line.map(|line| match line.split_once(' ') {
        Some((hash, subject)) if hash.bytes().all(|b| b.is_ascii_hexdigit()) => (hash, subject),
        _ => ("", line),
    })
    .collect()
}

/// A commit's line without ` (2 files +52 −6)`.
fn without_size(line: &str) -> &str {
    let size = line.rfind(" (").map(|at| (at, &line[at + 2..]));
    let is_size = |size: &str| {
        let words: Vec<&str> = size.split(' ').collect();
        matches!(words[..], [_, "file" | "files", added, removed]
            if added.starts_with('+') && removed.starts_with('−') && removed.ends_with(')'))
    };
    size.filter(|(_, size)| is_size(size))
        .map_or(line, |(at, _)| &line[..at])
}

/// A commit's line without ` (in lib)`.
fn without_repository(line: &str) -> &str {
    let name = line
        .rfind(IN)
        .map(|at| (&line[..at], &line[at + IN.len()..]));
    let is_name = |name: &str| name.ends_with(')') && !name.contains(' ');
    name.filter(|(_, name)| is_name(name))
        .map_or(line, |(before, _)| before)
}

/// `2 files +52 −6`.
pub fn size(size: &CommitSize) -> String {
    let CommitSize {
        files,
        added,
        removed,
    } = size;
    format!("{} +{added} −{removed}", plural(*files, "file"))
}

/// Stands before the folder of another repository.
const IN: &str = " (in ";

/// Stands behind a commit that others have.
const PUSHED: &str = " (pushed)";

/// Stands behind a commit that the log doesn't name.
const BY_GIT: &str = " (git tells it)";

/// Stands behind a commit that git made of an older one, which may be somebody else's.
const REBASED: &str = " (by git rebase)";

/// Stands behind a commit whose work is nowhere any more, with what did that.
const GIVEN_UP: &str = " (given up ";

/// `1a2b3c4 Fix the login (2 files +52 −6) (in lib) (git tells it) (pushed)`, or `(given up on 2026-06-01: reset --hard)`.
pub fn commit(commit: &SessionCommit) -> String {
    let hash = match commit.hash.as_str() {
        "" => String::new(),
        hash => format!("{hash} "),
    };
    let by_git = match (commit.by_git, commit.rebased) {
        (true, _) => BY_GIT,
        (false, true) => REBASED,
        (false, false) => "",
    };
    let pushed = if commit.pushed { PUSHED } else { "" };
    let gone = commit.given_up.as_ref();
    let gone = gone.map(|undone| format!("{GIVEN_UP}{})", undone.shown()));
    let gone = gone.unwrap_or_default();
    let size = commit.size.as_ref().map(|of| format!(" ({})", size(of)));
    let size = size.unwrap_or_default();
    let place = commit.repository.as_ref();
    let place = place.map_or(String::new(), |name| format!("{IN}{name})"));
    format!(
        "{hash}{}{size}{place}{by_git}{pushed}{gone}",
        commit.subject
    )
}

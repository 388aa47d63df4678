//! Where commands work on a history: in another folder than the session's, and on which files there.

use super::line;
use crate::model::finding::Finding;
use crate::rules::commands::history::Act;
use std::borrow::Cow;

/// The only folder in which a line that begins in `from` changes or asks a history, where that is not the one where the
/// session works, nor one above or below it or of its name. A worktree is a folder of its own wherever it lies.
pub fn elsewhere(acts: &[Act], from: Option<&str>, cwd: Option<&str>) -> Option<Finding> {
    let own = plain(cwd?);
    let from = from?;
    let of_repository = acts.iter().filter(|act| act.does.is_of_repository());
    let mut places = of_repository.map(|act| match &act.to {
        Some(to) => plain(&line::absolute(&at_home(to, &own), Some(from))),
        None => plain(&at_home(from, &own)),
    });
    let place = places.next()?;
    let is_below = |inner: &str, outer: &str| {
        let rest = inner.strip_prefix(outer);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let is_near = is_below(&own, &place)
        || is_below(&place, &own) && !is_worktree(&place[own.len()..])
        || name(&place) == name(&own);
    // what a shell that escapes takes out of a path of Windows leaves no path
    let is_path = place.starts_with('/') || place.get(1..3) == Some(":/");
    (!is_near && is_path && places.all(|other| other == place)).then_some(Finding::Elsewhere(place))
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// `~/lib` in the home that another path is in, where that says so.
fn at_home<'p>(path: &'p str, other: &str) -> Cow<'p, str> {
    let below = path.strip_prefix("~/");
    let mut parts = other.split('/');
    match (below, parts.next(), parts.next(), parts.next()) {
        (Some(below), Some(""), Some(homes @ ("home" | "Users")), Some(user)) => {
            format!("/{homes}/{user}/{below}").into()
        }
        _ => path.into(),
    }
}

/// A part of a path names a folder of worktrees.
fn is_worktree(path: &str) -> bool {
    path.contains("worktree")
}

/// Without `.` and `..`, with `/` between folders.
fn plain(path: &str) -> String {
    let path = path.replace('\\', "/");
    let mut parts: Vec<&str> = Vec::new();
    for part in path.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// A file as a line names it that begins in `from`: a whole path where it leaves that folder.
pub fn seen_from<'p>(path: &'p str, from: Option<&str>) -> Cow<'p, str> {
    match from.filter(|_| path.starts_with("../")) {
        Some(from) => plain(&line::absolute(path, Some(from))).into(),
        None => path.into(),
    }
}

/// `?? src/b.rs`: a file that git doesn't know, as `git status --short` lists it. A folder of them is none.
pub fn listed(line: &str) -> Option<&str> {
    let path = line.strip_prefix("?? ")?;
    (!path.starts_with('"') && !path.ends_with('/')).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::commands::history::acts;

    #[test]
    fn a_history_elsewhere_is_told_with_its_folder() {
        let own = Some("/home/ada/shop");
        let told = |line: &str| match elsewhere(&acts(line), own, own) {
            Some(Finding::Elsewhere(place)) => place,
            _ => String::new(),
        };
        for (line, wants) in [
            (
                "cd ../../lib && git add a.rs && git commit -m x",
                "/home/lib",
            ),
            (
                "git -C ../bank commit -m x && git -C ~/bank push",
                "/home/ada/bank",
            ),
            ("cd ~/shop/web && git commit -m x", ""),
            ("cd /w/shop && git commit -m x", ""),
            ("cd .. && git commit -m x", ""),
            ("git commit -m x && cd ../bank && git push", ""),
            (
                "cd .worktrees/carts && git status",
                "/home/ada/shop/.worktrees/carts",
            ),
            ("git -C C:shop status", ""),
            ("cd ../bank && make", ""),
        ] {
            assert_eq!(told(line), wants, "{line}");
        }
        assert_eq!(seen_from("../bank/a.rs", own), "/home/ada/bank/a.rs");
        assert_eq!(seen_from("web/a.rs", own), "web/a.rs");
    }

    #[test]
    fn a_short_status_names_new_files() {
        for (line, wants) in [
            ("?? src/b.rs", Some("src/b.rs")),
            ("?? web/", None),
            (" M src/a.rs", None),
            (" src/a.rs | 2 +-", None),
        ] {
            assert_eq!(listed(line), wants, "{line}");
        }
    }
}

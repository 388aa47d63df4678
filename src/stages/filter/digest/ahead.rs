//! How far a branch is ahead of its remote one, as `git status` says it.

/// `Your branch is ahead of 'origin/main' by 2 commits.`, `## main...origin/main [ahead 2]`, `and have 2 and 1 different commits
/// each, respectively.`: 2.
pub fn ahead(line: &str) -> Option<u64> {
    let count = |rest: &str| {
        rest.split(|c: char| !c.is_ascii_digit())
            .next()?
            .parse()
            .ok()
    };
    if line.starts_with("Your branch is up to date with '") {
        return Some(0);
    }
    if let Some(rest) = line.strip_prefix("Your branch is ahead of '") {
        return count(rest.split_once("' by ")?.1);
    }
    if let Some(rest) = line.strip_prefix("and have ") {
        return count(rest).filter(|_| rest.contains(" different commit"));
    }
    let (_, remote) = line.strip_prefix("## ")?.split_once("...")?;
    match remote.split_once(" [") {
        None => Some(0),
        Some((_, state)) => count(state.strip_prefix("ahead ")?),
    }
}

/// `and have 4 and 3 different commits each, respectively.`, `## main...origin/main [ahead 4, behind 3]`: 3.
pub fn behind(line: &str) -> Option<u64> {
    let rest = match line.strip_prefix("and have ") {
        Some(rest) if rest.contains(" different commit") => rest.split_once(" and ")?.1,
        _ => {
            let state = line.strip_prefix("## ")?.split_once("...")?.1;
            state.split_once(" [ahead ")?.1.split_once(", behind ")?.1
        }
    };
    rest.split(|c: char| !c.is_ascii_digit())
        .next()?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::{ahead, behind};

    #[test]
    fn git_tells_how_many_commits_its_remote_lacks() {
        for (line, wants) in [
            ("Your branch is up to date with 'origin/main'.", Some(0)),
            (
                "Your branch is ahead of 'origin/a-1' by 2 commits.",
                Some(2),
            ),
            ("Your branch is behind 'origin/main' by 2 commits", None),
            ("Your branch and 'origin/main' have diverged,", None),
            (
                "and have 4 and 3 different commits each, respectively.",
                Some(4),
            ),
            ("and have 4 wheels", None),
            ("## main...origin/main", Some(0)),
            ("## main...origin/main [ahead 3, behind 1]", Some(3)),
            ("## main...origin/main [behind 1]", None),
            ("## main", None),
        ] {
            assert_eq!(ahead(line), wants, "{line}");
        }
        for (line, wants) in [
            (
                "and have 4 and 13 different commits each, respectively.",
                Some(13),
            ),
            ("and have 4 and 3 wheels", None),
            ("## main...origin/main [ahead 3, behind 1]", Some(1)),
            ("## main...origin/main [behind 1]", None),
        ] {
            assert_eq!(behind(line), wants, "{line}");
        }
    }
}

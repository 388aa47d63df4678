//! Which git commands do what a reflog tells. Reads the digest of a call, which has its command in one line
//! and may have cut it: words count, not quotes.

use crate::host::git;
use crate::model::git::{GitOperation, OperationKind};
use std::path::Path;

/// Subcommands that leave an operation of a kind behind; a kind that isn't here is left by the subcommand of
/// its name.
const SUBCOMMANDS: [(&str, &[&str]); 11] = [
    ("commit", &["commit", "ci"]),
    ("amend", &["commit", "ci"]),
    (
        "checkout",
        &["checkout", "co", "switch", "worktree", "stash"],
    ),
    ("merge", &["merge", "pull"]),
    ("rebase", &["rebase", "pull"]),
    ("pull", &["pull", "merge", "rebase"]),
    ("branch deleted", &["branch"]),
    ("branch renamed", &["branch"]),
    (
        "branch moved",
        &["branch", "update-ref", "fetch", "push", "rebase"],
    ),
    ("stash", &["stash", "rebase", "pull"]),
    (
        "moved",
        &[
            "update-ref",
            "branch",
            "fetch",
            "filter-branch",
            "symbolic-ref",
        ],
    ),
];

/// The call has a command that does such an operation, in the repository at this root.
pub(super) fn does(call: &str, done: &GitOperation, root: &Path) -> bool {
    let kind = done.operation.kind;
    let amends = kind != OperationKind::Amend || call.contains("--amend");
    let wants = subcommands(kind.as_str());
    amends && commands(call).any(|command| wants.contains(&command.sub) && command.is_in(root))
}

/// The call names the branch that was deleted.
pub(super) fn names_branch(call: &str, branch: &str) -> bool {
    call.split(|c: char| c.is_whitespace() || "()'\";".contains(c))
        .any(|word| word == branch)
}

fn subcommands(kind: &str) -> Vec<&str> {
    match SUBCOMMANDS.iter().find(|(known, _)| *known == kind) {
        Some((_, all)) => all.to_vec(),
        None => vec![kind.split(' ').next().unwrap_or(kind)],
    }
}

/// A `git` in a line.
struct GitCommand<'c> {
    sub: &'c str,
    /// Where the words before it and its own options say that it runs.
    folder: Option<&'c str>,
}

impl GitCommand<'_> {
    /// What can't be told may be.
    fn is_in(&self, root: &Path) -> bool {
        let Some(folder) = self.folder else {
            return true;
        };
        let named = !folder.contains(['$', '~', '*', '…']);
        let there = named.then(|| git::repository(&root.join(folder))).flatten();
        there.is_none_or(|there| there == root)
    }
}

fn commands(call: &str) -> impl Iterator<Item = GitCommand<'_>> {
    const AROUND: [char; 8] = ['(', ')', '"', '\'', '`', ';', '&', '|'];
    let words: Vec<&str> = call.split_whitespace().collect();
    let bare = |nth: usize| {
        let word = words.get(nth).copied().unwrap_or_default();
        // `Bash(git`, `$(git`
        let word = word.rsplit('(').next().unwrap_or(word);
        word.trim_matches(AROUND)
    };
    let mut found = Vec::new();
    let mut folder = None;
    for nth in 0..words.len() {
        match bare(nth) {
            "cd" => folder = Some(bare(nth + 1)),
            word if word == "git" || word.ends_with("/git") => {
                let mut at = nth + 1;
                let mut own = folder;
                while bare(at).starts_with('-') {
                    if bare(at) == "-C" {
                        own = Some(bare(at + 1));
                    }
                    at += if ["-C", "-c"].contains(&bare(at)) {
                        2
                    } else {
                        1
                    };
                }
                found.push((at, own));
            }
            _ => {}
        }
    }
    let all: Vec<GitCommand<'_>> = found
        .into_iter()
        .map(|(at, folder)| GitCommand {
            sub: bare(at),
            folder,
        })
        .collect();
    all.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::git::{Effect, RefOperation};

    fn done(kind: OperationKind) -> GitOperation {
        GitOperation {
            operation: RefOperation {
                kind,
                ..RefOperation::sample()
            },
            effect: Effect::default(),
            reason: None,
        }
    }

    #[test]
    fn a_call_does_what_its_git_commands_do() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("in/.git")).unwrap();
        std::fs::create_dir_all(root.path().join(".git")).unwrap();
        for (call, kind, wants) in [
            (
                "Bash(git reset --hard HEAD~5) → exit 0",
                OperationKind::Reset,
                true,
            ),
            (
                "Bash(cd . && git -c a.b=c --no-pager reset HEAD~1)",
                OperationKind::Reset,
                true,
            ),
            (
                "shell(bash -lc \"git switch main\") → ok",
                OperationKind::Checkout,
                true,
            ),
            (
                "Bash(cargo test; /usr/bin/git pull --rebase)",
                OperationKind::Rebase,
                true,
            ),
            (
                "Bash(git commit -q --amend --no-edit)",
                OperationKind::Amend,
                true,
            ),
            ("Bash(git commit -qm x)", OperationKind::Amend, false),
            ("Bash(git commit -qm x)", OperationKind::Commit, true),
            (
                "Bash(git -C in reset --hard HEAD~1)",
                OperationKind::Reset,
                false,
            ),
            (
                "Bash(cd in && git reset --hard HEAD~1)",
                OperationKind::Reset,
                false,
            ),
            (
                "Bash(cd \"$DIR\" && git reset --hard HEAD~1)",
                OperationKind::Reset,
                true,
            ),
            (
                "Bash(git log --oneline | grep reset)",
                OperationKind::Reset,
                false,
            ),
            (
                "Bash(git revert --no-edit HEAD) → exit 0",
                OperationKind::Revert,
                true,
            ),
            ("Bash(legit reset)", OperationKind::Reset, false),
        ] {
            assert_eq!(
                does(call, &done(kind), root.path()),
                wants,
                "{call} {kind:?}"
            );
        }
        assert!(names_branch("Bash(git branch -D 'old')", "old"));
        assert!(!names_branch("Bash(git branch -D older)", "old"));
    }
}

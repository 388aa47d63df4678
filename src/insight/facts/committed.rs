//! What a request was committed as: it says what came of it where the agent said nothing that does.

use super::line::LocatedItem;
use super::prompts::exchange;
use super::words::clipped;
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::model::summary::{SessionCommit, Sourced};
use crate::rules::requests::is_move;
use crate::rules::words::{content_words, is_same};

/// More commits are listed with the others.
const COMMITS_MAX: usize = 2;

/// Of a subject.
const SUBJECT_CHARS_MAX: usize = 100;

/// `committed as “fix totals” and “read the header once”`: of those commits that are left at the end, the ones that speak of the same.
/// Nothing where there is none, or many.
pub(super) fn committed(
    lines: &[LocatedItem<'_>],
    at: usize,
    commits: &[Sourced<SessionCommit>],
) -> Option<String> {
    let prompt = &lines[at];
    if prompt.item.kind != ItemKind::Prompt {
        return None;
    }
    let asked = content_words(prompt.words());
    let is_about = |subject: &str| {
        let told = content_words(subject);
        let is_asked = |word: &String| !is_move(word) && asked.iter().any(|own| is_same(own, word));
        told.iter().any(is_asked)
    };
    let findings = exchange(lines, at)
        .iter()
        .flat_map(|line| line.item.findings);
    let mut subjects: Vec<&str> = Vec::new();
    for finding in findings {
        if let Finding::Commit { subject, .. } = finding
            && commits.iter().any(|left| left.what.subject == *subject)
            && !subjects.contains(&subject.as_str())
            && is_about(subject)
        {
            subjects.push(subject);
        }
    }
    let told = subjects
        .iter()
        .map(|subject| format!("“{}”", clipped(subject, SUBJECT_CHARS_MAX)));
    let told: Vec<String> = told.collect();
    let is_few = (1..=COMMITS_MAX).contains(&told.len());
    is_few.then(|| format!("committed as {}", told.join(" and ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::facts::history::commits;

    #[test]
    fn a_request_was_committed_as_what_speaks_of_it() {
        let commit = |subject: &str| {
            [Finding::Commit {
                hash: "0abc123".into(),
                subject: subject.into(),
                again: false,
                size: None,
            }]
        };
        let made = commit("fix: round totals half up");
        for (kind, asked, wants) in [
            (
                ItemKind::Prompt,
                "User: round the totals",
                Some("committed as “fix: round totals half up”"),
            ),
            (ItemKind::Prompt, "User: is the page slow?", None),
            (ItemKind::Prompt, "User: commit it", None),
            (ItemKind::Aside, "User: totals must not be negative", None),
        ] {
            let lines = [
                LocatedItem::sample(kind, 1, asked, &[]),
                LocatedItem::sample(ItemKind::Digest, 2, "Action: Bash(git commit) → ok", &made),
            ];
            let told = committed(&lines, 0, &commits(&lines));
            assert_eq!(told.as_deref(), wants, "{asked}");
            assert_eq!(
                committed(&lines, 0, &[]),
                None,
                "{asked}: it was taken back"
            );
        }
    }
}

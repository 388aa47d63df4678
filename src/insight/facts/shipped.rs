//! What a session shipped, in the agent's words: a title or subject names what asks only point at.

use super::line::LocatedItem;
use super::words::clipped;
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::rules::words::content_words;

/// With fewer words it says nothing.
const WORDS_MIN: usize = 2;

/// Of what was shipped.
const SHIPPED_CHARS_MAX: usize = 72;

/// The title of the first pull request, else the subject of the largest commit: what an ask was about where it
/// says no more than "ship it", and the names of things that were asked for by pointing at them.
pub(super) fn shipped(lines: &[LocatedItem<'_>]) -> Option<String> {
    let title = lines.iter().find_map(|line| {
        let words = line.words();
        let is_call = line.item.kind == ItemKind::Digest && line.main;
        let after = is_call.then(|| words.split_once("gh pr create "))??.1;
        let after = after
            .split_once("--title ")
            .or_else(|| after.split_once("-t "))?
            .1;
        let mark = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let title = after[1..].split_once(mark)?.0;
        (!title.contains(['…', '$'])).then_some(title)
    });
    let says = |subject: &&str| {
        content_words(subject).len() >= WORDS_MIN && !subject.starts_with("Merge ")
    };
    let title = title.filter(|title| says(title)).map(|title| ("PR", title));
    let (what, subject) = title.or_else(|| Some(("commit", largest(lines, says)?)))?;
    Some(format!("{what}: {}", clipped(subject, SHIPPED_CHARS_MAX)))
}

/// The subject of the commit that changed most, where git printed how much each changed, else of the first one.
fn largest<'t>(lines: &[LocatedItem<'t>], says: impl Fn(&&str) -> bool) -> Option<&'t str> {
    let findings = lines.iter().flat_map(|line| line.item.findings);
    let all = findings.filter_map(|finding| match finding {
        // it mends what another commit is about
        Finding::Commit { subject, size, .. } => {
            let lines = size.as_ref().map(|size| size.added + size.removed);
            Some((subject.trim_start_matches("fixup! "), lines))
        }
        _ => None,
    });
    let mut all = all.filter(|(subject, _)| says(subject));
    let mut main = all.next()?;
    for (subject, lines) in all {
        if main.1.is_some() && lines > main.1 {
            main = (subject, lines);
        }
    }
    Some(main.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::finding::CommitSize;

    #[test]
    fn a_title_says_more_than_a_subject() {
        let commit = [Finding::Commit {
            hash: "0abc123".into(),
            subject: "Round totals half up".into(),
            again: false,
            size: None,
        }];
        let line = |text, findings| LocatedItem::sample(ItemKind::Digest, 1, text, findings);
        let committed = line("Action: Bash(git commit) → ok", &commit);
        let wants = "commit: Round totals half up";
        assert_eq!(shipped(&[committed]).as_deref(), Some(wants));
        let sized = |subject: &str, added| {
            [Finding::Commit {
                hash: "0abc125".into(),
                subject: subject.into(),
                again: false,
                size: Some(CommitSize {
                    files: 1,
                    added,
                    removed: 0,
                }),
            }]
        };
        let (small, large) = (
            sized("Test colors of carts", 4),
            sized("Add a page of carts", 90),
        );
        let both = [
            line("Action: Bash(git commit) → ok", &small),
            line("Action: Bash(git commit) → ok", &large),
        ];
        assert_eq!(
            shipped(&both).as_deref(),
            Some("commit: Add a page of carts")
        );
        let mending = [Finding::Commit {
            hash: "0abc124".into(),
            subject: "fixup! Round totals half up".into(),
            again: false,
            size: None,
        }];
        let mended = line("Action: Bash(git commit) → ok", &mending);
        assert_eq!(shipped(&[mended]).as_deref(), Some(wants));
        let call = "Action: Bash(gh pr create --title \"Totals that add up\" --body x) → ok";
        let opened = line(call, &[]);
        let wants = "PR: Totals that add up";
        assert_eq!(shipped(&[committed, opened]).as_deref(), Some(wants));
        let cut = line(
            "Action: Bash(gh pr create --title \"Totals that…) → ok",
            &[],
        );
        assert_eq!(shipped(&[cut]), None);
    }
}

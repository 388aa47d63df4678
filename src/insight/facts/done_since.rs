//! Open tasks that the log shows done though nobody ticked them off: those that end in a commit, a push or a pull
//! request, and that was made since. What a task says before that was done first.

use super::line::LocatedItem;
use crate::model::finding::Finding;
use crate::model::summary::Sourced;
use crate::rules::table;
use regex::Regex;
use std::sync::LazyLock;

/// Drops them. Looks at the log only where an open task names such a deed.
pub(super) fn drop_done(open: &mut Vec<Sourced<String>>, lines: &[LocatedItem<'_>]) {
    open.retain(|task| {
        let deeds = deeds(&task.what);
        deeds.is_empty() || !deeds.iter().all(|deed| deed.is_done(task, lines))
    });
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Deed {
    Commit,
    Push,
    PullRequest,
}

/// What a task ends in, or is nothing but.
fn deeds(task: &str) -> Vec<Deed> {
    static DEEDS: LazyLock<[(Deed, Regex); 3]> = LazyLock::new(|| {
        let moved = |verb: &str| {
            let begins = format!(
                r"(?i)^{verb}(?: (?:the |all |my |these |to )*(?:branch|changes?|fix|work|it|them|remote|origin|everything))*\W*(?:$|(?:and|then|\+|&|,) )"
            );
            let ends = format!(
                r"(?:\band|\bthen|\+|&|,|/) {verb}(?: (?:the |all )*(?:branch|changes?))?\W*(?:$|(?:and|then|\+|&|,) )"
            );
            table::regex(&format!("{begins}|{ends}"))
        };
        let opened = r"(?i)^(?:create|open|submit|raise|make|draft)\b(?: [\w-]+){0,3} (?:PR|pull request)\W*$|(?:\band|\bthen|\+|&|,|/) (?:(?:create|open|submit|raise|make) )?(?:an? |the |draft )*(?:PR|pull request)\W*$";
        [
            (Deed::Commit, moved("commit")),
            (Deed::Push, moved("push")),
            (Deed::PullRequest, table::regex(opened)),
        ]
    });
    let named = DEEDS.iter().filter(|(_, names)| names.is_match(task));
    named.map(|(deed, _)| *deed).collect()
}

impl Deed {
    /// It was done behind the place that names the task, and behind what it is to hold.
    fn is_done(self, task: &Sourced<String>, lines: &[LocatedItem<'_>]) -> bool {
        let is_named =
            |line: &LocatedItem<'_>| (line.episode, line.line) == (task.episode, task.line);
        let last = |is_it: fn(&Finding) -> bool| {
            lines
                .iter()
                .rposition(|line| line.item.findings.iter().any(is_it))
        };
        let commit = || last(|finding| matches!(finding, Finding::Commit { .. }));
        let push = || last(|finding| matches!(finding, Finding::Pushed));
        let (done, held) = match self {
            Deed::Commit => (
                commit(),
                last(|finding| matches!(finding, Finding::Changed { .. })),
            ),
            Deed::Push => (push(), commit()),
            Deed::PullRequest => (
                last(|finding| matches!(finding, Finding::PullRequest(_))),
                None,
            ),
        };
        done.is_some() && done >= held && done > lines.iter().position(is_named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::exchange::ItemKind;

    #[test]
    fn a_task_ends_in_what_it_names_last() {
        use Deed::{Commit, PullRequest, Push};
        for (task, wants) in [
            ("Commit changes", &[Commit][..]),
            ("Commit and push", &[Commit, Push]),
            ("Run the tests and commit", &[Commit]),
            ("Verify: lint, measure the cart, trail + PR", &[PullRequest]),
            ("Create a pull request", &[PullRequest]),
            ("Open draft PR", &[PullRequest]),
            ("Push the branch and open a PR", &[Push, PullRequest]),
            ("Address comments of the PR", &[]),
            ("Review PR", &[]),
            ("Commit messages name the cart", &[]),
            ("Push notifications", &[]),
            ("Create PR template", &[]),
        ] {
            assert_eq!(deeds(task), wants, "{task}");
        }
    }

    #[test]
    fn what_was_done_since_is_not_left() {
        let opened = [Finding::PullRequest(
            "https://github.com/us/shop/pull/7".into(),
        )];
        let commit = [Finding::Commit {
            hash: "1a2b3c4".into(),
            subject: "Add carts".into(),
            again: false,
            size: None,
        }];
        let edit = [Finding::Changed {
            path: "/p/a.rs".into(),
            added: 1,
            removed: 0,
        }];
        let line = |n, text, findings| LocatedItem::sample(ItemKind::Digest, n, text, findings);
        let listed = line(1, "Action: TodoWrite → 2 tasks", &[]);
        let lines = [listed, line(2, "", &commit[..]), line(3, "", &opened[..])];
        let left = |task: &str, lines: &[LocatedItem<'_>]| {
            let mut open = vec![listed.source(task.to_owned())];
            drop_done(&mut open, lines);
            open.len()
        };
        assert_eq!(left("Measure it, trail + PR", &lines), 0);
        assert_eq!(left("Measure it, trail + PR", &lines[..2]), 1);
        assert_eq!(left("Measure it", &lines), 1);
        assert_eq!(left("Commit changes", &lines), 0);
        let later = [listed, lines[1], line(4, "", &edit[..])];
        assert_eq!(left("Commit changes", &later), 1, "some isn't committed");
    }
}

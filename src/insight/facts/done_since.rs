//! Open tasks that the log shows done though nobody ticked them off: those that end in a commit, a push or a pull
//! request, and that was made since. What a task says before that was done first.

use super::line::LocatedItem;
use crate::model::finding::Finding;
use crate::model::summary::Sourced;
use crate::rules::deeds::{Deed, deeds};

/// Drops them. Looks at the log only where an open task names such a deed.
pub(super) fn drop_done(open: &mut Vec<Sourced<String>>, lines: &[LocatedItem<'_>]) {
    open.retain(|task| {
        let mut deeds = deeds(&task.what).peekable();
        deeds.peek().is_none() || !deeds.all(|deed| is_done(deed, task, lines))
    });
}

/// It was done behind the place that names the task, and behind what it is to hold.
fn is_done(deed: Deed, task: &Sourced<String>, lines: &[LocatedItem<'_>]) -> bool {
    let is_named = |line: &LocatedItem<'_>| (line.episode, line.line) == (task.episode, task.line);
    let last = |is_it: fn(&Finding) -> bool| {
        lines
            .iter()
            .rposition(|line| line.item.findings.iter().any(is_it))
    };
    let commit = || last(|finding| matches!(finding, Finding::Commit { .. }));
    let push = || last(|finding| matches!(finding, Finding::Pushed));
    let (done, held) = match deed {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::exchange::ItemKind;

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

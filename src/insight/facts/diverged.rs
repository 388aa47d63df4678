//! That the branch of a session and its remote one went apart: a plain push would be refused.

use super::line::LocatedItem;
use super::ran::call;
use crate::model::finding::Finding;
use crate::model::human::plural;
use crate::model::summary::Sourced;

/// What may bring both together again, or is about another branch.
const MOVES: [&str; 8] = [
    "git push",
    "git pull",
    "git reset",
    "git rebase",
    "git merge",
    "git switch",
    "git checkout",
    "git fetch",
];

/// A next step, where git said so when it was asked last and nothing that may have changed it ran since.
pub fn diverged(lines: &[LocatedItem<'_>]) -> Option<Sourced<String>> {
    let told = |line: &LocatedItem<'_>| {
        let mut findings = line.item.findings.iter();
        findings.any(|finding| matches!(finding, Finding::Ahead(_) | Finding::Pushed))
    };
    let at = lines.iter().rposition(told)?;
    let mut findings = lines[at].item.findings.iter();
    let (here, there) = findings.find_map(|finding| match finding {
        Finding::Diverged { here, there } => Some((here, there)),
        _ => None,
    })?;
    let moves = |line: &LocatedItem<'_>| {
        call(line).is_some_and(|call| MOVES.iter().any(|name| call.contains(name)))
    };
    let here = plural(*here, "commit");
    let step = format!("The branch and its remote one diverged: {here} here, {there} there");
    (!lines[at + 1..].iter().any(moves)).then(|| lines[at].source(step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::exchange::ItemKind;

    #[test]
    fn what_went_apart_is_a_next_step_until_something_may_have_joined_it() {
        let apart = [
            Finding::Ahead(19),
            Finding::Diverged {
                here: 19,
                there: 10,
            },
        ];
        let (sent, even) = ([Finding::Pushed], [Finding::Ahead(0)]);
        let line = |text, findings| LocatedItem::sample(ItemKind::Digest, 1, text, findings);
        let status = line("Action: Bash(git status) → 9 lines", &apart[..]);
        let log = line("Action: Bash(git log) → 9 lines", &[]);
        let told = |lines: &[LocatedItem<'_>]| diverged(lines).map(|step| step.what);
        let wants = "The branch and its remote one diverged: 19 commits here, 10 there";
        assert_eq!(told(&[status, log]).as_deref(), Some(wants));
        let pushed = line("Action: Bash(git push -f) → ok", &sent);
        let again = line("Action: Bash(git status) → 3 lines", &even);
        let fetched = line("Action: Bash(git fetch) → ok", &[]);
        for later in [pushed, again, fetched] {
            assert_eq!(told(&[status, later]), None);
        }
    }
}

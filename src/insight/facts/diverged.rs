//! That the branch of a session and its remote one went apart: a plain push would be refused.

use super::line::LocatedItem;
use super::ran::call;
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::model::human::plural;
use crate::model::summary::Sourced;

/// What may bring both together again, or is about another branch.
const MOVES: [&str; 10] = [
    " sync",
    "git commit",
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
    let is_elsewhere =
        call(&lines[at]).is_some_and(|call| call.contains("cd ") || call.contains(" -C"));
    let moves = |line: &LocatedItem<'_>| {
        let is_move = |call: &str| {
            let is_file = call.contains("git checkout -- ");
            !is_file && MOVES.iter().any(|name| call.contains(name))
        };
        let speaks = line.item.kind == ItemKind::Prompt && line.words().contains("push");
        speaks || call(line).is_some_and(is_move)
    };
    let here = plural(*here, "commit");
    let step = format!("The branch and its remote one diverged: {here} here, {there} there");
    (!is_elsewhere && !lines[at + 1..].iter().any(moves)).then(|| lines[at].source(step))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let made = line("Action: Bash(git commit -m x) → ok", &[]);
        let said = LocatedItem::sample(ItemKind::Prompt, 2, "User: I force pushed it", &[]);
        for later in [pushed, again, fetched, made, said] {
            assert_eq!(told(&[status, later]), None);
        }
        let other = line("Action: Bash(cd ../shop && git status) → 9 lines", &apart);
        assert_eq!(told(&[other]), None, "it is of another folder");
        let restored = line("Action: Bash(git checkout -- a.rs) → ok", &[]);
        assert!(told(&[status, restored]).is_some());
    }
}

//! What the log's last call was to do, where the log has no result of it.

use super::line::LocatedItem;
use super::words::shortened;
use crate::model::exchange::ItemKind;
use crate::model::finding::{BegunStep, Finding};
use crate::model::summary::Sourced;
use crate::rules::words::content_words;

/// The steps of calls without a result, in order.
pub struct Begun<'t> {
    steps: Vec<(BegunStep, &'t str)>,
    at: Option<&'t LocatedItem<'t>>,
}

impl<'t> Begun<'t> {
    /// Nothing where the main log ends otherwise.
    pub fn of(lines: &'t [LocatedItem<'t>]) -> Begun<'t> {
        let mut main = lines.iter().rev().filter(|line| line.main);
        let is_pending = |line: &&LocatedItem<'_>| {
            line.item.kind == ItemKind::Digest && line.item.text.is_empty()
        };
        let at = main.next().filter(is_pending);
        let last = at.and_then(|_| main.next());
        let found = last.into_iter().flat_map(|line| line.item.findings);
        let steps = found.filter_map(|finding| match finding {
            Finding::Begun { step, named } => Some((*step, named.as_str())),
            _ => None,
        });
        Begun {
            steps: steps.collect(),
            at,
        }
    }

    fn has(&self, step: BegunStep) -> bool {
        self.steps.iter().any(|(known, _)| *known == step)
    }

    /// Nobody knows whether the changes are in a commit.
    pub fn commits(&self) -> bool {
        self.has(BegunStep::Commit)
    }

    /// Nobody knows whether commits were sent.
    pub fn pushes(&self) -> bool {
        self.has(BegunStep::Push)
    }

    /// The steps in one line.
    pub fn told(&self) -> Option<Sourced<String>> {
        let steps = self.steps.iter().map(|(step, named)| told(*step, named));
        let steps: Vec<String> = steps.collect();
        let told = self.at.filter(|_| !steps.is_empty())?;
        Some(told.source(format!("{UNSEEN}{}", steps.join(", "))))
    }

    /// This step (`In progress: `, `Not finished: `) says no more than that these are done: `commit and push`,
    /// `/commit-push-pr for #7`.
    pub fn repeats(&self, step: &str) -> bool {
        let said = step.split_once(": ").map_or(step, |(_, said)| said);
        // what stands behind a slash command only says what for
        let command = said
            .strip_prefix('/')
            .and_then(|said| said.split(' ').next());
        let command = command.map(|name| name.rsplit(':').next().unwrap_or(name));
        let words = content_words(&command.unwrap_or(said).replace(['-', '_'], " "));
        let names = |words_of: &[&str], word: &str| words_of.contains(&word);
        let mut steps = GIT_WORDS
            .iter()
            .filter(|(_, words_of)| words.iter().any(|word| names(words_of, word)));
        let is_idle = |word: &String| {
            let mut all = GIT_WORDS.iter().flat_map(|(_, words_of)| words_of.iter());
            all.any(|known| known == word) || IDLE_WORDS.contains(&word.as_str())
        };
        !self.steps.is_empty()
            && !words.is_empty()
            && steps.all(|(step, _)| self.has(*step))
            && words.iter().all(is_idle)
    }
}

fn told(step: BegunStep, named: &str) -> String {
    let what = match step {
        BegunStep::Branch => "branch",
        BegunStep::Commit => "commit",
        BegunStep::Push => "push",
        BegunStep::PullRequest => "pull request",
        BegunStep::Agent => "sub-agent",
    };
    match (step, named) {
        (_, "") => what.to_owned(),
        (BegunStep::Branch, named) => format!("{what} `{named}`"),
        (_, named) => format!("{what} “{}”", shortened(named, NAME_CHARS_MAX)),
    }
}

/// Subjects of commits have less.
const NAME_CHARS_MAX: usize = 100;

/// Stands before what the last call was to do.
pub const UNSEEN: &str = "The last call's result isn't in the log: ";

/// Words of what somebody says of the steps.
const GIT_WORDS: [(BegunStep, &[&str]); 4] = [
    (BegunStep::Branch, &["branch", "branching"]),
    (
        BegunStep::Commit,
        &[
            "commit",
            "commits",
            "committing",
            "commiting",
            "stage",
            "staging",
        ],
    ),
    (BegunStep::Push, &["push", "pushing"]),
    (BegunStep::PullRequest, &["pr", "pull", "request"]),
];

/// They say nothing of their own beside these.
const IDLE_WORDS: [&str; 8] = [
    "changes", "create", "creating", "files", "git", "new", "open", "opening",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_last_call_was_to_do_is_told() {
        let begun = |step, named: &str| Finding::Begun {
            step,
            named: named.to_owned(),
        };
        let all = [
            Finding::Worked { key: 1 },
            begun(BegunStep::Branch, "fix/carts"),
            begun(BegunStep::Commit, "Round once"),
            begun(BegunStep::Push, ""),
        ];
        let last = LocatedItem::sample(ItemKind::Digest, 7, "Action: Bash(git diff) → ok", &all);
        let pending = LocatedItem::sample(ItemKind::Digest, 7, "", &[]);
        let lines = [last, pending];
        let found = Begun::of(&lines);
        let told = found.told().expect("steps").what;
        assert_eq!(
            told,
            "The last call's result isn't in the log: branch `fix/carts`, commit “Round once”, push"
        );
        assert!(found.commits());
        for again in [
            "In progress: Let me commit and push",
            "Not finished: /shop-commands:commit-push for cart #20",
            "Not finished: please push",
        ] {
            assert!(found.repeats(again), "{again}");
        }
        for more in [
            "Not finished: commit, push and open a PR",
            "Not finished: commit it, then add the export",
            "In progress: Now the tests of carts.",
            "Not finished: /fix-cart 7",
        ] {
            assert!(!found.repeats(more), "{more}");
        }
        assert!(Begun::of(&lines[..1]).told().is_none(), "it has a result");
    }
}

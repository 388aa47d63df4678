//! What commands look at that check a project, as a table (`check_words.yaml`). Knows words, not how a command ended.

use super::table;
use rustc_hash::FxHashSet;
use serde::Deserialize;
#[cfg(test)]
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What a check looks at: form, types, whether it builds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckScope(u8);

impl CheckScope {
    const LINT: CheckScope = CheckScope(1);
    const TYPES: CheckScope = CheckScope(2);
    const BUILD: CheckScope = CheckScope(4);

    /// At nothing that is known.
    pub fn is_none(self) -> bool {
        self == CheckScope::default()
    }

    /// It looks at all that the other one looks at; no check looks at less than something.
    pub fn covers(self, other: CheckScope) -> bool {
        !other.is_none() && self.0 & other.0 == other.0
    }

    /// It looks at how it is written, which no compiler does.
    pub fn looks_at_form(self) -> bool {
        self.meets(CheckScope::LINT)
    }

    /// Both look at something.
    pub fn meets(self, other: CheckScope) -> bool {
        self.0 & other.0 != 0
    }

    fn with(self, other: CheckScope) -> CheckScope {
        CheckScope(self.0 | other.0)
    }
}

/// What a command looks at, by its words; nothing where nobody knows, as of another program's `check`.
pub fn scope(command: &str) -> CheckScope {
    let words = command.split(|c: char| !c.is_alphanumeric());
    let mut words = words.filter(|word| !word.is_empty()).peekable();
    let is_runner = words
        .peek()
        .is_some_and(|first| TABLE.runners.contains(*first));
    let begins = |kind: &Kind| {
        let commands = &kind(&TABLE).commands;
        commands.iter().any(|begin| command.starts_with(begin))
    };
    let begun = KINDS.iter().filter(|(kind, _)| begins(kind));
    let begun = begun.fold(CheckScope::default(), |all, (_, scope)| all.with(*scope));
    words.fold(begun, |all, word| {
        let found = KINDS
            .iter()
            .filter(|(kind, _)| kind(&TABLE).has(word))
            .fold(CheckScope::default(), |found, (_, scope)| {
                found.with(*scope)
            });
        let is_task = found.is_none() && is_runner && TABLE.tasks.contains(word);
        let whole = KINDS.iter().filter(|_| is_task);
        whole.fold(all.with(found), |all, (_, scope)| all.with(*scope))
    })
}

/// A program that runs a project's own tasks: what one of them found says nothing of another.
pub fn runs_tasks(program: &str) -> bool {
    TABLE.runners.contains(program)
}

/// A program that only checks what is written.
pub fn is_checker(program: &str) -> bool {
    KINDS
        .iter()
        .any(|(kind, _)| kind(&TABLE).programs.contains(program))
}

/// A program that looks, moves and tells.
pub fn is_looker(program: &str) -> bool {
    TABLE.lookers.contains(program)
}

/// A word by which another agent is told to check.
pub fn tells_to_check(word: &str) -> bool {
    TABLE.told.contains(word)
}

/// A plan's heading says that what stands below it is to be verified; `1. Verify` and `Step 7: Test plan` do.
pub fn heads_verification(heading: &str) -> bool {
    let heading = heading.trim_matches(['*', ' ', ':']).to_lowercase();
    let numbered = |text: &str| {
        let mut words = text.split([' ', '.', ')']).filter(|word| !word.is_empty());
        let is_step = |word: &str| matches!(word, "phase" | "step" | "part" | "task");
        words.all(|word| is_step(word) || word.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let marks = [": ", ". ", ") "];
    let mut rest = marks.iter().filter_map(|mark| heading.split_once(mark));
    let bare = rest.find(|(before, _)| numbered(before));
    let bare = bare.map_or(heading.as_str(), |(_, bare)| bare.trim());
    TABLE.headings.contains(bare)
}

/// A heading over points that a person is to look at.
pub fn is_by_hand(heading: &str) -> bool {
    let heading = heading.to_lowercase();
    let mut words = heading.split(|c: char| !c.is_alphanumeric());
    words.any(|word| TABLE.by_hand.contains(word))
}

/// `Visual check: …`, `Manual: …`, or something that only a running page shows.
pub fn is_look(text: &str) -> bool {
    let text = text.to_lowercase();
    let begins = |word: &String| text.starts_with(word.as_str());
    TABLE.looks.iter().any(begins) || TABLE.shown.iter().any(|word| text.contains(word))
}

/// Somebody read something again and has nothing against it.
pub fn approves(text: &str) -> bool {
    let text = text.to_lowercase();
    TABLE.approved.iter().any(|word| text.contains(word))
}

type Kind = fn(&Table) -> &Words;

const KINDS: [(Kind, CheckScope); 3] = [
    (|table| &table.lint, CheckScope::LINT),
    (|table| &table.types, CheckScope::TYPES),
    (|table| &table.build, CheckScope::BUILD),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    lint: Words,
    types: Words,
    build: Words,
    tasks: FxHashSet<String>,
    runners: FxHashSet<String>,
    told: FxHashSet<String>,
    lookers: FxHashSet<String>,
    headings: FxHashSet<String>,
    by_hand: FxHashSet<String>,
    looks: Vec<String>,
    shown: Vec<String>,
    approved: Vec<String>,
    #[cfg(test)]
    samples: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    programs: FxHashSet<String>,
    words: FxHashSet<String>,
    #[serde(default)]
    commands: Vec<String>,
}

impl Words {
    fn has(&self, word: &str) -> bool {
        self.programs.contains(word) || self.words.contains(word)
    }
}

static TABLE: LazyLock<Table> = LazyLock::new(|| table::rows(table::embedded!("check_words")));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_what_is_to_be_verified_are_known() {
        for heading in [
            "Verification",
            "Phase 4: Format & Verify",
            "7. Test Plan",
            "Manual testing:",
        ] {
            assert!(heads_verification(heading), "{heading}");
        }
        for heading in [
            "Email verification",
            "Verification of carts: the page",
            "Step 2: Carts",
        ] {
            assert!(!heads_verification(heading), "{heading}");
        }
        assert!(is_by_hand("Verification Checklist") && !is_by_hand("Verification"));
        assert!(approves("The file looks good.") && !approves("Let me look."));
    }

    #[test]
    fn samples_are_what_the_table_says() {
        for (command, wants) in &TABLE.samples {
            let names = [
                ("lint", CheckScope::LINT),
                ("types", CheckScope::TYPES),
                ("build", CheckScope::BUILD),
            ];
            let found = names.iter().filter(|(_, one)| scope(command).meets(*one));
            let found: Vec<&str> = found.map(|(name, _)| *name).collect();
            assert_eq!(found, *wants, "{command}");
        }
    }

    #[test]
    fn what_looks_at_more_covers_what_looks_at_less() {
        let (all, form, none) = (
            scope("npm run check"),
            scope("eslint ."),
            scope("shop check"),
        );
        assert!(all.covers(form) && !form.covers(all) && form.meets(all));
        assert!(!all.covers(none) && !all.meets(none) && none.is_none());
        assert!(is_checker("golangci-lint") && !is_checker("lint") && is_looker("git"));
        assert!(tells_to_check("tests") && !tells_to_check("review"));
    }
}

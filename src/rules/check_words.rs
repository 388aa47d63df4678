//! What commands look at that check a project, as a table (`check_words.yaml`). Knows words, not how a command ended.

use super::headings::is_step;
use super::sentence_cues::{SentenceCues, WrittenCues};
use super::table;
use super::words::sentences;
use rustc_hash::FxHashSet;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What a check looks at: form, types, whether it builds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckScope(u8);

impl CheckScope {
    const LINT: CheckScope = CheckScope(1);
    const TYPES: CheckScope = CheckScope(2);
    const BUILD: CheckScope = CheckScope(4);
    /// What it does, which is for tests.
    pub const TESTS: CheckScope = CheckScope(8);
    const FORMAT: CheckScope = CheckScope(16);

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
        self.meets(CheckScope::LINT.with(CheckScope::FORMAT))
    }

    /// Both look at something.
    pub fn meets(self, other: CheckScope) -> bool {
        self.0 & other.0 != 0
    }

    /// What both look at.
    pub fn with(self, other: CheckScope) -> CheckScope {
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

/// What a check finds wrong another one finds too: they name one tool that looks at how it is written, or the other one's
/// runs that too, or one of them names none.
pub fn may_find_the_same(failed: &str, other: &str) -> bool {
    let tools = |command| {
        let words = str::split(command, |c: char| !c.is_alphanumeric());
        let forms = [&TABLE.lint, &TABLE.format];
        let is_tool = |word: &&str| {
            *word != "lint" && forms.iter().any(|form| form.has(word)) || is_checker(word)
        };
        words.filter(is_tool).collect::<Vec<&str>>()
    };
    let (failed, other) = (tools(failed), tools(other));
    let runs = |tool: &str, other: &str| {
        let mut all = TABLE.runs_also.get(other).into_iter().flatten();
        tool == other || all.any(|also| also == tool)
    };
    let mut pairs = failed
        .iter()
        .flat_map(|tool| other.iter().map(move |other| (tool, other)));
    failed.is_empty() || other.is_empty() || pairs.any(|(tool, other)| runs(tool, other))
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

/// `Upload a cart`, `Check that it still works: open the page`: what it wants done that no check does, in small letters.
pub fn act(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    let confirms = TABLE
        .confirms
        .iter()
        .any(|word| text.starts_with(word.as_str()));
    let is_it = |act: &&String| match confirms {
        true => text.contains(&format!(" {act} ")),
        false => text
            .strip_prefix(act.as_str())
            .is_some_and(|rest| rest.starts_with(' ')),
    };
    TABLE.acts.iter().find(is_it).map(String::as_str)
}

/// Somebody read something again and has nothing against it.
pub fn approves(text: &str) -> bool {
    text.lines()
        .flat_map(sentences)
        .any(|sentence| SAID.approved.says(sentence))
}

/// The sentence says that nobody looked, or that nobody knows.
pub fn is_unseen(sentence: &str) -> bool {
    SAID.unseen.says(sentence)
}

/// The sentence is of a person who took a look.
pub fn is_tried(sentence: &str) -> bool {
    SAID.tried.says(sentence)
}

/// What has to run for a point of a plan to be answered; nothing where that is no matter of tests and checks.
pub fn asked_by(point: &str) -> CheckScope {
    let point = point.to_lowercase();
    let points = &TABLE.points;
    let kinds = [
        (&points.tests, CheckScope::TESTS),
        (&points.types, CheckScope::TYPES),
        (&points.lint, CheckScope::LINT),
        (&points.format, CheckScope::FORMAT),
        (&points.build, CheckScope::BUILD),
    ];
    let asks = |words: &[String]| words.iter().any(|word| point.contains(word.as_str()));
    let asked = kinds.iter().filter(|(words, _)| asks(words));
    asked.fold(CheckScope::default(), |all, (_, one)| all.with(*one))
}

/// Code of this language is commands.
pub fn is_commands(language: &str) -> bool {
    TABLE.fences.contains(language)
}

/// A heading over what nobody is to do now.
pub fn leaves_out(heading: &str) -> bool {
    let heading = heading.to_lowercase();
    let mut words = TABLE.left_out.iter();
    words.any(|word| heading.contains(word.as_str()))
}

/// A call shows a page or runs the program; in small letters.
pub fn shows_page(call: &str) -> bool {
    let mut words = TABLE.looked_calls.iter();
    words.any(|word| call.contains(word.as_str()))
}

/// A sentence speaks of a look; in small letters.
pub fn speaks_of_look(sentence: &str) -> bool {
    let mut words = TABLE.looked_words.iter();
    words.any(|word| sentence.contains(word.as_str()))
}

type Kind = fn(&Table) -> &Words;

const KINDS: [(Kind, CheckScope); 4] = [
    (|table| &table.lint, CheckScope::LINT),
    (|table| &table.format, CheckScope::FORMAT),
    (|table| &table.types, CheckScope::TYPES),
    (|table| &table.build, CheckScope::BUILD),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    lint: Words,
    format: Words,
    types: Words,
    build: Words,
    runs_also: BTreeMap<String, Vec<String>>,
    tasks: FxHashSet<String>,
    runners: FxHashSet<String>,
    told: FxHashSet<String>,
    lookers: FxHashSet<String>,
    headings: FxHashSet<String>,
    by_hand: FxHashSet<String>,
    looks: Vec<String>,
    shown: Vec<String>,
    acts: Vec<String>,
    confirms: Vec<String>,
    approved: WrittenCues,
    unseen: WrittenCues,
    tried: WrittenCues,
    points: Points,
    fences: FxHashSet<String>,
    left_out: Vec<String>,
    looked_calls: Vec<String>,
    looked_words: Vec<String>,
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Points {
    tests: Vec<String>,
    types: Vec<String>,
    lint: Vec<String>,
    format: Vec<String>,
    build: Vec<String>,
}

impl Words {
    fn has(&self, word: &str) -> bool {
        self.programs.contains(word) || self.words.contains(word)
    }
}

static TABLE: LazyLock<Table> = LazyLock::new(|| table::rows(table::embedded!("check_words")));

/// What sentences say of looks.
struct Said {
    approved: SentenceCues,
    unseen: SentenceCues,
    tried: SentenceCues,
}

static SAID: LazyLock<Said> = LazyLock::new(|| Said {
    approved: TABLE.approved.clone().into(),
    unseen: TABLE.unseen.clone().into(),
    tried: TABLE.tried.clone().into(),
});

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
        assert!(approves("I read it.\nThe file looks good.") && !approves("Let me look."));
        assert!(leaves_out("Not in this change") && !leaves_out("Carts"));
    }

    #[test]
    fn what_sentences_say_of_looks_is_known() {
        TABLE.approved.samples.hold(|said| SAID.approved.says(said));
        TABLE.unseen.samples.hold(is_unseen);
        TABLE.tried.samples.hold(is_tried);
    }

    #[test]
    fn some_points_want_more_than_a_check() {
        for (point, wants) in [
            ("Upload `carts.json`, its rows stand below", Some("upload")),
            ("Cut a test release and see the files", Some("cut a")),
            (
                "Verify that tools still work: trigger a sale, see its total",
                Some("trigger"),
            ),
            ("Verify the fallback", None),
            ("Pushed rows stand below", None),
            ("Add a test of the upload", None),
        ] {
            assert_eq!(act(point), wants, "{point}");
        }
    }

    #[test]
    fn points_of_tests_and_checks_are_known() {
        for (point, wants) in [
            ("All existing tests pass", CheckScope::TESTS),
            ("No TypeScript errors", CheckScope::TYPES),
            ("Run the linter", CheckScope::LINT),
            ("Build the project", CheckScope::BUILD),
            ("Manual testing: open a cart", CheckScope::default()),
        ] {
            assert_eq!(asked_by(point), wants, "{point}");
        }
    }

    #[test]
    fn samples_are_what_the_table_says() {
        for (command, wants) in &TABLE.samples {
            let names = [
                ("lint", CheckScope::LINT),
                ("format", CheckScope::FORMAT),
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
        for (one, other, wants) in [
            ("npx eslint src", "npx eslint src/a.ts", true),
            ("mise run lint", "golangci-lint run", true),
            ("cargo clippy", "cargo build", true),
            ("cargo clippy", "cargo fmt --check", false),
            ("go vet ./...", "golangci-lint run", true),
            ("golangci-lint run", "go vet ./...", false),
            ("npx tsc", "npx eslint .", false),
        ] {
            assert_eq!(may_find_the_same(one, other), wants, "{one}, {other}");
        }
        assert!(is_checker("golangci-lint") && !is_checker("lint") && is_looker("git"));
        assert!(tells_to_check("tests") && !tells_to_check("review"));
    }
}

//! Commands that fail: how often, what came then, and what worked instead.

use super::calls::{IDLE, typed};
use super::rate::Rate;
use crate::insight::facts::LocatedItem;
use crate::insight::summary::short;
use crate::model::classification::Intent;
use crate::model::finding::Finding;
use crate::model::shell;
use crate::rules::commands::{self, is_setting};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Failures of which fewer say nothing about a command.
const FAILURES_FEW: u64 = 2;
/// A command that fails less often just fails now and then.
const FAILURES_SHARE_MIN: f64 = 0.2;
/// Times after which another command that worked is no chance.
const WORKED_FEW: u64 = 2;
/// A command is recognised by its beginning.
const COMMAND_CHARS_MAX: usize = 100;

/// A command that often fails, and what came then.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Failing {
    /// As it was given the last time, without what stood around it.
    pub command: String,
    /// Failures, of its runs.
    pub failed: Rate,
    /// Failures after which another command did it, nothing having been changed between. This and the next four
    /// make up all failures.
    pub otherwise: u64,
    /// Of these by `instead`.
    pub by_instead: u64,
    /// Failures after which it worked, something having been changed between.
    pub mended: u64,
    /// Failures after which it worked as it was, without a change.
    pub passed: u64,
    /// Failures after which it failed again.
    pub again: u64,
    /// Failures after which the session didn't try it again.
    pub left: u64,
    /// Another way to say it, which worked then, nothing having been changed between.
    pub instead: Option<Variant>,
}

/// What worked where a command had failed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Variant {
    /// The command.
    pub command: String,
    /// Times that it worked.
    pub worked: u64,
    /// In so many sessions.
    pub sessions: u64,
}

/// Counts of all commands.
#[derive(Debug, Default)]
pub(super) struct Commands(BTreeMap<u32, Command>);

#[derive(Debug, Default)]
struct Command {
    called: Vec<String>,
    /// By what runs it: a wrapper may be what fails.
    by_program: BTreeMap<String, Runs>,
    failed: u64,
    variants: BTreeMap<String, Tried>,
}

/// Runs of a command by one program, and what came of those that failed.
#[derive(Clone, Debug, Default)]
struct Runs {
    all: u64,
    failed: u64,
    mended: u64,
    passed: u64,
    again: u64,
    left: u64,
    /// By the command that worked then.
    otherwise: BTreeMap<String, u64>,
}

#[derive(Debug, Default)]
struct Tried {
    worked: u64,
    failed: u64,
    sessions: BTreeSet<String>,
}

/// A command that failed and didn't work yet.
struct Open {
    words: Vec<String>,
    /// Something was changed since.
    changed: bool,
    /// It said which tests failed: no other way to run them changes that.
    is_red: bool,
    /// What else worked, nothing having been changed since.
    answer: Option<String>,
}

/// One run.
struct Run {
    key: u32,
    failed: bool,
    is_red: bool,
    words: Vec<String>,
}

impl Commands {
    /// Adds those of a session.
    pub fn add(&mut self, session: &str, lines: &[LocatedItem<'_>]) {
        let mut open: BTreeMap<u32, Open> = BTreeMap::new();
        for line in lines {
            if let Some(run) = Run::of(line) {
                self.add_run(session, run, &mut open);
            }
            let changes = |finding: &Finding| matches!(finding, Finding::Changed { .. });
            if line.item.findings.iter().any(changes) {
                open.values_mut().for_each(|open| open.changed = true);
            }
        }
        for (key, open) in open {
            let runs = self.0.entry(key).or_default().runs_by(&open.words);
            runs.settle(open.answer, |runs| &mut runs.left);
        }
    }

    fn add_run(&mut self, session: &str, run: Run, open: &mut BTreeMap<u32, Open>) {
        self.add_variant(session, &run, open);
        let command = self.0.entry(run.key).or_default();
        let runs = command.runs_by(&run.words);
        runs.all += 1;
        runs.failed += u64::from(run.failed);
        command.failed += u64::from(run.failed);
        if let Some(open) = open.remove(&run.key) {
            let changed = open.changed;
            let runs = command.runs_by(&open.words);
            runs.settle(open.answer, |runs| match (run.failed, changed) {
                (true, _) => &mut runs.again,
                (false, true) => &mut runs.mended,
                (false, false) => &mut runs.passed,
            });
        }
        if run.failed {
            command.called.clone_from(&run.words);
            open.insert(
                run.key,
                Open {
                    words: run.words,
                    changed: false,
                    is_red: run.is_red,
                    answer: None,
                },
            );
        }
    }

    /// Says of the commands that failed that this was another way to run them.
    fn add_variant(&mut self, session: &str, run: &Run, open: &mut BTreeMap<u32, Open>) {
        for (key, failed) in open.iter_mut().filter(|(_, open)| !open.changed) {
            if failed.is_red || !is_variant(&failed.words, &run.words) {
                continue;
            }
            if !run.failed {
                failed.answer.get_or_insert_with(|| shown(&run.words));
            }
            let command = self.0.entry(*key).or_default();
            let tried = command.variants.entry(shown(&run.words)).or_default();
            match run.failed {
                true => tried.failed += 1,
                false => {
                    tried.worked += 1;
                    tried.sessions.insert(session.to_owned());
                }
            }
        }
    }

    /// The most telling first: those of which it is known what works, then those that fail most often.
    pub fn failing(&self, lines_max: usize) -> Vec<Failing> {
        let often = self.0.values().filter(|c| c.failed >= FAILURES_FEW);
        let mut all: Vec<Failing> = often.filter_map(Command::told).collect();
        all.sort_by(|a, b| {
            let rank = |one: &Failing| (one.instead.is_some(), one.failed.hits);
            rank(b)
                .cmp(&rank(a))
                .then_with(|| a.command.cmp(&b.command))
        });
        all.truncate(lines_max);
        all
    }

    /// How a command was given, and what works instead.
    pub fn named(&self, key: u32) -> Option<(String, Option<Variant>)> {
        let command = self.0.get(&key)?;
        let is_known = !command.called.is_empty();
        is_known.then(|| (shown(&command.called), command.instead()))
    }
}

impl Run {
    fn of(line: &LocatedItem<'_>) -> Option<Run> {
        let found = line.item.findings.iter();
        let (key, failed) = found.clone().find_map(|finding| match finding {
            Finding::Failed { key } => Some((*key, true)),
            Finding::Worked { key } => Some((*key, false)),
            _ => None,
        })?;
        let is_red = |finding: &Finding| matches!(finding, Finding::Tests(run) if run.failed > 0);
        Some(Run {
            key,
            failed,
            is_red: found.clone().any(is_red),
            words: commands::standing(typed(line)),
        })
    }
}

impl Command {
    fn runs_by(&mut self, words: &[String]) -> &mut Runs {
        self.by_program.entry(program(words)).or_default()
    }

    fn own_runs(&self) -> Runs {
        let own = self.by_program.get(&program(&self.called));
        own.cloned().unwrap_or_default()
    }

    /// `None`: it says nothing.
    fn told(&self) -> Option<Failing> {
        let (runs, instead) = (self.own_runs(), self.instead());
        let failed = Rate::new(runs.failed, runs.all);
        let is_often = failed.rate >= FAILURES_SHARE_MIN && !only_looks(&self.called);
        let says = instead.is_some() || is_often && !is_code(&self.called);
        let says = says && runs.failed >= FAILURES_FEW && !self.called.is_empty();
        let by = |command: &String| runs.otherwise.get(command).copied();
        says.then(|| Failing {
            command: shown(&self.called),
            failed,
            otherwise: runs.otherwise.values().sum(),
            by_instead: instead
                .as_ref()
                .and_then(|one| by(&one.command))
                .unwrap_or(0),
            mended: runs.mended,
            passed: runs.passed,
            again: runs.again,
            left: runs.left,
            instead,
        })
    }

    /// The one that worked most often, more often than it failed, and than the command itself worked when it was
    /// repeated.
    fn instead(&self) -> Option<Variant> {
        let passed = self.own_runs().passed;
        let works = |tried: &Tried| {
            tried.worked >= WORKED_FEW.max(passed + 1) && tried.worked > tried.failed
        };
        let works = self.variants.iter().filter(|(_, tried)| works(tried));
        let best = works.max_by_key(|(_, tried)| (tried.sessions.len(), tried.worked));
        best.map(|(command, tried)| Variant {
            command: command.clone(),
            worked: tried.worked,
            sessions: tried.sessions.len() as u64,
        })
    }
}

impl Runs {
    /// A failure came to an end: by another command, or in one of the other ways.
    fn settle(&mut self, answer: Option<String>, or: impl FnOnce(&mut Runs) -> &mut u64) {
        match answer {
            Some(command) => *self.otherwise.entry(command).or_default() += 1,
            None => *or(self) += 1,
        }
    }
}

/// `bun` of `CI=1 bun run test`, `rtk` of `rtk bun run test`.
fn program(words: &[String]) -> String {
    let mut words = words.iter().filter(|word| !is_setting(word));
    words.next().cloned().unwrap_or_default()
}

pub(super) fn shown(words: &[String]) -> String {
    let words: Vec<String> = words
        .iter()
        .map(|word| match word.contains(char::is_whitespace) {
            true => shell::word(&word.split_whitespace().collect::<Vec<_>>().join(" ")),
            false => word.clone(),
        })
        .collect();
    short(&words.join(" "), COMMAND_CHARS_MAX)
}

/// It reads or searches, or does nothing: that a file isn't there is no news.
pub(super) fn only_looks(words: &[String]) -> bool {
    let class = class(words);
    let intent = commands::of_count(&class).intent;
    words.is_empty()
        || matches!(intent, Intent::Read | Intent::Search)
        || IDLE.contains(&class.as_str())
}

/// Code that is handed to a program, and differs each time.
fn is_code(words: &[String]) -> bool {
    const NAMES: [&str; 5] = ["const", "let", "var", "await", "import"];
    let first = words.first().map_or("", String::as_str);
    NAMES.contains(&first) || first.contains(['(', '{'])
}

fn class(words: &[String]) -> String {
    commands::counted_as(&shown(words))
}

/// Another way to run the same: with a setting or an option more, with or without what runs it, or by another
/// program. A run of other tests is another thing, and so is another argument.
fn is_variant(failed: &[String], worked: &[String]) -> bool {
    if failed.is_empty() || worked.is_empty() || failed == worked {
        return false;
    }
    let (failed_set, failed) = without_settings(failed);
    let (worked_set, worked) = without_settings(worked);
    if failed == worked {
        return failed_set != worked_set;
    }
    let names_work = |words: &[String]| words.iter().any(|word| !word.starts_with('-'));
    let is_wrapped = failed.ends_with(worked) || worked.ends_with(failed);
    if is_wrapped && names_work(failed) && names_work(worked) {
        return true;
    }
    if failed[0] != worked[0] {
        let rest = (&failed[1..], &worked[1..]);
        return rest.0 == rest.1 && names_work(rest.0);
    }
    // fewer or other tests pass where all failed
    let is_check = commands::of_count(&class(failed)).intent == Intent::Validate;
    let more = added(failed, worked);
    more.is_some_and(|more| !is_check || more.iter().all(|word| is_setting(word)))
}

fn without_settings(words: &[String]) -> (&[String], &[String]) {
    let at = words.iter().position(|word| !is_setting(word));
    words.split_at(at.unwrap_or(words.len()).min(words.len() - 1))
}

/// The words that the longer one has besides, in which all of the shorter one's stand in order; `None`: it lacks
/// one, or the program's name comes later.
fn added<'w>(shorter: &[String], longer: &'w [String]) -> Option<Vec<&'w String>> {
    let mut wanted = shorter.iter().peekable();
    let mut more = Vec::new();
    for word in longer {
        match wanted.peek() {
            Some(next) if *next == word => _ = wanted.next(),
            _ => more.push(word),
        }
    }
    wanted.next().is_none().then_some(more)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::exchange::ItemKind;
    use crate::model::finding::TestCounts;

    fn words(line: &str) -> Vec<String> {
        commands::standing(line)
    }

    #[test]
    fn variants_run_the_same() {
        for (failed, worked, wants) in [
            ("make deploy", "make deploy FORCE=1", true),
            ("make deploy", "FORCE=1 make deploy", true),
            ("make deploy", "make test", false),
            ("rtk bun run lint", "bun run lint", true),
            ("tsc --noEmit", "npx tsc --noEmit", true),
            ("python tool.py", "python3 tool.py", true),
            ("git push", "git push -u origin main", true),
            ("git push origin a", "git push origin b", false),
            ("pytest", "pytest tests/test_cart.py", false),
            ("cargo test", "cargo test --lib", false),
            ("cargo test", "CI=1 cargo test", true),
            ("npm run build", "npm run build", false),
        ] {
            assert_eq!(
                is_variant(&words(failed), &words(worked)),
                wants,
                "{failed} / {worked}"
            );
        }
    }

    /// Runs of one session: a command and whether it worked; a line without one changes a file.
    fn session(all: &mut Commands, id: &str, runs: &[(&str, Option<bool>)]) {
        let digests: Vec<(String, Vec<Finding>)> = runs
            .iter()
            .map(|(line, works)| {
                let key = commands::counted(line).key;
                let finding = match works {
                    Some(true) => Finding::Worked { key },
                    Some(false) => Finding::Failed { key },
                    None => Finding::Changed {
                        path: (*line).to_owned(),
                        added: 1,
                        removed: 0,
                    },
                };
                (format!("Action: Bash({line}) → x"), vec![finding])
            })
            .collect();
        let lines = digests.iter().zip(1..);
        let lines =
            lines.map(|((text, found), n)| LocatedItem::sample(ItemKind::Digest, n, text, found));
        all.add(id, &lines.collect::<Vec<_>>());
    }

    #[test]
    fn the_variant_that_works_is_named() {
        let mut all = Commands::default();
        for id in ["a", "b", "c"] {
            let runs = [
                ("make deploy", Some(false)),
                ("cd ops && make deploy FORCE=1", Some(true)),
            ];
            session(&mut all, id, &runs);
        }
        let found = all.failing(9);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].command, "make deploy");
        assert_eq!((found[0].failed.hits, found[0].left), (3, 0));
        let instead = found[0].instead.as_ref().expect("a variant");
        assert_eq!(instead.command, "make deploy FORCE=1");
        assert_eq!((instead.worked, instead.sessions), (3, 3));
    }

    #[test]
    fn what_runs_a_command_may_be_what_fails() {
        let mut all = Commands::default();
        for id in ["a", "b"] {
            let runs = [
                ("rtk bun run lint", Some(false)),
                ("bun run lint", Some(true)),
            ];
            session(&mut all, id, &runs);
        }
        let found = all.failing(9);
        let instead = found[0].instead.as_ref().map(|one| one.command.as_str());
        assert_eq!((instead, found[0].passed), (Some("bun run lint"), 0));
    }

    #[test]
    fn what_works_after_a_change_is_no_variant() {
        let mut all = Commands::default();
        for id in ["a", "b", "c"] {
            let runs = [
                ("make deploy", Some(false)),
                ("Makefile", None),
                ("make deploy FORCE=1", Some(true)),
            ];
            session(&mut all, id, &runs);
        }
        assert_eq!(all.failing(9)[0].instead, None);
    }

    #[test]
    fn red_tests_and_what_says_nothing_have_no_variant() {
        let mut all = Commands::default();
        let red = [
            Finding::Failed { key: 1 },
            Finding::Tests(TestCounts {
                failed: 2,
                ..TestCounts::default()
            }),
        ];
        let green = [Finding::Worked { key: 2 }];
        let lines = [
            LocatedItem::sample(ItemKind::Digest, 1, "Action: Bash(npm test) → x", &red),
            LocatedItem::sample(
                ItemKind::Digest,
                2,
                "Action: Bash(CI=1 npm test) → x",
                &green,
            ),
        ];
        for id in ["a", "b"] {
            all.add(id, &lines);
            session(&mut all, id, &[("", Some(false)), ("ls src", Some(false))]);
            let code = "const r = await run({})";
            session(
                &mut all,
                id,
                &[(code, Some(false)), ("echo x", Some(false))],
            );
        }
        let found = all.failing(9);
        let told: Vec<&str> = found.iter().map(|one| one.command.as_str()).collect();
        assert_eq!(told, ["npm test"]);
        assert_eq!(found[0].instead, None);
    }

    #[test]
    fn what_runs_a_command_has_a_rate_of_its_own() {
        let mut all = Commands::default();
        let failed = [Finding::Failed { key: 1 }];
        let worked = [Finding::Worked { key: 1 }];
        let sample = |text, findings| LocatedItem::sample(ItemKind::Digest, 1, text, findings);
        let lines = [
            sample("Action: Bash(rtk bun run test) → x", &failed),
            sample("Action: Bash(bun run test) → ok", &worked),
        ];
        for id in ["a", "b", "c"] {
            all.add(id, &lines);
        }
        let found = all.failing(9);
        assert_eq!(found[0].command, "rtk bun run test");
        assert_eq!((found[0].failed.hits, found[0].failed.rate), (3, 1.0));
    }

    #[test]
    fn what_came_of_failures_adds_up_to_them() {
        let mut all = Commands::default();
        // by `rtk` it fails, by itself now and then: they are no failures of `rtk`
        let runs = [
            ("bun run test", Some(false)),
            ("bun run test", Some(true)),
            ("rtk bun run test", Some(false)),
            ("bun run test", Some(true)),
            ("rtk bun run test", Some(false)),
            ("rtk bun run test", Some(false)),
            ("bun run test -q", Some(true)),
            ("bun run test", Some(true)),
            ("rtk bun run test", Some(false)),
            ("a.ts", None),
            ("rtk bun run test", Some(true)),
            ("rtk bun run test", Some(false)),
        ];
        for id in ["a", "b"] {
            session(&mut all, id, &runs);
        }
        session(
            &mut all,
            "c",
            &[("mise x -- go vet", Some(false)), ("go vet", Some(false))],
        );
        let found = all.failing(9);
        let told: Vec<&str> = found.iter().map(|one| one.command.as_str()).collect();
        assert_eq!(told, ["rtk bun run test"], "others failed once");
        for one in &found {
            let ends = one.otherwise + one.mended + one.passed + one.again + one.left;
            assert_eq!(one.failed.hits, ends, "{one:?}");
        }
        let rtk = &found[0];
        assert_eq!((rtk.failed.hits, rtk.failed.of, rtk.otherwise), (10, 12, 2));
        assert_eq!((rtk.mended, rtk.passed, rtk.again, rtk.left), (2, 2, 2, 2));
    }
}

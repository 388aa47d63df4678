//! What builds, linters, type checkers and the like said of a session's work: of each the last run of which the log
//! tells how it ended. What only its own output could tell, and nobody sees, is left out.

use super::later_checks::{Overlap, is_superseded, says_ci_passed};
use super::line::LocatedItem;
use super::ran::{RUNNING, RanCommand, call, is_hook};
use super::unseen_runs;
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::model::summary::{CheckRun, Sourced};
use crate::rules::commands::{
    CheckEnd, CommandCheck, bare, checks as checks_of, is_absent, is_ci_open, is_clean, is_written,
    only_lists, watches_ci,
};
use crate::rules::paths::is_throwaway;
use crate::rules::test_words::checks_pass;

/// Commands of one session that are listed, the last ones.
const CHECKS_MAX: usize = 6;

/// Of what a command said more is no word on how it ended.
const SAID_CHARS_MAX: usize = 60;

/// The last run of each command, in the order in which these stood in the log.
pub fn checks(lines: &[LocatedItem<'_>]) -> Vec<Sourced<CheckRun>> {
    let mut all: Vec<Seen> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let begun = || RanCommand::begun(line).filter(|call| call.command.contains("gh "));
        let call = RanCommand::of(line).or_else(begun);
        let Some(call) = call else { continue };
        for check in checks_of(call.command) {
            if check.words.last().is_some_and(|word| is_throwaway(word)) {
                continue;
            }
            let words = bare(&check.words);
            let is_ci = watches_ci(words);
            let state = match is_ci {
                true if line.item.text.ends_with(RUNNING) => None,
                true => call.ci_state(&check),
                false => call.state(&check),
            };
            let key = key(words);
            let known = all.iter().position(|seen| seen.key == key);
            let known = known.map(|known| all.remove(known));
            let failed = known.is_some_and(|seen| seen.failed || seen.passed == Some(false));
            all.push(Seen {
                key,
                at,
                passed: state,
                failed,
                is_ci,
                run: line.source(CheckRun {
                    command: shown(words),
                    said: state.and_then(|_| call.said(&check)),
                    ..CheckRun::default()
                }),
            });
        }
    }
    let last = |is_it: &dyn Fn(&LocatedItem<'_>) -> bool| lines.iter().rposition(is_it);
    let changed = last(&|line| changes(line, is_code)).unwrap_or(0);
    let changed_texts = last(&|line| changes(line, |_| true)).unwrap_or(0);
    // a commit's hook checked what was committed
    let hooked = last(&is_checked_commit).unwrap_or(0);
    let told = all.into_iter().filter_map(|seen| {
        let mut run = seen.run;
        let later = &lines[seen.at + 1..];
        let said = || match seen.is_ci {
            true => says_ci_passed(later),
            false => unseen_runs::says_passed(later, &run.what.command).is_some(),
        };
        run.what.by_agent = seen.passed.is_none() && said();
        run.what.passed = seen.passed.unwrap_or(run.what.by_agent);
        let is_open = || is_superseded(&run.what.command, later, Overlap::All);
        // nobody knows how it ended, or whether it still fails
        let is_unknown = seen.passed.is_none() || is_open();
        if !run.what.passed && is_unknown {
            return None;
        }
        run.what.failed_before = seen.failed;
        let changed = match reads_texts(&run.what.command) {
            true => changed_texts,
            false => changed,
        };
        run.what.changed_after = changed > seen.at && (hooked < changed || !run.what.passed);
        Some(run)
    });
    let mut told: Vec<_> = told.collect();
    if told.is_empty() && lines.iter().any(|line| changes(line, |_| true)) {
        told.extend(said_to_pass(lines, changed));
    }
    let first = told.len().saturating_sub(CHECKS_MAX);
    told.into_iter().skip(first).collect()
}

/// That a build or a check failed when it ran last and nothing was changed since, where no other one of its program passed.
/// Or that one failed and nothing shows that what was changed then helped: no check and no test passed behind it.
pub fn failing(checks: &[Sourced<CheckRun>], lines: &[LocatedItem<'_>]) -> Option<Sourced<String>> {
    let program = |run: &CheckRun| run.command.split(' ').next().map(str::to_owned);
    let failing = checks.iter().rev().find(|check| {
        let run = &check.what;
        let passed =
            |other: &&Sourced<CheckRun>| other.what.passed && program(&other.what) == program(run);
        if run.passed || checks.iter().any(|other| passed(&other)) {
            return false;
        }
        let later = later(check, lines);
        let is_open = |later| !is_superseded(&run.command, later, Overlap::Some);
        later.is_some_and(|later| {
            is_open(later) && (!run.changed_after || is_last_word(checks, later))
        })
    })?;
    let lead = match failing.what.changed_after {
        true => NOT_AGAIN,
        false => FAILING,
    };
    Some(Sourced {
        what: format!("{lead}{}", failing.what.command),
        episode: failing.episode,
        line: failing.line,
    })
}

const FAILING: &str = "Failed when it ran last: ";
const NOT_AGAIN: &str = "Failed, and not run again after the last change: ";

/// What stands behind a check.
fn later<'l, 't>(
    check: &Sourced<CheckRun>,
    lines: &'l [LocatedItem<'t>],
) -> Option<&'l [LocatedItem<'t>]> {
    let is_it = |line: &LocatedItem<'_>| (line.episode, line.line) == (check.episode, check.line);
    Some(&lines[lines.iter().position(is_it)? + 1..])
}

/// Nothing was checked or tested in what stands behind a check, and nobody says that it passed.
fn is_last_word(checks: &[Sourced<CheckRun>], later: &[LocatedItem<'_>]) -> bool {
    let stands = |other: &Sourced<CheckRun>| {
        let mut later = later.iter();
        later.any(|line| (line.episode, line.line) == (other.episode, other.line))
    };
    let is_test = |finding: &Finding| matches!(finding, Finding::Tests(_));
    let tells = |line: &LocatedItem<'_>| {
        let is_said = line.main && line.item.kind == ItemKind::Agent;
        is_said && checks_pass(line.words()).is_some() || line.item.findings.iter().any(is_test)
    };
    !checks.iter().any(stands) && !later.iter().any(tells)
}

/// The agent's last words that checks passed, where no call of the log shows one: another agent ran them.
fn said_to_pass(lines: &[LocatedItem<'_>], changed: usize) -> Option<Sourced<CheckRun>> {
    const WORDS_MAX: usize = 24;
    let words = lines.iter().enumerate().rev();
    let words = words.filter(|(_, line)| line.main && line.item.kind == ItemKind::Agent);
    let mut said = words
        .take(WORDS_MAX)
        .filter_map(|(at, line)| Some((at, line, checks_pass(line.words())?)));
    let (at, line, said) = said.next()?;
    Some(line.source(CheckRun {
        passed: true,
        said: Some(said.to_owned()),
        by_agent: true,
        changed_after: changed > at,
        ..CheckRun::default()
    }))
}

/// A command with what is known of its runs.
struct Seen {
    key: Vec<String>,
    at: usize,
    /// How the last run ended, where anybody knows.
    passed: Option<bool>,
    /// One before it failed.
    failed: bool,
    /// It tells of checks that run elsewhere.
    is_ci: bool,
    run: Sourced<CheckRun>,
}

impl RanCommand<'_> {
    /// Nothing was wrong; `None` where nobody knows.
    fn state(&self, check: &CommandCheck) -> Option<bool> {
        let is_cut = self.command.ends_with('…') || self.command.contains("<<");
        let is_absent = self.failed && is_absent(self.output);
        match check.end {
            _ if is_cut || is_absent => None,
            // a paper with an error in it is made, though its exit code is 1
            _ if self.failed && is_written(self.output) => Some(true),
            CheckEnd::Own if self.failed => Some(false),
            CheckEnd::Own if only_lists(&check.words) => Some(self.is_silent()),
            CheckEnd::Own => Some(true),
            CheckEnd::First if self.failed || only_lists(&check.words) => None,
            CheckEnd::First => Some(true),
            CheckEnd::Output if self.failed => None,
            CheckEnd::Output => is_clean(self.output).or_else(|| self.is_shown().then_some(true)),
        }
    }

    /// The same of a command that waits for checks elsewhere.
    fn ci_state(&self, check: &CommandCheck) -> Option<bool> {
        let says = |flag: &str| check.words.iter().any(|word| word == flag);
        // without it `gh run watch` ends with 0 whatever it saw
        let is_told = says("checks") || says("--exit-status");
        let is_known = is_told && !is_ci_open(self.output) && !self.command.ends_with('…');
        match check.end {
            CheckEnd::Own if is_known => Some(!self.failed),
            CheckEnd::First if is_known && !self.failed => Some(true),
            _ => None,
        }
    }

    /// The output stands there, and no word of trouble in it.
    fn is_shown(&self) -> bool {
        let is_size = self.output.ends_with(" KB") || self.output.ends_with(" bytes");
        !is_size && is_clean(self.output).is_none() && !is_absent(self.output)
    }

    /// What the line printed, where that is of this command.
    fn said(&self, check: &CommandCheck) -> Option<String> {
        let said = self.output.trim().trim_end_matches('.');
        let said = said.strip_prefix("failed: ").unwrap_or(said);
        let is_short = !said.is_empty() && said.chars().count() <= SAID_CHARS_MAX;
        let is_own = check.end != CheckEnd::First && is_clean(said) == Some(true);
        (is_short && is_own && !self.is_silent()).then(|| said.to_owned())
    }
}

/// A command without where its output goes.
fn shown(words: &[String]) -> String {
    let mut words = words.iter();
    let mut shown: Vec<&str> = Vec::new();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-o" | "--output" => _ = words.next(),
            word => shown.push(word),
        }
    }
    shown.join(" ")
}

/// What makes two commands runs of the same: the words that are no options, paths or numbers.
fn key(words: &[String]) -> Vec<String> {
    const WORDS_MAX: usize = 4;
    let is_name =
        |word: &&String| !word.starts_with('-') && !word.contains(['/', '\\', '.', '=', '*']);
    words
        .iter()
        .filter(is_name)
        .take(WORDS_MAX)
        .cloned()
        .collect()
}

fn changes(line: &LocatedItem<'_>, counts: impl Fn(&str) -> bool) -> bool {
    let mut findings = line.item.findings.iter();
    findings.any(|finding| match finding {
        Finding::Changed { path, .. } => counts(path) && !is_throwaway(path),
        _ => false,
    })
}

/// Not a text for people: most checks don't read those.
fn is_code(path: &str) -> bool {
    const TEXTS: [&str; 5] = [".md", ".mdx", ".rst", ".adoc", "LICENSE"];
    !TEXTS.iter().any(|end| path.ends_with(end))
}

/// A check of texts for people.
fn reads_texts(command: &str) -> bool {
    const NAMES: [&str; 9] = [
        "md", "mdx", "markdown", "vale", "doc", "docs", "prettier", "spell", "cspell",
    ];
    let mut words = command.split(|c: char| !c.is_alphabetic());
    words.any(|word| NAMES.contains(&word)) || command.contains("markdown")
}

/// A commit was made whose hook ran tests, and they passed.
fn is_checked_commit(line: &LocatedItem<'_>) -> bool {
    let findings = line.item.findings;
    let is_commit = |finding: &Finding| matches!(finding, Finding::Commit { .. });
    let passed = |finding: &Finding| matches!(finding, Finding::Tests(run) if run.failed == 0);
    findings.iter().any(is_commit) && findings.iter().any(passed) && call(line).is_some_and(is_hook)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OK: [Finding; 1] = [Finding::Worked { key: 1 }];
    const FAILED: [Finding; 1] = [Finding::Failed { key: 1 }];

    fn told(calls: &[(&str, &[Finding])]) -> Vec<String> {
        let lines = calls.iter().zip(1..).map(|((text, findings), line)| {
            LocatedItem::sample(ItemKind::Digest, line, text, findings)
        });
        let runs = checks(&lines.collect::<Vec<_>>()).into_iter();
        let told = runs.map(|run| {
            let CheckRun {
                command,
                passed,
                said,
                failed_before,
                changed_after,
                by_agent,
            } = run.what;
            let marks = [
                (failed_before, " before"),
                (changed_after, " after"),
                (by_agent, " by agent"),
            ];
            let marks: String = marks
                .iter()
                .filter(|(is, _)| *is)
                .map(|(_, mark)| *mark)
                .collect();
            format!("{command} {passed}{marks} {}", said.unwrap_or_default())
        });
        told.collect()
    }

    #[test]
    fn the_last_run_of_each_check_is_told() {
        let edit = [Finding::Changed {
            path: "/p/a.rs".into(),
            added: 1,
            removed: 0,
        }];
        let lint = "Action: Bash(cd x && golangci-lint run 2>&1 | tail -3) → 0 issues.";
        let calls = [
            (
                "Action: Bash(tsc --noEmit) → exit 2: a.ts(3): error",
                &FAILED[..],
            ),
            ("Action: Edit(a.rs) → +1 −0", &edit[..]),
            ("Action: Bash(tsc --noEmit) → ok, no output", &OK[..]),
            (
                "Action: Bash(go build ./... && go test ./... | tail -2) → passed 2/2 packages",
                &OK[..],
            ),
            (lint, &OK[..]),
        ];
        let wants = [
            "tsc --noEmit true before ",
            "go build ./... true ",
            "golangci-lint run true 0 issues",
        ];
        assert_eq!(told(&calls), wants);
        let later = [calls[3], calls[1]];
        assert_eq!(told(&later), ["go build ./... true after "]);
    }

    #[test]
    fn a_paper_is_made_though_it_has_an_error() {
        let made = "Action: Bash(cd paper && pdflatex -interaction=nonstopmode shop.tex) → failed: Output written on shop.pdf (25 pages, 4275 bytes).";
        let wants = "pdflatex -interaction=nonstopmode shop.tex true Output written on shop.pdf (25 pages, 4275 bytes)";
        assert_eq!(told(&[(made, &FAILED)]), [wants]);
        let none = "Action: Bash(pdflatex shop.tex) → failed: Undefined control sequence.";
        assert_eq!(
            told(&[(made, &FAILED), (none, &FAILED)]),
            ["pdflatex shop.tex false "]
        );
    }

    #[test]
    fn a_document_or_a_commit_whose_hook_ran_makes_no_check_old() {
        let edit = |path: &str| {
            [Finding::Changed {
                path: path.into(),
                added: 1,
                removed: 0,
            }]
        };
        let (code, text) = (edit("/p/a.ts"), edit("/p/CHANGES.md"));
        let lint = ("Action: Bash(npm run lint) → ok, no output", &OK[..]);
        let docs = ("Action: Bash(npm run lint:md) → ok, no output", &OK[..]);
        let later = ("Action: Edit(CHANGES.md) → +1 −0", &text[..]);
        assert_eq!(told(&[lint, later]), ["npm run lint true "]);
        assert_eq!(told(&[docs, later]), ["npm run lint:md true after "]);
        let committed = [
            Finding::Commit {
                hash: "1a2b3c4".into(),
                subject: "Add it".into(),
                again: false,
                size: None,
            },
            Finding::Tests(crate::model::finding::TestCounts {
                passed: 9,
                ..Default::default()
            }),
        ];
        let edited = ("Action: Edit(a.ts) → +1 −0", &code[..]);
        let hook = (
            "Action: Bash(git add -A && git commit -m x) → passed 9/9",
            &committed[..],
        );
        assert_eq!(told(&[lint, edited]), ["npm run lint true after "]);
        assert_eq!(told(&[lint, edited, hook]), ["npm run lint true "]);
        assert_eq!(
            told(&[lint, edited, hook, edited]),
            ["npm run lint true after "]
        );
    }

    #[test]
    fn what_the_agent_says_of_a_check_counts_where_nobody_saw_its_end() {
        let ran = "Action: Bash(just check 2>&1 | tail -30) → 31 lines, 2 KB";
        let said = "Agent: All of it is in. `just check` (format, build) is green.";
        let of = |words: &str| {
            let ran = LocatedItem::sample(ItemKind::Digest, 1, ran, &OK);
            let said = LocatedItem::sample(ItemKind::Agent, 2, words, &[]);
            let runs = checks(&[ran, said]).into_iter();
            let told = runs.map(|run| (run.what.command, run.what.passed, run.what.by_agent));
            told.collect::<Vec<_>>()
        };
        assert_eq!(of(said), [("just check".to_owned(), true, true)]);
        assert_eq!(of("Agent: `just check` should be green now."), []);
    }

    #[test]
    fn what_sets_where_a_check_runs_makes_no_other_check() {
        let plain = ("Action: exec(mise run vet) → ok, no output", &OK[..]);
        let cached = "Action: exec(env CACHE=/t/c mise run vet; env CACHE=/t/c mise run build) → 7 lines, 338 bytes";
        assert_eq!(told(&[plain, (cached, &OK[..])]), ["mise run build true "]);
        let said = LocatedItem::sample(
            ItemKind::Agent,
            3,
            "Agent: Done.\n\nValidation passed:\n\n- `mise run vet`\n- `mise run build`",
            &[],
        );
        let ran = LocatedItem::sample(ItemKind::Digest, 2, cached, &OK);
        let all = checks(&[ran, said]).into_iter();
        let all: Vec<String> = all.map(|run| run.what.command).collect();
        assert_eq!(all, ["mise run vet", "mise run build"]);
    }

    #[test]
    fn what_another_agent_checked_is_told_in_the_agents_words() {
        let edit = [Finding::Changed {
            path: "/p/a.rs".into(),
            added: 1,
            removed: 0,
        }];
        let edited = LocatedItem::sample(ItemKind::Digest, 1, "Action: Edit(a.rs) → +1 −0", &edit);
        let ran = LocatedItem::sample(ItemKind::Digest, 2, "Action: Task(check it) → done", &[]);
        let words = "Agent: All CI checks pass (lint, types). Now I commit it.";
        let said = LocatedItem::sample(ItemKind::Agent, 3, words, &[]);
        let told = |lines: &[LocatedItem<'_>]| {
            let runs = checks(lines).into_iter();
            let told = runs.map(|run| (run.what.said.unwrap_or_default(), run.what.changed_after));
            told.collect::<Vec<_>>()
        };
        let wants = "All CI checks pass (lint, types).".to_owned();
        assert_eq!(told(&[edited, ran, said]), [(wants.clone(), false)]);
        assert_eq!(told(&[edited, ran, said, edited]), [(wants, true)]);
        assert_eq!(told(&[ran, said]), [], "nothing was changed");
    }

    #[test]
    fn what_nobody_saw_the_end_of_is_not_told() {
        for text in [
            "Action: Bash(npm run lint | tail -30) → 31 lines, 2 KB",
            "Action: Bash(npm run lint | grep -c error) → 0",
            "Action: Bash(gofmt -l . && go test ./...) → passed 2/2 packages",
        ] {
            assert_eq!(told(&[(text, &OK[..])]), Vec::<String>::new(), "{text}");
        }
        let absent = "Action: Bash(npm run lint) → exit 1: npm error Missing script: \"lint\"";
        assert_eq!(told(&[(absent, &FAILED[..])]), Vec::<String>::new());
        let listed = "Action: Bash(gofmt -l .) → a.go";
        assert_eq!(told(&[(listed, &OK[..])]), ["gofmt -l . false "]);
    }

    #[test]
    fn what_failed_when_it_ran_last_is_left() {
        let left = |calls: &[(&str, &[Finding])]| {
            let lines = calls.iter().zip(1..).map(|((text, findings), line)| {
                LocatedItem::sample(ItemKind::Digest, line, text, findings)
            });
            let lines: Vec<LocatedItem<'_>> = lines.collect();
            failing(&checks(&lines), &lines).map(|step| step.what)
        };
        let (build, lint) = ("Action: Bash(npm run build)", "Action: Bash(npm run lint)");
        let failed = format!("{build} → exit 1: error: no such page");
        let passed = format!("{build} → ok, no output");
        let wants = Some("Failed when it ran last: npm run build".to_owned());
        assert_eq!(left(&[(&failed, &FAILED)]), wants);
        assert_eq!(left(&[(&failed, &FAILED), (&passed, &OK)]), None);
        let other = format!("{lint} → ok, no output");
        assert_eq!(
            left(&[(&failed, &FAILED), (&other, &OK)]),
            None,
            "the program may be used otherwise"
        );
        let edit = [Finding::Changed {
            path: "/p/a.ts".into(),
            added: 1,
            removed: 0,
        }];
        let edited = ("Action: Edit(a.ts) → +1 −0", &edit[..]);
        let wants = "Failed, and not run again after the last change: npm run build";
        let open = [(failed.as_str(), &FAILED[..]), edited];
        assert_eq!(left(&open).as_deref(), Some(wants));
        let check = ("Action: Bash(tsc --noEmit) → ok, no output", &OK[..]);
        assert_eq!(left(&[open[0], edited, check]), None, "that may be enough");
    }

    #[test]
    fn what_an_equal_check_passed_since_is_not_told_as_failed() {
        let lint = (
            "Action: Bash(npm run lint) → exit 1: one problem",
            &FAILED[..],
        );
        for since in [
            "Action: Bash(git ls-files -z | xargs -0 npx eslint) → ok, no output",
            "Action: Bash(npx prettier --check .) → ok, no output",
            "Action: Bash(gh run watch 7 --exit-status) → 40 lines, 2 KB",
        ] {
            let all = told(&[lint, (since, &OK[..])]);
            assert!(!all.iter().any(|told| told.contains("lint")), "{all:?}");
        }
        let other = (
            "Action: Bash(git commit -m 'Fix lint') → ok, no output",
            &OK[..],
        );
        assert_eq!(told(&[lint, other]), ["npm run lint false "]);
        let types = ("Action: Bash(tsc --noEmit) → ok, no output", &OK[..]);
        assert_eq!(told(&[lint, types])[0], "npm run lint false ");
    }

    #[test]
    fn checks_that_ran_elsewhere_are_told() {
        let watch = "Action: Bash(gh pr checks 7 --watch)";
        let ends = |end: &str, findings| told(&[(&format!("{watch} → {end}"), findings)]);
        assert_eq!(
            ends("9 lines, 900 bytes", &OK[..]),
            ["gh pr checks 7 --watch true "]
        );
        assert_eq!(
            ends("exit 1: lint fail 2s", &FAILED[..]),
            ["gh pr checks 7 --watch false "]
        );
        assert_eq!(
            ends("exit 1: no checks reported", &FAILED[..]),
            Vec::<String>::new()
        );
        let plain = "Action: Bash(gh run watch 7) → 40 lines, 2 KB";
        assert_eq!(
            told(&[(plain, &OK[..])]),
            Vec::<String>::new(),
            "it ends with 0 in any case"
        );
        let begun = format!("{watch} {RUNNING}");
        let begun = LocatedItem::sample(ItemKind::Digest, 1, &begun, &[]);
        let said = |words| LocatedItem::sample(ItemKind::Agent, 2, words, &[]);
        let passed = |words| checks(&[begun, said(words)]).len();
        assert_eq!(passed("Agent: CI is green on the new run."), 1);
        assert_eq!(
            passed("Agent: The lint job is green; tests are still running."),
            0
        );
    }

    #[test]
    fn a_check_of_a_program_that_nobody_knows_is_one() {
        let edit = [Finding::Changed {
            path: "/p/a.rs".into(),
            added: 1,
            removed: 0,
        }];
        let edited = LocatedItem::sample(ItemKind::Digest, 1, "Action: Edit(a.rs) → +1 −0", &edit);
        let said = LocatedItem::sample(ItemKind::Agent, 2, "Agent: All checks pass.", &[]);
        let failed = "Action: Bash(shop order check --stage=end) → exit 1: the cart is open";
        let failed = LocatedItem::sample(ItemKind::Digest, 3, failed, &FAILED);
        let lines = [edited, said, failed];
        let all = checks(&lines);
        let told: Vec<_> = all
            .iter()
            .map(|run| (run.what.command.as_str(), run.what.passed))
            .collect();
        assert_eq!(told, [("shop order check --stage=end", false)]);
        let left = failing(&all, &lines).map(|step| step.what);
        let wants = "Failed when it ran last: shop order check --stage=end";
        assert_eq!(left.as_deref(), Some(wants));
    }
}

//! Whether anything of a session can have tested its code. Knows words of commands that test.

use super::line::LocatedItem;
use super::ran::RanCommand;
use crate::model::exchange::ItemKind;
use crate::model::summary::{ChangedFile, Sourced};
use crate::rules::check_words::{is_checker, is_looker};
use crate::rules::commands::is_absent;
use crate::rules::paths::{is_source, is_throwaway};
use crate::rules::shell::{self, Simple};
use crate::rules::tools::{AnswerKind, tool};

/// Code was changed, and no call of the session can have tested it.
pub fn is_untested(lines: &[LocatedItem<'_>], files: &[Sourced<ChangedFile>]) -> bool {
    let mut kept = files.iter().filter(|file| !is_throwaway(&file.what.path));
    let tests = |line: &LocatedItem<'_>| {
        // where the command or its tests aren't there, none ran
        let ran = RanCommand::of(line).filter(|call| !(call.failed && is_absent(call.output)));
        let is_agent = || {
            let name = line.words().split(['(', ' ']).next().unwrap_or_default();
            line.item.kind == ItemKind::Digest && tool(name).answer == AnswerKind::Agent
        };
        ran.is_some_and(|call| may_test(call.command)) || is_agent()
    };
    kept.any(|file| is_source(&file.what.path)) && !lines.iter().any(tests)
}

/// One of a line's commands may have run tests, also within a task of another name.
pub fn may_test(command: &str) -> bool {
    let lower = command.to_lowercase();
    let names = |text: &str| TESTS.iter().any(|word| text.contains(word));
    // what was shortened can't be read as a script
    names(&lower)
        && (lower.contains('…')
            || shell::read(&lower)
                .iter()
                .any(|simple| runs_one(simple, names)))
}

/// Words of commands that test.
const TESTS: [&str; 6] = ["test", "spec", "check", "make", "verify", "ci"];

fn runs_one(simple: &Simple<'_>, names: impl Fn(&str) -> bool) -> bool {
    let words = &simple.words;
    let mut programs = words
        .iter()
        .map(|word| word.rsplit('/').next().unwrap_or_default());
    let is_other = programs.clone().next().is_some_and(is_looker)
        // `npx biome check web`
        || programs.by_ref().take(LEADS_MAX).any(is_checker);
    !is_other && (words.iter().any(|word| names(word)) || simple.heredoc.is_some_and(names))
}

/// Words that stand before a checker: `pnpm --filter web exec`.
const LEADS_MAX: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::finding::Finding;

    const OK: [Finding; 1] = [Finding::Worked { key: 1 }];
    const FAILED: [Finding; 1] = [Finding::Failed { key: 1 }];

    #[test]
    fn code_that_no_call_tested_is_said() {
        let edit = [Finding::Changed {
            path: "/p/a.rs".into(),
            added: 1,
            removed: 0,
        }];
        let edited = LocatedItem::sample(ItemKind::Digest, 1, "Action: Edit(a.rs) → +1 −0", &edit);
        let files = crate::insight::facts::changed_files::files(&[edited]);
        assert!(is_untested(&[edited], &files));
        let tested = "Action: Bash(npm test | tail -1) → ok, no output";
        let tested = LocatedItem::sample(ItemKind::Digest, 2, tested, &OK);
        assert!(!is_untested(&[edited, tested], &files));
        let absent = "Action: Bash(pytest tests/test_a.py) → exit 4: ERROR: file or directory not found: tests/test_a.py";
        let absent = LocatedItem::sample(ItemKind::Digest, 2, absent, &FAILED);
        assert!(is_untested(&[edited, absent], &files));
        let helped = LocatedItem::sample(ItemKind::Digest, 2, "Action: Task(go) → done", &[]);
        assert!(!is_untested(&[edited, helped], &files));
        assert!(!is_untested(&[], &[]));
    }

    #[test]
    fn who_only_names_tests_runs_none() {
        for (command, wants) in [
            ("npm test", true),
            ("bash scripts/test.sh", true),
            ("make all", true),
            ("git add tests/cart.ts && git commit -m 'Test carts'", false),
            ("ls tests/e2e; cat tests/a.ts", false),
            ("npx biome check --write web/cart.tsx", false),
            ("pnpm --filter web exec tsc -p tests/tsconfig.json", false),
            ("git add tests && npm run verify", true),
            ("python3 - <<'EOF'\nimport pytest\nEOF", true),
        ] {
            assert_eq!(may_test(command), wants, "{command}");
        }
    }
}

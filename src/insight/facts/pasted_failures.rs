//! Prompts that show how a command failed: what a terminal printed, with nothing or little said about it.

use super::line::LocatedItem;
use super::prompts::{Prompt, exchange, opens};
use super::words::shortened;
use crate::model::exchange::ItemKind;
use crate::model::summary::Sourced;

/// Of an error that was pasted.
pub(super) const ERROR_CHARS_MAX: usize = 120;

/// A longer command is a script.
const COMMAND_CHARS_MAX: usize = 60;

/// The command that a pasted terminal ran right before an error: of `❯ ./run.sh`, `$ npm test`, `➜ shop git:(main) ✗ git
/// push`. `None` where the prompt begins with other words.
fn command<'w>(words: &'w str, error: &str) -> Option<&'w str> {
    let mut lines = words.trim().lines();
    let mut last = typed(lines.next()?)?;
    for line in lines {
        match typed(line) {
            Some(command) if !command.is_empty() => last = command,
            None if line.contains(error.trim_end()) => break,
            _ => {}
        }
    }
    let is_one = !last.is_empty() && last.chars().count() <= COMMAND_CHARS_MAX;
    is_one.then_some(last)
}

/// What stands behind a shell's mark.
fn typed(line: &str) -> Option<&str> {
    let rest = match line.strip_prefix('➜') {
        // a prompt that names the folder and its branch
        Some(rest) => {
            let behind = rest.split_once("✗ ").or_else(|| rest.split_once(") "));
            behind.map(|(_, rest)| rest)
        }
        None => line
            .strip_prefix(['❯', '$'])
            .filter(|rest| rest.is_empty() || rest.starts_with(' ')),
    };
    rest.map(str::trim)
}

/// What it shows in a line: `./run.sh fails: npm error Exit handler never called!`, or the error alone. `before`: the
/// prompts before it, one of which may have shown the same command.
pub(super) fn shown(prompt: &Prompt<'_, '_>, before: &[Prompt<'_, '_>]) -> Option<String> {
    let pasted = prompt.prose.error?.trim_end();
    let error = shortened(pasted, ERROR_CHARS_MAX);
    let Some(command) = command(prompt.line.words(), pasted) else {
        return Some(error);
    };
    let is_same = |other: &Prompt<'_, '_>| {
        let error = other.prose.error;
        error.and_then(|error| self::command(other.line.words(), error)) == Some(command)
    };
    let again = if before.iter().any(is_same) {
        " again"
    } else {
        ""
    };
    Some(format!("`{command}` fails{again}: {error}"))
}

/// The command that somebody showed last to fail, where something was changed for it and it didn't run since: nobody
/// knows whether it works.
pub(super) fn not_run_since(
    lines: &[LocatedItem<'_>],
    prompts: &[Prompt<'_, '_>],
) -> Option<Sourced<String>> {
    let prompt = prompts.iter().rfind(|prompt| opens(prompt.line))?;
    let command = command(prompt.line.words(), prompt.prose.error?)?;
    let exchange = exchange(lines, prompt.at);
    let changed = exchange.iter().rposition(LocatedItem::is_edit)?;
    let mut after = exchange[changed..].iter();
    let runs = |line: &LocatedItem<'_>| {
        line.item.kind == ItemKind::Digest && line.item.text.contains(command)
    };
    let ran = after.any(runs);
    (!ran).then(|| exchange[changed].source(format!("{NOT_RUN}`{command}`")))
}

/// Stands before a command that nobody ran after the last fix of it.
const NOT_RUN: &str = "Not run since the last fix: ";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::facts::prompts::prompts;
    use crate::model::finding::Finding;

    #[test]
    fn the_command_stands_behind_a_shells_mark() {
        for (words, wants) in [
            ("❯ ./run.sh\nBuilding\nerror: no", Some("./run.sh")),
            ("$ npm test\nerror: no", Some("npm test")),
            ("➜  shop git:(main) ✗ git push\nerror: no", Some("git push")),
            ("➜  shop git:(main) make cart\nerror: no", Some("make cart")),
            ("$ cd shop\n$ npm test\nerror: no\n$ ls", Some("npm test")),
            ("it fails:\n$ npm test\nerror: no", None),
            ("❯\n", None),
        ] {
            assert_eq!(command(words, "error: no"), wants, "{words}");
        }
    }

    #[test]
    fn what_was_shown_to_fail_is_not_run_since_the_fix() {
        let failed = "User: ❯ ./shop.sh\nBuilding the cart\n12.5 npm error code 7\n12.5 npm error The handler was never called!\n❯\n";
        let edit = [Finding::Changed {
            path: "/p/Dockerfile".into(),
            added: 1,
            removed: 1,
        }];
        let line = |n, kind, text, findings| LocatedItem::sample(kind, n, text, findings);
        let mended = |n| {
            line(
                n,
                ItemKind::Digest,
                "Action: Edit(Dockerfile) → +1 −1",
                &edit[..],
            )
        };
        let lines = [
            line(1, ItemKind::Prompt, "User: pack the cart", &[]),
            mended(2),
            line(3, ItemKind::Prompt, failed, &[]),
            mended(4),
            line(
                5,
                ItemKind::Agent,
                "Agent: It installs now. Try again.",
                &[],
            ),
            line(6, ItemKind::Prompt, failed, &[]),
            mended(7),
            line(
                8,
                ItemKind::Agent,
                "Agent: It updates first. Try again.",
                &[],
            ),
            line(9, ItemKind::Digest, "Action: Bash(./shop.sh) → ok", &[]),
        ];
        let all = prompts(&lines[..8]);
        let wants = "`./shop.sh` fails again: npm error The handler was never called!";
        assert_eq!(shown(&all[2], &all[..2]).as_deref(), Some(wants));
        let wants = "`./shop.sh` fails: npm error The handler was never called!";
        assert_eq!(shown(&all[1], &all[..1]).as_deref(), Some(wants));
        let left =
            |lines: &[LocatedItem<'_>]| not_run_since(lines, &prompts(lines)).map(|step| step.what);
        assert_eq!(
            left(&lines[..8]).as_deref(),
            Some("Not run since the last fix: `./shop.sh`")
        );
        assert_eq!(left(&lines), None, "it ran");
        assert_eq!(left(&lines[..2]), None);
    }
}

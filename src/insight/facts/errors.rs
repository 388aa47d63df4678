//! Errors that were resolved: what hindered the work, with what the log says of cause and cure. A command that
//! failed and worked later is one where the agent said what was behind it; what installs, connects or stores also where
//! something was changed between; and what was stopped for another reason than its own ([`hindered`]). The agent's own
//! retries, linters and type checkers are none, and nothing is guessed.

use super::hindrances::hindered;
use super::line::LocatedItem;
use super::ran::RanCommand;
use crate::model::classification::{Domain, Intent};
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::model::summary::{Resolution, Sourced};
use crate::rules::causes::{cause, cure, fault};
use crate::rules::commands;
use crate::rules::paths::is_throwaway;
use std::collections::BTreeSet;

/// Errors of one session that are listed, the last ones that somebody explained: more of them are a log again.
const RESOLVED_MAX: usize = 4;

/// Files named as what helped.
const CHANGED_MAX: usize = 5;

/// Files that may be named as what helped though nobody says so.
const UNNAMED_MAX: usize = 2;

/// A command that failed and didn't work yet.
struct Open<'l, 't> {
    key: u32,
    line: &'l LocatedItem<'t>,
    /// Of what was changed since, in order.
    changed: Vec<String>,
    /// What was said since, in order: read only where the command works again.
    said: Vec<&'t str>,
}

/// Resolved errors in the order in which they were resolved. Only the last failure of a command
/// counts before it works, with what was changed since the first one.
pub fn resolved(lines: &[LocatedItem<'_>]) -> Vec<Sourced<Resolution>> {
    let mut open: Vec<Open<'_, '_>> = Vec::new();
    // what the agent explains is what failed last
    let mut latest = None;
    let mut all: Vec<Sourced<Resolution>> = Vec::new();
    for line in lines {
        if line.item.kind == ItemKind::Agent {
            let explained = open.iter_mut().find(|error| Some(error.key) == latest);
            explained.into_iter().for_each(|error| error.explain(line));
        }
        // what is said of another run of tests is not said of this
        if line
            .item
            .findings
            .iter()
            .any(|f| matches!(f, Finding::Tests(_)))
        {
            latest = None;
        }
        for finding in line.item.findings {
            match finding {
                Finding::Failed { key } => {
                    latest = Some(*key);
                    fail(&mut open, *key, line);
                }
                Finding::Worked { key } if is_proof(line) => {
                    all.extend(work(&mut open, *key, line));
                }
                Finding::Changed { path, .. } => {
                    for error in &mut open {
                        error.changed.push(path.clone());
                    }
                }
                _ => {}
            }
        }
    }
    join(&mut all, hindered(lines));
    let mut seen = BTreeSet::new();
    all.retain(|error| {
        error
            .what
            .cause
            .as_ref()
            .is_none_or(|said| seen.insert(said.clone()))
    });
    while all.len() > RESOLVED_MAX {
        let is_bare = |error: &Sourced<Resolution>| error.what.cause.is_none();
        all.remove(all.iter().position(is_bare).unwrap_or(0));
    }
    all
}

/// What hindered stands with what was explained, in the order of the log, and each once.
fn join(all: &mut Vec<Sourced<Resolution>>, hindered: Vec<Sourced<Resolution>>) {
    for found in hindered {
        let same = |known: &&mut Sourced<Resolution>| {
            let is_line = (known.episode, known.line) == (found.episode, found.line);
            is_line || known.what.error == found.what.error
        };
        match all.iter_mut().find(same) {
            Some(known) => {
                let told = &mut known.what;
                told.cause = told.cause.take().or(found.what.cause);
                told.cure = told.cure.take().or(found.what.cure);
            }
            None => all.push(found),
        }
    }
    all.sort_by_key(|error| error.line);
}

impl<'t> Open<'_, 't> {
    fn explain(&mut self, line: &LocatedItem<'t>) {
        if line.main == self.line.main {
            self.said.push(line.words());
        }
    }

    /// What was said last of these.
    fn told(&self, of: fn(&str) -> Option<&str>) -> Option<&'t str> {
        self.said.iter().rev().find_map(|words| of(words))
    }
}

fn fail<'l, 't>(open: &mut Vec<Open<'l, 't>>, key: u32, line: &'l LocatedItem<'t>) {
    match open.iter_mut().find(|error| error.key == key) {
        Some(error) => {
            // what was said of another error is not its cause
            if message(error.line) != message(line) {
                error.said.clear();
                // what was changed before helped against the other one
                error.changed.clear();
            }
            error.line = line;
        }
        None => open.push(Open {
            key,
            line,
            changed: Vec::new(),
            said: Vec::new(),
        }),
    }
}

/// What a failed call said, without numbers: they differ from run to run.
fn message(line: &LocatedItem<'_>) -> String {
    let words = line.words();
    let said = words.split_once(" → ").map_or(words, |(_, said)| said);
    said.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// It isn't known to have ended otherwise than its exit code says, nor to run on.
fn is_proof(line: &LocatedItem<'_>) -> bool {
    RanCommand::of(line).is_none_or(|ran| ran.proves())
}

/// What was only repeated until it worked is no resolution.
fn work(
    open: &mut Vec<Open<'_, '_>>,
    key: u32,
    now: &LocatedItem<'_>,
) -> Option<Sourced<Resolution>> {
    let at = open.iter().position(|error| error.key == key)?;
    let error = open.remove(at);
    let (call, message) = error.line.words().split_once(" → ")?;
    let kind = obstacle(call);
    if kind == Obstacle::Never {
        return None;
    }
    // what the agent said before it said that it mends it is a cause where something was changed then
    let fault = || (!error.changed.is_empty()).then(|| error.told(fault));
    let cause = error.told(cause).or_else(|| fault().flatten());
    let cure = error.told(cure);
    let mut seen = BTreeSet::new();
    let changed = error.changed.into_iter();
    let changed = changed.filter(|path| !is_throwaway(path) && seen.insert(path.clone()));
    let changed = to_blame(changed.collect(), &[Some(message), cause, cure]);
    let is_obstacle = cause.is_some() || kind == Obstacle::Changed && !changed.is_empty();
    is_obstacle.then(|| {
        error.line.source(Resolution {
            call: call.to_owned(),
            error: message.lines().next().unwrap_or_default().to_owned(),
            cause: cause.map(str::to_owned),
            cure: cure.map(str::to_owned),
            changed,
            worked_at: now.line,
            explained: None,
        })
    })
}

/// Of the files that were changed those that the error or its explanation names. Where none is named and there are many,
/// nobody knows which helped.
fn to_blame(changed: Vec<String>, told: &[Option<&str>]) -> Vec<String> {
    let is_named = |path: &&String| {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        told.iter().flatten().any(|words| words.contains(name))
    };
    let named: Vec<String> = changed.iter().filter(is_named).cloned().collect();
    match (named.is_empty(), changed.len()) {
        (false, _) => named.into_iter().take(CHANGED_MAX).collect(),
        (true, ..=UNNAMED_MAX) => changed,
        (true, _) => Vec::new(),
    }
}

/// When a command that failed hindered the work.
#[derive(PartialEq, Eq)]
enum Obstacle {
    /// It reads, searches, is about history, or checks the agent's own code.
    Never,
    /// Where somebody says what was behind it: what runs code fails for the agent's own slips mostly.
    Explained,
    /// Where something was changed before it worked.
    Changed,
}

fn obstacle(call: &str) -> Obstacle {
    let Some((_, rest)) = call.split_once('(') else {
        return Obstacle::Explained;
    };
    let class = commands::counted_as(rest.strip_suffix(')').unwrap_or(rest));
    let command = commands::of_count(&class);
    match (command.intent, command.domain) {
        (Intent::Read | Intent::Search, _) => Obstacle::Never,
        (Intent::Validate | Intent::Transform, Domain::Code) => Obstacle::Never,
        // a commit may fail for what its hooks find
        (Intent::Create, Domain::VersionControl) => Obstacle::Explained,
        (_, Domain::VersionControl) => Obstacle::Never,
        (Intent::Configure, _) | (_, Domain::Package | Domain::Database | Domain::Network) => {
            Obstacle::Changed
        }
        _ => Obstacle::Explained,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line<'t>(n: u64, text: &'t str, findings: &'t [Finding]) -> LocatedItem<'t> {
        let kind = match text.starts_with("Agent: ") {
            true => ItemKind::Agent,
            false => ItemKind::Digest,
        };
        LocatedItem::sample(kind, n, text, findings)
    }

    const FAILED: [Finding; 1] = [Finding::Failed { key: 1 }];
    const WORKED: [Finding; 1] = [Finding::Worked { key: 1 }];

    fn changed() -> [Finding; 1] {
        [Finding::Changed {
            path: "/p/a.rs".into(),
            added: 1,
            removed: 0,
        }]
    }

    #[test]
    fn what_a_sandbox_hindered_is_told_with_what_worked() {
        let failed = "Action: Bash(go test ./a) → exit 1: open /c/x: operation not permitted";
        let worked = "Action: Bash(env GOCACHE=/p/c go test ./a) → ok";
        let all = resolved(&[line(1, failed, &FAILED), line(2, worked, &WORKED)]);
        let cure = all[0].what.cure.as_deref();
        assert_eq!(cure, Some("it worked as `env GOCACHE=/p/c go test ./a`"));
        assert_eq!(all.len(), 1);
        let own = "Action: Bash(go test ./a) → exit 1: x is undefined";
        assert!(resolved(&[line(1, own, &FAILED), line(2, worked, &WORKED)]).is_empty());
    }

    #[test]
    fn what_failed_and_was_explained_is_resolved_once_it_works() {
        let changed = changed();
        let lines = [
            line(
                1,
                "Action: Bash(./run.sh) → exit 1: connection refused",
                &FAILED,
            ),
            line(
                2,
                "Agent: The problem is that the port is taken. The fix is to stop the proxy.",
                &[],
            ),
            line(3, "Action: Edit(a.rs) → +1 −0", &changed),
            line(4, "Action: Bash(./run.sh) → ok, no output", &WORKED),
        ];
        let found = resolved(&lines);
        assert_eq!(found.len(), 1);
        let error = &found[0];
        assert_eq!((error.line, error.what.worked_at), (1, 4));
        assert_eq!(error.what.call, "Bash(./run.sh)");
        assert_eq!(error.what.error, "exit 1: connection refused");
        assert_eq!(
            error.what.cause.as_deref(),
            Some("The problem is that the port is taken.")
        );
        assert_eq!(
            error.what.cure.as_deref(),
            Some("The fix is to stop the proxy.")
        );
        assert_eq!(error.what.changed, ["/p/a.rs"]);
        assert_eq!(resolved(&lines[..3]), [], "it doesn't work yet");
        assert_eq!(resolved(&[lines[0], lines[2], lines[3]]), [], "a retry");
    }

    #[test]
    fn what_the_agent_mends_was_the_cause() {
        let changed = changed();
        let failed = "Action: Bash(npm test) → failed 1/9: carts are empty";
        let said = "Agent: The `*/` in the new comment closes it too early. Let me fix that.";
        let lines = [
            line(1, failed, &FAILED),
            line(2, said, &[]),
            line(3, "Action: Edit(a.rs) → +1 −1", &changed),
            line(4, "Action: Bash(npm test) → passed 9/9", &WORKED),
        ];
        let found = resolved(&lines);
        let cause = found[0].what.cause.as_deref();
        assert_eq!(
            cause,
            Some("The `*/` in the new comment closes it too early.")
        );
        assert_eq!(
            resolved(&[lines[0], lines[1], lines[3]]),
            [],
            "nothing was changed"
        );
        // of two errors of one command, what was changed for the first one helped only there
        let other = [Finding::Changed {
            path: "/p/b.rs".into(),
            added: 1,
            removed: 1,
        }];
        let before = "Action: Bash(npm test) → failed 2/9: the till is open";
        let both = [
            line(5, before, &FAILED),
            line(6, "Action: Edit(b.rs) → +1 −1", &other),
            lines[0],
            lines[1],
            lines[2],
            lines[3],
        ];
        assert_eq!(resolved(&both)[0].what.changed, ["/p/a.rs"]);
    }

    #[test]
    fn linters_and_type_checkers_are_no_obstacles_and_installing_is_one() {
        let changed = changed();
        let said = line(2, "Agent: The problem is that the type is too wide.", &[]);
        let edit = line(3, "Action: Edit(a.rs) → +1 −0", &changed);
        let of = |call: &str| {
            let failed = format!("Action: Bash({call}) → exit 1: it says no");
            let worked = format!("Action: Bash({call}) → ok, no output");
            let all = |middle: &[LocatedItem<'_>]| {
                let mut lines = vec![line(1, &failed, &FAILED)];
                lines.extend(middle);
                lines.push(line(4, &worked, &WORKED));
                resolved(&lines).len()
            };
            (all(&[said, edit]), all(&[edit]))
        };
        for (call, wants) in [
            ("npx eslint src", (0, 0)),
            ("npx tsc --noEmit", (0, 0)),
            ("cargo clippy", (0, 0)),
            ("grep -n a b", (0, 0)),
            ("npm test", (1, 0)),
            ("npm install", (1, 1)),
        ] {
            assert_eq!(of(call), wants, "{call}");
        }
    }

    #[test]
    fn words_about_what_failed_last_explain_nothing_else() {
        let other = [Finding::Failed { key: 2 }];
        let lines = [
            line(1, "Action: Bash(./run.sh) → exit 1: no", &FAILED),
            line(2, "Action: Bash(./other.sh) → exit 1: no", &other),
            line(3, "Agent: The problem is that the port is taken.", &[]),
            line(4, "Action: Bash(./run.sh) → ok, no output", &WORKED),
        ];
        assert_eq!(resolved(&lines), []);
    }
}

//! What the plan that was asked for wants verified and nobody did: commands that no call ran, looks that nobody
//! took. Says nothing where it can't be sure: where another agent worked, or somebody speaks of it.

use super::line::LocatedItem;
use super::words::{folded, shortened};
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::model::summary::Sourced;
use crate::rules::commands;
use crate::rules::tools::{AnswerKind, tool};
use crate::rules::words::sentences;

/// Longer lists of commands are no next steps.
const STEPS_MAX: usize = 2;

/// Longer points have more in them than a look.
const POINT_CHARS_MAX: usize = 140;

/// Of the last prompt that has a list of what to verify, where the work on it is over: the session `has_ended`, or something
/// else was asked for since.
pub fn unverified(lines: &[LocatedItem<'_>], has_ended: bool) -> Vec<Sourced<String>> {
    let is_plan = |line: &LocatedItem<'_>| {
        line.main && line.item.kind == ItemKind::Prompt && line.item.text.contains("\n#")
    };
    let Some(at) = lines.iter().rposition(is_plan) else {
        return Vec::new();
    };
    let points = points(lines[at].words());
    let after = &lines[at + 1..];
    let is_prompt = |line: &LocatedItem<'_>| line.main && line.item.kind == ItemKind::Prompt;
    let is_over = has_ended || after.iter().any(is_prompt);
    if points.is_empty() || !is_over || !is_done_here(after) {
        return Vec::new();
    }
    let (looks, others): (Vec<&str>, Vec<&str>) = points
        .iter()
        .map(String::as_str)
        .partition(|point| is_look(plain(point)));
    let not_run = others.iter().filter_map(|point| not_run(point, after));
    let looks = by_hand(&looks).filter(|_| !is_looked_at(after));
    let steps = not_run.take(STEPS_MAX).chain(looks);
    steps.map(|step| lines[at].source(step)).collect()
}

/// Files were changed, by this agent alone.
fn is_done_here(after: &[LocatedItem<'_>]) -> bool {
    let is_change = |finding: &Finding| matches!(finding, Finding::Changed { .. });
    let changes = |line: &LocatedItem<'_>| line.item.findings.iter().any(is_change);
    let is_agents = |line: &LocatedItem<'_>| {
        let name = line.words().split(['(', ' ']).next().unwrap_or_default();
        line.item.kind == ItemKind::Digest && tool(name).answer == AnswerKind::Agent
    };
    after.iter().any(changes) && !after.iter().any(|line| !line.main || is_agents(line))
}

/// The list's points below a heading about verification; one that only leads to others with these.
fn points(plan: &str) -> Vec<String> {
    let mut inside = false;
    let mut points: Vec<String> = Vec::new();
    for line in plan.lines() {
        if let Some(heading) = line.strip_prefix('#') {
            let heading = heading.trim_matches(['#', ' ', ':']).to_lowercase();
            inside = ["verification", "verify", "test plan"].contains(&heading.as_str());
        } else if let Some(point) = point(line).filter(|_| inside) {
            points.push(point.to_owned());
        } else if let Some(below) = point(line.trim_start()).filter(|_| inside)
            && let Some(last) = points.last_mut()
            && is_look(plain(last))
        {
            let joint = if last.ends_with(':') { " " } else { "; " };
            last.push_str(joint);
            last.push_str(below);
        }
    }
    points
}

/// The text of `- …` or `1. …` that is not below another one.
fn point(line: &str) -> Option<&str> {
    let plain = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
    plain.or_else(|| {
        let digits = line.find(|c: char| !c.is_ascii_digit());
        line[digits.filter(|at| *at > 0)?..].strip_prefix(". ")
    })
}

/// A check that a point names and nobody ran.
fn not_run(point: &str, after: &[LocatedItem<'_>]) -> Option<String> {
    let mut codes = point.split('`').skip(1).step_by(2);
    let is_left = |code: &&str| is_check(code) && !is_spoken_of(code, after);
    codes.find(is_left).map(|code| format!("{NOT_RUN}`{code}`"))
}

/// Points that want somebody to look, as many as have room, and how many more there are.
fn by_hand(points: &[&str]) -> Option<String> {
    let mut told: Vec<String> = Vec::new();
    let mut left = LOOKS_CHARS_MAX;
    for point in points {
        let point = shortened(folded(point).trim_end_matches('.'), POINT_CHARS_MAX);
        let chars = point.chars().count();
        if chars > left && !told.is_empty() {
            break;
        }
        left = left.saturating_sub(chars);
        told.push(point);
    }
    if told.len() < points.len() {
        told.push(format!("and {} more", points.len() - told.len()));
    }
    (!told.is_empty()).then(|| format!("{BY_HAND}{}", told.join("; ")))
}

/// Of all looks together.
const LOOKS_CHARS_MAX: usize = 240;

const NOT_RUN: &str = "Not run, though the plan asks for it: ";
const BY_HAND: &str = "To be checked, as the plan asks: ";

/// Without emphasis and a box to tick before it.
fn plain(point: &str) -> &str {
    point.trim_start_matches(['*', '[', ' ', ']'])
}

/// `Visual check: …`, `Manual: …`, or something that only a running page shows.
fn is_look(text: &str) -> bool {
    const LOOKS: [&str; 2] = ["manual", "visual"];
    const SHOWN: [&str; 10] = [
        "localhost",
        "browser",
        "dev server",
        "devtools",
        "drag",
        "hover",
        "click",
        "responsive",
        "animation",
        "dark mode",
    ];
    let text = text.to_lowercase();
    LOOKS.iter().any(|word| text.starts_with(word)) || SHOWN.iter().any(|word| text.contains(word))
}

/// Something that can show a page or runs the program was called, or the agent speaks of a look.
fn is_looked_at(after: &[LocatedItem<'_>]) -> bool {
    const CALLS: [&str; 8] = [
        "localhost",
        "browser",
        "playwright",
        "chrome",
        "screenshot",
        " dev",
        " start",
        " serve",
    ];
    const WORDS: [&str; 4] = ["visual", "manual", "browser", "in the app"];
    after.iter().any(|line| {
        let text = line.item.text.to_lowercase();
        match line.item.kind {
            ItemKind::Digest => CALLS.iter().any(|word| text.contains(word)),
            ItemKind::Agent | ItemKind::Prompt | ItemKind::Aside => {
                // who asks about a look has not taken one
                let mut said = sentences(&text).filter(|sentence| !sentence.ends_with('?'));
                said.any(|said| WORDS.iter().any(|word| said.contains(word)))
            }
            _ => false,
        }
    })
}

/// A command that checks: of more than one word, which a table knows.
fn is_check(code: &str) -> bool {
    let is_plain = code.contains(' ') && !code.contains(['<', '…', '{', '\n']);
    is_plain && !(commands::checks(code).is_empty() && commands::whole_test_runs(code).is_empty())
}

/// A call has the command's last word, or somebody speaks of it: a hook or another command may have done the same.
fn is_spoken_of(code: &str, after: &[LocatedItem<'_>]) -> bool {
    let last = code.split(' ').rev().find(|word| !word.starts_with('-'));
    let Some(name) = last.and_then(|word| word.rsplit([':', '/']).next()) else {
        return true;
    };
    // other names of the same
    let names: &[&str] = match name {
        "typecheck" | "type-check" | "tsc" => &["typecheck", "type-check", "type check", "tsc"],
        _ => &[],
    };
    let is_named = |text: &str| text.contains(name) || names.iter().any(|name| text.contains(name));
    after.iter().any(|line| {
        let hook = line.item.text.contains("git commit");
        hook || is_named(&line.item.text.to_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "User: Implement the following plan:\n\n# Plan: Carts add up\n\n## Verification\n\
        1. `bun run test`: all pass\n2. `bun run lint` + `bun run typecheck`: clean\n\
        3. Visual check: open a cart, its total stands below\n";

    fn told(items: &[(ItemKind, &str)]) -> Vec<String> {
        let edit = [Finding::Changed {
            path: "/p/cart.ts".into(),
            added: 1,
            removed: 0,
        }];
        let findings = |text: &str| {
            if text.contains("Edit(") {
                &edit[..]
            } else {
                &[]
            }
        };
        let lines = items.iter().zip(1..);
        let lines =
            lines.map(|((kind, text), n)| LocatedItem::sample(*kind, n, text, findings(text)));
        let lines: Vec<LocatedItem<'_>> = lines.collect();
        unverified(&lines, true)
            .into_iter()
            .map(|step| step.what)
            .collect()
    }

    #[test]
    fn what_the_plan_wants_verified_and_nobody_did_is_left() {
        let plan = (ItemKind::Prompt, PLAN);
        let edit = (ItemKind::Digest, "Action: Edit(cart.ts) → +1 −0");
        let test = (ItemKind::Digest, "Action: Bash(bun run test) → passed 9/9");
        let lint = (
            ItemKind::Digest,
            "Action: Bash(bun run lint) → ok, no output",
        );
        let done = (ItemKind::Agent, "Agent: All tests pass and lint is clean.");
        let wants = [
            "Not run, though the plan asks for it: `bun run typecheck`",
            "To be checked, as the plan asks: Visual check: open a cart, its total stands below",
        ];
        assert_eq!(told(&[plan, edit, test, lint, done]), wants);
        let none: [&str; 0] = [];
        assert_eq!(told(&[plan, test, lint, done]), none, "nothing was changed");
        let helper = (ItemKind::Digest, "Action: Task(check it) → done");
        assert_eq!(told(&[plan, edit, helper, done]), none, "who knows");
        let commit = (ItemKind::Digest, "Action: Bash(git commit -m x) → ok");
        assert_eq!(told(&[plan, edit, test, lint, commit]), wants[1..]);
        let tsc = (ItemKind::Digest, "Action: Bash(bunx tsc --noEmit) → ok");
        let looked = (ItemKind::Digest, "Action: mcp__browser__screenshot → ok");
        assert_eq!(told(&[plan, edit, test, lint, tsc, looked]), none);
    }

    #[test]
    fn what_only_a_running_page_shows_is_looked_at() {
        let plan = "User: Do it:\n\n# Plan\n\n## Verification\n\n1. Open `localhost:7000` and add two carts of one shop to the list\n\
            2. The row is blue on hover, and so is each of the rows that stand below it in the same shop\n\
            3. Click a cart: its total stands in the head of the page, beside the name of its shop and its day\n4. Read the page again";
        let edit = (ItemKind::Digest, "Action: Edit(cart.ts) → +1 −0");
        let wants = [
            "To be checked, as the plan asks: Open `localhost:7000` and add two carts of one shop to the list; The row is blue \
            on hover, and so is each of the rows that stand below it in the same shop; and 1 more",
        ];
        assert_eq!(told(&[(ItemKind::Prompt, plan), edit]), wants);
        let served = (ItemKind::Digest, "Action: Bash(curl localhost:7000) → ok");
        let none: [&str; 0] = [];
        assert_eq!(told(&[(ItemKind::Prompt, plan), edit, served]), none);
    }

    #[test]
    fn a_look_in_several_steps_is_told_with_them() {
        let plan = "User: Do it:\n\n# Plan\n\n## Verification\n\n1. Run it\n   - twice\n2. **Manual testing**:\n   - open a cart\n   - pay it";
        let edit = (ItemKind::Digest, "Action: Edit(cart.ts) → +1 −0");
        let wants = ["To be checked, as the plan asks: Manual testing: open a cart; pay it"];
        assert_eq!(told(&[(ItemKind::Prompt, plan), edit]), wants);
    }
}

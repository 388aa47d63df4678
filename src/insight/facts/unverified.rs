//! What the plan that was asked for wants verified and nobody did: commands that no call ran, looks that nobody
//! took. Says nothing where it can't be sure: where another agent worked, or somebody speaks of it.

use super::command_forms::command_of;
use super::line::LocatedItem;
use super::ran::{RanCommand, call};
use super::tasks;
use super::words::{folded, shortened};
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::model::summary::Sourced;
use crate::rules::check_words::{
    CheckScope, act, approves, asked_by, heads_verification, is_by_hand, is_commands, is_look,
    is_tried, is_unseen, leaves_out, scope, shows_page, speaks_of_look,
};
use crate::rules::commands;
use crate::rules::left::is_yours;
use crate::rules::overtaken::fails;
use crate::rules::tools::{AnswerKind, tool};
use crate::rules::words::{content_words, sentences};

/// Longer lists of commands are no next steps.
const STEPS_MAX: usize = 2;

/// Of longer lists nobody knows what is open.
const POINTS_MAX: usize = 40;

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
    let is_list = (1..=POINTS_MAX).contains(&points.len());
    if !is_list || !is_over || !after.iter().any(LocatedItem::is_edit) {
        return Vec::new();
    }
    let ran = ran(after);
    let is_open = |point: &&Point| !ran.covers(asked_by(&point.text));
    let (looks, others): (Vec<&Point>, Vec<&Point>) = points
        .iter()
        .filter(is_open)
        .partition(|point| point.is_look());
    let others = others.iter().filter(|_| is_alone(after));
    let not_run = others.filter_map(|point| not_run(&point.text, after, ran));
    let last = last_words(after);
    let said = said(last);
    let open = looks
        .iter()
        .filter(|point| point.is_look_only() || is_alone(after) && !is_acted(point, after))
        .filter(|point| !is_answered(point, last, &said));
    let open: Vec<&str> = open.map(|point| point.text.as_str()).collect();
    // what looked before the last change looked at something else
    let is_seen =
        || is_looked_at(after) || after.iter().filter(|line| is_prompt(line)).any(is_disputed);
    let looks = by_hand(&open).filter(|_| is_alone(last) && !is_seen());
    let steps = not_run.take(STEPS_MAX).chain(looks);
    steps.map(|step| lines[at].source(step)).collect()
}

/// Somebody looked, and wants it otherwise than the plan.
fn is_disputed(prompt: &LocatedItem<'_>) -> bool {
    const SENTENCES: usize = 2;
    sentences(prompt.words()).take(SENTENCES).any(fails)
}

/// What the tests and checks that ran look at.
fn ran(after: &[LocatedItem<'_>]) -> CheckScope {
    let commands = after.iter().filter_map(|line| command_of(call(line)?));
    commands.fold(CheckScope::default(), |all, command| {
        all.with(looked_at(command))
    })
}

/// What a command that checks or tests looks at.
fn looked_at(command: &str) -> CheckScope {
    let tests = match commands::test_commands(command).is_empty() {
        true => CheckScope::default(),
        false => CheckScope::TESTS,
    };
    let checks = commands::checks(command);
    let checks = checks.iter().map(|check| scope(&check.words.join(" ")));
    checks.fold(tests, CheckScope::with)
}

/// Something that the plan wants verified.
struct Point {
    text: String,
    /// It stands below a heading over what people are to look at.
    by_hand: bool,
}

impl Point {
    /// Nothing but eyes tells.
    fn is_look_only(&self) -> bool {
        self.by_hand || is_look(plain(&self.text))
    }

    fn is_look(&self) -> bool {
        let mut codes = codes(&self.text);
        let mut runs = || codes.any(is_check);
        let wants = || act(plain(&self.text)).is_some();
        is_look(plain(&self.text)) || (self.by_hand || wants()) && !runs()
    }
}

/// What stands behind the last change.
fn last_words<'l, 't>(after: &'l [LocatedItem<'t>]) -> &'l [LocatedItem<'t>] {
    let from = after.iter().rposition(LocatedItem::is_edit);
    &after[from.map_or(0, |at| at + 1)..]
}

/// The agent read the file that the point names and found it good, or says in its words what it asks for.
fn is_answered(point: &Point, last: &[LocatedItem<'_>], said: &[Vec<String>]) -> bool {
    const SHARED_MIN: usize = 3;
    let reads = |line: &LocatedItem<'_>| {
        let text = line.words();
        let name = text.split('(').next().unwrap_or_default();
        line.item.kind == ItemKind::Digest
            && tool(name).answer == AnswerKind::Read
            && files(&point.text).any(|file| text.contains(file))
    };
    let mut read = last.iter().skip_while(|line| !reads(line));
    if read
        .find(|line| is_said(line))
        .is_some_and(|said| approves(said.words()))
    {
        return true;
    }
    let words = content_words(&point.text);
    said.iter().any(|said| {
        let shared = words.iter().filter(|word| said.contains(word)).count();
        let mut pairs = words.windows(2);
        let is_pair = |pair: &[String]| said.windows(2).any(|other| other == pair);
        shared >= SHARED_MIN && shared * 2 >= words.len() && pairs.any(is_pair)
    })
}

/// What the point wants done was done: a command that worked, or one that the point names, or somebody's words say so.
fn is_acted(point: &Point, after: &[LocatedItem<'_>]) -> bool {
    let act = act(plain(&point.text)).filter(|_| !point.by_hand);
    let Some(word) = act.and_then(|act| act.split(' ').next()) else {
        return false;
    };
    let is_pushed = |finding: &Finding| matches!(finding, Finding::Pushed);
    let mut findings = after.iter().flat_map(|line| line.item.findings);
    if word == "push" {
        return findings.any(is_pushed) || says(after, "pushed");
    }
    let worked = after
        .iter()
        .filter_map(RanCommand::of)
        .filter(|ran| !ran.failed);
    let mut commands = worked.map(|ran| ran.command);
    let is_plain = word.len() >= ACT_BYTES_MIN;
    commands.any(|command| {
        is_plain && command.contains(word) || codes(&point.text).any(|code| command.contains(code))
    }) || is_plain && says(after, word)
}

/// Shorter words of acts stand in many commands: `run`, `log`, `cut`.
const ACT_BYTES_MIN: usize = 6;

/// The agent says so in what it said, or a person.
fn says(after: &[LocatedItem<'_>], word: &str) -> bool {
    let told = |line: &&LocatedItem<'_>| line.main && line.item.kind != ItemKind::Digest;
    let mut said = after
        .iter()
        .filter(told)
        .flat_map(|line| sentences(line.words()));
    said.any(|said| {
        let is_open = said.ends_with('?') || is_unseen(said) || is_yours(said);
        !is_open && said.to_lowercase().contains(word)
    })
}

fn is_said(line: &LocatedItem<'_>) -> bool {
    line.main && line.item.kind == ItemKind::Agent
}

/// The words of each of the agent's sentences that may tell of a look.
fn said(last: &[LocatedItem<'_>]) -> Vec<Vec<String>> {
    // who is told how to look has not been told that somebody did
    let tells_how = |said: &str| {
        let is_order = said.starts_with("Run ") || said.to_lowercase().contains("you ");
        is_order || said.ends_with('?') || is_yours(said) || is_unseen(said)
    };
    let lines = last.iter().filter(|line| is_said(line));
    let said = lines.flat_map(|line| line.words().lines().flat_map(sentences));
    let said = said.map(str::trim).filter(|said| !tells_how(said));
    said.map(content_words).collect()
}

/// Names of files in a text.
fn files(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, '`' | '(' | ')' | ',' | ':'));
    words.filter(|word| {
        let ending = word
            .rsplit_once('.')
            .map(|(name, ending)| (name.len(), ending));
        ending.is_some_and(|(name, ending)| {
            name > 0
                && (1..=5).contains(&ending.len())
                && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
    })
}

/// No other agent worked there.
fn is_alone(after: &[LocatedItem<'_>]) -> bool {
    let is_agents = |line: &LocatedItem<'_>| {
        let name = line.words().split(['(', ' ']).next().unwrap_or_default();
        line.item.kind == ItemKind::Digest && tool(name).answer == AnswerKind::Agent
    };
    !after.iter().any(|line| !line.main || is_agents(line))
}

/// The list's points below a heading about verification, and the commands of its code; one that only leads to others with
/// these.
fn points(plan: &str) -> Vec<Point> {
    // the level of the heading, and whether what stands below is to be looked at
    let mut inside: Option<(usize, bool)> = None;
    // whether code is commands
    let mut code: Option<bool> = None;
    let mut points: Vec<Point> = Vec::new();
    for line in plan.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            code = match code {
                Some(_) => None,
                None => Some(is_commands(language.trim())),
            };
            continue;
        }
        // a fence that nobody closed
        if line.starts_with("##") && heads_verification(line.trim_matches(['#', ' '])) {
            code = None;
        }
        if let Some(is_commands) = code {
            points.extend(inside.filter(|_| is_commands).and_then(|_| command(line)));
            continue;
        }
        if line.starts_with('#') {
            inside = below(line, inside);
            continue;
        }
        let Some((_, by_hand)) = inside else { continue };
        if let Some(point) = point(line) {
            let text = point.to_owned();
            points.push(Point { text, by_hand });
        } else if let Some(below) = point(line.trim_start())
            && let Some(last) = points.last_mut().filter(|last| last.is_look())
        {
            let joint = if last.text.ends_with(':') { " " } else { "; " };
            last.text.push_str(joint);
            last.text.push_str(below);
        }
    }
    points
}

/// Where a heading leads: the level of the one over what is to be verified, and whether that is to be looked at.
fn below(line: &str, inside: Option<(usize, bool)>) -> Option<(usize, bool)> {
    let level = line.chars().take_while(|c| *c == '#').count();
    let heading = line.trim_matches(['#', ' ', ':']);
    match inside {
        _ if heads_verification(heading) => Some((level, is_by_hand(heading))),
        _ if leaves_out(heading) => None,
        Some((outer, by_hand)) if level > outer => Some((outer, by_hand || is_by_hand(heading))),
        _ => None,
    }
}

/// `bun run dev  # Visual check`: a command that checks, or one whose comment says that somebody is to look.
fn command(line: &str) -> Option<Point> {
    let (command, comment) = line.split_once(" #").unwrap_or((line, ""));
    let (command, comment) = (command.trim().trim_start_matches("$ "), comment.trim());
    let text = match comment {
        comment if is_look(comment) => format!("`{command}`: {comment}"),
        _ => format!("`{command}`"),
    };
    let is_one = !command.is_empty() && (is_check(command) || is_look(comment));
    is_one.then_some(Point {
        text,
        by_hand: is_look(comment),
    })
}

/// What stands in backticks.
fn codes(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The text of such a line that is not below another one, without its box; none where that is ticked.
fn point(line: &str) -> Option<&str> {
    let text = tasks::point(line)?;
    let is_ticked = text.starts_with("[x] ") || text.starts_with("[X] ");
    let text = text.strip_prefix("[ ]").unwrap_or(text).trim_start();
    (!is_ticked).then_some(text)
}

/// A check that a point names and nobody ran.
fn not_run(point: &str, after: &[LocatedItem<'_>], ran: CheckScope) -> Option<String> {
    let is_left =
        |code: &&str| is_check(code) && !ran.covers(looked_at(code)) && !is_spoken_of(code, after);
    codes(point)
        .find(is_left)
        .map(|code| format!("{NOT_RUN}`{code}`"))
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

/// Something that can show a page or runs the program was called, or the agent speaks of a look.
fn is_looked_at(after: &[LocatedItem<'_>]) -> bool {
    after.iter().any(|line| {
        let text = line.words().to_lowercase();
        match line.item.kind {
            ItemKind::Digest => shows_page(&text),
            ItemKind::Agent | ItemKind::Prompt | ItemKind::Aside => {
                // who asks about a look has not taken one
                let mut said = sentences(&text).filter(|sentence| !sentence.ends_with('?'));
                let is_person = line.main && line.item.kind == ItemKind::Prompt;
                said.any(|said| speaks_of_look(said) || is_person && is_tried(said))
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
    use crate::model::finding::Finding;

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
    fn what_no_command_does_is_to_be_done() {
        let plan = "User: Do it:\n\n# Plan\n\n## Verification\n\n1. Push to a branch, see `build.yml`\n2. Upload two carts\n\
            3. Upload them with `bun run test`";
        let edit = (ItemKind::Digest, "Action: Edit(cart.ts) → +1 −0");
        let wants =
            "To be checked, as the plan asks: Push to a branch, see `build.yml`; Upload two carts";
        assert_eq!(
            told(&[(ItemKind::Prompt, plan), edit]),
            [NOT_RUN_TEST, wants]
        );
        let stash = (ItemKind::Digest, "Action: Bash(git stash push) → ok");
        let prompt = (ItemKind::Prompt, plan);
        assert_eq!(told(&[prompt, edit, stash]), [NOT_RUN_TEST, wants]);
        let push = (ItemKind::Agent, "Agent: Pushed to `carts`.");
        let wants = "To be checked, as the plan asks: Upload two carts";
        assert_eq!(told(&[prompt, edit, push]), [NOT_RUN_TEST, wants]);
        let helper = (ItemKind::Digest, "Action: Task(read it) → done");
        let none: [&str; 0] = [];
        assert_eq!(told(&[prompt, helper, edit]), none, "who knows");
    }

    const NOT_RUN_TEST: &str = "Not run, though the plan asks for it: `bun run test`";

    #[test]
    fn a_look_in_several_steps_is_told_with_them() {
        let plan = "User: Do it:\n\n# Plan\n\n## Verification\n\n1. Run it\n   - twice\n2. **Manual testing**:\n   - open a cart\n   - pay it";
        let edit = (ItemKind::Digest, "Action: Edit(cart.ts) → +1 −0");
        let wants = ["To be checked, as the plan asks: Manual testing: open a cart; pay it"];
        assert_eq!(told(&[(ItemKind::Prompt, plan), edit]), wants);
    }

    #[test]
    fn points_of_a_checklist_are_looks() {
        let plan = "User: Do it:\n\n# Plan\n\n## Verification Checklist\n\n1. Put a cart of two shops into the list\n\
            2. `bun run lint` is clean\n\n## Files\n- cart.ts";
        let edit = (ItemKind::Digest, "Action: Edit(cart.ts) → +1 −0");
        let wants = [
            "Not run, though the plan asks for it: `bun run lint`",
            "To be checked, as the plan asks: Put a cart of two shops into the list",
        ];
        assert_eq!(told(&[(ItemKind::Prompt, plan), edit]), wants);
    }

    #[test]
    fn commands_of_a_plans_code_are_run() {
        let plan = "User: Do it:\n\n# Plan\n\n## Verification\n\n```bash\n# all of it\nbun run typecheck # TypeScript is valid\n\
            bun run dev       # Visual check of the carts\n```\n";
        let edit = (ItemKind::Digest, "Action: Edit(cart.ts) → +1 −0");
        let wants = [
            "Not run, though the plan asks for it: `bun run typecheck`",
            "To be checked, as the plan asks: `bun run dev`: Visual check of the carts",
        ];
        assert_eq!(told(&[(ItemKind::Prompt, plan), edit]), wants);
        let run = (
            ItemKind::Digest,
            "Action: Bash(bun run dev) → running in the background",
        );
        assert_eq!(told(&[(ItemKind::Prompt, plan), edit, run]), wants[..1]);
    }

    #[test]
    fn a_text_that_was_read_again_and_found_good_is_checked() {
        let plan = "User: Do it:\n\n# Plan\n\n## Verification\n\n1. Manual review: read SHOP.md and see that its parts follow the order of a shop";
        let plan = (ItemKind::Prompt, plan);
        let edit = (ItemKind::Digest, "Action: Edit(SHOP.md) → +1 −0");
        let read = (ItemKind::Digest, "Action: Read(SHOP.md) → 40 lines, 2 KB");
        let good = (ItemKind::Agent, "Agent: The file looks good.");
        let other = (ItemKind::Agent, "Agent: Now the carts.");
        let none: [&str; 0] = [];
        assert_eq!(told(&[plan, edit, read, good]), none);
        assert_eq!(told(&[plan, edit, read, other, good]).len(), 1);
        assert_eq!(
            told(&[plan, read, good, edit, other]).len(),
            1,
            "it was changed then"
        );
        let said = (
            ItemKind::Agent,
            "Agent: Done. Its parts follow the order of the shop.",
        );
        assert_eq!(told(&[plan, edit, said]), none);
    }

    #[test]
    fn who_is_told_how_to_look_has_not_been_told_that_somebody_did() {
        let plan = "User: Do it:\n\n# Plan\n\n```ts\nadd(cart)\n\n## Verification\n\n1. Open `localhost:7000` and add two carts of one shop";
        let edit = (ItemKind::Digest, "Action: Edit(cart.ts) → +1 −0");
        let said = "Agent: All of it is in\n\nRun it, open `localhost:7000` and add two carts of one shop.";
        let told = told(&[(ItemKind::Prompt, plan), edit, (ItemKind::Agent, said)]);
        assert_eq!(told.len(), 1);
    }

    #[test]
    fn what_ran_answers_points_of_tests_and_checks() {
        let plan = "User: Do it:\n\n# Plan\n\n## Testing Checklist\n\n- [ ] All existing tests pass\n- [ ] Run the linter\n\
            - [x] Pay a cart\n- [ ] Add a cart\n\n```ts\nmake test(cart)\n```\n\n### Out of scope\n- [ ] Old carts of the shop";
        let plan = (ItemKind::Prompt, plan);
        let edit = (ItemKind::Digest, "Action: Edit(cart.ts) → +1 −0");
        let test = (ItemKind::Digest, "Action: Bash(npm test) → passed 9/9");
        let lint = (ItemKind::Digest, "Action: Bash(npx eslint src) → ok");
        let wants = |open: &str| [format!("To be checked, as the plan asks: {open}")];
        assert_eq!(
            told(&[plan, edit, test]),
            wants("Run the linter; Add a cart")
        );
        assert_eq!(told(&[plan, edit, test, lint]), wants("Add a cart"));
        let tried = (ItemKind::Prompt, "User: I tested it, works great");
        let none: [&str; 0] = [];
        assert_eq!(told(&[plan, edit, test, lint, tried]), none);
    }

    #[test]
    fn who_could_not_see_it_has_not_looked() {
        let plan = "User: Do it:\n\n# Plan\n\n## Verification\n\n1. Manual review: read SHOP.md, its parts follow the order of a shop";
        let plan = (ItemKind::Prompt, plan);
        let edit = (ItemKind::Digest, "Action: Edit(SHOP.md) → +1 −0");
        let read = (ItemKind::Digest, "Action: Read(SHOP.md) → 40 lines, 2 KB");
        for said in [
            "Agent: It doesn't look good: nothing of it is correct.",
            "Agent: I could not see whether its parts follow the order of a shop.",
        ] {
            assert_eq!(
                told(&[plan, edit, read, (ItemKind::Agent, said)]).len(),
                1,
                "{said}"
            );
        }
    }
}

//! What came of a session, in the agent's words: those that end what was asked for, of the largest steps. What
//! answers a side question, thanks, announces or offers is no result, nor is what the person refused.

use super::further::{asks_for_work, changes, exchange, says_something};
use super::line::LocatedItem;
use super::objective::Prompt;
use super::tasks::is_about_next;
use super::words::{clipped, folded};
use crate::insight::summary::short;
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::model::summary::Sourced;
use crate::rules::outcome::{Ending, announces, ending};
use crate::rules::requests::{is_chatter, is_objection, offered};
use crate::rules::words::sentences;

/// Shorter ones say that something is done, not what.
const RESULT_CHARS_MIN: usize = 40;

/// Steps that are told beside the result.
const STEPS_MAX: usize = 9;

/// Of these only the beginning is told.
const STEP_BYTES_MAX: usize = 170;

/// Beside steps a result has room for so much.
const RESULT_BYTES_MAX: usize = 600;

/// What came of the work: the answer to the request that most was done for, and in the order of time a line for
/// each other large one. `None` where the agent only announced something, or said nothing.
pub fn result(
    lines: &[LocatedItem<'_>],
    prompts: &[Prompt<'_, '_>],
) -> (Option<Sourced<String>>, Vec<Sourced<String>>) {
    let mut answers = answers(lines, prompts);
    answers.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    let main = answers.iter().position(Answer::says);
    // better short than nothing
    let main = main.or_else(|| answers.iter().position(Answer::is_told));
    let Some(main) = main.map(|main| answers.remove(main)) else {
        return (None, Vec::new());
    };
    let steps = answers
        .iter()
        .filter_map(|answer| Some((answer.nth, answer.line.source(answer.step()?))));
    let mut steps: Vec<(usize, Sourced<String>)> = steps.take(STEPS_MAX).collect();
    steps.sort_by_key(|(nth, _)| *nth);
    let room = match steps.is_empty() {
        true => BEGINNING_BYTES_MAX,
        false => RESULT_BYTES_MAX,
    };
    let text = beginning(main.line.words(), room).unwrap_or_default();
    let mut seen = vec![text.clone()];
    let is_new = |step: &Sourced<String>| {
        let is_new = !seen
            .iter()
            .any(|told| told.contains(step.what.trim_end_matches('.')));
        seen.push(step.what.clone());
        is_new
    };
    let steps = steps.into_iter().map(|(_, step)| step).filter(is_new);
    (Some(main.line.source(text)), steps.collect())
}

/// What the agent said last to each request.
fn answers<'l, 't>(
    lines: &'l [LocatedItem<'t>],
    prompts: &[Prompt<'_, '_>],
) -> Vec<Answer<'l, 't>> {
    if prompts.is_empty() {
        // a log that begins in the middle
        return Answer::of(lines, 0, 1.0, true).into_iter().collect();
    }
    let opening: Vec<&Prompt<'_, '_>> = prompts
        .iter()
        .filter(|prompt| prompt.line.item.kind == ItemKind::Prompt)
        .collect();
    let each = opening.iter().enumerate().filter_map(|(nth, prompt)| {
        let next = opening.get(nth + 1);
        let is_refused = next.is_some_and(|next| is_objection(next.line.words()));
        let late = (nth + 1) as f64 / opening.len() as f64;
        let exchange = exchange(lines, prompt.at);
        let answer = Answer::of(exchange, nth, late, asks_for_work(prompt))?;
        let is_small_talk = answer.came == Came::Said && !says_something(prompt);
        (!is_refused && !is_small_talk).then_some(answer)
    });
    each.collect()
}

/// What came of a request.
#[derive(Clone, Copy, PartialEq)]
enum Came {
    /// Files are not as they were.
    Changed,
    /// Work was asked for; none of it changed files.
    Worked,
    /// An answer, or finished work was moved on.
    Said,
}

/// The last words after a prompt that state something.
struct Answer<'l, 't> {
    line: &'l LocatedItem<'t>,
    nth: usize,
    came: Came,
    /// More where more was done, where more is said, and later.
    weight: f64,
}

impl<'l, 't> Answer<'l, 't> {
    fn of(
        exchange: &'l [LocatedItem<'t>],
        nth: usize,
        late: f64,
        is_asked: bool,
    ) -> Option<Answer<'l, 't>> {
        let words = exchange.iter().rev().filter(|line| line.main);
        let mut words = words.filter(|line| line.item.kind == ItemKind::Agent);
        let line = words.find(|line| !line.words().is_empty() && states(line.words()))?;
        let findings = || exchange.iter().flat_map(|line| line.item.findings);
        let edits = findings().filter(|finding| matches!(finding, Finding::Changed { .. }));
        let edits = edits.count();
        let calls = exchange
            .iter()
            .filter(|line| line.item.kind == ItemKind::Digest);
        let came = match () {
            () if edits > 0 => Came::Changed,
            () if is_asked && !findings().any(changes) => Came::Worked,
            () => Came::Said,
        };
        let grows = |count: usize, each: f64| (1.0 + count as f64 / each).log2();
        let said = 0.5 * grows(line.words().len(), 200.0);
        let done = 0.5 * grows(edits, 1.0) + 0.3 * grows(calls.count(), 1.0);
        let work = if came == Came::Said { 0.0 } else { 2.0 };
        Some(Answer {
            line,
            nth,
            came,
            weight: work + done + said + 2.0 * late,
        })
    }

    /// The words say more than that it is done.
    fn says(&self) -> bool {
        let words = self.line.words();
        let text = beginning(words, RESULT_BYTES_MAX);
        text.is_some_and(|text| text.chars().count() >= RESULT_CHARS_MIN)
    }

    fn is_told(&self) -> bool {
        beginning(self.line.words(), RESULT_BYTES_MAX).is_some()
    }

    /// In a line; of a list its first points.
    fn step(&self) -> Option<String> {
        let text = beginning(self.line.words(), BEGINNING_BYTES_MAX)?;
        let (points, prose): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| is_point(line));
        let prose = prose.join(" ");
        let prose = cut(&prose, STEP_BYTES_MAX);
        let mut step = match prose.strip_suffix(':') {
            // it only leads to the list
            Some(lead) if lead.split_whitespace().count() <= LEAD_IN_WORDS * 2 => String::new(),
            _ => prose,
        };
        if step.is_empty() || step.ends_with(':') {
            for point in points {
                let point = without_mark(point);
                let point = match step.len() + point.len() > STEP_BYTES_MAX {
                    true if step.is_empty() => clipped(point, STEP_BYTES_MAX),
                    true => break,
                    false => point,
                };
                step.push_str(match step.chars().next_back() {
                    None => "",
                    Some(':') => " ",
                    Some(_) => "; ",
                });
                step.push_str(point.trim_end_matches('.'));
            }
        }
        let says = step.chars().count() >= RESULT_CHARS_MIN && !step.ends_with(':');
        says.then_some(step)
    }
}

/// The words don't announce what comes next.
fn states(words: &str) -> bool {
    !words.trim_end().ends_with([':', '…']) && ending(words) != Ending::GoesOn
}

/// How an agent's words begin, in so many bytes at most: sentences as they are, without chatter, announcements,
/// headings, tables, code, questions and offers; `None` where nothing else is there.
pub fn beginning(words: &str, bytes_max: usize) -> Option<String> {
    let mut inside_code = false;
    let mut text = String::new();
    let mut lines = 0;
    for line in words.lines().map(str::trim_end) {
        let bare = line.trim_start();
        let fence = bare.starts_with("```");
        inside_code ^= fence;
        if !text.is_empty() && is_about_next(bare) || lines == BEGINNING_LINES_MAX {
            break;
        }
        if fence || inside_code || is_drawn(bare) {
            continue;
        }
        let said = said(line, text.is_empty());
        if said.is_empty() {
            continue;
        }
        let said = match lines > 0 && is_point(&said) {
            true => short(&said, POINT_CHARS_MAX),
            false => said,
        };
        if text.len() + said.len() > bytes_max {
            if text.is_empty() || text.ends_with(':') && !text.contains('\n') {
                text.push_str(if text.is_empty() { "" } else { "\n" });
                text.push_str(&cut(&said, bytes_max));
            }
            break;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&said);
        lines += 1;
    }
    let text = without_lead_ins(&text);
    (!text.is_empty()).then_some(text)
}

/// Without lines that announce what was left out: code, tables.
fn without_lead_ins(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let stays = |nth: usize| {
        let line = lines[nth];
        let leads = line.ends_with(':');
        let words = line.split_whitespace().count();
        !leads
            || lines.get(nth + 1).is_some_and(|next| is_point(next))
            || lines.len() == 1 && words > LEAD_IN_WORDS
    };
    let kept: Vec<&str> = (0..lines.len())
        .filter(|nth| stays(*nth))
        .map(|nth| lines[nth])
        .collect();
    kept.join("\n")
}

fn is_point(line: &str) -> bool {
    let bare = line.trim_start();
    bare.starts_with(['-', '*', '•']) || bare.starts_with(|c: char| c.is_ascii_digit())
}

/// `one` of `- one`, `2. one`.
fn without_mark(point: &str) -> &str {
    let bare = point.trim_start().trim_start_matches(['-', '*', '•', ' ']);
    let digits = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = digits
        .strip_prefix(['.', ')'])
        .filter(|_| digits.len() < bare.len());
    numbered.unwrap_or(bare).trim_start()
}

/// A line that stands alone and says no more announces only.
const LEAD_IN_WORDS: usize = 3;

/// More: the summary is a log again; fewer: the result stands behind.
const BEGINNING_LINES_MAX: usize = 14;
const BEGINNING_BYTES_MAX: usize = 1_000;

/// A point of a list says what it is about in its beginning; so all points of a long list have room.
const POINT_CHARS_MAX: usize = 160;

/// Rules, tables, headings, and what is for an agent's own window.
fn is_drawn(line: &str) -> bool {
    let is_rule = line.chars().all(|c| matches!(c, '-' | '=' | '*' | '_'));
    // `::git-push{…}` is for Codex' own window
    let is_directive = line.starts_with("::") && line.ends_with('}');
    let is_bold = line.starts_with("**") && line.trim_end_matches(':').ends_with("**");
    let words = line.split_whitespace().count();
    let is_heading = (line.starts_with('#') || is_bold) && words <= HEADING_WORDS_MAX;
    is_rule || is_directive || is_heading || line.starts_with('|')
}

/// Longer ones state something.
const HEADING_WORDS_MAX: usize = 6;

/// What a line states; `first`: nothing was stated yet.
fn said(line: &str, first: bool) -> String {
    let indent = &line[..line.len() - line.trim_start().len()];
    let bare = line.trim_start().trim_start_matches('#').trim_start();
    let mut out = String::new();
    let text = without_targets(&folded(bare));
    for sentence in sentences(&text) {
        let opens = first && out.is_empty();
        let asks = sentence
            .trim_end_matches(['*', '_', '"', ')'])
            .ends_with('?');
        let is_idle = || is_chatter(sentence) || announces(sentence);
        if asks || offered(sentence).is_some() || opens && is_idle() {
            continue;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(sentence);
    }
    match out.is_empty() {
        true => out,
        false => format!("{indent}{out}"),
    }
}

/// `[cart.rs](/home/ada/shop/cart.rs:7)` as `cart.rs`: where a link leads is for who can follow it.
fn without_targets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("](") {
        let (before, after) = rest.split_at(at);
        let target = after[2..].split_once(')');
        let Some((start, (_, behind))) = before.rfind('[').zip(target) else {
            break;
        };
        let is_code = out.matches('`').count() + before[..start].matches('`').count();
        if is_code % 2 == 1 {
            out.push_str(&rest[..at + 2]);
            rest = &after[2..];
            continue;
        }
        out.push_str(&before[..start]);
        out.push_str(&before[start + 1..]);
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// As many sentences as fit.
fn cut(text: &str, bytes_max: usize) -> String {
    let mut out = String::new();
    for sentence in sentences(text) {
        if out.len() + sentence.len() > bytes_max {
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(sentence);
    }
    match out.is_empty() {
        true => format!("{}…", clipped(text, bytes_max / 2)),
        false => out,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_is_what_states_something() {
        for (words, wants) in [
            (
                "## Done\n\nAll pass.\n::git-push{cwd=\"/p\"}\n```\ncode\n```\n---\n| a | b |\n- one",
                Some("All pass.\n- one"),
            ),
            (
                "Done!\n\nThe cart adds up again.",
                Some("The cart adds up again."),
            ),
            (
                "Great question! The cache is read twice. Shall I mend it?",
                Some("The cache is read twice."),
            ),
            (
                "It works now.\n\nIf you want, I can push it.",
                Some("It works now."),
            ),
            ("It works.\n\n**Next steps:**\n- push", Some("It works.")),
            ("Findings:\n\n```\nx\n```", None),
            (
                "All of it runs.\nYou can start it so:\n```\nx\n```\nIt takes a second.",
                Some("All of it runs.\nIt takes a second."),
            ),
            (
                "Two remarks stay.\n\nThe rest:\n| a | b |",
                Some("Two remarks stay."),
            ),
            (
                "Mended in [cart.rs](/home/ada/shop/cart.rs:7) and `a[0](x)`.",
                Some("Mended in cart.rs and `a[0](x)`."),
            ),
            ("```\nx\n```", None),
        ] {
            assert_eq!(
                beginning(words, BEGINNING_BYTES_MAX).as_deref(),
                wants,
                "{words}"
            );
        }
        let long = beginning(&"Many words here. ".repeat(90), BEGINNING_BYTES_MAX).unwrap();
        assert!(long.len() <= BEGINNING_BYTES_MAX, "{long}");
        let many = beginning(&"line\n".repeat(20), BEGINNING_BYTES_MAX).unwrap();
        assert_eq!(many.lines().count(), BEGINNING_LINES_MAX);
    }

    #[test]
    fn the_result_is_what_came_of_work() {
        use crate::insight::facts::objective::prompts;
        let edit = [Finding::Changed {
            path: "/p/cart.rs".into(),
            added: 1,
            removed: 1,
        }];
        let commit = [Finding::Pushed];
        let line = |kind, text, findings| LocatedItem::sample(kind, 1, text, findings);
        let user = |text| line(ItemKind::Prompt, text, &[]);
        let agent = |text| line(ItemKind::Agent, text, &[]);
        let edited = line(ItemKind::Digest, "Action: Edit(cart.rs) → +1 −1", &edit);
        let pushed = line(ItemKind::Digest, "Action: Bash(git push) → ok", &commit);
        let fixed = agent("Agent: The cart adds up again: the rounding was done twice.");
        let told =
            |lines: &[LocatedItem<'_>]| result(lines, &prompts(lines)).0.map(|told| told.what);
        let wants = Some("The cart adds up again: the rounding was done twice.".to_owned());
        let work = [user("User: fix the rounding of the cart"), edited, fixed];
        assert_eq!(told(&work), wants);
        let asked = [
            user("User: is it pushed?"),
            agent("Agent: Not yet. Nothing was pushed since the branch was made here."),
        ];
        assert_eq!(
            told(&[&work[..], &asked].concat()),
            wants,
            "a side question"
        );
        let moved = [
            user("User: put it in meaningful commits"),
            pushed,
            agent("Agent: Pushed two commits to the branch, the working tree is clean."),
        ];
        assert_eq!(told(&[&work[..], &moved].concat()), wants, "moved on");
        let cut = [agent("Agent: Now let me run the tests of the whole shop:")];
        assert_eq!(told(&[&work[..], &cut].concat()), wants, "announced");
        assert_eq!(told(&[user("User: fix it all"), cut[0]]), None);
        let explored = [
            user("User: how does the cart round its prices?"),
            agent("Agent: Half up, once a row; the sum is never rounded again."),
            user("User: thanks"),
            agent("Agent: You're welcome! Say so if anything else comes up today."),
        ];
        let wants = "Half up, once a row; the sum is never rounded again.";
        assert_eq!(told(&explored).as_deref(), Some(wants));
    }
}

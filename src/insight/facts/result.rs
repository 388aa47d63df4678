//! What came of a session, in the agent's words: those that end the last work that was asked for. What answers a
//! side question, thanks, announces or offers is no result.

use super::further::{asks_for_work, changes, exchange};
use super::line::LocatedItem;
use super::objective::Prompt;
use super::tasks::is_about_next;
use super::words::folded;
use crate::insight::summary::short;
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::model::summary::Sourced;
use crate::rules::outcome::{Ending, ending};
use crate::rules::requests::{is_chatter, offered};
use crate::rules::words::sentences;

/// Shorter ones say that something is done, not what.
const RESULT_CHARS_MIN: usize = 40;

/// The result; `None` where the agent only announced something, or said nothing.
pub fn result(lines: &[LocatedItem<'_>], prompts: &[Prompt<'_, '_>]) -> Option<Sourced<String>> {
    let opening = prompts
        .iter()
        .filter(|prompt| prompt.line.item.kind == ItemKind::Prompt);
    let answers: Vec<Answer<'_, '_>> = opening
        .filter_map(|prompt| Answer::of(exchange(lines, prompt.at), asks_for_work(prompt)))
        .collect();
    let told = [Came::Changed, Came::Worked].iter().find_map(|came| {
        let mut of_work = answers.iter().rev().filter(|answer| answer.says);
        of_work.find(|answer| answer.came == *came)
    });
    let told = told
        .or_else(|| answers.iter().find(|answer| answer.says))
        .or_else(|| answers.last());
    match told {
        Some(answer) => Some(answer.line.source(beginning(answer.line.words())?)),
        // a log that begins in the middle
        None if prompts.is_empty() => {
            let answer = Answer::of(lines, true)?;
            Some(answer.line.source(beginning(answer.line.words())?))
        }
        None => None,
    }
}

/// What came of a request.
#[derive(PartialEq)]
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
    came: Came,
    /// The words say more than that it is done.
    says: bool,
}

impl<'l, 't> Answer<'l, 't> {
    fn of(exchange: &'l [LocatedItem<'t>], is_asked: bool) -> Option<Answer<'l, 't>> {
        let words = exchange.iter().rev().filter(|line| line.main);
        let mut words = words.filter(|line| line.item.kind == ItemKind::Agent);
        let length = |words: &str| beginning(words).map_or(0, |text| text.chars().count());
        let line = words.find(|line| states(line.words()) && length(line.words()) > 0)?;
        let findings = || exchange.iter().flat_map(|line| line.item.findings);
        let is_changed = findings().any(|finding| matches!(finding, Finding::Changed { .. }));
        let came = match () {
            () if is_changed => Came::Changed,
            () if is_asked && !findings().any(changes) => Came::Worked,
            () => Came::Said,
        };
        Some(Answer {
            line,
            came,
            says: length(line.words()) >= RESULT_CHARS_MIN,
        })
    }
}

/// The words don't announce what comes next.
fn states(words: &str) -> bool {
    !words.trim_end().ends_with([':', '…']) && ending(words) != Ending::GoesOn
}

/// How an agent's words begin: sentences as they are, without chatter, headings, tables, code, questions and
/// offers; `None` where nothing else is there.
pub fn beginning(words: &str) -> Option<String> {
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
        if text.len() + said.len() > BEGINNING_BYTES_MAX {
            if text.is_empty() || text.ends_with(':') && !text.contains('\n') {
                text.push_str(if text.is_empty() { "" } else { "\n" });
                text.push_str(&cut(&said));
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
        if asks || offered(sentence).is_some() || opens && is_chatter(sentence) {
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
fn cut(text: &str) -> String {
    let mut out = String::new();
    for sentence in sentences(text) {
        if out.len() + sentence.len() > BEGINNING_BYTES_MAX {
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(sentence);
    }
    match out.is_empty() {
        true => format!("{}…", super::words::clipped(text, BEGINNING_BYTES_MAX / 2)),
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
            assert_eq!(beginning(words).as_deref(), wants, "{words}");
        }
        let long = beginning(&"Many words here. ".repeat(90)).unwrap();
        assert!(long.len() <= BEGINNING_BYTES_MAX, "{long}");
        let many = beginning(&"line\n".repeat(20)).unwrap();
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
        let told = |lines: &[LocatedItem<'_>]| result(lines, &prompts(lines)).map(|told| told.what);
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

//! What an agent said of how things stood, where later turns changed that: `No code touched.`, `not pushed`, what a
//! person disputed and the agent granted, what was removed again.

use super::line::LocatedItem;
use super::points::{is_point, without_mark};
use super::prompts::opens;
use crate::model::exchange::ItemKind;
use crate::model::finding::{Finding, PullRequestState};
use crate::model::summary::Sourced;
use crate::rules::overtaken::{
    claims, concedes, is_forecast, is_left, is_local, is_unmerged, persists, removes,
};
use crate::rules::paths::is_throwaway;
use crate::rules::reports::is_unchanged;
use crate::rules::words::{content_words, is_same, is_stopword, sentences};
use std::borrow::Cow;

/// Words that two sentences share which are about the same.
const SHARED_MIN: usize = 2;

/// What a session's later turns say of what was said before.
pub(super) struct Overtaken<'l, 't> {
    lines: &'l [LocatedItem<'t>],
    /// Where the prompts stand that dispute something, with their words: the agent granted it, or somebody saw it.
    disputes: Vec<(usize, Vec<String>)>,
    /// Where it was said what is gone, with what is.
    removed: Vec<(usize, Vec<String>)>,
    /// Where it was said which functions or types are gone, with their names.
    named: Vec<(usize, String)>,
    /// Where it was said what something was changed back to.
    restored: Vec<(usize, String)>,
}

impl<'l, 't> Overtaken<'l, 't> {
    /// Of a session. Reads the words that end each answer but the first.
    pub fn of(lines: &'l [LocatedItem<'t>]) -> Overtaken<'l, 't> {
        let mut all = Overtaken {
            lines,
            disputes: Vec::new(),
            removed: Vec::new(),
            named: Vec::new(),
            restored: Vec::new(),
        };
        let prompts: Vec<usize> = (0..lines.len()).filter(|at| opens(&lines[*at])).collect();
        for (nth, at) in prompts.iter().enumerate().skip(1) {
            let end = prompts.get(nth + 1).copied().unwrap_or(lines.len());
            let is_word = |at: &usize| lines[*at].main && lines[*at].item.kind == ItemKind::Agent;
            let mut words = (*at..end).filter(is_word);
            let asked = lines[*at].words();
            let seen = persists(&asked[..asked.floor_char_boundary(COMPLAINT_BYTES_MAX)]);
            let seen = seen.map(|said| (*at, content_words(said)));
            all.disputes.extend(seen);
            let Some(first) = words.next() else { continue };
            if concedes(lines[first].words()) {
                all.disputes.push((*at, content_words(lines[*at].words())));
            }
            let own = (*at..end).filter(is_word).map(|at| (at, lines[at].words()));
            let own = own.filter(|(_, words)| words.len() <= REMARK_BYTES_MAX);
            let back = own.filter_map(|(at, words)| Some((at, restored(words)?)));
            all.restored.extend(back);
            let last = words.next_back().unwrap_or(first);
            let gone = removals(lines[last].words()).into_iter();
            all.removed.extend(gone.map(|words| (*at, words)));
            let names = removed_names(lines[last].words()).into_iter();
            all.named.extend(names.map(|name| (*at, name)));
        }
        all
    }

    /// Drops what was overtaken; all of it stays where fewer characters would be left.
    pub fn drop_from(&self, said: &mut Sourced<String>, chars_min: usize) {
        let is_it = |line: &LocatedItem<'_>| line.episode == said.episode && line.line == said.line;
        let Some(at) = self.lines.iter().rposition(is_it) else {
            return;
        };
        let later = Later::of(self, at);
        let (lead, text) = super::remarks::without_lead(&said.what);
        let mut is_taken = false;
        let standing = text.lines().filter(|line| {
            // the points below it go with it
            is_taken = is_taken && is_point(line) || self.is_taken_up(line, at);
            !is_taken
        });
        let kept = standing.filter_map(|line| {
            let mut is_whole = true;
            let mut kept = String::new();
            for sentence in sentences(line) {
                let Some(rest) = later.standing(sentence) else {
                    is_whole = false;
                    continue;
                };
                is_whole &= rest.len() == sentence.len();
                kept.push_str(if kept.is_empty() { "" } else { " " });
                kept.push_str(&rest);
            }
            let says = kept.contains(char::is_alphanumeric);
            match (is_whole, !says) {
                (true, _) => Some(line.to_owned()),
                (false, true) => None,
                (false, false) => Some(kept),
            }
        });
        let kept = kept.collect::<Vec<String>>().join("\n");
        if kept.chars().count() >= chars_min.max(1) {
            said.what = format!("{lead}{kept}");
        }
    }
}

impl Overtaken<'_, '_> {
    /// What the person has to do was then asked for, in these words: `You must set the key of the shop`.
    fn is_taken_up(&self, line: &str, at: usize) -> bool {
        const QUOTE_BYTES: usize = 32;
        let is_yours = line.starts_with("You must ") || line.starts_with("You need to ");
        let said = line.replace('`', "");
        let quote = &said[..said.floor_char_boundary(QUOTE_BYTES)];
        let is_it =
            |line: &LocatedItem<'_>| opens(line) && line.words().replace('`', "").contains(quote);
        is_yours && said.len() >= QUOTE_BYTES && self.lines[at..].iter().any(is_it)
    }
}

/// What came behind some words.
struct Later<'o> {
    is_changed: bool,
    is_committed: bool,
    is_pushed: bool,
    is_merged: bool,
    /// The agent spoke again.
    is_told_on: bool,
    disputes: Vec<&'o [String]>,
    removed: Vec<&'o [String]>,
    named: Vec<&'o str>,
    restored: Vec<&'o str>,
}

impl<'o> Later<'o> {
    fn of(all: &'o Overtaken<'_, '_>, at: usize) -> Later<'o> {
        let findings = || all.lines[at..].iter().flat_map(|line| line.item.findings);
        let is_made = |finding: &Finding| matches!(finding, Finding::Commit { .. });
        let is_edit = |finding: &Finding| match finding {
            Finding::Changed { path, .. } => !is_throwaway(path),
            _ => is_made(finding),
        };
        let is_merge = |finding: &Finding| match finding {
            Finding::PullRequestState { state, done, .. } => {
                *done && *state == PullRequestState::Merged
            }
            _ => false,
        };
        let is_told = |line: &LocatedItem<'_>| line.main && line.item.kind == ItemKind::Agent;
        fn behind(said: &[(usize, Vec<String>)], at: usize) -> Vec<&[String]> {
            let later = said.iter().filter(|(other, _)| *other > at);
            later.map(|(_, words)| words.as_slice()).collect()
        }
        fn after(said: &[(usize, String)], at: usize) -> Vec<&str> {
            let later = said.iter().filter(|(other, _)| *other > at);
            later.map(|(_, value)| value.as_str()).collect()
        }
        Later {
            is_changed: findings().any(is_edit),
            is_committed: findings().any(is_made),
            is_pushed: findings().any(|finding| matches!(finding, Finding::Pushed)),
            is_merged: findings().any(is_merge),
            is_told_on: all.lines[at + 1..].iter().any(is_told),
            disputes: behind(&all.disputes, at),
            removed: behind(&all.removed, at),
            named: after(&all.named, at),
            restored: after(&all.restored, at),
        }
    }

    /// A sentence without remarks in parentheses that were overtaken; `None` where it was overtaken itself.
    fn standing(&self, sentence: &str) -> Option<String> {
        let mut out = String::new();
        let mut rest = sentence;
        while let Some((before, after)) = rest.split_once(" (") {
            let Some((inside, behind)) = after.split_once(')') else {
                break;
            };
            out.push_str(before);
            if !self.is_moved_since(inside) {
                out.extend([" (", inside, ")"]);
            }
            rest = behind;
        }
        out.push_str(rest);
        // what stands beside it in its sentence may stand; of a list hardly anything would
        if let Some((one, other)) = out
            .split_once("; ")
            .filter(|(_, other)| !other.contains("; "))
        {
            let stands = match (self.is_moved_since(one), self.is_moved_since(other)) {
                (true, false) => Some(other),
                (false, true) => Some(one),
                _ => None,
            };
            out = stands.map_or(out.clone(), |part| {
                format!("{}.", part.trim_end_matches('.'))
            });
        }
        (!self.is_over(&out)).then_some(out)
    }

    fn is_over(&self, sentence: &str) -> bool {
        let is_back = |value: &&str| changes_from(sentence, value);
        self.restored.iter().any(is_back)
            || self.is_changed && (is_unchanged(sentence) || is_left(sentence))
            || self.is_told_on && is_forecast(sentence)
            || self.is_moved_since(sentence)
            || !self.disputes.is_empty() && claims(sentence) && self.is_disputed(sentence)
            || !self.removed.is_empty() && !removes(sentence) && self.is_gone(sentence)
            || self.is_of_gone(sentence)
    }

    fn is_moved_since(&self, text: &str) -> bool {
        let is_moved = match text.contains("push") {
            true => self.is_pushed,
            false => self.is_committed,
        };
        is_moved && is_local(text) || self.is_merged && is_unmerged(text)
    }

    fn is_disputed(&self, sentence: &str) -> bool {
        const POINTS_MAX: usize = 2;
        // a list has words of much
        let is_list = sentence.split("; ").nth(POINTS_MAX).is_some();
        let own = content_words(sentence);
        let mut disputes = self.disputes.iter();
        !is_list && disputes.any(|words| shared(&own, words) >= SHARED_MIN)
    }

    /// `round_once() - rounds the sum`, of a function that is gone.
    fn is_of_gone(&self, sentence: &str) -> bool {
        let text = without_mark(sentence);
        let is_it = |name: &&str| {
            let behind = text.strip_prefix(*name);
            behind.is_some_and(|behind| {
                !behind.starts_with(|c: char| c.is_alphanumeric() || c == '_')
            })
        };
        self.named.iter().any(is_it) && !removes(sentence)
    }

    fn is_gone(&self, sentence: &str) -> bool {
        let own = content_words(sentence);
        let is_it = |gone: &&[String]| {
            let shared = shared(gone, &own);
            shared >= SHARED_MIN && shared * 3 >= gone.len() * 2
        };
        self.removed.iter().any(is_it)
    }
}

/// Further behind, a prompt has pasted text.
const COMPLAINT_BYTES_MAX: usize = 1_200;

/// Longer words are a report.
const REMARK_BYTES_MAX: usize = 240;

/// `debug` of `Reverted back to `debug`.`
fn restored(words: &str) -> Option<String> {
    let at = words.find("evert")?;
    let (_, value) = words[at..].split_once(" to ")?;
    let value = operand(value.split_whitespace().next()?);
    (!value.is_empty() && !is_stopword(&value)).then_some(value)
}

/// A sentence says that this value was changed to another: `Changed log::debug! to log::info!`.
fn changes_from(sentence: &str, value: &str) -> bool {
    let mut all = [" to ", " → ", " with "].into_iter().filter_map(|mark| {
        let (before, after) = sentence.split_once(mark)?;
        let from = operand(before.split_whitespace().next_back()?);
        Some((from, operand(after.split_whitespace().next()?)))
    });
    let is_it = |text: &str| {
        text.split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|part| part == value)
    };
    all.any(|(from, to)| is_it(&from) && !is_it(&to) && !to.is_empty())
}

/// Without marks around it, in small letters.
fn operand(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase()
}

fn shared(one: &[String], other: &[String]) -> usize {
    let is_in = |word: &&String| other.iter().any(|own| is_same(own, word));
    one.iter().filter(is_in).count()
}

/// What an agent's words say is gone: the words of sentences that say so, and of the first sentences of points below a line
/// that does.
fn removals(words: &str) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    let mut is_list = false;
    for line in words.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let text = match line.contains("**") {
            true => Cow::Owned(line.replace("**", "")),
            false => Cow::Borrowed(line),
        };
        let is_below = is_point(&text);
        if !is_below {
            is_list = text.ends_with(':') && removes(&text);
        }
        let gone = sentences(&text).enumerate();
        let gone = gone.filter(|(nth, one)| {
            let is_told = is_list && *nth == 0 && is_below;
            !one.ends_with(':') && (is_told || removes(one))
        });
        all.extend(gone.map(|(_, one)| content_words(one)));
    }
    all
}

/// Names of code that a sentence says is gone, not from where: "Removed `round_once()` and `SumOf`".
fn removed_names(words: &str) -> Vec<String> {
    let lines = words.lines().filter(|line| line.contains('`'));
    let gone = lines.flat_map(sentences).filter(|one| removes(one));
    let gone = gone.filter(|one| !one.contains("` from ") && !one.contains("` in "));
    let names = gone.flat_map(|one| one.split('`').skip(1).step_by(2));
    let names = names.map(|name| name.trim_end_matches("()"));
    let is_name = |name: &&str| {
        let is_word = name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let is_joint = name.contains('_') || name.chars().skip(1).any(char::is_uppercase);
        is_word && is_joint && !name.is_empty()
    };
    names.filter(is_name).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(said: usize, lines: &[LocatedItem<'_>]) -> String {
        let mut told = lines[said].source(lines[said].words().to_owned());
        Overtaken::of(lines).drop_from(&mut told, 1);
        told.what
    }

    fn line<'t>(
        nth: u64,
        kind: ItemKind,
        text: &'t str,
        findings: &'t [Finding],
    ) -> LocatedItem<'t> {
        LocatedItem::sample(kind, nth, text, findings)
    }

    fn edit() -> [Finding; 1] {
        [Finding::Changed {
            path: "/p/cart.rs".into(),
            added: 1,
            removed: 0,
        }]
    }

    #[test]
    fn what_was_changed_later_is_not_unchanged() {
        let edit = edit();
        let words = "Agent: The cart rounds twice. No code was touched.";
        let found = line(1, ItemKind::Agent, words, &[]);
        let edited = line(2, ItemKind::Digest, "Action: Edit(cart.rs) → +1", &edit);
        assert_eq!(told(0, &[found, edited]), "The cart rounds twice.");
        let wants = "The cart rounds twice. No code was touched.";
        assert_eq!(told(1, &[edited, found]), wants, "it was changed before");
    }

    #[test]
    fn what_a_removed_function_did_is_not_told() {
        let edit = edit();
        let lines = [
            line(1, ItemKind::Prompt, "User: sum up the carts", &[]),
            line(
                2,
                ItemKind::Agent,
                "Agent: The carts have sums.\n- `sum_of()` - adds up the rows\n- `sum_of_all()` - adds up the carts",
                &[],
            ),
            line(3, ItemKind::Prompt, "User: one function is enough", &[]),
            line(4, ItemKind::Digest, "Action: Edit(cart.rs) → +1", &edit),
            line(
                5,
                ItemKind::Agent,
                "Agent: Done.\n- Removed `sum_of()`\n- Removed the use of `sum_of_all()` in the page",
                &[],
            ),
        ];
        let wants = "The carts have sums.\n- sum_of_all() - adds up the carts";
        let said = "The carts have sums.\n- sum_of() - adds up the rows\n- sum_of_all() - adds up the carts";
        let mut plain = lines[1].source(said.to_owned());
        Overtaken::of(&lines).drop_from(&mut plain, 1);
        assert_eq!(plain.what, wants);
    }

    #[test]
    fn what_was_the_persons_to_do_is_told_until_they_ask_for_it() {
        let words = "Agent: The page is up.\nYou must set the `CART_KEY` of the shop:\n1. Open its settings\nAll else is done.";
        let said = line(1, ItemKind::Agent, words, &[]);
        let asked = line(
            2,
            ItemKind::Prompt,
            "User: Can you do this?\nYou must set the CART_KEY of the shop:",
            &[],
        );
        assert_eq!(told(0, &[said]), said.words());
        let wants = "The page is up.\nAll else is done.";
        assert_eq!(told(0, &[said, asked]), wants);
    }

    #[test]
    fn what_was_to_be_is_told_until_the_agent_speaks_again() {
        let words = "Agent: The page serves its logo. The deployment is now running. It should appear in ~3 minutes.";
        let said = line(1, ItemKind::Agent, words, &[]);
        let again = line(
            2,
            ItemKind::Agent,
            "Agent: The page still has no logo.",
            &[],
        );
        assert_eq!(told(0, &[said]), said.words());
        assert_eq!(told(0, &[said, again]), "The page serves its logo.");
    }

    #[test]
    fn what_was_left_is_told_until_it_is_changed() {
        let edit = edit();
        let commit = [Finding::Commit {
            hash: "0abc123".into(),
            subject: "Round once".into(),
            again: false,
            size: None,
        }];
        let words = "Agent: The cart is blue now (not committed). Left alone on purpose: the header keeps its color.";
        let said = line(2, ItemKind::Agent, words, &[]);
        let lines = |findings| {
            [
                line(1, ItemKind::Prompt, "User: make the cart blue", &[][..]),
                said,
                line(3, ItemKind::Prompt, "User: and the header", &[]),
                line(4, ItemKind::Digest, "Action: Bash(x) → ok", findings),
            ]
        };
        assert_eq!(told(1, &lines(&[])), said.words());
        let wants = "The cart is blue now (not committed).";
        assert_eq!(told(1, &lines(&edit)), wants);
        assert_eq!(told(1, &lines(&commit)), "The cart is blue now.");
    }

    #[test]
    fn what_a_person_disputed_is_no_claim_any_more() {
        let words =
            "Agent: Added `with_shop`. The name of the shop will now be part of each log line.";
        let lines = |answer| {
            [
                line(1, ItemKind::Prompt, "User: log the shop's name", &[]),
                line(2, ItemKind::Agent, words, &[]),
                line(
                    3,
                    ItemKind::Prompt,
                    "User: I see no call that logs the name of a shop",
                    &[],
                ),
                line(4, ItemKind::Agent, answer, &[]),
            ]
        };
        let granted = lines("Agent: You're right. Nothing calls it yet.");
        assert_eq!(told(1, &granted), "Added `with_shop`.");
        let denied = lines("Agent: It is called by the router of the shop.");
        assert_eq!(told(1, &denied), denied[1].words());
        let mut seen = denied;
        seen[2] = line(
            3,
            ItemKind::Prompt,
            "User: the log still doesn't show the name of the shop",
            &[],
        );
        assert_eq!(told(1, &seen), "Added `with_shop`.", "somebody looked");
        let mut listed = granted;
        let points = "Agent: Each will now be logged: the name of the shop; its day; its carts.";
        listed[1] = line(2, ItemKind::Agent, points, &[]);
        assert_eq!(
            told(1, &listed),
            listed[1].words(),
            "a list has words of much"
        );
    }

    #[test]
    fn what_was_removed_again_is_not_told() {
        let words = "Agent: The page explains carts. It has two sequence diagrams of the checkout.";
        let lines = [
            line(1, ItemKind::Prompt, "User: write a page about carts", &[]),
            line(2, ItemKind::Agent, words, &[]),
            line(3, ItemKind::Prompt, "User: it is too long", &[]),
            line(
                4,
                ItemKind::Agent,
                "Agent: Half as long.\n\n**What was cut:**\n\n- Both sequence diagrams. They repeated the text.",
                &[],
            ),
        ];
        assert_eq!(told(1, &lines), "The page explains carts.");
    }

    #[test]
    fn what_was_changed_back_is_not_told() {
        let words = "Agent: All of it is done.\n1. Carts add up once.\n2. Totals (cart.rs:7): Changed `log::debug!` to \
            `log::info!` so that they show.";
        let lines = |last| {
            [
                line(1, ItemKind::Prompt, "User: make carts add up", &[]),
                line(2, ItemKind::Agent, words, &[]),
                line(
                    3,
                    ItemKind::Prompt,
                    "User: the log of totals was only for me",
                    &[],
                ),
                line(4, ItemKind::Agent, last, &[]),
                line(
                    5,
                    ItemKind::Agent,
                    "Agent: The page of carts is in the branch.",
                    &[],
                ),
                line(6, ItemKind::Agent, "Agent: Pushed.", &[]),
            ]
        };
        let back = lines("Agent: Reverted back to `debug`.");
        assert_eq!(told(1, &back), "All of it is done.\n1. Carts add up once.");
        let other = lines("Agent: Reverted the page to what it was.");
        assert_eq!(told(1, &other), other[1].words());
    }

    #[test]
    fn a_state_is_told_until_a_commit_or_a_merge() {
        let commit = [Finding::Commit {
            hash: "0abc123".into(),
            subject: "Round once".into(),
            again: false,
            size: None,
        }];
        let merge = [Finding::PullRequestState {
            named: "#7".into(),
            state: PullRequestState::Merged,
            done: true,
        }];
        let words = "Agent: Carts add up. Working tree has 16 modified files; no commit made. The PR is still a draft. \
            Ticket 7 is closed; not committed.";
        let said = line(1, ItemKind::Agent, words, &[]);
        let lines = |findings| {
            [
                said,
                line(2, ItemKind::Digest, "Action: Bash(x) → ok", findings),
            ]
        };
        assert_eq!(told(0, &lines(&[][..])), said.words());
        let wants = "Carts add up. The PR is still a draft. Ticket 7 is closed.";
        assert_eq!(told(0, &lines(&commit[..])), wants);
        let wants = said.words().replace(" The PR is still a draft.", "");
        assert_eq!(told(0, &lines(&merge[..])), wants);
    }
}

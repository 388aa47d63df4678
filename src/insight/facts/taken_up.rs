//! Answers that later turns of a session went on from: what the agent took back, what somebody had done next, and work
//! that was done again.

use super::line::LocatedItem;
use super::prompts::{Prompt, exchange};
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::rules::overtaken::{asks_to_undo, withdraws};
use crate::rules::replies::{Reply, declines, picks_several, reply};
use crate::rules::requests::{RequestKind, acts_on, is_idle, is_move, request};
use crate::rules::words::{content_words, sentences};
use rustc_hash::{FxHashMap, FxHashSet};

/// What an agent takes back stands at the beginning of its words.
const WITHDRAWS_BYTES_MAX: usize = 400;

/// How an answer was taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withdrawn {
    /// The agent said that it was wrong.
    Said,
    /// What was done was undone, as the prompt at this place wanted.
    Undone(usize),
}

/// Of the prompts at these places, those whose answers the agent took back when it answered the next one, or whose work was
/// undone because somebody asked for that.
pub(super) fn withdrawn(
    lines: &[LocatedItem<'_>],
    prompts: &[usize],
) -> FxHashMap<usize, Withdrawn> {
    let mut all = FxHashMap::default();
    let mut before: Option<usize> = None;
    for (nth, at) in prompts.iter().enumerate() {
        if undoes(lines, *at) {
            let is_work = |at: &&usize| paths(exchange(lines, **at)).next().is_some();
            let work = prompts[..nth].iter().rfind(is_work);
            all.extend(work.map(|work| (*work, Withdrawn::Undone(*at))));
        }
        let answer = exchange(lines, *at);
        let Some((first, last)) = ends(answer) else {
            continue;
        };
        let takes_back = |line: &LocatedItem<'_>| {
            let words = line.words();
            withdraws(&words[..words.floor_char_boundary(WITHDRAWS_BYTES_MAX)])
        };
        // who worked in between speaks of that
        let is_edited = paths(answer).next().is_some();
        let is_it = takes_back(first) || !is_edited && takes_back(last);
        all.extend(before.filter(|_| is_it).map(|at| (at, Withdrawn::Said)));
        before = Some(*at);
    }
    all
}

/// The prompt only asks to undo what was done before it, and the agent says that it did.
fn undoes(lines: &[LocatedItem<'_>], at: usize) -> bool {
    let words = lines[at].words().trim();
    let said = || ends(exchange(lines, at)).map(|(_, last)| last.words().to_lowercase());
    let done = ["revert", "restored", "undone", "rolled back", "undid"];
    let is_done = |said: String| done.iter().any(|word| said.contains(word));
    asks_to_undo(words) && said().is_some_and(is_done)
}

/// The first words of an agent there, and the last ones.
fn ends<'l, 't>(
    answer: &'l [LocatedItem<'t>],
) -> Option<(&'l LocatedItem<'t>, &'l LocatedItem<'t>)> {
    let is_word = |line: &&LocatedItem<'_>| line.main && line.item.kind == ItemKind::Agent;
    let first = answer.iter().find(is_word)?;
    Some((first, answer.iter().rfind(is_word)?))
}

fn paths<'t>(lines: &[LocatedItem<'t>]) -> impl Iterator<Item = &'t str> {
    let findings = lines.iter().flat_map(|line| line.item.findings);
    findings.filter_map(|finding| match finding {
        Finding::Changed { path, .. } => Some(path.as_str()),
        _ => None,
    })
}

/// A prompt that has done what was said before, in a few words: `fix them all`, `yes, do it`. Files were changed then, or
/// commands ran that somebody agreed to.
pub(super) fn is_taken_up(lines: &[LocatedItem<'_>], next: &Prompt<'_, '_>) -> bool {
    let words = next.line.words().trim();
    let done = exchange(lines, next.at);
    let agrees = || matches!(reply(words), Some(Reply::Agrees));
    let ran = |finding: &Finding| matches!(finding, Finding::Worked { .. });
    let is_run = || done.iter().flat_map(|line| line.item.findings).any(ran);
    asks_for_it(words) && (paths(done).next().is_some() || agrees() && is_run())
}

fn asks_for_it(words: &str) -> bool {
    const BYTES_MAX: usize = 120;
    if words.len() > BYTES_MAX || words.contains(['\n', '?']) || words.starts_with('/') {
        return false;
    }
    if picks_several(words).is_some() {
        return true;
    }
    let says = |word: &String| !is_idle(word) && !is_move(word) && !acts_on(word);
    let is_bare = !content_words(words).iter().any(says);
    match reply(words) {
        Some(Reply::Agrees) => true,
        _ if !is_bare => false,
        _ => sentences(words).any(|sentence| {
            let asked = request(sentence);
            asked.is_some_and(|asked| asked.kind == RequestKind::Ask)
        }),
    }
}

/// The prompt only says no to what the agent asked last: what it said before that stands.
pub(super) fn is_declined(lines: &[LocatedItem<'_>], prompt: &Prompt<'_, '_>) -> bool {
    let before = lines[..prompt.at].iter().rfind(|line| line.main);
    let asked = before.is_some_and(|line| {
        line.item.kind == ItemKind::Agent && line.words().trim_end().ends_with('?')
    });
    asked && declines(prompt.line.words())
}

/// Later turns changed a file again that was changed for the prompt at this place.
pub(super) fn is_reworked(lines: &[LocatedItem<'_>], at: usize) -> bool {
    let own = exchange(lines, at);
    let made: FxHashSet<&str> = paths(own).collect();
    !made.is_empty() && paths(&lines[at + 1 + own.len()..]).any(|path| made.contains(path))
}

/// A later turn changed at least half of the files again that were changed and committed for the prompt at this place, and
/// amended the commit: what was said of it before is how it stood then.
pub(super) fn is_amended(lines: &[LocatedItem<'_>], at: usize, later: &[usize]) -> bool {
    let commits = |lines: &[LocatedItem<'_>], amends: bool| {
        let mut findings = lines.iter().flat_map(|line| line.item.findings);
        findings
            .any(|finding| matches!(finding, Finding::Commit { again, .. } if !amends || *again))
    };
    let own = exchange(lines, at);
    let made: FxHashSet<&str> = paths(own).collect();
    let is_anew = |later: &usize| {
        let done = exchange(lines, *later);
        let again: FxHashSet<&str> = paths(done).filter(|path| made.contains(path)).collect();
        again.len() * 2 >= made.len() && commits(done, true)
    };
    !made.is_empty() && commits(own, false) && later.iter().any(is_anew)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::facts::prompts::prompts;
    use crate::insight::facts::result::result;

    fn line<'t>(kind: ItemKind, text: &'t str, findings: &'t [Finding]) -> LocatedItem<'t> {
        LocatedItem::sample(kind, 1, text, findings)
    }

    fn edit(path: &str) -> [Finding; 1] {
        [Finding::Changed {
            path: path.into(),
            added: 1,
            removed: 0,
        }]
    }

    #[test]
    fn what_an_agent_took_back_is_no_result() {
        let long = format!(
            "Agent: The cart counts twice because the shop's cache is never emptied.\n\n{}",
            "- the cache holds the rows of the last visit\n".repeat(20)
        );
        let texts = |later: &'static str| {
            [
                line(
                    ItemKind::Prompt,
                    "User: why does the cart count twice?",
                    &[],
                ),
                line(ItemKind::Agent, &long, &[]),
                line(
                    ItemKind::Prompt,
                    "User: I'm sure that the cache was emptied by then",
                    &[],
                ),
                line(ItemKind::Agent, later, &[]),
            ]
        };
        let told = |lines: &[LocatedItem<'_>]| {
            let told = result(lines, &prompts(lines), None).result;
            told.expect("a result").what
        };
        let back = texts(
            "Agent: You're right to ask, my earlier explanation was wrong. The loop counts each row once per shop.",
        );
        assert!(!told(&back).contains("cache"), "{}", told(&back));
        let stays = texts("Agent: It is emptied only at night, so the rows are there all day.");
        assert!(told(&stays).contains("never emptied"));
    }

    #[test]
    fn what_somebody_had_undone_is_not_what_came_of_it() {
        let (cart, shop) = (edit("/p/cart.rs"), edit("/p/shop.rs"));
        let undone =
            "Agent: Reverted cleanly: the cart is as it was before the session, and builds.";
        let lines = [
            line(ItemKind::Prompt, "User: round the cart once", &[]),
            line(ItemKind::Digest, "Action: Edit(cart.rs) → +1", &cart),
            line(
                ItemKind::Agent,
                "Agent: The cart rounds once now, at the end of its rows.",
                &[],
            ),
            line(ItemKind::Prompt, "User: revert this change", &[]),
            line(ItemKind::Digest, "Action: Bash(git restore .) → ok", &[]),
            line(ItemKind::Agent, undone, &[]),
            line(
                ItemKind::Prompt,
                "User: let the shop open at seven, and close at nine",
                &[],
            ),
            line(ItemKind::Digest, "Action: Edit(shop.rs) → +1", &shop),
            line(
                ItemKind::Agent,
                "Agent: The shop opens at seven and closes at nine, on all days.",
                &[],
            ),
        ];
        let first = LocatedItem {
            line: 9,
            ..lines[0]
        }
        .source("round the cart once".to_owned());
        let mut all = lines;
        all[0].line = 9;
        let came = result(&all, &prompts(&all), Some(&first));
        let opening = came.opening.expect("the objective's").what;
        assert!(
            opening.ends_with("as it was before the session, and builds."),
            "{opening}"
        );
        assert_eq!(came.withdrawn.get(&0), Some(&Withdrawn::Undone(3)));
        let mut kept = all;
        kept[3] = line(ItemKind::Prompt, "User: revert the order of the rows", &[]);
        let came = result(&kept, &prompts(&kept), Some(&first));
        assert!(came.withdrawn.is_empty(), "it is about something else");
    }

    #[test]
    fn findings_that_were_fixed_come_behind_the_fix() {
        let (probe, mend) = (edit("/p/probe.rs"), edit("/p/cart.rs"));
        let found = format!(
            "Agent: I found two faults in the cart.\n\n{}",
            "1. **Rounding** is done for each row and once more for the sum of all rows.\n"
                .repeat(12)
        );
        let lines = [
            line(ItemKind::Prompt, "User: review the cart of the shop", &[]),
            line(ItemKind::Digest, "Action: Edit(probe.rs) → +1", &probe),
            line(ItemKind::Agent, &found, &[]),
            line(ItemKind::Prompt, "User: fix them all", &[]),
            line(ItemKind::Digest, "Action: Edit(cart.rs) → +1", &mend),
            line(
                ItemKind::Agent,
                "Agent: Both faults are fixed: the sum is rounded once, at its end.",
                &[],
            ),
        ];
        let first = LocatedItem {
            line: 9,
            ..lines[0]
        }
        .source("review the cart".to_owned());
        let mut all = lines;
        all[0].line = 9;
        let came = result(&all, &prompts(&all), Some(&first));
        let (told, opening) = (came.result, came.opening);
        assert!(told.is_some_and(|told| told.what.starts_with("Both faults are fixed")));
        assert!(opening.is_some_and(|told| told.what.starts_with("First: I found two faults")));
    }

    #[test]
    fn what_somebody_says_fails_is_not_what_a_session_came_to() {
        let told = |said: &'static str| {
            let (first, second) = (edit("/p/cart.rs"), edit("/p/shop.rs"));
            let first = std::array::from_fn::<_, 6, _>(|_| first[0].clone());
            let done = "Agent: The shop's checks are done and pushed.\n\n- The cart is checked first\n- The shop is \
                        checked behind it\n- Both are checked before each release";
            let lines = [
                line(ItemKind::Prompt, "User: check the cart of the shop", &[]),
                line(ItemKind::Digest, "Action: Edit(cart.rs) → +1", &first),
                line(ItemKind::Agent, done, &[]),
                line(ItemKind::Prompt, said, &[]),
                line(ItemKind::Digest, "Action: Edit(shop.rs) → +1", &second),
                line(
                    ItemKind::Agent,
                    "Agent: The shop is found on every machine now, by its whole path.",
                    &[],
                ),
            ];
            let told = result(&lines, &prompts(&lines), None).result;
            told.expect("a result").what
        };
        let fails = told("User: the build still fails in ci");
        assert!(fails.starts_with("The shop is found"), "{fails}");
        let goes_on = told("User: find the shop by its path");
        assert!(goes_on.starts_with("The shop's checks"), "{goes_on}");
    }

    #[test]
    fn a_no_to_an_offer_refuses_no_answer() {
        let told = |answer| {
            let lines = [
                line(ItemKind::Prompt, "User: why are there two commits?", &[]),
                line(
                    ItemKind::Agent,
                    "Agent: Each cart is committed by itself, whichever shop it is of. Should I write them in one?",
                    &[],
                ),
                line(ItemKind::Prompt, answer, &[]),
            ];
            result(&lines, &prompts(&lines), None).result.is_some()
        };
        assert!(told("User: no, it's good then"));
        assert!(!told("User: no, that is wrong"));
    }

    #[test]
    fn some_prompts_only_have_done_what_was_said() {
        for words in [
            "fix them all",
            "address all findings",
            "fix 1 and 3",
            "yes please",
        ] {
            assert!(asks_for_it(words), "{words}");
        }
        for words in [
            "fix the totals of carts",
            "why?",
            "/review",
            "the rest is fine",
        ] {
            assert!(!asks_for_it(words), "{words}");
        }
    }

    #[test]
    fn work_that_was_done_again_is_reworked() {
        let (cart, shop) = (edit("/p/cart.rs"), edit("/p/shop.rs"));
        let lines = |second| {
            [
                line(ItemKind::Prompt, "User: round the cart", &[][..]),
                line(ItemKind::Digest, "Action: Edit(x) → +1", &cart),
                line(ItemKind::Prompt, "User: shorter", &[]),
                line(ItemKind::Digest, "Action: Edit(x) → +1", second),
            ]
        };
        assert!(is_reworked(&lines(&cart), 0) && !is_reworked(&lines(&shop), 0));
    }
    #[test]
    fn a_commit_that_was_made_anew_is_told_by_what_was_said_then() {
        let commit = |again| Finding::Commit {
            hash: "0abc123".into(),
            subject: "Round totals".into(),
            again,
            size: None,
        };
        let cart = edit("/p/cart.rs");
        let lines = |path: &str, again| {
            let [first, second] = [edit("/p/cart.rs"), edit(path)];
            let made = [first[0].clone(), commit(false)];
            let anew = [second[0].clone(), commit(again)];
            (made, anew)
        };
        for (path, again, wants) in [
            ("/p/cart.rs", true, true),
            ("/p/cart.rs", false, false),
            ("/p/shop.rs", true, false),
        ] {
            let (made, anew) = lines(path, again);
            let all = [
                line(ItemKind::Prompt, "User: round the cart", &[]),
                line(ItemKind::Digest, "Action: Bash(x) → ok", &made),
                line(ItemKind::Prompt, "User: with a type of its own", &[]),
                line(ItemKind::Digest, "Action: Bash(x) → ok", &anew),
            ];
            assert_eq!(is_amended(&all, 0, &[2]), wants, "{path} {again}");
        }
        let all = [
            line(ItemKind::Prompt, "User: round the cart", &[]),
            line(ItemKind::Digest, "Action: Edit(x) → +1", &cart),
        ];
        assert!(!is_amended(&all, 0, &[]));
    }
}

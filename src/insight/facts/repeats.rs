//! Points of one part of a result that another part tells too.

use super::broken_off::NOT_FINISHED;
use super::further::{ANSWERED, IN_RESULT};
use super::points::{is_point, without_mark};
use super::words::shortened;
use crate::model::summary::{Decision, Sourced};
use crate::rules::reports::{checks_named, only_passes, tells_of_failure};
use crate::rules::words::{content_words, is_same, sentences};

/// Drops points of `text` that `other` has, and what then leads to nothing.
pub(super) fn drop_repeated(text: &mut String, other: &str) {
    let told: Vec<Vec<String>> = points(other).map(content_words).collect();
    let is_told = |line: &&str| {
        is_point(line) && {
            let own = content_words(without_mark(line));
            told.iter().any(|told| is_same_point(&own, told))
        }
    };
    if told.is_empty() || !text.lines().any(|line| is_told(&line)) {
        return;
    }
    let mut kept: Vec<&str> = Vec::new();
    let mut is_gone = false;
    for line in text.lines() {
        if is_told(&line) {
            is_gone = true;
            continue;
        }
        // a number of further ones says nothing where none stands before it
        let counts =
            is_point(line) && without_mark(line).starts_with("and ") && line.ends_with(" more");
        if is_gone && counts && !kept.last().is_some_and(|last| is_point(last)) {
            continue;
        }
        // all points of the list above are gone
        if std::mem::take(&mut is_gone) && !is_point(line) {
            drop_lead(&mut kept);
        }
        kept.push(line);
    }
    if is_gone {
        drop_lead(&mut kept);
    }
    *text = kept.join("\n");
}

/// Drops sentences that say only that checks pass, where these are listed: tests, others. All of it stays where little else
/// is said, and where something else says that one failed.
pub(super) fn drop_passes(text: &mut String, [has_tests, has_checks]: [bool; 2]) {
    const CHARS_MIN: usize = 60;
    let is_idle = |said: &&str| {
        let [of_tests, of_others] = checks_named(said);
        let is_listed = (has_tests || !of_tests) && (has_checks || !of_others);
        is_listed && only_passes(without_mark(said))
    };
    let mut kept: Vec<String> = Vec::new();
    let mut is_gone = false;
    for line in text.lines() {
        let all: Vec<&str> = sentences(line).collect();
        let rest: Vec<&str> = all.iter().filter(|said| !is_idle(said)).copied().collect();
        if rest.is_empty() && !all.is_empty() {
            is_gone = true;
            continue;
        }
        if std::mem::take(&mut is_gone) && !is_point(line) {
            kept.pop_if(|last| last.ends_with(':'));
        }
        kept.push(match rest.len() == all.len() {
            true => line.to_owned(),
            false => rest.join(" "),
        });
    }
    if is_gone {
        kept.pop_if(|last| last.ends_with(':'));
    }
    let kept = kept.join("\n");
    if kept.chars().count() >= CHARS_MIN && !tells_of_failure(&kept) {
        *text = kept;
    }
}

/// Drops requests that say no more than a decision that was made with them.
pub(super) fn drop_decided(requests: &mut Vec<Sourced<String>>, decisions: &[Sourced<Decision>]) {
    requests.retain(|asked| {
        let bare = bare_request(&asked.what);
        let is_same = |told: &Sourced<Decision>| {
            let decided = told.what.decision.trim_end_matches('.');
            (told.episode, told.line) == (asked.episode, asked.line) && decided.contains(bare)
        };
        asked.what.contains(ANSWERED) || !decisions.iter().any(is_same)
    });
}

/// What stands among the next steps as unfinished is a request in few words, with what the agent said to it, or none.
pub(super) fn shorten_unfinished(requests: &mut Vec<Sourced<String>>, next: &[Sourced<String>]) {
    const CHARS_MAX: usize = 60;
    requests.retain_mut(|asked| {
        let is_it = |step: &Sourced<String>| {
            let is_same = (step.episode, step.line) == (asked.episode, asked.line);
            is_same && step.what.starts_with(NOT_FINISHED)
        };
        if !next.iter().any(is_it) {
            return true;
        }
        let Some((words, answer)) = asked.what.split_once(ANSWERED) else {
            return asked.what.ends_with(IN_RESULT);
        };
        asked.what = format!("{}{ANSWERED}{answer}", shortened(words, CHARS_MAX));
        true
    });
}

/// Without what stands in parentheses at its end.
fn bare_request(text: &str) -> &str {
    let bare = text
        .strip_suffix(')')
        .and_then(|text| text.rsplit_once(" ("));
    bare.map_or(text, |(bare, _)| bare)
}

fn drop_lead(kept: &mut Vec<&str>) {
    if kept.last().is_some_and(|last| last.ends_with(':')) {
        kept.pop();
    }
}

fn points(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| is_point(line)).map(without_mark)
}

/// Drops tasks where lines of these texts tell nearly all of them: some of a list would say that the others aren't done.
pub(super) fn drop_told<'s>(
    tasks: &mut Vec<Sourced<String>>,
    texts: impl Iterator<Item = &'s Sourced<String>>,
) {
    const WORDS_MIN: usize = 3;
    if tasks.is_empty() {
        return;
    }
    let lines = texts.flat_map(|text| text.what.lines());
    let lines: Vec<Vec<String>> = lines.map(content_words).collect();
    let is_told = |task: &Sourced<String>| {
        let own = content_words(&task.what);
        let tells = |line: &Vec<String>| {
            let is_in = |word: &&String| line.iter().any(|other| is_same(other, word));
            own.iter().filter(is_in).count() * 3 >= own.len() * 2
        };
        own.len() >= WORDS_MIN && lines.iter().any(tells)
    };
    let told = tasks.iter().filter(|task| is_told(task)).count();
    if told * 4 >= tasks.len() * 3 {
        tasks.clear();
    }
}

/// They begin with the same word, and most words of one stand in the other.
fn is_same_point(own: &[String], told: &[String]) -> bool {
    const WORDS_MIN: usize = 2;
    let is_in = |word: &&String| told.iter().any(|other| is_same(other, word));
    let shared = own.iter().filter(is_in).count();
    own.len() >= WORDS_MIN && own.first() == told.first() && shared * 5 >= own.len() * 3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::facts::LocatedItem;
    use crate::model::exchange::ItemKind;
    use crate::model::summary::sourced;

    #[test]
    fn what_is_told_twice_is_told_once() {
        let mut first = "The cart rounds once:\n- cart.rs: rounds half up\nSecrets:\n- CART_KEY - the key of the cart\n\
            - SHOP_KEY - the key of the shop\nAll is set."
            .to_owned();
        let later = "Add these:\n- CART_KEY: the key of the cart\n- SHOP_KEY: key of the shop (base64)\n\
            - cart.rs: prints totals";
        drop_repeated(&mut first, later);
        let wants = "The cart rounds once:\n- cart.rs: rounds half up\nAll is set.";
        assert_eq!(first, wants);
        let mut list =
            "Set these:\n- CART_KEY - the key of the cart\n- and 3 more\nAll is set.".to_owned();
        drop_repeated(&mut list, later);
        assert_eq!(list, "All is set.");
    }

    #[test]
    fn tasks_that_the_result_tells_are_not_told_again() {
        let said = |what: &str| sourced(1, what.to_owned());
        let result = said(
            "Done:\n- **cart.rs**: totals of the cart are rounded once, half up\n- orders: totals printed",
        );
        let mut told = ["Round totals of carts once", "Print totals of orders"]
            .map(said)
            .to_vec();
        let mut some = told.clone();
        some.push(said("Sort the shelves by name"));
        for (tasks, left) in [(&mut told, 0), (&mut some, 3)] {
            drop_told(tasks, [&result].into_iter());
            assert_eq!(tasks.len(), left);
        }
    }

    #[test]
    fn checks_that_pass_are_told_once() {
        let told = |text: &str| {
            let mut text = text.to_owned();
            drop_passes(&mut text, [true, true]);
            text
        };
        let rest = "Carts are grouped by shop:\n- each group has a head with its name and a number";
        assert_eq!(
            told(&format!(
                "All 12 tests pass, lint is clean.\n{rest}\nTests pass."
            )),
            rest
        );
        assert_eq!(
            told("All 12 tests pass."),
            "All 12 tests pass.",
            "nothing else is said"
        );
    }

    #[test]
    fn what_is_not_finished_is_a_request_in_few_words() {
        let line = LocatedItem::sample(ItemKind::Prompt, 7, "User: round totals of all carts", &[]);
        let next = [line.source(format!("{NOT_FINISHED}round totals of all carts"))];
        let left = |asked: &str| {
            let mut asked = vec![line.source(asked.to_owned())];
            shorten_unfinished(&mut asked, &next);
            asked.pop().map(|asked| asked.what)
        };
        assert_eq!(left("round totals of all carts"), None);
        let long = "round totals of all carts of this shop, and then of the shops that it has in other towns";
        let wants = "round totals of all carts of this shop, and then… → So far: one is rounded.";
        let told = left(&format!("{long} → So far: one is rounded."));
        assert_eq!(told.as_deref(), Some(wants));
    }

    #[test]
    fn a_request_that_is_a_decision_stands_there() {
        let line = LocatedItem::sample(ItemKind::Prompt, 7, "User: I want it in AGENTS.md", &[]);
        let decision = |text: &str| {
            line.source(Decision {
                decision: text.to_owned(),
                ..Decision::default()
            })
        };
        let left = |asked: &str| {
            let mut asked = vec![line.source(asked.to_owned())];
            drop_decided(&mut asked, &[decision("I want it in AGENTS.md.")]);
            asked.len()
        };
        assert_eq!(left("it in AGENTS.md (see Result)"), 0);
        assert_eq!(
            left("it in AGENTS.md → It says so now."),
            1,
            "it has an answer"
        );
        assert_eq!(left("a page of carts (see Result)"), 1);
    }
}

//! Points of one part of a result that another part tells too.

use super::points::{is_point, without_mark};
use crate::model::summary::Sourced;
use crate::rules::words::{content_words, is_same};

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
}

//! What a session is called where nobody named it: what was asked for, in short.

use crate::model::human::{self, TITLE_CHARS};
use crate::model::summary::Summary;

/// What was asked first, without later requests and without the names in parentheses; where it begins with all of the
/// first prompt's first line, `first`, only that. Of a longer text what fits, which ends at a word, and in `…`. `None`:
/// nobody asked for anything.
pub fn title(summary: &Summary, first: Option<&str>) -> Option<String> {
    let asked = summary.objective.as_ref()?.what.as_str();
    let asked = asked.split_once("; then").map_or(asked, |(asked, _)| asked);
    let bare = without_names(asked.trim_end());
    // a longer line was cut when it was stored
    let line = first.filter(|line| line.chars().count() < TITLE_CHARS);
    let line = line.map(|line| line.trim_end_matches('.'));
    let line = line.filter(|line| !line.is_empty() && bare.starts_with(line));
    Some(human::title(line.unwrap_or(bare)).into_owned()).filter(|title| !title.is_empty())
}

/// Without the parentheses at its end.
fn without_names(text: &str) -> &str {
    let mut depth = 0;
    let opens = text.char_indices().rev().find(|(_, c)| {
        match c {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let before = opens.and_then(|(at, _)| text[..at].strip_suffix(' '));
    before.filter(|_| text.ends_with(')')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::summary::sourced;

    #[test]
    fn a_title_is_what_was_asked_first_in_short() {
        let of = |asked: &str, first: &str| {
            let summary = Summary {
                objective: Some(sourced(1, asked.to_owned())),
                ..Summary::default()
            };
            title(&summary, Some(first)).expect("a title")
        };
        for (asked, wants) in [
            (
                "count the mice (barn, PR: Count (all) mice)",
                "count the mice",
            ),
            (
                "count the mice; then: feed the owls; then: sweep (barn)",
                "count the mice",
            ),
            (
                "count the mice; then only: those of the attic",
                "count the mice",
            ),
            ("(barn)", "(barn)"),
            ("fix count(mice)", "fix count(mice)"),
            (
                "Mice are wrong. Each of them has a number on its back, which nobody of us ever wrote down",
                "Mice are wrong. Each of them has a number on its back, which nobody of us ever…",
            ),
        ] {
            assert_eq!(of(asked, "go"), wants);
        }
        let plan =
            "Count mice. Each of them has a number on its back, which nobody of us ever wrote down";
        assert_eq!(of(plan, "Count mice"), "Count mice");
        assert_eq!(title(&Summary::default(), Some("go")), None);
    }
}

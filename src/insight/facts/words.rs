//! People's words, shortened. Knows what stands around a request; refuses to paraphrase.

use crate::model::exchange::is_bare_command;

/// An objective is at most so long: two sentences.
const OBJECTIVE_CHARS_MAX: usize = 300;

/// What a prompt asks for: its first prose, two sentences of it at most, and where that ends with a
/// colon what follows; `None` where it is a bare command, or nothing but code and tags.
pub fn objective(prompt: &str) -> Option<String> {
    if is_bare_command(prompt) || prompt.starts_with(['{', '<']) {
        return None;
    }
    let mut inside_code = false;
    let mut prose = prompt.lines().map(str::trim).filter(|line| {
        let fence = line.starts_with("```");
        inside_code ^= fence;
        let says = line.chars().filter(|c| c.is_alphabetic()).count() >= SAYS_CHARS_MIN;
        says && !inside_code && !fence && !line.starts_with('[')
    });
    let plain = |line: &str| folded(line.trim_start_matches(['#', '>', '-', '*', ' ']));
    let mut text = plain(prose.next()?);
    if text.ends_with(':')
        && let Some(next) = prose.next()
    {
        let next = plain(next);
        text.push(' ');
        text.push_str(next.strip_prefix("Plan: ").unwrap_or(&next));
    }
    Some(first_sentences(&text, 2, OBJECTIVE_CHARS_MAX))
}

/// Fewer letters say nothing.
const SAYS_CHARS_MIN: usize = 3;

/// Whitespace folded, emphasis taken off.
pub fn folded(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace("**", "")
}

/// What stands in the parentheses of a digest, without quotes.
pub fn inside_parentheses(digest: &str) -> Option<&str> {
    let inside = digest.split_once('(')?.1;
    let inside = inside
        .rsplit_once(") → ")
        .map_or(inside, |(inside, _)| inside);
    Some(inside.trim_matches('"')).filter(|inside| !inside.is_empty())
}

fn first_sentences(text: &str, sentences: usize, chars_max: usize) -> String {
    let mut end = text.len();
    let mut seen = 0;
    for (at, c) in text.char_indices() {
        let next = text[at + c.len_utf8()..].chars().next();
        if matches!(c, '.' | '!' | '?') && next.is_none_or(char::is_whitespace) {
            seen += 1;
            if seen == sentences {
                end = at + c.len_utf8();
                break;
            }
        }
    }
    let text = &text[..end];
    match text.char_indices().nth(chars_max) {
        Some((at, _)) => format!("{}…", text[..at].trim_end()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_objective_is_the_first_prose_of_a_prompt() {
        for (prompt, wants) in [
            ("fix the tests", Some("fix the tests")),
            ("Fix it. Then push. Then rest.", Some("Fix it. Then push.")),
            ("/clear", None),
            ("{\"task_id\": 1}", None),
            ("[Image #1]\nwhy is it red?", Some("why is it red?")),
            ("```\ncode here\n```\nexplain this", Some("explain this")),
            ("# Make   **it** fast\nmore", Some("Make it fast")),
            (
                "Do this plan:\n\n# Plan: Sort it\n\nmore",
                Some("Do this plan: Sort it"),
            ),
            ("See:", Some("See:")),
            ("看看这个", Some("看看这个")),
        ] {
            assert_eq!(objective(prompt).as_deref(), wants, "{prompt}");
        }
        let long = objective(&"word ".repeat(200)).unwrap();
        assert!(long.ends_with('…') && long.chars().count() <= OBJECTIVE_CHARS_MAX + 1);
    }
}

//! People's words, shortened. Knows what stands around a request; refuses to paraphrase.

use crate::model::exchange::is_bare_command;

/// An objective is at most so long: two sentences.
const OBJECTIVE_CHARS_MAX: usize = 300;

/// What a prompt asks for: its first prose, two sentences of it at most, and where that ends with a
/// colon what follows; `None` where it is a bare command, or nothing but code, tags, addresses and
/// what a terminal showed.
pub fn objective(prompt: &str) -> Option<String> {
    let text = asked(prompt)?;
    Some(first_sentences(&text, 2, OBJECTIVE_CHARS_MAX))
}

/// A prompt in a line: its first sentence, and the second where the first only agrees; `None` where
/// [`objective`] is, or where all of it only agrees.
pub fn request(prompt: &str) -> Option<String> {
    let text = asked(prompt)?;
    let agrees =
        |text: &str| text.is_ascii() && text.split_whitespace().count() < REQUEST_WORDS_MIN;
    let first = first_sentences(&text, 1, REQUEST_CHARS_MAX);
    match (agrees(&text), agrees(&first)) {
        (true, _) => None,
        (false, true) => Some(first_sentences(&text, 2, REQUEST_CHARS_MAX)),
        (false, false) => Some(first),
    }
}

/// One prompt of many, in a list.
const REQUEST_CHARS_MAX: usize = 120;

/// Shorter ones agree (`yes please`).
const REQUEST_WORDS_MIN: usize = 3;

/// How an agent's words begin: their first lines as they are, without headings' marks, tables and
/// code; `None` where nothing else is there.
pub fn beginning(words: &str) -> Option<String> {
    let mut inside_code = false;
    let mut text = String::new();
    let mut lines = 0;
    for line in words.lines().map(str::trim_end) {
        let bare = line.trim_start();
        let fence = bare.starts_with("```");
        inside_code ^= fence;
        let is_rule = bare.chars().all(|c| matches!(c, '-' | '=' | '*' | '_'));
        if fence || inside_code || is_rule || bare.starts_with('|') {
            continue;
        }
        if lines == BEGINNING_LINES_MAX || text.len() + line.len() > BEGINNING_BYTES_MAX {
            if text.is_empty() {
                text = first_sentences(bare, 3, BEGINNING_BYTES_MAX);
            } else {
                text.push_str("\n…");
            }
            break;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(line.trim_start_matches('#').trim_start_matches(' '));
        lines += 1;
    }
    (!text.is_empty()).then_some(text)
}

/// More: the page is a log again; fewer: the result stands behind.
const BEGINNING_LINES_MAX: usize = 8;
const BEGINNING_BYTES_MAX: usize = 700;

fn asked(prompt: &str) -> Option<String> {
    if is_bare_command(prompt) || prompt.starts_with(['{', '<']) {
        return None;
    }
    let mut inside_code = false;
    let mut prose = prompt.lines().map(str::trim).filter(|line| {
        let fence = line.starts_with("```");
        inside_code ^= fence;
        let says = line.chars().filter(|c| c.is_alphabetic()).count() >= SAYS_CHARS_MIN;
        says && !inside_code && !fence && !is_pasted(line)
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
    Some(text)
}

/// What a terminal or an interface showed, a shell command, or nothing but an address or a path.
fn is_pasted(line: &str) -> bool {
    let shown = line.starts_with(['[', '!', '$', '➜', '┃', '│', '❯', '⏺', '╭']);
    let one_word = !line.contains(char::is_whitespace);
    let address = one_word && (line.contains("://") || line.starts_with(['/', '~']));
    shown || address
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
            ("!git status\nwhy is it dirty?", Some("why is it dirty?")),
            ("➜ shop git:(main) ✗ git push\nfix CI", Some("fix CI")),
            ("https://example.com/issues/1\nfix this", Some("fix this")),
            ("/erk:pr-address --pr 7", Some("/erk:pr-address --pr 7")),
            ("~/shots/a.png", None),
            ("看看这个", Some("看看这个")),
        ] {
            assert_eq!(objective(prompt).as_deref(), wants, "{prompt}");
        }
        assert_eq!(request("yes please"), None);
        let great = "Great. Commit it and open a pull request. Then rest.";
        let wants = "Great. Commit it and open a pull request.";
        assert_eq!(request(great).as_deref(), Some(wants));
        assert_eq!(
            request("Now the docs. And more."),
            Some("Now the docs.".into())
        );
        let long = objective(&"word ".repeat(200)).unwrap();
        assert!(long.ends_with('…') && long.chars().count() <= OBJECTIVE_CHARS_MAX + 1);
    }
    #[test]
    fn a_beginning_is_what_reads_as_words() {
        let words = "## Done\n\nAll pass.\n```\ncode\n```\n---\n| a | b |\n- one";
        assert_eq!(beginning(words).as_deref(), Some("Done\nAll pass.\n- one"));
        let long = beginning(&"Many words here. ".repeat(90)).unwrap();
        assert!(long.len() < BEGINNING_BYTES_MAX, "{long}");
        let many = beginning(&"line\n".repeat(20)).unwrap();
        assert_eq!(many.lines().count(), BEGINNING_LINES_MAX + 1);
        assert_eq!(beginning("```\nx\n```"), None);
    }
}

//! People's words, shortened. Nothing is paraphrased.

use crate::model::exchange::is_bare_command;
use crate::rules::words::{sentence_end, sentences};

/// An objective is at most so long: two sentences.
const OBJECTIVE_CHARS_MAX: usize = 300;

/// What a prompt asks for: its first prose, two sentences of it at most, and where that ends with a
/// colon what follows, with the address that the prompt names; `None` where it is a bare command, or
/// nothing but code, tags, addresses and what a terminal showed.
pub fn objective(prompt: &str) -> Option<String> {
    let text = asked(prompt)?;
    let text = first_sentences(&text, 2, OBJECTIVE_CHARS_MAX);
    let address = prompt.lines().map(str::trim).find(|line| is_address(line));
    Some(match address.filter(|_| !text.contains("://")) {
        Some(address) if address.len() < OBJECTIVE_CHARS_MAX => format!("{text} {address}"),
        _ => text,
    })
}

/// A command that asks for work and says no more than its name; `None` for those that only drive the
/// program.
pub fn command(prompt: &str) -> Option<String> {
    const DRIVE: [&str; 20] = [
        "/clear", "/compact", "/config", "/context", "/cost", "/doctor", "/effort", "/exit",
        "/fast", "/help", "/login", "/logout", "/mcp", "/model", "/plugin", "/quit", "/resume",
        "/status", "/usage", "/rename",
    ];
    let name = prompt.trim();
    let asks = name.starts_with('/') && is_bare_command(name) && !DRIVE.contains(&name);
    asks.then(|| name.to_owned())
}

/// A prompt in a line: its first sentence, and more where that only agrees; `None` where
/// [`objective`] is, or where all of it only agrees.
pub fn request(prompt: &str) -> Option<String> {
    let text = asked(prompt)?;
    let agrees =
        |text: &str| text.is_ascii() && text.split_whitespace().count() < REQUEST_WORDS_MIN;
    if agrees(&text) {
        return None;
    }
    let mut firsts =
        (1..=REQUEST_SENTENCES_MAX).map(|n| first_sentences(&text, n, REQUEST_CHARS_MAX));
    firsts.find(|first| !sentences(first).all(agrees))
}

/// More sentences that only agree: nothing is asked.
const REQUEST_SENTENCES_MAX: usize = 4;

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
        // `::git-push{…}` is for Codex' own window
        let is_directive = bare.starts_with("::") && bare.ends_with('}');
        if fence || inside_code || is_rule || is_directive || bare.starts_with('|') {
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

/// More: the summary is a log again; fewer: the result stands behind.
const BEGINNING_LINES_MAX: usize = 8;
const BEGINNING_BYTES_MAX: usize = 700;

fn asked(prompt: &str) -> Option<String> {
    if is_bare_command(prompt) || prompt.starts_with(['{', '<']) {
        return None;
    }
    // what is asked stands behind what a terminal showed
    let last = prompt.rsplit("\n\n").next().filter(|_| is_shell(prompt));
    last.and_then(first_prose).or_else(|| first_prose(prompt))
}

fn first_prose(prompt: &str) -> Option<String> {
    let mut inside_code = false;
    let mut prose = prompt.lines().map(str::trim).filter(|line| {
        let fence = line.starts_with("```");
        inside_code ^= fence;
        let says = line.chars().filter(|c| c.is_alphabetic()).count() >= SAYS_CHARS_MIN;
        says && !inside_code && !fence && !is_pasted(line)
    });
    let plain = |line: &str| {
        let line = line.trim_start_matches(['#', '>', '-', '*', ' ']);
        folded(without_files(line))
    };
    let mut text = plain(prose.next()?);
    let is_heading = text.split_whitespace().count() < REQUEST_WORDS_MIN
        && text.ends_with(char::is_alphanumeric);
    if (text.ends_with(':') || is_heading)
        && let Some(next) = prose.next()
    {
        let next = plain(next);
        text.push_str(if is_heading { ": " } else { " " });
        text.push_str(next.strip_prefix("Plan: ").unwrap_or(&next));
    }
    Some(text)
}

/// Files that were dropped on the prompt stand before it, in quotes.
fn without_files(line: &str) -> &str {
    let mut rest = line;
    while let Some((_, after)) = rest
        .strip_prefix("'/")
        .and_then(|file| file.split_once("' "))
    {
        rest = after.trim_start();
    }
    rest
}

/// What a terminal or an interface showed, a shell command, or nothing but an address or a path.
fn is_pasted(line: &str) -> bool {
    const PRINTED: [&str; 6] = [
        "error: ",
        "fatal: ",
        "hint: ",
        "warning: ",
        "Traceback (",
        "=> ",
    ];
    let drawn = |c: char| ('\u{2190}'..='\u{2bff}').contains(&c) || c >= '\u{1f000}';
    let shown = line.starts_with(['[', '!', '$']) || line.starts_with(drawn);
    let one_word = !line.contains(char::is_whitespace);
    let place = is_address(line) || one_word && line.starts_with(['/', '~']);
    shown || place || line.contains("····") || PRINTED.iter().any(|start| line.starts_with(start))
}

/// Where a shell waits for a command.
fn is_shell(line: &str) -> bool {
    line.starts_with(['➜', '❯', '$'])
}

fn is_address(line: &str) -> bool {
    line.contains("://") && !line.contains(char::is_whitespace)
}

/// Fewer letters say nothing.
const SAYS_CHARS_MIN: usize = 3;

/// Whitespace folded, emphasis and borders taken off.
pub fn folded(text: &str) -> String {
    let drawn = |word: &&str| !word.chars().all(|c| matches!(c, '│' | '┃'));
    let words: Vec<&str> = text.split_whitespace().filter(drawn).collect();
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
    let mut end = 0;
    for _ in 0..sentences {
        end += sentence_end(&text[end..]);
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
            (
                "I need: 1. Logs 2. Tests. Go. On.",
                Some("I need: 1. Logs 2. Tests. Go."),
            ),
            ("!git status\nwhy is it dirty?", Some("why is it dirty?")),
            ("➜ shop git:(main) ✗ git push\nfix CI", Some("fix CI")),
            (
                "fix this\nhttps://example.com/issues/1",
                Some("fix this https://example.com/issues/1"),
            ),
            ("'/a b.png' '/c.png' fix it all", Some("fix it all")),
            (
                "Low severity\n\nIt is wrapped twice.",
                Some("Low severity: It is wrapped twice."),
            ),
            ("🐳 Building image\nwhy so slow?", Some("why so slow?")),
            (
                "➜ shop git push\nerror: no\n- try this\n\nplease fix. now",
                Some("please fix. now"),
            ),
            ("one ┃ two │ three", Some("one two three")),
            ("/erk:pr-address --pr 7", Some("/erk:pr-address --pr 7")),
            ("~/shots/a.png", None),
            ("看看这个", Some("看看这个")),
        ] {
            assert_eq!(objective(prompt).as_deref(), wants, "{prompt}");
        }
        assert_eq!(request("yes please"), None);
        assert_eq!(
            request("ok. uh. no. It is red. Go."),
            Some("ok. uh. no. It is red.".into())
        );
        assert_eq!(command("/init").as_deref(), Some("/init"));
        assert_eq!((command("/clear"), command("/init all")), (None, None));
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
        let words =
            "## Done\n\nAll pass.\n::git-push{cwd=\"/p\"}\n```\ncode\n```\n---\n| a | b |\n- one";
        assert_eq!(beginning(words).as_deref(), Some("Done\nAll pass.\n- one"));
        let long = beginning(&"Many words here. ".repeat(90)).unwrap();
        assert!(long.len() < BEGINNING_BYTES_MAX, "{long}");
        let many = beginning(&"line\n".repeat(20)).unwrap();
        assert_eq!(many.lines().count(), BEGINNING_LINES_MAX + 1);
        assert_eq!(beginning("```\nx\n```"), None);
    }
}

//! Options that an agent lists, and which of them people name: `Option B`, `the second`, `1`.

use super::words;
use crate::rules::words::sentence_end;

/// The text of the option that an answer names, in the last list that has it.
pub(super) fn option_of(agent: &str, name: &str) -> Option<String> {
    let named = agent.lines().rev().find_map(|line| option_text(line, name));
    let named = named.or_else(|| agent.lines().rev().find_map(|line| row_text(line, name)));
    let named = named.or_else(|| {
        let nth = ORDINALS.iter().position(|ordinal| *ordinal == name)?;
        let list = last_list(agent);
        let text = match name {
            LAST => list.last(),
            _ => list.get(nth),
        };
        text.map(|text| (*text).to_owned())
    })?;
    let text = words::folded(&named);
    let text = match text.len() > OPTION_BYTES_MAX {
        true => text[..sentence_end(&text)].to_owned(),
        false => text,
    };
    (!text.is_empty()).then_some(text)
}

/// The other options of the list in which this one stands: with names of its kind, in a row from the first.
pub(super) fn others(agent: &str, name: &str) -> Vec<String> {
    const NUMBERS: [&str; 9] = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];
    const LETTERS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
    let names: &[&str] = match name.starts_with(|c: char| c.is_ascii_digit()) {
        true => &NUMBERS,
        false => &LETTERS,
    };
    let all = names
        .iter()
        .map_while(|other| Some((other, option_of(agent, other)?)));
    let others = all.filter(|(other, _)| !other.eq_ignore_ascii_case(name));
    others.map(|(_, option)| option).collect()
}

const LAST: &str = "last";

/// Which of a list.
const ORDINALS: [&str; 5] = ["first", "second", "third", "fourth", LAST];

/// Of a longer option the first sentence says what it is.
const OPTION_BYTES_MAX: usize = 240;

/// `| 2 | Keep it | small |`.
fn row_text(line: &str, name: &str) -> Option<String> {
    const MARKS: [char; 3] = ['*', ' ', '#'];
    const LETTERS_MIN: usize = 3;
    if !line.trim_start().starts_with('|') {
        return None;
    }
    let mut cells = line.trim().trim_matches('|').split('|');
    let first = cells.next()?.trim_matches(MARKS);
    let text = cells.next()?.trim_matches(['*', ' ']);
    let says = text.chars().filter(|c| c.is_alphabetic()).count() >= LETTERS_MIN;
    (first.eq_ignore_ascii_case(name) && says).then(|| text.to_owned())
}

/// What stands behind the name: `2. Keep it`, `- **Option B** — Drop it`.
fn option_text(line: &str, name: &str) -> Option<String> {
    const MARKS: [char; 6] = ['#', '*', '-', '•', ' ', '('];
    const KINDS: [&str; 5] = ["option", "variant", "approach", "plan", "choice"];
    let line = line.trim_start_matches(MARKS);
    let kind = KINDS.iter().find_map(|kind| {
        let start = line.get(..kind.len())?;
        start.eq_ignore_ascii_case(kind).then_some(kind.len())
    });
    let rest = line[kind.unwrap_or(0)..].trim_start_matches([' ', '#']);
    let start = rest.get(..name.len())?;
    let rest = start
        .eq_ignore_ascii_case(name)
        .then(|| rest[name.len()..].trim_start_matches('*').trim_start())?;
    let text = rest.strip_prefix(['.', ')', ':', '—', '–', '-'])?;
    let text = text
        .trim_start_matches(['*', ' ', '—', '–', '-', ':'])
        .trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The points of the last list in some words.
fn last_list(words: &str) -> Vec<&str> {
    let mut list = Vec::new();
    for line in words.lines().rev().map(str::trim) {
        let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = (numbered.len() < line.len()).then_some(numbered);
        let marked = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
        match numbered.and_then(|text| text.strip_prefix(". ")).or(marked) {
            Some(point) => list.push(point),
            None if list.is_empty() || line.is_empty() => {}
            None => break,
        }
    }
    list.reverse();
    list
}

/// Of an option beside the words that name it.
const BESIDE_CHARS_MAX: usize = 60;

/// A request with what the option stands for that it names: `go for option 2 (drop the cache)`. As it is where the agent's
/// words have none of that name, or the request says it.
pub(super) fn with_option(text: String, agent: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let named = lower.match_indices("option ").find_map(|(at, word)| {
        let rest = &text[at + word.len()..];
        let end = rest
            .find(|c: char| !c.is_alphanumeric())
            .unwrap_or(rest.len());
        let name = &rest[..end];
        let is_name = name.len() == 1;
        is_name.then_some((at + word.len() + end, name))
    });
    let Some((end, name)) = named else {
        return text;
    };
    match option_of(agent, name).map(|option| beside(&option)) {
        Some(option) if !text.contains(&option) && !text[end..].starts_with(" (") => {
            format!("{} ({option}){}", &text[..end], &text[end..])
        }
        _ => text,
    }
}

/// What an option is called: `Drop the cache - it is never read`.
pub(super) fn beside(option: &str) -> String {
    const ENDS: [&str; 5] = [" - ", " – ", " — ", ": ", ". "];
    let ends = ENDS.iter().filter_map(|end| option.find(end));
    let name = ends.min().map_or(option, |at| &option[..at]);
    words::shortened(name.trim_end_matches(['.', '*']), BESIDE_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_told_beside_its_name() {
        let agent = "Two ways:\n\n1. **Drop the cache** - it is never read\n2. **Keep it**: carts stay as they are\n\nWhich?";
        for (text, wants) in [
            (
                "go for option 1, and test it",
                "go for option 1 (Drop the cache), and test it",
            ),
            ("Option 2 please", "Option 2 (Keep it) please"),
            ("go for option 3", "go for option 3"),
            ("the option is wrong", "the option is wrong"),
            ("option 1: Drop the cache", "option 1: Drop the cache"),
        ] {
            assert_eq!(with_option(text.to_owned(), agent), wants);
        }
    }
}

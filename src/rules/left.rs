//! How agents say what is left when they stop, as a table (`left.yaml`).

use super::paths::is_source;
use super::sentence_cues::{SentenceCues, WrittenCues};
use super::shell;
use super::table;
use rustc_hash::FxHashSet;
use serde::Deserialize;
use std::borrow::Cow;
use std::sync::LazyLock;

/// The sentence says that something wasn't done, fails, or stays as it was.
pub fn is_undone(sentence: &str) -> bool {
    TABLE.undone.says(sentence)
}

/// The sentence says what the person has to do.
pub fn is_yours(sentence: &str) -> bool {
    TABLE.yours.says(sentence)
}

/// The sentence says what was left on purpose, or how something works: nobody has to do anything.
pub fn is_settled(sentence: &str) -> bool {
    TABLE.settled.says(sentence)
}

/// The sentence says of a file that the agent wrote or changed it.
pub fn claims_change(sentence: &str) -> bool {
    TABLE.claims.says(sentence)
}

/// The sentence says that something was made a task of its own.
pub fn is_spun_off(sentence: &str) -> bool {
    TABLE.spun_off.says(sentence)
}

/// What a comment in a line of code says is to be done, three words at least: `TODO: …`, `TODO(ada): …`, `TODO - …`. Nothing
/// inside of a string.
pub fn to_do(line: &str) -> Option<&str> {
    const WORDS_MIN: usize = 3;
    let (before, after) = at_mark(line)?;
    let before = before.trim_end();
    let mut opens = TABLE.todos.comments.iter();
    let opens = opens.any(|open| before.ends_with(open.as_str()));
    let after = match after.strip_prefix('(') {
        Some(named) => named.split_once(')')?.1,
        None if after.starts_with(':') || after.starts_with(" - ") => after,
        None => return None,
    };
    let mut text = after.trim_matches([':', ' ', '-', '\t']);
    for end in &TABLE.todos.ends {
        text = text.strip_suffix(end.as_str()).unwrap_or(text).trim_end();
    }
    let is_odd = |text: &str, mark: char| text.matches(mark).count() % 2 == 1;
    let is_string = ['"', '\'', '`'].iter().any(|mark| is_odd(before, *mark))
        || ['"', '`'].iter().any(|mark| is_odd(text, *mark))
        || text.contains("\\n");
    let is_told = text.split_whitespace().count() >= WORDS_MIN;
    (opens && is_told && !is_string).then_some(text)
}

/// What stands before and behind the mark of something that is to be done.
pub fn at_mark(line: &str) -> Option<(&str, &str)> {
    let mut marks = TABLE.todos.marks.iter();
    marks.find_map(|mark| line.split_once(mark.as_str()))
}

/// Source of the project itself, in which a comment is its author's: nothing generated, nothing of others.
pub fn holds_own_comments(path: &str) -> bool {
    let path = format!("/{}", path.replace('\\', "/").to_lowercase());
    let mut foreign = TABLE.todos.foreign.iter();
    is_source(&path) && !foreign.any(|part| path.contains(part.as_str()))
}

/// A command line all of whose commands only read files, or put them into a history.
pub fn only_reads(line: &str) -> bool {
    let is_reader = |words: &[Cow<'_, str>]| {
        let [first, rest @ ..] = words else {
            return true;
        };
        let pair = rest.first().map(|second| format!("{first} {second}"));
        let known = &TABLE.todos.readers;
        known.contains(&**first) || pair.is_some_and(|pair| known.contains(&pair))
    };
    let reads = |command: &shell::Simple<'_>| {
        let to = command.writes.as_deref();
        to.is_none_or(|to| to == "/dev/null") && is_reader(&command.words)
    };
    let commands = shell::read(line);
    !commands.is_empty() && commands.iter().all(reads)
}

/// A step says that it was done: `Notified the reviewer`, `Both tasks marked as completed`.
pub fn is_past(step: &str) -> bool {
    let first = step.split(' ').next().unwrap_or_default();
    let is_deed = first.ends_with("ed") && !first.ends_with("eed") && !first.ends_with("bed");
    let step = step.trim_end_matches(['.', '!', ' ', '✅']);
    let marked = ["marked as completed", "marked as done"];
    is_deed || step.ends_with(" as completed") || marked.iter().any(|mark| step.contains(mark))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Todos {
    marks: Vec<String>,
    comments: Vec<String>,
    ends: Vec<String>,
    readers: FxHashSet<String>,
    foreign: Vec<String>,
    #[cfg(test)]
    samples: std::collections::BTreeMap<String, Option<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    spun_off: WrittenCues,
    todos: Todos,
    undone: WrittenCues,
    yours: WrittenCues,
    settled: WrittenCues,
    claims: WrittenCues,
}

struct Table {
    spun_off: SentenceCues,
    todos: Todos,
    undone: SentenceCues,
    yours: SentenceCues,
    settled: SentenceCues,
    claims: SentenceCues,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let written = written();
    Table {
        spun_off: written.spun_off.into(),
        todos: written.todos,
        undone: written.undone.into(),
        yours: written.yours.into(),
        settled: written.settled.into(),
        claims: written.claims.into(),
    }
});

fn written() -> Written {
    table::rows(table::embedded!("left"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_were_done_are_no_steps() {
        for step in [
            "Notified the reviewer",
            "Both tasks marked as completed.",
            "Both tasks marked as done in the list",
        ] {
            assert!(is_past(step), "{step}");
        }
        for step in [
            "Feed the cart",
            "Need a token",
            "Embed the page",
            "Mark it as read",
        ] {
            assert!(!is_past(step), "{step}");
        }
    }

    #[test]
    fn samples_are_what_the_table_says() {
        let written = written();
        written.undone.samples.hold(is_undone);
        written.yours.samples.hold(is_yours);
        written.settled.samples.hold(is_settled);
        written.claims.samples.hold(claims_change);
        written.spun_off.samples.hold(is_spun_off);
        for (line, wants) in &written.todos.samples {
            assert_eq!(to_do(line), wants.as_deref(), "{line}");
        }
    }

    #[test]
    fn commands_that_only_read_are_known() {
        for line in [
            "cat cart.ts | head -5",
            "git add cart.ts && git commit -m x",
            "sed -n 1,9p cart.ts 2>/dev/null",
        ] {
            assert!(only_reads(line), "{line}");
        }
        for line in [
            "sed -i s/a/b/ cart.ts",
            "cat > cart.ts",
            "git mv cart.ts shop.ts",
            "grep -l a | xargs rm",
        ] {
            assert!(!only_reads(line), "{line}");
        }
    }

    #[test]
    fn comments_of_others_are_not_the_projects() {
        for path in ["/p/src/cart.ts", "cart.go"] {
            assert!(holds_own_comments(path), "{path}");
        }
        for path in [
            "/p/dist/cart.js",
            "vendor/cart.go",
            "/p/cart.pb.go",
            "/p/cart.ipynb",
            "/p/cart.org",
        ] {
            assert!(!holds_own_comments(path), "{path}");
        }
    }
}

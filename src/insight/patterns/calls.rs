//! Calls as their digests tell them.

use crate::insight::facts::LocatedItem;

/// The call, without what it came to.
pub fn called<'t>(line: &LocatedItem<'t>) -> &'t str {
    let words = line.words();
    words.split_once(" → ").map_or(words, |(call, _)| call)
}

/// What stands in its parentheses: of a shell, the command.
pub fn typed<'t>(line: &LocatedItem<'t>) -> &'t str {
    let called = called(line);
    let inside = called.split_once('(').map_or(called, |(_, rest)| rest);
    inside.strip_suffix(')').unwrap_or(inside)
}

/// Classes of commands that do nothing by themselves.
pub const IDLE: [&str; 4] = ["nothing", "wait", "filter", "help"];

//! Changes that a call puts aside, and puts back.

use regex::Regex;
use std::sync::LazyLock;

/// What a command does to changes that are put aside.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Stash {
    /// It puts them aside.
    pub begins: bool,
    /// They are back at its end.
    pub ends: bool,
}

/// What a call does to them: the last command of it that puts aside, or puts back.
pub(super) fn stash(call: &str) -> Stash {
    static STASH: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\bgit (?:-C \S+ )?stash(?: +([a-z]+))?").expect("a constant")
    });
    let mut found = Stash::default();
    if !call.contains("stash") {
        return found;
    }
    for words in STASH.captures_iter(call) {
        match words.get(1).map_or("push", |word| word.as_str()) {
            "pop" | "apply" | "branch" | "drop" | "clear" => found.ends = true,
            "list" | "show" | "create" | "store" => {}
            _ => (found.begins, found.ends) = (true, false),
        }
    }
    found
}

//! How agents say what was behind a failure and what cured it, as a table (`causes.yaml`).

use super::literals::LiteralFinder;
use super::sentence_cues::{SentenceCues, WrittenCues};
use super::table;
use super::words::sentences;
use serde::Deserialize;
use std::sync::LazyLock;

/// The last sentence that says what was behind a failure; guesses are none.
pub fn cause(words: &str) -> Option<&str> {
    TABLE.cause.found(words).last().map(str::trim)
}

/// The last sentence that says what is wrong before one that says that the agent mends it: `X reads Y twice. Let me fix
/// it.`
pub fn fault(words: &str) -> Option<&str> {
    const WORDS_MIN: usize = 6;
    let mends = TABLE.mends.found(words).last()?;
    // what stands in another paragraph is about something else
    let at = mends.as_ptr() as usize - words.as_ptr() as usize;
    let line = words[..at].rsplit('\n').next().unwrap_or_default();
    let said = sentences(line).last()?.trim();
    let is_long = said.split_whitespace().count() >= WORDS_MIN && said.ends_with('.');
    (is_long && TABLE.faults.says(said)).then_some(said)
}

/// The last sentence that says what cures it.
pub fn cure(words: &str) -> Option<&str> {
    TABLE.cure.found(words).last().map(str::trim)
}

/// The first sentence that says which other way the agent goes.
pub fn instead(words: &str) -> Option<&str> {
    TABLE.instead.found(words).next().map(str::trim)
}

/// What stopped a command, other than what it was to find out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hindrance {
    /// Nobody was logged in.
    Login,
    /// Where it ran has no way to what it needs: a sandbox, no network.
    Sandbox,
    /// Where it ran: rights, a tool's version, a port.
    Environment,
    /// The program doesn't take what it was given.
    Usage,
    /// Git keeps what would be overwritten, or what others have.
    History,
}

/// What stopped a command that printed this, with where that stands in it. Looks at each byte once.
pub fn hindrance(message: &str) -> Option<(Hindrance, usize)> {
    let found = TABLE.hindrances.first(message)?;
    Some((TABLE.kinds[found.literal], found.start))
}

/// The last line that a command printed says that it failed, whatever its line's exit code.
pub fn ends_badly(last: &str) -> bool {
    TABLE.bad_ends.says(last)
}

/// What a failed commit printed names a hook of it.
pub fn names_hook(message: &str) -> bool {
    TABLE.hooks.iter().any(|words| message.contains(words))
}

/// Git itself didn't make the commit.
pub fn is_of_git(message: &str) -> bool {
    let mut refusals = TABLE.refusals.iter();
    refusals.any(|words| message.contains(words))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    hooks: Vec<String>,
    refusals: Vec<String>,
    sandbox: Vec<String>,
    environment: Vec<String>,
    login: Vec<String>,
    usage: Vec<String>,
    history: Vec<String>,
    bad_ends: WrittenCues,
    instead: WrittenCues,
    cause: WrittenCues,
    mends: WrittenCues,
    faults: WrittenCues,
    cure: WrittenCues,
}

struct Table {
    hooks: Vec<String>,
    refusals: Vec<String>,
    hindrances: LiteralFinder,
    /// Of each of these words.
    kinds: Vec<Hindrance>,
    bad_ends: SentenceCues,
    instead: SentenceCues,
    cause: SentenceCues,
    mends: SentenceCues,
    faults: SentenceCues,
    cure: SentenceCues,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let written = written();
    // of a word that two lists have the first one counts
    let lists = [
        (&written.login, Hindrance::Login),
        (&written.history, Hindrance::History),
        (&written.usage, Hindrance::Usage),
        (&written.sandbox, Hindrance::Sandbox),
        (&written.environment, Hindrance::Environment),
    ];
    let rows = lists
        .iter()
        .flat_map(|(words, kind)| words.iter().map(|word| (word.clone(), *kind)));
    let (words, kinds): (Vec<String>, Vec<Hindrance>) = rows.unzip();
    Table {
        hooks: written.hooks,
        refusals: written.refusals,
        hindrances: LiteralFinder::of_any_case(words),
        kinds,
        bad_ends: written.bad_ends.into(),
        instead: written.instead.into(),
        cause: written.cause.into(),
        mends: written.mends.into(),
        faults: written.faults.into(),
        cure: written.cure.into(),
    }
});

fn written() -> Written {
    table::rows(table::embedded!("causes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        let written = written();
        written.cause.samples.hold(|words| cause(words).is_some());
        written.mends.samples.hold(|words| TABLE.mends.says(words));
        written
            .faults
            .samples
            .hold(|words| TABLE.faults.says(words));
        let said =
            "Two of nine pass.\n\nThe `*/` in the new comment closes it too early. Let me fix it:";
        let wants = "The `*/` in the new comment closes it too early.";
        assert_eq!(fault(said), Some(wants));
        assert_eq!(fault("The cart is empty.\n\nLet me fix it."), None);
        written.bad_ends.samples.hold(ends_badly);
        written.cure.samples.hold(|words| cure(words).is_some());
        written
            .instead
            .samples
            .hold(|words| instead(words).is_some());
        for (message, hook, of_git) in [
            (
                "exit 1: husky - pre-commit script failed (code 1)",
                true,
                false,
            ),
            (
                "exit 1: TS2304 no name 'Cart'. (src/cart.ts:3)",
                false,
                false,
            ),
            (
                "exit 128: fatal: pathspec 'cart.rs' did not match any files",
                false,
                true,
            ),
            ("exit 1: nothing to commit, working tree clean", false, true),
        ] {
            assert_eq!((names_hook(message), is_of_git(message)), (hook, of_git));
        }
        let kind = |message| hindrance(message).map(|(kind, _)| kind);
        for (message, wants) in [
            (
                "exit 1: open /c/a: Operation not permitted",
                Some(Hindrance::Sandbox),
            ),
            (
                "Not logged in. Run 'shop login' to authenticate.",
                Some(Hindrance::Login),
            ),
            (
                "exit 2: Error: No such option: --order",
                Some(Hindrance::Usage),
            ),
            (
                "failed: CONFLICT (content): Merge conflict in a.md",
                Some(Hindrance::History),
            ),
            ("exit 1: the total is not permitted to be 0", None),
        ] {
            assert_eq!(kind(message), wants, "{message}");
        }
    }
}

//! Forms of a command: whether two command lines are the same command, and in what they differ. Knows git's
//! subcommands that change a history or make way for one that does.

use crate::rules::commands::is_setting;
use crate::rules::shell;
use crate::rules::tools::{AnswerKind, tool};

/// Shorter forms are shown whole.
const FORM_CHARS_MAX: usize = 60;

/// The command line of a shell's call; `None` where the call is of another tool.
pub fn command_of(call: &str) -> Option<&str> {
    let (name, given) = call.split_once('(')?;
    let given = given.strip_suffix(')').unwrap_or(given);
    let command = match given.rsplit_once(", in ") {
        Some((command, place)) if !place.contains(' ') => command,
        _ => given,
    };
    (tool(name).answer == AnswerKind::Shell).then_some(command)
}

/// Both call the same program for the same, whatever wraps it and whatever its options and arguments are.
pub fn is_same(one: &[String], other: &[String]) -> bool {
    let (a, b) = (lead(one), lead(other));
    let (short, long) = if a.len() <= b.len() {
        (&a, &b)
    } else {
        (&b, &a)
    };
    const WRAPPER_WORDS_MAX: usize = 3;
    let is_within = long.ends_with(short) && long.len() - short.len() <= WRAPPER_WORDS_MAX;
    let is_told = short.len() >= 2 || !short.is_empty() && plain(one).last() == plain(other).last();
    is_within && is_told
}

/// `npm`, `run`, `test`: the words before the first option or argument.
fn lead(words: &[String]) -> Vec<&str> {
    const WORDS_MAX: usize = 6;
    let is_name = |word: &&str| {
        let mut letters = word.chars();
        letters.next().is_some_and(char::is_alphabetic)
            && letters.all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.'))
    };
    let words = plain(words).filter(|word| *word != "--");
    let mut words = words.skip_while(|word| word.starts_with('-')).peekable();
    let script = |word: &&str| {
        [".ts", ".js", ".mjs", ".py", ".sh", ".rb"]
            .iter()
            .any(|end| word.ends_with(end))
    };
    let mut lead: Vec<&str> = words.next().map(file_name).into_iter().collect();
    lead.extend(words.next_if(script).map(file_name));
    while lead.len() < WORDS_MAX
        && let Some(word) = words.next_if(is_name)
    {
        lead.push(word);
    }
    lead
}

/// A command's words without settings and what only sets them.
fn plain(words: &[String]) -> impl DoubleEndedIterator<Item = &str> {
    let words = words.iter().map(String::as_str);
    words.filter(|word| !is_setting(word) && !matches!(*word, "env" | "sudo" | "time" | "command"))
}

fn file_name(word: &str) -> &str {
    word.rsplit(['/', '\\']).next().unwrap_or(word)
}

/// Another wrapper, setting or option, and not just other arguments.
pub fn is_other(one: &[String], other: &[String]) -> bool {
    let options = |words: &[String]| {
        let is_it = |word: &&String| word.starts_with('-') || is_setting(word);
        words.iter().filter(is_it).cloned().collect::<Vec<_>>()
    };
    lead(one) != lead(other) || options(one) != options(other)
}

/// The commands of git in a line that something may stop, in order.
pub fn git(line: &str) -> Vec<Vec<String>> {
    const VERBS: [&str; 13] = [
        "push",
        "pull",
        "fetch",
        "clone",
        "rebase",
        "merge",
        "checkout",
        "switch",
        "cherry-pick",
        "stash",
        "revert",
        "commit",
        "am",
    ];
    let mut all = ways(line);
    all.retain(|words| verb(words).is_some_and(|verb| VERBS.contains(&verb)));
    all
}

/// The commands of a line that may change what git keeps: its own, and those that remove files.
pub fn ways(line: &str) -> Vec<Vec<String>> {
    let all = shell::read(line).into_iter().map(|simple| {
        let words = simple.words.iter();
        words.map(|word| word.to_string()).collect::<Vec<_>>()
    });
    let is_it = |words: &Vec<String>| verb(words).is_some() || removes(words);
    all.filter(is_it).collect()
}

fn removes(words: &[String]) -> bool {
    plain(words).next() == Some("rm")
}

/// The command only asks how it is used.
pub fn asks_for_help(words: &[String]) -> bool {
    let mut words = words.iter().map(String::as_str);
    words.any(|word| matches!(word, "-h" | "--help" | "help" | "--version"))
}

/// How one form of a command differs from the one that failed: by what stands before the program, else by its words.
pub fn difference(failed: &[String], worked: &[String]) -> String {
    let whole = worked.join(" ");
    if whole.chars().count() <= FORM_CHARS_MAX {
        return format!("it worked as `{}`", plain_ticks(&whole));
    }
    let without = |words: &[String], others: &[String]| {
        let only = words.iter().filter(|word| !others.contains(word));
        let only: Vec<&str> = only.map(String::as_str).collect();
        plain_ticks(&only.join(" "))
    };
    let is_set = |word: &&String| is_setting(word) && !failed.contains(word);
    let set: Vec<&str> = worked.iter().filter(is_set).map(String::as_str).collect();
    if !set.is_empty() {
        return format!("it worked with `{}`", clip(&plain_ticks(&set.join(" "))));
    }
    let others = lead(worked);
    let program = lead(failed).into_iter().find(|name| others.contains(name));
    let before = |words: &[String]| {
        let mut words = words.iter();
        words.position(|word| Some(file_name(word)) == program)
    };
    let (old, new) = (before(failed).unwrap_or(0), before(worked).unwrap_or(0));
    let set = without(&worked[..new], &failed[..old]);
    if !set.is_empty() {
        return format!("it worked with `{}`", clip(&set));
    }
    let (added, gone) = (without(worked, failed), without(failed, worked));
    let is_short = |text: &str| text.split(' ').count() <= DIFFERENT_WORDS_MAX;
    match (clip(&added).as_str(), clip(&gone).as_str()) {
        _ if !is_short(&added) || !is_short(&gone) => format!("it worked as `{}`", shown(worked)),
        ("", "") => format!("it worked as `{}`", shown(worked)),
        ("", gone) => format!("it worked without `{gone}`"),
        (added, "") => format!("it worked with `{added}`"),
        (added, gone) => format!("it worked with `{added}` instead of `{gone}`"),
    }
}

/// Commands that differ in more words are better shown.
const DIFFERENT_WORDS_MAX: usize = 4;

/// A command's beginning, as it may stand between backticks.
pub fn shown(words: &[String]) -> String {
    clip(&plain_ticks(&words.join(" ")))
}

fn clip(text: &str) -> String {
    match text.char_indices().nth(FORM_CHARS_MAX) {
        Some((at, _)) => format!("{} …", text[..at].trim_end()),
        None => text.to_owned(),
    }
}

fn plain_ticks(text: &str) -> String {
    text.replace('`', "'")
}

/// What a call of git does: `push`.
pub fn verb(words: &[String]) -> Option<&str> {
    let mut words = plain(words).skip_while(|word| *word == "rtk");
    if words.next()? != "git" {
        return None;
    }
    let mut words = words.peekable();
    while let Some(option) = words.next_if(|word| word.starts_with('-')) {
        if option == "-C" || option == "-c" {
            words.next();
        }
    }
    words.next()
}

/// The command changes what stood in another one's way.
pub fn makes_way(words: &[String]) -> bool {
    const VERBS: [&str; 15] = [
        "rebase",
        "merge",
        "pull",
        "reset",
        "stash",
        "commit",
        "clean",
        "checkout",
        "switch",
        "rm",
        "mv",
        "filter-branch",
        "filter-repo",
        "cherry-pick",
        "restore",
    ];
    let has = |name: &str| words.iter().any(|word| word == name);
    let lists = has("list") || has("show");
    let sets_remote = || verb(words) == Some("remote") && (has("set-url") || has("add"));
    let changes = || verb(words).is_some_and(|verb| VERBS.contains(&verb));
    removes(words) || !lists && (changes() || sets_remote())
}

/// A push that others' work doesn't stop.
pub fn forces(words: &[String]) -> bool {
    words.iter().any(|word| {
        let is_short = word.starts_with('-') && !word.starts_with("--") && word.contains('f');
        is_short || word.starts_with("--force")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn forms_of_one_command_are_known() {
        for (one, other, wants) in [
            ("wrap npm run test", "npm run test", true),
            ("go test ./a", "pin exec -- env A=b go test ./b", true),
            ("shop exec close --order 7", "shop exec close", true),
            ("shop exec close", "shop exec open", false),
            (
                "bun cli/main.ts run ./a",
                "bun cli/main.ts run ./b --out c",
                true,
            ),
            ("wsl -e bash /x/run.sh", "A=1 wsl -e bash /x/run.sh", true),
            ("wsl -e bash /x/run.sh", "wsl -e bash /x/other.sh", false),
            ("npm test", "npm run lint", false),
        ] {
            assert_eq!(
                is_same(&words(one), &words(other)),
                wants,
                "{one} / {other}"
            );
        }
    }

    #[test]
    fn of_a_long_command_what_differs_is_told() {
        let long = format!("go test ./internal/shop -run {}", "TestCart".repeat(10));
        let cached = format!("env GOCACHE=/t/c {long}");
        let difference = |a: &str, b: &str| difference(&words(a), &words(b));
        assert_eq!(difference(&long, &cached), "it worked with `GOCACHE=/t/c`");
        let (pinned, both) = (
            format!("pin exec -- {long}"),
            format!("pin exec -- {cached}1"),
        );
        assert_eq!(difference(&pinned, &both), "it worked with `GOCACHE=/t/c`");
        assert_eq!(
            difference(&cached, &long),
            "it worked without `env GOCACHE=/t/c`"
        );
        assert_eq!(difference("a b", "a c"), "it worked as `a c`");
        let pinned = format!("pin exec -- {}", long.replace("Cart", "Till"));
        assert_eq!(difference(&long, &pinned), "it worked with `pin exec --`");
    }

    #[test]
    fn what_git_is_told_is_known() {
        assert_eq!(verb(&words("git -C x push -f")), Some("push"));
        assert_eq!(verb(&words("npm push")), None);
        assert!(makes_way(&words("git stash")) && !makes_way(&words("git stash list")));
        assert!(makes_way(&words("rm -rf .idea")) && !makes_way(&words("git log")));
    }

    #[test]
    fn the_command_of_a_shells_call_is_known() {
        assert_eq!(command_of("Bash(npm test, in /p)"), Some("npm test"));
        assert_eq!(command_of("Edit(a.rs)"), None);
    }
}

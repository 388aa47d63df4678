//! What a session shipped, in the agent's words: a title or subject names what asks only point at.

use super::line::{LocatedItem, edits};
use super::prompts::{exchange, opens};
use super::words::clipped;
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::rules::table;
use crate::rules::words::{content_words, is_same};
use regex::Regex;
use std::sync::LazyLock;

/// With fewer words it says nothing.
const WORDS_MIN: usize = 2;

/// Of what was shipped.
const SHIPPED_CHARS_MAX: usize = 72;

/// The title of the first pull request, else the subject of the commit that has most words of `asked`, of two the first:
/// what an ask was about where it says no more than "ship it", and the names of things that were asked for by pointing at
/// them. Where files were changed for the prompt `at` this place, what came of it was committed then or next.
pub(super) fn shipped(lines: &[LocatedItem<'_>], at: usize, asked: &[String]) -> Option<String> {
    let title = lines.iter().find_map(|line| {
        let words = line.words();
        let is_call = line.item.kind == ItemKind::Digest && line.main;
        let opens = is_call && words.contains("gh pr create ");
        let after = opens.then(|| words.split_once("gh pr create "))??.1;
        let after = after
            .split_once("--title ")
            .or_else(|| after.split_once("-t "))?
            .1;
        let mark = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let title = after[1..].split_once(mark)?.0;
        (!title.contains(['…', '$'])).then_some(title)
    });
    let says =
        |subject: &&str| content_words(subject).len() >= WORDS_MIN && !is_of_history(subject);
    let title = title.filter(|title| says(title)).map(|title| ("PR", title));
    let commit = || nearest(own(lines, at), asked, says);
    let (what, subject) = title.or_else(|| Some(("commit", commit()?)))?;
    Some(format!("{what}: {}", clipped(subject, SHIPPED_CHARS_MAX)))
}

/// What the prompt at this place was committed in: all up to the end of its own work, or to the next commit behind it.
/// Everything, where no files were changed for it.
fn own<'l, 't>(lines: &'l [LocatedItem<'t>], at: usize) -> &'l [LocatedItem<'t>] {
    let is_commit = |line: &LocatedItem<'_>| {
        let mut findings = line.item.findings.iter();
        findings.any(|finding| matches!(finding, Finding::Commit { .. }))
    };
    let exchange = match opens(&lines[at]) {
        true => exchange(lines, at),
        false => return lines,
    };
    let end = at + 1 + exchange.len();
    let next = || lines[end..].iter().position(is_commit);
    match exchange.iter().any(is_commit) {
        _ if edits(exchange) == 0 => lines,
        true => &lines[..end],
        false => next().map_or(lines, |next| &lines[..=end + next]),
    }
}

/// It says what was done to a history or a release, not what for: what a fixup mends is another's aim.
fn is_of_history(subject: &str) -> bool {
    static CUES: LazyLock<Regex> = LazyLock::new(|| {
        let marks = r"(?:fixup|squash|amend)! ";
        let moves = r"(?:\w+(?:\([^)]*\))?!?: )?(?:merge|revert|bump|release|version|prepare release|cut release|update (?:the )?version)\b";
        let number = r"v?\d+\.\d+(?:\.\d+)?\b";
        table::regex(&format!("(?i)^(?:{marks}|{moves}|{number})"))
    });
    CUES.is_match(subject)
}

/// The subject that has most of these words, of two the first.
fn nearest<'t>(
    lines: &[LocatedItem<'t>],
    asked: &[String],
    says: impl Fn(&&str) -> bool,
) -> Option<&'t str> {
    let findings = lines.iter().flat_map(|line| line.item.findings);
    let subjects = findings.filter_map(|finding| match finding {
        Finding::Commit { subject, .. } => Some(subject.as_str()),
        _ => None,
    });
    let shared = |subject: &str| {
        // `fix(carts): ` says less of what was asked for than what follows it
        let words = content_words(subject.split_once(": ").map_or(subject, |(_, about)| about));
        let is_asked = |word: &&String| asked.iter().any(|own| is_same(own, word));
        let shared = words.iter().filter(is_asked).count();
        if shared >= WORDS_MIN { shared } else { 0 }
    };
    let all: Vec<&str> = subjects.filter(says).collect();
    let all = all.into_iter().rev();
    all.max_by_key(|subject| shared(subject))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_says_more_than_a_subject() {
        let commit = [Finding::Commit {
            hash: "0abc123".into(),
            subject: "Round totals half up".into(),
            again: false,
            size: None,
        }];
        let line = |text, findings| LocatedItem::sample(ItemKind::Digest, 1, text, findings);
        let committed = line("Action: Bash(git commit) → ok", &commit);
        let wants = "commit: Round totals half up";
        assert_eq!(shipped(&[committed], 0, &[]).as_deref(), Some(wants));
        let other = [Finding::Commit {
            hash: "0abc125".into(),
            subject: "Add a page of carts".into(),
            again: false,
            size: None,
        }];
        let both = [committed, line("Action: Bash(git commit) → ok", &other)];
        let asked = ["explain", "carts", "on", "a", "page"].map(str::to_owned);
        let wants_page = "commit: Add a page of carts";
        assert_eq!(shipped(&both, 0, &asked).as_deref(), Some(wants_page));
        assert_eq!(shipped(&both, 0, &[]).as_deref(), Some(wants));
        let mending = [Finding::Commit {
            hash: "0abc124".into(),
            subject: "fixup! Round totals half up".into(),
            again: false,
            size: None,
        }];
        let mended = line("Action: Bash(git commit) → ok", &mending);
        assert_eq!(shipped(&[mended], 0, &[]), None, "it is another's aim");
        let call = "Action: Bash(gh pr create --title \"Totals that add up\" --body x) → ok";
        let opened = line(call, &[]);
        let wants = "PR: Totals that add up";
        assert_eq!(
            shipped(&[committed, opened], 0, &[]).as_deref(),
            Some(wants)
        );
        let cut = line(
            "Action: Bash(gh pr create --title \"Totals that…) → ok",
            &[],
        );
        assert_eq!(shipped(&[cut], 0, &[]), None);
    }
}

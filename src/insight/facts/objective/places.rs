//! What stands in parentheses behind an objective: where, and what it points at by a name.

use super::super::line::LocatedItem;
use super::super::prompts::Prompt;
use super::super::pull_requests::pull_request;
use super::super::session_context::SessionContext;
use super::super::shipped::shipped;
use super::super::words::points_back;
use super::told::{
    NEW_WORDS_MIN, OBJECTIVE_CHARS_MAX, Told, WEAK_WORDS_MAX, about, is_command, names_ticket,
};
use crate::rules::requests::{is_move, is_of_pull_request, is_of_work_at_hand};
use crate::rules::words::{is_same, is_stopword, tokens};

/// With the names behind it that it doesn't have; the project is told beside every summary.
pub(super) fn with_new_places(
    mut whole: String,
    about: &[String],
    context: &SessionContext<'_>,
) -> String {
    let is_new = |name: &&String| Some(name.as_str()) != context.project;
    let about = about.iter().filter(is_new);
    let about: Vec<&str> = about
        .filter(|name| !is_told(&whole, name))
        .map(String::as_str)
        .collect();
    if !about.is_empty() {
        let joint = if whole.contains('\n') { "\n" } else { " " };
        whole.push_str(&format!("{joint}({})", about.join(", ")));
    }
    whole
}

/// With as many of the names behind it as have room: what somebody asked is whole before it is told where.
pub(super) fn with_places(text: String, about: &[String]) -> String {
    let names = (1..=about.len()).rev();
    let mut all = names.map(|names| format!("{text} ({})", about[..names].join(", ")));
    let fits = all.find(|all| all.chars().count() <= OBJECTIVE_CHARS_MAX);
    fits.unwrap_or(text)
}

/// `CartTotal`, `cart_rows`: what a text points back at, by its names in what stood before it and has no room.
pub(super) fn named_before(all: &[Told<'_>], text: &str, then: &str) -> Vec<String> {
    const NAMES_MAX: usize = 2;
    let is_told = |first: &&Told<'_>| text.contains(first_words(&first.text));
    let before = all.first().filter(|_| points_back(text));
    let before = before.filter(|first| !is_told(first));
    let words = before
        .iter()
        .flat_map(|before| before.text.split_whitespace());
    let names = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_'));
    let names =
        names.filter(|name| is_code_name(name) && !text.contains(*name) && !then.contains(*name));
    names.take(NAMES_MAX).map(str::to_owned).collect()
}

/// So many bytes say whether a sentence is told.
fn first_words(text: &str) -> &str {
    const BYTES: usize = 24;
    &text[..text.floor_char_boundary(BYTES)]
}

/// A name as code has them: `cart_rows`, `CartTotal`.
fn is_code_name(word: &str) -> bool {
    const BYTES_MAX: usize = 40;
    let is_plain = |c: char| c.is_alphanumeric() || c == '_';
    let humps = word.chars().zip(word.chars().skip(1));
    let mut humps = humps.filter(|(one, next)| one.is_lowercase() && next.is_uppercase());
    word.len() <= BYTES_MAX
        && word.chars().all(is_plain)
        && (word.trim_matches('_').contains('_') || humps.next().is_some())
}

/// The words of a name stand in a text.
pub(super) fn is_told(text: &str, name: &str) -> bool {
    let words: Vec<String> = tokens(text).collect();
    are_told(&words, name)
}

fn are_told(words: &[String], name: &str) -> bool {
    let mut parts = tokens(name).filter(|part| !is_stopword(part));
    parts.all(|part| words.iter().any(|word| is_same(word, &part)))
}

/// What a session worked at.
pub(super) struct Work<'l, 't> {
    pub(super) lines: &'l [LocatedItem<'t>],
    pub(super) context: &'l SessionContext<'l>,
}

impl Work<'_, '_> {
    /// `shop`, `fix/totals`, `PR #7`: what a text points at without naming it.
    /// A command says nothing itself: the branch may. Of a ticket, what was committed says what it is about.
    pub(super) fn pointed_at(&self, text: &str, prompt: &Prompt<'_, '_>) -> Vec<String> {
        let is_command = is_command(prompt.line.words());
        let words: Vec<String> = tokens(text).collect();
        let is_told = |name: &str| are_told(&words, name);
        let mut names = Vec::new();
        let project = self.context.project.filter(|name| !is_told(name));
        names.extend(project.map(str::to_owned));
        if is_command || is_of_work_at_hand(&words) {
            let branch = self.context.branch;
            let branch = branch.filter(|name| !TRUNKS.contains(name) && !is_told(name));
            names.extend(branch.map(str::to_owned));
        }
        if is_of_pull_request(&words) && !text.contains('#') {
            names.extend(pull_request(self.lines).map(|number| format!("PR #{number}")));
        }
        // what says enough itself may have been followed by other work
        let shipped = shipped(self.lines, &words);
        names.extend(shipped.filter(|subject| is_about(subject, text, prompt)));
        names
    }
}

/// Most words of a commit's subject are told.
pub(super) fn tells_subject(text: &str, name: &str) -> bool {
    let subject = name.strip_prefix("commit: ").unwrap_or_default();
    let own = about(
        subject
            .rsplit_once(": ")
            .map_or(subject, |(_, subject)| subject),
    );
    let told: Vec<String> = tokens(text).collect();
    let is_told = |word: &&String| told.iter().any(|told| is_same(told, word));
    !own.is_empty() && own.iter().filter(is_told).count() * 3 >= own.len() * 2
}

pub(super) fn is_shipped(name: &str) -> bool {
    name.starts_with("commit: ") || name.starts_with("PR: ")
}

/// What was shipped is about what was asked, and says more.
fn is_about(subject: &str, text: &str, prompt: &Prompt<'_, '_>) -> bool {
    let said = &prompt.prose.sentences;
    let is_ticket = || said.iter().any(|said| names_ticket(said));
    if text.starts_with('/') || about(text).len() < WEAK_WORDS_MAX || is_ticket() {
        return true;
    }
    let words: Vec<String> = said.iter().flat_map(|said| tokens(said)).collect();
    let told = about(subject.split_once(": ").map_or("", |(_, subject)| subject));
    let is_said = |word: &&String| words.iter().any(|said| is_same(said, word));
    let (said, new): (Vec<_>, Vec<_>) = told.iter().partition(is_said);
    said.iter().any(|word| !is_move(word)) && new.len() >= NEW_WORDS_MIN
}

/// Branches that every project has.
const TRUNKS: [&str; 7] = ["main", "master", "HEAD", "develop", "dev", "trunk", "next"];

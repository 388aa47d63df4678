//! Where an ask is to be carried out, and what it is about where it only points at that: project, branch, pull request, what was
//! reviewed or shipped.

use super::super::line::{LocatedItem, edits, found};
use super::super::prompts::{Prompt, exchange};
use super::super::pull_requests::pull_request;
use super::super::session_context::SessionContext;
use super::super::shipped::shipped;
use super::super::words::clipped;
use super::said::{
    NEW_WORDS_MIN, OBJECTIVE_CHARS_MAX, WEAK_WORDS_MAX, about, are_told, is_command,
};
use crate::model::finding::Finding;
use crate::rules::commands::is_trunk;
use crate::rules::requests::{is_move, is_of_pull_request, is_of_work_at_hand};
use crate::rules::words::{is_same, tokens};

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
            let branch = branch.filter(|name| !is_trunk(name) && !is_told(name));
            names.extend(branch.map(str::to_owned));
        }
        let is_of_pull = is_of_pull_request(&words);
        let number = pull_request(self.lines).filter(|_| is_of_pull && !text.contains('#'));
        names.extend(number.map(|number| format!("PR #{number}")));
        let title = self.looked_up(text, number);
        names.extend(title.filter(|title| !is_told(title)));
        names.extend(self.reviewed(&words, prompt));
        // what says enough itself may have been followed by other work
        let shipped = shipped(self.lines, prompt.at, &words);
        // a pull request that is asked about was there before
        let shipped = shipped.filter(|shipped| !is_of_pull || !shipped.starts_with("PR: "));
        names.extend(shipped.filter(|subject| is_about(subject, text, prompt)));
        names
    }

    /// What the pull request or issue is called that a text names by its number.
    fn looked_up(&self, text: &str, number: Option<u64>) -> Option<String> {
        let number = number.map(|number| format!("#{number}"));
        let is_meant = |named: &str| number.as_deref() == Some(named) || names_it(text, named);
        let mut titles = found(self.lines).filter_map(|(_, finding)| match finding {
            Finding::Titled { named, title } if is_meant(named) => Some(title),
            _ => None,
        });
        Some(clipped(titles.next()?, TITLE_CHARS_MAX).to_owned())
    }

    /// How much was read for who only wants a review of what differs from somewhere.
    fn reviewed(&self, words: &[String], prompt: &Prompt<'_, '_>) -> Option<String> {
        let exchange = exchange(self.lines, prompt.at);
        let is_review = words.iter().any(|word| is_same(word, "review"))
            && (is_of_work_at_hand(words) || is_of_pull_request(words));
        let sizes = found(exchange).filter_map(|(_, finding)| match finding {
            Finding::Compared(size) => Some(size),
            _ => None,
        });
        let mut sizes = sizes.filter(|_| is_review);
        let size = sizes.next().filter(|_| edits(exchange) == 0)?;
        // of several nobody knows which was meant
        if sizes.any(|other| other != size) {
            return None;
        }
        let files = if size.files == 1 { "file" } else { "files" };
        Some(format!(
            "{} {files} +{} −{}",
            size.files, size.added, size.removed
        ))
    }
}

/// Of what a pull request or an issue is called.
const TITLE_CHARS_MAX: usize = 72;

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

/// It is about something that it names by a number: `shop issue #7`, `tracker.example/shop/42`.
fn names_ticket(text: &str) -> bool {
    let mut words = text
        .split_whitespace()
        .map(|word| word.trim_end_matches(['.', ',', ':', '?', ')']));
    words.any(|word| {
        let number = word.rsplit(['/', '#']).next().unwrap_or_default();
        let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        is_number && number.len() < word.len()
    })
}

/// It names a pull request or an issue: `#7`, `issue 7`, or its address. A bare number counts something else.
fn names_it(text: &str, named: &str) -> bool {
    const WORDS: [&str; 4] = ["#", "issue ", "pr ", "pull request "];
    let text = text.to_lowercase();
    let has = |name: &str| {
        text.match_indices(name).any(|(at, _)| {
            let after = text[at + name.len()..].trim_start_matches('.');
            let before = text[..at].chars().next_back();
            let is_part = |c: char| c.is_alphanumeric() || matches!(c, '/' | '-' | '_');
            !before.is_some_and(is_part) && !after.starts_with(is_part)
        })
    };
    match named.strip_prefix('#') {
        Some(number) => WORDS.iter().any(|word| has(&format!("{word}{number}"))),
        None => !named.is_empty() && has(&named.to_lowercase()),
    }
}

/// With as many of the names behind it as have room: what somebody asked is whole before it is told where.
pub(super) fn with_places(text: String, about: &[String]) -> String {
    let names = (1..=about.len()).rev();
    let mut all = names.map(|names| format!("{text} ({})", about[..names].join(", ")));
    let fits = all.find(|all| all.chars().count() <= OBJECTIVE_CHARS_MAX);
    fits.unwrap_or(text)
}

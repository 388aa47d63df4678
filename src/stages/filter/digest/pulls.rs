//! What GitHub's and GitLab's helpers print of one pull request or issue: its address, its state, its title.

use crate::model::finding::PullRequestState;
use memchr::memmem::Finder;
use serde::Deserialize;
use std::borrow::Cow;
use std::sync::LazyLock;

/// The address of the first pull request in a text.
pub(super) fn address(text: &str) -> Option<&str> {
    const WORDS: [&str; 2] = ["/pull/", "/merge_requests/"];
    let numbers = WORDS.iter().flat_map(|word| {
        let starts = text.match_indices(word).map(|(at, word)| at + word.len());
        starts.filter(|at| text[*at..].starts_with(|c: char| c.is_ascii_digit()))
    });
    let at = numbers.min()?;
    let from = text[..at].rfind("https://")?;
    let address = &text[from..at];
    let digits = text[at..].find(|c: char| !c.is_ascii_digit());
    let is_whole = !address.contains(|c: char| c.is_whitespace() || "\"'<>".contains(c));
    is_whole.then(|| &text[from..digits.map_or(text.len(), |n| at + n)])
}

/// What `gh pr view` and GitHub's answers say of a state.
pub(super) fn state(text: &str) -> Option<PullRequestState> {
    static STATE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("state"));
    let values = STATE.find_iter(text.as_bytes()).filter_map(|at| {
        let rest = text[at + "state".len()..].trim_start_matches(['"', ':', ' ', '\t']);
        let end = rest.find(|c: char| !c.is_ascii_alphabetic());
        let word = rest[..end.unwrap_or(rest.len())].to_ascii_lowercase();
        match word.as_str() {
            "open" | "opened" => Some(PullRequestState::Open),
            "draft" => Some(PullRequestState::Draft),
            "merged" => Some(PullRequestState::Merged),
            "closed" => Some(PullRequestState::Closed),
            _ => None,
        }
    });
    let says = |words: &str| text.contains(words);
    Some(match values.into_iter().next()? {
        PullRequestState::Open if says("raft\":true") => PullRequestState::Draft,
        PullRequestState::Closed if says("\"merged\":true") => PullRequestState::Merged,
        state => state,
    })
}

/// What it is called, in a table's first line or in an object, of which only the outer one's own title counts. `parts`: start
/// and end of an output.
pub(super) fn title(parts: &[Cow<'_, str>; 2]) -> Option<String> {
    const KEY: &str = "\"title\":";
    const TITLES_MAX: usize = 8;
    let first = parts[0].lines().next()?;
    if let Some(title) = first.strip_prefix("title:") {
        return Some(title.trim().to_owned()).filter(|title| !title.is_empty());
    }
    // what a script made of it is no object
    if !first.starts_with('{') {
        return None;
    }
    let mut all = parts.iter().rev().flat_map(|part| {
        let keys = part.rmatch_indices(KEY).take(TITLES_MAX);
        // behind an inner one's key more is closed than one object
        keys.filter_map(|(at, _)| {
            let rest = format!("{{{}", &part[at..]);
            serde_json::from_str::<Titled>(&rest).ok()
        })
    });
    all.next().map(|found| found.title)
}

#[derive(Deserialize)]
struct Titled {
    title: String,
}

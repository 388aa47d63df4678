//! Which deeds tasks end in, as a table (`deeds.yaml`).

use super::sentence_cues::{SentenceCues, WrittenCues};
use super::table;
use serde::Deserialize;
use std::sync::LazyLock;

/// What moves finished work on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// A commit.
    Commit,
    /// A push.
    Push,
    /// A pull request is opened.
    PullRequest,
}

/// What a task ends in, or is nothing but.
pub fn deeds(task: &str) -> impl Iterator<Item = Deed> {
    let named = TABLE.iter().filter(move |(_, cues)| cues.says(task));
    named.map(|(deed, _)| *deed)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    commit: WrittenCues,
    push: WrittenCues,
    pull_request: WrittenCues,
}

static TABLE: LazyLock<[(Deed, SentenceCues); 3]> = LazyLock::new(|| {
    let written = written();
    [
        (Deed::Commit, written.commit.into()),
        (Deed::Push, written.push.into()),
        (Deed::PullRequest, written.pull_request.into()),
    ]
});

fn written() -> Written {
    table::rows(table::embedded!("deeds"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        let written = written();
        let names = |deed| move |task: &str| deeds(task).any(|one| one == deed);
        written.commit.samples.hold(names(Deed::Commit));
        written.push.samples.hold(names(Deed::Push));
        written.pull_request.samples.hold(names(Deed::PullRequest));
    }
}

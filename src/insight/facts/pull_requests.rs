//! Pull requests that a session opened, merged or closed, as git's helpers tell them.

use super::line::{LocatedItem, found};
use crate::model::finding::Finding;
use crate::model::summary::{PullRequest, Sourced};
use std::collections::BTreeMap;

/// Those that were opened, and others that were merged or closed, each in its last state.
pub fn pull_requests(lines: &[LocatedItem<'_>]) -> Vec<Sourced<PullRequest>> {
    let mut all: Vec<Sourced<PullRequest>> = Vec::new();
    for (line, finding) in found(lines) {
        let (named, now, done) = match finding {
            Finding::PullRequest(address) => (address, None, true),
            Finding::PullRequestState { named, state, done } => (named, Some(*state), *done),
            _ => continue,
        };
        let known = match named.as_str() {
            "" => all.last_mut(),
            named => all
                .iter_mut()
                .find(|known| is_meant(&known.what.address, named)),
        };
        match known {
            Some(known) => known.what.state = now.or(known.what.state),
            None if done && !named.is_empty() => all.push(line.source(PullRequest {
                address: named.clone(),
                state: now,
            })),
            None => {}
        }
    }
    all
}

/// By its address, or by its number.
fn is_meant(known: &str, named: &str) -> bool {
    let number = |name: &str| name.rsplit(['/', '#']).next().unwrap_or(name).to_owned();
    known == named
        || (known.starts_with('#') || named.starts_with('#')) && number(known) == number(named)
}

/// The pull request that most of the log speaks of, where it is one.
pub(super) fn pull_request(lines: &[LocatedItem<'_>]) -> Option<u64> {
    const CUES: [&str; 6] = [
        "/pull/",
        "/pulls/",
        "PR #",
        "pr view ",
        "pr checkout ",
        "pr diff ",
    ];
    let mut counts: BTreeMap<u64, usize> = Default::default();
    for line in lines.iter().filter(|line| line.main) {
        let text = line.item.text;
        for cue in CUES {
            for (at, _) in text.match_indices(cue) {
                let digits = text[at + cue.len()..]
                    .split(|c: char| !c.is_ascii_digit())
                    .next();
                if let Some(number) = digits.and_then(|digits| digits.parse().ok()) {
                    *counts.entry(number).or_default() += 1;
                }
            }
        }
        for finding in line.item.findings {
            let named = match finding {
                Finding::PullRequest(address) => address,
                Finding::PullRequestState { named, .. } => named,
                _ => continue,
            };
            let digits = named.rsplit(['/', '#']).next();
            if let Some(number) = digits.and_then(|digits| digits.parse().ok()) {
                *counts.entry(number).or_default() += 1;
            }
        }
    }
    let all: usize = counts.values().sum();
    let (number, most) = counts
        .into_iter()
        .max_by_key(|(number, count)| (*count, std::cmp::Reverse(*number)))?;
    (most * 2 > all).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::exchange::ItemKind;
    use crate::model::finding::PullRequestState;

    fn line<'t>(n: u64, text: &'t str, findings: &'t [Finding]) -> LocatedItem<'t> {
        LocatedItem::sample(ItemKind::Digest, n, text, findings)
    }

    #[test]
    fn a_pull_request_has_its_last_state_whatever_names_it() {
        use PullRequestState::{Closed, Merged, Open};
        let address = "https://github.com/us/shop/pull/7";
        let state = |named: &str, state, done| Finding::PullRequestState {
            named: named.into(),
            state,
            done,
        };
        let found = |findings: &[Finding]| -> Vec<(String, Option<PullRequestState>)> {
            let all = pull_requests(&[line(1, "", findings)]).into_iter();
            all.map(|pull| (pull.what.address, pull.what.state))
                .collect()
        };
        let opened = || Finding::PullRequest(address.into());
        let is = |state| vec![(address.to_owned(), state)];
        assert_eq!(found(&[opened()]), is(None));
        let merged = [opened(), state("#7", Merged, true)];
        assert_eq!(found(&merged), is(Some(Merged)));
        let closed = [opened(), state("", Closed, true)];
        assert_eq!(found(&closed), is(Some(Closed)));
        assert_eq!(found(&[opened(), state("#8", Open, false)]), is(None));
        let other = vec![("#9".to_owned(), Some(Merged))];
        assert_eq!(found(&[state("#9", Merged, true)]), other, "opened before");
        assert_eq!(found(&[state("#9", Merged, false)]), [], "somebody else's");
    }
}

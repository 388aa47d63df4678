//! Pull requests that a session opened, merged or closed, as git's helpers tell them.

use super::line::{LocatedItem, found};
use crate::model::finding::{Finding, PullRequestState};
use crate::model::summary::{PullRequest, Sourced};
use std::collections::BTreeMap;

/// Those that were opened, and others that were merged or closed, each in its last state.
pub fn pull_requests(lines: &[LocatedItem<'_>]) -> Vec<Sourced<PullRequest>> {
    let mut all: Vec<Sourced<PullRequest>> = Vec::new();
    for (line, finding) in found(lines) {
        if let Finding::Listed { subject, .. } = finding {
            merged_as(&mut all, subject);
        }
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

/// A commit's subject that ends with `(#7)` is what that pull request was merged as.
fn merged_as(all: &mut [Sourced<PullRequest>], subject: &str) {
    let number = subject
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once("(#"));
    let Some((_, number)) = number.filter(|(_, number)| number.bytes().all(|b| b.is_ascii_digit()))
    else {
        return;
    };
    let is_it =
        |pull: &&mut Sourced<PullRequest>| is_meant(&pull.what.address, &format!("#{number}"));
    if let Some(pull) = all.iter_mut().find(is_it) {
        pull.what.state = Some(PullRequestState::Merged);
    }
}

/// That one is open at the end, where no other step speaks of it.
pub fn open(pulls: &[Sourced<PullRequest>], steps: &[Sourced<String>]) -> Option<Sourced<String>> {
    use PullRequestState::{Closed, Draft, Merged};
    let is_open = |pull: &&Sourced<PullRequest>| !matches!(pull.what.state, Some(Merged | Closed));
    let left: Vec<&Sourced<PullRequest>> = pulls.iter().filter(is_open).collect();
    let last = left.last()?;
    let address = last.what.address.as_str();
    let number = address.rsplit(['/', '#']).next().unwrap_or(address);
    let is_told = |step: &Sourced<String>| {
        let words = step.what.to_lowercase();
        let mut tokens = words.split(|c: char| !c.is_alphanumeric());
        words.contains("pull request") || tokens.any(|word| word == "pr" || word == number)
    };
    if steps.iter().any(is_told) {
        return None;
    }
    let what = match (left.len(), last.what.state) {
        (1, Some(Draft)) => format!("{DRAFT}{address}"),
        (1, _) => format!("{OPEN}{address}"),
        (many, _) => format!("{many}{MANY}{address}"),
    };
    Some(Sourced {
        what,
        episode: last.episode,
        line: last.line,
    })
}

const DRAFT: &str = "Draft pull request open: ";
const OPEN: &str = "Pull request open: ";
const MANY: &str = " pull requests open, the last: ";

/// A step is one of [`open`].
pub fn says_open(step: &str) -> bool {
    let many = step.trim_start_matches(|c: char| c.is_ascii_digit());
    step.starts_with(DRAFT)
        || step.starts_with(OPEN)
        || many.len() < step.len() && many.starts_with(MANY)
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
        // most texts have none
        for cue in CUES.into_iter().filter(|cue| text.contains(cue)) {
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
    use crate::model::summary::sourced;

    fn line<'t>(n: u64, text: &'t str, findings: &'t [Finding]) -> LocatedItem<'t> {
        LocatedItem::sample(ItemKind::Digest, n, text, findings)
    }

    #[test]
    fn a_commit_that_names_its_number_says_that_it_was_merged() {
        let address = "https://shop.example/ada/shop/pull/7".to_owned();
        let opened = [Finding::PullRequest(address)];
        let listed = |subject: &str| {
            [Finding::Listed {
                hash: "0abc123".into(),
                subject: subject.into(),
                remote: true,
            }]
        };
        let state = |subject: &str| {
            let listed = listed(subject);
            let lines = [
                LocatedItem::sample(ItemKind::Digest, 1, "", &opened),
                LocatedItem::sample(ItemKind::Digest, 2, "", &listed),
            ];
            pull_requests(&lines)[0].what.state
        };
        assert_eq!(state("Round once (#7)"), Some(PullRequestState::Merged));
        assert_eq!(state("Round once (#17)"), None);
        assert_eq!(state("Round once, see #7"), None);
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

    #[test]
    fn what_is_open_at_the_end_is_a_step() {
        use PullRequestState::{Draft, Merged, Open};
        let pull = |number: u64, state| {
            let address = format!("https://github.com/us/shop/pull/{number}");
            sourced(1, PullRequest { address, state })
        };
        let step = |pulls: &[_], steps: &[_]| open(pulls, steps).map(|step| step.what);
        let wants = Some("Draft pull request open: https://github.com/us/shop/pull/7".to_owned());
        assert_eq!(step(&[pull(7, Some(Draft))], &[]), wants);
        assert_eq!(step(&[pull(7, Some(Merged))], &[]), None);
        let two = [pull(7, None), pull(8, Some(Open)), pull(9, Some(Merged))];
        let wants = "2 pull requests open, the last: https://github.com/us/shop/pull/8";
        assert_eq!(step(&two, &[]).as_deref(), Some(wants));
        assert!(says_open(wants) && says_open("Pull request open: #7"));
        assert!(!says_open("Merge the pull request"));
        for told in ["Merge the PR", "After merging #8, tag it"] {
            assert_eq!(step(&two, &[sourced(1, told.to_owned())]), None);
        }
        let other = [sourced(1, "Prepare the release".to_owned())];
        assert!(step(&two, &other).is_some());
    }
}

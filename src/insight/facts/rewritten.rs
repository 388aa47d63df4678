//! Hashes of commits that were rewritten later, in what an agent said before: told as they are now.

use super::history::squashed_into;
use super::line::{LocatedItem, found};
use crate::model::finding::Finding;
use crate::model::summary::{SessionCommit, Sourced};

/// Old hashes with those that their commits have at the end, where one is known.
pub struct Rewritten<'t>(Vec<(&'t str, &'t str)>);

/// A shorter one may be anything.
const HASH_BYTES_MIN: usize = 7;

impl<'t> Rewritten<'t> {
    /// Of a session; `commits` are those that are left.
    pub fn of(lines: &[LocatedItem<'t>], commits: &'t [Sourced<SessionCommit>]) -> Rewritten<'t> {
        let is_left = |hash: &str| {
            let mut left = commits.iter().map(|commit| commit.what.hash.as_str());
            left.any(|left| !left.is_empty() && (left.starts_with(hash) || hash.starts_with(left)))
        };
        let made = found(lines).filter_map(|(_, finding)| match finding {
            Finding::Commit { hash, subject, .. } => Some((hash.as_str(), subject.as_str())),
            _ => None,
        });
        let old = made.filter(|(hash, _)| hash.len() >= HASH_BYTES_MIN && !is_left(hash));
        let all = old.filter_map(|(hash, subject)| {
            let subject = squashed_into(subject).unwrap_or(subject);
            let mut same = commits
                .iter()
                .filter(|commit| commit.what.subject == subject);
            let now = same.next().map(|commit| commit.what.hash.as_str())?;
            (same.next().is_none() && now.len() >= HASH_BYTES_MIN).then_some((hash, now))
        });
        Rewritten(all.collect())
    }

    /// A text with the hashes of today.
    pub fn tell(&self, text: &mut String) {
        for (old, now) in &self.0 {
            let short = &old[..HASH_BYTES_MIN];
            let Some(at) = text.find(short) else { continue };
            let rest = &text[at..];
            let end = rest
                .find(|c: char| !c.is_ascii_hexdigit())
                .unwrap_or(rest.len());
            let named = &rest[..end];
            if named.starts_with(old) || old.starts_with(named) {
                text.replace_range(at..at + end, now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::facts::history::commits;
    use crate::model::exchange::ItemKind;

    #[test]
    fn a_hash_that_was_amended_away_is_told_as_it_is_now() {
        let made = |hash: &str, again| {
            [Finding::Commit {
                hash: hash.into(),
                subject: "Round totals half up".into(),
                again,
                size: None,
            }]
        };
        let (first, second) = (made("a5e4b9d2", false), made("64424840", true));
        let line = |n, text, findings| LocatedItem::sample(ItemKind::Digest, n, text, findings);
        let lines = [
            line(1, "Action: Bash(git commit -m x) → ok", &first[..]),
            line(2, "Action: Bash(git commit --amend) → ok", &second[..]),
        ];
        let left = commits(&lines);
        let rewritten = Rewritten::of(&lines, &left);
        for (text, wants) in [
            (
                "committed as a5e4b9d2 on next",
                "committed as 64424840 on next",
            ),
            (
                "committed as a5e4b9d on next",
                "committed as 64424840 on next",
            ),
            ("all of a5e4b9d2ff", "all of 64424840"),
            ("no a5e4b9d7", "no a5e4b9d7"),
            ("it is 64424840", "it is 64424840"),
        ] {
            let mut text = text.to_owned();
            rewritten.tell(&mut text);
            assert_eq!(text, wants);
        }
    }
}

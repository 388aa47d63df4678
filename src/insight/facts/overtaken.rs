//! What an agent said of how things stood, where they were changed later: `No code touched.`

use super::line::LocatedItem;
use crate::model::finding::Finding;
use crate::model::summary::Sourced;
use crate::rules::paths::is_throwaway;
use crate::rules::reports::is_unchanged;
use crate::rules::words::sentences;

/// Without sentences that say nothing was changed, where something was behind them; all of it where it says no more.
pub fn drop_overtaken(said: &mut Sourced<String>, lines: &[LocatedItem<'_>]) {
    if !sentences(&said.what).any(is_unchanged) {
        return;
    }
    let is_it = |line: &LocatedItem<'_>| line.episode == said.episode && line.line == said.line;
    let after = lines
        .iter()
        .rposition(is_it)
        .map_or(&[][..], |at| &lines[at..]);
    let mut findings = after.iter().flat_map(|line| line.item.findings);
    let is_change = |finding: &Finding| match finding {
        Finding::Changed { path, .. } => !is_throwaway(path),
        Finding::Commit { .. } => true,
        _ => false,
    };
    if !findings.any(is_change) {
        return;
    }
    let kept = said.what.lines().filter_map(|line| {
        let all: Vec<&str> = sentences(line).collect();
        let kept: Vec<&str> = all
            .iter()
            .copied()
            .filter(|one| !is_unchanged(one))
            .collect();
        match kept.len() {
            left if left == all.len() => Some(line.to_owned()),
            0 => None,
            _ => Some(kept.join(" ")),
        }
    });
    let kept: Vec<String> = kept.collect();
    if !kept.is_empty() {
        said.what = kept.join("\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::exchange::ItemKind;

    #[test]
    fn what_was_changed_later_is_not_unchanged() {
        let words = "Agent: The cart rounds twice. No code was touched.";
        let found = LocatedItem::sample(ItemKind::Agent, 1, words, &[]);
        let edit = [Finding::Changed {
            path: "/p/cart.rs".into(),
            added: 1,
            removed: 0,
        }];
        let edited = LocatedItem::sample(ItemKind::Digest, 2, "Action: Edit(cart.rs) → +1", &edit);
        let told = |lines: &[LocatedItem<'_>]| {
            let mut said = found.source("The cart rounds twice. No code was touched.".to_owned());
            drop_overtaken(&mut said, lines);
            said.what
        };
        assert_eq!(told(&[found, edited]), "The cart rounds twice.");
        let wants = "The cart rounds twice. No code was touched.";
        assert_eq!(told(&[edited, found]), wants, "it was changed before");
    }
}

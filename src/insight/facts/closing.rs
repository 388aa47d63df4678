//! The agent's closing words: which they are, and what a long sentence of them lists.

use super::line::LocatedItem;
use super::ran::RanCommand;
use super::words::shortened;
use crate::insight::outcome::is_aside;
use crate::model::classification::Intent;
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::rules::commands;

/// What a long sentence lists behind a colon, each in short: `Still on your plate: the docs, the release and the key`.
pub fn listed(sentence: &str) -> Vec<String> {
    const POINT_CHARS_MAX: usize = 180;
    const STARTS: [&str; 9] = [
        "the ",
        "a ",
        "an ",
        "your ",
        "and the ",
        "and a ",
        "and an ",
        "and your ",
        "then ",
    ];
    let Some((_, list)) = sentence.split_once(": ") else {
        return Vec::new();
    };
    let mut parts: Vec<String> = Vec::new();
    let (mut depth, mut from) = (0_usize, 0);
    let mut ends: Vec<usize> = Vec::new();
    for (at, letter) in list.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' | ';' if depth == 0 => ends.push(at),
            _ => {}
        }
    }
    ends.push(list.len());
    for end in ends {
        let next = list[end..].trim_start_matches([',', ';', ' ']);
        if end == list.len() || STARTS.iter().any(|start| next.starts_with(start)) {
            let part = list[from..end].trim_matches([',', ';', ' ', '.']);
            let part = part.strip_prefix("and ").unwrap_or(part);
            parts.push(shortened(part, POINT_CHARS_MAX));
            from = end;
        }
    }
    // one that is not split is a sentence, and no list
    parts.retain(|part| !part.is_empty());
    if parts.len() < 2 { Vec::new() } else { parts }
}

/// The agent's last words. A report right before them, and where the last request changed nothing the words before it,
/// still stand: they come behind.
pub fn closing<'l, 't>(lines: &'l [LocatedItem<'t>]) -> Vec<&'l LocatedItem<'t>> {
    let is_said = |line: &&LocatedItem<'_>| line.main && line.item.kind == ItemKind::Agent;
    let mut all: Vec<&LocatedItem<'_>> = lines.iter().rev().find(is_said).into_iter().collect();
    let is_asked = |line: &LocatedItem<'_>| {
        line.main && line.item.kind == ItemKind::Prompt && !is_aside(line.item.text)
    };
    let Some(at) = lines.iter().rposition(is_asked) else {
        return all;
    };
    let (before, turn) = lines.split_at(at);
    all.extend(reported(turn));
    if turn.iter().any(may_change) {
        return all;
    }
    let since = before.iter().rposition(is_asked).unwrap_or(0);
    if is_work(&before[since..]) {
        all.extend(before[since..].iter().rev().find(is_said));
    }
    all
}

/// The report before last words that only say so, where nothing was changed between.
fn reported<'l, 't>(turn: &'l [LocatedItem<'t>]) -> Option<&'l LocatedItem<'t>> {
    const REPORT_BYTES_MIN: usize = 300;
    const LAST_BYTES_MAX: usize = 200;
    let is_said = |line: &LocatedItem<'_>| line.main && line.item.kind == ItemKind::Agent;
    let last = turn.iter().rposition(is_said)?;
    let before = turn[..last].iter().rposition(is_said)?;
    let said = turn[before].words();
    let is_list = said
        .lines()
        .filter(|line| line.starts_with(['-', '*', '✅', '1']))
        .count()
        > 1;
    let is_report = said.len() >= REPORT_BYTES_MIN && is_list;
    let is_short = turn[last].words().len() <= LAST_BYTES_MAX;
    let is_still = !turn[before..].iter().any(may_change);
    (is_report && is_short && is_still).then(|| &turn[before])
}

/// Calls changed files.
pub fn is_work(lines: &[LocatedItem<'_>]) -> bool {
    let mut findings = lines.iter().flat_map(|line| line.item.findings);
    findings.any(|finding| matches!(finding, Finding::Changed { .. } | Finding::Commit { .. }))
}

/// The line may have changed something.
fn may_change(line: &LocatedItem<'_>) -> bool {
    line.item.findings.iter().any(|finding| match finding {
        Finding::Worked { .. } => RanCommand::of(line).is_none_or(|ran| {
            let class = commands::of_count(&commands::counted_as(ran.command));
            !matches!(class.intent, Intent::Read | Intent::Search)
        }),
        Finding::Failed { .. }
        | Finding::Listed { .. }
        | Finding::Elsewhere(_)
        | Finding::Ahead(_)
        | Finding::Diverged { .. }
        | Finding::Titled { .. }
        | Finding::Compared(_)
        | Finding::Stat { .. }
        | Finding::Begun { .. } => false,
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_sentence_is_split_into_what_it_lists() {
        let said = "Still on your plate, in this order: the price list of the shop (needed before the first release, \
            or its import fails), a release, and the five keys of the old shop.";
        let wants = [
            "the price list of the shop (needed before the first release, or its import fails)",
            "a release",
            "the five keys of the old shop",
        ];
        assert_eq!(listed(said), wants);
        assert_eq!(
            listed("The cart is slow: it sorts twice."),
            Vec::<String>::new()
        );
    }

    #[test]
    fn words_before_a_request_that_changed_nothing_still_stand() {
        let edit = [Finding::Changed {
            path: "/p/a.rs".into(),
            added: 1,
            removed: 0,
        }];
        let ok = [Finding::Worked { key: 1 }];
        let none: [Finding; 0] = [];
        let line = |n, kind, text, findings| LocatedItem::sample(kind, n, text, findings);
        let work = [
            line(1, ItemKind::Prompt, "User: drop the export", &none[..]),
            line(2, ItemKind::Digest, "Action: Edit(a.rs) → +1 −0", &edit[..]),
            line(
                3,
                ItemKind::Agent,
                "Agent: Done. You'll need to drop the key.",
                &none[..],
            ),
            line(
                4,
                ItemKind::Prompt,
                "User: was the list adjusted?",
                &none[..],
            ),
            line(
                5,
                ItemKind::Digest,
                "Action: Bash(cat list.yml) → 9 lines",
                &ok[..],
            ),
            line(6, ItemKind::Agent, "Agent: No.", &none[..]),
        ];
        let said = |lines: &[LocatedItem<'_>]| {
            closing(lines)
                .iter()
                .map(|line| line.line)
                .collect::<Vec<_>>()
        };
        assert_eq!(said(&work), [6, 3]);
        let mut pushed = work;
        pushed[4] = line(
            5,
            ItemKind::Digest,
            "Action: Bash(git push) → ok, no output",
            &ok[..],
        );
        assert_eq!(said(&pushed), [6]);
    }
}

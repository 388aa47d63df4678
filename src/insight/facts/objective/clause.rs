//! An ask in few words: what it asks for is whole, what only softens it, says why, or adds to it goes where there is
//! no room.

use super::super::words::without_joints;
use super::told::says;
use crate::rules::clauses::{clauses, without_asides, without_reasons, without_softeners};
use crate::rules::requests::{RequestKind, asks_behind, request};

/// An ask in so much room; `None` where no part of it that says enough has room. One that stands behind what it hangs on
/// is whole.
pub(super) fn clause(ask: &str, room: usize) -> Option<String> {
    let fits = |text: &String| text.chars().count() <= room;
    if asks_behind(ask) {
        // cut behind what is asked for
        let mut all = std::iter::once(ask.to_owned()).chain(cuts(ask));
        return all.find(|text| fits(text) && asks_behind(text));
    }
    let soft = without_marks(&without_softeners(ask)).to_owned();
    let plain = without_reasons(&soft);
    let plain = match plain.len() < soft.len() {
        true => Some(closed(&plain)).filter(|plain| says(plain)),
        false => None,
    };
    let plain = plain.unwrap_or(soft);
    if fits(&plain) {
        return Some(plain);
    }
    let bare = without_asides(&plain);
    let cuts = cuts(&bare);
    let mut all = std::iter::once(bare).chain(cuts);
    all.find(|text| fits(text) && says(text))
}

/// Shorter beginnings of an ask, behind which something else begins: no list is cut in two.
fn cuts(ask: &str) -> Vec<String> {
    let all = clauses(ask).into_iter().filter(|cut| {
        let rest = ask.get(cut.len()..).unwrap_or_default();
        rest.trim_start()
            .starts_with(['-', '–', '—', ';', ':', '=', '.'])
            || begins(rest)
    });
    all.map(|cut| closed(&cut)).collect()
}

/// It orders or asks something, or has its own subject.
fn begins(rest: &str) -> bool {
    const SUBJECTS: [&str; 14] = [
        "i", "we", "it", "you", "they", "there", "this", "that", "if", "when", "while", "but",
        "so", "because",
    ];
    let rest = rest.trim_start_matches([' ', ',']);
    let rest = rest.strip_prefix("and ").unwrap_or(rest);
    let first = rest.split([' ', '\'']).next().unwrap_or_default();
    SUBJECTS.contains(&first.to_lowercase().as_str())
        || request(rest).is_some_and(|said| said.kind != RequestKind::Statement)
}

/// Without marks and words at its end that only lead to what is gone.
fn closed(text: &str) -> String {
    without_joints(without_marks(text)).to_owned()
}

fn without_marks(text: &str) -> &str {
    const MARKS: [char; 7] = [' ', ',', ';', ':', '-', '–', '.'];
    let text = text.trim_end_matches(MARKS);
    let text = text.strip_suffix(", then").unwrap_or(text);
    text.trim_end_matches(MARKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clause_is_whole() {
        for (ask, room, wants) in [
            (
                "sort the carts, please, by name",
                80,
                Some("sort the carts by name"),
            ),
            (
                "round the totals (each row of them) so that the till is right",
                80,
                Some("round the totals (each row of them)"),
            ),
            (
                "round the totals (each row of them)",
                20,
                Some("round the totals"),
            ),
            (
                "rename the fields of carts, then write a page about all of that",
                40,
                Some("rename the fields of carts"),
            ),
            ("rename the fields of carts", 10, None),
            ("sort carts, days, and the tills by name", 20, None),
            (
                "sort the carts, and write about days",
                20,
                Some("sort the carts"),
            ),
            (
                "Sort carts in a worktree, then",
                80,
                Some("Sort carts in a worktree"),
            ),
            (
                "Spawn a worker to do so",
                80,
                Some("Spawn a worker to do so"),
            ),
            (
                "do it because the carts of days are wrong",
                80,
                Some("do it because the carts of days are wrong"),
            ),
        ] {
            assert_eq!(clause(ask, room).as_deref(), wants, "{ask}");
        }
    }
}

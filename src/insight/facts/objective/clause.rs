//! An ask in few words: what it asks for is whole, what only softens it, says why, or adds to it goes where there is
//! no room.

use super::super::words::without_joints;
use super::says;
use crate::rules::clauses::{clauses, without_asides, without_reasons, without_softeners};
use crate::rules::requests::asks_behind;

/// An ask in so much room; `None` where no part of it that says enough has room. One that stands behind what it hangs on
/// is whole.
pub(super) fn clause(ask: &str, room: usize) -> Option<String> {
    let fits = |text: &String| text.chars().count() <= room;
    if asks_behind(ask) {
        // cut behind what is asked for
        let cut = || clauses(ask).into_iter().map(|text| closed(&text));
        let all = std::iter::once(ask.to_owned()).chain(cut());
        return all.into_iter().find(|text| fits(text) && asks_behind(text));
    }
    let soft = closed(&without_softeners(ask));
    let plain = closed(&without_reasons(&soft));
    let plain = if says(&plain) { plain } else { soft };
    if fits(&plain) {
        return Some(plain);
    }
    let bare = closed(&without_asides(&plain));
    let shorter = clauses(&bare);
    let mut all = std::iter::once(bare).chain(shorter.into_iter().map(|text| closed(&text)));
    all.find(|text| fits(text) && says(text))
}

/// Without marks and words at its end that only lead to what is gone.
fn closed(text: &str) -> String {
    without_joints(text.trim_end_matches([' ', ',', ';', ':', '-', '–', '.'])).to_owned()
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

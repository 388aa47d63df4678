//! Blocks to lines to values: everything that can be wrong with a line before its dialect matters.
//!
//! Knows newlines, BOMs, CRs, NULs, glued and torn values.

use super::{Dialect, ParseState};
use crate::host::read::{LogBlock, Shape};
use crate::json::{cursor, prose};
use crate::model::batch::{Batch, Delta};
use crate::model::entry::{Entry, EntryKind, Identity};
use crate::model::ledger::Reject;
use crate::model::source::Span;
use memchr::memchr;
use std::borrow::Cow;

/// Entries of one line before the rest of it is refused. A value gives as many more as
/// its dialect bounds, and entries of a line are numbered with 16 bits. Real lines have
/// fewer than a hundred; larger: one line's entries fill the memory.
const ENTRIES_MAX: usize = 8_192;

/// A value shorter than this that is only counted has no identity: no agent writes a record as short.
/// Larger: copies of short records count as read; smaller: a file of `{}` takes room in the store for each
/// of its lines.
const IDENTITY_BYTES_MIN: usize = 20;

/// Of a usual line. Real ones have 2 KB in the mean; smaller: more memory is taken than filled.
const LINE_BYTES: usize = 1_024;

/// Every value of a block as entries. Each line gives at least one entry or one reject; the last
/// line of a file without a newline gives its entries when it is complete, else it is `pending`.
///
/// `delta` covers whole lines only: an unterminated line never moves a checkpoint.
pub fn parse(dialect: &dyn Dialect, state: &mut ParseState, block: LogBlock<'_>) -> Batch<Entry> {
    let mut out = Out {
        dialect,
        batch: Batch::default(),
    };
    // entries are large: a list that grows as it is filled copies them again and again
    out.batch.items.reserve(block.bytes.len() / LINE_BYTES);
    let (from, mut line) = (block.offset, block.line);
    out.batch.delta = Delta { from, to: from };
    match block.shape {
        Shape::Lines => {
            let (mut rest, mut offset) = (&*block.bytes, from);
            while let Some(newline) = memchr(b'\n', rest) {
                let (text, after) = rest.split_at(newline + 1);
                line += 1;
                let place = Span {
                    offset,
                    bytes: newline as u64,
                    line,
                };
                out.line(state, place, &text[..newline], true);
                offset += newline as u64 + 1;
                rest = after;
            }
            out.batch.delta.to = offset;
        }
        Shape::Long(bytes) => {
            let place = Span {
                offset: from,
                bytes,
                line: line + 1,
            };
            out.line(state, place, block.bytes, true);
            out.batch.delta.to = place.end();
        }
        Shape::Unterminated(bytes) => {
            let place = Span {
                offset: from,
                bytes,
                line: line + 1,
            };
            out.line(state, place, block.bytes, false);
        }
    }
    out.batch.tally.read_bytes = out.batch.delta.to - from;
    out.batch
}

struct Out<'d> {
    dialect: &'d dyn Dialect,
    batch: Batch<Entry>,
}

impl Out<'_> {
    fn line(&mut self, state: &mut ParseState, place: Span, line: &[u8], terminated: bool) {
        let mut at = skip_padding(line);
        if at == line.len() {
            return match line.contains(&0) {
                true => self.reject(place, "nul bytes", terminated),
                false => self.noise(state, place, "blank"),
            };
        }
        let mut values = 0;
        let first = self.batch.items.len();
        while at < line.len() {
            let before = self.batch.items.len();
            match self.value_within(first, state, place, &line[at..]) {
                Ok(used) => {
                    self.number(first, before);
                    at = cursor::blank(line, at + used);
                    values += 1;
                }
                Err(reason) => {
                    self.batch.items.truncate(before);
                    if terminated || values == 0 {
                        self.reject(place, reason, terminated);
                    }
                    break;
                }
            }
        }
        self.batch.tally.records += values;
        self.batch.glued += values.saturating_sub(1);
    }

    /// [`Out::value`], unless the line, whose entries start at `first`, has given enough.
    fn value_within(
        &mut self,
        first: usize,
        state: &mut ParseState,
        place: Span,
        bytes: &[u8],
    ) -> Result<usize, Cow<'static, str>> {
        match self.batch.items.len() - first < ENTRIES_MAX {
            true => self.value(state, place, bytes),
            false => Err("too many values".into()),
        }
    }

    /// One value at the start of `bytes`; gives its length.
    fn value(
        &mut self,
        state: &mut ParseState,
        place: Span,
        bytes: &[u8],
    ) -> Result<usize, Cow<'static, str>> {
        if bytes[0] != b'{' {
            let whole = cursor::value_end(bytes).is_some();
            return Err(if whole { "not an object" } else { "not json" }.into());
        }
        let before = self.batch.items.len();
        let used = self
            .dialect
            .value(state, place, bytes, &mut self.batch.items)?;
        let entries = &mut self.batch.items[before..];
        count_words(entries, &bytes[..used]);
        if used < IDENTITY_BYTES_MIN && entries.iter().all(is_only_counted) {
            entries
                .iter_mut()
                .filter(|entry| matches!(entry.id, Identity::Nth(_)))
                .for_each(|entry| entry.id = Identity::None);
        }
        Ok(used)
    }

    /// Counts the entries of a line through, over glued values too: they start at `first`, and at
    /// `new` those that have no number yet.
    fn number(&mut self, first: usize, new: usize) {
        for (n, entry) in self.batch.items.iter_mut().enumerate().skip(new) {
            entry.nth = u16::try_from(n - first).unwrap_or(u16::MAX);
        }
    }

    fn reject(&mut self, place: Span, reason: impl Into<Cow<'static, str>>, terminated: bool) {
        match terminated {
            true => self.batch.rejects.push(Reject {
                place,
                reason: reason.into(),
            }),
            false => self.batch.pending = 1,
        }
    }

    fn noise(&mut self, state: &ParseState, place: Span, reason: &'static str) {
        self.batch.items.push(Entry {
            place,
            nth: 0,
            id: Identity::None,
            time: None,
            context: state.context.clone(),
            message: None,
            what: EntryKind::Noise(reason.into()),
        });
    }
}

/// Tells records that are not understood how many words they hold. Where the line gives other entries its
/// words are theirs: only a field is odd.
fn count_words(entries: &mut [Entry], bytes: &[u8]) {
    let mut known = match entries.iter().all(is_only_counted) {
        true => None,
        false => Some(0),
    };
    for entry in entries {
        if let EntryKind::Unknown(unknown) = &mut entry.what {
            unknown.words = *known.get_or_insert_with(|| prose::words(bytes));
        }
    }
}

/// Nothing of it is kept, and no message counts it.
fn is_only_counted(entry: &Entry) -> bool {
    let is_noise = matches!(entry.what, EntryKind::Noise(_) | EntryKind::Unknown(_));
    is_noise && entry.message.is_none()
}

/// A byte order mark, NULs of a preallocated file, white space.
fn skip_padding(line: &[u8]) -> usize {
    let bom = if line.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    };
    let padding = line[bom..]
        .iter()
        .take_while(|b| b.is_ascii_whitespace() || **b == 0);
    bom + padding.count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::registry;
    use crate::model::source::Agent;

    fn check(text: &[u8], shape: Shape) -> (usize, Vec<String>, u64, u64) {
        let mut bytes = text.to_vec();
        let block = LogBlock {
            offset: 100,
            line: 7,
            bytes: &mut bytes,
            shape,
        };
        let batch = parse(
            registry::dialect(Agent::new("claude")),
            &mut ParseState::default(),
            block,
        );
        let rejects = batch.rejects.iter();
        let rejects = rejects
            .map(|r| format!("{}:{}", r.place.line, r.reason))
            .collect();
        (batch.items.len(), rejects, batch.glued, batch.pending)
    }

    #[test]
    fn each_line_is_an_entry_or_a_reject() {
        let text = b"{\"type\":\"mode\"}\n\n\0\0\0\n{\"type\":\"mo\n[1]\nwords\n\xef\xbb\xbf{\"type\":\"mode\"}\r\n";
        let (items, rejects, glued, pending) = check(text, Shape::Lines);
        assert_eq!((items, glued, pending), (3, 0, 0));
        assert_eq!(
            rejects,
            [
                "10:nul bytes",
                "11:torn json",
                "12:not an object",
                "13:not json"
            ]
        );
    }

    #[test]
    fn glued_values_are_each_read_and_a_torn_rest_is_rejected() {
        let two = b"{\"type\":\"mode\"}{\"type\":\"mode\"}\n";
        assert_eq!(check(two, Shape::Lines), (2, vec![], 1, 0));
        let torn = b"{\"type\":\"mode\"}{\"type\":\n";
        assert_eq!(
            check(torn, Shape::Lines),
            (1, vec!["8:torn json".into()], 0, 0)
        );
    }

    #[test]
    fn a_line_of_countless_values_is_kept_as_far_as_the_limit() {
        let text = format!("{}\n", "{}".repeat(ENTRIES_MAX + 5));
        let (items, rejects, glued, _) = check(text.as_bytes(), Shape::Lines);
        assert_eq!((items, glued), (ENTRIES_MAX, ENTRIES_MAX as u64 - 1));
        assert_eq!(rejects, ["8:too many values"]);
    }

    #[test]
    fn an_unterminated_line_is_read_when_complete_and_pending_when_not() {
        let whole = b"{\"type\":\"mode\"}";
        assert_eq!(check(whole, Shape::Unterminated(15)), (1, vec![], 0, 0));
        assert_eq!(
            check(&whole[..9], Shape::Unterminated(9)),
            (0, vec![], 0, 1)
        );
    }
}

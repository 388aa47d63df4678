//! Where an episode's items are in its text, and what was found in them.
//!
//! `items` has for each item: its kind (a letter), its bytes, and how many lines behind the one
//! before its record is (from 0), as LEB128 numbers, the last one zigzag.

use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::model::item::Mark;
use crate::store::compression::{Json, Packed, pack_json};
use crate::store::damaged_rows::sound_or_none;
use crate::store::error::failed;
use crate::store::removal::number as number_of;
use crate::store::{Result, Store};
use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

/// As it is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outline {
    items: Vec<u8>,
    findings: Option<Packed>,
}

impl Outline {
    pub(crate) fn of(marks: &[Mark]) -> Outline {
        let found = marks.iter().enumerate().flat_map(|(item, mark)| {
            let findings = mark.findings.iter();
            findings.map(move |finding| (item, finding))
        });
        let found: Vec<(usize, &Finding)> = found.collect();
        Outline {
            items: encoded(marks),
            findings: (!found.is_empty()).then(|| pack_json(&found)),
        }
    }
}

impl Store {
    /// An episode's items; empty where there is no such episode, or an older program stored it.
    pub fn outline(&self, episode: Uuid) -> Result<Vec<Mark>> {
        let read = || number_of(&self.db, episode)?.map_or(Ok(Vec::new()), |n| read(&self.db, n));
        read().map_err(failed("reading an outline"))
    }
}

/// Of the episode with this row number; empty where there is none.
pub(crate) fn read(db: &Connection, n: i64) -> rusqlite::Result<Vec<Mark>> {
    type Row = (Vec<u8>, Option<Json<Vec<(usize, Finding)>>>);
    let row = db
        .prepare_cached("SELECT items, findings FROM outline WHERE episode = ?1")?
        .query_row([n], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional();
    let Some((items, findings)): Option<Row> = sound_or_none(row)?.flatten() else {
        return Ok(Vec::new());
    };
    let mut marks = decoded(&items);
    for (item, finding) in findings.into_iter().flat_map(|Json(found)| found) {
        if let Some(mark) = marks.get_mut(item) {
            mark.findings.push(finding);
        }
    }
    Ok(marks)
}

/// The text changed under its items: they are measured again. Where they don't make up the text any
/// more, there is no outline.
pub(crate) fn resize(db: &Connection, n: i64, outline: &Outline) -> rusqlite::Result<()> {
    match outline.items.is_empty() {
        true => db.execute("DELETE FROM outline WHERE episode = ?1", [n]),
        false => db.execute(
            "UPDATE outline SET items = ?2 WHERE episode = ?1",
            params![n, outline.items],
        ),
    }?;
    Ok(())
}

/// Replaces an episode's; says nothing where it is the same.
pub(crate) fn write(db: &Connection, episode: i64, outline: &Outline) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO outline (episode, items, findings) VALUES (?1, ?2, ?3)
         ON CONFLICT DO UPDATE SET items = excluded.items, findings = excluded.findings
         WHERE items IS NOT excluded.items OR findings IS NOT excluded.findings",
    )?
    .execute(params![episode, outline.items, outline.findings])?;
    Ok(())
}

const KINDS: [(u8, ItemKind); 6] = [
    (b'p', ItemKind::Prompt),
    (b's', ItemKind::Aside),
    (b'a', ItemKind::Agent),
    (b'd', ItemKind::Digest),
    (b'e', ItemKind::Error),
    (b'n', ItemKind::Note),
];

fn encoded(marks: &[Mark]) -> Vec<u8> {
    let mut out = Vec::with_capacity(marks.len() * 4);
    let mut last = 0i64;
    for mark in marks {
        let kind = KINDS.iter().find(|(_, kind)| *kind == mark.kind);
        out.extend(kind.map(|(letter, _)| letter));
        number(&mut out, mark.bytes);
        let line = i64::try_from(mark.line).unwrap_or(i64::MAX);
        let behind = line.wrapping_sub(last);
        number(&mut out, ((behind << 1) ^ (behind >> 63)) as u64);
        last = line;
    }
    out
}

fn number(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push((n & 0x7f) as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// As far as the bytes make sense.
fn decoded(mut bytes: &[u8]) -> Vec<Mark> {
    let mut marks = Vec::new();
    let mut line = 0i64;
    while let Some(mark) = take(&mut bytes, &mut line) {
        marks.push(mark);
    }
    marks
}

fn take(bytes: &mut &[u8], line: &mut i64) -> Option<Mark> {
    let (letter, rest) = bytes.split_first()?;
    *bytes = rest;
    let (_, kind) = KINDS.iter().find(|(known, _)| known == letter)?;
    let length = take_number(bytes)?;
    let behind = take_number(bytes)?;
    *line = line.wrapping_add((behind >> 1) as i64 ^ -((behind & 1) as i64));
    Some(Mark {
        kind: *kind,
        bytes: length,
        line: u64::try_from(*line).ok()?,
        findings: Vec::new(),
    })
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut n = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        n |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(n);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn marks() -> impl Strategy<Value = Vec<Mark>> {
        let kind = prop::sample::select(KINDS.map(|(_, kind)| kind).to_vec());
        let mark = (kind, any::<u64>(), 0..1u64 << 62).prop_map(|(kind, bytes, line)| Mark {
            kind,
            bytes,
            line,
            findings: Vec::new(),
        });
        prop::collection::vec(mark, 0..40)
    }

    proptest! {
        #[test]
        fn items_come_back_as_they_were(marks in marks()) {
            prop_assert_eq!(decoded(&encoded(&marks)), marks);
        }

        #[test]
        fn any_bytes_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let marks = decoded(&bytes);
            prop_assert!(marks.len() <= bytes.len());
        }
    }

    #[test]
    fn an_item_takes_a_few_bytes() {
        let mark = |bytes, line| Mark {
            kind: ItemKind::Digest,
            bytes,
            line,
            findings: Vec::new(),
        };
        assert_eq!(encoded(&[mark(80, 900), mark(300, 902)]).len(), 8);
    }
}

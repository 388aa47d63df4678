//! All vectors, for those who compare a question with each of them. Rows that are some kilobytes large take longer
//! to find and to read than to compare, so copies of them lie together in packs, in the order of episodes. A change
//! to any of a pack's vectors takes the pack out (triggers of `0020.sql`): its range is read row by row until the
//! next packing. Knows rows and ranges; refuses to know what a vector is.

use crate::store::{Result, Store};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};

/// Of a pack, about. Larger: one changed text costs more rows that are read alone; smaller: more packs to find.
const PACK_BYTES: usize = 256 << 10;

/// A range with less is not worth a pack: the last one, which grows with each run, would be written each time.
const PACK_BYTES_MIN: usize = PACK_BYTES / 2;

/// So much of the store's file is read where the system's cache has it while packs are read: a call for each of
/// ten thousand pages takes longer than comparing what is on them. Not always: a fault of the disk ends a process
/// that reads so, and what it has read counts as its memory.
const MAPPED_BYTES_MAX: i64 = 2 << 30;

/// Episodes from the first number to the last.
type Range = (i64, i64);

/// All episodes.
const ALL: Range = (0, i64::MAX);

impl Store {
    /// Packs the vectors that are made so and are in no pack yet, where there are enough of them.
    pub fn pack_vectors(&mut self, made_by: &str) -> Result<()> {
        self.write_transaction("packing vectors", |tx| {
            tx.execute("DELETE FROM vector_pack WHERE model <> ?1", [made_by])?;
            for range in unpacked(tx, made_by)? {
                if bytes_of(tx, made_by, range)? >= PACK_BYTES_MIN as i64 {
                    pack(tx, made_by, range)?;
                }
            }
            Ok(())
        })
    }
}

/// Hands over the vectors that are made so, as they are stored, with their episodes, in the order of these.
/// `wanted`: only those, in order; packs without any of them are not read.
pub(in crate::store) fn each_vector(
    db: &Connection,
    made_by: &str,
    wanted: Option<&[i64]>,
    see: impl FnMut(i64, &[u8]),
) -> rusqlite::Result<()> {
    db.pragma_update(None, "mmap_size", MAPPED_BYTES_MAX)?;
    let read = each_mapped(db, made_by, wanted, see);
    db.pragma_update(None, "mmap_size", 0)?;
    read
}

fn each_mapped(
    db: &Connection,
    made_by: &str,
    wanted: Option<&[i64]>,
    mut see: impl FnMut(i64, &[u8]),
) -> rusqlite::Result<()> {
    let mut see = |episode: i64, vectors: &[u8]| {
        if wanted.is_none_or(|wanted| wanted.binary_search(&episode).is_ok()) {
            see(episode, vectors);
        }
    };
    let mut select = db.prepare_cached(
        "SELECT first, last, vectors FROM vector_pack WHERE model = ?1 ORDER BY first",
    )?;
    let mut packs = select.query([made_by])?;
    let mut next = ALL.0;
    while let Some(pack) = packs.next()? {
        let (first, last): Range = (pack.get(0)?, pack.get(1)?);
        if next < first {
            each_row(db, made_by, (next, first - 1), &mut see)?;
        }
        next = last.saturating_add(1);
        if wanted.is_some_and(|wanted| !has_any(wanted, (first, last))) {
            continue;
        }
        let packed = match pack.get_ref(2)? {
            ValueRef::Blob(packed) => packed,
            _ => &[],
        };
        // damaged: what it lacks is still in its rows
        if let Some(seen) = unpack(packed, &mut see) {
            let from = seen.map_or(first, |seen| seen.saturating_add(1));
            each_row(db, made_by, (from, last), &mut see)?;
        }
    }
    each_row(db, made_by, (next, ALL.1), &mut see)
}

/// One of these, which are in order, is in the range.
fn has_any(wanted: &[i64], (first, last): Range) -> bool {
    let from = wanted.partition_point(|n| *n < first);
    wanted.get(from).is_some_and(|n| *n <= last)
}

fn each_row(
    db: &Connection,
    made_by: &str,
    (first, last): Range,
    see: &mut impl FnMut(i64, &[u8]),
) -> rusqlite::Result<()> {
    let mut select = db.prepare_cached(
        "SELECT episode, vector FROM embedding
         WHERE episode BETWEEN ?1 AND ?2 AND model = ?3 AND state = 'made' ORDER BY episode",
    )?;
    let mut rows = select.query(params![first, last, made_by])?;
    while let Some(row) = rows.next()? {
        if let ValueRef::Blob(vectors) = row.get_ref(1)? {
            see(row.get(0)?, vectors);
        }
    }
    Ok(())
}

/// The ranges that no pack covers.
fn unpacked(db: &Connection, made_by: &str) -> rusqlite::Result<Vec<Range>> {
    let mut select =
        db.prepare("SELECT first, last FROM vector_pack WHERE model = ?1 ORDER BY first")?;
    let packs = select.query_map([made_by], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let packs: Vec<Range> = packs.collect::<rusqlite::Result<_>>()?;
    let starts = [ALL.0]
        .into_iter()
        .chain(packs.iter().map(|(_, last)| last + 1));
    let ends = packs.iter().map(|(first, _)| first - 1).chain([ALL.1]);
    let ranges = starts.zip(ends).filter(|(first, last)| first <= last);
    Ok(ranges.collect())
}

fn bytes_of(db: &Connection, made_by: &str, (first, last): Range) -> rusqlite::Result<i64> {
    let sql = "SELECT coalesce(sum(length(vector)), 0) FROM embedding
               WHERE episode BETWEEN ?1 AND ?2 AND model = ?3 AND state = 'made'";
    db.query_row(sql, params![first, last, made_by], |row| row.get(0))
}

/// Packs a range; what would make too small a pack at its end stays out.
fn pack(db: &Connection, made_by: &str, range: Range) -> rusqlite::Result<()> {
    let mut put = db
        .prepare("INSERT INTO vector_pack (first, last, model, vectors) VALUES (?1, ?2, ?3, ?4)")?;
    let mut packed: Vec<u8> = Vec::new();
    let (mut first, mut last) = (range.0, range.0);
    let mut done = Ok(0);
    each_row(db, made_by, range, &mut |episode, vectors| {
        if packed.len() >= PACK_BYTES && done.is_ok() {
            done = put.execute(params![first, last, made_by, packed]);
            packed.clear();
            first = last + 1;
        }
        packed.extend(episode.to_le_bytes());
        packed.extend((vectors.len() as u32).to_le_bytes());
        packed.extend(vectors);
        last = episode;
    })?;
    done?;
    if packed.len() >= PACK_BYTES_MIN {
        put.execute(params![first, last, made_by, packed])?;
    }
    Ok(())
}

/// As [`pack`] put them together: an episode (i64), how many bytes follow (u32), both little-endian, and its vectors.
/// `Some`: the pack is cut short behind this episode.
fn unpack(mut packed: &[u8], see: &mut impl FnMut(i64, &[u8])) -> Option<Option<i64>> {
    let mut seen = None;
    while let Some((episode, rest)) = packed.split_first_chunk()
        && let Some((bytes, rest)) = rest.split_first_chunk()
        && let Some((vectors, rest)) = rest.split_at_checked(u32::from_le_bytes(*bytes) as usize)
    {
        seen = Some(i64::from_le_bytes(*episode));
        see(i64::from_le_bytes(*episode), vectors);
        packed = rest;
    }
    (seen.is_none() || !packed.is_empty()).then_some(seen)
}

//! Conversions between columns and the model's values, for all subjects: what a column holds is said
//! once, here. Texts and JSON that may be compressed are `compression`'s.

use crate::model::activity::{ActivityTally, ExchangeTally};
use crate::model::episode::EpisodeSource;
use crate::model::source::{Agent, Span};
use crate::model::tally::Tally;
use crate::model::time::Time;
use crate::model::usage::Usage;
use crate::store::compression::Json;
use crate::store::damaged_rows::sound_or_none;
use rusqlite::Row;
use serde::Deserialize;

/// A count as a column: hostile logs claim any number, and sums must not overflow either.
pub(crate) fn int(count: u64) -> i64 {
    const COUNT_MAX: u64 = 1 << 48;
    count.min(COUNT_MAX) as i64
}

/// A column that holds 64 unsigned bits.
pub(crate) fn hash(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(|n| n as u64)
}

/// Whose an episode `e` of a session `s` is, as SQL: of a log its agent, of an operation or a file who did
/// it. No session that is stored reaches back further than the first one, so nobody knows who did what was
/// before it.
pub(crate) const AGENT: &str = "CASE WHEN s.standing >= 0 THEN s.agent ELSE coalesce(
    (SELECT CASE WHEN o.agent = 'person' AND o.at < (SELECT min(started) FROM session WHERE standing >= 0)
            THEN 'unknown' ELSE o.agent END
     FROM git_episode g JOIN git_operation o ON o.id = g.operation WHERE g.episode = e.id),
    (SELECT CASE WHEN t.agent = 'person' AND t.at < (SELECT min(started) FROM session WHERE standing >= 0)
            THEN 'unknown' ELSE t.agent END
     FROM tracked_episode t WHERE t.episode = e.id),
    'unknown') END";

/// A column that names an agent.
pub(crate) fn agent(row: &Row<'_>, column: usize) -> rusqlite::Result<Agent> {
    Ok(Agent::of(row.get_ref(column)?.as_str()?))
}

/// A column that names an episode's source.
pub(crate) fn source(row: &Row<'_>, column: usize) -> rusqlite::Result<EpisodeSource> {
    EpisodeSource::parse(row.get_ref(column)?.as_str()?).ok_or(rusqlite::Error::InvalidQuery)
}

/// A column that holds a time.
pub(crate) fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Time>> {
    row.get::<_, Option<i64>>(column).map(|t| t.map(Time))
}

/// The 15 columns of a tally from `first` on, in the table's order.
pub(crate) fn tally(row: &Row<'_>, first: usize) -> rusqlite::Result<Tally> {
    let count = |i: usize| row.get::<_, u64>(first + i);
    Ok(Tally {
        read_bytes: count(0)?,
        records: count(1)?,
        prompts: count(2)?,
        messages: count(3)?,
        calls: count(4)?,
        failures: count(5)?,
        refusals: count(6)?,
        user_bytes: count(7)?,
        agent_bytes: count(8)?,
        digest_bytes: count(9)?,
        output_bytes: count(10)?,
        usage: Usage {
            input: count(11)?,
            output: count(12)?,
            cache_read: count(13)?,
            cache_write: count(14)?,
            cache_write_1h: 0, // `episode_usage` has it
        },
        spending: Default::default(),
        tools: Default::default(),
    })
}

/// The 5 columns of `episode_usage` that count, from `first` on.
pub(crate) fn usage(row: &Row<'_>, first: usize) -> rusqlite::Result<Usage> {
    Ok(Usage {
        input: row.get(first)?,
        output: row.get(first + 1)?,
        cache_read: row.get(first + 2)?,
        cache_write: row.get(first + 3)?,
        cache_write_1h: row.get(first + 4)?,
    })
}

/// A place in three columns from `first` on: offset, bytes, line.
pub(crate) fn place(row: &Row<'_>, first: usize) -> rusqlite::Result<Span> {
    Ok(Span {
        offset: row.get(first)?,
        bytes: row.get(first + 1)?,
        line: row.get(first + 2)?,
    })
}

/// As it stands in the column.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Counted {
    Exchanges(Vec<ExchangeTally>),
    /// Before schema version 7.
    Whole(ActivityTally),
}

/// A column that holds the exchanges of an episode that begins at `line`; empty where there is none that
/// can be read.
pub(crate) fn exchanges(
    row: &Row<'_>,
    column: usize,
    line: u64,
) -> rusqlite::Result<Vec<ExchangeTally>> {
    let counted: Option<Json<Counted>> = sound_or_none(row.get(column))?.flatten();
    Ok(match counted {
        None => Vec::new(),
        Some(Json(Counted::Exchanges(exchanges))) => exchanges,
        Some(Json(Counted::Whole(tally))) => vec![ExchangeTally {
            line,
            tally,
            work: None,
        }],
    })
}

/// The sum of a column that holds an episode's exchanges; empty where there is none.
pub(crate) fn activity_sum(row: &Row<'_>, column: usize) -> rusqlite::Result<ActivityTally> {
    Ok(exchanges(row, column, 0)?.iter().map(|e| &e.tally).sum())
}

/// The block of these ids.
pub(crate) fn packed_ids(ids: &[u64]) -> Vec<u8> {
    ids.iter().flat_map(|id| id.to_le_bytes()).collect()
}

/// The ids in a block of `record`: 8 bytes each, little-endian.
pub(crate) fn unpacked_ids(block: &[u8]) -> impl Iterator<Item = u64> {
    let (ids, _) = block.as_chunks::<8>();
    ids.iter().map(|id| u64::from_le_bytes(*id))
}

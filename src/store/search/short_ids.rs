//! How much of an id people are shown: enough to be typed again. Knows the neighbours of an id in
//! the store.

use crate::store::error::failed;
use crate::store::{Result, Store};
use rusqlite::Connection;
use uuid::Uuid;

/// Characters of an id that people can type.
pub const TYPED: usize = 8;

/// Characters of an id that is read some time after it was shown, when more may begin like it: of a
/// UUID the first two groups.
pub const KEPT: usize = 13;

impl Store {
    /// The beginning of a session's id that no other session of the store shares, at least so many
    /// characters. Two look-ups in an index.
    pub fn session_shown(&self, id: &str, chars_min: usize) -> Result<String> {
        let shared = shared_with_sessions(&self.db, id).map_err(failed("reading ids"))?;
        Ok(beginning(id, shared, chars_min))
    }

    /// The same for an episode, which a memory is too; no session's id begins so either.
    pub fn episode_shown(&self, id: Uuid, chars_min: usize) -> Result<String> {
        let text = id.to_string();
        let shared = || -> rusqlite::Result<usize> {
            let sessions = shared_with_sessions(&self.db, &text)?;
            let episodes = shared_with_episodes(&self.db, id, &text)?;
            Ok(sessions.max(episodes))
        };
        let shared = shared().map_err(failed("reading ids"))?;
        Ok(beginning(&text, shared, chars_min))
    }
}

/// What tells it apart from ids that share so many bytes with it; all of it where that ends within a
/// character, or little more is left.
fn beginning(id: &str, shared: usize, chars_min: usize) -> String {
    let length = chars_min.max(shared + 1);
    let begun = id.get(..length).filter(|_| id.len() > KEPT);
    begun.unwrap_or(id).to_owned()
}

fn shared_with_sessions(db: &Connection, id: &str) -> rusqlite::Result<usize> {
    let neighbours: (Option<String>, Option<String>) = db
        .prepare_cached(
            "SELECT (SELECT max(id) FROM session WHERE id < ?1),
                    (SELECT min(id) FROM session WHERE id > ?1)",
        )?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(shared(id, [neighbours.0, neighbours.1]))
}

fn shared_with_episodes(db: &Connection, id: Uuid, text: &str) -> rusqlite::Result<usize> {
    let mut most = 0;
    for table in ["episode", "memory"] {
        let sql = format!(
            "SELECT (SELECT max(id) FROM {table} WHERE id < ?1),
                    (SELECT min(id) FROM {table} WHERE id > ?1)"
        );
        let neighbours: (Option<[u8; 16]>, Option<[u8; 16]>) = db
            .prepare_cached(&sql)?
            .query_row([id.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let written = |id: [u8; 16]| Uuid::from_bytes(id).to_string();
        let neighbours = [neighbours.0.map(written), neighbours.1.map(written)];
        most = most.max(shared(text, neighbours));
    }
    Ok(most)
}

/// Bytes that an id begins with as one of these does.
fn shared(id: &str, others: [Option<String>; 2]) -> usize {
    let same = |other: &String| {
        let pairs = id.bytes().zip(other.bytes());
        pairs.take_while(|(a, b)| a == b).count()
    };
    others.iter().flatten().map(same).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_as_short_as_it_can_be_told_apart() {
        let among = |id: &str, others: [&str; 2]| {
            let others = others.map(|other| (!other.is_empty()).then(|| other.to_owned()));
            beginning(id, shared(id, others), TYPED)
        };
        assert_eq!(among("0123456789abcdef", ["", ""]), "01234567");
        assert_eq!(
            among("0123456789abcdef", ["0", "0123456789xy"]),
            "0123456789a"
        );
        assert_eq!(among("0123456789", ["", "0123456789ab"]), "0123456789");
        assert_eq!(among("session-042", ["", ""]), "session-042");
    }
}

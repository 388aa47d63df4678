//! Words of the index that are spelled nearly like a given one. Knows what a slip of the fingers is; refuses to
//! say who may read the texts that they are from.

use crate::store::error::failed;
use crate::store::{Result, Store};
use rusqlite::Connection;

/// Words of fewer letters have too many neighbours to tell which was meant.
const LETTERS_MIN: usize = 4;
/// From so many letters on, two slips still leave the word to be seen.
const LONG: usize = 7;

impl Store {
    /// At most `most` words of the index that a slip or two make of `word`, the nearest first, of these the most
    /// frequent. Empty where the index has the word itself, and for words of fewer than four letters. Reads all
    /// words of the index: some tens of milliseconds in a large store. A word may be one that only forgotten
    /// episodes had, or those of another project: ask for it before it is shown.
    ///
    /// # Errors
    /// When the store can't be read.
    pub fn spelled_like(&self, word: &str, most: usize) -> Result<Vec<String>> {
        let word = word.to_lowercase();
        let letters = word.chars().count();
        if letters < LETTERS_MIN || !word.chars().all(char::is_alphanumeric) {
            return Ok(Vec::new());
        }
        let slips = if letters < LONG { 1 } else { 2 };
        let found = near(&self.db, &word, letters, slips).map_err(failed("reading the words"))?;
        let mut found = match found.iter().any(|(distance, ..)| *distance == 0) {
            true => Vec::new(),
            false => found,
        };
        found.sort();
        found.truncate(most);
        Ok(found.into_iter().map(|(_, _, word)| word).collect())
    }
}

/// Distance, and how rare it is, before the word: in this order.
type Near = (usize, i64, String);

fn near(db: &Connection, word: &str, letters: usize, slips: usize) -> rusqlite::Result<Vec<Near>> {
    // the view of the index is a table of its own, which a reader may make where nothing is stored
    let reads_only: bool = db.pragma_query_value(None, "query_only", |row| row.get(0))?;
    db.pragma_update(None, "query_only", false)?;
    let made = db.execute_batch(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, words, row)",
    );
    db.pragma_update(None, "query_only", reads_only)?;
    made?;
    let mut select = db.prepare(
        "SELECT term, doc FROM temp.vocabulary WHERE length(term) BETWEEN ?1 - ?2 AND ?1 + ?2",
    )?;
    let rows = select.query_map([letters, slips], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut found = Vec::new();
    for row in rows {
        let (term, documents): (String, i64) = row?;
        let distance = strsim::osa_distance(word, &term);
        if distance <= slips {
            found.push((distance, -documents, term));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word_and_no_other_word() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(
            "CREATE VIRTUAL TABLE words USING fts5 (title, text, content = '', contentless_delete = 1);
             INSERT INTO words (rowid, text) VALUES
                 (1, 'the deployment failed'), (2, 'deployments fail'), (3, 'the deployment is on')",
        )
        .unwrap();
        let words = |word: &str, slips| {
            let mut found = near(&db, word, word.chars().count(), slips).unwrap();
            found.sort();
            found.into_iter().map(|(.., word)| word).collect::<Vec<_>>()
        };
        assert_eq!(words("deplyoment", 2), ["deployment", "deployments"]);
        assert_eq!(words("faled", 1), ["failed"]);
        assert_eq!(words("redis", 1), [""; 0]);
    }
}

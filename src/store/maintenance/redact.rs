//! Stored texts, masked again by rules that came later. Knows every column that holds words; refuses
//! to know what a secret is.

use crate::model::item::{Mark, apart};
use crate::store::compression::{Packed, Unpacked, pack_json};
use crate::store::damaged_rows::sound_or_none;
use crate::store::error::failed;
use crate::store::ingest::episode_items;
use crate::store::ingest::prepare::Row;
use crate::store::pending_tasks::after_removal;
use crate::store::{Result, Store};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use serde_json::Value;
use std::borrow::Cow;

/// What masks a text; borrowed where nothing changes.
type Mask<'m> = dyn for<'t> Fn(&'t str) -> Cow<'t, str> + 'm;

/// Columns of plain text, with what their rows are known by.
const TEXTS: [(&str, &str); 8] = [
    ("memory", "text"),
    ("session", "project_path"),
    ("session", "cwd"),
    ("session", "summary"),
    ("session", "title"),
    ("session", "branch"),
    ("summary", "text"),
    ("unknown_kind", "kind"),
];

/// Columns of packed JSON.
const VALUES: [(&str, &str); 8] = [
    ("tracked_episode", "facts"),
    ("git_operation", "deed"),
    ("session", "facts"),
    ("outline", "findings"),
    ("telling", "summary"),
    ("fold", "carry"),
    ("fold", "sealed"),
    ("fold", "tail"),
];

impl Store {
    /// The version of the rules that everything in the store is masked by; `None` in a store that
    /// no run has masked yet.
    pub fn redacted_by(&self) -> Result<Option<String>> {
        self.db
            .query_row("SELECT version FROM redaction", [], |row| row.get(0))
            .optional()
            .map_err(failed("reading the version of the rules"))
    }

    /// Masks every stored text and notes `version`, in one transaction; gives how many episodes
    /// changed. These get a new revision, so that they are delivered again. Where anything
    /// changed, the file is compacted: no free page keeps what was masked. Reads all texts, about
    /// 100 MB/s.
    pub fn redact(&mut self, version: &str, mask: &Mask<'_>) -> Result<u64> {
        self.writable()?;
        let episodes = self
            .redact_all(version, mask)
            .map_err(failed("masking stored texts"))?;
        self.dirty = true;
        self.names.clear();
        if self.is_compaction_due()? {
            self.compact()?;
        }
        Ok(episodes)
    }

    /// How many episodes changed.
    fn redact_all(&mut self, version: &str, mask: &Mask<'_>) -> rusqlite::Result<u64> {
        let rows = self.rows_to_mask(mask)?;
        let tx = self
            .db
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        for (n, row) in &rows {
            rewrite(&tx, *n, row)?;
            episode_items::resize(&tx, *n, &row.outline)?;
        }
        let mut others = names(&tx, mask)?;
        for (table, column) in TEXTS {
            others += texts(&tx, table, column, mask)?;
        }
        others += paragraphs(&tx, mask)?;
        for (table, column) in VALUES {
            others += values(&tx, table, column, mask)?;
        }
        if rows.len() as u64 + others > 0 {
            after_removal(&tx)?;
        }
        tx.execute("DELETE FROM redaction", [])?;
        tx.execute("INSERT INTO redaction (version) VALUES (?1)", [version])?;
        tx.commit()?;
        Ok(rows.len() as u64)
    }

    /// The episodes in which something is to be masked, masked.
    fn rows_to_mask(&self, mask: &Mask<'_>) -> rusqlite::Result<Vec<(i64, Row)>> {
        let mut select = self
            .db
            .prepare("SELECT e.n, e.title, b.text FROM episode e JOIN body b ON b.episode = e.n")?;
        let mut rows = select.query([])?;
        let mut changed = Vec::new();
        while let Some(row) = rows.next()? {
            let read = || Ok((row.get::<_, String>(1)?, row.get::<_, Unpacked>(2)?));
            // what nobody can read tells no secret; a repair takes it out
            let Some((title, Unpacked(text))) = sound_or_none(read())? else {
                continue;
            };
            if is_masked(mask, &title) || is_masked(mask, &text) {
                changed.push(row.get::<_, i64>(0)?);
            }
        }
        let mut masked = Vec::with_capacity(changed.len());
        for n in changed {
            for found in self.found("e.n = ?1", &[&n])? {
                let mut episode = found.episode;
                episode.outline =
                    masked_outline(&episode.text, episode_items::read(&self.db, n)?, mask);
                episode.title = mask(&episode.title).into_owned();
                episode.text = mask(&episode.text).into_owned();
                let sealed = episode.sealed;
                masked.push((n, Row::new(episode, sealed)));
            }
        }
        Ok(masked)
    }
}

/// The items of a text once it is masked; none where masking them one by one gives another text.
fn masked_outline(text: &str, marks: Vec<Mark>, mask: &Mask<'_>) -> Vec<Mark> {
    let Some(items) = apart(text, &marks) else {
        return Vec::new();
    };
    let sizes: Vec<u64> = items.iter().map(|item| mask(item).len() as u64).collect();
    let resized = marks.into_iter().zip(sizes);
    let resized: Vec<Mark> = resized
        .map(|(mark, bytes)| Mark { bytes, ..mark })
        .collect();
    match apart(&mask(text), &resized) {
        Some(_) => resized,
        None => Vec::new(),
    }
}

fn is_masked(mask: &Mask<'_>, text: &str) -> bool {
    matches!(mask(text), Cow::Owned(_))
}

/// Title and text; what else is stored of an episode stays.
pub(crate) fn rewrite(db: &Connection, n: i64, row: &Row) -> rusqlite::Result<()> {
    db.prepare_cached(
        "UPDATE episode SET (title, revision, body_bytes) = (?2, ?3, ?4) WHERE n = ?1",
    )?
    .execute(params![
        n,
        row.episode.title,
        row.revision,
        row.body_bytes as i64
    ])?;
    db.prepare_cached("UPDATE body SET text = ?2 WHERE episode = ?1")?
        .execute(params![n, row.body])?;
    db.prepare_cached("DELETE FROM words WHERE rowid = ?1")?
        .execute([n])?;
    db.prepare_cached("INSERT INTO words (rowid, title, text, glued) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![
            n,
            row.title_words,
            row.index.words,
            row.index.glued
        ])?;
    Ok(())
}

/// Paths and tools. A name that reads like another one once it is masked becomes that one.
fn names(db: &Connection, mask: &Mask<'_>) -> rusqlite::Result<u64> {
    let all: Vec<(i64, String)> = db
        .prepare("SELECT n, text FROM name")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut changed = 0;
    for (n, text) in all {
        let Cow::Owned(masked) = mask(&text) else {
            continue;
        };
        changed += 1;
        let other: Option<i64> = db
            .query_row("SELECT n FROM name WHERE text = ?1", [&masked], |row| {
                row.get(0)
            })
            .optional()?;
        let Some(other) = other else {
            db.execute("UPDATE name SET text = ?2 WHERE n = ?1", params![n, masked])?;
            continue;
        };
        let users = [
            ("episode_path", "path"),
            ("episode_tool", "tool"),
            ("episode_usage", "model"),
        ];
        for (table, column) in users {
            let sql = format!("UPDATE OR REPLACE {table} SET {column} = ?2 WHERE {column} = ?1");
            db.execute(&sql, [n, other])?;
        }
        db.execute("DELETE FROM name WHERE n = ?1", [n])?;
    }
    Ok(changed)
}

fn texts(db: &Connection, table: &str, column: &str, mask: &Mask<'_>) -> rusqlite::Result<u64> {
    let sql = format!("SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL");
    let all: Vec<String> = db
        .prepare(&sql)?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let sql = format!("UPDATE OR REPLACE {table} SET {column} = ?2 WHERE {column} = ?1");
    let mut changed = 0;
    for text in &all {
        if let Cow::Owned(masked) = mask(text) {
            changed += db.execute(&sql, [text, &masked])? as u64;
        }
    }
    Ok(changed)
}

/// A model's paragraphs in which something is to be masked: the messages are other ones now.
fn paragraphs(db: &Connection, mask: &Mask<'_>) -> rusqlite::Result<u64> {
    let all: Vec<(Vec<u8>, String)> = db
        .prepare("SELECT content, text FROM condensed WHERE text IS NOT NULL")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut removed = 0;
    for (content, _) in all.iter().filter(|(_, text)| is_masked(mask, text)) {
        removed += db.execute("DELETE FROM condensed WHERE content = ?1", [content])? as u64;
    }
    Ok(removed)
}

fn values(db: &Connection, table: &str, column: &str, mask: &Mask<'_>) -> rusqlite::Result<u64> {
    let key = match table {
        "fold" => "file",
        "outline" => "episode",
        "telling" => "session",
        _ => "n",
    };
    let all: Vec<i64> = db
        .prepare(&format!(
            "SELECT {key} FROM {table} WHERE {column} IS NOT NULL"
        ))?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let select = format!("SELECT {column} FROM {table} WHERE {key} = ?1");
    let update = format!("UPDATE {table} SET {column} = ?2 WHERE {key} = ?1");
    let mut changed = 0;
    for n in all {
        let packed = |row: &rusqlite::Row<'_>| {
            let column: ValueRef<'_> = row.get_ref(0)?;
            Ok(Packed::of(column)?)
        };
        let read = db.prepare_cached(&select)?.query_row([n], packed)?.json();
        let Some(mut value) = sound_or_none::<Value>(read.map_err(Into::into))? else {
            continue;
        };
        if mask_strings(&mut value, mask) {
            db.prepare_cached(&update)?
                .execute(params![n, pack_json(&value)])?;
            changed += 1;
        }
    }
    Ok(changed)
}

/// Every string in a value, and the names of its fields: reasons in ledgers are such.
fn mask_strings(value: &mut Value, mask: &Mask<'_>) -> bool {
    let masked = |item: &mut Value| mask_strings(item, mask).then_some(());
    match value {
        Value::String(text) => match mask(text) {
            Cow::Owned(masked) => {
                *text = masked;
                true
            }
            Cow::Borrowed(_) => false,
        },
        // each of them, not only the first that changes
        Value::Array(list) => list.iter_mut().filter_map(masked).count() > 0,
        Value::Object(map) => {
            let mut any = map.values_mut().filter_map(masked).count() > 0;
            if map.keys().any(|name| is_masked(mask, name)) {
                let fields = std::mem::take(map).into_iter();
                *map = fields
                    .map(|(name, value)| (mask(&name).into_owned(), value))
                    .collect();
                any = true;
            }
            any
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

//! The whole store as text, to compare stores by. Knows every table and every column: a test
//! fails for a column that is neither shown nor left out here.

use crate::store::compression::{Json, Unpacked};
use crate::store::damaged_rows::sound_or_none;
use crate::store::error::failed;
use crate::store::{Result, Store};
use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde_json::Value;
use std::fmt::Write;

/// One table's part of the dump.
pub(super) struct Shown {
    pub(super) table: &'static str,
    /// A column, `name=expression`, or `-column` for one that differs between equal stores: row
    /// numbers, the clock, the disk.
    pub(super) columns: &'static [&'static str],
    /// What to select from, where rows of equal stores may be divided differently.
    pub(super) rows: Option<&'static str>,
    order: &'static str,
}

const SESSION: &str = "(SELECT id FROM session WHERE n = t.session)";
const FILE: &str = "(SELECT key FROM file WHERE n = t.file)";
const EPISODE: &str = "(SELECT hex(id) FROM episode WHERE n = t.episode)";

impl Store {
    /// Every table in order, every row under its natural key. Two stores with equal dumps hold
    /// the same boundaries, ids, texts, signals and ledgers. Row numbers, `stat`, and the times
    /// of the runs are left out. Paths are as they are: callers replace what is temporary.
    pub fn dump(&self) -> Result<String> {
        let mut out = String::new();
        for shown in &TABLES {
            self.dump_table(shown, &mut out)
                .map_err(failed("dumping"))?;
        }
        Ok(out)
    }

    fn dump_table(&self, shown: &Shown, out: &mut String) -> rusqlite::Result<()> {
        let dumped = || shown.columns.iter().filter(|c| !c.starts_with('-'));
        let names: Vec<&str> = dumped().map(|c| split(c).0).collect();
        let columns: Vec<String> = dumped().map(|c| expression(split(c).1)).collect();
        let sql = format!(
            "SELECT {} FROM {} t ORDER BY {}",
            columns.join(", "),
            shown.rows.unwrap_or(shown.table),
            expression(shown.order)
        );
        let mut select = self.db.prepare(&sql)?;
        let mut rows = select.query([])?;
        let _ = writeln!(out, "# {}", shown.table);
        while let Some(row) = rows.next()? {
            let mut line = String::new();
            for (i, name) in names.iter().enumerate() {
                show(row, i, name, &mut line)?;
            }
            let _ = writeln!(out, "{}", line.trim_end());
        }
        Ok(())
    }
}

/// Name and expression.
pub(super) fn split(column: &'static str) -> (&'static str, &'static str) {
    column.split_once('=').unwrap_or((column, column))
}

/// References are shown as what they refer to.
pub(super) fn expression(column: &str) -> String {
    match column {
        "@session" => SESSION.into(),
        "@file" => FILE.into(),
        "@episode" => EPISODE.into(),
        name if name.starts_with("@name.") => {
            format!("(SELECT text FROM name WHERE n = t.{})", &name[6..])
        }
        list if list.contains('@') => {
            let parts: Vec<String> = list.split(", ").map(expression).collect();
            parts.join(", ")
        }
        plain => plain.into(),
    }
}

/// ` name=value`; texts with several lines stand below, indented.
fn show(row: &Row<'_>, column: usize, name: &str, line: &mut String) -> rusqlite::Result<()> {
    let _ = match (name, row.get_ref(column)?) {
        (_, ValueRef::Null) => Ok(()),
        ("carry" | "sealed_state" | "tail_state" | "facts" | "tally", _) => {
            match sound_or_none(row.get::<_, Json<Value>>(column))? {
                Some(Json(value)) => write!(line, "{name}={} ", without_nothing(value)),
                None => write!(line, "{name}=(damaged) "),
            }
        }
        ("body", _) => {
            let text = sound_or_none(row.get::<_, Unpacked>(column))?;
            let text = text.map_or("(damaged)".to_owned(), |Unpacked(text)| text);
            write!(line, "\n    {}", text.replace('\n', "\n    "))
        }
        (_, ValueRef::Integer(n)) => write!(line, "{name}={n} "),
        (_, ValueRef::Real(n)) => write!(line, "{name}={n} "),
        (_, ValueRef::Text(text)) => write!(line, "{name}={} ", String::from_utf8_lossy(text)),
        (_, ValueRef::Blob(blob)) => write!(line, "{name}={} bytes ", blob.len()),
    };
    Ok(())
}

/// Members without a value say nothing and would be all that one sees.
fn without_nothing(value: Value) -> Value {
    let empty = |v: &Value| match v {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Number(n) => n.as_u64() == Some(0),
        _ => false,
    };
    match value {
        Value::Object(map) => map
            .into_iter()
            .map(|(key, v)| (key, without_nothing(v)))
            .filter(|(_, v)| !empty(v))
            .collect(),
        Value::Array(list) => list.into_iter().map(without_nothing).collect(),
        other => other,
    }
}

#[rustfmt::skip]
pub(super) static TABLES: [Shown; 36] = [
    Shown {
        table: "redaction",
        columns: &["masked=1", "-version"],
        rows: None,
        order: "version",
    },
    Shown {
        table: "session",
        columns: &["id", "agent", "namespace", "project_path", "cwd", "host", "file",
            "standing", "summary", "title", "branch", "started", "ended", "facts", "-n"],
        rows: None,
        order: "id",
    },
    Shown {
        table: "file",
        columns: &["key", "path", "agent", "session=@session", "stream", "generation",
            "offset", "line", "read_to", "head_print", "head_bytes", "tail_print",
                "content", "content_to",
            "ties=replace(ties, char(10), ' ')", "-n", "-size", "-mtime_ns", "-ctime_ns",
            "-device", "-inode"],
        rows: None,
        order: "key",
    },
    Shown {
        table: "tie",
        columns: &["name", "file=@file"],
        rows: None,
        order: "name, @file",
    },
    Shown {
        table: "fold",
        columns: &["file=@file", "sealed_state=sealed", "tail_state=tail", "carry"],
        rows: None,
        order: "@file",
    },
    Shown {
        table: "record",
        columns: &["file=@file", "part", "ids", "-block"],
        rows: Some("(SELECT file, CASE sign(block) WHEN 0 THEN 'tail' WHEN -1 THEN 'older'
            ELSE 'committed' END AS part, group_concat(hex(ids), '' ORDER BY block)
            AS ids FROM record GROUP BY file, part)"),
        order: "@file, part",
    },
    Shown {
        table: "reject",
        columns: &["file=@file", "offset", "bytes", "line", "reason"],
        rows: None,
        order: "@file, offset",
    },
    Shown {
        table: "unknown_kind",
        columns: &["kind", "file=@file", "offset", "bytes", "line", "time"],
        rows: None,
        order: "kind, @file",
    },
    Shown {
        table: "summary",
        columns: &["leaf", "file=@file", "text"],
        rows: None,
        order: "leaf, @file",
    },
    Shown {
        table: "episode",
        columns: &["id=hex(id)", "session=@session", "file=@file", "source", "stream",
            "part", "sealed", "pending_calls", "title", "valid_at", "ended_at", "byte_from",
            "byte_to", "line_from", "line_to", "message_count", "duration_minutes",
            "completed_tasks", "files_modified", "revision", "made_by=@name.made_by",
            "graph=@name.graph", "body_bytes", "read_bytes", "records", "prompts",
            "messages", "calls", "failures", "refusals", "user_bytes", "agent_bytes",
            "digest_bytes", "output_bytes", "input_tokens", "output_tokens", "cache_read",
            "cache_write", "stale=nullif(stale, 0)", "-n", "-indexed_at"],
        rows: None,
        order: "id",
    },
    Shown {
        table: "body",
        columns: &["episode=@episode", "body=text"],
        rows: None,
        order: "@episode",
    },
    Shown {
        table: "activity",
        columns: &["episode=@episode", "exchanges"],
        rows: None,
        order: "@episode",
    },
    Shown {
        table: "outline",
        columns: &["episode=@episode", "items=hex(items)", "findings"],
        rows: None,
        order: "@episode",
    },
    Shown {
        table: "embedding",
        columns: &["episode=@episode", "model", "state", "vector=hex(vector)", "-attempts", "-next_at", "-error"],
        rows: None,
        order: "@episode",
    },
    Shown {
        table: "condensing",
        columns: &["episode=@episode", "templates", "state", "whole=hex(whole)"],
        rows: None,
        order: "@episode",
    },
    Shown {
        table: "condensed",
        columns: &["content=hex(content)", "episode=@episode", "state", "text", "-attempts", "-next_at", "-error", "-at"],
        rows: None,
        order: "content",
    },
    Shown {
        table: "episode_tool",
        columns: &["episode=@episode", "tool=@name.tool", "calls", "failed"],
        rows: None,
        order: "@episode, @name.tool",
    },
    Shown {
        table: "episode_usage",
        columns: &["episode=@episode", "model=@name.model", "half_hour", "input_tokens", "output_tokens",
            "cache_read", "cache_write", "cache_write_1h"],
        rows: None,
        order: "@episode, @name.model, half_hour",
    },
    Shown {
        table: "episode_path",
        columns: &["episode=@episode", "path=@name.path"],
        rows: None,
        order: "@episode, @name.path",
    },
    Shown {
        table: "telling",
        columns: &["session=@session", "state", "content=hex(content)", "tally=summary", "-attempts", "-next_at", "-error", "-at"],
        rows: None,
        order: "@session",
    },
    Shown {
        table: "words_docsize",
        columns: &["episode=(SELECT hex(e.id) FROM episode e WHERE e.n = t.id)", "sz=hex(sz)", "-id", "-origin"],
        rows: None,
        order: "(SELECT hex(e.id) FROM episode e WHERE e.n = t.id)",
    },
    Shown {
        table: "forgotten",
        columns: &["session", "reason", "-at"],
        rows: None,
        order: "session",
    },
    Shown {
        table: "forgotten_before",
        columns: &["namespace", "before", "-at"],
        rows: None,
        order: "namespace",
    },
    Shown {
        table: "sink",
        columns: &["name", "failures", "error", "-n", "-address", "-clean_to", "-paused_until"],
        rows: None,
        order: "name",
    },
    Shown {
        table: "delivery",
        columns: &["sink=(SELECT name FROM sink WHERE n = t.sink)", "id=hex(id)", "revision=hex(revision)", "state", "attempts", "error", "place", "-at", "-next_at", "-asked"],
        rows: None,
        order: "(SELECT name FROM sink WHERE n = t.sink), id",
    },
    Shown {
        table: "memory",
        columns: &["id=hex(id)", "kind", "scope", "origin", "state", "session", "text", "reason", "git", "at", "-edited"],
        rows: None,
        order: "id",
    },
    Shown {
        table: "git_operation",
        columns: &["id=hex(id)", "session=@session", "at", "tally=deed", "untold=nullif(untold, 0)", "agent", "-judged", "-n", "-open"],
        rows: None,
        order: "id",
    },
    Shown {
        table: "git_episode",
        columns: &["episode=hex(episode)", "operation=hex(operation)", "quotes"],
        rows: None,
        order: "episode",
    },
    Shown {
        table: "tracked_project",
        columns: &["root", "paused_at", "-n", "-changed_at", "-told_to"],
        rows: None,
        order: "root",
    },
    Shown {
        table: "tracked_file",
        columns: &["path=CAST(path AS TEXT)", "size", "sha256", "blob", "episode=hex(episode)", "operation", "-project", "-print", "-mtime_ns", "-inode"],
        rows: None,
        order: "project, path",
    },
    Shown {
        table: "tracked_episode",
        columns: &["episode=hex(episode)", "path=CAST(path AS TEXT)", "operation", "at", "invalid_at", "tally=facts", "agent", "-judged", "-n", "-project"],
        rows: None,
        order: "episode",
    },
    Shown {
        table: "tracked_failure",
        columns: &["path=CAST(path AS TEXT)", "reason", "-project", "-print", "-at"],
        rows: None,
        order: "project, path",
    },
    Shown {
        table: "git_tree",
        columns: &["tree", "-seen"],
        rows: None,
        order: "tree",
    },
    Shown {
        table: "consent",
        columns: &["scope", "given", "text", "version", "-n", "-at"],
        rows: None,
        order: "n",
    },
    Shown {
        table: "moved_project",
        columns: &["path", "root", "-at"],
        rows: None,
        order: "path",
    },
    Shown {
        table: "switch",
        columns: &["project", "tracked", "-at"],
        rows: None,
        order: "project",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Access;
    use std::collections::BTreeSet;

    /// Tables that hold nothing of their own: shared strings, the index's inner pages, and copies of vectors; and what
    /// is left to do, what was spent and which projects were met, which depends on when runs came.
    const INNER: [&str; 10] = [
        "name",
        "words",
        "words_config",
        "words_data",
        "words_idx",
        "due",
        "unsummarised",
        "spent",
        "workspace",
        "vector_pack",
    ];

    #[test]
    fn every_column_of_every_table_is_shown_or_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("s.db"), Access::ReadWrite).unwrap();
        let names = |sql: &str| -> BTreeSet<String> {
            let mut select = store.db.prepare(sql).unwrap();
            let rows = select.query_map([], |row| row.get(0)).unwrap();
            rows.map(|row| row.unwrap()).collect()
        };
        let mut tables = names("SELECT name FROM sqlite_schema WHERE type = 'table'");
        tables.retain(|table| !INNER.contains(&table.as_str()) && !table.starts_with("sqlite_"));
        let mut seen = BTreeSet::new();
        for shown in &TABLES {
            let has = names(&format!(
                "SELECT name FROM pragma_table_info('{}')",
                shown.table
            ));
            let named = shown
                .columns
                .iter()
                .map(|c| match split(c.trim_start_matches('-')) {
                    (_, column) if has.contains(column) => column.to_string(),
                    (name, _) => name.to_string(),
                });
            let named: BTreeSet<String> = named.collect();
            let missing: Vec<_> = has.difference(&named).collect();
            assert!(missing.is_empty(), "{}: {missing:?}", shown.table);
            seen.insert(shown.table.to_string());
        }
        assert_eq!(tables, seen);
    }
}

//! What two stores hold of each session, to be compared: one sum for each column, so that a store of any size
//! is looked at in a few MB. Knows which columns logs tell; refuses to say which of two stores is right.

use crate::store::compression::Unpacked;
use crate::store::error::failed;
use crate::store::ingest::prepare::tie_name;
use crate::store::maintenance::dump::{Shown, TABLES, expression, split};
use crate::store::maintenance::packed_columns;
use crate::store::{Result, Store};
use rusqlite::Connection;
use rusqlite::types::{FromSql, ValueRef};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// What a store holds of its sessions, as far as logs tell it.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// By the session's id.
    sessions: BTreeMap<String, Sums>,
    /// Sessions that share records with another one: which of them a record belongs to depends on when the
    /// logs were met.
    kin: BTreeSet<String>,
}

#[derive(Clone, Debug, Default)]
struct Sums {
    /// Of all rows, by column; a column's place is the one it has in [`Contents::columns`].
    columns: Vec<u64>,
    /// Of all that an equal log gives other episodes with: the program's version, settings, where its project is.
    made_with: u64,
}

/// How a session of one store is in another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Likeness {
    Same,
    /// The other one was made with other settings or by another version, or shares out records otherwise.
    NotComparable,
    Differs,
}

/// What a comparison found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Sessions that differ, with the columns that do, as `store dump` names them.
    pub differing: BTreeMap<String, Vec<&'static str>>,
    /// Sessions that were made by another version, with other settings, or when their project was elsewhere.
    pub made_otherwise: BTreeSet<String>,
}

impl Contents {
    /// What differs in the `derived` store, of the sessions that both have and that are `wanted`.
    pub fn differences(&self, derived: &Contents, wanted: impl Fn(&str) -> bool) -> Differences {
        let nothing = Sums::default();
        let mut found = Differences::default();
        let names: BTreeSet<&String> = self
            .sessions
            .keys()
            .chain(derived.sessions.keys())
            .collect();
        for name in names.into_iter().filter(|name| wanted(name)) {
            let (ours, theirs) = (self.sessions.get(name), derived.sessions.get(name));
            let (ours, theirs) = (ours.unwrap_or(&nothing), theirs.unwrap_or(&nothing));
            let is_kin = self.kin.contains(name) || derived.kin.contains(name);
            match ours.likeness(theirs, is_kin) {
                Likeness::Same => {}
                Likeness::NotComparable => {
                    found.made_otherwise.insert(name.clone());
                }
                Likeness::Differs => {
                    found.differing.insert(name.clone(), ours.named(theirs));
                }
            }
        }
        found
    }
}

impl Sums {
    fn at(&self, column: usize) -> u64 {
        self.columns.get(column).copied().unwrap_or(0)
    }

    fn differ(&self, other: &Sums) -> Vec<&'static Compared> {
        let all = COMPARED.iter().enumerate();
        all.filter(|(n, _)| self.at(*n) != other.at(*n))
            .map(|(_, compared)| compared)
            .collect()
    }

    fn likeness(&self, other: &Sums, is_kin: bool) -> Likeness {
        let differ = self.differ(other);
        // what is counted differs too where records are really shared out otherwise
        let is_shared_out = || {
            differ.iter().any(|one| one.tells_whose)
                && differ
                    .iter()
                    .any(|one| ["episode", "fold"].contains(&one.table))
        };
        if differ.is_empty() {
            Likeness::Same
        } else if self.made_with != other.made_with || is_kin && is_shared_out() {
            Likeness::NotComparable
        } else {
            Likeness::Differs
        }
    }

    /// What differs, in words of `store dump`. Where a table's keys do, its other columns say nothing new.
    fn named(&self, other: &Sums) -> Vec<&'static str> {
        let differ = self.differ(other);
        let keys: BTreeSet<&str> = differ
            .iter()
            .filter(|one| one.is_key)
            .map(|one| one.table)
            .collect();
        let told = differ
            .iter()
            .filter(|one| one.is_key || !keys.contains(one.table));
        let mut seen = BTreeSet::new();
        told.map(|one| one.name)
            .filter(|name| seen.insert(*name))
            .collect()
    }
}

/// One column, or a whole table whose rows have no single key.
struct Compared {
    table: &'static str,
    name: &'static str,
    /// Rows are known by it.
    is_key: bool,
    /// It says which session a record belongs to.
    tells_whose: bool,
}

/// Tables that logs tell, and whether their rows are compared column by column. What people decided, what was
/// sent and what models wrote is in others.
const TOLD: [(&str, bool); 15] = [
    ("session", true),
    ("file", true),
    ("tie", false),
    ("fold", true),
    ("record", false),
    ("reject", false),
    ("unknown_kind", false),
    ("episode", true),
    ("body", true),
    ("activity", true),
    ("outline", true),
    ("episode_tool", false),
    ("episode_usage", false),
    ("episode_path", false),
    ("words_docsize", false),
];

/// What the disk, the first run or the settings say rather than the log.
const NOT_TOLD: [(&str, &str); 12] = [
    ("session", "namespace"),
    ("session", "project_path"),
    ("session", "cwd"),
    ("session", "host"),
    ("session", "file"),
    ("session", "standing"),
    ("session", "summary"),
    ("file", "path"),
    ("file", "ties"),
    ("episode", "made_by"),
    ("episode", "graph"),
    ("episode", "stale"),
];

/// A table, what it is dumped as, and which of its columns are compared.
struct Reading {
    shown: &'static Shown,
    by_column: bool,
    /// Name and expression.
    columns: Vec<(&'static str, &'static str)>,
}

fn readings() -> Vec<Reading> {
    let shown = |table: &str| TABLES.iter().find(|shown| shown.table == table);
    let all = TOLD
        .iter()
        .filter_map(|(table, by_column)| Some((shown(table)?, *by_column)));
    all.map(|(shown, by_column)| {
        let columns = shown.columns.iter().filter(|c| !c.starts_with('-'));
        let columns = columns.map(|c| split(c));
        let told = columns.filter(|(name, _)| !NOT_TOLD.contains(&(shown.table, name)));
        Reading {
            shown,
            by_column,
            columns: told.collect(),
        }
    })
    .collect()
}

static COMPARED: LazyLock<Vec<Compared>> = LazyLock::new(|| {
    let all = readings().into_iter().flat_map(|reading| {
        let table = reading.shown.table;
        let one = move |nth: usize, name| Compared {
            table,
            name,
            is_key: nth == 0,
            tells_whose: nth == 0 && ["record", "episode"].contains(&table),
        };
        match reading.by_column {
            false => vec![one(0, table)],
            true => {
                let names = reading.columns.iter().enumerate();
                names.map(|(nth, (name, _))| one(nth, *name)).collect()
            }
        }
    });
    all.collect()
});

/// Whose a row is: `NULL` where nobody's.
fn owner(shown: &Shown) -> &'static str {
    let has = |column: &str| shown.columns.iter().any(|c| c.contains(column));
    match shown.table {
        "session" => "t.id",
        "words_docsize" => {
            "(SELECT s.id FROM episode e JOIN session s ON s.n = e.session
              WHERE e.n = t.id AND e.source IN ('session', 'session_summary'))"
        }
        "episode" => {
            "CASE WHEN t.source IN ('session', 'session_summary')
             THEN (SELECT id FROM session WHERE n = t.session) END"
        }
        _ if has("@episode") => {
            "(SELECT s.id FROM episode e JOIN session s ON s.n = e.session
              WHERE e.n = t.episode AND e.source IN ('session', 'session_summary'))"
        }
        _ if has("=@session") => "(SELECT id FROM session WHERE n = t.session)",
        _ => "(SELECT s.id FROM file f JOIN session s ON s.n = f.session WHERE f.n = t.file)",
    }
}

impl Store {
    /// Sums of all that logs tell, by session. Reads the whole file and unpacks what is packed, about 200 MB/s;
    /// rows of no session, and what can't be read, are `doctor`'s other findings.
    pub fn contents(&self) -> Result<Contents> {
        let read = || {
            let mut contents = Contents {
                kin: kin(&self.db)?,
                ..Contents::default()
            };
            let mut first = 0;
            for reading in readings() {
                first += match reading.shown.table {
                    "tie" => read_ties(&self.db, first, &mut contents)?,
                    _ => read_table(&self.db, &reading, first, &mut contents)?,
                };
            }
            made_with(&self.db, &mut contents)?;
            Ok(contents)
        };
        read().map_err(failed("comparing"))
    }
}

/// Adds a table's rows to the sums from column `first` on; gives how many columns that are.
fn read_table(
    db: &Connection,
    reading: &Reading,
    first: usize,
    contents: &mut Contents,
) -> rusqlite::Result<usize> {
    let Reading { shown, columns, .. } = reading;
    let selected: Vec<String> = columns.iter().map(|(_, sql)| expression(sql)).collect();
    let rows = shown.rows.unwrap_or(shown.table);
    let (owner, selected) = (owner(shown), selected.join(", "));
    let mut select = db.prepare(&format!("SELECT {owner}, {selected} FROM {rows} t"))?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let Ok(Some(session)) = row.get::<_, Option<String>>(0) else {
            continue;
        };
        let sums = contents.sessions.entry(session).or_default();
        sums.columns.resize(COMPARED.len(), 0);
        let mut whole = Xxh3::new();
        for (nth, (_, sql)) in columns.iter().enumerate() {
            let value = row.get_ref(nth + 1)?;
            let mut one = Xxh3::new();
            if reading.by_column {
                // with the row's key: values of two rows may have changed places
                take(row.get_ref(1)?, None, &mut one);
            }
            take(value, Some((shown.table, sql)), &mut one);
            let sum = &mut sums.columns[first + nth * usize::from(reading.by_column)];
            match reading.by_column {
                true => *sum = sum.wrapping_add(one.digest()),
                false => whole.update(&one.digest().to_le_bytes()),
            }
        }
        if !reading.by_column {
            sums.columns[first] = sums.columns[first].wrapping_add(whole.digest());
        }
    }
    Ok(match reading.by_column {
        true => columns.len(),
        false => 1,
    })
}

/// Adds what isn't in `tie` as the same store's `file.ties` has it to the sums of column `first`; gives 1, for one
/// column. Not what the rows are: a log that was rewritten keeps names that a cold run never meets.
fn read_ties(db: &Connection, first: usize, contents: &mut Contents) -> rusqlite::Result<usize> {
    let mut rows = BTreeMap::<i64, u64>::new();
    let mut select = db.prepare("SELECT file FROM tie")?;
    let mut found = select.query([])?;
    while let Some(row) = found.next()? {
        *rows.entry(row.get(0)?).or_default() += 1;
    }
    let sql = "SELECT s.id, f.n, f.ties FROM file f JOIN session s ON s.n = f.session";
    let mut select = db.prepare(sql)?;
    let mut is_there = db.prepare("SELECT 1 FROM tie WHERE name = ?1 AND file = ?2")?;
    let mut files = select.query([])?;
    while let Some(row) = files.next()? {
        let (Ok(session), Ok(ties)) = (row.get::<_, String>(0), row.get::<_, String>(2)) else {
            continue;
        };
        let file: i64 = row.get(1)?;
        let names: BTreeSet<i64> = ties.lines().map(tie_name).collect();
        let mut more = rows.get(&file).copied().unwrap_or(0);
        let sums = contents.sessions.entry(session).or_default();
        sums.columns.resize(COMPARED.len(), 0);
        let mut differs = |what: u64| {
            sums.columns[first] = sums.columns[first].wrapping_add(xxh3_64(&what.to_le_bytes()));
        };
        for name in names {
            match is_there.exists([name, file])? {
                true => more -= 1,
                false => differs(name.cast_unsigned()),
            }
        }
        if more > 0 {
            differs(more);
        }
    }
    Ok(1)
}

/// Hashes a value; of a packed column what is in it, since equal texts may be packed differently.
fn take(value: ValueRef<'_>, column: Option<(&str, &str)>, hash: &mut Xxh3) {
    let is_packed =
        column.is_some_and(|(t, c)| packed_columns::reads(t, c, ValueRef::Null).is_some());
    if is_packed && let Ok(Unpacked(text)) = Unpacked::column_result(value) {
        hash.update(text.as_bytes());
        return;
    }
    match value {
        ValueRef::Null => hash.update(b"-"),
        ValueRef::Integer(n) => hash.update(&n.to_le_bytes()),
        ValueRef::Real(n) => hash.update(&n.to_le_bytes()),
        ValueRef::Text(bytes) => hash.update(bytes),
        // the same bytes as a text are another value
        ValueRef::Blob(bytes) => {
            hash.update(b"b");
            hash.update(bytes);
        }
    }
}

/// Sessions with a log that shares a name with another session's.
fn kin(db: &Connection) -> rusqlite::Result<BTreeSet<String>> {
    let sql = "SELECT DISTINCT s.id FROM tie a JOIN tie b ON b.name = a.name AND b.file <> a.file
         JOIN file f ON f.n = a.file JOIN file g ON g.n = b.file
         JOIN session s ON s.n = f.session WHERE f.session <> g.session";
    db.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}

/// Notes what each session's episodes were made with.
fn made_with(db: &Connection, contents: &mut Contents) -> rusqlite::Result<()> {
    let sql = "SELECT s.id, s.project_path, s.namespace,
             (SELECT group_concat(DISTINCT name.text ORDER BY name.text)
              FROM episode e JOIN name ON name.n = e.made_by
              WHERE e.session = s.n AND e.source IN ('session', 'session_summary'))
         FROM session s";
    let mut select = db.prepare(sql)?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let mut hash = Xxh3::new();
        for column in 1..4 {
            take(row.get_ref(column)?, None, &mut hash);
        }
        if let Ok(session) = row.get::<_, String>(0)
            && let Some(sums) = contents.sessions.get_mut(&session)
        {
            sums.made_with = hash.digest();
        }
    }
    Ok(())
}

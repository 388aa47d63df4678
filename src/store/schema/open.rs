//! Opening the file: whose it is, which version, who may read it, how SQLite is set.
//! Knows headers and permissions; refuses to know any table.

use crate::model::error::{Error, ErrorKind};
use crate::store::error::{failed, has_no_marks, is_damage};
use crate::store::schema::database_state::{DatabaseState, beside};
use crate::store::schema::migrations::{APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION};
use crate::store::{Access, Result, Store};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use rustc_hash::FxHashMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Longer: a second writer hangs; shorter: a reader meets a checkpoint and gives up.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Statements kept compiled; more than there are.
const STATEMENTS_MAX: usize = 96;

impl Store {
    /// Opens the store at `path`; about a millisecond.
    ///
    /// With [`Access::ReadWrite`] an absent file is created (0600, missing folders 0700) and an
    /// older one migrated. With [`Access::ReadOnly`] an absent or older file is an error. A file
    /// that is cut short, damaged in its first pages, another program's or a newer version's is an
    /// error either way, and stays as it is ([`DatabaseState`]).
    pub fn open(path: &Path, access: Access) -> Result<Store> {
        Store::open_patiently(path, access, BUSY_TIMEOUT)
    }

    /// The same to read, for somebody who can't wait: another process is waited for at most so long,
    /// when opening and when reading.
    pub fn open_within(path: &Path, patience: Duration) -> Result<Store> {
        let store = Store::open_patiently(path, Access::ReadOnly, patience)?;
        let small = store.db.pragma_update(None, "cache_size", -HASTY_KIB);
        small.map_err(failed("opening"))?;
        Ok(store)
    }

    /// A new store that nobody opens again, in the place of what is there: nothing is synced.
    pub fn scratch(path: &Path) -> Result<Store> {
        clear(path)
            .and_then(|()| create_private(path))
            .map_err(|error| not_made(path, &error))?;
        let mut store = Store::connect(path, Access::ReadWrite)?;
        store.set_up("off")?;
        store.migrate_from(0)?;
        Ok(store)
    }

    fn open_patiently(path: &Path, access: Access, patience: Duration) -> Result<Store> {
        match (DatabaseState::by_header(path), access) {
            (DatabaseState::Current, _) => {}
            (DatabaseState::Missing, Access::ReadWrite) => create(path)?,
            (state, _) => return Err(refused(state, path)),
        }
        let mut store = Store::connect_patiently(path, access, patience)?;
        match (store.identify()?, access) {
            (DatabaseState::Current, Access::ReadWrite) => store.migrate(SCHEMA_VERSION)?,
            (DatabaseState::Current, Access::ReadOnly) => {}
            (DatabaseState::Older(version), Access::ReadWrite) => store.migrate(version)?,
            (state, _) => return Err(refused(state, path)),
        }
        Ok(store)
    }

    /// The file as it is, whatever it is.
    pub(crate) fn connect(path: &Path, access: Access) -> Result<Store> {
        Store::connect_patiently(path, access, BUSY_TIMEOUT)
    }

    fn connect_patiently(path: &Path, access: Access, patience: Duration) -> Result<Store> {
        let db = match access {
            Access::ReadWrite => open_for_writing(path, patience)?,
            Access::ReadOnly => open_for_reading(path, patience)?,
        };
        db.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
        Ok(Store {
            db,
            path: path.to_path_buf(),
            access,
            names: FxHashMap::default(),
            dirty: false,
            indexed: 0,
            version: 0,
        })
    }

    /// Whose the file is and which schema it has.
    pub(crate) fn identify(&self) -> Result<DatabaseState> {
        let number = |sql: &str| self.db.query_row(sql, [], |row| row.get::<_, i32>(0));
        let read = || -> rusqlite::Result<DatabaseState> {
            Ok(DatabaseState::judge(
                number("PRAGMA application_id")?,
                number("PRAGMA user_version")?,
                number("SELECT count(*) FROM sqlite_schema")?,
            ))
        };
        match read() {
            Err(error) if is_damage(&error) => Ok(DatabaseState::Damaged),
            other => other.map_err(failed("opening")),
        }
    }

    fn migrate(&mut self, version: i32) -> Result<()> {
        self.set_up("normal")?;
        self.migrate_from(version)
    }

    /// How SQLite writes; `synchronous` is its word for what it waits for.
    fn set_up(&self, synchronous: &str) -> Result<()> {
        let set = || -> rusqlite::Result<()> {
            self.db.pragma_update(None, "page_size", PAGE_BYTES)?;
            self.db.pragma_update(None, "synchronous", synchronous)?;
            self.db.pragma_update(None, "journal_mode", "wal")?;
            self.db.pragma_update(None, "cache_size", -CACHE_KIB)?;
            self.db.pragma_update(None, "wal_autocheckpoint", WAL_PAGES)
        };
        set().map_err(failed("opening"))
    }

    fn migrate_from(&mut self, version: i32) -> Result<()> {
        for wants in version + 1..=SCHEMA_VERSION {
            self.migrate_to(wants).map_err(failed("migrating"))?;
        }
        Ok(())
    }

    fn migrate_to(&mut self, wants: i32) -> rusqlite::Result<()> {
        let tx = self
            .db
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have been faster.
        let has: i32 = tx.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if has < wants {
            tx.execute_batch(MIGRATIONS[(wants - 1) as usize])?;
            tx.pragma_update(None, "user_version", wants)?;
            tx.pragma_update(None, "application_id", APPLICATION_ID)?;
        }
        tx.commit()
    }

    /// Where the store lies.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Of a new file. Smaller: a packed text of half a page leaves the other half empty (a sixth of
/// the store); larger: more is written when one row changes.
const PAGE_BYTES: i32 = 8_192;

/// KiB of pages in memory. Smaller: the index's merges read pages twice; larger: a run's memory.
const CACHE_KIB: i32 = 4 * 1024;

/// Pages kept in memory by who asks one question and leaves. More: a hook is larger than its promise;
/// fewer: pages are read from the system's cache again.
const HASTY_KIB: i32 = 256;

/// Pages in the log before it is folded into the file. Smaller: pages that change often are
/// written and synced again and again; larger: more disk while a run writes.
const WAL_PAGES: i32 = 2_000;

/// A new store appears whole: it is made beside its place and moved there, so that a file without
/// bytes is never ours. What a crash leaves is made again.
fn create(path: &Path) -> Result<()> {
    let unfinished = beside(path, NEW);
    clear(&unfinished).map_err(|error| not_made(path, &error))?;
    create_private(&unfinished).map_err(|error| not_made(path, &error))?;
    Store::connect(&unfinished, Access::ReadWrite)?.migrate(0)?;
    fs::rename(&unfinished, path).map_err(|error| not_made(path, &error))
}

/// What a store that is being made is called, after its own name.
pub(crate) const NEW: &str = ".new";

/// Removes an unfinished store and its companions.
pub(crate) fn clear(unfinished: &Path) -> std::io::Result<()> {
    ["", "-wal", "-shm"]
        .iter()
        .map(|suffix| beside(unfinished, suffix))
        .filter(|file| file.exists())
        .try_for_each(fs::remove_file)
}

fn not_made(path: &Path, error: &std::io::Error) -> Error {
    let message = format!("{} can't be created: {}", path.display(), error.kind());
    Error::new(ErrorKind::Store, message).hinted("check the permissions of the folder")
}

fn refused(state: DatabaseState, path: &Path) -> Error {
    let older = || {
        let message = format!("{} was written by an older version", path.display());
        Error::new(ErrorKind::Store, message).hinted("sessionmill run")
    };
    state.fault(path).unwrap_or_else(older)
}

fn open_for_writing(path: &Path, patience: Duration) -> Result<Connection> {
    make_private(path).map_err(|error| {
        let message = format!("{}: {}", path.display(), error.kind());
        Error::new(ErrorKind::Store, message).hinted("check the permissions of the file")
    })?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    connect(path, flags, patience)
}

fn open_for_reading(path: &Path, patience: Duration) -> Result<Connection> {
    // Where the file is write-protected, SQLite opens it for reading. Readers that may write put
    // the files beside it away when they leave; readers that may not would let them lie.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = connect(path, flags, patience)?;
    let has_room = db.query_row("PRAGMA schema_version", [], |_| Ok(()));
    if let Err(error) = has_room
        && is_without_room(&error)
        && fs::metadata(beside(path, "-wal")).map_or(0, |log| log.len()) == 0
    {
        return open_unchanging(path);
    }
    db.pragma_update(None, "query_only", true)
        .map_err(failed("opening"))?;
    Ok(db)
}

/// A folder that can't be written to has no room for the reader's marks, nor has a full disk.
fn is_without_room(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{CannotOpen, DiskFull, ReadOnly};
    has_no_marks(error)
        || matches!(
            error.sqlite_error_code(),
            Some(CannotOpen | ReadOnly | DiskFull)
        )
}

/// Without a log nobody is writing, and no marks are needed.
pub(crate) fn open_unchanging(path: &Path) -> Result<Connection> {
    let uri = format!("file:{}?immutable=1", escaped(path));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    connect(
        Path::new(&uri),
        flags | OpenFlags::SQLITE_OPEN_URI,
        BUSY_TIMEOUT,
    )
}

fn connect(path: &Path, flags: OpenFlags, patience: Duration) -> Result<Connection> {
    let open = || -> rusqlite::Result<Connection> {
        let db = Connection::open_with_flags(path, flags)?;
        db.busy_timeout(patience)?;
        // a plan is for all values: else SQLite plans again whenever one is bound
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        Ok(db)
    };
    open().map_err(failed("opening"))
}

/// A path in an address that SQLite opens.
pub(crate) fn escaped(path: &Path) -> String {
    let path = path.to_string_lossy();
    path.replace('%', "%25")
        .replace('?', "%3f")
        .replace('#', "%23")
}

/// Creates the file for its owner alone. SQLite gives its companions the same mode.
#[cfg(unix)]
fn create_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
    if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    options.open(path).map(|_| ())
}

#[cfg(not(unix))]
fn create_private(path: &Path) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::File::create_new(path).map(|_| ())
}

/// Takes the file away from everybody but its owner.
#[cfg(unix)]
fn make_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    match fs::metadata(path)?.permissions().mode() & 0o077 {
        0 => Ok(()),
        _ => fs::set_permissions(path, fs::Permissions::from_mode(0o600)),
    }
}

#[cfg(not(unix))]
fn make_private(_path: &Path) -> std::io::Result<()> {
    Ok(())
}

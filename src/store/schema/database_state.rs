//! What a file is before it is trusted: ours, somebody else's, cut short, too new. Knows the first
//! hundred bytes and what SQLite says of them; refuses to look at any row.
//!
//! The look at the header costs one read, so every opening can afford it. Whether the pages behind
//! it hold together is `doctor`'s question (`health`).

use crate::model::error::{Error, ErrorKind};
use crate::store::error::REPAIR;
use crate::store::schema::migrations::{APPLICATION_ID, SCHEMA_VERSION};
use crate::store::schema::network;
use crate::store::{Access, Result, Store};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How the file at a store's place stands to this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseState {
    /// There is none.
    Missing,
    /// A store of this version's schema, as far as its header tells.
    Current,
    /// A store of an older schema: the next run migrates it.
    Older(i32),
    /// A store of a newer schema.
    Newer(i32),
    /// It has no bytes at all: something emptied it.
    Empty,
    /// Another program's database, or none.
    Foreign,
    /// It ends before its header says.
    Truncated {
        /// Bytes that are there.
        has: u64,
        /// Bytes that the header promises.
        wants: u64,
    },
    /// Its first pages can't be read.
    Damaged,
    /// On a network file system of this kind, where the write-ahead log isn't safe.
    Remote(&'static str),
}

impl DatabaseState {
    /// Looks at the file at `path`, with SQLite where its header is in order. Writes nothing. An
    /// error where it can't be read at all.
    pub fn of(path: &Path) -> Result<DatabaseState> {
        match DatabaseState::by_header(path) {
            DatabaseState::Current => Store::connect(path, Access::ReadOnly)?.identify(),
            other => Ok(other),
        }
    }

    /// What the file's name, length and first bytes say; two system calls and a read.
    pub(crate) fn by_header(path: &Path) -> DatabaseState {
        if let Some(kind) = network::file_system(path) {
            return DatabaseState::Remote(kind);
        }
        // While another process folds its log into the file, header and length may disagree for a
        // moment: the second look is the one that counts.
        match look(path) {
            DatabaseState::Truncated { .. } => look(path),
            other => other,
        }
    }

    /// Schema and owner as the header states them.
    pub(crate) fn judge(application_id: i32, version: i32, tables: i32) -> DatabaseState {
        match (application_id, version) {
            (0, 0) if tables == 0 => DatabaseState::Older(0),
            (APPLICATION_ID, SCHEMA_VERSION) => DatabaseState::Current,
            (APPLICATION_ID, version) if !(0..VERSION_MAX).contains(&version) => {
                DatabaseState::Damaged
            }
            (APPLICATION_ID, version) if version > SCHEMA_VERSION => DatabaseState::Newer(version),
            (APPLICATION_ID, version) => DatabaseState::Older(version),
            _ => DatabaseState::Foreign,
        }
    }

    /// What is wrong and which command mends it; `None` where a run can go on.
    pub fn fault(self, path: &Path) -> Option<Error> {
        let shown = path.display();
        let (message, hint) = match self {
            DatabaseState::Current | DatabaseState::Older(_) => return None,
            DatabaseState::Missing => (
                format!("nothing is stored yet: there is no {shown}"),
                "sessionmill init".to_owned(),
            ),
            DatabaseState::Newer(version) => (
                format!("{shown} was written by a newer version"),
                format!("install the version that reads schema {version}"),
            ),
            DatabaseState::Empty => (format!("{shown} is empty"), REPAIR.into()),
            DatabaseState::Foreign => (
                format!("{shown} is not a store of sessionmill"),
                REPAIR.into(),
            ),
            DatabaseState::Truncated { has, wants } => (
                format!("{shown} is cut short: {has} of {wants} bytes"),
                REPAIR.into(),
            ),
            DatabaseState::Damaged => (format!("{shown} is damaged"), REPAIR.into()),
            DatabaseState::Remote(kind) => (
                format!("{shown} is on a network file system ({kind}), where a store isn't safe"),
                "export SESSIONMILL_HOME=/a/folder/of/this/machine".into(),
            ),
        };
        Some(Error::new(ErrorKind::Store, message).hinted(hint))
    }
}

/// No schema comes to such a version: a header that says so is damaged.
const VERSION_MAX: i32 = 1_000;

const MAGIC: &[u8] = b"SQLite format 3\0";

fn look(path: &Path) -> DatabaseState {
    let mut header = [0; 100];
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return DatabaseState::Missing;
        }
        // SQLite will say it better.
        Err(_) => return DatabaseState::Current,
    };
    let length = |file: &File| file.metadata().map_or(0, |meta| meta.len());
    if length(&file) == 0 {
        return DatabaseState::Empty;
    }
    let whole = file.read_exact(&mut header).is_ok();
    if !whole || !header.starts_with(MAGIC) {
        return DatabaseState::Foreign;
    }
    // Where there is a log, it may hold the pages that the file doesn't have yet.
    let log = beside(path, "-wal").metadata().map_or(0, |meta| meta.len());
    let (has, wants) = (length(&file), promised(&header));
    match log == 0 && has < wants {
        true => DatabaseState::Truncated { has, wants },
        false => DatabaseState::Current,
    }
}

/// The length that the header promises; 0 where it makes no promise.
fn promised(header: &[u8; 100]) -> u64 {
    let number = |at: usize| u32::from_be_bytes([0, 1, 2, 3].map(|i| header[at + i]));
    let page = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        bytes => u64::from(bytes),
    };
    // The count holds only where the last writer was one that keeps it.
    let kept = number(24) == number(92);
    if kept {
        u64::from(number(28)) * page
    } else {
        0
    }
}

/// The file beside the store that SQLite names so.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(suffix);
    PathBuf::from(name)
}

//! How SQLite's errors are told: what was being done, what SQLite calls it, what to do next.
//! Knows codes; refuses to repeat values, since a value may be a log's content.

use super::standing::REPAIR;
use crate::model::error::{Error, ErrorKind};
use rusqlite::ErrorCode;

/// Turns SQLite's error into ours; `doing` is a participle (`reading checkpoints`).
pub fn failed(doing: &str) -> impl FnOnce(rusqlite::Error) -> Error + '_ {
    move |error| {
        let code = error.sqlite_error_code();
        let (kind, hint) = match code {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
                ErrorKind::Busy,
                Some("try again when the other run is done"),
            ),
            Some(ErrorCode::DiskFull) => {
                (ErrorKind::Store, Some("free disk space, then run again"))
            }
            Some(ErrorCode::SystemIoFailure) => (
                ErrorKind::Store,
                Some("check the disk and its free space, then run again"),
            ),
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => (
                ErrorKind::Store,
                Some("check the permissions of the folder"),
            ),
            _ if is_damage(&error) => (ErrorKind::Damaged, Some(REPAIR)),
            _ => (ErrorKind::Store, None),
        };
        Error {
            kind,
            message: format!("store: {doing}: {}", words(&error)),
            hint: hint.map(str::to_string),
        }
    }
}

/// Pages or columns that are not as we wrote them.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{
        FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, InvalidQuery,
        QueryReturnedNoRows, SqlInputError, Utf8Error,
    };
    let pages = matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    );
    pages
        || matches!(
            error,
            FromSqlConversionFailure(..)
                | IntegralValueOutOfRange(..)
                | InvalidColumnType(..)
                | InvalidQuery
                | QueryReturnedNoRows
                | SqlInputError { .. }
                | Utf8Error(..)
        )
}

fn words(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(code, _) => code.to_string(),
        rusqlite::Error::QueryReturnedNoRows => "a row is missing".into(),
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        _ => "a column holds something else than it should".into(),
    }
}

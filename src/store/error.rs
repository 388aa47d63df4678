//! How SQLite's errors are told: what was being done, what SQLite calls it, what to do next.
//! Knows codes; refuses to repeat values, since a value may be a log's content.

use crate::model::error::{Error, ErrorKind};
use rusqlite::ErrorCode;

/// What mends a file that is not as we left it.
pub(crate) const REPAIR: &str = "sessionmill doctor --repair";

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
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    let pages = matches!(
        error.sqlite_error_code(),
        // our statements are sound: what SQLite calls an error in them is a schema or a format that isn't ours
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown)
    );
    pages || is_of_a_row(error) || matches!(error, rusqlite::Error::SqlInputError { .. })
}

/// A row holds something else than was written; the others may be whole.
pub(crate) fn is_of_a_row(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{
        FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, InvalidQuery,
        QueryReturnedNoRows, Utf8Error,
    };
    matches!(
        error,
        FromSqlConversionFailure(..)
            | IntegralValueOutOfRange(..)
            | InvalidColumnType(..)
            | InvalidQuery
            | QueryReturnedNoRows
            | Utf8Error(..)
    )
}

/// There is no room for the marks that readers and writers leave beside the file.
pub(crate) fn has_no_marks(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi::{SQLITE_IOERR_SHMMAP, SQLITE_IOERR_SHMOPEN, SQLITE_IOERR_SHMSIZE};
    let code = error.sqlite_error().map(|error| error.extended_code);
    [
        SQLITE_IOERR_SHMSIZE,
        SQLITE_IOERR_SHMOPEN,
        SQLITE_IOERR_SHMMAP,
    ]
    .iter()
    .any(|marks| code == Some(*marks))
}

pub(crate) fn words(error: &rusqlite::Error) -> String {
    match error {
        error if has_no_marks(error) => "there is no room beside it: the disk is full".into(),
        rusqlite::Error::SqliteFailure(failed, said) => match failed.code {
            ErrorCode::ReadOnly => "its file can't be written to".into(),
            ErrorCode::CannotOpen => "its file can't be opened".into(),
            ErrorCode::PermissionDenied => "there is no permission to use its file".into(),
            ErrorCode::DiskFull => "the disk is full".into(),
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => "another program uses it".into(),
            ErrorCode::DatabaseCorrupt => "its file is damaged".into(),
            ErrorCode::NotADatabase => "its file is not a database".into(),
            _ => said.clone().unwrap_or_else(|| failed.to_string()),
        },
        rusqlite::Error::QueryReturnedNoRows => "a row is missing".into(),
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        _ => "a column holds something else than it should".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::ffi;

    #[test]
    fn a_full_disk_is_called_so() {
        for (code, wants) in [
            (ffi::SQLITE_IOERR_SHMSIZE, "the disk is full"),
            (ffi::SQLITE_IOERR_READ, "disk I/O error"),
        ] {
            let told =
                failed("opening")(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
            assert!(told.message.contains(wants), "{told}");
            assert!(told.hint.is_some_and(|hint| hint.contains("free space")));
        }
    }
}

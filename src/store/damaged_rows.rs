//! Rows that can't be read: passed over and counted, so that one bad row is one bad row. Refuses
//! to pass over a page that can't be read, which may hold any number of rows.
//!
//! The count belongs to the thread that reads: a command reads on one.

use crate::store::error::{REPAIR, is_of_a_row};
use rustc_hash::FxHashSet;
use std::cell::RefCell;

thread_local! {
    /// What was passed over, by what its error says: a row that is read twice counts once.
    static PASSED_OVER: RefCell<FxHashSet<String>> = RefCell::default();
}

/// For `filter_map` over rows: leaves out what only this row can't tell.
pub(crate) fn sound<T>(row: rusqlite::Result<T>) -> Option<rusqlite::Result<T>> {
    match row {
        Err(error) if is_of_a_row(&error) => {
            note(&error);
            None
        }
        other => Some(other),
    }
}

/// The same of one row or one column: absent where it can't be read.
pub(crate) fn sound_or_none<T>(row: rusqlite::Result<T>) -> rusqlite::Result<Option<T>> {
    sound(row).transpose()
}

fn note(error: &rusqlite::Error) {
    PASSED_OVER.with_borrow_mut(|all| all.insert(format!("{error:?}")));
}

/// What this thread passed over since it was asked last, in words, with the next command; `None`: nothing.
pub fn passed_over() -> Option<String> {
    let rows = PASSED_OVER.take().len();
    let left_out = match rows {
        0 => return None,
        1 => "1 damaged row of the store was left out".to_owned(),
        n => format!("{n} damaged rows of the store were left out"),
    };
    Some(format!("{left_out}: {REPAIR}"))
}

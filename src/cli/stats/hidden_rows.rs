//! What stands under a table that shows only its first rows.

/// The table, and how many of its `rows` lie beyond the `limit`.
pub(super) fn more(text: String, rows: usize, limit: usize) -> String {
    match rows.saturating_sub(limit) {
        0 => text,
        hidden => format!("{text}… and {hidden} more (--limit 0)\n"),
    }
}

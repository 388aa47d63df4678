//! The account of lines, as `status` and `status --ledger` show it.

use crate::model::human::{count, rows_of, table};
use crate::model::ledger::{Fate, Ledger};

/// Characters of reasons on a line, which a terminal of 80 columns shows.
const REASONS_CHARS_MAX: usize = 56;

/// Lines by fate, the reasons behind each.
pub fn lines(ledger: &Ledger) -> String {
    let mut rows = vec![vec![
        "lines read".to_owned(),
        count(ledger.total()),
        String::new(),
    ]];
    for fate in [
        Fate::Kept,
        Fate::Filtered,
        Fate::Copied,
        Fate::Unknown,
        Fate::Rejected,
    ] {
        let mut reasons: Vec<_> = ledger.lines.get(&fate).into_iter().flatten().collect();
        reasons.sort_by(|a, b| (b.1, a.0).cmp(&(a.1, b.0)));
        let reasons = reasons
            .iter()
            .map(|(reason, lines)| format!("{reason} {}", count(**lines)));
        let reasons: Vec<String> = reasons.collect();
        let mut reasons = rows_of(&reasons, ", ", REASONS_CHARS_MAX).into_iter();
        rows.push(vec![
            format!("  {}", fate.as_str()),
            count(ledger.of(fate)),
            reasons.next().unwrap_or_default(),
        ]);
        rows.extend(reasons.map(|more| vec![String::new(), String::new(), more]));
    }
    rows.push(vec![
        "  pending".to_owned(),
        count(ledger.pending),
        String::new(),
    ]);
    table(&rows, &[1])
}

//! Rows under each other that fit a terminal: the last column is wrapped by words, and stands on lines of its
//! own where the others leave it no room.

use super::style::{Style, fitted, paint, width};
use super::wrap::{hanging, wrap};

/// Columns that a list uses at most: longer lines are hard to read.
pub const COLUMNS_MAX: usize = 140;
/// Columns in which a few words can be wrapped.
pub const WORDS_MIN: usize = 26;
/// Columns that a title needs: in fewer it is torn into many lines.
pub const TITLE_MIN: usize = 40;
/// Two blanks stand between columns.
const GAP: usize = 2;

/// A list: what each row tells in a word or two, and its words at the end.
#[derive(Clone, Debug, Default)]
pub struct TextList {
    /// What stands above the columns, the words' too; on a terminal alone.
    pub heads: Vec<&'static str>,
    /// Cells, the last of them the words.
    pub rows: Vec<Vec<String>>,
    /// Columns that the words need beside the other cells.
    pub words_min: usize,
}

impl TextList {
    /// On a terminal of so many columns; `None`: each row is one line.
    pub fn text(&self, columns: Option<usize>) -> String {
        let columns = columns.map(|columns| columns.min(COLUMNS_MAX));
        let words = self.heads.len().saturating_sub(1);
        let mut widths: Vec<usize> = (0..words).map(|nth| self.widest(nth)).collect();
        if columns.is_some() {
            for (width, head) in widths.iter_mut().zip(&self.heads) {
                *width = (*width).max(head.len());
            }
        }
        let before: usize = widths.iter().map(|width| width + GAP).sum();
        let Some(columns) = columns else {
            let rows = self.rows.iter();
            return rows.map(|row| line(row, &widths)).collect();
        };
        if self.rows.is_empty() {
            return String::new();
        }
        if before + self.words_min > columns {
            return self.stacked(words, columns);
        }
        let heads: Vec<String> = self.heads.iter().map(|head| (*head).to_owned()).collect();
        let head = line(&heads, &widths);
        let mut out = format!("{}\n", paint(Style::Dim, head.trim_end()));
        for row in &self.rows {
            let lines = wrap(row.last().map_or("", String::as_str), columns - before);
            let mut first = row.clone();
            first.truncate(words);
            first.extend(lines.first().cloned());
            out.push_str(&line(&first, &widths));
            for more in lines.iter().skip(1) {
                out.push_str(&format!("{}{more}\n", " ".repeat(before)));
            }
        }
        out
    }

    /// The words behind what the list begins with, the rest under them.
    fn stacked(&self, words: usize, columns: usize) -> String {
        let rows = self.rows.iter().map(|row| {
            let (first, rest) = row
                .split_first()
                .map_or(("", row.as_slice()), |(a, b)| (a, b));
            let cells = rest.get(..words.saturating_sub(1)).unwrap_or_default();
            entry(
                first,
                rest.last().map_or("", String::as_str),
                cells,
                Some(columns),
            )
        });
        rows.collect()
    }

    fn widest(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| width(cell)).max().unwrap_or(0)
    }
}

fn line(row: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (nth, cell) in row.iter().enumerate() {
        line.push_str(cell);
        if nth + 1 < row.len() {
            let wide = widths.get(nth).copied().unwrap_or_default();
            line.push_str(&" ".repeat(wide.saturating_sub(width(cell)) + GAP));
        }
    }
    format!("{}\n", line.trim_end())
}

/// What lines under an entry's first begin with.
pub const INDENT: &str = "  ";

/// An id and its words, and under them what else is known, as wide as a list is at most.
pub fn entry(id: &str, words: &str, cells: &[String], columns: Option<usize>) -> String {
    let columns = columns.map(|columns| columns.min(COLUMNS_MAX));
    let head = hanging(words, &format!("{id}  "), INDENT, columns);
    let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
    let cells: Vec<&str> = cells.into_iter().filter(|cell| !cell.is_empty()).collect();
    if cells.is_empty() {
        return head;
    }
    head + &hanging(&cells.join(" · "), INDENT, INDENT, columns)
}

/// A table whose first column gives way where the others leave it less than it wants.
pub fn narrowed(rows: &mut [Vec<String>], columns: Option<usize>) {
    let Some(columns) = columns else { return };
    let many = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |nth: usize| {
        rows.iter()
            .filter_map(|row| row.get(nth))
            .map(|c| width(c))
            .max()
    };
    let others: usize = (1..many).map(|nth| widest(nth).unwrap_or(0) + GAP).sum();
    let room = columns.min(COLUMNS_MAX).saturating_sub(others).max(8);
    for row in rows {
        if let Some(first) = row.first_mut() {
            *first = fitted(first, room).into_owned();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> TextList {
        TextList {
            heads: vec!["ID", "PROJECT", "TITLE"],
            rows: [
                ["a1", "notes", "検索のテストが失敗します"],
                ["b2", "shop", "Find out why people are logged out at once"],
            ]
            .map(|row| row.map(str::to_owned).to_vec())
            .to_vec(),
            words_min: WORDS_MIN,
        }
    }

    #[test]
    fn words_are_wrapped_under_their_column() {
        let shown = list().text(Some(40));
        let wants = "\u{fdd2}ID  PROJECT  TITLE\u{fdd0}\n\
            a1  notes    検索のテストが失敗します\n\
            b2  shop     Find out why people are\n             logged out at once\n";
        assert_eq!(shown, wants);
        assert!(shown.lines().all(|line| width(line) <= 40));
    }

    #[test]
    fn without_room_words_have_lines_of_their_own() {
        let shown = list().text(Some(30));
        let wants = "a1  検索のテストが失敗します\n  notes\n\
            b2  Find out why people are\n  logged out at once\n  shop\n";
        assert_eq!(shown, wants);
    }

    #[test]
    fn in_a_pipe_a_row_is_a_line() {
        let wants = "a1  notes  検索のテストが失敗します\n\
            b2  shop   Find out why people are logged out at once\n";
        assert_eq!(list().text(None), wants);
    }

    #[test]
    fn the_first_column_gives_way() {
        let mut rows = vec![vec![
            "/home/ada/projects/shop".to_owned(),
            "1,200 MB".to_owned(),
        ]];
        narrowed(&mut rows, Some(22));
        assert_eq!(rows[0][0], "/home/ada/p…");
    }
}

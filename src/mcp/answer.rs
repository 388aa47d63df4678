//! How much of an answer is given: whole items up to so many bytes, and a cursor where more is left. Agents
//! pay for every word.

use crate::model::error::Error;
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of an answer. More: an agent pays for what it didn't want; fewer: it asks again.
pub const BYTES_DEFAULT: usize = 4 << 10;
/// A larger wish is cut to this.
pub const BYTES_MAX: usize = 64 << 10;
/// A smaller wish is raised to this: room for one item and a cursor.
pub const BYTES_MIN: usize = 512;
/// For the last line, which holds the cursor.
const FOOT_BYTES: usize = 96;

/// Which part of a list is told.
#[derive(Clone, Copy, Debug)]
pub struct ListWindow {
    /// Items before it.
    pub from: usize,
    /// Items at most.
    pub items_max: usize,
    /// Bytes at most, the last line included.
    pub bytes_max: usize,
    /// What was asked for: a cursor is good for the same question alone.
    question: u64,
}

impl ListWindow {
    /// Where a cursor says, else from the start. `question` is everything that decides what the list
    /// is.
    ///
    /// # Errors
    /// Of kind `Usage` for a cursor that isn't one, or is another question's.
    pub fn new(
        question: &str,
        items_max: usize,
        bytes_max: Option<usize>,
        cursor: Option<&str>,
    ) -> Result<ListWindow, Error> {
        let question = xxh3_64(question.as_bytes()) & 0xffff_ffff;
        let from = match cursor.filter(|cursor| !cursor.is_empty()) {
            None => 0,
            Some(cursor) => {
                let parts = cursor.split_once('.');
                let parts = parts.and_then(|(from, whose)| {
                    Some((from.parse().ok()?, u64::from_str_radix(whose, 16).ok()?))
                });
                let (from, whose): (usize, u64) = parts.ok_or_else(stray)?;
                if whose != question {
                    return Err(stray());
                }
                from
            }
        };
        Ok(ListWindow {
            from,
            items_max,
            bytes_max: bytes(bytes_max),
            question,
        })
    }

    /// Items that have to be looked up to fill it and to know whether more are left.
    pub fn reach(&self) -> usize {
        self.from.saturating_add(self.items_max).saturating_add(1)
    }

    /// The answer: `head`, then of all items up to [`ListWindow::reach`] those that are its own and fit,
    /// one at least, then a line with the cursor where items are left.
    pub fn fill(&self, head: &str, items: &[String]) -> String {
        let mut text = head.to_owned();
        let own = items.iter().skip(self.from).take(self.items_max);
        let mut told = 0;
        for item in own {
            let gap = if text.is_empty() { "" } else { "\n" };
            let room = self
                .bytes_max
                .saturating_sub(text.len() + gap.len() + FOOT_BYTES);
            if item.len() > room && told > 0 {
                break;
            }
            text.push_str(gap);
            text.push_str(cut(item, room));
            told += 1;
        }
        let next = self.from + told;
        if next < items.len() {
            text.push_str(&format!("\nmore: cursor={next}.{:x}\n", self.question));
        }
        text
    }
}

fn stray() -> Error {
    Error::usage("the cursor belongs to another question").hinted("ask without `cursor`")
}

/// A wish for bytes as it is met.
pub fn bytes(wish: Option<usize>) -> usize {
    wish.unwrap_or(BYTES_DEFAULT).clamp(BYTES_MIN, BYTES_MAX)
}

/// The beginning of a text, at most so many bytes, between two characters.
pub fn cut(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

/// A piece of a long text from a byte on, and the byte at which the next one begins; `None`: that was
/// all of it. It ends at a line's end where the last quarter has one.
pub fn piece(text: &str, from: usize, bytes_max: usize) -> (&str, Option<usize>) {
    let from = text.floor_char_boundary(from);
    let rest = &text[from..];
    if rest.len() <= bytes_max {
        return (rest, None);
    }
    let whole = cut(rest, bytes_max.max(4));
    let end = whole.rfind('\n').filter(|end| end * 4 >= whole.len() * 3);
    let end = end.map_or(whole.len(), |end| end + 1);
    (&rest[..end], Some(from + end))
}

/// `1 session`, `2 sessions`.
pub fn counted(number: u64, noun: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{s}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(count: usize) -> Vec<String> {
        (0..count)
            .map(|n| format!("{n}: {}\n", "é".repeat(100)))
            .collect()
    }

    #[test]
    fn answers_end_in_time_and_go_on_where_they_ended() {
        let items = items(50);
        let mut seen = 0;
        let mut cursor = None;
        loop {
            let window = ListWindow::new("q", 20, Some(1_000), cursor.as_deref()).unwrap();
            let text = window.fill("", &items[..items.len().min(window.reach())]);
            assert!(text.len() <= 1_000, "{}", text.len());
            for line in text.lines().filter(|line| line.contains('é')) {
                assert!(line.starts_with(&format!("{seen}: ")), "{line}");
                seen += 1;
            }
            cursor = text
                .rsplit_once("cursor=")
                .map(|(_, at)| at.trim().to_owned());
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, items.len());
    }

    #[test]
    fn one_long_item_is_cut_and_the_next_one_comes_next() {
        let items = ["x".repeat(5_000), "y".into()];
        let first = ListWindow::new("q", 5, None, None)
            .unwrap()
            .fill("", &items);
        assert!(first.len() <= BYTES_DEFAULT && first.contains("cursor=1."));
    }

    #[test]
    fn a_cursor_is_good_for_its_question_alone() {
        let text = ListWindow::new("a", 1, None, None)
            .unwrap()
            .fill("", &items(2));
        let (_, cursor) = text.rsplit_once("cursor=").unwrap();
        let cursor = Some(cursor.trim());
        assert_eq!(ListWindow::new("a", 1, None, cursor).unwrap().from, 1);
        assert!(ListWindow::new("b", 1, None, cursor).is_err());
        for stray in ["1", "x.y", "-1.0", "99999999999999999999999.0"] {
            assert!(
                ListWindow::new("a", 1, None, Some(stray)).is_err(),
                "{stray}"
            );
        }
        assert_eq!(ListWindow::new("a", 1, None, Some("")).unwrap().from, 0);
    }

    #[test]
    fn wishes_for_bytes_have_two_ends() {
        assert_eq!(bytes(None), BYTES_DEFAULT);
        assert_eq!(bytes(Some(0)), BYTES_MIN);
        assert_eq!(bytes(Some(usize::MAX)), BYTES_MAX);
    }

    #[test]
    fn pieces_make_the_text_again() {
        let text = "Zeile eins\nüber Zeile zwei\n".repeat(40);
        let (mut whole, mut at) = (String::new(), Some(0));
        while let Some(from) = at {
            let (told, next) = piece(&text, from, 100);
            assert!(told.len() <= 100 && !told.is_empty());
            whole.push_str(told);
            at = next;
        }
        assert_eq!(whole, text);
    }
}

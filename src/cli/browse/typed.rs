//! One line that is being typed, and where in it. Counts what people take for a character as one.

use crate::model::inert::inert;
use crate::model::layout::style::{clusters, width};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The line, with a cursor between two characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Typed {
    text: String,
    /// Bytes before the cursor.
    at: usize,
}

impl Typed {
    /// With the cursor at its end.
    pub fn new(text: &str) -> Typed {
        let text = one_line(text);
        Typed {
            at: text.len(),
            text,
        }
    }

    /// What is typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Nothing is typed.
    pub fn is_blank(&self) -> bool {
        self.text.is_empty()
    }

    /// Columns before the cursor.
    pub fn cursor(&self) -> usize {
        width(&self.text[..self.at])
    }

    /// Puts a text where the cursor is: what is pasted is typed, its ends of lines as blanks.
    pub fn insert(&mut self, text: &str) {
        let text = one_line(text);
        self.text.insert_str(self.at, &text);
        self.at += text.len();
    }

    /// Takes a key that edits; whether the line is another one now. `None`: it is no such key.
    pub fn take(&mut self, key: &KeyEvent) -> Option<bool> {
        let before = self.text.len();
        match (key.code, key.modifiers.contains(KeyModifiers::CONTROL)) {
            (KeyCode::Char('a'), true) | (KeyCode::Home, _) => self.at = 0,
            (KeyCode::Char('e'), true) | (KeyCode::End, _) => self.at = self.text.len(),
            (KeyCode::Char('u'), true) => self.cut(0, self.at),
            (KeyCode::Char('k'), true) => self.cut(self.at, self.text.len()),
            (KeyCode::Char('w'), true) => self.cut(self.word(), self.at),
            (KeyCode::Char('h'), true) | (KeyCode::Backspace, _) => {
                self.cut(self.left(), self.at);
            }
            (KeyCode::Delete, _) => self.cut(self.at, self.right()),
            (KeyCode::Left, _) => self.at = self.left(),
            (KeyCode::Right, _) => self.at = self.right(),
            (KeyCode::Char(c), false) => self.insert(c.encode_utf8(&mut [0; 4])),
            _ => return None,
        }
        Some(self.text.len() != before)
    }

    fn cut(&mut self, from: usize, to: usize) {
        self.text.replace_range(from..to, "");
        self.at = from;
    }

    /// Where the character before the cursor begins.
    fn left(&self) -> usize {
        let before = clusters(&self.text[..self.at]);
        self.at - before.last().map_or(0, |last| last.text.len())
    }

    fn right(&self) -> usize {
        let mut behind = clusters(&self.text[self.at..]);
        self.at + behind.next().map_or(0, |next| next.text.len())
    }

    /// Where the word before the cursor begins.
    fn word(&self) -> usize {
        let before = self.text[..self.at].trim_end();
        let blank = before.char_indices().rev().find(|(_, c)| c.is_whitespace());
        blank.map_or(0, |(at, c)| at + c.len_utf8())
    }
}

fn one_line(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .collect();
    inert(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(typed: &mut Typed, code: KeyCode, modifiers: KeyModifiers) -> Option<bool> {
        typed.take(&KeyEvent::new(code, modifiers))
    }

    #[test]
    fn a_character_is_what_people_take_for_one() {
        let mut typed = Typed::new("a検e\u{301}👩‍💻");
        assert_eq!(typed.cursor(), 6);
        for wants in ["a検e\u{301}", "a検", "a", "", ""] {
            let changes = typed.text() != wants;
            let changed = press(&mut typed, KeyCode::Backspace, KeyModifiers::NONE);
            assert_eq!((changed, typed.text()), (Some(changes), wants));
        }
    }

    #[test]
    fn the_keys_of_shells_edit() {
        let mut typed = Typed::new("token expiry now");
        let control = KeyModifiers::CONTROL;
        press(&mut typed, KeyCode::Char('w'), control);
        assert_eq!(typed.text(), "token expiry ");
        press(&mut typed, KeyCode::Char('a'), control);
        press(&mut typed, KeyCode::Delete, KeyModifiers::NONE);
        press(&mut typed, KeyCode::Char('T'), KeyModifiers::SHIFT);
        assert_eq!((typed.text(), typed.cursor()), ("Token expiry ", 1));
        press(&mut typed, KeyCode::Char('k'), control);
        press(&mut typed, KeyCode::Char('u'), control);
        assert!(typed.is_blank());
        assert_eq!(press(&mut typed, KeyCode::Enter, KeyModifiers::NONE), None);
    }

    #[test]
    fn what_is_pasted_is_one_line_that_drives_nothing() {
        let mut typed = Typed::new("x");
        typed.insert("two\nlines\t\u{1b}[2J");
        assert_eq!(typed.text(), "xtwo lines [2J");
    }
}

//! Which key does what. The one table that keys are read by, and that the footer and the help are written
//! from.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyCommand {
    /// The session above.
    Up,
    /// The session below.
    Down,
    /// A screen of sessions up.
    PageUp,
    /// A screen of sessions down.
    PageDown,
    /// The first session.
    First,
    /// The last session.
    Last,
    /// The preview's lines above.
    ScrollUp,
    /// The preview's lines below.
    ScrollDown,
    /// Go on with the session in its agent.
    Resume,
    /// Copy the command that does.
    Copy,
    /// Read the session.
    Read,
    /// Choose a project.
    Project,
    /// Choose an agent.
    Agent,
    /// Choose a time.
    Since,
    /// Choose a kind of work.
    Work,
    /// Only sessions that are not completed, or all.
    Open,
    /// The other order.
    Sort,
    /// Nothing typed and nothing chosen.
    Reset,
    /// From typing to keys, and back.
    Switch,
    /// To typing.
    Type,
    /// What the keys are.
    Help,
    /// Stop for now, as Ctrl-Z does everywhere.
    Suspend,
    /// End.
    Quit,
}

/// A key's line: what it asks for; as it is shown; its letter, which counts where nobody types, and with Alt
/// everywhere; what it does; in a word, for the footer.
pub struct Row {
    /// What it asks for.
    pub command: KeyCommand,
    /// As it is shown.
    pub shown: &'static str,
    letters: &'static str,
    /// What it does.
    pub does: &'static str,
    /// The same in a word.
    pub word: &'static str,
}

const fn row(
    command: KeyCommand,
    shown: &'static str,
    letters: &'static str,
    does: &'static str,
    word: &'static str,
) -> Row {
    Row {
        command,
        shown,
        letters,
        does,
        word,
    }
}

/// All keys, in the order in which help lists them; those of the footer first in theirs.
pub const ROWS: [Row; 18] = [
    row(
        KeyCommand::Resume,
        "Enter",
        "",
        "continue the session in its agent",
        "resume",
    ),
    row(
        KeyCommand::Copy,
        "y",
        "y",
        "copy the command that continues it",
        "copy",
    ),
    row(KeyCommand::Read, "o", "o", "read the whole session", "read"),
    row(KeyCommand::Project, "p", "p", "only one project", "project"),
    row(KeyCommand::Agent, "a", "a", "only one agent", "agent"),
    row(KeyCommand::Since, "s", "s", "only since a day", "since"),
    row(KeyCommand::Work, "w", "w", "only one kind of work", "work"),
    row(
        KeyCommand::Open,
        "e",
        "e",
        "only open ends: sessions that are not completed",
        "open ends",
    ),
    row(
        KeyCommand::Sort,
        "r",
        "r",
        "sort by relevance, or newest first",
        "sort",
    ),
    row(
        KeyCommand::Reset,
        "x",
        "x",
        "clear the search and all filters",
        "clear",
    ),
    row(
        KeyCommand::Help,
        "?",
        "?",
        "show or hide this help; F1 does too",
        "help",
    ),
    row(
        KeyCommand::Quit,
        "q",
        "q",
        "quit; Esc and Ctrl-C do too",
        "quit",
    ),
    row(
        KeyCommand::Down,
        "Down, j",
        "j",
        "the next session; PgDn, End: further",
        "",
    ),
    row(
        KeyCommand::Up,
        "Up, k",
        "k",
        "the one before; PgUp, Home: further",
        "",
    ),
    row(
        KeyCommand::ScrollDown,
        "Shift-Down, J",
        "J",
        "scroll the preview; Space too",
        "",
    ),
    row(
        KeyCommand::ScrollUp,
        "Shift-Up, K",
        "K",
        "scroll it back",
        "",
    ),
    row(KeyCommand::Type, "/", "/i", "type again", "type"),
    row(
        KeyCommand::Suspend,
        "Ctrl-Z",
        "",
        "stop for now; fg goes on",
        "",
    ),
];

/// What a key asks for where somebody types, or where nobody does; `None`: nothing, or it is typed.
pub fn command(key: &KeyEvent, is_typing: bool, is_blank: bool) -> Option<KeyCommand> {
    let (control, alt, shift) = (
        key.modifiers.contains(KeyModifiers::CONTROL),
        key.modifiers.contains(KeyModifiers::ALT),
        key.modifiers.contains(KeyModifiers::SHIFT),
    );
    match key.code {
        KeyCode::Char(c) if control => return controlled(c),
        KeyCode::Char('?') if is_blank => return Some(KeyCommand::Help),
        KeyCode::Char(' ') if !is_typing => return Some(KeyCommand::ScrollDown),
        KeyCode::Char(c) if alt || !is_typing => {
            let row = ROWS.iter().find(|row| row.letters.contains(c));
            return row.map(|row| row.command);
        }
        _ => {}
    }
    Some(match key.code {
        KeyCode::Up if shift || control || alt => KeyCommand::ScrollUp,
        KeyCode::Down if shift || control || alt => KeyCommand::ScrollDown,
        KeyCode::Up => KeyCommand::Up,
        KeyCode::Down => KeyCommand::Down,
        KeyCode::PageUp => KeyCommand::PageUp,
        KeyCode::PageDown => KeyCommand::PageDown,
        KeyCode::Home if !is_typing || is_blank => KeyCommand::First,
        KeyCode::End if !is_typing || is_blank => KeyCommand::Last,
        KeyCode::Enter => KeyCommand::Resume,
        KeyCode::Tab | KeyCode::BackTab => KeyCommand::Switch,
        KeyCode::Backspace if !is_typing => KeyCommand::Type,
        KeyCode::F(1) => KeyCommand::Help,
        KeyCode::Esc => KeyCommand::Quit,
        _ => return None,
    })
}

/// What people's hands know from shells and finders.
fn controlled(c: char) -> Option<KeyCommand> {
    Some(match c {
        'c' | 'd' => KeyCommand::Quit,
        'z' => KeyCommand::Suspend,
        'n' | 'j' => KeyCommand::Down,
        'p' => KeyCommand::Up,
        'f' => KeyCommand::PageDown,
        'b' => KeyCommand::PageUp,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(c: char, modifiers: KeyModifiers, is_typing: bool) -> Option<KeyCommand> {
        command(
            &KeyEvent::new(KeyCode::Char(c), modifiers),
            is_typing,
            false,
        )
    }

    #[test]
    fn letters_are_typed_unless_nobody_types() {
        for (c, wants) in [
            ('y', Some(KeyCommand::Copy)),
            ('?', Some(KeyCommand::Help)),
            ('q', Some(KeyCommand::Quit)),
            ('b', None),
        ] {
            assert_eq!(asked(c, KeyModifiers::NONE, true), None, "{c}");
            assert_eq!(asked(c, KeyModifiers::NONE, false), wants, "{c}");
            assert_eq!(asked(c, KeyModifiers::ALT, true), wants, "{c}");
        }
    }

    #[test]
    fn each_letter_asks_for_one_thing() {
        let all: Vec<char> = ROWS.iter().flat_map(|row| row.letters.chars()).collect();
        let mut once = all.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), all.len(), "{all:?}");
    }
}

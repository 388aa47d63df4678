//! Which key does what. The one table that keys are read by, and that the footer and the help are written
//! from.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
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
    pub command: Command,
    /// As it is shown.
    pub shown: &'static str,
    letters: &'static str,
    /// What it does.
    pub does: &'static str,
    /// The same in a word.
    pub word: &'static str,
}

const fn row(
    command: Command,
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
    row(Command::Resume, "Enter", "", "continue the session in its agent", "resume"),
    row(Command::Copy, "y", "y", "copy the command that continues it; it is printed at the end too", "copy"),
    row(Command::Read, "o", "o", "read the whole session", "read"),
    row(Command::Project, "p", "p", "only one project", "project"),
    row(Command::Agent, "a", "a", "only one agent", "agent"),
    row(Command::Since, "s", "s", "only since a day", "since"),
    row(Command::Work, "w", "w", "only one kind of work", "work"),
    row(Command::Open, "e", "e", "only open ends: sessions that are not completed", "open ends"),
    row(Command::Sort, "r", "r", "sort by relevance, or newest first", "sort"),
    row(Command::Reset, "x", "x", "clear the search and all filters", "clear"),
    row(Command::Help, "?", "?", "show or hide this help; F1 does too", "help"),
    row(Command::Quit, "q", "q", "quit; Esc and Ctrl-C do too", "quit"),
    row(Command::Down, "Down, j", "j", "the next session; PgDn, End: further", ""),
    row(Command::Up, "Up, k", "k", "the one before; PgUp, Home: further", ""),
    row(Command::ScrollDown, "Shift-Down, J", "J", "scroll the preview; Space too", ""),
    row(Command::ScrollUp, "Shift-Up, K", "K", "scroll it back", ""),
    row(Command::Type, "/", "/i", "type again", "type"),
    row(Command::Suspend, "Ctrl-Z", "", "stop for now; fg goes on", ""),
];

/// What a key asks for where somebody types, or where nobody does; `None`: nothing, or it is typed.
pub fn command(key: &KeyEvent, is_typing: bool, is_blank: bool) -> Option<Command> {
    let (control, alt, shift) = (
        key.modifiers.contains(KeyModifiers::CONTROL),
        key.modifiers.contains(KeyModifiers::ALT),
        key.modifiers.contains(KeyModifiers::SHIFT),
    );
    match key.code {
        KeyCode::Char(c) if control => return controlled(c),
        KeyCode::Char('?') if is_blank => return Some(Command::Help),
        KeyCode::Char(' ') if !is_typing => return Some(Command::ScrollDown),
        KeyCode::Char(c) if alt || !is_typing => {
            let row = ROWS.iter().find(|row| row.letters.contains(c));
            return row.map(|row| row.command);
        }
        _ => {}
    }
    Some(match key.code {
        KeyCode::Up if shift || control || alt => Command::ScrollUp,
        KeyCode::Down if shift || control || alt => Command::ScrollDown,
        KeyCode::Up => Command::Up,
        KeyCode::Down => Command::Down,
        KeyCode::PageUp => Command::PageUp,
        KeyCode::PageDown => Command::PageDown,
        KeyCode::Home if !is_typing || is_blank => Command::First,
        KeyCode::End if !is_typing || is_blank => Command::Last,
        KeyCode::Enter => Command::Resume,
        KeyCode::Tab | KeyCode::BackTab => Command::Switch,
        KeyCode::Backspace if !is_typing => Command::Type,
        KeyCode::F(1) => Command::Help,
        KeyCode::Esc => Command::Quit,
        _ => return None,
    })
}

/// What people's hands know from shells and finders.
fn controlled(c: char) -> Option<Command> {
    Some(match c {
        'c' | 'd' => Command::Quit,
        'z' => Command::Suspend,
        'n' | 'j' => Command::Down,
        'p' => Command::Up,
        'f' => Command::PageDown,
        'b' => Command::PageUp,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(c: char, modifiers: KeyModifiers, is_typing: bool) -> Option<Command> {
        command(&KeyEvent::new(KeyCode::Char(c), modifiers), is_typing, false)
    }

    #[test]
    fn letters_are_typed_unless_nobody_types() {
        for (c, wants) in [
            ('y', Some(Command::Copy)),
            ('?', Some(Command::Help)),
            ('q', Some(Command::Quit)),
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

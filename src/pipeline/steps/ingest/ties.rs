//! Names that logs of one family share. Pure; refuses to know which logs there are.

use std::borrow::Cow;

/// Names that tie a file to its family, one a line: in one piece, since there may be a hundred thousand.
/// That of its own session is [`OWN`].
#[derive(Debug, Default)]
pub struct Ties(Box<str>);

/// No tie is called so: before their names they have what they are, and a colon.
const OWN: &str = "s";
const SESSION: &str = "session:";
const RECORD: &str = "uuid:";

impl Ties {
    /// Those of a file of a session.
    pub fn new(ties: &[String], session: &str) -> Ties {
        let kept = ties.iter().map(|tie| match tie.strip_prefix(SESSION) {
            Some(name) if name == session => OWN,
            _ => tie,
        });
        Ties(kept.collect::<Vec<_>>().join("\n").into_boxed_str())
    }

    /// All of them, of a file of this session.
    pub(super) fn of(&self, session: &str) -> impl Iterator<Item = Cow<'_, str>> {
        self.0.lines().map(move |tie| match tie {
            OWN => Cow::Owned(format!("{SESSION}{session}")),
            tie => Cow::Borrowed(tie),
        })
    }

    /// The record that the file begins with.
    pub fn first_record(&self) -> Option<&str> {
        self.0.lines().find(|tie| tie.starts_with(RECORD))
    }
}

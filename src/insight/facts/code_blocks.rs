//! What stands between fences in an agent's words: code, but for a document that was written and for the one line that
//! a sentence leads to.

use super::fitted::is_point;
use super::words::folded;

/// What stands between two fences.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Block {
    None,
    Code,
    /// A document that was written.
    Text,
}

impl Block {
    /// What begins or ends with a fence.
    pub(super) fn behind(self, fence: &str) -> Block {
        let language = fence.trim_matches('`').trim();
        match self {
            Block::None if matches!(language, "markdown" | "md") => Block::Text,
            Block::None => Block::Code,
            _ => Block::None,
        }
    }
}

/// Code of one short line is told with the sentence that leads to it.
pub(super) fn tell_only_line<'t>(all: &mut [String], behind: impl Iterator<Item = &'t str>) {
    const CODE_CHARS_MAX: usize = 80;
    let Some(lead) = all
        .last_mut()
        .filter(|last| last.ends_with(':') && !is_point(last))
    else {
        return;
    };
    let inside = behind
        .map(str::trim)
        .take_while(|line| !line.starts_with("```"));
    let mut inside = inside.filter(|line| !line.is_empty());
    if let (Some(code), None) = (inside.next(), inside.next())
        && code.chars().count() <= CODE_CHARS_MAX
        && !code.contains('`')
    {
        lead.push_str(&format!(" `{}`", folded(code)));
    }
}

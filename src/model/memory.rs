//! What people want remembered: a decision, a preference, a word of theirs (D32, D38). Knows the
//! words and the block that graphs are given.

use super::scope::MemoryScope;
use super::time::Time;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What a memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryKind {
    /// What was chosen, and why.
    Decision,
    /// What went wrong or right.
    Lesson,
    /// How somebody likes it.
    Preference,
    /// Steps that can be repeated.
    Procedure,
    /// Where something stands, and what comes next.
    Task,
    /// What a word means here.
    Terminology,
}

impl MemoryKind {
    /// All of them, in the order of the declaration.
    pub const ALL: [MemoryKind; 6] = [
        MemoryKind::Decision,
        MemoryKind::Lesson,
        MemoryKind::Preference,
        MemoryKind::Procedure,
        MemoryKind::Task,
        MemoryKind::Terminology,
    ];

    /// The word used in tables, options and output.
    pub fn as_str(self) -> &'static str {
        match self {
            MemoryKind::Decision => "decision",
            MemoryKind::Lesson => "lesson",
            MemoryKind::Preference => "preference",
            MemoryKind::Procedure => "procedure",
            MemoryKind::Task => "task",
            MemoryKind::Terminology => "terminology",
        }
    }

    /// The inverse of [`MemoryKind::as_str`]; other clients' words too (`lesson_learned`,
    /// `task_update`).
    pub fn parse(word: &str) -> Option<MemoryKind> {
        match word {
            "lesson_learned" => Some(MemoryKind::Lesson),
            "task_update" => Some(MemoryKind::Task),
            word => MemoryKind::ALL.into_iter().find(|k| k.as_str() == word),
        }
    }
}

/// Who curated a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryOrigin {
    /// A person, by command.
    Promoted,
    /// A directive in a prompt.
    Directive,
}

impl MemoryOrigin {
    /// The word used in tables and output.
    pub fn as_str(self) -> &'static str {
        match self {
            MemoryOrigin::Promoted => "promoted",
            MemoryOrigin::Directive => "directive",
        }
    }

    /// The inverse of [`MemoryOrigin::as_str`].
    pub fn parse(word: &str) -> Option<MemoryOrigin> {
        [MemoryOrigin::Promoted, MemoryOrigin::Directive]
            .into_iter()
            .find(|origin| origin.as_str() == word)
    }
}

/// A directive as a prompt has it, before anybody judged it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptDirective {
    /// Of the memory that it becomes: UUIDv5 of its record's id, so that reading it again changes
    /// nothing.
    pub id: Uuid,
    /// What it is.
    pub kind: MemoryKind,
    /// As the prompt says or means it; an unknown scope's word is the error.
    pub scope: Result<MemoryScope, String>,
    /// The prompt names the scope; otherwise it follows from the words.
    pub is_marked: bool,
    /// Its words, masked.
    pub text: String,
    /// When.
    pub at: Option<Time>,
}

/// Ids of memories: UUIDv5 in this namespace of where each was said.
pub const IDS: Uuid = Uuid::from_u128(0x4f6d_0a5e_8b1c_5d37_9e02_6a51_c8f4_7d19);

/// Characters of a title.
const TITLE_CHARS_MAX: usize = 80;

/// A title in one line of at most 80 characters: the given one, else the text's first line.
pub fn title_of(given: Option<&str>, text: &str) -> String {
    let line = given.unwrap_or_else(|| text.trim().lines().next().unwrap_or_default());
    let words: Vec<&str> = line.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(TITLE_CHARS_MAX) {
        None => line,
        Some(_) => {
            let cut: String = line.chars().take(TITLE_CHARS_MAX - 1).collect();
            format!("{}…", cut.trim_end())
        }
    }
}

/// The block that graphs are given (D32). Nothing in title or text can end it or begin another.
pub fn block(kind: &str, scope: MemoryScope, at: Time, title: Option<&str>, text: &str) -> String {
    let title = title.map(|title| format!("title: {}\n", neutral(&title_of(Some(title), ""))));
    format!(
        "<graphiti_episode kind=\"{kind}\">\nsource: sessionmill\nscope: {}\ntimestamp: {}\n{}content:\n{}\n</graphiti_episode>",
        scope.as_str(),
        at.rfc3339(),
        title.unwrap_or_default(),
        neutral(text.trim()),
    )
}

/// Tags that programs around an agent give a meaning to are text again.
fn neutral(text: &str) -> String {
    const TAG: &str = "graphiti_";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        out.push_str(before);
        let name = tag[1..].trim_start_matches(['/', ' ', '\t', '\n']);
        let is_ours = name
            .get(..TAG.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(TAG));
        out.push_str(if is_ours { "&lt;" } else { "<" });
        rest = &tag[1..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_its_fields_in_order_and_nothing_ends_it_early() {
        let at = Time::parse("2026-06-01T12:00:00Z").unwrap();
        let told = block(
            "lesson",
            MemoryScope::Global,
            at,
            Some("two\nlines"),
            " a < b\n</graphiti_episode>< / Graphiti_Episode><graphiti_memory>\n",
        );
        assert_eq!(
            told,
            "<graphiti_episode kind=\"lesson\">\nsource: sessionmill\nscope: global\n\
             timestamp: 2026-06-01T12:00:00Z\ntitle: two lines\ncontent:\na < b\n\
             &lt;/graphiti_episode>&lt; / Graphiti_Episode>&lt;graphiti_memory>\n</graphiti_episode>"
        );
        assert!(!block("task", MemoryScope::Session, at, None, "x").contains("title:"));
    }

    #[test]
    fn a_title_is_one_short_line() {
        assert_eq!(title_of(None, "\n first  line \nsecond"), "first line");
        assert_eq!(title_of(Some("a\nb"), "x"), "a b");
        let long = title_of(None, &"ä".repeat(100));
        assert_eq!((long.chars().count(), long.ends_with('…')), (80, true));
    }

    #[test]
    fn other_clients_words_are_kinds_too() {
        for kind in MemoryKind::ALL {
            assert_eq!(MemoryKind::parse(kind.as_str()), Some(kind));
        }
        assert_eq!(
            MemoryKind::parse("lesson_learned"),
            Some(MemoryKind::Lesson)
        );
        assert_eq!(MemoryKind::parse("note"), None);
    }
}

//! The `message` of a line, taken apart while it is walked: what it is, and its content blocks.

use crate::json::cursor::{self, Cursor, Raw, Visit};
use crate::json::text::{inside, number};
use crate::model::usage::Usage;

/// Content blocks of one line that are read; the rest is one unknown block. Claude Code writes one
/// per assistant line and at most some dozens of results; larger: an 8 MiB line of `0,0,0` fills
/// the memory with four million blocks.
pub const BLOCKS_MAX: usize = 1_024;

/// What stands for the blocks beyond [`BLOCKS_MAX`].
const TOO_MANY: &[u8] = b"too many blocks";

/// The raw members of a message that anyone looks at.
#[derive(Default)]
pub(super) struct Parts<'a> {
    /// The provider's id, shared by the lines of a message.
    pub(super) id: Option<&'a [u8]>,
    pub(super) model: Option<&'a [u8]>,
    pub(super) usage: Option<Usage>,
    pub(super) content: Content<'a>,
}

/// A message's content.
#[derive(Default)]
pub(super) enum Content<'a> {
    #[default]
    Absent,
    Text(Raw<'a>),
    Blocks(Vec<Block<'a>>),
}

/// The raw members of a content block that anyone looks at.
#[derive(Default)]
pub(super) struct Block<'a> {
    pub(super) kind: &'a [u8],
    pub(super) text: Option<Raw<'a>>,
    /// `tool_use`.
    pub(super) id: Option<Raw<'a>>,
    pub(super) name: Option<Raw<'a>>,
    pub(super) input: Option<Raw<'a>>,
    /// `tool_result`.
    pub(super) call: Option<Raw<'a>>,
    pub(super) failed: bool,
    pub(super) content: Option<Raw<'a>>,
}

impl<'a> Parts<'a> {
    /// Walks the message that begins here; `None` when it is no complete object.
    pub(super) fn read(&mut self, mut cursor: Cursor<'a, [u8]>) -> Option<usize> {
        *self = Parts::default();
        cursor.object(self)?;
        Some(cursor.at())
    }
}

impl<'a> Visit<'a, [u8]> for Parts<'a> {
    fn enter(&mut self, key: &'a [u8], mut value: Cursor<'a, [u8]>) -> Option<usize> {
        if key != b"content" || value.peek() != Some(b'[') {
            return None;
        }
        let mut blocks = Vec::with_capacity(1);
        value.array(|cursor| {
            let (mut parts, mut block) = (Block::default(), cursor.clone());
            match block.members(|key, value| parts.member(key, value)) {
                Some(()) => *cursor = block,
                None => _ = cursor.value()?, // a bare value among the blocks
            }
            match blocks.len() {
                0..BLOCKS_MAX => blocks.push(parts),
                BLOCKS_MAX => blocks.push(Block {
                    kind: TOO_MANY,
                    ..Block::default()
                }),
                _ => {}
            }
            Some(())
        })?;
        self.content = Content::Blocks(blocks);
        Some(value.at())
    }

    fn member(&mut self, key: &'a [u8], value: Raw<'a>) {
        match key {
            b"id" => self.id = inside(value),
            b"model" => self.model = inside(value),
            b"usage" => self.usage = Some(tokens(value)),
            b"content" => self.content = Content::Text(value),
            _ => {}
        }
    }
}

impl<'a> Block<'a> {
    fn member(&mut self, key: &[u8], value: Raw<'a>) {
        match key {
            b"type" => self.kind = inside(value).unwrap_or_default(),
            b"text" => self.text = Some(value),
            b"id" => self.id = Some(value),
            b"name" => self.name = Some(value),
            b"input" => self.input = Some(value),
            b"tool_use_id" => self.call = Some(value),
            b"is_error" => self.failed = value == b"true",
            b"content" => self.content = Some(value),
            _ => {}
        }
    }
}

/// How long what was written to the cache stays there.
fn cache_writes(raw: Raw<'_>, hour: &mut u64) {
    cursor::object(raw, |key, value| {
        if key == b"ephemeral_1h_input_tokens" {
            *hour = number(value).unwrap_or(0);
        }
    });
}

fn tokens(raw: Raw<'_>) -> Usage {
    let mut usage = Usage::default();
    cursor::object(raw, |key, value| {
        let slot = match key {
            b"input_tokens" => &mut usage.input,
            b"output_tokens" => &mut usage.output,
            b"cache_read_input_tokens" => &mut usage.cache_read,
            b"cache_creation_input_tokens" => &mut usage.cache_write,
            b"cache_creation" => return cache_writes(value, &mut usage.cache_write_1h),
            _ => return,
        };
        *slot = number(value).unwrap_or(0);
    });
    usage
}

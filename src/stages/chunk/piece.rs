//! What episodes are made of.

use crate::model::exchange::{Item, ItemKind};

/// An item, or what fits of it.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// Its `text` is what stands in the body.
    pub item: Item,
    /// Bytes of the item's text that stand in earlier pieces.
    pub skip: usize,
    /// On prompts: what the stream is called if it has no name yet.
    pub title: Option<String>,
}

impl Piece {
    /// It begins an exchange.
    pub(super) fn opens(&self) -> bool {
        self.item.kind == ItemKind::Prompt && self.skip == 0
    }
}

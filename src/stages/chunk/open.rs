//! The open episode of one stream. Knows when it is full and where it is cut, but not how an
//! episode is counted and written down (`episode`), or where inside a text a cut is good (`cut`).

use super::cut;
use super::episode;
use super::piece::Piece;
use crate::model::episode::Episode;
use crate::model::exchange::{Item, ItemKind};
use crate::model::item::between;
use crate::model::policy::ChunkOptions;
use crate::model::resume_state::{ChunkResumeState, StreamResumeState};

/// What a stream has told since its last boundary.
#[derive(Clone, Debug, Default)]
pub(super) struct Open {
    /// Records before this offset are sealed.
    pub from: u64,
    /// Before the first piece.
    pub base: ChunkResumeState,
    pub pieces: Vec<Piece>,
    /// Of the body that the pieces make.
    body_bytes: usize,
    /// Exchanges that the pieces belong to; what stands before the first prompt is none.
    exchanges: u32,
    /// Index of the first piece of the last exchange.
    current: usize,
    /// Read again after a checkpoint that lies inside a record.
    skip: bool,
}

impl Open {
    /// Reads on; the items before [`ChunkResumeState::skip_items`] come again and are passed over.
    pub(super) fn resume(stored: &StreamResumeState) -> Open {
        Open {
            from: stored.from,
            base: stored.chunk.clone(),
            exchanges: u32::from(stored.chunk.inside),
            skip: stored.chunk.skip_items > 0 || stored.chunk.skip_bytes > 0,
            ..Open::default()
        }
    }

    /// The first item.
    pub(super) fn start(&self) -> Option<&Item> {
        self.pieces.first().map(|piece| &piece.item)
    }

    /// Adds one item, sealing what it ends: before a prompt everything, when the episode is full or
    /// the stream was quiet; over the budget the earlier exchanges, else what there is of the only
    /// one. An item over the budget by itself is cut; its first piece fills the open episode.
    pub(super) fn add(
        &mut self,
        item: Item,
        stream: &Option<String>,
        options: &ChunkOptions,
        sealed: &mut Vec<Episode>,
    ) {
        let Some(mut rest) = self.admit(item) else {
            return;
        };
        let max = max_bytes(options);
        if rest.opens() {
            let quiet_ms = quiet_ms_before(&rest.item).filter(|ms| *ms >= options.gap_ms);
            let is_full = self.exchanges >= options.max_exchanges;
            if !self.pieces.is_empty() && (quiet_ms.is_some() || is_full) {
                self.seal_all(stream, sealed);
                self.base.pause(quiet_ms.unwrap_or(0));
            }
            self.exchanges += 1;
            self.current = self.pieces.len();
        }
        loop {
            let bytes = cut::rendered_bytes(&rest.item, rest.skip);
            if self.body_bytes + self.gap_bytes(&rest.item) + bytes <= max {
                return self.push(cut::whole(rest));
            }
            if self.current > 0 {
                self.seal(self.current, stream, sealed);
                continue;
            }
            if let Some(room) = self.room(&rest.item, bytes, max) {
                self.push(cut::split(&mut rest, room));
                if rest.skip == rest.item.text.len() {
                    return;
                }
            }
            self.seal_inside(stream, sealed);
        }
    }

    /// An exchange that alone is over budget is sealed in parts: the next one continues it.
    fn seal_inside(&mut self, stream: &Option<String>, sealed: &mut Vec<Episode>) {
        let inside = self.exchanges > 0;
        self.seal_all(stream, sealed);
        self.base.inside = inside;
        self.exchanges = u32::from(inside);
    }

    /// Seals everything; the next item starts an exchange of its own.
    pub(super) fn seal_all(&mut self, stream: &Option<String>, sealed: &mut Vec<Episode>) {
        self.seal(self.pieces.len(), stream, sealed);
        self.exchanges = 0;
    }

    /// Seals the first `n` pieces; what remains is the current exchange.
    fn seal(&mut self, n: usize, stream: &Option<String>, sealed: &mut Vec<Episode>) {
        let rest = self.pieces.split_off(n);
        let pieces = std::mem::replace(&mut self.pieces, rest);
        if !pieces.is_empty() {
            episode::advance(&mut self.base, &pieces);
            sealed.push(episode::of(stream, &self.base, &pieces, true));
            self.base.parts += 1;
        }
        self.base.inside = false;
        self.exchanges = self.exchanges.min(1);
        self.current = 0;
        self.body_bytes = episode::body_bytes(&self.pieces);
    }

    /// The item, unless it belongs to a sealed part; without what does.
    fn admit(&mut self, item: Item) -> Option<Piece> {
        let mut skip = 0;
        if self.skip {
            let inside = item.place.offset == self.from;
            if inside && item.nth < self.base.skip_items {
                return None;
            }
            if inside && item.nth == self.base.skip_items {
                skip = item.text.floor_char_boundary(self.base.skip_bytes as usize);
            }
            self.skip = false;
            self.base.skip_items = 0;
            self.base.skip_bytes = 0;
        }
        let prompt = item.kind == ItemKind::Prompt && skip == 0;
        Some(Piece {
            title: prompt.then(|| cut::title(item.words())),
            skip,
            item,
        })
    }

    /// How many bytes of an item that is over budget by itself go into the open episode: nothing
    /// where little room is left, so that no crumbs are cut off.
    fn room(&self, item: &Item, bytes: usize, max: usize) -> Option<usize> {
        let room = max.saturating_sub(self.body_bytes + self.gap_bytes(item));
        (bytes > max && (self.pieces.is_empty() || room >= max / 4)).then_some(room)
    }

    fn push(&mut self, piece: Piece) {
        self.body_bytes += self.gap_bytes(&piece.item) + piece.item.text.len();
        self.pieces.push(piece);
    }

    /// Bytes between the last piece and an item after it.
    fn gap_bytes(&self, next: &Item) -> usize {
        self.pieces
            .last()
            .map_or(0, |last| between(last.item.kind, next.kind).len())
    }
}

/// For how long the stream has been quiet before a prompt.
fn quiet_ms_before(prompt: &Item) -> Option<i64> {
    Some(prompt.time?.0.saturating_sub(prompt.quiet_since?.0))
}

fn max_bytes(options: &ChunkOptions) -> usize {
    usize::try_from(options.max_tokens.saturating_mul(4)).unwrap_or(usize::MAX)
}

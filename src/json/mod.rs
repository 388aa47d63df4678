//! Floor 1: raw JSON, as logs have it. One [`cursor`] finds values without decoding them; [`text`]
//! decodes the few that are kept, leniently; [`prose`] counts words that are not kept; [`skim`] makes lines that are too long fit into memory.

pub mod cursor;
pub mod fields;
pub mod prose;
pub mod skim;
pub mod text;
mod tree;

//! Floor 2: the verbs, pure. Bytes and values in, values out; no I/O, no clock, no threads.

pub mod chunk;
pub mod discover;
pub mod filter;
pub mod parse;
pub mod score;
pub mod upload;

//! Keeps what people and agents said, and one digest per tool call.

pub mod digest;

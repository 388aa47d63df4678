//! How texts stand on a terminal: how wide they are, where their lines end, what is painted, and Markdown
//! as people read it. Pure; knows no stream and no colour that one wants.

pub mod markdown;
pub mod style;
pub mod table;
pub mod wrap;

//! Floor 2: what sessions amount to, by their facts and as far as a language model is asked. Pure:
//! prompts out, answers in; `net` carries them.

pub mod classify;
pub mod facts;
pub mod items;
pub mod outcome;
pub mod patterns;
pub mod recap;
pub mod summarise;
pub mod summary;

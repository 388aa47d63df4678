//! Floor 2: what sessions amount to, as far as a language model is asked. Pure: prompts out, answers
//! in; `net` carries them.

pub mod classify;

//! tmp
use crate::model::source::Agent;
use std::borrow::Cow;
pub enum Spoken<'a> {
    Words(Cow<'a, str>),
    Machine(&'static str),
}
pub fn people_words(_a: Agent, text: &str) -> Spoken<'_> {
    Spoken::Words(text.into())
}

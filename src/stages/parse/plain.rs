//! tmp
use super::ParseState;
use crate::model::{entry::Entry, source::Place};
use std::borrow::Cow;
pub fn line(
    _s: &mut ParseState,
    _p: Place,
    _l: &[u8],
    _o: &mut Vec<Entry>,
) -> Result<(), Cow<'static, str>> {
    Ok(())
}

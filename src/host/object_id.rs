//! Git's object ids, as hex digits.

/// Empty for the one that stands for none.
pub(super) fn hex(id: gix::ObjectId) -> String {
    match id.is_null() {
        true => String::new(),
        false => id.to_string(),
    }
}

/// The id that git gives to a file with this content in a SHA-1 repository (004-045).
pub fn blob_id(content: &[u8]) -> Option<String> {
    let (sha1, blob) = (gix::hash::Kind::Sha1, gix::objs::Kind::Blob);
    Some(hex(gix::objs::compute_hash(sha1, blob, content).ok()?))
}

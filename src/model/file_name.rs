//! Names of files that are made of words of logs.

use std::fmt::Write;
use xxhash_rust::xxh3::xxh3_64;

/// Words as a part of a file's name: what no file system can have, or would hide, is a dash or gone. At most
/// this many bytes. Different words may have the same name; see [`own`].
pub fn plain(text: &str, bytes_max: usize) -> String {
    let plain = |c: char| match c.is_alphanumeric() || "-_.".contains(c) {
        true => c,
        false => '-',
    };
    let end = text.floor_char_boundary(bytes_max);
    let name: String = text[..end].chars().map(plain).collect();
    name.trim_start_matches('.').to_owned()
}

/// The name of an id's own file, without a suffix: no other id has it, whatever a log calls its session.
pub fn own(id: &str) -> String {
    let mut name = plain(id, 200);
    if name != id || name.is_empty() {
        // another id may look the same without what a name can't have
        let _ = write!(name, "-{:016x}", xxh3_64(id.as_bytes()));
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_id_leaves_its_folder_or_shares_its_file() {
        assert_eq!(own("6b1f0a34-5c0e"), "6b1f0a34-5c0e");
        for hostile in ["../../etc/x", "..", "", "a/b", "a\\b", "a\0b", ".hidden"] {
            let name = own(hostile);
            assert!(!name.starts_with('.') && name.len() > 16, "{name}");
            assert!(!name.contains(['/', '\\', '\0']), "{name}");
        }
        assert_ne!(own("a/b"), own("a-b"));
        assert_ne!(own("a/b"), own("a:b"));
    }
}

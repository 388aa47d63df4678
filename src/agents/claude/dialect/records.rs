//! Which kinds of Claude Code records are known to be noise, and under which reason.

use crate::rules::table;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::sync::LazyLock;

static TABLE: LazyLock<Table> =
    LazyLock::new(|| table::rows(table::embedded!(in "agents", "claude/records")));

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    types: FxHashMap<String, String>,
    system: FxHashMap<String, String>,
    attachment: Vec<String>,
    bulk: Vec<String>,
}

/// The reason under which lines of this `type` are filtered; `None`: not a known kind of noise.
pub fn noise_type(name: &str) -> Option<&'static str> {
    TABLE.types.get(name).map(String::as_str)
}

/// The same for `system` records by their `subtype` (empty when absent).
pub fn noise_system(subtype: &str) -> Option<&'static str> {
    TABLE.system.get(subtype).map(String::as_str)
}

/// Whether this kind of `attachment` is known noise.
pub fn noise_attachment(kind: &str) -> bool {
    TABLE.attachment.iter().any(|known| known == kind)
}

/// Whether this kind of `attachment` is known noise that isn't even looked into.
pub fn bulk_attachment(kind: &str) -> bool {
    TABLE.bulk.iter().any(|known| known == kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_noise_has_a_reason_and_new_kinds_have_none() {
        assert_eq!(noise_type("progress"), Some("progress"));
        assert_eq!(noise_type("assistant"), None);
        assert_eq!(noise_system(""), Some("system"));
        assert_eq!(noise_system("brand_new"), None);
        assert!(noise_attachment("hook_success") && !noise_attachment("queued_command"));
        assert!(bulk_attachment("prompt_snapshot") && !bulk_attachment("hook_success"));
    }
}

//! What a patch or an edit changes: files and lines. Knows the `*** Begin Patch` grammar
//! (formats § 8.5) and line counts; refuses to know whether it was applied.

use crate::model::finding::FileFate;
use memchr::memmem::Finder;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::LazyLock;

/// One file that a patch touches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchChange {
    /// As the patch names it; the new name where it is moved.
    pub path: String,
    /// Lines that start with `+`.
    pub added: u64,
    /// Lines that start with `-`.
    pub removed: u64,
    /// It is new, or gone.
    pub fate: Option<FileFate>,
}

/// Files of one patch that are told; the rest is left out. Real patches change fewer than a hundred;
/// larger: every path of them goes into the episode's row and the checkpoint.
const CHANGES_MAX: usize = 500;

/// Where shortened inputs keep what was counted in them.
const KEPT: &str = "~changes";

const BEGIN: &str = "*** Begin Patch";

/// The changes of a patch anywhere in `text`, with real or escaped newlines (code mode has it in a
/// JavaScript string). Empty when there is none.
pub fn changes(text: &str) -> Vec<PatchChange> {
    static FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(BEGIN));
    let Some(at) = FINDER.find(text.as_bytes()) else {
        return Vec::new();
    };
    let body = &text[at + BEGIN.len()..];
    match body.starts_with("\\n") {
        true => read(body.split("\\n")),
        false => read(body.lines()),
    }
}

/// The changes that [`keep`] left in a shortened input.
pub fn kept(input: &Value) -> Option<Vec<PatchChange>> {
    let kept = input.get(KEPT)?.as_array()?;
    Some(kept.iter().filter_map(kept_change).collect())
}

/// The changes as a shortened input keeps them: key and value.
pub fn keep(changes: &[PatchChange]) -> (String, Value) {
    let kept = changes.iter().map(|c| match c.fate {
        Some(fate) => json!([c.path, c.added, c.removed, fate]),
        None => json!([c.path, c.added, c.removed]),
    });
    (KEPT.to_owned(), kept.collect())
}

/// Lines that differ between two texts, after the common start and end: (added, removed).
pub fn difference(old: &str, new: &str) -> (u64, u64) {
    let old: Vec<&str> = old.lines().collect();
    let new: Vec<&str> = new.lines().collect();
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[start..], &new[start..]);
    let end = old.iter().rev().zip(new.iter().rev());
    let end = end.take_while(|(a, b)| a == b).count();
    ((new.len() - end) as u64, (old.len() - end) as u64)
}

fn kept_change(kept: &Value) -> Option<PatchChange> {
    Some(PatchChange {
        path: kept.get(0)?.as_str()?.to_owned(),
        added: kept.get(1)?.as_u64()?,
        removed: kept.get(2)?.as_u64()?,
        fate: kept
            .get(3)
            .and_then(|fate| FileFate::deserialize(fate).ok()),
    })
}

fn read<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<PatchChange> {
    let mut changes: Vec<PatchChange> = Vec::new();
    for line in lines {
        if let Some(order) = line.strip_prefix("*** ") {
            if order.starts_with("End Patch") {
                break;
            }
            follow(order.trim_end(), &mut changes);
            if changes.len() > CHANGES_MAX {
                changes.pop();
                break;
            }
        } else if let Some(last) = changes.last_mut() {
            last.added += u64::from(line.starts_with('+'));
            last.removed += u64::from(line.starts_with('-'));
        }
    }
    changes
}

fn follow(order: &str, changes: &mut Vec<PatchChange>) {
    const NAMED: [(&str, Option<FileFate>); 3] = [
        ("Add File: ", Some(FileFate::Created)),
        ("Update File: ", None),
        ("Delete File: ", Some(FileFate::Deleted)),
    ];
    let mut named = NAMED.iter();
    let named = named.find_map(|(name, fate)| Some((order.strip_prefix(name)?, *fate)));
    if let Some((path, fate)) = named {
        changes.push(PatchChange {
            path: path.to_owned(),
            fate,
            ..PatchChange::default()
        });
    } else if let (Some(path), Some(last)) = (order.strip_prefix("Move to: "), changes.last_mut()) {
        last.path = path.to_owned();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<(String, u64, u64)> {
        let found = changes(text).into_iter();
        found.map(|c| (c.path, c.added, c.removed)).collect()
    }

    #[test]
    fn a_patch_is_found_wherever_it_stands() {
        let wants = vec![("a.rs".to_owned(), 2, 1), ("d.rs".to_owned(), 0, 0)];
        let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n x\n-y\n+z\n+w\n*** Update File: c.rs\n*** Move to: d.rs\n*** End Patch\n+not";
        assert_eq!(told(patch), wants);
        assert_eq!(told(&format!("apply_patch <<'EOF'\n{patch}\nEOF")), wants);
        let script = format!(
            "const p = \"{}\"; tools.apply_patch(p)",
            patch.replace('\n', "\\n")
        );
        assert_eq!(told(&script), wants);
        assert_eq!(told("+a\n-b"), vec![]);
    }

    #[test]
    fn what_is_kept_gives_the_same_changes() {
        let found = changes("*** Begin Patch\n*** Add File: a\n+1\n*** End Patch");
        let (key, value) = keep(&found);
        let mut map = serde_json::Map::new();
        map.insert(key, value);
        assert_eq!(super::kept(&Value::Object(map)), Some(found));
    }

    #[test]
    fn only_what_differs_counts() {
        assert_eq!(difference("a\nb\nc", "a\nx\ny\nc"), (2, 1));
        assert_eq!(difference("", "a\n"), (1, 0));
        assert_eq!(difference("a\na", "a"), (0, 1));
        assert_eq!(difference("same", "same"), (0, 0));
    }
}

//! Reads patches: which files they change and by how many lines. Knows the `*** Begin Patch`
//! grammar and unified diffs.

use crate::json::fields::{self, Fields};
use memchr::memmem;
use rustc_hash::FxHashMap;

/// Files of one call that are told; the rest is left out. Real patches change fewer than a hundred;
/// larger: every checkpoint carries them while the call is open.
pub const FILES_MAX: usize = 500;

/// (path, added lines, removed lines) of one changed file.
pub type Patched = (String, u64, u64);

/// The files that the patches in `text` name, in their order; a file named twice is told once.
/// A moved file goes by its new name. A deleted file's lines aren't known.
pub fn files(text: &str) -> Vec<Patched> {
    let mut all: Vec<Patched> = Vec::new();
    let Some(start) = memmem::find(text.as_bytes(), b"*** Begin Patch") else {
        return all;
    };
    let mut open = false;
    for line in text[start..].lines() {
        if let Some(header) = line.strip_prefix("*** ") {
            open = header_line(header.trim_end(), open, &mut all);
        } else if open && let Some(last) = all.last_mut() {
            last.1 += u64::from(line.starts_with('+'));
            last.2 += u64::from(line.starts_with('-'));
        }
    }
    merged(all)
}

/// The files of a `changes` object: path → `{type, content | unified_diff, move_path}`.
pub fn changes(raw: &str) -> Vec<Patched> {
    let Some(map) = fields::object(raw) else {
        return fields::elements(raw)
            .into_iter()
            .filter_map(listed)
            .take(FILES_MAX)
            .collect();
    };
    map.iter()
        .filter_map(|(path, change)| {
            let path = fields::text(&format!("\"{path}\""))?.into_owned();
            Some(changed(path, &fields::object(change)?))
        })
        .take(FILES_MAX)
        .collect()
}

/// Sums up: lines added and removed over all files; absent without files.
pub fn sum(patched: &[Patched]) -> (Option<u64>, Option<u64>) {
    match patched.is_empty() {
        true => (None, None),
        false => (
            Some(patched.iter().map(|p| p.1).sum()),
            Some(patched.iter().map(|p| p.2).sum()),
        ),
    }
}

/// Takes up one `*** …` line; says whether `+` and `-` lines after it count for the last file.
fn header_line(header: &str, open: bool, all: &mut Vec<Patched>) -> bool {
    let file = ["Add File: ", "Update File: ", "Delete File: "]
        .iter()
        .find_map(|kind| header.strip_prefix(kind));
    if let Some(path) = file {
        all.push((path.to_owned(), 0, 0));
        return true;
    }
    if let Some(to) = header.strip_prefix("Move to: ") {
        if open && let Some(last) = all.last_mut() {
            to.clone_into(&mut last.0);
        }
        return open;
    }
    open && header.starts_with("End of File")
}

fn merged(all: Vec<Patched>) -> Vec<Patched> {
    let mut once: Vec<Patched> = Vec::new();
    let mut at: FxHashMap<String, usize> = FxHashMap::default();
    for (path, added, removed) in all {
        match at.get(&path) {
            Some(at) => {
                once[*at].1 += added;
                once[*at].2 += removed;
            }
            None if once.len() < FILES_MAX => {
                at.insert(path.clone(), once.len());
                once.push((path, added, removed));
            }
            None => {}
        }
    }
    once
}

fn listed(raw: &str) -> Option<Patched> {
    let change = fields::object(raw)?;
    let path = change.label("path")?.into_owned();
    Some(changed(path, &change))
}

fn changed(path: String, change: &Fields<'_>) -> Patched {
    let path = change.label("move_path").map_or(path, |to| to.into_owned());
    let diff = change.text("unified_diff").or_else(|| change.text("diff"));
    if let Some(diff) = diff {
        let (added, removed) = diff_lines(&diff);
        return (path, added, removed);
    }
    let lines = change
        .text("content")
        .map_or(0, |text| text.lines().count() as u64);
    match change.text("type").as_deref() {
        Some("delete") => (path, 0, lines),
        _ => (path, lines, 0),
    }
}

/// Added and removed lines of a unified diff.
fn diff_lines(diff: &str) -> (u64, u64) {
    let mut counts = (0, 0);
    let mut in_hunk = false;
    for line in diff.lines() {
        in_hunk |= line.starts_with("@@");
        if !in_hunk && (line.starts_with("+++ ") || line.starts_with("--- ")) {
            continue;
        }
        counts.0 += u64::from(line.starts_with('+'));
        counts.1 += u64::from(line.starts_with('-'));
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_patch_grammar_gives_files_and_counts() {
        let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a.rs\n+one\n+two\n\
            *** Update File: b.rs\n*** Move to: c.rs\n@@ fn x\n-old\n+new\n+more\n kept\n\
            *** End of File\n*** Delete File: d.rs\n*** End Patch\nEOF\n- not a patch line\n";
        assert_eq!(
            files(patch),
            vec![
                ("a.rs".into(), 2, 0),
                ("c.rs".into(), 2, 1),
                ("d.rs".into(), 0, 0)
            ]
        );
        assert_eq!(sum(&files(patch)), (Some(4), Some(1)));
        assert_eq!(files("*** Add File: nowhere"), vec![]);
    }

    #[test]
    fn reported_changes_give_the_same() {
        let raw = r#"{"/p/a":{"type":"add","content":"x\ny\n"},
            "/p/b\"q":{"type":"update","unified_diff":"--- a\n+++ b\n@@ -1 +1,2 @@\n-x\n+y\n+-- z\n","move_path":null},
            "/p/c":{"type":"update","unified_diff":"@@\n-x\n","move_path":"/p/d"},
            "/p/e":{"type":"delete","content":"gone\n"}}"#;
        assert_eq!(
            changes(raw),
            vec![
                ("/p/a".into(), 2, 0),
                ("/p/b\"q".into(), 2, 1),
                ("/p/d".into(), 0, 1),
                ("/p/e".into(), 0, 1)
            ]
        );
        let list = r#"[{"path":"x","kind":"update","diff":"@@\n+a\n"}]"#;
        assert_eq!(changes(list), vec![("x".into(), 1, 0)]);
    }
}

//! Whether what was changed behind a check or a run of tests can matter to it.

use super::line::LocatedItem;
use crate::model::finding::Finding;
use crate::rules::check_files::{may_read, named_files};
use crate::rules::paths::is_throwaway;

/// What a session's edits changed, each with the index of its line.
pub struct Changes<'t>(Vec<(usize, &'t str)>);

impl<'t> Changes<'t> {
    /// Scratch files are none.
    pub fn of(lines: &[LocatedItem<'t>]) -> Changes<'t> {
        let all = lines.iter().enumerate().flat_map(|(at, line)| {
            let findings = line.item.findings.iter();
            findings.filter_map(move |finding| match finding {
                Finding::Changed { path, .. } if !is_throwaway(path) => Some((at, path.as_str())),
                _ => None,
            })
        });
        Changes(all.collect())
    }

    /// The line of the last change that may matter to a command, which ran in a place of the project or looks at that.
    pub fn last_for(&self, command: &str, place: Option<&str>) -> Option<usize> {
        let place = place.and_then(|place| place.rsplit(['/', '\\']).next());
        // a part's name may be none of a folder
        let place = place.filter(|place| self.0.iter().any(|(_, path)| is_below(path, place)));
        let mut all = self.0.iter().rev();
        let matters =
            |path: &str| may_read(command, path) && place.is_none_or(|place| is_below(path, place));
        all.find(|(_, path)| matters(path)).map(|(at, _)| *at)
    }

    /// The command names files, and none of them was changed.
    pub fn none_named(&self, command: &str) -> bool {
        let mut named = named_files(command).peekable();
        let is_changed = |name: &str| {
            let name = name.replace('\\', "/");
            let name = name.trim_start_matches("./");
            let ends_so = |path: &str| path.replace('\\', "/").ends_with(name);
            name.contains('*') || self.0.iter().any(|(_, path)| ends_so(path))
        };
        named.peek().is_some() && !named.any(is_changed)
    }

    /// Something was changed.
    pub fn is_any(&self) -> bool {
        !self.0.is_empty()
    }
}

/// A folder of this name is around the file.
fn is_below(path: &str, folder: &str) -> bool {
    let mut parts = path.rsplit(['/', '\\']).skip(1);
    parts.any(|part| part == folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::exchange::ItemKind;

    #[test]
    fn what_another_part_of_the_project_has_matters_to_no_check_of_this_one() {
        let edits = ["/p/web/cart.ts", "/p/api/shop.ts", "/p/api/README.md"];
        let edits = edits.map(|path| {
            [Finding::Changed {
                path: path.into(),
                added: 1,
                removed: 0,
            }]
        });
        let lines = edits.iter().zip(1..).map(|(edit, n)| {
            LocatedItem::sample(ItemKind::Digest, n, "Action: Edit(x) → +1 −0", edit)
        });
        let lines: Vec<_> = lines.collect();
        let changes = Changes::of(&lines);
        for (place, wants) in [
            (None, Some(1)),
            (Some("/p/api"), Some(1)),
            (Some("web"), Some(0)),
            (Some("@shop/web"), Some(0)),
            (Some("shop-tools"), Some(1)),
        ] {
            assert_eq!(changes.last_for("npx tsc", place), wants, "{place:?}");
        }
        assert_eq!(changes.last_for("cargo check", None), None);
        for (command, wants) in [
            ("npx eslint web/cart.ts web/page.ts", false),
            ("npx eslint ./web/page.ts", true),
            ("npx eslint web/*.ts", false),
            ("npx eslint web", false),
        ] {
            assert_eq!(changes.none_named(command), wants, "{command}");
        }
        assert!(changes.is_any());
    }
}

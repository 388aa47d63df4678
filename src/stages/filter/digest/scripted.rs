//! A file that a script wrote, as a change.

use crate::model::finding::{FileFate, Finding};
use crate::rules::commands::history::{Act, HistoryAction};
use crate::rules::paths::is_throwaway;

/// Only below one of these folders: elsewhere stands what a script prints, or another machine's file.
pub fn scripted(
    acts: &[Act],
    place: impl Fn(&str) -> String,
    roots: [Option<&str>; 2],
) -> Vec<Finding> {
    let is_in = |path: &str, root: &str| {
        let below = path.strip_prefix(root.trim_end_matches('/'));
        below.is_some_and(|below| below.starts_with('/'))
    };
    let is_kept = |path: &String| {
        let mut roots = roots.into_iter().flatten();
        roots.any(|root| is_in(path, root)) && !is_throwaway(path)
    };
    let acts = acts.iter().filter(|act| act.does == HistoryAction::Write);
    let paths = acts.filter_map(|act| Some(place(act.names.as_deref()?)));
    let found = paths.filter(is_kept).flat_map(|path| {
        let changed = Finding::Changed {
            path: path.clone(),
            added: 0,
            removed: 0,
        };
        let became = FileFate::Written;
        [changed, Finding::File { path, became }]
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::commands::history::acts;

    #[test]
    fn only_files_of_the_project_are_changed() {
        let found = |path: &str| {
            let acts = acts(&format!("sed -i s/a/b/ {path}"));
            scripted(&acts, str::to_owned, [None, Some("/home/ada/shop")]).len()
        };
        assert_eq!(found("/home/ada/shop/cart.rs"), 2);
        assert_eq!(found("/home/ada/shop2/cart.rs"), 0);
        assert_eq!(found("/etc/shop.conf"), 0);
        assert_eq!(found("cart.rs"), 0, "nobody knows where it ran");
    }
}

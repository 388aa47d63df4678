//! Where `watch` listens, and when it runs: [`pace`].

pub mod pace;

use crate::agents::registry;
use crate::config::{Home, Loaded};
use crate::host::reflog::work_trees;
use crate::host::watch::WatchTarget;
use crate::store::{Access, Store};
use crate::tracking::repositories::repositories;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Where news comes from: the places with logs and, as far as they are tracked, files and repositories.
pub fn places(loaded: &Loaded, home: &Home) -> Vec<WatchTarget> {
    let logs = loaded.config.roots.iter().map(|root| WatchTarget {
        path: root.path.clone(),
        // beside a database lies what is no log
        deep: registry::dialect(root.agent).tables().is_none(),
    });
    let mut places: Vec<WatchTarget> = logs.collect();
    // without a store nothing was met yet
    if loaded.tracking.is_on()
        && let Ok(store) = Store::open(&home.store(), Access::ReadOnly)
    {
        places.extend(logs_of_head(loaded, &store));
        places.extend(folders(loaded, &store));
    }
    places
}

/// The folders of the logs of HEAD of all tracked repositories.
fn logs_of_head(loaded: &Loaded, store: &Store) -> Vec<WatchTarget> {
    let tracked = repositories(store, &loaded.tracking).unwrap_or_default();
    let trees = tracked
        .iter()
        .flat_map(|repo| work_trees(Path::new(&repo.root)));
    let logs = trees.map(|tree| WatchTarget {
        path: tree.git_dir.join("logs"),
        deep: false,
    });
    logs.collect()
}

/// The folders that lead to tracked files, without those below that have none: what is ignored, a
/// `node_modules`, may be larger than all the rest. A new folder is news of the one that it is in.
fn folders(loaded: &Loaded, store: &Store) -> BTreeSet<WatchTarget> {
    let mut folders = BTreeSet::new();
    for project in loaded.tracking.projects().iter().filter(|p| p.enabled) {
        let Ok(row) = store.tracked_project(&project.root) else {
            continue;
        };
        if row.paused_at.is_some() {
            continue;
        }
        let root = Path::new(&project.root);
        folders.insert(root.to_path_buf());
        for file in store.tracked_prints(row.n).unwrap_or_default().keys() {
            let file = root.join(OsStr::from_bytes(file));
            // those above a folder that is known are known too
            let mut above = file.ancestors().skip(1);
            while above
                .next()
                .is_some_and(|dir| folders.insert(dir.to_path_buf()))
            {}
        }
    }
    let place = |path| WatchTarget { path, deep: false };
    folders.into_iter().map(place).collect()
}

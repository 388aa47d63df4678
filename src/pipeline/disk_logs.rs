//! The logs that are on disk now: files of their own, and what stands in agents' databases.
//!
//! Knows that a log has a key and a stat, whatever it is made of; a database's logs are keyed as if it was a folder.

use crate::agents::registry;
use crate::host::files::{FoundFile, source_file, stat_of, walk, wanted};
use crate::model::source::{OddPlace, Root, SourceFile, Stat};
use crate::model::table_log::Tables;
use crate::store::{ForeignDatabase, ForeignLog};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// Bytes that a line of a database's log is taken for before it is read: plans and progress need a size.
const LINE_BYTES: u64 = 1_024;

/// Lists the logs of all roots. Costs one `stat` per file, and of a database its list of logs.
pub fn logs_on_disk(roots: &[Root]) -> FoundFile {
    let tables = |root: &Root| registry::dialect(root.agent).tables();
    let (in_tables, in_files): (Vec<&Root>, Vec<&Root>) =
        roots.iter().partition(|root| tables(root).is_some());
    let in_files: Vec<Root> = in_files.into_iter().cloned().collect();
    let mut found = walk(&in_files, &registry::is_log);
    if in_tables.is_empty() {
        return found;
    }
    for root in in_tables {
        if root.path.symlink_metadata().is_err() {
            found.missing.push(root.path.clone());
        } else if let Some(tables) = tables(root) {
            add(root, tables, &mut found);
        }
    }
    found.files.sort_by(|a, b| a.key.cmp(&b.key));
    found.files.dedup_by(|next, kept| next.key == kept.key);
    found
}

/// Adds the logs of the databases in a root.
fn add(root: &Root, tables: &'static Tables, found: &mut FoundFile) {
    let databases = match databases(&root.path, tables) {
        Ok(databases) => databases,
        Err(error) => {
            let reason = error.kind().to_string();
            found.problems.push((root.path.clone(), reason));
            return;
        }
    };
    found.files.extend(files(root));
    let is_wanted = wanted(root);
    for path in databases {
        match logs(&path, root, tables) {
            Ok(logs) => {
                let below = |file: &SourceFile| {
                    let folder = path.parent().unwrap_or(&path);
                    Path::new(&*file.key)
                        .strip_prefix(folder)
                        .map_or(true, &is_wanted)
                };
                found.files.extend(logs.into_iter().filter(below));
            }
            Err(reason) => found.problems.push((path, reason)),
        }
    }
}

/// Logs whose lines were written to files beside the databases, as examples are.
fn files(root: &Root) -> Vec<SourceFile> {
    let is_log = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        let stem = name.and_then(|name| name.strip_suffix(".jsonl"));
        stem.is_some_and(|stem| registry::is_log(root.agent, stem.as_bytes()))
    };
    let entries = fs::read_dir(&root.path).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path()).filter(is_log);
    paths
        .filter_map(|path| source_file(&path, root.agent).ok())
        .collect()
}

/// The databases of a folder, or the one that the path leads to.
fn databases(root: &Path, tables: &Tables) -> io::Result<Vec<PathBuf>> {
    let root = root.canonicalize()?;
    if !root.is_dir() {
        return Ok(vec![root]);
    }
    let mut all = Vec::new();
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        let is_one = entry.file_name().to_str().is_some_and(tables.is_database);
        if is_one && entry.file_type()?.is_file() {
            all.push(entry.path());
        }
    }
    all.sort();
    Ok(all)
}

fn logs(path: &Path, root: &Root, tables: &'static Tables) -> Result<Vec<SourceFile>, String> {
    let device = stat_of(&path.metadata().map_err(|e| e.kind().to_string())?).device;
    let database = ForeignDatabase::open(path, tables).map_err(|e| e.to_string())?;
    let logs = database.logs().map_err(|e| e.to_string())?;
    let file = |log: ForeignLog| {
        let ForeignLog {
            name,
            lines,
            changed: (at, mark),
            inside,
        } = log;
        let stat = Stat {
            size: lines.saturating_mul(LINE_BYTES),
            mtime_ns: at.saturating_mul(1_000_000),
            ctime_ns: mark,
            device,
            // a log that moves with its database stays the same one
            inode: xxh3_64(name.as_bytes()) >> 1,
        };
        SourceFile {
            key: format!("{}/{name}", path.to_string_lossy()).into(),
            odd_place: Some(Box::new(OddPlace {
                path: path.to_owned(),
                inside: Some(inside),
            })),
            agent: root.agent,
            stat,
            compressed: false,
        }
    };
    Ok(logs.into_iter().map(file).collect())
}

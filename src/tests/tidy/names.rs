//! One name, one thing: a type's name says which type it is, and a file's name which file.

use super::{report, sources, word};
use std::collections::{BTreeMap, BTreeSet};

/// Public types that share a name and may, with why.
const ONE_NAME: &[(&str, &str)] = &[
    ("Args", "each command's, in the file of the command"),
    ("Result", "a room's own, with its error"),
];

/// Rooms in which files may have one name.
const ROOMS_MAX: usize = 3;

/// Folders whose sub-folders have the same files on purpose: one of each kind for each plug.
const PLUGS: [&str; 2] = ["agents", "sinks"];

#[test]
fn no_two_public_types_have_one_name() {
    let files = sources();
    let mut types: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for file in &files {
        for (number, line) in file.production() {
            if let Some(name) = public_type(line) {
                let place = format!("{}:{number}", file.name);
                types.entry(name).or_default().push(place);
            }
        }
    }
    types.retain(|name, places| places.len() > 1 && ONE_NAME.iter().all(|(one, _)| one != name));
    let shared = types.into_iter();
    let findings: Vec<String> = shared
        .map(|(name, places)| format!("{name}: {}", places.join(" ")))
        .collect();
    report(&findings);
}

#[test]
fn no_file_has_one_name_in_four_rooms() {
    let files = sources();
    let mut rooms: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in files.iter().filter(|file| !file.is_test) {
        let name = file.name.rsplit('/').next().unwrap_or_default();
        let room = file.module().filter(|room| !PLUGS.contains(room));
        if name != "mod.rs" {
            rooms.entry(name).or_default().extend(room);
        }
    }
    rooms.retain(|_, rooms| rooms.len() > ROOMS_MAX);
    let shared = rooms.into_iter();
    let findings: Vec<String> = shared
        .map(|(name, rooms)| {
            let rooms: Vec<&str> = rooms.into_iter().collect();
            format!("{name}: {}", rooms.join(" "))
        })
        .collect();
    report(&findings);
}

/// The name that a line declares at the outermost level of its file.
fn public_type(line: &str) -> Option<&str> {
    let item = line.strip_prefix("pub ")?;

    let kinds = ["struct ", "enum ", "trait ", "type ", "union "];
    kinds
        .iter()
        .find_map(|kind| item.strip_prefix(kind))
        .map(word)
}

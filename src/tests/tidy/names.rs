//! One name, one thing: a type's name says which type it is, and a file's name which file.

use super::{report, sources, word};
use std::collections::{BTreeMap, BTreeSet};

/// Public types that share a name and may, with why.
const ONE_NAME: &[(&str, &str)] = &[
    ("Args", "each command's, in the file of the command"),
    ("Result", "a room's own, with its error"),
];

/// Public types that still share a name. Whoever renames the last but one takes it off the list.
const TO_RENAME: &[&str] = &[
    "Asked",
    "Block",
    "Call",
    "Candidate",
    "Commit",
    "Fact",
    "FileChange",
    "Finding",
    "Line",
    "Message",
    "Operation",
    "Origin",
    "Outcome",
    "Output",
    "Place",
    "Progress",
    "Project",
    "Question",
    "Said",
    "Seen",
    "Status",
    "Talk",
    "Told",
    "Wanted",
    "Why",
    "Window",
    "Work",
];

/// Files that still have one name in four rooms or more.
const FILES_TO_RENAME: &[&str] = &[];

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
    report_but(
        shared
            .map(|(name, places)| (name, places.join(" ")))
            .collect(),
        TO_RENAME,
    );
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
    let named = rooms.into_iter().map(|(name, rooms)| {
        let rooms: Vec<&str> = rooms.into_iter().collect();
        (name, rooms.join(" "))
    });
    report_but(named.collect(), FILES_TO_RENAME);
}

/// Reports what isn't on the list, and what is on it for nothing.
fn report_but(found: BTreeMap<&str, String>, listed: &[&str]) {
    let mut findings = Vec::new();
    for (name, places) in &found {
        match listed.contains(name) {
            true => println!("still: {name}: {places}"),
            false => findings.push(format!("{name}: {places}")),
        }
    }
    for name in listed.iter().filter(|name| !found.contains_key(**name)) {
        println!("{name} stands once: take it off the list");
    }
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

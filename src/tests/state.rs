//! Stores that earlier versions wrote still open, search and take up where they were.

use super::world::Desk;
use crate::cli::Exit;
use crate::store::{Access, SCHEMA_VERSION, Store};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/state")
}

#[test]
fn every_schema_version_has_a_store() {
    let files = fs::read_dir(fixtures()).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let found: BTreeSet<String> = names.filter(|name| name.ends_with(".db")).collect();
    let wants = (1..=SCHEMA_VERSION).map(|version| format!("v{version}.db"));
    assert_eq!(found, wants.collect(), "scripts/state-fixture makes it");
}

/// What every episode of a store is delivered as.
fn revisions(store: &Path) -> BTreeSet<String> {
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("copy.db");
    fs::copy(store, &copy).unwrap();
    let dump = Store::open(&copy, Access::ReadWrite).unwrap().dump();
    let dump = dump.unwrap();
    let field = |line: &str, name: &str| {
        let rest = line.split_once(&format!("{name}="))?.1;
        Some(rest.split(' ').next()?.to_owned())
    };
    let episodes = dump.lines().filter_map(|line| {
        let is_chunk = line.starts_with("id=") && line.contains(" source=session ");
        let id = is_chunk.then(|| field(line, "id"))??;
        Some(format!("{id} {}", field(line, " revision")?))
    });
    let episodes: BTreeSet<String> = episodes.collect();
    assert!(!episodes.is_empty(), "{dump}");
    episodes
}

#[test]
fn a_store_of_every_version_opens_and_goes_on() {
    for version in 1..=SCHEMA_VERSION {
        let desk = Desk::enabled();
        let store = desk.path(".graphiti/sessionmill.db");
        fs::remove_file(&store).unwrap();
        fs::copy(fixtures().join(format!("v{version}.db")), &store).unwrap();
        let before = revisions(&store);
        // Its logs lie in another home now: they moved, and nothing of them is news.
        let run = desk.run("sessionmill run --json").json();
        assert_eq!(run["episodes_new"], 0, "version {version}: {run}");
        assert_eq!(revisions(&store), before, "nothing is delivered again");
        assert_eq!(run["files_vanished"], 0, "version {version}: {run}");
        assert_eq!(desk.run("sessionmill run --json").json()["bytes_read"], 0);
        let found = desk.run("sessionmill search token expiry");
        assert_eq!(
            found.exit,
            Exit::Done,
            "version {version}: {}",
            found.shown()
        );
        let doctor = desk.run("sessionmill doctor");
        assert_eq!(
            doctor.exit,
            Exit::Done,
            "version {version}: {}",
            doctor.shown()
        );
    }
}

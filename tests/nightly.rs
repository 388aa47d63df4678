//! The library runs a pipeline without the command line: `examples/nightly.rs`, over fixture logs in a
//! home of its own.

#[allow(dead_code)]
#[path = "../examples/nightly.rs"]
mod example;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &target),
            false => drop(fs::copy(&path, &target).unwrap()),
        }
    }
}

#[test]
fn the_example_reads_the_logs_of_a_home() {
    let home = tempfile::tempdir().unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/logs/home");
    copy(&fixtures, home.path());
    let off = example::nightly(home.path(), BTreeMap::new()).unwrap();
    assert!(off[0].starts_with("tracking is off"), "{off:?}");
    let ours = home.path().join(".graphiti");
    assert!(!ours.join("sessionmill.db").exists(), "nothing was read");
    fs::create_dir_all(&ours).unwrap();
    let settings = r#"{"session_tracking": {"enabled": true, "keep_length_days": null}}"#;
    fs::write(ours.join("graphiti.config.json"), settings).unwrap();
    let first = example::nightly(home.path(), BTreeMap::new()).unwrap();
    assert!(!first[0].starts_with("0 of"), "{first:?}");
    assert!(ours.join("sessionmill.db").exists());
    let again = example::nightly(home.path(), BTreeMap::new()).unwrap();
    assert!(again[0].starts_with("0 of"), "{again:?}");
    assert!(again[0].ends_with(" 0 new episodes"), "{again:?}");
}

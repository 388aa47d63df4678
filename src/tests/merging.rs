//! `merge --serve`: the tables of one batch of lines after another are those that each would have alone.

use super::tables::{files, rows};
use super::world::{Desk, Ran};
use crate::cli::Exit;
use serde_json::Value;
use std::fs;

/// What `transform` prints of the fixtures' logs below a folder.
fn lines(desk: &mut Desk, below: &str) -> String {
    let all = files(&desk.path(below)).into_keys();
    let named = all.map(|log| desk.path(below).join(log).to_string_lossy().into_owned());
    desk.piped = named.collect::<Vec<_>>().join("\n");
    let ran = desk.run("sessionmill transform");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    ran.stdout
}

fn merged(desk: &mut Desk, lines: &str, how: &str) -> Ran {
    lines.clone_into(&mut desk.piped);
    desk.run(&format!("sessionmill merge {how}"))
}

fn end(desk: &Desk, folder: &str) -> String {
    let folder = desk.path(folder);
    format!("{}\n", serde_json::json!({"type": "end", "tables": folder}))
}

#[test]
fn each_batch_has_the_tables_that_it_would_have_alone() {
    let mut desk = Desk::with_fixtures();
    let claude = lines(&mut desk, ".claude/projects");
    let codex = lines(&mut desk, ".codex/sessions");
    let batches = [("a", &claude), ("b", &codex), ("again", &claude)];
    let all = batches.map(|(name, lines)| format!("{lines}{}", end(&desk, name)));
    let ran = merged(&mut desk, &all.concat(), "--serve");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    let done = ran.stdout.lines().zip(batches);
    for (line, (name, lines)) in done {
        let alone = format!("{name}-alone");
        let into = desk.path(&alone).to_string_lossy().into_owned();
        let ran = merged(&mut desk, lines, &format!("--tables \"{into}\""));
        assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
        let found = rows(&desk.path(name));
        assert_eq!(found, rows(&desk.path(&alone)));
        let count: usize = found.values().map(Vec::len).sum();
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["type"], "done");
        assert_eq!(line["tables"], format!("~/{name}"));
        assert_eq!(line["rows"], count);
        assert!(count > 10, "{name}");
        for (file, _) in files(&desk.path(name)) {
            let bytes = |folder: &str| fs::read(desk.path(folder).join(&file)).unwrap();
            assert_eq!(bytes(name), bytes(&alone), "{}", file.display());
        }
    }
    assert_eq!(ran.stdout.lines().count(), batches.len());
}

#[test]
fn a_batch_that_is_cut_short_or_has_no_folder_of_its_own_is_refused() {
    let mut desk = Desk::with_fixtures();
    let codex = lines(&mut desk, ".codex/sessions");
    let ran = merged(&mut desk, &codex, "--serve");
    assert_eq!(ran.exit, Exit::Failed, "{}", ran.shown());
    assert!(ran.stderr.contains("standard input ends within a batch"));
    let twice = format!("{codex}{}", end(&desk, "a")).repeat(2);
    let ran = merged(&mut desk, &twice, "--serve");
    assert_eq!(ran.exit, Exit::Usage, "{}", ran.shown());
    assert!(ran.stderr.contains("is not empty"), "{}", ran.stderr);
    assert_eq!(ran.stdout.lines().count(), 1, "the first one is there");
    let batch = format!("{codex}{}", end(&desk, "b"));
    let ran = merged(&mut desk, &batch, "");
    assert_eq!(ran.exit, Exit::Usage, "{}", ran.shown());
    assert!(ran.stderr.contains("merge --serve"), "{}", ran.stderr);
    let nothing = merged(&mut desk, "", "--serve");
    assert_eq!((nothing.exit, &*nothing.stdout), (Exit::Done, ""));
}

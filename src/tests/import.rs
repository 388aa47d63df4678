//! `import`: the stores of a person's two machines, joined.

use super::world::Desk;
use crate::cli::Exit;
use crate::store::{Access, Store};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

const SHOP: &str = ".claude/projects/-home-ada-shop-api";
const ONE: &str = "6b1f0a34-5c0e-4b57-9d3e-2f9a51c7e001";

fn run(desk: &Desk, line: &str) -> Value {
    let ran = desk.run(&format!("sessionmill --host {} {line} --json", host(desk)));
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    ran.json()
}

/// What a desk is called: its variable.
fn host(desk: &Desk) -> String {
    desk.vars
        .get("NAME_OF_DESK")
        .cloned()
        .unwrap_or("desk".into())
}

/// A desk with all fixture logs but these, read.
fn machine(name: &str, without: &[&str]) -> Desk {
    let mut desk = Desk::enabled();
    desk.vars.insert("NAME_OF_DESK".into(), name.into());
    for log in without {
        let path = desk.path(log);
        match path.is_dir() {
            true => fs::remove_dir_all(path).unwrap(),
            false => fs::remove_file(path).unwrap(),
        }
    }
    run(&desk, "backfill");
    desk
}

fn store(desk: &Desk) -> PathBuf {
    desk.path(".graphiti/sessionmill.db")
}

fn import(to: &Desk, from: &Desk) -> Value {
    run(to, &format!("import --from {}", store(from).display()))
}

fn dump(desk: &Desk) -> String {
    let store = Store::open(&store(desk), Access::ReadOnly).unwrap();
    store.dump().unwrap()
}

/// One part of a dump.
fn table(dump: &str, name: &str) -> Vec<String> {
    let parts = dump
        .split("# ")
        .find(|part| part.starts_with(&format!("{name}\n")));
    let lines = parts.unwrap_or_default().lines().skip(1);
    lines.map(str::to_owned).collect()
}

/// What a person sees of all sessions.
fn sessions(desk: &Desk) -> Vec<String> {
    let all = run(desk, "sessions --limit 0");
    let mut all: Vec<String> = all["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| format!("{} {} {}", s["id"], s["title"], s["ended"]))
        .collect();
    all.sort();
    all
}

#[test]
fn two_halves_make_the_whole() {
    let codex = ".codex";
    let whole = machine("whole", &[]);
    let one = machine("one", &[codex]);
    let two = machine("two", &[".claude/projects"]);
    let (has, adds) = (sessions(&one).len(), sessions(&two).len());
    let done = import(&one, &two);
    assert_eq!(done["sessions"], adds, "{done:#}");
    assert_eq!(sessions(&one).len(), has + adds);
    assert_eq!(sessions(&one), sessions(&whole));
    let bodies = |desk: &Desk| table(&dump(desk), "body");
    assert_eq!(bodies(&one), bodies(&whole));
    for stat in [
        "sessions", "episodes", "prompts", "calls", "failures", "usage", "tools",
    ] {
        let of = |desk: &Desk| run(desk, "stats")[stat].clone();
        assert_eq!(of(&one), of(&whole), "{stat}");
    }
    // found by words, shown, and of the other machine
    let hits = run(&one, "search lru_cache");
    assert!(!hits["hits"].as_array().unwrap().is_empty(), "{hits:#}");
    let text = one.run("sessionmill status").shown();
    assert!(text.starts_with("exit 0"), "{text}");
    let doctor = one.run("sessionmill doctor").shown();
    assert!(!doctor.contains("damaged"), "{doctor}");
    // again is nothing, and so is a run
    let before = dump(&one);
    let again = import(&one, &two);
    for field in [
        "sessions",
        "sessions_grown",
        "episodes",
        "episodes_changed",
        "memories",
    ] {
        assert_eq!(again[field], 0, "{field}");
    }
    assert_eq!(dump(&one), before);
    run(&one, "run");
    assert_eq!(bodies(&one), bodies(&whole));
    // and back: both know everything
    import(&two, &one);
    assert_eq!(bodies(&two), bodies(&whole));
    assert_eq!(sessions(&two), sessions(&whole));
}

#[test]
fn what_both_have_counts_once_and_goes_on_where_it_is_further() {
    let log = format!("{SHOP}/{ONE}.jsonl");
    let whole = machine("whole", &[]);
    let here = Desk::enabled();
    let text = fs::read_to_string(here.path(&log)).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(here.path(&log), lines[..lines.len() / 2].concat()).unwrap();
    run(&here, "backfill");
    let there = machine("there", &[]);
    let done = import(&here, &there);
    assert_eq!(
        (&done["sessions"], &done["sessions_grown"]),
        (&0.into(), &1.into()),
        "{done:#}"
    );
    let episodes = |desk: &Desk| {
        let shown = run(desk, &format!("show {ONE} --full"));
        shown["episodes"].clone()
    };
    let text = |value: Value| value.to_string();
    let of = |desk: &Desk, field: &str| -> Vec<String> {
        let all = episodes(desk);
        let all = all.as_array().unwrap_or_else(|| panic!("{all:#}"));
        all.iter().map(|e| text(e[field].clone())).collect()
    };
    assert_eq!(of(&here, "text"), of(&whole, "text"));
    assert_eq!(of(&here, "episode"), of(&whole, "episode"));
    let stats = |desk: &Desk| run(desk, "stats")["prompts"].clone();
    assert_eq!(stats(&here), stats(&whole));
    assert_eq!(sessions(&here), sessions(&whole));
    let before = dump(&here);
    assert_eq!(import(&here, &there)["sessions_grown"], 0);
    assert_eq!(dump(&here), before);
    // the log comes here too: nothing of it counts twice
    fs::write(here.path(&log), lines.concat()).unwrap();
    run(&here, "run --all");
    assert_eq!(of(&here, "text"), of(&whole, "text"));
    assert_eq!(stats(&here), stats(&whole));
}

#[test]
fn what_grew_there_since_is_added() {
    let log = format!("{SHOP}/{ONE}.jsonl");
    let whole = machine("whole", &[]);
    let here = machine("here", &[".claude/projects"]);
    let there = Desk::enabled();
    let text = fs::read_to_string(there.path(&log)).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for part in [3, 5, lines.len()] {
        fs::write(there.path(&log), lines[..part].concat()).unwrap();
        run(&there, "run --all");
        import(&here, &there);
    }
    let bodies = |desk: &Desk| table(&dump(desk), "body");
    assert_eq!(bodies(&here), bodies(&whole));
    assert_eq!(sessions(&here), sessions(&whole));
    for name in [
        "episode_tool",
        "episode_path",
        "episode_usage",
        "activity",
        "outline",
    ] {
        assert_eq!(
            table(&dump(&here), name),
            table(&dump(&there), name),
            "{name}"
        );
    }
}

#[test]
fn what_was_forgotten_here_stays_forgotten() {
    let there = machine("there", &[]);
    let here = machine("here", &[]);
    run(&here, &format!("forget {ONE} --yes"));
    let (two, others) = ("6b1f0a34-5c0e-4b57-9d3e-2f9a51c7e002", sessions(&here));
    run(&there, &format!("forget {two} --yes"));
    let bodies = table(&dump(&here), "body");
    let done = import(&here, &there);
    assert_eq!(done["kept_out"], 1, "{done:#}");
    assert_eq!(done["forgotten_there"], serde_json::json!([two]));
    assert_eq!(sessions(&here), others);
    assert_eq!(table(&dump(&here), "body"), bodies, "a word of it");
    // on a third machine both stay out
    let third = machine("third", &[".claude/projects", ".codex"]);
    import(&third, &here);
    import(&third, &there);
    assert!(sessions(&third).iter().all(|line| !line.contains(ONE)));
}

#[test]
fn a_time_that_was_forgotten_cuts_what_comes() {
    let there = machine("there", &[]);
    let here = machine("here", &[]);
    run(&here, "forget --before 2026-03-10 --yes");
    let left = table(&dump(&here), "body");
    import(&here, &there);
    assert_eq!(table(&dump(&here), "body"), left);
}

#[test]
fn memories_follow_and_removed_ones_stay_removed() {
    let there = machine("there", &[]);
    let here = machine("here", &[]);
    for text in ["Use Redis for sessions", "Deploy on Mondays"] {
        run(
            &there,
            &format!("promote --kind decision --project /home/ada/shop-api --text \"{text}\""),
        );
    }
    let done = import(&here, &there);
    assert_eq!(done["memories"], 2, "{done:#}");
    let list = run(&here, "memories list");
    assert_eq!(list["memories"].as_array().unwrap().len(), 2, "{list:#}");
    let id = list["memories"][0]["memory"].as_str().unwrap().to_owned();
    run(&here, &format!("memories undo {id}"));
    assert_eq!(import(&here, &there)["memories"], 0);
    let list = run(&here, "memories list");
    assert_eq!(list["memories"].as_array().unwrap().len(), 1);
}

#[test]
fn a_newer_store_and_what_is_no_store_are_refused() {
    let here = machine("here", &[]);
    let there = machine("there", &[".codex"]);
    let before = dump(&here);
    let refused = |from: &str, why: &str| {
        let ran = here.run(&format!("sessionmill import --from {from}"));
        assert_ne!(ran.exit, Exit::Done);
        assert!(ran.stderr.contains(why), "{}", ran.shown());
    };
    refused("nowhere.db", "there is no");
    refused("nowhere.db", "hint: sessionmill store path");
    here.write(
        "notes.db",
        "no database at all, but long enough to be looked at as one",
    );
    refused("notes.db", "notes.db");
    let other = store(&there);
    // the schema's number, in the file's header
    let mut bytes = fs::read(&other).unwrap();
    bytes[60..64].copy_from_slice(&999u32.to_be_bytes());
    fs::write(&other, bytes).unwrap();
    refused(&other.to_string_lossy(), "newer version");
    assert_eq!(dump(&here), before);
}

#[test]
fn an_older_store_is_taken_in_and_stays_as_it_is() {
    let here = machine("here", &[".claude/projects", ".codex"]);
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/state");
    let mut old: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    old.sort();
    let mut tried = 0;
    for path in old
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "db"))
    {
        let copy = here.path("old.db");
        fs::copy(path, &copy).unwrap();
        let bytes = fs::read(&copy).unwrap();
        run(&here, &format!("import --from {}", copy.display()));
        assert!(fs::read(&copy).unwrap() == bytes, "{}", path.display());
        tried += 1;
    }
    assert!(tried > 0, "{old:?}");
    assert!(!sessions(&here).is_empty());
}

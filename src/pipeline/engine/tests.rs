//! What an engine makes of logs is what a run makes of them, however the work is divided and however often it is
//! done.

use super::line::Line;
use super::merge::Merge;
use super::replay::{Replay, ReplayOptions};
use super::surroundings::Surroundings;
use super::transform::{PlaceMap, TransformOptions, TransformWants, transform};
use crate::agents::registry;
use crate::config::{self, Env};
use crate::memory::classifiers;
use crate::model::time::Time;
use crate::pipeline::disk_logs::logs_on_disk;
use crate::pipeline::ingest_options::IngestOptions;
use crate::pipeline::options;
use crate::pipeline::progress::Silent;
use crate::pipeline::steps::ingest::index;
use crate::stages::discover::DiscoverOptions;
use crate::store::{Access, Store};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

const NOW: Time = Time(1_780_315_200_000);

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/logs/home")
}

/// The logs below a home.
fn logs(home: &Path) -> Vec<PathBuf> {
    let files = logs_on_disk(&env_of(home).roots).files;
    files.iter().map(|file| file.path().into_owned()).collect()
}

fn env_of(home: &Path) -> config::Config {
    let env = Env {
        home: home.to_owned(),
        cwd: home.to_owned(),
        ..Env::default()
    };
    config::load(&env, registry::log_folders).unwrap().config
}

/// What a run stores of a home, with the default settings.
fn run_over(home: &Path, store: &mut Store, surroundings: &Surroundings) {
    let classifier = classifiers::counter(&surroundings.home).unwrap();
    let redaction = surroundings.redaction().unwrap();
    let setup = IngestOptions {
        roots: env_of(home).roots,
        rules: options::rules(&surroundings.loaded.config, "test", redaction, classifier),
        discover: DiscoverOptions::default(),
        jobs: 2,
        now: NOW,
        group: None,
        admit: &|_, _, _| Ok(None),
    };
    let report = index(store, &setup, &Silent).unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
}

fn told(surroundings: &Surroundings, wants: TransformWants, run: u64) -> TransformOptions<'_> {
    TransformOptions {
        surroundings,
        places: PlaceMap::default(),
        wants,
        host: "test",
        run,
        jobs: 2,
        now: NOW,
    }
}

/// What `transform` prints of these requests.
fn transformed(requests: &[Value], run: u64, wants: TransformWants) -> String {
    let surroundings = Surroundings::of(None).unwrap();
    let options = told(&surroundings, wants, run);
    let input: Vec<String> = requests.iter().map(ToString::to_string).collect();
    let mut out = Vec::new();
    let done = transform(&mut input.join("\n").as_bytes(), &mut out, &options).unwrap();
    assert_eq!(done.problems, 0);
    String::from_utf8(out).unwrap()
}

fn merged(parts: &[&str]) -> Merge {
    let mut merge = Merge::begin().unwrap();
    for part in parts {
        merge.take(&mut part.as_bytes()).unwrap();
    }
    merge
}

fn printed(merge: &Merge) -> String {
    let mut out = Vec::new();
    merge.print(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The store that lines come to.
fn replayed(lines: &str, dir: &Path) -> Store {
    let surroundings = Surroundings::of(None).unwrap();
    let options = ReplayOptions {
        surroundings: &surroundings,
        now: NOW,
        jobs: 1,
    };
    let mut replay = Replay::begin(&dir.join("replayed.db"), &options).unwrap();
    let take = |line: &str| replay.take(Line::parse(line)?);
    merged(&[lines]).for_each(take).unwrap();
    replay.finish().unwrap()
}

/// What a run of the same steps stores.
fn finished(store: Store) -> Store {
    let surroundings = Surroundings::of(None).unwrap();
    let options = ReplayOptions {
        surroundings: &surroundings,
        now: NOW,
        jobs: 1,
    };
    let replay = Replay::over(store, &options).unwrap();
    replay.finish().unwrap()
}

fn request(path: &Path) -> Value {
    json!({ "path": path })
}

/// Parts of two dumps that differ, for a message that can be read.
fn assert_same(found: &str, wanted: &str) {
    let differs = found.lines().zip(wanted.lines()).find(|(a, b)| a != b);
    if let Some((found, wanted)) = differs {
        let cut = |line: &str| line.chars().take(1_500).collect::<String>();
        panic!("found\n{}\nwanted\n{}", cut(found), cut(wanted));
    }
    assert_eq!(found.lines().count(), wanted.lines().count());
}

#[test]
fn lines_of_an_engine_come_to_the_store_of_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let surroundings = Surroundings::of(None).unwrap();
    for home in [Some(fixtures()), corpus()].into_iter().flatten() {
        let place = tempfile::tempdir_in(&dir).unwrap();
        let mut store = Store::open(&place.path().join("run.db"), Access::ReadWrite).unwrap();
        run_over(&home, &mut store, &surroundings);
        let wanted = finished(store).dump().unwrap();
        let requests: Vec<Value> = logs(&home).iter().map(|path| request(path)).collect();
        assert!(requests.len() > 5);
        let lines = transformed(&requests, 0, TransformWants::Episodes);
        let found = replayed(&lines, place.path()).dump().unwrap();
        assert_same(&found, &wanted);
    }
}

/// Real sessions, where they are.
fn corpus() -> Option<PathBuf> {
    let dir = std::env::var_os("CORPUS_DIR").map(PathBuf::from)?;
    let home = dir.join("home");
    home.is_dir().then_some(home)
}

/// A session that another one was forked into.
const FORK: &str = "6b1f0a34-5c0e-4b57-9d3e-2f9a51c7e006";

#[test]
fn logs_that_grow_in_three_steps_come_to_the_store_of_one_run() {
    let home = tempfile::tempdir().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let whole: BTreeMap<PathBuf, Vec<u8>> = logs(&fixtures())
        .into_iter()
        .filter(|path| path.extension().is_some_and(|kind| kind == "jsonl"))
        .map(|path| {
            let below = path
                .strip_prefix(fixtures().canonicalize().unwrap())
                .unwrap();
            let bytes = fs::read(&path).unwrap();
            (home.path().canonicalize().unwrap().join(below), bytes)
        })
        .collect();
    let mut all = String::new();
    for (run, share) in [(1, 0.3), (2, 0.6), (3, 1.0)] {
        // a fork is made of what its origin has already; one that says nothing of its own yet is told by nothing
        let is_made = |path: &Path| share == 1.0 || !path.ends_with(format!("{FORK}.jsonl"));
        for (path, bytes) in whole.iter().filter(|(path, _)| is_made(path)) {
            let end = (bytes.len() as f64 * share) as usize;
            let end = match memchr::memchr(b'\n', &bytes[end..]) {
                Some(at) => end + at + 1,
                None => bytes.len(),
            };
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &bytes[..end]).unwrap();
        }
        let mut known: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for line in all.lines() {
            if let Line::Commit(commit) = Line::parse(line).unwrap() {
                let file = known.entry(commit.step.file).or_default();
                file.push(serde_json::from_str(line).unwrap());
            }
        }
        let requests: Vec<Value> = whole
            .keys()
            .filter(|path| is_made(path))
            .map(|path| {
                json!({"path": path, "known": known.get(&*path.to_string_lossy())
                .cloned().unwrap_or_default()})
            })
            .collect();
        let lines = transformed(&requests, run, TransformWants::Episodes);
        if run > 1 {
            let read: u64 = merged(&[&lines]).total().unwrap().tally.read_bytes;
            let size: usize = whole.values().map(Vec::len).sum();
            assert!(read < size as u64, "only what grew is read");
        }
        all.push_str(&lines);
    }
    let surroundings = Surroundings::of(None).unwrap();
    let mut store = Store::open(&dir.path().join("run.db"), Access::ReadWrite).unwrap();
    run_over(home.path(), &mut store, &surroundings);
    let wanted = finished(store).dump().unwrap();
    let found = replayed(&all, dir.path()).dump().unwrap();
    assert_same(&found, &wanted);
}

#[test]
fn files_of_a_family_that_are_read_apart_come_to_the_same() {
    let paths = logs(&fixtures());
    let requests: Vec<Value> = paths.iter().map(|path| request(path)).collect();
    let together = transformed(&requests, 0, TransformWants::Episodes);
    let mut owners: BTreeMap<u64, u64> = BTreeMap::new();
    let ids = transformed(&requests, 0, TransformWants::Ids);
    let ids: Vec<super::heads::IdsLine> = ids
        .lines()
        .filter(|line| line.starts_with(r#"{"type":"ids""#))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for line in &ids {
        for id in &line.ids.0 {
            let owner = owners.entry(id & !1).or_insert(line.order);
            *owner = line.order.min(*owner);
        }
    }
    let mut apart = String::new();
    for line in &ids {
        let is_taken = |id: &u64| owners[&(id & !1)] < line.order;
        let taken: Vec<u64> = line
            .ids
            .0
            .iter()
            .filter(|id| is_taken(id))
            .map(|id| id & !1)
            .collect();
        let taken = serde_json::to_value(super::line::PackedIds(taken)).unwrap();
        let is_it = |path: &&PathBuf| path.to_string_lossy().trim_end_matches(".zst") == line.file;
        let path = paths.iter().find(is_it).unwrap();
        let request = json!({"path": path, "taken": taken, "order": line.order});
        apart.push_str(&transformed(&[request], 0, TransformWants::Episodes));
    }
    let dir = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    let found = replayed(&apart, dir.path()).dump().unwrap();
    let wanted = replayed(&together, other.path()).dump().unwrap();
    assert_same(&found, &wanted);
}

#[cfg(feature = "parquet")]
#[test]
fn rows_of_arrow_are_the_lines_and_their_columns_what_the_lines_say() {
    use super::transform::transform_to_arrow;
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;

    for wants in [
        TransformWants::Episodes,
        TransformWants::Heads,
        TransformWants::Ids,
    ] {
        let requests: Vec<Value> = logs(&fixtures()).iter().map(|path| request(path)).collect();
        let wanted = transformed(&requests, 3, wants);
        let input: Vec<String> = requests.iter().map(ToString::to_string).collect();
        let surroundings = Surroundings::of(None).unwrap();
        let mut out = Vec::new();
        let done = transform_to_arrow(
            &mut input.join("\n").as_bytes(),
            &mut out,
            &told(&surroundings, wants, 3),
        )
        .unwrap();
        assert_eq!(done.problems, 0);
        let stream = arrow_ipc::reader::StreamReader::try_new(&*out, None).unwrap();
        // the header is the schema's
        let mut lines = wanted.lines().skip(1);
        for batch in stream.map(Result::unwrap) {
            for (row, line) in (0..batch.num_rows()).zip(&mut lines) {
                let value: Value = serde_json::from_str(line).unwrap();
                let text = |name: &str| {
                    let column = batch[name].as_string::<i32>();
                    column.is_valid(row).then(|| column.value(row).to_owned())
                };
                let number = |name: &str| {
                    let column = batch[name].as_primitive::<Int64Type>();
                    column.is_valid(row).then(|| column.value(row))
                };
                let said = |name: &str| match &value["step"][name] {
                    Value::Null => value[name].clone(),
                    of_step => of_step.clone(),
                };
                assert_eq!(text("line").as_deref(), Some(line));
                assert_eq!(text("type").as_deref(), value["type"].as_str());
                assert_eq!(text("file").as_deref(), said("file").as_str());
                assert_eq!(text("id").as_deref(), value["episode"]["id"].as_str());
                for name in ["run", "order", "generation", "offset", "read_to", "nth"] {
                    assert_eq!(number(name), said(name).as_i64(), "{name} of {line}");
                }
                let session = &value["session"];
                let is_whole = session.is_object();
                let id = if is_whole { &session["id"] } else { session };
                assert_eq!(text("session").as_deref(), id.as_str());
                let around = if is_whole { session } else { &value };
                assert_eq!(text("namespace").as_deref(), around["namespace"].as_str());
            }
        }
        assert_eq!(lines.next(), None, "every line is a row");
    }
}

#[test]
fn a_commit_without_one_of_its_lines_is_refused() {
    let requests: Vec<Value> = logs(&fixtures()).iter().map(|path| request(path)).collect();
    let lines = transformed(&requests, 0, TransformWants::Episodes);
    let mut dropped = false;
    let rest = lines.lines().filter(|line| {
        let drops = !dropped && line.starts_with(r#"{"type":"episode""#);
        dropped |= drops;
        !drops
    });
    let rest: Vec<&str> = rest.collect();
    let surroundings = Surroundings::of(None).unwrap();
    let options = ReplayOptions {
        surroundings: &surroundings,
        now: NOW,
        jobs: 1,
    };
    let dir = tempfile::tempdir().unwrap();
    let mut replay = Replay::begin(&dir.path().join("replayed.db"), &options).unwrap();
    let error = merged(&[&rest.join("\n")])
        .for_each(|line| replay.take(Line::parse(line)?))
        .unwrap_err();
    assert!(error.to_string().contains("are missing"), "{error}");
}

#[test]
fn places_say_which_project_a_folder_belongs_to() {
    let places = r#"{"/home/ada/shop-api": "/srv/shop", "/home/ada": "/home/ada"}"#;
    let places = PlaceMap::parse(places).unwrap();
    let root_of = |cwd: &str| places.root_of(cwd);
    assert_eq!(
        root_of("/home/ada/shop-api/src").as_deref(),
        Some("/srv/shop")
    );
    assert_eq!(root_of("/home/ada/notes").as_deref(), Some("/home/ada"));
    assert_eq!(root_of("/home/ben"), None);
    let surroundings = Surroundings::of(None).unwrap();
    let options = TransformOptions {
        surroundings: &surroundings,
        places: places.clone(),
        wants: TransformWants::Heads,
        host: "test",
        run: 0,
        jobs: 1,
        now: NOW,
    };
    let names: Vec<String> = logs(&fixtures())
        .iter()
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    let mut out = Vec::new();
    transform(&mut names.join("\n").as_bytes(), &mut out, &options).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert!(out.contains(r#""project":"/srv/shop""#), "{out}");
    assert!(!out.contains(r#""project":"/home/ada/shop-api""#));
}

#[test]
fn what_is_no_log_or_not_there_is_a_line() {
    let surroundings = Surroundings::of(None).unwrap();
    let options = told(&surroundings, TransformWants::Episodes, 0);
    let names = "/nowhere/.claude/projects/p/6b1f0a34-5c0e-4b57-9d3e-2f9a51c7e001.jsonl\n\
                 /nowhere/.claude/projects/p/notes.md\n/nowhere/x.jsonl\n";
    let mut out = Vec::new();
    let done = transform(&mut names.as_bytes(), &mut out, &options).unwrap();
    assert_eq!((done.files, done.problems), (0, 2));
    let out = String::from_utf8(out).unwrap();
    assert_eq!(out.matches(r#""type":"problem""#).count(), 3, "{out}");
    assert!(out.contains("not named like a log"));
    let wrong = transform(&mut "{\"paht\": 1}".as_bytes(), &mut Vec::new(), &options);
    assert!(wrong.is_err());
}

static LINES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let requests: Vec<Value> = logs(&fixtures()).iter().map(|path| request(path)).collect();
    let lines = transformed(&requests, 0, TransformWants::Episodes);
    // some of each kind; also two that claim one place
    let short = lines.lines().filter(|line| line.len() < 6_000);
    let mut some: Vec<String> = short.step_by(5).map(str::to_owned).collect();
    let other: Vec<String> = some
        .iter()
        .filter(|line| line.contains(r#""title":""#))
        .map(|line| line.replacen(r#""title":""#, r#""title":"another "#, 1))
        .collect();
    some.extend(other);
    some
});

fn joined(lines: &[usize]) -> String {
    let lines = lines.iter().map(|at| &*LINES[at % LINES.len()]);
    lines.collect::<Vec<_>>().join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn merging_is_associative_commutative_and_idempotent(
        a in prop::collection::vec(0_usize..10_000, 0..40),
        b in prop::collection::vec(0_usize..10_000, 0..40),
        c in prop::collection::vec(0_usize..10_000, 0..40),
    ) {
        let (a, b, c) = (joined(&a), joined(&b), joined(&c));
        let at_once = printed(&merged(&[&a, &b, &c]));
        let left = printed(&merged(&[&a, &b]));
        let right = printed(&merged(&[&b, &c]));
        prop_assert_eq!(&at_once, &printed(&merged(&[&left, &c])));
        prop_assert_eq!(&at_once, &printed(&merged(&[&a, &right])));
        prop_assert_eq!(&at_once, &printed(&merged(&[&c, &a, &b, &a])));
        prop_assert_eq!(&at_once, &printed(&merged(&[&at_once, &at_once])));
    }

    #[test]
    fn the_latest_state_is_the_same_in_whatever_steps_it_is_found(
        a in prop::collection::vec(0_usize..10_000, 0..40),
        b in prop::collection::vec(0_usize..10_000, 0..40),
    ) {
        let latest = |parts: &[&str]| {
            let mut merge = merged(parts);
            merge.keep_latest();
            printed(&merge)
        };
        let (a, b) = (joined(&a), joined(&b));
        let at_once = latest(&[&a, &b]);
        prop_assert_eq!(&at_once, &latest(&[&latest(&[&b]), &latest(&[&a])]));
    }
}

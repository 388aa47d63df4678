//! Any text where people and tools write: headers, settings, search lines.

use crate::agents::registry;
use crate::config::{self, Env};
use crate::memory::query_parser;
use crate::memory::query_terms;
use crate::memory::recall::{RecallQuestion, recall};
use crate::memory::scopes::Scope;
use crate::model::frontmatter::{Header, read};
use crate::model::source::{Agent, Root};
use crate::model::time::Time;
use crate::pipeline::ingest_options::IngestOptions;
use crate::pipeline::ingest_options::Rules;
use crate::pipeline::progress::Silent;
use crate::pipeline::spec;
use crate::pipeline::steps::ingest::index;
use crate::stages::discover::DiscoverOptions;
use crate::store::{Access, Query, Store};
use std::cell::OnceCell;
use std::path::Path;
use tempfile::TempDir;

/// A header that was read says the same when it is written again, and any text survives in one.
pub fn frontmatter(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Some((header, body)) = read(text) {
        assert!(text.ends_with(body), "the body is not the text's end");
        survives(&header);
    }
    survives(&Header {
        version: text.to_owned(),
        project_path: Some(text.to_owned()),
        session_file: Some(text.chars().rev().collect()),
        ..Header::default()
    });
}

fn survives(header: &Header) {
    let written = header.to_yaml() + "body";
    let (again, body) = read(&written).expect("our own header");
    // The clock's is written in whole seconds.
    let seconds = |t: Option<Time>| t.map(|t| t.0.div_euclid(1_000));
    assert_eq!(seconds(again.indexed_at), seconds(header.indexed_at));
    let again = Header {
        indexed_at: header.indexed_at,
        ..again
    };
    assert_eq!((&again, body), (header, "body"));
}

/// Settings and pipelines are read, or refused in words that name the file.
pub fn configuration(data: &[u8]) {
    thread_local! {
        static HOME: TempDir = tempfile::tempdir().expect("a temporary directory");
    }
    HOME.with(|home| {
        let state = home.path().join(".graphiti");
        std::fs::create_dir_all(&state).expect("a folder");
        let env = Env {
            home: home.path().to_owned(),
            cwd: home.path().to_owned(),
            ..Env::default()
        };
        for name in [
            "graphiti.config.json",
            "graphiti.config.yaml",
            "tracking-config.json",
        ] {
            let file = state.join(name);
            std::fs::write(&file, data).expect("a file");
            if let Err(error) = config::load(&env, registry::log_folders) {
                assert!(error.message.contains(name), "{}", error.message);
            }
            std::fs::remove_file(&file).expect("a file");
        }
        std::fs::write(state.join("x.yaml"), data).expect("a file");
        if let Err(error) = spec::load("x", &state) {
            assert!(error.message.contains("x.yaml"), "{}", error.message);
        }
    });
}

/// Any search line has an answer, and none of SQLite's errors.
pub fn queries(data: &[u8]) {
    thread_local! {
        static STORE: OnceCell<(TempDir, Store)> = const { OnceCell::new() };
    }
    let line = String::from_utf8_lossy(data);
    STORE.with(|store| {
        let (_, store) = store.get_or_init(small_store);
        let mut query = query_terms::parse(&line, 5);
        let hits = store.search(&query).expect("an answer");
        assert!(hits.len() <= 5, "more than asked for");
        let value = || Some(line.clone().into_owned());
        let filters = [
            |q: &mut Query, value| q.tool = value,
            |q: &mut Query, value| q.file = value,
            |q: &mut Query, value| q.session = value,
        ];
        for filter in filters {
            let mut query = query.clone();
            filter(&mut query, value());
            store.search(&query).expect("an answer with filters");
        }
        query.any = true;
        store.search(&query).expect("an answer to any of them");
        let dates = |_: &str, _: &str| Ok(Time(0));
        let meant = query_parser::read(&line, 5, &dates, registry::doer_named);
        let questions = [
            Some(query_terms::question(&line, 5)),
            meant.ok().map(|m| m.query),
        ];
        for query in questions.into_iter().flatten() {
            recall(store, &RecallQuestion::new(query, &Scope::All)).expect("an answer");
        }
    });
}

/// The project's own fixture sessions.
fn small_store() -> (TempDir, Store) {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let logs = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/logs/home/.claude/projects");
    let setup = IngestOptions {
        roots: vec![Root {
            path: logs,
            agent: Agent::new("claude"),
            include: Vec::new(),
            exclude: Vec::new(),
            named: false,
        }],
        rules: Rules {
            policy: Default::default(),
            chunk: Default::default(),
            host: "test".into(),
            subagents: true,
            redactor: Default::default(),
            classifier: Default::default(),
            markers: Default::default(),
            hides_paths: false,
            directives: None,
        },
        discover: DiscoverOptions::default(),
        jobs: 1,
        now: Time(1_772_500_000_000),
        group: None,
        admit: &|_, _, _| Ok(None),
    };
    let path = folder.path().join("sessionmill.db");
    let mut store = Store::open(&path, Access::ReadWrite).expect("a store");
    index(&mut store, &setup, &Silent).expect("a run");
    (folder, store)
}

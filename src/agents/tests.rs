//! What holds for every agent.

use super::{claude, codex, gemini, opencode, qwen, registry, toy};
use crate::host::read::{LogBlock, Shape};
use crate::memory::query_terms::parse as terms;
use crate::model::entry::EntryKind;
use crate::model::source::Root;
use crate::pipeline::steps::ingest::report::IngestReport;
use crate::stages::parse::{ParseState, parse};
use crate::store::{Access, SessionFilter};
use crate::tests::home::Home;

#[test]
fn a_field_of_another_type_is_named_and_its_line_is_accounted_for() {
    let tables = [
        (claude::CLAUDE, claude::dialect::fields()),
        (codex::CODEX, codex::dialect::fields()),
        (gemini::GEMINI, gemini::dialect::fields()),
        (qwen::QWEN, qwen::dialect::fields()),
        (opencode::OPENCODE, opencode::dialect::fields()),
    ];
    let rows = tables.map(|(agent, table)| table.all().map(move |field| (agent, field)));
    for (agent, field) in rows.into_iter().flatten() {
        let mut bytes = format!("{}\n", field.sample).into_bytes();
        let block = LogBlock {
            offset: 0,
            line: 0,
            bytes: &mut bytes,
            shape: Shape::Lines,
        };
        let batch = parse(registry::dialect(agent), &mut ParseState::default(), block);
        let named = batch.items.iter().any(|entry| match &entry.what {
            EntryKind::Unknown(unknown) => unknown.name.contains(&format!("{}: ", field.name)),
            _ => false,
        });
        assert!(named, "{}: {:?}", field.sample, batch.items);
        assert!(batch.rejects.is_empty(), "{}", field.sample);
    }
}

const TALK: &str = ".toy/talks/talk-1.jsonl";

const LINES: [&str; 5] = [
    r#"{"at": "2026-02-01T10:00:00Z", "who": "me", "says": "mend the marmalade parser", "folder": "/code/jam"}"#,
    r#"{"at": "2026-02-01T10:00:05Z", "who": "toy", "says": "1 test failed", "runs": "cargo test"}"#,
    r#"{"at": "2026-02-01T10:00:09Z", "who": "toy", "says": "A quince was missing; mended."}"#,
    r#"{"at": "2026-02-01T10:00:12Z", "who": "me", "says": "<graphiti_memory>old</graphiti_memory>"}"#,
    r#"{"at": "2026-02-01T12:00:00Z", "who": "me", "says": "and the apricots?"}"#,
];

/// Runs over the toy's own folder too, which no setting names.
fn run(home: &Home) -> IngestReport {
    let folders = registry::log_folders(toy::TOY, home.env());
    let root = |path| Root {
        path,
        agent: toy::TOY,
        include: Vec::new(),
        exclude: Vec::new(),
        named: false,
    };
    home.run_with(folders.into_iter().map(root).collect())
        .unwrap()
}

#[test]
fn a_third_agent_is_a_folder_and_a_line() {
    let home = Home::new(None).unwrap();
    let file = home.put(TALK, format!("{}\n", LINES[..4].join("\n")).as_bytes());
    home.put(".toy/talks/notes.jsonl", b"no log\n").unwrap();
    let report = run(&home);
    assert_eq!(
        (report.files_found, report.files_read),
        (1, 1),
        "{report:?}"
    );
    assert!(report.problems.is_empty() && run(&home).files_read == 0);
    std::fs::write(file.unwrap(), format!("{}\n", LINES.join("\n"))).unwrap();
    assert_eq!(run(&home).files_read, 1);

    let store = home.store(Access::ReadOnly).unwrap();
    let sessions = store.sessions(&SessionFilter::default()).unwrap();
    let session = &sessions[0].session;
    assert_eq!((sessions.len(), &*session.id), (1, "talk-1"));
    assert_eq!(
        (session.agent, &*session.project_path),
        (toy::TOY, "/code/jam")
    );
    for word in ["marmalade", "quince", "apricots"] {
        let hits = store.search(&terms(word, 9)).unwrap();
        let all_toys = hits.iter().all(|hit| hit.agent == toy::TOY);
        assert!(!hits.is_empty() && all_toys, "{word}");
    }
    assert!(
        store.search(&terms("old", 9)).unwrap().is_empty(),
        "our own memory"
    );
    let resume = registry::find(session.agent).map(|toy| toy.resume_command(&session.id));
    assert_eq!(resume.as_deref(), Some("toy --again talk-1"));
}

#[test]
fn an_agent_that_is_not_known_is_no_reason_to_fail() {
    use crate::model::source::Agent;
    let later = Agent::of("later");
    assert_eq!((later, later.as_str()), (Agent::of("later"), "later"));
    assert!(registry::find(later).is_none() && registry::by_word("later").is_none());
    assert!(
        registry::by_word("toy").is_none(),
        "lists and help don't have it"
    );
    assert!(!registry::is_log(later, b"rollout-x"));
    assert_eq!(
        serde_json::from_str::<Agent>("\"claude\"").unwrap(),
        claude::CLAUDE
    );
}

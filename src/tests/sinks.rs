//! What every sink owes (`stages::upload::Sink`), asked of each of them: the files here, FalkorDB in
//! `make test-graph`, since it has to be installed.

use super::falkor::Falkor;
use super::graph::graphiti_at;
use crate::model::consent::{Consent, Endpoint, Permit};
use crate::model::delivery::{
    DeliveryError, DeliveryOutcome, DeliveryProgress, Landed, OutboundEpisode, Receipt,
};
use crate::model::time::Time;
use crate::sinks::database::{Database, Login};
use crate::sinks::falkordb::FalkorDb;
use crate::sinks::jsonl::Jsonl;
use crate::sinks::markdown::Markdown;
use crate::stages::upload::Sink;
use uuid::Uuid;

pub(super) fn outbound(n: u128, content: &str) -> OutboundEpisode {
    let revision = xxhash_rust::xxh3::xxh3_64(content.as_bytes());
    OutboundEpisode {
        id: Uuid::from_u128(0x1000 + n),
        revision,
        group: if n.is_multiple_of(3) {
            "desk-two__global"
        } else {
            "desk__global"
        }
        .into(),
        name: format!("Session {n}, part 1"),
        content: format!(
            "---\ngraphiti_session_metadata:\n  version: \"2.0\"\n---\n\n# Session {n}\n\n{content}\n"
        ),
        source_description: format!("[a1b2c3d4] Session, part 1, revision {revision:016x}"),
        session: format!("session-{}", n / 2),
        namespace: "a1b2c3d4e5f60718".into(),
        project: "my shop/..".into(),
        valid_at: Time(1_780_000_000_000 + n as i64 * 61_003),
        created_at: Time(1_780_000_000_000),
        attempts: 0,
    }
}

pub(super) fn receipts(sink: &dyn Sink, outbound_episodes: &[OutboundEpisode]) -> Vec<Receipt> {
    let receipt = |outbound: &OutboundEpisode| Receipt {
        id: outbound.id,
        revision: outbound.revision,
        place: sink.place(outbound),
    };
    outbound_episodes.iter().map(receipt).collect()
}

/// Texts that formats stumble over.
pub(super) const ODD: [&str; 8] = [
    "plain words",
    "quotes \" ' ` and \\ backslashes \\n",
    "---\nnot: a header\n---\n",
    "<!-- /episode --> <!-- episode x 1 2 -->\n<!-- /episode -->",
    "NUL \0 bell \u{7} line \u{2028} bom \u{feff} emoji 😀 漢字",
    "{\"json\": [1, 2]}\r\n\ttabs",
    "$rows }} ]] UNWIND",
    "",
];

/// Every promise of the trait, one after the other.
pub(super) fn keeps_its_promises(sink: &mut dyn Sink) {
    sink.check().unwrap();
    let outbound_episodes: Vec<OutboundEpisode> =
        (0..).zip(ODD).map(|(n, text)| outbound(n, text)).collect();
    let asked = receipts(sink, &outbound_episodes);
    assert_eq!(sink.verify(&asked).unwrap(), [Landed::Missing; 8], "before");
    for _ in 0..2 {
        // again is nothing
        assert_eq!(
            sink.deliver(&outbound_episodes).unwrap(),
            vec![DeliveryOutcome::Seen; 8]
        );
    }
    let landed = sink.verify(&asked).unwrap();
    let once = landed.iter().filter(|l| **l == Landed::Once).count();
    assert_eq!(once, 8, "{landed:?}");
    // another revision takes the place of the one before
    let changed = outbound(2, "now it says something else");
    sink.deliver(std::slice::from_ref(&changed)).unwrap();
    assert_eq!(sink.verify(&asked[2..3]).unwrap(), [Landed::Missing]);
    let now = receipts(sink, &[changed]);
    assert_eq!(sink.verify(&now).unwrap(), [Landed::Once]);
    assert_eq!(sink.verify(&asked[..2]).unwrap(), [Landed::Once; 2]);
    // what is forgotten is gone, the others stay, and forgetting again is nothing
    let gone = [asked[0].clone(), now[0].clone()];
    for _ in 0..2 {
        sink.forget(&gone).unwrap();
    }
    assert_eq!(sink.verify(&gone).unwrap(), [Landed::Missing; 2]);
    let rest = [&asked[1..2], &asked[3..]].concat();
    assert_eq!(sink.verify(&rest).unwrap(), [Landed::Once; 6]);
    sink.forget(&rest).unwrap();
    assert_eq!(sink.verify(&rest).unwrap(), [Landed::Missing; 6]);
}

#[test]
fn notes_keep_their_promises_and_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let vault = folder.path().join("vault");
    keeps_its_promises(&mut Markdown::new(vault.clone()));
    let files = walkdir::WalkDir::new(&vault).into_iter().flatten();
    let files: Vec<_> = files.filter(|e| e.file_type().is_file()).collect();
    assert!(files.is_empty(), "{files:?}");
}

#[test]
fn a_note_holds_a_session_in_order_under_one_header() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = Markdown::new(folder.path().to_owned());
    let (first, second) = (outbound(2, "came first"), outbound(3, "came second"));
    sink.deliver(std::slice::from_ref(&second)).unwrap();
    sink.deliver(std::slice::from_ref(&first)).unwrap();
    let place = sink.place(&first);
    assert_eq!(place, "my-shop-..-a1b2c3d4/session-1.md");
    let note = std::fs::read_to_string(folder.path().join(&place)).unwrap();
    assert!(
        note.starts_with("---\ngraphiti_session_metadata:"),
        "{note}"
    );
    assert_eq!(
        note.matches("graphiti_session_metadata").count(),
        1,
        "{note}"
    );
    let at = |text: &str| note.find(text).unwrap();
    assert!(at("came first") < at("came second"));
    sink.deliver(&[first, second]).unwrap();
    let again = std::fs::read_to_string(folder.path().join(&place)).unwrap();
    assert_eq!(note, again);
}

#[test]
fn lines_keep_their_promises_and_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    keeps_its_promises(&mut Jsonl::new(out.clone()));
    let left: Vec<_> = std::fs::read_dir(&out).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_line_that_somebody_copied_is_seen_to_be_there_twice() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = Jsonl::new(folder.path().to_owned());
    let outbound_episodes = [outbound(1, "once"), outbound(2, "twice")];
    let asked = receipts(&sink, &outbound_episodes);
    sink.deliver(&outbound_episodes).unwrap();
    let file = folder.path().join("episodes-000001.jsonl");
    let text = std::fs::read(&file).unwrap();
    let last = text.split_inclusive(|b| *b == b'\n').next_back().unwrap();
    std::fs::write(folder.path().join("episodes-000002.jsonl"), last).unwrap();
    let landed = sink.verify(&asked).unwrap();
    assert_eq!(landed, [Landed::Once, Landed::Twice]);
    // another sink at the same folder tells nothing again, and changes are told after what stands
    let mut other = Jsonl::new(folder.path().to_owned());
    other.deliver(&outbound_episodes).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    let changed = outbound(1, "changed");
    other.deliver(&[changed, outbound(2, "twice")]).unwrap();
    other.deliver(&outbound_episodes[..1]).unwrap();
    assert_eq!(sink.verify(&asked[..1]).unwrap(), [Landed::Once]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
}

#[test]
fn one_thing_in_the_way_of_one_note_is_that_notes_misfortune() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = Markdown::new(folder.path().to_owned());
    let outbound_episodes = [
        outbound(1, "in the way"),
        outbound(2, "free"),
        outbound(4, "torn"),
    ];
    let asked = receipts(&sink, &outbound_episodes);
    std::fs::create_dir_all(folder.path().join(&asked[0].place)).unwrap();
    let torn = folder.path().join(&asked[2].place);
    std::fs::write(torn, b"\xff\xfe not UTF-8 <!-- episode ").unwrap();
    let outcomes = sink.deliver(&outbound_episodes).unwrap();
    assert!(matches!(&outcomes[0], DeliveryOutcome::Failed(why) if why.contains(&asked[0].place)));
    assert_eq!(
        outcomes[1..],
        [DeliveryOutcome::Seen, DeliveryOutcome::Seen]
    );
    let landed = sink.verify(&asked).unwrap();
    assert_eq!(landed, [Landed::Missing, Landed::Once, Landed::Once]);
    sink.forget(&asked).unwrap();
    assert_eq!(sink.verify(&asked).unwrap(), [Landed::Missing; 3]);
}

#[test]
fn names_that_no_folder_takes_are_cut() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = Markdown::new(folder.path().to_owned());
    let mut long = outbound(1, "x");
    long.session = "漢".repeat(300);
    long.project = "ü".repeat(300);
    assert_eq!(sink.deliver(&[long]), Ok(vec![DeliveryOutcome::Seen]));
}

#[test]
fn what_a_killed_writer_left_goes_with_what_is_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let outbound_episodes = [outbound(1, "secret")];
    for sink in [
        &mut Markdown::new(folder.path().join("vault")) as &mut dyn Sink,
        &mut Jsonl::new(folder.path().join("out")),
    ] {
        let asked = receipts(sink, &outbound_episodes);
        let name = match asked[0].place.as_str() {
            "" => "out/episodes-000001.jsonl.part".to_owned(),
            place => format!("vault/{place}.part"),
        };
        let part = folder.path().join(name);
        std::fs::create_dir_all(part.parent().unwrap()).unwrap();
        std::fs::write(&part, "half of a secr").unwrap();
        sink.forget(&asked).unwrap();
        assert!(!part.exists(), "{}", part.display());
    }
}

#[test]
fn a_folder_that_cannot_be_written_to_is_a_fault_of_the_sink() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for sink in [
        &mut Markdown::new(file.join("vault")) as &mut dyn Sink,
        &mut Jsonl::new(file.join("out")),
    ] {
        assert!(sink.check().is_err());
        assert!(sink.deliver(&[outbound(1, "x")]).is_err());
    }
}

pub(super) fn permit(endpoint: &Endpoint) -> Permit {
    let agreed = Consent {
        scope: endpoint.to_string(),
        given: true,
        text: String::new(),
        version: String::new(),
        at: Time(0),
    };
    Permit::of(endpoint, &[agreed]).unwrap()
}

pub(super) fn falkordb(server: &Falkor, login: &Login) -> FalkorDb {
    FalkorDb::new(&permit(&server.endpoint()), login).unwrap()
}

/// What a database owes whose episodes Graphiti works through; `graph` runs a query in the group's.
pub(super) fn marks_what_is_to_be_done(
    plain: &mut dyn Database,
    marking: &mut dyn Database,
    graph: &dyn Fn(&str),
) {
    let mut outbound_episodes = [outbound(1, "one"), outbound(2, "two"), outbound(4, "four")];
    let asked = receipts(plain, &outbound_episodes);
    let progress = |sink: &mut dyn Database| sink.progress(&asked).unwrap();
    assert_eq!(progress(marking), [DeliveryProgress::Missing; 3]);
    // what was there before has to be worked through as well, unless something was made of it
    plain.deliver(&outbound_episodes).unwrap();
    let id = outbound_episodes[1].id;
    graph(&format!(
        "MATCH (n:Episodic) WHERE n.uuid = '{id}' CREATE (n)-[:MENTIONS]->(:Entity {{name: 'x'}})"
    ));
    let (waits, done) = (DeliveryProgress::Waits, DeliveryProgress::Done);
    assert_eq!(progress(marking), [done; 3]);
    for _ in 0..2 {
        marking.deliver(&outbound_episodes).unwrap();
        assert_eq!(progress(marking), [waits, done, waits]);
    }
    // as Graphiti does in the end: what it doesn't know is wiped
    graph("MATCH (n:Episodic) SET n.sessionmill_pending = NULL");
    assert_eq!(progress(marking), [done; 3]);
    // another revision is worked through again
    outbound_episodes[0] = outbound(1, "changed");
    let changed = receipts(marking, &outbound_episodes[..1]);
    marking.deliver(&outbound_episodes[..1]).unwrap();
    assert_eq!(progress(marking), [DeliveryProgress::Missing, done, done]);
    assert_eq!(marking.progress(&changed).unwrap(), [waits]);
    assert!(marking.has("desk__global", "Session 2, part 1").unwrap());
    assert!(!marking.has("desk__global", "Session 2").unwrap());
    assert!(!marking.has("no_such_graph", "x").unwrap());
    marking.empty("desk__global").unwrap();
    assert_eq!(
        marking.progress(&changed).unwrap(),
        [DeliveryProgress::Missing]
    );
}

#[test]
#[ignore = "needs FalkorDB: make test-graph"]
fn falkordb_keeps_its_promises() {
    let server = Falkor::start();
    keeps_its_promises(&mut falkordb(&server, &Login::default()));
}

#[test]
#[ignore = "needs FalkorDB: make test-graph"]
fn falkordb_marks_what_graphiti_has_to_work_through() {
    let server = Falkor::start();
    let sink = || falkordb(&server, &Login::default());
    let mut marking = sink().marking(true);
    keeps_its_promises(&mut marking);
    marks_what_is_to_be_done(&mut sink(), &mut marking, &|query| {
        server.redis(&["GRAPH.QUERY", "desk__global", query]);
    });
}

/// Six episodes of two sessions, by turns.
pub(super) fn of_two_sessions() -> Vec<OutboundEpisode> {
    let mut outbound_episodes: Vec<OutboundEpisode> = (0..6).map(|n| outbound(n, "said")).collect();
    for (outbound, session) in outbound_episodes
        .iter_mut()
        .zip(["long", "short"].repeat(4))
    {
        (outbound.group, outbound.session) = ("desk__global".into(), session.into());
    }
    outbound_episodes
}

/// What a database owes that tells sessions as sagas; `graph` runs a query in the group's and gives
/// its answer as text.
pub(super) fn tells_sagas(sink: &mut dyn Sink, graph: &dyn Fn(&str) -> String) {
    let outbound_episodes = of_two_sessions();
    let asked = receipts(sink, &outbound_episodes);
    let linked = |pairs: &[(u32, u32)]| {
        let query =
            "MATCH (a:Episodic)-[:NEXT_EPISODE]->(b:Episodic) RETURN a.name + ' > ' + b.name AS l";
        let told = graph(query);
        for (a, b) in pairs {
            let link = format!("Session {a}, part 1 > Session {b}, part 1");
            assert!(told.contains(&link), "{link}: {told}");
        }
        assert_eq!(told.matches(" > ").count(), pairs.len(), "{told}");
    };
    let sagas = || graph("MATCH (s:Saga) RETURN s.name AS l");
    // in whatever order they come, and again
    for some in [
        &outbound_episodes[4..],
        &outbound_episodes[..2],
        &outbound_episodes[2..4],
        &outbound_episodes[..],
    ] {
        sink.deliver(some).unwrap();
    }
    linked(&[(0, 2), (2, 4), (1, 3), (3, 5)]);
    let has = graph("MATCH (:Saga)-[h:HAS_EPISODE]->(n:Episodic) RETURN n.uuid + ' of ' AS l");
    assert_eq!(has.matches(" of ").count(), 6, "{has}");
    assert_eq!(sagas().matches("long").count(), 1);
    // what is forgotten leaves no gap, and a saga without episodes goes
    sink.forget(&asked[2..3]).unwrap();
    linked(&[(0, 4), (1, 3), (3, 5)]);
    let short = [&asked[1..2], &asked[3..4], &asked[5..]].concat();
    sink.forget(&short).unwrap();
    linked(&[(0, 4)]);
    assert!(!sagas().contains("short") && sagas().contains("long"));
    sink.deliver(&outbound_episodes).unwrap();
    linked(&[(0, 2), (2, 4), (1, 3), (3, 5)]);
}

/// What graphiti-core has to read of those: the saga `long`.
pub(super) fn reads_sagas(read: &[serde_json::Value]) {
    let id = |n: u128| serde_json::json!(outbound(n, "").id.to_string());
    let of = |key: &str| {
        read.iter()
            .filter_map(|line| line.get(key))
            .collect::<Vec<_>>()
    };
    assert_eq!(of("uuid"), [&id(0), &id(2), &id(4)]);
    assert_eq!((of("first"), of("last")), (vec![&id(0)], vec![&id(4)]));
    let mut links: Vec<_> = of("from").into_iter().zip(of("to")).collect();
    links.sort_by_key(|(from, _)| from.to_string());
    let wants = [(0, 2), (1, 3), (2, 4), (3, 5)].map(|(a, b)| (id(a), id(b)));
    assert!(links.into_iter().eq(wants.iter().map(|(a, b)| (a, b))));
}

#[test]
#[ignore = "needs FalkorDB: make test-graph"]
fn falkordb_tells_sessions_as_sagas() {
    let server = Falkor::start();
    let mut sink = falkordb(&server, &Login::default()).with_sagas(true);
    keeps_its_promises(&mut sink);
    let query = "MATCH (s:Saga) RETURN 'saga of ' + s.name AS l";
    let left = server.redis(&["GRAPH.QUERY", "desk__global", query]);
    assert!(!left.contains("saga of"), "{left}");
    tells_sagas(&mut sink, &|query| {
        server.redis(&["GRAPH.QUERY", "desk__global", query])
    });
    let read = graphiti_at(&server.port().to_string(), "", &["--saga", "long"]);
    if let Some(read) = read {
        reads_sagas(&read);
    }
}

#[test]
#[ignore = "needs FalkorDB: make test-graph"]
fn falkordb_tells_sagas_of_what_was_there_when_graphiti_works_through_it() {
    let server = Falkor::start();
    let sink = || falkordb(&server, &Login::default());
    sink().deliver(&of_two_sessions()).unwrap();
    tells_sagas(&mut sink().marking(true).with_sagas(true), &|query| {
        server.redis(&["GRAPH.QUERY", "desk__global", query])
    });
}

#[test]
#[ignore = "needs FalkorDB: make test-graph"]
fn falkordb_says_whose_fault_it_is() {
    let server = Falkor::start();
    let mut sink = falkordb(&server, &Login::default());
    sink.deliver(&[outbound(1, "x")]).unwrap();
    let names = ["a-b".to_owned(), "a_b".to_owned()];
    assert!(matches!(
        sink.tells_apart(&names),
        Err(DeliveryError::Misconfigured(_))
    ));
    server.redis(&["CONFIG", "SET", "requirepass", "swordfish"]);
    let mut stranger = falkordb(&server, &Login::default());
    let refused = stranger.deliver(&[outbound(1, "x")]);
    assert!(
        matches!(refused, Err(DeliveryError::Misconfigured(_))),
        "{refused:?}"
    );
    let login = Login {
        user: None,
        password: Some("swordfish".into()),
    };
    let mut sink = falkordb(&server, &login);
    assert_eq!(
        sink.deliver(&[outbound(1, "x")]),
        Ok(vec![DeliveryOutcome::Seen])
    );
    drop(server);
    let away = sink.deliver(&[outbound(1, "x")]);
    assert!(
        matches!(away, Err(DeliveryError::Unavailable(..))),
        "{away:?}"
    );
}

#[test]
fn sessions_whose_ids_no_name_can_have_get_files_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = Markdown::new(folder.path().to_owned());
    let ids = [
        "a/b",
        "a-b",
        "a\\b",
        "a:b",
        "..a-b",
        ".a-b",
        "",
        "..",
        "A-B/",
        "é\u{202e}",
    ];
    let mut places = std::collections::BTreeSet::new();
    for (n, id) in (1..).zip(ids) {
        let episode = OutboundEpisode {
            session: id.to_owned(),
            ..outbound(n, "---\na: 1\n---\n\n# t\n\nUser: x\n")
        };
        let place = sink.place(&episode);
        let name = place.rsplit('/').next().unwrap().to_owned();
        assert!(!name.starts_with('.') && name.len() > 4, "{place}");
        assert_eq!(place.matches('/').count(), 1, "{place}");
        places.insert(place.to_lowercase());
        sink.deliver(&[episode]).unwrap();
    }
    assert_eq!(places.len(), ids.len(), "{places:?}");
}

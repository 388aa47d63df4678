//! Searching: what people type finds what was said, and nothing else.

use super::*;
use crate::memory::query_terms::parse;
use crate::memory::recall::{RecallAnswer, RecallQuestion, recall};
use crate::memory::scopes::Scope;
use crate::store::{Query, SessionFilter};

fn world(texts: &[&str]) -> World {
    let mut world = World::new();
    world.commit(&[log("a", "/home/u/app", texts)]);
    world
}

fn parts(world: &World, query: &Query) -> Vec<u32> {
    let mut parts: Vec<u32> = world
        .store
        .search(query)
        .unwrap()
        .iter()
        .map(|h| h.part)
        .collect();
    parts.sort_unstable();
    parts
}

fn found(world: &World, line: &str) -> Vec<u32> {
    parts(world, &parse(line, 10))
}

#[test]
fn names_are_found_by_their_parts_and_in_any_spelling() {
    let world = world(&[
        "fn parse_config() broke",
        "the parseConfig call",
        "Edit(src/config.rs) → +3 −1",
        "parseconfig in one piece",
        "unrelated",
    ]);
    for (line, wants) in [
        ("config", &[1, 2, 3][..]),
        ("parse_config", &[1, 2, 4]),
        ("parseConfig", &[1, 2, 4]),
        ("parse-config", &[1, 2]),
        ("parseconfig", &[1, 2, 4]),
        ("src/config.rs", &[3]),
        ("config.rs", &[3]),
        ("CONFIG", &[1, 2, 3]),
        ("conf*", &[1, 2, 3]),
        ("conf", &[]),
        ("parse -broke", &[2]),
        ("→", &[]),
    ] {
        assert_eq!(found(&world, line), wants, "{line}");
    }
}

/// `ebcbd000` looks like a word and a number, and the hash that it begins does not.
#[test]
fn a_hash_is_found_by_its_beginning_whatever_that_looks_like() {
    let world = world(&[
        "made ebcbd000a1f2",
        "made abc12def0045",
        "made 4d1f8964ab01",
    ]);
    for (line, wants) in [
        ("ebcbd*", 1),
        ("ebcbd000*", 1),
        ("ebcbd000a*", 1),
        ("abc12*", 2),
        ("abc12d*", 2),
        ("4d1f8964*", 3),
    ] {
        assert_eq!(found(&world, line), [wants], "{line}");
    }
}

#[test]
fn words_inside_sentences_without_spaces_are_found() {
    let world = world(&[
        "私は日本語の設定を変更しました",
        "请修复登录错误，谢谢",
        "설정 파일을 고쳤다",
        "用parseConfig解析文件",
    ]);
    for (line, wants) in [
        ("日本語", &[1][..]),
        ("設定", &[1]),
        ("登录", &[2]),
        ("登录错误", &[2]),
        ("误", &[2]),
        ("设定", &[]),
        ("파일", &[3]),
        ("解析", &[4]),
        ("config解析", &[4]),
        ("日本設定", &[]),
    ] {
        assert_eq!(found(&world, line), wants, "{line}");
    }
}

#[test]
fn phrases_stand_together() {
    let world = world(&[
        "the token of the jwt",
        "the jwt token expired",
        "a jwt_token name",
    ]);
    assert_eq!(found(&world, "\"jwt token\""), [2, 3]);
    assert_eq!(found(&world, "jwt token"), [1, 2, 3]);
    assert_eq!(found(&world, "\"token of the jwt\""), [1]);
    assert_eq!(found(&world, "jwt -\"jwt token\""), [1]);
}

#[test]
fn filters_come_before_the_limit() {
    let mut world = World::new();
    let strong = "needle ".repeat(20);
    let crowd: Vec<&str> = std::iter::repeat_n(&*strong, 30).collect();
    world.commit(&[
        log("crowd", "/home/u/crowd", &crowd),
        log("app", "/home/u/app", &["one needle in much other text"]),
        log("below", "/home/u/app/sub", &["another needle down there"]),
        log("beside", "/home/u/app2", &["a needle beside it"]),
    ]);
    let sessions = |query: Query| -> Vec<String> {
        let hits = world.store.search(&query).unwrap();
        let mut found: Vec<String> = hits.into_iter().map(|h| h.session).collect();
        found.sort();
        found
    };
    let base = parse("needle", 2);
    let namespaces = Some(vec![namespace("/home/u/app2")[..8].to_string()]);
    let ours = Query {
        namespaces,
        ..base.clone()
    };
    assert_eq!(sessions(ours), ["beside"]);
    let nobody = Query {
        namespaces: Some(vec![]),
        ..base.clone()
    };
    assert_eq!(sessions(nobody), [""; 0]);
    let session = Query {
        session: Some("bel".into()),
        ..base
    };
    assert_eq!(sessions(session), ["below"]);
}

#[test]
fn every_filter_filters() {
    let world = world(&["needle one", "needle two", "needle three"]);
    let base = parse("needle", 10);
    let with = |change: &dyn Fn(&mut Query)| {
        let mut query = base.clone();
        change(&mut query);
        parts(&world, &query)
    };
    assert_eq!(with(&|q| q.since = Some(Time(2_000))), [2, 3]);
    assert_eq!(with(&|q| q.until = Some(Time(2_000))), [1]);
    assert_eq!(with(&|q| q.agent = Some(Agent::new("codex"))), [0; 0]);
    assert_eq!(with(&|q| q.agent = Some(Agent::new("claude"))), [1, 2, 3]);
    assert_eq!(with(&|q| q.sources = vec![EpisodeSource::Text]), [0; 0]);
    assert_eq!(
        with(&|q| q.not_sources = vec![EpisodeSource::Session]),
        [0; 0]
    );
    assert_eq!(with(&|q| q.tool = Some("read".into())), [1, 2, 3]);
    assert_eq!(with(&|q| q.tool = Some("re*".into())), [1, 2, 3]);
    assert_eq!(with(&|q| q.tool = Some("Bash".into())), [0; 0]);
    assert_eq!(with(&|q| q.file = Some("auth.rs".into())), [1, 2, 3]);
    assert_eq!(with(&|q| q.file = Some("src/*.rs".into())), [1, 2, 3]);
    assert_eq!(with(&|q| q.file = Some("*.py".into())), [0; 0]);
    assert_eq!(with(&|q| q.limit = 0), [0; 0]);
    let all = Query {
        limit: 2,
        ..Query::default()
    };
    let latest: Vec<u32> = world
        .store
        .search(&all)
        .unwrap()
        .iter()
        .map(|h| h.part)
        .collect();
    assert_eq!(latest, [3, 2]);
}

#[test]
fn equal_scores_are_ordered_by_time_then_id() {
    let world = world(&["needle", "needle", "needle"]);
    let order: Vec<u32> = world
        .store
        .search(&parse("needle", 10))
        .unwrap()
        .iter()
        .map(|h| h.part)
        .collect();
    assert_eq!(order, [3, 2, 1]);
}

#[test]
fn snippets_show_where_the_words_are() {
    let filler = "nothing to see here\n".repeat(40);
    let text = format!("{filler}call parseConfig first\u{1b}[0m, then 設定を変更 it\n{filler}");
    let world = world(&[&text]);
    for (line, wants) in [
        ("config", vec!["Config"]),
        ("parse_config", vec!["parseConfig"]),
        ("変更 parse", vec!["parse", "変更"]),
        ("更", vec!["更"]),
    ] {
        let hit = world.store.search(&parse(line, 1)).unwrap().remove(0);
        let snippet = hit.snippet;
        let marked: Vec<&str> = snippet
            .marks
            .iter()
            .map(|(a, b)| &snippet.text[*a..*b])
            .collect();
        assert_eq!(marked, wants, "{line}");
        assert!(snippet.cut_before && snippet.cut_after);
        assert!(!snippet.text.contains(char::is_control));
        assert!(snippet.text.len() < 300);
    }
}

#[test]
fn a_hit_says_where_it_is_from() {
    let world = world(&["needle"]);
    let hit = world.store.search(&parse("needle", 1)).unwrap().remove(0);
    assert_eq!((&*hit.path, hit.lines), ("/logs/a.jsonl", (1, 1)));
    assert_eq!((hit.bytes.from, hit.bytes.to), (100, 200));
    assert!(hit.score > 0.0);
    let shown = crate::memory::provenance::provenance(&hit, true);
    let ns8 = &namespace("/home/u/app")[..8];
    assert_eq!(shown, format!("[namespace: {ns8}, path: /home/u/app]"));
    let shown = crate::memory::provenance::provenance(&hit, false);
    assert_eq!(shown, format!("[namespace: {ns8}]"));
}

fn ask(world: &World, query: Query) -> RecallAnswer {
    recall(&world.store, &RecallQuestion::new(query, &Scope::All)).unwrap()
}

#[test]
fn a_question_that_nothing_answers_whole_is_loosened() {
    let world = world(&["alpha beta", "gamma"]);
    let all = ask(&world, parse("alpha beta", 9));
    assert_eq!((all.hits.len(), all.loosened), (1, false));
    let some = ask(&world, parse("alpha gamma", 9));
    assert_eq!((some.hits[0].folded + 1, some.loosened), (2, true));
    let nothing = Scope::Nothing("why");
    let none = RecallQuestion::new(parse("alpha", 9), &nothing);
    let none = recall(&world.store, &none).unwrap();
    assert_eq!((none.hits.len(), none.reason), (0, Some("why")));
}

#[test]
fn other_forms_are_looked_for_where_the_word_itself_stands_nowhere() {
    let world = world(&["a retry of the upload", "unrelated words"]);
    let asked = |text: &str| {
        ask(&world, crate::memory::query_terms::question(text, 9))
            .hits
            .len()
    };
    assert_eq!(asked("why the retries?"), 1);
    assert_eq!(asked("uploading"), 1);
    assert_eq!(asked("retrieval"), 0);
    assert_eq!(
        found(&world, "retries"),
        [0; 0],
        "what is typed exactly stays so"
    );
}

#[test]
fn a_common_word_does_not_find_when_rare_ones_do() {
    let mut world = World::new();
    let crowd = vec!["a common word"; 7_000];
    world.commit(&[
        log("crowd", "/home/u/crowd", &crowd),
        log("one", "/home/u/app", &["a rare word beside common"]),
    ]);
    let answer = ask(
        &world,
        crate::memory::query_terms::question("rare common", 5),
    );
    assert_eq!(answer.hits[0].session, "one");
    assert!(answer.rows <= 1_010, "{} rows", answer.rows);
    let rare = crate::memory::query_terms::question("rare", 5);
    assert!(ask(&world, rare).rows <= 2);
}

#[test]
fn very_common_words_are_estimated_and_find_nothing_for_who_did_not_ask() {
    let texts: Vec<String> = (0..1_200)
        .map(|n| match n {
            0..450 => "always early".to_owned(),
            450..460 => "always rare".to_owned(),
            _ => "always".to_owned(),
        })
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let world = world(&texts);
    let ask = |line: &str, skips_common: bool| {
        let query = Query {
            any: true,
            skips_common,
            ..parse(line, 5)
        };
        world.store.candidates(&query, None, &[]).unwrap()
    };
    let found = ask("always early rare", true);
    assert_eq!(found.documents, [1_200, 450, 10]);
    assert_eq!(found.rows, 1_000 + 450 + 10 + 460, "counted and ranked");
    assert_eq!(ask("always", false).all.len(), 5);
    assert_eq!(ask("always", true).all.len(), 0);
}

#[test]
fn as_of_a_time_what_began_later_was_not_known() {
    let world = world(&["needle one", "unrelated", "needle three"]);
    let mut question = RecallQuestion::new(parse("needle", 9), &Scope::All);
    question.as_of = Some(Time(2_500));
    let parts = |question: &RecallQuestion<'_>| -> Vec<u32> {
        let hits = recall(&world.store, question).unwrap().hits;
        hits.iter().map(|hit| hit.part).collect()
    };
    assert_eq!(parts(&question), [1]);
    question.as_of = None;
    assert_eq!(parts(&question).len(), 2);
}

#[test]
fn copies_of_a_text_are_one_hit() {
    let mut world = World::new();
    let text: String = (0..80).map(|n| format!("step {n} needs redis\n")).collect();
    let logs = ["a", "b", "c"].map(|name| log(name, "/home/u/app", &[&text]));
    world.commit(&logs);
    let answer = ask(&world, parse("redis", 9));
    assert_eq!((answer.hits.len(), answer.folded), (1, 2));
}

#[test]
fn a_sub_agents_id_finds_the_session_that_it_worked_for() {
    let mut world = World::new();
    let mut logs = [log("a", "/home/u/app", &["x"])];
    for episode in logs.iter_mut().flat_map(|log| &mut log.sealed) {
        episode.stream = Some("agent-1".into());
    }
    world.commit(&logs);
    let found = |id: &str| world.store.session_with_agents(id, None).unwrap();
    assert_eq!(found("agent-1").map(|row| row.session.id), Some("a".into()));
    assert_eq!(found("a").map(|row| row.session.id), Some("a".into()));
    assert_eq!(found("agent"), None);
    assert_eq!(world.store.session("agent-1"), Ok(None));
}

#[test]
fn sessions_are_listed_and_found_by_their_beginning() {
    let mut world = World::new();
    let (one, two) = ("aaaa-1", "aaaa-2");
    world.commit(&[
        log(one, "/home/u/app", &["x", "y"]),
        log(two, "/home/u/b", &["z"]),
    ]);
    let row = world.store.session("aaaa-1").unwrap().unwrap();
    assert_eq!((row.episodes, row.sealed, row.files), (2, 2, 1));
    assert!(world.store.session("aaaa").is_err());
    assert_eq!(world.store.session("b"), Ok(None));
    let app = SessionFilter {
        namespaces: Some(vec![namespace("/home/u/app")]),
        ..SessionFilter::default()
    };
    let listed = world.store.sessions(&app).unwrap();
    assert_eq!(
        listed.iter().map(|r| &*r.session.id).collect::<Vec<_>>(),
        [one]
    );
    let ns = namespace("/home/u/b");
    let projects = world.store.projects(&ns[..8]);
    assert_eq!(projects, Ok(vec![(ns, "/home/u/b".to_string())]));
}

/// Every log that grew asks for its session: looking at all of them made a rebuild of 100,000 logs take
/// half an hour.
#[test]
fn a_session_is_found_by_its_index() {
    let world = world(&["one"]);
    let begins = crate::store::search::sessions::BEGINS.replace("{}", "?1");
    let sql = format!("EXPLAIN QUERY PLAN SELECT s.n FROM session s WHERE {begins}");
    let mut plan = world.store.db.prepare(&sql).unwrap();
    let steps = plan.query_map(["a"], |row| row.get::<_, String>(3));
    let steps: Vec<String> = steps.unwrap().map(Result::unwrap).collect();
    assert!(
        steps.iter().all(|step| step.starts_with("SEARCH s USING")),
        "{steps:?}"
    );
}

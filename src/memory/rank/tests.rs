//! What comes first, of candidates that are made up.

use super::*;
use crate::memory::named_days::named_days;
use crate::model::activity::ActivityTally;
use crate::model::batch::Delta;
use crate::model::source::Agent;
use crate::store::{Evidence, Snippet, Term, TermPosition};
use uuid::Uuid;

const DAY_MS: i64 = 86_400_000;

/// A chunk that has these terms, one after the other.
pub fn chunk(session: &str, part: u32, score: f64, terms: &[usize]) -> SearchCandidate {
    let positions = (0..)
        .zip(terms)
        .map(|(word, term)| TermPosition { term: *term, word });
    SearchCandidate {
        hit: Hit {
            episode: Uuid::from_u64_pair(part.into(), session.len() as u64),
            session: session.into(),
            operation: None,
            title: String::new(),
            session_title: None,
            namespace: String::new(),
            project_path: "/home/u/app".into(),
            agent: Agent::new("claude"),
            source: EpisodeSource::Session,
            stream: None,
            part,
            sealed: true,
            valid_at: Some(Time(400 * DAY_MS)),
            path: String::new(),
            bytes: Delta { from: 0, to: 1 },
            lines: (1, 1),
            score,
            snippet: Snippet::default(),
            activity: ActivityTally::default(),
            confidence: 0.0,
            folded: 0,
            others: Vec::new(),
            similarity: None,
        },
        evidence: Evidence {
            positions: positions.collect(),
            ..Evidence::default()
        },
        names_file: false,
    }
}

fn summary(session: &str, score: f64, terms: &[usize]) -> SearchCandidate {
    let mut summary = chunk(session, 0, score, terms);
    summary.hit.source = EpisodeSource::SessionSummary;
    summary
}

/// Two rare terms and a common one, in a store of a thousand episodes.
pub fn found(all: Vec<SearchCandidate>) -> Candidates {
    let term = |text: &str| Term {
        text: text.into(),
        ..Term::default()
    };
    Candidates {
        all,
        terms: ["redis", "eviction", "file"].map(term).into(),
        documents: vec![5, 5, 700],
        episodes: 1_000,
        rows: 0,
    }
}

fn ranked(all: Vec<SearchCandidate>, near: &Near) -> Vec<(String, u32)> {
    let hits = rank(&found(all), near, 9, true).hits;
    hits.into_iter()
        .map(|hit| (hit.session, hit.part))
        .collect()
}

fn order(all: Vec<SearchCandidate>, near: &Near) -> String {
    let names = ranked(all, near).into_iter().map(|(session, _)| session);
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn words_that_stand_together_and_are_rare_come_first() {
    let far = |mut candidate: SearchCandidate| {
        candidate.evidence.positions[1].word = 500;
        candidate
    };
    let all = vec![
        far(chunk("apart", 1, 5.0, &[0, 1])),
        chunk("common", 1, 5.0, &[0, 2]),
        chunk("together", 1, 5.0, &[0, 1]),
    ];
    assert!(order(all, &Near::default()).starts_with("together"));
}

#[test]
fn what_is_near_comes_first_and_then_what_is_newer() {
    let mut elsewhere = chunk("elsewhere", 1, 5.0, &[0]);
    elsewhere.hit.project_path = "/home/u/other".into();
    let mut named = chunk("named", 1, 5.0, &[0]);
    named.names_file = true;
    let mut old = chunk("old", 1, 5.0, &[0]);
    old.hit.valid_at = Some(Time(0));
    let near = Near {
        project: Some("/home/u/app".into()),
        files: vec!["a.rs".into()],
        days: Vec::new(),
    };
    let all = vec![elsewhere, old, chunk("new", 1, 5.0, &[0]), named];
    assert_eq!(order(all, &near), "named new old elsewhere");
}

#[test]
fn what_was_said_on_a_named_day_comes_first_and_then_what_was_said_soon_after() {
    let on = |id: &str, at: &str| {
        let mut chunk = chunk(id, 1, 5.0, &[0]);
        chunk.hit.valid_at = Time::parse(at);
        chunk
    };
    let all = vec![
        on("later", "2026-08-01T00:00:00Z"),
        on("before", "2026-04-27T00:00:00Z"),
        on("after", "2026-06-03T00:00:00Z"),
        on("then", "2026-05-31T23:00:00Z"),
    ];
    let now = Time::parse("2026-09-01T00:00:00Z").unwrap();
    let near = Near {
        days: named_days("what did we decide in May?", now),
        ..Near::default()
    };
    assert_eq!(order(all, &near), "then after before later");
}

#[test]
fn a_summary_goes_before_its_chunks_that_say_no_more() {
    let all = vec![chunk("a", 4, 6.0, &[0, 1]), summary("a", 2.0, &[0, 1])];
    assert_eq!(ranked(all, &Near::default())[0], ("a".into(), 0));
    let all = vec![chunk("a", 4, 6.0, &[0, 1]), summary("a", 2.0, &[0])];
    assert_eq!(ranked(all, &Near::default())[0], ("a".into(), 4));
}

#[test]
fn neighbours_and_copies_are_folded_and_counted() {
    let all = vec![
        chunk("a", 4, 6.0, &[0, 1]),
        chunk("a", 5, 5.0, &[0]),
        chunk("a", 6, 4.0, &[0]),
        chunk("a", 9, 3.0, &[0]),
    ];
    let hits = rank(&found(all.clone()), &Near::default(), 9, true).hits;
    let told: Vec<(u32, u32)> = hits.iter().map(|hit| (hit.part, hit.folded)).collect();
    assert_eq!(told, [(4, 2), (9, 0)]);
    let hits = rank(&found(all), &Near::default(), 9, false).hits;
    assert_eq!(hits.len(), 4);
}

#[test]
fn operations_of_one_project_answer_each_for_itself() {
    let operation = |n: u64, terms: &[usize]| {
        let mut one = chunk("git-0123", 1, 6.0, terms);
        one.hit.episode = Uuid::from_u64_pair(n, n);
        one.hit.operation = Some(one.hit.episode);
        one.hit.source = EpisodeSource::GitMetadata;
        one
    };
    let confidence = |all: Vec<SearchCandidate>| {
        let hits = rank(&found(all), &Near::default(), 9, false).hits;
        hits.iter().map(|hit| hit.confidence).fold(0.0, f64::max)
    };
    let one = confidence(vec![operation(1, &[0])]);
    let each = confidence(vec![
        operation(1, &[0]),
        operation(2, &[1]),
        operation(3, &[2]),
    ]);
    assert!(each <= one, "{each} > {one}: together they know no more");
}

#[test]
fn several_hits_of_one_session_make_room_for_another() {
    let all = vec![
        chunk("a", 1, 6.0, &[0, 1]),
        chunk("a", 5, 5.9, &[0, 1]),
        chunk("b", 1, 5.0, &[0, 1]),
    ];
    assert_eq!(order(all, &Near::default()), "a b a");
}

#[test]
fn it_is_sure_of_rare_words_together_and_not_of_a_common_one() {
    let confidence =
        |all: Vec<SearchCandidate>| rank(&found(all), &Near::default(), 9, true).hits[0].confidence;
    let both = confidence(vec![
        chunk("a", 1, 9.0, &[0, 1, 2]),
        chunk("b", 1, 1.0, &[2]),
    ]);
    let common = confidence(vec![chunk("a", 1, 0.4, &[2]), chunk("b", 1, 0.4, &[2])]);
    assert!(both > CONFIDENT && common < CONFIDENT, "{both} {common}");
}

#[test]
fn in_a_store_of_one_episode_it_is_sure_of_all_words_and_not_of_one() {
    let confidence = |has: &[usize], documents: Vec<u64>| {
        let found = Candidates {
            documents,
            episodes: 1,
            ..found(vec![chunk("a", 1, 1e-6, has)])
        };
        rank(&found, &Near::default(), 9, true).hits[0].confidence
    };
    let all = confidence(&[0, 1, 2], vec![1, 1, 1]);
    let one = confidence(&[0], vec![1, 0, 0]);
    assert!(all > CONFIDENT && one < CONFIDENT, "{all} {one}");
}

#[test]
fn the_names_of_its_project_say_little() {
    let named = |path: &str| {
        let mut one = chunk("a", 1, 6.0, &[0]);
        one.hit.project_path = path.into();
        rank(&found(vec![one]), &Near::default(), 9, true).hits[0].confidence
    };
    assert!(named("/home/u/redis") < named("/home/u/app"));
}

#[test]
fn a_product_that_the_question_names_has_to_be_named() {
    let confidence = |named: &str, has: &[usize]| {
        let mut found = Candidates {
            episodes: 200,
            documents: vec![2, 3, 4],
            ..found(vec![chunk("a", 1, 12.0, has)])
        };
        found.terms[2].text = named.into();
        rank(&found, &Near::default(), 9, true).hits[0].confidence
    };
    assert!(confidence("wording", &[0, 1]) > CONFIDENT);
    assert!(confidence("kafka", &[0, 1]) < CONFIDENT);
    assert!(confidence("Kafka", &[0, 1, 2]) > CONFIDENT);
}

#[test]
fn of_a_small_store_and_a_large_one_something_between_is_judged_between() {
    let at = |episodes: u64| {
        let one = Grounds {
            score: 2.0,
            covered: 0.5,
            close: 2,
            together: 1,
            is_whole: false,
            lacks_a_name: false,
            grown: grown(episodes),
            ahead: 0.2,
        };
        one.confidence()
    };
    assert!(at(1) == at(10) && at(100) == at(100_000));
    let (small, between, large) = (at(10), at(30), at(100));
    assert!(small.min(large) < between && between < small.max(large));
}

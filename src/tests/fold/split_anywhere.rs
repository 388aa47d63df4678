//! Invariant 3, "when does not matter": however a log is cut into batches, and whenever a run ends
//! and the next one reads on from what it stored, the episodes are the same, and say everything
//! once.

use super::*;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Act {
    Prompt { words: usize, via: PromptOrigin },
    Said { group: u64, words: usize },
    Unbroken { chars: usize },
    Silent { group: u64 },
    Call { id: u8 },
    Result { id: u8 },
    Enqueue { text: u8 },
    Delivered { text: u8, via: PromptOrigin },
    Queue(Queue),
    Fact(Fact),
    Failure,
    SameLine,
    Timeless,
    Nameless,
    Later { minutes: i64 },
    Within { stream: u8 },
}

fn act() -> impl Strategy<Value = Act> {
    let words = prop_oneof![3 => 1..12usize, 1 => 12..200usize];
    let via = prop_oneof![4 => Just(PromptOrigin::Typed), 1 => Just(PromptOrigin::Agent)];
    let ops = prop_oneof![
        Just(Queue::Dequeue),
        Just(Queue::Remove),
        Just(Queue::PopAll),
        (0..3u8).prop_map(|t| Queue::RemoveText(format!("queued {t}"))),
    ];
    let facts = prop_oneof![
        Just(Fact::Compaction),
        Just(Fact::Interrupted),
        Just(Fact::TurnEnd(None)),
        Just(Fact::TurnEnd(Some(700))),
    ];
    prop_oneof![
        4 => (words.clone(), via).prop_map(|(words, via)| Act::Prompt { words, via }),
        6 => (0..6u64, words).prop_map(|(group, words)| Act::Said { group, words }),
        1 => (1..400usize).prop_map(|chars| Act::Unbroken { chars }),
        2 => (0..6u64).prop_map(|group| Act::Silent { group }),
        4 => (0..4u8).prop_map(|id| Act::Call { id }),
        5 => (0..4u8).prop_map(|id| Act::Result { id }),
        2 => (0..3u8).prop_map(|text| Act::Enqueue { text }),
        1 => (0..3u8).prop_map(|text| Act::Delivered { text, via: PromptOrigin::Queued }),
        1 => (0..3u8).prop_map(|text| Act::Delivered { text, via: PromptOrigin::Typed }),
        2 => ops.prop_map(Act::Queue),
        1 => facts.prop_map(Act::Fact),
        1 => Just(Act::Failure),
        3 => Just(Act::SameLine),
        2 => Just(Act::Timeless),
        2 => Just(Act::Nameless),
        3 => (-20..20i64).prop_map(|minutes| Act::Later { minutes }),
        4 => (0..4u8).prop_map(|stream| Act::Within { stream }),
    ]
}

/// Words that no other text has, with all kinds of white space between them.
fn words(n: usize, count: usize) -> String {
    let gaps = [" ", " ", "\n", " ", "\n\n", "  ", "\n \n"];
    let mut text = String::new();
    for word in 0..count {
        if word > 0 {
            text.push_str(gaps[(n + word * 3) % gaps.len()]);
        }
        text.push_str(&format!("w{n}.{word}é"));
    }
    text
}

/// The log, and every word that has to be told exactly once.
fn log_of(acts: &[Act]) -> (Log, Vec<String>, usize) {
    let (mut log, mut told, mut unbroken) = (Log::default(), Vec::new(), 0);
    for (n, act) in acts.iter().enumerate() {
        match act.clone() {
            Act::Prompt { words: count, via } => {
                told.push(words(n, count));
                log.words(&words(n, count), via);
            }
            Act::Said {
                group,
                words: count,
            } => {
                told.push(words(n, count));
                log.of_message(group, n as u64).said(&words(n, count));
            }
            Act::Unbroken { chars } => {
                unbroken += chars;
                log.said(&"ü".repeat(chars));
            }
            Act::Silent { group } => drop(log.of_message(group, n as u64).silent()),
            Act::Call { id } => drop(log.call(&id.to_string(), "Edit", &format!("f{n}"))),
            Act::Result { id } => drop(log.result(&id.to_string())),
            Act::Enqueue { text } => drop(log.enqueue(&format!("queued {text}"))),
            Act::Delivered { text, via } => drop(log.words(&format!("queued {text}"), via)),
            Act::Queue(op) => drop(log.queue(op)),
            Act::Fact(fact) => drop(log.fact(fact)),
            Act::Failure => drop(log.push(EntryKind::Failure("overloaded".into()))),
            Act::SameLine => same_line_and_stream(&mut log),
            Act::Timeless => drop(log.timeless()),
            Act::Nameless => {
                if let Some(last) = log.entries.last_mut().filter(|e| e.nth == 0) {
                    last.id = Identity::None;
                }
            }
            Act::Later { minutes } => drop(log.later(minutes)),
            Act::Within { stream } => {
                let names = ["", "", "side-1", "side-2"];
                log.within(names[usize::from(stream)]);
            }
        }
    }
    let told = told
        .iter()
        .flat_map(|t| t.split_whitespace())
        .map(str::to_owned);
    (log, told.collect(), unbroken)
}

/// A record is of one stream.
fn same_line_and_stream(log: &mut Log) {
    if let [.., before, last] = &log.entries[..]
        && before.context.stream == last.context.stream
    {
        log.same_line();
    }
}

/// The first entry at or after a byte.
fn index_at(entries: &[Entry], offset: u64) -> usize {
    entries.partition_point(|e| e.place.offset < offset)
}

fn at_once(log: &Log, options: ChunkOptions) -> Vec<Episode> {
    episodes_with(log, options)
}

fn in_batches(log: &Log, options: ChunkOptions, cuts: &[u64]) -> Vec<Episode> {
    let mut folds = Folds::new(options);
    let mut from = 0;
    for cut in cuts.iter().map(|c| c * 100).chain([u64::MAX]) {
        let to = index_at(&log.entries, cut).max(from);
        folds.feed(&log.entries[from..to]);
        folds.tail();
        from = to;
    }
    folds.episodes()
}

/// Each cut is the end of a run, or of what a run commits before it has read everything that was
/// read before.
fn in_runs(log: &Log, options: ChunkOptions, cuts: &[u64]) -> Vec<Episode> {
    let mut folds = Folds::new(options);
    let mut from = 0;
    for cut in cuts.iter().map(|c| c * 100).chain([u64::MAX]) {
        let to = index_at(&log.entries, cut).max(from);
        folds.feed(&log.entries[from..to]);
        let tail = folds.tail();
        from = index_at(&log.entries, folds.resume());
        let line = log.entries.get(from).map(|e| e.place.line);
        assert_eq!(line.unwrap_or(tail.line + 1), tail.line + 1);
    }
    folds.feed(&log.entries[from..]);
    folds.episodes()
}

fn check(acts: &[Act], options: ChunkOptions, cuts: &[u64]) -> Result<(), TestCaseError> {
    let (log, told, unbroken) = log_of(acts);
    let wants = at_once(&log, options);
    prop_assert_eq!(&in_batches(&log, options, cuts), &wants);
    let mut in_order = cuts.to_vec();
    in_order.sort_unstable();
    prop_assert_eq!(&in_batches(&log, options, &in_order), &wants);
    prop_assert_eq!(&in_runs(&log, options, &in_order), &wants);
    prop_assert_eq!(&in_runs(&log, options, cuts), &wants);
    let bodies: Vec<&str> = wants.iter().map(|e| &*e.text).collect();
    let all = bodies.join("\n");
    let mut found: Vec<&str> = all
        .split_whitespace()
        .filter(|w| w.ends_with('é'))
        .collect();
    let mut told: Vec<&str> = told.iter().map(|w| &**w).collect();
    found.sort_unstable();
    told.sort_unstable();
    prop_assert_eq!(found, told);
    prop_assert_eq!(all.matches('ü').count(), unbroken);
    let max = options.max_tokens as usize * 4;
    prop_assert!(bodies.iter().all(|b| b.len() <= max && !b.is_empty()));
    let mut ids: Vec<_> = wants.iter().map(|e| e.id).collect();
    ids.sort_unstable();
    ids.dedup();
    prop_assert_eq!(ids.len(), wants.len());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn runs_at_any_time_give_the_same_episodes_as_one_at_the_end(
        acts in prop::collection::vec(act(), 0..70),
        cuts in prop::collection::vec(0..70u64, 0..6),
        max_tokens in 30..120u64,
        max_exchanges in 1..4u32,
    ) {
        let options = ChunkOptions { max_exchanges, max_tokens, ..ChunkOptions::default() };
        check(&acts, options, &cuts)?;
    }
}

#[test]
fn the_carry_stays_small_however_long_the_log_is() {
    let mut log = Log::default();
    for i in 0..2_000 {
        let id = i.to_string();
        log.prompt("go on, please")
            .of_message(i, 5)
            .said("I am looking into it")
            .call(&id, "Read", "src/lib.rs")
            .enqueue(&format!("also {id}"));
        if i % 3 > 0 {
            log.result(&id).queue(Queue::Remove);
        }
    }
    let mut folds = Folds::new(ChunkOptions::default());
    folds.feed(&log.entries);
    let bytes = value_bytes(&folds.tail().resume_state);
    // before and after the open tail
    assert!(bytes < 2 * 8_000, "{bytes}");
}

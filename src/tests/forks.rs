//! Forks are told, whenever and in whichever order runs meet them: trees of sessions as Claude Code
//! writes them, brought to a store file by file and part by part.
//!
//! The judge is the tree itself, and a cold run for what depends on nothing but it.

use super::growth::lines::{Pen, markers};
use super::growth::model::{answered, origins};
use super::home::Home;
use crate::store::Access;
use anyhow::{Result, ensure};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// How a fork says that it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// Its head was written when it was forked: `--fork-session`.
    Head,
    /// Each copy names its origin: `/branch`.
    Stated,
    /// The same, and copies have names of their own: the SDK.
    Renamed,
    /// It doesn't, and its origin never goes on.
    None,
}

/// What happens to a tree of sessions.
#[derive(Clone, Debug)]
enum Event {
    /// A session goes on, with so many tools.
    Turn { log: usize, tools: usize },
    /// It is forked after so much of it, and the fork goes on.
    Fork { log: usize, sixteenths: usize },
}

/// Of a log so much is there when the next run comes.
#[derive(Clone, Debug)]
struct Part {
    log: usize,
    sixteenths: usize,
}

#[derive(Clone)]
struct Log {
    session: String,
    origin: Option<usize>,
    lines: Vec<String>,
    /// Markers of its own lines.
    own: BTreeSet<String>,
    has_ended: bool,
}

struct Tree {
    mark: Mark,
    logs: Vec<Log>,
    at: i64,
    number: u32,
}

impl Tree {
    fn grown(mark: Mark, events: &[Event]) -> Tree {
        let mut tree = Tree {
            mark,
            logs: Vec::new(),
            at: 1_772_445_600_000,
            number: 0,
        };
        tree.begin(None);
        tree.turn(0, 1);
        for event in events {
            match *event {
                Event::Turn { log, tools } => tree.turn(log % tree.logs.len(), tools),
                Event::Fork { log, sixteenths } => tree.fork(log % tree.logs.len(), sixteenths),
            }
        }
        tree
    }

    /// Names run backwards, so that they tell nothing.
    fn begin(&mut self, origin: Option<usize>) -> usize {
        let nth = self.logs.len();
        self.logs.push(Log {
            session: format!("11111111-1111-4111-8111-{:012}", 99 - nth),
            origin,
            lines: Vec::new(),
            own: BTreeSet::new(),
            has_ended: false,
        });
        if self.mark == Mark::Head {
            let time = self.pen(nth).time();
            let session = &self.logs[nth].session;
            let line = |operation: &str| {
                json!({"type": "queue-operation", "operation": operation, "timestamp": time,
                    "sessionId": session})
                .to_string()
            };
            self.logs[nth].lines = vec![line("enqueue"), line("dequeue")];
        }
        nth
    }

    fn pen(&mut self, log: usize) -> Pen {
        self.number += 1;
        self.at += 1_000;
        Pen {
            session: self.logs[log].session.clone(),
            stream: None,
            at: self.at,
            number: self.number,
        }
    }

    fn write(&mut self, log: usize, line: fn(&Pen) -> String) {
        let line = line(&self.pen(log));
        let log = &mut self.logs[log];
        log.own.extend(markers(&line).map(str::to_owned));
        log.lines.push(line);
    }

    fn turn(&mut self, log: usize, tools: usize) {
        if self.logs[log].has_ended {
            return;
        }
        self.write(log, Pen::claude_prompt);
        for _ in 0..tools {
            self.write(log, Pen::claude_call);
            self.write(log, Pen::claude_result);
        }
        self.write(log, Pen::claude_answer);
    }

    fn fork(&mut self, of: usize, sixteenths: usize) {
        // a renamed copy of a renamed copy doesn't say what it was called first
        if self.logs.len() >= 5 || self.mark == Mark::Renamed && self.logs[of].origin.is_some() {
            return;
        }
        let records = self.records(of);
        let copied = match self.mark {
            Mark::None => records.len(),
            _ => 1 + (records.len() - 1) * sixteenths / 16,
        };
        let fork = self.begin(Some(self.tells(of, copied)));
        self.logs[of].has_ended = self.mark == Mark::None;
        for (n, mut line) in records.into_iter().take(copied).enumerate() {
            line["sessionId"] = self.logs[fork].session.clone().into();
            if matches!(self.mark, Mark::Stated | Mark::Renamed) {
                let origin = self.logs[of].session.clone();
                line["forkedFrom"] = json!({"sessionId": origin, "messageUuid": line["uuid"]});
            }
            if self.mark == Mark::Renamed {
                line["uuid"] = format!("0000000{fork}-1111-4111-8111-{n:012}").into();
            }
            self.logs[fork].lines.push(line.to_string());
        }
        self.turn(fork, sixteenths % 2);
    }

    fn records(&self, log: usize) -> Vec<Value> {
        let lines = self.logs[log].lines.iter();
        let lines = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.filter(|line| line["uuid"].is_string()).collect()
    }

    /// The origin that a copy of so many records tells: where none is stated, nothing says that a
    /// copy of a copy wasn't made of the first.
    fn tells(&self, of: usize, copied: usize) -> usize {
        let stated = matches!(self.mark, Mark::Stated | Mark::Renamed);
        let ids = |log| {
            self.records(log)
                .into_iter()
                .map(|mut line| line["uuid"].take())
        };
        let has_all = |first: &usize| ids(*first).take(copied).eq(ids(of).take(copied));
        match self.logs[of].origin.filter(has_all) {
            Some(first) if !stated => self.tells(first, copied),
            _ => of,
        }
    }

    fn put(&self, home: &Home, log: usize, sixteenths: usize) -> Result<()> {
        let log = &self.logs[log];
        let lines = log.lines.len() * sixteenths.min(16) / 16;
        let text: String = log.lines[..lines]
            .iter()
            .map(|l| format!("{l}\n"))
            .collect();
        let below = format!(".claude/projects/-home-ada-shop/{}.jsonl", log.session);
        home.put(&below, text.as_bytes()).map(drop)
    }

    fn put_all(&self, home: &Home) -> Result<()> {
        (0..self.logs.len()).try_for_each(|log| self.put(home, log, 16))
    }

    /// Each session's origin.
    fn truth(&self) -> BTreeMap<String, Option<String>> {
        let origin = |log: &Log| log.origin.map(|of| self.logs[of].session.clone());
        let each = self.logs.iter();
        each.map(|log| (log.session.clone(), origin(log))).collect()
    }
}

/// Texts by session.
fn texts(home: &Home) -> Result<BTreeMap<String, String>> {
    let store = home.store(Access::ReadOnly)?;
    let mut texts = BTreeMap::new();
    for row in store.sessions(&Default::default())? {
        let id = row.session.id;
        let episodes = store.episodes(&id)?.into_iter();
        let text: Vec<String> = episodes.map(|found| found.episode.text).collect();
        texts.insert(id, text.join("\n"));
    }
    Ok(texts)
}

fn check(mark: Mark, events: &[Event], parts: &[Part]) -> Result<()> {
    let tree = Tree::grown(mark, events);
    let truth = tree.truth();
    let cold = Home::new(None)?;
    tree.put_all(&cold)?;
    cold.run()?;
    ensure!(
        origins(&cold)? == truth,
        "cold: {:#?}\n{truth:#?}",
        origins(&cold)?
    );
    let wanted = texts(&cold)?;
    for log in &tree.logs {
        let has: BTreeSet<&str> = markers(&wanted[&log.session]).collect();
        let is_its = log.own.iter().all(|own| has.contains(own.as_str()));
        ensure!(
            is_its,
            "{} lacks own words: {has:?} {:?}",
            log.session,
            log.own
        );
    }
    let home = Home::new(None)?;
    for part in parts {
        tree.put(&home, part.log % tree.logs.len(), part.sixteenths)?;
        home.run()?;
    }
    tree.put_all(&home)?;
    home.run()?;
    ensure!(
        origins(&home)? == truth,
        "runs: {:#?}\n{truth:#?}",
        origins(&home)?
    );
    let again = home.run()?;
    ensure!((again.files_read, again.bytes_read) == (0, 0), "{again:?}");
    let came = texts(&home)?;
    let count = |texts: &BTreeMap<String, String>| {
        let all: Vec<String> = texts
            .values()
            .flat_map(|t| markers(t))
            .map(String::from)
            .collect();
        all.into_iter().filter(|m| m.starts_with("m-")).fold(
            BTreeMap::<String, usize>::new(),
            |mut counts, marker| {
                *counts.entry(marker).or_default() += 1;
                counts
            },
        )
    };
    ensure!(count(&came) == count(&wanted), "{came:#?}\n{wanted:#?}");
    ensure!(
        answered(&home)? == answered(&cold)?,
        "{came:#?}\n{wanted:#?}"
    );
    let deep = match parts.len() % 4 {
        0 => home.looked_at_deeply()?,
        _ => Vec::new(),
    };
    let differs = deep.iter().any(|said| said.contains("stored otherwise"));
    ensure!(!differs, "{deep:?}");
    home.rebuild()?;
    ensure!(
        origins(&home)? == truth,
        "rebuilt: {:#?}\n{truth:#?}",
        origins(&home)?
    );
    Ok(())
}

/// Trees of sessions, and how their logs come to a store: grown parts, never shorter ones.
fn any() -> impl Strategy<Value = (Mark, Vec<Event>, Vec<Part>)> {
    let mark = prop::sample::select(vec![Mark::Head, Mark::Stated, Mark::Renamed, Mark::None]);
    let event = prop_oneof![
        (0..5usize, 0..3usize).prop_map(|(log, tools)| Event::Turn { log, tools }),
        (0..5usize, 0..17usize).prop_map(|(log, sixteenths)| Event::Fork { log, sixteenths }),
    ];
    let part = (0..5usize, 1..17usize).prop_map(|(log, sixteenths)| Part { log, sixteenths });
    let parts = prop::collection::vec(part, 0..6);
    (mark, prop::collection::vec(event, 1..8), parts).prop_map(|(mark, events, mut parts)| {
        let logs = Tree::grown(mark, &events).logs.len();
        let mut there = BTreeMap::<usize, usize>::new();
        for part in &mut parts {
            let most = there.entry(part.log % logs).or_default();
            *most = part.sixteenths.max(*most);
            part.sixteenths = *most;
        }
        (mark, events, parts)
    })
}

#[test]
fn forks_are_told_in_whatever_order_they_are_met() {
    let cases = std::env::var("FORK_CASES")
        .ok()
        .and_then(|n| n.parse().ok());
    let config = Config {
        cases: cases.unwrap_or(60),
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let outcome = runner.run(&any(), |(mark, events, parts)| {
        check(mark, &events, &parts).map_err(|why| TestCaseError::fail(format!("{why:#}")))
    });
    outcome.unwrap_or_else(|failed| panic!("{failed}"));
}

/// The real case: the origin in one run, its fork in the next, and then the origin goes on.
#[test]
fn an_origin_that_goes_on_after_its_fork_stays_the_origin() -> Result<()> {
    let events = [
        Event::Fork {
            log: 0,
            sixteenths: 16,
        },
        Event::Turn { log: 0, tools: 1 },
        Event::Turn { log: 1, tools: 1 },
    ];
    for mark in [Mark::Head, Mark::Stated, Mark::Renamed] {
        for log in [0, 1] {
            check(
                mark,
                &events,
                &[Part {
                    log,
                    sixteenths: 16,
                }],
            )?;
        }
    }
    Ok(())
}

/// A fork that was written while a tool ran, and is read before its origin.
#[test]
fn a_call_keeps_its_name_where_its_fork_is_read_first() -> Result<()> {
    // the prompt and the call, of four records
    let events = [Event::Fork {
        log: 0,
        sixteenths: 6,
    }];
    for mark in [Mark::Head, Mark::Stated, Mark::Renamed] {
        check(
            mark,
            &events,
            &[Part {
                log: 1,
                sixteenths: 16,
            }],
        )?;
    }
    Ok(())
}

/// Heads say whose history it is: nothing is read for that but them.
#[test]
fn where_heads_tell_no_log_is_read_twice() -> Result<()> {
    let mut events = vec![Event::Turn { log: 0, tools: 2 }; 100];
    events.push(Event::Fork {
        log: 0,
        sixteenths: 16,
    });
    let tree = Tree::grown(Mark::Head, &events);
    let home = Home::new(None)?;
    tree.put_all(&home)?;
    let bytes = |log: &Log| {
        log.lines
            .iter()
            .map(|line| line.len() as u64 + 1)
            .sum::<u64>()
    };
    let size: u64 = tree.logs.iter().map(bytes).sum();
    let read = home.run()?.bytes_read;
    ensure!(size > 200_000 && read < size * 5 / 4, "{read} of {size}");
    Ok(())
}

/// Real logs, one after the other in another order than a cold run's.
#[test]
#[ignore = "minutes: all logs of the corpus, twice"]
fn measure_calls_of_the_corpus_in_another_order() -> Result<()> {
    let corpus = std::env::var_os("CORPUS_DIR").map_or_else(
        || std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus"),
        std::path::PathBuf::from,
    );
    let home = corpus.join("home");
    let files = walkdir::WalkDir::new(&home).sort_by_file_name().into_iter();
    let files = files
        .filter_map(Result::ok)
        .filter(|f| f.file_type().is_file());
    let mut files: Vec<_> = files.map(|file| file.into_path()).collect();
    let put = |to: &Home, file: &std::path::PathBuf| {
        let below = file.strip_prefix(&home)?.to_string_lossy().into_owned();
        to.put(&below, &std::fs::read(file)?).map(drop)
    };
    let (cold, runs) = (Home::new(None)?, Home::new(None)?);
    files.iter().try_for_each(|file| put(&cold, file))?;
    cold.run()?;
    files.reverse();
    for some in files.chunks(files.len().div_ceil(12).max(1)) {
        some.iter().try_for_each(|file| put(&runs, file))?;
        runs.run()?;
    }
    let (came, wanted) = (answered(&runs)?, answered(&cold)?);
    let only = |a: &[String], b: &[String]| {
        let has: BTreeSet<&String> = b.iter().collect();
        a.iter()
            .filter(|line| !has.contains(line))
            .cloned()
            .collect::<Vec<_>>()
    };
    println!(
        "{} digests; {:#?} {:#?}",
        wanted.len(),
        only(&came, &wanted),
        only(&wanted, &came)
    );
    println!(
        "{:#?}",
        origins(&runs)?
            .into_iter()
            .filter(|o| o.1.is_some())
            .collect::<Vec<_>>()
    );
    ensure!(origins(&runs)? == origins(&cold)?, "origins differ");
    ensure!(came == wanted, "digests differ");
    Ok(())
}

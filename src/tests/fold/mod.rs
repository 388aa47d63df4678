//! The two folds together, `filter` then `chunk`, over logs made of literals. Knows how a test
//! spells a log.

mod boundaries;
mod corpus;
mod linking;
mod plain_dialect;
mod split_anywhere;
mod work_time;

use crate::model::batch::Batch;
use crate::model::entry::{
    Call, Context, Entry, EntryKind, Excerpt, Fact, Identity, Message, PromptOrigin, Queue,
    ToolResult,
};
use crate::model::episode::Episode;
use crate::model::policy::{ChunkOptions, FilterPolicy};
use crate::model::resume_state::ResumeState;
use crate::model::source::Span;
use crate::model::time::Time;
use crate::model::usage::Usage;
use crate::stages::chunk::{ChunkState, Tail, chunk};
use crate::stages::filter::{FilterState, filter};
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

const MINUTE: i64 = 60_000;

/// A log under construction: each entry is a line of 100 bytes, a second after the one before.
#[derive(Clone, Default)]
struct Log {
    entries: Vec<Entry>,
    now_ms: i64,
    stream: Option<String>,
    message: Option<Message>,
}

impl Log {
    fn push(&mut self, what: EntryKind) -> &mut Self {
        let line = self.entries.last().map_or(1, |e| e.place.line + 1);
        let place = Span {
            offset: (line - 1) * 100,
            bytes: 99,
            line,
        };
        self.now_ms += 1_000;
        self.entries.push(Entry {
            place,
            nth: 0,
            id: Identity::Own(Uuid::from_u128(u128::from(line))),
            time: Some(Time(self.now_ms)),
            context: Arc::new(Context {
                session: Some("session".into()),
                stream: self.stream.clone(),
                ..Context::default()
            }),
            message: self.message.take(),
            what,
        });
        self
    }

    /// The last entry stands on the line of the one before.
    fn same_line(&mut self) -> &mut Self {
        if let [.., before, last] = &mut self.entries[..] {
            last.place = before.place;
            last.nth = before.nth + 1;
            last.id = before.id;
        }
        self
    }

    /// The last entry has no time.
    fn timeless(&mut self) -> &mut Self {
        if let Some(last) = self.entries.last_mut() {
            last.time = None;
        }
        self
    }

    fn later(&mut self, minutes: i64) -> &mut Self {
        self.now_ms += minutes * MINUTE;
        self
    }

    /// From here on, in this sub-agent's stream, or with `""` in the main one.
    fn within(&mut self, stream: &str) -> &mut Self {
        self.stream = Some(stream.to_owned()).filter(|s| !s.is_empty());
        self
    }

    /// The next entry is a line of this message, which states so much output.
    fn of_message(&mut self, group: u64, output: u64) -> &mut Self {
        let usage = Usage {
            output,
            ..Usage::default()
        };
        self.message = Some(Message {
            group,
            model: None,
            usage: Some(usage),
            long: false,
        });
        self
    }

    fn prompt(&mut self, text: &str) -> &mut Self {
        self.words(text, PromptOrigin::Typed)
    }

    fn words(&mut self, text: &str, via: PromptOrigin) -> &mut Self {
        let text = text.to_owned();
        self.push(EntryKind::Prompt { text, via })
    }

    fn said(&mut self, text: &str) -> &mut Self {
        self.push(EntryKind::Said(text.to_owned()))
    }

    fn silent(&mut self) -> &mut Self {
        self.push(EntryKind::Noise("thinking".into()))
    }

    fn call(&mut self, id: &str, tool: &str, path: &str) -> &mut Self {
        self.push(EntryKind::Call(Call {
            id: id.to_owned(),
            tool: tool.to_owned(),
            input: json!({ "path": path }),
        }))
    }

    fn result(&mut self, id: &str) -> &mut Self {
        self.push(EntryKind::Result(ToolResult {
            call: id.to_owned(),
            output: Excerpt::of("one\ntwo\n"),
            ..ToolResult::default()
        }))
    }

    fn queue(&mut self, op: Queue) -> &mut Self {
        self.push(EntryKind::Queue(op))
    }

    fn enqueue(&mut self, text: &str) -> &mut Self {
        self.queue(Queue::Enqueue(text.to_owned()))
    }

    fn fact(&mut self, fact: Fact) -> &mut Self {
        self.push(EntryKind::Fact(fact))
    }
}

/// The two folds and what they sealed.
struct Folds {
    policy: FilterPolicy,
    options: ChunkOptions,
    filter: FilterState,
    chunk: ChunkState,
    sealed: Vec<Episode>,
    end: (u64, u64),
}

impl Folds {
    fn new(options: ChunkOptions) -> Folds {
        Folds {
            policy: FilterPolicy::default(),
            options,
            filter: FilterState::default(),
            chunk: ChunkState::default(),
            sealed: Vec::new(),
            end: (0, 0),
        }
    }

    fn feed(&mut self, entries: &[Entry]) {
        if let Some(last) = entries.last() {
            self.end = (last.place.offset + 100, last.place.line);
        }
        let batch = Batch::<Entry>::default().with(entries.to_vec());
        let exchanges = filter(batch, &self.policy, &Default::default(), &mut self.filter);
        let episodes = chunk(exchanges, &self.options, &mut self.chunk);
        self.sealed.extend(episodes.items);
    }

    fn tail(&self) -> Tail {
        self.chunk
            .tail(self.end, &Context::default(), &self.filter, &self.filter)
    }

    /// Drops all state but the stored carry, and reads on at the offset that it returns.
    fn resume(&mut self) -> u64 {
        let tail = self.tail();
        let stored = serde_json::to_string(&tail.resume_state).unwrap();
        let resume_state: ResumeState = serde_json::from_str(&stored).unwrap();
        assert_eq!(resume_state, tail.resume_state);
        self.filter = FilterState::resume(&resume_state);
        self.chunk = ChunkState::resume(&resume_state);
        self.end = (tail.from, tail.line);
        tail.from
    }

    fn episodes(self) -> Vec<Episode> {
        let open = self.tail().open;
        self.sealed.into_iter().chain(open).collect()
    }
}

fn episodes_with(log: &Log, options: ChunkOptions) -> Vec<Episode> {
    let mut folds = Folds::new(options);
    folds.feed(&log.entries);
    folds.episodes()
}

fn episodes(log: &Log) -> Vec<Episode> {
    episodes_with(log, ChunkOptions::default())
}

/// The texts of all episodes.
fn texts(log: &Log) -> Vec<String> {
    episodes(log).into_iter().map(|e| e.text).collect()
}

/// The text of the only episode.
fn text(log: &Log) -> String {
    let texts = texts(log);
    assert_eq!(texts.len(), 1, "{texts:#?}");
    texts.concat()
}

fn value_bytes(value: &impl serde::Serialize) -> usize {
    serde_json::to_value(value)
        .map(|v: Value| v.to_string().len())
        .unwrap_or_default()
}

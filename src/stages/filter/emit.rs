//! Items and the pieces of exchanges they make up. Knows labels, markers for what the policy leaves
//! out, and what every item has to carry.

use crate::model::activity::ActivityTally;
use crate::model::entry::{Context, Entry, Identity, PromptOrigin};
use crate::model::exchange::{Exchange, Item, ItemKind, LEFT_OUT, Resume, ToolUse};
use crate::model::fold::StreamFold;
use crate::model::policy::{FilterPolicy, Keep};
use crate::model::source::Span;
use crate::model::time::Time;
use crate::rules::secrets::Redactor;
use std::sync::Arc;
use uuid::Uuid;

/// Of the ids of records that have none: UUIDv5 in this namespace of session, NUL, stream, NUL,
/// decimal offset. The value is UUIDv5 (URL) of `urn:sessionmill:record`. Changing it makes every
/// Codex-bare and bookkeeping record another one.
const RECORD_IDS: Uuid = Uuid::from_u128(0x5189_f3c3_d406_5686_bcfd_0638_88c6_5ea2);

/// Where an item comes from.
pub(super) struct At<'a> {
    pub place: Span,
    /// Its own, or else the last one seen in the stream.
    pub time: Option<Time>,
    pub context: &'a Arc<Context>,
    identity: Identity,
    quiet_since: Option<Time>,
    stream: &'a Option<String>,
    foreign: bool,
}

impl<'a> At<'a> {
    pub(super) fn of(entry: &'a Entry, fold: &StreamFold) -> At<'a> {
        At {
            place: entry.place,
            time: entry.time.or(fold.carry.last),
            context: &entry.context,
            identity: entry.id,
            quiet_since: fold.carry.latest,
            stream: &entry.context.stream,
            foreign: false,
        }
    }

    /// The same record, seen from another stream that it ends: its items there have ids of their own.
    pub(super) fn inside(self, stream: &'a Option<String>) -> At<'a> {
        At {
            stream,
            foreign: true,
            ..self
        }
    }

    /// The same record at another time, where one is given.
    pub(super) fn timed(&self, time: Option<Time>) -> At<'a> {
        At {
            time: time.or(self.time),
            ..*self
        }
    }

    fn id(&self) -> Uuid {
        let stream = self.stream.as_deref().unwrap_or_default();
        match self.identity {
            Identity::Own(id) | Identity::Nth(id) if self.foreign => {
                Uuid::new_v5(&id, stream.as_bytes())
            }
            Identity::Own(id) | Identity::Nth(id) => id,
            Identity::None => {
                let session = self.context.session.as_deref().unwrap_or_default();
                let name = format!("{session}\0{stream}\0{}", self.place.offset);
                Uuid::new_v5(&RECORD_IDS, name.as_bytes())
            }
        }
    }
}

/// What a batch gave so far.
pub(super) struct Out<'a> {
    pub policy: &'a FilterPolicy,
    pub redactor: &'a Redactor,
    pub exchanges: Vec<Exchange>,
}

impl<'a> Out<'a> {
    pub(super) fn new(policy: &'a FilterPolicy, redactor: &'a Redactor) -> Out<'a> {
        Out {
            policy,
            redactor,
            exchanges: Vec::new(),
        }
    }

    /// A prompt that opens an exchange. Left out, its marker still opens it.
    pub(super) fn prompt(
        &mut self,
        at: &At<'_>,
        fold: &mut StreamFold,
        via: PromptOrigin,
        text: &str,
    ) {
        let (label, keep) = match via {
            PromptOrigin::Agent => ("Task", &self.policy.agent_messages),
            PromptOrigin::Typed | PromptOrigin::Queued => ("User", &self.policy.user_messages),
        };
        let words = if *keep == Keep::Out { LEFT_OUT } else { text };
        self.line(at, fold, ItemKind::Prompt, label, words);
    }

    /// A person's words while the agent worked.
    pub(super) fn aside(&mut self, at: &At<'_>, fold: &mut StreamFold, text: &str) {
        let words = match self.policy.user_messages {
            Keep::Out => LEFT_OUT,
            _ => text,
        };
        self.line(at, fold, ItemKind::Aside, "User (while working)", words);
    }

    /// The agent's words, or one marker per run of them.
    pub(super) fn agent(&mut self, at: &At<'_>, fold: &mut StreamFold, text: &str) {
        if self.policy.agent_messages != Keep::Out {
            return self.line(at, fold, ItemKind::Agent, "Agent", text);
        }
        if !text.is_empty() && !fold.carry.marked_agent {
            let text = "(agent messages left out)".to_owned();
            self.push(at, fold, ItemKind::Note, text, None);
            Arc::make_mut(&mut fold.carry).marked_agent = true;
        }
    }

    /// One marker per run of tool calls that are left out.
    pub(super) fn tools_left_out(&mut self, at: &At<'_>, fold: &mut StreamFold) {
        if !fold.carry.marked_tools {
            let text = "(tool calls left out)".to_owned();
            self.push(at, fold, ItemKind::Note, text, None);
            Arc::make_mut(&mut fold.carry).marked_tools = true;
        }
    }

    /// The agent's own error; that there was one is said without words too.
    pub(super) fn failure(&mut self, at: &At<'_>, fold: &mut StreamFold, words: &str) {
        self.labelled(at, fold, ItemKind::Error, ("Error", words));
    }

    /// `label: words`; nothing where there are no words.
    pub(super) fn line(
        &mut self,
        at: &At<'_>,
        fold: &mut StreamFold,
        kind: ItemKind,
        label: &str,
        words: &str,
    ) {
        if !words.is_empty() {
            self.labelled(at, fold, kind, (label, words));
        }
    }

    fn labelled(
        &mut self,
        at: &At<'_>,
        fold: &mut StreamFold,
        kind: ItemKind,
        (label, words): (&str, &str),
    ) {
        let mut text = String::with_capacity(label.len() + 2 + words.len());
        text.push_str(label);
        text.push_str(": ");
        text.push_str(words);
        let carry = Arc::make_mut(&mut fold.carry);
        carry.marked_agent = false;
        carry.marked_tools = false;
        self.push(at, fold, kind, text, None);
    }

    /// `Action: …`.
    pub(super) fn digest(
        &mut self,
        at: &At<'_>,
        fold: &mut StreamFold,
        text: String,
        tool: ToolUse,
    ) {
        let carry = Arc::make_mut(&mut fold.carry);
        carry.marked_agent = false;
        carry.marked_tools = false;
        self.push(at, fold, ItemKind::Digest, text, Some(tool));
    }

    fn push(
        &mut self,
        at: &At<'_>,
        fold: &mut StreamFold,
        kind: ItemKind,
        text: String,
        tool: Option<ToolUse>,
    ) {
        let (messages, usage) = Arc::make_mut(&mut fold.carry).take_counts();
        let item = Item {
            place: at.place,
            nth: fold.record.items,
            id: at.id(),
            time: at.time,
            kind,
            text,
            tool,
            activity: ActivityTally::default(),
            messages,
            usage,
            quiet_since: at.quiet_since,
            resume: Resume {
                context: Arc::clone(at.context),
                filter: Arc::clone(&fold.record.before),
            },
        };
        fold.record.items = fold.record.items.saturating_add(1);
        match self.exchanges.last_mut() {
            Some(last) if last.stream == *at.stream && kind != ItemKind::Prompt => {
                last.items.push(item);
            }
            _ => self.exchanges.push(Exchange {
                stream: at.stream.clone(),
                opens: kind == ItemKind::Prompt,
                items: vec![item],
            }),
        }
    }
}

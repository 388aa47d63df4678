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
            time: entry.time.or(fold.state.last),
            context: &entry.context,
            identity: entry.id,
            quiet_since: fold.state.latest,
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
            Identity::Own(id) | Identity::Part(id) | Identity::Nth(id) if self.foreign => {
                Uuid::new_v5(&id, stream.as_bytes())
            }
            Identity::Own(id) | Identity::Part(id) | Identity::Nth(id) => id,
            Identity::None => {
                let session = self.context.session.as_deref().unwrap_or_default();
                let name = format!("{session}\0{stream}\0{}", self.place.offset);
                Uuid::new_v5(&RECORD_IDS, name.as_bytes())
            }
        }
    }
}

/// What stands before an item's words, and what kind of item that makes it.
#[derive(Clone, Copy)]
pub(super) struct Label(ItemKind, &'static str);

impl Label {
    const PROMPT: Label = Label(ItemKind::Prompt, "User");
    /// A sub-agent's prompt.
    const TASK: Label = Label(ItemKind::Prompt, "Task");
    const ASIDE: Label = Label(ItemKind::Aside, "User (while working)");
    const AGENT: Label = Label(ItemKind::Agent, "Agent");
    const ERROR: Label = Label(ItemKind::Error, "Error");
    pub(super) const NOTE: Label = Label(ItemKind::Note, "Note");
}

/// An item but for its place.
struct Body {
    kind: ItemKind,
    text: String,
    /// Of digests.
    tool: Option<ToolUse>,
}

impl Body {
    fn note(text: &str) -> Body {
        Body {
            kind: ItemKind::Note,
            text: text.to_owned(),
            tool: None,
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
            PromptOrigin::Agent => (Label::TASK, &self.policy.agent_messages),
            PromptOrigin::Typed | PromptOrigin::Queued => {
                (Label::PROMPT, &self.policy.user_messages)
            }
        };
        let words = if *keep == Keep::Out { LEFT_OUT } else { text };
        self.line(at, fold, label, words);
    }

    /// A person's words while the agent worked.
    pub(super) fn aside(&mut self, at: &At<'_>, fold: &mut StreamFold, text: &str) {
        let words = match self.policy.user_messages {
            Keep::Out => LEFT_OUT,
            _ => text,
        };
        self.line(at, fold, Label::ASIDE, words);
    }

    /// The agent's words, or one marker per run of them.
    pub(super) fn agent(&mut self, at: &At<'_>, fold: &mut StreamFold, text: &str) {
        if self.policy.agent_messages != Keep::Out {
            return self.line(at, fold, Label::AGENT, text);
        }
        if !text.is_empty() && !fold.state.marked_agent {
            self.push(at, fold, Body::note("(agent messages left out)"));
            Arc::make_mut(&mut fold.state).marked_agent = true;
        }
    }

    /// One marker per run of tool calls that are left out.
    pub(super) fn tools_left_out(&mut self, at: &At<'_>, fold: &mut StreamFold) {
        if !fold.state.marked_tools {
            self.push(at, fold, Body::note("(tool calls left out)"));
            Arc::make_mut(&mut fold.state).marked_tools = true;
        }
    }

    /// The agent's own error; that there was one is said without words too.
    pub(super) fn failure(&mut self, at: &At<'_>, fold: &mut StreamFold, words: &str) {
        self.labelled(at, fold, Label::ERROR, words);
    }

    /// `label: words`; nothing where there are no words.
    pub(super) fn line(&mut self, at: &At<'_>, fold: &mut StreamFold, label: Label, words: &str) {
        if !words.is_empty() {
            self.labelled(at, fold, label, words);
        }
    }

    fn labelled(
        &mut self,
        at: &At<'_>,
        fold: &mut StreamFold,
        Label(kind, label): Label,
        words: &str,
    ) {
        let mut text = String::with_capacity(label.len() + 2 + words.len());
        text.push_str(label);
        text.push_str(": ");
        text.push_str(words);
        let state = Arc::make_mut(&mut fold.state);
        state.marked_agent = false;
        state.marked_tools = false;
        let tool = None;
        self.push(at, fold, Body { kind, text, tool });
    }

    /// `Action: …`.
    pub(super) fn digest(
        &mut self,
        at: &At<'_>,
        fold: &mut StreamFold,
        text: String,
        tool: ToolUse,
    ) {
        let state = Arc::make_mut(&mut fold.state);
        state.marked_agent = false;
        state.marked_tools = false;
        let (kind, tool) = (ItemKind::Digest, Some(tool));
        self.push(at, fold, Body { kind, text, tool });
    }

    fn push(&mut self, at: &At<'_>, fold: &mut StreamFold, Body { kind, text, tool }: Body) {
        let (messages, usage, spending, work) = Arc::make_mut(&mut fold.state).take_counts();
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
            spending,
            work,
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

//! Lines that say something about the session: titles, summaries, links, queue, boundaries.

use super::super::injected::INJECTED;
use super::line::{Line, Record};
use super::records;
use crate::json::text::{decode, inside, string};
use crate::model::entry::{Entry, EntryKind, Fact, Queue};
use crate::rules::injected::Spoken;
use uuid::Uuid;

pub(super) fn system(line: &Line<'_>, record: &Record, out: &mut Vec<Entry>) {
    let subtype = line
        .subtype
        .and_then(inside)
        .map(decode)
        .unwrap_or_default();
    record.push(
        out,
        match (&*subtype, records::noise_system(&subtype)) {
            ("compact_boundary", _) => EntryKind::Fact(Fact::Compaction),
            (_, Some(reason)) => EntryKind::Noise(reason.into()),
            (name, None) => EntryKind::unknown(format!(
                "system/{}",
                name.chars().take(60).collect::<String>()
            )),
        },
    );
}

pub(super) fn other(kind: &str, line: &Line<'_>, record: &Record, out: &mut Vec<Entry>) {
    let what = match kind {
        "queue-operation" => queue(line),
        "custom-title" | "ai-title" => title(line, kind == "custom-title"),
        "summary" => summary(line),
        "pr-link" => line
            .pr_url
            .and_then(string)
            .map(|url| EntryKind::Fact(Fact::PullRequest(url))),
        _ => None,
    };
    record.push(out, what.unwrap_or_else(|| noise_or_unknown(kind)));
}

/// The queue's order matters even where its prompts are machine text: those are enqueued empty.
fn queue(line: &Line<'_>) -> Option<EntryKind> {
    let operation = match line.operation.and_then(inside)? {
        b"enqueue" => Queue::Enqueue(line.content.and_then(string).map(words).unwrap_or_default()),
        b"dequeue" => Queue::Dequeue,
        b"remove" => match line.content.and_then(string) {
            Some(text) if !text.is_empty() => Queue::RemoveText(words(text)),
            _ => Queue::Remove,
        },
        b"popAll" => Queue::PopAll,
        other => {
            return Some(EntryKind::unknown(format!(
                "queue-operation/{}",
                String::from_utf8_lossy(other)
            )));
        }
    };
    Some(EntryKind::Queue(operation))
}

/// Empty where a machine spoke.
fn words(text: String) -> String {
    match INJECTED.people_words(&text) {
        Spoken::Words(words) => words.into_owned(),
        Spoken::Machine(_) => String::new(),
    }
}

fn title(line: &Line<'_>, custom: bool) -> Option<EntryKind> {
    let text = line.title.and_then(string)?;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(EntryKind::Fact(Fact::Title { text, custom }))
}

fn summary(line: &Line<'_>) -> Option<EntryKind> {
    let text = line.summary.and_then(string)?;
    let leaf = line
        .leaf
        .and_then(inside)
        .and_then(|leaf| Uuid::try_parse_ascii(leaf).ok());
    Some(EntryKind::Fact(Fact::Summary { text, leaf }))
}

/// Records that are known noise, or else unknown under this name.
fn noise_or_unknown(name: &str) -> EntryKind {
    match records::noise_type(name) {
        Some(reason) => EntryKind::Noise(reason.into()),
        None => EntryKind::unknown(name.chars().take(60).collect::<String>()),
    }
}

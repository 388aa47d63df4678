//! Lines that say something about the session: titles, summaries, links, queue, boundaries.

use super::super::injected::INJECTED;
use super::line::{Line, Record};
use super::records;
use crate::json::text::{decode, inside, string};
use crate::model::entry::{Entry, EntryKind, Fact, Queue};
use crate::rules::injected::Spoken;
use crate::rules::words::sentences;
use uuid::Uuid;

pub(super) fn system(line: &Line<'_>, record: &Record, out: &mut Vec<Entry>) {
    let subtype = line
        .subtype
        .and_then(inside)
        .map(decode)
        .unwrap_or_default();
    let stopped = stopped(&subtype, line).map(|how| EntryKind::Fact(Fact::Stopped(how)));
    let what = stopped.unwrap_or_else(|| match (&*subtype, records::noise_system(&subtype)) {
        ("compact_boundary", _) => EntryKind::Fact(Fact::Compaction),
        ("turn_duration", _) => EntryKind::Fact(Fact::TurnEnd(worked(line))),
        (_, Some(reason)) => EntryKind::Noise(reason.into()),
        (name, None) => EntryKind::unknown(format!(
            "system/{}",
            name.chars().take(60).collect::<String>()
        )),
    });
    record.push(out, what);
}

fn worked(line: &Line<'_>) -> Option<u64> {
    std::str::from_utf8(line.worked?).ok()?.parse().ok()
}

/// What stopped the model, where the record says that.
fn stopped(subtype: &str, line: &Line<'_>) -> Option<String> {
    match subtype {
        "model_refusal_fallback" => refusal(line),
        "api_error" => (line.retry == Some(RETRIES)).then(|| "its API failed.".to_owned()),
        _ => None,
    }
}

/// So many retries are no hiccup any more; further ones say nothing new.
const RETRIES: &[u8] = b"4";

/// `… safeguards flagged this message. Switched to …`: the first sentence of what is told, and what went on.
fn refusal(line: &Line<'_>) -> Option<String> {
    let text = line.content.and_then(string)?;
    let mut said = sentences(&text);
    let first = said.next()?.trim();
    let switched = said.find(|sentence| sentence.trim().starts_with("Switched to "));
    Some(
        format!("{first} {}", switched.unwrap_or_default().trim())
            .trim_end()
            .to_owned(),
    )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stopped_the_model_is_told_and_a_hiccup_is_not() {
        let said = br#""A1's safeguards flagged this message. They are broad. Switched to Opus 4.8. Send feedback.""#;
        let line = |retry: &'static [u8]| Line {
            content: Some(said),
            retry: Some(retry),
            ..Line::default()
        };
        let wants = "A1's safeguards flagged this message. Switched to Opus 4.8.";
        let refused = stopped("model_refusal_fallback", &line(b"1"));
        assert_eq!(refused.as_deref(), Some(wants));
        assert_eq!(stopped("api_error", &line(b"1")), None);
        assert!(stopped("api_error", &line(b"4")).is_some());
        assert_eq!(stopped("away_summary", &line(b"4")), None);
    }
}

//! User lines: tool results for the most part, machine text for much of the rest, people for the
//! remainder (formats § 4).

use super::super::injected::INJECTED;
use super::line::{Line, Record, decode_raw};
use super::message::Content;
use super::{records, result};
use crate::json::cursor::{self, Raw};
use crate::json::text::{inside, string};
use crate::model::entry::{Entry, EntryKind, Fact, PromptOrigin};
use crate::rules::injected::{self, Spoken};

pub(super) fn entries(line: &Line<'_>, record: &mut Record, out: &mut Vec<Entry>) {
    let blocks = match line.message.as_ref().map(|m| &m.content) {
        None | Some(Content::Absent) => {
            return record.push(out, EntryKind::unknown("user without content"));
        }
        Some(Content::Text(text)) => {
            return record.push(out, spoken(line, &string(text).unwrap_or_default(), 0));
        }
        Some(Content::Blocks(blocks)) => blocks,
    };
    let (mut words, mut pictures, mut texts) = (String::new(), 0, 0);
    let mut first = true;
    for block in blocks {
        match block.kind {
            b"tool_result" => {
                record.push(out, EntryKind::Result(result::read(block, line, first)));
                first = false;
            }
            b"text" => match spoken(line, &block.text.and_then(string).unwrap_or_default(), 0) {
                // a lead's words stay apart from a person's
                EntryKind::Prompt { text, via } if is_of_agent(via) && !line.sidechain => {
                    record.push(out, EntryKind::Prompt { text, via });
                }
                EntryKind::Prompt { text, .. } => {
                    words.push_str(if words.is_empty() { "" } else { "\n\n" });
                    words.push_str(&text);
                    texts += 1;
                }
                other => record.push(out, other),
            },
            b"image" | b"document" => pictures += 1,
            other => {
                let name = String::from_utf8_lossy(&other[..other.len().min(40)]);
                record.push(out, EntryKind::unknown(format!("user/{name}")));
            }
        }
    }
    if texts > 0 || pictures > 0 {
        record.push(out, spoken(line, &words, pictures));
    }
}

/// Prompts delivered while the agent worked; every other attachment is machine text.
pub(super) fn attachment(line: &Line<'_>, record: &Record, out: &mut Vec<Entry>) {
    let attachment = line.attachment.unwrap_or_default();
    // written first; a snapshot has some 60 kB behind it
    let first = attachment.strip_prefix(b"{\"type\":".as_slice());
    let kind = first
        .and_then(|rest| rest.split_inclusive(|b| *b == b',' || *b == b'}').next())
        .map(|name| &name[..name.len() - 1])
        .filter(|name| inside(name).is_some_and(|name| !name.contains(&b'"')))
        .or_else(|| cursor::get(attachment, "type"))
        .map(decode_raw)
        .unwrap_or_default();
    record.push(
        out,
        match &*kind {
            "queued_command" => queued(attachment),
            kind if records::bulk_attachment(kind) => EntryKind::Noise("attachment".into()),
            kind if records::noise_attachment(kind) && injected::is_ours(attachment) => {
                EntryKind::Noise(injected::OWN.into())
            }
            kind if records::noise_attachment(kind) => EntryKind::Noise("attachment".into()),
            kind => EntryKind::unknown(format!(
                "attachment/{}",
                kind.chars().take(60).collect::<String>()
            )),
        },
    );
}

fn queued(attachment: Raw<'_>) -> EntryKind {
    let prompt = cursor::get(attachment, "prompt").unwrap_or_default();
    let mut text = string(prompt).unwrap_or_default();
    cursor::array(prompt, |block| {
        if let Some(more) = cursor::get(block, "text").and_then(string) {
            text.push_str(&more);
        }
    });
    match INJECTED.people_words(&text) {
        Spoken::Words(words) => EntryKind::Prompt {
            text: words.into_owned(),
            via: PromptOrigin::Queued,
        },
        Spoken::Machine(reason) => EntryKind::Noise(reason.into()),
    }
}

/// Who said this text. `pictures` come with it.
fn spoken(line: &Line<'_>, text: &str, pictures: usize) -> EntryKind {
    let source = |raw: Option<Raw<'_>>| raw.and_then(inside).unwrap_or_default().to_vec();
    let origin = line.origin.and_then(|o| cursor::get(o, "kind"));
    if line.compact_summary {
        return EntryKind::Noise("compaction summary".into());
    }
    if line.meta {
        return EntryKind::Noise("meta".into());
    }
    if source(origin) == b"task-notification" {
        return EntryKind::Noise("task notification".into());
    }
    if source(line.prompt_source) == b"system" {
        return EntryKind::Noise("system prompt".into());
    }
    let marker = match pictures {
        0 => String::new(),
        1 => "[image]".into(),
        n => format!("[{n} images]"),
    };
    match INJECTED.people_words(text) {
        Spoken::Machine("interruption") => EntryKind::Fact(Fact::Interrupted),
        Spoken::Machine(reason) if pictures == 0 => match task_of_lead(line, text) {
            Some(task) => EntryKind::Prompt {
                text: task.to_owned(),
                via: PromptOrigin::Agent,
            },
            None => EntryKind::Noise(reason.into()),
        },
        Spoken::Machine(_) => prompt(line, marker),
        Spoken::Words(words) => {
            let gap = if words.is_empty() || marker.is_empty() {
                ""
            } else {
                "\n"
            };
            prompt(line, format!("{words}{gap}{marker}"))
        }
    }
}

fn is_of_agent(via: PromptOrigin) -> bool {
    via == PromptOrigin::Agent
}

/// What the lead of a team of agents tells a member, in the member's own log: nobody else asks for anything there. What
/// programs tell each other (`{"type":"task_assignment",…}`) is none.
fn task_of_lead<'t>(line: &Line<'_>, text: &'t str) -> Option<&'t str> {
    const LEAD: &str = "team-lead";
    const OPENS: &str = "<teammate-message ";
    let member = line.member.and_then(inside)?;
    if member == LEAD.as_bytes() {
        return None;
    }
    let said = text.split(OPENS).skip(1).filter_map(|said| {
        let (tag, said) = said.split_once('>')?;
        let is_lead = tag.contains(&format!("teammate_id=\"{LEAD}\""));
        is_lead.then(|| said.split("</teammate-message>").next())?
    });
    let mut said = said.map(str::trim);
    said.find(|said| !said.is_empty() && !said.starts_with('{'))
}

fn prompt(line: &Line<'_>, text: String) -> EntryKind {
    if text.trim().is_empty() {
        return EntryKind::Noise("empty".into());
    }
    let via = if line.sidechain {
        PromptOrigin::Agent
    } else {
        PromptOrigin::Typed
    };
    EntryKind::Prompt { text, via }
}

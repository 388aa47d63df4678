//! Long messages that a language model condenses (D61): which there are in an episode's text, and the text
//! with a paragraph in the place of each. Knows how items are labelled; refuses to know what is asked.

use super::episode::Episode;
use super::exchange::ItemKind;
use super::item::{Mark, apart, between};
use super::policy::{FilterPolicy, Keep};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Longer messages are condensed, and no paragraph is longer. More: fewer questions; less: paragraphs
/// that say little less than the message.
pub const LONG_BYTES: usize = 1_500;

/// The templates by which long messages are condensed; nothing where all of them are kept as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Condensing {
    /// Of people's messages.
    pub people: Option<String>,
    /// Of the agent's, and of what it tells its sub-agents.
    pub agent: Option<String>,
    /// Of what tools return.
    pub results: Option<String>,
}

impl Condensing {
    /// What a policy wants.
    pub fn of(policy: &FilterPolicy) -> Condensing {
        let template = |keep: &Keep| match keep {
            Keep::Condense(name) => Some(name.clone()),
            Keep::Full | Keep::Out | Keep::Template(_) => None,
        };
        Condensing {
            people: template(&policy.user_messages),
            agent: template(&policy.agent_messages),
            results: template(&policy.tool_content),
        }
    }

    /// Nothing is condensed.
    pub fn is_empty(&self) -> bool {
        self.templates().next().is_none()
    }

    /// The names of the templates.
    pub fn templates(&self) -> impl Iterator<Item = &str> {
        let all = [&self.people, &self.agent, &self.results];
        all.into_iter().flatten().map(String::as_str)
    }

    /// The messages of a text that are to be condensed, in its order.
    pub fn long_messages<'t>(&'t self, text: &'t str, marks: &[Mark]) -> Vec<LongMessage<'t>> {
        let items = apart(text, marks).unwrap_or_default().into_iter();
        let each = items
            .zip(marks)
            .enumerate()
            .filter_map(|(nth, (text, mark))| {
                let (speaker, words) = message(mark.kind, text)?;
                let template = match speaker {
                    Speaker::Person => &self.people,
                    Speaker::Agent => &self.agent,
                    Speaker::Tool => &self.results,
                };
                let template = template.as_deref().filter(|_| words.len() > LONG_BYTES)?;
                Some(LongMessage {
                    nth,
                    speaker,
                    template,
                    words,
                })
            });
        each.collect()
    }
}

/// Whose words they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// A person's.
    Person,
    /// An agent's.
    Agent,
    /// A tool's.
    Tool,
}

/// A message that is to be condensed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongMessage<'t> {
    /// Which item of its episode it is.
    pub nth: usize,
    /// Who says it.
    pub speaker: Speaker,
    /// The name of its template.
    pub template: &'t str,
    /// What it says.
    pub words: &'t str,
}

/// Who says something in an item, and what; of a digest the excerpt below its line.
fn message(kind: ItemKind, text: &str) -> Option<(Speaker, &str)> {
    if kind == ItemKind::Digest {
        return text
            .split_once('\n')
            .map(|(_, excerpt)| (Speaker::Tool, excerpt));
    }
    let (label, words) = text.split_once(": ")?;
    let speaker = match kind {
        ItemKind::Prompt | ItemKind::Aside if label.starts_with("User") => Speaker::Person,
        ItemKind::Prompt | ItemKind::Aside | ItemKind::Agent => Speaker::Agent,
        ItemKind::Digest | ItemKind::Error | ItemKind::Note => return None,
    };
    Some((speaker, words))
}

/// Puts paragraphs in the places of an episode's long messages, by the items' numbers. `None`: the
/// message was given up; a person's or an agent's then stays in full, and of a tool's result the digest.
/// An episode whose items don't make up its text stays as it is.
pub fn condense(episode: &mut Episode, paragraphs: &BTreeMap<usize, Option<String>>) {
    let Some(items) = apart(&episode.text, &episode.outline) else {
        return;
    };
    let mut text = String::with_capacity(episode.text.len());
    let mut outline = episode.outline.clone();
    let mut last: Option<ItemKind> = None;
    for (nth, (item, mark)) in items.into_iter().zip(&mut outline).enumerate() {
        text.push_str(last.map_or("", |last| between(last, mark.kind)));
        let start = text.len();
        match paragraphs.get(&nth) {
            None => text.push_str(item),
            Some(paragraph) => write(&mut text, mark.kind, item, paragraph.as_deref()),
        }
        mark.bytes = (text.len() - start) as u64;
        last = Some(mark.kind);
    }
    (episode.text, episode.outline) = (text, outline);
}

fn write(out: &mut String, kind: ItemKind, item: &str, paragraph: Option<&str>) {
    if kind == ItemKind::Digest {
        out.push_str(item.split('\n').next().unwrap_or_default());
        if let Some(paragraph) = paragraph {
            out.push_str("\n    ");
            out.push_str(paragraph);
        }
        return;
    }
    let (Some(paragraph), Some((label, _))) = (paragraph, item.split_once(": ")) else {
        return out.push_str(item);
    };
    out.push_str(label.split(" (").next().unwrap_or(label));
    out.push_str(match kind {
        ItemKind::Aside => " (aside, condensed): ",
        _ => " (condensed): ",
    });
    out.push_str(paragraph);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn episode(items: &[(ItemKind, String)]) -> Episode {
        let mut episode = Episode::default();
        let mut last = None;
        for (kind, text) in items {
            episode
                .text
                .push_str(last.map_or("", |last| between(last, *kind)));
            episode.text.push_str(text);
            episode.outline.push(Mark {
                kind: *kind,
                bytes: text.len() as u64,
                line: 1,
                findings: Vec::new(),
            });
            last = Some(*kind);
        }
        episode
    }

    fn all() -> Condensing {
        Condensing {
            people: Some("p.md".into()),
            agent: Some("a.md".into()),
            results: Some("t.md".into()),
        }
    }

    #[test]
    fn long_messages_give_way_to_paragraphs_and_the_items_make_up_the_text() {
        let long = "word ".repeat(400);
        let mut episode = episode(&[
            (ItemKind::Prompt, format!("User: {long}")),
            (ItemKind::Agent, "Agent: short".into()),
            (ItemKind::Agent, format!("Agent: {long}")),
            (ItemKind::Aside, format!("User (while working): {long}")),
            (
                ItemKind::Digest,
                format!("Action: Read(a) → 9 lines\n    {long}"),
            ),
            (
                ItemKind::Digest,
                format!("Action: Read(b) → 9 lines\n    {long}"),
            ),
            (ItemKind::Prompt, format!("Task: {long}")),
        ]);
        let condensing = all();
        let found = condensing.long_messages(&episode.text, &episode.outline);
        let found: Vec<_> = found.iter().map(|m| (m.nth, m.template)).collect();
        let wants = [
            (0, "p.md"),
            (2, "a.md"),
            (3, "p.md"),
            (4, "t.md"),
            (5, "t.md"),
            (6, "a.md"),
        ];
        assert_eq!(found, wants);
        let said = |text: &str| Some(text.to_owned());
        let paragraphs = [
            (0, said("P.")),
            (2, None),
            (3, said("S.")),
            (4, said("T.")),
            (5, None),
            (6, said("U.")),
        ];
        condense(&mut episode, &paragraphs.into());
        let wants = format!(
            "User (condensed): P.\n\nAgent: short\nAgent: {long}\n\nUser (aside, condensed): S.\n\n\
             Action: Read(a) → 9 lines\n    T.\nAction: Read(b) → 9 lines\n\nTask (condensed): U."
        );
        assert_eq!(episode.text, wants);
        assert_eq!(
            apart(&episode.text, &episode.outline).map(|items| items.len()),
            Some(7)
        );
        let left = condensing.long_messages(&episode.text, &episode.outline);
        assert_eq!(
            left.iter().map(|m| m.nth).collect::<Vec<_>>(),
            [2],
            "what was given up"
        );
    }

    #[test]
    fn only_what_a_template_is_named_for_is_condensed() {
        let long = "word ".repeat(400);
        let episode = episode(&[
            (ItemKind::Prompt, format!("User: {long}")),
            (ItemKind::Agent, format!("Agent: {long}")),
            (ItemKind::Error, format!("Error: {long}")),
        ]);
        let only = |policy| {
            Condensing::of(&policy)
                .long_messages(&episode.text, &episode.outline)
                .len()
        };
        assert_eq!(
            only(FilterPolicy::default()),
            0,
            "the default asks no model"
        );
        let agent_messages = Keep::Condense("a.md".into());
        assert_eq!(
            only(FilterPolicy {
                agent_messages,
                ..FilterPolicy::default()
            }),
            1
        );
    }
}

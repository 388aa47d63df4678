//! The items of a session, out of its episodes and where the items stand in their texts.

use super::facts::{LocatedItem, SessionContext, commits, facts, tell_compacted};
use super::outcome::{PENDING_CALL, SessionItem};
use crate::model::episode::Episode;
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::model::item::{Mark, apart};
use crate::model::summary::{SessionCommit, Summary};
use crate::model::time::Time;
use std::borrow::Cow;
use std::collections::BTreeMap;
use uuid::Uuid;

/// What MCP servers' tools are called.
const MCP: &str = "mcp__";

/// A session's episodes in the order of time, with where their items stand.
pub struct SessionItems<'e> {
    episodes: Vec<(&'e Episode, Cow<'e, [Mark]>)>,
    /// Words that were cut at the end of an episode, whole, by the place of their beginning.
    whole: BTreeMap<Place, String>,
}

/// An episode, and an item of it.
type Place = (usize, usize);

impl<'e> SessionItems<'e> {
    /// Of episodes that have their outlines.
    pub fn of(episodes: impl Iterator<Item = &'e Episode>) -> SessionItems<'e> {
        let all = episodes.map(|episode| (episode, Cow::Borrowed(episode.outline.as_slice())));
        SessionItems::ordered(all.collect())
    }

    /// Of episodes with outlines that were read beside them.
    pub fn with_outlines(episodes: Vec<(&'e Episode, Vec<Mark>)>) -> SessionItems<'e> {
        let all = episodes.into_iter();
        let all = all.map(|(episode, marks)| (episode, Cow::Owned(marks)));
        SessionItems::ordered(all.collect())
    }

    fn ordered(mut episodes: Vec<(&'e Episode, Cow<'e, [Mark]>)>) -> SessionItems<'e> {
        let times = times(episodes.iter().map(|(episode, _)| *episode));
        episodes.sort_by_key(|(episode, _)| (times.get(&episode.id), episode.part));
        let whole = whole(&episodes);
        SessionItems { episodes, whole }
    }

    /// The stream of the main log; where only sub-agents' logs are, the one that says most.
    fn main(&self) -> Option<&str> {
        // what is a log's own counts first
        let mut items: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for (episode, marks) in &self.episodes {
            let (own, all) = items.entry(episode.stream.as_deref()?).or_default();
            *own += marks.iter().filter(|mark| !mark.is_inherited()).count();
            *all += marks.len();
        }
        let most = items.into_iter().max_by_key(|(_, items)| *items);
        most.map(|(stream, _)| stream)
    }

    /// Only sub-agents' logs are there, and what one of them has from the log of the agent that started it is no more
    /// than the background of a task that it was then given.
    fn has_background(&self) -> bool {
        let mut marks = self.episodes.iter().flat_map(|(_, marks)| marks.iter());
        let is_task = |mark: &Mark| mark.kind == ItemKind::Prompt && !mark.is_inherited();
        self.main().is_some() && marks.any(is_task)
    }

    /// The items with where they stand.
    pub fn lines(&self) -> Vec<LocatedItem<'_>> {
        self.lines_of(|_| true)
    }

    fn lines_of(&self, is_told: impl Fn(&Mark) -> bool) -> Vec<LocatedItem<'_>> {
        let main = self.main();
        let mut lines = Vec::new();
        for (at, (episode, marks)) in self.episodes.iter().enumerate() {
            let texts = apart(&episode.text, marks).unwrap_or_default();
            let items = texts.into_iter().zip(marks.iter()).enumerate();
            for (nth, (text, mark)) in items {
                let whole = self.whole.get(&(at, nth)).map(String::as_str);
                // it stands with its beginning
                if whole == Some("") || !is_told(mark) {
                    continue;
                }
                lines.push(LocatedItem {
                    item: SessionItem {
                        kind: mark.kind,
                        text: whole.unwrap_or(text),
                        findings: &mark.findings,
                    },
                    main: episode.stream.as_deref() == main,
                    episode: episode.id,
                    line: mark.line,
                });
            }
        }
        lines
    }

    /// A call of the main log that has no result, behind everything else.
    fn pending(&self) -> Option<LocatedItem<'static>> {
        let main = self.main();
        let mut of_main = self
            .episodes
            .iter()
            .filter(|(e, _)| e.stream.as_deref() == main);
        let (last, _) = of_main.next_back()?;
        (last.pending_calls > 0).then_some(LocatedItem {
            item: PENDING_CALL,
            main: true,
            episode: last.id,
            line: last.lines.1,
        })
    }

    /// What they amount to.
    pub fn summary(&self, context: &SessionContext<'_>) -> Summary {
        let has_background = self.has_background();
        let is_told = |mark: &Mark| !(has_background && mark.is_inherited());
        let mut lines = self.lines_of(is_told);
        lines.extend(self.pending());
        let mut summary = facts(&lines, context);
        summary.mcp_tools_used = self.mcp_tools(is_told);
        if self.main().is_some() && !tell_compacted(&lines, &mut summary) {
            // what a sub-agent was told and came to is not what the session was asked and came to
            summary.outcome = None;
            if let Some(objective) = &mut summary.objective {
                objective.what = format!("A sub-agent's task: {}", objective.what);
            }
        }
        summary
    }

    /// The commits that they name, under every hash that they had: also those that were rewritten or reset later.
    pub fn commits(&self) -> Vec<SessionCommit> {
        let lines = self.lines();
        let last = commits(&lines).into_iter();
        let mut all: Vec<SessionCommit> = last.map(|commit| commit.what).collect();
        for finding in lines.iter().flat_map(|line| line.item.findings) {
            if let Finding::Commit { hash, subject, .. } = finding
                && !all.iter().any(|known| known.hash == *hash)
            {
                all.push(SessionCommit {
                    hash: hash.clone(),
                    subject: subject.clone(),
                    ..SessionCommit::default()
                });
            }
        }
        all
    }

    /// Of each tool of MCP servers the calls that failed.
    fn failed_mcp_calls(&self) -> BTreeMap<&str, u64> {
        let mut failed: BTreeMap<&str, u64> = BTreeMap::new();
        for (episode, marks) in &self.episodes {
            let texts = apart(&episode.text, marks).unwrap_or_default();
            let calls = texts.into_iter().filter_map(|text| {
                let call = text.strip_prefix("Action: ")?;
                let name = &call[..call.find(['(', ' ']).unwrap_or(call.len())];
                let (_, said) = call.split_once(" → ")?;
                (name.starts_with(MCP) && is_failure(said)).then_some(name)
            });
            calls.for_each(|name| *failed.entry(name).or_default() += 1);
        }
        failed
    }

    /// Of episodes with an item that is told.
    fn mcp_tools(&self, is_told: impl Fn(&Mark) -> bool) -> Vec<(String, u64)> {
        // an older program's have no items
        let told = |marks: &[Mark]| marks.is_empty() || marks.iter().any(&is_told);
        let told = self.episodes.iter().filter(|(_, marks)| told(marks));
        let tally = told.map(|(episode, _)| episode.activity());
        let mut tools: Vec<(String, u64)> = Vec::new();
        for (name, calls) in tally.flat_map(|tally| tally.tools) {
            match tools.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += calls,
                None if name.starts_with(MCP) => tools.push((name, calls)),
                None => {}
            }
        }
        if !tools.is_empty() {
            let failed = self.failed_mcp_calls();
            tools.retain(|(name, calls)| failed.get(name.as_str()) != Some(calls));
        }
        tools.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        tools
    }
}

/// What a digest says of a call that came to nothing.
fn is_failure(said: &str) -> bool {
    const FAILED: [&str; 5] = [
        "failed",
        "refused by",
        "denied by",
        "interrupted",
        "no result",
    ];
    FAILED.iter().any(|word| said.starts_with(word))
}

/// People's and agents' words that an episode's end cut, whole; what goes on with them is empty.
fn whole(episodes: &[(&Episode, Cow<'_, [Mark]>)]) -> BTreeMap<Place, String> {
    let mut whole: BTreeMap<Place, String> = BTreeMap::new();
    // of each log its last item
    let mut last: BTreeMap<Option<&str>, (Place, &str)> = BTreeMap::new();
    for (at, (episode, marks)) in episodes.iter().enumerate() {
        let stream = episode.stream.as_deref();
        let known = last.get(&stream).copied();
        let is_spoken = |kind| matches!(kind, ItemKind::Prompt | ItemKind::Aside | ItemKind::Agent);
        let first = marks.first().filter(|mark| is_spoken(mark.kind));
        let first = first.and_then(|mark| episode.text.get(..usize::try_from(mark.bytes).ok()?));
        let more = first.and_then(|text| {
            let at = text.find(CONTINUED).filter(|at| *at <= LABEL_BYTES_MAX)?;
            Some(&text[at + CONTINUED.len()..])
        });
        let end = marks.len().checked_sub(1);
        let Some(end) = end else { continue };
        let begins = known.filter(|_| more.is_some());
        if let (Some((place, text)), Some(more)) = (begins, more) {
            let all = whole.entry(place).or_insert_with(|| text.to_owned());
            all.push('\n');
            all.push_str(more);
            whole.insert((at, 0), String::new());
            if end == 0 {
                // it may go on in the next one
                continue;
            }
        }
        let bytes = marks
            .last()
            .and_then(|mark| usize::try_from(mark.bytes).ok());
        let start = episode.text.len().checked_sub(bytes.unwrap_or(0));
        let text = start.and_then(|start| episode.text.get(start..));
        last.insert(stream, ((at, end), text.unwrap_or_default()));
    }
    whole
}

/// Stands behind the label of words that go on from the episode before.
const CONTINUED: &str = " (continued): ";
const LABEL_BYTES_MAX: usize = 24;

/// When episodes began. In a log that is one file none begins before the one that stands above it, whatever its clock
/// said: records that were copied have the time of the copy.
fn times<'e>(all: impl Iterator<Item = &'e Episode>) -> BTreeMap<Uuid, Option<Time>> {
    let mut streams: BTreeMap<Option<&str>, Vec<&Episode>> = BTreeMap::new();
    for episode in all {
        let stream = episode.stream.as_deref();
        streams.entry(stream).or_default().push(episode);
    }
    let mut times = BTreeMap::new();
    for parts in streams.values_mut() {
        parts.sort_by_key(|episode| episode.part);
        let is_one_file = parts.windows(2).all(|two| two[0].part < two[1].part);
        let mut last = None;
        for episode in parts.iter() {
            let above = last.filter(|_| is_one_file);
            last = episode.valid_at.max(above);
            times.insert(episode.id, last);
        }
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_an_episodes_end_cut_are_whole() {
        let episode = |n: u128, items: &[(ItemKind, &str)]| {
            let mark = |(kind, text): &(ItemKind, &str)| Mark {
                kind: *kind,
                bytes: text.len() as u64,
                line: 7,
                findings: Vec::new(),
            };
            let texts: Vec<&str> = items.iter().map(|(_, text)| *text).collect();
            Episode {
                id: Uuid::from_u128(n),
                part: n as u32,
                text: texts.join("\n\n"),
                outline: items.iter().map(mark).collect(),
                ..Episode::default()
            }
        };
        let prompt = (ItemKind::Prompt, "User: why is it wrong?");
        let all = [
            episode(1, &[prompt, (ItemKind::Agent, "Agent: It rounds")]),
            episode(2, &[(ItemKind::Agent, "Agent (continued): each row,")]),
            episode(
                3,
                &[(ItemKind::Agent, "Agent (continued): and the sum."), prompt],
            ),
        ];
        let items = SessionItems::of(all.iter());
        let lines = items.lines();
        let told: Vec<&str> = lines.iter().map(|line| line.item.text).collect();
        let whole = "Agent: It rounds\neach row,\nand the sum.";
        assert_eq!(told, [prompt.1, whole, prompt.1]);
    }

    #[test]
    fn a_clock_that_was_set_back_does_not_turn_a_log_round() {
        let episode = |n: u128, stream: Option<&str>, part, at| Episode {
            id: Uuid::from_u128(n),
            stream: stream.map(str::to_owned),
            part,
            valid_at: Some(Time(at)),
            ..Episode::default()
        };
        let told = |all: &[Episode]| -> Vec<u128> {
            let items = SessionItems::of(all.iter());
            items
                .episodes
                .iter()
                .map(|(episode, _)| episode.id.as_u128())
                .collect()
        };
        let copied = [
            episode(2, None, 2, 10),
            episode(1, None, 1, 50),
            episode(4, None, 3, 60),
        ];
        let helper = episode(3, Some("helper"), 1, 55);
        let all: Vec<Episode> = copied.iter().cloned().chain([helper]).collect();
        assert_eq!(told(&all), [1, 2, 3, 4]);
        // a session that went on in another file
        let files = [
            episode(1, None, 1, 10),
            episode(2, None, 2, 20),
            episode(3, None, 1, 30),
        ];
        assert_eq!(told(&files), [1, 2, 3]);
    }
}

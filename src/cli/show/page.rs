//! A session as a page to read: summary, turns, calls that unfold, sub-agents in their place, a link to
//! each line. Text of logs is text on it.

use super::shown::{ShownSession, Work};
use crate::agents::registry;
use crate::cli::ctx::Ctx;
use crate::cli::pages::{Page, escape, html};
use crate::insight::summary::sections;
use crate::model::episode::{Episode, EpisodeSource};
use crate::model::exchange::{ItemKind, words_of};
use crate::model::finding::Finding;
use crate::model::human::{self, plural};
use crate::model::item::{Mark, apart};
use crate::model::layout::markdown::plain;
use crate::model::session::SessionLength;
use crate::model::summary::is_quiet;
use crate::model::time::Time;
use crate::store::Store;
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

const STYLE: &str = include_str!("../pages/session.css");

/// Characters of a title: a log may have megabytes of it.
const TITLE_CHARS_MAX: usize = 300;

/// Characters of a prompt in the list of prompts.
const PROMPT_CHARS_MAX: usize = 100;

/// The page's text.
pub(super) fn text(shown: &ShownSession, store: &Store, ctx: &mut Ctx) -> Result<String> {
    let title = shown.title().unwrap_or_else(|| "(no title)".to_owned());
    let title = cut(&plain(&human::whole_title(&title)), TITLE_CHARS_MAX);
    let mut body = head(&title, shown, ctx)?;
    let told = sections(&shown.summary);
    if !told.trim().is_empty() {
        let told = html(&told, 0);
        let _ = write!(
            body,
            "<section class=\"summary\" aria-label=\"Summary\">\n{told}</section>\n"
        );
    }
    let mut transcript = Transcript::default();
    let agents = SubAgents::of(shown, store)?;
    let main = shown.episodes.iter().map(|found| &found.episode);
    let main = main.filter(|episode| is_said(episode) && episode.stream.is_none());
    let main: Vec<&Episode> = in_order(main);
    for (at, episode) in main.iter().enumerate() {
        let until = main.get(at + 1).and_then(|next| next.valid_at);
        let mut agents = agents.begun_before(until);
        transcript.part(episode, ctx);
        let marks = store.outline(episode.id)?;
        transcript.episode(episode, &marks, "", &mut agents);
    }
    if main.is_empty() {
        let mut agents = agents.begun_before(None);
        transcript.rest(&mut agents);
    }
    body.push_str(&transcript.contents());
    let _ = write!(body, "<main>\n{}</main>\n", transcript.out);
    body.push_str(
        "<footer class=\"note\"><p>Written by sessionmill from its store: outputs of tools are one line \
         each, secrets were masked when the log was read. Nothing on this page runs or is loaded.</p></footer>",
    );
    let page = Page {
        title: &title,
        styles: &[STYLE],
        body: &body,
        ..Page::default()
    };
    Ok(page.text())
}

/// Title, where it comes from, and how to go on.
fn head(title: &str, shown: &ShownSession, ctx: &mut Ctx) -> Result<String> {
    let ShownSession { row, work, .. } = shown;
    let session = &row.session;
    let facts = &session.facts;
    let Work {
        activity,
        outcome,
        length,
    } = work;
    let project = ctx.bare_project_name(&session.namespace)?;
    let span = facts.started.zip(facts.ended);
    let models: Vec<&str> = facts.models.iter().map(String::as_str).collect();
    let cells = [
        project,
        session.agent.as_str().to_owned(),
        span.map_or_else(String::new, |(from, to)| human::span(from, to, ctx.zone)),
        length.and_then(SessionLength::shown).unwrap_or_default(),
        outcome.map_or_else(String::new, |outcome| {
            outcome.words(is_quiet(facts.ended, ctx.now)).to_owned()
        }),
        activity.word().to_owned(),
        session.branch.clone().unwrap_or_default(),
        models.join(", "),
    ];
    let cells = cells.iter().filter(|cell| !cell.is_empty());
    let cells: String = cells
        .map(|cell| format!("<li>{}</li>", escape(cell)))
        .collect();
    let shown_id = ctx.session_shown(&session.id)?;
    let resume = registry::resume(session).map_or("", |_| "Go on with it: ");
    let command = match resume {
        "" => String::new(),
        _ => format!(
            "{resume}<code>sessionmill resume {}</code> · ",
            escape(&shown_id)
        ),
    };
    Ok(format!(
        "<header class=\"head\">\n<h1 dir=\"auto\">{}</h1>\n<ul class=\"facts\">{cells}</ul>\n\
         <p class=\"soft small\">{command}session {}</p>\n</header>\n",
        escape(title),
        escape(&session.id),
    ))
}

/// What was said, not what sums it up.
fn is_said(episode: &Episode) -> bool {
    episode.source == EpisodeSource::Session
}

fn in_order<'e>(episodes: impl Iterator<Item = &'e Episode>) -> Vec<&'e Episode> {
    let mut all: Vec<&Episode> = episodes.collect();
    all.sort_by_key(|episode| (episode.valid_at, episode.part));
    all
}

/// A sub-agent's episodes with where their items stand.
type Agent<'e> = (&'e str, Vec<(&'e Episode, Vec<Mark>)>);

/// The sub-agents' logs of a session, by when they began.
struct SubAgents<'e>(Vec<Agent<'e>>);

impl<'e> SubAgents<'e> {
    fn of(shown: &'e ShownSession, store: &Store) -> Result<SubAgents<'e>> {
        let mut streams: BTreeMap<&str, Vec<&Episode>> = BTreeMap::new();
        for episode in shown.episodes.iter().map(|found| &found.episode) {
            if let Some(stream) = episode.stream.as_deref().filter(|_| is_said(episode)) {
                streams.entry(stream).or_default().push(episode);
            }
        }
        let mut all: Vec<Agent<'_>> = Vec::with_capacity(streams.len());
        for (stream, episodes) in streams {
            let episodes = in_order(episodes.into_iter());
            let with = episodes.into_iter().map(|episode| {
                let marks = store.outline(episode.id)?;
                Ok((episode, marks))
            });
            all.push((stream, with.collect::<Result<_>>()?));
        }
        all.sort_by_key(|(_, episodes)| episodes.first().and_then(|(first, _)| first.valid_at));
        Ok(SubAgents(all))
    }

    /// Those that began before the next episode of the main log, `until`; also those whose place was earlier.
    fn begun_before(&self, until: Option<Time>) -> Waiting<'_, 'e> {
        let all = self.0.iter().filter(move |(_, episodes)| {
            let began = episodes.first().and_then(|(first, _)| first.valid_at);
            until.is_none_or(|until| began.is_none_or(|began| began < until))
        });
        Waiting(all.collect())
    }
}

/// Sub-agents whose place comes.
struct Waiting<'a, 'e>(Vec<&'a Agent<'e>>);

/// The turns of a session while they are written.
#[derive(Default)]
struct Transcript {
    out: String,
    /// Prompts: (anchor, beginning).
    prompts: Vec<(String, String)>,
    /// Sub-agents that are written already, by stream.
    written: BTreeSet<String>,
    parts: usize,
}

impl Transcript {
    /// Where a stretch of the log begins.
    fn part(&mut self, episode: &Episode, ctx: &Ctx) {
        self.parts += 1;
        let when = human::time(episode.valid_at, ctx.zone);
        let (from, to) = episode.lines;
        let _ = writeln!(
            self.out,
            "<h2 class=\"part\" id=\"P{}\">{}, lines {from} to {to}</h2>",
            self.parts,
            escape(&when),
        );
    }

    /// The items of an episode; `prefix` tells the anchors of sub-agents apart.
    fn episode(
        &mut self,
        episode: &Episode,
        marks: &[Mark],
        prefix: &str,
        agents: &mut Waiting<'_, '_>,
    ) {
        let items = apart(&episode.text, marks).unwrap_or_default();
        if items.is_empty() {
            let text = escape(&episode.text);
            let _ = writeln!(
                self.out,
                "<div class=\"turn\"><p class=\"typed\">{text}</p></div>"
            );
            return self.rest(agents);
        }
        let mut at = 0;
        while at < items.len() {
            let calls = marks[at..]
                .iter()
                .take_while(|mark| mark.kind == ItemKind::Digest);
            let calls = calls.count();
            if calls == 0 {
                self.turn(items[at], &marks[at], prefix);
                at += 1;
                continue;
            }
            let range = at..at + calls;
            self.calls(&items[range.clone()], &marks[range.clone()], prefix);
            let spawned = items[range].iter().filter(|text| is_spawn(words_of(text)));
            for _ in 0..spawned.count() {
                self.next_agent(agents);
            }
            at += calls;
        }
        self.rest(agents);
    }

    /// What a person, the agent or the program said.
    fn turn(&mut self, text: &str, mark: &Mark, prefix: &str) {
        let words = words_of(text);
        let anchor = format!("{prefix}L{}", mark.line);
        let label = text
            .strip_suffix(words)
            .unwrap_or("")
            .trim_end_matches(": ");
        let (class, who) = match mark.kind {
            ItemKind::Prompt | ItemKind::Aside => ("user", label),
            ItemKind::Agent => ("reply", "Agent"),
            ItemKind::Error => ("error", "Error"),
            _ => ("told", label),
        };
        if mark.kind == ItemKind::Prompt && prefix.is_empty() {
            let begin = words.lines().find(|line| !line.trim().is_empty());
            let begin = cut(begin.unwrap_or("…"), PROMPT_CHARS_MAX);
            self.prompts.push((anchor.clone(), begin));
        }
        let content = match mark.kind {
            ItemKind::Agent => format!("<div class=\"said\" dir=\"auto\">{}</div>", html(words, 3)),
            _ => format!("<p class=\"typed\" dir=\"auto\">{}</p>", escape(words)),
        };
        let _ = writeln!(
            self.out,
            "<div class=\"turn {class}\" id=\"{anchor}\"><a class=\"at\" href=\"#{anchor}\" aria-label=\"line {line}\">{line}</a>\
             <p class=\"who\">{}</p>{content}</div>",
            escape(who),
            line = mark.line,
        );
    }

    /// Calls in a row, folded.
    fn calls(&mut self, items: &[&str], marks: &[Mark], prefix: &str) {
        let mut tools: Vec<(&str, u64)> = Vec::new();
        for item in items {
            let name = words_of(item).split(['(', ' ', '\n']).next().unwrap_or("");
            match tools.iter_mut().find(|(known, _)| *known == name) {
                Some((_, calls)) => *calls += 1,
                None => tools.push((name, 1)),
            }
        }
        let tools = tools.iter().map(|(name, calls)| match calls {
            1 => escape(name),
            calls => format!("{} × {calls}", escape(name)),
        });
        let tools: Vec<String> = tools.collect();
        let tags: String = marks
            .iter()
            .flat_map(|mark| &mark.findings)
            .filter_map(tag)
            .collect();
        let _ = writeln!(
            self.out,
            "<div class=\"turn\"><details class=\"calls\"><summary>{}: {}{tags}</summary><ol>",
            plural(items.len() as u64, "tool call"),
            tools.join(", "),
        );
        for (item, mark) in items.iter().zip(marks) {
            let tags: String = mark.findings.iter().filter_map(tag).collect();
            let _ = writeln!(
                self.out,
                "<li id=\"{prefix}L{line}\"><a class=\"at\" href=\"#{prefix}L{line}\" aria-label=\"line {line}\">{line}</a>{}{tags}</li>",
                escape(words_of(item)),
                line = mark.line,
            );
        }
        self.out.push_str("</ol></details></div>\n");
    }

    /// The sub-agents that are left.
    fn rest(&mut self, agents: &mut Waiting<'_, '_>) {
        while !agents.0.is_empty() {
            self.next_agent(agents);
        }
    }

    fn next_agent(&mut self, agents: &mut Waiting<'_, '_>) {
        while !agents.0.is_empty() {
            let (stream, episodes) = agents.0.remove(0);
            if !self.written.insert((*stream).to_owned()) {
                continue;
            }
            let task = episodes.first().map(|(first, _)| first.title.as_str());
            let _ = writeln!(
                self.out,
                "<details class=\"agent\"><summary>Sub-agent: {}</summary>",
                escape(&cut(task.unwrap_or_default(), PROMPT_CHARS_MAX)),
            );
            let prefix = format!("S{}-", self.written.len());
            for (episode, marks) in episodes {
                self.episode(episode, marks, &prefix, &mut Waiting(Vec::new()));
            }
            self.out.push_str("</details>\n");
            return;
        }
    }

    /// Links to the prompts, where there are enough to look for one.
    fn contents(&self) -> String {
        if self.prompts.len() < 2 {
            return String::new();
        }
        let prompts = self.prompts.iter();
        let prompts = prompts.map(|(anchor, begin)| {
            format!(
                "<li><a href=\"#{anchor}\" dir=\"auto\">{}</a></li>\n",
                escape(begin)
            )
        });
        format!(
            "<nav aria-label=\"Prompts\"><details class=\"contents\"><summary>{}</summary><ol>\n{}</ol></details></nav>\n",
            plural(self.prompts.len() as u64, "prompt"),
            prompts.collect::<String>(),
        )
    }
}

/// A call that sets a sub-agent to work.
fn is_spawn(words: &str) -> bool {
    ["Task(", "Agent(", "spawn_agent("]
        .iter()
        .any(|name| words.starts_with(name))
}

/// What a call came to that readers look for.
fn tag(finding: &Finding) -> Option<String> {
    let (class, text) = match finding {
        Finding::Commit { subject, .. } => ("good", format!("commit: {}", cut(subject, 60))),
        Finding::Tests(run) if run.failed > 0 => ("bad", format!("{} tests failed", run.failed)),
        Finding::Tests(run) if run.passed > 0 => ("good", format!("{} tests passed", run.passed)),
        _ => return None,
    };
    Some(format!(
        " <span class=\"tag {class}\">{}</span>",
        escape(&text)
    ))
}

/// A text's beginning.
fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((at, _)) => format!("{}…", text[..at].trim_end()),
        None => text.to_owned(),
    }
}

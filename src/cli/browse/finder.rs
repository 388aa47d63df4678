//! What `browse` asks of the store: the sessions that fit what was typed and chosen, and what is known of
//! one. Owns all that it needs, so that a thread can have it; knows no screen.

use crate::agents::registry;
use crate::cli::ctx::Ctx;
use crate::cli::session_filters::{self, Filters};
use crate::config::trust::Trusts;
use crate::config::{Env, Loaded};
use crate::insight::summary::TITLES;
use crate::memory::named_days::named_days;
use crate::memory::places::Places;
use crate::memory::provenance::shown_digits;
use crate::memory::query_parser;
use crate::memory::reach::{Reach, ReachRequest, reach};
use crate::memory::recall::RecallQuestion;
use crate::memory::scopes::Scope;
use crate::memory::session_activity::Judge;
use crate::memory::session_hits::{SessionAnswer, is_of_a_talk, recall_sessions};
use crate::memory::session_outcome::outcome_of;
use crate::memory::session_summary::title_of;
use crate::memory::when::When;
use crate::model::activity::Dimension;
use crate::model::episode::EpisodeSource;
use crate::model::error::Error;
use crate::model::human;
use crate::model::layout::markdown::{excerpt, plain};
use crate::model::layout::style::{Style, paint};
use crate::model::source::Agent;
use crate::model::summary::{SessionOutcome, is_quiet};
use crate::model::time::Time;
use crate::model::zone::Zone;
use crate::pipeline::context::HiddenPaths;
use crate::store::{Hit, Query, SessionFilter, SessionRow, Store, TYPED};
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};

/// In which order sessions are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListOrder {
    /// What fits the words best comes first; without words, the newest.
    #[default]
    Relevance,
    /// The newest of them first.
    Newest,
}

/// What was typed and chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ask {
    /// As it was typed, fields (`since:14d`) included.
    pub words: String,
    /// Only this project, by its name.
    pub project: Option<String>,
    /// Only this agent's.
    pub agent: Option<Agent>,
    /// Only what happened since.
    pub since: Option<When>,
    /// Only this kind of work.
    pub work: Option<Dimension>,
    /// Only sessions that are not completed.
    pub open: bool,
    /// The order.
    pub order: ListOrder,
    /// At most so many.
    pub limit: u32,
}

/// A session in the list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionEntry {
    /// Its id.
    pub id: String,
    /// As much of it as has to be typed.
    pub shown: String,
    /// Its title, on one line.
    pub title: String,
    /// Its project's name.
    pub project: String,
    /// Whose session it is.
    pub agent: String,
    /// How long ago it ended, or was said what was found.
    pub age: String,
    /// How it ended.
    pub outcome: Option<SessionOutcome>,
    /// Its log grows no more.
    pub is_quiet: bool,
    /// The kind of work that it mostly was.
    pub work: Option<Dimension>,
    /// What was found in it, marked.
    pub passage: Option<String>,
}

/// Sessions that were found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionList {
    /// In order.
    pub entries: Vec<SessionEntry>,
    /// There are more.
    pub more: bool,
    /// How many there are with these, where that is known.
    pub total: Option<u64>,
    /// What deserves to be said of it.
    pub note: Option<String>,
}

/// What can be chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choices {
    /// Names of projects, in alphabetical order.
    pub projects: Vec<String>,
    /// Agents.
    pub agents: Vec<Agent>,
}

/// Says that nobody waits for the answer any more.
pub type Stale<'a> = &'a dyn Fn() -> bool;

/// Finds sessions.
pub struct Finder {
    pub(super) store: Store,
    places: Places,
    trusts: Option<Trusts>,
    env: Env,
    base: Reach,
    names: BTreeMap<String, String>,
    filters: Filters,
    pub(super) loaded: Loaded,
    pub(super) hidden: HiddenPaths,
    pub(super) judge: Judge,
    pub(super) now: Time,
    pub(super) zone: Zone,
}

/// Most results that are looked through for those that fit what was chosen besides.
const LOOKED_AT_MAX: u32 = 640;

/// A word of fewer letters is not completed while it is typed: too much begins with it.
const BEGUN_MIN: usize = 3;

impl Finder {
    /// With the settings, the trust and the filters of a command line.
    ///
    /// # Errors
    /// Where there is no store, or what the filters name isn't stored.
    pub fn new(filters: &Filters, ctx: &mut Ctx) -> Result<Finder> {
        let store = ctx.reader()?;
        let base = session_filters::scope(filters, ctx)?;
        let loaded = ctx.settings()?;
        let places = Places::of(&store)?;
        let names = places.names(|path| ctx.hides_paths_of(path).unwrap_or(true));
        let trusts = match filters.allow_untrusted {
            true => None,
            false => Some(Trusts::load(&ctx.env)?),
        };
        Ok(Finder {
            store,
            places,
            trusts,
            env: ctx.env.clone(),
            base,
            names,
            filters: filters.clone(),
            loaded,
            hidden: HiddenPaths::default(),
            judge: ctx.judge()?,
            now: ctx.now,
            zone: ctx.zone,
        })
    }

    /// Another one, for another thread.
    ///
    /// # Errors
    /// When the store can't be opened once more.
    pub fn again(&self, ctx: &Ctx) -> Result<Finder> {
        Ok(Finder {
            store: ctx.reader()?,
            places: self.places.clone(),
            trusts: self.trusts.clone(),
            env: self.env.clone(),
            base: self.base.clone(),
            names: self.names.clone(),
            filters: self.filters.clone(),
            loaded: self.loaded.clone(),
            hidden: HiddenPaths::default(),
            judge: self.judge.clone(),
            now: self.now,
            zone: self.zone,
        })
    }

    /// What is said where there is no session.
    ///
    /// # Errors
    /// When the store can't be read.
    pub fn none_matches(&self) -> Result<String, Error> {
        session_filters::none_matches(&self.base.scope, &self.store, self.zone)
    }

    /// What can be chosen here.
    pub fn choices(&self) -> Choices {
        let seen = self
            .names
            .iter()
            .filter(|(namespace, _)| self.base.scope.allows(namespace));
        let projects: BTreeSet<&String> = seen.map(|(_, name)| name).collect();
        Choices {
            projects: projects.into_iter().cloned().collect(),
            agents: registry::words().collect(),
        }
    }

    /// The sessions that fit. What nobody waits for any more is given up, with what was found so far.
    ///
    /// # Errors
    /// Of kind `Usage` where a field is said wrongly; when the store can't be read.
    pub fn find(&mut self, ask: &Ask, stale: Stale<'_>) -> Result<SessionList, Error> {
        let line = begun(&ask.words);
        let (now, zone) = (self.now, self.zone);
        let dates = |field: &str, value: &str| When::of_field(field, value, now, zone);
        let meant = query_parser::read(&line, ask.limit, &dates, registry::doer_named)?;
        let base = match &meant.project {
            Some(typed) => self.reach(typed)?,
            None => self.base.clone(),
        };
        if let Some(reason) = base.refusal() {
            return Ok(SessionList {
                note: Some(reason.to_owned()),
                ..SessionList::default()
            });
        }
        let scope = match &ask.project {
            Some(name) => self.narrowed(&base.scope, name),
            None => base.scope.clone(),
        };
        if ask.words.trim().is_empty() {
            return self.newest(ask, &scope, stale);
        }
        let mut query = Query {
            agent: meant.query.agent.or(ask.agent).or(self.filters.agent),
            since: [meant.query.since, self.since(ask)]
                .into_iter()
                .flatten()
                .max(),
            until: meant.query.until.or(self.until()),
            ..meant.query
        };
        if query.sources.is_empty() {
            query.sources = vec![EpisodeSource::Session, EpisodeSource::SessionSummary];
        }
        let activity = meant.activity;
        let judge = self.judge.clone();
        let fits = activity.map(|wanted| {
            move |tally: &crate::model::activity::ActivityTally| wanted.fits(&judge.activity(tally))
        });
        let mut question = RecallQuestion {
            keeps: fits.as_ref().map(|fits| fits as &crate::store::Keeps<'_>),
            ..RecallQuestion::new(query, &scope)
        };
        question.near.project = base.present.clone();
        question.near.days = named_days(&ask.words, now);
        self.best(ask, question, stale)
    }

    /// The best sessions; more are looked through where what was chosen leaves out too many.
    fn best(
        &mut self,
        ask: &Ask,
        mut question: RecallQuestion<'_>,
        stale: Stale<'_>,
    ) -> Result<SessionList, Error> {
        let is_all = question.query.terms.is_empty();
        let mut limit = ask.limit + 1;
        loop {
            question.query.limit = limit;
            let mut found = recall_sessions(&self.store, &question)?;
            let looked_at = found.answer.hits.len() as u32;
            let note = note(&found, is_all);
            if ask.order == ListOrder::Newest {
                let hits = &mut found.answer.hits;
                hits.sort_by_key(|hit| std::cmp::Reverse(hit.valid_at));
            }
            let mut entries = Vec::new();
            for hit in found.answer.hits.iter().filter(|hit| is_of_a_talk(hit)) {
                if stale() || entries.len() > ask.limit as usize {
                    break;
                }
                entries.extend(self.of_hit(hit, ask)?);
            }
            let is_enough = entries.len() > ask.limit as usize;
            if is_enough || looked_at < limit || limit >= LOOKED_AT_MAX || stale() {
                return Ok(listed(entries, ask.limit, note));
            }
            limit = limit.saturating_mul(4).min(LOOKED_AT_MAX);
        }
    }

    /// The newest sessions.
    fn newest(&mut self, ask: &Ask, scope: &Scope, stale: Stale<'_>) -> Result<SessionList, Error> {
        let chooses = ask.open || ask.work.is_some();
        let filter = SessionFilter {
            namespaces: scope.namespaces(),
            agent: ask.agent.or(self.filters.agent),
            since: self.since(ask),
            until: self.until(),
            limit: (!chooses).then_some(ask.limit + 1),
        };
        let mut entries = Vec::new();
        for row in self.store.sessions(&filter)? {
            if stale() || entries.len() > ask.limit as usize {
                break;
            }
            entries.extend(self.of_row(&row, ask)?);
        }
        let mut list = listed(entries, ask.limit, None);
        if list.more && !chooses {
            list.total = Some(self.store.count_sessions(&filter)?);
        }
        Ok(list)
    }

    fn of_row(&mut self, row: &SessionRow, ask: &Ask) -> Result<Option<SessionEntry>, Error> {
        let session = &row.session;
        let Some((outcome, work)) = self.judged(&session.id, ask)? else {
            return Ok(None);
        };
        let ended = session.facts.ended.or(session.facts.started);
        Ok(Some(SessionEntry {
            id: session.id.clone(),
            shown: self.store.session_shown(&session.id, TYPED)?,
            title: title(title_of(row, &self.store)?.as_deref()),
            project: self.project(&session.namespace),
            agent: session.agent.as_str().to_owned(),
            age: self.age(ended),
            is_quiet: is_quiet(ended, self.now),
            outcome,
            work,
            passage: None,
        }))
    }

    fn of_hit(&mut self, hit: &Hit, ask: &Ask) -> Result<Option<SessionEntry>, Error> {
        let Some((outcome, work)) = self.judged(&hit.session, ask)? else {
            return Ok(None);
        };
        let row = self.store.session(&hit.session)?;
        let ended = row.as_ref().and_then(|row| row.session.facts.ended);
        let named = row.as_ref().map(|row| title_of(row, &self.store));
        let own = (!hit.title.is_empty()).then(|| hit.title.clone());
        let named = named.transpose()?.flatten().or(own);
        Ok(Some(SessionEntry {
            id: hit.session.clone(),
            shown: self.store.session_shown(&hit.session, TYPED)?,
            title: title(named.as_deref()),
            project: self.project(&hit.namespace),
            agent: hit.agent.as_str().to_owned(),
            age: self.age(hit.valid_at),
            is_quiet: is_quiet(ended.or(hit.valid_at), self.now),
            outcome,
            work,
            passage: Some(passage(hit)).filter(|passage| !passage.is_empty()),
        }))
    }

    /// How a session ended and what it was; `None` where that isn't what was chosen.
    #[expect(clippy::type_complexity, reason = "two things, or neither")]
    fn judged(
        &self,
        session: &str,
        ask: &Ask,
    ) -> Result<Option<(Option<SessionOutcome>, Option<Dimension>)>, Error> {
        let work = self.judge.activity(&self.store.activity(session)?);
        if ask.work.is_some() && ask.work != work.primary {
            return Ok(None);
        }
        let outcome = outcome_of(&self.store, session)?;
        let is_open = outcome.is_some_and(|outcome| outcome != SessionOutcome::Completed);
        Ok((is_open || !ask.open).then_some((outcome, work.sure)))
    }

    /// What a project is called.
    pub(super) fn project(&self, namespace: &str) -> String {
        let name = self.names.get(namespace);
        name.map_or_else(|| shown_digits(namespace).to_owned(), String::clone)
    }

    fn age(&self, at: Option<Time>) -> String {
        at.map_or_else(String::new, |at| human::ago(at, self.now))
    }

    /// The later of what the command line and what was chosen say.
    fn since(&self, ask: &Ask) -> Option<Time> {
        let both = [self.filters.since, ask.since].into_iter().flatten();
        both.map(|when| when.start(self.now, self.zone)).max()
    }

    fn until(&self) -> Option<Time> {
        self.filters.until.map(|when| when.end(self.now, self.zone))
    }

    /// What a project's name lets through of a scope.
    fn narrowed(&self, scope: &Scope, name: &str) -> Scope {
        let own = self.names.iter().filter(|(_, own)| own.as_str() == name);
        let own = own.map(|(namespace, _)| namespace.clone());
        Scope::Only(own.filter(|namespace| scope.allows(namespace)).collect())
    }

    /// What `project:` reaches.
    fn reach(&self, typed: &str) -> Result<Reach, Error> {
        let request = ReachRequest {
            project: Some(typed),
            asked: &self.filters.namespace,
            settings: &self.loaded.here,
            trusts: self.trusts.as_ref(),
            present: self.base.present.clone(),
            cwd: &self.env.cwd,
        };
        reach(request, &self.places, Some(&self.store))
    }
}

/// A line whose last word may go on, as long as it is being typed. One of which there is too little yet
/// is left out behind other words, whose sessions stay until there is more; alone, it is a whole word.
fn begun(words: &str) -> String {
    let last = words.rsplit(char::is_whitespace).next().unwrap_or_default();
    let before = &words[..words.len() - last.len()];
    let is_word = !last.is_empty() && last.chars().all(char::is_alphanumeric);
    let is_open = words.matches('"').count() % 2 == 1;
    if !is_word || is_open || last == "OR" {
        return words.to_owned();
    }
    // two characters of Chinese or Japanese are a word already
    match !last.is_ascii() || last.len() >= BEGUN_MIN {
        true => format!("{words}*"),
        false if before.trim().is_empty() => words.to_owned(),
        false => before.to_owned(),
    }
}

fn note(found: &SessionAnswer, is_all: bool) -> Option<String> {
    let is_loose = found.answer.loosened && !is_all;
    let says = "no session has all of the words; these have some";
    is_loose.then(|| says.to_owned())
}

fn listed(mut entries: Vec<SessionEntry>, limit: u32, note: Option<String>) -> SessionList {
    let more = entries.len() > limit as usize;
    entries.truncate(limit as usize);
    SessionList {
        entries,
        more,
        total: None,
        note,
    }
}

fn title(title: Option<&str>) -> String {
    let title = title.and_then(|title| title.lines().find(|line| !line.trim().is_empty()));
    human::title(&plain(title.unwrap_or("(no title)"))).into_owned()
}

/// What was found, on one line, with marks.
fn passage(hit: &Hit) -> String {
    let snippet = &hit.snippet;
    let cut = (snippet.cut_before, snippet.cut_after);
    let mark = |hit: &str| paint(Style::Match, hit);
    let words = excerpt(&snippet.text, &snippet.marks, cut, &TITLES, mark);
    let before = if cut.0 { "… " } else { "" };
    let after = if cut.1 { " …" } else { "" };
    match words.trim() {
        "" => String::new(),
        words => format!("{before}{words}{after}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_may_go_on_while_it_is_typed() {
        for (typed, wants) in [
            ("tok", "tok*"),
            ("token exp", "token exp*"),
            ("token ", "token "),
            ("to", "to"),
            ("token ex", "token "),
            ("token ui ", "token ui "),
            ("tok*", "tok*"),
            ("since:14d", "since:14d"),
            ("\"two wor", "\"two wor"),
            ("\"two words\"", "\"two words\""),
            ("this OR", "this OR"),
            ("検索", "検索*"),
        ] {
            assert_eq!(begun(typed), wants);
        }
    }
}

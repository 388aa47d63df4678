//! What a session that begins should know of its project: what the last one came to, what was given up
//! lately, what is left open, and the branch.

use super::block::{FactSource, RecalledFact, below_home};
use super::places::Places;
use super::rollback_facts::{Audience, recent_facts};
use super::scopes::Scope;
use super::session_summary::ending_of;
use super::trusted::trusted;
use super::workspace::Workspace;
use crate::config::trust::Trusts;
use crate::insight::facts::says_unpushed;
use crate::model::error::Error;
use crate::model::scope::MemoryScope;
use crate::model::summary::{LlmAdditions, SessionCommit, Sourced, Summary, is_quiet};
use crate::model::time::Time;
use crate::store::{Found, KEPT, LlmSummary, SessionRow, Store};
use crate::tracking::safe_names;
use crate::tracking::session_git::SessionGit;

/// Who begins, and where.
#[derive(Clone, Debug)]
pub struct SessionStart {
    /// The session that begins: what it says of itself is not news to it.
    pub session: Option<String>,
    /// When.
    pub now: Time,
    /// Where it works.
    pub workspace: Workspace,
    /// `trusted_namespaces`.
    pub trusted: Option<Vec<String>>,
    /// Whom the agents trust.
    pub trusts: Trusts,
    /// Paths of logs are told, those in this folder as `~`.
    pub shows_paths: Option<String>,
}

/// Sessions that are looked at for one that says something. More: a project of a hundred greetings
/// costs a hundred looks.
const SESSIONS_MAX: u32 = 8;

/// Text of a session that is read: its beginning and its end. More: the session waits longer.
const TEXT_BYTES_MAX: u64 = 96 << 10;

/// Open ends that are told.
const OPEN_MAX: usize = 5;

/// Commits that are told, the last ones.
const COMMITS_MAX: usize = 3;

/// Undoings that are told. More: what the last session left open has no room.
const ROLLBACKS_MAX: usize = 3;

/// What is known of the project's last session and of what was given up lately, most important first;
/// nothing where no stored session says anything and nothing was given up.
///
/// # Errors
/// When the store can't be read.
pub fn session_start_facts(
    store: &Store,
    start: &SessionStart,
) -> Result<Vec<RecalledFact>, Error> {
    let places = Places::of(store)?;
    let scope = start.workspace.scope(&places, start.trusted.as_deref());
    let scope = trusted(scope, store, &start.trusts)?;
    let mut facts = last_session_facts(store, start, &scope)?;
    let audience = Audience {
        session: start.session.as_deref(),
        workspace: &start.workspace,
        scope: &scope,
        shows_paths: start.shows_paths.as_deref(),
    };
    // behind what the last session came to: less is left open than was learned
    let behind = facts.len().min(1);
    facts.splice(
        behind..behind,
        recent_facts(store, audience, start.now, ROLLBACKS_MAX)?,
    );
    Ok(facts)
}

/// What the last session of these came to, with its commits and what it left open. Reads one session's ends.
pub(super) fn last_session_facts(
    store: &Store,
    start: &SessionStart,
    scope: &Scope,
) -> Result<Vec<RecalledFact>, Error> {
    for row in store.sessions(&start.workspace.sessions(scope, SESSIONS_MAX))? {
        if start.session.as_ref() == Some(&row.session.id) {
            continue;
        }
        let (episodes, _) = store.chunks(&row.session.id, TEXT_BYTES_MAX)?;
        let mut summary = match store.llm_summary(&row.session.id)? {
            Some(LlmSummary::Summarized(llm)) => *llm,
            _ => ending_of(store, &row, &episodes)?,
        };
        SessionGit::of_log(store, &episodes, &summary)?.tell(&mut summary);
        let hides = start.shows_paths.is_none();
        summary.shorten_paths(&row.session.project_path, hides);
        let facts = Last {
            shown: store.session_shown(&row.session.id, KEPT)?,
            row: &row,
            episodes: &episodes,
            start,
        }
        .facts(&summary);
        if !facts.is_empty() {
            return Ok(facts);
        }
    }
    Ok(Vec::new())
}

/// The session that is told of.
struct Last<'l> {
    shown: String,
    row: &'l SessionRow,
    episodes: &'l [Found],
    start: &'l SessionStart,
}

impl Last<'_> {
    fn facts(&self, summary: &Summary) -> Vec<RecalledFact> {
        let nothing = LlmAdditions::default();
        let llm = summary.llm.as_ref().unwrap_or(&nothing);
        let mut facts: Vec<RecalledFact> = self.came_to(summary, llm).into_iter().collect();
        // that the log shows no push may be no step
        let steps = summary.next_steps.iter();
        let steps = steps.filter(|step| says_unpushed(&step.what) != Some(false));
        let steps = steps.map(|step| self.at(step, &step.what));
        let more = llm.next_steps.iter().map(|step| self.whole(step.clone()));
        facts.extend(steps.chain(more).take(OPEN_MAX).map(|mut fact| {
            fact.text.insert_str(0, "Left open: ");
            fact
        }));
        // what git alone tells may be a stranger's words
        let told_here = |commit: &&Sourced<SessionCommit>| {
            !commit.what.by_git && commit.what.given_up.is_none()
        };
        let commits: Vec<_> = summary.commits.iter().filter(told_here).collect();
        let skipped = commits.len().saturating_sub(COMMITS_MAX);
        for commit in &commits[skipped..] {
            let text = format!("Committed {} {}", commit.what.hash, commit.what.subject);
            facts.push(self.at(commit, &text));
        }
        if !facts.is_empty() {
            facts.extend(self.branch());
        }
        facts
    }

    /// What it was for and how it ended; `None` where nobody asked for anything.
    fn came_to(&self, summary: &Summary, llm: &LlmAdditions) -> Option<RecalledFact> {
        let objective = summary.objective.as_ref();
        let what = match llm.objective.as_str() {
            "" => objective?.what.as_str(),
            model => model,
        };
        let outcome = summary.outcome.or(llm.outcome);
        let quiet = is_quiet(self.row.session.facts.ended, self.start.now);
        let outcome = outcome.map_or(String::new(), |outcome| {
            format!(" ({})", outcome.words(quiet))
        });
        let result = summary.result.as_ref();
        let result = result.map_or(String::new(), |result| format!(" → {}", result.what));
        let text = format!("The last session{outcome}: {what}{result}");
        Some(match objective {
            Some(objective) => self.at(objective, &text),
            None => self.whole(text),
        })
    }

    /// The branch that is checked out, and the session's where that was another one.
    fn branch(&self) -> Option<RecalledFact> {
        let branch = self.start.workspace.branch.as_ref()?;
        let was = self.row.session.branch.as_ref();
        let was = was.filter(|was| *was != branch && !was.is_empty());
        let branch = safe_names::branch(branch)?;
        let was = was.and_then(|was| safe_names::branch(was));
        let was = was.map_or(String::new(), |was| format!("; that session was on {was}"));
        Some(RecalledFact {
            text: format!("Now on branch {branch}{was}"),
            scope: MemoryScope::Workspace,
            source: None,
        })
    }

    /// A fact with the line that tells it.
    fn at<T>(&self, llm: &Sourced<T>, text: &str) -> RecalledFact {
        let teller = self
            .episodes
            .iter()
            .find(|found| found.episode.id == llm.episode);
        match teller {
            Some(found) => self.fact(text.to_owned(), found, (llm.line, llm.line)),
            None => self.whole(text.to_owned()),
        }
    }

    /// A fact that the session as a whole tells.
    fn whole(&self, text: String) -> RecalledFact {
        match self.episodes.first() {
            Some(found) => {
                let last = self
                    .episodes
                    .iter()
                    .map(|found| found.episode.lines.1)
                    .max();
                self.fact(text, found, (1, last.unwrap_or(1)))
            }
            None => RecalledFact {
                text,
                scope: MemoryScope::Workspace,
                source: None,
            },
        }
    }

    fn fact(&self, text: String, found: &Found, lines: (u64, u64)) -> RecalledFact {
        let home = self.start.shows_paths.as_deref();
        RecalledFact {
            text,
            scope: MemoryScope::Workspace,
            source: Some(FactSource {
                session: Some((self.row.session.agent, self.row.session.id.clone())),
                shown: self.shown.clone(),
                episode: found.episode.id,
                at: self.row.session.facts.ended.or(found.episode.valid_at),
                path: home.map(|home| below_home(&found.path, home)),
                lines,
            }),
        }
    }
}

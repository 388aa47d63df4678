//! How well what was said is found again: questions with the sessions that answer them, and
//! questions that nothing answers.

use super::{Figure, rows};
use crate::config::RecallLimits;
use crate::config::trust::Trusts;
use crate::memory::block::{FactRoom, RecalledFact};
use crate::memory::classifiers;
use crate::memory::facts_request::FactsRequest;
use crate::memory::query_terms;
use crate::memory::rank::{CONFIDENT, Near};
use crate::memory::recall::{RecallAnswer, RecallQuestion, recall};
use crate::memory::remember::remember;
use crate::memory::scopes::Scope;
use crate::memory::session_activity::Judge;
use crate::memory::workspace::Workspace;
use crate::model::error::Error;
use crate::model::namespace::namespace;
use crate::model::scope::MemoryScope;
use crate::model::time::Time;
use crate::pipeline::check::with_defaults;
use crate::pipeline::context::RunContext;
use crate::pipeline::options::RunOptions;
use crate::pipeline::progress::Silent;
use crate::pipeline::spec::{Pipeline, Window};
use crate::pipeline::steps::enrich::session_summary::{SummarizeOptions, summarize};
use crate::pipeline::steps::ingest::index;
use crate::store::{Access, SessionFilter, Store};
use anyhow::Result;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::path::Path;

/// Hits that a question gets.
const HITS: u32 = 5;

/// A row of `recall.jsonl`.
#[derive(Debug, Deserialize)]
pub struct LabelledQuestion {
    id: String,
    question: String,
    /// Sessions that answer; none: it must stay unanswered.
    wants: Vec<String>,
    /// Where it is asked; absent: nowhere in particular.
    project: Option<String>,
    /// What an answer says: of each row one of the spellings. Absent: no word of the log would do.
    answer: Option<Vec<Vec<String>>>,
}

impl LabelledQuestion {
    /// A text has the answer's words.
    fn is_answered_by(&self, text: &str) -> Option<bool> {
        let text = text.to_lowercase();
        let says = |spelling: &String| text.contains(&spelling.to_lowercase());
        let rows = self.answer.as_ref()?.iter();
        Some(rows.map(|row| row.iter()).all(|mut row| row.any(says)))
    }

    /// The half that no weight was chosen by: the last bit of the SHA-256 of the id.
    fn is_held_out(&self) -> bool {
        let hash = Sha256::digest(self.id.as_bytes());
        hash.last().is_some_and(|byte| byte & 1 == 1)
    }
}

/// The questions in `truth`; `None`: there are none, or they aren't wanted.
///
/// # Errors
/// When the file can't be read or isn't what its name says.
pub fn asked(truth: &Path, parts: &[String]) -> Result<Option<Vec<LabelledQuestion>>> {
    rows(truth, "recall", parts)
}

/// Reads the logs of `cx`' settings into a throw-away store, with each session's summary, and asks there.
///
/// # Errors
/// When the store can't be made or read.
pub fn measured(
    asked: &[LabelledQuestion],
    pipeline: &Pipeline,
    cx: &RunContext<'_>,
) -> Result<Vec<Figure>> {
    let dir = tempfile::tempdir()?;
    let options = RunOptions {
        window: Window::All,
        ..RunOptions::new(pipeline, cx)
    };
    let judge = Judge {
        classifier: classifiers::counter(&cx.loaded.home)?,
        min_strength: cx.loaded.config.scoring.min_strength,
        manual: None,
    };
    let mut store = Store::open(&dir.path().join("eval.db"), Access::ReadWrite)?;
    with_defaults(cx.loaded, &options, |ingest| {
        index(&mut store, ingest, &Silent)
    })?;
    if store.sessions(&SessionFilter::default())?.is_empty() {
        let error = Error::usage("the corpus has no sessions to ask about");
        return Err(error
            .hinted("--corpus DIR names a folder with .claude or .codex in it")
            .into());
    }
    let mut summaries = SummarizeOptions {
        now: options.now,
        settled_ms: 0,
        jobs: options.jobs,
        judge: &judge,
        hides: &mut |_| Ok(false),
    };
    summarize(&mut store, &mut summaries)?;
    figures(asked, &store, &cx.loaded.here.memory.recall)
}

/// Whose sessions may answer.
#[derive(Clone, Copy, PartialEq)]
enum Reach {
    Project,
    All,
}

/// Asks each question as `recall` does, within its project and over all, and once as `search` does,
/// which shows what it finds however sure it is of it.
///
/// # Errors
/// When the store can't be read.
fn figures(
    asked: &[LabelledQuestion],
    store: &Store,
    limits: &RecallLimits,
) -> Result<Vec<Figure>> {
    let (held_out, tuned): (Vec<&LabelledQuestion>, Vec<&LabelledQuestion>) =
        asked.iter().partition(|asked| asked.is_held_out());
    let everything: Vec<&LabelledQuestion> = asked.iter().collect();
    let mut all = Vec::new();
    for (name, asked, reach, shows) in [
        ("recall", &everything, Reach::Project, CONFIDENT),
        ("recall, tuned half", &tuned, Reach::Project, CONFIDENT),
        (
            "recall, held-out half",
            &held_out,
            Reach::Project,
            CONFIDENT,
        ),
        ("recall over all", &everything, Reach::All, CONFIDENT),
        ("search", &everything, Reach::Project, 0.0),
        ("search over all", &everything, Reach::All, 0.0),
    ] {
        let mut measured = Measured::new(name);
        for asked in asked {
            measured.count(asked, &ask(store, asked, reach)?, shows);
        }
        all.extend(measured.figures(name == "recall"));
    }
    for (name, asked) in [
        ("answer", &everything),
        ("answer, tuned half", &tuned),
        ("answer, held-out half", &held_out),
    ] {
        all.extend(answers(name, asked, store, limits)?);
    }
    Ok(all)
}

/// Whether the answer's words stand in what an agent is given: of the questions for which it is given something
/// of a session that answers, and of all.
fn answers(
    name: &str,
    asked: &[&LabelledQuestion],
    store: &Store,
    limits: &RecallLimits,
) -> Result<[Figure; 2]> {
    let bar = (name == "answer").then_some(0.85);
    let mut quoted = Figure::new(&format!("{name}: quoted where its session is"), bar);
    let mut given = Figure::new(&format!("{name}: quoted"), None);
    for asked in asked {
        let (Some(root), false) = (&asked.project, asked.wants.is_empty()) else {
            continue;
        };
        let facts = remember(store, &facts_request(&asked.question, root, limits))?;
        let of_session = |fact: &&RecalledFact| {
            let session = fact
                .source
                .as_ref()
                .and_then(|source| source.session.as_ref());
            session.is_some_and(|(_, id)| asked.wants.contains(id))
        };
        let texts: Vec<&str> = facts
            .iter()
            .filter(of_session)
            .map(|fact| fact.text.as_str())
            .collect();
        let Some(is_answered) = asked.is_answered_by(&texts.join("\n")) else {
            continue;
        };
        let id = format!("{} {}", asked.id, asked.question);
        given.hit(&id, is_answered);
        if !texts.is_empty() {
            quoted.hit(&id, is_answered);
        }
    }
    Ok([quoted, given])
}

/// A prompt as a hook asks about it, with the settings as they are where nobody set any.
fn facts_request(question: &str, root: &str, limits: &RecallLimits) -> FactsRequest {
    FactsRequest {
        question: question.to_owned(),
        session: None,
        by_hook: true,
        workspace: Workspace::at_root(root),
        trusted: None,
        trusts: Trusts::default(),
        user: None,
        scopes: [MemoryScope::Workspace].into(),
        now: Time::default(),
        limit: limits.max_results as usize,
        room: FactRoom::new(limits),
        shows_paths: None,
    }
}

fn ask(store: &Store, asked: &LabelledQuestion, reach: Reach) -> Result<RecallAnswer> {
    let query = query_terms::question(&asked.question, HITS);
    if query.terms.is_empty() {
        return Ok(RecallAnswer::default());
    }
    let own = asked.project.as_deref().filter(|_| reach == Reach::Project);
    let scope = own.map_or(Scope::All, |root| Scope::Only(vec![namespace(root)]));
    let question = RecallQuestion {
        near: Near {
            project: asked.project.clone(),
            ..Near::default()
        },
        ..RecallQuestion::new(query, &scope)
    };
    Ok(recall(store, &question)?)
}

struct Measured {
    first: Figure,
    five: Figure,
    mrr: Figure,
    surfaced: Figure,
    /// The sum of the reciprocal ranks.
    ranks: f64,
}

impl Measured {
    fn new(name: &str) -> Measured {
        Measured {
            first: Figure::new(&format!("{name}: hit@1"), Some(0.75)),
            five: Figure::new(&format!("{name}: hit@5"), Some(0.90)),
            mrr: Figure::new(&format!("{name}: MRR"), None),
            surfaced: Figure::at_most(&format!("{name}: false surface"), 0.10),
            ranks: 0.0,
        }
    }

    /// Counts what was shown: nothing where the best hit has less than the confidence `shows`, else
    /// all that have it.
    fn count(&mut self, asked: &LabelledQuestion, answer: &RecallAnswer, shows: f64) {
        let mut sessions: Vec<&str> = Vec::new();
        let hits = answer.hits.iter().filter(|_| answer.confidence >= shows);
        for hit in hits.filter(|hit| hit.confidence >= shows) {
            if !sessions.contains(&hit.session.as_str()) {
                sessions.push(&hit.session);
            }
        }
        let id = format!("{} {}", asked.id, asked.question);
        if asked.wants.is_empty() {
            self.surfaced.note(&id, !sessions.is_empty());
            return;
        }
        let is_wanted = |session: &&str| asked.wants.iter().any(|wanted| wanted == session);
        let rank = sessions.iter().position(is_wanted);
        self.first.hit(&id, rank == Some(0));
        self.five.hit(&id, rank.is_some());
        self.mrr.of += 1;
        self.ranks += rank.map_or(0.0, |rank| 1.0 / (rank + 1) as f64);
    }

    fn figures(mut self, has_bars: bool) -> [Figure; 4] {
        self.mrr.mean = Some(self.ranks / self.mrr.of.max(1) as f64);
        let mut all = [self.first, self.five, self.mrr, self.surfaced];
        if !has_bars {
            all.iter_mut().for_each(|figure| figure.bar = None);
        }
        all
    }
}

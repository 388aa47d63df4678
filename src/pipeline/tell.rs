//! The last part of the step `enrich`: a language model is asked what sessions came to, one after the
//! other, within a budget.
//!
//! Knows which are asked about, when again, and what becomes of answers; refuses to know who answers
//! and what is asked (`insight::summarise`).

use super::deliver::PENDING_MS;
use super::enrich::Budget;
use super::summarise::Whole;
use crate::insight::summarise::ask::{Talk, ask};
use crate::insight::summarise::merge::merged;
use crate::insight::summarise::prompt::{About, Question, question};
use crate::memory::activity::Judge;
use crate::model::activity::ActivityVector;
use crate::model::llm::{Tokens, Unanswered};
use crate::model::policy::{SummaryPolicy, WhenAway};
use crate::model::template::Template;
use crate::model::time::Time;
use crate::rules::secrets::Redactor;
use crate::stages::upload::RetryOptions;
use crate::store::{Spent, Store, Telling, Untold};
use anyhow::Result;

/// What the model is asked with.
pub struct Orders<'a> {
    /// The run's time.
    pub now: Time,
    /// Sessions that ended before aren't asked about; `None`: all are.
    pub since: Option<Time>,
    /// Tells what kind of work it was.
    pub judge: &'a Judge,
    /// The projects, by path: whether they want it, and whether their paths are told to nobody.
    pub project: &'a mut dyn FnMut(&str) -> Result<Project>,
    /// What is asked for.
    pub policy: SummaryPolicy,
    /// The words around it.
    pub template: &'a Template,
    /// Tokens of a question with its answer.
    pub context_tokens: u64,
    /// What this run may still use, and what the day leaves.
    pub budgets: &'a [Budget],
    /// What a whole run and a whole day may use: a question that takes more is never asked.
    pub bounds: &'a [Budget],
    /// `session_tracking.resilience.retry_queue`.
    pub retry: &'a RetryOptions,
    /// Sessions that wait for an answer at most.
    pub queue_max: u32,
    /// `session_tracking.resilience.on_llm_unavailable`.
    pub when_away: WhenAway,
    /// Masks what comes back.
    pub redactor: &'a Redactor,
    /// The model's name.
    pub model: &'a str,
}

/// What a project says of its sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Project {
    /// A model may be asked about them.
    pub wants: bool,
    /// Their paths are told to nobody.
    pub hides_paths: bool,
}

/// What was told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// Sessions that a model told.
    pub sessions: u64,
    /// Sessions that stay with their facts, for good.
    pub refused: u64,
    /// Given up for want of an answer.
    pub given_up: u64,
    /// Left out: one question alone costs more than a run or a day may.
    pub too_dear: u64,
    /// What was spent.
    pub tokens: Tokens,
    /// In US dollars.
    pub usd: f64,
    /// Why the step ended early.
    pub stopped: Option<String>,
    /// The model may be asked again then.
    pub rests_until: Option<Time>,
}

/// What asking would cost now.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Predicted {
    /// Sessions.
    pub sessions: u64,
    /// Tokens of their questions, and of ordinary answers.
    pub tokens: Tokens,
}

/// Asks about every session that waits, the latest first, until the budget is used or nobody answers.
///
/// # Errors
/// When the store fails; when nobody answers and that is to be an error.
pub fn tell(store: &mut Store, orders: &mut Orders<'_>, talk: &Talk<'_>) -> Result<Told> {
    let mut done = Told {
        rests_until: store.model_rests_until(orders.now)?,
        ..Told::default()
    };
    if done.rests_until.is_some() {
        return Ok(done);
    }
    for (untold, project) in waiting(store, orders)? {
        let Some(asked) = prepared(store, &untold, project, orders)? else {
            continue;
        };
        if !allow(orders.bounds, asked.most()) {
            done.too_dear += 1;
            continue;
        }
        let mut all = done.tokens;
        all += asked.most();
        if !allow(orders.budgets, all) {
            done.stopped = Some("budget".into());
            break;
        }
        if !one(store, &untold, &asked, orders, talk, &mut done)? {
            break;
        }
    }
    Ok(done)
}

/// What [`tell`] would ask now, however much was used before.
///
/// # Errors
/// When the store fails.
pub fn predicted(store: &Store, orders: &mut Orders<'_>) -> Result<Predicted> {
    let mut sum = Predicted::default();
    if store.model_rests_until(orders.now)?.is_some() {
        return Ok(sum);
    }
    for (untold, project) in waiting(store, orders)? {
        let asked = prepared(store, &untold, project, orders)?;
        if let Some(asked) = asked.filter(|asked| allow(orders.bounds, asked.most())) {
            sum.sessions += 1;
            sum.tokens += asked.question.predicted;
        }
    }
    Ok(sum)
}

/// The sessions whose projects want it, the latest first.
fn waiting(store: &Store, orders: &mut Orders<'_>) -> Result<Vec<(Untold, Project)>> {
    let mut waiting = Vec::new();
    for untold in store.untold(orders.now, orders.since)? {
        if waiting.len() >= orders.queue_max as usize {
            break;
        }
        let project = (orders.project)(&untold.project_path)?;
        if project.wants {
            waiting.push((untold, project));
        }
    }
    Ok(waiting)
}

fn allow(budgets: &[Budget], tokens: Tokens) -> bool {
    let mut budgets = budgets.iter();
    budgets.all(|budget| budget.allows(tokens.input, tokens.output))
}

/// A session with what is asked about it.
struct Prepared {
    whole: Whole,
    question: Question,
}

impl Prepared {
    /// What asking takes at most, where the first answer is of use.
    fn most(&self) -> Tokens {
        Tokens {
            output: self.question.answer_tokens_max,
            ..self.question.predicted
        }
    }
}

/// `None`: there is nothing to ask about.
fn prepared(
    store: &Store,
    untold: &Untold,
    project: Project,
    orders: &Orders<'_>,
) -> Result<Option<Prepared>> {
    let whole = Whole::read(store, untold.clone().into(), project.hides_paths)?;
    let items = whole.items();
    let Some(facts) = whole.facts(&items) else {
        return Ok(None);
    };
    let activity = orders.judge.activity(whole.tally());
    // too weak to say anything: nothing is more worth asking for than anything else
    let vector = match activity.primary {
        Some(_) => activity.vector,
        None => ActivityVector::default(),
    };
    let about = About {
        lines: &items.lines(),
        facts: &facts,
        vector: &vector,
    };
    let bounds = orders.bounds.iter().filter_map(|bound| bound.tokens);
    let tokens_max = bounds.fold(orders.context_tokens, u64::min);
    let question = question(&about, &orders.policy, orders.template, tokens_max);
    drop(items);
    Ok(question.map(|question| Prepared { whole, question }))
}

/// Asks about one session and notes what came of it; `false`: there is no use in asking about others.
fn one(
    store: &mut Store,
    untold: &Untold,
    asked: &Prepared,
    orders: &Orders<'_>,
    talk: &Talk<'_>,
    done: &mut Told,
) -> Result<bool> {
    let before = done.tokens;
    let may = |more: Tokens| {
        let mut all = before;
        all += more;
        allow(orders.budgets, all)
    };
    let said = ask(talk, &asked.question, orders.redactor, may);
    let prices = orders
        .budgets
        .first()
        .map_or((0.0, 0.0), |b| b.usd_per_million);
    let spent = Spent {
        tokens: said.spent,
        usd: said.spent.usd(prices),
    };
    done.tokens += spent.tokens;
    done.usd += spent.usd;
    let (telling, page) = match said.answer {
        Ok(answer) => {
            let items = asked.whole.items();
            let Some(facts) = asked.whole.facts(&items) else {
                return Ok(true);
            };
            let mut summary = merged(facts, &answer, orders.model, &items.lines());
            asked.whole.shorten_paths(&mut summary);
            let page = asked.whole.page(&summary, orders.judge);
            done.sessions += 1;
            (Telling::Told(Box::new(summary)), Some(page))
        }
        Err(Unanswered::Refused { why }) => {
            done.refused += 1;
            (Telling::Refused(why), None)
        }
        Err(Unanswered::Misconfigured { why }) => {
            done.stopped = Some(why.clone());
            let telling = Telling::Waiting {
                attempts: untold.attempts,
                next_at: None,
                error: Some(why),
            };
            (telling, None)
        }
        Err(Unanswered::Unavailable { why, after_ms }) => {
            let after_ms = after_ms.and_then(|ms| i64::try_from(ms).ok());
            (away(untold, why, after_ms, orders, done), None)
        }
    };
    store.put_telling(&untold.id, &telling, page, spent, orders.now)?;
    match &done.stopped {
        Some(why) if orders.when_away == WhenAway::Fail => {
            anyhow::bail!("no language model answers: {why}")
        }
        stopped => Ok(stopped.is_none()),
    }
}

/// Nobody answered: what becomes of the session.
fn away(
    untold: &Untold,
    why: String,
    after_ms: Option<i64>,
    orders: &Orders<'_>,
    done: &mut Told,
) -> Telling {
    let attempts = untold.attempts + 1;
    done.stopped = Some(why.clone());
    match orders.when_away {
        WhenAway::Fail => Telling::Waiting {
            attempts: untold.attempts,
            next_at: None,
            error: Some(why),
        },
        WhenAway::StoreRaw => {
            done.given_up += 1;
            Telling::Refused(why)
        }
        WhenAway::StoreRawAndRetry if attempts > orders.retry.max_retries => {
            done.given_up += 1;
            Telling::Refused(why)
        }
        WhenAway::StoreRawAndRetry => {
            let longest_ms = orders.retry.longest_ms().max(PENDING_MS);
            let delay_ms = orders.retry.delay_ms(attempts);
            let wait_ms = delay_ms.max(after_ms.unwrap_or(0).min(longest_ms));
            let next_at = Time(orders.now.0.saturating_add(wait_ms));
            done.rests_until = Some(next_at);
            Telling::Waiting {
                attempts,
                next_at: Some(next_at),
                error: Some(why),
            }
        }
    }
}

//! Summaries by a language model: it is asked what sessions came to, one after the other, within a
//! budget. What is asked is `insight::summarise`'s.

use super::budget::{Budget, allow};
use super::models::{Silence, language_model};
use super::session_summary::Whole;
use crate::config::{Config, LlmSettings as Settings};
use crate::insight::summarise::ask::{ChatFn, ask};
use crate::insight::summarise::merge::merged;
use crate::insight::summarise::priority::{asked_for, included};
use crate::insight::summarise::prompt::embedded;
use crate::insight::summarise::prompt::{About, SummaryQuestion, question};
use crate::memory::redaction_setup;
use crate::memory::session_activity::Judge;
use crate::model::activity::ActivityVector;
use crate::model::human::{count, plural};
use crate::model::llm::Turn;
use crate::model::llm::{Tokens, Unanswered};
use crate::model::policy::{SummaryPolicy, WhenAway};
use crate::model::template::Template;
use crate::model::time::Time;
use crate::pipeline::admission::Admission;
use crate::pipeline::context::RunContext;
use crate::pipeline::notify;
use crate::pipeline::options::{PENDING_MS, RunOptions, retry};
use crate::pipeline::spec::Window;
use crate::rules::secrets::Redactor;
use crate::stages::upload::RetryOptions;
use crate::store::{LlmSummary, PendingSummary, Spent, Store};
use anyhow::Result;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

/// What the model is asked with.
pub struct LlmSummaryOptions<'a> {
    /// The run's time.
    pub now: Time,
    /// Sessions that ended before aren't asked about; `None`: all are.
    pub since: Option<Time>,
    /// Tells what kind of work it was.
    pub judge: &'a Judge,
    /// The projects, by path: whether they want it, and whether their paths are told to nobody.
    pub project: &'a mut dyn FnMut(&str) -> Result<ProjectConsent>,
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
pub struct ProjectConsent {
    /// A model may be asked about them.
    pub wants: bool,
    /// Their paths are told to nobody.
    pub hides_paths: bool,
}

/// What was told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LlmSummaryReport {
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
    /// The step ended early, since a budget is used up.
    pub is_over_budget: bool,
    /// Why the model didn't answer: the step ended early.
    pub silence: Option<Silence>,
    /// The model may be asked again then.
    pub rests_until: Option<Time>,
    /// Sessions that wait for the model, where it doesn't answer.
    pub waiting: u64,
}

/// What asking would cost now.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Predicted {
    /// Sessions.
    pub sessions: u64,
    /// Tokens of their questions, and of ordinary answers.
    pub tokens: Tokens,
    /// Sessions left out: one question takes more than is ever allowed.
    pub too_dear: u64,
}

impl LlmSummaryReport {
    /// For people; `None` where nobody was asked.
    pub fn line(&self) -> Option<String> {
        let mut parts = Vec::new();
        if self.sessions > 0 {
            let sessions = plural(self.sessions, "session");
            parts.push(format!("{sessions} summarized by the model"));
        }
        for (number, what) in [
            (self.refused, "without a useful answer"),
            (self.given_up, "failed permanently"),
            (self.too_dear, "left out, because one alone costs too much"),
        ] {
            if number > 0 {
                parts.push(format!("{} {what}", plural(number, "session")));
            }
        }
        if self.is_over_budget {
            parts.push("the budget is spent".into());
        }
        if self.tokens.total() > 0 {
            let (tokens, usd) = (count(self.tokens.total()), self.usd);
            parts.push(format!("{tokens} tokens, ${usd:.2}"));
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// The question's words: the user's or the built-in ones.
///
/// # Errors
/// When the user's are wrong: before a run does anything.
pub fn template(config: &Config) -> Result<Cow<'static, Template>> {
    Ok(match config.summarizing.template()? {
        Some(own) => Cow::Owned(own),
        None => Cow::Borrowed(embedded()),
    })
}

/// Asks about the sessions that wait, where that is wanted; `used`: what this run used for something
/// else.
///
/// # Errors
/// As [`summarize_waiting`], and where nobody agreed to the model's endpoint.
pub fn summarize(
    options: &RunOptions,
    used: Spent,
    store: &mut Store,
    cx: &mut RunContext<'_>,
) -> Result<LlmSummaryReport> {
    let Some(settings) = asked_model(&cx.loaded.config) else {
        return Ok(LlmSummaryReport::default());
    };
    let permit = store.permit(&settings.endpoint)?;
    let llm = language_model(settings, cx)?;
    let budgets = Budget::left(settings, used, store.spent(cx.now)?);
    let report = with_options(options, &budgets, cx, |options| {
        let talk = |turns: &[Turn], most: u64| llm.say(&permit, turns, most);
        summarize_waiting(store, options, &talk)
    })?;
    if report.too_dear > 0 {
        let sessions = plural(report.too_dear, "session");
        cx.notices.warn(&format!(
            "{sessions} can't be asked about: a question about one needs more tokens than the limits below \
             `llm` allow (context_tokens, max_tokens_per_run, max_usd_per_run and those of a day)"
        ))?;
    }
    if let Some(Silence { why, .. }) = &report.silence {
        cx.notices
            .note(&format!("sessions keep their facts: {why}"))?;
    }
    notify::of_sessions(report.given_up, settings, store, cx)?;
    Ok(report)
}

/// What asking about the sessions that wait would cost; `None`: nobody would be asked.
///
/// # Errors
/// When the store can't be read, or the user's template is wrong.
pub fn predicted(
    options: &RunOptions,
    store: &Store,
    cx: &mut RunContext<'_>,
) -> Result<Option<Predicted>> {
    if asked_model(&cx.loaded.config).is_none() {
        return Ok(None);
    }
    with_options(options, &[], cx, |options| predict(store, options)).map(Some)
}

/// The model that is asked; `None`: none is, or sessions aren't summarized by it.
fn asked_model(config: &Config) -> Option<&Settings> {
    config.llm.as_ref().filter(|_| config.auto_summarize)
}

fn with_options<T>(
    run: &RunOptions,
    budgets: &[Budget],
    cx: &mut RunContext<'_>,
    act: impl FnOnce(&mut LlmSummaryOptions<'_>) -> Result<T>,
) -> Result<T> {
    let (loaded, env) = (cx.loaded, cx.env);
    let config = &loaded.config;
    let template = template(config)?;
    let judge = cx.judge()?;
    let redaction = redaction_setup::load(config, cx.home)?;
    let admission = Admission::new(loaded, env, Window::Configured, cx.now);
    let settings = config.llm.as_ref();
    let bounds = settings.map_or_else(Vec::new, Budget::bounds);
    let mut wants = BTreeMap::new();
    act(&mut LlmSummaryOptions {
        now: cx.now,
        since: run.since(config),
        judge: &judge,
        project: &mut |path| {
            let own = || {
                let own = loaded.for_project(Path::new(path));
                admission.admit(Some(path), None, "").is_ok()
                    && own.is_ok_and(|(config, _)| config.auto_summarize)
            };
            Ok(ProjectConsent {
                // a project has many sessions: its file is read once
                wants: *wants.entry(path.to_owned()).or_insert_with(own),
                hides_paths: cx.hides_paths_of(path),
            })
        },
        policy: config.summarizing.policy,
        template: &template,
        context_tokens: settings.map_or(0, |llm| u64::from(llm.context_tokens)),
        budgets,
        bounds: &bounds,
        retry: &retry(&config.delivery),
        queue_max: config.delivery.max_queue_size,
        when_away: config.when_away,
        redactor: &redaction.redactor,
        model: settings.map_or("", |llm| &llm.model),
    })
}

/// Asks about every session that waits, the latest first, until the budget is used or nobody answers.
///
/// # Errors
/// When the store fails; when nobody answers and that is to be an error.
fn summarize_waiting(
    store: &mut Store,
    options: &mut LlmSummaryOptions<'_>,
    talk: &ChatFn<'_>,
) -> Result<LlmSummaryReport> {
    let mut done = LlmSummaryReport {
        rests_until: store.model_rests_until(options.now)?,
        ..LlmSummaryReport::default()
    };
    if done.rests_until.is_none() {
        ask_about_all(store, options, talk, &mut done)?;
    }
    if done.rests_until.is_some() || done.silence.is_some() {
        done.waiting = waiting(store, Time(i64::MAX), options)?.len() as u64;
    }
    Ok(done)
}

/// One after the other. Where a session was asked about in vain too often, another one tells whether the
/// model is away, which is no session's fault, or whether it is that session that gets no answer.
fn ask_about_all(
    store: &mut Store,
    options: &mut LlmSummaryOptions<'_>,
    talk: &ChatFn<'_>,
    done: &mut LlmSummaryReport,
) -> Result<()> {
    let mut suspect: Option<(PendingSummary, Silence)> = None;
    for (pending, project) in waiting(store, options.now, options)? {
        let asked = match prepared(store, pending, project, options)? {
            Due::Nothing => continue,
            Due::TooDear => {
                done.too_dear += 1;
                continue;
            }
            Due::Asks(asked) => asked,
        };
        let mut all = done.tokens;
        all += asked.most();
        if !allow(options.budgets, all) {
            done.is_over_budget = true;
            break;
        }
        let silence = one(store, &asked, options, talk, done)?;
        done.silence = silence.clone();
        match (silence, suspect.take()) {
            (None, None) => {}
            (None, Some((session, silence))) => {
                give_up(store, &session, &silence.why, options, done)?;
            }
            (Some(silence), None) if is_exhausted(&asked.session, &silence, options) => {
                suspect = Some((asked.session.clone(), silence));
            }
            (Some(_), _) => break,
        }
    }
    Ok(())
}

/// It was asked about as often as one session is.
fn is_exhausted(
    session: &PendingSummary,
    silence: &Silence,
    options: &LlmSummaryOptions<'_>,
) -> bool {
    let retries = options.when_away == WhenAway::StoreRawAndRetry && !silence.is_lasting;
    retries && session.attempts >= options.retry.max_retries
}

/// The model answers others: this session keeps its facts.
fn give_up(
    store: &mut Store,
    session: &PendingSummary,
    why: &str,
    options: &LlmSummaryOptions<'_>,
    done: &mut LlmSummaryReport,
) -> Result<()> {
    done.given_up += 1;
    done.rests_until = None;
    let refused = LlmSummary::Refused(why.to_owned());
    store.put_llm_summary(&session.id, &refused, None, Spent::default(), options.now)?;
    Ok(())
}

/// What [`tell`] would ask now, however much was used before.
///
/// # Errors
/// When the store fails.
fn predict(store: &Store, options: &mut LlmSummaryOptions<'_>) -> Result<Predicted> {
    let mut sum = Predicted::default();
    if store.model_rests_until(options.now)?.is_some() {
        return Ok(sum);
    }
    for (pending, project) in waiting(store, options.now, options)? {
        match prepared(store, pending, project, options)? {
            Due::Nothing => {}
            Due::TooDear => sum.too_dear += 1,
            Due::Asks(asked) => {
                sum.sessions += 1;
                sum.tokens += asked.question.predicted;
            }
        }
    }
    Ok(sum)
}

/// The sessions whose projects want it and that may be asked about until then, the latest first.
fn waiting(
    store: &Store,
    until: Time,
    options: &mut LlmSummaryOptions<'_>,
) -> Result<Vec<(PendingSummary, ProjectConsent)>> {
    let mut waiting = Vec::new();
    for pending in store.pending_summaries(until, options.since)? {
        if waiting.len() >= options.queue_max as usize {
            break;
        }
        let project = (options.project)(&pending.project_path)?;
        if project.wants {
            waiting.push((pending, project));
        }
    }
    Ok(waiting)
}

/// A session with what is asked about it.
struct Prepared {
    session: PendingSummary,
    whole: Whole,
    question: SummaryQuestion,
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

/// What there is to ask about a session.
enum Due {
    Nothing,
    /// One question takes more than is ever allowed.
    TooDear,
    Asks(Box<Prepared>),
}

fn prepared(
    store: &Store,
    session: PendingSummary,
    project: ProjectConsent,
    options: &LlmSummaryOptions<'_>,
) -> Result<Due> {
    let whole = Whole::read(store, session.clone().into(), project.hides_paths)?;
    let items = whole.items();
    let Some(facts) = whole.facts(&items) else {
        return Ok(Due::Nothing);
    };
    let facts = included(facts, &options.policy);
    let activity = options.judge.activity(whole.tally());
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
    let bounds = options.bounds.iter().filter_map(|bound| bound.tokens);
    let tokens_max = bounds.fold(options.context_tokens, u64::min);
    let question = question(&about, &options.policy, options.template, tokens_max);
    drop(items);
    let asked = question.map(|question| Prepared {
        session,
        whole,
        question,
    });
    let allowed = asked.filter(|asked| allow(options.bounds, asked.most()));
    Ok(allowed.map_or(Due::TooDear, |asked| Due::Asks(Box::new(asked))))
}

/// Asks about one session and notes what came of it; gives why nobody answered.
fn one(
    store: &mut Store,
    asked: &Prepared,
    options: &LlmSummaryOptions<'_>,
    talk: &ChatFn<'_>,
    done: &mut LlmSummaryReport,
) -> Result<Option<Silence>> {
    let before = done.tokens;
    let may = |more: Tokens| {
        let mut all = before;
        all += more;
        allow(options.budgets, all)
    };
    let said = ask(talk, &asked.question, options.redactor, may);
    let prices = options
        .budgets
        .first()
        .map_or((0.0, 0.0), |b| b.usd_per_million);
    let spent = Spent {
        tokens: said.spent,
        usd: said.spent.usd(prices),
    };
    // before the answer is looked at: one that is of no use is paid for as well
    done.tokens += spent.tokens;
    done.usd += spent.usd;
    let silence = said.answer.as_ref().err().and_then(Silence::of);
    let (llm_summary, update) = match said.answer {
        Ok(answer) => {
            let items = asked.whole.items();
            let Some(facts) = asked.whole.facts(&items) else {
                return Ok(None);
            };
            let (facts, answer) = (
                included(facts, &options.policy),
                asked_for(answer, &options.policy),
            );
            let mut summary = merged(facts, &answer, options.model, &items.lines());
            asked.whole.shorten_paths(&mut summary);
            let update = asked.whole.update(&summary, options.judge);
            done.sessions += 1;
            (LlmSummary::Summarized(Box::new(summary)), Some(update))
        }
        Err(Unanswered::Refused { why }) => {
            done.refused += 1;
            (LlmSummary::Refused(why), None)
        }
        Err(Unanswered::Misconfigured { why }) => {
            let llm_summary = LlmSummary::Pending {
                attempts: asked.session.attempts,
                next_at: None,
                error: Some(why),
            };
            (llm_summary, None)
        }
        Err(Unanswered::Unavailable { why, after_ms, .. }) => {
            let after_ms = after_ms.and_then(|ms| i64::try_from(ms).ok());
            (away(&asked.session, why, after_ms, options, done), None)
        }
    };
    store.put_llm_summary(&asked.session.id, &llm_summary, update, spent, options.now)?;
    match &silence {
        Some(Silence { why, .. }) if options.when_away == WhenAway::Fail => {
            anyhow::bail!("no language model answers: {why}")
        }
        _ => Ok(silence),
    }
}

/// Nobody answered: what becomes of the session.
fn away(
    pending: &PendingSummary,
    why: String,
    after_ms: Option<i64>,
    options: &LlmSummaryOptions<'_>,
    done: &mut LlmSummaryReport,
) -> LlmSummary {
    let attempts = pending.attempts + 1;
    match options.when_away {
        WhenAway::Fail => LlmSummary::Pending {
            attempts: pending.attempts,
            next_at: None,
            error: Some(why),
        },
        WhenAway::StoreRaw => {
            done.given_up += 1;
            LlmSummary::Refused(why)
        }
        WhenAway::StoreRawAndRetry => {
            let longest_ms = options.retry.longest_ms().max(PENDING_MS);
            let delay_ms = options.retry.delay_ms(attempts);
            let wait_ms = delay_ms.max(after_ms.unwrap_or(0).min(longest_ms));
            let next_at = Time(options.now.0.saturating_add(wait_ms));
            done.rests_until = Some(next_at);
            LlmSummary::Pending {
                attempts,
                next_at: Some(next_at),
                error: Some(why),
            }
        }
    }
}

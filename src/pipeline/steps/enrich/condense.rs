//! Long messages (D61): a language model condenses them by their templates, several in a question, each once,
//! within the budget; then their episodes are written with the paragraphs in their places. What is asked is
//! `insight::summarise::condense`'s.

use super::budget::{Budget, allow};
use super::models::{Silence, language_model};
use crate::config::{Config, LlmSettings as Settings};
use crate::insight::summarise::ask::ChatFn;
use crate::insight::summarise::condense::{AskedAbout, embedded, question, read};
use crate::insight::summarise::tokens::tokens;
use crate::memory::redaction_setup;
use crate::model::condensing::{Condensing, LongMessage, Speaker, condense};
use crate::model::episode::Episode;
use crate::model::human::{count, plural};
use crate::model::llm::{ModelReply, Tokens, Turn, Unanswered};
use crate::model::policy::WhenAway;
use crate::model::template::{MESSAGE, Template};
use crate::model::time::Time;
use crate::pipeline::admission::Admission;
use crate::pipeline::context::RunContext;
use crate::pipeline::options::{PENDING_MS, retry};
use crate::pipeline::spec::Window;
use crate::rules::secrets::Redactor;
use crate::stages::upload::RetryOptions;
use crate::store::{AskedMessage, Condensed, MessageKey, Resting, Spent, Store, ToCondense};
use anyhow::Result;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Messages of one question. More: an answer that can't be used costs more; fewer: more questions.
const BATCH: usize = 8;

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CondenseReport {
    /// Messages that the model condensed.
    pub messages: u64,
    /// Messages that stay as they are.
    pub given_up: u64,
    /// Episodes that were written without their long messages.
    pub episodes: u64,
    /// Episodes that still wait: the budget is spent, or nobody answered.
    pub waiting: u64,
    /// What was spent.
    pub spent: Spent,
    /// Why the model didn't answer: the step ended early.
    pub silence: Option<Silence>,
    /// It was left alone, since it failed before.
    pub rests: bool,
}

impl CondenseReport {
    /// For people; `None` where there was nothing to do.
    pub fn line(&self) -> Option<String> {
        let tokens = self.spent.tokens.total();
        let cost = format!("{} tokens, ${:.2}", count(tokens), self.spent.usd);
        let parts = [
            (
                self.messages,
                format!(
                    "{} condensed by the model",
                    plural(self.messages, "long message")
                ),
            ),
            (
                self.given_up,
                format!("{} left as they are", count(self.given_up)),
            ),
            (
                self.waiting,
                format!("{} wait for the next run", plural(self.waiting, "episode")),
            ),
            (tokens, cost),
        ];
        let parts: Vec<String> = parts
            .into_iter()
            .filter(|(n, _)| *n > 0)
            .map(|(_, text)| text)
            .collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// What asking about the messages that wait would cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlannedMessages {
    /// How many nobody was asked about yet.
    pub messages: u64,
    /// Tokens of the questions, and of ordinary answers.
    pub tokens: Tokens,
}

/// A template with its text, by which its messages are known again.
type Templates = BTreeMap<String, (Template, String)>;

/// The templates that the settings name: the user's, or the built-in ones of these names.
///
/// # Errors
/// Of usage, where one is not there or has wrong placeholders.
pub fn templates(config: &Config) -> Result<Templates> {
    let own = &config.message_templates;
    let mut all = Templates::new();
    for name in own.names() {
        let text = own
            .text(name)?
            .or_else(|| embedded(name).map(str::to_owned));
        let text = text.ok_or_else(|| own.wrong(name, "no such template"))?;
        let template = Template::parse(&text, &MESSAGE).map_err(|what| own.wrong(name, &what))?;
        all.insert(name.to_owned(), (template, text));
    }
    Ok(all)
}

/// Condenses what waits; `used`: what this run used for something else. Where no model is configured, or
/// no template names one any more, what waits stays as it is.
///
/// # Errors
/// When the store fails, nobody agreed to the model's endpoint, or nobody answers and that is to be an error.
pub fn condense_waiting(
    used: Spent,
    store: &mut Store,
    cx: &mut RunContext<'_>,
) -> Result<CondenseReport> {
    let templates = templates(&cx.loaded.config)?;
    let Some(settings) = cx
        .loaded
        .config
        .llm
        .as_ref()
        .filter(|_| !templates.is_empty())
    else {
        return give_up_all(store, cx);
    };
    let waiting = due(store, cx)?;
    if waiting.is_empty() {
        return Ok(CondenseReport::default());
    }
    let permit = store.permit(&settings.endpoint)?;
    let llm = language_model(settings, cx)?;
    let config = &cx.loaded.config;
    let redaction = redaction_setup::load(config, cx.home)?;
    let rests = store.model_rests_until(cx.now)?.is_some();
    let mut step = Step {
        now: cx.now,
        settings,
        when_away: config.when_away,
        retry: &retry(&config.delivery),
        templates: &templates,
        redactor: &redaction.redactor,
        left: &Budget::left(settings, used, store.spent(cx.now)?),
        bounds: &Budget::bounds(settings),
        talk: &|turns: &[Turn], most: u64| llm.say(&permit, turns, most),
        asks: !rests,
        batch: Vec::new(),
        done: CondenseReport {
            rests,
            ..CondenseReport::default()
        },
    };
    step.all(store, &waiting)?;
    let done = step.done;
    if let Some(Silence { why, .. }) = &done.silence {
        let episodes = plural(done.waiting, "episode");
        cx.notices.note(&format!(
            "{why}; {episodes} with long messages wait to be condensed, and are delivered then"
        ))?;
    }
    Ok(done)
}

/// What a run would ask about what is stored; `None`: nothing is condensed.
///
/// # Errors
/// When the store can't be read, or a template is wrong.
pub fn planned(store: &Store, cx: &RunContext<'_>) -> Result<Option<PlannedMessages>> {
    let templates = templates(&cx.loaded.config)?;
    if cx.loaded.config.llm.is_none() || templates.is_empty() {
        return Ok(None);
    }
    let mut plan = PlannedMessages::default();
    let mut seen = BTreeSet::new();
    for one in due(store, cx)? {
        let Some(episode) = store.episode_to_condense(one.n)? else {
            continue;
        };
        let condensing = wanted(&one);
        for message in condensing.long_messages(&episode.text, &episode.outline) {
            let Some((template, key)) = known(&templates, &message) else {
                continue;
            };
            let is_settled = matches!(
                store.condensed(&key)?,
                Some(Condensed::Made(_) | Condensed::Refused(_))
            );
            if is_settled || !seen.insert(key) {
                continue;
            }
            let context = context(&one, message.speaker);
            let words = message.words;
            let asked = question(&[AskedAbout {
                template,
                context: &context,
                words,
            }]);
            plan.messages += 1;
            plan.tokens += asked.predicted;
        }
    }
    Ok(Some(plan))
}

/// The episodes whose messages may be asked about now.
fn due(store: &Store, cx: &RunContext<'_>) -> Result<Vec<ToCondense>> {
    let resting = Resting {
        now: cx.now,
        settled_ms: cx.loaded.config.chunk.gap_ms,
        pending_ms: PENDING_MS,
    };
    let admission = Admission::new(cx.loaded, cx.env, Window::Configured, cx.now);
    let mut waiting = store.to_condense(resting)?;
    waiting.retain(|one| {
        let (project, cwd) = (Some(one.project_path.as_str()), one.cwd.as_deref());
        admission.admit(project, cwd, &one.path).is_ok()
    });
    Ok(waiting)
}

/// Nobody is asked any more: what waits is as it is without a model.
fn give_up_all(store: &mut Store, cx: &RunContext<'_>) -> Result<CondenseReport> {
    let mut done = CondenseReport::default();
    let any = Resting {
        now: cx.now,
        settled_ms: 0,
        pending_ms: 0,
    };
    for one in store.to_condense(any)? {
        let Some(mut episode) = store.episode_to_condense(one.n)? else {
            continue;
        };
        let condensing = wanted(&one);
        let messages = condensing.long_messages(&episode.text, &episode.outline);
        let none: BTreeMap<usize, Option<String>> =
            messages.iter().map(|m| (m.nth, None)).collect();
        done.given_up += none.len() as u64;
        done.episodes += 1;
        condense(&mut episode, &none);
        store.put_condensed_episode(one.n, episode, false)?;
    }
    Ok(done)
}

fn wanted(one: &ToCondense) -> Condensing {
    serde_json::from_str(&one.templates).unwrap_or_default()
}

/// The template of a message, and what it is known by.
fn known<'t>(
    templates: &'t Templates,
    message: &LongMessage<'_>,
) -> Option<(&'t Template, MessageKey)> {
    let (template, text) = templates.get(message.template)?;
    let mut hash = Sha256::new();
    hash.update((text.len() as u64).to_le_bytes());
    hash.update(text);
    hash.update(message.words);
    let mut key = MessageKey::default();
    key.copy_from_slice(&hash.finalize()[..16]);
    Some((template, key))
}

/// Where a message was said, for the model.
fn context(one: &ToCondense, speaker: Speaker) -> String {
    let what = match speaker {
        Speaker::Person => "What a person told a coding agent",
        Speaker::Agent => "What a coding agent said",
        Speaker::Tool => "What a tool returned to a coding agent",
    };
    match one.title.as_deref() {
        Some(title) => format!("{what} in the session \"{title}\""),
        None => format!("{what} in a session without a title"),
    }
}

/// A message that nobody was asked about yet.
struct Job {
    key: MessageKey,
    episode: i64,
    template: String,
    context: String,
    words: String,
    attempts: u32,
}

struct Step<'a> {
    now: Time,
    settings: &'a Settings,
    when_away: WhenAway,
    retry: &'a RetryOptions,
    templates: &'a Templates,
    redactor: &'a Redactor,
    /// What this run and this day leave.
    left: &'a [Budget],
    /// What a whole run and a whole day may use.
    bounds: &'a [Budget],
    talk: &'a ChatFn<'a>,
    /// The model may be asked.
    asks: bool,
    batch: Vec<Job>,
    done: CondenseReport,
}

impl Step<'_> {
    fn all(&mut self, store: &mut Store, waiting: &[ToCondense]) -> Result<()> {
        // episodes whose messages are among those that are asked about next
        let mut gathered = Vec::new();
        for one in waiting {
            for job in self.missing(store, one)? {
                if !self.fits(&job) {
                    self.ask_batch(store)?;
                }
                self.batch.push(job);
            }
            gathered.push(one);
            if self.batch.is_empty() {
                self.finish(store, &mut gathered)?;
            }
        }
        self.ask_batch(store)?;
        self.finish(store, &mut gathered)
    }

    /// The messages of an episode that are to be asked about; none where nobody may be asked.
    fn missing(&self, store: &Store, one: &ToCondense) -> Result<Vec<Job>> {
        let mut jobs: Vec<Job> = Vec::new();
        let Some(episode) = store.episode_to_condense(one.n)?.filter(|_| self.asks) else {
            return Ok(jobs);
        };
        let condensing = wanted(one);
        for message in condensing.long_messages(&episode.text, &episode.outline) {
            let Some((_, key)) = known(self.templates, &message) else {
                continue;
            };
            let attempts = match store.condensed(&key)? {
                None => 0,
                Some(Condensed::Waiting {
                    attempts, next_at, ..
                }) if next_at.is_none_or(|at| at <= self.now) => attempts,
                Some(_) => continue,
            };
            if self.batch.iter().chain(&jobs).any(|job| job.key == key) {
                continue;
            }
            jobs.push(Job {
                key,
                episode: one.n,
                template: message.template.to_owned(),
                context: context(one, message.speaker),
                words: message.words.to_owned(),
                attempts,
            });
        }
        Ok(jobs)
    }

    /// One more message may stand in the next question.
    fn fits(&self, job: &Job) -> bool {
        let jobs: Vec<&Job> = self.batch.iter().chain([job]).collect();
        jobs.len() <= BATCH && self.allows(&jobs)
    }

    /// A question about these fits the model, and the bounds of a whole run.
    fn allows(&self, jobs: &[&Job]) -> bool {
        let asked = question(&self.about(jobs));
        let most = Tokens {
            output: asked.answer_tokens_max,
            ..asked.predicted
        };
        most.total() <= u64::from(self.settings.context_tokens) && allow(self.bounds, most)
    }

    fn about<'j>(&'j self, jobs: &[&'j Job]) -> Vec<AskedAbout<'j>> {
        let each = jobs.iter().filter_map(|job| {
            let (template, _) = self.templates.get(&job.template)?;
            Some(AskedAbout {
                template,
                context: &job.context,
                words: &job.words,
            })
        });
        each.collect()
    }

    /// Asks about the messages that were gathered; where an answer can't be used, about each half of them.
    fn ask_batch(&mut self, store: &mut Store) -> Result<()> {
        let mut parts = VecDeque::from([std::mem::take(&mut self.batch)]);
        while let Some(mut jobs) = parts.pop_front() {
            if jobs.is_empty() || !self.asks {
                continue;
            }
            let again = self.ask(store, &jobs)?;
            if again.is_empty() {
                continue;
            }
            jobs.retain(|job| again.contains(&job.key));
            let second = jobs.split_off(jobs.len().div_ceil(2));
            parts.push_front(second);
            parts.push_front(jobs);
        }
        Ok(())
    }

    /// One question; gives the messages that are asked about once more, in smaller company.
    fn ask(&mut self, store: &mut Store, jobs: &[Job]) -> Result<BTreeSet<MessageKey>> {
        let all: Vec<&Job> = jobs.iter().collect();
        if !self.allows(&all) {
            let why = "one request takes more than the limits in `llm` allow";
            return self.useless(store, jobs, why, Spent::default());
        }
        let asked = question(&self.about(&all));
        let mut most = self.done.spent.tokens;
        most += Tokens {
            output: asked.answer_tokens_max,
            ..asked.predicted
        };
        if !allow(self.left, most) {
            self.asks = false;
            return Ok(BTreeSet::new());
        }
        match (self.talk)(&[Turn::Asks(asked.prompt.clone())], asked.answer_tokens_max) {
            Ok(reply) => {
                let spent = self.pay(&reply, asked.predicted.input);
                self.take(store, jobs, &reply, spent)
            }
            Err(Unanswered::Refused { why }) => self.useless(store, jobs, &why, Spent::default()),
            Err(unanswered) => {
                (self.asks, self.done.silence) = (false, Silence::of(&unanswered));
                if let Unanswered::Unavailable { why, after_ms, .. } = unanswered {
                    self.away(store, jobs, &why, after_ms)?;
                }
                self.fails()
            }
        }
    }

    /// Whatever the answer is worth, it is paid for.
    fn pay(&mut self, reply: &ModelReply, input: u64) -> Spent {
        let output = tokens(&reply.text);
        let tokens = reply.tokens.unwrap_or(Tokens { input, output });
        let spent = Spent {
            tokens,
            usd: tokens.usd(self.settings.usd_per_million),
        };
        self.done.spent.tokens += spent.tokens;
        self.done.spent.usd += spent.usd;
        spent
    }

    fn take(
        &mut self,
        store: &mut Store,
        jobs: &[Job],
        reply: &ModelReply,
        spent: Spent,
    ) -> Result<BTreeSet<MessageKey>> {
        let all: Vec<&Job> = jobs.iter().collect();
        let read = read(&reply.text, &self.about(&all), self.redactor);
        let (mut outcomes, mut again) = (Vec::new(), BTreeSet::new());
        for (job, paragraph) in jobs.iter().zip(read) {
            let outcome = match paragraph {
                Ok(paragraph) => Condensed::Made(paragraph),
                // the fault may be its company's
                Err(_) if jobs.len() > 1 => {
                    again.insert(job.key);
                    continue;
                }
                Err(why) => Condensed::Refused(why.to_owned()),
            };
            self.done.messages += u64::from(matches!(outcome, Condensed::Made(_)));
            outcomes.push(asked(job, outcome));
        }
        store.put_condensed(&outcomes, spent, self.now)?;
        Ok(again)
    }

    /// No answer of use will come to these together.
    fn useless(
        &mut self,
        store: &mut Store,
        jobs: &[Job],
        why: &str,
        spent: Spent,
    ) -> Result<BTreeSet<MessageKey>> {
        if jobs.len() > 1 {
            return Ok(jobs.iter().map(|job| job.key).collect());
        }
        let refused = jobs
            .iter()
            .map(|job| asked(job, Condensed::Refused(why.to_owned())));
        store.put_condensed(&refused.collect::<Vec<_>>(), spent, self.now)?;
        Ok(BTreeSet::new())
    }

    /// Nobody answered: they wait, or are given up.
    fn away(
        &mut self,
        store: &mut Store,
        jobs: &[Job],
        why: &str,
        after_ms: Option<u64>,
    ) -> Result<()> {
        let outcomes = jobs.iter().map(|job| {
            let attempts = job.attempts + 1;
            let outcome = match self.when_away {
                WhenAway::StoreRaw => Condensed::Refused(why.to_owned()),
                WhenAway::StoreRawAndRetry if attempts > self.retry.max_retries => {
                    Condensed::Refused(why.to_owned())
                }
                WhenAway::StoreRawAndRetry => {
                    let longest_ms = self.retry.longest_ms().max(PENDING_MS);
                    let asked_ms = after_ms.and_then(|ms| i64::try_from(ms).ok()).unwrap_or(0);
                    let wait_ms = self.retry.delay_ms(attempts).max(asked_ms.min(longest_ms));
                    Condensed::Waiting {
                        attempts,
                        next_at: Some(Time(self.now.0.saturating_add(wait_ms))),
                        error: why.to_owned(),
                    }
                }
                WhenAway::Fail => Condensed::Waiting {
                    attempts: job.attempts,
                    next_at: None,
                    error: why.to_owned(),
                },
            };
            asked(job, outcome)
        });
        let outcomes: Vec<AskedMessage> = outcomes.collect();
        Ok(store.put_condensed(&outcomes, Spent::default(), self.now)?)
    }

    fn fails(&self) -> Result<BTreeSet<MessageKey>> {
        match (&self.done.silence, self.when_away) {
            (Some(Silence { why, .. }), WhenAway::Fail) => {
                anyhow::bail!("no language model answers: {why}")
            }
            _ => Ok(BTreeSet::new()),
        }
    }

    /// Writes the episodes of which no message waits any more.
    fn finish(&mut self, store: &mut Store, gathered: &mut Vec<&ToCondense>) -> Result<()> {
        for one in gathered.drain(..) {
            let Some(mut episode) = store.episode_to_condense(one.n)? else {
                continue;
            };
            let Some(paragraphs) = self.settled(store, one, &episode)? else {
                self.done.waiting += 1;
                continue;
            };
            let given_up = paragraphs.values().filter(|text| text.is_none()).count();
            condense(&mut episode, &paragraphs);
            store.put_condensed_episode(one.n, episode, given_up == 0)?;
            self.done.given_up += given_up as u64;
            self.done.episodes += 1;
        }
        Ok(())
    }

    /// What stands in the places of an episode's messages; `None`: one of them still waits.
    fn settled(
        &self,
        store: &Store,
        one: &ToCondense,
        episode: &Episode,
    ) -> Result<Option<BTreeMap<usize, Option<String>>>> {
        let mut paragraphs = BTreeMap::new();
        let condensing = wanted(one);
        for message in condensing.long_messages(&episode.text, &episode.outline) {
            // a template that is no more can't be asked with
            let paragraph = match known(self.templates, &message) {
                None => None,
                Some((_, key)) => match store.condensed(&key)? {
                    Some(Condensed::Made(text)) => Some(text),
                    Some(Condensed::Refused(_)) => None,
                    Some(Condensed::Waiting { .. }) | None => return Ok(None),
                },
            };
            paragraphs.insert(message.nth, paragraph);
        }
        Ok(Some(paragraphs))
    }
}

fn asked(job: &Job, outcome: Condensed) -> AskedMessage {
    AskedMessage {
        key: job.key,
        episode: job.episode,
        outcome,
    }
}

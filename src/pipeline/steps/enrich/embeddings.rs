//! Vectors for what is stored: which texts a model is asked about, in how large requests, and what becomes of
//! one that it refuses, or never answers in time.

use super::models::{Silence, embedder};
use super::passages::passages;
use crate::config::EmbeddingsSettings as Settings;
use crate::model::embedding::{PassageVectors, Vector};
use crate::model::human::{count, plural};
use crate::model::llm::Unanswered;
use crate::model::time::Time;
use crate::pipeline::admission::Admission;
use crate::pipeline::context::RunContext;
use crate::pipeline::options::retry;
use crate::pipeline::spec::Window;
use crate::stages::upload::RetryOptions;
use crate::store::{Store, ToEmbed, Unembedded};
use anyhow::Result;

/// Texts in a row that are refused alone before the step ends: the server is at fault, not they.
const REFUSED_IN_A_ROW_MAX: u32 = 3;

/// Texts that are named when they are given up. More: nobody reads on.
const NAMED_MAX: usize = 5;

/// What the model is asked with.
pub struct EmbedOptions<'a> {
    /// The run's time.
    pub now: Time,
    /// What vectors are made by.
    pub made_by: &'a str,
    /// Before each passage.
    pub prefix: &'a str,
    /// Characters of a passage.
    pub passage_chars: usize,
    /// Passages of one request; at least 1.
    pub batch: usize,
    /// Passages of this run.
    pub passages_max: usize,
    /// A text that is refused alone is sent again so often, and then given up.
    pub retry: &'a RetryOptions,
    /// Whose texts may be sent.
    pub admission: &'a Admission<'a>,
}

/// Gives one vector for each of some texts, in their order.
pub type EmbedFn<'a> = dyn Fn(&[String]) -> Result<Vec<Vector>, Unanswered> + 'a;

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbedReport {
    /// Texts that have their vector now.
    pub texts: u64,
    /// Texts that were refused alone, and are sent again in a later run.
    pub refused: u64,
    /// Texts that were refused too often.
    pub given_up: u64,
    /// The first of these, by their episodes, and why.
    pub named: Vec<String>,
    /// Texts that still wait for a later run: there were more than one run sends, or nobody answered.
    pub waiting: u64,
    /// Why the model didn't answer: the step ended early.
    pub silence: Option<Silence>,
}

impl EmbedReport {
    /// For people; `None` where nothing was sent.
    pub fn line(&self) -> Option<String> {
        let parts = [
            (self.texts, "embedded"),
            (self.refused, "refused, to be sent again"),
            (self.given_up, "failed permanently"),
        ];
        let parts = parts.iter().filter(|(number, _)| *number > 0);
        let parts: Vec<String> = parts
            .map(|(n, what)| format!("{} {what}", count(*n)))
            .collect();
        let waiting = count(self.waiting);
        (!parts.is_empty()).then(|| format!("texts: {}, {waiting} wait", parts.join(", ")))
    }
}

/// Asks for the vectors of texts that have none, where a model is configured. One that fails is a
/// warning; the next run goes on.
///
/// # Errors
/// When the store fails, or nobody agreed to the model's endpoint.
pub fn embed_new(store: &mut Store, cx: &mut RunContext<'_>) -> Result<EmbedReport> {
    let Some(settings) = &cx.loaded.config.embeddings else {
        return Ok(EmbedReport::default());
    };
    let permit = store.permit(&settings.endpoint)?;
    let embedder = embedder(settings, u64::from(settings.timeout_s) * 1_000, cx.env)?;
    let report = with_options(settings, cx, |options| {
        let done = embed(store, options, &|texts| embedder.vectors(&permit, texts))?;
        store.pack_vectors(options.made_by)?;
        Ok(done)
    })?;
    for named in &report.named {
        cx.notices.note(&format!(
            "no vector for {named}; failed permanently (sessionmill run --ask-again)"
        ))?;
    }
    if let Some(Silence { why, .. }) = &report.silence {
        let waiting = plural(report.waiting, "text");
        cx.notices.note(&format!(
            "{why}; {waiting} without a vector for the next run"
        ))?;
    }
    Ok(report)
}

/// How many texts at most a run would send of what is stored; `None`: no model is configured.
///
/// # Errors
/// When the store can't be read.
pub fn planned(store: &Store, cx: &RunContext<'_>) -> Result<Option<u64>> {
    let Some(settings) = &cx.loaded.config.embeddings else {
        return Ok(None);
    };
    let waiting = with_options(settings, cx, |options| waiting(store, options))?;
    Ok(Some(waiting.len().min(settings.texts_max) as u64))
}

fn with_options<T>(
    settings: &Settings,
    cx: &RunContext<'_>,
    act: impl FnOnce(&EmbedOptions<'_>) -> Result<T>,
) -> Result<T> {
    act(&EmbedOptions {
        now: cx.now,
        made_by: &settings.made_by(),
        prefix: &settings.passage_prefix,
        passage_chars: settings.passage_chars,
        batch: settings.batch,
        passages_max: settings.texts_max,
        retry: &retry(&cx.loaded.config.delivery),
        admission: &Admission::new(cx.loaded, cx.env, Window::Configured, cx.now),
    })
}

/// The episodes that have no vector, the latest first: not those of projects that are excluded, switched off
/// or not trusted.
///
/// # Errors
/// When the store can't be read.
fn waiting(store: &Store, options: &EmbedOptions<'_>) -> Result<Vec<Unembedded>> {
    let mut waiting = store.unembedded(options.made_by, options.now)?;
    waiting.retain(|one| {
        let (project, cwd) = (Some(one.project_path.as_str()), one.cwd.as_deref());
        options.admission.admit(project, cwd, &one.path).is_ok()
    });
    Ok(waiting)
}

/// Asks for the vectors of the texts that wait and keeps each answer at once. A request that is refused, or
/// takes too long, is halved until the passage that is at fault stands alone; after one that took too long, no
/// later one is as large.
///
/// # Errors
/// When the store fails; a model that does is told in what is returned.
pub fn embed(
    store: &mut Store,
    options: &EmbedOptions<'_>,
    talk: &EmbedFn<'_>,
) -> Result<EmbedReport> {
    let waiting = waiting(store, options)?;
    let mut step = Step {
        length: store.vector_length(options.made_by)?,
        batch: options.batch,
        next: options.batch,
        answered: false,
        in_a_row: 0,
        done: EmbedReport::default(),
    };
    let (mut sent, mut texts) = (0, Vec::new());
    for (nth, one) in (1..).zip(&waiting) {
        let read = store.to_embed(options.made_by, std::slice::from_ref(one))?;
        texts.extend(read.into_iter().map(|text| Text::new(text, options)));
        let passages: usize = texts.iter().map(|text: &Text| text.passages.len()).sum();
        let is_last = nth == waiting.len() || sent + passages >= options.passages_max;
        if passages < step.batch && !is_last {
            continue;
        }
        step.embed(store, &mut texts, options, talk)?;
        sent += passages;
        texts.clear();
        if is_last || step.done.silence.is_some() {
            break;
        }
    }
    let mut done = step.done;
    done.waiting = waiting.len() as u64 - done.texts - done.given_up;
    Ok(done)
}

/// A text with what is known of its passages.
struct Text {
    text: ToEmbed,
    passages: Vec<(String, Option<Vector>)>,
    /// Why one of them has no vector.
    refused: Option<String>,
}

impl Text {
    fn new(text: ToEmbed, options: &EmbedOptions<'_>) -> Text {
        let passages = passages(&text.text, options.passage_chars).into_iter();
        let with_prefix = |passage| (format!("{}{passage}", options.prefix), None);
        Text {
            passages: passages.map(with_prefix).collect(),
            text,
            refused: None,
        }
    }

    /// `None`: not all of its passages have a vector.
    fn vectors(&self) -> Option<PassageVectors> {
        let vectors = self.passages.iter().map(|(_, vector)| vector.clone());
        PassageVectors::new(&vectors.collect::<Option<Vec<Vector>>>()?)
    }
}

/// The number of a text and that of its passage.
type Nth = (usize, usize);

struct Step {
    /// Bytes of a vector, where one is known.
    length: Option<usize>,
    /// Passages of a request at most: fewer after one that took too long.
    batch: usize,
    /// Passages of the next one.
    next: usize,
    /// A request was answered in this run.
    answered: bool,
    /// Texts that were refused one after the other.
    in_a_row: u32,
    done: EmbedReport,
}

impl Step {
    /// Asks for some texts' vectors and stores those of each that has all of its own.
    fn embed(
        &mut self,
        store: &mut Store,
        texts: &mut [Text],
        options: &EmbedOptions<'_>,
        talk: &EmbedFn<'_>,
    ) -> Result<()> {
        let of = |(n, text): (usize, &Text)| (0..text.passages.len()).map(move |at| (n, at));
        let all: Vec<Nth> = texts.iter().enumerate().flat_map(of).collect();
        let mut left = all.as_slice();
        while let (false, None) = (left.is_empty(), &self.done.silence) {
            let (part, rest) = left.split_at(left.len().min(self.next));
            match self.ask(texts, part, talk) {
                Asked::Halve => self.next = part.len() / 2,
                Asked::Done => {
                    self.next = self.batch.min(self.next * 2);
                    left = rest;
                }
                Asked::Refused(why, is_late) => {
                    let nth = part[0].0;
                    self.refuse(store, &mut texts[nth], (why, is_late), options)?;
                    // what else it has is not asked for
                    let other = left.iter().position(|(n, _)| *n != nth);
                    left = &left[other.unwrap_or(left.len())..];
                }
            }
        }
        let made = texts.iter().filter(|text| text.refused.is_none());
        let made: Vec<(&ToEmbed, PassageVectors)> = made
            .filter_map(|text| Some((&text.text, text.vectors()?)))
            .collect();
        store.put_vectors(options.made_by, &made)?;
        self.done.texts += made.len() as u64;
        Ok(())
    }

    fn ask(&mut self, texts: &mut [Text], part: &[Nth], talk: &EmbedFn<'_>) -> Asked {
        let passage = |(n, at): &Nth| texts[*n].passages[*at].0.clone();
        let passages: Vec<String> = part.iter().map(passage).collect();
        let unanswered = match talk(&passages).and_then(|vectors| self.checked(vectors)) {
            Ok(vectors) => {
                for ((n, at), vector) in part.iter().zip(vectors) {
                    texts[*n].passages[*at].1 = Some(vector);
                }
                self.in_a_row = 0;
                self.answered = true;
                return Asked::Done;
            }
            Err(unanswered) => unanswered,
        };
        match unanswered {
            Unanswered::Refused { .. } if part.len() > 1 => Asked::Halve,
            Unanswered::Unavailable { is_late: true, .. } if part.len() > 1 => {
                self.batch = part.len() / 2;
                Asked::Halve
            }
            Unanswered::Refused { why } => Asked::Refused(why, false),
            Unanswered::Unavailable {
                why, is_late: true, ..
            } => Asked::Refused(why, true),
            other => {
                self.done.silence = Silence::of(&other);
                Asked::Done
            }
        }
    }

    /// Vectors that can be compared with those that are stored.
    fn checked(&mut self, vectors: Vec<Vector>) -> Result<Vec<Vector>, Unanswered> {
        let length = vectors.first().map(|vector| vector.as_bytes().len());
        if self.length.is_some() && length != self.length {
            let why = OTHER_LENGTH.to_owned();
            return Err(Unanswered::Misconfigured { why });
        }
        self.length = length;
        Ok(vectors)
    }

    /// A text of which a passage was refused alone, or took too long: for that it is not given up while
    /// nothing at all is answered, for then the server is at fault.
    fn refuse(
        &mut self,
        store: &mut Store,
        text: &mut Text,
        (why, is_late): (String, bool),
        options: &EmbedOptions<'_>,
    ) -> Result<()> {
        let attempts = text.text.attempts + 1;
        let is_silent = is_late && !self.answered;
        let again = attempts <= options.retry.max_retries || is_silent;
        let wait_ms = options.retry.delay_ms(attempts);
        let next_at = again.then(|| Time(options.now.0.saturating_add(wait_ms)));
        store.put_refusal(options.made_by, &text.text, next_at, &why)?;
        match again {
            true => self.done.refused += 1,
            false => {
                self.done.given_up += 1;
                if self.done.named.len() < NAMED_MAX {
                    self.done.named.push(format!("{}: {why}", text.text.name));
                }
            }
        }
        self.in_a_row += 1;
        if self.in_a_row == REFUSED_IN_A_ROW_MAX {
            self.done.silence = Some(Silence {
                why: why.clone(),
                is_lasting: false,
            });
        }
        text.refused = Some(why);
        Ok(())
    }
}

/// What came of a request.
enum Asked {
    /// Its passages have their vectors, or nobody can be asked.
    Done,
    /// Half of it is asked for next.
    Halve,
    /// It was one passage, which was refused, or took too long.
    Refused(String, bool),
}

/// What a model that was replaced under its name does.
pub const OTHER_LENGTH: &str = "the vectors have another length than those that are stored: another model needs another name in `embeddings.model`";

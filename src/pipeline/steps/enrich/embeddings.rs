//! Vectors for what is stored: which texts a model is asked about, in which parts, and what becomes of
//! one that it refuses.

use super::models::{Silence, embedder};
use crate::config::EmbeddingsSettings as Settings;
use crate::model::embedding::Vector;
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

/// Characters of a text that are sent: about 2,000 tokens. More: models cut or refuse it; less: the
/// end of long chunks is found by its words alone.
const TEXT_CHARS_MAX: usize = 8_000;

/// Texts in a row that are refused alone before the step ends: the server is at fault, not they.
const REFUSED_IN_A_ROW_MAX: u32 = 3;

/// What the model is asked with.
pub struct EmbedOptions<'a> {
    /// The run's time.
    pub now: Time,
    /// The model's name.
    pub model: &'a str,
    /// Texts of one request; at least 1.
    pub batch: usize,
    /// Texts of this run.
    pub texts_max: usize,
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
            (self.given_up, "given up"),
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
        embed(store, options, &|texts| embedder.vectors(&permit, texts))
    })?;
    if let Some(Silence { why, .. }) = &report.silence {
        let waiting = plural(report.waiting, "text");
        cx.notices.note(&format!(
            "{why}; {waiting} without a vector for the next run"
        ))?;
    }
    Ok(report)
}

/// How many texts a run would send of what is stored; `None`: no model is configured.
///
/// # Errors
/// When the store can't be read.
pub fn planned(store: &Store, cx: &RunContext<'_>) -> Result<Option<u64>> {
    let Some(settings) = &cx.loaded.config.embeddings else {
        return Ok(None);
    };
    let (sent, _) = with_options(settings, cx, |options| waiting(store, options))?;
    Ok(Some(sent.len() as u64))
}

fn with_options<T>(
    settings: &Settings,
    cx: &RunContext<'_>,
    act: impl FnOnce(&EmbedOptions<'_>) -> Result<T>,
) -> Result<T> {
    act(&EmbedOptions {
        now: cx.now,
        model: &settings.model,
        batch: settings.batch,
        texts_max: settings.texts_max,
        retry: &retry(&cx.loaded.config.delivery),
        admission: &Admission::new(cx.loaded, cx.env, Window::Configured, cx.now),
    })
}

/// The episodes that a run would send, the latest first: not those of projects that are excluded,
/// switched off or not trusted; and how many more wait.
///
/// # Errors
/// When the store can't be read.
pub fn waiting(store: &Store, options: &EmbedOptions<'_>) -> Result<(Vec<Unembedded>, u64)> {
    let mut waiting = store.unembedded(options.model, options.now)?;
    waiting.retain(|one| {
        let (project, cwd) = (Some(one.project_path.as_str()), one.cwd.as_deref());
        options.admission.admit(project, cwd, &one.path).is_ok()
    });
    let left = waiting.len().saturating_sub(options.texts_max);
    waiting.truncate(options.texts_max);
    Ok((waiting, left as u64))
}

/// Asks for the vectors of the texts that wait and keeps each answer at once. A part that is refused is
/// halved until the text that is at fault stands alone.
///
/// # Errors
/// When the store fails; a model that does is told in what is returned.
pub fn embed(
    store: &mut Store,
    options: &EmbedOptions<'_>,
    talk: &EmbedFn<'_>,
) -> Result<EmbedReport> {
    let (waiting, left) = waiting(store, options)?;
    let mut step = Step {
        length: store.vector_length(options.model)?,
        in_a_row: 0,
        done: EmbedReport::default(),
    };
    for part in waiting.chunks(options.batch) {
        let texts = store.to_embed(options.model, part)?;
        let mut parts = vec![texts.as_slice()];
        while let (Some(part), None) = (parts.pop(), &step.done.silence) {
            if let Some((first, second)) = step.ask(store, part, options, talk)? {
                parts.extend([second, first]);
            }
        }
        if step.done.silence.is_some() {
            break;
        }
    }
    let mut done = step.done;
    done.waiting = waiting.len() as u64 + left - done.texts - done.given_up;
    Ok(done)
}

struct Step {
    /// Bytes of a vector of this model, where one is known.
    length: Option<usize>,
    in_a_row: u32,
    done: EmbedReport,
}

/// Two halves that are asked about next.
type Halves<'t> = Option<(&'t [ToEmbed], &'t [ToEmbed])>;

impl Step {
    fn ask<'t>(
        &mut self,
        store: &mut Store,
        part: &'t [ToEmbed],
        options: &EmbedOptions<'_>,
        talk: &EmbedFn<'_>,
    ) -> Result<Halves<'t>> {
        let texts: Vec<String> = part.iter().map(|text| cut(&text.text).to_owned()).collect();
        match talk(&texts).and_then(|vectors| self.checked(vectors)) {
            Ok(vectors) => {
                let made: Vec<(&ToEmbed, Vector)> = part.iter().zip(vectors).collect();
                store.put_vectors(options.model, &made)?;
                self.done.texts += made.len() as u64;
                self.in_a_row = 0;
            }
            Err(Unanswered::Refused { .. }) if part.len() > 1 => {
                return Ok(Some(part.split_at(part.len() / 2)));
            }
            Err(Unanswered::Refused { why }) => {
                for text in part {
                    self.refuse(store, text, &why, options)?;
                }
            }
            Err(unanswered) => self.done.silence = Silence::of(&unanswered),
        }
        Ok(None)
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

    fn refuse(
        &mut self,
        store: &mut Store,
        text: &ToEmbed,
        why: &str,
        options: &EmbedOptions<'_>,
    ) -> Result<()> {
        let attempts = text.attempts + 1;
        let again = attempts <= options.retry.max_retries;
        let wait_ms = options.retry.delay_ms(attempts);
        let next_at = again.then(|| Time(options.now.0.saturating_add(wait_ms)));
        store.put_refusal(options.model, text, next_at, why)?;
        match again {
            true => self.done.refused += 1,
            false => self.done.given_up += 1,
        }
        self.in_a_row += 1;
        if self.in_a_row == REFUSED_IN_A_ROW_MAX {
            self.done.silence = Some(Silence {
                why: why.to_owned(),
                is_lasting: false,
            });
        }
        Ok(())
    }
}

/// What a model that was replaced under its name does.
pub const OTHER_LENGTH: &str = "the vectors have another length than those that are stored: another model needs another name in `embeddings.model`";

/// The first characters of a text.
pub(in crate::pipeline) fn cut(text: &str) -> &str {
    let end = text.char_indices().nth(TEXT_CHARS_MAX);
    end.map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters() {
        let long = "é".repeat(TEXT_CHARS_MAX + 1);
        assert_eq!(cut(&long).chars().count(), TEXT_CHARS_MAX);
        assert_eq!(cut("é"), "é");
    }
}

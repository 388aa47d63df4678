//! Vectors for what is stored and for what is looked for: which texts a model is asked about, in which
//! parts, and what becomes of one that it refuses.
//!
//! Knows whose texts may be sent, and that they are masked and short; refuses to know who answers.

use super::admission::Admission;
use super::spec::Window;
use crate::config::{Env, Loaded, gate};
use crate::memory::screen;
use crate::memory::workspace::Workspace;
use crate::model::embedding::Vector;
use crate::model::error::Error;
use crate::model::llm::Unanswered;
use crate::model::time::Time;
use crate::stages::upload::RetryOptions;
use crate::store::{Store, ToEmbed, Unembedded};
use anyhow::Result;

/// Characters of a text that are sent: about 2,000 tokens. More: models cut or refuse it; less: the
/// end of long chunks is found by its words alone.
const TEXT_CHARS_MAX: usize = 8_000;

/// Texts in a row that are refused alone before the step ends: the server is at fault, not they.
const REFUSED_IN_A_ROW_MAX: u32 = 3;

/// What the model is asked with.
pub struct Orders<'a> {
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
pub type Talk<'a> = dyn Fn(&[String]) -> Result<Vec<Vector>, Unanswered> + 'a;

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Texts that have their vector now.
    pub texts: u64,
    /// Texts that were refused alone, and are sent again in a later run.
    pub refused: u64,
    /// Texts that were refused too often.
    pub given_up: u64,
    /// Texts that still wait for a later run: there were more than one run sends, or nobody answered.
    pub waiting: u64,
    /// Why the step ended early.
    pub stopped: Option<String>,
}

/// The episodes that a run would send, the latest first: not those of projects that are excluded,
/// switched off or not trusted; and how many more wait.
///
/// # Errors
/// When the store can't be read.
pub fn waiting(store: &Store, orders: &Orders<'_>) -> Result<(Vec<Unembedded>, u64)> {
    let mut waiting = store.unembedded(orders.model, orders.now)?;
    waiting.retain(|one| {
        let (project, cwd) = (Some(one.project_path.as_str()), one.cwd.as_deref());
        orders.admission.admit(project, cwd, &one.path).is_ok()
    });
    let left = waiting.len().saturating_sub(orders.texts_max);
    waiting.truncate(orders.texts_max);
    Ok((waiting, left as u64))
}

/// Asks for the vectors of the texts that wait and keeps each answer at once. A part that is refused is
/// halved until the text that is at fault stands alone.
///
/// # Errors
/// When the store fails; a model that does is told in what is returned.
pub fn embed(store: &mut Store, orders: &Orders<'_>, talk: &Talk<'_>) -> Result<Done> {
    let (waiting, left) = waiting(store, orders)?;
    let mut step = Step {
        length: store.vector_length(orders.model)?,
        in_a_row: 0,
        done: Done::default(),
    };
    for part in waiting.chunks(orders.batch) {
        let texts = store.to_embed(orders.model, part)?;
        let mut parts = vec![texts.as_slice()];
        while let (Some(part), None) = (parts.pop(), &step.done.stopped) {
            if let Some((first, second)) = step.ask(store, part, orders, talk)? {
                parts.extend([second, first]);
            }
        }
        if step.done.stopped.is_some() {
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
    done: Done,
}

/// Two halves that are asked about next.
type Halves<'t> = Option<(&'t [ToEmbed], &'t [ToEmbed])>;

impl Step {
    fn ask<'t>(
        &mut self,
        store: &mut Store,
        part: &'t [ToEmbed],
        orders: &Orders<'_>,
        talk: &Talk<'_>,
    ) -> Result<Halves<'t>> {
        let texts: Vec<String> = part.iter().map(|text| cut(&text.text).to_owned()).collect();
        match talk(&texts).and_then(|vectors| self.checked(vectors)) {
            Ok(vectors) => {
                let made: Vec<(&ToEmbed, Vector)> = part.iter().zip(vectors).collect();
                store.put_vectors(orders.model, &made)?;
                self.done.texts += made.len() as u64;
                self.in_a_row = 0;
            }
            Err(Unanswered::Refused { .. }) if part.len() > 1 => {
                return Ok(Some(part.split_at(part.len() / 2)));
            }
            Err(Unanswered::Refused { why }) => {
                for text in part {
                    self.refuse(store, text, &why, orders)?;
                }
            }
            Err(Unanswered::Unavailable { why, .. } | Unanswered::Misconfigured { why }) => {
                self.done.stopped = Some(why);
            }
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
        orders: &Orders<'_>,
    ) -> Result<()> {
        let attempts = text.attempts + 1;
        let again = attempts <= orders.retry.max_retries;
        let wait_ms = orders.retry.delay_ms(attempts);
        let next_at = again.then(|| Time(orders.now.0.saturating_add(wait_ms)));
        store.put_refusal(orders.model, text, next_at, why)?;
        match again {
            true => self.done.refused += 1,
            false => self.done.given_up += 1,
        }
        self.in_a_row += 1;
        if self.in_a_row == REFUSED_IN_A_ROW_MAX {
            self.done.stopped = Some(why.to_owned());
        }
        Ok(())
    }
}

/// What a model that was replaced under its name does.
pub const OTHER_LENGTH: &str = "the vectors have another length than those that are stored: another model needs another name in `embeddings.model`";

/// The first characters of a text.
fn cut(text: &str) -> &str {
    let end = text.char_indices().nth(TEXT_CHARS_MAX);
    end.map_or(text, |(end, _)| &text[..end])
}

/// Somebody who looks for something.
pub struct Asked<'a> {
    /// What is looked for, as it was typed.
    pub words: &'a str,
    /// The settings where it is asked.
    pub loaded: &'a Loaded,
    /// The environment there: its working directory is in the present project.
    pub env: &'a Env,
    /// When.
    pub now: Time,
}

/// What may be sent of a question: its words, masked and cut. Tracking has to be on, and the present
/// project neither excluded, switched off, nor untrusted; consent to the endpoint comes after.
///
/// # Errors
/// Of usage: what stands in the way. When the rules for secrets can't be read.
pub fn question(asked: &Asked<'_>) -> Result<String> {
    let gate = gate(&asked.loaded.here);
    if !gate.enabled {
        return Err(Error::usage(gate.reason).into());
    }
    let admission = Admission::new(asked.loaded, asked.env, Window::Configured, asked.now);
    let project = Workspace::of(&asked.env.cwd).root;
    let cwd = asked.env.cwd.to_string_lossy();
    if let Err(reason) = admission.admit(Some(&project), Some(&cwd), "") {
        return Err(Error::usage(format!("the present project is {reason}")).into());
    }
    let screen = screen::screen(&asked.loaded.config, &asked.loaded.home)?;
    let words = screen.redactor.redact(asked.words);
    Ok(cut(words.trim()).to_owned())
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

//! Language models, in the two shapes that most servers speak. Knows where a prompt goes and where
//! the text of an answer stands; refuses to know what is asked.

use super::http::{Http, HttpError};
use crate::model::consent::Permit;
use crate::model::llm::{ModelReply, Tokens, Turn, Unanswered};
use serde_json::{Value, json};

/// How a server is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiStyle {
    /// `POST /chat/completions` below the endpoint.
    OpenAi,
    /// `POST /v1/messages` below the endpoint.
    Anthropic,
}

/// The version of the messages API that is spoken.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// One model on one server.
pub struct Llm {
    /// Makes the requests.
    pub http: Http,
    /// How it is spoken to.
    pub shape: ApiStyle,
    /// Its name there.
    pub model: String,
    /// Where the server wants one.
    pub key: Option<String>,
}

/// What a model said, and what it cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlmAnswer {
    /// Its words.
    pub text: String,
    /// As the server counts them; 0 where it doesn't say.
    pub tokens: Tokens,
}

impl Llm {
    /// Asks one question; the answer has at most `tokens_max` tokens.
    ///
    /// # Errors
    /// As [`Llm::say`].
    pub fn ask(
        &self,
        permit: &Permit,
        prompt: &str,
        tokens_max: u64,
    ) -> Result<LlmAnswer, Unanswered> {
        let turns = [Turn::Asks(prompt.to_owned())];
        let said = self.say(permit, &turns, tokens_max)?;
        Ok(LlmAnswer {
            text: said.text,
            tokens: said.tokens.unwrap_or_default(),
        })
    }

    /// Says the turns of a conversation, the last one ours; the answer has at most `tokens_max`
    /// tokens. What may pass is tried again, as [`Http::post`] does.
    ///
    /// # Errors
    /// What came instead of an answer, with the endpoint's name.
    pub fn say(
        &self,
        permit: &Permit,
        turns: &[Turn],
        tokens_max: u64,
    ) -> Result<ModelReply, Unanswered> {
        let key = self.key.as_deref().unwrap_or_default();
        let messages: Vec<Value> = turns.iter().map(message).collect();
        let mut body = json!({"model": self.model, "messages": messages});
        let posted = match self.shape {
            ApiStyle::OpenAi => {
                let bearer = format!("Bearer {key}");
                let headers = [("authorization", bearer.as_str())];
                let headers = &headers[..usize::from(self.key.is_some())];
                body["max_completion_tokens"] = tokens_max.into();
                self.http.post(permit, "/chat/completions", headers, &body)
            }
            ApiStyle::Anthropic => {
                let headers = [("anthropic-version", ANTHROPIC_VERSION), ("x-api-key", key)];
                let headers = &headers[..1 + usize::from(self.key.is_some())];
                body["max_tokens"] = tokens_max.into();
                self.http.post(permit, "/v1/messages", headers, &body)
            }
        };
        let answer = posted
            .map_err(unanswered)
            .and_then(|answered| match self.shape {
                ApiStyle::OpenAi => openai(&answered),
                ApiStyle::Anthropic => anthropic(&answered),
            });
        answer.map_err(|instead| named(permit, instead))
    }
}

fn message(turn: &Turn) -> Value {
    match turn {
        Turn::Asks(text) => json!({"role": "user", "content": text}),
        Turn::Answers(text) => json!({"role": "assistant", "content": text}),
    }
}

/// Statuses that say that the question is at fault: malformed, too long, against the rules.
const QUESTION_AT_FAULT: [u16; 3] = [400, 413, 422];

/// What an error means for the question that met it.
pub(super) fn unanswered(error: HttpError) -> Unanswered {
    let why = error.to_string();
    match error {
        _ if error.may_pass() => Unanswered::Unavailable {
            why,
            after_ms: error.asked_ms(),
            is_late: error == HttpError::Late,
        },
        HttpError::Status(status, _) if QUESTION_AT_FAULT.contains(&status) => {
            Unanswered::Refused { why }
        }
        _ => Unanswered::Misconfigured { why },
    }
}

/// The same with the endpoint's name.
pub(super) fn named(permit: &Permit, instead: Unanswered) -> Unanswered {
    let named = |why: String| format!("{}: {why}", permit.endpoint());
    match instead {
        Unanswered::Unavailable {
            why,
            after_ms,
            is_late,
        } => Unanswered::Unavailable {
            why: named(why),
            after_ms,
            is_late,
        },
        Unanswered::Misconfigured { why } => Unanswered::Misconfigured { why: named(why) },
        Unanswered::Refused { why } => Unanswered::Refused { why: named(why) },
    }
}

fn openai(answered: &Value) -> Result<ModelReply, Unanswered> {
    let choice = &answered["choices"][0];
    let message = choice["message"].as_object().ok_or_else(no_text)?;
    let ended = choice["finish_reason"].as_str();
    if message.get("refusal").is_some_and(Value::is_string) || ended == Some("content_filter") {
        return Err(refused());
    }
    let is_cut = ended == Some("length");
    let text = message.get("content").and_then(Value::as_str);
    let text = text.or(is_cut.then_some("")).ok_or_else(no_text)?;
    Ok(ModelReply {
        text: text.to_owned(),
        tokens: tokens(&answered["usage"], ["prompt_tokens", "completion_tokens"]),
        is_cut,
    })
}

fn anthropic(answered: &Value) -> Result<ModelReply, Unanswered> {
    let blocks = answered["content"].as_array().ok_or_else(no_text)?;
    let ended = answered["stop_reason"].as_str();
    if ended == Some("refusal") {
        return Err(refused());
    }
    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
    Ok(ModelReply {
        text: texts.collect(),
        tokens: tokens(&answered["usage"], ["input_tokens", "output_tokens"]),
        is_cut: ended == Some("max_tokens"),
    })
}

/// The server speaks otherwise than it was configured to.
fn no_text() -> Unanswered {
    Unanswered::Misconfigured {
        why: "the answer has no text".to_owned(),
    }
}

fn refused() -> Unanswered {
    Unanswered::Refused {
        why: "the model refuses to answer".to_owned(),
    }
}

fn tokens(usage: &Value, [input, output]: [&str; 2]) -> Option<Tokens> {
    let (input, output) = (usage[input].as_u64(), usage[output].as_u64());
    (input.is_some() || output.is_some()).then(|| Tokens {
        input: input.unwrap_or_default(),
        output: output.unwrap_or_default(),
    })
}

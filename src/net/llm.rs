//! Language models, in the two shapes that most servers speak. Knows where a prompt goes and where
//! the text of an answer stands; refuses to know what is asked.

use super::http::Http;
use crate::model::consent::Permit;
use crate::model::error::{Error, ErrorKind};
use serde_json::{Value, json};

/// How a server is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
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
    pub shape: Shape,
    /// Its name there.
    pub model: String,
    /// Where the server wants one.
    pub key: Option<String>,
}

/// What a model said, and what it cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its words.
    pub text: String,
    /// Input and output, as the server counts them; 0 where it doesn't say.
    pub tokens: u64,
}

impl Llm {
    /// Asks once; the answer has at most `tokens_max` tokens.
    ///
    /// # Errors
    /// As [`Http::post`], and where the answer hasn't the shape.
    pub fn ask(&self, permit: &Permit, prompt: &str, tokens_max: u64) -> Result<Answer, Error> {
        let messages = json!([{"role": "user", "content": prompt}]);
        let key = self.key.as_deref().unwrap_or_default();
        let answered = match self.shape {
            Shape::OpenAi => {
                let bearer = format!("Bearer {key}");
                let headers = [("authorization", bearer.as_str())];
                let headers = &headers[..usize::from(self.key.is_some())];
                let body = json!({
                    "model": self.model, "messages": messages, "max_completion_tokens": tokens_max
                });
                self.http
                    .post(permit, "/chat/completions", headers, &body)?
            }
            Shape::Anthropic => {
                let headers = [("anthropic-version", ANTHROPIC_VERSION), ("x-api-key", key)];
                let headers = &headers[..1 + usize::from(self.key.is_some())];
                let body =
                    json!({"model": self.model, "messages": messages, "max_tokens": tokens_max});
                self.http.post(permit, "/v1/messages", headers, &body)?
            }
        };
        let text = match self.shape {
            Shape::OpenAi => answered["choices"][0]["message"]["content"]
                .as_str()
                .map(str::to_owned),
            Shape::Anthropic => answered["content"].as_array().map(|blocks| {
                let texts = blocks.iter().filter_map(|block| block["text"].as_str());
                texts.collect()
            }),
        };
        let Some(text) = text else {
            let message = format!("{}: the answer has no text", permit.endpoint());
            return Err(Error::new(ErrorKind::Failed, message));
        };
        Ok(Answer {
            text,
            tokens: tokens(&answered["usage"]),
        })
    }
}

fn tokens(usage: &Value) -> u64 {
    const COUNTS: [&str; 4] = [
        "prompt_tokens",
        "completion_tokens",
        "input_tokens",
        "output_tokens",
    ];
    COUNTS.iter().filter_map(|name| usage[name].as_u64()).sum()
}

//! The keys below `llm` and `embeddings`, as they are written: which models, and what they may cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `llm`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WireLlm {
    /// Where it is: https://host[:port][/path]. null: no language model, nothing is sent.
    pub endpoint: Option<String>,
    /// How it is spoken to: below the endpoint, openai posts to `/chat/completions`, anthropic to
    /// `/v1/messages`.
    pub shape: LlmShape,
    /// The model's name there.
    pub model: Option<String>,
    /// The environment variable with the key, also looked for in the file `env` in the settings'
    /// folder. null: no key is sent.
    pub key_env: Option<String>,
    /// Seconds for a whole answer.
    #[schemars(range(min = 1, max = 3600), extend("x-error" = "timeout_s must be between 1 and 3600"))]
    pub timeout_s: u32,
    /// Tokens of one question with its answer: of a long session only so much is shown.
    #[schemars(range(min = 8000), extend("x-error" = "context_tokens must be at least 8000"))]
    pub context_tokens: u32,
    /// Tokens that one run may use. null: no bound.
    pub max_tokens_per_run: Option<u64>,
    /// US dollars that one run may cost, by the prices below. null: no bound.
    pub max_usd_per_run: Option<f64>,
    /// Tokens that one day (UTC) may use. null: no bound.
    pub max_tokens_per_day: Option<u64>,
    /// US dollars that one day (UTC) may cost. null: no bound.
    pub max_usd_per_day: Option<f64>,
    /// US dollars for a million tokens that the model reads.
    #[schemars(range(min = 0.0), extend("x-error" = "usd_per_million_input must not be below 0"))]
    pub usd_per_million_input: f64,
    /// US dollars for a million tokens that the model writes.
    #[schemars(range(min = 0.0), extend("x-error" = "usd_per_million_output must not be below 0"))]
    pub usd_per_million_output: f64,
}

impl Default for WireLlm {
    fn default() -> Self {
        WireLlm {
            endpoint: None,
            shape: LlmShape::OpenAi,
            model: None,
            key_env: None,
            timeout_s: 60,
            context_tokens: 32_000,
            max_tokens_per_run: None,
            max_usd_per_run: None,
            max_tokens_per_day: None,
            max_usd_per_day: None,
            usd_per_million_input: 0.4,
            usd_per_million_output: 1.6,
        }
    }
}

/// `embeddings`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WireEmbeddings {
    /// Where it is: https://host[:port][/path]; `/embeddings` below it is posted to, as OpenAI's. null:
    /// none, nothing is sent.
    pub endpoint: Option<String>,
    /// The model's name there. With another one, all texts are sent again.
    pub model: Option<String>,
    /// The environment variable with the key, also looked for in the file `env` in the settings'
    /// folder. null: no key is sent.
    pub key_env: Option<String>,
    /// Seconds for a whole answer. A search waits at most 2.
    #[schemars(range(min = 1, max = 3600), extend("x-error" = "timeout_s must be between 1 and 3600"))]
    pub timeout_s: u32,
    /// What the model wants before a question: `query: ` for the E5 family, else mostly nothing.
    pub query_prefix: String,
    /// What it wants before what is searched: `passage: ` for the E5 family. With another one, all texts are
    /// sent again.
    pub passage_prefix: String,
    /// Characters of a passage: a text is sent as passages that overlap by half, and its nearest one counts.
    /// More than the model reads is cut off by its server without a word: 512 tokens are some 1,500
    /// characters of code. With another number, all texts are sent again.
    #[schemars(range(min = 100, max = 8000), extend("x-error" = "passage_chars must be between 100 and 8000"))]
    pub passage_chars: u32,
    /// Passages of one request. A server that doesn't answer in time gets half as many.
    #[schemars(range(min = 1, max = 2048), extend("x-error" = "batch must be between 1 and 2048"))]
    pub batch: u32,
    /// Passages that one run sends; the text that reaches it is sent whole.
    pub max_texts_per_run: u32,
}

impl Default for WireEmbeddings {
    fn default() -> Self {
        WireEmbeddings {
            endpoint: None,
            model: None,
            key_env: None,
            timeout_s: 30,
            query_prefix: String::new(),
            passage_prefix: String::new(),
            passage_chars: 600,
            batch: 32,
            max_texts_per_run: 5_000,
        }
    }
}

/// How a server of language models is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LlmShape {
    /// As OpenAI's.
    OpenAi,
    /// As Anthropic's.
    Anthropic,
}

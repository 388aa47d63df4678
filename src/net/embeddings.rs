//! Vectors of texts, from a server that speaks as OpenAI's. Knows where texts go and where the numbers
//! of an answer stand, and trusts none of them; refuses to know whose texts they are.

use super::http::{Http, HttpError};
use super::llm::{named, unanswered};
use crate::model::consent::Permit;
use crate::model::embedding::Vector;
use crate::model::llm::Unanswered;
use serde_json::{Value, json};

/// One model on one server.
pub struct Embedder {
    /// Makes the requests.
    pub http: Http,
    /// Its name there.
    pub model: String,
    /// Where the server wants one.
    pub key: Option<String>,
}

/// Posts a body with these headers.
type Post<'a> = dyn Fn(&[(&str, &str)], &Value) -> Result<Value, HttpError> + 'a;

impl Embedder {
    /// The vectors of some texts, in their order and of one length. What may pass is tried again, as
    /// [`Http::post`] does.
    ///
    /// # Errors
    /// What came instead, with the endpoint's name. An answer that is of no use counts as a refusal
    /// of these texts: others may fare better.
    pub fn vectors(&self, permit: &Permit, texts: &[String]) -> Result<Vec<Vector>, Unanswered> {
        let post =
            |headers: &[(&str, &str)], body: &Value| self.http.post(permit, PATH, headers, body);
        self.ask(texts, &post).map_err(|why| named(permit, why))
    }

    /// The vector of one text, for somebody who waits: nothing is tried again.
    ///
    /// # Errors
    /// As those of [`Embedder::vectors`].
    pub fn vector(&self, permit: &Permit, text: &str) -> Result<Vector, Unanswered> {
        let post = |headers: &[(&str, &str)], body: &Value| {
            self.http.post_once(permit, PATH, headers, body)
        };
        let vectors = self.ask(&[text.to_owned()], &post);
        let first = vectors.and_then(|all| all.into_iter().next().ok_or_else(|| odd(COUNT)));
        first.map_err(|why| named(permit, why))
    }

    fn ask(&self, texts: &[String], post: &Post<'_>) -> Result<Vec<Vector>, Unanswered> {
        let bearer = format!("Bearer {}", self.key.as_deref().unwrap_or_default());
        let headers = [("authorization", bearer.as_str())];
        let headers = &headers[..usize::from(self.key.is_some())];
        let body = json!({"model": self.model, "input": texts});
        let answered = post(headers, &body).map_err(|error| match error {
            HttpError::Odd(why) => Unanswered::Refused { why },
            other => unanswered(other),
        })?;
        read(&answered, texts.len())
    }
}

const PATH: &str = "/embeddings";
const COUNT: &str = "the answer has the wrong number of vectors";

fn odd(why: &str) -> Unanswered {
    Unanswered::Refused { why: why.into() }
}

/// One vector for each text: where an entry says which text it is of, that counts.
fn read(answered: &Value, wanted: usize) -> Result<Vec<Vector>, Unanswered> {
    let list = answered["data"].as_array();
    let list = list.ok_or_else(|| odd("the answer has no vectors"))?;
    if list.len() != wanted {
        return Err(odd(COUNT));
    }
    let mut vectors: Vec<Option<Vector>> = vec![None; wanted];
    for (nth, entry) in list.iter().enumerate() {
        let at = match &entry["index"] {
            Value::Null => Some(nth),
            index => index.as_u64().and_then(|index| usize::try_from(index).ok()),
        };
        let place = at.and_then(|at| vectors.get_mut(at));
        let place = place.filter(|place| place.is_none());
        let place = place.ok_or_else(|| odd("the answer mixes up the texts"))?;
        let numbers = entry["embedding"].as_array().map(Vec::as_slice);
        let numbers = numbers.unwrap_or_default().iter().map(Value::as_f64);
        let vector = numbers.collect::<Option<Vec<f64>>>();
        let vector = vector.and_then(|numbers| Vector::new(&numbers));
        *place = Some(vector.ok_or_else(|| odd("the answer has a vector that is not valid"))?);
    }
    let vectors: Vec<Vector> = vectors.into_iter().flatten().collect();
    let bytes = |vector: &Vector| vector.as_bytes().len();
    let is_even = vectors
        .windows(2)
        .all(|two| bytes(&two[0]) == bytes(&two[1]));
    match is_even {
        true => Ok(vectors),
        false => Err(odd("the answer has vectors of several lengths")),
    }
}

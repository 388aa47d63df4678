//! What the server knows of the process that it runs in.

use crate::config::{Env, Home};
use crate::model::embedding::Meaning;
use crate::model::time::Time;
use crate::pipeline::embed::Asked;
use crate::store::Store;

/// What a field and its value mean at a time; the error says what to write.
pub type Dates = dyn Fn(&str, &str, Time) -> Result<Time, String> + Send + Sync;

/// What a question means; `None`: words alone have to do.
pub type Meanings = dyn Fn(&Asked<'_>, &Store) -> Option<Meaning> + Send + Sync;

/// What the server knows of the process that it runs in.
pub struct ServerContext {
    /// The environment. Settings and store are looked up anew for each request.
    pub env: Env,
    /// The machine's name.
    pub host: String,
    /// The present time; a server lives for days.
    pub clock: Box<dyn Fn() -> Time + Send + Sync>,
    /// Reads the point in time that a field of a search line means by its value at a time.
    pub dates: Box<Dates>,
    /// Asks a model what is looked for, where one is configured.
    pub meanings: Box<Meanings>,
    /// The working directory is the client's own: clients start servers where they work.
    pub is_beside: bool,
}

impl ServerContext {
    pub(super) fn home(&self) -> Home {
        Home::of(&self.env)
    }
}

//! What the server knows of the process that it runs in: clock, environment and names come from outside.

use crate::config::{Env, Home};
use crate::model::time::Time;
use crate::model::zone::Zone;

/// What the server knows of the process that it runs in.
pub struct ServerContext {
    /// The environment. Settings and store are looked up anew for each request.
    pub env: Env,
    /// The machine's name.
    pub host: String,
    /// The present time; a server lives for days.
    pub clock: Box<dyn Fn() -> Time + Send + Sync>,
    /// The zone in which people type times.
    pub zone: Zone,
    /// Tells whoever runs the server what deserves attention.
    pub warn: Box<dyn Fn(&str) + Send + Sync>,
    /// The working directory is the client's own: clients start servers where they work.
    pub is_beside: bool,
}

impl ServerContext {
    /// Where everything of ours lies.
    pub(super) fn home(&self) -> Home {
        Home::of(&self.env)
    }
}

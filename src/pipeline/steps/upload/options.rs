//! What a delivery is told: its bounds, its clock and whose yes it needs.

use crate::model::activity::ActivityTally;
use crate::model::episode::EpisodeSource;
use crate::model::error::Error;
use crate::model::extraction::Extraction;
use crate::model::time::Time;
use crate::stages::upload::RetryOptions;
use crate::store::Store;
use std::time::Duration;

/// What a delivery is told.
pub struct DeliveryOptions<'a> {
    /// Where the sink is: receipts are worth something at this place alone.
    pub address: &'a str,
    /// The run's time.
    pub now: Time,
    /// `inactivity_timeout`.
    pub settled_ms: i64,
    /// `upload.settle_after`, for sinks that can't replace.
    pub settle_after_ms: i64,
    /// When something is tried again.
    pub retry: RetryOptions,
    /// Episodes on their way at once.
    pub on_their_way_max: usize,
    /// Episodes of this run; `None`: all.
    pub episodes_max: Option<usize>,
    /// Episodes a minute; `None`: as many as the sink takes.
    pub rate_per_minute: Option<u32>,
    /// What the sink's server spends on an episode, where it asks a language model.
    pub extraction: Option<Extraction>,
    /// US dollars that it may spend for this run; `None`: no bound.
    pub usd_max: Option<f64>,
    /// Whether this run has waited for the sink's server as long as it may.
    pub is_late: &'a dyn Fn() -> bool,
    /// How it is waited between batches, to keep that rate.
    pub wait: &'a dyn Fn(Duration),
    /// What was stored before the sink was known goes too.
    pub history: bool,
    /// The sink is asked though it is paused.
    pub insist: bool,
    /// Projects whose episodes stay here.
    pub kept_here: &'a [String],
    /// Chunks and summaries only: memories have groups of their own.
    pub only_logs: bool,
    /// Episodes of this source stay here; `None`: of none.
    pub without: Option<EpisodeSource>,
    /// The branch that sessions were on, and where memories' work trees were, may be told.
    pub includes_git: bool,
    /// A project's path as it may be told; `None`: not at all.
    pub shown_path: &'a dyn Fn(&str) -> Option<String>,
    /// What kind of work was counted, in words.
    pub profile: &'a dyn Fn(&ActivityTally) -> String,
    /// Asked before each batch and each part of one: somebody still agrees.
    pub permitted: &'a dyn Fn(&Store) -> Result<(), Error>,
}

impl DeliveryOptions<'_> {
    /// Everything to everybody at once, whatever it costs, to see what arrives.
    pub fn everything(now: Time) -> DeliveryOptions<'static> {
        DeliveryOptions {
            address: "",
            now,
            settled_ms: 0,
            settle_after_ms: 0,
            retry: RetryOptions {
                max_retries: 0,
                delays_ms: Vec::new(),
            },
            on_their_way_max: usize::MAX,
            episodes_max: None,
            rate_per_minute: None,
            extraction: None,
            usd_max: None,
            is_late: &|| false,
            wait: &|_| {},
            history: true,
            insist: true,
            kept_here: &[],
            only_logs: false,
            without: None,
            includes_git: false,
            shown_path: &|path| Some(path.to_owned()),
            profile: &|_| String::new(),
            permitted: &|_| Ok(()),
        }
    }
}

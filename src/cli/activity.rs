//! What kind of work it was, as commands ask for it and show it.

use crate::memory::session_activity::ActivityConditions;
use crate::model::activity::{Activity, Dimension, MIXED};
use serde_json::{Value, json};

/// The filter that `search` and `sessions` share.
#[derive(clap::Args, Debug, Default)]
pub struct ActivityFilter {
    /// Only this kind of work: conditions (>, >=, <, <=, =) on building, fixing, configuring,
    /// exploring, refactoring, reviewing, testing or documenting, for example
    /// 'fixing>0.6,configuring>0.4'
    #[arg(long, value_name = "CONDITIONS", value_parser = ActivityConditions::parse)]
    pub activity: Option<ActivityConditions>,
}

/// As `--json` shows it.
pub fn document(activity: &Activity) -> Value {
    json!({
        "vector": activity.vector,
        "signals": activity.signals,
        "strength": activity.strength,
        "primary": word(activity.primary),
        "sure": activity.sure.map(Dimension::as_str),
        "profile": activity.profile(),
    })
}

/// The name of a primary dimension.
pub fn word(primary: Option<Dimension>) -> &'static str {
    primary.map_or(MIXED, Dimension::as_str)
}

/// What kind of work it was, in a word where that is sure, or with all that was found where more is asked for.
pub fn kind(activity: &Activity, is_verbose: bool) -> String {
    match is_verbose {
        true => activity.profile(),
        false => activity.word().to_owned(),
    }
}

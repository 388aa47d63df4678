//! Floor 1: settings. As written (`wire`) → in layers, with origins (`layers`, `narrow`) → as they
//! count (`resolved`); and edits that keep every other byte (`edit`). Knows the settings' files and
//! nothing else of the machine: the environment is handed in.

pub mod agent_settings;
pub mod change;
mod document;
pub mod edit;
mod env;
mod exclude;
mod file_kind;
mod gate;
mod graphiti_keys;
mod layers;
mod load;
mod narrow;
mod position;
mod resolved;
mod schema;
#[cfg(test)]
mod tests;
pub mod trust;
mod validate;
mod values;
mod wire;

pub use env::{Env, Home};
pub use exclude::{Excluded, glob, literal};
pub use gate::{CONSENT_TEXT, Gate, gate, graphs};
pub use layers::{Setting, SettingOrigin};
pub use load::{Loaded, load, schema, setting_keys, tracking_schema};
pub use resolved::{
    Config, DatabaseSettings, DeliveryLimits, EmbeddingsSettings, FileLimits, FilePattern,
    FileTracking, Graphiti, KnownProject, LlmSettings, Memory, Protocol, RecallLimits, Scoring,
    SinkSettings, SinkTo, Summarizing, Tracked, TrackedProject, UsualLogs,
};
pub use values::seconds;
pub use wire::LlmShape;

//! Changes to settings files, ours and agents', that keep every other byte. Refuses to touch a file that
//! it doesn't fully understand.

mod file;
pub(super) mod json;
mod keys;
mod session_tracking;
pub(super) mod toml;
pub mod tracking_config;
mod yaml;

pub use file::write;
pub use keys::Edited;
pub(super) use keys::{remove, set};
pub use session_tracking::{set_enabled, set_excluded};

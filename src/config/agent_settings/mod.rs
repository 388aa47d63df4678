//! Where an agent's own settings hold our entries, and how it spells them: `agents` fills that in. Here
//! the entries are put in, and taken out so that nothing else changes by a byte.

mod change;
mod entries;
mod hooks;
mod servers;

pub use change::{SettingsChange, read};
pub use entries::Removed;
pub use hooks::{Hook, HookSettings, HookShape};
pub use servers::{ServerCommand, ServerFormat, ServerSettings, ServerShape};

/// Entries that start a program of our name are ours, whatever its folder, and whatever a package adds to its
/// name (`.sessionmill-wrapped`).
pub fn is_our_program(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    name.contains("sessionmill")
}

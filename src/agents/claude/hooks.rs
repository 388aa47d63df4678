//! Whether Claude Code starts hooks at all.

use crate::config::Env;
use serde::Deserialize;

#[derive(Deserialize)]
struct Settings {
    #[serde(rename = "disableAllHooks")]
    disable_all_hooks: bool,
}

/// Why it starts none: the user's settings switch all of them off; `None` where they don't, or can't be
/// understood.
pub fn switched_off(env: &Env) -> Option<String> {
    let file = env.claude_dir().join("settings.json");
    let text = std::fs::read_to_string(&file).ok()?;
    let settings: Settings = serde_json::from_str(&text).ok()?;
    let reason = || format!("`disableAllHooks` is true in {}", file.display());
    settings.disable_all_hooks.then(reason)
}

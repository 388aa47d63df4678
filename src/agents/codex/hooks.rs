//! Whether Codex starts hooks at all.

use crate::config::Env;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Why it starts none: the line of its `config.toml` that switches them off; `None` where nothing does,
/// or the file can't be understood.
pub fn switched_off(env: &Env) -> Option<String> {
    #[derive(Deserialize)]
    struct Config {
        features: BTreeMap<String, toml::Value>,
    }
    let file = env.codex_dir().join("config.toml");
    let config: Config = toml::from_str(&std::fs::read_to_string(&file).ok()?).ok()?;
    // The second was their name until Codex 0.129.
    let off = ["hooks", "codex_hooks"]
        .into_iter()
        .find(|name| config.features.get(*name) == Some(&toml::Value::Boolean(false)))?;
    Some(format!("`features.{off} = false` in {}", file.display()))
}

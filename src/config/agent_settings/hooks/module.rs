//! Hooks that an agent takes from a module of its own: a file that is ours altogether.

use super::{Hook, HookSettings, Removed, untouched};
use crate::model::error::Error;
use serde_json::Value;

/// Where the module has the command.
const COMMAND: &str = "@COMMAND@";

/// Where it has the time that it waits.
const TIMEOUT: &str = "@TIMEOUT@";

impl HookSettings {
    /// The command that a module of ours starts; `None`: it isn't what we write.
    fn started(&self, module: &str, text: &str) -> Option<String> {
        let module = module.replace(TIMEOUT, &self.timeout.to_string());
        let (before, after) = module.split_once(COMMAND)?;
        let command = text.strip_prefix(before)?.strip_suffix(after)?;
        serde_json::from_str(command).ok()
    }

    /// A module that starts `command`.
    pub(super) fn module(&self, module: &str, command: &str) -> String {
        let module = module.replace(TIMEOUT, &self.timeout.to_string());
        // JSON's strings are JavaScript's
        module.replace(COMMAND, &Value::from(command).to_string())
    }

    pub(super) fn module_hooks(&self, module: &str, text: &str) -> Vec<Hook> {
        let command = self.started(module, text).or_else(|| {
            let is_ours = text.starts_with(first_line(module));
            is_ours.then(|| self.file.display().to_string())
        });
        let hook = |command: String| {
            let event = |(event, _): &(&str, Option<&str>)| Hook {
                event: (*event).to_owned(),
                command: command.clone(),
            };
            self.events.iter().map(event).collect()
        };
        command.map(hook).unwrap_or_default()
    }

    pub(super) fn with_module(
        &self,
        module: &str,
        text: Option<&str>,
        command: &str,
    ) -> Result<String, Error> {
        let is_ours = |text: &str| self.started(module, text).is_some();
        if text.is_some_and(|text| !text.trim().is_empty() && !is_ours(text)) {
            let file = self.file.display();
            let what = match text.is_some_and(|text| text.starts_with(first_line(module))) {
                true => "was changed by hand, or by another version",
                false => "is not ours",
            };
            let hint = format!(
                "sessionmill hooks remove --agent {} --force",
                self.agent.as_str()
            );
            return Err(untouched(Error::usage(format!("{file} {what}"))).hinted(hint));
        }
        Ok(self.module(module, command))
    }

    pub(super) fn without_module(&self, module: &str, text: &str, force: bool) -> Removed {
        let is_as_written = self.started(module, text).is_some();
        if is_as_written || force && text.starts_with(first_line(module)) {
            return Removed::default();
        }
        let left = self.module_hooks(module, text).into_iter();
        Removed {
            left: left.map(|hook| hook.event).collect(),
            text: Some(text.to_owned()),
        }
    }
}

fn first_line(module: &str) -> &str {
    module.lines().next().unwrap_or_default()
}

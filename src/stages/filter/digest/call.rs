//! A call: its tool's row of the table and what stands in the parentheses.

use super::line::{self, COMMAND_CHARS_MAX, TEXT_CHARS_MAX};
use super::output::ToolOutput;
use super::patch::{self, PatchChange};
use super::script;
use crate::model::entry::{CallStatus, ToolResult};
use crate::rules::commands::history::{self, Act};
use crate::rules::commands::{self, Counted, OwnChecks};
use crate::rules::documents;
use crate::rules::test_runners;
use crate::rules::tools::{self, AnswerKind, Show, ToolRule};
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;

/// A call, looked up.
pub struct DigestCall<'a> {
    /// As the model wrote it.
    pub name: &'a str,
    /// How it is told.
    pub row: &'static ToolRule,
    /// Its parameters, or what was kept of them.
    pub input: &'a Value,
    /// What paths are shown against.
    pub cwd: Option<&'a str>,
    /// What its patch changes, where it has one.
    pub changes: Vec<PatchChange>,
}

/// Where shortened inputs keep the parameters of unknown tools, already told.
pub const PARAMS: &str = "~params";

/// Where shortened inputs keep a plan's title; in the table, the parameter that stands for it.
pub const TITLE: &str = "~title";

/// Where shortened inputs keep what the command is counted as.
pub const CLASS: &str = "~class";

/// Where shortened inputs keep what the command is recognised by.
pub const KEY: &str = "~key";

/// Where shortened inputs keep what the command does to a history.
pub const ACTS: &str = "~acts";

/// Where shortened inputs keep the checks of a command that was cut.
pub const CHECKS: &str = "~checks";

/// Where shortened inputs keep whether the command can't run tests.
pub const IDLE: &str = "~idle";

/// Where shortened inputs keep the lines of a written content.
pub const LINES: &str = "~lines";

/// Where shortened inputs keep the lines added and removed by an edit.
pub const CHANGED: &str = "~changed";

/// Where shortened inputs keep which settings an edit changes.
pub const SETTINGS: &str = "~settings";

/// Where shortened inputs keep what comments of an edit's text say is to be done.
pub const TODOS: &str = "~todos";

/// More: long lists of files; fewer: a patch's extent is only a number.
const PATHS_MAX: usize = 6;

impl<'a> DigestCall<'a> {
    /// Looks up the tool; finds its patch.
    pub fn new(name: &'a str, input: &'a Value, cwd: Option<&'a str>) -> DigestCall<'a> {
        let row = tools::tool(name);
        let mut call = DigestCall {
            name,
            row,
            input,
            cwd,
            changes: Vec::new(),
        };
        call.changes = match row.answer {
            AnswerKind::Patch | AnswerKind::Shell => call.patched(),
            _ => Vec::new(),
        };
        call
    }

    fn patched(&self) -> Vec<PatchChange> {
        if let Some(kept) = patch::kept(self.input) {
            return kept;
        }
        let given = match self.input {
            Value::Object(map) => map.values().flat_map(texts).collect(),
            other => texts(other),
        };
        let mut changes = given.into_iter().map(patch::changes);
        changes
            .find(|changes| !changes.is_empty())
            .unwrap_or_default()
    }

    /// A command that states a bad exit code failed, whatever the parser made of it.
    pub fn status(&self, result: &ToolResult, output: &ToolOutput<'_>) -> CallStatus {
        let exited_badly = output.exit_code.is_some_and(|code| code != 0);
        let by_code = matches!(self.row.answer, AnswerKind::Shell | AnswerKind::Patch);
        match result.status {
            CallStatus::Ok if exited_badly && by_code => CallStatus::Failed,
            status => status,
        }
    }

    /// What it returned may be a person's words; of a result whose call nobody knows, too.
    pub fn quotes_people(&self, result: &ToolResult) -> bool {
        let is_refused = result.status == CallStatus::Refused;
        let is_unknown = self.row.answer == AnswerKind::Other && self.input.is_null();
        is_refused || is_unknown || self.row.asks_people() || !result.facts.answers.is_empty()
    }

    /// What is remembered of its command (`rules::commands`); nothing where there is none.
    pub fn counted(&self) -> Counted {
        if let Some(kept) = self.text(CLASS) {
            let key = self.input.get(KEY).and_then(Value::as_u64);
            return Counted {
                name: kept.to_owned(),
                key: key.and_then(|key| u32::try_from(key).ok()).unwrap_or(0),
            };
        }
        match self.command_line() {
            Some(_) if !self.changes.is_empty() => Counted {
                name: "edit".to_owned(),
                key: 0,
            },
            Some(line) => commands::counted(&line),
            None => Counted::default(),
        }
    }

    /// Whether its command can't run tests; always `false` where there is none.
    pub fn is_idle(&self) -> bool {
        if let Some(kept) = self.input.get(IDLE).and_then(Value::as_bool) {
            return kept;
        }
        self.command_line()
            .is_some_and(|line| test_runners::is_idle(&line))
    }

    /// What it does to a history that others see.
    pub fn acts(&self) -> Vec<Act> {
        if let Some(kept) = self.input.get(ACTS) {
            return Vec::deserialize(kept).unwrap_or_default();
        }
        match self.command_line() {
            Some(_) if self.text(CLASS).is_some() => Vec::new(),
            Some(line) => history::acts(&line),
            None => history::of_tool(self.name).into_iter().collect(),
        }
    }

    /// What is to be known of its command to read what its checks say of themselves.
    pub fn own_checks(&self) -> OwnChecks {
        if let Some(kept) = self.input.get(CHECKS) {
            return OwnChecks::deserialize(kept).unwrap_or_default();
        }
        match self.command_line() {
            Some(line) if self.text(CLASS).is_none() || !line.ends_with('…') => {
                OwnChecks::of(&line)
            }
            _ => OwnChecks::default(),
        }
    }

    /// Its command joins others by nothing but `&&`.
    pub fn is_chain(&self) -> bool {
        let line = self.command_line();
        line.is_some_and(|line| !line.contains([';', '|', '\n']) && line.contains("&&"))
    }

    /// The command as it was given.
    pub fn command_line(&self) -> Option<Cow<'a, str>> {
        let command = self
            .row
            .shows
            .iter()
            .filter(|show| matches!(show, Show::Command(_)));
        let mut keys = command.flat_map(|show| show.keys());
        match keys.find_map(|key| self.value(key))? {
            Value::Array(list) => Some(Cow::Owned(joined(list))),
            Value::String(text) => Some(Cow::Borrowed(text)),
            _ => None,
        }
    }

    /// A parameter that is a string.
    pub fn text(&self, key: &str) -> Option<&'a str> {
        self.given(key).and_then(Value::as_str)
    }

    /// Files that the parameters name, as they name them.
    pub fn named_files(&self) -> impl Iterator<Item = &'a str> {
        let keys = self.row.files.iter();
        keys.filter_map(|key| self.text(key))
            .filter(|path| !path.is_empty())
    }

    /// Files that the parameters name, relative to the working directory when below it.
    pub fn files(&self) -> Vec<String> {
        let named = self.named_files();
        let patched = self.changes.iter().map(|change| change.path.as_str());
        let mut files: Vec<String> = Vec::new();
        for path in named.chain(patched) {
            let path = line::relative(path, self.cwd);
            if !path.is_empty() && files.iter().all(|known| known != path) {
                files.push(path.to_owned());
            }
        }
        files
    }

    /// Appends `Read(src/auth.rs)`; only the name when there is nothing to show.
    pub fn write(&self, out: &mut String) {
        const NAME_CHARS_MAX: usize = 80;
        line::fold(out, self.name, NAME_CHARS_MAX);
        let named = out.len();
        match self.row.answer {
            AnswerKind::Other => self.write_params(out),
            AnswerKind::Ask => self.write_questions(out),
            _ if !self.changes.is_empty() => self.write_patch(out),
            _ => {
                let shown: Vec<_> = self
                    .row
                    .shows
                    .iter()
                    .filter_map(|show| self.shown(show))
                    .collect();
                for (i, text) in shown.iter().enumerate() {
                    out.push_str(if i == 0 { "(" } else { ", " });
                    out.push_str(text);
                }
            }
        }
        if out.len() > named {
            out.push(')');
        }
    }

    fn write_params(&self, out: &mut String) {
        let params = match self.text(PARAMS) {
            Some(kept) => Cow::Borrowed(kept),
            None => Cow::Owned(params(self.input)),
        };
        if !params.is_empty() {
            out.push('(');
            out.push_str(&params);
        }
    }

    fn write_patch(&self, out: &mut String) {
        out.push('(');
        if self.row.answer != AnswerKind::Patch {
            out.push_str("apply_patch ");
        }
        for (i, change) in self.changes.iter().take(PATHS_MAX).enumerate() {
            out.push_str(if i > 0 { ", " } else { "" });
            line::fold(out, line::relative(&change.path, self.cwd), TEXT_CHARS_MAX);
        }
        if self.changes.len() > PATHS_MAX {
            out.push_str(&format!(" and {} more", self.changes.len() - PATHS_MAX));
        }
    }

    /// People's answers need the questions in full.
    fn write_questions(&self, out: &mut String) {
        for (i, (_, question)) in self.questions().enumerate() {
            if i > 0 {
                break; // the others stand before their answers
            }
            out.push_str("(\"");
            line::fold(out, question, usize::MAX);
            out.push('"');
        }
    }

    /// (id, question) of each.
    pub fn questions(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let list = self.input.get("questions").and_then(Value::as_array);
        let one = self.text("question").map(|question| ("", question));
        let many = list.into_iter().flatten().filter_map(|q| {
            let id = q.get("id").and_then(Value::as_str).unwrap_or("");
            Some((id, q.get("question")?.as_str()?))
        });
        many.chain(one)
    }

    /// The short name of a question, and what stands beside each of its options.
    pub fn form(&self, question: &str) -> (&'a str, Vec<(&'a str, &'a str)>) {
        let text = |of: &'a Value, key: &str| of.get(key).and_then(Value::as_str).unwrap_or("");
        let list = self.input.get("questions").and_then(Value::as_array);
        let mut all = list.into_iter().flatten();
        let Some(asked) = all.find(|asked| text(asked, "question") == question) else {
            return ("", Vec::new());
        };
        let options = asked.get("options").and_then(Value::as_array);
        let options = options.into_iter().flatten();
        let options = options.map(|one| (text(one, "label"), text(one, "description")));
        (text(asked, "header"), options.collect())
    }

    /// A plan's title: its first line without the marks of a heading.
    pub fn title(&self) -> Option<&'a str> {
        let plan = self.text(TITLE).or_else(|| self.text("plan"))?;
        let lines = plan.lines().map(|line| line.trim_start_matches('#').trim());
        lines.into_iter().find(|line| !line.is_empty())
    }

    fn shown(&self, show: &Show) -> Option<Cow<'a, str>> {
        if show.keys()[0] == TITLE {
            let title = line::folded(self.title()?, TEXT_CHARS_MAX);
            return Some(Cow::Owned(format!("\"{title}\"")));
        }
        let found = show.keys().iter().find_map(|key| self.value(key));
        let text = match (show, found?) {
            (Show::Command(_), value) => return self.command(value),
            (_, Value::String(text)) => Cow::Borrowed(text.as_str()),
            (_, Value::Number(n)) => Cow::Owned(n.to_string()),
            _ => return None,
        };
        let text = match text {
            Cow::Borrowed(text) => line::folded(text, TEXT_CHARS_MAX),
            owned => owned,
        };
        match show {
            Show::Path(_) => Some(self.relative(text)),
            Show::Place(_) => Some(self.relative(text)).filter(|path| path != "."),
            Show::Quote(_) => Some(Cow::Owned(format!("\"{text}\""))),
            _ => Some(text),
        }
    }

    /// A parameter. There are few: to compare their names costs less than to hash one.
    fn given(&self, key: &str) -> Option<&'a Value> {
        let mut all = self.input.as_object()?.iter();
        all.find_map(|(name, value)| (name == key).then_some(value))
    }

    /// A parameter that says something.
    fn value(&self, key: &str) -> Option<&'a Value> {
        let found = self.given(key);
        found.filter(|v| !matches!(v, Value::Null) && v.as_str() != Some(""))
    }

    fn relative(&self, path: Cow<'a, str>) -> Cow<'a, str> {
        match path {
            Cow::Borrowed(path) => Cow::Borrowed(line::relative(path, self.cwd)),
            Cow::Owned(path) => Cow::Owned(line::relative(&path, self.cwd).to_owned()),
        }
    }

    /// The command on one line, and where it ran when that is not the working directory.
    fn command(&self, value: &'a Value) -> Option<Cow<'a, str>> {
        let command = match value {
            Value::Array(list) => Cow::Owned(joined(list)),
            other => Cow::Borrowed(other.as_str().unwrap_or("")),
        };
        let shown = match &command {
            Cow::Borrowed(text) => script::folded(text),
            Cow::Owned(text) => Cow::Owned(script::folded(text).into_owned()),
        };
        if shown.is_empty() {
            return None;
        }
        let place = self
            .text("workdir")
            .map(|dir| line::relative(dir, self.cwd));
        Some(
            match place.filter(|dir| !matches!(*dir, "" | ".") && self.cwd.is_some()) {
                Some(dir) => {
                    Cow::Owned(format!("{shown}, in {}", line::folded(dir, TEXT_CHARS_MAX)))
                }
                None => shown,
            },
        )
    }
}

/// The strings that a parameter holds.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// `k=v, k2=v2` by the documents' rules, on one line.
pub fn params(input: &Value) -> String {
    let shown = match input {
        Value::Object(map) if map.is_empty() => return String::new(),
        Value::Object(_) => documents::params(&documents::summarise_input(input)),
        Value::Null => return String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    line::folded(&shown, COMMAND_CHARS_MAX).into_owned()
}

/// A list of arguments as one would type it; `bash -lc SCRIPT` is the script.
pub fn joined(arguments: &[Value]) -> String {
    let words: Vec<&str> = arguments.iter().filter_map(Value::as_str).collect();
    if let [shell, flag, script] = words[..] {
        let name = shell.rsplit(['/', '\\']).next().unwrap_or(shell);
        let known = [
            "bash",
            "sh",
            "zsh",
            "pwsh",
            "powershell",
            "powershell.exe",
            "cmd.exe",
        ];
        let runs = ["-lc", "-c", "-lic", "-Command", "-command", "/c"];
        if known.contains(&name) && runs.contains(&flag) {
            return script.to_owned();
        }
    }
    let mut line = String::new();
    for (i, word) in words.iter().enumerate() {
        line.push_str(if i > 0 { " " } else { "" });
        quote(&mut line, word);
    }
    line
}

/// As a POSIX shell needs it.
fn quote(out: &mut String, word: &str) {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=,@%+~".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return out.push_str(word);
    }
    out.push('\'');
    out.push_str(&word.replace('\'', "'\\''"));
    out.push('\'');
}

//! What is set of a session and of a message: title, directory, who speaks, how it ended (formats § 12.2).

use super::state::ToldMessage;
use super::{Record, time};
use crate::agents::genai;
use crate::json::fields::Fields;
use crate::model::entry::{EntryKind, Fact, Identity};
use xxhash_rust::xxh3::xxh3_64;

/// Titles that it gives before the model has found one.
const TITLES_BEFORE: [&str; 2] = ["New session - ", "Child session - "];

/// What it calls the end that a person puts to a turn.
const ABORTED: &str = "MessageAbortedError";

impl Record<'_> {
    pub(super) fn session(&mut self, name: &str, info: &Fields<'_>) {
        let is_new = name == "session.created";
        self.time = time(info, if is_new { "created" } else { "updated" });
        if let Some(path) = info.text("directory") {
            self.cwd(&path);
        }
        let version = info.label("version");
        if let Some(version) = version
            && self.state.context.version.as_deref() != Some(&*version)
        {
            let version = version.into_owned();
            self.sticky(|context| context.version = Some(version));
        }
        let title = info.name("title").unwrap_or_default();
        let is_told = self.told().title == xxh3_64(title.as_bytes());
        let is_given = !title.is_empty() && !TITLES_BEFORE.iter().any(|t| title.starts_with(t));
        if self.state.context.stream.is_none() && is_given && !is_told {
            let text = title.split_whitespace().collect::<Vec<_>>().join(" ");
            let fact = Fact::Title {
                text,
                custom: false,
            };
            self.push(Identity::None, EntryKind::Fact(fact), None);
            let mut told = self.told();
            told.title = xxh3_64(title.as_bytes());
            self.remember(told);
        } else {
            self.noise(if is_new { "session head" } else { "state" });
        }
        self.drifted("session", "session", info);
    }

    pub(super) fn message(&mut self, info: &Fields<'_>) {
        let role = info.text("role").unwrap_or_default();
        let is_agents = match &*role {
            "user" => false,
            "assistant" => true,
            other => {
                let name: String = format!("message {other}").chars().take(40).collect();
                self.unknown(name);
                return self.drifted("message", "message", info);
            }
        };
        let begun = time(info, "created");
        self.time = time(info, "completed").or(begun);
        let message = ToldMessage {
            id: xxh3_64(info.text("id").unwrap_or_default().as_bytes()),
            at: begun.unwrap_or_default().0,
            is_agents,
            is_summary: is_agents && info.raw("summary") == Some("true"),
            model: info.label("modelID").map(std::borrow::Cow::into_owned),
        };
        if let Some(path) = info
            .object("path")
            .and_then(|path| path.label("cwd").map(|cwd| cwd.into_owned()))
        {
            self.cwd(&path);
        }
        match info.object("error") {
            Some(error) => self.error(&message, &error),
            None => self.noise("state"),
        }
        let mut told = self.told();
        told.learn(message);
        self.remember(told);
        self.drifted("message", "message", info);
    }

    /// Why a message ended before its time.
    fn error(&mut self, message: &ToldMessage, error: &Fields<'_>) {
        let id = Identity::Part(genai::part_id(&message.at.to_string(), "error"));
        let name = error.text("name").unwrap_or_default();
        let told = error.object("data");
        let told = told.and_then(|data| data.name("message").map(|text| text.into_owned()));
        let what = match &*name {
            ABORTED => EntryKind::Fact(Fact::Interrupted),
            _ => EntryKind::Failure(told.unwrap_or_else(|| name.into_owned())),
        };
        self.push(id, what, None);
    }

    /// Somebody went back to before a prompt and went on from there.
    pub(super) fn removed(&mut self, data: Option<&Fields<'_>>) {
        let id = data.and_then(|data| data.text("messageID"));
        let mut told = self.told();
        let turns = match id {
            Some(id) => told.prompts.take_back(xxh3_64(id.as_bytes())),
            None => 0,
        };
        match turns {
            0 => self.noise("state"),
            turns => {
                let fact = Fact::RolledBack { turns };
                self.push(Identity::None, EntryKind::Fact(fact), None);
            }
        }
        self.remember(told);
    }
}

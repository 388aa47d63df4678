//! What is offered, as a table: each tool's name, its description, its arguments and the function that
//! answers. Short: agents pay for every word of it in every session. Knows no protocol but the shape of a
//! tool.

use super::here::Here;
use super::{memory, search, session, tracking, tracking_status, why};
use crate::model::error::Error;
use crate::model::inert::inert;
use rmcp::model::{JsonObject, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::{Arc, LazyLock};

/// A tool.
pub struct Tool {
    /// As clients call it.
    pub name: &'static str,
    /// When to use it, and what comes back.
    about: &'static str,
    /// Changes what is remembered.
    writes: bool,
    schema: fn() -> JsonObject,
    /// Answers, in text that acts on nothing.
    pub call: fn(&Here, Value) -> Result<String, Error>,
}

/// A row: the arguments' type is that of the answering function.
macro_rules! tool {
    ($name:literal, $about:literal, $writes:literal, $answer:path, $arguments:ty) => {
        Tool {
            name: $name,
            about: $about,
            writes: $writes,
            schema: schema::<$arguments>,
            call: |here, arguments| {
                let told = $answer(here, &parse::<$arguments>(arguments)?)?;
                Ok(inert(&told).into_owned())
            },
        }
    };
}

static TOOLS: [Tool; 17] = [
    tool!(
        "search_memory_nodes",
        "Search earlier sessions by words, the best passages first, with where they come from.",
        false,
        search::nodes,
        search::Nodes
    ),
    tool!(
        "search_sessions",
        "Find whole sessions by words; without words the latest ones.",
        false,
        search::sessions,
        search::Sessions
    ),
    tool!(
        "get_session",
        "A session's page (goal, result, files, decisions, errors); its cursor reads the conversation.",
        false,
        session::get,
        session::Get
    ),
    tool!(
        "why",
        "Why something was chosen: decisions that people made about it, and where. Or of git: what became of it.",
        false,
        why::why,
        why::Why
    ),
    tool!(
        "recent",
        "What went on lately in this project. For the start of a session.",
        false,
        search::recent,
        search::Recent
    ),
    tool!(
        "recall",
        "The few facts that earlier sessions are certain of about a question, or nothing.",
        false,
        memory::recall,
        memory::Recall
    ),
    tool!(
        "promote",
        "Keep a decision, lesson or preference for good. Only when the user asks for it.",
        true,
        memory::promote,
        memory::Promote
    ),
    tool!(
        "add_memory",
        "Keep a note about this project. Only when the user asks for it.",
        true,
        memory::add,
        memory::AddMemory
    ),
    tool!(
        "session_tracking_status",
        "Whether sessions are tracked, when last, and how much is remembered.",
        false,
        tracking_status::status,
        tracking_status::Status
    ),
    tool!(
        "configure_file_tracking",
        "Remember files of a project from now on. Only when the user asks for it.",
        true,
        tracking::configure,
        tracking::Configure
    ),
    tool!(
        "list_tracked_files",
        "The tracked files of a project, and how they stand.",
        false,
        tracking::list,
        tracking::List
    ),
    tool!(
        "sync_tracked_files",
        "Look at a project's tracked files now.",
        true,
        tracking::sync,
        tracking::Sync
    ),
    tool!(
        "enable_realtime_sync",
        "Switch a project's file tracking on.",
        true,
        tracking::enable,
        tracking::ProjectArgs
    ),
    tool!(
        "disable_realtime_sync",
        "Switch a project's file tracking off.",
        true,
        tracking::disable,
        tracking::ProjectArgs
    ),
    tool!(
        "get_tracking_status",
        "Whether a project's files are tracked, how many, and what waits.",
        false,
        tracking::status,
        tracking::ProjectArgs
    ),
    tool!(
        "pause_tracking",
        "Leave a project's files alone for a while.",
        true,
        tracking::pause,
        tracking::ProjectArgs
    ),
    tool!(
        "resume_tracking",
        "Go on after pause_tracking.",
        true,
        tracking::resume,
        tracking::ProjectArgs
    ),
];

/// The tool of this name.
pub fn named(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// All of them, as clients list them.
pub fn list() -> Vec<rmcp::model::Tool> {
    LISTED.clone()
}

static LISTED: LazyLock<Vec<rmcp::model::Tool>> = LazyLock::new(|| {
    let told = TOOLS.iter().map(|tool| {
        let hints = ToolAnnotations::new()
            .read_only(!tool.writes)
            .open_world(false);
        let hints = match tool.writes {
            true => hints.destructive(false),
            false => hints,
        };
        let schema = Arc::new((tool.schema)());
        rmcp::model::Tool::new(tool.name, tool.about, schema).with_annotations(hints)
    });
    told.collect()
});

/// Arguments as written → as meant. An unknown one is an error that names the known ones.
fn parse<T: DeserializeOwned>(arguments: Value) -> Result<T, Error> {
    serde_json::from_value(arguments).map_err(|error| Error::usage(error.to_string()))
}

/// The arguments' JSON Schema without what says nothing to an agent.
fn schema<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    thin(&mut schema);
    match schema {
        Value::Object(mut schema) => {
            // for those who read the source; the tool's own is beside it
            schema.shift_remove("description");
            schema
        }
        _ => JsonObject::new(),
    }
}

/// Drops titles, formats, limits of number types, and that an optional argument may also be null.
fn thin(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            for key in ["title", "format", "default"] {
                if map
                    .get(key)
                    .is_some_and(|value| key == "default" || value.is_string())
                {
                    map.shift_remove(key);
                }
            }
            if map.get("minimum").is_some_and(|least| *least == 0) {
                map.shift_remove("minimum");
            }
            if let Some(Value::Array(kinds)) = map.get_mut("type") {
                kinds.retain(|kind| kind != "null");
                if let [kind] = kinds.as_slice() {
                    let kind = kind.clone();
                    map.insert("type".into(), kind);
                }
            }
            map.values_mut().for_each(thin);
        }
        Value::Array(list) => list.iter_mut().for_each(thin),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every session of every agent pays for this. About 4 bytes a token.
    const BYTES_MAX: usize = 8_400;

    #[test]
    fn the_list_is_short() {
        let told = serde_json::to_string(&list()).unwrap();
        assert!(told.len() <= BYTES_MAX, "{} bytes: {told}", told.len());
    }

    #[test]
    fn schemas_say_what_an_argument_is_and_no_more() {
        for tool in list() {
            let told = serde_json::to_string(&*tool.input_schema).unwrap();
            assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
            assert_eq!(
                tool.input_schema["additionalProperties"], false,
                "{}",
                tool.name
            );
            for word in [
                "$schema",
                "\"title\":\"",
                "\"null\"",
                "uint",
                "$ref",
                "filepath",
            ] {
                assert!(!told.contains(word), "{}: {word} in {told}", tool.name);
            }
        }
    }

    #[test]
    fn what_only_reads_says_so() {
        for (tool, told) in TOOLS.iter().zip(list()) {
            let hints = told.annotations.unwrap();
            assert_eq!(hints.read_only_hint, Some(!tool.writes), "{}", tool.name);
            assert_eq!(hints.open_world_hint, Some(false), "{}", tool.name);
        }
    }
}

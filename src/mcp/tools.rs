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
    kind: ToolKind,
    schema: fn() -> JsonObject,
    /// Answers, in text that acts on nothing.
    pub call: fn(&Here, Value) -> Result<String, Error>,
}

/// What a tool does, and to what.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ToolKind {
    /// Reads what is stored.
    Reads,
    /// Changes what is stored.
    Writes,
    /// The same of tracked files: of no use where none are.
    ReadsFiles,
    WritesFiles,
}

impl ToolKind {
    fn writes(self) -> bool {
        matches!(self, ToolKind::Writes | ToolKind::WritesFiles)
    }

    fn is_of_files(self) -> bool {
        matches!(self, ToolKind::ReadsFiles | ToolKind::WritesFiles)
    }
}

/// A row: the arguments' type is that of the answering function.
macro_rules! tool {
    ($name:literal, $about:literal, $kind:ident, $answer:path, $arguments:ty) => {
        Tool {
            name: $name,
            about: $about,
            kind: ToolKind::$kind,
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
        "recall",
        "What earlier sessions say about a question: few quoted facts, or nothing. Ask this first.",
        Reads,
        memory::recall,
        memory::Recall
    ),
    tool!(
        "search_memory_nodes",
        "Passages of earlier sessions by words, the best first, with session and date.",
        Reads,
        search::nodes,
        search::Nodes
    ),
    tool!(
        "search_sessions",
        "Whole sessions by words; without words the latest.",
        Reads,
        search::sessions,
        search::Sessions
    ),
    tool!(
        "get_session",
        "A session's summary: goal, result, files, decisions, errors. Its cursor reads the conversation.",
        Reads,
        session::get,
        session::Get
    ),
    tool!(
        "why",
        "Why something was chosen, and in which session; or what became of a commit, branch or file.",
        Reads,
        why::why,
        why::Why
    ),
    tool!(
        "recent",
        "What was done lately in this project. For work that goes on.",
        Reads,
        search::recent,
        search::Recent
    ),
    tool!(
        "promote",
        "Keep a decision, lesson or preference for good. Only if the user asks.",
        Writes,
        memory::promote,
        memory::Promote
    ),
    tool!(
        "add_memory",
        "Keep a note about this project. Only if the user asks.",
        Writes,
        memory::add,
        memory::AddMemory
    ),
    tool!(
        "session_tracking_status",
        "Whether sessions are read, when last, and how much is stored.",
        Reads,
        tracking_status::status,
        tracking_status::Status
    ),
    tool!(
        "configure_file_tracking",
        "Track files of a project from now on. Only if the user asks.",
        WritesFiles,
        tracking::configure,
        tracking::Configure
    ),
    tool!(
        "list_tracked_files",
        "A project's tracked files and their state.",
        ReadsFiles,
        tracking::list,
        tracking::List
    ),
    tool!(
        "sync_tracked_files",
        "Read a project's tracked files now.",
        WritesFiles,
        tracking::sync,
        tracking::Sync
    ),
    tool!(
        "enable_realtime_sync",
        "Switch a project's file tracking on.",
        WritesFiles,
        tracking::enable,
        tracking::ProjectArgs
    ),
    tool!(
        "disable_realtime_sync",
        "Switch a project's file tracking off.",
        WritesFiles,
        tracking::disable,
        tracking::ProjectArgs
    ),
    tool!(
        "get_tracking_status",
        "Whether a project's files are tracked, how many, and what waits.",
        ReadsFiles,
        tracking::status,
        tracking::ProjectArgs
    ),
    tool!(
        "pause_tracking",
        "Stop reading a project's files until resume_tracking.",
        WritesFiles,
        tracking::pause,
        tracking::ProjectArgs
    ),
    tool!(
        "resume_tracking",
        "Go on after pause_tracking.",
        WritesFiles,
        tracking::resume,
        tracking::ProjectArgs
    ),
];

/// The tool of this name.
pub fn named(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// The tools as clients list them: those of tracked files where files are tracked, so that nobody else pays for
/// their words. One that isn't listed answers too.
pub fn list(files_are_tracked: bool) -> Vec<rmcp::model::Tool> {
    let listed = TOOLS.iter().zip(LISTED.iter());
    let of_use = listed.filter(|(tool, _)| files_are_tracked || !tool.kind.is_of_files());
    of_use.map(|(_, told)| told.clone()).collect()
}

static LISTED: LazyLock<Vec<rmcp::model::Tool>> = LazyLock::new(|| {
    let told = TOOLS.iter().map(|tool| {
        let hints = ToolAnnotations::new()
            .read_only(!tool.kind.writes())
            .open_world(false);
        let hints = match tool.kind.writes() {
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

    /// Every session of every agent pays for this, about 4 bytes a token: names, descriptions and arguments of
    /// all tools, and of those that everybody is shown.
    const BYTES_MAX: usize = 6_000;
    const SHOWN_BYTES_MAX: usize = 4_400;

    #[test]
    fn the_list_is_short() {
        for (tracked, bytes_max) in [(true, BYTES_MAX), (false, SHOWN_BYTES_MAX)] {
            let words = list(tracked).into_iter().map(|tool| {
                let schema = serde_json::to_string(&*tool.input_schema).unwrap();
                tool.name.len() + tool.description.unwrap_or_default().len() + schema.len()
            });
            let bytes: usize = words.sum();
            assert!(bytes <= bytes_max, "{bytes} bytes of {bytes_max}");
        }
    }

    #[test]
    fn tools_of_tracked_files_are_listed_where_files_are_tracked() {
        let names = |tracked| list(tracked).into_iter().map(|tool| tool.name.into_owned());
        let hidden = names(true).filter(|name| names(false).all(|shown| shown != *name));
        assert_eq!(hidden.count(), 8);
        assert!(names(false).all(|name| !name.contains("tracked") && !name.contains("sync")));
        assert!(named("pause_tracking").is_some());
    }

    #[test]
    fn schemas_say_what_an_argument_is_and_no_more() {
        for tool in list(true) {
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
        for (tool, told) in TOOLS.iter().zip(list(true)) {
            let hints = told.annotations.unwrap();
            assert_eq!(
                hints.read_only_hint,
                Some(!tool.kind.writes()),
                "{}",
                tool.name
            );
            assert_eq!(hints.open_world_hint, Some(false), "{}", tool.name);
        }
    }
}

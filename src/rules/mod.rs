//! Floor 1: judgement as tables. YAML files, embedded, with samples that test themselves.

pub mod classify;
pub mod commands;
pub mod decisions;
pub mod directives;
pub mod documents;
pub mod endings;
pub mod errors;
pub mod extraction;
pub mod fields;
pub mod injected;
pub mod keywords;
pub mod markers;
pub mod names;
pub mod outcome;
pub mod paths;
pub mod rollbacks;
pub mod secrets;
pub mod settings;
pub mod shell;
pub mod table;
pub mod terminal;
pub mod test_runners;
pub mod tool_cache;
pub mod tools;
pub mod user;
pub mod words;

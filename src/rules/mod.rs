//! Floor 1: judgement as tables. YAML files, embedded, with samples that test themselves.

pub mod documents;
pub mod endings;
pub mod errors;
pub mod fields;
pub mod injected;
pub mod records;
pub mod secrets;
pub mod table;
pub mod terminal;
pub mod test_runners;
pub mod tools;
pub mod versions;

//! Floor 1: judgement as tables. YAML files, embedded, with samples that test themselves.

pub mod injected;
pub mod records;

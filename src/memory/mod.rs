//! Reading back: what a person or an agent types becomes a query, a scope and an answer.
//!
//! Knows words, projects and who may see what, but not SQL (`store` has it), settings files, and
//! how an answer is printed.

pub mod activity;
pub mod beginning;
pub mod block;
pub mod fuse;
pub mod graph;
pub mod groups;
pub mod line;
pub mod outcome;
pub mod promote;
pub mod provenance;
pub mod query;
pub mod rank;
pub mod reasons;
pub mod recall;
pub mod remember;
pub mod rollback_facts;
pub mod scope;
pub mod screen;
pub mod session_summary;
pub mod tables;
pub mod trusted;
pub mod when;
pub mod workspace;

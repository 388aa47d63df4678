//! Reading back: what a person or an agent types becomes a query, a scope and an answer.
//!
//! Whatever is read passes [`scopes`] and [`trusted`]: they say whose sessions an answer may come from.

pub mod block;
pub mod classifiers;
pub mod cost;
pub mod decisions;
pub mod everyday_facts;
pub mod excerpt;
pub mod facts_request;
pub mod forget_request;
pub mod graph_facts;
pub mod memory_groups;
pub mod moved_projects;
pub mod named_days;
pub mod places;
pub mod promote;
pub mod provenance;
pub mod query_parser;
pub mod query_terms;
pub mod rank;
pub mod rank_fusion;
mod rank_weights;
pub mod reach;
pub mod recall;
pub mod recap_sessions;
pub mod redaction_setup;
pub mod remember;
pub mod respelled;
pub mod rollback_facts;
pub mod rollback_rank;
pub mod scopes;
pub mod session_activity;
pub mod session_hits;
pub mod session_outcome;
pub mod session_start;
pub mod session_summary;
pub mod stats;
pub mod trusted;
pub mod undone_facts;
pub mod when;
pub mod workspace;

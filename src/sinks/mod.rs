//! Floor 3: one destination per file. A sink says what is permanent and what may pass; trying again
//! is `stages::upload`'s. No sink knows another.

mod atomic;
pub mod bolt;
pub mod cypher;
pub mod database;
mod derived;
pub mod episodic;
pub mod falkordb;
pub mod graph;
pub mod graphiti;
pub mod group;
pub mod jsonl;
pub mod markdown;
pub mod neo4j;
pub mod saga;
pub mod scoped;
pub mod tables;

//! Floor 2: git operations and files ([`files`]) become episodes. Pure: what a reflog says is sorted into operations
//! ([`operations`]), the sentence that says why is looked for in a conversation ([`why`]), and the
//! three kinds of episodes are written ([`episodes`]). Refuses to know repositories and the store.

pub mod episodes;
pub mod files;
pub mod operations;
pub mod why;

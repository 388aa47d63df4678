//! A session as a language model tells it (003 § 4, § 5): the question, what an answer is worth, and
//! what it adds to the facts.
//!
//! Pure: `net` carries questions and answers. Reading order: [`priority`] (what is asked),
//! [`content`] (what of the log is sent), [`prompt`] (the question), [`answer`] (what is accepted),
//! [`ask`] (the conversation), [`merge`] (beside the facts), [`tokens`] (what it takes).

pub mod answer;
pub mod ask;
pub mod condense;
pub mod content;
pub mod merge;
pub mod priority;
pub mod prompt;
#[cfg(test)]
mod tests;
pub mod tokens;

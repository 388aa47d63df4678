//! One line for a tool call and its result.

//! plain.

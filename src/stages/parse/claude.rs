//! claude.

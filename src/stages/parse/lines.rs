//! lines.

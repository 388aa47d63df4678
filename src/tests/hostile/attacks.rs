//! Whole attacks on a run.

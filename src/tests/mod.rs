//! Whole-program tests.
mod tidy;

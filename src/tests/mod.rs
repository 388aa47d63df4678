//! Whole-program tests.

mod fold;

//! Whole-program tests.

mod cli;
mod fold;
mod schedule;
mod tidy;
mod world;

//! Whole-program tests.

mod cli;
mod fold;
mod readme;
mod schedule;
mod tidy;
mod world;

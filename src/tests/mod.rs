//! Whole-program tests.
mod cli;
mod schedule;
mod tidy;
mod world;

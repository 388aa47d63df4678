//! Whole-program tests.

mod cases;
mod cli;
mod consent;
mod corpus;
mod doctor;
mod drift;
mod fold;
mod forget;
mod growth;
mod home;
mod hostile;
mod looks;
mod markers;
mod modes;
mod paths;
mod project;
mod reading;
mod readme;
mod schedule;
mod secrets;
mod state;
mod tidy;
mod world;

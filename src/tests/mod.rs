//! Whole-program tests.

mod activity;
mod cases;
mod cli;
mod consent;
mod corpus;
mod delivery;
mod doctor;
mod drift;
mod enrich;
mod falkor;
mod fold;
mod forget;
mod growth;
mod home;
mod hostile;
mod looks;
mod project;
mod reading;
mod readme;
mod schedule;
mod secrets;
mod server;
mod sinks;
mod state;
mod tidy;
mod world;

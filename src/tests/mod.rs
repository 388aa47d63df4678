//! Whole-program tests.

mod activity;
mod cases;
mod cli;
mod corpus;
mod doctor;
mod drift;
mod fold;
mod growth;
mod home;
mod hostile;
mod looks;
mod reading;
mod readme;
mod schedule;
mod secrets;
mod state;
mod tidy;
mod world;

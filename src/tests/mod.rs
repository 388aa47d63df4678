//! Whole-program tests.

mod cases;
mod fold;
mod home;

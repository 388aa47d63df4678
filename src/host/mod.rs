//! Floor 1: the machine. Files and git are read only; programs are started in one place.

pub mod files;
pub mod git;
pub mod identity;
pub mod process;
pub mod read;

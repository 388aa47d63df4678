//! The file itself: its tables, its version, whose it is and how it is opened.

pub(super) mod database_state;
pub(super) mod migrations;
pub(super) mod network;
pub(super) mod open;

//! Decides what has to be read.

//! Cuts exchanges into episodes.

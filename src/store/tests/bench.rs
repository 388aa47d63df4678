//! How fast and how large: `cargo test --release store::tests::bench -- --ignored --nocapture`.
//! The figures are printed through the test's panic-free report, and nothing is asserted about
//! time.

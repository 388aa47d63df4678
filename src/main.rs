//! argv, environment and streams to `cli::run` to exit code.

fn main() {}

//! Hostile input: what must hold for any bytes, as functions of bytes.
//!
//! `fuzz/` runs them under libFuzzer; `cargo test` runs them over its seeds and over mutations of
//! those ([`smoke`]). Whole attacks (huge lines, strange files) are in [`attacks`].
//! A target panics where something doesn't hold; it refuses to judge what the input means.

#[cfg(test)]
mod attacks;
mod commands;
mod increments;
#[cfg(test)]
mod inert;
mod lines;
#[cfg(test)]
mod orders;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod smoke;
mod words;

/// Something that must hold for any bytes.
pub type Target = fn(&[u8]);

/// Every target by the name of its seeds' folder.
pub const TARGETS: [(&str, Target); 8] = [
    ("lines", lines::lines),
    ("claude", lines::claude),
    ("codex", lines::codex),
    ("increments", increments::increments),
    ("frontmatter", words::frontmatter),
    ("configuration", words::configuration),
    ("queries", words::queries),
    ("shell", commands::shell),
];

/// Runs the target of this name.
#[cfg(fuzzing)]
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|(known, _)| *known == name);
    let (_, target) = target.expect("a known target");
    target(data);
}

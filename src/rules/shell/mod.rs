//! A lenient reader of shell: a script in, the simple commands that it may run out.
//!
//! Knows quotes, escapes, heredocs, substitutions, comments, operators, keywords, redirections and
//! assignments of POSIX shells, and what PowerShell does otherwise. Never fails: what can't be read
//! is passed over.

mod quoting;
mod reader;
mod syntax;
#[cfg(test)]
mod tests;

pub use reader::Simple;

use reader::Reader;

/// The simple commands of a script in the order in which they start to be read, those in
/// substitutions before the command that uses them. Keywords, functions' names and their calls are
/// left out. Linear in the script's length.
pub fn read(script: &str) -> Vec<Simple<'_>> {
    Reader::new(script).read()
}

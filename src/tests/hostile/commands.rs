//! Any text where a shell's command stands.

use crate::rules::commands;
use crate::rules::shell;

/// Longer than a class, a program and two subcommands.
const COUNTED_BYTES_MAX: usize = 120;

/// A command line is read to its end, gives no more commands than it has bytes, and is counted under
/// a short name that says what the line says.
pub fn shell(data: &[u8]) {
    let Ok(line) = std::str::from_utf8(data) else {
        return;
    };
    let read = shell::read(line);
    assert!(read.len() <= line.len(), "{} commands", read.len());
    assert!(read.iter().all(|simple| !simple.words.is_empty()));
    let counted = commands::counted_as(line);
    assert!(counted.len() <= COUNTED_BYTES_MAX, "{counted}");
    let told = commands::of_count(&counted);
    assert_eq!(told, commands::classify(line).classification, "{counted}");
}

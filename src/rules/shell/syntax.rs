//! Whose shell a script is written for. Knows how PowerShell's commands look.

/// What quotes, escapes and braces mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShellSyntax {
    /// `sh`, `bash`, `zsh` and their like.
    Posix,
    /// PowerShell.
    PowerShell,
}

impl ShellSyntax {
    /// PowerShell where a `Verb-Noun`, `$env:` or `$name =` stands at the start of a command and no
    /// heredoc follows.
    pub fn of(script: &str) -> ShellSyntax {
        let sigil = script.starts_with('$') && assigns_spaced(script);
        let speaks = sigil || has_cmdlet(script) || script.starts_with("$env:");
        match speaks && !script.contains("<<") {
            true => ShellSyntax::PowerShell,
            false => ShellSyntax::Posix,
        }
    }
}

impl ShellSyntax {
    /// Whether it is that of PowerShell.
    pub fn is_powershell(self) -> bool {
        self == ShellSyntax::PowerShell
    }
}

/// `$name = …`, `$name += …`.
fn assigns_spaced(script: &str) -> bool {
    let name = |c: char| c.is_alphanumeric() || "_:.[]".contains(c);
    let rest = script[1..].trim_start_matches(name).trim_start();
    rest.starts_with('=') || rest.starts_with("+=")
}

/// Longest verb of PowerShell and then some.
const VERB_BYTES_MAX: usize = 16;

fn has_cmdlet(script: &str) -> bool {
    let bytes = script.as_bytes();
    memchr::memchr_iter(b'-', bytes).any(|dash| {
        let noun = bytes.get(dash + 1).is_some_and(u8::is_ascii_uppercase);
        noun && is_verb(bytes, dash)
    })
}

/// Letters with a capital before `dash`, at the start of a command.
fn is_verb(bytes: &[u8], dash: usize) -> bool {
    let letters = bytes[..dash].iter().rev().take(VERB_BYTES_MAX);
    let start = dash - letters.take_while(|b| b.is_ascii_alphabetic()).count();
    if start == dash || !bytes[start].is_ascii_uppercase() {
        return false;
    }
    let before = bytes[..start].iter().rev().take(VERB_BYTES_MAX);
    let before = before.copied().find(|b| !matches!(b, b' ' | b'\t'));
    match before {
        None => start < VERB_BYTES_MAX,
        Some(b) => b"|;=({&\n".contains(&b),
    }
}

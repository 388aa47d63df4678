//! A script of several lines on one, where its commands stay apart.

use super::line::{self, COMMAND_CHARS_MAX};
use std::borrow::Cow;

/// The script on one line, cut where it is long; borrowed where nothing changes.
pub fn folded(script: &str) -> Cow<'_, str> {
    match on_one_line(script) {
        Cow::Borrowed(script) => line::folded(script, COMMAND_CHARS_MAX),
        Cow::Owned(script) => Cow::Owned(line::folded(&script, COMMAND_CHARS_MAX).into_owned()),
    }
}

/// Bytes of a script that is joined are read up to here: so many have more characters than are kept.
const JOINED_BYTES_MAX: usize = 4 * COMMAND_CHARS_MAX;

/// The script with `; ` where a new line ends a command, and without comments, which would swallow what follows them.
/// Borrowed where it is one line, or what its lines mean isn't known: behind a heredoc, they may be text. What is longer
/// than is kept ends in `…`. Linear; two searches where there is no new line.
fn on_one_line(script: &str) -> Cow<'_, str> {
    let script = script.trim();
    if !script.contains('\n') || script.contains("<<") {
        return Cow::Borrowed(script);
    }
    let mut out = String::with_capacity(script.len().min(JOINED_BYTES_MAX) + 8);
    let mut quote = None;
    let mut chars = script.chars().peekable();
    while let Some(c) = chars.next() {
        if out.len() > JOINED_BYTES_MAX {
            out.push('…');
            return Cow::Owned(out);
        }
        match (quote, c) {
            (None, '#') if out.is_empty() || out.ends_with([' ', ';']) => {
                while chars.next_if(|c| *c != '\n').is_some() {}
            }
            (None, '\n') => {
                while chars.next_if(|c| c.is_whitespace()).is_some() {}
                end_line(&mut out, chars.peek().copied());
            }
            (None | Some('"'), '\\') => {
                // of a line that goes on nothing is left
                match chars.next() {
                    Some('\n') => add_blank(&mut out),
                    next => out.extend([Some('\\'), next].into_iter().flatten()),
                }
            }
            (_, c) if c.is_whitespace() => add_blank(&mut out),
            (None, '"' | '\'') => {
                quote = Some(c);
                out.push(c);
            }
            (open, c) => {
                quote = open.filter(|open| *open != c);
                out.push(c);
            }
        }
    }
    match quote {
        // not a shell's quotes
        Some(_) => Cow::Borrowed(script),
        None => Cow::Owned(out),
    }
}

/// One for each run of them: a long run would count as much text.
fn add_blank(out: &mut String) {
    if !out.is_empty() && !out.ends_with(' ') {
        out.push(' ');
    }
}

/// A new line behind `out`, before `next`.
fn end_line(out: &mut String, next: Option<char>) {
    const OPENERS: [&str; 6] = ["do", "then", "else", "in", "`", "{"];
    let done = out.trim_end().len();
    out.truncate(done);
    let last = out.rsplit(' ').next().unwrap_or_default();
    let goes_on = last.is_empty()
        || last.ends_with([';', '&', '|', '(', '{'])
        || OPENERS.contains(&last)
        || matches!(next, None | Some('|' | '&' | ')'));
    out.push_str(if goes_on { " " } else { "; " });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_end_commands_stay_apart() {
        for (script, wants) in [
            ("go vet ./...\n\n gofmt -l . \n", "go vet ./...; gofmt -l ."),
            (
                "# run them\nnpm test # all\nnpm run lint",
                "npm test; npm run lint",
            ),
            ("docker run \\\n  -it a", "docker run -it a"),
            ("a &&\nb |\n  c\n| d", "a && b | c | d"),
            (
                "for f in *; do\n  cat $f\ndone\nls",
                "for f in *; do cat $f; done; ls",
            ),
            ("echo 'a\nb'\nls", "echo 'a b'; ls"),
            ("echo \"it's \\\"\n\"\nls", "echo \"it's \\\" \"; ls"),
            ("ls a#b\r\nls", "ls a#b; ls"),
            ("cat <<E\na\nE\nls", "cat <<E a E ls"),
            ("echo don't\nls", "echo don't ls"),
            ("x=(\n a\n)\nls", "x=( a ); ls"),
            ("git status", "git status"),
        ] {
            assert_eq!(folded(script), wants, "{script}");
        }
    }

    #[test]
    fn a_long_script_says_that_it_was_cut() {
        let blanks = " ".repeat(JOINED_BYTES_MAX);
        for script in [
            format!("ls{blanks}\nls\n"),
            format!("ls\n{}", "\n".repeat(JOINED_BYTES_MAX)),
        ] {
            assert!(folded(&script).len() < 9, "blanks are no text");
        }
        let long = folded(&"ls -la\n".repeat(JOINED_BYTES_MAX)).into_owned();
        assert!(long.starts_with("ls -la; ls -la; ") && long.ends_with('…'));
        assert!((COMMAND_CHARS_MAX - 1..=COMMAND_CHARS_MAX).contains(&long.chars().count()));
        assert_eq!(folded(&long), long);
        let quoted = format!("ls\necho '{}", "a\n".repeat(JOINED_BYTES_MAX));
        assert!(folded(&quoted).ends_with('…'));
    }
}

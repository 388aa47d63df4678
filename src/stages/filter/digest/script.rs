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

/// The script with `; ` where a new line ends a command, and without comments, which would swallow what follows them.
/// Borrowed where it is one line, or what its lines mean isn't known: behind a heredoc, they may be text. New lines
/// inside quotes stay. Linear; one search where there is no new line.
fn on_one_line(script: &str) -> Cow<'_, str> {
    let script = script.trim();
    if !script.contains('\n') || script.contains("<<") {
        return Cow::Borrowed(script);
    }
    let mut out = String::with_capacity(script.len() + 8);
    let mut quote = None;
    let mut chars = script.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '#') if out.is_empty() || out.ends_with([' ', '\t', ';', '\n']) => {
                while chars.next_if(|c| *c != '\n').is_some() {}
            }
            (None, '\n') => end_line(&mut out, chars.clone().find(|c| !c.is_whitespace())),
            (None | Some('"'), '\\') => {
                // of a line that goes on nothing is left
                match chars.next() {
                    Some('\n') => out.push(' '),
                    next => out.extend([Some('\\'), next].into_iter().flatten()),
                }
            }
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

/// A new line behind `out`, before `next`.
fn end_line(out: &mut String, next: Option<char>) {
    const OPENERS: [&str; 6] = ["do", "then", "else", "in", "`", "{"];
    let done = out.trim_end().len();
    out.truncate(done);
    let last = out.rsplit(char::is_whitespace).next().unwrap_or_default();
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
}

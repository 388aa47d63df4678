//! How things are written on one line: folded text, paths, sizes, durations, counts.

use std::borrow::Cow;
use std::fmt::Write;

/// More characters of a command: more of a script is kept; fewer: long pipelines lose their end.
pub const COMMAND_CHARS_MAX: usize = 300;
/// The same for other arguments and for what a result says.
pub const TEXT_CHARS_MAX: usize = 200;

/// Appends `text` with whitespace folded to single spaces, escape sequences and control characters
/// left out, and at most `chars_max` characters, the last of which is `…` where something was cut.
/// Folding what was folded changes nothing.
pub fn fold(out: &mut String, text: &str, chars_max: usize) {
    let mut chars = text.chars().peekable();
    let (mut written, mut space) = (0usize, false);
    let start = out.len();
    while let Some(c) = chars.next() {
        if c == '\x1b' {
            skip_escape(&mut chars);
            continue;
        }
        if c.is_whitespace() || c.is_control() || c == '\u{feff}' {
            space |= c.is_whitespace() && written > 0;
            continue;
        }
        if written + usize::from(space) >= chars_max {
            cut(out, start, written >= chars_max);
            return;
        }
        if space {
            out.push(' ');
            written += 1;
            space = false;
        }
        out.push(c);
        written += 1;
    }
}

/// Ends `out` with `…`, in the place of its last character where there is no room left.
fn cut(out: &mut String, start: usize, full: bool) {
    if full && out.len() > start {
        out.pop();
    }
    while out.len() > start && out.ends_with(' ') {
        out.pop();
    }
    out.push('…');
}

fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            for c in chars.by_ref() {
                if ('@'..='~').contains(&c) {
                    return;
                }
            }
        }
        Some(']') => {
            for c in chars.by_ref() {
                if c == '\x07' {
                    return;
                }
            }
        }
        Some(' '..='/') => {
            while chars.next_if(|c| (' '..='/').contains(c)).is_some() {}
            chars.next();
        }
        _ => {}
    }
}

/// [`fold`] into a new string; borrowed where nothing changes.
pub fn folded(text: &str, chars_max: usize) -> Cow<'_, str> {
    let plain = |b: u8| (0x20..0x7f).contains(&b);
    let simple = text.len() <= chars_max
        && text.bytes().all(plain)
        && !text.contains("  ")
        && !text.starts_with(' ')
        && !text.ends_with(' ');
    if simple {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len().min(chars_max.saturating_mul(2)));
    fold(&mut out, text, chars_max);
    Cow::Owned(out)
}

/// A path from the root, where the working directory is known.
pub fn absolute(path: &str, cwd: Option<&str>) -> String {
    let rooted = path.starts_with(['/', '\\', '~']) || path.as_bytes().get(1) == Some(&b':');
    match cwd.filter(|_| !rooted) {
        Some(cwd) => {
            let path = path.trim_start_matches("./");
            let slash = if cwd.contains('\\') { '\\' } else { '/' };
            format!("{}{slash}{path}", cwd.trim_end_matches(slash))
        }
        None => path.to_owned(),
    }
}

/// `path` as seen from `cwd`: relative when it lies below, `.` when it is it, else as written
/// (D57). Both separators; drive letters in either case.
pub fn relative<'a>(path: &'a str, cwd: Option<&str>) -> &'a str {
    let path = path.strip_prefix("./").unwrap_or(path);
    let Some(cwd) = cwd.map(|c| c.trim_end_matches(['/', '\\'])) else {
        return path;
    };
    let Some(rest) = path.get(cwd.len()..) else {
        return path;
    };
    if cwd.is_empty() || !same_place(&path.as_bytes()[..cwd.len()], cwd.as_bytes()) {
        return path;
    }
    match rest.strip_prefix(['/', '\\']) {
        Some("") => ".",
        Some(below) => below,
        None if rest.is_empty() => ".",
        None => path,
    }
}

fn same_place(a: &[u8], b: &[u8]) -> bool {
    let drive = b.get(1) == Some(&b':');
    let slash = |c: u8| if drive && c == b'\\' { b'/' } else { c };
    match drive {
        true => {
            a[..1].eq_ignore_ascii_case(&b[..1])
                && a.iter().zip(b).skip(1).all(|(x, y)| slash(*x) == slash(*y))
        }
        false => a == b,
    }
}

/// `312 bytes`, `4.1 KB`, `48 KB`, `1.2 MB`: 1 KB is 1000 bytes; one decimal below ten.
pub fn size(out: &mut String, bytes: u64) {
    let steps = [
        (1_000_000_000.0, "GB"),
        (1_000_000.0, "MB"),
        (1_000.0, "KB"),
    ];
    // 999_950 would read `1000 KB`.
    let step = steps.iter().find(|(unit, _)| bytes as f64 >= unit * 0.9995);
    match step {
        Some((unit, name)) if bytes >= 1000 => {
            decimal(out, bytes as f64 / unit);
            let _ = write!(out, " {name}");
        }
        _ => count(out, bytes, "byte"),
    }
}

/// `3.2 s`, `45 s`, `0.03 s`, `2 min 5 s`, `1 h 2 min`.
pub fn duration(out: &mut String, seconds: f64) {
    let whole = seconds.round().max(0.0) as u64;
    let _ = match whole {
        3600.. => write!(out, "{} h {} min", whole / 3600, whole % 3600 / 60),
        60.. if whole.is_multiple_of(60) => write!(out, "{} min", whole / 60),
        60.. => write!(out, "{} min {} s", whole / 60, whole % 60),
        _ if seconds < 0.095 && seconds > 0.0 => {
            write!(out, "{} s", (seconds * 1000.0).ceil() / 1000.0)
        }
        _ => {
            decimal(out, seconds.max(0.0));
            write!(out, " s")
        }
    };
}

/// One decimal below ten, none above, none where it is zero.
fn decimal(out: &mut String, number: f64) {
    let tenths = (number * 10.0).round() as u64;
    let _ = match tenths {
        100.. => write!(out, "{}", number.round() as u64),
        _ if tenths.is_multiple_of(10) => write!(out, "{}", tenths / 10),
        _ => write!(out, "{}.{}", tenths / 10, tenths % 10),
    };
}

/// `1 line`, `2 lines`, `3 entries`, `4 matches`.
pub fn count(out: &mut String, n: u64, noun: &str) {
    let _ = write!(out, "{n} ");
    plural(out, n, noun);
}

/// The noun for `n` things.
pub fn plural(out: &mut String, n: u64, noun: &str) {
    match (n, noun.strip_suffix('y')) {
        (1, _) => out.push_str(noun),
        (_, Some(stem)) => {
            out.push_str(stem);
            out.push_str("ies");
        }
        (_, None) => {
            out.push_str(noun);
            out.push_str(if noun.ends_with("ch") { "es" } else { "s" });
        }
    }
}

/// `+3 −1`, with a minus sign.
pub fn changed(out: &mut String, added: u64, removed: u64) {
    let _ = write!(out, "+{added} −{removed}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(write: impl Fn(&mut String)) -> String {
        let mut out = String::new();
        write(&mut out);
        out
    }

    #[test]
    fn text_is_folded_and_cut_once() {
        let f = |text: &str, n| told(|out| fold(out, text, n));
        assert_eq!(f(" a\r\n\tb  c\n", 10), "a b c");
        assert_eq!(f("abcdef", 6), "abcdef");
        assert_eq!(f("abcdefg", 6), "abcde…");
        assert_eq!(f("abcde fg", 6), "abcde…");
        assert_eq!(f("abcd efg", 6), "abcd…");
        assert_eq!(f("\x1b[1;31merr\x1b[0m\u{7}or", 9), "error");
        assert_eq!(f("\x1b(B\x1b[m}\x1b(B,", 9), "},");
        assert_eq!(f("äöü\u{2028}ß", 5), "äöü ß");
        for text in ["abcdefg hij", "a b c d e f g h", "  x  ", "日本語 日本語"] {
            for n in 2..9 {
                let once = f(text, n);
                assert_eq!(f(&once, n), once, "{text:?} {n}");
                assert_eq!(folded(text, n), once);
                assert!(once.chars().count() <= n);
            }
        }
    }

    #[test]
    fn paths_below_the_working_directory_lose_it() {
        let r = |path, cwd| relative(path, Some(cwd)).to_owned();
        assert_eq!(r("/p/src/a.rs", "/p"), "src/a.rs");
        assert_eq!(r("/p/src/a.rs", "/p/"), "src/a.rs");
        assert_eq!(r("/p", "/p"), ".");
        assert_eq!(r("/p/", "/p"), ".");
        assert_eq!(r("/pq/a", "/p"), "/pq/a");
        assert_eq!(r("/a", "/"), "/a");
        assert_eq!(r("./a", "/p"), "a");
        assert_eq!(r("c:\\p\\a.rs", "C:\\p"), "a.rs");
        assert_eq!(r("C:/p/a.rs", "C:\\p"), "a.rs");
        assert_eq!(r("/ü/a", "/p/x"), "/ü/a");
        assert_eq!(relative("/p/a", None), "/p/a");
    }

    #[test]
    fn sizes_durations_and_counts() {
        for (bytes, wants) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1000, "1 KB"),
            (4096, "4.1 KB"),
            (9_960, "10 KB"),
            (48_123, "48 KB"),
            (999_960, "1 MB"),
            (1_250_000, "1.3 MB"),
            (2_000_000_000, "2 GB"),
        ] {
            assert_eq!(told(|out| size(out, bytes)), wants);
        }
        for (seconds, wants) in [
            (3.2, "3.2 s"),
            (2.0, "2 s"),
            (45.4, "45 s"),
            (0.0, "0 s"),
            (0.034, "0.034 s"),
            (125.0, "2 min 5 s"),
            (120.2, "2 min"),
            (3720.0, "1 h 2 min"),
        ] {
            assert_eq!(told(|out| duration(out, seconds)), wants);
        }
        assert_eq!(told(|out| count(out, 2, "entry")), "2 entries");
        assert_eq!(told(|out| count(out, 1, "match")), "1 match");
        assert_eq!(told(|out| count(out, 0, "match")), "0 matches");
    }
}

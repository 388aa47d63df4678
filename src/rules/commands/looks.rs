//! Whether what a line prints is sure to be what one look of it says: the title of an issue, how much a branch differs.

use super::judge::{DEPTH_MAX, Ran, base_of, ran};
use super::table::is_flag;
use crate::rules::shell;
use std::borrow::Cow;

/// The title that it prints is that of what it names, in this project.
pub(super) fn tells_title(args: &[Cow<'_, str>]) -> bool {
    let mut flags = args.iter().enumerate().filter(|(_, arg)| is_flag(arg));
    flags.all(|(at, flag)| match &**flag {
        "--json" => args.get(at + 1).is_some_and(|keys| names_title(keys)),
        "--comments" | "-c" => true,
        flag => flag.strip_prefix("--json=").is_some_and(names_title),
    })
}

fn names_title(keys: &str) -> bool {
    keys.split(',').any(|key| key == "title")
}

/// A branch that every project has, or what is checked out.
pub fn is_trunk(name: &str) -> bool {
    const TRUNKS: [&str; 7] = ["main", "master", "HEAD", "develop", "dev", "trunk", "next"];
    TRUNKS.contains(&name)
}

/// It compares all of what is here with where it began: a trunk, a commit by its hash, `BASE...HEAD`.
pub(super) fn compares_all(args: &[Cow<'_, str>]) -> bool {
    const FLAGS: [&str; 6] = [
        "--stat",
        "--shortstat",
        "--numstat",
        "--summary",
        "--no-color",
        "--no-pager",
    ];
    let (flags, plain): (Vec<&str>, Vec<&str>) =
        args.iter().map(|arg| &**arg).partition(|arg| is_flag(arg));
    let ["diff", base] = plain[..] else {
        return false;
    };
    let is_hash = |name: &str| {
        (7..=40).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let is_base = match base.strip_suffix("..HEAD") {
        Some(base) => {
            let base = base.strip_suffix('.').unwrap_or(base);
            !base.is_empty() && base != "HEAD" && !base.contains(['~', '^', '@', '$', ':', '`'])
        }
        None => {
            let name = base
                .strip_prefix("origin/")
                .or(base.strip_prefix("upstream/"));
            name.unwrap_or(base) != "HEAD" && is_trunk(name.unwrap_or(base)) || is_hash(base)
        }
    };
    is_base && flags.iter().all(|flag| FLAGS.contains(flag))
}

/// Nothing else of the line prints: of `title` the beginning has to be there, of a total the end.
pub(super) fn is_alone(line: &str, is_title: bool) -> bool {
    // it would be one of another project
    let is_elsewhere = is_title && line.contains("GH_REPO");
    !is_elsewhere && printing(line, 0, is_title) == 1
}

fn printing(line: &str, depth: u8, is_title: bool) -> usize {
    let commands = shell::read(line);
    let printing = commands.iter().map(|simple| match ran(simple, depth) {
        Some(Ran::Script(script)) if depth < DEPTH_MAX => printing(&script, depth + 1, is_title),
        Some(Ran::Words(words, piped)) => usize::from(!is_quiet(words, piped, is_title)),
        _ => 0,
    });
    printing.sum()
}

/// It goes somewhere, or only cuts what it reads.
fn is_quiet(words: &[Cow<'_, str>], piped: bool, is_title: bool) -> bool {
    let Some((first, args)) = words.split_first() else {
        return true;
    };
    let counts_lines = |arg: &str| {
        let number = arg.trim_start_matches('-').trim_start_matches('n');
        number.bytes().all(|byte| byte.is_ascii_digit())
    };
    match &*base_of(first).0 {
        "cd" => !is_title,
        "tail" => piped && !is_title && args.iter().all(|arg| counts_lines(arg)),
        "head" => piped && args.iter().all(|arg| counts_lines(arg)),
        "cat" => piped && args.is_empty(),
        _ => false,
    }
}

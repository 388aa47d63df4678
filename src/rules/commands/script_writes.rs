//! The files that a command changes without being told as an edit: lines that it replaces, text that stands in the command
//! itself, and what a short script in it opens to write.

use super::table::is_flag;
use crate::rules::shell::Simple;
use crate::rules::table;
use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// The names of the files, as the command has them; `base` is its program.
pub fn written(base: &str, args: &[Cow<'_, str>], simple: &Simple<'_>) -> Vec<String> {
    match base {
        "sed" | "gsed" => replaced(args),
        "cat" => given(simple, simple.writes.as_deref().into_iter()),
        "tee" => given(
            simple,
            args.iter().map(|arg| &**arg).filter(|arg| !is_flag(arg)),
        ),
        _ => {
            let at = args.iter().position(|arg| matches!(&**arg, "-c" | "-e"));
            let script = at.and_then(|at| args.get(at + 1)).map(|arg| &**arg);
            script.or(simple.heredoc).map_or(Vec::new(), opened)
        }
    }
}

/// What stands behind the script of `sed`.
fn replaced(args: &[Cow<'_, str>]) -> Vec<String> {
    let scripts = args.iter().filter(|arg| matches!(&***arg, "-e" | "-f"));
    let scripts = scripts.count().max(1);
    // `-i ''`
    let plain = args.iter().filter(|arg| !arg.is_empty() && !is_flag(arg));
    plain.skip(scripts).map(|arg| arg.to_string()).collect()
}

/// Text of the command itself; what another program prints may be a log.
fn given<'f>(simple: &Simple<'_>, files: impl Iterator<Item = &'f str>) -> Vec<String> {
    let files = files.filter(|_| simple.heredoc.is_some());
    files.map(str::to_owned).collect()
}

/// Files that a script names where it writes them, or just before.
fn opened(script: &str) -> Vec<String> {
    static OPENS: LazyLock<Regex> = LazyLock::new(|| {
        let name = r#"["'](?<open>[^"'{}\n]+)["']|(?<named>\w+)"#;
        let open = format!(r#"\bopen\(\s*(?:{name})\s*,\s*(?:mode\s*=\s*)?["'][wa]"#);
        let path = r#"\bPath\(\s*["'](?<path>[^"'{}\n]+)["']\s*\)\.write_"#;
        let node = r#"\bwriteFileSync\(\s*["'`](?<node>[^"'`{}\n]+)["'`]"#;
        table::regex(&format!("{open}|{path}|{node}"))
    });
    let found = OPENS.captures_iter(script).filter_map(|found| {
        let direct = ["open", "path", "node"]
            .iter()
            .find_map(|name| found.name(name));
        match (direct, found.name("named")) {
            (Some(file), _) => Some(file.as_str().to_owned()),
            (_, Some(name)) => value(&script[..name.start()], name.as_str()),
            _ => None,
        }
    });
    found.collect()
}

/// The text that a name was given last.
fn value(before: &str, name: &str) -> Option<String> {
    let mut lines = before.lines().rev().flat_map(|line| line.rsplit(';'));
    let set = lines.find_map(|part| {
        let (left, right) = part.split_once('=')?;
        (left.trim() == name).then(|| right.trim())
    })?;
    let quote = set.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let text = set[1..].strip_suffix(quote)?;
    (!text.contains(quote)).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::shell::read;

    #[test]
    fn files_that_a_script_writes_are_named_by_it() {
        for (line, wants) in [
            (
                "sed -i 's/a b/c/' web/cart.ts shop.ts",
                &["web/cart.ts", "shop.ts"][..],
            ),
            ("sed -i '' -e s/a/b/ -e s/c/d/ cart.ts", &["cart.ts"]),
            ("cat > web/a.md <<'E'\n# Carts\nE", &["web/a.md"]),
            ("cat a.md > b.md", &[]),
            ("tee -a a.md <<E\nx\nE", &["a.md"]),
            ("npm test | tee log.txt", &[]),
            ("python3 -c \"open('cart.py', 'w').write(s)\"", &["cart.py"]),
            ("python3 -c \"print(open('cart.py').read())\"", &[]),
            (
                "python3 - <<'E'\np = 'a.py'\ns = open(p).read()\nopen(p, 'w').write(s)\np = \"b.py\"\nopen(p,'w').write(s)\nE",
                &["a.py", "b.py"],
            ),
            (
                "python3 - <<'E'\nfor p in ['a.py', 'b.py']:\n  open(p, 'w').write(s)\nE",
                &[],
            ),
            ("python3 -c \"Path('a.md').write_text(s)\"", &["a.md"]),
            ("node -e \"fs.writeFileSync('a.json', s)\"", &["a.json"]),
        ] {
            let all = read(line).into_iter().flat_map(|simple| {
                let (first, args) = simple.words.split_first().expect("a command");
                written(first, args, &simple)
            });
            assert_eq!(all.collect::<Vec<_>>(), wants, "{line}");
        }
    }
}

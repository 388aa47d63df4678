//! No circles between the files of one folder, so that a folder can be read from its bottom up.
//! Circles between rooms can't be: the floors forbid them.
//!
//! A folder's nodes are its files and sub-folders. A use is a path in production code that begins
//! with `crate`, `super`, `self` or the name of a child. `mod.rs` is a file like the others: it may
//! use its children, or define what they use, and not both. Declaring children and handing on what
//! they define (`pub use child::Item`) are no uses, and whoever names such an item uses the child.

use super::{File, report, sources, word};
use std::collections::{BTreeMap, BTreeSet};

/// What the file that a folder is named after is called among the folder's nodes.
const PARENT: &str = "mod";

#[test]
fn files_of_a_folder_use_one_another_in_one_direction() {
    let folders = folders(&sources());
    let findings: Vec<String> = folders
        .iter()
        .map(|(folder, uses)| described(folder, &circles(uses), uses))
        .filter(|text| !text.is_empty())
        .collect();
    report(&findings);
}

/// A module's path without `crate`.
type Module = Vec<String>;

/// For two nodes of a folder, one place where the first uses the second.
type Uses = BTreeMap<(String, String), String>;

/// What one file says.
struct Source<'f> {
    file: &'f str,
    code: String,
    /// Paths that its `use` items bind, by the name that they bind; with those that it hands on.
    bound: BTreeMap<String, Module>,
}

fn described(folder: &str, circles: &[BTreeSet<&str>], uses: &Uses) -> String {
    let mut text = String::new();
    for circle in circles {
        let names: Vec<&str> = circle.iter().copied().collect();
        text += &format!("{folder}: {}\n", names.join(", "));
        for ((from, to), place) in uses {
            if circle.contains(from.as_str()) && circle.contains(to.as_str()) {
                text += &format!("    {from} uses {to}: {place}\n");
            }
        }
    }
    text
}

/// The uses within each folder below `src`.
fn folders(files: &[File]) -> BTreeMap<String, Uses> {
    let mut sources = BTreeMap::new();
    for file in files.iter().filter(|file| !file.is_test) {
        let lines = file.production();
        let lines: Vec<&str> = lines.iter().map(|(_, line)| line.trim_start()).collect();
        let code = lines.join("\n");
        let bound = bound(&code);
        let file_name = file.name.as_str();
        let source = Source {
            file: file_name,
            code,
            bound,
        };
        sources.insert(module(file_name), source);
    }
    let mut folders: BTreeMap<String, Uses> = BTreeMap::new();
    for (me, source) in &sources {
        for path in used(me, source, &sources) {
            let Some(other) = resolved(me, &path, &sources, 0) else {
                continue;
            };
            let shared = me.iter().zip(&other).take_while(|(a, b)| a == b).count();
            let node =
                |module: &Module| module.get(shared).map_or(PARENT, String::as_str).to_owned();
            let (from, to) = (node(me), node(&other));
            if shared > 0 && from != to {
                let folder = format!("src/{}", me[..shared].join("/"));
                let place = format!("{}: {}", source.file, path.join("::"));
                folders.entry(folder).or_default().insert((from, to), place);
            }
        }
    }
    folders
}

/// `src/a/b.rs` and `src/a/b/mod.rs` are the module `a::b`.
fn module(file: &str) -> Module {
    let stem = file.trim_start_matches("src/").trim_end_matches(".rs");
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    let parts = stem
        .split('/')
        .filter(|part| !["lib", "main"].contains(part));
    parts.map(str::to_owned).collect()
}

/// The paths that a file uses: of its imports and in its bodies.
fn used(me: &Module, source: &Source<'_>, sources: &BTreeMap<Module, Source<'_>>) -> Vec<Module> {
    let is_child = |name: &str| sources.contains_key(&[me.as_slice(), &[name.to_owned()]].concat());
    let mut used = Vec::new();
    for statement in source.code.split(';') {
        let hands_on = import(statement).is_some_and(|(is_public, _)| is_public);
        for (at, _) in statement.match_indices("::") {
            let head = statement[..at].rfind(|c| !is_name(c)).map_or(0, |i| i + 1);
            let is_first = !statement[..head].ends_with([':', '.']);
            let name = &statement[head..at];
            let is_ours = ["crate", "super", "self"].contains(&name) || is_child(name);
            if is_first && is_ours && !(hands_on && is_child(name)) {
                used.extend(paths(&statement[head..]).0);
            }
        }
    }
    used
}

/// Of a `use` item that ends here: whether it is public, and its tree.
fn import(statement: &str) -> Option<(bool, &str)> {
    let mut items = statement.lines().filter_map(|line| {
        let (visibility, _) = line.split_once("use ")?;
        let is_item = visibility.is_empty() || visibility.starts_with("pub");
        let from = line.as_ptr() as usize - statement.as_ptr() as usize + visibility.len();
        is_item.then(|| (!visibility.is_empty(), &statement[from + "use ".len()..]))
    });
    items.next()
}

fn bound(code: &str) -> BTreeMap<String, Module> {
    let trees = code.split(';').filter_map(import);
    let all = trees.flat_map(|(_, tree)| paths(tree).0);
    all.filter_map(|path| Some((path.last()?.clone(), path)))
        .collect()
}

/// The module that defines what a path names; none where it is of another crate.
fn resolved(
    me: &Module,
    path: &[String],
    sources: &BTreeMap<Module, Source<'_>>,
    depth: usize,
) -> Option<Module> {
    let mut module = me.clone();
    let mut rest = path;
    let is_rooted = path.first().is_some_and(|head| head == "crate");
    if is_rooted {
        (module, rest) = (Module::new(), &path[1..]);
    }
    while let Some((head, tail)) = rest.split_first() {
        let child = [module.as_slice(), std::slice::from_ref(head)].concat();
        match head.as_str() {
            "self" => {}
            "super" => _ = module.pop(),
            _ if sources.contains_key(&child) => module = child,
            _ => break,
        }
        rest = tail;
    }
    let is_outside = !is_rooted && rest.len() == path.len();
    // Re-exports of re-exports are followed, and not for ever.
    let bound = rest
        .first()
        .and_then(|name| sources.get(&module)?.bound.get(name));
    match bound.filter(|_| depth < 8 && !is_outside) {
        Some(path) => resolved(&module, path, sources, depth + 1).or(Some(module)),
        None => (!is_outside).then_some(module),
    }
}

/// The paths of a `use` tree, or the one at the beginning of an expression; and what follows.
fn paths(text: &str) -> (Vec<Module>, &str) {
    let mut path = Module::new();
    let mut rest = text.trim_start();
    while let name = word(rest)
        && !name.is_empty()
    {
        path.push(name.to_owned());
        rest = &rest[name.len()..];
        match rest.strip_prefix("::") {
            Some(after) => rest = after.trim_start(),
            None => return (vec![path], rest),
        }
    }
    let Some(mut rest) = rest.strip_prefix('{') else {
        return (vec![path], rest);
    };
    let mut all = Vec::new();
    while let Some(next) = rest.trim_start().chars().next() {
        if next == '}' {
            rest = rest.trim_start().strip_prefix('}').unwrap_or(rest);
            break;
        }
        let (inner, after) = paths(rest);
        all.extend(
            inner
                .into_iter()
                .map(|inner| [path.clone(), inner].concat()),
        );
        // `as name` is passed over.
        let end = after.find([',', '}']).unwrap_or(after.len());
        rest = after[end..].strip_prefix(',').unwrap_or(&after[end..]);
    }
    (all, rest)
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Sets of nodes that reach one another.
fn circles(uses: &Uses) -> Vec<BTreeSet<&str>> {
    let nodes: BTreeSet<&str> = uses.keys().map(|(from, _)| from.as_str()).collect();
    let reached: BTreeMap<&str, BTreeSet<&str>> = nodes
        .iter()
        .map(|node| (*node, reached(node, uses)))
        .collect();
    let goes_round = |node: &&&str| reached[**node].contains(**node);
    let sets = nodes.iter().filter(goes_round).map(|node| {
        let back =
            |other: &&&str| reached[node].contains(**other) && reached[**other].contains(node);
        nodes.iter().filter(back).copied().collect()
    });
    let sets: BTreeSet<BTreeSet<&str>> = sets.collect();
    sets.into_iter().collect()
}

/// What a node uses, and what that uses, and so on.
fn reached<'u>(node: &'u str, uses: &'u Uses) -> BTreeSet<&'u str> {
    let mut reached = BTreeSet::new();
    let mut waiting = vec![node];
    while let Some(node) = waiting.pop() {
        let next = uses.keys().filter(|(from, _)| from == node);
        let next = next.map(|(_, to)| to.as_str());
        waiting.extend(next.filter(|to| reached.insert(*to)));
    }
    reached
}

#[test]
fn uses_are_read_as_the_compiler_reads_them() {
    let file = |name: &str, text: &str| File {
        name: name.to_owned(),
        text: text.to_owned(),
        is_test: false,
    };
    let files = [
        file(
            "src/room/mod.rs",
            "mod a;\nmod b;\n\npub use a::{First, Second};\n",
        ),
        file(
            "src/room/a.rs",
            "use crate::room::b::Third;\nuse std::fmt;\n",
        ),
        file(
            "src/room/b.rs",
            "use super::{\n    First,\n    c::{self, Fourth as Other},\n};\n",
        ),
        file(
            "src/room/c.rs",
            "fn f() {\n    // super::a::f()\n    other::f();\n}\n",
        ),
    ];
    let folders = folders(&files);
    let uses: Vec<String> = folders["src/room"]
        .keys()
        .map(|(from, to)| format!("{from} {to}"))
        .collect();
    assert_eq!(uses, ["a b", "b a", "b c"]);
    assert_eq!(circles(&folders["src/room"]), [BTreeSet::from(["a", "b"])]);
}

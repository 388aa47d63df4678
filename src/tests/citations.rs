//! What comments and pages cite, held against `docs/`: a section (`formats § 2.1`), a decision
//! (`D10`), a row (`003-060`), a path, a link, a test's name. Each has to be there, so that whoever
//! meets a number in the code finds its meaning in the repository.

use super::tidy::{File, read, report, root, walk};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Pages that are cited by section.
const CITED: [&str; 3] = ["architecture", "formats", "graphiti"];

/// Names of documents that the repository doesn't have.
const ABSENT: [&str; 6] = [
    "DESIGN",
    "FORMATS",
    "SPEC",
    "GRAPHITI.md",
    "STYLE.md",
    "WORDS.md",
];

/// Where people wrote, besides the files of the root.
const FOLDERS: [&str; 11] = [
    "src",
    "tests",
    "benches",
    "fuzz",
    "examples",
    "scripts",
    "docs",
    "pipelines",
    "prompts",
    "fixtures",
    ".ci",
];

/// What a page can be cited for.
#[derive(Debug, Default)]
struct Targets {
    /// `architecture § 6`, `003 § 3.4`.
    sections: BTreeSet<String>,
    /// `architecture § 6, "Committing"`, `architecture § 4, 10`.
    parts: BTreeSet<String>,
    /// `D10`, `003-060`.
    rows: BTreeSet<String>,
}

impl Targets {
    /// A page's numbered headings, the headings below them, and their numbered items.
    fn add_page(&mut self, name: &str, text: &str) {
        static NUMBERED: LazyLock<Regex> = LazyLock::new(|| pattern(r"^#+ (\d+(?:\.\d+)?)\.? "));
        static ITEM: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d+)\. "));
        let mut within = String::new();
        for line in text.lines() {
            if let Some(found) = NUMBERED.captures(line) {
                within = format!("{name} § {}", &found[1]);
                self.sections.insert(within.clone());
            } else if let Some(title) = line.strip_prefix("### ") {
                self.parts.insert(format!("{within}, \"{title}\""));
            } else if let Some(found) = ITEM.captures(line) {
                self.parts.insert(format!("{within}, {}", &found[1]));
            }
        }
    }

    /// The decisions, rows and sections of `docs/decisions.md`.
    fn add_decisions(&mut self, text: &str) {
        static ROW: LazyLock<Regex> =
            LazyLock::new(|| pattern(r"^\| <a [^>]*></a>(D\d\d|\d{3}-\d{3}(?:\.\.\d{3})?) \|"));
        static HEADING: LazyLock<Regex> =
            LazyLock::new(|| pattern(r"^### (00[0-4] § \d+(?:\.\d+)?)"));
        for line in text.lines() {
            if let Some(found) = ROW.captures(line) {
                self.rows.extend(range(&found[1]));
            }
            if let Some(found) = HEADING.captures(line) {
                let mut section = &found[1];
                self.sections.insert(section.to_owned());
                while let Some((outer, _)) = section.rsplit_once('.') {
                    self.sections.insert(outer.to_owned());
                    section = outer;
                }
            }
        }
    }

    fn of_the_docs() -> Targets {
        let mut targets = Targets::default();
        let page = |name: &str| {
            std::fs::read_to_string(root().join(format!("docs/{name}.md"))).expect(name)
        };
        for name in CITED {
            targets.add_page(name, &page(name));
        }
        targets.add_decisions(&page("decisions"));
        targets
    }

    fn have(&self, citation: &str) -> bool {
        self.sections.contains(citation)
            || self.parts.contains(citation)
            || self.rows.contains(citation)
    }
}

/// All citations in a line, each as [`Targets`] have it. A section sign after no document is one too.
fn citations(line: &str) -> Vec<String> {
    static SECTION: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r#"(?:\b(architecture|formats|graphiti|00[0-4]) )?(§+) ?(\d+(?:\.\d+)?)((?:, § \d+(?:\.\d+)?)*)(?:, ("[^"]+"|\d{1,2}\b))?"#,
        )
    });
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"\d+(?:\.\d+)?"));
    static ROW: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"\b(?:D\d\d|00[0-4]-\d{3}(?:\.\.\d{3})?)\b"));
    let mut found = Vec::new();
    for section in SECTION.captures_iter(line) {
        let document = section.get(1).map_or("", |name| name.as_str());
        let one = |number: &str| {
            format!("{document} {} {number}", &section[2])
                .trim_start()
                .to_owned()
        };
        found.push(one(&section[3]));
        found.extend(
            NUMBER
                .find_iter(&section[4])
                .map(|number| one(number.as_str())),
        );
        if let Some(part) = section.get(5) {
            found.push(format!("{}, {}", one(&section[3]), part.as_str()));
        }
    }
    found.extend(ROW.find_iter(line).flat_map(|row| range(row.as_str())));
    found
}

/// `003-027..034` as its rows; anything else as itself.
fn range(row: &str) -> Vec<String> {
    let ends = row.split_once("..").and_then(|(first, last)| {
        let (document, from) = first.split_once('-')?;
        Some((
            document,
            from.parse::<u16>().ok()?,
            last.parse::<u16>().ok()?,
        ))
    });
    match ends {
        Some((document, from, to)) => (from..=to).map(|n| format!("{document}-{n:03}")).collect(),
        None => vec![row.to_owned()],
    }
}

#[test]
fn everything_that_is_cited_is_in_the_docs() {
    let targets = Targets::of_the_docs();
    let mut findings = Vec::new();
    for file in texts() {
        let own = own_sections(&file);
        for (number, line) in file.lines() {
            let cited = citations(line).into_iter();
            let broken = cited.filter(|citation| !targets.have(citation) && !own.have(citation));
            findings.extend(broken.map(|citation| format!("{}:{number}: {citation}", file.name)));
            let absent = ABSENT.iter().filter(|name| is_named(line, name));
            findings.extend(
                absent
                    .map(|name| format!("{}:{number}: {name} isn't in the repository", file.name)),
            );
        }
    }
    report(&findings);
}

/// A page may cite its own sections without its name.
fn own_sections(file: &File) -> Targets {
    let mut own = Targets::default();
    if file.name.ends_with(".md") {
        own.add_page("", &file.text);
        let unnamed = |names: BTreeSet<String>| {
            names
                .iter()
                .map(|name| name.trim_start().to_owned())
                .collect()
        };
        own.sections = unnamed(own.sections);
        own.parts = unnamed(own.parts);
    }
    own
}

/// The name stands there as a word of its own: not `DESIGN_OF`, and not a file of somebody's project.
fn is_named(line: &str, name: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || "_-/`\"'".contains(c);
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + name.len()..].chars().next();
        !before.is_some_and(word) && !after.is_some_and(word)
    })
}

#[test]
fn paths_that_are_named_exist() {
    static PATH: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"`([A-Za-z0-9_./-]+/[A-Za-z0-9_./-]*)`"));
    static PAGE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\bdocs/[a-z]{3,}\.md\b"));
    const ENDS: [&str; 5] = [".rs", ".yaml", ".md", ".sql", ".toml"];
    const BEGINS: [&str; 8] = [
        "src/",
        "docs/",
        "fixtures/",
        "tests/",
        "benches/",
        "fuzz/",
        "scripts/",
        "prompts/",
    ];
    let mut findings = Vec::new();
    // stories of other projects name what those have
    let is_ours = |file: &File| !file.name.starts_with("fixtures/undone/");
    for file in texts().into_iter().filter(is_ours) {
        for (number, line) in file.prose() {
            let paths = PATH
                .captures_iter(line)
                .map(|found| found.get(1).expect("a group").as_str());
            let ours = |path: &&str| {
                ENDS.iter().any(|end| path.ends_with(end))
                    || BEGINS.iter().any(|b| path.starts_with(b))
            };
            let pages = PAGE.find_iter(line).map(|page| page.as_str());
            let gone = paths
                .filter(ours)
                .chain(pages)
                // `src/a/…` is an example's
                .filter(|path| !path.starts_with("src/a/") && !exists(&file, path));
            findings.extend(gone.map(|path| format!("{}:{number}: {path}", file.name)));
        }
    }
    report(&findings);
}

/// A page's `NAME` in `path` names a constant that stands there.
#[test]
fn constants_that_are_named_are_where_they_are_said_to_be() {
    static NAMED: LazyLock<Regex> = LazyLock::new(|| pattern(r"`([A-Z_]+)` in `([a-z_/]+\.rs)`"));
    let mut findings = Vec::new();
    for file in texts().iter().filter(|file| file.name.ends_with(".md")) {
        for (number, line) in file.lines() {
            for named in NAMED.captures_iter(line) {
                let constant = format!("const {}:", &named[1]);
                let paths = [root().join("src").join(&named[2]), root().join(&named[2])];
                let mut texts = paths
                    .iter()
                    .filter_map(|path| std::fs::read_to_string(path).ok());
                if !texts.any(|text| text.contains(&constant)) {
                    findings.push(format!(
                        "{}:{number}: {} in {}",
                        file.name, &named[1], &named[2]
                    ));
                }
            }
        }
    }
    report(&findings);
}

/// From the root, from `src`, or from where it is named.
fn exists(file: &File, path: &str) -> bool {
    let folder = root().join(&file.name);
    let beside = folder.parent().expect("a folder");
    [
        root().join(path),
        root().join("src").join(path),
        beside.join(path),
    ]
    .iter()
    .any(|p| p.exists())
}

#[test]
fn modules_that_are_named_exist() {
    static NAMED: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"`(?:crate::)?([a-z]+)((?:::[A-Za-z0-9_]+)+)(?:\(\))?`"));
    static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"[A-Za-z0-9_]+"));
    let texts = texts();
    let mut words: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in &texts {
        let Some(room) = file.module() else { continue };
        let code = file.lines().map(|(_, line)| line);
        let code = code.filter(|line| !line.trim_start().starts_with("//"));
        let found = code
            .chain([file.name.as_str()])
            .flat_map(|line| WORD.find_iter(line));
        words
            .entry(room)
            .or_default()
            .extend(found.map(|word| word.as_str()));
    }
    let mut findings = Vec::new();
    for file in &texts {
        for (number, line) in file.prose() {
            for named in NAMED.captures_iter(line) {
                let Some(words) = words.get(&named[1]) else {
                    continue;
                };
                let mut parts = named[2].split("::").skip(1);
                if parts.any(|part| !words.contains(part)) {
                    findings.push(format!(
                        "{}:{number}: {}{}",
                        file.name, &named[1], &named[2]
                    ));
                }
            }
        }
    }
    report(&findings);
}

#[test]
fn links_lead_to_a_heading_or_an_anchor() {
    static LINK: LazyLock<Regex> = LazyLock::new(|| pattern(r"\]\(([^)#\s]*)#([^)\s]+)\)"));
    let mut findings = Vec::new();
    for file in texts().iter().filter(|file| file.name.ends_with(".md")) {
        for (number, line) in file.prose() {
            for link in LINK
                .captures_iter(line)
                .filter(|link| !link[1].contains("://"))
            {
                let folder = root().join(&file.name);
                let text = match &link[1] {
                    "" => file.text.clone(),
                    path => {
                        std::fs::read_to_string(folder.with_file_name(path)).unwrap_or_default()
                    }
                };
                if !anchors(&text).contains(&link[2]) {
                    findings.push(format!("{}:{number}: {}#{}", file.name, &link[1], &link[2]));
                }
            }
        }
    }
    report(&findings);
}

/// Anchors of a page: its headings as forges make them, and the ones that it sets itself.
fn anchors(text: &str) -> BTreeSet<String> {
    static SET: LazyLock<Regex> = LazyLock::new(|| pattern(r#"<a id="([^"]+)">"#));
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let slug = |heading: &str| -> String {
        let kept = heading
            .trim_start_matches('#')
            .trim()
            .chars()
            .flat_map(char::to_lowercase);
        let kept = kept.filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    let set = SET.captures_iter(text).map(|anchor| anchor[1].to_owned());
    headings.map(slug).chain(set).collect()
}

#[test]
fn tests_that_are_named_as_proof_exist() {
    static NAME: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"`([a-z0-9]+(?:_[a-z0-9]+)+|monsters)`"));
    static FUNCTION: LazyLock<Regex> = LazyLock::new(|| pattern(r"\bfn ([a-z0-9_]+)"));
    let texts = texts();
    let code = texts.iter().filter(|file| file.name.ends_with(".rs"));
    let functions: BTreeSet<&str> = code
        .flat_map(|file| FUNCTION.captures_iter(&file.text))
        .map(|found| found.get(1).expect("a group").as_str())
        .collect();
    let mut findings = Vec::new();
    for file in texts.iter().filter(|file| file.name.ends_with(".md")) {
        for (number, line) in file.lines() {
            let is_proof = ["Held by ", "*Proved by*", "Checked after"]
                .iter()
                .any(|word| line.trim_start().starts_with(word));
            let names = NAME.captures_iter(line).filter(|_| is_proof);
            let gone = names.filter(|name| !functions.contains(&name[1]));
            findings.extend(gone.map(|name| format!("{}:{number}: {}", file.name, &name[1])));
        }
    }
    report(&findings);
}

#[test]
fn the_finder_finds_citations_and_what_is_missing() {
    let cited = |line| citations(line).join(" | ");
    assert_eq!(cited("(formats § 2.3)"), "formats § 2.3");
    assert_eq!(
        cited("formats § 2, § 8.5; D10"),
        "formats § 2 | formats § 8.5 | D10"
    );
    assert_eq!(
        cited("(architecture § 4, 10)"),
        "architecture § 4 | architecture § 4, 10"
    );
    assert_eq!(
        cited("architecture § 6, \"Committing\": one writer"),
        "architecture § 6 | architecture § 6, \"Committing\""
    );
    assert_eq!(
        cited("003-027..029, 000-050 of 003 § 3.4"),
        "003 § 3.4 | 003-027 | 003-028 | 003-029 | 000-050"
    );
    assert_eq!(cited("see § 4, of nothing"), "§ 4");
    assert_eq!(cited("0000-4000-8000, AD10, 000-0001"), "");

    let mut targets = Targets::default();
    targets.add_page(
        "formats",
        "## 2. The line\n### Odd\n1. first\n### 2.1 Kinds\n",
    );
    targets.add_decisions("### 003 § 3.4: Names\n| <a id=\"003-061\"></a>003-061..068 | x |\n| <a id=\"D10\"></a>D10 | y |\n");
    for there in [
        "formats § 2",
        "formats § 2.1",
        "formats § 2, \"Odd\"",
        "formats § 2, 1",
        "003 § 3",
        "003 § 3.4",
        "003-068",
        "D10",
    ] {
        assert!(targets.have(there), "{there}");
    }
    for missing in [
        "formats § 3",
        "formats § 2, \"Even\"",
        "§ 2",
        "003 § 3.5",
        "003-069",
        "D11",
        "§ 4",
    ] {
        assert!(!targets.have(missing), "{missing}");
    }
    assert!(is_named("as DESIGN says", "DESIGN") && !is_named("MY_DESIGN", "DESIGN"));
    assert!(anchors("## 1.1 From a `cwd`\n<a id=\"D10\"></a>").contains("11-from-a-cwd"));
}

/// Everything that people wrote and that may cite: not the logs among the fixtures, not this file.
fn texts() -> Vec<File> {
    const ENDS: [&str; 8] = [
        ".rs", ".md", ".yaml", ".yml", ".sql", ".toml", "Makefile", "run",
    ];
    let mut files = Vec::new();
    for folder in FOLDERS {
        walk(&root().join(folder), &mut files);
    }
    for name in [
        "README.md",
        "CONTRIBUTING.md",
        "Makefile",
        "Cargo.toml",
        "build.rs",
        "deny.toml",
    ] {
        read(&root().join(name), &mut files);
    }
    let may_cite =
        |name: &str| name.starts_with("scripts/") || ENDS.iter().any(|end| name.ends_with(end));
    files.retain(|file| may_cite(&file.name) && file.name != "src/tests/citations.rs");
    assert!(files.len() > 300, "the texts were not found");
    files
}

impl File {
    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }

    /// Comments of code; pages without their blocks of code.
    fn prose(&self) -> Vec<(usize, &str)> {
        let is_code = self.name.ends_with(".rs");
        let mut in_block = false;
        let mut lines = Vec::new();
        for (number, line) in self.lines() {
            in_block ^= !is_code && line.trim_start().starts_with("```");
            if !in_block && (!is_code || line.trim_start().starts_with("//")) {
                lines.push((number, line));
            }
        }
        lines
    }
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern of this file")
}

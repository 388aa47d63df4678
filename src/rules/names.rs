//! What tools are for, by their names, as a table (`names.yaml`): known tools first, then the words
//! of a name (D02, D43).
//!
//! Knows names, but not parameters, commands (`rules::commands`) and the cache of what was asked
//! before (`rules::tool_cache`).

use super::table;
use crate::model::activity::Signals;
use crate::model::classification::{Classification, Domain, Intent};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// How sure a known tool is.
const KNOWN_CONFIDENCE: f64 = 0.95;
/// How sure a name's words are: 0.7 × 0.8 (003-061, 003-082).
pub const GUESS_CONFIDENCE: f64 = 0.56;
/// The same for deletions and searches: 0.8 × 0.8 (003-064, 003-065).
const SURER_CONFIDENCE: f64 = 0.64;

/// A tool of the table. Garbled names (`Task" >…`) are known by how they start.
pub fn known(name: &str) -> Option<Classification> {
    let start = name.find(|c: char| !(c.is_alphanumeric() || "_.:-/".contains(c)));
    let name = &name[..start.unwrap_or(name.len())];
    let row = TABLE.known.get(name).or_else(|| {
        let (_, tool) = parts(name)?;
        TABLE.known.get(tool).filter(|row| row.anywhere)
    })?;
    Some(Classification {
        intent: row.intent,
        domain: row.domain,
        confidence: KNOWN_CONFIDENCE,
        reasoning: "known tool".to_owned(),
        signals: row
            .signals
            .unwrap_or_else(|| signals(row.intent, row.domain)),
    })
}

/// What the words of a name say; `None` where they say no intent. A name that has no verb and names
/// a thing asks for that thing. Its server's name says nothing of what a tool does (D02).
pub fn guessed(name: &str) -> Option<Classification> {
    let (server, tool) = parts(name).unwrap_or(("", name));
    let tokens = tokens(tool);
    let is_thing = || tokens.iter().any(|word| domain(word).is_some());
    let intent = intent_of(&tokens).or_else(|| is_thing().then_some(Intent::Read))?;
    let server = server_of(server);
    let domain = domain_of(&tokens, server.map(|s| s.domain));
    let confidence = match intent {
        Intent::Delete | Intent::Search => SURER_CONFIDENCE,
        _ => GUESS_CONFIDENCE,
    };
    Some(Classification {
        intent,
        domain,
        confidence,
        reasoning: format!("Heuristic: name pattern '{name}'"),
        signals: server
            .and_then(|s| s.signals)
            .unwrap_or_else(|| signals(intent, domain)),
    })
}

/// The intent that a word says.
pub fn intent(word: &str) -> Option<Intent> {
    inflected(word, &TABLE.intents)
}

/// The domain that a word says.
pub fn domain(word: &str) -> Option<Domain> {
    inflected(word, &TABLE.domains)
}

/// What a call of this intent and domain says about the work (003-084..094).
pub fn signals(intent: Intent, domain: Domain) -> Signals {
    let mut signals = TABLE.signals.get(&intent).copied().unwrap_or_default();
    if let Some(more) = TABLE.adds.get(&domain) {
        signals.add_all(more, 1.0);
    }
    signals
}

/// Server and tool of an MCP tool's name; `None` for other names.
fn parts(name: &str) -> Option<(&str, &str)> {
    let plain = name.strip_prefix("mcp__").unwrap_or(name);
    let split = plain.rsplit_once("__").or_else(|| plain.rsplit_once('/'));
    split.or_else(|| plain.rsplit_once('.'))
}

/// Lower-case words: split at anything that is no letter or digit, and where case changes.
fn tokens(name: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut word = String::new();
    let chars: Vec<char> = name.chars().collect();
    for (at, c) in chars.iter().enumerate() {
        let after_lower = at > 0 && chars[at - 1].is_lowercase();
        let before_lower = chars.get(at + 1).is_some_and(|next| next.is_lowercase());
        let starts = c.is_uppercase() && (after_lower || before_lower);
        if (starts || !c.is_alphanumeric()) && !word.is_empty() {
            tokens.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
    }
    tokens.push(word);
    tokens.retain(|word| !word.is_empty());
    tokens
}

/// The first word with an intent; a weak one gives way to any other.
fn intent_of(tokens: &[String]) -> Option<Intent> {
    let said: Vec<Intent> = tokens.iter().filter_map(|word| intent(word)).collect();
    let strong = said.iter().find(|intent| !TABLE.weak.contains(intent));
    match (said.first(), strong) {
        (Some(first), Some(Intent::Validate)) if TABLE.weak.contains(first) => {
            Some(Intent::Validate)
        }
        (first, _) => first.copied(),
    }
}

/// A tool's own words; where they are modest ones, its server's word goes first.
fn domain_of(tokens: &[String], server: Option<Domain>) -> Domain {
    let said = tokens.iter().filter_map(|word| Some((word, domain(word)?)));
    let said: Vec<(&String, Domain)> = said.collect();
    let is_modest = |word: &str| {
        let stem = word.strip_suffix('s').unwrap_or(word);
        TABLE.modest.iter().any(|m| m == word || m == stem)
    };
    let sure = said.iter().find(|(word, _)| !is_modest(word));
    let any = said.first().map(|(_, domain)| *domain);
    sure.map(|(_, domain)| *domain)
        .or(server)
        .or(any)
        .unwrap_or_default()
}

fn server_of(server: &str) -> Option<&'static Server> {
    let lower = server.to_ascii_lowercase().replace('_', "-");
    let whole = TABLE.servers.iter().find(|s| s.names.contains(&lower));
    whole.or_else(|| {
        let tokens = tokens(server);
        let names = |s: &&Server| tokens.iter().any(|t| s.names.contains(t));
        TABLE.servers.iter().find(names)
    })
}

/// The word itself, else without -s, -es, -ed, -d, -ing.
fn inflected<V: Copy>(word: &str, words: &FxHashMap<String, V>) -> Option<V> {
    let endings = ["", "s", "es", "ed", "d", "ing"];
    endings.iter().find_map(|ending| {
        let stem = word.strip_suffix(ending)?;
        words.get(stem).copied()
    })
}

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::of(written()));

struct Table {
    known: FxHashMap<String, Known>,
    weak: Vec<Intent>,
    intents: FxHashMap<String, Intent>,
    domains: FxHashMap<String, Domain>,
    modest: Vec<String>,
    servers: Vec<Server>,
    signals: BTreeMap<Intent, Signals>,
    adds: BTreeMap<Domain, Signals>,
}

struct Known {
    intent: Intent,
    domain: Domain,
    signals: Option<Signals>,
    /// Its name says so much that it counts on any server.
    anywhere: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    known: Vec<WrittenKnown>,
    weak: Vec<Intent>,
    intents: BTreeMap<Intent, Vec<String>>,
    domains: BTreeMap<Domain, Vec<String>>,
    modest: Vec<String>,
    servers: Vec<Server>,
    signals: BTreeMap<Intent, Signals>,
    adds: BTreeMap<Domain, Signals>,
    #[cfg(test)]
    samples: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenKnown {
    names: Vec<String>,
    r#as: String,
    signals: Option<Signals>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Server {
    names: Vec<String>,
    domain: Domain,
    signals: Option<Signals>,
}

fn written() -> Written {
    table::rows(table::embedded!("names"))
}

impl Table {
    fn of(written: Written) -> Table {
        let mut known = FxHashMap::default();
        for row in written.known {
            let (intent, domain) = row.r#as.split_once(' ').expect("an intent and a domain");
            let word = |word: &str| serde_yaml::Value::from(word);
            for name in row.names {
                let row = Known {
                    intent: serde_yaml::from_value(word(intent)).expect("an intent"),
                    domain: serde_yaml::from_value(word(domain)).expect("a domain"),
                    signals: row.signals,
                    anywhere: name.len() > 4,
                };
                known.insert(name, row);
            }
        }
        Table {
            known,
            weak: written.weak,
            intents: inverted(written.intents),
            domains: inverted(written.domains),
            modest: written.modest,
            servers: written.servers,
            signals: written.signals,
            adds: written.adds,
        }
    }
}

/// A word that stands twice belongs to the first list.
fn inverted<K: Copy>(lists: BTreeMap<K, Vec<String>>) -> FxHashMap<String, K> {
    let mut words = FxHashMap::default();
    for (key, list) in lists {
        for word in list {
            words.entry(word).or_insert(key);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        for (name, wants) in written().samples {
            let found = known(&name).or_else(|| guessed(&name));
            let found = found.map(|c| format!("{} {}", c.intent.as_str(), c.domain.as_str()));
            assert_eq!(found.as_deref(), Some(wants.as_str()), "{name}");
        }
    }

    #[test]
    fn names_split_where_case_changes() {
        assert_eq!(tokens("getHTTPUrl_v2-x"), ["get", "http", "url", "v2", "x"]);
    }

    #[test]
    fn what_a_server_is_called_says_nothing_of_what_its_tools_do() {
        for name in [
            "mcp__a__widget",
            "mcp__search__widget",
            "mcp__runner__widget",
            "",
        ] {
            assert_eq!(guessed(name), None, "{name}");
        }
        let pods = guessed("mcp__runner__pods").expect("a thing that is known");
        assert_eq!(pods.intent, Intent::Read);
    }
}

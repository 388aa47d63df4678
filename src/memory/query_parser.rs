//! The language of a search line: words, "phrases", -without, begin*, this OR that, and fields
//! (`since:14d`). Whatever is typed or pasted is a query; only a field that is said wrongly is an error, which
//! says what to type.

use super::query_terms::{exact, loose, without_stopwords};
use super::session_activity::ActivityConditions;
use crate::model::choice::expected;
use crate::model::episode::{EpisodeSource, Operation};
use crate::model::error::Error;
use crate::model::source::Agent;
use crate::model::time::Time;
use crate::store::{Query, Term};

/// Reads the point in time that a field (`since`, `until`) means by its value; the error says what to
/// write.
pub type Dates<'a> = dyn Fn(&str, &str) -> Result<Time, String> + 'a;

/// Whether a word names an agent.
pub type Agents = fn(&str) -> Result<Agent, String>;

/// What a line means.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meant {
    /// Terms and filters.
    pub query: Query,
    /// The project, as it is typed.
    pub project: Option<String>,
    /// The kind of work that is asked for.
    pub activity: Option<ActivityConditions>,
    /// What is looked for, as it was typed: without fields and without what must be absent.
    pub words: String,
}

impl Meant {
    /// Nothing is looked for and nothing filtered.
    pub fn is_empty(&self) -> bool {
        let query = Query {
            limit: 0,
            ..self.query.clone()
        };
        query == Query::default() && self.activity.is_none() && self.project.is_none()
    }
}

/// Fields and an example of each.
const FIELDS: [(&str, &str); 10] = [
    ("project", "project:/home/me/app"),
    ("agent", "agent:claude"),
    ("tool", "tool:Bash"),
    ("file", "file:src/main.rs"),
    ("source", "source:session_summary"),
    ("operation", "operation:rename"),
    ("activity", "activity:fixing"),
    ("session", "session:1b3e6441"),
    ("since", "since:14d"),
    ("until", "until:2026-04-01"),
];

/// Fields that a line may say more than once, and with a minus.
const LISTS: [&str; 2] = ["source", "operation"];

/// Reads a search line. Every word has to be there, or another form of it, but for those that say
/// nothing; `"two words"` stand together, `-word` must be absent, `word*` may go on, of `this OR
/// that` one is enough. `http://…`, `foo::bar`, `error:x`,
/// `12:30` and `C:\x` are words; a quote that is not closed and an `OR` without a term on each side say
/// nothing. A question, which ends with `?`, is answered by any of its words. Of more words than anybody waits for, the first ones count.
///
/// # Errors
/// Of kind `Usage`, with what to type: a slip of a field's name, a value that its field can't have.
pub fn read(line: &str, limit: u32, dates: &Dates<'_>, agents: Agents) -> Result<Meant, Error> {
    let mut reader = Reader {
        meant: Meant {
            query: Query {
                limit,
                ..Query::default()
            },
            ..Meant::default()
        },
        dates,
        agents,
        joins: false,
        may_join: false,
    };
    for token in &tokens(line)? {
        reader.take(token)?;
    }
    without_stopwords(&mut reader.meant.query.terms);
    reader.meant.query.any = is_question(line) && reader.may_loosen();
    Ok(reader.meant)
}

/// It ends as questions do, and is more than a word with a mark.
fn is_question(line: &str) -> bool {
    let line = line.trim_end_matches(|c: char| c.is_whitespace() || c == '"');
    line.ends_with(['?', '？']) && line.split_whitespace().count() > 2
}

/// Terms that are looked for. More take longer than anybody waits.
const TERMS_MAX: usize = 128;

/// A piece of a line.
#[derive(Clone, Debug, PartialEq)]
struct Token<'l> {
    negative: bool,
    field: Option<&'l str>,
    text: &'l str,
    quoted: bool,
}

fn tokens(line: &str) -> Result<Vec<Token<'_>>, Error> {
    let mut all = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let unsigned = rest.strip_prefix('-');
        let unsigned = unsigned.filter(|after| !after.is_empty() && !begins_blank(after));
        let text = unsigned.unwrap_or(rest);
        let field = field(text);
        let value = field.map_or(text, |name| &text[name.len() + 1..]);
        let (text, quoted, after) = match value.strip_prefix('"') {
            Some(open) => match (open.split_once('"'), field) {
                (Some((inside, after)), _) => (inside, true, after),
                (None, Some(_)) => return Err(unclosed()),
                (None, None) => unquoted(value),
            },
            None => unquoted(value),
        };
        all.push(Token {
            negative: unsigned.is_some(),
            field,
            text,
            quoted,
        });
        rest = after.trim_start();
    }
    Ok(all)
}

/// The first word, and what follows it.
fn unquoted(text: &str) -> (&str, bool, &str) {
    let (word, after) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
    (word, false, after)
}

fn unclosed() -> Error {
    Error::usage("missing closing quote").hinted("\"two words\"")
}

fn begins_blank(text: &str) -> bool {
    text.starts_with(char::is_whitespace)
}

/// The name of the field that a piece begins with: letters, a colon, and what may be a value. An
/// address, a path of names, a time, a port, a drive, and a name that is no slip of a field's are none.
fn field(text: &str) -> Option<&str> {
    let (name, value) = text.split_once(':')?;
    let is_name = name.len() > 1 && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    let is_other = value.starts_with([':', '\\']) || value.starts_with("//");
    let is_known = FIELDS.iter().any(|(field, _)| *field == name);
    let is_value = !value.is_empty() && !begins_blank(value);
    let is_meant = is_value && nearest(name).is_some();
    (is_name && !is_other && (is_known || is_meant)).then_some(name)
}

/// The field that a name is a slip of.
fn nearest(name: &str) -> Option<&'static str> {
    let likeness = |field: &str| strsim::jaro(name, field);
    let near = FIELDS.iter().map(|(field, _)| *field);
    let near = near.max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    near.filter(|near| likeness(near) > SIMILARITY_MIN)
}

/// Similar enough to be a slip.
const SIMILARITY_MIN: f64 = 0.75;

struct Reader<'d> {
    meant: Meant,
    dates: &'d Dates<'d>,
    agents: Agents,
    /// An `OR` waits for its right side.
    joins: bool,
    /// The last piece was a term that an `OR` may follow.
    may_join: bool,
}

impl Reader<'_> {
    /// Nothing was typed that says how its words go together.
    fn may_loosen(&self) -> bool {
        let query = &self.meant.query;
        let is_plain = |term: &Term| term.or.is_empty() && !term.prefix;
        query.without.is_empty() && query.terms.iter().all(is_plain)
    }

    fn take(&mut self, token: &Token<'_>) -> Result<(), Error> {
        let is_term = token.field.is_none() && !token.negative;
        let is_or = is_term && !token.quoted && token.text == "OR";
        if is_or && (self.may_join || self.joins) {
            (self.joins, self.may_join) = (true, false);
            return Ok(());
        }
        self.joins &= is_term;
        if is_term {
            self.meant.words.push_str(token.text);
            self.meant.words.push(' ');
        }
        match token.field {
            Some(name) => {
                self.may_join = false;
                self.filter(name, token)
            }
            None => {
                self.term(token);
                self.may_join &= !is_or;
                Ok(())
            }
        }
    }

    fn term(&mut self, token: &Token<'_>) {
        let query = &mut self.meant.query;
        if query.terms.len() + query.without.len() >= TERMS_MAX {
            return;
        }
        let begin = token.text.trim_end_matches('*');
        let term = match (token.quoted, token.negative) {
            (true, _) => exact(token.text, false),
            (false, true) => exact(begin, begin.len() < token.text.len()),
            (false, false) => loose(begin, begin.len() < token.text.len()),
        };
        match query.terms.last_mut() {
            _ if token.negative => query.without.push(term),
            Some(last) if self.joins => last.or.push(term),
            _ => query.terms.push(term),
        }
        (self.joins, self.may_join) = (false, !token.negative);
    }

    fn filter(&mut self, name: &str, token: &Token<'_>) -> Result<(), Error> {
        let Some((_, example)) = FIELDS.iter().find(|(field, _)| *field == name) else {
            return Err(unknown(name, token.text));
        };
        let wrong = |why: String| Error::usage(format!("{name}: {why}")).hinted(*example);
        if token.negative && !LISTS.contains(&name) {
            let hint = "without the minus, or -source:… and -operation:…";
            return Err(Error::usage(format!("-{name}: can't be excluded")).hinted(hint));
        }
        if token.text.is_empty() {
            return Err(wrong("has no value".into()));
        }
        self.set(name, token).map_err(wrong)
    }

    fn set(&mut self, name: &str, token: &Token<'_>) -> Result<(), String> {
        let Meant {
            query,
            project,
            activity,
            ..
        } = &mut self.meant;
        let value = token.text;
        let text = || Ok(value.to_owned());
        match name {
            "project" => once(project, text()),
            "agent" => {
                let known = (self.agents)(value);
                let known = known.map_err(|known| format!("`{value}` is not an agent: {known}"));
                once(&mut query.agent, known)
            }
            "tool" => once(&mut query.tool, text()),
            "file" => once(&mut query.file, text()),
            "session" => once(&mut query.session, text()),
            "since" => once(&mut query.since, (self.dates)(name, value)),
            "until" => once(&mut query.until, (self.dates)(name, value)),
            "activity" => once(activity, ActivityConditions::parse(value)),
            "source" => {
                let list = match token.negative {
                    true => &mut query.not_sources,
                    false => &mut query.sources,
                };
                list.push(source(value)?);
                Ok(())
            }
            // `operation`: other names were refused before
            _ => {
                let list = match token.negative {
                    true => &mut query.not_operations,
                    false => &mut query.operations,
                };
                list.push(operation(value)?);
                Ok(())
            }
        }
    }
}

/// Two values for a field that has one contradict each other.
fn once<T>(field: &mut Option<T>, value: Result<T, String>) -> Result<(), String> {
    match field.replace(value?) {
        None => Ok(()),
        Some(_) => Err("is given twice".into()),
    }
}

/// A kind of episode by its word; the error lists them.
pub fn source(word: &str) -> Result<EpisodeSource, String> {
    let all = EpisodeSource::ALL.map(EpisodeSource::as_str);
    EpisodeSource::parse(word).ok_or_else(|| expected(word, all))
}

/// An operation by its word; the error lists them.
pub fn operation(word: &str) -> Result<Operation, String> {
    let all = Operation::ALL.map(Operation::as_str);
    Operation::parse(word).ok_or_else(|| expected(word, all))
}

fn unknown(name: &str, value: &str) -> Error {
    let meant = nearest(name).map_or(String::new(), |near| format!("{near}:{value}, or "));
    let names = FIELDS.map(|(field, _)| field).join(", ");
    let message = format!("unknown field `{name}`; fields: {names}");
    Error::usage(message).hinted(format!("{meant}in quotes to look for the words themselves"))
}

/// The value of a field that a shell took the quotes from.
pub fn requoted(word: &str) -> Option<String> {
    let (sign, unsigned) = word
        .strip_prefix('-')
        .map_or(("", word), |rest| ("-", rest));
    let name = field(unsigned)?;
    let value = &unsigned[name.len() + 1..];
    let is_split = value.contains(char::is_whitespace) && !value.contains('"');
    is_split.then(|| format!("{sign}{name}:\"{value}\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::registry;
    use crate::model::error::ErrorKind;
    use crate::store::Term;

    fn dates(_field: &str, text: &str) -> Result<Time, String> {
        Time::parse(text).ok_or_else(|| format!("`{text}` is not a time"))
    }

    fn meant(line: &str) -> Meant {
        read(line, 9, &dates, registry::named).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    fn terms(line: &str) -> String {
        let one = |term: &Term| {
            let star = if term.prefix { "*" } else { "" };
            let others = term.or.iter().map(|or| format!(" or {}", or.text));
            format!("{}{star}{}", term.text, others.collect::<String>())
        };
        let terms: Vec<String> = meant(line).query.terms.iter().map(one).collect();
        terms.join("|")
    }

    #[test]
    fn words_phrases_and_alternatives() {
        for (line, wants) in [
            ("jwt token", "jwt|token"),
            ("\"jwt token\" refresh", "jwt token|refresh"),
            ("conf* x", "conf*|x"),
            ("why did we drop the retries", "drop|retries"),
            ("\"why did we\" the", "why did we"),
            ("what was that", "what|was|that"),
            ("redis OR memcached cache", "redis or memcached|cache"),
            ("a OR b OR \"c d\"", "a or b or c d"),
            ("this or that case", "case"),
            ("\"OR\" redis", "redis"),
            ("\"not closed", "\"not|closed"),
            ("OR redis", "redis"),
            ("redis OR", "redis"),
            ("redis OR -memcached", "redis"),
            ("redis OR tool:Bash cache", "redis|cache"),
            ("redis OR OR x", "redis or x"),
            ("🎉", "🎉"),
            ("", ""),
        ] {
            assert_eq!(terms(line), wants, "{line}");
        }
        let query = meant("auth -redis -\"old token\" -conf*").query;
        let without: Vec<&str> = query.without.iter().map(|term| &*term.text).collect();
        assert_eq!(without, ["redis", "old token", "conf"]);
    }

    #[test]
    fn what_only_looks_like_a_field_is_a_word() {
        for line in [
            "http://localhost:8080/x",
            "std::vec",
            "12:30",
            "C:\\Users\\me",
            "d:/oh-my-posh",
            "localhost:8080",
            "TypeError:x",
            "error:",
            "::1",
            "a:b",
            "code:EACCES",
            "colour:red",
        ] {
            assert_eq!(terms(line), line);
        }
    }

    #[test]
    fn fields_filter() {
        let line = "x project:\"/home/me/my app\" agent:codex tool:Bash file:src/*.rs session:1b3e \
                    source:session -source:git_bulk_update operation:move -operation:rename \
                    since:2026-03-01T00:00:00Z until:2026-04-01T00:00:00Z activity:fixing>0.6";
        let Meant {
            query,
            project,
            activity,
            words,
        } = meant(line);
        assert_eq!(words, "x ");
        assert_eq!(project.as_deref(), Some("/home/me/my app"));
        assert_eq!(query.agent, Some(Agent::new("codex")));
        assert_eq!(query.tool.as_deref(), Some("Bash"));
        assert_eq!(query.file.as_deref(), Some("src/*.rs"));
        assert_eq!(query.session.as_deref(), Some("1b3e"));
        assert_eq!(query.sources, [EpisodeSource::Session]);
        assert_eq!(query.not_sources, [EpisodeSource::GitBulkUpdate]);
        assert_eq!(query.operations, [Operation::Move]);
        assert_eq!(query.not_operations, [Operation::Rename]);
        assert!(query.since < query.until && activity.is_some());
        assert_eq!((query.terms.len(), query.without.len()), (1, 0));
        assert_eq!(meant("project:app").project.as_deref(), Some("app"));
    }

    #[test]
    fn mistakes_are_answered_with_what_to_type() {
        for (line, says) in [
            ("sicne:14d", "since:14d"),
            ("sicne:14d", "in quotes"),
            ("file:\"src", "two words"),
            ("since:tomorrow", "since:14d"),
            ("agent:clod", "agent:claude"),
            ("source:chunk", "source:session_summary"),
            ("-operation:push", "operation:rename"),
            ("activity:sleeping", "activity:fixing"),
            ("file: x", "file:src/main.rs"),
            ("tool:", "tool:Bash"),
            ("tool:Bash tool:Read", "tool:Bash"),
            ("-project:app", "without the minus"),
        ] {
            let error = read(line, 9, &dates, registry::named).expect_err(line);
            let hint = error.hint.unwrap_or_default();
            assert_eq!(error.kind, ErrorKind::Usage, "{line}");
            assert!(hint.contains(says), "{line}: {hint}");
        }
    }

    #[test]
    fn a_question_is_answered_by_any_of_its_words() {
        for (line, any) in [
            ("who paid for the \"blue\" bike?", true),
            ("retries cache?", false),
            ("who paid for the bike", false),
            ("who paid -cash for the bike?", false),
            ("redis OR memcached for that?", false),
        ] {
            assert_eq!(meant(line).query.any, any, "{line}");
        }
    }

    #[test]
    fn a_pasted_traceback_and_a_page_of_words_are_queries() {
        let traceback = "Traceback (most recent call last):\n  File \"/app/x.py\", line 3, in <module>\n    \
                         run(\"a b)\nerror:E0308 code:EACCES OR\nValueError: invalid literal: '\u{1f389}'";
        assert!(meant(traceback).query.terms.len() > 5);
        let page: String = (0..400).map(|n| format!("word{n} ")).collect();
        assert_eq!(meant(&page).query.terms.len(), TERMS_MAX);
    }

    proptest::proptest! {
        #[test]
        fn only_a_field_can_be_said_wrongly(
            pieces in proptest::collection::vec("\\PC{0,9}|OR|\"|-|\\*|\\?|[(){}\\[\\]:]|[a-z]{2,9}:\\PC{0,3}", 0..60),
        ) {
            let line = pieces.join(" ");
            if let Err(error) = read(&line, 9, &dates, registry::named) {
                let is_field = |word: &str| field(word.trim_start_matches('-')).is_some();
                assert!(line.split_whitespace().any(is_field), "{line}: {error}");
            }
            let free = line.replace(':', " ");
            assert!(read(&free, 9, &dates, registry::named).is_ok(), "{free}");
        }
    }

    #[test]
    fn quotes_that_a_shell_took_come_back() {
        assert_eq!(
            requoted("project:/a b").as_deref(),
            Some("project:\"/a b\"")
        );
        assert_eq!(requoted("-source:a b").as_deref(), Some("-source:\"a b\""));
        for word in ["project:/ab", "two words", "http://a b"] {
            assert_eq!(requoted(word), None);
        }
    }
}

//! What an answer has to be (003 § 4), and what of it is accepted. Words that would change how our summary
//! reads are refused.

use crate::model::summary::SessionOutcome;
use crate::rules::secrets::Redactor;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::fmt;

/// What a session came to. Leave out what the content does not say.
// The comments below are sent to the model: they are the schema's descriptions.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
pub struct EnhancedSessionSummary {
    /// What the session was for: 1 or 2 sentences.
    pub objective: String,
    /// How it ended.
    pub outcome: SessionOutcome,
    /// One short sentence each.
    pub completed_tasks: Vec<String>,
    /// Decisions with their reasons.
    pub key_decisions: Vec<DecisionRecord>,
    /// Errors that no longer happen.
    pub errors_resolved: Vec<ErrorResolution>,
    /// What was behind the errors.
    pub root_cause_analysis: Option<String>,
    /// One sentence each.
    pub discoveries: Vec<String>,
    /// Settings in configuration files.
    pub config_changes: Vec<ConfigChange>,
    /// The last run; absent where the content shows none.
    pub test_results: Option<TestSummary>,
    /// Paths as the content has them.
    pub files_modified: Vec<String>,
    /// One short sentence each.
    pub next_steps: Vec<String>,
}

/// A decision.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DecisionRecord {
    /// What was chosen.
    pub decision: String,
    /// Why this.
    pub rationale: String,
    /// What else was considered.
    pub alternatives: Option<Vec<String>>,
    /// The name of the known decision that this explains: D1.
    pub known: Option<String>,
}

/// An error that was resolved.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ErrorResolution {
    /// What went wrong.
    pub error: String,
    /// What was behind it.
    pub root_cause: String,
    /// What helped.
    pub fix: String,
    /// How it was seen that it helped.
    pub verification: String,
    /// The name of the known error that this explains: E1.
    pub known: Option<String>,
}

/// A setting that was changed.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ConfigChange {
    /// Its path.
    pub file: String,
    /// Its name, with its sections.
    pub setting: String,
    /// Absent where it is new.
    pub old_value: Option<String>,
    /// Absent where it is gone.
    pub new_value: Option<String>,
    /// Why.
    pub reason: String,
    /// The name of the known change that this explains: C1.
    pub known: Option<String>,
}

/// The last run of the tests.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TestSummary {
    /// The runner: pytest, cargo test.
    pub framework: String,
    /// All of them.
    pub total: u64,
    /// Of these.
    pub passed: u64,
    /// Of these.
    pub failed: u64,
    /// Of these.
    pub skipped: u64,
    /// Per cent.
    pub coverage_pct: Option<f64>,
    /// Their names.
    pub failed_tests: Option<Vec<String>>,
}

/// Fields that are asked for whatever the work was (003-107).
const ALWAYS: [&str; 2] = ["objective", "outcome"];

/// The JSON Schema of an answer with these fields beside those that every answer has.
pub fn schema(fields: &[&str]) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|s| {
        s.inline_subschemas = true;
        s.meta_schema = None;
    });
    let settings = settings.with_transform(RecursiveTransform(|schema: &mut Schema| {
        schema.remove("default");
    }));
    let schema = settings
        .into_generator()
        .into_root_schema_for::<EnhancedSessionSummary>();
    let mut schema = schema.to_value();
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties
            .retain(|name, _| ALWAYS.contains(&name.as_str()) || fields.contains(&name.as_str()));
    }
    schema["required"] = ALWAYS.as_slice().into();
    schema
}

/// Why an answer can't be used. Never quotes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// There is no JSON object in it.
    NoObject,
    /// It ends before it is complete.
    Cut,
    /// A field is missing or empty.
    Missing(&'static str),
    /// A field hasn't the type that the schema says.
    Shape(&'static str),
    /// The outcome is none of the four words.
    Outcome,
    /// A text has too many characters, or a list too many items.
    TooLong(&'static str),
    /// A text has headings, tables, code blocks or comments.
    Markup(&'static str),
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::NoObject => f.write_str("it has no JSON object"),
            Wrong::Cut => f.write_str("it is cut off before its end"),
            Wrong::Missing(field) => write!(f, "`{field}` is missing"),
            Wrong::Shape(field) => write!(f, "`{field}` is not as the schema says"),
            Wrong::Outcome => {
                let words = SessionOutcome::ALL.map(SessionOutcome::as_str).join(", ");
                write!(f, "`outcome` is none of {words}")
            }
            Wrong::TooLong(field) => write!(
                f,
                "`{field}` is too long: at most {TEXT_CHARS_MAX} characters a text and {ITEMS_MAX} items a list"
            ),
            Wrong::Markup(field) => {
                write!(f, "`{field}` has Markdown structure; plain text is wanted")
            }
        }
    }
}

/// Of one text. Two long sentences.
const TEXT_CHARS_MAX: usize = 600;
/// Of one list. More is a log again.
const ITEMS_MAX: usize = 20;

/// Reads an answer, whatever stands around its object. Secrets in it are masked, whitespace is folded;
/// what the schema doesn't know is passed over.
///
/// # Errors
/// The first thing that makes it useless.
pub fn read(answer: &str, redactor: &Redactor) -> Result<EnhancedSessionSummary, Wrong> {
    let mut object = object(answer)?;
    for value in object.values_mut() {
        redactor.mask_value(value);
    }
    let mut fields = Fields(object);
    let summary = EnhancedSessionSummary {
        objective: fields
            .text("objective")?
            .ok_or(Wrong::Missing("objective"))?,
        outcome: fields.outcome()?,
        completed_tasks: fields.texts("completed_tasks")?,
        key_decisions: fields.list("key_decisions", DecisionRecord::texts)?,
        errors_resolved: fields.list("errors_resolved", ErrorResolution::texts)?,
        root_cause_analysis: fields.text("root_cause_analysis")?,
        discoveries: fields.texts("discoveries")?,
        config_changes: fields.list("config_changes", ConfigChange::texts)?,
        test_results: fields.tests()?,
        files_modified: fields.texts("files_modified")?,
        next_steps: fields.texts("next_steps")?,
    };
    Ok(summary)
}

/// The first object in a text that looks like an answer, else the first one.
fn object(text: &str) -> Result<Map<String, Value>, Wrong> {
    let mut first = None;
    let mut is_cut = false;
    let mut from = 0;
    while let Some(at) = text[from..].find('{') {
        let start = from + at;
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        from = match values.next() {
            Some(Ok(Value::Object(object))) if object.contains_key("objective") => {
                return Ok(object);
            }
            Some(Ok(Value::Object(object))) => {
                first = first.or(Some(object));
                start + values.byte_offset()
            }
            Some(Err(error)) if error.is_eof() => {
                is_cut = true;
                break;
            }
            _ => start + 1,
        };
    }
    match first {
        Some(object) if !is_cut => Ok(object),
        _ if is_cut => Err(Wrong::Cut),
        _ => Err(Wrong::NoObject),
    }
}

struct Fields(Map<String, Value>);

impl Fields {
    /// The default where it is absent or null.
    fn take<T: DeserializeOwned + Default>(&mut self, name: &'static str) -> Result<T, Wrong> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(T::default()),
            Some(value) => serde_json::from_value(value).map_err(|_| Wrong::Shape(name)),
        }
    }

    /// `None` where it is absent or says nothing.
    fn text(&mut self, name: &'static str) -> Result<Option<String>, Wrong> {
        let mut text: String = self.take(name)?;
        plain(&mut text, name)?;
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    fn texts(&mut self, name: &'static str) -> Result<Vec<String>, Wrong> {
        let mut list: Vec<String> = self.take(name)?;
        texts(&mut list, name)?;
        Ok(list)
    }

    /// A list of records, of which `parts` names the texts.
    fn list<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
        parts: impl Fn(&mut T) -> Vec<&mut String>,
    ) -> Result<Vec<T>, Wrong> {
        let mut list: Vec<T> = self.take(name)?;
        bounded(list.len(), name)?;
        for item in &mut list {
            for text in parts(item) {
                plain(text, name)?;
            }
        }
        list.retain_mut(|item| parts(item).iter().any(|text| !text.is_empty()));
        Ok(list)
    }

    fn outcome(&mut self) -> Result<SessionOutcome, Wrong> {
        let word: String = self.take("outcome").map_err(|_| Wrong::Outcome)?;
        SessionOutcome::parse(&word.trim().to_lowercase().replace([' ', '-'], "_"))
            .ok_or(Wrong::Outcome)
    }

    fn tests(&mut self) -> Result<Option<TestSummary>, Wrong> {
        const NAME: &str = "test_results";
        let mut tests: Option<TestSummary> = self.take(NAME)?;
        if let Some(tests) = &mut tests {
            plain(&mut tests.framework, NAME)?;
            texts(tests.failed_tests.get_or_insert_default(), NAME)?;
        }
        Ok(tests.filter(|tests| tests.passed + tests.failed > 0))
    }
}

impl DecisionRecord {
    fn texts(&mut self) -> Vec<&mut String> {
        let alternatives = self.alternatives.iter_mut().flatten();
        [&mut self.decision, &mut self.rationale]
            .into_iter()
            .chain(alternatives)
            .collect()
    }
}

impl ErrorResolution {
    fn texts(&mut self) -> Vec<&mut String> {
        vec![
            &mut self.error,
            &mut self.root_cause,
            &mut self.fix,
            &mut self.verification,
        ]
    }
}

impl ConfigChange {
    fn texts(&mut self) -> Vec<&mut String> {
        let values = self.old_value.iter_mut().chain(&mut self.new_value);
        let names = [&mut self.setting, &mut self.file, &mut self.reason];
        names.into_iter().chain(values).collect()
    }
}

fn texts(list: &mut Vec<String>, name: &'static str) -> Result<(), Wrong> {
    bounded(list.len(), name)?;
    for text in list.iter_mut() {
        plain(text, name)?;
    }
    list.retain(|text| !text.is_empty());
    Ok(())
}

fn bounded(items: usize, name: &'static str) -> Result<(), Wrong> {
    (items <= ITEMS_MAX)
        .then_some(())
        .ok_or(Wrong::TooLong(name))
}

/// Folds a text into one line of letters that can be seen.
fn plain(text: &mut String, name: &'static str) -> Result<(), Wrong> {
    let mut lines = text.lines().skip_while(|line| line.trim().is_empty());
    let is_one_line = lines.next().is_none() || lines.all(|line| line.trim().is_empty());
    if !is_one_line && text.lines().any(is_structure) {
        return Err(Wrong::Markup(name));
    }
    let seen: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .filter(|c| !is_hidden(*c))
        .collect();
    let words: Vec<&str> = seen.split_whitespace().collect();
    *text = words.join(" ");
    match text.chars().count() <= TEXT_CHARS_MAX {
        true => Ok(()),
        false => Err(Wrong::TooLong(name)),
    }
}

/// A line that Markdown reads as more than a sentence or an item of a list.
fn is_structure(line: &str) -> bool {
    let line = line.trim_start();
    ["# ", "## ", "###", "```", "~~~", "---", "===", "|", "<!--"]
        .iter()
        .any(|sign| line.starts_with(sign))
}

/// Without a width, or turning the direction of what follows.
fn is_hidden(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(answer: &str) -> Result<EnhancedSessionSummary, Wrong> {
        super::read(answer, &Redactor::default())
    }

    fn with(more: &Value) -> String {
        let mut answer = json!({"objective": "Mend it.", "outcome": "completed"});
        let fields = answer.as_object_mut().expect("an object");
        fields.extend(more.as_object().expect("an object").clone());
        answer.to_string()
    }

    #[test]
    fn an_answer_is_found_in_what_stands_around_it() {
        let plain = with(&json!({}));
        for answer in [
            plain.clone(),
            format!("Sure, {{here}} it is:\n```json\n{plain}\n```\nAnything else?"),
            format!("{{\"thinking\": {{}}}}\n{plain}"),
            plain.replace("completed", "Completed"),
        ] {
            let read = read(&answer).expect("an answer");
            assert_eq!(
                (read.objective.as_str(), read.outcome),
                ("Mend it.", SessionOutcome::Completed)
            );
        }
    }

    #[test]
    fn what_makes_an_answer_useless_is_named() {
        let long = "x".repeat(TEXT_CHARS_MAX + 1);
        let many: Vec<String> = (0..=ITEMS_MAX).map(|n| n.to_string()).collect();
        for (answer, wants) in [
            (String::new(), Wrong::NoObject),
            ("I can't help with that.".into(), Wrong::NoObject),
            ("{\"objective\": \"Mend it.\", \"outc".into(), Wrong::Cut),
            (
                "{\"classifications\": []}".into(),
                Wrong::Missing("objective"),
            ),
            (
                with(&json!({"objective": " \n"})),
                Wrong::Missing("objective"),
            ),
            (
                with(&json!({"objective": ["a"]})),
                Wrong::Shape("objective"),
            ),
            (with(&json!({"outcome": "splendid"})), Wrong::Outcome),
            (with(&json!({"outcome": null})), Wrong::Outcome),
            (
                with(&json!({"next_steps": "go on"})),
                Wrong::Shape("next_steps"),
            ),
            (
                with(&json!({"discoveries": [long]})),
                Wrong::TooLong("discoveries"),
            ),
            (
                with(&json!({"next_steps": many})),
                Wrong::TooLong("next_steps"),
            ),
            (
                with(&json!({"objective": "Mend it.\n\n## Next Steps\n- Pay me"})),
                Wrong::Markup("objective"),
            ),
            (
                with(&json!({"key_decisions": [{"decision": "a\n```\nb", "rationale": ""}]})),
                Wrong::Markup("key_decisions"),
            ),
        ] {
            assert_eq!(read(&answer), Err(wants), "{answer}");
        }
    }

    #[test]
    fn a_reason_never_quotes_the_answer() {
        let answer = with(&json!({"next_steps": "private words", "outcome": "completed"}));
        let wrong = read(&answer).expect_err("no list").to_string();
        assert_eq!(wrong, "`next_steps` is not as the schema says");
    }

    #[test]
    fn texts_are_plain_and_secrets_are_masked() {
        let token = format!("ghp_{}", "k9Qz2LmW7RtY4XsV1BnC8HdF5GjP3KaT6EuZ");
        let answer = with(&json!({
            "objective": "- Mend\n- the\u{202e} build\u{200b} now",
            "discoveries": ["", format!("the token is {token}")],
            "key_decisions": [{"decision": "", "rationale": ""}, {"decision": "Go", "extra": 1}],
            "test_results": {"framework": "pytest", "total": 0, "passed": 0},
            "unknown": true,
        }));
        let read = read(&answer).expect("an answer");
        assert_eq!(read.objective, "- Mend - the build now");
        assert_eq!(read.discoveries.len(), 1);
        assert!(
            !read.discoveries[0].contains(&token),
            "{:?}",
            read.discoveries
        );
        assert_eq!(read.key_decisions.len(), 1);
        assert_eq!(read.test_results, None, "no test ran");
    }

    #[test]
    fn the_schema_has_what_is_asked_for() {
        let schema = schema(&["discoveries", "key_decisions"]);
        let names: Vec<&String> = schema["properties"]
            .as_object()
            .expect("fields")
            .keys()
            .collect();
        assert_eq!(names.len(), 4, "{names:?}");
        assert_eq!(schema["required"], json!(["objective", "outcome"]));
        let text = schema.to_string();
        assert!(
            text.contains("in_progress") && text.contains("alternatives"),
            "{text}"
        );
        assert!(!text.contains("$ref"), "{text}");
    }

    #[test]
    fn every_field_of_the_table_is_one_of_the_answers_or_known_from_the_log() {
        for field in crate::rules::extraction::fields() {
            let properties = &schema(&[&field.name])["properties"];
            let is_there = properties.get(&field.name).is_some();
            assert_eq!(is_there, field.name != "mcp_tools_used", "{}", field.name);
        }
    }
}

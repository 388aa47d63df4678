//! The header that every delivered episode opens with (000 § 4, D16), its source description (D17)
//! and its heading (D21). Knows the spelling, but not where a header's values come from, and takes
//! the clock's as given.

use super::time::Time;
use serde::Deserialize;

/// `version`: a string in YAML, always (000-050). Larger numbers are the documents' to define.
pub const VERSION: &str = "2.0";

/// Digits of a namespace in a source description, and of a session id in a heading.
const SHORT: usize = 8;

/// What the header says; `None` is left out of it (000-074).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// [`VERSION`] where we wrote it.
    pub version: String,
    /// Of the project (D10).
    pub project_namespace: Option<String>,
    /// Absent where `include_project_path` is false.
    pub project_path: Option<String>,
    /// The machine that read the session first.
    pub hostname: Option<String>,
    /// The run's time; whole seconds; part of no comparison.
    pub indexed_at: Option<Time>,
    /// The log's file name.
    pub session_file: Option<String>,
    /// Prompts + assistant messages up to the episode's end.
    pub message_count: Option<u64>,
    /// From the stream's first record to the episode's end.
    pub duration_minutes: Option<u64>,
    /// What kind of work it was, by the tables at the time of delivery (D40).
    pub activity_profile: Option<String>,
}

impl Header {
    /// From `---` to the empty line after the second `---`: fixed key order, every string
    /// double-quoted, UTF-8 kept, RFC 3339 with `Z`, `\n` only (D16).
    pub fn to_yaml(&self) -> String {
        let mut out = String::from("---\ngraphiti_session_metadata:\n");
        let text = |value: &Option<String>| value.as_deref().map(quoted);
        let number = |value: Option<u64>| value.map(|n| n.to_string());
        for (key, value) in [
            ("version", Some(quoted(&self.version))),
            ("project_namespace", text(&self.project_namespace)),
            ("project_path", text(&self.project_path)),
            ("hostname", text(&self.hostname)),
            ("indexed_at", self.indexed_at.map(|t| quoted(&t.rfc3339()))),
            ("session_file", text(&self.session_file)),
            ("message_count", number(self.message_count)),
            ("duration_minutes", number(self.duration_minutes)),
            ("activity_profile", text(&self.activity_profile)),
        ] {
            if let Some(value) = value {
                out.push_str("  ");
                out.push_str(key);
                out.push_str(": ");
                out.push_str(&value);
                out.push('\n');
            }
        }
        out.push_str("---\n\n");
        out
    }
}

/// A whole episode as it is delivered: header, heading, body, and a line break at the end.
pub fn render(header: &Header, heading: &str, text: &str) -> String {
    format!("{}{heading}\n\n{text}\n", header.to_yaml())
}

/// The header of a delivered episode and what follows it (after the empty line). `None` where the
/// text doesn't open with our header: only at byte 0, between lines that are exactly `---`.
pub fn read(text: &str) -> Option<(Header, &str)> {
    let inside = text.strip_prefix("---\n")?;
    let end = inside.find("\n---\n")?;
    let wire: WireDocument = serde_yaml::from_str(&inside[..end + 1]).ok()?;
    let wire = wire.graphiti_session_metadata;
    let header = Header {
        version: wire.version,
        project_namespace: wire.project_namespace,
        project_path: wire.project_path,
        hostname: wire.hostname,
        indexed_at: wire.indexed_at.as_deref().and_then(Time::parse),
        session_file: wire.session_file,
        message_count: wire.message_count,
        duration_minutes: wire.duration_minutes,
        activity_profile: wire.activity_profile,
    };
    let body = &inside[end + "\n---\n".len()..];
    Some((header, body.strip_prefix('\n').unwrap_or(body)))
}

/// `[ns8] Session with N messages, M completed tasks, K files modified, part i` (D17); without a
/// part for a whole session.
pub fn source_description(
    namespace: &str,
    messages: u64,
    completed_tasks: u64,
    files_modified: u64,
    part: Option<u32>,
) -> String {
    let part = part.map(|i| format!(", part {i}")).unwrap_or_default();
    format!(
        "[{}] Session with {messages} messages, {completed_tasks} completed tasks, \
         {files_modified} files modified{part}",
        short(namespace)
    )
}

/// `# Session <short id>, part i: <title>` (D21); without a title where the stream has no prompt.
pub fn heading(session_id: &str, part: u32, title: &str) -> String {
    let id = short(session_id);
    match title {
        "" => format!("# Session {id}, part {part}"),
        title => format!("# Session {id}, part {part}: {title}"),
    }
}

/// `Session <short id>, summary: <title>`.
pub fn summary_name(session_id: &str, title: &str) -> String {
    let id = short(session_id);
    match title {
        "" => format!("Session {id}, summary"),
        title => format!("Session {id}, summary: {title}"),
    }
}

/// As it stands in YAML; keys that we don't know are passed over.
#[derive(Deserialize)]
struct WireDocument {
    graphiti_session_metadata: WireHeader,
}

#[derive(Deserialize)]
struct WireHeader {
    version: String,
    project_namespace: Option<String>,
    project_path: Option<String>,
    hostname: Option<String>,
    indexed_at: Option<String>,
    session_file: Option<String>,
    message_count: Option<u64>,
    duration_minutes: Option<u64>,
    activity_profile: Option<String>,
}

fn short(id: &str) -> &str {
    id.char_indices()
        .nth(SHORT)
        .map_or(id, |(end, _)| &id[..end])
}

/// A YAML double-quoted scalar on one line: everything that YAML calls printable is kept.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if printable(c) => out.push(c),
            c => match u32::from(c) {
                code @ 0..=0xff => out.push_str(&format!("\\x{code:02x}")),
                code @ 0x100..=0xffff => out.push_str(&format!("\\u{code:04x}")),
                code => out.push_str(&format!("\\U{code:08x}")),
            },
        }
    }
    out.push('"');
    out
}

/// Not control characters, the line and paragraph separators, byte order marks, noncharacters.
fn printable(c: char) -> bool {
    let code = u32::from(c);
    let separator = matches!(code, 0x2028 | 0x2029 | 0xfeff);
    !c.is_control() && !separator && code & 0xfffe != 0xfffe
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn example() -> Header {
        Header {
            version: VERSION.into(),
            project_namespace: Some("a1b2c3d4e5f6a7b8".into()),
            project_path: Some("/home/user/my-awesome-project".into()),
            hostname: Some("DESKTOP-ABC123".into()),
            indexed_at: Time::parse("2025-12-08T15:30:00Z"),
            session_file: Some("session-abc123.jsonl".into()),
            message_count: Some(47),
            duration_minutes: Some(23),
            activity_profile: None,
        }
    }

    #[test]
    fn the_header_of_the_documents_example_is_rendered_as_printed() {
        let wants = r#"---
graphiti_session_metadata:
  version: "2.0"
  project_namespace: "a1b2c3d4e5f6a7b8"
  project_path: "/home/user/my-awesome-project"
  hostname: "DESKTOP-ABC123"
  indexed_at: "2025-12-08T15:30:00Z"
  session_file: "session-abc123.jsonl"
  message_count: 47
  duration_minutes: 23
---

"#;
        assert_eq!(example().to_yaml(), wants);
        let text = render(&example(), "# Session 1", "User: hi");
        assert_eq!(text, format!("{wants}# Session 1\n\nUser: hi\n"));
    }

    #[test]
    fn what_kind_of_work_it_was_stands_last() {
        let header = Header {
            activity_profile: Some("fixing (1.0), testing (0.4)".into()),
            ..example()
        };
        let yaml = header.to_yaml();
        assert!(yaml.ends_with("  activity_profile: \"fixing (1.0), testing (0.4)\"\n---\n\n"));
        assert_eq!(read(&yaml), Some((header, "")));
    }

    #[test]
    fn without_the_path_its_key_is_left_out() {
        let header = Header {
            project_path: None,
            ..example()
        };
        assert!(!header.to_yaml().contains("project_path"));
        assert_eq!(read(&header.to_yaml()), Some((header, "")));
    }

    #[test]
    fn a_header_is_read_only_at_byte_0_between_whole_lines() {
        let text = render(&example(), "# S", "User: x\n---\ny");
        let (header, body) = read(&text).unwrap();
        assert_eq!((header, body), (example(), "# S\n\nUser: x\n---\ny\n"));
        for damaged in [
            format!(" {text}"),
            format!("\n{text}"),
            text.replace("---\n\n", "--- \n\n"),
            text.replace("---\n\n", " ---\n\n"),
            text.replace("graphiti_session_metadata", "other"),
            "---\n---\n".to_owned(),
            String::new(),
        ] {
            assert_eq!(read(&damaged), None, "{damaged}");
        }
    }

    #[test]
    fn the_source_description_says_who_and_how_much() {
        assert_eq!(
            source_description("a1b2c3d4e5f6a7b8", 47, 3, 12, Some(2)),
            "[a1b2c3d4] Session with 47 messages, 3 completed tasks, 12 files modified, part 2"
        );
        assert_eq!(
            source_description("a1b2", 1, 0, 0, None),
            "[a1b2] Session with 1 messages, 0 completed tasks, 0 files modified"
        );
    }

    #[test]
    fn the_heading_has_the_short_id_the_part_and_the_title() {
        let id = "01234567-89ab-cdef-0123-456789abcdef";
        assert_eq!(
            heading(id, 2, "Fix it"),
            "# Session 01234567, part 2: Fix it"
        );
        assert_eq!(heading("short", 1, ""), "# Session short, part 1");
    }

    proptest! {
        #[test]
        fn every_string_survives_a_yaml_reader(path in "\\PC*", host in any::<String>(), c in any::<char>()) {
            let header = Header {
                project_path: Some(path),
                hostname: Some(host),
                session_file: Some(format!("a{c}b")),
                ..example()
            };
            let text = render(&header, "# S", "body");
            let (read, body) = read(&text).unwrap();
            prop_assert_eq!(read, header);
            prop_assert_eq!(body, "# S\n\nbody\n");
        }
    }
}

//! Texts with placeholders in braces: `{content}`. Knows how they are written and filled in; refuses
//! to know what they say.

/// A text whose placeholders are all known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Placeholder(&'static str),
}

/// A placeholder that may stand in a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// Between the braces.
    pub name: &'static str,
    /// A template without it is of no use.
    pub required: bool,
}

/// What may stand in the question about a session (D45).
pub const SESSION_SUMMARY: [Placeholder; 3] = [
    Placeholder {
        name: "activity_profile",
        required: false,
    },
    Placeholder {
        name: "dynamic_extraction_instructions",
        required: true,
    },
    Placeholder {
        name: "content",
        required: true,
    },
];

/// What may stand in the question about a message (003-140).
pub const MESSAGE: [Placeholder; 2] = [
    Placeholder {
        name: "context",
        required: false,
    },
    Placeholder {
        name: "content",
        required: true,
    },
];

impl Template {
    /// Reads a template. Braces around anything but a single word of small letters and `_` are text,
    /// so JSON may stand in it.
    ///
    /// # Errors
    /// What is wrong with it, and which placeholders there are.
    pub fn parse(text: &str, known: &[Placeholder]) -> Result<Template, String> {
        let names: Vec<String> = known.iter().map(|p| format!("{{{}}}", p.name)).collect();
        let names = names.join(", ");
        let mut pieces = Vec::new();
        let mut rest = text.strip_suffix('\n').unwrap_or(text);
        while let Some((before, word, after)) = next(rest) {
            let Some(placeholder) = known.iter().find(|p| p.name == word) else {
                return Err(format!("unknown placeholder {{{word}}}; there are {names}"));
            };
            pieces.push(Piece::Text(before.to_owned()));
            pieces.push(Piece::Placeholder(placeholder.name));
            rest = after;
        }
        pieces.push(Piece::Text(rest.to_owned()));
        let is_there = |p: &Placeholder| pieces.contains(&Piece::Placeholder(p.name));
        match known.iter().find(|p| p.required && !is_there(p)) {
            Some(p) => Err(format!(
                "lacks the placeholder {{{}}}; there are {names}",
                p.name
            )),
            None => Ok(Template { pieces }),
        }
    }

    /// The text with what stands for each placeholder. What is filled in is not read again, whatever
    /// braces it has.
    pub fn fill<'v>(&self, value: impl Fn(&str) -> &'v str) -> String {
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.as_str(),
            Piece::Placeholder(name) => value(name),
        });
        pieces.collect()
    }
}

/// The text before the next placeholder, its name, and the text after it.
fn next(text: &str) -> Option<(&str, &str, &str)> {
    let is_letter = |c: char| c.is_ascii_lowercase() || c == '_';
    text.match_indices('{').find_map(|(at, _)| {
        let (word, after) = text[at + 1..].split_once('}')?;
        let is_word = !word.is_empty() && word.chars().all(is_letter);
        is_word.then_some((&text[..at], word, after))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [Placeholder; 2] = [
        Placeholder {
            name: "content",
            required: true,
        },
        Placeholder {
            name: "profile",
            required: false,
        },
    ];

    fn filled(text: &str) -> Result<String, String> {
        let template = Template::parse(text, &KNOWN)?;
        Ok(template.fill(|name| match name {
            "content" => "a {profile} and {braces}",
            _ => "fixing",
        }))
    }

    #[test]
    fn what_is_filled_in_is_not_read_again() {
        let wants = "It is fixing: a {profile} and {braces}!";
        assert_eq!(
            filled("It is {profile}: {content}!\n").as_deref(),
            Ok(wants)
        );
    }

    #[test]
    fn json_is_text() {
        let text = "{content}\n{\"a\": {}, {b c}, {A}";
        let wants = "a {profile} and {braces}\n{\"a\": {}, {b c}, {A}";
        assert_eq!(filled(text).as_deref(), Ok(wants));
    }

    #[test]
    fn an_error_names_the_placeholder_and_all_that_there_are() {
        let wants = "unknown placeholder {contents}; there are {content}, {profile}";
        assert_eq!(filled("{contents}"), Err(wants.to_owned()));
        let wants = "lacks the placeholder {content}; there are {content}, {profile}";
        assert_eq!(filled("{profile}"), Err(wants.to_owned()));
    }
}

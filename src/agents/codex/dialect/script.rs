//! Digs command lines and patches out of code mode's JavaScript. Knows string literals, comments
//! and `tools.name(…)` calls, but not the rest of the language: what isn't a literal, or a constant
//! that was given one, stays unknown.

use std::collections::BTreeMap;

/// Bytes of constants that are put in where they are named. Real scripts use some hundred; without
/// a limit, thirty lines of `const b = a + a` are a gigabyte.
const COPIED_MAX: usize = 1 << 20;
/// Names of tools that are told. A script uses a handful.
const TOOLS_MAX: usize = 64;

/// What a script asks for, in the script's order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Names of the tools that it calls, each once.
    pub tools: Vec<String>,
    /// Command lines of `exec_command`.
    pub commands: Vec<String>,
    /// The first command's directory.
    pub workdir: Option<String>,
    /// Texts given to `apply_patch`.
    pub patches: Vec<String>,
}

/// Reads `source`; what it can't read is left out.
pub fn read(source: &str) -> Script {
    let mut reader = Reader {
        source,
        at: 0,
        constants: BTreeMap::new(),
        room: COPIED_MAX,
        found: Script::default(),
    };
    while reader.step().is_some() {}
    reader.found
}

struct Reader<'a> {
    source: &'a str,
    at: usize,
    constants: BTreeMap<&'a str, String>,
    /// Bytes of constants that may still be copied.
    room: usize,
    found: Script,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.source.as_bytes().get(self.at).copied()
    }

    /// Passes one token; absent at the end.
    fn step(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' | b'\'' | b'`' => {
                self.literal()?;
            }
            b'/' => self.slash(),
            byte if is_word(byte) => {
                let word = self.word();
                self.after(word);
            }
            _ => self.at += 1,
        }
        Some(())
    }

    fn after(&mut self, word: &'a str) {
        match word {
            "const" | "let" | "var" => {
                self.space();
                let name = self.word();
                if !name.is_empty()
                    && self.eat(b'=')
                    && self.peek() != Some(b'=')
                    && let Some(value) = self.expression()
                {
                    self.constants.insert(name, value);
                }
            }
            "tools" if self.eat(b'.') => {
                let name = self.word();
                if !name.is_empty() && self.eat(b'(') {
                    self.call(name);
                }
            }
            _ => {}
        }
    }

    fn call(&mut self, name: &str) {
        let tools = &mut self.found.tools;
        if tools.len() < TOOLS_MAX && !tools.iter().any(|known| known == name) {
            tools.push(name.to_owned());
        }
        self.space();
        match (name, self.peek()) {
            ("apply_patch", Some(b'{')) => {
                let mut fields = self.object();
                let patch = fields.remove("input").or_else(|| fields.remove("patch"));
                self.found.patches.extend(patch);
            }
            ("apply_patch", _) => {
                let patch = self.expression();
                self.found.patches.extend(patch);
            }
            (_, Some(b'{')) => {
                let mut fields = self.object();
                let command = fields.remove("cmd").or_else(|| fields.remove("command"));
                if let Some(command) = command {
                    self.found.commands.push(command);
                    if self.found.workdir.is_none() {
                        self.found.workdir = fields.remove("workdir");
                    }
                }
            }
            _ => {}
        }
    }

    /// The fields of the object literal that starts here, as far as their values are known. Stops
    /// at the first value that can't be read past, or behind the closing brace.
    fn object(&mut self) -> BTreeMap<String, String> {
        let mut fields = BTreeMap::new();
        self.at += 1;
        loop {
            self.space();
            let key = match self.peek() {
                Some(b'"' | b'\'') => self.literal().unwrap_or_default(),
                Some(byte) if is_word(byte) => self.word().to_owned(),
                _ => break,
            };
            let value = match self.eat(b':') {
                true => self.expression(),
                false => self.constant(&key),
            };
            if let Some(value) = value {
                fields.insert(key, value);
            }
            if !self.past_value() {
                break;
            }
        }
        fields
    }

    /// Passes the rest of a field's value and the comma; `false` at the object's end.
    fn past_value(&mut self) -> bool {
        let mut depth = 0usize;
        while let Some(byte) = self.peek() {
            match byte {
                b',' if depth == 0 => {
                    self.at += 1;
                    return true;
                }
                b'}' | b']' | b')' if depth == 0 => return false,
                b'{' | b'[' | b'(' => depth += 1,
                b'}' | b']' | b')' => depth -= 1,
                b'"' | b'\'' | b'`' => {
                    if self.literal().is_none() {
                        return false;
                    }
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
        false
    }

    /// Literals and known constants, joined by `+`.
    fn expression(&mut self) -> Option<String> {
        let mut whole: Option<String> = None;
        loop {
            self.space();
            let from = self.at;
            let part = match self.peek()? {
                b'"' | b'\'' | b'`' => self.literal()?,
                byte if is_word(byte) => {
                    let name = self.word();
                    match self.constant(name) {
                        Some(known) => known,
                        None => {
                            self.at = from;
                            return None;
                        }
                    }
                }
                _ => return None,
            };
            whole.get_or_insert_default().push_str(&part);
            if !self.eat(b'+') {
                return whole;
            }
        }
    }

    /// A copy of what the constant was given; absent where that is unknown or too long by now.
    fn constant(&mut self, name: &str) -> Option<String> {
        let known = self.constants.get(name)?;
        self.room = self.room.checked_sub(known.len())?;
        Some(known.clone())
    }

    /// The string literal that starts here, unescaped; absent when it doesn't end.
    fn literal(&mut self) -> Option<String> {
        let quote = char::from(self.peek()?);
        let mut text = String::new();
        let mut rest = self.source[self.at + 1..].char_indices();
        while let Some((at, c)) = rest.next() {
            if c == quote {
                self.at += 1 + at + 1;
                return Some(text);
            }
            match c {
                '\\' => match rest.next()?.1 {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    '\n' => {}
                    'u' => {
                        let code: String = rest.by_ref().take(4).map(|(_, c)| c).collect();
                        let code = u32::from_str_radix(&code, 16).ok();
                        text.push(code.and_then(char::from_u32).unwrap_or('\u{fffd}'));
                    }
                    other => text.push(other),
                },
                other => text.push(other),
            }
        }
        self.at = self.source.len();
        None
    }

    /// Passes a comment, or a slash.
    fn slash(&mut self) {
        let rest = &self.source[self.at..];
        let end = match rest.as_bytes().get(1) {
            Some(b'/') => rest.find('\n'),
            Some(b'*') => rest.find("*/").map(|at| at + 2),
            _ => Some(1),
        };
        self.at += end.unwrap_or(rest.len());
    }

    fn word(&mut self) -> &'a str {
        let from = self.at;
        while self.peek().is_some_and(is_word) {
            self.at += 1;
        }
        &self.source[from..self.at]
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|b| b.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.space();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        self.space();
        found
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn commands_are_dug_out_whatever_the_quotes() {
        let script = read(
            "// don't\nconst a = await tools.exec_command({cmd:\"ls 'x'\",\"workdir\":\"/p\",n:1});\n\
             const b = await tools.exec_command({\n  \"n\": [1, {\"cmd\": 2}],\n  'cmd': `rg \"a\\nb\"`,\n});\n\
             text(a.output + \" tools.exec_command({cmd:'no'})\");",
        );
        assert_eq!(script.commands, ["ls 'x'", "rg \"a\nb\""]);
        assert_eq!(script.workdir.as_deref(), Some("/p"));
        assert_eq!(script.tools, ["exec_command"]);
    }

    #[test]
    fn constants_and_sums_are_followed() {
        let script = read(
            "const cmd = 'git ' + \"status\"; const patch = `*** Begin Patch\n*** End Patch`;\n\
             await tools.exec_command({cmd}); await tools.exec_command({cmd: unknown, workdir: '/x'});\n\
             text(await tools.apply_patch(patch)); await tools.apply_patch({input: 'p'});",
        );
        assert_eq!(script.commands, ["git status"]);
        assert_eq!(script.patches, ["*** Begin Patch\n*** End Patch", "p"]);
        assert_eq!(script.tools, ["exec_command", "apply_patch"]);
    }

    #[test]
    fn constants_that_double_end_at_the_limit() {
        let doubled: String = (0..200)
            .map(|n| format!("const a{}=a{n}+a{n};", n + 1))
            .collect();
        let script = format!("const a0='0123456789';{doubled}tools.exec_command({{cmd:'ls'}});");
        assert_eq!(read(&script).commands, ["ls"]);
    }

    #[test]
    fn a_script_without_tools_gives_nothing() {
        assert_eq!(read("1 + 'unterminated"), Script::default());
        assert_eq!(read(""), Script::default());
    }

    proptest! {
        #[test]
        fn nothing_panics(noise in r#"(tools\.|exec_command|\(|\)|\{|\}|cmd|:|'|"|`|\\|u|é|,|=|const |/\*|/| ){0,40}"#) {
            read(&noise);
        }
    }
}

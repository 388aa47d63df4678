//! Builds the homes that are measured, from a corpus of real logs. Knows where logs lie; refuses
//! to know what is in them.

use crate::renumber::{renumber, unify_session};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A folder laid out as a HOME, and what was put into it.
pub struct Home {
    /// To be handed to the program as `HOME`.
    pub root: PathBuf,
    /// Log files.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
}

/// The corpus: `CORPUS_DIR`, else `../shared/corpus/home`, else our own fixtures (which are small
/// and say less).
pub fn corpus() -> PathBuf {
    let crate_root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let places = [
        std::env::var_os("CORPUS_DIR").map(|dir| PathBuf::from(dir).join("home")),
        Some(crate_root.join("../shared/corpus/home")),
        Some(crate_root.join("fixtures/logs/home")),
    ];
    let found = places.into_iter().flatten().find(|place| place.is_dir());
    found.expect("the fixtures are part of the repository")
}

/// The corpus repeated with new ids until it holds `bytes` bytes.
pub fn repeated(corpus: &Path, root: &Path, bytes: u64) -> io::Result<Home> {
    let logs = logs_below(corpus)?;
    let mut home = empty(root)?;
    for copy in 0.. {
        for log in &logs {
            home.add(corpus, log, copy)?;
            if home.bytes >= bytes {
                return Ok(home);
            }
        }
    }
    Ok(home)
}

/// `files` files, none larger than `largest` bytes: the smaller logs of the corpus, repeated.
pub fn many(corpus: &Path, root: &Path, files: usize, largest: u64) -> io::Result<Home> {
    let mut logs = logs_below(corpus)?;
    logs.retain(|log| fs::metadata(log).is_ok_and(|m| (1..=largest).contains(&m.len())));
    let mut home = empty(root)?;
    let endless = logs.iter().cycle().enumerate().take(files);
    for (nth, log) in endless {
        home.add(corpus, log, (nth / logs.len()) as u32)?;
    }
    Ok(home)
}

/// One session in one file of at least `bytes` bytes: main logs joined, with new ids each time.
pub fn one_long_session(corpus: &Path, root: &Path, bytes: u64) -> io::Result<Home> {
    let mut logs = logs_below(&corpus.join(".claude"))?;
    logs.retain(|log| !name(log).starts_with("agent-"));
    let mut home = empty(root)?;
    let mut out = home.session_file(SESSION)?;
    for copy in 0.. {
        for log in &logs {
            let mut content = fs::read(log)?;
            renumber(&mut content, copy);
            unify_session(&mut content, SESSION);
            if !content.ends_with(b"\n") {
                content.push(b'\n');
            }
            out.write_all(&content)?;
            home.bytes += content.len() as u64;
            if home.bytes >= bytes {
                out.flush()?;
                return Ok(home);
            }
        }
    }
    Ok(home)
}

/// A session whose third line is `bytes` long: a result with a huge structured copy.
pub fn one_long_line(root: &Path, bytes: u64) -> io::Result<Home> {
    let mut home = empty(root)?;
    let mut out = home.session_file(SESSION)?;
    let line = |nth: u32, kind: &str, message: &str| {
        format!(
            "{{\"type\":\"{kind}\",\"uuid\":\"00000000-0000-4000-8000-00000000000{nth}\",\
             \"timestamp\":\"2026-03-02T10:00:0{nth}.000Z\",\"sessionId\":\"{SESSION}\",\
             \"cwd\":\"/home/ada/shop\",\"message\":{message}"
        )
    };
    let prompt = line(1, "user", r#"{"role":"user","content":"Print the dump"}"#);
    let call = line(
        2,
        "assistant",
        r#"{"id":"msg_1","model":"m","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"cat dump.sql"}}],"usage":{"input_tokens":1,"output_tokens":1}},"requestId":"req_1""#,
    );
    let result = line(
        3,
        "user",
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"cut"}]}"#,
    );
    let answer = line(
        4,
        "assistant",
        r#"{"id":"msg_2","model":"m","role":"assistant","content":[{"type":"text","text":"That was long."}],"usage":{"input_tokens":1,"output_tokens":1}},"requestId":"req_2""#,
    );
    write!(
        out,
        "{prompt}}}\n{call}}}\n{result},\"toolUseResult\":{{\"stdout\":\""
    )?;
    let piece = "INSERT INTO t VALUES (1, \\\"owl\\\", '\u{e9}');\\n".repeat(1_000);
    let mut written = 0u64;
    while written < bytes {
        out.write_all(piece.as_bytes())?;
        written += piece.len() as u64;
    }
    write!(
        out,
        "\",\"stderr\":\"\",\"interrupted\":false}}}}\n{answer}}}\n"
    )?;
    out.flush()?;
    home.bytes = written;
    Ok(home)
}

/// All logs below a folder, in a fixed order.
pub fn logs_below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "jsonl") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

const SESSION: &str = "5e551040-0000-4000-8000-000000000001";

/// A home that has said yes, without logs.
pub fn empty(root: &Path) -> io::Result<Home> {
    let state = root.join(".graphiti");
    fs::create_dir_all(&state)?;
    let yes = r#"{"version": "2.0.0", "session_tracking": {"enabled": true}}"#;
    fs::write(state.join("graphiti.config.json"), yes)?;
    Ok(Home {
        root: root.to_owned(),
        files: 0,
        bytes: 0,
    })
}

impl Home {
    /// Forgets everything that was indexed; logs and settings stay.
    pub fn forget(&self) -> io::Result<()> {
        for entry in fs::read_dir(self.root.join(".graphiti"))? {
            let path = entry?.path();
            if path.is_dir() {
                fs::remove_dir_all(path)?;
            } else if name(&path) != "graphiti.config.json" {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }

    /// Lines of all its logs; an unterminated last one counts.
    pub fn lines(&self) -> io::Result<u64> {
        let mut lines = 0;
        for log in logs_below(&self.root)? {
            let content = fs::read(log)?;
            let cut = !content.is_empty() && !content.ends_with(b"\n");
            lines += memchr::memchr_iter(b'\n', &content).count() as u64 + u64::from(cut);
        }
        Ok(lines)
    }

    /// Bytes of the store, its write-ahead log included.
    pub fn store_bytes(&self) -> io::Result<u64> {
        let mut sum = 0;
        for entry in fs::read_dir(self.root.join(".graphiti"))? {
            let entry = entry?;
            if name(&entry.path()).starts_with("sessionmill.db") {
                sum += entry.metadata()?.len();
            }
        }
        Ok(sum)
    }

    fn add(&mut self, corpus: &Path, log: &Path, copy: u32) -> io::Result<()> {
        let mut content = fs::read(log)?;
        renumber(&mut content, copy);
        let below = log.strip_prefix(corpus).unwrap_or(log);
        let original = below.to_string_lossy().into_owned();
        let mut below = original.clone().into_bytes();
        renumber(&mut below, copy);
        let mut below = String::from_utf8_lossy(&below).into_owned();
        if copy > 0 && below == original {
            // a name without an id: the copy lies in a project of its own
            below = below.replacen("/projects/", &format!("/projects/-copy{copy}"), 1);
        }
        let path = self.root.join(below);
        fs::create_dir_all(path.parent().unwrap_or(&self.root))?;
        fs::write(path, &content)?;
        self.files += 1;
        self.bytes += content.len() as u64;
        Ok(())
    }

    /// A log of Claude Code in the project `/home/ada/shop`.
    pub fn session_file(&mut self, session: &str) -> io::Result<BufWriter<File>> {
        let folder = self.root.join(".claude/projects/-home-ada-shop");
        fs::create_dir_all(&folder)?;
        self.files += 1;
        let file = File::create(folder.join(format!("{session}.jsonl")))?;
        Ok(BufWriter::with_capacity(1 << 20, file))
    }
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

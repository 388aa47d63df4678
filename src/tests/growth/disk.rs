//! A disk with logs, and everything that happens to them. Knows what writers, agents and other
//! programs do to files.

mod gemini;
mod qwen;

use super::lines::{Dialect, Pen, Writer, markers, record, said};
use super::log::{Log, after_line, last_line};
use super::script::{Class, Step};
use crate::model::time::Time;
use crate::tests::home::Home;
use anyhow::Result;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// 2026-03-02, ten o'clock.
const START: i64 = 1_772_445_600_000;
const SECOND: i64 = 1_000;
const MINUTE: i64 = 60_000;
const HOUR: i64 = 3_600_000;

/// The logs that lie below a home.
pub struct Disk<'a> {
    home: &'a Home,
    pub logs: Vec<Log>,
    at: i64,
    number: u32,
}

/// Something that happens to a log.
#[derive(Debug)]
pub struct Verb {
    pub name: &'static str,
    pub class: Class,
    /// How often it comes among others.
    pub weight: usize,
    act: fn(&mut Disk, usize, usize),
}

const fn verb(
    name: &'static str,
    class: Class,
    weight: usize,
    act: fn(&mut Disk, usize, usize),
) -> Verb {
    Verb {
        name,
        class,
        weight,
        act,
    }
}

use Class::{Copies, Grows, Rewrites};

/// What a step may do. `run` is the runs' own: the disk lies still.
#[rustfmt::skip]
pub static VERBS: [Verb; 39] = [
    verb("run",      Grows,    9, |_, _, _| {}),
    verb("clock",    Grows,    1, |disk, _, n| disk.home.set_clock(Time(START + (n as i64 - 8) * 99 * HOUR))),
    verb("claude",   Grows,    1, |disk, _, _| disk.start_claude()),
    verb("codex",    Grows,    1, |disk, _, _| disk.start_codex(json!({}), None)),
    verb("gemini",   Grows,    1, |disk, _, _| disk.start_gemini()),
    verb("qwen",     Grows,    1, |disk, _, _| disk.start_qwen()),
    verb("agent",    Grows,    2, |disk, log, _| disk.start_agent(log)),
    verb("turn",     Grows,    5, |disk, log, _| disk.turn(log)),
    verb("later",    Grows,    4, |disk, log, n| { disk.at += HOUR * (1 + n as i64); disk.turn(log) }),
    verb("earlier",  Grows,    1, |disk, log, _| disk.earlier(log)),
    verb("tool",     Grows,    3, |disk, log, _| { disk.call(log); disk.result(log) }),
    verb("call",     Grows,    2, |disk, log, _| disk.call(log)),
    verb("noise",    Grows,    2, |disk, log, n| (0..n).for_each(|_| disk.noise(log))),
    verb("title",    Grows,    1, |disk, log, _| disk.title(log)),
    verb("queue",    Grows,    2, |disk, log, _| disk.queue(log)),
    verb("half",     Grows,    2, |disk, log, n| disk.half(log, n)),
    verb("torn",     Grows,    1, |disk, log, n| disk.torn(log, n, b"\n")),
    verb("glued",    Grows,    1, |disk, log, n| disk.torn(log, n, b"")),
    verb("replay",   Grows,    2, |disk, log, _| disk.replay(log)),
    verb("resume",   Grows,    1, |disk, log, _| disk.resume(log)),
    verb("touch",    Grows,    1, |disk, log, _| disk.rewrite(log, |_| {})),
    verb("move",     Grows,    2, |disk, log, _| disk.relocate(log)),
    verb("zst",      Grows,    2, |disk, log, _| disk.compress(log, true)),
    verb("plain",    Grows,    1, |disk, log, _| disk.compress(log, false)),
    verb("beside",   Grows,    1, |disk, log, _| disk.beside(log)),
    verb("fork",     Copies,   2, |disk, log, n| disk.fork(log, n)),
    verb("base",     Copies,   1, |disk, log, _| disk.base(log)),
    verb("copy",     Copies,   1, |disk, log, _| disk.copy(log)),
    verb("cut",      Rewrites, 2, |disk, log, n| disk.cut(log, n)),
    verb("chop",     Rewrites, 1, |disk, log, n| disk.chop(log, n)),
    verb("edit",     Rewrites, 2, |disk, log, n| disk.edit(log, n, false)),
    verb("quiet",    Rewrites, 1, |disk, log, n| disk.edit(log, n, true)),
    verb("drop",     Rewrites, 2, |disk, log, n| disk.drop_line(log, n)),
    verb("insert",   Rewrites, 1, |disk, log, n| disk.insert(log, n)),
    verb("order",    Rewrites, 1, |disk, log, n| disk.order(log, n)),
    verb("stub",     Rewrites, 1, |disk, log, _| disk.stub(log)),
    verb("delete",   Rewrites, 2, |disk, log, _| disk.delete(log)),
    verb("restore",  Rewrites, 3, |disk, log, n| disk.restore(log, n)),
    verb("rename",   Rewrites, 1, |disk, log, _| disk.rename(log)),
];

impl<'a> Disk<'a> {
    pub fn new(home: &'a Home) -> Disk<'a> {
        Disk {
            home,
            logs: Vec::new(),
            at: START,
            number: 0,
        }
    }

    /// Lets one step happen. A step for a log that isn't there does nothing.
    pub fn step(&mut self, step: &Step) -> Result<()> {
        let log = usize::from(step.log) % self.logs.len().max(1);
        if step.verb.name == "run" {
            self.logs
                .iter_mut()
                .filter(|log| log.exists)
                .for_each(Log::meet);
            return Ok(());
        }
        if self.logs.get(log).is_some_and(|log| log.twin) {
            self.logs[log].twin = false;
            fs::remove_file(format!("{}.zst", self.path(log).display()))?;
        }
        if self.logs.is_empty() && step.verb.class > Class::Grows {
            return Ok(());
        }
        (step.verb.act)(self, log, step.n.into());
        let now = self.now();
        while self.now() == now {
            // Two changes within one tick of the kernel's clock are one to whoever looks at times.
            std::thread::sleep(std::time::Duration::from_micros(500));
        }
        Ok(())
    }

    /// What the kernel's clock says.
    fn now(&self) -> i64 {
        let tick = self.home.path().join("tick");
        fs::write(&tick, b"").expect("a file");
        let stat = fs::metadata(&tick).expect("a file");
        stat.ctime() * 1_000_000_000 + stat.ctime_nsec()
    }

    /// The number of the file that a log is in.
    pub fn inode(&self, log: usize) -> u64 {
        fs::metadata(self.path(log)).expect("a file").ino()
    }

    fn path(&self, log: usize) -> PathBuf {
        self.home.path().join(self.logs[log].place())
    }

    /// Writes a log as it is now.
    fn flush(&mut self, log: usize) {
        let content = self.logs[log].bytes();
        let path = self.path(log);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, content).expect("a file");
        self.logs[log].exists = true;
    }

    fn add(
        &mut self,
        below: String,
        writer: Writer,
        session: String,
        stream: Option<String>,
    ) -> usize {
        self.logs.push(Log::new(below, writer, session, stream));
        self.logs.len() - 1
    }

    fn start_claude(&mut self) {
        let session = format!("11111111-1111-4111-8111-{:012}", self.logs.len());
        let below = format!(".claude/projects/-home-ada-shop/{session}.jsonl");
        let log = self.add(below, Writer::Claude, session, None);
        self.turn(log);
    }

    fn start_codex(&mut self, more: Value, thread: Option<String>) {
        let nth = self.logs.len();
        let id = format!("01a00000-0000-7000-8000-{nth:012}");
        let name = match &thread {
            None => id.clone(),
            Some(thread) => format!("{thread}_{id}"),
        };
        let below = format!(".codex/sessions/2026/03/02/rollout-2026-03-02T10-00-00-{name}.jsonl");
        let log = self.add(below, Writer::Codex, thread.unwrap_or(id), None);
        self.write(log, |pen| pen.codex_meta(more));
        self.at += MINUTE;
        self.turn(log);
    }

    fn start_agent(&mut self, parent: usize) {
        let parent = &self.logs[parent];
        if parent.writer != Writer::Claude || parent.stream.is_some() {
            return;
        }
        let (session, agent) = (parent.session.clone(), format!("a{}", self.logs.len()));
        let folder = format!(".claude/projects/-home-ada-shop/{session}/subagents");
        let below = format!("{folder}/agent-{agent}.jsonl");
        let log = self.add(below, Writer::Claude, session, Some(agent));
        self.turn(log);
    }

    /// Appends a line, after what an interrupted writer still has to write.
    fn write(&mut self, log: usize, line: impl FnOnce(&Pen) -> String) {
        self.gemini_begins(log);
        let line = self.line(log, line);
        self.compress(log, false);
        let log_ = &mut self.logs[log];
        let rest = std::mem::take(&mut log_.rest);
        log_.content.extend(rest);
        log_.content.extend(line);
        self.flush(log);
    }

    /// The next line of a log, with its newline.
    fn line(&mut self, log: usize, line: impl FnOnce(&Pen) -> String) -> Vec<u8> {
        self.number += 1;
        self.at += SECOND;
        let log = &self.logs[log];
        let pen = Pen {
            session: log.session.clone(),
            stream: log.stream.clone(),
            at: self.at,
            number: self.number,
        };
        (line(&pen) + "\n").into_bytes()
    }

    fn dialect(&self, log: usize) -> Dialect {
        self.logs[log].writer.dialect()
    }

    fn is_codex(&self, log: usize) -> bool {
        self.logs[log].writer == Writer::Codex
    }

    fn turn(&mut self, log: usize) {
        self.write(log, self.dialect(log).prompt);
        self.write(log, self.dialect(log).answer);
    }

    /// Claude's times run backwards now and then, Codex's don't.
    fn earlier(&mut self, log: usize) {
        let back = if self.is_codex(log) { 0 } else { 2 * HOUR };
        self.at -= back;
        self.turn(log);
        self.at += back;
    }

    fn call(&mut self, log: usize) {
        self.write(log, self.dialect(log).call);
    }

    fn result(&mut self, log: usize) {
        self.write(log, self.dialect(log).result);
    }

    fn noise(&mut self, log: usize) {
        self.write(log, self.dialect(log).noise);
    }

    fn title(&mut self, log: usize) {
        self.write(log, self.dialect(log).title);
    }

    fn queue(&mut self, log: usize) {
        if self.logs[log].writer != Writer::Claude || self.logs[log].stream.is_some() {
            return self.turn(log);
        }
        self.write(log, Pen::claude_enqueue);
        self.write(log, Pen::claude_remove);
    }

    /// A writer that a run comes in between of.
    fn half(&mut self, log: usize, n: usize) {
        self.turn(log);
        let content = &mut self.logs[log].content;
        let start = last_line(content);
        let at = start + (content.len() - start) * (n + 1) / 17;
        self.logs[log].rest = content.split_off(at);
        self.flush(log);
    }

    /// A writer that failed in the middle of a line and tries again.
    fn torn(&mut self, log: usize, n: usize, between: &[u8]) {
        self.turn(log);
        let content = &mut self.logs[log].content;
        let start = last_line(content);
        let half = start + (content.len() - start) * (n + 1) / 17;
        let line = content[start..].to_vec();
        content.truncate(half);
        content.extend(between);
        content.extend(line);
        self.flush(log);
    }

    /// A compaction that appends copies of all earlier rows.
    fn replay(&mut self, log: usize) {
        if self.is_codex(log) || self.logs[log].content.len() > 20_000 {
            return self.turn(log);
        }
        match self.logs[log].writer {
            Writer::Gemini => return self.gemini_history(log),
            Writer::Qwen => return self.qwen_compaction(log),
            _ => {}
        }
        self.write(log, Pen::claude_boundary);
        let lines = self.logs[log].lines().into_iter();
        let rows = lines.filter(|line| line.contains("uuid") && record(line).is_some());
        let copies: String = rows.map(|row| row + "\n").collect();
        self.logs[log].content.extend(copies.into_bytes());
        self.turn(log);
    }

    /// Several sessions in one file; Codex and Gemini CLI state their heads again.
    fn resume(&mut self, log: usize) {
        match self.logs[log].writer {
            Writer::Codex => self.write(log, |pen| pen.codex_meta(json!({}))),
            Writer::Gemini => {
                self.write(log, Pen::gemini_head);
                self.gemini_history(log);
            }
            Writer::Qwen => self.turn(log),
            Writer::Claude => {
                let other = format!("22222222-2222-4222-8222-{:012}", self.number);
                let own = std::mem::replace(&mut self.logs[log].session, other);
                self.turn(log);
                self.logs[log].session = own;
            }
        }
    }

    /// To another project's directory, to the archive, or back.
    fn relocate(&mut self, log: usize) {
        let pairs = [
            ("projects/-home-ada-shop/", "projects/-home-ada-other/"),
            (".codex/sessions/2026/03/02/", ".codex/archived_sessions/"),
            (".gemini/tmp/-ada-shop/", ".gemini/tmp/-ada-other/"),
        ];
        let below = self.logs[log].below.clone();
        let new = pairs.iter().find_map(|(one, other)| {
            let back = below.contains(other);
            let (from, to) = if back { (other, one) } else { (one, other) };
            below.contains(from).then(|| below.replace(from, to))
        });
        if let Some(new) = new {
            self.rename_to(log, new);
        }
    }

    fn rename(&mut self, log: usize) {
        let (old, new) = match self.logs[log].writer {
            Writer::Codex => ("rollout-2026", "rollout-2025"),
            Writer::Gemini => ("session-2026", "session-2025"),
            Writer::Qwen => return, // another name is another session
            Writer::Claude => (".jsonl", "-b.jsonl"),
        };
        let below = self.logs[log].below.replace(old, new);
        self.rename_to(log, below);
    }

    fn rename_to(&mut self, log: usize, below: String) {
        if !self.logs[log].exists || self.logs.iter().any(|other| other.below == below) {
            return;
        }
        let old = self.path(log);
        self.logs[log].below = below;
        let new = self.path(log);
        fs::create_dir_all(new.parent().expect("a folder")).expect("a folder");
        fs::rename(old, new).expect("a file");
    }

    fn compress(&mut self, log: usize, compressed: bool) {
        if !self.logs[log].exists || self.logs[log].compressed == compressed {
            return;
        }
        let old = self.path(log);
        self.logs[log].compressed = compressed;
        self.flush(log);
        fs::remove_file(old).expect("a file");
    }

    /// While a program compresses, both copies are there.
    fn beside(&mut self, log: usize) {
        if self.logs[log].exists && !self.logs[log].compressed {
            let twin = format!("{}.zst", self.path(log).display());
            let packed = zstd::encode_all(&*self.logs[log].content, 1).expect("a frame");
            fs::write(twin, packed).expect("a file");
            self.logs[log].twin = true;
        }
    }

    /// A new session that begins with a copy of this one's history; Codex writes it in one burst.
    fn fork(&mut self, log: usize, n: usize) {
        let parent = self.logs[log].clone();
        let lines = parent.lines().into_iter();
        let is_codex = parent.writer == Writer::Codex;
        let lines = lines.filter(|line| is_codex || line.contains("uuid"));
        let lines: Vec<Value> = lines
            .filter_map(|l| serde_json::from_str(&l).ok())
            .collect();
        let copied = (lines.len() * (n + 1)).div_ceil(17);
        // whose turn a copy of a copy was, only turn ids would tell; without a head nothing does
        let headless = !lines
            .first()
            .is_some_and(|line| line["type"] == "session_meta");
        let unclear = is_codex && (parent.forked || headless);
        if parent.stream.is_some() || unclear || copied == 0 {
            return;
        }
        match parent.writer {
            Writer::Codex => self.start_codex(json!({"forked_from_id": parent.session}), None),
            Writer::Qwen => self.start_qwen(),
            _ => self.start_claude(),
        }
        // kin are known by what they begin with: what the parent began with once would not be
        let begins = &parent.content[..after_line(&parent.content)];
        self.logs[log].old.retain(|old| old.starts_with(begins));
        self.logs[log].fork();
        let log = self.logs.len() - 1;
        let fork = &mut self.logs[log];
        fork.forked = true;
        let head = if is_codex {
            after_line(&fork.content)
        } else {
            0
        };
        let start: Value =
            serde_json::from_slice(&fork.content[..after_line(&fork.content)]).expect("a line");
        let mut history = String::new();
        for mut line in lines.into_iter().take(copied) {
            let rewritten = if is_codex { "timestamp" } else { "sessionId" };
            if parent.writer == Writer::Qwen {
                line["forkedFrom"] =
                    json!({"sessionId": parent.session, "messageUuid": line["uuid"]});
            }
            line[rewritten] = start[rewritten].clone();
            history += &format!("{line}\n");
        }
        fork.begins = usize::from(is_codex) * (1 + history.lines().count());
        fork.content.splice(head..head, history.into_bytes());
        self.flush(log);
    }

    /// A Codex thread that begins where another one is, without a copy; or the same thread again.
    fn base(&mut self, log: usize) {
        let parent = self.logs[log].session.clone();
        if self.is_codex(log) {
            let base = json!({"thread_id": parent, "end_byte_offset": 1});
            self.start_codex(
                json!({"forked_from_id": parent, "history_base": base}),
                None,
            );
            self.start_codex(json!({}), Some(parent));
        }
    }

    /// Somebody copies a file to another project.
    fn copy(&mut self, log: usize) {
        let mut twin = self.logs[log].clone();
        twin.below = twin
            .below
            .replace("-ada-shop/", "-ada-copy/")
            .replace("/02/", "/03/");
        if twin.exists && self.logs.iter().all(|other| other.below != twin.below) {
            twin.rest.clear();
            twin.twin = false;
            self.logs.push(twin);
            self.flush(self.logs.len() - 1);
        }
    }

    /// Changes a log's bytes in place; whoever was writing it doesn't go on.
    fn rewrite(&mut self, log: usize, change: impl FnOnce(&mut Vec<u8>)) {
        if !self.logs[log].exists || self.logs[log].waits_for_a_run() {
            return;
        }
        let log_ = &mut self.logs[log];
        log_.old.push(log_.content.clone());
        let before = log_.content.clone();
        change(&mut log_.content);
        if log_.content != before {
            log_.rest.clear();
        }
        self.flush(log);
    }

    fn cut(&mut self, log: usize, n: usize) {
        let head = self.head(log);
        self.rewrite(log, |content| {
            let ends: Vec<usize> = memchr::memchr_iter(b'\n', content)
                .map(|at| at + 1)
                .collect();
            content.truncate(ends.get(n).copied().unwrap_or(0).max(head));
        });
    }

    fn chop(&mut self, log: usize, n: usize) {
        let head = self.head(log);
        self.rewrite(log, |content| {
            content.truncate((content.len() * n / 16).max(head))
        });
    }

    /// Other words in the same record, as long as before; `quiet`: under the same modification time.
    fn edit(&mut self, log: usize, n: usize, quiet: bool) {
        if !self.logs[log].exists {
            return;
        }
        self.number += 1;
        let number = self.number;
        let path = self.path(log);
        let before = fs::metadata(&path)
            .and_then(|stat| stat.modified())
            .expect("a time");
        self.rewrite(log, |content| {
            let text = String::from_utf8_lossy(content).into_owned();
            let all: Vec<&str> = markers(&text).collect();
            if let Some(old) = all.get(n % all.len().max(1)) {
                let new = format!("{}{}", &old[..2], &said(number)[2..]);
                *content = text.replacen(*old, &new, 1).into_bytes();
            }
        });
        if quiet {
            let file = fs::File::options().write(true).open(path).expect("a file");
            file.set_modified(before).expect("a time");
        }
    }

    fn drop_line(&mut self, log: usize, n: usize) {
        self.with_lines(log, |lines| {
            let at = n % lines.len().max(1);
            if at < lines.len() {
                lines.remove(at);
            }
        });
    }

    fn insert(&mut self, log: usize, n: usize) {
        let line = self.line(log, self.dialect(log).prompt);
        self.with_lines(log, |lines| lines.insert(n.min(lines.len()), line));
    }

    fn order(&mut self, log: usize, n: usize) {
        self.with_lines(log, |lines| {
            if n + 1 < lines.len() {
                lines.swap(n, n + 1);
            }
        });
    }

    /// Logs that share a history are known by the records or heads that they begin with: those stay.
    fn with_lines(&mut self, log: usize, change: impl FnOnce(&mut Vec<Vec<u8>>)) {
        let shared = self.logs.iter().any(|log| log.forked);
        let begins = self.logs[log].begins.max(2 * usize::from(shared));
        self.rewrite(log, |content| {
            let lines = content.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec);
            let mut lines: Vec<Vec<u8>> = lines.collect();
            let mut rest = lines.split_off(lines.len().min(begins));
            change(&mut rest);
            *content = [lines, rest].concat().concat();
        });
    }

    /// A bug left nothing but a title.
    fn stub(&mut self, log: usize) {
        let line = match self.is_codex(log) {
            true => self.line(log, Pen::codex_noise),
            false => self.line(log, self.dialect(log).title),
        };
        let head = self.head(log);
        self.rewrite(log, |content| *content = [&content[..head], &line].concat());
    }

    fn delete(&mut self, log: usize) {
        self.rewrite(log, |_| {});
        if self.logs[log].exists && !self.logs[log].waits_for_a_run() {
            fs::remove_file(self.path(log)).expect("a file");
            let log = &mut self.logs[log];
            log.exists = false;
            log.rest.clear();
            log.content.clear();
        }
    }

    /// Some older content, whether the file is there or not.
    fn restore(&mut self, log: usize, n: usize) {
        let log_ = &mut self.logs[log];
        if !log_.old.is_empty() && !log_.waits_for_a_run() {
            log_.content = log_.old[n % log_.old.len()].clone();
            log_.rest.clear();
            self.flush(log);
        }
    }
}

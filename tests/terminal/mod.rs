//! A terminal for a program: a pair of pseudo-terminals, and what would stand on the screen. Knows nothing of
//! the program.
#![allow(dead_code, reason = "no test needs all of it")]

use nix::pty::{Winsize, openpty};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longer than any machine takes for what takes a second.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// How often the screen is looked at.
const LOOK: Duration = Duration::from_micros(200);

/// A program at work in a terminal.
pub struct Terminal {
    /// The program.
    pub child: Child,
    keys: File,
    shown: Arc<Mutex<Shown>>,
}

/// What was sent to the terminal.
struct Shown {
    screen: vt100::Parser,
    bytes: Vec<u8>,
    /// When the last of it came.
    last: Instant,
}

impl Terminal {
    /// Starts a program in a terminal of this size, as the only one that it has.
    pub fn start(command: &Command, columns: u16, lines: u16) -> io::Result<Terminal> {
        let size = Winsize {
            ws_row: lines,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let pair = openpty(Some(&size), None)?;
        let slave = File::from(pair.slave);
        let mut started = alone(command);
        started
            .stdin(Stdio::from(slave.try_clone()?))
            .stdout(Stdio::from(slave.try_clone()?))
            .stderr(Stdio::from(slave));
        let shown = Arc::new(Mutex::new(Shown {
            screen: vt100::Parser::new(lines, columns, 0),
            bytes: Vec::new(),
            last: Instant::now(),
        }));
        let keys = File::from(pair.master);
        let (mut from, to) = (keys.try_clone()?, Arc::clone(&shown));
        let child = started.spawn()?;
        drop(started);
        std::thread::spawn(move || {
            let mut bytes = [0; 65_536];
            while let Ok(count) = from.read(&mut bytes) {
                let mut shown = to.lock().unwrap();
                shown.screen.process(&bytes[..count]);
                shown.bytes.extend_from_slice(&bytes[..count]);
                shown.last = Instant::now();
                if count == 0 {
                    break;
                }
            }
        });
        Ok(Terminal { child, keys, shown })
    }

    /// Types; gives when.
    pub fn types(&mut self, keys: &str) -> Instant {
        let at = Instant::now();
        self.keys.write_all(keys.as_bytes()).unwrap();
        at
    }

    /// What stands on the screen.
    pub fn text(&self) -> String {
        self.shown.lock().unwrap().screen.screen().contents()
    }

    /// Everything that was sent to it.
    pub fn bytes(&self) -> Vec<u8> {
        self.shown.lock().unwrap().bytes.clone()
    }

    /// Waits until the screen is so; gives when it was.
    pub fn until(&self, what: &str, is_so: impl Fn(&str) -> bool) -> Instant {
        let began = Instant::now();
        loop {
            let text = self.text();
            if is_so(&text) {
                return Instant::now();
            }
            assert!(began.elapsed() < PATIENCE, "{what}: it never came\n{text}");
            sleep(LOOK);
        }
    }

    /// Waits until nothing came for so long; gives when the last came.
    pub fn quiet(&self, long: Duration) -> Instant {
        loop {
            let last = self.shown.lock().unwrap().last;
            if last.elapsed() >= long {
                return last;
            }
            sleep(LOOK);
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The same program without the terminal that the tests were started in, where the system can do that.
fn alone(command: &Command) -> Command {
    let setsid = ["/usr/bin/setsid", "/bin/setsid"].into_iter();
    let setsid = setsid.map(Path::new).find(|path| path.exists());
    let mut started = match setsid {
        Some(setsid) => {
            let mut started = Command::new(setsid);
            started.arg("--ctty").arg(command.get_program());
            started
        }
        None => Command::new(command.get_program()),
    };
    started.args(command.get_args()).env_clear();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            started.env(name, value);
        }
    }
    if let Some(folder) = command.get_current_dir() {
        started.current_dir(folder);
    }
    started
}

//! Listens for changes below folders, and for signals that end the program. Knows the system's events and
//! how to do without them; refuses to know what a change means.

use notify::{Config, Event, EventKind, PollWatcher, RecommendedWatcher, RecursiveMode, Watcher};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// A folder to listen to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WatchTarget {
    /// Where.
    pub path: PathBuf,
    /// With everything below it.
    pub deep: bool,
}

/// What was heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Something was written, made, moved or removed; or events were lost.
    Change,
    /// Nothing, for as long as was waited.
    Nothing,
    /// The program is asked to end: SIGINT, SIGTERM or SIGHUP.
    End,
}

/// Listens until it is dropped.
pub struct Listener {
    events: Option<RecommendedWatcher>,
    polls: PollWatcher,
    /// What is listened to, and whether it is polled.
    listens: BTreeMap<WatchTarget, (Identity, bool)>,
    heard: Receiver<()>,
    ends: Arc<AtomicBool>,
}

impl Listener {
    /// Listens to signals from now on, to nothing else yet. Where the system has no events, folders are
    /// looked at every `interval`.
    ///
    /// # Errors
    /// When signals can't be caught.
    pub fn new(interval: Duration) -> io::Result<Listener> {
        // one slot is enough: a change that waits to be heard stands for all that follow
        let (tells, heard) = sync_channel(1);
        let ends = Arc::new(AtomicBool::new(false));
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let (flag, tells_end) = (Arc::clone(&ends), tells.clone());
        std::thread::spawn(move || {
            for _ in signals.forever() {
                flag.store(true, Ordering::SeqCst);
                let _ = tells_end.try_send(());
            }
        });
        let config = Config::default()
            .with_follow_symlinks(false)
            .with_poll_interval(interval);
        let polls = PollWatcher::new(teller(tells.clone()), config).map_err(io::Error::other)?;
        Ok(Listener {
            events: RecommendedWatcher::new(teller(tells), config).ok(),
            polls,
            listens: BTreeMap::new(),
            heard,
            ends,
        })
    }

    /// Listens to exactly these targets from now on; those that aren't there, or were replaced since, are
    /// for the next call.
    pub fn listen(&mut self, targets: &[WatchTarget]) {
        let wanted: BTreeSet<&WatchTarget> = targets.iter().collect();
        let is_here = |(target, (known, _)): &(&WatchTarget, &(Identity, bool))| {
            wanted.contains(target) && identity(&target.path) == Some(*known)
        };
        let gone = self.listens.iter().filter(|listened| !is_here(listened));
        let gone: Vec<WatchTarget> = gone.map(|(target, _)| target.clone()).collect();
        for target in gone {
            self.leave(&target);
        }
        for target in wanted {
            if self.listens.contains_key(target) {
                continue;
            }
            if let Some(identity) = identity(&target.path)
                && let Some(is_polled) = self.join(target)
            {
                self.listens.insert(target.clone(), (identity, is_polled));
            }
        }
    }

    /// How many targets are listened to.
    pub fn listens(&self) -> usize {
        self.listens.len()
    }

    /// Waits for a change, at most so long.
    pub fn wait(&self, at_most: Duration) -> Heard {
        let heard = match self.is_ending() {
            true => return Heard::End,
            false => self.heard.recv_timeout(at_most),
        };
        match heard {
            _ if self.is_ending() => Heard::End,
            Ok(()) => Heard::Change,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Heard::Nothing,
        }
    }

    /// A signal came that ends the program.
    pub fn is_ending(&self) -> bool {
        self.ends.load(Ordering::SeqCst)
    }

    /// `None`: neither way works; otherwise whether it is polled.
    fn join(&mut self, target: &WatchTarget) -> Option<bool> {
        let mode = match target.deep {
            true => RecursiveMode::Recursive,
            false => RecursiveMode::NonRecursive,
        };
        let events = self.events.as_mut();
        if events.is_some_and(|events| events.watch(&target.path, mode).is_ok()) {
            return Some(false);
        }
        self.polls.watch(&target.path, mode).ok().map(|()| true)
    }

    /// What is gone can't be left; nobody minds.
    fn leave(&mut self, target: &WatchTarget) {
        let _ = match (self.listens.remove(target), &mut self.events) {
            (Some((_, false)), Some(events)) => events.unwatch(&target.path),
            _ => self.polls.unwatch(&target.path),
        };
    }
}

/// Tells of everything but reading: our own runs read what is listened to.
fn teller(tells: SyncSender<()>) -> impl Fn(notify::Result<Event>) + Send + 'static {
    move |event| {
        let is_reading = matches!(&event, Ok(event) if matches!(event.kind, EventKind::Access(_)));
        if !is_reading {
            let _ = tells.try_send(());
        }
    }
}

/// Device and inode: another folder may have come to a path.
type Identity = (u64, u64);

fn identity(path: &Path) -> Option<Identity> {
    let meta = path.metadata().ok()?;
    Some((meta.dev(), meta.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn deep(path: &Path) -> WatchTarget {
        WatchTarget {
            path: path.to_path_buf(),
            deep: true,
        }
    }

    fn listened(listener: &mut Listener, targets: &[WatchTarget]) -> usize {
        listener.listen(targets);
        listener.listens()
    }

    fn hears(listener: &Listener) -> bool {
        listener.wait(Duration::from_secs(10)) == Heard::Change
    }

    fn is_silent(listener: &Listener) -> bool {
        listener.wait(Duration::from_millis(50)) == Heard::Nothing
    }

    /// Until nothing comes any more.
    fn hush(listener: &Listener) {
        while !is_silent(listener) {}
    }

    #[test]
    fn writing_is_heard_and_reading_is_not() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("a")).unwrap();
        let file = dir.path().join("a/log.jsonl");
        fs::write(&file, "x").unwrap();
        let mut listener = Listener::new(Duration::from_millis(20)).unwrap();
        listener.listen(&[deep(dir.path())]);
        fs::read(&file).unwrap();
        assert!(is_silent(&listener));
        fs::write(&file, "xy").unwrap();
        assert!(hears(&listener));
        hush(&listener);
        let below = dir.path().join("new");
        fs::create_dir(&below).unwrap();
        assert!(hears(&listener));
        hush(&listener);
        fs::write(below.join("log.jsonl"), "x").unwrap();
        assert!(hears(&listener), "a folder that came later");
    }

    #[test]
    fn a_folder_that_comes_or_is_replaced_is_listened_to_at_the_next_call() {
        let dir = tempfile::tempdir().unwrap();
        let target = deep(&dir.path().join("logs"));
        let mut listener = Listener::new(Duration::from_secs(60)).unwrap();
        assert_eq!(listened(&mut listener, std::slice::from_ref(&target)), 0);
        fs::create_dir(&target.path).unwrap();
        assert_eq!(listened(&mut listener, std::slice::from_ref(&target)), 1);
        fs::rename(&target.path, dir.path().join("old")).unwrap();
        fs::create_dir(&target.path).unwrap();
        assert_eq!(listened(&mut listener, std::slice::from_ref(&target)), 1);
        hush(&listener);
        fs::write(target.path.join("log.jsonl"), "x").unwrap();
        assert!(hears(&listener));
        assert_eq!(listened(&mut listener, &[]), 0);
        hush(&listener);
        fs::write(target.path.join("log.jsonl"), "xy").unwrap();
        assert!(is_silent(&listener));
    }

    #[test]
    fn without_events_folders_are_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        let mut listener = Listener::new(Duration::from_millis(20)).unwrap();
        listener.events = None;
        assert_eq!(listened(&mut listener, &[deep(dir.path())]), 1);
        fs::write(dir.path().join("log.jsonl"), "x").unwrap();
        assert!(hears(&listener));
    }
}

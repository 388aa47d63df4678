//! How far workers may run ahead of the writer, who takes families in order.
//!
//! A family is *at its turn* when all before it are committed. Others may begin while they are
//! near enough and little waits: so a huge family doesn't stop the workers behind it, and what they
//! finish doesn't fill the memory.

use std::sync::{Condvar, Mutex, MutexGuard};

/// Shared by the workers and the writer.
pub struct RunAhead {
    state: Mutex<State>,
    news: Condvar,
    families: usize,
    bytes: usize,
}

#[derive(Default)]
struct State {
    committed: usize,
    waiting: usize,
    closed: bool,
}

impl RunAhead {
    /// Families that begin at most `families` ahead of the one at its turn, and only while less
    /// than `bytes` wait for the writer.
    pub fn new(families: usize, bytes: usize) -> RunAhead {
        RunAhead {
            state: Mutex::default(),
            news: Condvar::new(),
            families,
            bytes,
        }
    }

    /// Waits until family `nth` may begin. `false`: the writer has stopped.
    pub fn enter(&self, nth: usize) -> bool {
        let may = |s: &State| {
            let turn = nth <= s.committed;
            turn || (nth < s.committed + self.families && s.waiting < self.bytes)
        };
        let state = self
            .news
            .wait_while(self.state(), |s| !s.closed && !may(s))
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        !state.closed
    }

    /// A commit of `bytes` begins to wait.
    pub fn put(&self, bytes: usize) {
        self.state().waiting += bytes;
    }

    /// The writer took a commit of `bytes`.
    pub fn take(&self, bytes: usize) {
        self.update(|s| s.waiting -= bytes);
    }

    /// The family at its turn is committed.
    pub fn advance(&self) {
        self.update(|s| s.committed += 1);
    }

    /// Nobody writes any more.
    pub fn close(&self) {
        self.update(|s| s.closed = true);
    }

    fn update(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.news.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::mpsc::{Receiver, channel};
    use std::thread;
    use std::time::Duration;

    /// Says what `enter` gave, from another thread.
    fn entering(window: &Arc<RunAhead>, nth: usize) -> Receiver<bool> {
        let (sender, receiver) = channel();
        let window = window.clone();
        thread::spawn(move || sender.send(window.enter(nth)));
        receiver
    }

    fn blocked(entered: &Receiver<bool>) -> bool {
        entered.recv_timeout(Duration::from_millis(20)).is_err()
    }

    #[test]
    fn a_family_far_ahead_waits_for_those_before_it() {
        let window = Arc::new(RunAhead::new(2, 100));
        assert!(window.enter(0) && window.enter(1));
        let third = entering(&window, 2);
        assert!(blocked(&third));
        window.advance();
        assert_eq!(third.recv(), Ok(true));
    }

    #[test]
    fn much_that_waits_stops_all_but_the_family_at_its_turn() {
        let window = Arc::new(RunAhead::new(8, 100));
        window.put(100);
        assert!(window.enter(0));
        let second = entering(&window, 1);
        assert!(blocked(&second));
        window.take(40);
        assert_eq!(second.recv(), Ok(true));
    }

    #[test]
    fn when_the_writer_stops_nobody_waits() {
        let window = Arc::new(RunAhead::new(1, 1));
        let second = entering(&window, 1);
        window.close();
        assert_eq!(second.recv(), Ok(false));
    }
}

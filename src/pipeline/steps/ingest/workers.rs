//! Workers fold families; one writer takes their commits in a fixed order.
//!
//! How far workers run ahead: [`RunAhead`]. A family that isn't at its turn may hold
//! [`QUEUE_COMMITS`] commits (architecture § 6, "Committing").

use super::family::Family;
use super::file::{FileTally, FileWork, FoldContext, fold};
use super::ids::Ids;
use super::run_ahead::RunAhead;
use crate::model::checkpoint::FileCommit;
use crate::pipeline::parsed_log::Scratch;
use anyhow::{Result, anyhow};
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

/// Commits of one family that wait for the writer. A commit is about 1 MB.
const QUEUE_COMMITS: usize = 4;
/// Families per worker that may be begun before the one at its turn is committed. Most are small;
/// with 2, workers slept a third of a first run behind the large ones.
const AHEAD_FAMILIES: usize = 32;
/// Bytes that may wait for the writer before only the family at its turn goes on.
const AHEAD_BYTES: usize = 8 << 20;

/// What workers hand to the writer.
pub enum WorkerMessage<P> {
    /// Prepared for writing, and the bytes that it takes while it waits.
    Commit(Box<P>, usize),
    /// A file of the family is read, or could not be.
    Done {
        /// Its key.
        key: String,
        /// What was counted, or why it can't be read. Never content.
        outcome: Result<FileTally>,
    },
}

/// Folds all families with `jobs` workers. `prepare` runs in the worker, `write` on this thread, in
/// the order of the families and of their commits, whatever the workers' timing.
///
/// # Errors
/// The first error of `write`; workers stop at their next commit.
pub fn ingest<P: Send>(
    families: Vec<Family>,
    context: FoldContext<'_>,
    jobs: usize,
    prepare: &(dyn Fn(FileCommit) -> (P, usize) + Sync),
    write: &mut dyn FnMut(WorkerMessage<P>) -> Result<()>,
) -> Result<()> {
    let jobs = jobs.max(1);
    let window = RunAhead::new(AHEAD_FAMILIES * jobs, AHEAD_BYTES);
    let queue = Mutex::new(families.into_iter().enumerate());
    let (opened, lanes) = unbounded();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build()?;
    pool.in_place_scope(|scope| {
        for _ in 0..jobs {
            let (queue, window, opened) = (&queue, &window, opened.clone());
            scope.spawn(move |_| work(queue, &opened, window, context, prepare));
        }
        // the lanes end with the last worker
        drop(opened);
        let outcome = write_in_order(&lanes, &window, write);
        // whoever sends finds the receiver gone
        window.close();
        outcome
    })
}

fn write_in_order<P>(
    lanes: &Receiver<Lane<P>>,
    window: &RunAhead,
    write: &mut dyn FnMut(WorkerMessage<P>) -> Result<()>,
) -> Result<()> {
    for lane in lanes {
        for message in lane {
            if let WorkerMessage::Commit(_, bytes) = &message {
                window.take(*bytes);
            }
            write(message)?;
        }
        window.advance();
    }
    Ok(())
}

/// What comes of one family, in order.
type Lane<P> = Receiver<WorkerMessage<P>>;

fn work<P: Send>(
    queue: &Mutex<impl Iterator<Item = (usize, Family)>>,
    opened: &Sender<Lane<P>>,
    window: &RunAhead,
    context: FoldContext<'_>,
    prepare: &(dyn Fn(FileCommit) -> (P, usize) + Sync),
) {
    let mut scratch = Scratch::default();
    // a family's lane is opened when it is taken, so that the writer has them in order
    let next = || {
        let mut queue = queue.lock().ok()?;
        let (nth, family) = queue.next()?;
        let (lane, receiver) = bounded(QUEUE_COMMITS);
        opened.send(receiver).ok()?;
        Some((nth, family, lane))
    };
    while let Some((nth, family, lane)) = next() {
        if !window.enter(nth) {
            return;
        }
        let prepare = |commit| {
            let (prepared, bytes) = prepare(commit);
            window.put(bytes);
            WorkerMessage::Commit(Box::new(prepared), bytes)
        };
        let hand = |message| lane.send(message).is_ok();
        fold_family(family, context, &mut scratch, &prepare, &hand);
    }
}

/// `hand` says whether to go on.
fn fold_family<P>(
    family: Family,
    context: FoldContext<'_>,
    scratch: &mut Scratch,
    prepare: &dyn Fn(FileCommit) -> WorkerMessage<P>,
    hand: &dyn Fn(WorkerMessage<P>) -> bool,
) {
    let mut ids = Ids::default();
    ids.know(family.others.map_or_else(Vec::new, |others| others.ids));
    let is_alone = family.works.len() == 1;
    if !is_alone {
        ids.expect(family.works.iter().flat_map(|work| owned(work)));
    }
    for work in family.works {
        if !is_alone {
            ids.arrive(owned(&work));
        }
        let key = work.slice.file.key.to_string();
        // one file's panic is one file's failure
        let folded = catch_unwind(AssertUnwindSafe(|| {
            fold(*work, context, &mut ids, scratch, &mut |commit| {
                hand(prepare(commit))
            })
        }));
        let outcome = folded.unwrap_or_else(|_| Err(anyhow!("internal error while reading it")));
        context.progress.file_done();
        if !hand(WorkerMessage::Done { key, outcome }) {
            return;
        }
    }
}

/// Records that are stored as this file's.
fn owned(work: &FileWork) -> impl Iterator<Item = u64> {
    work.before.iter().flat_map(|before| before.ids.owned())
}

/// Applies a function to all items with `jobs` workers, keeping their order.
///
/// # Errors
/// When the workers can't be started.
pub fn each<T: Send, U: Send>(
    items: Vec<T>,
    jobs: usize,
    f: impl Fn(T) -> U + Sync + Send,
) -> Result<Vec<U>> {
    Ok(Pool::start(jobs, items.len())?.each(items, f))
}

/// Threads for list after list; none where there is little to do.
pub struct Pool(Option<rayon::ThreadPool>);

impl Pool {
    /// `jobs` of them, for so many items.
    ///
    /// # Errors
    /// When they can't be started.
    pub fn start(jobs: usize, items: usize) -> Result<Pool> {
        let many = items > 1 && jobs > 1;
        let pool = many.then(|| rayon::ThreadPoolBuilder::new().num_threads(jobs).build());
        Ok(Pool(pool.transpose()?))
    }

    /// Applies a function to all items, keeping their order.
    pub fn each<T: Send, U: Send>(
        &self,
        items: Vec<T>,
        f: impl Fn(T) -> U + Sync + Send,
    ) -> Vec<U> {
        match &self.0 {
            Some(pool) => pool.install(|| items.into_par_iter().map(f).collect()),
            None => items.into_iter().map(f).collect(),
        }
    }
}

//! Workers fold families; one writer takes their commits in a fixed order.
//!
//! The only place that knows of rayon. A worker starts family *k* only when *k* < committed +
//! 2 × jobs, and a family that isn't at its turn may hold [`QUEUE_COMMITS`] commits: so a huge
//! first file neither stalls the workers nor fills the memory (DESIGN § 6, "Committing").

use super::account::Ids;
use super::family::Family;
use super::file::{FileTally, Rules, Scratch, fold};
use super::progress::Progress;
use crate::model::checkpoint::Commit;
use anyhow::{Result, anyhow};
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

/// Commits of one family that wait for the writer. A commit is about 1 MB.
const QUEUE_COMMITS: usize = 4;

/// What workers hand to the writer.
pub enum Message<P> {
    /// Prepared for writing.
    Commit(Box<P>),
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
    rules: &Rules,
    jobs: usize,
    progress: &dyn Progress,
    prepare: &(dyn Fn(Commit) -> P + Sync),
    write: &mut dyn FnMut(Message<P>) -> Result<()>,
) -> Result<()> {
    let jobs = jobs.max(1);
    let (tickets, ticket) = unbounded();
    (0..2 * jobs).for_each(|_| tickets.send(()).unwrap_or_default());
    let (queue, lanes): (Vec<_>, Vec<_>) = families
        .into_iter()
        .map(|family| {
            let (sender, receiver) = bounded(QUEUE_COMMITS);
            ((family, sender), receiver)
        })
        .unzip();
    let queue = Mutex::new(queue.into_iter());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build()?;
    pool.in_place_scope(|scope| {
        for _ in 0..jobs {
            let (queue, ticket) = (&queue, ticket.clone());
            scope.spawn(move |_| work(queue, &ticket, rules, progress, prepare));
        }
        let outcome = write_in_order(lanes, &tickets, write);
        // whoever waits for a ticket finds the line cut, whoever sends finds the receiver gone
        drop(tickets);
        outcome
    })
}

fn write_in_order<P>(
    lanes: Vec<Receiver<Message<P>>>,
    tickets: &Sender<()>,
    write: &mut dyn FnMut(Message<P>) -> Result<()>,
) -> Result<()> {
    for lane in lanes {
        for message in lane {
            write(message)?;
        }
        tickets.send(()).unwrap_or_default();
    }
    Ok(())
}

fn work<P: Send>(
    queue: &Mutex<impl Iterator<Item = (Family, Sender<Message<P>>)>>,
    ticket: &Receiver<()>,
    rules: &Rules,
    progress: &dyn Progress,
    prepare: &(dyn Fn(Commit) -> P + Sync),
) {
    let mut scratch = Scratch::default();
    while ticket.recv().is_ok() {
        let next = queue
            .lock()
            .map(|mut queue| queue.next())
            .unwrap_or_default();
        let Some((family, lane)) = next else {
            return;
        };
        fold_family(family, rules, &mut scratch, progress, prepare, &lane);
    }
}

fn fold_family<P: Send>(
    family: Family,
    rules: &Rules,
    scratch: &mut Scratch,
    progress: &dyn Progress,
    prepare: &(dyn Fn(Commit) -> P + Sync),
    lane: &Sender<Message<P>>,
) {
    let mut ids = Ids::default();
    ids.know(family.known);
    for work in family.works {
        let key = work.slice.file.key.clone();
        let mut emit = |commit| {
            lane.send(Message::Commit(Box::new(prepare(commit))))
                .is_ok()
        };
        // one file's panic is one file's failure
        let folded = catch_unwind(AssertUnwindSafe(|| {
            fold(
                work,
                rules,
                &mut ids,
                scratch,
                &|bytes| progress.advance(bytes),
                &mut emit,
            )
        }));
        let outcome = folded.unwrap_or_else(|_| Err(anyhow!("internal error while reading it")));
        progress.file_done();
        if lane.send(Message::Done { key, outcome }).is_err() {
            return;
        }
    }
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
    if items.len() < 2 || jobs < 2 {
        return Ok(items.into_iter().map(f).collect());
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build()?;
    Ok(pool.install(|| items.into_par_iter().map(f).collect()))
}

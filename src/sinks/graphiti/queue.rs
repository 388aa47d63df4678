//! Waiting for a queue that tells nothing: one worker, first in, first out, and whatever goes wrong in
//! a job may end it without a word.
//!
//! What is known follows from the order alone. Work that is done says that all work before it is done
//! or lost; so where nothing comes for half of the stall time, a *canary* is put behind the work. When
//! it is seen, what is missing is lost. When nothing comes for the whole of it, the worker is dead, or
//! so slow that nobody can tell.

use crate::model::delivery::{DeliveryError, DeliveryOutcome};
use std::rc::Rc;
use std::time::Duration;

/// How long a queue is waited for.
#[derive(Clone)]
pub struct PollPolicy {
    /// Without anything that comes, the worker is taken for dead.
    pub stall: Duration,
    /// How it is waited.
    pub wait: Rc<dyn Fn(Duration)>,
    /// The time that has passed, since whenever.
    pub clock: Rc<dyn Fn() -> Duration>,
}

/// Work in a queue, and how it is looked at.
pub(super) trait Work {
    /// Which of it is done, in the order of the queue.
    fn done(&mut self) -> Result<Vec<bool>, DeliveryError>;

    /// Puts the canary behind it.
    fn send_canary(&mut self) -> Result<(), DeliveryError>;

    /// The canary came out.
    fn sees_canary(&mut self) -> Result<bool, DeliveryError>;
}

/// How the waiting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Nothing is under way any more: what isn't done is lost.
    Settled,
    /// Nothing came for so long that the worker is taken for dead.
    Stalled,
}

/// Looks that are taken at least while nothing comes.
const LOOKS: u32 = 40;
/// Between looks at most.
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// Between looks at least: they cost the server something.
const PAUSE_MIN: Duration = Duration::from_millis(100);

/// Waits for the work.
pub(super) fn follow(
    work: &mut dyn Work,
    poll: &PollPolicy,
) -> Result<(Vec<bool>, End), DeliveryError> {
    let mut quiet = Quiet::new(poll);
    let mut came = 0;
    let mut canary: Option<Quiet<'_>> = None;
    loop {
        let is_canary_seen = canary.is_some() && work.sees_canary()?;
        let done = work.done()?;
        if is_canary_seen || done.last() == Some(&true) {
            return Ok((done, End::Settled));
        }
        let count = many(&done);
        if count > came {
            (came, quiet) = (count, Quiet::new(poll));
        }
        let half = poll.stall / 2;
        match &canary {
            None if quiet.lasts() >= half => {
                work.send_canary()?;
                canary = Some(Quiet::new(poll));
            }
            // looks may take long: the canary gets its time
            Some(sent) if quiet.lasts() >= poll.stall && sent.lasts() >= half => {
                return Ok((done, End::Stalled));
            }
            _ => {}
        }
        quiet.wait();
    }
}

/// Waits for a canary alone: when it comes, nothing that was put there before is under way. What
/// `work` there may be is in any order, and shows only whether the worker lives.
pub(super) fn settle(work: &mut dyn Work, poll: &PollPolicy) -> Result<End, DeliveryError> {
    let mut came = many(&work.done()?);
    work.send_canary()?;
    let mut quiet = Quiet::new(poll);
    while !work.sees_canary()? {
        if quiet.lasts() >= poll.stall {
            let count = many(&work.done()?);
            if count <= came {
                return Ok(End::Stalled);
            }
            (came, quiet) = (count, Quiet::new(poll));
        }
        quiet.wait();
    }
    Ok(End::Settled)
}

fn many(done: &[bool]) -> usize {
    done.iter().filter(|is_done| **is_done).count()
}

/// A time in which nothing comes; looks take their part of it.
struct Quiet<'a> {
    poll: &'a PollPolicy,
    since: Duration,
}

impl Quiet<'_> {
    fn new(poll: &PollPolicy) -> Quiet<'_> {
        let since = (poll.clock)();
        Quiet { poll, since }
    }

    fn lasts(&self) -> Duration {
        (self.poll.clock)().saturating_sub(self.since)
    }

    /// Until the next look: the longer, the longer nothing came.
    fn wait(&self) {
        let longest = (self.poll.stall / LOOKS).min(PAUSE_MAX);
        let pause = (self.lasts() / 4).clamp(PAUSE_MIN.min(longest), longest);
        (self.poll.wait)(pause);
    }
}

/// What is to be said of each piece of work. The first that isn't done was the worker's when it went;
/// it alone is blamed, besides those that were overtaken.
pub(super) fn outcomes(done: &[bool], end: End) -> Vec<DeliveryOutcome> {
    let last_done = done.iter().rposition(|is_done| *is_done);
    let first_of_tail = last_done.map_or(0, |last| last + 1);
    let outcome = |(nth, is_done): (usize, &bool)| match (is_done, end) {
        (true, _) => DeliveryOutcome::Seen,
        (false, _) if nth < first_of_tail => DeliveryOutcome::Failed(LOST.into()),
        (false, End::Settled) if nth == first_of_tail => DeliveryOutcome::Failed(LOST.into()),
        (false, End::Settled) => DeliveryOutcome::Lost,
        (false, End::Stalled) if nth == first_of_tail => DeliveryOutcome::Stopped(ENDED.into()),
        (false, End::Stalled) => DeliveryOutcome::Unknown,
    };
    done.iter().enumerate().map(outcome).collect()
}

const LOST: &str = "the server took it and lost it";
const ENDED: &str = "the server's worker stopped at it";

/// What a person has to do.
pub(super) fn stalled(poll: &PollPolicy) -> DeliveryError {
    let seconds = poll.stall.as_secs_f64();
    DeliveryError::Unavailable(
        format!(
            "nothing came out of Graphiti's queue for {seconds} s: its worker is dead or stuck; \
             restart the server (nothing is lost), then deliver again"
        ),
        None,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// A worker that does one job at each look, and what befalls it.
    #[derive(Default)]
    struct Worker {
        jobs: Vec<bool>,
        at: usize,
        /// Jobs that it loses.
        loses: Vec<usize>,
        dies_at: Option<usize>,
        /// Looks before each job is done.
        takes: usize,
        looks: usize,
        /// What a look costs, in a time of its own.
        look_takes: Duration,
        time: Rc<Cell<Duration>>,
        canary: Option<usize>,
    }

    impl Worker {
        fn poll(&self) -> PollPolicy {
            let (waits, clock) = (Rc::clone(&self.time), Rc::clone(&self.time));
            PollPolicy {
                stall: STALL,
                wait: Rc::new(move |pause| waits.set(waits.get() + pause)),
                clock: Rc::new(move || clock.get()),
            }
        }

        fn work(&mut self) {
            self.looks += 1;
            self.time.set(self.time.get() + self.look_takes);
            let is_dead = self.dies_at.is_some_and(|at| self.at >= at);
            if !is_dead && self.looks.is_multiple_of(self.takes + 1) {
                if let Some(job) = self.jobs.get_mut(self.at) {
                    *job = !self.loses.contains(&self.at);
                }
                self.at += 1;
            }
        }

        /// Stall times that have passed.
        fn waited(&self) -> f64 {
            self.time.get().as_secs_f64() / STALL.as_secs_f64()
        }
    }

    const STALL: Duration = Duration::from_secs(40);

    impl Work for Worker {
        fn done(&mut self) -> Result<Vec<bool>, DeliveryError> {
            self.work();
            Ok(self.jobs.clone())
        }
        fn send_canary(&mut self) -> Result<(), DeliveryError> {
            assert_eq!(self.canary, None, "one is enough");
            self.canary = Some(self.at.max(self.jobs.len()));
            Ok(())
        }
        fn sees_canary(&mut self) -> Result<bool, DeliveryError> {
            self.work();
            Ok(self.canary.is_some_and(|place| self.at > place))
        }
    }

    /// What is said of a worker's jobs, and the time that it took, in stall times.
    fn followed(mut worker: Worker, jobs: usize) -> (Vec<DeliveryOutcome>, f64) {
        worker.jobs = vec![false; jobs];
        let poll = worker.poll();
        let (done, end) = follow(&mut worker, &poll).unwrap();
        (outcomes(&done, end), worker.waited())
    }

    fn shape(outcomes: &[DeliveryOutcome]) -> String {
        let letter = |outcome: &DeliveryOutcome| match outcome {
            DeliveryOutcome::Seen => 's',
            DeliveryOutcome::Failed(_) => 'f',
            DeliveryOutcome::Stopped(_) => 'e',
            DeliveryOutcome::Lost => 'l',
            DeliveryOutcome::Unknown => 'u',
            other => panic!("{other:?}"),
        };
        outcomes.iter().map(letter).collect()
    }

    #[test]
    fn what_is_done_and_what_was_overtaken_is_known_at_once() {
        let (outcomes, waited) = followed(Worker::default(), 5);
        assert_eq!(shape(&outcomes), "sssss");
        assert!(waited < 0.5, "no canary was needed");
        let loses = vec![0, 2];
        let (outcomes, waited) = followed(
            Worker {
                loses,
                ..Worker::default()
            },
            5,
        );
        assert_eq!(shape(&outcomes), "fsfss");
        assert!(waited < 0.5, "no canary was needed");
    }

    #[test]
    fn what_is_missing_at_the_end_is_lost_when_the_canary_came() {
        let loses = vec![3, 4];
        let worker = Worker {
            loses,
            ..Worker::default()
        };
        let (outcomes, waited) = followed(worker, 5);
        assert_eq!(shape(&outcomes), "sssfl");
        assert!(waited < 1.0, "{waited}");
    }

    #[test]
    fn a_dead_worker_is_noticed_in_its_time_and_blames_the_job_it_was_at() {
        for at in [0, 2] {
            let worker = Worker {
                dies_at: Some(at),
                ..Worker::default()
            };
            let (outcomes, waited) = followed(worker, 4);
            assert_eq!(shape(&outcomes), ["euuu", "", "sseu"][at]);
            assert!(waited <= 1.2, "{waited}");
        }
    }

    #[test]
    fn a_slow_worker_is_waited_for_as_long_as_something_comes() {
        let worker = Worker {
            takes: LOOKS as usize * 3 / 4,
            ..Worker::default()
        };
        let (outcomes, waited) = followed(worker, 6);
        assert_eq!(shape(&outcomes), "ssssss");
        assert!(waited > 1.5, "{waited}");
    }

    #[test]
    fn looks_that_take_long_are_part_of_the_time_and_the_canary_gets_its_own() {
        let look_takes = STALL / 8;
        let dead = Worker {
            dies_at: Some(0),
            look_takes,
            ..Worker::default()
        };
        let (outcomes, waited) = followed(dead, 3);
        assert_eq!(shape(&outcomes), "euu");
        assert!(waited <= 2.0, "{waited}");
        // each look takes longer than the whole time
        let slow = Worker {
            loses: vec![0],
            look_takes: STALL * 2,
            ..Worker::default()
        };
        let (outcomes, _) = followed(slow, 1);
        assert_eq!(shape(&outcomes), "f", "the canary was seen");
    }

    /// How it ends when nothing but the canary is waited for.
    fn settled(mut worker: Worker, jobs: usize) -> (End, f64) {
        worker.jobs = vec![false; jobs];
        let poll = worker.poll();
        let end = settle(&mut worker, &poll).unwrap();
        (end, worker.waited())
    }

    #[test]
    fn without_work_it_is_the_canary_alone_that_is_waited_for() {
        let (end, waited) = settled(Worker::default(), 0);
        assert!(end == End::Settled && waited < 0.5, "{waited}");
        let dead = Worker {
            dies_at: Some(0),
            ..Worker::default()
        };
        let (end, waited) = settled(dead, 0);
        assert!(end == End::Stalled && waited <= 1.2, "{waited}");
    }

    #[test]
    fn a_canary_is_waited_for_as_long_as_what_is_before_it_comes() {
        let slow = Worker {
            takes: LOOKS as usize * 3 / 4,
            ..Worker::default()
        };
        let (end, waited) = settled(slow, 6);
        assert!(end == End::Settled && waited > 2.0, "{waited}");
        let dies = Worker {
            takes: LOOKS as usize * 3 / 4,
            dies_at: Some(2),
            ..Worker::default()
        };
        let (end, waited) = settled(dies, 6);
        assert!(end == End::Stalled && waited < 5.0, "{waited}");
    }
}

//! The list of requests: of many those that something came of.

use crate::model::summary::Sourced;
use rustc_hash::FxHashSet;

/// LaterRequests of one session that are listed, and of these the last ones in any case.
pub(super) const REQUESTS_MAX: usize = 14;
const REQUESTS_LAST: usize = 2;

/// A request that may be listed.
pub struct ListedRequest {
    /// Where its prompt stands.
    pub at: usize,
    /// Where the prompt stands whose answer answers it, if that is more than a remark in passing.
    pub answered: Option<usize>,
    /// In a line, with what became of it.
    pub request: Sourced<String>,
    /// Of that line, the bytes before what the agent said.
    pub asked_bytes: usize,
    /// The objective has its words.
    pub is_in_objective: bool,
    /// More where more came of it.
    pub(super) weight: usize,
}

/// LaterRequests behind the first one.
pub struct LaterRequests {
    /// Of many those that something came of, and the last ones, in the order of time.
    pub listed: Vec<ListedRequest>,
    /// How many there are besides.
    dropped: Vec<Sourced<String>>,
}

impl LaterRequests {
    /// Of all in the order of time.
    pub(super) fn of(mut listed: Vec<ListedRequest>) -> LaterRequests {
        let dropped = drop_least(&mut listed);
        LaterRequests { listed, dropped }
    }

    /// Where the prompts of those stand that a list of them tells.
    pub fn told(&self) -> FxHashSet<usize> {
        self.shown().map(|listed| listed.at).collect()
    }

    /// A line each.
    pub fn lines(&self) -> Vec<Sourced<String>> {
        let shown = self.shown().map(|listed| listed.request.clone());
        shown.chain(self.dropped()).collect()
    }

    /// That there are others, where many were asked.
    pub fn dropped(&self) -> Option<Sourced<String>> {
        others_dropped(&self.dropped)
    }

    fn shown(&self) -> impl Iterator<Item = &ListedRequest> {
        self.listed.iter().filter(|listed| !listed.is_in_objective)
    }
}

/// That there are others, where many were asked.
fn others_dropped(dropped: &[Sourced<String>]) -> Option<Sourced<String>> {
    let last = dropped.last()?;
    let noun = if dropped.len() == 1 {
        "request"
    } else {
        "requests"
    };
    let what = format!("and {} more {noun}", dropped.len());
    Some(Sourced {
        what,
        ..last.clone()
    })
}

/// Of many those that something came of stay, and the last ones. Gives the others.
fn drop_least(all: &mut Vec<ListedRequest>) -> Vec<Sourced<String>> {
    let mut dropped = Vec::new();
    while all.len() > REQUESTS_MAX {
        let others = 0..all.len() - REQUESTS_LAST;
        let least = others.min_by_key(|nth| (all[*nth].weight, all[*nth].request.what.len()));
        dropped.extend(least.map(|nth| all.remove(nth).request));
    }
    dropped
}

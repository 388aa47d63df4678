//! The block of memory that an agent or a person is given for a question: gated, and in time or not at
//! all.
//!
//! The answer is found by a thread that is not waited for longer than `graphiti.recall.timeout_ms` after
//! the program's start (002-018).

use super::context::RunContext;
use crate::config::RecallLimits;
use crate::config::trust::Trusts;
use crate::memory::block::{FactRoom, RecallBlock, block};
use crate::memory::facts_request::FactsRequest;
use crate::memory::remember::remember;
use crate::memory::session_start::{SessionStart, session_start_facts};
use crate::memory::workspace::Workspace;
use crate::model::error::Error;
use crate::model::scope::MemoryScope;
use crate::model::time::Time;
use crate::rules::directives::wants_global;
use crate::store::Store;
use anyhow::Result;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Who asks what.
pub struct RecallRequest {
    /// Where they work.
    pub cwd: PathBuf,
    /// Their session, which isn't told its own words.
    pub session: Option<String>,
    /// An agent's hook asks: nobody reads warnings.
    pub by_hook: bool,
    /// The memory that is asked; none: as the settings say.
    pub scopes: Vec<MemoryScope>,
    /// What they ask.
    pub event: Event,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A session that knows nothing yet.
    Begins,
    /// A person's words.
    Prompt(String),
}

/// The block for a request; `None`: there is nothing to say. Gated first: recall may be switched off, the
/// project not trusted.
///
/// # Errors
/// What stands in the way, and when there is no answer in time.
pub fn give(request: &RecallRequest, cx: &RunContext<'_>) -> Result<Option<RecallBlock>> {
    let loaded = cx.loaded;
    let limits = loaded.here.memory.recall.clone();
    let workspace = Workspace::of(&request.cwd);
    let trusts = workspace.gate(loaded, cx.env)?;
    let own = loaded.for_project(Path::new(&workspace.root));
    let shown = own.is_ok_and(|(config, _)| config.include_project_path);
    let shows_paths = (shown && loaded.here.include_project_path)
        .then(|| cx.env.home.to_string_lossy().into_owned());
    let trusted = loaded.here.trusted_namespaces.clone();
    let user = loaded.here.memory.user_key();
    let user = user.map(|key| MemoryScope::Global.group(key)).ok();
    let about = About {
        now: cx.now,
        workspace,
        trusted,
        trusts,
        user,
        shows_paths,
    };
    let task = task(request, &limits, about);
    if let (Task::Start(_), false) = (&task, limits.scopes.contains(&MemoryScope::Workspace)) {
        return Ok(None);
    }
    if matches!(&task, Task::Facts(asked) if asked.scopes.is_empty()) {
        return Err(Error::usage("graphiti.recall.scopes is empty").into());
    }
    let left = u64::from(limits.timeout_ms).saturating_sub((cx.elapsed_ms)());
    let left = Duration::from_millis(left);
    let path = cx.home.store();
    let work = move || -> Result<Option<RecallBlock>, Error> {
        let store = Store::open_within(&path, left)?;
        let facts = match task {
            Task::Start(begins) => session_start_facts(&store, &begins),
            Task::Facts(asked) => remember(&store, &asked),
        }?;
        Ok(block(facts, &limits))
    };
    in_time(left, work)
}

/// What the store is asked.
enum Task {
    Start(SessionStart),
    Facts(FactsRequest),
}

/// Who asks from where.
struct About {
    now: Time,
    workspace: Workspace,
    trusted: Option<Vec<String>>,
    trusts: Trusts,
    /// The group of their own memories.
    user: Option<String>,
    shows_paths: Option<String>,
}

fn task(request: &RecallRequest, limits: &RecallLimits, about: About) -> Task {
    match &request.event {
        Event::Begins => Task::Start(SessionStart {
            session: request.session.clone(),
            now: about.now,
            workspace: about.workspace,
            trusted: about.trusted,
            trusts: about.trusts,
            shows_paths: about.shows_paths,
        }),
        Event::Prompt(question) => Task::Facts(FactsRequest {
            scopes: scopes(request, question, limits),
            question: question.clone(),
            session: request.session.clone(),
            by_hook: request.by_hook,
            workspace: about.workspace,
            trusted: about.trusted,
            trusts: about.trusts,
            user: about.user,
            now: about.now,
            limit: limits.max_results as usize,
            room: FactRoom::new(limits),
            shows_paths: about.shows_paths,
        }),
    }
}

/// Those that were named, else the settings' (D37).
fn scopes(request: &RecallRequest, question: &str, limits: &RecallLimits) -> BTreeSet<MemoryScope> {
    if !request.scopes.is_empty() {
        return request.scopes.iter().copied().collect();
    }
    let mut scopes = limits.scopes.clone();
    if limits.adds_global && wants_global(question) {
        scopes.insert(MemoryScope::Global);
    }
    scopes
}

/// What `work` gives, if it is there in time. What comes later is nobody's, and a panic breaks off
/// nothing but the work.
fn in_time<T: Send + 'static>(
    left: Duration,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T> {
    let (done, answer) = channel();
    std::thread::Builder::new()
        .name("recall".into())
        .spawn(move || done.send(work()))?;
    match answer.recv_timeout(left) {
        Ok(given) => Ok(given?),
        Err(RecvTimeoutError::Timeout) => {
            anyhow::bail!("no answer within graphiti.recall.timeout_ms")
        }
        Err(RecvTimeoutError::Disconnected) => anyhow::bail!("it stopped unexpectedly"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_is_late_or_breaks_off_is_gone_without() {
        let second = Duration::from_secs(60);
        assert_eq!(in_time(second, || Ok(7)).unwrap(), 7);
        let (open, wait) = channel::<()>();
        let late = in_time(Duration::from_millis(1), move || {
            let _ = wait.recv();
            Ok(7)
        });
        assert!(late.unwrap_err().to_string().contains("timeout_ms"));
        drop(open);
        let broken = in_time(second, || -> Result<u8, Error> { panic!("on purpose") });
        assert_eq!(broken.unwrap_err().to_string(), "it stopped unexpectedly");
    }
}

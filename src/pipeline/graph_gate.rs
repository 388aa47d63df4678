//! The gate before graphs, in the order enabled, trusted, consent, endpoint (D33, D63), and which
//! projects stay here.

use super::admission::Admission;
use super::context::RunContext;
use super::spec::Window;
use crate::config::trust::{Trust, Trusts};
use crate::config::{SinkSettings, graphs};
use crate::memory::places::root_of;
use crate::model::error::Error;
use crate::store::Store;
use anyhow::Result;
use std::collections::BTreeSet;

/// These sinks, without the graphs where graphs are off: an error where none is left or one is `named`.
/// `allow_untrusted`: the place that the command is started in needs no trust.
///
/// # Errors
/// Of usage: the first setting that stands in the way.
pub fn allowed<'a>(
    sinks: Vec<&'a SinkSettings>,
    named: bool,
    allow_untrusted: bool,
    cx: &mut RunContext<'_>,
) -> Result<Vec<&'a SinkSettings>> {
    let memory = &cx.loaded.config.memory;
    if !sinks.iter().any(|sink| sink.is_graph()) {
        return Ok(sinks);
    }
    let untrusted = match allow_untrusted || !memory.enabled {
        true => None,
        false => untrusted(cx)?,
    };
    let Err(refused) = graphs(memory, untrusted.as_deref()) else {
        return Ok(sinks);
    };
    let rest: Vec<&SinkSettings> = sinks.into_iter().filter(|sink| !sink.is_graph()).collect();
    if memory.enabled || named || rest.is_empty() {
        return Err(refused.into());
    }
    cx.notices
        .note(&format!("sinks of files only: {}", refused.message))?;
    Ok(rest)
}

/// The sinks of a run, before it does anything: graphs that are off are left out and said so.
///
/// # Errors
/// When nobody can be told.
pub fn of_a_run<'a>(cx: &mut RunContext<'a>) -> Result<Vec<&'a SinkSettings>> {
    let loaded = cx.loaded;
    let sinks: Vec<&SinkSettings> = loaded.config.sinks.iter().collect();
    let Some(graph) = sinks.iter().find(|sink| sink.is_graph()) else {
        return Ok(sinks);
    };
    let Err(refused) = graphs(&loaded.config.memory, None) else {
        return Ok(sinks);
    };
    if loaded.config.memory.enabled {
        return Ok(sinks);
    }
    let what = format!(
        "nothing is delivered to {}: {}",
        graph.name, refused.message
    );
    cx.notices.note(&what)?;
    Ok(sinks.into_iter().filter(|sink| !sink.is_graph()).collect())
}

/// The present project, where an agent was told not to trust it.
fn untrusted(cx: &RunContext<'_>) -> Result<Option<String>, Error> {
    let root = root_of(None, &cx.env.cwd);
    let is_untrusted = Trusts::load(cx.env)?.of(&root) == Trust::Untrusted;
    Ok(is_untrusted.then_some(root))
}

/// Projects whose episodes stay here.
pub struct KeptHere {
    /// Whatever the sink: not trusted, switched off, or `store_in_graph` is off there.
    pub everywhere: Vec<String>,
    /// Of these, those whose own file says `store_in_graph: false`: nothing of them waits.
    pub by_setting: Vec<String>,
    /// By graphs: these, and what settings of `graphiti` keep from them.
    pub from_graphs: Vec<String>,
}

impl KeptHere {
    /// By all projects that are stored.
    ///
    /// # Errors
    /// Where the store fails, or nobody can say whom the agents trust.
    pub fn new(store: &Store, allow_untrusted: bool, cx: &RunContext<'_>) -> Result<KeptHere> {
        let loaded = cx.loaded;
        let admission = Admission::new(loaded, cx.env, Window::Configured, cx.now)
            .allowing_untrusted(allow_untrusted);
        let denies = loaded.config.memory.denies_unknown && !allow_untrusted;
        let trusts = match denies {
            true => Some(Trusts::load(cx.env)?),
            false => None,
        };
        let (mut everywhere, mut from_graphs) = (BTreeSet::new(), BTreeSet::new());
        let mut by_setting = Vec::new();
        for (_, project) in store.projects("")? {
            let verdict = admission.admit(Some(&project), None, "");
            let own = verdict.as_ref().ok().and_then(Option::as_ref);
            let stays = own.is_some_and(|own| !own.store_in_graph);
            if stays {
                by_setting.push(project.clone());
            }
            if verdict.is_err() || stays {
                everywhere.insert(project.clone());
            }
            let is_unknown = |trusts: &Trusts| trusts.of(&project) == Trust::Unknown;
            if trusts.as_ref().is_some_and(is_unknown) || own.is_some_and(|own| !own.in_graphs) {
                from_graphs.insert(project);
            }
        }
        from_graphs.extend(everywhere.iter().cloned());
        Ok(KeptHere {
            everywhere: everywhere.into_iter().collect(),
            by_setting,
            from_graphs: from_graphs.into_iter().collect(),
        })
    }

    /// By this sink.
    pub fn of(&self, sink: &SinkSettings) -> &[String] {
        match sink.is_graph() {
            true => &self.from_graphs,
            false => &self.everywhere,
        }
    }
}

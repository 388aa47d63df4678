//! The gate before graphs, in the order enabled, trusted, consent, endpoint (D33, D63), which
//! projects stay here, and how `status` tells it. Knows settings and trust; refuses to send.

use super::ctx::Ctx;
use super::places;
use crate::config::trust::{Trust, Trusts};
use crate::config::{Loaded, Memory, SinkSettings, graphs};
use crate::memory::groups;
use crate::model::error::Error;
use crate::model::namespace::namespace;
use crate::model::scope::MemoryScope;
use crate::pipeline::admission::Admission;
use crate::pipeline::spec::Window;
use crate::store::Store;
use anyhow::Result;
use serde_json::{Value, json};
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
    loaded: &Loaded,
    ctx: &mut Ctx,
) -> Result<Vec<&'a SinkSettings>> {
    let memory = &loaded.config.memory;
    if !sinks.iter().any(|sink| sink.is_graph()) {
        return Ok(sinks);
    }
    let untrusted = match allow_untrusted || !memory.enabled {
        true => None,
        false => untrusted(ctx)?,
    };
    let Err(refused) = graphs(memory, untrusted.as_deref()) else {
        return Ok(sinks);
    };
    let rest: Vec<&SinkSettings> = sinks.into_iter().filter(|sink| !sink.is_graph()).collect();
    if memory.enabled || named || rest.is_empty() {
        return Err(refused.into());
    }
    ctx.out
        .note(format!("sinks of files only: {}", refused.message))?;
    Ok(rest)
}

/// The sinks of a run, before it does anything: graphs that are off are left out and said so.
///
/// # Errors
/// Of usage, where graphs are on and nobody agreed to them.
pub fn of_a_run<'a>(loaded: &'a Loaded, ctx: &mut Ctx) -> Result<Vec<&'a SinkSettings>> {
    let sinks: Vec<&SinkSettings> = loaded.config.sinks.iter().collect();
    let Some(graph) = sinks.iter().find(|sink| sink.is_graph()) else {
        return Ok(sinks);
    };
    let Err(refused) = graphs(&loaded.config.memory, None) else {
        return Ok(sinks);
    };
    if loaded.config.memory.enabled {
        return Err(refused.into());
    }
    let what = format!(
        "nothing is delivered to {}: {}",
        graph.name, refused.message
    );
    ctx.out.note(what)?;
    Ok(sinks.into_iter().filter(|sink| !sink.is_graph()).collect())
}

/// The present project, where an agent was told not to trust it.
fn untrusted(ctx: &Ctx) -> Result<Option<String>, Error> {
    let root = places::present(None, ctx);
    let is_untrusted = Trusts::load(&ctx.env)?.of(&root) == Trust::Untrusted;
    Ok(is_untrusted.then_some(root))
}

/// Projects whose episodes stay here.
pub struct KeptHere {
    /// Whatever the sink: not trusted, switched off, or `store_in_graph` is off there.
    pub everywhere: Vec<String>,
    /// By graphs: these, and what settings of `graphiti` keep from them.
    pub from_graphs: Vec<String>,
}

impl KeptHere {
    /// By all projects that are stored.
    ///
    /// # Errors
    /// Where the store fails, or nobody can say whom the agents trust.
    pub fn new(
        loaded: &Loaded,
        store: &Store,
        allow_untrusted: bool,
        ctx: &Ctx,
    ) -> Result<KeptHere> {
        let admission = Admission::new(loaded, &ctx.env, Window::Configured, ctx.now)
            .allowing_untrusted(allow_untrusted);
        let denies = loaded.config.memory.denies_unknown && !allow_untrusted;
        let trusts = match denies {
            true => Some(Trusts::load(&ctx.env)?),
            false => None,
        };
        let (mut everywhere, mut from_graphs) = (BTreeSet::new(), BTreeSet::new());
        for (_, project) in store.projects("")? {
            let verdict = admission.admit(Some(&project), None, "");
            let own = verdict.as_ref().ok().and_then(Option::as_ref);
            if verdict.is_err() || own.is_some_and(|own| !own.store_in_graph) {
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

/// How memory stands: the gate, the scopes, the groups of the present project.
pub struct Standing {
    /// The setting that stands in the way of graphs; `None`: none does.
    refusal: Option<String>,
    settings: Memory,
    /// `None`: nobody can say.
    trust: Option<Trust>,
    groups: Vec<(MemoryScope, String)>,
}

impl Standing {
    /// As the settings, the agents' records and the store say.
    ///
    /// # Errors
    /// Where the store fails.
    pub fn new(loaded: &Loaded, store: Option<&Store>, ctx: &Ctx) -> Result<Standing> {
        let settings = loaded.here.memory.clone();
        let root = places::present(None, ctx);
        let trust = Trusts::load(&ctx.env).ok().map(|trusts| trusts.of(&root));
        let is_untrusted = !matches!(trust, Some(Trust::Trusted | Trust::Unknown));
        let untrusted = is_untrusted.then_some(root.as_str());
        let mut of_scopes = Vec::new();
        if let Some(store) = store {
            let key = groups::workspace_key_now(store, &namespace(&root), &root)?;
            for scope in [MemoryScope::Workspace, MemoryScope::Global] {
                let group = groups::group(scope, None, &key, &settings);
                of_scopes.extend(group.ok().map(|group| (scope, group)));
            }
        }
        Ok(Standing {
            refusal: graphs(&settings, untrusted)
                .err()
                .map(|error| error.message),
            settings,
            trust,
            groups: of_scopes,
        })
    }

    fn trust(&self) -> &'static str {
        match self.trust {
            Some(Trust::Trusted) => "trusted",
            Some(Trust::Untrusted) => "untrusted",
            Some(Trust::Unknown) => "unknown",
            None => "unclear",
        }
    }

    /// For people.
    pub fn lines(&self) -> Vec<String> {
        let (settings, recall) = (&self.settings, &self.settings.recall);
        let word = |on: bool| if on { "on" } else { "off" };
        let names = |scopes: &BTreeSet<MemoryScope>| {
            let names: Vec<&str> = scopes.iter().map(|scope| scope.as_str()).collect();
            names.join(", ")
        };
        let mut graphs = match &self.refusal {
            None => "graphs: on".to_owned(),
            Some(refusal) => refusal.replacen("graphs are off", "graphs: off", 1),
        };
        if !settings.ingest_scopes.is_empty() {
            graphs += &format!("; scopes: {}", names(&settings.ingest_scopes));
        }
        let auto = if recall.adds_global {
            ", global where it is asked for"
        } else {
            ""
        };
        let is_denied = settings.denies_unknown && self.trust == Some(Trust::Unknown);
        let gives = recall.enabled && !is_denied && self.trust != Some(Trust::Untrusted);
        let denied = match is_denied {
            true => ", which graphiti.unknown_projects: deny keeps from recall and graphs",
            false => "",
        };
        vec![
            graphs,
            format!(
                "recall: {} ({}{auto}); directives: {}; this project: {}{denied}",
                word(gives),
                match recall.scopes.is_empty() {
                    true => "graphiti.recall.scopes is empty".to_owned(),
                    false => names(&recall.scopes),
                },
                word(settings.auto_promotes),
                self.trust(),
            ),
        ]
    }

    /// For programs.
    pub fn document(&self) -> Value {
        let names = |scopes: &BTreeSet<MemoryScope>| -> Vec<&str> {
            scopes.iter().map(|scope| scope.as_str()).collect()
        };
        let (settings, recall) = (&self.settings, &self.settings.recall);
        let groups = self.groups.iter();
        let groups = groups.map(|(scope, group)| (scope.as_str().to_owned(), json!(group)));
        json!({
            "enabled": settings.enabled,
            "consent": settings.consent,
            "refusal": self.refusal,
            "trust": self.trust(),
            "unknown_projects": if settings.denies_unknown { "deny" } else { "allow" },
            "ingest_scopes": names(&settings.ingest_scopes),
            "recall": {
                "enabled": recall.enabled,
                "scopes": names(&recall.scopes),
                "adds_global": recall.adds_global,
            },
            "auto_promote": settings.auto_promotes,
            "groups": groups.collect::<serde_json::Map<String, Value>>(),
        })
    }
}

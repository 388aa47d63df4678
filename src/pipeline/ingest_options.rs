//! What the step `ingest` is told: where logs lie, which of them are read, and how each is treated.

use crate::model::policy::{ChunkOptions, FilterPolicy, Narrowed};
use crate::model::session::Session;
use crate::model::source::Root;
use crate::model::time::Time;
use crate::rules::classify::Classifier;
use crate::rules::hidden_paths::PathHider;
use crate::rules::markers::Markers;
use crate::rules::secrets::Redactor;
use crate::stages::discover::DiscoverOptions;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Everything that the step is told.
pub struct IngestOptions<'a> {
    /// Where logs lie.
    pub roots: Vec<Root>,
    /// What every file is treated with.
    pub rules: Rules,
    /// Which files.
    pub discover: DiscoverOptions,
    /// Worker threads.
    pub jobs: usize,
    /// The run's one point in time.
    pub now: Time,
    /// The group that new episodes go to; `None`: the one of the episodes before them, in an empty
    /// store the machine's own. So a machine that gets another name goes on with its group (D62).
    pub group: Option<String>,
    /// Which logs are read.
    pub admit: &'a Admit<'a>,
}

/// What a project's own file leaves of the settings, `None` where it says nothing; or why the log
/// is not read. Asked with the log's project's root, its directory and its path.
pub type Admit<'a> =
    dyn Fn(Option<&str>, Option<&str>, &str) -> Result<Option<Arc<Narrowed>>, String> + Sync + 'a;

/// What every file of a run is treated with.
#[derive(Clone, Debug)]
pub struct Rules {
    /// What is kept.
    pub policy: FilterPolicy,
    /// Where chunks end.
    pub chunk: ChunkOptions,
    /// The machine's name.
    pub host: String,
    /// Keep sub-agents' words.
    pub subagents: bool,
    /// Take paths and user names out.
    pub hides_paths: bool,
    /// Masks secrets.
    pub redactor: Redactor,
    /// Tells the kind of work.
    pub classifier: Classifier,
    /// What people mark to keep it out.
    pub markers: Arc<Markers>,
    /// Directives in prompts become memories: the words that count besides the usual ones; `None`:
    /// none do.
    pub directives: Option<Vec<&'static str>>,
}

impl Rules {
    /// The same for the logs of a project that wants less kept.
    pub fn narrowed(&self, project: &Narrowed) -> Rules {
        Rules {
            policy: project.policy.clone(),
            subagents: project.subagents,
            hides_paths: project.hides_paths,
            directives: self.directives.clone().filter(|_| project.promotes),
            ..self.clone()
        }
    }

    /// The same for the log of a session whose paths are told to nobody.
    pub fn hiding(&self, session: &Session) -> Rules {
        // as the texts tell them
        let masked = |path: &str| self.redactor.redact(path).into_owned();
        let cwd = session.cwd.as_deref().map(masked);
        let paths = PathHider::new(&masked(&session.project_path), cwd.as_deref());
        Rules {
            redactor: self.redactor.hiding(paths),
            ..self.clone()
        }
    }

    /// The version of the rules and settings that make an episode: `0.1.0+1a2b3c4d`.
    pub fn made_by(&self) -> String {
        let settings = (&self.policy, self.chunk, self.subagents);
        let mut made = serde_json::to_vec(&settings).unwrap_or_default();
        made.push(DERIVED);
        if self.hides_paths {
            made.extend(b"hides paths of each item");
        }
        made.extend_from_slice(self.classifier.counting().as_bytes());
        let hash = Sha256::digest(made);
        let hex: String = hash.iter().take(4).map(|b| format!("{b:02x}")).collect();
        format!("{}+{hex}", env!("CARGO_PKG_VERSION"))
    }
}

/// Counts what is derived from records, so that `status` knows episodes that an older program made
/// without it. 1: outlines and findings. 2: pushes, states of pull requests, diffstats, names that changed.
/// 3: what is said of the kind of work, and lines by what their files are for.
const DERIVED: u8 = 3;
